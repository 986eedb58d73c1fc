"""The closed-form gradient against autograd and central differences."""

import pytest
from hypothesis import given, settings

import oracles
from checks import assert_close
from mhalib.losses import logistic
from strategies import direction, problem, problems, rounding, steepness

seeds = pytest.mark.parametrize("seed", range(2))


def assert_agrees_with_autograd(model, X, y):
    """The loss, and the gradient with respect to W and to U, to 1e-12 of each one's norm."""
    loss, grad = model.loss_and_grad(X, y)
    value, dW, dU = oracles.loss_and_grad(X, y, model.W, model.U)
    assert_close(loss, value, 1e-12)
    assert_close(grad.W, dW, 1e-12)
    assert_close(grad.U, dU, 1e-12)


def assert_agrees_with_central_differences(model, X, y, step=1e-5):
    """⟨∇L, V⟩ along random directions within the parameters, relative to ‖∇L‖‖V‖."""
    _, grad = model.loss_and_grad(X, y)
    for seed in range(3):
        V = direction(model, seed)
        along = ((model + step * V).loss(X, y) - (model - step * V).loss(X, y)) / (2 * step)
        assert_close(grad.dot(V), along, 1e-7, size=grad.norm() * V.norm())


@seeds
@pytest.mark.parametrize(
    "scale",
    [{}, {"U": 1e-8}, {"X": 0.1, "U": 30.0}, {"W": 0.0}, {"X": 2.0}],
    ids=["plain", "tiny decoders", "long decoders", "uniform attention", "long tokens"],
)
def test_gradient_is_the_derivative(seed, scale):
    assert_agrees_with_autograd(*problem(seed, **scale))


@seeds
def test_gradient_is_the_slope_along_any_direction(seed):
    assert_agrees_with_central_differences(*problem(seed))


@settings(max_examples=60)
@given(problems)
def test_gradient_is_the_derivative_at_every_scale(drawn):
    model, X, y = drawn
    loss, grad = model.loss_and_grad(X, y)
    value, dW, dU = oracles.loss_and_grad(X, y, model.W, model.U)
    # Where attention is saturated the gradient is what is left after cancelling: the tolerance is
    # relative to the size of the cancelling terms.
    slope = abs(logistic.slope(model.margins(X, y))).mean()
    tolerance = 1e-14 * rounding(model, X)
    assert_close(loss, value, tolerance)
    assert_close(grad.W, dW, tolerance, size=slope * steepness(model, X))
    assert_close(grad.U, dU, tolerance, size=slope * steepness(model, X))


@seeds
def test_features_are_the_gradients_of_the_logits(seed):
    model, X, _ = problem(seed)
    assert_close(model.features(X), oracles.logit_gradients(X, model.ravel(), model.sizes), 1e-12)


def test_the_gradient_is_the_mean_of_its_examples():
    model, X, y = problem()
    grads = [model.loss_and_grad(X[i : i + 1], y[i : i + 1])[1] for i in range(len(X))]
    assert_close(model.loss_and_grad(X, y)[1].ravel(), sum(grads).ravel() / len(X), 1e-13)
