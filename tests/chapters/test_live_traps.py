"""The live figures of chapter 14: the numbers of B1 to B4, and what the figures say in Python."""

from dataclasses import replace
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

import mhalib as mha
from checks import assert_refused
from mhabook.c14_traps import figure, figure_traps, figure_two_tokens, runs
from mhabook.c14_traps.figure_queries import minima, reach
from mhabook.c14_traps.figure_two_tokens import axis, landscape, pairs
from mhabook.c14_traps.minima import minima_of
from mhabook.c14_traps.statements import EXAMPLES, example

KERNELS = {"soft": mha.softmax, "gauss": mha.gaussian, "between": mha.normalized_gaussian}
# After 300 steps; the theory has 1,000, in which the control of B1 and the Gaussian kernel of B4
# come a little lower.
ENDS = {
    "B1": {"soft": 0.0416667, "gauss": 0, "between": 0.0034774},
    "B2": {"soft": 1.349189, "gauss": 0, "between": 0.6757773},
    "B3": {"soft": 0, "gauss": 0.405, "between": 0},
    "B4": {"soft": 0, "gauss": 0.1246629, "between": 0},
}


CASES = {"up and down": ([-2, -1, 1, 2], [3, -2, 2, 1], 2.0), "that rise": ([-2, 2], [1, 2], 1.5)}


@cache
def traps():
    return figure_traps.traps()


@cache
def two():
    return figure_two_tokens.two_tokens()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_constructions_end_where_the_text_says(name):
    drawn = traps().drawn(trap=name)
    for short, end in ENDS[name].items():
        assert drawn[f"{short}_end"] == pytest.approx(end, abs=5.1e-7 if end > 1 else 5.1e-8)


def test_b2_traps_softmax_and_the_control_but_not_the_gaussian_kernel():
    drawn = traps().drawn()
    assert traps().path().soft_loss[0] == pytest.approx(1.5019, abs=5e-5)
    assert [drawn[f"{short}_{kind}"] for short in KERNELS for kind in ("best", "other")] == [
        0,
        4,
        4,
        0,
        0,
        4,
    ]
    assert [drawn[f"{short}_lowest"] for short in KERNELS] == [0, 0, 0]
    away = traps().drawn(shift=-2.6)  # softmax can reach zero
    assert away["soft_best"] == 4 and away["soft_end"] < 1e-5


@pytest.mark.parametrize(
    ("short", "resolution", "losses"),
    [
        ("soft", 33, [0, 0.337297, 0.337297, 0.674594]),
        ("gauss", 65, [0] * 16),
        ("between", 33, [0, 0.168944, 0.168944, 0.337889]),
    ],
)
def test_the_minima_of_two_tokens_are_those_of_the_slice(short, resolution, losses):
    layer, data = example("B2", KERNELS[short], start=(0.0, 0.0))
    u, v = ((0 * layer).with_arrays(WQ=np.eye(4)[k].reshape(1, 4, 1)) for k in (0, 1))
    found = mha.landscape.slice(layer, data, u, v, radius=4.0, resolution=resolution)
    wanted = minima_of(found)
    assert all(minimum.strict for minimum in wanted)
    assert [minimum.loss for minimum in wanted] == pytest.approx(losses, abs=1e-6)
    best, other = pairs("B2", KERNELS[short])
    ours, theirs = (
        sorted(points, key=lambda point: np.round(point, 3).tolist())
        for points in (best + other, [minimum.at for minimum in wanted])
    )
    assert np.array(ours) == pytest.approx(np.array(theirs), abs=1e-7)
    assert len(best) == losses.count(0)
    map_of_it = landscape("B2", 0.5)[short]
    at = [
        found.at(axis("B2")[j], axis("B2")[i]).loss(data.X, data.y)
        for i, j in ((0, 0), (7, 50), (64, 1))
    ]
    assert [map_of_it[i, j] for i, j in ((0, 0), (7, 50), (64, 1))] == pytest.approx(at, rel=1e-12)


def test_two_tokens_descend_as_the_layer_does():
    path, drawn = two().path(trap="B1", q1=1.5, q2=-0.25), two().drawn(trap="B1", q1=1.5, q2=-0.25)
    layer, data = example("B1", mha.normalized_gaussian, start=(1.5, -0.25))
    alone = mha.train(layer, data, mha.GradientDescent(1.0), 300, only=("WQ",), record=60)
    assert (path.between_loss == alone.loss).all() and drawn["between_end"] == alone.loss[-1]
    queries = np.array([model.WQ.ravel() for model in alone.models])
    assert (path.between_queries == queries[:, :2]).all() and queries[-1, 2] == pytest.approx(
        queries[0, 2], abs=1e-12
    )


@pytest.mark.parametrize(
    ("values", "verdicts"),
    [
        ({}, ("a spurious minimum", "a global minimum", "a spurious minimum")),
        ({"q1": -1.5, "q2": -1.0}, ("a global minimum", "a global minimum", "a global minimum")),
        ({"q1": 0.0, "q2": 0.0}, ("no minimum yet", "a global minimum", "a spurious minimum")),
        (
            {"trap": "B3", "q1": -1.0, "q2": -1.0},
            ("a global minimum", "no minimum yet", "a global minimum"),
        ),
        (
            {"trap": "B4", "q1": -1.0, "q2": 1.0},
            ("a global minimum", "a spurious minimum", "a global minimum"),
        ),
    ],
)
def test_the_verdict_is_what_happened(values, verdicts):
    drawn = two().drawn(**values)
    assert tuple(drawn[f"{short}_verdict"] for short in KERNELS) == verdicts


def test_the_gaussian_kernel_has_spurious_minima_too():
    assert minima("B2", mha.attention.Gaussian(0.25))[1] == pytest.approx((-2.4733,), abs=5e-4)
    assert minima("B1", mha.attention.Gaussian(1.0))[1] == pytest.approx((0,), abs=1e-9)
    assert len(minima("B4", mha.gaussian)[1]) == 1 and not minima("B4", mha.softmax)[1]
    assert two().drawn(c=0.25)["gauss_spurious"] == 5


@pytest.mark.parametrize("made", [traps, two])
def test_points_that_can_be_dragged_are_the_starts(made):
    figure = made().figure()
    assert [figure.data[place["trace"]].name for place in made().spec["drag"]] == ["start"] * 3
    x = {place["x"] for place in made().spec["drag"]}
    assert x == ({"shift"} if made is traps else {"q1"})


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"cases": {}}, ValueError, "cases: expected one case or more"),
        (
            {"cases": {"one": ([1, 2], [1], 0.0)}},
            ValueError,
            "cases: one: expected as many values as keys",
        ),
        (
            {"cases": {"one": ([1.0], [np.nan], 0.0)}},
            ValueError,
            "cases: one: expected finite keys and values",
        ),
        ({"start": 3.5}, ValueError, "start: expected a number from −3 to 3"),
        ({"start": None}, ValueError, "start: expected a number from −3 to 3"),
        ({"rule": mha.Adam(0.1)}, TypeError, "rule: expected GradientDescent"),
        ({"steps": 0}, ValueError, "steps"),
    ],
)
def test_what_the_sliders_cannot_move_is_refused(change, kind, words):
    given = {"cases": CASES, "start": 0.3, "rule": mha.GradientDescent(0.1)} | change
    with pytest.raises(kind, match=words):
        figure.held(**given)


def test_any_tasks_and_any_start_fit_the_figure():
    made = figure.held({"alone": ([0.0], [1.0], 0.5)}, 0.25, mha.GradientDescent(1.0), steps=20)
    assert list(made.controls["case"].values) == ["alone"] and 0.25 in made.controls["q"].values
    assert [words["label"] for words in made.spec["tries"]] == [
        "Initial settings",
        "From left of zero",
    ]


def test_a_draggable_point_moves_a_slider_or_is_refused():
    frame = go.Figure(traps()._description.frame)
    frame.update_traces(
        meta={"y": "loss", "drag": {"x": "trap"}}, selector={"name": "softmax", "xaxis": "x4"}
    )
    with pytest.raises(ValueError, match="is dragged along trap; the sliders are c, lr, shift"):
        replace(traps()._description, frame=frame)


def test_pictures_are_as_wide_as_their_keys():
    assert [reach(name) for name in EXAMPLES] == [4.0, 4.0, 7.0, 4.0]


@pytest.mark.parametrize("make", [figure_traps.traps, figure_two_tokens.two_tokens])
@pytest.mark.parametrize("steps", [0, -1, 2.5, True])
def test_no_number_of_steps_is_refused(make, steps):
    assert_refused(lambda: make(steps=steps), ValueError, ["steps"])


@pytest.mark.parametrize(
    "values", [{"trap": "B5"}, {"shift": 0.1}, {"q1": 5.0}, {"c": 2.0}, {"lr": 10.0}]
)
def test_values_that_no_control_has_are_refused(values):
    made = two() if "q1" in values else traps()
    with pytest.raises(ValueError, match=next(iter(values))):
        made.path(**values)


def looks(figure):
    """The symbol of each kind of points."""
    kinds = {"loss zero": "global minimum", "spurious": "spurious minimum"}
    return {
        kinds.get(trace.name, trace.name): trace.marker.symbol
        for trace in figure.data
        if trace.type == "scatter" and trace.mode == "markers" and trace.name != "end"
    }


def test_what_stands_still_and_what_lives_have_one_code_of_marks():
    found = np.eye(len(runs.SIDE)), ([(0, 0)], [(1, 1)]), np.zeros((1001, 2, 2))
    square = dict.fromkeys(("softmax", "Gaussian"), found)
    still = runs.two_free_figure(square, "title", "alt")
    assert looks(still) == looks(two().figure()) == looks(traps().figure())
    maps = [
        trace.colorscale
        for figure in (still, two().figure())
        for trace in figure.data
        if trace.type == "heatmap"
    ]
    assert len(set(maps)) == 1
