"""Update rules on anything with ``+ − * / **``: a number, an array, a model. They know no
attention.

A rule is a frozen dataclass with two methods: ``start(theta)`` gives the state before the first
step, and ``step(theta, grad, state, k)`` gives the parameters and the state after step k = 0, 1, 2,
… Everywhere ``lr`` is a positive number, or a function of k that returns a number ≥ 0.

The rules of this file move every number by itself, so ``train`` may give them θ in whatever form is
fast, and a gradient that the next one overwrites. A rule of any other class sees copies of models.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import inf
from numbers import Real
from typing import Any, Protocol, TypeAlias

from livegrad.arrays import as_number, is_array, is_positive, require_number, shown

LearningRate: TypeAlias = float | Callable[[int], float]
"""A positive number, or a function of the step k = 0, 1, 2, … that returns a number ≥ 0."""


class Rule(Protocol):
    """An update rule. ``train`` gives a rule of your own models as θ and gradient.

    They have ``arrays()``, ``map``, ``dot``, ``norm`` and ``+ − * / **``.
    """

    def start(self, theta: Any, /) -> Any:
        """The state before the first step."""

    def step(self, theta: Any, grad: Any, state: Any, k: int, /) -> tuple[Any, Any]:
        """The parameters and the state after step k."""
        ...


def require_rate(lr: LearningRate) -> None:
    """Check that a step size is a positive number or a function of the step.

    Raises ValueError if it is neither.
    """
    if not callable(lr) and not is_positive(lr):
        raise ValueError(
            f"lr: expected a positive number or a function of the step, got {shown(lr)}"
        )
    if callable(lr) and not _takes_a_step(lr):
        raise ValueError(
            "lr: expected a function of the step alone, as lambda k: 0.1 / (k + 1), got one that "
            f"takes {signature(lr)}"
        )


def _takes_a_step(function):
    try:
        signature(function).bind(0)
    except TypeError:
        return False
    except ValueError:  # of C, without one
        pass
    return True


def rate(lr: LearningRate, k: int) -> float:
    """The step size of step k, for a number or a function of the step."""
    value = lr(k) if callable(lr) else lr
    # the usual case, decided without a question to torch
    if type(value) is float and 0 <= value < inf:
        return value
    if not (isinstance(value, Real) or is_array(value)) or getattr(value, "ndim", 0):
        raise ValueError(
            f"lr: expected a function that returns numbers ≥ 0, got {shown(value)} at step {k}"
        )
    value = as_number(value)
    # A recorded number has no value yet that could be compared.
    if not is_array(value) and not 0 <= value < inf:
        raise ValueError(
            f"lr: expected a function that returns numbers ≥ 0, got {value} at step {k}"
        )
    return value


@dataclass(frozen=True)
class GradientDescent:
    """Gradient descent: θ ← θ − η_k ∇L(θ).

    Examples
    --------
    >>> rule = lg.GradientDescent(lr=0.5)
    >>> theta, state = rule.step(np.array([1.0]), np.array([4.0]), rule.start(np.array([1.0])), 0)
    >>> theta
    array([-1.])
    """

    lr: LearningRate

    def __post_init__(self) -> None:
        require_rate(self.lr)

    def start(self, theta: Any) -> None:
        """No state."""

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, None]:
        """θ − η_k ∇L."""
        return theta - rate(self.lr, k) * grad, state


@dataclass(frozen=True)
class Momentum:
    """Gradient descent with heavy-ball momentum: m ← β m + ∇L(θ), θ ← θ − η_k m."""

    lr: LearningRate
    beta: float = 0.9

    def __post_init__(self) -> None:
        require_rate(self.lr)
        require_number("beta", self.beta, least=0, below=1)

    def start(self, theta: Any) -> Any:
        """m = 0."""
        # Zero in the form of θ, be it a number, an array or a model.
        return 0 * theta

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, Any]:
        """θ − η_k m with m = β m + ∇L."""
        m = as_number(self.beta) * state + grad
        return theta - rate(self.lr, k) * m, m


@dataclass(frozen=True)
class Adam:
    """Adam with bias correction (Kingma and Ba 2015), elementwise.

    m ← β₁ m + (1−β₁) g, v ← β₂ v + (1−β₂) g², θ ← θ − η_k m̂ / (√v̂ + ε), m̂ = m/(1−β₁^{k+1}), v̂ =
    v/(1−β₂^{k+1}).

    Examples
    --------
    >>> rule = lg.Adam(lr=0.1)
    >>> theta, _ = rule.step(np.array([1.0, 1.0]), np.array([100.0, 0.01]), rule.start(np.array([1.0, 1.0])), 0)
    >>> theta.round(6)
    array([0.9, 0.9])
    """

    lr: LearningRate
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def __post_init__(self) -> None:
        require_rate(self.lr)
        require_number("beta1", self.beta1, least=0, below=1)
        require_number("beta2", self.beta2, least=0, below=1)
        require_number("eps", self.eps, above=0)

    def start(self, theta: Any) -> tuple[Any, Any]:
        """m = v = 0."""
        return 0 * theta, 0 * theta

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, tuple[Any, Any]]:
        """θ − η_k m̂ / (√v̂ + ε)."""
        return self._moved(theta, grad, state, k, rate(self.lr, k))

    def _moved(self, theta, grad, state, k, lr):
        beta1, beta2, eps = map(as_number, (self.beta1, self.beta2, self.eps))
        m = beta1 * state[0] + (1 - beta1) * grad
        v = beta2 * state[1] + (1 - beta2) * grad * grad
        # From m = v = 0 on, the weights of the past gradients add up to 1 − β^{k+1} only.
        m_hat, v_hat = m / (1 - beta1 ** (k + 1)), v / (1 - beta2 ** (k + 1))
        return theta - lr * (m_hat / (v_hat**0.5 + eps)), (m, v)


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay: θ ← (1 − η_k λ) θ − η_k m̂ / (√v̂ + ε), with λ =
    ``weight_decay``.

    Source: Loshchilov and Hutter 2019.
    """

    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("weight_decay", self.weight_decay, least=0)

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, tuple[Any, Any]]:
        """θ − η_k λ θ, and Adam's step from there."""
        lr = rate(self.lr, k)
        # Decoupled: the moments see the gradient without the decay, so decaying first and stepping
        # from there is the sum of both.
        return self._moved(theta - lr * as_number(self.weight_decay) * theta, grad, state, k, lr)


ENTRYWISE: tuple[type, ...] = (GradientDescent, Momentum, Adam, AdamW)
"""The rules that move every number by its own gradient alone. Not their subclasses, which may step
otherwise."""
