"""The still of a figure: what is drawn stands where the axes say, in the colors that the scale says."""

import json
import re
import xml.etree.ElementTree as ET
from base64 import b64encode

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

import mhalib as mha
from mhalib import plots
from mhalib._still import svg

rng = np.random.default_rng(0)


def drawn(figure):
    """The tree of the still; a parse error where it is not well-formed."""
    return ET.fromstring(svg(figure.to_dict()))


def figure_of(*traces, **layout):
    return go.Figure(list(traces), layout={"meta": {"alt": "a figure"}, **layout})


def labels(tree, axis, panel=0):
    """{words: pixel} of the ticks along "x" or "y" of a panel."""
    group = tree.findall(f"./g[@class='{axis}ticks']")[panel]
    below = float(tree.get("font-size")) / 3 if axis == "y" else 0  # from the middle of the letters to their foot
    return {text.text: float(text.get(axis)) - below for text in group}


def paths(tree, panel=0):
    """The paths of the traces of a panel."""
    return tree.findall("./svg")[panel].findall(".//path")


def points(path):
    """The corners of a line or the centers of points, (x, y) each."""
    return [tuple(map(float, pair.split())) for pair in re.findall(r"[ML](\S+ \S+?)(?=[MLh]|$)", path.get("d"))]


def cells(tree, panel=0):
    """{(row, column): (color, pixels of its center)} of a heatmap."""
    group = tree.findall("./svg")[panel].find("./g")
    left, top, across, down = map(float, re.findall(r"-?[\d.]+", group.get("transform")))
    found = {}
    for path in group:
        for j, i, width in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d")):
            for k in range(int(j), int(j) + int(width)):
                found[int(i), k] = path.get("stroke"), (left + across * (k + 0.5), top + down * int(i))
    return found


def darkness(color):
    return -sum(bytes.fromhex(color[1:]))


def close(pixels, others):
    return np.allclose(pixels, others, atol=0.21)  # each is rounded to a tenth of a pixel


@pytest.mark.parametrize("log", [False, True])
def test_a_line_lands_where_the_axes_say(log):
    x, y = ([1, 10, 1000], [100, 0.1, 1]) if log else ([0, 2, 5], [-1, 3, 0])
    kind = {"type": "log" if log else "linear"}
    tree = drawn(figure_of(go.Scatter(x=x, y=y, mode="lines"), xaxis=kind, yaxis=kind))
    across, up = labels(tree, "x"), labels(tree, "y")
    expected = [(across[f"{a}"], up[f"{b}".replace("-", "−")]) for a, b in zip(x, y, strict=True)]
    assert close(points(paths(tree)[0]), expected)
    assert across[str(x[0])] < across[str(x[1])]
    assert up[str(max(y))] < up[str(min(y)).replace("-", "−")], "larger numbers stand higher"


def test_powers_of_ten_are_written_as_powers_and_evenly_spaced():
    y = labels(drawn(figure_of(go.Scatter(y=[1e-6, 1e-4, 1e-3]), yaxis={"type": "log"})), "y")
    assert list(y) == ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]
    assert close(list(y.values()), np.linspace(y["10⁻⁶"], y["10⁻³"], 4))


@pytest.mark.parametrize(("span", "expected"), [
    ([0, 1], ["1", "2", "5", "10"]), ([0, 0.3], ["1", "1.2", "1.4", "1.6", "1.8"]), ([4, 6], ["10⁴", "10⁵", "10⁶"]),
    ([-12, 0], ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1"])])
def test_log_axes_have_three_to_seven_ticks(span, expected):
    assert list(labels(drawn(figure_of(go.Scatter(y=[1, 2]), yaxis={"type": "log", "range": span})), "y")) == expected


def test_a_range_that_is_given_is_kept():
    tree = drawn(figure_of(go.Scatter(x=[0, 1], y=[2, 4], mode="lines"), yaxis={"range": [0, 10]}))
    y = labels(tree, "y")
    assert list(y) == ["0", "2", "4", "6", "8", "10"]
    assert close([b for _, b in points(paths(tree)[0])], [y["2"], y["4"]])
    top, bottom = map(float, re.match(r"M\S+ ([\d.]+)H\S+V([\d.]+)", tree.find("./path").get("d")).groups())
    assert close([y["10"], y["0"]], [top, bottom])


def test_ticks_are_those_that_are_given():
    tree = drawn(figure_of(go.Scatter(x=[0, 3]), yaxis={"tickvals": [0, 1], "ticktext": ["off", "on"]}))
    assert list(labels(tree, "y")) == ["off", "on"]


def test_crowded_labels_are_thinned():
    many = list(range(100))
    given = {"tickvals": many, "ticktext": ["word"] * 100}
    tree = drawn(figure_of(go.Heatmap(z=[many], colorscale="Blues"), xaxis=given))
    assert 3 < len(tree.find("./g[@class='xticks']")) < 20


@pytest.mark.parametrize(("height", "shown"), [(796, 26), (450, 13)])
def test_a_plot_grows_to_name_every_row_as_far_as_the_figure_lets_it(height, shown):
    names = {"tickvals": list(range(26)), "ticktext": [f"row {k}" for k in range(26)]}
    tree = drawn(figure_of(go.Scatter(x=[0] * 26, y=list(range(26))), yaxis=names, height=height))
    assert len(labels(tree, "y")) == shown


def test_a_missing_number_breaks_the_line():
    tree = drawn(figure_of(go.Scatter(y=[1, 2, None, 3, np.inf, 4, 5], mode="lines")))
    path = paths(tree)[0]
    assert path.get("d").count("M") == 3
    assert len(points(path)) == 5


def test_a_long_curve_is_thinned_and_keeps_its_extremes():
    y = rng.standard_normal(5000)
    y[1234], y[4321] = 9, -7
    tree = drawn(figure_of(go.Scatter(y=y, mode="lines")))
    found, up = np.array(points(paths(tree)[0])), labels(tree, "y")
    unit = (up["0"] - up["5"]) / 5
    assert len(found) <= 200
    assert close(found[:, 1].min(), up["0"] - 9 * unit)
    assert close(found[:, 1].max(), up["0"] + 7 * unit)
    assert close([found[0, 1], found[-1, 1]], up["0"] - unit * y[[0, -1]])


def test_markers_and_lines_are_told_apart():
    look = {"line": {"color": "#123456", "dash": "dash", "width": 3}, "marker": {"size": 9}}
    line, dots = paths(drawn(figure_of(go.Scatter(y=[1, 3, 2], mode="lines+markers", **look))))
    assert (line.get("stroke"), line.get("stroke-width"), line.get("stroke-dasharray")) == ("#123456", "3", "8 5")
    assert (dots.get("stroke"), dots.get("stroke-width"), dots.get("stroke-linecap")) == ("#123456", "9", "round")
    assert points(line) == points(dots)
    assert len(paths(drawn(figure_of(go.Scatter(y=[1, 3, 2], mode="markers"))))) == 1


@pytest.mark.parametrize("reversed_", [False, True])
def test_rows_and_columns_stand_at_their_numbers(reversed_):
    Z = np.arange(6.0).reshape(2, 3)
    trace = go.Heatmap(z=Z, colorscale="Blues")
    tree = drawn(figure_of(trace, yaxis={"autorange": "reversed"} if reversed_ else {}))
    x, y, found = labels(tree, "x"), labels(tree, "y"), cells(tree)
    assert all(close(center, (x[str(j)], y[str(i)])) for (i, j), (_, center) in found.items())
    assert (y["0"] < y["1"]) is reversed_, "reversed, the first row is on top"
    assert len(found) == 6


def test_larger_is_darker_in_blues_and_a_missing_number_stays_blank():
    Z = np.array([[0.1, 0.5, np.nan], [0.9, 0.7, 0.3]])
    found = cells(drawn(plots.matrix(Z)))
    assert set(found) == {(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)}
    by_value = sorted(found, key=lambda place: Z[place])
    shades = [darkness(found[place][0]) for place in by_value]
    assert shades == sorted(set(shades))


def test_colors_are_those_of_the_scale():
    ends = {place: color for place, (color, _) in cells(drawn(plots.matrix([[0.0, 1.0]]))).items()}
    assert ends == {(0, 0): "#f7fbff", (0, 1): "#08306b"}
    given = go.Heatmap(z=[[0, 5, 7]], zmin=0, zmax=5, colorscale=[[0, "#000000"], [1, "#ff8000"]])
    assert [color for color, _ in cells(drawn(figure_of(given))).values()] == ["#000000", "#ff8000", "#ff8000"]


def test_a_diverging_scale_is_white_at_its_middle():
    found = cells(drawn(plots.matrix([[-1, 0, 4]], diverging=True)))
    low, zero, high = (found[0, j][0] for j in range(3))
    assert min(bytes.fromhex(zero[1:])) > 240
    red, _, blue = bytes.fromhex(low[1:])
    assert red > blue
    assert high == "#053061"


def test_a_heatmap_of_one_value_has_one_color():
    assert len({color for color, _ in cells(drawn(plots.matrix(np.ones((2, 3))))).values()}) == 1


def test_cells_stand_at_given_coordinates_and_uneven_ones_are_refused():
    tree = drawn(figure_of(go.Heatmap(x=[-2, 0, 2], z=[[1, 2, 3]], colorscale="Blues")))
    x, found = labels(tree, "x"), cells(tree)
    assert close([found[0, j][1][0] for j in range(3)], [x["−2"], x["0"], x["2"]])
    with pytest.raises(ValueError, match="evenly spaced x"):
        drawn(figure_of(go.Heatmap(x=[1, 2, 4], z=[[1, 2, 3]], colorscale="Blues")))


def test_a_large_matrix_stays_small():
    assert len(svg(plots.matrix(rng.standard_normal((72, 72)), diverging=True).to_dict())) < 60_000
    assert len(svg(plots.matrix(rng.standard_normal((300, 200)), diverging=True).to_dict())) < 60_000


def test_the_colorbar_says_the_scale():
    tree = drawn(plots.matrix([[0, 3.0]], colorbar="weight"))
    bar = [(path.get("stroke"), points(path)[0][1]) for path in tree.find("./g[@class='colorbar']")]
    words = {text.text: float(text.get("y")) for text in tree.findall("./text")}
    assert (bar[0][0], bar[-1][0]) == ("#f7fbff", "#08306b")
    assert {"weight", "0", "1", "2", "3"} <= set(words)
    assert abs((words["0"] - words["3"]) / (bar[0][1] - bar[-1][1]) - 1) < 0.02, "it is as long as its ticks say"
    assert 0 < words["0"] - bar[0][1] < 16
    assert drawn(plots.images(rng.random((2, 8, 8)), "ab")).find("./g[@class='colorbar']") is None


def test_subplots_stand_in_their_domains_under_their_titles():
    figure = make_subplots(rows=1, cols=2, subplot_titles=("left", "right"))
    figure.add_scatter(y=[0, 1], mode="lines", row=1, col=1)
    figure.add_scatter(y=[0, 50], mode="lines", row=1, col=2)
    tree = drawn(figure.update_layout(meta={"alt": "two"}))
    first, second = (window.attrib for window in tree.findall("./svg"))
    titles = {text.text: float(text.get("x")) for text in tree.findall("./text")}
    for window, title in ((first, "left"), (second, "right")):
        assert close(titles[title], float(window["x"]) + float(window["width"]) / 2)
    assert float(first["x"]) + float(first["width"]) < float(second["x"])
    assert "50" in labels(tree, "y", panel=1)
    assert "50" not in labels(tree, "y", panel=0)


def test_axes_that_match_have_one_range():
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True)
    figure.add_scatter(y=[0, 1], mode="lines", row=1, col=1)
    figure.add_scatter(y=[0, 1, 50], mode="lines", row=1, col=2)
    tree = drawn(figure.update_layout(meta={"alt": "two"}))
    heights = [[y for _, y in points(paths(tree, panel)[0])][:2] for panel in (0, 1)]
    assert close(*heights)


def test_images_are_squares():
    tree = drawn(plots.images(rng.random((3, 8, 8)), "abc"))
    for window in tree.findall("./svg"):
        assert close(float(window.get("width")), float(window.get("height")))


def test_the_legend_wraps_and_stays_inside():
    names = [f"a curve named {k}" for k in range(5)]
    tree = drawn(plots.curves([1, 2], {name: [1, 2] for name in names}))
    entries = {text.text: text for text in tree.findall("./text") if text.text in names}
    rows = sorted({float(text.get("y")) for text in entries.values()})
    assert set(entries) == set(names)
    assert 1 < len(rows) < 5
    assert rows[-1] < float(tree.get("viewBox").split()[3])
    assert not {"alone"} & {text.text for text in drawn(plots.curves([1, 2], {"alone": [1, 2]})).iter("text")}


def test_hidden_traces_are_not_drawn():
    tree = drawn(figure_of(go.Scatter(y=[1, 2], mode="lines"), go.Scatter(y=[1, 9], mode="lines", visible=False)))
    assert len(paths(tree)) == 1
    assert "8" not in labels(tree, "y")


def test_the_alt_text_is_the_label_escaped():
    alt = 'the "loss" & <steps>'
    figure = figure_of(go.Scatter(y=[1]), meta={"alt": alt}, xaxis={"title": "a < b"})
    assert 'aria-label="the &quot;loss&quot; &amp; &lt;steps&gt;"' in svg(figure.to_dict())
    tree = drawn(figure)
    assert tree.attrib["role"] == "img"
    assert tree.attrib["aria-label"] == alt
    assert "a < b" in [text.text for text in tree.iter("text")]


@pytest.mark.parametrize(("trace", "complaint"), [
    (go.Bar(y=[1, 2]), "type 'bar'; it draws scatter and heatmap"),
    (go.Scatter(y=[1], mode="lines+text"), "mode 'lines\\+text'; it draws lines, markers, and lines\\+markers"),
    (go.Scatter(y=[1, 2], mode="markers", marker={"size": [3, 9]}), "all markers of a trace alike"),
    (go.Heatmap(z=[[1]]), "colorscale as pairs"),
])
def test_what_it_cannot_draw_is_refused(trace, complaint):
    with pytest.raises(ValueError, match=complaint):
        drawn(figure_of(trace))


def test_lists_arrays_and_packed_arrays_draw_the_same():
    figure, Z = plots.matrix([[1.0, 2, 3], [4, 5, 6]]), np.arange(1.0, 7).reshape(2, 3)
    packed = {"dtype": "f8", "bdata": b64encode(Z.tobytes()).decode(), "shape": "2, 3"}
    known = figure.to_dict()
    known["data"][0].pop("z")
    stills = {svg({**known, "data": [{**known["data"][0], "z": z}]}) for z in (Z, Z.tolist(), packed)}
    assert stills == {svg(figure.to_dict()), svg(json.loads(figure.to_json()))}
    assert len(stills) == 1


def test_a_slider_stands_at_its_start():
    frames = {H: plots.curves([1, 2], {"a": [H, 2 * H]}) for H in (1, 4, 16)}
    figure = plots.slider(frames, "H", start=4)
    tree = drawn(figure)
    words = [text.text for text in tree.iter("text")]
    assert "H = 4" in words
    assert "H = 1" not in words
    up, (low, high) = labels(tree, "y"), (y for _, y in points(paths(tree)[0]))
    octave = up["1"] - up["2"]
    assert close([low, high], [up["1"] - 2 * octave, up["1"] - 3 * octave])


def every_figure():
    data = mha.data.tokenized_mixture(n=20)
    path = mha.train(mha.MultiHeadAttention.zeros(1, 10, 8), data, mha.GradientDescent(1.0), 30)
    A = mha.softmax(rng.standard_normal((5, 5)))
    yield "curves", plots.curves([0, 1, 2], {"a": [3, 2, 1], "b": [1, 0, 2]}, ylabel="loss")
    yield "training", plots.training(path)
    yield "matrix", plots.matrix(rng.standard_normal((4, 6)), log=True, colorbar="log")
    yield "attention", plots.attention(A, [0, 1, 0, 0, 0])
    yield "tokens", plots.tokens(rng.standard_normal((5, 3)), [1, 0, 0, 0, 1])
    yield "points", plots.points({"a": ([1, 10], [2, 30])}, {"y = x": ([1, 10], [1, 10])}, "x", "y")
    yield "dots", plots.dots({"heads": 1e10, "steps": 2.0}, "asked / needed")
    yield "images", plots.images(rng.random((3, 8, 8)), "abc")
    yield "slices", plots.slices({name: rng.random((5, 5)) for name in "abc"}, np.linspace(-1, 1, 5))
    yield "mark", plots.mark(plots.slices({"a": rng.random((5, 5))}, np.linspace(-1, 1, 5)), 0,
                             {"start": ([0.5], [0.5]), "end": ([0], [-0.5])}, [([0.5, 0], [0.5, -0.5])])
    yield "multiples", plots.multiples([0, 1, 9], {"a": {"H = 1": [[3, 2, 1], [4, 2, 1]]}, "b": {"H = 1": [[1, 2, 1]]}})
    yield "plane", plots.plane([1, 2, 4], [1, 2], [[1, 2, 3], [4, 5, np.nan]], {"path": ([1, 2], [1, 2])}, colorbar="z")
    yield "slider", plots.slider({H: plots.training(path) for H in (1, 2)}, "H")


def test_every_function_of_plots_gives_a_still():
    figures = dict(every_figure())
    ours = {name for name, f in vars(plots).items() if getattr(f, "__module__", "") == plots.__name__}
    assert set(figures) == {name for name in ours if name[0] != "_"} - {"finish"}
    for figure in figures.values():
        text = svg(figure.to_dict())
        assert 1_000 < len(text) < 60_000
        assert ET.fromstring(text).attrib["aria-label"] == figure.layout.meta["alt"]


def test_words_and_lines_take_the_color_of_the_text_around_them():
    for _, figure in every_figure():
        tree = drawn(figure)
        assert tree.get("fill") == "currentColor"
        assert tree.get("style").count("background") == 0
        assert not [text for text in tree.iter("text") if text.get("fill") or text.get("stroke")]
        assert tree.find("./path").get("stroke") == "currentColor"


def test_letters_are_readable_on_a_phone_and_nothing_is_written_outside():
    for name, figure in every_figure():
        tree = drawn(figure)
        _, _, width, height = map(float, tree.get("viewBox").split())
        assert float(tree.get("font-size")) * 340 / width > 10
        for text in tree.iter("text"):
            assert 0 <= float(text.get("x")) <= width, (name, text.text)
            assert 8 <= float(text.get("y")) <= height, (name, text.text)


def test_it_names_no_host_and_has_no_ids():
    for _, figure in every_figure():
        text = svg(figure.to_dict())
        assert "http" not in text
        assert " id=" not in text
