"""The laboratory alone on a page: what it draws and saves, links, frames, and a Python that has read a file."""

import json
import zlib
from functools import partial

import pytest

import widgets
from laboratory_page import Alone
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
    yield Alone(opened)
    opened.evaluate(CLOSE)
    opened.evaluate("() => { window.location.hash = ''; }")
    assert not opened.complaints


LINES = """() => Object.fromEntries(document.querySelector(".js-plotly-plot").data
  .filter(({ visible, type }) => visible !== false && type === "scatter")
  .map(({ name, y }) => [name, y?.length ?? 0]))"""


def test_a_curve_that_is_not_measured_is_not_drawn(lab):
    """Plotly draws a line without heights at 0, 1, 2, …"""
    lab.press("Reset")
    lab.settle()
    assert lab.place.evaluate(LINES)["largest eigenvalue"] > 5
    lab.control("curvature").click()
    lab.settle()
    lines = lab.place.evaluate(LINES)
    assert "largest eigenvalue" not in lines and 0 not in lines.values()


NAMED = """() => {
  const box = document.querySelector(".js-plotly-plot"), place = (node) => node.getBoundingClientRect();
  const words = [...box.querySelectorAll("g.legend, [class^=legend]:is(g), .annotation, .xtick text, .xtitle")]
    .filter((node) => place(node).width);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const legends = words.filter((node) => /^legend\\d*$/.test(node.classList[0]));
  const over = legends.filter((one) => words.some((two) =>
    two !== one && !one.contains(two) && meet(place(one), place(two))));
  const panels = box._fullLayout._plots;
  const own = legends.filter((one) => {
    const k = one.classList[0].slice(6), { xaxis, yaxis } = panels[`x${k}y${k}`], { left, top } = place(box);
    const foot = top + yaxis._offset + yaxis._length;
    return Math.abs(place(one).left - left - xaxis._offset) < 12 && place(one).top > foot && place(one).top < foot + 60;
  });
  const fits = Math.abs(box._fullLayout.width - place(box).width) < 1;
  return { fits, legends: legends.length, own: own.length, over: over.map((one) => one.textContent) };
}"""


@pytest.mark.parametrize(("hash", "legends"), [
    ("model=heads&data=mixture", 3), ("model=heads&data=planted", 4),
    ("model=layer&data=sequences&moves=WV", 2), ("model=regression&data=linear", 2)])
def test_each_panel_names_its_own_lines_below_itself(lab, hash, legends):
    def assert_named(width):
        named = {"fits": True, "legends": legends, "own": legends, "over": []}
        assert lab.place.evaluate(NAMED) == named, f"{width} px"

    lab.go_to(f"#laboratory=1&{hash}")
    lab.settle()
    for width in (390, 500, 700, 760, 1280, 900):
        lab.place.set_viewport_size({"width": width, "height": 900})
        eventually(lab.place, partial(assert_named, width))


@pytest.mark.parametrize(("hash", "some", "without"), [
    ("curvature=true", {"sharpness", "smoothness_bound", "stability_edge"}, set()),
    ("curvature=false", {"smoothness_bound", "stability_edge"}, {"sharpness"}),
    ("optimizer=adam", {"sharpness"}, {"stability_edge"}),
    ("model=layer&data=sequences&moves=WQ", {"sharpness"}, {"value_smoothness"}),
    ("model=layer&data=sequences&moves=WV", {"value_smoothness"}, set())])
def test_curves_that_are_drawn_are_saved_and_no_others(lab, hash, some, without):
    lab.go_to(f"#laboratory=1&{hash}")
    lab.settle()
    names = set(lab.saved("curves, CSV").decode().splitlines()[0].split(","))
    assert {"step", "loss", "rate"} | some <= names and not names & without
    assert set(json.loads(lab.saved("everything, JSON"))["curves"]) == names - {"step"}


def test_a_group_of_controls_folds(lab):
    lab.place.locator("summary", has_text="Data").press("Enter")
    assert not lab.control("n").is_visible() and lab.control("lr").is_visible()
    lab.press("Reset")
    lab.settle()
    assert not lab.control("n").is_visible()
    lab.place.locator("summary", has_text="Data").press("Enter")
    assert lab.control("n").is_visible()


@pytest.mark.parametrize("button", ["curves, CSV", "Open a file"])
def test_a_message_is_in_sight_of_who_caused_it(lab, button):
    lab.go_to("#laboratory=1&experiment=few")
    lab.settle()
    lab.place.get_by_role("button", name=button, exact=True).scroll_into_view_if_needed()
    if button == "Open a file":
        lab.place.locator("input[type=file]").set_input_files({"name": "a.png", "mimeType": "", "buffer": b"x"})
    else:
        lab.press(button)
    lab.note.filter(has_text="not opened" if button == "Open a file" else "no finished run").wait_for()
    assert_in_sight(lab.note)


def assert_in_sight(words):
    place = words.bounding_box()
    assert place["y"] >= 0 and place["y"] + place["height"] <= 900


def test_why_a_run_failed_is_in_sight_of_the_controls(lab):
    lab.go_to("#laboratory=1&experiment=few")
    lab.settle()
    lab.control("model").scroll_into_view_if_needed()
    assert lab.place.evaluate("() => window.scrollY") < 100 and lab.summary.inner_text().startswith("This combination")
    assert_in_sight(lab.summary)


# --- files and links ------------------------------------------------------------------------------------------------

TO_A_FILE = "#laboratory=1&model=heads&data=own&lr=0.1&sum=0"


@pytest.mark.parametrize("leave", ["Reset", "an experiment"])
def test_a_link_that_was_left_waits_for_no_file(lab, leave):
    lab.go_to(f"{TO_A_FILE}&file=theirs.csv")
    lab.note.filter(has_text="the file “theirs.csv”, which stayed").wait_for()
    if leave == "Reset":
        lab.press("Reset")
    else:
        lab.place.get_by_label("experiment").select_option("equal")
    lab.hand_over("heads.csv", GOOD["heads.csv"])
    assert "GradientDescent(0.1)" not in lab.lines() and "not the file of the link" not in lab.note.inner_text()


def test_a_link_that_waits_for_a_file_is_restored_by_it(lab):
    lab.go_to(f"{TO_A_FILE}&file=theirs.csv")
    lab.note.filter(has_text="which stayed with its owner").wait_for()
    lab.place.locator("input[type=file]").set_input_files(
        {"name": "mine.csv", "mimeType": "", "buffer": GOOD["heads.csv"]})
    lab.note.filter(has_text="not the file of the link").wait_for()
    assert "GradientDescent(0.1)" in lab.lines() and 'from_file("mine.csv")' in lab.lines()


def test_a_file_for_another_model_leaves_the_link_and_says_so(lab):
    lab.go_to(f"{TO_A_FILE}&file=theirs.csv")
    lab.note.filter(has_text="which stayed with its owner").wait_for()
    lab.hand_over("mine.csv", GOOD["regression.csv"])
    assert "is of another model, and is not restored" in lab.note.inner_text()
    assert "linear_regression" not in lab.lines() and 'from_file("mine.csv")' in lab.lines()


@pytest.mark.parametrize(("file", "words"), [("", "on a file, which"), ("&file=" + "a" * 5000, f"“{'a' * 80}”, which")])
def test_a_link_names_its_file_in_a_few_letters(lab, file, words):
    lab.go_to(TO_A_FILE + file)
    lab.note.filter(has_text="which stayed with its owner").wait_for()
    assert words in lab.note.inner_text()


def test_what_is_not_finite_at_the_start_cannot_be_saved(lab):
    X, y = [[[1e300], [-1e300]]] * 2, [1.0, -1.0]
    lab.hand_over("huge.npz", npz(X=X, y=y))
    lab.summary.filter(has_text="not finite at the start").wait_for()
    lab.press("curves, CSV")
    assert "no finished run" in lab.note.inner_text()


def test_a_sentence_is_said_once(lab):
    lab.press("Reset")
    lab.settle()
    said = lab.place.get_by_role("status")
    eventually(lab.place, lambda: assert_equal(said.text_content(), lab.summary.inner_text()))
    lab.place.evaluate("""() => {
      window.times = window.redrawn = 0;
      new MutationObserver(() => { window.times++; }).observe(document.querySelector(".mha-said"), { childList: true });
      shown.el.firstChild.addEventListener("mha-drawn", () => { window.redrawn++; });
    }""")
    lab.place.set_viewport_size({"width": 700, "height": 900})
    lab.place.wait_for_function("() => window.redrawn")
    frames(lab.place, 60)  # a sentence is said when it has stood for a while
    lab.place.set_viewport_size({"width": 900, "height": 900})
    assert lab.place.evaluate("() => window.times") == 0


def assert_equal(one, other):
    assert one == other


# --- with Python behind it ------------------------------------------------------------------------------------------

def test_python_hears_which_file_was_opened(lab):
    lab.hand_over("mine.csv", GOOD["regression.csv"])
    lab.place.wait_for_function("() => shown.model.get('values').data === 'own'")
    own = {"file": "mine.csv", "kind": "regression", "sum": f"{zlib.crc32(GOOD['regression.csv']):x}"}
    assert lab.place.evaluate("() => shown.model.get('own')") == own
    values = lab.place.evaluate(VALUES)
    lab.place.evaluate(SET, {"own": own, "values": values | {"lr": 0.2}})  # Python has read the same file
    lab.settle()
    assert 'from_file("mine.csv")' in lab.lines() and "GradientDescent(0.2)" in lab.lines()
    assert "in Python" not in lab.note.inner_text()


def test_a_file_that_python_alone_has_is_named_and_stays_in_python(lab):
    theirs = {"file": "theirs.csv", "kind": "regression", "sum": "0"}
    values = lab.place.evaluate(VALUES) | {"model": "regression", "data": "own", "lr": 0.1}
    lab.place.evaluate(SET, {"own": theirs, "values": values})
    lab.note.filter(has_text="“theirs.csv” is open in Python").wait_for()
    assert "linear_regression" in lab.lines()
    lab.control("scale").press("Home")
    lab.place.wait_for_function("() => shown.model.get('values').scale === 0.01")
    assert lab.place.evaluate(VALUES) == values | {"scale": 0.01}
    assert "is open in Python" in lab.note.inner_text()
    lab.hand_over("theirs.csv", GOOD["regression.csv"])
    assert "from_file" in lab.lines() and "scale=0.01" in lab.lines()


def test_the_reader_may_leave_the_file_that_python_has(lab):
    theirs = {"file": "theirs.csv", "kind": "regression", "sum": "0"}
    values = lab.place.evaluate(VALUES) | {"model": "regression", "data": "own"}
    lab.place.evaluate(SET, {"own": theirs, "values": values})
    lab.note.filter(has_text="is open in Python").wait_for()
    lab.press("Reset")
    lab.place.wait_for_function("() => shown.model.get('values').data === 'mixture'")
    assert lab.note.text_content() == ""


def test_another_file_in_python_takes_the_place_of_the_one_here(lab):
    lab.hand_over("mine.csv", GOOD["regression.csv"])
    lab.place.wait_for_function("() => shown.model.get('values').data === 'own'")
    lab.place.evaluate(SET, {"own": {"file": "theirs.csv", "kind": "regression", "sum": "0"}})
    lab.note.filter(has_text="“theirs.csv” is open in Python").wait_for()
    assert "from_file" not in lab.lines()


def test_a_new_view_says_that_the_file_is_elsewhere(open_widget):
    page = open_widget("laboratory")
    page.evaluate("""() => {
      state.own = { file: "theirs.csv", kind: "heads", sum: "0" };
      state.values = { ...state.values, data: "own", lr: 0.5 };
    }""")
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    lab = Alone(page)
    assert "“theirs.csv” is open in Python" in lab.note.inner_text() and "GradientDescent(0.5)" in lab.lines()
    assert not page.complaints


# --- frames and browsers --------------------------------------------------------------------------------------------

def test_a_frame_copies_the_link_to_the_books_page(open_widget):
    page = open_widget("laboratory")
    page.set_content("<iframe width=900 height=900></iframe>")
    frame = page.frames[1]
    widgets.fill(frame, "laboratory")
    frame.evaluate("() => { state.laboratory.page = 'https://example.org/book/17.html'; }")
    frame.evaluate(MOUNT)
    frame.wait_for_function(FINISHED)
    lab = Alone(frame)
    lab.press("Copy link")
    lab.note.filter(has_text="https://example.org/book/17.html#laboratory=1&model=heads&data=mixture").wait_for()
    assert not frame.evaluate("() => window.location.hash")


def test_a_page_that_may_not_change_its_address_works_on(lab):
    lab.place.evaluate("""() => {
      history.replaceState = () => { throw new DOMException("not in a sandbox", "SecurityError"); };
    }""")
    lab.press("Copy link")
    lab.note.filter(has_text="#laboratory=1&model=heads").wait_for()
    lab.go_to("#laboratory=1&model=layer&data=sequences&lr=0.1&scale=1")
    lab.place.wait_for_function("() => document.querySelector('.mha-lines').textContent.includes('AttentionLayer')")
    lab.press("Reset")
    lab.settle()
    assert "MultiHeadAttention" in lab.lines()
    lab.place.evaluate("() => { delete history.replaceState; }")


SPOKEN = {
    "laboratory": [".mha-live[role=group][aria-label]", ".mha-live-picture[role=img][aria-label]",
                   ".mha-live-plot[aria-hidden=true]", ".mha-value[aria-hidden=true]", ".mha-said[role=status]",
                   ".mha-note[role=alert]"],
    "figure": [".mha-live[role=group][aria-label]", ".mha-live-picture[role=img][aria-label]",
               ".mha-said[role=status]"],
    "exercise": [".mha-exercise[role=group][aria-label]", ".mha-verdict[role=status]"]}


@pytest.mark.parametrize("kind", SPOKEN)
def test_a_browser_without_aria_as_properties_hears_all(open_widget, kind):
    page = open_widget(kind)
    page.evaluate("() => { for (const name of ['role', 'ariaLabel', 'ariaHidden']) delete Element.prototype[name]; }")
    page.evaluate(MOUNT)
    assert not [selector for selector in SPOKEN[kind] if not page.locator(selector).count()]
    if kind != "exercise":
        page.wait_for_function(FINISHED)
        before = page.locator(".mha-live-picture").get_attribute("aria-label")
        slider = page.locator("input[type=range]").last
        slider.press("End" if slider.input_value() == "0" else "Home")
        assert page.locator(".mha-live-picture").get_attribute("aria-label") != before
