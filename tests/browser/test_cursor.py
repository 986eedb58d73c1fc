"""One step of a run that has ended: what a figure draws and says of it, by the mouse, by keys, by a
finger."""

import numpy as np
import pytest

from visits import eventually
from widgets import FINISHED, MOUNT, open_one

# Where a step of a loss is in the window, in the middle of its panel.
PLACE = """(step) => {
  const box = document.querySelector(".js-plotly-plot"), { left, top } = box.getBoundingClientRect(),
    { xaxis, yaxis } = box.data.find(({ name }) => name === "loss" || name === "training"),
    [across, up] = [xaxis, yaxis].map((name) => box._fullLayout[`${name[0]}axis${name.slice(1)}`]);
  return [left + across._offset + across.d2p(step), top + up._offset + up._length / 2];
}"""
DRAWN = """() => {
  const { data } = document.querySelector(".js-plotly-plot"), of = (told) => data.find(({ name }) => name === told);
  return [of("descent")?.x ?? data.at(-1).z, of("loss")?.y ?? of("training").y].map((all) => [...all]);
}"""
MARKS = "() => [...document.querySelectorAll('.mha-step')].map((one) => one.textContent)"
SUMMARY = "() => document.querySelector('.mha-live-summary').textContent"
LAST = {"figure": 20, "laboratory": 2000}


@pytest.fixture(params=["figure", "laboratory"])
def shown(open_widget, request):
    """A widget after its first run, its kind, and what was drawn and said."""
    page = open_widget(request.param)
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    page.locator(".js-plotly-plot").scroll_into_view_if_needed()
    yield page, request.param, (page.evaluate(DRAWN), page.evaluate(SUMMARY))
    assert not page.complaints
    page.close()


def assert_shows(page, kind, step, before):
    """The line, the words, the whole curve, and the state as it was at the step."""
    (state, curve), now = before[0], page.evaluate(DRAWN)
    assert set(page.evaluate(MARKS)) == {str(step)}
    words = page.evaluate(SUMMARY)
    assert words.startswith(f"Step {step} of {LAST[kind]}") and "once more" not in words
    assert page.locator(".mha-steps").get_attribute("aria-valuetext") == words
    assert now[1] == curve
    if kind == "figure":
        assert now[0] == state[: step + 1]
    else:
        assert now[0] != state and np.allclose(np.sum(now[0], axis=1), 1)


def assert_says(page, words):
    assert page.evaluate(SUMMARY).startswith(words)


def assert_rests(page, before):
    assert not page.evaluate(MARKS)
    assert (page.evaluate(DRAWN), page.evaluate(SUMMARY)) == before


def test_a_pointer_on_a_curve_shows_the_step_and_leaving_it_the_last_one(shown):
    page, kind, before = shown
    page.mouse.move(*page.evaluate(PLACE, 7))
    eventually(page, lambda: assert_shows(page, kind, 7, before))
    page.mouse.move(*page.evaluate(PLACE, 3))
    eventually(page, lambda: assert_shows(page, kind, 3, before))
    page.mouse.move(1, 1)
    eventually(page, lambda: assert_rests(page, before))


def test_arrow_keys_go_from_step_to_step(shown):
    page, kind, before = shown
    page.locator(".mha-steps").focus()
    assert_rests(page, before)
    page.keyboard.press("Home")
    eventually(page, lambda: assert_says(page, "Step 0 of "))
    page.keyboard.press("ArrowRight")
    eventually(page, lambda: assert_shows(page, kind, 1, before))
    page.keyboard.press("Escape")
    eventually(page, lambda: assert_rests(page, before))


def test_a_control_that_moves_ends_it(shown):
    page, _, before = shown
    page.mouse.move(*page.evaluate(PLACE, 7))
    eventually(page, lambda: assert_says(page, "Step 7 of "))
    slider = page.locator("[data-control=lr]")
    slider.press("ArrowLeft")
    page.wait_for_function(FINISHED)
    eventually(page, lambda: assert_new(page, before))


def assert_new(page, before):
    drawn, said = page.evaluate(DRAWN), page.evaluate(SUMMARY)
    assert not page.evaluate(MARKS) and drawn[0] != before[0][0] and not said.startswith("Step")


def test_after_a_tap_the_step_stays_until_another_place_is_tapped(chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = open_one(context, "figure")
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    before = page.evaluate(DRAWN), page.evaluate(SUMMARY)
    page.locator(".js-plotly-plot").scroll_into_view_if_needed()
    page.touchscreen.tap(*page.evaluate(PLACE, 7))
    eventually(page, lambda: assert_shows(page, "figure", 7, before))
    page.locator(".mha-live-summary").tap()
    eventually(page, lambda: assert_rests(page, before))
    context.close()
