"""A gradient that is cut to a length before an update rule sees it: ``clip(norm=1.0) |
Adam(lr=0.01)``."""

from dataclasses import dataclass, replace
from math import inf
from typing import Any, Self

from livegrad.arrays import is_array, require_number, shown
from livegrad.optim.rules import LearningRate, Rule


@dataclass(frozen=True)
class clip:
    r"""Gradients cut to a length: ``clip(norm=1.0) | Adam(lr=0.01)`` is Adam on

    .. math:: g \leftarrow g \cdot \min(1,\; c / \|g\|), \qquad c = \text{norm},

    with the Euclidean norm of all weights together. An update rule like any other: it takes
    schedules, minibatches and ``only``, and a run goes on with it. It is not entrywise, so ``train``
    computes equal heads one by one, and live figures refuse it.

    Raises ValueError if norm is no positive number; TypeError or ValueError if what follows ``|`` is
    no update rule, or one that compares losses with the slope, as ``Backtracking`` does.

    Source: Pascanu et al. 2013.

    Examples
    --------
    >>> rule = lg.clip(norm=1.0) | lg.GradientDescent(lr=0.5)
    >>> theta, state = rule.step(np.zeros(2), np.array([30.0, 40.0]), rule.start(np.zeros(2)), 0)
    >>> theta
    array([-0.3, -0.4])
    """

    norm: float

    def __post_init__(self) -> None:
        require_number("norm", self.norm, above=0)

    def __call__(self, grad: Any) -> Any:
        """The gradient, or the one of length ``norm`` in its direction."""
        if callable(getattr(grad, "step", None)) and callable(getattr(grad, "start", None)):
            raise self._before(grad)
        length = _length(grad)
        # One whose length overflows stays, and its step too: nothing would move along 0 · g, where
        # the run is to end as one that diverges.
        if not self.norm < length < inf:
            return grad
        # A number of numpy would turn single precision into double.
        return grad * float(self.norm / length)

    def __or__(self, rule: Rule) -> "Clipped":
        return Clipped(self, rule)

    def __ror__(self, rule: Any) -> Any:
        raise self._before(rule)

    def _before(self, rule):
        return TypeError(
            f"clip: expected before a rule, as in clip(norm={self.norm}) | Adam(lr=0.01), got "
            f"around or behind {shown(rule)}"
        )


@dataclass(frozen=True, repr=False)
class Clipped:
    """An update rule on gradients that are clipped before: what ``clip(…) | rule`` makes."""

    change: clip
    rule: Rule

    def __post_init__(self) -> None:
        if isinstance(self.rule, type) or not callable(getattr(self.rule, "step", None)):
            raise TypeError(
                "rule: expected an update rule behind |, as in clip(norm=1.0) | Adam(lr=0.01), "
                f"got {shown(self.rule)}"
            )
        if getattr(self.rule, "whole", False):
            raise ValueError(
                "rule: expected one behind | that steps along any gradient, got "
                f"{type(self.rule).__name__}, which compares losses with the slope"
            )

    def __repr__(self) -> str:
        return f"{self.change!r} | {self.rule!r}"

    @property
    def lr(self) -> LearningRate | None:
        """The step size of the rule, if it has one."""
        return getattr(self.rule, "lr", None)

    @property
    def together(self) -> bool:
        """Whether the rule moves all weights as one."""
        return getattr(self.rule, "together", False)

    def on(self, data: Any) -> Self:
        """The same with a rule that knows the data, if it asks for them."""
        told = getattr(self.rule, "on", None)
        return replace(self, rule=told(data)) if callable(told) else self

    def start(self, theta: Any) -> Any:
        """The state of the rule."""
        return self.rule.start(theta)

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, Any]:
        """The step of the rule, with the gradient clipped."""
        return self.rule.step(theta, self.change(grad), state, k)


def name_of(rule: Rule) -> str:
    """The class of an update rule, in words: ``clip | Adam`` of one with clipped gradients."""
    if isinstance(rule, Clipped):
        return f"clip | {name_of(rule.rule)}"
    return type(rule).__name__


def _length(grad):
    """‖g‖ of a number, an array or a model."""
    if is_array(grad):
        return float((grad * grad).sum()) ** 0.5
    return float(grad.norm()) if hasattr(grad, "norm") else abs(grad)
