"""Figures are drawn when they come near the window, or when the browser rests; until then their pictures stand."""

from contextlib import closing

import pytest

from mhabook._render import figure_html
from scripts import load
from visits import BUILD, PATIENCE, at_rest

pictures = load("book/_ext/pictures.py")
# Its first figure stands four windows below its title.
PAGE = "book/multihead/03_what_one_random_step_knows.html"
LABORATORY = "book/laboratory/17_laboratory.html"
DRAWINGS = """() => [...document.querySelectorAll(".mha-drawing")].map((box) =>
  [box.querySelectorAll(".mha-picture").length, box.querySelectorAll(".main-svg").length > 0])"""
LIVE_HEIGHTS = """() => [...document.querySelectorAll(".mha-live, .mha-fallback")].map((box) => box.offsetHeight)
  .filter(Boolean)"""
HEIGHTS = """() => [...document.querySelectorAll(".mha-figure, .mha-fallback")].map((box) => box.offsetHeight)"""
PICTURE, DRAWING = [1, False], [0, True]


@pytest.fixture
def restless(site, chromium, request):
    """Open the page that is asked for in a browser that never rests, as wide as asked."""
    name, width = getattr(request, "param", (PAGE, 1280))
    phone = {"has_touch": True, "is_mobile": True} if width < 600 else {}
    context = chromium.new_context(viewport={"width": width, "height": 900}, **phone)
    context.set_default_timeout(PATIENCE)
    context.add_init_script("window.requestIdleCallback = () => {}")
    page = context.new_page()
    page.goto(site + name, wait_until="load")
    at_rest(page)
    yield page
    context.close()


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


@pytest.mark.parametrize(("restless", "off"), [((PAGE, 1280), 2), ((PAGE, 390), 2), ((LABORATORY, 1280), 40),
                                               ((LABORATORY, 390), 40)], indirect=["restless"])
def test_a_live_figure_takes_the_room_that_its_picture_kept(restless, off):
    page = restless
    kept = page.evaluate(LIVE_HEIGHTS)
    page.locator(".mha-fallback").first.scroll_into_view_if_needed()
    page.locator(".mha-live[data-state=done]").wait_for()
    at_rest(page)
    taken = page.evaluate(LIVE_HEIGHTS)
    assert len(kept) == len(taken) == 1 and abs(kept[0] - taken[0]) <= off, (kept, taken)


def test_a_trace_that_the_pages_plotly_does_not_know_stops_the_build(chromium):
    if not BUILD.is_dir():
        pytest.skip("figures.js is taken from the built book")
    cloud = figure_html({"data": [{"type": "scatter3d"}], "layout": {"meta": {"alt": "a cloud"}}})
    with closing(pictures.workbench(chromium, BUILD)) as bench, pytest.raises(ValueError, match="draw scatter3d:"):
        pictures.pictures(bench, f'<script src="_static/figures.js"></script>{cloud}')
