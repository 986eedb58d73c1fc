"""The live figures of chapter 13: their formulas in JavaScript, their promise, and what they say in
Python."""

import numpy as np
import pytest

import mhalib as mha
from checks import assert_refused
from engines import assert_follows, plain
from mhabook.c13_layer import figure as c13
from mhabook.c13_layer import figure_promise
from mhabook.c13_layer import statements as one_layer
from mhabook.c13_layer.figure import problem

MADE = c13.layer(steps=8)
DATA, START = mha.data.random_sequences(3, 2, 8), mha.AttentionLayer.random(8, 4, 1, tied=True)
LONGEST = 1 / one_layer.value_smoothness(START, DATA.X)
RULE = mha.GradientDescent(0.9 * LONGEST)
WALK = figure_promise.promised(DATA, START, RULE, steps=12)
# Where each part of the program counts.
ALL = {"moves": "WQ WK WV", "D": 8, "N": 2, "n": 3, "tied": False}
WIDE = {"D": 40, "N": 4, "n": 3, "H": 2}
QUERIES, VALUES, FEW = ALL | {"moves": "WQ"}, {"D": 24, "N": 4}, {"D": 4}
SETTINGS = [ALL, WIDE, QUERIES, VALUES, VALUES | {"scale": 0.5}, FEW, ALL | {"D": 16}, {"lr": 1.5}]
SETTINGS += [{"N": 1, "n": 1, "D": 4}]


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_the_figure_follows_mhalib(values):
    assert_follows(plain(MADE), MADE, values)


@pytest.mark.parametrize("values", [{}, {"D": 4}, {"scale": 2.0}], ids=str)
def test_the_figure_of_the_walk_follows_mhalib(values):
    assert_follows(plain(WALK), WALK, values)


def test_the_figure_of_the_walk_is_the_run_that_it_was_given():
    path = mha.train(START, DATA, RULE, 12, only="WV", record=WALK.path().steps)
    np.testing.assert_allclose(WALK.path().loss, path.loss, rtol=1e-12)


def test_no_run_of_the_walk_leaves_what_is_known_of_it():
    for D in WALK.controls["D"].values:
        for values in ({}, {"tied": False}, {"kernel": "gaussian", "scale": 0.3}, {"scale": 4.0}):
            path = WALK.path(D=D, **values)
            assert (path.left <= path.guaranteed * (1 + 1e-9)).all()
            assert (path.left >= path.least_loss * (1 - 1e-9)).all()
            assert (path.least_loss[0] > 1e-9) == (path.guaranteed[-1] == 1) == (D < 6)


def test_keys_of_its_own_stay_where_a_start_has_some():
    start = mha.AttentionLayer.random(8, 4, 1, seed=1)
    rule = mha.GradientDescent(1 / one_layer.value_smoothness(start, DATA.X))
    made = figure_promise.promised(DATA, start, rule, steps=2)
    assert not made.values["tied"] and (made.path()[0].WK == start.WK).all()
    assert (made.path(tied=True)[0].WK == start.WQ).all()


TWO_HEADS = mha.AttentionLayer.random(8, 4, 1, H=2)
TWO_TARGETS = mha.data.random_sequences(3, 2, 8, 2)
OTHER = mha.AttentionLayer.random(8, 4, 1, kernel=mha.attention.Gaussian(1.0))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((None, START, RULE), TypeError, ["data: expected a SequenceDataset with one target"]),
        (
            (TWO_TARGETS, START, RULE),
            TypeError,
            ["data: expected a SequenceDataset with one target"],
        ),
        ((DATA, TWO_HEADS, RULE), TypeError, ["start: expected an AttentionLayer of one head"]),
        (
            (DATA, OTHER, RULE),
            ValueError,
            ["start: expected mha.softmax or mha.gaussian as its kernel"],
        ),
        ((DATA, START, mha.Adam(0.1)), TypeError, ["rule: expected GradientDescent with a number"]),
        (
            (DATA, START, mha.GradientDescent(2 * LONGEST)),
            ValueError,
            ["rule: expected a step size of at most 1/L"],
        ),
        ((DATA, START, RULE, 2.5), ValueError, ["steps: expected a whole number"]),
    ],
)
def test_what_the_figure_of_the_walk_cannot_move_is_named(given, error, words):
    assert_refused(lambda: figure_promise.promised(*given), error, words)


def test_no_run_falls_short_of_its_guarantee():
    for values in (
        {},
        {"tied": False},
        {"scale": 0.3, "lr": 0.5},
        {"H": 2, "D": 24},
        {"N": 1, "n": 1, "D": 8},
    ):
        path = MADE.path(**values)
        for name in ("softmax", "gaussian"):
            assert (
                path.curves[name] <= np.maximum(path.curves[f"{name}_promised"], 1e-9) * (1 + 1e-9)
            ).all()


@pytest.mark.parametrize("values", [{"D": 16}, {"lr": 1.5}, {"moves": "WQ"}, {"moves": "WQ WK WV"}])
def test_there_is_no_guarantee_where_a_hypothesis_fails(values):
    path, drawn = MADE.path(**values), MADE.drawn(**values)
    for name in ("softmax", "gaussian"):
        assert (
            np.isnan(path.curves[f"{name}_promised"]).all() and drawn[f"{name}_guarantee"] == "none"
        )


def test_a_run_is_that_of_the_chapter():
    data, starts = problem(MADE.values)
    start = mha.AttentionLayer.random(D=48, d=8, m=1, tied=True, kernel=mha.gaussian)
    lr = 1 / one_layer.value_smoothness(start, data.X)
    path = mha.train(
        start, mha.data.random_sequences(N=8, n=4, D=48), mha.GradientDescent(lr), 8, only="WV"
    )
    assert starts["gaussian"].norm() == start.norm()
    assert (MADE.path().gaussian == path.loss[::4] / path.loss[0]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: c13.layer(steps=0), ["steps: expected a whole number ≥ 1"]),
        (lambda: c13.layer(steps=6), ["steps: expected a multiple of 4", "got 6"]),
        (lambda: c13.layer(seed=-1), ["seed"]),
    ],
)
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)
