"""The picture that stands where no script runs shows what plotly would draw: lines, points and heat
maps in panels."""

import re
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest

from mhalib import still
from mhalib.live.frames import panels

SVG = "{http://www.w3.org/2000/svg}"


def drawn(figure):
    return ElementTree.fromstring(still.picture(figure.to_plotly_json()))


def curve(root):
    """The points of the first line that is drawn in a panel."""
    path = root.find(f"{SVG}g/{SVG}g/{SVG}path").get("d")
    return np.array([pair.split(",") for pair in re.findall(r"[ML]([-\d.,]+)", path)], dtype=float)


def written(root):
    return [text.text for text in root.iter(f"{SVG}text")]


def test_a_line_goes_through_its_points():
    figure = go.Figure(go.Scatter(x=[0, 1, 2], y=[0.0, 3.0, 6.0]))
    figure.update_xaxes(range=[0, 2]).update_yaxes(range=[0, 6])
    points = curve(drawn(figure))
    left, right, top, bottom = 80, 700 - 80, 100, 450 - 80  # within plotly's own margins
    assert points.tolist() == [
        [left, bottom],
        [(left + right) / 2, (top + bottom) / 2],
        [right, top],
    ]


def test_a_logarithmic_axis_counts_decades_and_leaves_out_what_has_none():
    figure = go.Figure(go.Scatter(x=[1, 10, 50, 100], y=[1e-4, 1e-2, 0, 1.0]))
    figure.update_xaxes(type="log", range=[0, 2]).update_yaxes(type="log", range=[-4, 0])
    root = drawn(figure)
    assert curve(root)[:, 0].tolist() == [80, 350, 620] and curve(root)[:, 1].tolist() == [
        370,
        235,
        100,
    ]
    assert "10⁻⁴" in written(root)
    assert root.find(f"{SVG}g/{SVG}g/{SVG}path").get("d").count("M") == 2


def test_a_heat_map_has_the_colors_of_its_scale_where_they_belong():
    tiles = go.Heatmap(
        z=[[0, 1], [1, 0]],
        colorscale=[[0, "rgb(0, 0, 0)"], [1, "rgb(255, 255, 255)"]],
        showscale=False,
    )
    root = drawn(go.Figure(tiles, {"yaxis": {"autorange": "reversed"}}))
    colors = {
        path.get("fill"): path.get("d") for path in root.iter(f"{SVG}path") if path.get("fill")
    }
    assert set(colors) == {"rgb(0, 0, 0)", "rgb(255, 255, 255)"}
    corners = np.array([re.findall(r"M([\d.]+),([\d.]+)", colors["rgb(0, 0, 0)"])], dtype=float)[0]
    # reversed: the first row is on top
    assert corners[0][0] < corners[1][0] and corners[0][1] < corners[1][1]


def test_panels_axes_and_lines_are_named():
    figure = panels("the loss", "the score")
    figure.add_scatter(x=[1, 2], y=[2, 1], name="of a run", mode="lines", row=1, col=1)
    figure.add_scatter(x=[1], y=[2], name="here", mode="markers", row=1, col=2)
    figure.update_xaxes(title="step")
    root = drawn(figure)
    assert {"the loss", "the score", "of a run", "here", "step"} <= set(written(root))
    assert len(root.findall(f"{SVG}clipPath")) == 2


@pytest.mark.parametrize(
    "trace",
    [
        go.Scatter(),
        go.Scatter(x=["a", "b"], y=[1, None]),
        go.Bar(x=[1], y=[2]),
        go.Contour(z=[[1, 2]]),
    ],
)
def test_what_it_does_not_know_leaves_an_empty_panel(trace):
    assert drawn(go.Figure(trace)).get("viewBox") == "0 0 700 468"


def test_words_are_never_markup():
    root = drawn(go.Figure(go.Scatter(x=[1], y=[1], name="<b>a</b> < b & c", showlegend=True)))
    assert "a  < b & c" in written(root)
    assert "&lt;script&gt;&quot;" in still.image(go.Figure().to_plotly_json(), '<script>"')
