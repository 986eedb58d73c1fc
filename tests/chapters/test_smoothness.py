"""Three measures of how smooth a slice is: by differences on its grid, and by the model's
formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import assert_close, assert_refused
from livegrad import landscape
from livegrad.landscape import random_direction
from mhabook.c15_landscapes.smoothness import (
    by_differences,
    by_formula,
    differences,
    field,
    spectrum,
)
from points import layer, on_plane


def bowl(x, y):
    return (x - 0.123) ** 2 + 1e4 * (y - x + 0.777) ** 2


def double_well(x, y):
    return (x**2 - 1) ** 2 + y**2


def test_differences_are_exact_for_quadratics():
    a, b = np.linspace(-1, 2, 5), np.linspace(0, 1, 4)
    x, y = np.meshgrid(a, b)
    gradient, hessian = differences(3 * x**2 + 2 * x * y - y**2 + x, a, b)
    x, y = x[1:-1, 1:-1], y[1:-1, 1:-1]
    assert_close(gradient, np.stack([6 * x + 2 * y + 1, 2 * x - 2 * y], axis=-1), 1e-12)
    assert_close(hessian, np.broadcast_to([[6.0, 2.0], [2.0, -2.0]], (2, 3, 2, 2)), 1e-11)


def test_the_share_of_negative_curvature_is_the_known_one():
    # curves down where |x| < 1/√3: three of the eleven columns
    found = on_plane(double_well, 2, 11)
    assert by_formula(found).negative_curvature == pytest.approx(3 / 11)
    assert (spectrum(found)[..., 0] < 0).mean() == pytest.approx(3 / 11)
    assert by_formula(on_plane(bowl, 2, 5)).negative_curvature == 0
    assert by_formula(on_plane(lambda x, y: x**2 - y**2, 2, 5)).negative_curvature == 1
    assert by_formula(on_plane(lambda x, y: x + 0 * y, 2, 5)).negative_curvature == 0


def test_measures_of_a_known_function():
    found = by_formula(on_plane(lambda x, y: 3 * x - 4 * y, 1, 3))
    assert found == (7, pytest.approx(5), 0)
    assert found._fields == ("maximum", "mean_gradient", "negative_curvature")


def test_measures_by_differences_come_near_those_by_formula():
    model, data = layer()
    found = landscape.slice(
        model, data, *(random_direction(model, seed) for seed in (1, 2)), 1.0, 13
    )
    exact, near = by_formula(found), by_differences(found.loss, found.a, found.b)
    assert exact.maximum == near.maximum == found.loss.max()
    inner = np.linalg.norm(field(found)[0][1:-1, 1:-1], axis=-1).mean()
    assert near.mean_gradient == pytest.approx(inner, rel=0.02)
    assert near.negative_curvature == pytest.approx(
        (spectrum(found)[1:-1, 1:-1, 0] < 0).mean(), abs=0.05
    )


@given(st.floats(0.1, 10), st.floats(-3, 3))
def test_measures_follow_the_unit_of_the_loss(scale, shift):
    found = on_plane(double_well, 2, 9)
    before, after = (
        by_differences(loss, found.a, found.b) for loss in (found.loss, scale * found.loss + shift)
    )
    assert after.maximum == pytest.approx(scale * before.maximum + shift)
    assert after.mean_gradient == pytest.approx(scale * before.mean_gradient)
    assert after.negative_curvature == before.negative_curvature


BAD = {
    "too small a grid": (
        lambda: by_differences(np.zeros((2, 3)), [0, 1, 2], [0, 1]),
        ValueError,
        ["b:", "at least 3"],
    ),
    "an uneven grid": (
        lambda: differences(np.zeros((3, 3)), [0, 1, 3], [0, 1, 2]),
        ValueError,
        ["a: expected evenly spaced", "from 1 to 2"],
    ),
    "a grid of another size": (
        lambda: differences(np.zeros((3, 4)), [0, 1, 2], [0, 1, 2]),
        ValueError,
        ["a: expected as many", "4", "got 3"],
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
