"""What a notebook shows of mha.explore: one figure that changes in place, and its alt text."""

import sys
import types

import ipywidgets
import plotly.graph_objects as go
import plotly.io
import pytest
from plotly.subplots import make_subplots

import mhalib as mha
from explorers import Line, drawn, slide

pytestmark = pytest.mark.usefixtures("no_running_loop")


@pytest.fixture(autouse=True)
def with_a_kernel(monkeypatch):
    """Here is a notebook, not the book."""
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)


@pytest.mark.parametrize(
    "move",
    [
        slide(5),
        lambda explorer: explorer.controls["H"].set_state({"value": 5}),
        lambda explorer: explorer.set(H=5),
    ],
    ids=["value", "state", "set"],
)
def test_a_change_redraws_in_place(move):
    explorer = mha.explore(Line(), H=(1, 9), slope=(0.0, 4.0))
    canvas = explorer.panel.canvas
    assert isinstance(canvas, go.FigureWidget)
    assert drawn(explorer) == [3, 6]
    move(explorer)
    assert explorer.values == {"H": 5, "slope": 2.0}
    assert (drawn(explorer), canvas.data[0].name) == ([5, 10], "5")
    assert explorer.panel.canvas is canvas
    assert list(explorer.figure.data[0].y) == [5, 10]


def test_plotly_is_sent_when_the_page_asks_and_is_no_part_of_what_a_notebook_saves(monkeypatch):
    canvas = mha.explore(lambda k=1: go.Figure(go.Scatter(y=[k, 2])), k=(1, 3)).panel.canvas
    assert len(str(canvas.get_state())) < 20_000
    sent = []
    monkeypatch.setattr(
        canvas, "send", lambda content, buffers=None: sent.append((content, buffers))
    )
    canvas._handle_custom_msg({"want": "something else"}, [])
    assert not sent
    canvas._handle_custom_msg({"want": "plotly"}, [])
    ((content, (buffer,)),) = sent
    assert content == {"plotly": True} and buffer.decode() == str(go.FigureWidget._esm)


def test_only_what_changed_is_sent():
    def titled(k):
        return go.Figure(
            go.Scatter(x=[1, 2], y=[k, 1]), layout={"title": f"{k}", "xaxis": {"title": "x"}}
        )

    explorer = mha.explore(titled, k=(1, 9))
    canvas, sent = explorer.panel.canvas, []
    canvas.layout.xaxis.range = [0, 3]
    canvas.observe(lambda change: sent.append(change["new"]), "_py2js_update")
    explorer.set(k=2)
    assert list(sent[0]["style_data"]) == ["y"]
    assert sent[0]["layout_data"] == {"title": {"text": "2"}}
    assert canvas.layout.xaxis.range == (0, 3), "the reader's zoom is lost"


def test_a_function_may_return_one_figure_that_it_changes():
    figure = go.Figure(go.Scatter(y=[0]))
    explorer = mha.explore(lambda k: figure.update_traces(y=[k]), k=(1, 9))
    assert drawn(explorer) == [5]
    explorer.set(k=8)
    assert drawn(explorer) == [8]


def bars_or_lines(bars=False, n=1):
    trace = go.Bar if bars else go.Scatter
    return go.Figure([trace(y=[1, 2]) for _ in range(n)])


@pytest.mark.parametrize(
    "other", [{"bars": True}, {"n": 2}, {"n": 3, "bars": True}], ids=["type", "number", "both"]
)
def test_other_traces_replace_those_before(other):
    explorer = mha.explore(bars_or_lines, bars=False, n=(1, 4))
    explorer.set(n=1)
    canvas = explorer.panel.canvas
    explorer.set(**other)
    assert explorer.panel.canvas is canvas
    assert canvas in explorer.panel.box.children
    assert [trace.type for trace in canvas.data] == [trace.type for trace in explorer.figure.data]
    assert [trace.y for trace in canvas.data] == [trace.y for trace in explorer.figure.data]
    explorer.set(n=1, bars=False)
    assert [trace.type for trace in canvas.data] == ["scatter"]


def test_other_axes_make_a_new_widget():
    def panels(n):
        return make_subplots(cols=n, figure=go.Figure(data=go.Scatter(y=[n])))

    explorer = mha.explore(panels, n=(1, 4))
    explorer.set(n=1)
    before, box = explorer.panel.canvas, explorer.panel.box
    explorer.set(n=2)
    after = explorer.panel.canvas
    assert after is not before
    assert "xaxis2" in after.layout
    assert after in box.children
    assert before not in box.children
    assert before.comm is None, "the one before still takes memory"


def test_marks_come_and_go():
    def marked(at):
        figure = go.Figure(go.Scatter(y=[1]), layout={"title": "marked"} if at else {})
        return figure.add_vline(x=at) if at else figure

    explorer = mha.explore(marked, at=(0, 4))
    canvas = explorer.panel.canvas
    assert (canvas.layout.title.text, canvas.layout.shapes[0].x0) == ("marked", 2)
    explorer.set(at=0)
    assert (canvas.layout.title.text, canvas.layout.shapes) == (None, ())
    explorer.set(at=3)
    assert (canvas.layout.title.text, canvas.layout.shapes[0].x0) == ("marked", 3)
    assert explorer.panel.canvas is canvas


def test_the_alt_text_is_a_status_line():
    explorer = mha.explore(Line(), H=(1, 9))
    assert explorer.panel.words in explorer.panel.box.children
    assert explorer.panel.words.value == (
        '<p role="status" aria-live="polite"><small>a line &amp; its &lt;end&gt;</small></p>'
    )
    without = mha.explore(lambda k: go.Figure(), k=(1, 9))
    assert "The figure at k = 5." in without.panel.words.value
    without.set(k=2)
    assert "The figure at k = 2." in without.panel.words.value


def mime_types(output):
    return [list(one["data"]) for one in output.outputs]


@pytest.mark.parametrize("missing", ["anywidget", "in Colab with plotly 5"])
def test_without_a_figure_widget_an_output_is_redrawn(missing, monkeypatch):
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")
    if missing == "anywidget":
        monkeypatch.setattr(go, "FigureWidget", unmakeable)
    else:
        monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
        monkeypatch.setattr(go, "FigureWidget", type("OfPlotly5", (), {}))
    explorer = mha.explore(bars_or_lines, bars=False, n=(1, 4))
    output = explorer.panel.canvas
    assert type(output) is ipywidgets.Output
    assert mime_types(output) == [["application/vnd.plotly.v1+json"]]
    explorer.set(n=3, bars=True)
    assert explorer.panel.canvas is output
    assert mime_types(output) == [["application/vnd.plotly.v1+json"]]
    redrawn = output.outputs[0]["data"]["application/vnd.plotly.v1+json"]
    assert [trace["type"] for trace in redrawn["data"]] == ["bar"] * 3


def unmakeable(*args, **kwargs):
    raise ImportError("Please install anywidget to use the FigureWidget class")
