"""Every live figure of the built book, moved by mouse and by keyboard: what it draws is what mhalib
computes."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from checks import assert_alike
from figures import FIGURES, PLACES, figure, of_each_kind, place_id
from live_figure import DRAWN, Live
from mhabook.start.figure_words import FOOT, LONGEST
from visits import BUILD, PATIENCE, RANGES, at_rest, eventually, frames

SCRIPT = r'<script type="application/vnd.jupyter.widget-{}\+json">(.*?)</script>'
STATE, VIEW = (re.compile(SCRIPT.format(kind), re.DOTALL) for kind in ("state", "view"))
READY = "(n) => document.querySelectorAll('.mha-live[data-state=done]').length === n"
DRAGGED = [place for place in PLACES if place[0].split("/")[-1][:2] in ("12", "14", "de")]
NO_WORKER = "delete window.Worker;"
DEAD_WORKER = """window.Worker = class {
  constructor() { setTimeout(() => this.onerror(new Event("error", { cancelable: true })), 50); }
  postMessage() {}
  terminate() {}
};"""
NO_KERNEL = "delete window.WebAssembly;"
# How many steps each frame shows, the weights at the last of them, and the ends of the bars.
SHOWN = """window.shown = [];
document.addEventListener("mha-drawn", () => {
  const [heatmap, bars] = document.querySelector(".js-plotly-plot").data;
  shown.push({ steps: heatmap.x.length, weights: heatmap.z.at(-1), ends: bars.x.filter((_, k) => k % 3 === 1) });
});
"""


def descriptions(page):
    """The descriptions that a built page carries, in the order in which it shows them."""
    text = (BUILD / page).read_text("utf-8")
    models = json.loads(state[1])["state"] if (state := STATE.search(text)) else {}
    shown = [models[json.loads(view)["model_id"]]["state"] for view in VIEW.findall(text)]
    return [model["spec"] for model in shown if "spec" in model]


@pytest.fixture
def live(open_page, place):
    visit = open_page(place[0])
    visit.page.wait_for_function(READY, arg=len(FIGURES[place[0]]))
    one = Live(visit, *place)
    yield one
    assert not visit.complaints + visit.failures
    one.reset()


each = pytest.mark.parametrize("place", PLACES, ids=place_id, scope="module")
of_a_kind = pytest.mark.parametrize("place", of_each_kind(PLACES, name=place_id), scope="module")


def test_every_live_figure_of_the_book_is_tested(site):
    found = {
        path.relative_to(BUILD).as_posix(): descriptions(path)
        for path in BUILD.rglob("book/**/*.html")
    }
    assert {page: len(specs) for page, specs in found.items() if specs} == {
        p: len(f) for p, f in FIGURES.items()
    }


@each
def test_page_carries_the_figure_that_python_makes(place, site):
    carried, made = descriptions(place[0])[place[1]], json.loads(json.dumps(figure(*place).spec))
    assert carried.pop("fallback") and made.pop("fallback")
    carried.pop("figure"), made.pop("figure")  # its numbers are compared where they are drawn
    # The book may have been built on another processor, which rounds in its own way.
    assert_alike(carried, made, rel=1e-9)


def assert_moves(live, name, move, end):
    """Moved to that end, or to the other where it stands there, a control draws mhalib's curve."""
    control = live.made.controls[name]
    value = (
        control.values[end] if control.values[end] != control.value else control.values[-1 - end]
    )
    move(live, name, value)
    live.assert_draws(**{name: value})
    if control.kind == "slider":
        says = live.input(name).get_attribute("aria-valuetext")
        assert says == control.texts[control.values.index(value)]
    live.press_reset()  # and on, while it trains


@each
def test_a_slider_moves_and_the_curve_is_mhalibs(live):
    """By the mouse. test_engine compares both ends of every control."""
    assert_moves(live, live.slider, Live.drag, -1)


@of_a_kind
def test_controls_of_every_kind_move_by_keys_and_by_the_mouse(live):
    kinds = {control.kind: name for name, control in reversed(live.made.controls.items())}
    for k, name in enumerate(kinds.values()):
        assert_moves(live, name, *((Live.type, 0) if k % 2 == 0 else (Live.drag, -1)))


@of_a_kind
def test_after_rapid_dragging_the_last_value_is_drawn(live):
    slider, values = live.input(live.slider), live.made.controls[live.slider].values
    live.slide(slider, 1, hops=12)
    live.slide(slider, 1 / (len(values) - 1), hops=12)
    live.assert_draws(**{live.slider: values[1]})
    before = live.root.evaluate(DRAWN)
    frames(live.page, 30)
    assert live.root.evaluate(DRAWN) == before, "a stale run was drawn"


@pytest.mark.parametrize(
    "place", [("book/multihead/01_a_small_attention_model.html", 0)], ids=place_id, scope="module"
)
def test_a_mouse_that_is_pulled_over_a_figure_does_not_zoom(live):
    for plot in live.page.locator(".js-plotly-plot:visible").all():
        plot.scroll_into_view_if_needed()
        before, box = plot.evaluate(RANGES), plot.bounding_box()
        x, y = box["x"] + box["width"] / 4, box["y"] + box["height"] / 3
        live.page.mouse.move(x, y)
        live.page.mouse.down()
        live.page.mouse.move(x + 60, y + 60, steps=4)
        live.page.mouse.up()
        frames(live.page, 4)
        assert plot.evaluate(RANGES) == before


@of_a_kind
def test_two_controls_moved_together_are_both_heard(live):
    values = {
        name: control.values[1]
        for name, control in live.made.controls.items()
        if control.kind == "slider"
    }
    for name, value in values.items():
        live.type(name, value)
    live.assert_draws(**values)


@pytest.mark.parametrize("place", DRAGGED, ids=lambda place: place[0], scope="module")
def test_a_point_that_is_dragged_moves_its_sliders(live):
    drag, grip = live.made.spec["drag"][0], live.root.locator(".mha-handle:not([hidden])").first
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    live.page.mouse.move(x, y)
    live.page.mouse.down()
    live.page.mouse.move(x - 45, y - 45, steps=6)
    live.page.mouse.up()
    live.settle()
    moved = {
        name: live.made.controls[name].values[int(live.input(name).input_value())]
        for part, name in drag.items()
        if part != "trace"
    }
    assert moved[drag["x"]] < live.made.values[drag["x"]]
    assert "y" not in drag or moved[drag["y"]] > live.made.values[drag["y"]]
    live.assert_draws(**moved)
    spacing = live.root.evaluate(
        """(root, x) => {
      const axis = root.querySelector(".js-plotly-plot")._fullLayout.xaxis;
      return axis.d2p(x[1]) - axis.d2p(x[0]);
    }""",
        live.made.controls[drag["x"]].values[:2],
    )
    middle = grip.bounding_box()["x"] + box["width"] / 2
    assert middle == pytest.approx(x - 45, abs=spacing / 2 + 1), "under the pointer"


@each
def test_result_is_said_in_words(live):
    words, status = live.root.locator(".mha-live-summary"), live.root.get_by_role("status")
    before = words.inner_text()

    def assert_said_aloud():
        assert status.text_content() == words.inner_text()

    control = live.made.controls[live.slider]
    ends = [-1, 0] if control.values[0] != control.value else [0, -1]
    for end in ends:
        live.type(live.slider, control.values[end])
    live.settle()
    assert re.search(r"\d", before) and words.inner_text() != before
    eventually(live.page, assert_said_aloud)
    named = re.escape(control.texts[ends[-1]])
    assert re.search(rf"(?<![\d.]){named}(?!\d)", words.inner_text()), "it names the value"


@each
def test_controls_have_names(live):
    for name, control in live.made.controls.items():
        assert (
            live.root.get_by_label(control.label, exact=True).get_attribute("data-control") == name
        )


@each
def test_tab_reaches_every_control_in_order(live):
    first, *others = live.made.controls
    live.input(first).focus()
    for name in others:
        live.page.keyboard.press("Tab")
        assert live.page.evaluate("document.activeElement.dataset.control") == name
    # behind what there is to try, before the picture with its steps, or behind the controls
    if live.made.spec["tries"]:
        live.input(first).focus()
    key = "Shift+Tab" if live.made.spec["tries"] else "Tab"
    live.page.keyboard.press(key)
    if live.page.evaluate("document.activeElement.className") == "mha-steps":
        live.page.keyboard.press(key)
    assert live.page.evaluate("document.activeElement.textContent") == "Reset"


@each
def test_default_frame_makes_room_for_the_live_one(live):
    still = live.page.locator(".mha-fallback").nth(live.at[1])
    assert still.is_hidden()
    assert live.root.locator(".main-svg").first.bounding_box()["width"] > 200


OFFSETS = """plot => Object.entries(plot._fullLayout)
    .filter(([name]) => /^yaxis\\d*$/.test(name)).map(([, axis]) => Math.round(axis._offset))"""


@of_a_kind
def test_a_window_of_another_size_keeps_the_figure_whole(live):
    plot = live.root.locator(".mha-live-plot")
    layout = live.made.spec["figure"]["layout"]
    panels = sum(name.startswith("xaxis") for name in layout)
    rows = len({title["y"] for title in layout["annotations"]})

    def assert_fits():
        drawn, room = live.root.locator(".main-svg").first.bounding_box(), plot.bounding_box()
        assert (
            drawn["width"] == pytest.approx(room["width"], abs=1)
            and drawn["height"] == room["height"] >= 350
        )
        tops = live.root.locator(".js-plotly-plot").evaluate(OFFSETS)
        lines = len(set(tops))
        stacked = room["width"] < 560
        assert lines == (panels if stacked else rows), (
            "panels stand side by side where there is room"
        )

    for width in (1100, 390, 1280):
        live.page.set_viewport_size({"width": width, "height": 900})
        eventually(live.page, assert_fits)
    live.assert_draws()


# Where the computing is done is the same for all figures; test_engine runs one of each model
# without the kernel.
@pytest.mark.parametrize(
    "script, place",
    [("", "worker"), (NO_WORKER, "page"), (DEAD_WORKER, "page"), (NO_WORKER + NO_KERNEL, "page")],
)
def test_without_workers_and_without_wasm_the_curve_is_the_same(new_visit, script, place):
    page = next(iter(FIGURES))
    visit = new_visit(page)
    visit.context.add_init_script(script)
    visit.open().page.wait_for_function(READY, arg=len(FIGURES[page]))
    for k in range(len(FIGURES[page])):
        live = Live(visit, page, k)
        live.assert_draws()
        for value in live.made.controls[live.slider].values[1:3]:
            live.type(live.slider, value)
            live.assert_draws(**{live.slider: value})
        assert live.root.get_attribute("data-place") == place
    assert not visit.complaints
    visit.context.close()


@pytest.mark.parametrize("page", of_each_kind(FIGURES))
def test_without_javascript_the_default_frame_stands(chromium, site, page):
    context = chromium.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(site + page)
    drawings = opened.locator(".mha-fallback > svg")
    assert drawings.count() == len(FIGURES[page])
    for drawing in drawings.all():
        assert drawing.is_visible() and drawing.bounding_box()["width"] > 200
        assert len(drawing.get_attribute("aria-label")) > 40
    context.close()


def test_the_first_page_shows_its_figure_and_what_it_is_without_scrolling(new_visit):
    visit = new_visit("book/index.html").open()
    for width, height in ((1280, 800), (390, 844)):
        visit.page.set_viewport_size({"width": width, "height": height})
        at_rest(visit.page)
        boxes = [
            visit.page.locator(part).first.bounding_box()
            for part in ("p:has-text('Each word has a strip')", ".mha-live input", ".mha-live-plot")
        ]
        assert all(box["y"] > 0 and box["y"] + box["height"] <= height for box in boxes), (
            width,
            boxes,
        )
    visit.context.close()


@pytest.fixture
def watched(chromium, site):
    """The first page, to a reader who has nothing against motion, at the first step that it
    shows."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(SHOWN)
    page.goto(f"{site}book/index.html")
    page.wait_for_function("() => shown.length", timeout=PATIENCE)
    yield Live(SimpleNamespace(page=page), "book/index.html", 0)
    context.close()


def test_the_first_run_of_the_first_page_is_shown_step_by_step(watched):
    watched.assert_draws()
    shown = watched.page.evaluate("shown")
    steps = [each["steps"] for each in shown]
    assert steps == sorted(steps) and steps[0] < steps[-1] == 101
    weights, ends = (np.array([each[name] for each in shown]) for name in ("weights", "ends"))
    np.testing.assert_allclose(ends, FOOT + LONGEST * weights, atol=1e-9)


def test_who_moves_the_slider_ends_the_show(watched):
    watched.type("lr", 30.0)
    watched.assert_draws(lr=30.0)
    frames(watched.page, 30)
    watched.assert_draws(lr=30.0)


@pytest.mark.parametrize("page", FIGURES)
def test_page_is_light(page, site):
    assert (BUILD / page).stat().st_size < 2e6


@of_a_kind
def test_reset_restores_the_axes(live):
    plot = live.root.locator(".js-plotly-plot")
    live.settle()
    before = plot.evaluate(RANGES)
    plot.evaluate(
        "(box) => Plotly.relayout(box, { 'xaxis.range': [0.25, 0.5], 'yaxis.range': [0.25, 0.5] })"
    )
    assert plot.evaluate(RANGES) != before
    live.press_reset()
    eventually(
        live.page,
        lambda: np.testing.assert_allclose(
            [row[1:] for row in plot.evaluate(RANGES)], [row[1:] for row in before], rtol=1e-9
        ),
    )
