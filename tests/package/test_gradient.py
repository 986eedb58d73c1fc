"""The closed-form gradient against two judges, and the judges against a dozen wrong gradients."""

import numpy as np
import pytest
from hypothesis import given, settings

import oracles
from checks import assert_close
from mhalib.losses import logistic
from strategies import direction, problem, problems, rounding, steepness

seeds = pytest.mark.parametrize("seed", range(8))


def assert_agrees_with_autograd(loss_and_grad, model, X, y):
    """The loss, and the gradient with respect to W and to U, to 1e-12 of each one's norm."""
    loss, grad = loss_and_grad(model, X, y)
    value, dW, dU = oracles.loss_and_grad(X, y, model.W, model.U)
    assert_close(loss, value, 1e-12)
    assert_close(grad.W, dW, 1e-12)
    assert_close(grad.U, dU, 1e-12)


def assert_agrees_with_central_differences(loss_and_grad, model, X, y, step=1e-5):
    """⟨∇L, V⟩ along random directions within the parameters, relative to ‖∇L‖‖V‖."""
    _, grad = loss_and_grad(model, X, y)
    for seed in range(3):
        V = direction(model, seed)
        along = ((model + step * V).loss(X, y) - (model - step * V).loss(X, y)) / (2 * step)
        assert_close(grad.dot(V), along, 1e-7, size=grad.norm() * V.norm())


def library(model, X, y):
    return model.loss_and_grad(X, y)


@seeds
@pytest.mark.parametrize(
    "scale",
    [{}, {"U": 1e-8}, {"X": 0.1, "U": 30.0}, {"W": 0.0}, {"X": 2.0}],
    ids=["plain", "tiny decoders", "long decoders", "uniform attention", "long tokens"],
)
def test_gradient_is_the_derivative(seed, scale):
    assert_agrees_with_autograd(library, *problem(seed, **scale))


@seeds
def test_gradient_is_the_slope_along_any_direction(seed):
    assert_agrees_with_central_differences(library, *problem(seed))


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


# What the judges are worth: the formula written a second time, and each mistake that one makes in
# writing it.
RIGHT = {
    "rows": lambda A, P: A * (P - (A * P).sum(axis=-1, keepdims=True)),
    "weight": lambda y, z, H: y * logistic.slope(z) / (len(y) * H**0.5),
    "dW": "nta,nhtj,njb->hab",
    "dU": "nhtj,njb->htb",
}
MISTAKES = {
    "key and query exchanged": {"dW": "nta,nhtj,njb->hba"},
    "attention transposed in dW": {"dW": "nta,nhjt,njb->hab"},
    "attention transposed in dU": {"dU": "nhjt,njb->htb"},
    "heads reversed": {"rows": lambda A, P: RIGHT["rows"](A, P)[:, ::-1]},
    "row sum forgotten": {"rows": lambda A, P: A * P},
    "row sum not weighted": {"rows": lambda A, P: A * (P - P.sum(axis=-1, keepdims=True))},
    "columns summed": {"rows": lambda A, P: A * (P - (A * P).sum(axis=-2, keepdims=True))},
    "row sum added": {"rows": lambda A, P: A * (P + (A * P).sum(axis=-1, keepdims=True))},
    "1/√H forgotten": {"weight": lambda y, z, H: y * logistic.slope(z) / len(y)},
    "1/H for 1/√H": {"weight": lambda y, z, H: y * logistic.slope(z) / (len(y) * H)},
    "1/n forgotten": {"weight": lambda y, z, H: y * logistic.slope(z) / H**0.5},
    "twice too long": {"weight": lambda y, z, H: 2 * RIGHT["weight"](y, z, H)},
    "sign": {"weight": lambda y, z, H: -RIGHT["weight"](y, z, H)},
    "label forgotten": {"weight": lambda y, z, H: logistic.slope(z) / (len(y) * H**0.5)},
    "slope of −z": {"weight": lambda y, z, H: RIGHT["weight"](y, -z, H)},
    "U not moved": {"freeze": "U"},
    "W not moved": {"freeze": "W"},
}


def written(mistake):
    """The gradient by the formula of ``RIGHT`` with one part replaced."""
    part = RIGHT | {"freeze": ""} | mistake

    def loss_and_grad(model, X, y):
        A, P = model.attention(X), np.einsum("htd,njd->nhtj", model.U, X)
        g = part["weight"](y, model.margins(X, y), model.sizes[0])
        gX = g[:, None, None] * X
        moved = {
            "W": np.einsum(part["dW"], gX, part["rows"](A, P), X),
            "U": np.einsum(part["dU"], A, gX),
        }
        if part["freeze"]:
            moved[part["freeze"]] *= 0
        return model.loss(X, y), type(model)(**moved)

    return loss_and_grad


judges = pytest.mark.parametrize(
    "judge", [assert_agrees_with_autograd, assert_agrees_with_central_differences]
)


@judges
def test_the_right_formula_is_accepted(judge):
    judge(written({}), *problem(1))


@judges
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_every_wrong_gradient_is_rejected(judge, mistake):
    with pytest.raises(AssertionError, match="allowed"):
        judge(written(mistake), *problem(1))
