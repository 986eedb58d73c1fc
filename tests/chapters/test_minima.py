"""The minima that a slice finds: those of known functions, and those of two free tokens."""

import numpy as np
import pytest

import mhalib as mha
from checks import assert_close
from livegrad import landscape
from mhabook.c14_traps.minima import Minimum, minima_of
from points import on_plane


def bowl(x, y):
    return (x - 0.123) ** 2 + 1e4 * (y - x + 0.777) ** 2


def double_well(x, y):
    return (x**2 - 1) ** 2 + y**2


def himmelblau(x, y):
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


HIMMELBLAU = [
    (3, 2),
    (-2.805118087, 3.131312518),
    (-3.779310253, -3.283185991),
    (3.584428340, -1.848126527),
]
FOUND = {
    "an ill-conditioned bowl off the grid": (bowl, 2, [(0.123, -0.654)]),
    "two wells": (double_well, 2, [(-1, 0), (1, 0)]),
    "a well between two equal grid points": (lambda x, y: (x - 0.1) ** 2 + y**2, 2, [(0.1, 0)]),
    "four wells": (himmelblau, 5, HIMMELBLAU),
    "a curved valley of which the grid shows pieces": (rosenbrock, 2, [(1, 1)]),
    "wells of unequal depth": (
        lambda x, y: (x**2 - 1) ** 2 + 0.3 * x + y**2,
        2,
        [(-1.03557897, 0), (0.96014984, 0)],
    ),
    "a degenerate well": (lambda x, y: x**4 + y**4, 2, [(0, 0)]),
    "a saddle": (lambda x, y: x**2 - y**2, 2, []),
    "a monkey saddle": (lambda x, y: x**3 - 3 * x * y**2, 2, []),
    "a slope": (lambda x, y: x + 2 * y, 2, []),
    "a ravine that leads out": (lambda x, y: 1000 * (y - 0.41 * x) ** 2 - 0.1 * x, 2, []),
    "a bowl outside": (lambda x, y: (x - 3) ** 2 + y**2, 2, []),
}


@pytest.mark.parametrize(("function", "radius", "wanted"), FOUND.values(), ids=FOUND)
def test_minima_are_found_once_each(function, radius, wanted):
    found = minima_of(on_plane(function, radius))
    assert len(found) == len(wanted)
    assert [m.loss for m in found] == sorted(m.loss for m in found)
    for place in wanted:
        assert min(np.hypot(*np.subtract(m.at, place)) for m in found) < 1e-6
    assert all(function(*m.at) == pytest.approx(m.loss, rel=1e-12) for m in found)


def test_minima_are_as_exact_as_their_curvature():
    (found,) = minima_of(on_plane(bowl))
    assert_close(np.array(found.at), np.array([0.123, -0.654]), 1e-9)
    assert_close(
        np.array(found.eigenvalues), np.linalg.eigvalsh([[2 + 2e4, -2e4], [-2e4, 2e4]]), 1e-9
    )
    assert found.strict


def test_a_valley_and_a_plain_have_no_strict_minimum():
    circle = minima_of(on_plane(lambda x, y: (x**2 + y**2 - 1) ** 2))
    assert circle
    assert all(m.loss < 1e-12 and not m.strict for m in circle)
    plain = minima_of(on_plane(lambda x, y: 0 * x + 0 * y + 1, resolution=5))
    assert not any(m.strict for m in plain)
    assert not Minimum((0, 0), 0.0, (1e-12, 3.0)).strict
    assert not Minimum((0, 0), 0.0, (-1.0, 3.0)).strict
    assert not Minimum((0, 0), 0.0, (1e-12, 2e-12), 3.0).strict
    assert not Minimum((0, 0), 0.0, (0.0, 0.0)).strict


IN_UNITS = {
    "a bowl": (lambda x, y: x**2 + 2.5 * (y - 0.03) ** 2, [True]),
    "a degenerate well": (lambda x, y: (x - 0.03) ** 4 + (y + 0.03) ** 4, [False]),
    "a valley": (lambda x, y: (x - 0.03) ** 2 + 0 * y, [False] * 19),
    "a saddle between two wells that the grid cannot see": (
        lambda x, y: x**2 - 0.01 * y**2 + y**4,
        [],
    ),
}


@pytest.mark.parametrize("unit", [1e-12, 1e-10, 1.0, 1e8])
@pytest.mark.parametrize("function, strict", IN_UNITS.values(), ids=IN_UNITS)
def test_minima_do_not_depend_on_the_unit_of_the_loss(function, strict, unit):
    found = minima_of(on_plane(lambda x, y: unit * function(x, y)))
    assert [m.strict for m in found] == strict


def test_two_free_tokens_of_the_trap_have_the_minima_of_the_book():
    # Softmax has one good and one bad place for a query, the Gaussian kernel four good ones.
    keys, values = np.array([-2.0, -1, 1, 2]), np.array([3.0, -2, 2, 1])
    data = mha.data.SequenceDataset(np.eye(4)[None], np.full((1, 4, 1), 2.0))
    for kernel, solved in ((mha.softmax, -1.0), (mha.gaussian, 1.0)):
        queries = np.array([0.0, 0.0, solved, solved])
        weights = [column[None, :, None] for column in (queries, keys, values)]
        model = mha.AttentionLayer(*weights, np.ones((1, 1, 1)), kernel)
        start = mha.train(model, data, mha.Backtracking(), 300, only=("WQ",))[-1]
        middle = start.with_arrays(WQ=start.WQ * np.array([0, 0, 1, 1])[None, :, None])
        u, v = (
            0 * middle + middle.with_arrays(WQ=np.eye(4)[k][None, :, None]).only("WQ")
            for k in range(2)
        )
        found = [m for m in minima_of(landscape.slice(middle, data, u, v, 4.0, 65)) if m.strict]
        losses = np.array([m.loss for m in found])
        if kernel is mha.softmax:
            assert_close(losses, np.array([0, 0.337298, 0.337298, 0.674596]), 1e-4, 1)
        else:
            assert len(losses) == 16
            assert losses.max() < 1e-12
