"""What a reader's hand does in JupyterLab and in Voilà, and what Python hears of it."""

import re
import shutil
import socket
import subprocess
import sys
from functools import partial
from urllib.parse import urlparse

import nbformat
import pytest

import servers
from checks import missing
from figures import FIGURES
from live_figure import Live
from malformed import GOOD
from visits import BUILD, NO_BUILD, frames

PLACES = {
    "JupyterLab": (servers.jupyterlab, servers.in_jupyterlab),
    "Voila": (servers.voila, servers.in_voila),
}

# The smallest widget with a slider: when it fails too, the fault is not mhalib's.
PROBE = '''
import anywidget, ipywidgets, traitlets

class Probe(anywidget.AnyWidget):
    value = traitlets.Int(3).tag(sync=True)
    _esm = """
    function render({ model, el }) {
      const input = Object.assign(document.createElement("input"), { type: "range", max: 9, className: "probe" });
      const show = () => { input.value = model.get("value"); };
      input.addEventListener("input", () => { model.set("value", Number(input.value)); model.save_changes(); });
      model.on("change:value", show);
      show();
      input.dataset.lmSuppressShortcuts = "true"; // else JupyterLab takes the arrow keys for its own
      el.append(input);
    }
    export default { render };
    """

probe, heard, seven = Probe(), ipywidgets.Label("nothing yet"), ipywidgets.Button(description="seven")
probe.observe(lambda change: setattr(heard, "value", f"Python has {probe.value}"), "value")
seven.on_click(lambda button: setattr(probe, "value", 7))
ipywidgets.VBox([probe, heard, seven])
'''

FIGURE = """
import ipywidgets
import mhalib as mha

figure = mha.live.heads(mha.data.tokenized_mixture())
heard, four = ipywidgets.Label("nothing yet"), ipywidgets.Button(description="four")

def hear(change):
    heard.value = f"Python has H = {figure.values['H']} and loss = {float(figure.path().loss[-1])!r};"

figure.observe(hear, "values")
four.on_click(lambda button: setattr(figure, "values", {"H": 4}))
display(figure, heard, four)
"""

LABORATORY = """
import ipywidgets
import mhabook

lab = mhabook.laboratory()
heard, asked = ipywidgets.Label("nothing yet"), ipywidgets.Label("nothing yet")
ask, theirs = ipywidgets.Button(description="ask"), ipywidgets.Button(description="theirs")

def ask_for_path(_):
    try:
        asked.value = f"{len(lab.run()['data'].x)} tokens"
    except ValueError as error:
        asked.value = str(error)

lab.observe(lambda change: setattr(heard, "value", f"Python has {lab.values['data']} of {lab.own.get('file')};"))
ask.on_click(ask_for_path)
theirs.on_click(lambda button: lab.read("theirs.csv"))
display(lab, heard, asked, ask, theirs)
"""


SAVED = """
import mhabook
import mhalib as mha

display(mha.live.heads(mha.data.tokenized_mixture(n=20), steps=50))
mhabook.exercise("ex-2-step")
"""

EXPLORE = """
import mhalib as mha

def line(scale=1.0, lines=1):
    curves = {f"line {k}": [k, scale] for k in range(lines)}
    return mha.plots.curves([0, 1], curves, log_y=False, title=f"at {scale:.2f}, {lines} lines")

mha.explore(line, scale=(0.5, 4.0), lines=(1, 3))
"""

# Where the axis of an explored figure begins and ends, and how many lines it has.
EXPLORED = """() => {
  const { _fullLayout, _fullData } = document.querySelector(".js-plotly-plot");
  return [..._fullLayout.xaxis.range, _fullData.length];
}"""

GUESSES = """
import mhabook
from mhabook.c06_planted import idea

display(mhabook.guesses("chapter-6"), mhabook.guesses("chapter-6", "1", "2"), idea.hidden_head())
"""

# The notebooks that readers run, unchanged: the page of each, and how many live figures it holds.
CHAPTERS = {page.removesuffix(".html"): len(figures) for page, figures in FIGURES.items()}
CHAPTERS["book/laboratory/17_laboratory"] = 1
NOTEBOOKS = BUILD.parent / "notebooks"

# What the two programs say by themselves: that a host is out of reach; and Voilà 0.5, where plotly,
# which has drawn its figure, wants to keep a picture of it in the output's model: Voilà gives it
# JSON instead, which has no `setData`.
HARMLESS = re.compile("Failed to load resource|net::ERR|setData is not a function")

# One of each kind, where what differs between chapters meets a server: a chapter, the laboratory,
# two figures with points to drag. The others are opened every week, and by
# `make test ARGS=--every-chapter`.
OF_EACH_KIND = {"JupyterLab": ("01_a", "17_"), "Voila": ("14_f",)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with all notebooks."""
    folder = tmp_path_factory.mktemp("notebooks")
    servers.write_notebook(folder / "probe.ipynb", PROBE)
    servers.write_notebook(folder / "figure.ipynb", FIGURE)
    servers.write_notebook(folder / "laboratory.ipynb", LABORATORY)
    servers.write_notebook(folder / "explore.ipynb", EXPLORE)
    servers.write_notebook(folder / "guesses.ipynb", GUESSES)
    (folder / "theirs.csv").write_bytes(GOOD["regression.csv"])
    if not NOTEBOOKS.exists():
        missing(NO_BUILD)
    shutil.copytree(NOTEBOOKS, folder, dirs_exist_ok=True)
    return folder


def pytest_generate_tests(metafunc):
    """Run every test in both places; a test of a chapter for the chapters that are chosen."""
    every = metafunc.config.getoption("every_chapter")
    if "chapter" in metafunc.fixturenames:
        pairs = [
            (place, chapter)
            for place in PLACES
            for chapter in CHAPTERS
            if every or chapter.split("/")[-1].startswith(OF_EACH_KIND[place])
        ]
        metafunc.parametrize(("place", "chapter"), pairs, scope="module")
    elif "opened" in metafunc.fixturenames:
        metafunc.parametrize("place", PLACES, scope="module")


@pytest.fixture(scope="module")
def opened(place, chromium, folder):
    """Start one of the two servers, and give the way to open a notebook on it: run, in a window."""
    serve, look = PLACES[place]
    with serve(folder) as server:
        yield partial(look, chromium, server)


@pytest.mark.parametrize("place", PLACES)
def test_a_port_that_is_taken_meanwhile_is_another_try(place, tmp_path, monkeypatch):
    serve, _ = PLACES[place]
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken, free = other.getsockname()[1], servers.free_port()
        ports = iter([taken, free])
        monkeypatch.setattr(servers, "free_port", lambda: next(ports))
        with serve(tmp_path) as server:
            assert server.address.endswith(f":{free}/")


def test_python_hears_a_slider_and_the_slider_hears_python(opened):
    with opened("probe.ipynb") as seen:
        slider = seen.page.locator("input.probe")
        slider.press("ArrowRight")
        seen.page.get_by_text("Python has 4").wait_for()
        seen.page.get_by_role("button", name="seven").click()
        seen.page.get_by_text("Python has 7").wait_for()
        assert slider.input_value() == "7"


def test_no_other_host_is_needed(opened):
    with opened("probe.ipynb") as seen:
        seen.page.locator("input.probe").wait_for()
        # Voilà's own page asks for a font of icons, and does without.
        needed = [url for url in seen.asked_elsewhere if "fontawesome" not in urlparse(url).path]
        assert not needed


# The live figure has trained, and says something else than before.
SAYS_ANOTHER_RESULT = """(before) => {
  const figure = document.querySelector(".mha-live[data-state=done]");
  return figure && figure.querySelector(".mha-live-summary").innerText !== before;
}"""


def summary(seen, before=""):
    """Wait until the live figure has trained, with another result than before, and give its
    summary."""
    seen.page.wait_for_function(SAYS_ANOTHER_RESULT, arg=before)
    return seen.page.locator(".mha-live-summary").inner_text()


def loss_in(summary):
    """Read the training loss from a summary, which writes 4.5 · 10⁻⁷ for small numbers."""
    mantissa, exponent = re.search(
        r"training loss ([\d.]+)(?:\s·\s10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", summary
    ).groups()
    return float(mantissa) * 10.0 ** int(
        (exponent or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    )


def loss_heard(seen, heads):
    """Wait until Python has that number of heads, and give the loss of its own run."""
    said = seen.page.get_by_text(f"Python has H = {heads} and loss")
    said.wait_for()
    return float(re.search(r"loss = (.+);", said.inner_text())[1])


def test_a_live_figure_trains_again_and_python_agrees(opened):
    with opened("figure.ipynb") as seen:
        first = summary(seen)
        seen.page.locator(".mha-live input[type=range]").first.press("ArrowRight")
        # The summary has three digits.
        assert loss_in(summary(seen, before=first)) == pytest.approx(
            loss_heard(seen, heads=2), rel=6e-3
        )


def test_a_live_figure_follows_python(opened):
    with opened("figure.ipynb") as seen:
        first = summary(seen)
        seen.page.get_by_role("button", name="four").click()
        assert loss_in(summary(seen, before=first)) == pytest.approx(
            loss_heard(seen, heads=4), rel=6e-3
        )
        assert (
            seen.page.locator(".mha-live input[type=range]").first.get_attribute("aria-valuetext")
            == "4"
        )


def test_a_figure_of_explore_gets_its_plotly_and_starts_at_the_default_as_its_slider_does(opened):
    with opened("explore.ipynb") as seen:
        title, number = seen.page.locator(".gtitle"), seen.page.locator(".widget-readout").first
        title.filter(has_text="at 1.00").wait_for()
        assert float(number.inner_text()) == 1.0
        seen.page.locator(".noUi-handle").first.press("End")
        title.filter(has_text="at 4.00").wait_for()


def test_a_figure_of_explore_keeps_the_zoom_when_it_gets_other_lines(opened):
    with opened("explore.ipynb") as seen:
        title = seen.page.locator(".gtitle")
        title.filter(has_text="1 lines").wait_for()
        box = seen.page.locator(".nsewdrag").bounding_box()
        left, y = box["x"], box["y"] + box["height"] / 2
        whole = seen.page.evaluate(EXPLORED)
        seen.page.mouse.move(left + box["width"] / 4, y)
        seen.page.mouse.down()
        seen.page.mouse.move(left + box["width"] / 2, y, steps=5)
        seen.page.mouse.up()
        seen.page.wait_for_function(
            f"(whole) => String(({EXPLORED})()) !== String(whole)", arg=whole
        )
        zoomed = seen.page.evaluate(EXPLORED)
        seen.page.locator(".noUi-handle").nth(1).press("End")
        title.filter(has_text="3 lines").wait_for()
        assert seen.page.evaluate(EXPLORED) == [*zoomed[:2], 3]


def test_a_guess_is_chosen_by_hand_or_by_key_and_comes_back_with_the_answer(opened):
    with opened("guesses.ipynb") as seen:
        first, second = seen.page.get_by_label("0.3"), seen.page.get_by_label("0.7")
        said = seen.page.locator(".mha-guessed:visible")
        first.check()
        said.filter(has_text="You said: 0.3. The answer: 0.99.").wait_for()
        assert said.count() == 1, "the other question has no guess"
        first.press("ArrowRight")
        said.filter(has_text="You said: 0.7. The answer: 0.99.").wait_for()
        assert second.is_checked()
        # a cell that runs again, and another day
        assert seen.page.evaluate("localStorage.getItem('mha:guess:chapter-6-1')") == "0.7"


IN_A_ROW = """(picture) => {
  const panels = [...picture.querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect());
  return { tops: panels.map(({ top }) => Math.round(top)), height: picture.getBoundingClientRect().height };
}"""


def test_the_picture_of_an_idea_is_a_row_of_panels_as_on_its_page(opened):
    with opened("guesses.ipynb") as seen:
        row = seen.page.locator(".mha-idea").evaluate(IN_A_ROW)
        assert len(row["tops"]) == 3 and len({*row["tops"]}) == 1
        assert row["height"] < 400


# Saves the notebook, and ends its kernel, as when it is opened again on another day.
SAVE = """async () => {
  await jupyterapp.commands.execute("docmanager:save");
  await jupyterapp.shell.currentWidget.context.sessionContext.shutdown();
}"""
# Every picture that stands for a widget has been read; those of a notebook that is not run.
PICTURES = """() => [...document.querySelectorAll("[data-fallback] img")]
  .map((picture) => picture.checkVisibility() && picture.complete && picture.naturalWidth)"""


@pytest.fixture(scope="module")
def saved(chromium, folder):
    """Run a figure and an exercise in JupyterLab and save them; give what stood there besides, and
    the server."""
    servers.write_notebook(folder / "saved.ipynb", SAVED)
    with servers.jupyterlab(folder) as server:
        with servers.in_jupyterlab(chromium, server, "saved.ipynb") as seen:
            summary(seen)
            seen.page.locator(".mha-exercise").wait_for()
            stands_in = seen.page.locator("[data-fallback]")
            besides = [stands_in.nth(k).is_visible() for k in range(stands_in.count())]
            seen.page.evaluate(SAVE)
        yield besides, server


def test_nothing_stands_in_for_a_widget_that_is_there(saved):
    besides, _ = saved
    assert besides == [False, False]


def test_a_notebook_that_was_run_and_saved_is_opened_with_its_picture_and_its_questions(
    saved, chromium
):
    _, server = saved
    with servers.window(chromium, server, "doc/tree/saved.ipynb") as seen:
        seen.page.get_by_text("model not found").first.wait_for(state="attached")
        assert not [
            said for said in seen.page.get_by_text("model not found").all() if said.is_visible()
        ]
        assert seen.page.evaluate(PICTURES) == [700]
        assert seen.page.get_by_text("2/λ_max at initialization").is_visible()


def test_nbconvert_prints_a_run_notebook_with_its_picture_and_without_a_network(
    saved, chromium, folder
):
    command = ["nbconvert", "--to", "html", "saved.ipynb"]
    subprocess.run([sys.executable, "-m", *command], cwd=folder, check=True, capture_output=True)
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto((folder / "saved.html").as_uri())
    assert page.evaluate(PICTURES) == [700]
    assert page.get_by_text("2/λ_max at initialization").is_visible()
    context.close()


def test_a_link_of_the_chapter_sets_the_laboratory_above_it(chromium, folder):
    chapter = nbformat.read(folder / "laboratory" / "17_laboratory.ipynb", 4)
    chapter.cells = [
        cell
        for cell in chapter.cells
        if cell.id in ("imports", "laboratory") or "Set experiment 1." in cell.source
    ]
    nbformat.write(chapter, folder / "links.ipynb")
    with (
        servers.jupyterlab(folder) as server,
        servers.in_jupyterlab(chromium, server, "links.ipynb") as seen,
    ):
        first = summary(seen)
        seen.page.get_by_role("link", name="Set experiment 1.").click()
        summary(seen, before=first)
        menu = seen.page.locator(".mha-laboratory").get_by_label("experiment")
        assert menu.evaluate("menu => menu.selectedOptions[0].text").startswith("1 · ")


def test_a_file_of_the_reader_stays_and_each_says_what_it_does_not_have(opened):
    with opened("laboratory.ipynb") as seen:
        page, note = seen.page, seen.page.locator(".mha-note")
        summary(seen)
        file = {"name": "mine.csv", "mimeType": "", "buffer": GOOD["one-target.csv"]}
        page.locator(".mha-laboratory input[type=file]").set_input_files(file)
        page.get_by_text("Python has own of mine.csv;").wait_for()
        page.get_by_role("button", name="ask").click()
        # after that, what Python might have sent back is here
        page.get_by_text("was opened in the browser").wait_for()
        assert 'from_file("mine.csv")' in page.locator(".mha-lines").text_content()
        page.get_by_role("button", name="theirs").click()
        note.filter(has_text="“theirs.csv” is open in Python").wait_for()
        page.locator("[data-control=lr]").press("Home")
        page.locator(".mha-lines").filter(has_text="GradientDescent(0.0001)").wait_for(
            state="attached"
        )
        frames(page, 40)  # a move is sent when it has stood for a while
        page.get_by_role("button", name="ask").click()
        page.get_by_text("3 tokens").wait_for()
        page.get_by_text("Python has own of theirs.csv;").wait_for()


def test_a_chapter_of_the_book_is_live_unchanged(opened, chapter):
    path = f"{chapter.removeprefix('book/')}.ipynb"
    text = (NOTEBOOKS / path).read_text("utf-8")
    with opened(path) as seen:
        figures = seen.page.locator(".mha-live")
        figures.nth(CHAPTERS[chapter] - 1).wait_for()  # every cell is executed first
        assert figures.count() == CHAPTERS[chapter]
        for k, figure in enumerate(figures.all()):
            done = figure.and_(seen.page.locator("[data-state=done]"))
            done.wait_for()
            sentence = done.locator(".mha-live-summary")
            before = sentence.inner_text()
            sliders = figure.locator("input[type=range]")
            not_at_home = sliders.evaluate_all(
                "all => all.findIndex((slider) => slider.value !== '0')"
            )
            sliders.nth(not_at_home).press("Home")
            sentence.filter(has_not_text=before).wait_for()
            if f"{chapter}.html" in FIGURES:
                one = Live(seen, f"{chapter}.html", k)
                name = sliders.nth(not_at_home).get_attribute("data-control")
                one.assert_draws(**{name: one.made.controls[name].values[0]})
        if "mhabook.exercise(" in text and "/voila/" not in seen.page.url:
            answer = seen.page.locator(".mha-part").first
            # JupyterLab takes no letter for a command
            answer.locator("input").press_sequentially("a1/0")
            answer.locator("input").press("Enter")
            answer.get_by_text("is not known here").wait_for()
        if "mha.explore(" in text:
            seen.page.locator(".widget-inline-hbox").first.wait_for()  # its sliders
        assert seen.page.locator(".jupyter-widgets-disconnected").count() == 0
        assert not [said for said in seen.complaints if not HARMLESS.search(said)]
