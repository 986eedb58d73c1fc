"""Chapter 12: the statements on many instances, the Jacobians against differences, and the
chapter's examples."""

import json
from functools import cache

import numpy as np
import pytest
import torch

import mhabook
from mhabook.c12_two_kernels import figure as c12
from mhabook.c12_two_kernels import figure_forces, hull
from mhabook.c12_two_kernels import statements as two_kernels
from mhabook.c12_two_kernels.figure_forces import read_by_all
from mhalib.attention import Gaussian, NormalizedGaussian, gaussian, normalized_gaussian, softmax
from mhalib.data.sequences import random_sequences
from mhalib.models.layer import AttentionLayer


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 20.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("dtype", ["float64", "float32", "torch"])
def test_both_kernels_are_related_at_every_scale(scale, dtype):
    """And c = 1 is seen, unless it is within the rounding of 1."""
    for seed in range(10):
        rng = np.random.default_rng([seed, 12])
        Q, K = (scale * rng.standard_normal((n, 3)) for n in (4, 5))
        Q, K = (torch.as_tensor(a) if dtype == "torch" else a.astype(dtype) for a in (Q, K))
        assert two_kernels.same_rank(Q, K) and two_kernels.normalized_gaussian(Q, K)
        assert (not two_kernels.same_rank(Q, K, c=1.0)) == (
            scale > 1e-8 and (scale, dtype) != (1e-3, "float32")
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_is_that_of_the_numbers(dtype):
    assert two_kernels.room(np.ones(1, dtype)) == 2**12 * np.finfo(dtype).eps
    layer, data = (
        one.map(lambda a: a.astype(dtype))
        for one in (AttentionLayer.random(3, 2, 2, seed=1), random_sequences(2, 4, 3, 2, seed=1))
    )
    assert two_kernels.query_force(layer, data)
    assert two_kernels.width(
        AttentionLayer(layer.WQ, layer.WK, layer.WV, layer.WO, Gaussian(0.8)), data, 0.1
    )
    shifted = mhabook.ledger["prop-shift"].random(0)
    assert two_kernels.shift(
        **{k: a.astype(dtype) if hasattr(a, "dtype") else a for k, a in shifted.items()}
    )


def larger(id, seed, by):
    """A random instance of a row, with W^Q larger."""
    instance = mhabook.ledger[id].random(seed)
    layer = instance["layer"]
    longer = AttentionLayer(by * layer.WQ, layer.WK, layer.WV, layer.WO, layer.kernel)
    return instance | {"layer": longer}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("id", "seed", "by"),
    [
        ("prop-width", 37, 10),  # weights of 1e-231 at most, whose squares underflow
        ("prop-query-force", 28, 3),  # softmax on one key each: of the gradient 6e-14 is left
        ("prop-query-force", 45, 10),  # one query has no weight, others have some
    ],
)
def test_rounding_is_that_of_the_terms_however_large_the_queries(id, seed, by):
    assert mhabook.ledger[id].on(larger(id, seed, by))


def test_queries_without_a_weight_are_refused():
    for id, seed in (("prop-width", 25), ("prop-query-force", 1)):
        with pytest.raises(ValueError, match="layer: expected a query near a key, but all weights"):
            mhabook.ledger[id].on(larger(id, seed, 1e4))


@pytest.mark.parametrize("seed", [0, 1])
def test_after_a_long_shift_the_statement_holds_and_the_other_shift_is_seen(seed):
    row = mhabook.ledger["prop-shift"]
    right, wrong = (one | {"by": 1500 * one["by"]} for one in (row.random(seed), row.broken(seed)))
    assert row.on(right) and not row.on(wrong)


@pytest.mark.parametrize(
    ("Q", "K", "message"),
    [
        (np.ones((2, 3)), np.ones((4, 1)), r"K: expected shape \(m, 3\)"),
        (np.ones(3), np.ones((4, 3)), r"Q: expected shape \(n, d\)"),
        (np.ones((2, 3), "float32"), np.ones((4, 3)), "expected one dtype"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(Q, K, message):
    for function in (two_kernels.same_rank, two_kernels.normalized_gaussian):
        with pytest.raises((ValueError, TypeError), match=message):
            function(Q, K)


def test_a_mean_may_leave_keys_out():
    """With λ = (1, 0) the entropy is zero: the key is one of the others."""
    check = two_kernels.inside_hull(
        np.array([3.0]), np.array([[1.0], [-5.0]]), np.array([1.0, 0.0])
    )
    assert check.rhs == 0.5 and 0.499 < check.lhs < 0.5


@pytest.mark.parametrize("kernel", [softmax, gaussian, Gaussian(1.3), NormalizedGaussian(0.7)])
def test_jacobians_are_differences(kernel):
    """With X = I the rows of W^Q are the queries: moving one moves one output, and no other."""
    n, d, m, h = 4, 3, 2, 1e-6
    layer, X = AttentionLayer.random(n, d, m, kernel=kernel, seed=3), np.eye(n)[None]
    J = two_kernels.token_jacobians(layer, X)[0]
    for k in range(n):
        for i in range(d):
            step = np.zeros((1, n, d))
            step[0, k, i] = h
            out = [
                AttentionLayer(layer.WQ + sign * step, layer.WK, layer.WV, layer.WO, kernel)(X)[0]
                for sign in (1, -1)
            ]
            moved = (out[0] - out[1]) / (2 * h)
            assert moved[k] == pytest.approx(J[k, :, i], abs=1e-8)
            assert np.delete(moved, k, axis=0) == pytest.approx(0, abs=1e-12)


def test_jacobians_are_of_one_head():
    layer = AttentionLayer.random(3, 2, 1, H=2)
    with pytest.raises(ValueError, match="layer: expected one head, got 2"):
        two_kernels.token_jacobians(layer, random_sequences(1, 2, 3, 1).X)


def test_the_lost_degree_of_freedom_is_along_the_values():
    """Softmax: no move of a query moves its output off the plane of the values."""
    layer = AttentionLayer.random(6, 4, 3, seed=2)
    X = random_sequences(1, 3, 6, 3, seed=2).X
    U = X[0] @ layer.WV[0] @ layer.WO[0]
    normal = np.cross(U[1] - U[0], U[2] - U[0])
    assert abs(normal @ two_kernels.token_jacobians(layer, X)[0]).max() < 1e-12 * abs(normal).max()
    free = AttentionLayer(layer.WQ, layer.WK, layer.WV, layer.WO, gaussian)
    assert abs(normal @ two_kernels.token_jacobians(free, X)[0]).max() > 1e-3 * abs(normal).max()


@pytest.mark.parametrize("n", [2, 4, 6, 8])
def test_weights_have_full_rank_on_a_line(n):
    """Scores of rank one, weights of rank n, for both kernels."""
    tokens = np.linspace(-1, 1, n)[:, None]
    assert np.linalg.matrix_rank(softmax.scores(tokens, tokens)) == 1
    for kernel in (softmax, gaussian):
        assert np.linalg.matrix_rank(kernel(kernel.scores(tokens, tokens))) == n


# --- keys among others
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.0, 0.3, 1.5])
def test_no_query_gives_more_than_the_bound_and_between_two_keys_one_gives_as_much(c):
    """Softmax where c is 0; what a Gaussian kernel with its rows divided gives is maximized over a
    grid."""
    kernel = NormalizedGaussian(c) if c else softmax
    for seed in range(20):
        rng = np.random.default_rng([seed, 12])
        others, shares = rng.standard_normal((4, 3)), rng.dirichlet(np.ones(4))
        keys = np.vstack([others, shares @ others])
        given = kernel(kernel.scores(3 * rng.standard_normal((500, 3)), keys))[:, -1]
        assert given.max() <= hull.most_weight(shares, others, c) + 1e-12
    for place in (-1.9, -0.5, 0.25, 0.8):
        line = np.array([[-2.0], [place], [1.0]])
        given = kernel(kernel.scores(np.linspace(-30, 30, 60_001)[:, None], line))[:, 1]
        assert given.max() == pytest.approx(hull.most_between(place, (-2.0, 1.0), c), abs=1e-6)


@pytest.mark.parametrize("place", [-2.0, 1.0])
def test_two_keys_at_one_place_share_and_one_beyond_the_others_gets_all(place):
    assert hull.most_between(place, (-2.0, 1.0), 0.7) == pytest.approx(0.5)
    assert hull.most_between(place + np.sign(place), (-2.0, 1.0), 0.7) == 1


def test_keys_inside_are_those_between_the_ends_and_no_corners():
    rng = np.random.default_rng(0)
    line = rng.standard_normal((9, 1))
    assert (hull.inside(line) == ((line > line.min()) & (line < line.max()))[:, 0]).all()
    turns = np.arange(7)[:, None] * 2 * np.pi / 7
    circle = np.hstack([np.cos(turns), np.sin(turns)])
    assert not hull.inside(circle).any()
    assert hull.inside(np.vstack([circle, 0.3 * circle])).tolist() == [False] * 7 + [True] * 7


# --- the live figures
# --------------------------------------------------------------------------------------------

SETTINGS = [
    {},
    {"q": -5.0, "k1": -4.0, "k3": 5.0, "c": 2.0, "values": "middle"},
    {"q": 0.5, "k1": 1.0, "k2": 3.5, "c": 0.125, "values": "equal", "y": -1.0},
]


DEFAULTS = {"q": 3.0, "k1": -2.0, "k2": 0.0, "k3": 1.0, "c": 0.5, "values": "mixed", "y": 1.5}


@cache
def figure():
    return figure_forces.kernels()


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_forces_are_slopes_of_the_loss(values):
    """Differences of ½ (output − target)² along the line."""
    values, Q, h = DEFAULTS | values, np.linspace(-4, 4, 17), 1e-5
    right, left = (read_by_all(values, Q + sign * h) for sign in (1, -1))
    for name, found in read_by_all(values, Q).items():
        assert (found["losses"] == (found["outputs"] - values["y"]) ** 2 / 2).all()
        slopes = (right[name]["losses"] - left[name]["losses"]) / (2 * h)
        assert figure_forces.PARTS["force"](found) == pytest.approx(-slopes, abs=1e-7)


@cache
def selecting():
    return c12.selecting(
        np.linspace(-4, 4, 33)[:, None], np.array([[-2.0], [0.0], [1.0]]), gaussian
    )


LINE, KEYS = np.zeros((2, 1)), np.array([[-2.0], [0.0], [1.0]])


@pytest.mark.parametrize(
    ("queries", "keys", "kernel", "message"),
    [
        (np.zeros(3), KEYS, gaussian, r"queries: expected finite numbers of shape \(n, 1\)"),
        (LINE, KEYS * np.nan, gaussian, "keys: expected finite numbers"),
        (LINE, KEYS[:2], gaussian, "keys: expected three"),
        (LINE, KEYS[::-1], gaussian, "keys: expected the first below the last"),
        (
            LINE,
            KEYS * [[1], [1], [4]],
            gaussian,
            "keys: expected the first below the last.* got -2 and 4",
        ),
        (LINE, KEYS + 0.1, gaussian, "keys: expected the second to be one of"),
        (LINE, KEYS, softmax, "kernel: expected mha.gaussian or another"),
        (LINE, KEYS, normalized_gaussian, "kernel: expected mha.gaussian or another"),
    ],
)
def test_what_the_figure_cannot_show_is_refused(queries, keys, kernel, message):
    with pytest.raises((ValueError, TypeError), match=message):
        c12.selecting(queries, keys, kernel)


def test_what_a_page_carries_is_small():
    assert max(len(json.dumps(one.spec)) for one in (figure(), selecting())) < 100_000
