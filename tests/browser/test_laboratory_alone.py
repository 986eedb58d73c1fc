"""The laboratory alone on a page: what it does with links, frames, workers, and a Python that has read a file."""

import zlib

import pytest

from browser import widgets
from browser.conftest import eventually
from browser.widgets import CLOSE, FINISHED, MOUNT
from malformed import GOOD, npz

ENDED = '() => document.querySelector(".mha-live:is([data-state=done], [data-state=failed])")'
SET = """(given) => {
  for (const [name, value] of Object.entries(given)) {
    shown.model.set(name, value);
    for (const hear of [...shown.heard[`change:${name}`]]) hear();
  }
}"""
VALUES = "() => shown.model.get('values')"
# Workers that do not answer to a run, or die of it.
FATE = """() => {
  const Plain = window.Worker;
  window.fate = "lives";
  window.Worker = class extends Plain {
    constructor(...parts) { super(...parts); window.last = this; }
    die() { this.dispatchEvent(new Event("error", { cancelable: true })); }
    postMessage(message) {
      if (!message.values || fate === "lives") super.postMessage(message);
      else if (fate === "dies") setTimeout(() => this.die());
    }
  };
}"""


class Alone:
    """A laboratory on a page, or in a frame of one."""

    def __init__(self, place):
        self.place = place
        self.note, self.summary = place.locator(".mha-note"), place.locator(".mha-live-summary")
        self.lines = place.locator(".mha-lines").text_content

    def press(self, text):
        self.place.get_by_role("button", name=text, exact=True).click()

    def settle(self):
        self.place.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        self.place.wait_for_function(ENDED)

    def hand_over(self, name, content):
        file = {"name": name, "mimeType": "", "buffer": content}
        self.place.locator("input[type=file]").set_input_files(file)
        self.note.filter(has_text="It stays on this machine").wait_for()

    def go_to(self, hash):
        self.place.evaluate("(hash) => { window.location.hash = hash; }", hash)

    def control(self, name):
        return self.place.locator(f"[data-control={name}]")


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
    lab.place.wait_for_timeout(1000)  # a sentence is said when it has stood for a while
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


# --- workers --------------------------------------------------------------------------------------------------------

@pytest.fixture
def hurried(open_widget):
    """Give a laboratory that waits for a second and a half, not for six, and whose workers have a fate.

    A page is opened for each test: one on which every worker died in a run trains by itself until it is left.
    """
    page = open_widget("laboratory", change=lambda source: source.replace("PATIENCE = 6000", "PATIENCE = 1500"))
    page.evaluate(FATE)
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    return Alone(page)


def end_with(lab, fate):
    lab.place.evaluate("(given) => { window.fate = given; }", fate)
    lab.press("Reset")
    lab.settle()


def done_in(lab, place):
    root = lab.place.locator(".mha-live")
    assert (root.get_attribute("data-state"), root.get_attribute("data-place")) == ("done", place)


def in_a_worker(lab):
    end_with(lab, "lives")
    done_in(lab, "worker")


def test_a_run_that_hangs_every_worker_does_not_come_to_the_page(hurried):
    eventually(hurried.place, lambda: in_a_worker(hurried))
    end_with(hurried, "hangs")
    assert "one step takes too long for a page. Take fewer tokens or heads" in hurried.summary.inner_text()
    eventually(hurried.place, lambda: in_a_worker(hurried))


def test_workers_that_died_in_other_runs_are_forgotten(hurried):
    for _ in range(6):
        eventually(hurried.place, lambda: in_a_worker(hurried))
        hurried.place.evaluate("() => last.die()")
    in_a_worker(hurried)


def test_a_run_of_which_workers_die_comes_to_the_page_as_do_all_after_it(hurried):
    end_with(hurried, "dies")
    assert hurried.place.locator(".mha-live").get_attribute("data-state") == "done"
    end_with(hurried, "lives")
    done_in(hurried, "page")


def test_a_worker_does_not_wait_for_its_channel(open_widget):
    """In Safari what a worker sends itself comes by the page, which may be drawing; here it never comes."""
    silent = "{ port1: {}, port2: { postMessage() {} } }"
    page = open_widget("laboratory", change=lambda source: source.replace("new MessageChannel()", silent))
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    lab = Alone(page)
    eventually(page, lambda: in_a_worker(lab))
