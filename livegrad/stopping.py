"""Why a training run ended early, in words: what is not finite, where it became so, and what would
help."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from livegrad.arrays import to_numpy
from livegrad.model.weights import weights
from livegrad.model.workspace import Workspace
from livegrad.optim import Rule
from livegrad.optim.clipping import name_of
from livegrad.own_rule import not_finite

SHORTER = [10.0**-k for k in range(3, 300, 3)]
"""Parts of a step that stand for smaller step sizes."""


BY_CALLBACK, INTERRUPTED = "Stopped by the callback", "Interrupted after step"
"""How the reason begins, where a run ended because it was asked to, or was interrupted."""


def by_callback(k: int) -> str:
    """Why a run ends that was asked to."""
    return f"{BY_CALLBACK} at step {k}: the path up to there is kept, and resume goes on from it."


def at_the_start(loss: float, k: int = 0) -> str:
    """Why no step was taken; k is that of a run that goes on."""
    if k:
        return (
            f"The loss is not finite at step {k}, where this run goes on: the step before was too "
            "long. Try a smaller lr from an earlier model."
        )
    if np.isnan(loss):
        return (
            "The loss is not finite at the start (step 0), but NaN: a root or a logarithm of a "
            "negative number, 0/0, or NaN in the data or the weights."
        )
    return "The loss is not finite at the start (step 0): the model's parameters or the data are too large."


def nan_gradient(k: int, loss: float, theta: Any, grad: Any, workspace: Workspace) -> str | None:
    """Why a run ends where the loss is finite and its gradient is not; None if the gradient is."""
    names = not_finite(workspace.unpack(grad))
    if not names:
        return None
    where = "at the start (step 0)" if k == 0 else f"at step {k}"
    origin = workspace.origin(theta)
    return (
        f"The gradient with respect to {', '.join(names)} is NaN or infinite {where}, where the "
        f"loss is {loss:.3g}"
        + (f"; it becomes so in {origin}. " if origin else ". ")
        + "A smaller lr does not help: keep the argument of a root, a logarithm or a power away "
        "from 0, on both sides of a np.where, or start elsewhere."
    )


def overshot(
    k: int,
    optimizer: Rule,
    theta: Any,
    before: Any,
    losses: tuple[float, float],
    loss_at: Callable[[Any], float],
    workspace: Workspace,
) -> str:
    """Why a run ends at step k, whose loss is not finite, though loss and gradient were at the
    point ``before``.

    ``losses`` are the first of the run and the last. A smaller step helps where the loss had risen,
    or is finite after some part of this one.
    """
    first, last = losses
    lr = getattr(optimizer, "lr", None)
    # The point of step k comes from the update with number k − 1, which count from 0.
    lr = lr(k - 1) if callable(lr) else lr
    rate = f" with lr = {lr:.3g}" if isinstance(lr, Real) else ""
    said = (
        f"The loss stopped being finite at step {k} of {name_of(optimizer)}{rate}; the "
        f"last finite loss was {last:.3g}. "
    )
    if last > first or _shorter_helps(theta, before, loss_at, workspace):
        return said + (
            "Most likely the step size is too large: above 2 / λ_max of the Hessian a step "
            "overshoots, and the next one more. Try a smaller lr; at the start of the run gradient "
            "descent is stable up to 2 / landscape.sharpness(path, data, points=1).values[0]."
        )
    return said + (
        "It is not finite after any part of this step, either: a smaller lr does not help. Does "
        "the loss have a root, a logarithm or a division at the edge of what it is defined for?"
    )


def _shorter_helps(theta, before, loss_at, workspace):
    """Whether the loss is finite after some part of a step that still moves a weight."""
    for part in SHORTER:
        there = before + part * (theta - before)
        moved = weights(workspace.unpack(there - before)).values()
        if np.isfinite(loss_at(there)):
            # A part that rounds to no motion is the point before, whose loss is finite anyway.
            return any((to_numpy(a) != 0).any() for a in moved)
    return False
