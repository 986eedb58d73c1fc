"""The ends of a Hessian's spectrum by Lanczos' method against the dense matrix, and that one
against autograd."""

from functools import cache

import numpy as np
import pytest

import mhalib as mha
from checks import assert_close, assert_refused
from livegrad import landscape
from optional import torch
from points import layer, network, point_of


def heads():
    """Two heads, and sequences for them."""
    return (
        mha.MultiHeadAttention.random(2, 5, 6, 0.5),
        mha.data.tokenized_mixture(n=9, T=5, d=6, M=2, zeta=0.2),
    )


def in_torch():
    """The same, as tensors."""
    return tuple(part.map(torch.as_tensor) for part in heads())


def regression():
    """A regression from a random start."""
    return mha.AttentionRegression.random(3, 3, scale=0.5), mha.data.linear_regression(
        n=20, d=3, p=3
    )


@cache
def trained_from_zeros(dtype, library="numpy"):
    """Four heads, equal but for rounding, after 500 steps: eigenvalues come in threes, the lowest
    are near zero."""
    move = {
        "numpy": lambda a: a.astype(dtype),
        "torch": lambda a: torch.as_tensor(a.astype(dtype)),
    }[library]
    data = mha.data.tokenized_mixture(n=100, T=10, d=8).map(move)
    return mha.train(
        mha.MultiHeadAttention.zeros(4, 10, 8).map(move), data, mha.GradientDescent(1.0), 500
    )[-1], data


@cache
def eigenvalues(dtype):
    """Of the dense Hessian of that model, computed in double precision."""
    return np.linalg.eigvalsh(
        landscape.hessian(
            *(part.map(lambda a: a.astype(float)) for part in trained_from_zeros(dtype))
        )
    )


@pytest.fixture
def products(monkeypatch):
    """A list that grows with each Hessian-vector product of a multi-head model."""
    counted, made = [], mha.MultiHeadAttention.hessian_operator

    def counting(self, X, y):
        product = made(self, X, y)
        return lambda V: counted.append(1) or product(V)

    monkeypatch.setattr(mha.MultiHeadAttention, "hessian_operator", counting)
    return counted


@pytest.mark.parametrize("small", [0, 2000], ids=["Lanczos", "dense"])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    "pair, only",
    [
        (heads, None),
        (heads, "W"),
        (in_torch, None),
        (regression, None),
        (layer, ("WQ", "WV")),
        (layer, None),
    ],
)
def test_the_ends_of_the_spectrum_are_those_of_the_full_hessian(
    pair, only, count, small, monkeypatch
):
    monkeypatch.setattr(landscape, "SMALL", small)
    model, data = pair()
    H = landscape.hessian(model, data, only)
    found = landscape.spectrum(model, data, count, only)
    wanted = np.linalg.eigvalsh(H)
    assert_close(found.values, wanted[[*range(count), *range(len(H) - count, len(H))]], 1e-10)
    X, y = getattr(data, getattr(model, "field", "X")), data.y
    for value, way in zip(found.values, found.directions, strict=True):
        image = model.hvp(X, y, way)
        image = image if only is None else image.only(only)
        assert way.norm() == pytest.approx(1)
        assert (image - float(value) * way).norm() < 1e-7 * abs(wanted).max()
        assert (way - way.only(only or list(way.arrays()))).norm() == 0


@pytest.mark.parametrize("count, most", [(1, 150), (3, 600)])
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("dtype, error", [("float32", 1e-6), ("float64", 1e-12)])
def test_each_precision_asks_for_what_its_products_can_give(
    library, dtype, error, count, most, products
):
    """With ARPACK's own tolerance single precision took 92,183 products, and did not converge."""
    model, data = trained_from_zeros(dtype, library)
    wanted = eigenvalues(dtype)
    for seed in range(3):
        products.clear()
        found = landscape.spectrum(model, data, count, seed=seed)
        assert len(products) < most
        assert (
            abs(found.values - wanted[[*range(count), *range(-count, 0)]]).max()
            < error * abs(wanted).max()
        )


def test_a_small_model_costs_a_product_for_each_parameter(products):
    model, data = heads()
    landscape.spectrum(model, data, only="W")
    assert len(products) == model.W.size


def test_a_larger_tolerance_costs_fewer_products(products):
    model, data = trained_from_zeros("float64")
    taken = []
    for tol in (1e-14, 1e-2):
        products.clear()
        landscape.spectrum(model, data, 3, tol=tol)
        taken.append(len(products))
    assert taken[1] < taken[0] / 2


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("pair", [heads, regression, lambda: trained_from_zeros("float64")])
def test_one_end_is_that_end_of_both(pair, count):
    model, data = pair()
    wanted = np.linalg.eigvalsh(landscape.hessian(model, data))
    for ends, part in (("low", wanted[:count]), ("high", wanted[-count:])):
        found = landscape.spectrum(model, data, count, ends=ends)
        assert_close(found.values, part, 1e-10, abs(wanted).max())
        for value, way in zip(found.values, found.directions, strict=True):
            off = model.hvp(data.X if hasattr(data, "X") else data.x, data.y, way) - value * way
            assert off.norm() < 1e-7 * abs(wanted).max()


def test_one_end_costs_less_the_larger_the_tolerance(products):
    model, data = trained_from_zeros("float64")
    taken = []
    for tol in (None, 1e-6, 1e-3, 1e-1):
        products.clear()
        found = landscape.spectrum(model, data, ends="high", tol=tol)
        taken.append(len(products))
        off = found.values[0] - eigenvalues("float64")[-1]
        assert abs(off) <= (tol or 1e-12) * abs(eigenvalues("float64")).max()
    assert taken == sorted(set(taken), reverse=True)


def test_a_search_that_starts_near_costs_less(products):
    model, data = trained_from_zeros("float64")
    moved = model + 1e-3 * landscape.random_direction(model, seed=3)
    near = landscape.spectrum(model, data, ends="low").directions[0]
    taken, found = [], []
    for start in (None, near):
        products.clear()
        found += [landscape.spectrum(moved, data, ends="low", tol=1e-4, start=start).values[0]]
        taken.append(len(products))
    assert taken[1] < taken[0] and found[1] == pytest.approx(found[0], rel=1e-4)


def test_where_a_search_starts_is_a_direction_of_the_model():
    model, data = heads()
    asked = landscape.spectrum
    assert_refused(
        lambda: asked(model, data, ends="high", start=model.U), TypeError, ["start: expected"]
    )
    assert_refused(
        lambda: asked(model, data, ends="high", start=0 * model), ValueError, ["start: expected"]
    )
    assert_refused(
        lambda: asked(model, data, ends="top"), ValueError, ['ends: expected "both", "low"', "top"]
    )
    assert_refused(
        lambda: asked(*regression(), 18, ends="high"), ValueError, ["count: expected count < 18"]
    )


def test_what_does_not_converge_is_said_with_what_was_asked(products):
    model, data = trained_from_zeros("float32")
    words = (
        r"^spectrum: \d of 2 eigenvalues have converged to tol = 1.0e-18 of the largest after maxiter = 5 "
        r"restarts \(\d+ Hessian-vector products\); take a larger tol"
    )
    with pytest.raises(RuntimeError, match=words):
        landscape.spectrum(model, data, tol=1e-18, maxiter=5)
    assert len(products) < 200


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"tol": 0.0}, "tol: expected a positive number or None, got 0.0"),
        ({"tol": "1"}, "tol: expected a positive number or None, got '1'"),
        ({"maxiter": 0}, "maxiter: expected a whole number"),
    ],
)
def test_tolerances_and_restarts_are_positive(wrong, words):
    assert_refused(lambda: landscape.spectrum(*heads(), **wrong), ValueError, [words])


def test_a_hessian_that_is_not_finite_is_refused():
    model, data = heads()
    with np.errstate(all="ignore"):
        assert_refused(
            lambda: landscape.spectrum(model.with_arrays(U=1e308 * model.U), data),
            ValueError,
            ["model: expected a finite Hessian"],
        )


def test_a_flat_surface_has_eigenvalues_zero():
    model, data = heads()
    won = mha.train(model, data, mha.GradientDescent(1.0), 200)[-1]
    flat = won.with_arrays(U=1e5 * won.U)
    assert flat.loss(data.X, data.y) == 0
    found = landscape.spectrum(flat, data, count=2)
    assert not found.values.any()
    assert [way.norm() for way in found.directions] == pytest.approx([1.0] * 4)


def test_parts_of_a_network_have_a_spectrum():
    model, data = network()
    point = point_of(model)
    names = model.parts()["WQ"]
    assert_close(
        landscape.spectrum(point, data, only="WQ").values,
        np.linalg.eigvalsh(landscape.hessian(point, data, names))[[0, -1]],
        1e-10,
    )
    assert_close(landscape.hessian(point, data, "WQ"), landscape.hessian(point, data, names), 0)


def test_the_full_hessian_is_autograds():
    model, data = network(mha.gaussian)
    point = point_of(model)
    names = ("layers.0.attention.Q.weight", "read.weight")

    def loss(first, second):
        moved = point.with_arrays(**dict(zip(names, (first, second), strict=True)))
        return moved._loss(moved.parameters, data.tokens, data.y)

    blocks = torch.autograd.functional.hessian(loss, tuple(point.arrays()[name] for name in names))
    rows = [
        np.concatenate([b.reshape(len(a.ravel()), -1).numpy() for b in row], axis=1)
        for row, a in zip(blocks, (point.arrays()[name] for name in names), strict=True)
    ]
    assert_close(landscape.hessian(point, data, names), np.concatenate(rows), 1e-10)
    layered, sequences = layer()
    some = landscape.hessian(layered, sequences, "WV")
    count, first = layered.WV.size, layered.WQ.size + layered.WK.size
    assert_close(
        some,
        landscape.hessian(layered, sequences)[first : first + count, first : first + count],
        1e-12,
    )


def test_more_eigenvalues_than_there_are_are_refused():
    assert_refused(
        lambda: landscape.spectrum(*regression(), 9),
        ValueError,
        ["count: expected 2 count < 18", "9"],
    )


def test_the_operator_refuses_what_is_no_direction():
    model, data = heads()
    operator = model.hessian_operator(data.X, data.y)
    assert_refused(
        lambda: operator(mha.MultiHeadAttention.zeros(3, 5, 6)),
        ValueError,
        ["V: expected", "U (2, 5, 6)"],
    )
    assert_refused(
        lambda: operator(model.map(lambda a: a.astype("float32"))),
        TypeError,
        ["expected one dtype"],
    )
