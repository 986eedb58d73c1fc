"""A page that a browser has saved as it stood, opened again: all that scripts add is there once, and works."""

import pytest

import mhalib as mha
from visits import TO_THE_END, at_rest, eventually, frames

# How many there are of each kind of element that a reader may see; plotly draws as it likes.
COUNTS = """() => {
  const found = {};
  for (const node of document.body.querySelectorAll("*")) {
    if (node.parentElement.closest("svg, .js-plotly-plot")) continue;
    const name = [node.localName, ...[...node.classList].sort()].join(".");
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}"""
TEXT = "() => `<!doctype html>${document.documentElement.outerHTML}`"
STANDS = """() => [...document.querySelectorAll(".mha-figure")]
  .every((one) => one.querySelector(".js-plotly-plot")?._fullLayout)"""


def move_a_slider(page):
    live = page.locator(".mha-live").first
    slider, said = live.locator("input[type=range]").first, set()
    for key in ("Home", "End"):
        slider.press(key)
        frames(page, 2)
        live.and_(page.locator("[data-state=done]")).wait_for()
        said.add(live.locator(".mha-live-summary").inner_text())
    assert len(said) == 2


def use_a_chapter(page):
    move_a_slider(page)
    for kind in (".mha-live", ".mha-figure"):
        menu = page.locator(f"{kind} .mha-menu").first
        menu.locator("summary").click()
        menu.get_by_role("button", name="Save as SVG").wait_for()
        menu.locator("summary").press("Escape")
    proof = page.locator(".admonition.toggle").first
    for is_open in (True, False):
        proof.locator(".admonition-title").first.click()
        assert proof.locator(":scope > .admonition-title ~ *").first.is_visible() == is_open
    answer = page.locator(".mha-part").first
    answer.get_by_role("textbox").fill("1/(")
    answer.get_by_role("button", name="Check").click()
    assert answer.locator(".mha-verdict").inner_text()
    code = page.locator("div.cell_input:visible .highlight").first
    code.hover()
    code.locator("button.copybtn").click()
    written = code.locator("pre").inner_text().strip()
    assert page.evaluate("() => navigator.clipboard.readText()").strip() == written
    modes = set()
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        modes.add(page.evaluate("() => document.documentElement.dataset.mode"))
    assert modes == {"light", "dark", "auto"}
    guess = page.locator(".mha-guesses input[type=radio]").first
    guess.check()
    said = page.locator(".mha-guessed:visible .mha-your-guess").first
    assert said.inner_text() == guess.get_attribute("value")


def use_the_laboratory(page):
    live = page.locator(".mha-laboratory")
    live.locator("select").first.select_option(index=1)
    live.and_(page.locator("[data-state=done]")).wait_for()
    live.get_by_role("button", name="Reset").click()
    live.and_(page.locator("[data-state=done]")).wait_for()


def use_the_ledger(page):
    before = page.locator(".sortable tbody tr").all_inner_texts()
    page.get_by_label("Words").fill("saddle")
    assert 0 < page.locator(".sortable tbody tr:visible").count() < 20
    page.get_by_label("Words").fill("")
    head = page.get_by_role("button", name="Worst slack")
    for _ in range(2):
        head.click()
    assert page.locator(".sortable tbody tr").all_inner_texts() != before
    head.click()
    assert page.locator(".sortable tbody tr").all_inner_texts() == before


def use_a_quiz(page):
    asked = page.locator(".mha-quiz fieldset").first
    asked.locator("label").first.click()
    assert asked.locator(".mha-quiz-said > :visible").count() == 1


def use_the_page_of_a_class(page):
    sheet = '{"reader": "a", "guesses": {"chapter-1-1": "0.8"}}'
    page.locator("textarea").fill(f"x#guesses={sheet}")
    page.get_by_role("button", name="Add the links").click()
    assert page.locator(".mha-hand-in [role=status]").inner_text().startswith("Guesses of 1 reader")


def use_the_slides(page):
    for number in (1, 2):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("() => Reveal.getIndices().h") == number


def before_it_is_saved(page, name):
    """What a reader may have done with a page."""
    if name.endswith("ledger.html"):
        page.get_by_role("button", name="Worst slack").click()
    for title in page.locator(".admonition.toggle > .admonition-title").all()[:1]:
        title.click()
    for menu in page.locator(".mha-menu summary").all()[:1]:
        menu.click()


USED = {
    "book/multihead/01_a_small_attention_model.html": use_a_chapter,
    "book/laboratory/17_laboratory.html": use_the_laboratory,
    "book/ledger.html": use_the_ledger,
    "book/start/quizzes.html": use_a_quiz,
    "book/start/class.html": use_the_page_of_a_class,
    "kit/week-2/slides.html": use_the_slides,
    "figures/are-more-heads-slower-or-faster.html": move_a_slider,
}


def as_read(page):
    """Scroll a page to its end, and wait until all of it stands."""
    page.evaluate(TO_THE_END)
    page.wait_for_function(STANDS)
    at_rest(page)
    return page.evaluate(COUNTS)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.weekly if "laboratory" in name else ()) for name in USED],
)
def test_a_saved_page_has_each_thing_once_and_they_work(new_visit, name):
    visit, texts = new_visit(name), []
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.context.route("**/saved.html", lambda route: route.fulfill(body=texts[-1]))
    page = visit.open().page
    written = as_read(page)
    before_it_is_saved(page, name)
    for _ in range(2):  # what was opened again may be saved again
        texts.append(page.evaluate(TEXT))
        visit.name = f"{name.rsplit('/', 1)[0]}/saved.html"
        visit.open()
        assert as_read(page) == written
    USED[name](page)
    assert not visit.complaints and not visit.failures
    visit.context.close()


def test_a_figure_that_python_saved_and_a_browser_saved_again_trains(chromium, tmp_path):
    file, context = tmp_path / "figure.html", chromium.new_context(offline=True)
    mha.live.heads(mha.data.tokenized_mixture(n=6, T=4, d=6, M=2, zeta=0.25), steps=12).save(file)
    page = context.new_page()
    for _ in range(3):
        page.goto(file.as_uri())
        page.locator(".mha-live[data-state=done]").wait_for()
        assert page.locator(".mha-live").count() == 1
        assert page.locator(".mha-fallback:visible").count() == 0
        move_a_slider(page)
        file.write_text(page.evaluate(TEXT), "utf-8")
    context.close()


def test_the_order_of_the_book_comes_back_to_a_table_that_was_saved_sorted(new_visit):
    visit, texts = new_visit("book/ledger.html"), []
    visit.context.route("**/saved.html", lambda route: route.fulfill(body=texts[-1]))
    page = visit.open().page
    rows = page.locator(".sortable tbody tr")
    before = rows.all_inner_texts()
    head = page.get_by_role("button", name="Worst slack")
    head.click()
    texts.append(page.evaluate(TEXT))
    visit.name = "book/saved.html"
    visit.open()
    for _ in range(2):
        head.click()
    eventually(page, lambda: same(rows.all_inner_texts(), before))
    visit.context.close()


def same(found, wanted):
    assert found == wanted
