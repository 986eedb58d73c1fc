"""Every formula is set when the book is made, as MathJax would set it in the reader's browser."""

import re
from html import unescape
from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.ext.mathjax import html_visit_math

import notebooks
from checks import missing
from scripts import load
from visits import BUILD, NO_BUILD, built_pages

mathematics = load("book/_ext/mathematics.py")
FORMULA = re.compile(r"(?s)\$\$(.+?)\$\$|\$([^$]+)\$")
SET = re.compile(
    r'(?s)<(span|div) class="math [^>]*? data-tex="([^"]*)".*?(<mjx-container.*?</mjx-container>)'
)
CONFIGURE = "window.MathJax = { startup: { typeset: false }, options: { enableMenu: false } }"
# Which formulas MathJax sets otherwise in this browser. Styles and classes are read anew: there are
# ways to write them.
DIFFERENT = """async (formulas) => {
  const different = [];
  const read = (html) => {
    const box = document.createElement("div");
    box.innerHTML = html;
    box.querySelectorAll("[style]").forEach((part) => part.setAttribute("style", part.style.cssText));
    box.querySelectorAll("[class]").forEach((part) => part.setAttribute("class", [...part.classList].join(" ")));
    return box.firstChild;
  };
  for (const [tex, display, html] of formulas) {
    const made = await MathJax.tex2chtmlPromise(tex, { display, em: 16, ex: 16 * 0.442 });
    if (!read(html).isEqualNode(read(made.outerHTML))) different.push([tex, html, made.outerHTML]);
  }
  return different;
}"""
# The size of formulas on a page, and that which MathJax gives to formulas in the same places, in
# pixels.
SIZES = """() => [...document.querySelectorAll(".bd-article .math > mjx-container")].slice(0, 40).map((formula) => {
  const { em, scale } = MathJax.getMetricsFor(formula.parentElement, false);
  return [parseFloat(getComputedStyle(formula).fontSize), em * scale];
})"""

# Of the bars of transpositions in displays, how far each stands below the edge that would cut it,
# in pixels.
BARS = """() => [...document.querySelectorAll('mjx-container[display="true"]')].flatMap((formula) =>
  [...formula.querySelectorAll("mjx-c.mjx-c22A4")].map((bar) =>
    bar.getBoundingClientRect().top - formula.getBoundingClientRect().top))"""
# Of the marks that follow a formula, how much lower than it each stands, in pixels.
MARKS = """() => [...document.querySelectorAll(".mha-together")].map((both) => {
  const mark = document.createRange();
  mark.selectNodeContents(both.lastChild);
  return mark.getBoundingClientRect().top - both.querySelector("mjx-math").getBoundingClientRect().bottom;
})"""
OPEN = '() => document.querySelectorAll(".toggle-hidden").forEach((box) => box.classList.remove("toggle-hidden"))'


@pytest.fixture(scope="module")
def mathjax(chromium):
    """An empty page that has MathJax, the book's own copy of it."""
    page = chromium.new_page()
    page.add_script_tag(content=CONFIGURE)
    page.add_script_tag(path=mathematics.MATHJAX / "tex-mml-chtml.js")
    page.evaluate("() => MathJax.startup.promise.then(() => 0)")
    for part in (mathematics.MATHJAX / "input/tex/extensions").glob("*.js"):
        page.add_script_tag(path=part)
    yield page
    page.close()


def set_formulas(page):
    """The formulas of a built page: TeX, whether displayed, and what stands for it."""
    html = (BUILD / page).read_text("utf-8")
    found = SET.findall(html)
    assert len(found) == len(re.findall('class="math ', html))
    return [(unescape(tex), name == "div", formula) for name, tex, formula in found]


def test_formulas_are_those_that_mathjax_sets_in_a_browser(mathjax):
    pages = built_pages()
    if pages == [None]:
        missing(NO_BUILD)
    formulas = sorted({formula for page in pages for formula in set_formulas(page)})
    assert len(formulas) > 3000
    assert mathjax.evaluate(DIFFERENT, formulas) == []


def test_formulas_are_as_large_as_mathjax_makes_them(site, chromium):
    page = chromium.new_page()
    page.goto(f"{site}book/multihead/02_how_steep_how_curved.html")
    page.add_script_tag(content=CONFIGURE)
    page.add_script_tag(path=mathematics.MATHJAX / "tex-mml-chtml.js")
    page.evaluate("() => MathJax.startup.promise.then(() => 0)")
    sizes = page.evaluate(SIZES)
    page.close()
    assert len({round(ours) for ours, _ in sizes}) > 1, "formulas of one size alone"
    assert all(abs(ours - theirs) < 0.01 * theirs for ours, theirs in sizes), sizes


@pytest.fixture(params=(1280, 390))
def tilting(request, site, chromium):
    """The further page of chapter 9, with its proofs open, as wide as a screen or a phone."""
    page = chromium.new_page(viewport={"width": request.param, "height": 800})
    page.goto(f"{site}book/preconditioning/09_further.html")
    page.evaluate(OPEN)
    yield page
    page.close()


def test_the_bar_of_a_transposition_is_not_cut(tilting):
    bars = tilting.evaluate(BARS)
    assert len(bars) > 10 and min(bars) > 1


def test_no_line_begins_with_the_mark_that_follows_a_formula(tilting):
    marks = tilting.evaluate(MARKS)
    assert len(marks) > 150 and max(marks) < 0


def test_the_mark_after_a_formula_is_kept_with_it():
    line = nodes.paragraph(
        "", "", nodes.Text("(the edge "), nodes.math("", "x"), nodes.Text("), above it")
    )
    mathematics.keep_marks(None, line, "")
    assert [(type(part), part.astext()) for part in line] == [
        (nodes.Text, "(the edge "),
        (nodes.inline, "x),"),
        (nodes.Text, " above it"),
    ]


def between_dollars():
    """The TeX between dollars in all notebooks, each once."""
    if not (folder := BUILD.parent / "notebooks").exists():
        missing(NO_BUILD)
    texts = [
        re.sub(r"(?m)^(?:> ?)+", "", re.sub(r"`[^`\n]*`", "", notebooks.text(notebooks.read(path))))
        for path in notebooks.paths(folder)
    ]
    return sorted(
        {display or inline for text in texts for display, inline in FORMULA.findall(text)}
    )


def test_every_formula_of_the_notebooks_can_be_set():
    formulas = between_dollars()
    assert len(formulas) > 2000
    for tex in formulas:
        mathematics.setter().set(tex, False)


@pytest.mark.parametrize(
    ("tex", "fault"),
    [(r"\frac{1}", r"Missing argument for \frac"), (r"\nosuchcommand x", r"\nosuchcommand")],
)
def test_a_formula_that_cannot_be_set_is_named_with_its_place(tex, fault, caplog):
    writer = SimpleNamespace(
        body=[],
        encode=str,
        starttag=lambda *_, CLASS: f'<span class="{CLASS}">',
        builder=SimpleNamespace(config=SimpleNamespace(mathjax_inline=(r"\(", r"\)"))),
    )
    node = nodes.math(tex, tex)
    with pytest.raises(nodes.SkipNode):
        mathematics.visiting(html_visit_math)(writer, node)
    [record] = caplog.records
    assert record.getMessage() == f"MathJax cannot set {tex}: {fault}"
    assert record.location is node


def test_the_first_fonts_are_asked_for_at_once_but_not_from_a_disk(site, chromium):
    page, name = chromium.new_page(), "book/multihead/08_heads_on_real_data.html"
    asked = page.locator("link[rel=preload][as=font][href*=MathJax]")
    page.goto(site + name)
    assert asked.count() == len(mathematics.FIRST)
    page.goto((BUILD / name).as_uri())
    assert asked.count() == 0
    page.close()
