"""The live figures of chapter 13: their formulas in JavaScript, their promise, and what they say in
Python."""

import numpy as np
import pytest

import mhalib as mha
from checks import assert_refused
from engines import assert_bug_is_seen
from mhabook.c13_layer import figure as c13
from mhabook.c13_layer import figure_promise
from mhabook.c13_layer import statements as one_layer
from mhabook.c13_layer.figure import problem

MADE = c13.layer(steps=8)
DATA, START = mha.data.random_sequences(3, 2, 8), mha.AttentionLayer.random(8, 4, 1, tied=True)
LONGEST = 1 / one_layer.value_smoothness(START, DATA.X)
RULE = mha.GradientDescent(0.9 * LONGEST)
WALK = figure_promise.promised(DATA, START, RULE, steps=12)
# Where what is broken shows.
ALL = {"moves": "WQ WK WV", "D": 8, "N": 2, "n": 3, "tied": False}
WIDE = {"D": 40, "N": 4, "n": 3, "H": 2}
QUERIES, VALUES, FEW = ALL | {"moves": "WQ"}, {"D": 24, "N": 4}, {"D": 4}
BUGS = {
    "singular values squared": (
        VALUES,
        "(A, r, k).map(norm)",
        "(A, r, k).map((x) => norm(x) ** 2)",
    ),
    "singular values rising": (VALUES, "norm(y) - norm(x)", "norm(x) - norm(y)"),
    "one turn of the rows": (
        VALUES,
        "turned = orthogonal(rows[p], rows[q]) || turned",
        "orthogonal(rows[p], rows[q])",
    ),
    "rows turned one after the other": (VALUES, "y[i] = s * old", "y[i] = s * x[i]"),
    "transposed wrongly": (FEW, "A[(at % r) * k + Math.floor(at / r)]", "A[at]"),
    "kernels exchanged": (
        ALL,
        "softmax: programOf(softmaxBytes, softmax)",
        "softmax: programOf(gaussianBytes, gaussian)",
    ),
    "what is held moves": (QUERIES, "vector.fill(0, begin, end)", "0"),
    "tied always": (ALL, "if (tied)", "if (true)"),
    "scale of the start": (VALUES | {"scale": 0.5}, "scale / Math.sqrt(D)", "1 / Math.sqrt(D)"),
    "outputs' scale": (VALUES, "theta[k] /= Math.sqrt(d)", "theta[k] /= d"),
    "half of B": (WIDE, "layer.mixed.slice()", "layer.mixed.map((x) => x / 2)"),
    "rate of all samples": (VALUES, "(smallest * least) ** 2 / N", "(smallest * least) ** 2"),
    "curvature by the smallest": (
        WIDE,
        "(largest * spectrum[0]) ** 2",
        "(smallest * spectrum[0]) ** 2",
    ),
    "a promise without its square": (VALUES, "(1 - (lr / L) * alpha) ** 2", "1 - (lr / L) * alpha"),
    "full rank with too few columns": (
        FEW,
        "least = T > H * D ? 0 : spectrum[T - 1]",
        "least = spectrum[spectrum.length - 1]",
    ),
    "a promise for all weights": (ALL | {"D": 16}, 'moves === "WV" && lr', "lr"),
    "a promise for any step": ({"lr": 1.5}, "lr <= 1 && ", ""),
    "each its own step": (ALL, 'if (values.moves !== "WV") for', "if (false) for"),
    "rounding drawn": (
        {"N": 1, "n": 1, "D": 4},
        "part.loss / part.begin, 1e-9",
        "part.loss / part.begin, 1e-30",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_seen(bug):
    values, *texts = BUGS[bug]
    assert_bug_is_seen(texts, MADE, values)


WALK_BUGS = {
    "the first tokens for the first coordinates": (
        {"D": 4},
        "tokens[Math.floor(k / D) * all + (k % D)]",
        "tokens[k]",
    ),
    "rows as they were": ({"D": 4}, "scale * Math.sqrt(all / D) * w", "scale * w"),
    "queries alone are scaled": (
        {"scale": 2.0},
        "start.WQ : start.WK, start, values, values.scale",
        "start.WQ : start.WK, start, values, 1",
    ),
    "a floor without the last column": (
        {"D": 4},
        "j < D; j++) { const column",
        "j < D - 1; j++) { const column",
    ),
    "a slope of one target": ({}, "slope += B[k * D + j] * R[k]", "slope = B[k * D + j] * R[k]"),
    "a mean over tokens": ({}, "(slope * w[a]) / N", "(slope * w[a]) / T"),
    "a guarantee without its square": (
        {},
        "(1 - (values.share * alpha) / L) ** 2",
        "1 - (values.share * alpha) / L",
    ),
    "steps of 1/L": ({}, "(values.share / L) * slope", "(1 / L) * slope"),
}


@pytest.mark.parametrize("bug", WALK_BUGS)
def test_a_planted_bug_in_the_figure_of_the_walk_is_seen(bug):
    values, *texts = WALK_BUGS[bug]
    assert_bug_is_seen(texts, WALK, values)


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
