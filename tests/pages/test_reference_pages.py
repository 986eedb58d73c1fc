"""What the code of the reference pages writes: numbers as in the built book, and Markdown for
whoever runs a page."""

import re
from collections import Counter

import pytest

import mhabook
from book_rules import STATEMENT
from mhabook.pages import ledger, text
from mhabook.pages.numbers import CHAPTERS, NUMBERS, chapter_number
from mhabook.pages.topics import TOPICS, topics
from notebooks import BOOK, code, directives, option, paths, read
from page import run

CELLS = {"ledger": 4, "reproduction": 4, "theory_and_practice": 3, "large_runs": 3}
"""Page → its cells whose output is Markdown."""


def test_statements_and_definitions_have_the_numbers_of_the_book():
    """Sphinx counts all kinds of a chapter together."""
    expected, counts = {}, Counter()
    chapters = [path for path in paths() if path.match("book/*/[0-9][0-9]_*.ipynb")]
    for path in sorted(chapters, key=lambda path: (path.name[:2], path.stem.endswith("_further"))):
        chapter = chapter_number(f"part/{path.name}")
        for kind, _, body in directives(read(path)):
            if STATEMENT.fullmatch(kind):
                counts[chapter] += 1  # a further page counts on
                number = f"{kind.removeprefix('prf:').capitalize()} {chapter}.{counts[chapter]}"
                expected[option(body, "label")] = number
    assert list(NUMBERS.items()) == list(expected.items())
    assert NUMBERS.keys() == CHAPTERS.keys()


def test_topics_name_statements_of_the_book():
    for ids in map(str.split, TOPICS.values()):
        assert set(ids) <= NUMBERS.keys() and len(set(ids)) == len(ids)
    assert (
        topics("thm-2-stability")
        == "generalization, test error, overfitting, algorithmic stability"
    )


@pytest.fixture
def texts(monkeypatch):
    """What pages display as Markdown outside the built book, after few checks of each statement."""
    rows, displayed = mhabook.ledger.rows, []
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)
    monkeypatch.setattr(mhabook.ledger, "rows", lambda seeds: rows(seeds=1))
    monkeypatch.setattr(text, "Markdown", displayed.append)
    return displayed


@pytest.mark.parametrize("name", CELLS)
def test_outside_the_built_book_a_page_shows_markdown_whose_links_lead_to_the_book(texts, name):
    namespace, cells = {}, code(read(BOOK / f"{name}.ipynb"))
    for cell in cells:
        run(cell, name, namespace)
    assert len(texts) == sum("mystnb" in cell["metadata"] for cell in cells) == CELLS[name]
    for shown in texts:
        assert not re.search(r"\{[\w:]+\}`|```|:::|data-filter", shown)
        for link in re.findall(r'(?:\]\(|href=")([^)"]*)', shown):
            page = re.fullmatch(
                rf"{text.web_address(text.repository())}book/([\w/]+)\.html(#[\w-]+)?", link
            )
            assert page and (BOOK / f"{page[1]}.ipynb").exists(), link


def test_a_row_of_the_ledger_keeps_its_asterisks():
    row = mhabook.ledger.rows(seeds=1)[0] | {
        "claim": "Z*Z* = ‖U*‖",
        "assumptions": "U* and W*",
        "breaks": "W*: 2W*",
    }
    text = " ".join(ledger.checked(row))
    assert r"Z\*Z\* = ‖U\*‖" in text
    assert r"*Assumes: U\* and W\*.*" in text
    assert r"W\*: 2W\*: all" in text


def test_in_the_built_book_the_text_is_displayed_as_it_is(monkeypatch):
    monkeypatch.setenv("LIVEGRAD_FIGURES", "book")
    assert text.shown("{prf:ref}`thm-collapse`").data == "{prf:ref}`thm-collapse`"


def test_a_reader_sees_a_box_as_a_quotation_and_a_number_as_a_link():
    box = "````{admonition} A title\n:class: c\n\nOne, by {prf:ref}`thm-collapse`.\n\nTwo.\n````"
    place = f"{text.web_address(text.repository())}book/multihead/05_more_heads_slower_or_faster.html#thm-collapse"
    assert text.plain(box) == f"> **A title.** One, by [Theorem 5.2]({place}).\n> \n> Two."


@pytest.mark.parametrize(
    "unknown", ["{cite:t}`deora2023`", "{doc}`ledger`", "```{note}\nA note.\n```", "::::{grid} 2"]
)
def test_what_markdown_has_no_words_for_is_refused(unknown):
    with pytest.raises(
        ValueError, match="text: expected roles and directives that mhabook.pages.text knows"
    ):
        text.plain(f"Before.\n{unknown}\nAfter.")
