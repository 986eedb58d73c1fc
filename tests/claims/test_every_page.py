"""How claims are held: each page has some, and one that is wrong, homeless, no longer said, or about
a page that raises, fails."""

import ast
import re
from collections import defaultdict
from contextlib import nullcontext
from pathlib import Path

import pytest

import page as module
from book_rules import lessons
from notebooks import BOOK, paths, read, source
from page import Page
from sentences import numbers, unquoted

PAGES = {path.relative_to(BOOK).with_suffix("").as_posix(): path for path in paths()}
CLAIMS = defaultdict(str)
"""Page → the text of its claims, which stand in one file or in several."""
for file in sorted(Path(__file__).parent.glob("test_*.py")):
    text = file.read_text("utf-8")
    if found := re.search(r'(?m)^page = (?:Page|shared)\("([\w/]+)"\)', text):
        CLAIMS[found[1]] += text


def quotations(claims):
    """All that the claims of a file quote."""
    says = [
        ast.literal_eval(keyword.value)
        for node in ast.walk(ast.parse(claims))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "says"
    ]
    return [each for said in says for each in ((said,) if isinstance(said, str) else said)]


def explained(claims):
    """The cells, and beginnings of sentences, that a file gives a reason for: what is proved, what a
    cell does, what stands on another page."""
    found = re.findall(r"(?ms)^UNQUOTED = (\{.*?^\})", claims)
    return [
        each
        for reasons in map(ast.literal_eval, found)
        for several in reasons.values()
        for each in several
    ]


def left(name):
    """The sentences of a page, each with its cell, that have a number or an order which no claim
    quotes."""
    quoted = quotations(CLAIMS[name])
    return [
        f"{cell['id']}: {sentence}"
        for cell in read(PAGES[name])["cells"]
        if cell["cell_type"] == "markdown"
        for sentence in unquoted(source(cell), quoted)
    ]


def cell(cell_id, source, kind="code"):
    return {"cell_type": kind, "id": cell_id, "source": source, "metadata": {}, "outputs": []}


@pytest.fixture
def page(monkeypatch):
    """A page whose second cell changes what the first one left, and whose third cell can be
    given."""

    def make(last="z = y"):
        cells = [
            cell("one", "x = 1\nf = lambda: x"),
            cell("two", "x = 2\ny = f()"),
            cell(
                "words",
                "## See\n\nThe second is *twice* the first: 2, and the third is z.",
                "markdown",
            ),
            cell("three", last),
        ]
        monkeypatch.setattr(module, "read", lambda path: {"cells": cells})
        return Page("a_page")

    return make


def test_every_page_has_claims():
    assert CLAIMS.keys() == PAGES.keys()


@pytest.mark.parametrize("name", PAGES)
def test_a_number_or_an_order_on_a_page_is_quoted_by_a_claim_or_explained(name):
    sentences, reasons = left(name), explained(CLAIMS[name])
    told = {
        reason: [
            each
            for each in sentences
            if each.startswith(f"{reason}{'' if ': ' in reason else ': '}")
        ]
        for reason in reasons
    }
    assert [each for each in sentences if not any(each in found for found in told.values())] == []
    assert [reason for reason, found in told.items() if not found] == []


@pytest.mark.parametrize("name", PAGES)
def test_the_lesson_of_a_page_is_held_against_the_library(name):
    for _, function in lessons(read(PAGES[name])):
        assert re.search(rf"\ndef test_\w+\([^)]*\b{function.name}\b", CLAIMS[name]), function.name


def test_a_claim_sees_the_page_as_its_cell_leaves_it(page):
    page, seen = page(), []

    @page.after("one")
    def test_one(x, f):
        seen.append((x, f()))

    @page.after("two")
    def test_two(x, f):
        seen.append((x, f()))

    test_two()
    test_one()
    assert seen == [(1, 1), (2, 2)], "in the order of the page, each once"


def test_a_wrong_number_fails_and_no_other_claim_does(page):
    page = page()

    @page.after("two")
    def test_wrong(y):
        assert y == 3

    @page.after("two")
    def test_right(y):
        assert y == 2

    test_right()
    with pytest.raises(AssertionError, match="3"):
        test_wrong()


def test_a_claim_whose_cell_or_name_is_gone_fails(page):
    page = page()

    @page.after("four")
    def test_gone():
        pass

    @page.after("one")
    def test_early(y):
        pass

    with pytest.raises(AssertionError, match="a_page has no cell 'four'"):
        test_gone()
    with pytest.raises(AssertionError, match="a_page has no y after cell 'one'"):
        test_early()


def test_where_a_page_raises_all_its_claims_fail(page):
    page = page("1 / 0")

    @page.after("one")
    def test_before(x):
        pass

    @page.after("three")
    def test_after(z):
        pass

    for test in (test_before, test_after):
        with pytest.raises(
            AssertionError, match="a_page: cell 'three' raises ZeroDivisionError: division by zero"
        ):
            test()


@pytest.mark.parametrize(
    ("quotation", "wrong"),
    [
        ("The second falls", "a_page says nowhere: "),
        ("the", "a_page says 2 times: "),
        ("he second is", "a_page says nowhere: "),
        ("The second is", None),
    ],
)
def test_a_quotation_stands_once_on_its_page(page, quotation, wrong):
    page = page()

    @page.after("two", says=quotation)
    def test_quoted(x):
        pass

    with pytest.raises(AssertionError, match=wrong) if wrong else nullcontext():
        test_quoted()


def test_a_claim_is_given_the_numbers_that_it_quotes(page):
    page = page()

    @page.after("two", says="twice* the first: 2")
    def test_numbers(x, y, said):
        times, value = said
        assert value == x == times * y

    with pytest.raises(AssertionError):  # y is what f made of the new x
        test_numbers()
    with pytest.raises(AssertionError, match=r"quotes the numbers \[2.0, 2.0\] and takes no said"):
        page.after("two", says="twice* the first: 2")(lambda x: None)


def test_numbers_are_read_in_digits_and_in_words():
    found = {
        "a tenth of 2,000": [0.1, 2000],
        "two thirds, the third, hundredths": [2 / 3, 0.01],
        "one twentieth of a trillion": [1 / 20, 10**12],
        "ten-thousandths, a hundredfold, ten thousand": [1e-4, 100, 10**4],
        r"of $-0.25$, −0.5, 1/8, and $\frac18$": [-0.25, -0.5, 1 / 8, 1 / 8],
        "one of sixty-four heads, twice from zero": [64, 2],
        "{prf:ref}`thm-2`, x_2 and v1.5": [],
    }
    assert {text: numbers(text) for text in found} == found


def test_a_number_that_no_claim_quotes_is_listed():
    words = (
        "It falls to a tenth. Then it never rises.\n\n```{prf:lemma} Ten\nAt most 10.\n```\n\n"
        'It <a href="#step=10">ends</a>.\n'
    )
    assert unquoted(words, []) == ["It falls to a tenth.", "Then it never rises."]
    assert unquoted(words, ["falls to a tenth", "it never"]) == ["Then it never rises."]
    assert unquoted(words, ["falls to a tenth", "never rises"]) == []
