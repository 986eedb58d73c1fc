"""The ends of a Hessian's spectrum by Lanczos' method against the dense matrix, and that one against autograd."""

import numpy as np
import pytest
import torch

import mhalib as mha
from mhalib import landscape
from mhalib.models import NetworkPoint
from oracles import assert_close, assert_refused
from points import layer, network


def heads():
    """Two heads, and sequences for them."""
    return (mha.MultiHeadAttention.random(2, 5, 6, 0.5),
            mha.data.tokenized_mixture(n=9, T=5, d=6, M=2, zeta=0.2))


def in_torch():
    """The same, as tensors."""
    return tuple(part.map(torch.as_tensor) for part in heads())


def regression():
    """A regression from a random start."""
    return mha.AttentionRegression.random(3, 3, scale=0.5), mha.data.linear_regression(n=20, d=3, p=3)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("pair, only", [(heads, None), (heads, "W"), (in_torch, None), (regression, None),
                                        (layer, ("WQ", "WV")), (layer, None)])
def test_the_ends_of_the_spectrum_are_those_of_the_full_hessian(pair, only, count):
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


def test_a_flat_surface_has_eigenvalues_zero():
    model, data = heads()
    won = mha.train(model, data, mha.GradientDescent(1.0), 200)[-1]
    flat = won.with_arrays(U=1e5 * won.U)
    assert flat.loss(data.X, data.y) == 0
    found = landscape.spectrum(flat, data, count=2)
    assert not found.values.any()
    assert [way.norm() for way in found.directions] == [1.0] * 4


def test_parts_of_a_network_have_a_spectrum():
    model, data = network()
    point = NetworkPoint.of(model)
    names = model.parts()["WQ"]
    assert_close(landscape.spectrum(point, data, only="WQ").values,
                 np.linalg.eigvalsh(landscape.hessian(point, data, names))[[0, -1]], 1e-10)
    assert_close(landscape.hessian(point, data, "WQ"), landscape.hessian(point, data, names), 0)


def test_the_full_hessian_is_autograds():
    model, data = network(mha.gaussian)
    point = NetworkPoint.of(model)
    names = ("layers.0.attention.Q.weight", "read.weight")

    def loss(first, second):
        moved = point.with_arrays(**dict(zip(names, (first, second), strict=True)))
        return moved._loss(moved.parameters, data.tokens, data.y)

    blocks = torch.autograd.functional.hessian(loss, tuple(point.arrays()[name] for name in names))
    rows = [np.concatenate([b.reshape(len(a.ravel()), -1).numpy() for b in row], axis=1)
            for row, a in zip(blocks, (point.arrays()[name] for name in names), strict=True)]
    assert_close(landscape.hessian(point, data, names), np.concatenate(rows), 1e-10)
    layered, sequences = layer()
    some = landscape.hessian(layered, sequences, "WV")
    count, first = layered.WV.size, layered.WQ.size + layered.WK.size
    assert_close(some, landscape.hessian(layered, sequences)[first:first + count, first:first + count], 1e-12)


def test_more_eigenvalues_than_there_are_are_refused():
    assert_refused(lambda: landscape.spectrum(*regression(), 9), ValueError, ["count: expected 2 count < 18", "9"])


def test_the_operator_refuses_what_is_no_direction():
    model, data = heads()
    operator = model.hessian_operator(data.X, data.y)
    assert_refused(lambda: operator(mha.MultiHeadAttention.zeros(3, 5, 6)), ValueError, ["V: expected", "U (2, 5, 6)"])
    assert_refused(lambda: operator(model.map(lambda a: a.astype("float32"))), TypeError, ["expected one dtype"])
