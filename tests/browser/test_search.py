"""The search of the whole book, as a reader's browser runs it on the built index: what stands
first."""

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
    "descent lemma": "start/descent_and_curvature",
} | dict.fromkeys(
    [
        "learning rate",
        "batch size",
        "epoch",
        "overfitting",
        "convergence rate",
        "learning curve",
        "attention head",
        "weight decay",
        "warm-up",
        "key",
        "PL inequality",
    ],
    "start/glossary",
)
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
    return search.evaluate(
        "(query) => Search._performSearch(...Search._parseQuery(query)).map(([page]) => page)",
        query,
    )[::-1]


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
    page.locator("#search-results").get_by_text("did not match any documents").wait_for(
        timeout=PATIENCE
    )
    assert not complaints
    page.close()


ARTICLE = """<main role="main">Light Dark System Settings margin<article class="bd-article">
<h1>A page<a class="headerlink">#</a></h1><i id="mark"></i><p>It begins here.</p>
<details class="hide"><summary>Show code</summary><pre>margin = 1</pre></details><pre>wide(margin)</pre>
<p>A head counts for <span class="math"><math><mfrac><mn>1</mn><msqrt><mi>H</mi></msqrt></mfrac></math></span>.
The wide margin.</p><dl class="glossary"><dt>gap</dt><dd><p>A distance.</p></dd>
<dt id="term">key</dt><dd><p>What is looked at.</p></dd></dl></article></main>"""


@pytest.mark.parametrize(
    ("stems", "anchor", "start"),
    [
        # of a text before its code, of the page alone
        (["margin"], "", "A head counts for 1/√H. The wide margin."),
        (["sqrt", "h"], "", "A head counts for 1/√H."),
        (["dark"], "", "It begins here."),
        (["dark"], "#mark", "It begins here."),  # a mark of the index has no text of its own
        (["key"], "#term", "key: What is looked at."),
    ],
)
def test_an_excerpt_is_of_the_article_where_it_has_the_words(search, stems, anchor, start):
    shown = search.evaluate(
        "(given) => Search.makeSearchSummary(...given).textContent", [ARTICLE, stems, anchor]
    )
    assert shown.startswith(start) and "Settings" not in shown and "Show code" not in shown


def test_a_page_marks_words_only_where_a_result_leads_and_only_in_its_text(site, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{site}search.html?q=why softmax(H)")
    result = page.locator("#search-results a[href*='01_a_small']").first
    result.wait_for(timeout=PATIENCE)
    assert page.evaluate("() => localStorage.getItem('sphinx_highlight_terms')") is None, (
        "for whichever page is next"
    )
    result.click()
    page.locator(".bd-article .highlighted").first.wait_for(timeout=PATIENCE)
    marked = page.evaluate("""() => [...document.querySelectorAll("span.highlighted")].map((span) => [
      span.textContent.toLowerCase(), Boolean(span.closest(".bd-article")),
      getComputedStyle(span).backgroundColor !== "rgba(0, 0, 0, 0)"])""")
    assert {("softmax", True, True), ("softmax", False, False)} == set(map(tuple, marked))
    assert "highlight" not in page.url, "an address that marks again"
    context.close()
