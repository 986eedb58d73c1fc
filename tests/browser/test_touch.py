"""A finger on a page: a swipe that begins on a figure or on a slider scrolls the page, and changes
nothing."""

import pytest

from figures import FIGURES, of_each_kind
from visits import BUILD, DRAWN, RANGES, at_rest, eventually, frames

DRAWS = [
    page.relative_to(BUILD).as_posix()
    for page in sorted(BUILD.rglob("book/**/*.html"))
    if 'class="mha-figure"' in page.read_text("utf-8")
    or page.relative_to(BUILD).as_posix() in FIGURES
]


@pytest.fixture(scope="module")
def phone(site, chromium):
    """Open a page as on a phone: 390 pixels wide, and touched."""
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()

    def visit(name):
        if page.url == site + name:
            return page
        page.goto(site + name, wait_until="load")
        page.wait_for_function(
            "(n) => document.querySelectorAll('.mha-live[data-state=done]').length === n",
            arg=len(FIGURES.get(name, ())),
        )
        page.wait_for_function(DRAWN)
        return page

    yield visit
    context.close()


def scrolled(page):
    return page.evaluate("() => window.scrollY")


def swipe(page, *points):
    """Put a finger down at the first point, move it through the others, and lift it."""
    fingers(page, *([point] for point in points))


def fingers(page, *moments):
    """Touch a page at the points of each moment, one after the other, and lift all fingers."""
    session = page.context.new_cdp_session(page)
    for before, points in zip([(), *moments], moments, strict=False):
        kind = "touchMove" if len(points) == len(before) else "touchStart"
        session.send(
            "Input.dispatchTouchEvent",
            {
                "type": kind,
                "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)],
            },
        )
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def assert_a_swipe_scrolls(page, x, y):
    """A swipe of 100 pixels upward takes a part of them: the browser keeps the first to tell a
    swipe from a tap."""
    before = scrolled(page)
    swipe(page, *((x, y - up) for up in range(0, 101, 20)))
    eventually(page, lambda: at_least(scrolled(page) - before, 20))


def middle(page, locator):
    """Bring an element into the middle of the window; where its own middle is then."""
    locator.evaluate("(node) => node.scrollIntoView({ block: 'center', behavior: 'instant' })")
    frames(page, 2)
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("name", of_each_kind(DRAWS), scope="module")
def test_a_swipe_on_a_figure_scrolls_the_page(phone, name):
    page = phone(name)
    figures = page.locator(".js-plotly-plot:visible").all()
    for figure in figures[:: max(1, len(figures) // 3)]:
        before = figure.evaluate(RANGES)
        assert_a_swipe_scrolls(page, *middle(page, figure))
        assert figure.evaluate(RANGES) == before, "the figure has zoomed"


@pytest.mark.parametrize("name", of_each_kind(FIGURES), scope="module")
def test_a_swipe_across_a_slider_scrolls_the_page_and_moves_nothing(phone, name):
    page = phone(name)
    for slider in page.locator(".mha-control input[type=range]:visible").all():
        before, (x, y) = slider.input_value(), middle(page, slider)
        assert_a_swipe_scrolls(page, x + 25, y)
        eventually(page, lambda slider=slider, before=before: same(slider.input_value(), before))


def test_a_finger_that_moves_along_a_slider_moves_it_and_so_does_a_tap(phone):
    page = phone(next(iter(FIGURES)))
    at_rest(page)  # an earlier swipe may still glide
    slider = page.locator(".mha-control input[type=range]:visible").first
    _, y = middle(page, slider)
    box, last = slider.bounding_box(), slider.get_attribute("max")
    before = scrolled(page)
    swipe(page, *((box["x"] + share * box["width"], y) for share in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)))
    eventually(page, lambda: same(slider.input_value(), last))
    assert scrolled(page) == before
    page.touchscreen.tap(box["x"] + 3, y)
    eventually(page, lambda: same(slider.input_value(), "0"))
    page.wait_for_function("() => document.querySelector('.mha-live').dataset.state === 'done'")


def test_once_a_control_has_moved_the_picture_stays_in_sight_and_covers_no_control(phone):
    page = phone("book/kernels/13_when_gradient_descent_must_succeed.html")
    at_rest(page)
    live = page.locator(".mha-live").first
    picture, controls = live.locator(".mha-live-picture"), live.locator("[data-control]")
    slider = live.locator("input[type=range]").first
    page.evaluate(
        "(to) => scrollBy({ top: to, behavior: 'instant' })", slider.bounding_box()["y"] - 80
    )
    frames(page, 2)
    assert picture.bounding_box()["y"] < 0, "a reader who has moved nothing scrolls it away"

    def assert_in_sight_below_the_picture(control):
        above, box = picture.bounding_box(), control.bounding_box()
        assert above["y"] >= 0 and above["y"] + above["height"] <= box["y"] + 1
        assert box["y"] + box["height"] <= page.viewport_size["height"]

    box = slider.bounding_box()
    page.touchscreen.tap(box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2)
    eventually(page, lambda: assert_in_sight_below_the_picture(slider))
    slider.focus()
    for control in controls.all()[1:]:
        page.keyboard.press("Tab")
        eventually(page, lambda control=control: assert_in_sight_below_the_picture(control))


@pytest.mark.parametrize(
    ("name", "what"),
    [  # on a slider Chromium never lets them
        ("14_traps", ".js-plotly-plot"),
        ("14_traps", ".mha-handle"),
        ("12_two_kernels_one_rank", ".mha-guesses svg"),
    ],
)
def test_two_fingers_enlarge_the_page_on_a_figure_too(phone, name, what):
    page = phone(f"book/kernels/{name}.html")
    at_rest(page)
    x, y = middle(page, page.locator(f"{what}:visible").first)
    apart = [[(x, y), (x + 30 + by, y - 30 - by)] for by in range(0, 100, 5)]
    fingers(page, [(x, y)], *apart)
    eventually(page, lambda: at_least(page.evaluate("() => visualViewport.scale"), 1.2))
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setPageScaleFactor", {"pageScaleFactor": 1})
    session.detach()


def test_a_finger_draws_sideways_or_taps_and_scrolls_the_page_up_from_the_same_plot(phone):
    page = phone("book/kernels/12_two_kernels_one_rank.html")
    at_rest(page)
    plot = page.locator(".mha-guesses .mha-plot svg")
    points = page.locator(".mha-guesses .mha-plot input")

    def drawn(*values):
        assert [point.input_value() for point in points.all()] == list(values)

    assert_a_swipe_scrolls(page, *middle(page, plot))
    at_rest(page)
    drawn(*7 * ["0.5"])
    x, y = middle(page, plot)
    before, box = scrolled(page), plot.bounding_box()
    column = box["width"] / points.count()
    assert min(column, box["height"]) >= 44
    page.touchscreen.tap(x, y - 63)  # in column 3, and upward by seven levels
    swipe(page, *((x + columns * column, y + 18) for columns in (1, 3)), (x + 3 * column, y - 63))
    eventually(page, lambda: drawn("0.85", "0.85", "0.85", "0.85", "0.4", "0.4", "0.85"))
    assert scrolled(page) == before


# What a finger presses that is less than 44 pixels high, and links at statements of less than 24.
# No finger sees a button that copies code or a slider of the keyboard, and a choice is pressed by
# its words.
SMALL = """() => [...document.querySelectorAll(".bd-article :is(input, select, button, summary, .mha-guess label)")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
  .filter((one) => !one.matches("[type=checkbox], [type=radio], .copybtn, .mha-keys, .mha-plot *, .mha-exercise *"))
  .map((one) => one.outerHTML.slice(0, 80))
  .concat([...document.querySelectorAll(".mha-known a")].filter((link) => link.offsetHeight < 24).map(String))"""


@pytest.mark.parametrize(
    "name",
    [
        "book/multihead/01_a_small_attention_model.html",
        "book/ledger.html",
        "book/laboratory/17_laboratory.html",
    ],
    scope="module",
)
def test_what_a_finger_presses_is_44_pixels_high(phone, name):
    page = phone(name)
    at_rest(page)
    assert page.evaluate(SMALL) == []


def same(found, wanted):
    assert found == wanted


def at_least(found, wanted):
    assert found >= wanted


CUT = """() => ["def-head", "def-model"].flatMap((id) =>
  [...document.querySelectorAll(`#${id} :is(mjx-container[display=true], table)`)]
    .map((part) => [id, part.scrollWidth - part.clientWidth]))"""


@pytest.mark.parametrize("width", [390, 1280])
def test_what_chapter_1_defines_is_seen_whole(open_page, width):
    visit = open_page("book/multihead/01_a_small_attention_model.html").show(width=width)
    found = visit.page.evaluate(CUT)
    visit.show()
    assert {name for name, _ in found} == {"def-head", "def-model"}
    assert all(beyond <= 0 for _, beyond in found)
