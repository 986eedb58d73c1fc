"""The picture that stands where no script runs shows what plotly would draw: lines, points and heat
maps in panels."""

import base64
import io
import re
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from livegrad import plots, still
from livegrad.live.frames import panels

SVG = "{http://www.w3.org/2000/svg}"


def drawn(figure):
    return ElementTree.fromstring(still.picture(figure.to_plotly_json()))


def curve(root):
    """The points of the first line that is drawn in a panel."""
    path = root.find(f"{SVG}clipPath/../{SVG}g[@clip-path]/{SVG}path").get("d")
    first, *steps = re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)
    return np.cumsum(np.array([first, *steps], dtype=float), axis=0)


def written(root):
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_a_line_goes_through_its_points():
    figure = go.Figure(go.Scatter(x=[0, 1, 2], y=[0.0, 3.0, 3.0], mode="lines"))
    figure.update_xaxes(range=[0, 2]).update_yaxes(range=[0, 6])
    left, right, top, bottom = 80, 700 - 80, 100, 450 - 80  # within plotly's own margins
    middle = (left + right) / 2, (top + bottom) / 2
    assert curve(drawn(figure)).tolist() == [[left, bottom], [*middle], [right, middle[1]]]


def test_a_line_leaves_out_the_points_that_it_meets_anyway():
    x = np.linspace(0, 2, 400)
    figure = go.Figure(go.Scatter(x=x, y=np.abs(x - 1), mode="lines"))
    figure.update_xaxes(range=[0, 2]).update_yaxes(range=[0, 1])
    assert len(curve(drawn(figure))) <= 4


def test_a_logarithmic_axis_counts_decades_and_has_no_zero():
    y = [1e-4, 1e-2, None, 1.0, 0]
    figure = go.Figure(go.Scatter(x=[1, 10, 50, 90, 100], y=y, mode="lines"))
    figure.update_xaxes(type="log", range=[0, 2])
    figure.update_yaxes(type="log", range=[-4, 0], exponentformat="power")
    root = drawn(figure)
    assert curve(root)[:2].tolist() == [[80, 370], [350, 235]]
    assert "10−4" in written(root)
    path = root.find(f"{SVG}g[@clip-path]/{SVG}path").get("d")
    assert path.count("M") == 2, "what is no number leaves a gap"
    assert float(path.split(",")[-1]) > 1000, "what is not above 0 lies far below"


def test_a_heat_map_has_the_colors_of_its_scale_where_they_belong():
    tiles = go.Heatmap(
        z=[[0, 1], [None, 0]],
        colorscale=[[0, "rgb(0, 0, 0)"], [1, "rgb(255, 255, 255)"]],
        showscale=False,
    )
    image = drawn(go.Figure(tiles)).find(f".//{SVG}image")
    dots = Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1])))
    # the first row of a heat map is its lowest
    assert [dots.getpixel((x, 1))[:4] for x in (0, 1)] == [(0, 0, 0, 255), (255, 255, 255, 255)]
    assert dots.getpixel((0, 0))[3] == 0, "without a number it is clear"
    assert dots.getpixel((1, 0)) == (0, 0, 0, 255)


def test_a_map_of_levels_goes_from_number_to_number_in_the_steps_of_its_colors():
    tiles = go.Heatmap(z=[[0, 1], [2, 3]], showscale=False, **plots.LEVELS)
    image = drawn(go.Figure(tiles)).find(f".//{SVG}image")
    dots = Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1])))
    grays = [f"rgb{dots.getpixel((k, 15 - k))[:3]}" for k in range(16)]
    steps = [gray for _, gray in plots.LEVELS["colorscale"][::2]]
    # half a tile beyond the middles at either end
    assert grays == [steps[0]] * 4 + steps + [steps[-1]] * 4
    assert dots.getpixel((15, 15)) == dots.getpixel((11, 12)) == (147, 154, 165, 255)


def test_what_is_behind_a_heat_map_shows_through_where_its_scale_is_clear():
    tiles = go.Heatmap(
        z=[[0, 0.5, 1]],
        colorscale=[[0, "rgba(200, 100, 0, 0)"], [1, "rgba(200, 100, 0, 1)"]],
        opacity=0.99,
    )
    images = drawn(go.Figure(tiles)).findall(f".//{SVG}image")
    for image in images:  # the heat map and its bar
        dots = Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1])))
        *_, covers = np.array(dots).reshape(-1, 4).T
        assert sorted({*covers.tolist()})[:: len({*covers}) - 1] == [0, 255]
        assert "opacity: 0.99" in image.get("style")
    assert len(images) == 2


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        ({"range": [0, 1]}, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ({"range": [-2, 2.4]}, ["−2", "−1", "0", "1", "2"]),
        ({"range": [0, 20_000]}, ["0", "5k", "10k", "15k", "20k"]),
        ({"range": [0, 3], "type": "log"}, [*"125", "10", *"25", "100", *"25", "1000"]),
        (
            {"range": [0, 9], "type": "log", "exponentformat": "power"},
            ["1", "102", "104", "106", "108"],
        ),
        ({"range": [0, 3], "tickvals": [1, 2], "ticktext": ["a-b", "c"]}, ["a-b", "c"]),
    ],
)
def test_an_axis_has_the_numbers_that_plotly_writes(axis, words):
    figure = go.Figure(
        go.Scatter(x=[0], y=[0]), {"yaxis": axis, "xaxis": {"showticklabels": False}}
    )
    assert written(drawn(figure)) == words


def test_letters_are_raised_and_lowered():
    figure = go.Figure(go.Scatter(x=[1], y=[1])).update_xaxes(title="‖W<sub>k</sub>‖<sup>2</sup>")
    root = drawn(figure)
    [title] = [text for text in root.iter(f"{SVG}text") if "W" in "".join(text.itertext())]
    assert [(one.text, float(one.get("dy")) > 0) for one in title] == [
        ("k", True),
        ("‖", False),
        ("2", False),
    ]


def test_panels_axes_and_lines_are_named():
    figure = panels("the loss", "the score")
    figure.add_scatter(x=[1, 2], y=[2, 1], name="of a run", mode="lines", row=1, col=1)
    figure.add_scatter(x=[1], y=[2], name="here", mode="markers", row=1, col=2)
    figure.update_xaxes(title="step")
    root = drawn(figure)
    assert {"the loss", "the score", "of a run", "here", "step"} <= set(written(root))
    assert len(root.findall(f"{SVG}clipPath")) == 2


def test_a_band_is_named_beside_its_color():
    band = go.Scatter(x=[0, 1, 1, 0], y=[0, 0, 1, 1], mode="lines", name="a band", showlegend=True)
    root = drawn(go.Figure(band.update(fill="toself", fillcolor="#222832")))
    [sample] = [box for box in root.iter(f"{SVG}rect") if box.get("fill") == "#222832"]
    assert "a band" in written(root) and float(sample.get("width")) > 0
    clear = drawn(go.Figure(band.update(fillcolor=None)))  # a reader may leave its color out
    assert "a band" in written(clear)


@pytest.mark.parametrize("trace", [go.Scatter(), go.Scatter(x=["a", "b"], y=[1, None]), go.Bar()])
def test_what_has_nothing_to_draw_leaves_an_empty_panel(trace):
    assert drawn(go.Figure(trace)).get("viewBox") == "0 0 700 450"


@pytest.mark.parametrize(
    ("figure", "named"),
    [
        (go.Figure(go.Contour(z=[[1, 2]])), "a trace of the type contour"),
        (go.Figure(go.Scatter(x=[1], y=[1], fill="tozeroy")), "scatter.fill = 'tozeroy'"),
        (go.Figure(go.Scatter(x=[1], y=[1], error_y={"array": [1]})), "scatter.error_y"),
        (go.Figure(go.Scatter(x=[1], y=[1], marker={"symbol": "hash"})), "marker.symbol = 'hash'"),
        (go.Figure(layout={"shapes": [{"type": "line"}]}), "shapes"),
        (go.Figure(layout={"xaxis": {"tickangle": 30}}), "axis.tickangle"),
        (go.Figure(layout={"yaxis2": {"overlaying": "y"}}), "axis.overlaying"),
        (go.Figure(layout={"annotations": [{"text": "a", "showarrow": True}]}), "annotation.show"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_it_does_not_know_is_refused_by_name(figure, named):
    figure.update_layout(meta={"alt": "a figure of mine"})
    with pytest.raises(ValueError, match=rf"{re.escape(named)}.*: a figure of mine"):
        drawn(figure)


def test_words_are_never_markup():
    root = drawn(go.Figure(go.Scatter(x=[1], y=[1], name="<b>a</b> < b & c", showlegend=True)))
    assert "a < b & c" in written(root)
    assert "&lt;script&gt;&quot;" in still.image(go.Figure().to_plotly_json(), '<script>"')


def test_a_title_stands_in_the_margin_above():
    root = drawn(go.Figure(layout={"title": "<i>of</i> mine", "margin": {"t": 50}}))
    (text,) = [each for each in root.iter(f"{SVG}text") if "".join(each.itertext()) == "of mine"]
    assert 17 < float(text.get("y")) < 50 and text.get("text-anchor") is None


LETTERS = [
    str(file) for file in (Path(__file__).parents[2] / "book/_static/vendor/dejavu").glob("*.ttf")
]
MINE = plots.matrix([[0, 1], [2, 3]], title="mine")


def test_a_figure_is_saved_as_a_picture(tmp_path, monkeypatch):
    resvg = pytest.importorskip("resvg_py")
    # a machine need not have a font
    monkeypatch.setattr(resvg, "svg_to_bytes", partial(resvg.svg_to_bytes, font_files=LETTERS))
    plots.save(MINE, tmp_path / "run.svg")
    assert (tmp_path / "run.svg").read_text("utf-8") == still.picture(MINE.to_plotly_json())
    plots.save(MINE, str(tmp_path / "run.png"))
    dots = np.asarray(Image.open(tmp_path / "run.png").convert("L")).astype(int)
    assert dots.shape == (3 * 380, 3 * 700)
    cell = dots[dots.shape[0] // 2 - 90, 500:800]
    assert np.ptp(cell) == 0, "the cells of a heat map have one color each, and no shades between"
    assert dots[:150, :600].min() < 128, "its title is written"


def test_a_png_without_letters_is_refused(tmp_path, monkeypatch):
    resvg = pytest.importorskip("resvg_py")
    bare = partial(resvg.svg_to_bytes, skip_system_fonts=True)
    monkeypatch.setattr(resvg, "svg_to_bytes", bare)
    with pytest.raises(RuntimeError, match="needs a font for a PNG"):
        plots.save(MINE, tmp_path / "run.png")
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError, match="pip install resvg-py"):
        plots.save(MINE, tmp_path / "run.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("figure", "file", "error", "said"),
    [
        ("mine", "run.svg", TypeError, "figure: expected a figure of plotly"),
        (MINE, 3, TypeError, "file: expected the name"),
        (MINE, "run.pdf", ValueError, "file: .* in .svg or .png, got 'run.pdf'"),
        (MINE, "nowhere/run.svg", FileNotFoundError, "file: expected a folder"),
    ],
    ids=["no figure", "no name", "another ending", "no folder"],
)
def test_what_cannot_be_saved_is_named(figure, file, error, said):
    with pytest.raises(error, match=said):
        plots.save(figure, file)
