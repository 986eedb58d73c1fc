"""Exercises that check themselves, by keyboard, on the page of sheets; guesses, and what is kept of
both; the map."""

import re
from math import exp

import pytest

import axe
from mhabook.exercises import QUESTIONS
from visits import BUILD, eventually

SHEETS, MAP = "book/start/sheets.html", "book/start/map.html"
CHAPTER, ALL = "book/multihead/06_a_planted_head.html", "book/start/guesses.html"
CURVE = "book/kernels/12_two_kernels_one_rank.html"
HOW_IT_GOES = "How does the weight of the middle key under softmax depend on the query?"
KEPT = """() => Object.fromEntries(Object.keys(localStorage).filter((key) => key.startsWith("mha:"))
  .map((key) => [key, localStorage[key]]))"""
NOTHING_IS_KEPT = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("refused", "SecurityError"); } })"""


@pytest.fixture(scope="module")
def sheets(new_visit):
    visit = new_visit(SHEETS).open()
    yield visit
    assert not visit.failures + visit.complaints
    visit.context.close()


@pytest.fixture
def field(sheets):
    """The first field of an exercise of sheet 1: H equal heads with the logit φ each.

    The page is opened again for each test, with nothing kept: a field counts the tries, and the
    hints it gave.
    """
    sheets.page.evaluate("() => localStorage.clear()")
    box = sheets.open().page.get_by_role(
        "group", name="Check your answer: The logit of H identical heads"
    )
    return box.locator(".mha-part").first


def answer(field, text):
    """Type and press Enter; give what is said of it."""
    field.locator("input").fill("")
    field.locator("input").press_sequentially(text)
    field.locator("input").press("Enter")
    return field.get_by_role("status").inner_text()


def test_every_exercise_of_the_page_takes_its_answer(sheets):
    asked = [
        question
        for label in QUESTIONS
        if label.startswith("ex-sheet")
        for question in QUESTIONS[label]
    ]
    for question in asked:
        field = (
            sheets.page.locator(".mha-part")
            .filter(has=sheets.page.get_by_text(question.ask, exact=True))
            .first
        )
        field.locator("input").fill(question.answer)
        field.get_by_role("button", name="Check").click()
        assert field.get_by_role("status").inner_text().startswith("Right")
    assert sheets.page.locator(".mha-part").count() == len(asked)


def test_problems_are_numbered_within_their_sheet(sheets):
    titles = sheets.page.locator(".exercise > .admonition-title").all_inner_texts()
    assert [re.match(r"Exercise (S\d\.\d) ", title)[1] for title in titles] == [
        "S1.5",
        "S1.6",
        "S2.6",
        "S3.6",
        "S4.6",
        "S5.7",
        "S6.7",
        "S6.8",
    ]
    assert "Exercise S3.6" in " ".join(
        sheets.page.locator(".solution > .admonition-title").all_inner_texts()
    )


def test_a_wrong_answer_is_told_where_it_differs_and_after_two_what_is_right(field):
    said = answer(field, "H*phi+1")
    assert "differs on all 24" in said and "your formula gives" in said and "ours" not in said
    assert not field.get_by_role("button", name="Our value there").is_visible()
    answer(field, "H+phi")
    field.get_by_role("button", name="Our value there").press("Enter")
    assert ", ours " in field.get_by_role("status").inner_text()
    assert "factor 1/√H" in answer(field, "H*φ")


def test_what_cannot_be_read_is_marked(field):
    assert answer(field, "phi 2").startswith(
        "At character 5: Between these two an operation is missing"
    )
    assert field.locator("mark").inner_text() == "2"
    assert field.locator("input").get_attribute("aria-invalid") == "true"
    assert answer(field, "sqrt(H)*phi").startswith("Right")
    assert field.locator("input").get_attribute("aria-invalid") == "false"


def test_a_rounded_number_in_a_formula_and_a_power_without_parentheses_are_named(field):
    assert "formula is near, and not the same" in answer(field, "H^0.5001*phi")
    assert "With these parentheses it is right: H^(1/2)*phi" in answer(field, "H^1/2*phi")


def test_hints_come_one_by_one_and_the_keyboard_is_not_lost(sheets, field):
    hint = field.get_by_role("button", name="Hint")
    hint.press("Enter")
    assert field.locator("li").all_inner_texts() == list(QUESTIONS["ex-sheet-copies"][0].hints)
    assert not hint.is_visible()
    assert field.locator("input").evaluate("(node) => node === document.activeElement")


def test_a_formula_without_signs_is_shown_as_it_was_read_and_a_letter_that_is_missing_is_asked_for(
    field,
):
    assert answer(field, "√Hφ").startswith("At character 1: Give sqrt its argument in parentheses")
    assert "Read as sqrt(H)*φ" in answer(field, r"\sqrt{H}φ")
    assert "where is φ (the logit of one of them)?" in answer(field, "√H")


def test_an_answer_comes_back_and_nothing_is_sent(sheets, field):
    before = len(sheets.requests)
    answer(field, "sqrt(H)*phi")
    assert len(sheets.requests) == before
    assert sheets.page.evaluate(KEPT) == {"mha:answer:ex-sheet-copies:0": "sqrt(H)*phi"}
    sheets.open()
    assert field.locator("input").input_value() == "sqrt(H)*phi"
    assert field.get_by_role("status").inner_text().startswith("Right")
    field.locator("input").fill("")
    assert sheets.page.evaluate(KEPT) == {}


@pytest.mark.parametrize(
    "text", ["(" * 5000 + "1" + ")" * 5000, "-" * 1000 + "1", "min(" + "1," * 100_000 + "1)"]
)
def test_what_is_too_long_or_too_deep_is_said_and_not_kept_and_takes_no_exercise_away(
    sheets, field, text
):
    field.locator("input").fill(text)
    field.locator("input").press("Enter")
    assert re.search(
        "This formula is (too long|nested too deep): ", field.get_by_role("status").inner_text()
    )
    assert sheets.page.evaluate(KEPT) == {}
    sheets.page.evaluate(
        "(text) => localStorage.setItem('mha:answer:ex-sheet-copies:0', text)", text
    )
    count = sheets.page.locator(".mha-part").count()
    sheets.open()
    assert sheets.page.locator(".mha-part").count() == count
    assert field.locator("input").input_value() == text
    assert answer(field, "sqrt(H)*phi").startswith("Right")


@pytest.fixture
def chapter(new_visit):
    visit = new_visit(CHAPTER).open()
    yield visit
    assert not visit.failures + visit.complaints
    visit.context.close()


def test_a_guess_comes_back_beside_its_result_and_on_the_page_of_all_until_it_is_forgotten(chapter):
    page, said = chapter.page, chapter.page.locator("#said-chapter-6-1")
    assert page.locator(".mha-guessed:visible").count() == 0
    fields = page.get_by_role("group", name="Your guesses")
    asked = (
        "1. After 600 steps from zero initialization, what is the cosine between a head’s matrix "
        "and that of the hidden head?"
    )
    fields.get_by_role("group", name=asked).get_by_label("0.7").check()
    assert re.sub(r"\s+", " ", said.inner_text()) == f"You said: 0.7 {asked}"
    chapter.open()
    assert fields.get_by_label("0.7").is_checked() and said.is_visible()
    page.goto(chapter.site + ALL)
    link = page.get_by_role("link", name="0.7", exact=True)
    assert link.get_attribute("href").endswith("06_a_planted_head.html#said-chapter-6-1")
    assert page.locator(".mha-your-guess:visible").count() == 1
    # of the others only the titles
    assert page.locator(".mha-all-guesses tbody:visible").count() == 1
    forget = page.get_by_role("button", name="Forget all")
    page.once("dialog", lambda question: question.dismiss())
    forget.click()
    assert link.is_visible()
    page.once("dialog", lambda question: question.accept())
    forget.click()
    assert page.locator(".mha-your-guess:visible").count() == 0 and page.evaluate(KEPT) == {}


def test_a_guess_in_words_is_kept_as_it_is_written(new_visit):
    visit = new_visit("book/laboratory/17_laboratory.html").open()
    asked = "2. Sixteen heads are initialized at zero. How do they differ after 500 steps?"
    visit.page.get_by_label(asked).fill("<b>nothing</b>")
    assert visit.page.locator("#said-chapter-17-2 strong").inner_text() == "<b>nothing</b>"
    assert visit.page.evaluate(KEPT) == {"mha:guess:chapter-17-2": "<b>nothing</b>"}
    visit.context.close()


def test_a_browser_that_keeps_nothing_is_named_once(new_visit):
    visit = new_visit(CHAPTER)
    visit.page.add_init_script(NOTHING_IS_KEPT)
    visit.open()
    for choice in ("0.7", "none"):
        visit.page.get_by_label(choice, exact=True).check()
    assert visit.page.locator(".mha-unkept").count() == 1
    box = visit.page.locator(".mha-part").first
    box.locator("input").fill("1/H")
    box.get_by_role("button", name="Check").click()
    assert box.get_by_role("status").first.inner_text().startswith("Right")
    assert visit.page.locator(".mha-unkept").count() == 1
    visit.context.close()


@pytest.fixture
def curve(new_visit):
    visit = new_visit(CURVE).open()
    yield visit
    assert not visit.failures + visit.complaints
    visit.context.close()


def pull(page, *points):
    """Press the mouse at the first point, in columns and from top to bottom, move it to the others,
    and let it go."""
    plot = page.locator(".mha-guesses .mha-plot svg")
    plot.scroll_into_view_if_needed()
    box, columns = plot.bounding_box(), page.locator(".mha-guesses .mha-plot input").count()
    for k, (column, down) in enumerate(points):
        page.mouse.move(
            box["x"] + (column + 0.5) / columns * box["width"], box["y"] + down * box["height"]
        )
        if k == 0:
            page.mouse.down()
    page.mouse.up()


def line(place):
    """What a plot shows as the reader's: a value for each point."""
    return [
        -float(y) for y in re.findall(r" ([-\d.]+)", place.locator(".mha-yours").get_attribute("d"))
    ]


def test_a_drawn_curve_comes_back_beside_the_true_one_and_on_the_page_of_all_until_it_is_forgotten(
    curve,
):
    page, said = curve.page, curve.page.locator("#said-chapter-12-2")
    mine, values = page.locator(".mha-guesses .mha-plot"), [0, 0.15, 0.35, 0.5, 0.65, 0.85, 1]
    assert (
        "mha-none" in mine.get_attribute("class")
        and line(mine) == [0.5] * 7
        and not said.is_visible()
    )
    pull(page, (0, 0.99), (3, 0.5), (9, -0.5))  # past columns without a stop, and over the edge
    assert page.evaluate(KEPT) == {"mha:guess:chapter-12-2": "0, 0.15, 0.35, 0.5, 0.85, 1, 1"}
    pull(page, (6, 0.01), (3, 0.5))
    assert page.evaluate(KEPT) == {
        "mha:guess:chapter-12-2": ", ".join(f"{value:g}" for value in values)
    }
    assert "mha-none" not in mine.get_attribute("class") and said.is_visible()
    curve.open()
    assert "mha-none" not in mine.get_attribute("class") and line(mine) == line(said) == values
    true = re.findall(r"([\d.]+) -([\d.]+)", said.locator(".mha-result").get_attribute("d"))
    # query → weight; the keys are −2, 0 and 1
    at = {float(column) - 3.5: float(value) for column, value in true}
    assert all(abs(at[q] - 1 / (exp(-2 * q) + 1 + exp(q))) < 2e-3 for q in range(-3, 4))
    assert not axe.serious(page)
    page.goto(curve.site + ALL)
    link = page.get_by_role("link", name="0, 0.15, 0.35, 0.5, 0.65, 0.85, 1", exact=True)
    assert link.get_attribute("href").endswith("12_two_kernels_one_rank.html#said-chapter-12-2")
    assert (
        line(link) == values
        and link.locator("svg").bounding_box()["width"] > 90
        and not axe.serious(page)
    )
    page.once("dialog", lambda question: question.accept())
    page.get_by_role("button", name="Forget all").click()
    assert not link.is_visible() and page.evaluate(KEPT) == {}
    curve.open()
    assert "mha-none" in mine.get_attribute("class") and not said.is_visible()


@pytest.mark.parametrize(
    "kept",
    [
        "NaN",
        "<b>",
        "NaN, NaN, NaN, NaN, NaN, NaN, NaN",
        "0, 0, 0, 0, 0, 0",
        "0, 0, 0, 0, 0, 0, 0, 0",
        "0, 0, 0, 0, 0, 0, 7",
    ],
)
def test_a_curve_that_nobody_can_have_drawn_is_as_if_nothing_were_kept(curve, kept):
    curve.page.evaluate("(kept) => localStorage.setItem('mha:guess:chapter-12-2', kept)", kept)
    curve.open()
    mine = curve.page.locator(".mha-guesses .mha-plot")
    assert "mha-none" in mine.get_attribute("class") and line(mine) == [0.5] * 7
    assert not curve.page.locator("#said-chapter-12-2").is_visible()


def test_where_the_first_stroke_has_not_been_the_curve_goes_on_level(curve):
    mine = curve.page.locator(".mha-guesses .mha-plot")
    pull(curve.page, (2, 0.8), (4, 0.2))
    assert line(mine) == [0.2, 0.2, 0.2, 0.5, 0.8, 0.8, 0.8]
    pull(curve.page, (6, 0.01), (5, 0.01))
    assert line(mine) == [0.2, 0.2, 0.2, 0.5, 0.8, 1, 1], "a second stroke moves what it passes"


def test_a_curve_is_drawn_by_the_keyboard(curve):
    page = curve.page
    group = page.get_by_role("group", name=f"2. {HOW_IT_GOES}")
    page.get_by_label(
        "1. What is the largest weight that a query can give the middle key under softmax?"
    ).press("Tab")
    for name, key, value in (
        ("−3", "ArrowUp", "0.55"),
        ("−2", "ArrowDown", "0.45"),
        ("−1", "End", "1"),
    ):
        point = group.get_by_role("slider", name=f"query {name}", exact=True)
        assert point.evaluate(
            "(node) => node === document.activeElement && node.matches(':focus-visible')"
        )
        ring = point.locator("..").evaluate("(label) => getComputedStyle(label).outlineStyle")
        page.keyboard.press(key)
        assert (point.input_value(), ring) == (value, "solid")
        page.keyboard.press("Tab")
    assert line(page.locator("#said-chapter-12-2")) == [0.55, 0.45, 1, 0.5, 0.5, 0.5, 0.5]


def test_a_curve_is_drawn_where_nothing_is_kept(new_visit):
    visit = new_visit(CURVE)
    visit.page.add_init_script(NOTHING_IS_KEPT)
    visit.open()
    pull(visit.page, (0, 0.01), (6, 0.01))
    assert line(visit.page.locator(".mha-guesses .mha-plot")) == [1] * 7
    assert visit.page.locator(".mha-unkept").count() == 1
    visit.context.close()


def test_in_print_and_without_a_script_a_curve_is_asked_for_in_words_alone(
    new_visit, site, chromium
):
    visit = new_visit(CURVE).open()
    visit.page.emulate_media(media="print")
    context = chromium.new_context(java_script_enabled=False)
    bare = context.new_page()
    bare.goto(site + CURVE)
    for page in (visit.page, bare):
        assert page.get_by_text(HOW_IT_GOES).first.is_visible()
        assert page.locator(".mha-plot:visible").count() == 0
    context.close()
    visit.context.close()


def test_every_box_of_the_map_leads_to_a_page_and_lights_all_that_leads_to_it(new_visit):
    visit = new_visit(MAP).open()
    boxes = visit.page.locator(".course-map a")
    assert all((BUILD / "book/start" / box.get_attribute("href")).exists() for box in boxes.all())
    boxes.first.focus()
    for _ in range(boxes.count() - 2):
        visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("() => document.activeElement.dataset.page") == "16"

    def only_what_leads_to_it_is_lit():
        color = "(box) => getComputedStyle(box).backgroundColor"
        plain = boxes.last.evaluate(color)
        lit = [
            box.get_attribute("data-page") for box in boxes.all() if box.evaluate(color) != plain
        ]
        assert lit == ["softmax", "descent", "1", "2", "5", "8", "12"]

    eventually(visit.page, only_what_leads_to_it_is_lit)
    visit.context.close()


# How many pictures of the map a reader sees that have come, and how many arrows there are, and cross a box.
MAP_SHOWS = """() => {
  const seen = (kind) => [...document.querySelectorAll(`.course-map ${kind}`)].filter((one) => one.checkVisibility());
  const boxes = seen("a").map((box) => box.getBoundingClientRect());
  const crosses = (arrow) => {
    const { left, right, top, bottom } = arrow.getBoundingClientRect();
    return boxes.some((box) => left < box.right && right > box.left && top < box.bottom && bottom > box.top);
  };
  const come = seen("img").filter((image) => image.complete && image.naturalWidth > 0);
  return [come.length, seen("i").length, seen("i").filter(crosses).length];
}"""


@pytest.mark.parametrize(
    ("width", "pictures", "arrows"), [(1280, 28, 16), (700, 28, 16), (390, 20, 8)]
)
def test_the_map_shows_its_pictures_and_no_arrow_crosses_a_box(new_visit, width, pictures, arrows):
    visit = new_visit(MAP).open()
    visit.page.set_viewport_size({"width": width, "height": 800})
    for box in visit.page.locator(".course-map a").all():
        box.scroll_into_view_if_needed()

    def all_have_come():
        assert visit.page.evaluate(MAP_SHOWS) == [pictures, arrows, 0]

    eventually(visit.page, all_have_come)
    visit.context.close()
