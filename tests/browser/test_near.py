"""Figures are drawn when they come near the window, or when the browser rests; until then their
pictures stand."""

import json

import numpy as np
import pytest

from figures import of_each_kind
from visits import BUILD, DRAWN, PATIENCE, SHIFTS, assert_nothing_moves, at_rest, frames

# On a phone its first figure stands several windows below its title.
PAGE = "book/multihead/03_further.html"
LABORATORY = "book/laboratory/17_laboratory.html"
DRAWINGS = """() => [...document.querySelectorAll(".mha-drawing")].map((box) =>
  [box.querySelectorAll(".mha-picture").length, box.querySelectorAll(".main-svg").length > 0])"""
HEIGHTS = """() => [...document.querySelectorAll(".mha-figure, .mha-fallback")].map((box) => box.offsetHeight)"""
NO_REST = "window.requestIdleCallback = () => {}"  # a figure is drawn when it comes near
# The height of what each figure of a page stands in; and those that it has had at any frame from
# now on.
ROOM = """() => [...document.querySelectorAll(".mha-figure, .mha-fallback")]
  .map((figure) => (figure.closest(".cell_output") ?? figure).offsetHeight)"""
WATCH = f"""() => {{
  window.rooms = new Set();
  const look = () => {{
    rooms.add(JSON.stringify(({ROOM})()));
    requestAnimationFrame(look);
  }};
  look();
}}"""
# A run lasts: the page trains, whose clock says after each step that its slice of eight
# milliseconds is over.
STEPWISE = """delete window.Worker;
{
  const { now } = Date;
  let late = 0;
  Date.now = () => now() + (late += 4);
}"""
PLOTLY = "**/plotly-cartesian.min.js*"
MARKS = ('class="mha-figure"', 'class="mha-fallback"')
FIGURES = [
    page.relative_to(BUILD).as_posix()
    for page in sorted(BUILD.rglob("book/**/*.html"))
    if any(mark in page.read_text("utf-8") for mark in MARKS)
]
PICTURE, DRAWING = [1, False], [0, True]


@pytest.fixture
def opened(site, chromium):
    """Give the way to open a page as wide as a desk or a phone: a page, and what sends it there."""
    contexts = []

    def open_one(name, width, *scripts, has_touch=True):
        phone = {"has_touch": True, "is_mobile": True} if has_touch and width < 600 else {}
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", **phone
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        for script in scripts:
            page.add_init_script(script)
        return page, lambda until="load": page.goto(site + name, wait_until=until)

    yield open_one
    for context in contexts:
        context.close()


@pytest.fixture
def restless(opened):
    """Open the page in a browser that never rests."""
    page, go = opened(PAGE, 390, NO_REST)
    go()
    at_rest(page)
    return page


def test_a_figure_is_drawn_when_it_is_near_and_its_picture_stands_until_then(restless):
    page = restless
    drawings, heights = page.evaluate(DRAWINGS), page.evaluate(HEIGHTS)
    assert len(drawings) > 3 and drawings == [PICTURE] * len(drawings)
    assert page.evaluate("() => !window.Plotly")
    first = page.locator(".mha-figure").first
    first.scroll_into_view_if_needed()
    first.locator(".main-svg").first.wait_for()
    at_rest(page)
    drawings = page.evaluate(DRAWINGS)
    assert drawings[0] == DRAWING
    assert drawings[-1] == PICTURE, "it is far from the window"
    assert page.evaluate(HEIGHTS) == heights, "the page has moved"


def assert_room_is_kept(page, go, off):
    """At every moment figures take the room that their pictures kept, but for so many pixels."""
    waiting = []
    page.route(PLOTLY, lambda route: waiting.append(route))
    go("domcontentloaded")  # until plotly comes, the page is not loaded
    page.evaluate("() => document.fonts.ready.then(() => null)")
    frames(page, 3)
    kept = page.evaluate(ROOM)
    page.evaluate(WATCH)
    page.route(PLOTLY, lambda route: route.continue_())
    for route in waiting:
        route.continue_()
    page.wait_for_function(DRAWN)
    taken = [json.loads(room) for room in page.evaluate("() => [...rooms]")]
    assert taken and all(abs(np.array(room) - kept).max() <= off for room in taken), (kept, taken)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", of_each_kind(FIGURES))
def test_a_figure_takes_at_every_moment_the_room_that_its_picture_kept(opened, name, width):
    assert_room_is_kept(*opened(name, width, STEPWISE), 25 if name == LABORATORY else 2)


@pytest.mark.parametrize(("width", "off"), [(390, 25), (1100, 50)])
def test_the_laboratory_keeps_its_room_where_a_mouse_has_less_than_a_desk(opened, width, off):
    assert_room_is_kept(*opened(LABORATORY, width, STEPWISE, has_touch=False), off)


@pytest.mark.parametrize(
    "name",
    [
        "book/index.html",
        pytest.param("book/multihead/02_how_steep_how_curved.html", marks=pytest.mark.weekly),
    ],
)
def test_nothing_moves_on_a_phone_whose_processor_is_slow(opened, name):
    page, go = opened(name, 390, SHIFTS, NO_REST)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    go()
    at_rest(page)
    assert_nothing_moves(page)
