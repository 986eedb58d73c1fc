"""How claims are held: each page has some, and one that is wrong, homeless, or about a page that
raises, fails."""

import re
from pathlib import Path

import pytest

import page as module
from book_rules import lessons
from notebooks import BOOK, paths, read
from page import Page

PAGES = {path.relative_to(BOOK).with_suffix("").as_posix(): path for path in paths()}
CLAIMS = {
    found[1]: text
    for file in Path(__file__).parent.glob("test_*.py")
    if (
        found := re.search(
            r'(?m)^page = (?:Page|shared)\("([\w/]+)"\)', text := file.read_text("utf-8")
        )
    )
}


def cell(cell_id, source):
    return {"cell_type": "code", "id": cell_id, "source": source, "metadata": {}, "outputs": []}


@pytest.fixture
def page(monkeypatch):
    """A page whose second cell changes what the first one left, and whose third cell can be
    given."""

    def make(last="z = y"):
        cells = [
            cell("one", "x = 1\nf = lambda: x"),
            cell("two", "x = 2\ny = f()"),
            cell("three", last),
        ]
        monkeypatch.setattr(module, "read", lambda path: {"cells": cells})
        return Page("a_page")

    return make


def test_every_page_has_claims():
    assert CLAIMS.keys() == PAGES.keys()


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
