"""Gradient descent that finds its step size: each step tries, and halves what does not descend
enough."""

from dataclasses import dataclass, replace
from typing import Any, Self

from livegrad.arrays import is_number, is_positive, shown
from livegrad.vouched import vouched

SMALLEST = 1e-30
"""A step size below which a step is given up and the parameters stay."""


@vouched
@dataclass(frozen=True)
class Backtracking:
    r"""Gradient descent with Armijo's rule on the full loss.

    .. math:: \theta \leftarrow \theta - \eta \nabla L(\theta), \qquad
              L(\theta - \eta \nabla L) \le L(\theta) - \tfrac12\, \eta\, \|\nabla L\|^2

    with the first η of lr, lr·shrink, lr·shrink², … that satisfies this, where lr is twice the η of
    the step before. An η ≤ 1/λ always does if no curvature on the way exceeds λ. ``train`` tells it
    the data by calling ``on``.

    ``train`` refuses it with ``batch``: the test would compare the full loss with the slope of
    another one.

    Source: Armijo 1966.
    """

    lr: float = 1.0
    shrink: float = 0.5
    data: Any = None

    whole = True
    """A step needs the gradient of all samples: that of a minibatch says nothing of how the full
    loss descends."""

    def __post_init__(self) -> None:
        if not is_positive(self.lr):
            raise ValueError(f"lr: expected a positive number to try first, got {shown(self.lr)}")
        if not (is_number(self.shrink) and 0 < self.shrink < 1):
            raise ValueError(f"shrink: expected a number in (0, 1), got {shown(self.shrink)}")

    def on(self, data: Any) -> Self:
        """This rule for the loss on ``data``."""
        return replace(self, data=data)

    def start(self, theta: Any) -> float:
        """The step size to try first."""
        if self.data is None:
            raise ValueError(
                "optimizer: expected a Backtracking that knows the data, got one that does not; "
                "train tells it, and rule.on(data) does"
            )
        if not hasattr(theta, "loss"):
            raise TypeError(f"model: expected one with loss(X, y), got {type(theta).__name__}")
        return float(self.lr)

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, float]:
        """The first trial that descends enough; the next step begins at twice its step size."""
        loss, squared, lr = float(theta.loss(self.data.X, self.data.y)), grad.dot(grad), state
        while lr > SMALLEST:
            trial = theta - lr * grad
            # NaN and ∞ fail this comparison: a trial that overflows has gone too far.
            if float(trial.loss(self.data.X, self.data.y)) <= loss - lr * squared / 2:
                return trial, 2 * lr
            lr *= self.shrink
        return theta, float(self.lr)
