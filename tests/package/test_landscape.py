"""Slices against known functions and finite differences: directions and derivatives."""

import numpy as np
import pytest
from hypothesis import given

import mhalib as mha
from checks import assert_close, assert_refused
from livegrad import landscape
from livegrad.landscape import random_direction
from mhabook.c15_landscapes.smoothness import differences, spectrum
from optional import torch
from points import layer, network, on_plane, point_of
from strategies import seeds

# --- directions
# -----------------------------------------------------------------------------------------------


@given(seeds)
def test_filter_normalization_gives_every_column_the_models_norm(seed):
    model, _ = layer()
    raw, filtered = (random_direction(model, seed, normalize=kind) for kind in (None, "filter"))
    for name, W in model.arrays().items():
        for h in range(W.shape[0]):
            for j in range(W.shape[2]):
                column = filtered.arrays()[name][h, :, j]
                drawn = raw.arrays()[name][h, :, j]
                mine = W[h, :, j]
                assert_close(column, drawn * np.linalg.norm(mine) / np.linalg.norm(drawn), 1e-13)


def test_filter_normalization_of_a_network_goes_row_by_row_and_takes_a_vector_as_one():
    point = point_of(network()[0])
    raw, filtered = (random_direction(point, 4, normalize=kind) for kind in (None, "filter"))
    for name, weights in point.arrays().items():
        rows = [
            np.atleast_2d(a.numpy()) for a in (filtered.arrays()[name], raw.arrays()[name], weights)
        ]
        for row, drawn, mine in zip(*rows, strict=True):
            assert_close(row, drawn * np.linalg.norm(mine) / np.linalg.norm(drawn), 1e-13)


def test_a_column_of_zeros_stays_where_it_is():
    model, _ = layer()
    model.WV[0, :, 1] = 0
    direction = random_direction(model)
    assert (direction.WV[0, :, 1] == 0).all()
    assert np.isfinite(direction.WV).all()


def test_directions_are_standard_normal_and_seeded():
    model, _ = layer(D=40, d=30)
    drawn = random_direction(model, 3, normalize=None)
    entries = np.concatenate([a.ravel() for a in drawn.arrays().values()])
    assert abs(entries.mean()) < 5 / len(entries) ** 0.5  # five standard errors
    assert abs((entries**2).mean() - 1) < 5 * (2 / len(entries)) ** 0.5
    again, other = (random_direction(model, seed, normalize=None) for seed in (3, 4))
    assert np.array_equal(drawn.WQ, again.WQ)
    assert not np.array_equal(drawn.WQ, other.WQ)
    assert not np.array_equal(drawn.WQ, drawn.WK)


def test_whole_gives_the_norm_of_what_moves():
    model, _ = layer()
    assert random_direction(model, normalize="whole").norm() == pytest.approx(
        model.norm(), rel=1e-13
    )
    some = random_direction(model, only=("WQ", "WK"), normalize="whole")
    assert some.norm() == pytest.approx(model.only(("WQ", "WK")).norm(), rel=1e-13)
    assert (some.WV == 0).all()
    assert (some.WO == 0).all()


@pytest.mark.parametrize("normalize", ["filter", "whole", None])
def test_what_may_not_move_does_not(normalize):
    model, _ = layer()
    some, everything = (random_direction(model, 5, only, normalize) for only in ("WV", None))
    assert (some.WQ == 0).all()
    assert (some.WV != 0).all()
    if normalize != "whole":
        assert_close(some.WV, everything.WV, 0)


# --- slices
# ---------------------------------------------------------------------------------------------------


def test_a_slice_is_the_function():
    def function(x, y):
        return x**3 + 2 * x * y + 5 * y

    found = on_plane(function, 1.5, 7)
    assert_close(found.loss, function(*np.meshgrid(found.a, found.b)), 1e-14)
    assert found.a.tolist() == [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5]
    assert on_plane(function, 1.5, 1).loss == on_plane(function, 1.5, 3).loss[1, 1]


@pytest.mark.parametrize("kernel", [mha.softmax, mha.gaussian], ids=["softmax", "gaussian"])
def test_derivatives_are_those_of_the_losses(kernel):
    model, data = layer(kernel)
    u, v = (random_direction(model, seed) for seed in (1, 2))
    found, h = landscape.slice(model, data, u, v, 0.5, 3), 1e-4
    for a, b in ((0.0, 0.0), (0.3, -0.2)):
        near = landscape.slice(found.at(a, b), data, u, v, h, 3)
        gradient, hessian = (part[0, 0] for part in differences(near.loss, near.a, near.b))
        loss, by_formula, curved = found.derivatives(a, b)
        assert loss == pytest.approx(near.loss[1, 1], rel=1e-13)
        assert_close(by_formula, gradient, 1e-6)
        assert_close(curved, hessian, 1e-5)


def test_the_spectrum_of_a_quadratic_is_one_everywhere():
    H = np.array([[2.0, 0.5], [0.5, -1.0]])
    found = on_plane(
        lambda x, y: (H[0, 0] * x * x + 2 * H[0, 1] * x * y + H[1, 1] * y * y) / 2, resolution=4
    )
    assert_close(spectrum(found), np.broadcast_to(np.linalg.eigvalsh(H), (4, 4, 2)), 1e-12)


def test_orthonormal_directions_see_the_restricted_hessian():
    model, data = layer()
    u, v = (random_direction(model, seed, normalize=None) for seed in (1, 2))
    u = u * (1 / u.norm())
    v = v - u.dot(v) * u
    v = v * (1 / v.norm())
    P = np.stack([np.concatenate([a.ravel() for a in w.arrays().values()]) for w in (u, v)])
    H = landscape.hessian(model, data)
    found = landscape.slice(model, data, u, v, 1.0, 1)
    assert_close(spectrum(found)[0, 0], np.linalg.eigvalsh(P @ H @ P.T), 1e-12)


def test_a_vector_becomes_a_direction():
    for model in (layer()[0], point_of(network()[0])):
        flat = np.concatenate(
            [np.asarray(a).ravel() for a in random_direction(model, 1).arrays().values()]
        )
        back = np.concatenate(
            [np.asarray(a).ravel() for a in landscape.direction(model, flat).arrays().values()]
        )
        assert_close(back, flat, 0)
    model, data = layer()
    values, vectors = np.linalg.eigh(landscape.hessian(model, data))
    lowest, highest = (landscape.direction(model, vectors[:, k]) for k in (0, -1))
    found = spectrum(landscape.slice(model, data, lowest, highest, 1.0, 1))[0, 0]
    assert_close(found, values[[0, -1]], 1e-10)


def test_coordinates_find_a_point_of_the_plane_and_the_nearest_to_others():
    model, data = layer()
    u, v = (random_direction(model, seed) for seed in (1, 2))
    found = landscape.slice(model, data, u, v, 1.0, 1)
    assert_close(found.coordinates(found.at(0.3, -0.7)), np.array([0.3, -0.7]), 1e-12)
    beside = random_direction(model, 9)
    foot = found.at(*found.coordinates(model + beside))
    assert abs((model + beside - foot).dot(u)) < 1e-10
    assert abs((model + beside - foot).dot(v)) < 1e-10


def test_a_straight_line_goes_from_one_model_to_the_other():
    model, data = layer()
    other = random_direction(model, 8)
    share, loss = landscape.interpolation(model, other, data, 5)
    assert share.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    wanted = [(model * (1 - s) + other * s).loss(data.X, data.y) for s in share.tolist()]
    assert_close(loss, np.array(wanted), 1e-13)


@pytest.mark.parametrize("kernel", [mha.gaussian, mha.normalized_gaussian], ids=repr)
def test_directions_of_one_kernel_cut_the_landscape_of_another(kernel):
    (model, data), (other, _) = layer(), layer(kernel)
    u, v = (random_direction(model, seed) for seed in (1, 2))
    found = landscape.slice(other, data, u, v, 0.5, 3)
    own = landscape.slice(other, data, *(random_direction(other, seed) for seed in (1, 2)), 0.5, 3)
    assert_close(found.loss, own.loss, 0)
    assert_close(spectrum(found), spectrum(own), 0)


@pytest.mark.parametrize(
    "library", [lambda a: a, lambda a: torch.tensor(a)], ids=["numpy", "torch"]
)
@pytest.mark.parametrize("dtype, apart", [("float32", 0.1), ("float64", 1e-5)])
def test_parallel_directions_are_refused_in_every_precision(dtype, apart, library):
    model, data = layer()
    model, data = (part.map(lambda a: library(a.astype(dtype))) for part in (model, data))
    u, other = (random_direction(model, seed, normalize="whole") for seed in (1, 2))
    for v in (1.5 * u, -0.3 * u, 1 / 3 * u, 1e3 * u):
        with pytest.raises(ValueError, match="u, v: .*parallel"):
            landscape.slice(model, data, u, v, 1.0, 1)
    assert landscape.slice(model, data, u, u + apart * other, 1.0, 1).loss.shape == (1, 1)


MODEL, DATA = layer()
U, V = random_direction(MODEL, 1), random_direction(MODEL, 2)
BAD = {
    "an unknown normalization": (
        lambda: random_direction(MODEL, normalize="layer"),
        ValueError,
        ["normalize:", '"filter"', "'layer'"],
    ),
    "no weight of this name": (
        lambda: random_direction(MODEL, only="WX"),
        ValueError,
        ["only:", "WX"],
    ),
    "no seed": (lambda: random_direction(MODEL, -1), ValueError, ["seed:"]),
    "one direction twice": (
        lambda: landscape.slice(MODEL, DATA, U, 2 * U),
        ValueError,
        ["u, v:", "parallel"],
    ),
    "no direction": (lambda: landscape.slice(MODEL, DATA, U, 0 * U), ValueError, ["u, v:", "zero"]),
    "a direction of another model": (
        lambda: landscape.slice(MODEL, DATA, U, 3),
        TypeError,
        ["v:", "AttentionLayer"],
    ),
    "no radius": (lambda: landscape.slice(MODEL, DATA, U, V, 0.0), ValueError, ["radius:"]),
    "no grid": (lambda: landscape.slice(MODEL, DATA, U, V, 1.0, 0), ValueError, ["resolution:"]),
    "too many parameters": (
        lambda: landscape.hessian(mha.AttentionLayer.random(40, 20, 2), DATA),
        ValueError,
        ["model: expected at most 2,000", "2440"],
    ),
    "a vector of another length": (
        lambda: landscape.direction(MODEL, np.ones(3)),
        ValueError,
        ["vector: expected 84 numbers", "(3,)"],
    ),
    "a Hessian in no weight": (
        lambda: landscape.hessian(MODEL, DATA, "WX"),
        ValueError,
        ["only:", "WX"],
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
