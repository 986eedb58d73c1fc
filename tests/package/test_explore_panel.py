"""What a notebook shows of mha.explore: one figure that changes in place, and its alt text."""

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

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
    assert canvas in explorer.panel.box.children
    assert drawn(explorer) == [3, 6]
    move(explorer)
    assert explorer.values == {"H": 5, "slope": 2.0}
    assert drawn(explorer) == [5, 10]
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
    assert content == {"plotly": True} and buffer.decode() == get_plotlyjs()


def test_a_function_may_return_one_figure_that_it_changes():
    figure = go.Figure(go.Scatter(y=[0]))
    explorer = mha.explore(lambda k: figure.update_traces(y=[k]), k=(1, 9))
    assert drawn(explorer) == [5]
    explorer.set(k=8)
    assert drawn(explorer) == [8]


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
