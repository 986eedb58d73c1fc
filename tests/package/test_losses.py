"""Losses: the value, a chain of derivatives, and the inequalities that the theory leans on."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import assert_close
from mhabook.c02_curvature.bounds import MarginSquared
from mhalib.losses import logistic
from optional import torch
from oracles import exact_logistic

MARGINS = np.concatenate([np.linspace(-40, 40, 321), [-1e4, -745.2, -710.5, 710.5, 745.2, 1e4]])
margins = st.floats(-1e4, 1e4)
both = pytest.mark.parametrize("loss", [logistic, MarginSquared()], ids=["logistic", "squared"])


def derivative(function, x):
    x = torch.tensor(x, requires_grad=True)
    return torch.autograd.grad(function(x).sum(), x)[0]


@given(margins)
def test_logistic_is_right_at_every_scale(z):
    with localcontext(prec=60):
        exact = float(exact_logistic(Decimal(z)))
    # Rounding z costs ε|z| of e^{−z}; below the smallest normal number precision fades.
    assert logistic(np.float64(z)) == pytest.approx(exact, rel=1e-15 * (5 + abs(z)), abs=1e-307)


def test_slope_is_the_derivative():
    assert_close(
        logistic.slope(MARGINS),
        derivative(lambda z: -torch.nn.functional.logsigmoid(z), MARGINS),
        1e-14,
    )


def test_slope_is_relatively_right_where_it_is_small():
    z = np.linspace(1, 700, 500)
    assert_close(logistic.slope(z) * np.exp(z), -1 / (1 + np.exp(-z)), 1e-13)


def test_curvature_is_the_derivative_of_slope():
    assert_close(
        logistic.curvature(MARGINS), derivative(lambda z: -torch.sigmoid(-z), MARGINS), 1e-14
    )


def test_curvature_is_relatively_right_where_it_is_small():
    z = np.linspace(-700, 700, 501)
    assert_close(logistic.curvature(z) * np.exp(abs(z)), (1 + np.exp(-abs(z))) ** -2, 1e-13)


@given(margins)
def test_the_slope_is_bounded_by_one_and_by_the_loss(z):
    z = np.float64(z)
    assert -1 <= logistic.slope(z) <= 0
    assert -logistic.slope(z) <= logistic(z) * (1 + 1e-12)


@given(margins)
def test_the_curvature_is_bounded_by_a_quarter_and_by_the_slope(z):
    z = np.float64(z)
    assert 0 <= logistic.curvature(z) <= 0.25
    assert logistic.curvature(z) <= -logistic.slope(z)


def test_a_value_spares_the_slope_its_own():
    assert (logistic.slope(MARGINS, logistic(MARGINS)) == logistic.slope(MARGINS)).all()


def test_squared_is_half_the_square():
    r = np.array([[-3.0, 0.0], [0.5, 1e4]])
    squared = MarginSquared()
    assert_close(squared(1 - r), r**2 / 2, 1e-15)
    assert (squared.slope(1 - r) == -r).all()
    assert squared.curvature(r).tolist() == [[1, 1], [1, 1]]


@both
def test_single_precision_stays_single(loss):
    x = np.linspace(-100, 100, 7, dtype="float32")
    assert {f(x).dtype.name for f in (loss, loss.slope, loss.curvature)} == {"float32"}
    assert np.isfinite([f(x) for f in (loss, loss.slope, loss.curvature)]).all()
