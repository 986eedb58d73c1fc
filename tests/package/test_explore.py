"""When mha.explore calls the function, who hears of its errors, and what reaches a page of the
book."""

import subprocess
import sys
import textwrap
from pathlib import Path

import ipywidgets
import plotly.graph_objects as go
import plotly.io
import pytest
from IPython.core.interactiveshell import InteractiveShell

import mhalib as mha
from explorers import ALT, Line, drawn, slide
from mhabook._render import use_book_renderer_if_asked
from optional import nbclient, nbformat

pytestmark = pytest.mark.usefixtures("no_running_loop")

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def with_a_kernel(monkeypatch):
    """Tests are a notebook, not the book, unless they say so."""
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)


@pytest.fixture
def in_the_book(monkeypatch):
    monkeypatch.setenv("LIVEGRAD_FIGURES", "book")
    default = plotly.io.renderers.default
    use_book_renderer_if_asked()
    yield
    plotly.io.renderers.default = default


def test_the_first_call_is_at_the_start_and_raises():
    line = Line()
    assert mha.explore(line, H=(1, 9)).figure.data[0].y == (3, 6)
    assert line.calls == [3]
    with pytest.raises(ValueError, match="3 heads are <too many>") as raised:
        mha.explore(Line(fails_at=3), H=(1, 9))
    assert raised.value.__notes__ == ["explore called line at H = 3."]


def test_set_calls_the_function_once():
    explorer = mha.explore(Line(), H=(1, 9), slope=(0.0, 4.0))
    explorer.set(H=7, slope=0.5)
    assert explorer.f.calls == [3, 7]
    assert drawn(explorer) == [7, 3.5]
    assert {name: widget.value for name, widget in explorer.controls.items()} == {
        "H": 7,
        "slope": 0.5,
    }


def test_a_later_error_is_raised_where_nothing_is_displayed():
    explorer = mha.explore(Line(fails_at=4), H=(1, 9))
    with pytest.raises(ValueError, match="4 heads") as raised:
        explorer.controls["H"].value = 4
    assert raised.value.__notes__ == ["explore called line at H = 4."]
    with pytest.raises(ValueError, match="4 heads"):
        explorer.set(H=4)


def test_a_later_error_is_shown_in_place():
    explorer = mha.explore(Line(fails_at=4), H=(1, 9))
    line = explorer.panel.error
    assert (line.value, line.layout.display) == ("", "none")
    slide(4)(explorer)
    assert (
        line.value == '<p role="alert"><b>ValueError</b> at H = 4: 4 heads are &lt;too many&gt;</p>'
    )
    assert line.layout.display is None
    assert line in explorer.panel.box.children
    assert drawn(explorer) == [3, 6], "the figure before it stays"
    assert isinstance(explorer.error, ValueError)
    slide(5)(explorer)
    assert (line.value, line.layout.display, explorer.error) == ("", "none", None)
    assert drawn(explorer) == [5, 10]


def test_an_error_before_the_first_display_is_displayed():
    explorer = mha.explore(lambda H: go.Figure() if H < 6 else go.Scatter(), H=(1, 9))
    with pytest.raises(TypeError):
        slide(6)(explorer)
    assert "returns a plotly figure" in explorer.panel.error.value
    assert "The figure at H = 5." in explorer.panel.words.value, "the figure before it stays"


def test_an_interrupt_is_not_swallowed():
    explorer = mha.explore(Line(fails_at=4, error=KeyboardInterrupt), H=(1, 9))
    assert explorer.panel
    with pytest.raises(KeyboardInterrupt):
        slide(4)(explorer)


@pytest.mark.parametrize("fails", [False, True])
def test_a_stale_run_says_nothing(fails):
    seen = []

    def overtaken(k=3):
        if k == 5:  # while it runs, the next change comes
            explorer.controls["k"].value = 6
            seen.append(explorer.panel.words.value)
            if fails:
                raise ValueError("stale")
        return go.Figure(go.Scatter(y=[k]), layout={"meta": {"alt": f"at {k}"}})

    explorer = mha.explore(overtaken, k=(1, 9))
    words, errors = [], []
    explorer.panel.words.observe(lambda change: words.append(change["new"]), "value")
    explorer.panel.error.observe(lambda change: errors.append(change["new"]), "value")
    explorer.controls["k"].value = 5
    assert len(seen) == 1
    assert ["at 6" in told for told in words] == [True]
    assert errors == []
    assert drawn(explorer) == [6]


def test_check_tries_the_start_and_both_ends():
    explorer = mha.explore(Line(), H=(1, 64), slope=(0.5, 4.0))
    explorer.f.calls.clear()
    explorer.check()
    assert explorer.f.calls == [3, 1, 64, 3, 3]
    assert explorer.values == {"H": 3, "slope": 2.0}


@pytest.mark.parametrize("bad", [1, 64])
def test_check_raises_with_the_values(bad):
    explorer = mha.explore(Line(fails_at=bad), H=(1, 64), slope=(0.5, 4.0))
    with pytest.raises(ValueError, match="heads") as raised:
        explorer.check()
    assert raised.value.__notes__ == [f"explore called line at H = {bad}, slope = 2."]


def test_check_wants_figures():
    explorer = mha.explore(lambda k: go.Figure() if k < 9 else k, k=(1, 9))
    with pytest.raises(TypeError, match="returns 9"):
        explorer.check()


def test_the_run_on_colabs_versions_asks_for_the_check():
    assert "export LIVEGRAD_EXPLORE=ends" in (ROOT / ".ci/colab").read_text("utf-8")


def test_a_run_of_notebooks_may_ask_for_the_check(monkeypatch):
    monkeypatch.setenv("LIVEGRAD_EXPLORE", "ends")
    assert mha.explore(Line(), H=(1, 64)).f.calls == [3, 3, 1, 64]
    with pytest.raises(ValueError, match="heads"):
        mha.explore(Line(fails_at=64), H=(1, 64))


@pytest.fixture
def displayed(monkeypatch):
    """explorer → what it publishes in a notebook."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    return lambda explorer: explorer._ipython_display_() or shown.pop()


def test_a_page_of_the_book_has_the_figure_and_names_the_controls(
    in_the_book, displayed, monkeypatch
):
    monkeypatch.setattr(
        ipywidgets.Widget, "__init__", lambda self, **_: pytest.fail("a widget of 5 MB")
    )
    explorer = mha.explore(Line(), H=(1, 64), slope=(0.01, 10.0))
    page = displayed(explorer)
    assert list(page) == ["text/html"]
    figure, note = page["text/html"].split("</figure>")
    assert figure.startswith(
        '<figure class="mha-figure" role="group" aria-label="a line &amp; its &lt;end&gt;">'
    )
    assert note == (
        '<p class="mha-explore">Sliders for H (1 to 64) and slope (0.01 to 10) need a running kernel: '
        "open this page in Colab or with <code>make lab</code>.</p>"
    )
    explorer.check()
    explorer.set(H=4)
    assert list(explorer.figure.data[0].y) == [4, 8]


def test_the_note_names_every_kind_of_control(in_the_book, displayed):
    explorer = mha.explore(
        lambda **values: go.Figure(layout=ALT),
        a=(0, 3),
        b=True,
        c=["<gd>", Line],
        d=[1, 2.5],
        e=ipywidgets.Text(""),
    )
    named = "a (0 to 3), b (on or off), c (&lt;gd&gt; or Line), d (1 to 2.5) and e (its own widget)"
    assert f"Sliders for {named} need" in displayed(explorer)["text/html"]


def test_the_book_asks_for_alt_text_in_the_cell(in_the_book):
    with pytest.raises(ValueError, match="a figure of the book needs alt text"):
        mha.explore(lambda k: go.Figure(), k=(1, 9))


def test_a_notebook_displays_the_panel_and_stable_words(displayed):
    explorer = mha.explore(Line(), H=(1, 9), slope=(0.0, 4.0))
    shown = displayed(explorer)
    assert (
        shown.pop("application/vnd.jupyter.widget-view+json")["model_id"]
        == explorer.panel.box.model_id
    )
    assert shown == {"text/plain": "Explorer of line at H = 3, slope = 2"}
    controls = list(explorer.controls.values())
    assert list(explorer.panel.box.children)[:2] == controls


def test_without_ipywidgets_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ImportError, match="pip install ipywidgets"):
        mha.explore(Line(), H=(1, 9))
    monkeypatch.setenv("LIVEGRAD_FIGURES", "book")
    assert mha.explore(Line(), H=(1, 9)).values == {"H": 3}


def test_the_name_is_the_function_whatever_was_imported():
    code = "import livegrad.explorer, mhalib; from mhalib import explore; assert mhalib.explore.__code__"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


NOTEBOOK = [
    """
    import asyncio
    import plotly.graph_objects as go
    import mhabook
    import mhalib as mha
    calls = []
    def line(H=3):
        calls.append(H)
        if H == 4:
            raise ValueError("four")
        return go.Figure(go.Scatter(y=[H, 2 * H]), layout={"meta": {"alt": f"at {H}"}})
    explorer = mha.explore(line, H=(1, 20, 1))
    explorer
    """,
    """
    drawn, failed = asyncio.Event(), asyncio.Event()
    explorer.panel.words.observe(lambda change: drawn.set(), "value")
    explorer.panel.error.observe(lambda change: failed.set(), "value")
    explorer.controls["H"].set_state({"value": 14})
    await drawn.wait()
    assert calls == [3, 14], calls
    assert '"y":[14,28]' in explorer.panel.canvas.figure
    explorer.controls["H"].value = 4
    await failed.wait()
    assert "<b>ValueError</b> at H = 4: four" in explorer.panel.error.value
    assert '"y":[14,28]' in explorer.panel.canvas.figure
    """,
]


def run_notebook(sources):
    """Run cells in a real kernel, in this working tree; the cells assert."""
    cells = [nbformat.v4.new_code_cell(textwrap.dedent(source)) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    here = {"metadata": {"path": ROOT}}
    return nbclient.NotebookClient(
        notebook, kernel_name="python3", timeout=120, resources=here
    ).execute()


def test_it_works_in_a_kernel():
    notebook = run_notebook(NOTEBOOK)
    (output,) = notebook.cells[0].outputs
    assert output.data["text/plain"] == "Explorer of line at H = 3"
    model = output.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert model in notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert not notebook.cells[1].outputs


@pytest.fixture
def shell(monkeypatch):
    """A notebook's Python, with a slider and a function that counts its calls."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # whose place it takes
    found = InteractiveShell.instance()
    found.run_cell(
        "import ipywidgets, mhalib as mha\n"
        "from explorers import Line\n"
        "line, slider = Line(), ipywidgets.IntSlider(3, min=1, max=9)\n"
        "def calls(value):\n"
        "    line.calls, slider.value = [], value\n"
        "    return len(line.calls)"
    ).raise_error()
    yield found
    InteractiveShell.clear_instance()


def calls(shell, *cells, **sent):
    """How often the function is called at one move of the slider, after some cells have run; what
    the notebook's program sends of them besides the text."""
    for cell in cells:
        run(shell, cell, **sent)
    return run(shell, "calls(slider.value % 9 + 1)")


def run(shell, cell, **sent):
    shell.get_parent = lambda: {"content": {"code": cell}, "metadata": sent}
    done = shell.run_cell(cell, store_history=True)
    done.raise_error()
    return done.result


def test_a_cell_that_runs_again_leaves_one_explorer_listening(shell, capsys):
    shown, other = "mha.explore(line, H=slider)", "mha.explore(line, H=slider, slope=(0, 4))"
    assert calls(shell, *[shown] * 4) == 1
    assert calls(shell, *[other] * 2) == 2, "two cells share the slider"
    many = f"for _ in range(3): display({shown})"
    assert calls(shell, *[many] * 2) == 5, "all that one run displays are heard"
    assert calls(shell, f"kept = {other}; kept", "kept", "kept") == 6
    assert calls(shell, f"display({other})") == 7, "displayed, and kept by no name"
    assert calls(shell, *["display(kept, kept)"] * 2) == 7, "one explorer seen twice"
    assert "Error in callback" not in capsys.readouterr().out


def test_a_cell_is_known_by_its_id_when_its_text_has_changed(shell):
    shown = "mha.explore(line, H=slider)"
    assert calls(shell, shown, f"{shown}  # again", cellId="one") == 1


def test_an_explorer_that_nobody_has_hears_of_no_widget():
    line, slider = Line(), ipywidgets.IntSlider(3, min=1, max=9)
    for _ in range(4):
        explorer = mha.explore(line, H=slider)
    line.calls.clear()
    slider.value = 5
    assert line.calls == [5] and explorer.values == {"H": 5}
