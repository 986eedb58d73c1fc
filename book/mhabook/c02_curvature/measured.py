"""What chapter 2's page measures: shares of the Hessian bounds, curvature along runs, gradients
without softmax."""

from collections.abc import Iterable

import numpy as np

from livegrad.arrays import Array
from livegrad.training import Path, train
from mhabook.c01_model.instances import opposite_tokens, token_radius
from mhabook.c02_curvature.bounds import Loss, gradient_constant, hessian_bound, sharp_hessian_bound
from mhabook.c02_curvature.loss_bounds import (
    loss_gradient,
    loss_hessian,
    self_bounded_weak_convexity,
    smoothness,
)
from mhabook.ledger import Along, along
from mhalib.attention import softmax
from mhalib.data import Dataset
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent


def hills(path: Path, data: Dataset, distances: Iterable[float]) -> dict[str, list[float]]:
    """The loss on both sides of each recorded model, in the direction in which it curves downward
    the most."""
    lines, distances = {}, list(distances)
    for step, model in zip(path.steps, path.models, strict=True):
        _, directions = np.linalg.eigh(sum(loss_hessian(model, data)))
        lowest = model.unravel(directions[:, 0])
        lines[f"step {step}"] = [
            float((model + distance * lowest).loss(data.X, data.y)) for distance in distances
        ]
    return lines


def shares_of_bounds(decoders: Iterable[float]) -> dict[str, list[float]]:
    """What share of the Hessian bound, and of the sharper one, ``opposite_tokens`` use with
    decoders of these norms."""
    families = {"uniform weights": 0.0, "more on its own kind": 3**-0.5}
    bounds = {"B": hessian_bound, "the sharper one": sharp_hessian_bound}
    return {
        f"{family}, against {bound}": [
            1 - check(**opposite_tokens(u=u, R=1.0, mean=mean)).slack for u in decoders
        ]
        for bound, check in bounds.items()
        for family, mean in families.items()
    }


def curvature_along(H: int, data: Dataset, scale: float) -> tuple[Path, Along, Along]:
    """400 steps of size 1 from random heads, with ``smoothness`` and
    ``self_bounded_weak_convexity`` along them."""
    start = MultiHeadAttention.random(H, *data.X.shape[1:], scale=scale, seed=0)
    path = train(start, data, GradientDescent(lr=1.0), steps=400, record=9)
    return path, along(path, data, smoothness), along(path, data, self_bounded_weak_convexity)


def steepness_by_scale(
    start: MultiHeadAttention, X: Array, factors: Iterable[float]
) -> dict[str, list[float]]:
    """max_i ‖∇Φ(X_i)‖/G at multiples of W, for softmax and for the weights e^S/T, which nothing
    normalizes."""
    G, X, lines = (
        gradient_constant(start, token_radius(X)),
        X[:, None],
        {"softmax": [], "no normalization": []},
    )
    for factor in factors:
        S, P = X @ (factor * start.W) @ X.mT, start.U @ X.mT
        E, A = np.exp(S) / S.shape[-1], softmax(S)
        lines["softmax"].append(_steepness(A, softmax.vjp(A, P), X) / G)
        # d(e^S/T) = (e^S/T) ∘ dS: without a normalizer the pullback is entry by entry.
        lines["no normalization"].append(_steepness(E, E * P, X) / G)
    return lines


def _steepness(weights, dS, X):
    grads = weights @ X, X.mT @ dS @ X  # ∇_U Φ (n, H, T, d) and ∇_W Φ (n, H, d, d), both times √H
    return np.sqrt(sum((grad**2).sum(axis=(1, 2, 3)) for grad in grads) / weights.shape[1]).max()


def shares_along(
    start: MultiHeadAttention, data: Dataset, loss: Loss, lr: float
) -> tuple[list[int], list[float]]:
    """Every 40th of 800 steps, and the share of the bound that ``self_bounded_weak_convexity``
    finds in use there.

    Where descent diverges, as on longer tokens, the lists end.
    """
    model, steps, found = start, [], []
    for k in range(801):
        if np.abs(model.U).max() > 1e8:
            break
        if k % 40 == 0:
            steps.append(k)
            found.append(1 - self_bounded_weak_convexity(model, data, loss=loss).slack)
        model = model - lr * model.unravel(loss_gradient(model, data, loss))
    return steps, found
