"""The mark of a statement and its row in the ledger stand at its number, on the page."""

from types import SimpleNamespace

import pytest

import mhabook
from scripts import load
from visits import BUILD

statements = load("book/_ext/statements.py")
BOX = """<div class="proof lemma admonition" id="{}">
<p class="admonition-title"><span class="caption-number">Lemma 1.4 </span> (A title)</p>
<section class="lemma-content" id="proof-content">
<p>{}Let it be so.</p>"""


def marked(body):
    context = {"body": body, "pathto": lambda page: f"../{page}.html"}
    statements.mark_statements(SimpleNamespace(), "page", "page.html", context, None)
    return context["body"]


def test_mark_and_row_move_to_the_number():
    body = marked(BOX.format("lemma-selection", "<strong>[ours, attained]</strong> "))
    assert '(A title) <span class="mha-known">ours, attained · <a' in body
    assert 'href="../book/ledger.html#ledger-lemma-selection"' in body
    assert "<p>Let it be so.</p>" in body


def test_a_mark_may_end_in_a_formula():
    mark = '<strong>[ours, for every <span class="mha-together"><i>r</i>]</span></strong> '
    first = BOX.format("prop-head-scale", mark)
    body = marked(
        first + "</section></div>" + BOX.format("lemma-selection", "<strong>[ours]</strong> ")
    )
    assert (
        '<span class="mha-known">ours, for every <span class="mha-together"><i>r</i></span> · <a'
        in body
    )
    assert body.count("in the ledger") == 2 and "<strong>" not in body


@pytest.mark.parametrize("index", ["", '<span id="index-0"></span>'])
def test_a_definition_has_no_row(index):
    box = BOX.format("def-head", "<strong>[recalled]</strong> ")
    body = marked(box.replace('<p class="admonition', f'{index}<p class="admonition'))
    assert '<span class="mha-known">recalled</span>' in body and "ledger" not in body


def test_other_boxes_stay_as_they_are():
    box = BOX.format("remark-1", "")
    assert marked(box) == box


def test_every_statement_of_the_built_book_has_its_row_once():
    pages = [page.read_text("utf-8") for page in (BUILD / "book").rglob("*.html")]
    assert pages, "no built book: run `make book` first"
    rows = {
        one.id: sum(page.count(f'aria-label="{one.id} in the ledger"') for page in pages)
        for one in mhabook.ledger
    }
    assert {id: n for id, n in rows.items() if n != 1} == {}
