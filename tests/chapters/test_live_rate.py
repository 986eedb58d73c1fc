"""The live figure of chapter 13: its formulas in JavaScript, its promise, and what it says in Python."""

import numpy as np
import pytest

import mhalib as mha
from engines import assert_bug_is_seen
from mhabook.c13_layer import figure as c13
from mhabook.c13_layer import statements as one_layer
from mhabook.c13_layer.figure import problem
from oracles import assert_refused

MADE = c13.layer(steps=8)
# Where what is broken shows.
ALL, WIDE = {"moves": "WQ WK WV", "D": 8, "N": 2, "n": 3, "tied": False}, {"D": 40, "N": 4, "n": 3, "H": 2}
QUERIES, VALUES, FEW = ALL | {"moves": "WQ"}, {"D": 24, "N": 4}, {"D": 4}
BUGS = {
    "singular values squared": (VALUES, "(A, r, k).map(norm)", "(A, r, k).map((x) => norm(x) ** 2)"),
    "singular values rising": (VALUES, "norm(y) - norm(x)", "norm(x) - norm(y)"),
    "one turn of the rows": (VALUES, "turned = orthogonal(rows[p], rows[q]) || turned", "orthogonal(rows[p], rows[q])"),
    "rows turned one after the other": (VALUES, "y[i] = s * old", "y[i] = s * x[i]"),
    "transposed wrongly": (FEW, "A[(at % r) * k + Math.floor(at / r)]", "A[at]"),
    "kernels exchanged": (ALL, "softmax: programOf(softmaxBytes, softmax)",
                          "softmax: programOf(gaussianBytes, gaussian)"),
    "what is held moves": (QUERIES, "vector.fill(0, begin, end)", "0"),
    "tied always": (ALL, "if (tied)", "if (true)"),
    "scale of the start": (VALUES | {"scale": 0.5}, "scale / Math.sqrt(D)", "1 / Math.sqrt(D)"),
    "outputs' scale": (VALUES, "theta[k] /= Math.sqrt(d)", "theta[k] /= d"),
    "half of B": (WIDE, "layer.mixed.slice()", "layer.mixed.map((x) => x / 2)"),
    "rate of all samples": (VALUES, "(smallest * least) ** 2 / N", "(smallest * least) ** 2"),
    "curvature by the smallest": (WIDE, "(largest * spectrum[0]) ** 2", "(smallest * spectrum[0]) ** 2"),
    "a promise without its square": (VALUES, "(1 - (lr / L) * alpha) ** 2", "1 - (lr / L) * alpha"),
    "full rank with too few columns": (FEW, "least = T > H * D ? 0 : spectrum[T - 1]",
                                       "least = spectrum[spectrum.length - 1]"),
    "a promise for all weights": (ALL | {"D": 16}, 'moves === "WV" && lr', "lr"),
    "a promise for any step": ({"lr": 1.5}, "lr <= 1 && ", ""),
    "each its own step": (ALL, 'if (values.moves !== "WV") for', "if (false) for"),
    "rounding drawn": ({"N": 1, "n": 1, "D": 4}, "part.loss / part.begin, 1e-9", "part.loss / part.begin, 1e-30"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_seen(bug):
    values, *texts = BUGS[bug]
    assert_bug_is_seen(texts, MADE, values)


def test_no_run_falls_short_of_its_guarantee():
    for values in ({}, {"tied": False}, {"scale": 0.3, "lr": 0.5}, {"H": 2, "D": 24}, {"N": 1, "n": 1, "D": 8}):
        path = MADE.path(**values)
        for name in ("softmax", "gaussian"):
            assert (path.curves[name] <= np.maximum(path.curves[f"{name}_promised"], 1e-9) * (1 + 1e-9)).all()


@pytest.mark.parametrize("values", [{"D": 16}, {"lr": 1.5}, {"moves": "WQ"}, {"moves": "WQ WK WV"}])
def test_there_is_no_guarantee_where_a_hypothesis_fails(values):
    path, drawn = MADE.path(**values), MADE.drawn(**values)
    for name in ("softmax", "gaussian"):
        assert np.isnan(path.curves[f"{name}_promised"]).all() and drawn[f"{name}_guarantee"] == "none"


def test_a_run_is_that_of_the_chapter():
    data, starts = problem(MADE.values)
    start = mha.AttentionLayer.random(D=48, d=8, m=1, tied=True, kernel=mha.gaussian)
    lr = 1 / one_layer.value_smoothness(start, data.X)
    path = mha.train(start, mha.data.random_sequences(N=8, n=4, D=48), mha.GradientDescent(lr), 8, only="WV")
    assert starts["gaussian"].norm() == start.norm()
    assert (MADE.path().gaussian == path.loss[::4] / path.loss[0]).all()


@pytest.mark.parametrize(("call", "words"), [
    (lambda: c13.layer(steps=0), ["steps: expected a whole number ≥ 1"]),
    (lambda: c13.layer(steps=6), ["steps: expected a multiple of 4", "got 6"]),
    (lambda: c13.layer(seed=-1), ["seed"]),
])
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)
