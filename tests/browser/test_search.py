"""The search of the whole book, as a reader's browser runs it on the built index: what stands first."""

import pytest

from visits import PATIENCE

FIRST = {
    "NTK": "start/tangent_kernel",
    "tangent kernel": "start/tangent_kernel",
    "edge of stability": "start/descent_and_curvature",
    "max margin": "multihead/03_what_one_random_step_knows",
    "generalization": "multihead/07_does_it_generalize",
    "momentum": "multihead/05_further",
    "hessian_bound": "multihead/02_how_steep_how_curved",
}
"""Query → the page that a reader should find first."""


@pytest.fixture(scope="module")
def search(site, chromium):
    """The page of search results, with its index."""
    page = chromium.new_page()
    page.goto(f"{site}search.html?q=softmax")
    page.wait_for_function("() => Search.hasIndex()")
    yield page
    page.close()


def found(search, query):
    """The pages that a query finds, best first."""
    return search.evaluate("(query) => Search._performSearch(...Search._parseQuery(query)).map(([page]) => page)",
                           query)[::-1]


@pytest.mark.parametrize("query", FIRST)
def test_a_page_that_explains_the_words_stands_first(search, query):
    assert found(search, query)[0] == f"book/{FIRST[query]}"


@pytest.mark.parametrize("query", ["ntk", "hessian_bound", "softmax"])
def test_the_reference_of_the_code_comes_after_the_pages(search, query):
    code = [page.startswith("book/api") for page in found(search, query)]
    assert True in code and code == sorted(code)


@pytest.mark.parametrize("word", ["constructor", "__proto__", "hasOwnProperty"])
def test_a_word_that_every_table_of_javascript_knows_is_searched_like_any_other(search, word):
    assert found(search, word) == []
    assert found(search, f"softmax {word}") == []


def test_a_search_without_a_result_ends_and_says_so(site, chromium):
    page, complaints = chromium.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{site}search.html?q=constructor")
    page.locator("#search-results").get_by_text("did not match any documents").wait_for(timeout=PATIENCE)
    assert not complaints
    page.close()


def test_a_place_without_text_of_its_own_shows_that_of_its_page(search):
    page = '<div role="main"><i id="here"></i>the margin</div>'
    shown = search.evaluate("(page) => Search.makeSearchSummary(page, ['margin'], '#here')?.textContent", page)
    assert shown == "the margin"
