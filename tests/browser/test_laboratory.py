"""The laboratory on its page: files, links, exports, and what it survives."""

import json
import re

import numpy as np
import pytest

import mhabook
from checks import missing
from laboratory_page import MOVES, PAGE, SETTLED, Lab
from malformed import ADVICE, BAD, GOOD, LABELS, LARGEST, OVERSIZED, X, npz
from visits import BUILD, RANGES, eventually

# The last worker, so that it can be killed.
WATCHED = """
const Plain = window.Worker;
window.Worker = class extends Plain { constructor(...parts) { super(...parts); window.lastWorker = this; } };
"""
# How many labels each drawing of plotly measures.
MEASURED = """() => {
  const { react } = Plotly, { getBoundingClientRect } = Element.prototype;
  let measured = 0;
  window.drawings = [];
  Element.prototype.getBoundingClientRect = function () { measured++; return getBoundingClientRect.call(this); };
  Plotly.react = function (...all) {
    measured = 0;
    const drawn = react.apply(this, all);
    drawings.push(measured);
    return drawn;
  };
}"""

# At every drawing of the first run: the weight on the starred token, and the range of the axis of steps.
SEEN = """
window.columns = [];
window.ranges = new Set();
document.addEventListener("mha-drawn", ({ target }) => {
  const { data, layout } = target.querySelector(".js-plotly-plot"), map = data.find(({ type }) => type === "heatmap");
  const star = layout.xaxis2.ticktext.findIndex((name) => name.endsWith("★"));
  columns.push(map.z[0][star]);
  ranges.add(String(layout.xaxis.range));
});
"""


@pytest.fixture(scope="module")
def lab(new_visit):
    if not (BUILD / PAGE).is_file():
        missing("the laboratory's page is not built, so IT WAS NOT OPENED: run `make book` first")
    visit = new_visit(PAGE)
    visit.context.add_init_script(WATCHED)
    visit.page.goto(visit.site + PAGE)
    visit.page.wait_for_function(SETTLED)
    yield Lab(visit.page)
    assert not visit.complaints + visit.failures
    visit.context.close()


def assert_same_curve(lab):
    """The saved lines of Python leave the saved curve."""
    lab.settle()
    saved, names = json.loads(lab.saved("everything, JSON")), {}
    exec(lab.saved("lines of Python").decode(), names)
    np.testing.assert_allclose(saved["curves"]["loss"], names["path"].loss, rtol=1e-9, atol=1e-14)
    assert saved["steps"] == names["path"].steps.tolist()


def assert_restored_by_its_link(lab):
    """After a reset the copied link, which is given, brings every control back."""
    before = lab.lines()
    lab.press("Copy link")
    link = lab.page.evaluate("() => window.location.hash")
    lab.reset()
    assert lab.lines() != before
    lab.go_to(link + "&")
    assert lab.lines() == before
    return link


def test_every_model_is_exported_with_its_curve(lab):
    lab.reset()
    for model in ("single attention layer", "attention regression", "multi-head classifier"):
        lab.choose("model", model)
        assert_same_curve(lab)
    table = lab.saved("curves, CSV").decode().splitlines()
    assert (
        table[0].startswith("step,loss,test_loss") and len({row.count(",") for row in table}) == 1
    )
    assert lab.saved("figure, SVG").startswith(b"<svg") and lab.saved("figure, PNG")[1:4] == b"PNG"


def test_the_picture_is_described_by_its_own_panels(lab):
    lab.reset()
    for model in ("single attention layer", "attention regression", "multi-head classifier"):
        lab.choose("model", model)
        titles = lab.root.locator(".annotation-text").all_text_contents()
        words = lab.root.locator(".mha-live-plot").get_attribute("aria-label")
        assert len(titles) == 5 and not [title for title in titles if title not in words]


def test_reset_restores_the_axes(lab):
    lab.reset()
    plot = lab.root.locator(".js-plotly-plot")
    before = plot.evaluate(RANGES)
    plot.evaluate("(box) => Plotly.relayout(box, { 'xaxis.range': [0.25, 0.5] })")
    assert plot.evaluate(RANGES) != before
    lab.reset()
    eventually(
        lab.page,
        lambda: np.testing.assert_allclose(
            [row[1:] for row in plot.evaluate(RANGES)], [row[1:] for row in before], rtol=1e-9
        ),
    )


def test_a_link_restores_the_state(lab):
    lab.reset()
    lab.choose("model", "single attention layer")
    lab.choose("kernel", "Gaussian")
    assert "kernel=gaussian" in assert_restored_by_its_link(lab)
    link = lab.page.get_by_role("link", name="Set experiment 3.")
    for _ in range(2):  # again, after a control was moved
        link.click()
        lab.settle()
        assert "D=16, seed=0" in lab.lines() and 'only=("WV",)' in lab.lines()
        lab.choose("kernel", "Gaussian")
        assert not lab.page.evaluate("() => window.location.hash")


@pytest.mark.parametrize(
    "bad, words",
    [
        ("#laboratory=2&model=heads", "version 2"),
        ("#laboratory=", "version"),
        ("#H=16&lr=abc", "lost its beginning"),
        ("#experiment=few", "lost its beginning"),
    ],
)
def test_a_bad_link_gets_a_message_and_the_first_run(lab, bad, words):
    lab.go_to(bad)
    assert words in lab.note.inner_text() and "starts anew" in lab.note.inner_text()
    assert lab.lines() == mhabook.laboratory().code()


def test_what_the_laboratory_lacks_of_a_link_is_named_and_the_rest_is_set(lab):
    lab.go_to("#laboratory=1&model=layer&nonsense=3&fbclid=a")
    said = (
        "The link sets “nonsense” and “fbclid”, which the laboratory does not have. "
        "The rest is set."
    )
    assert lab.note.inner_text() == said
    assert "mha.AttentionLayer" in lab.lines()
    lab.reset()
    assert not lab.page.evaluate("() => window.location.hash")


def test_files_that_are_refused_leave_everything_as_it_was(lab):
    """What V8 has no means for: sizes, endings, text in UTF-8, arrays that are packed. The others
    are refused there."""
    lab.reset()
    before = lab.lines()
    for name in ("empty.csv", "noise.csv", "labels.csv", "picture.png", *OVERSIZED):
        content, words = (BAD | OVERSIZED)[name]
        lab.hand_over(name, content)
        said = lab.note.inner_text()
        assert name in said and words in said and re.search(ADVICE, said), said
        assert lab.lines() == before
    assert lab.root.get_attribute("data-state") == "done"


@pytest.mark.weekly  # it trains for a minute
def test_the_largest_files_are_opened_and_trained_on(lab):
    lab.reset()
    lab.hand_over("large.csv", LARGEST)
    assert "1300 labeled samples of 10 tokens in 8 dimensions" in lab.note.inner_text()
    lab.settle()
    assert lab.root.get_attribute("data-state") == "done"


@pytest.mark.parametrize("name", ["bom-and-crlf.csv", "compressed.npz"])
def test_own_files_train(lab, name, tmp_path, monkeypatch):
    content = (GOOD | {"compressed.npz": npz(np.savez_compressed, X=X, y=LABELS)})[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    lab.reset()
    for _ in range(2):
        lab.hand_over(name, content)
        assert "It stays on this machine" in lab.note.inner_text()
        lab.control("lr").press("ArrowLeft")
        assert_same_curve(lab)
        assert f'from_file("{name}")' in lab.lines()
        lab.go_to("#laboratory=1&x")  # a bad link does not lose the file


def test_a_link_to_a_file_waits_for_it(lab):
    lab.reset()
    lab.hand_over("heads.csv", GOOD["heads.csv"])
    lab.choose("schedule", "cosine")
    lab.press("Copy link")
    link, before = lab.page.evaluate("() => window.location.hash"), lab.lines()
    lab.hand_over("regression.csv", GOOD["regression.csv"])
    lab.go_to(link + "&")
    assert "stayed with its owner" in lab.note.inner_text()
    lab.hand_over("heads.csv", GOOD["heads.csv"])
    assert lab.lines() == before


def test_a_file_can_be_dropped(lab):
    lab.reset()
    lab.root.evaluate(
        """(root, text) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], "dropped.csv"));
      root.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }""",
        GOOD["heads.csv"].decode(),
    )
    lab.note.filter(has_text="“dropped.csv” is open").wait_for()


def test_a_message_is_in_sight_at_the_foot_of_the_figure(lab):
    def assert_in_sight():
        place = lab.note.bounding_box()
        assert place["y"] >= 0 and place["y"] + place["height"] <= 800
        within = [place["x"] + 9, place["y"] + 9]
        assert (
            lab.page.evaluate("([x, y]) => document.elementFromPoint(x, y).className", within)
            == "mha-note"
        )

    lab.go_to("#laboratory=1&experiment=few")
    for width in (1280, 390):
        lab.page.set_viewport_size({"width": width, "height": 800})
        lab.root.get_by_role("button", name="curves, CSV").scroll_into_view_if_needed()
        lab.press("curves, CSV")
        # the theme's drawer lies over it for a moment, on its way out
        eventually(lab.page, assert_in_sight)
    lab.page.set_viewport_size({"width": 1280, "height": 900})


# A reader has the laboratory before her, and scrolls no further than to see the control.
IN_SIGHT = """(control) => {
  const scroll = (node, block) => node.scrollIntoView({ block, behavior: "instant" });
  scroll(document.querySelector(".mha-bench"), "start");
  scroll(control, "nearest");
  const place = (node) => node.getBoundingClientRect(), { top, bottom, left, right } = place(control);
  const seen = place(document.querySelector(".mha-live-picture"));
  const from = place(document.querySelector(".bd-header-article")).bottom - 1, to = innerHeight + 1; // parts of a pixel
  return { control: top >= from && bottom <= to, picture: seen.top >= from && seen.bottom <= to,
    over: seen.bottom > top && seen.top < bottom && seen.left < right && seen.right > left };
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1000, 800), (390, 844)])
def test_curves_and_the_control_that_moves_share_the_screen(lab, width, height):
    lab.reset()
    lab.page.set_viewport_size({"width": width, "height": height})
    lab.root.evaluate(
        "(root) => { for (const group of root.querySelectorAll('.mha-group')) group.open = true; }"
    )
    for name in ("model", "n", "sigma", "lr", "steps", "head"):
        eventually(lab.page, lambda name=name: assert_shared(lab.control(name).evaluate(IN_SIGHT)))
    lab.page.set_viewport_size({"width": 1280, "height": 900})


def assert_shared(seen):
    assert seen == {"control": True, "picture": True, "over": False}


def test_an_experiment_says_what_it_changed(lab):
    lab.reset()
    changed = lab.root.locator(".mha-changed")
    assert not changed.is_visible()
    lab.root.get_by_label("experiment").select_option("2 · sixteen identical heads")
    assert changed.inner_text() == (
        "This experiment changes heads H 1 → 16 steps 2000 → 500 measure curvature on → off "
        "All other settings have their initial values."
    )
    lab.control("lr").press("ArrowLeft")
    assert not changed.is_visible()
    wrong = lab.root.get_by_role("button", name="Wrong labels")
    wrong.click()
    assert wrong.get_attribute("aria-pressed") == "true" and "flip=0.3" in lab.lines()
    lab.reset()
    assert wrong.get_attribute("aria-pressed") == "false"


def test_the_first_screen_shows_the_loss_and_the_attention_of_the_run_of_chapter_1(new_visit):
    for size in ((1280, 800), (390, 844)):
        visit = new_visit(PAGE)
        page = visit.page
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.add_init_script(SEEN)
        page.goto(visit.site + PAGE)
        page.wait_for_function(SETTLED)
        columns = page.evaluate("columns")  # as many as the machine had time to draw
        assert columns[0] <= columns[-1] and columns[-1] > 0.5
        assert page.evaluate("[...ranges].length") == 1, "the axis of the steps is as it will be"
        assert page.evaluate("() => scrollY") == 0
        for title in ("loss", "attention weights"):
            box = page.locator(
                ".mha-laboratory .annotation-text", has_text=title
            ).first.bounding_box()
            assert 0 < box["y"] < size[1] - 200
        visit.context.close()


def test_the_first_run_is_seen_from_its_first_step(new_visit):
    visit = new_visit(PAGE)
    page = visit.page
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script(SEEN)
    page.goto(visit.site + PAGE)
    page.wait_for_function(SETTLED)
    columns = page.evaluate("columns")
    assert columns[0] == pytest.approx(0.1) and columns == sorted(columns)
    visit.context.close()


def test_what_is_not_offered_says_what_it_needs(lab):
    lab.reset()
    options = lab.control("data").locator("option")
    assert "linear regression (needs model: attention regression)" in options.all_text_contents()
    assert options.filter(has_text="linear regression").is_disabled()
    lab.control("model")  # unfolds the group
    absent = lab.root.locator(".mha-absent").nth(0)
    absent.locator("summary").press("Enter")
    assert "kernel: needs model: single attention layer" in absent.locator("li").all_inner_texts()
    lab.choose("model", "single attention layer")
    assert lab.control("kernel").is_visible() and "kernel: needs" not in absent.inner_text()
    absent.locator("summary").press("Enter")


def test_on_a_phone_a_menu_brings_each_panel_into_sight(lab):
    lab.reset()
    lab.page.set_viewport_size({"width": 390, "height": 844})
    menu = lab.root.get_by_label("panel in sight")
    menu.wait_for()
    eventually(lab.page, lambda: assert_panels(lab, "loss", "attention weights"))
    for title in ("attention weights", "largest eigenvalue", "loss"):
        menu.select_option(title)
        assert_panels(lab, title)
    lab.page.set_viewport_size({"width": 375, "height": 664})  # both would leave no room there
    eventually(lab.page, lambda: assert_not_offered(menu, "loss, attention weights"))
    lab.page.set_viewport_size({"width": 390, "height": 844})
    before = lab.root.locator(".mha-stage").bounding_box()["height"]
    menu.select_option("all, above the controls")
    assert lab.root.locator(".mha-stage").bounding_box()["height"] > 3 * before
    menu.select_option("loss")
    lab.page.set_viewport_size({"width": 1280, "height": 900})
    menu.wait_for(state="hidden")


def assert_not_offered(menu, title):
    assert title not in menu.locator("option").all_text_contents()


def assert_panels(lab, *titles):
    """Only the titles of these panels are within the window on the picture."""
    picture = lab.root.locator(".mha-live-picture").bounding_box()
    places = {
        words.text_content(): words.bounding_box()
        for words in lab.root.locator(".annotation-text").all()
    }
    within = [
        words
        for words, box in places.items()
        if picture["y"] <= box["y"] and box["y"] + box["height"] <= picture["y"] + picture["height"]
    ]
    assert len(places) == 5 and within == [*titles]


def test_random_moves_break_nothing(lab):
    lab.reset()
    lab.page.evaluate(MOVES, 300)
    lab.reset()
    assert (
        lab.root.get_attribute("data-state") == "done"
        and lab.root.get_attribute("data-place") == "worker"
    )
    assert lab.lines() == mhabook.laboratory().code()


def test_a_drawing_measures_few_labels(lab):
    """Each measured label lays the page out again: half of the time of a drawing, when every axis
    asked for it."""
    lab.page.evaluate(MEASURED)
    for _ in range(2):  # what was measured once is known the second time
        lab.page.evaluate("() => { drawings.length = 0; }")
        for model in ("single attention layer", "attention regression", "multi-head classifier"):
            lab.choose("model", model)
    drawings = lab.page.evaluate("() => drawings")
    assert len(drawings) >= 3 and max(drawings) <= 16


@pytest.mark.parametrize(
    "death",
    [
        "window.lastWorker.dispatchEvent(new Event('error', { cancelable: true }))",
        "window.lastWorker.terminate()",
    ],
    ids=["it says so", "in silence"],
)
def test_a_worker_that_dies_in_a_run_is_replaced(lab, death):
    lab.reset()
    lab.page.evaluate(
        """(death) => {
      const slider = document.querySelector(".mha-laboratory [data-control=steps]");
      slider.value = slider.max;
      slider.dispatchEvent(new Event("input"));
      return new Promise((go) => setTimeout(() => go(eval(death)), 30));
    }""",
        death,
    )
    lab.settle()
    assert lab.root.get_attribute("data-state") == "done"
    lab.reset()
    eventually(lab.page, lambda: (lab.reset(), back_in_the_worker(lab)))


def back_in_the_worker(lab):
    assert lab.root.get_attribute("data-place") == "worker"


def test_keyboard_reaches_every_control_and_all_have_names(lab):
    lab.reset()
    lab.page.locator("body").press("Home")
    wanted = lab.root.evaluate("""(root) => {
      for (const group of root.querySelectorAll("details")) group.open = true;
      const all = [...root.querySelectorAll("button, select, input:not([type=file]), summary, pre")];
      const scrolls = (one) => one.tagName !== "PRE" || one.scrollWidth > one.clientWidth; // else nothing to do there
      const there = all.filter((one) => one.offsetParent !== null && scrolls(one));
      there.forEach((one, k) => { one.dataset.place = k; });
      there[0].focus();
      return there.map((one) => one.labels?.[0]?.textContent || one.textContent);
    }""")
    assert all(wanted)
    reached = {lab.page.evaluate("() => document.activeElement.dataset.place")}
    for _ in wanted:
        lab.page.keyboard.press("Tab")
        reached.add(lab.page.evaluate("() => document.activeElement.dataset.place"))
    assert {str(k) for k in range(len(wanted))} <= reached
    assert (
        lab.root.get_by_role("status").count() == 1 and lab.root.get_by_role("alert").count() == 1
    )


def test_the_result_is_said_in_words(lab):
    lab.reset()
    before = lab.summary.inner_text()
    lab.choose("optimizer", "Adam")
    assert re.search(r"training loss \d", before) and lab.summary.inner_text() != before

    def assert_said_aloud():
        assert lab.root.get_by_role("status").text_content() == lab.summary.inner_text()

    eventually(lab.page, assert_said_aloud)


def test_a_combination_that_cannot_train_says_what_to_do(lab):
    lab.go_to("#laboratory=1&experiment=few")
    assert "Take more tokens" in lab.summary.inner_text()
    lab.choose("optimizer", "gradient descent")
    assert "training loss" in lab.summary.inner_text()


def test_a_phone_never_scrolls_sideways(lab):
    lab.reset()
    lab.page.set_viewport_size({"width": 390, "height": 844})
    for model in ("single attention layer", "attention regression", "multi-head classifier"):
        lab.choose("model", model)
        assert lab.page.evaluate("() => document.scrollingElement.scrollWidth") <= 390
    lab.page.set_viewport_size({"width": 1280, "height": 900})
