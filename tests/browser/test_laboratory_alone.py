"""The laboratory alone on a page: what it draws and saves, links, frames, and a Python that has
read a file."""

import json
import zlib
from functools import partial

import pytest

import widgets
from laboratory_page import Lab
from malformed import GOOD, npz
from visits import eventually, frames
from widgets import CLOSE, FINISHED, MOUNT

SET = """(given) => {
  for (const [name, value] of Object.entries(given)) {
    shown.model.set(name, value);
    for (const hear of [...shown.heard[`change:${name}`]]) hear();
  }
}"""
VALUES = "() => shown.model.get('values')"


@pytest.fixture(scope="module")
def opened(open_widget):
    """Open one page for all."""
    return open_widget("laboratory")


@pytest.fixture
def lab(opened):
    """Give a laboratory as it comes; nothing goes wrong on its page."""
    opened.evaluate(MOUNT)
    opened.wait_for_function(FINISHED)
    yield Lab(opened)
    opened.evaluate(CLOSE)
    opened.evaluate("() => { window.location.hash = ''; }")
    assert not opened.complaints


LINES = """() => Object.fromEntries(document.querySelector(".js-plotly-plot").data
  .filter(({ visible, type }) => visible !== false && type === "scatter")
  .map(({ name, y }) => [name, y?.length ?? 0]))"""


def test_a_curve_that_is_not_measured_is_not_drawn(lab):
    """Plotly draws a line without heights at 0, 1, 2, …"""
    lab.reset()
    assert lab.page.evaluate(LINES)["eigenvalue"] > 5
    lab.control("curvature").click()
    lab.settle()
    lines = lab.page.evaluate(LINES)
    assert "eigenvalue" not in lines and 0 not in lines.values()


BESIDE = """() => document.querySelector(".js-plotly-plot").data
  .filter(({ name, visible }) => name === "opening run" && visible !== false)
  .map(({ x, y }) => [x.at(-1), y.length === x.length && y.at(-1)])"""


def test_the_opening_run_stands_beside_another_and_goes_no_further(lab):
    lab.reset()
    opening = json.loads(lab.saved("everything, JSON"))
    assert lab.page.evaluate(BESIDE) == []
    lab.press("A step above the edge")
    lab.settle()
    last = max(step for step in opening["steps"] if step <= 200)
    k, curves = opening["steps"].index(last), opening["curves"]
    names = ("loss", "accuracy", "attention_score", "sharpness")
    for (step, height), name in zip(lab.page.evaluate(BESIDE), names, strict=True):
        assert step == last and height == pytest.approx(curves[name][k], rel=1e-6)
    lab.control("lr").fill("0")  # it is not the run before
    lab.settle()
    assert lab.page.evaluate(BESIDE)[0] == [last, pytest.approx(curves["loss"][k], rel=1e-6)]
    lab.choose("model", "attention regression")  # its loss is another one
    assert lab.page.evaluate(BESIDE) == []
    lab.reset()
    assert lab.page.evaluate(BESIDE) == []


NAMED = """() => {
  const box = document.querySelector(".js-plotly-plot"), { left: zero, width } = box.getBoundingClientRect();
  const words = [...box.querySelectorAll(".mha-ends text")], place = (node) => node.getBoundingClientRect();
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 4 && b.top < a.bottom - 4;
  const over = words.filter((one) => words.some((two) => two !== one && meet(place(one), place(two))));
  const panels = Object.values(box._fullLayout._plots);
  const out = words.filter((one) => !panels.some(({ xaxis }) =>
    place(one).left > zero + xaxis._offset - 1 && place(one).right < zero + xaxis._offset + xaxis._length + 1));
  const said = [over, out].map((some) => some.map((one) => one.textContent));
  return [Math.abs(box._fullLayout.width - width) < 1, ...said, words.map((one) => one.lastChild.textContent.trim())];
}"""


@pytest.mark.parametrize(
    ("hash", "names"),
    [
        ("model=heads&data=mixture", ["training", "test", "training", "test", "eigenvalue"]),
        ("model=heads&data=planted", ["training", "test", "training", "test", "W", "U"]),
        ("model=layer&data=sequences&moves=WV", ["WQ", "WK", "WV", "WO", "bound"]),
        ("model=regression&data=linear", ["training", "noise floor"]),
    ],
)
def test_each_panel_names_its_own_lines_in_itself(lab, hash, names):
    def assert_named(width):
        fits, over, out, words = lab.page.evaluate(NAMED)
        assert (fits, over, out) == (True, [], []), f"{width} px"
        assert not [name for name in names if words.count(name) < names.count(name)]

    lab.go_to(f"#laboratory=1&{hash}")
    for width in (390, 500, 700, 760, 1280, 900):
        lab.page.set_viewport_size({"width": width, "height": 900})
        eventually(lab.page, partial(assert_named, width))


@pytest.mark.parametrize(
    ("hash", "some", "without"),
    [
        ("curvature=true", {"sharpness", "smoothness_bound", "stability_edge"}, set()),
        ("curvature=false", {"smoothness_bound", "stability_edge"}, {"sharpness"}),
        ("optimizer=adam", {"sharpness"}, {"stability_edge"}),
        ("model=layer&data=sequences&moves=WQ", {"sharpness"}, {"value_smoothness"}),
        ("model=layer&data=sequences&moves=WV", {"value_smoothness"}, set()),
    ],
)
def test_curves_that_a_run_has_are_saved_and_no_others(lab, hash, some, without):
    lab.go_to(f"#laboratory=1&{hash}")
    names = set(lab.saved("curves, CSV").decode().splitlines()[0].split(","))
    assert {"step", "loss", "rate"} | some <= names and not names & without
    assert set(json.loads(lab.saved("everything, JSON"))["curves"]) == names - {"step"}


def test_a_group_of_controls_folds(lab):
    n, lr, head = (lab.root.locator(f"[data-control={name}]") for name in ("n", "lr", "head"))
    assert lr.is_visible() and not n.is_visible() and not head.is_visible()  # the run of chapter 1
    lab.page.locator("summary", has_text="Data").press("Enter")
    assert n.is_visible() and lr.is_visible()
    lab.reset()
    assert n.is_visible()
    lab.root.get_by_label("experiment").select_option("2 · sixteen identical heads")
    assert head.is_visible() and not n.is_visible() and not lr.is_visible()
    lab.settle()


def test_the_picture_stays_where_it_is_when_an_experiment_says_what_it_changes(lab):
    picture, changed = (lab.root.locator(f".mha-{name}") for name in ("live-picture", "changed"))
    before = picture.bounding_box()
    lab.press("Wrong labels")
    lab.settle()
    assert lab.root.get_attribute("data-sight") == "desk"
    # It is as high as its panels need.
    assert picture.bounding_box() | {"height": before["height"]} == before
    chips = changed.locator("span").all_inner_texts()
    assert {"data tokenized mixture → planted head", "wrong labels 0.3"} < {*chips}
    lab.reset()
    assert not changed.is_visible()


def test_digits_have_fewer_samples_than_a_mixture(lab):
    lab.control("n").press("End")
    lab.settle()
    assert "n=1000" in lab.lines()
    lab.choose("data", "handwritten digits")
    assert "n=64" in lab.lines()
    lab.control("n").press("End")
    lab.settle()
    assert "n=200" in lab.lines() and lab.root.get_attribute("data-state") == "done"


@pytest.mark.parametrize("button", ["curves, CSV", "Open a file"])
def test_a_message_is_in_sight_of_who_caused_it(lab, button):
    lab.go_to("#laboratory=1&experiment=few")
    lab.page.get_by_role("button", name=button, exact=True).scroll_into_view_if_needed()
    if button == "Open a file":
        lab.page.locator("input[type=file]").set_input_files(
            {"name": "a.png", "mimeType": "", "buffer": b"x"}
        )
    else:
        lab.press(button)
    lab.note.filter(
        has_text="not opened" if button == "Open a file" else "no finished run"
    ).wait_for()
    assert_in_sight(lab.note)


def assert_in_sight(words):
    place = words.bounding_box()
    assert place["y"] >= 0 and place["y"] + place["height"] <= 900


def test_why_a_run_failed_is_in_sight_of_the_controls(lab):
    lab.go_to("#laboratory=1&experiment=few")
    lab.control("model").scroll_into_view_if_needed()
    assert lab.page.evaluate("() => window.scrollY") < 100 and lab.summary.inner_text().startswith(
        "This combination"
    )
    assert_in_sight(lab.summary)


# --- files and links
# ------------------------------------------------------------------------------------------------


def test_a_link_names_its_file_in_a_few_letters(lab):
    lab.go_to(f"#laboratory=1&model=heads&data=own&lr=0.1&sum=0&file={'a' * 5000}")
    assert f"“{'a' * 80}”, which stayed with its owner" in lab.note.inner_text()


def test_what_is_not_finite_at_the_start_cannot_be_saved(lab):
    X, y = [[[1e300], [-1e300]]] * 2, [1.0, -1.0]
    lab.choose("start", "random")
    lab.hand_over("huge.npz", npz(X=X, y=y))
    lab.summary.filter(has_text="not finite at the start").wait_for()
    lab.press("curves, CSV")
    assert "no finished run" in lab.note.inner_text()


def test_a_sentence_is_said_once(lab):
    lab.reset()
    said = lab.page.get_by_role("status")
    eventually(lab.page, lambda: assert_equal(said.text_content(), lab.summary.inner_text()))
    lab.page.evaluate("""() => {
      window.times = window.redrawn = 0;
      new MutationObserver(() => { window.times++; }).observe(document.querySelector(".mha-said"), { childList: true });
      shown.el.firstChild.addEventListener("mha-drawn", () => { window.redrawn++; });
    }""")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    lab.page.wait_for_function("() => window.redrawn")
    frames(lab.page, 60)  # a sentence is said when it has stood for a while
    lab.page.set_viewport_size({"width": 900, "height": 900})
    assert lab.page.evaluate("() => window.times") == 0


def assert_equal(one, other):
    assert one == other


# --- with Python behind it
# ------------------------------------------------------------------------------------------


def test_python_hears_which_file_was_opened(lab):
    lab.hand_over("mine.csv", GOOD["regression.csv"])
    lab.page.wait_for_function("() => shown.model.get('values').data === 'own'")
    own = {
        "file": "mine.csv",
        "kind": "regression",
        "sum": f"{zlib.crc32(GOOD['regression.csv']):x}",
    }
    assert lab.page.evaluate("() => shown.model.get('own')") == own
    values = lab.page.evaluate(VALUES)
    # Python has read the same file
    lab.page.evaluate(SET, {"own": own, "values": values | {"lr": 0.2}})
    lab.settle()
    assert 'from_file("mine.csv")' in lab.lines() and "GradientDescent(0.2)" in lab.lines()
    assert "in Python" not in lab.note.inner_text()


def test_a_file_that_python_alone_has_is_named_and_stays_in_python(lab):
    theirs = {"file": "theirs.csv", "kind": "regression", "sum": "0"}
    changes = {"model": "regression", "data": "own", "lr": 0.1, "start": "normal"}
    values = lab.page.evaluate(VALUES) | changes
    lab.page.evaluate(SET, {"own": theirs, "values": values})
    lab.note.filter(has_text="“theirs.csv” is open in Python").wait_for()
    assert "linear_regression" in lab.lines()
    lab.control("scale").press("Home")
    lab.page.wait_for_function("() => shown.model.get('values').scale === 0.01")
    assert lab.page.evaluate(VALUES) == values | {"scale": 0.01}
    assert "is open in Python" in lab.note.inner_text()
    lab.hand_over("theirs.csv", GOOD["regression.csv"])
    assert "from_file" in lab.lines() and "scale=0.01" in lab.lines()


# --- frames and browsers
# --------------------------------------------------------------------------------------------


def test_a_frame_copies_the_link_to_the_books_page(open_widget):
    page = open_widget("laboratory")
    page.set_content("<iframe width=900 height=900></iframe>")
    frame = page.frames[1]
    widgets.fill(frame, "laboratory")
    frame.evaluate("() => { state.laboratory.page = 'https://example.org/book/17.html'; }")
    frame.evaluate(MOUNT)
    frame.wait_for_function(FINISHED)
    lab = Lab(frame)
    lab.press("Copy link")
    lab.note.filter(
        has_text="https://example.org/book/17.html#laboratory=1&model=heads&data=mixture"
    ).wait_for()
    assert not frame.evaluate("() => window.location.hash")


def test_a_page_that_may_not_change_its_address_works_on(lab):
    lab.page.evaluate("""() => {
      history.replaceState = () => { throw new DOMException("not in a sandbox", "SecurityError"); };
    }""")
    lab.press("Copy link")
    lab.note.filter(has_text="#laboratory=1&model=heads").wait_for()
    lab.go_to("#laboratory=1&model=layer&data=sequences&lr=0.1&scale=1")
    lab.page.wait_for_function(
        "() => document.querySelector('.mha-lines').textContent.includes('AttentionLayer')"
    )
    lab.reset()
    assert "MultiHeadAttention" in lab.lines()
    lab.page.evaluate("() => { delete history.replaceState; }")


SPOKEN = {
    "laboratory": [
        ".mha-live[role=group][aria-label]",
        ".mha-live-plot[role=img][aria-label]",
        ".mha-steps[role=slider][aria-label]",
        ".mha-value[aria-hidden=true]",
        ".mha-said[role=status]",
        ".mha-note[role=alert]",
    ],
    "figure": [
        ".mha-live[role=group][aria-label]",
        ".mha-live-plot[role=img][aria-label]",
        ".mha-said[role=status]",
    ],
    "exercise": [".mha-exercise[role=group][aria-label]", ".mha-verdict[role=status]"],
}


@pytest.mark.parametrize("kind", SPOKEN)
def test_a_browser_without_aria_as_properties_hears_all(open_widget, kind):
    page = open_widget(kind)
    page.evaluate(
        "() => { for (const name of ['role', 'ariaLabel', 'ariaHidden']) delete "
        "Element.prototype[name]; }"
    )
    page.evaluate(MOUNT)
    assert not [selector for selector in SPOKEN[kind] if not page.locator(selector).count()]
    if kind != "exercise":
        page.wait_for_function(FINISHED)
        before = page.locator(".mha-live-plot").get_attribute("aria-label")
        slider = page.locator("input[type=range]:visible").last
        slider.press("End" if slider.input_value() == "0" else "Home")
        assert page.locator(".mha-live-plot").get_attribute("aria-label") != before
