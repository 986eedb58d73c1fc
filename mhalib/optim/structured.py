"""Structure-aware descent for a layer of two matrices, A (p, d) and B (d, d), on tokens of any
covariance.

Both rules of this file are this book's reconstruction of what the abstract of Goel et al. 2026
describes; they are not its Algorithm 1, whose lines we do not know. They work on U = A Σ̂^{1/2} and
V = Σ̂^{1/2} B Σ̂^{1/2}, with Σ̂ the second moment of the training tokens: in (U, V) the population
loss is ½‖U Vᵀ − M Σ^{1/2}‖², a matrix factorization that does not know how the tokens are
conditioned. ``train`` tells a rule the data by calling ``on``.
"""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np

from livegrad.arrays import Array, of_numbers, require_number, shown
from livegrad.optim.rules import LearningRate, rate, require_rate
from livegrad.vouched import vouched
from mhalib.whitening import Whitening


@dataclass(frozen=True)
class _OnData:
    """What the two rules share: they must be told the data before they step."""

    lr: LearningRate = 0.5
    balance: float = 1.0
    whitening: Whitening | None = None

    together = True
    """Neither matrix can be held still: a step balances and rescales the pair."""

    def __post_init__(self) -> None:
        require_rate(self.lr)
        require_number("balance", self.balance, least=0)
        if not (self.whitening is None or isinstance(self.whitening, Whitening)):
            raise TypeError(
                f"whitening: expected a Whitening or None, got {shown(self.whitening)}; "
                "data.whitening() makes one"
            )

    def on(self, data: Any) -> Self:
        """This rule for the tokens of ``data``; a whitening that was chosen stays."""
        if self.whitening is not None:
            return self
        if not hasattr(data, "whitening"):
            raise TypeError(
                "data: expected a RegressionDataset, whose tokens can be whitened, got "
                f"{shown(data)}; mhalib.data.regression_from_arrays(x, y) makes one"
            )
        return replace(self, whitening=data.whitening())

    def start(self, theta: Any) -> None:
        """No state; the rule must know the data, and the model must have the two matrices."""
        if self.whitening is None:
            raise ValueError(
                f"optimizer: expected a {type(self).__name__} that knows the data, got one that "
                "does not; train tells it, and rule.on(data) does"
            )
        if not (hasattr(theta, "A") and hasattr(theta, "B")):
            raise TypeError(
                "model: expected the matrices A and B of an AttentionRegression, "
                f"got {type(theta).__name__}"
            )

    def descended(self, U: Array, V: Array, dU: Array, dV: Array, lr: float) -> tuple[Array, Array]:
        """(U, V) − η (∇_U L + (λ/2) U D, ∇_V L − (λ/2) V D) with D = UᵀU − VᵀV."""
        # The derivative of (λ/8)‖UᵀU − VᵀV‖² is (λ/2) U (UᵀU − VᵀV) in U, and −(λ/2) V (UᵀU − VᵀV)
        # in V.
        D = self.balance / 2 * (U.T @ U - V.T @ V)
        return U - lr * (dU + U @ D), V - lr * (dV - V @ D)

    def back(self, U: Array, V: Array, theta: Any) -> Any:
        """The model of (U, V), like ``theta`` in all else."""
        return theta.with_arrays(**self.whitening.arrays(U, V, theta.A))


@vouched
@dataclass(frozen=True)
class Preconditioned(_OnData):
    r"""Gradient descent on the loss and a balancing regularizer, in whitened coordinates.

    .. math:: A \leftarrow A - \eta\, \nabla_A Q\, \hat\Sigma^{-1}, \qquad
              B \leftarrow B - \eta\, \hat\Sigma^{-1} \nabla_B Q\, \hat\Sigma^{-1}, \qquad
              Q = L + \tfrac\lambda8 \|U^\top U - V^\top V\|_F^2

    with λ = ``balance``.  Source: this book (SA1).
    """

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, None]:
        """The gradient step on Q."""
        moved = self.descended(
            *self.whitening.whiten(theta), *self.whitening.pull(grad), rate(self.lr, k)
        )
        return self.back(*moved, theta), state


@vouched
@dataclass(frozen=True)
class StructureAware(_OnData):
    r"""Whitened, balanced and renormalized descent whose step does not depend on the size of the
    parameters.

    Each step, with spectral norms u = ‖U‖, v = ‖V‖ and α = √(v/u): (U, V) ← (αU, V/α), then

    .. math:: U \leftarrow U - \tfrac{\eta}{uv}\bigl(\tfrac1\alpha \nabla_U L + \tfrac\lambda2 U D\bigr), \qquad
              V \leftarrow V - \tfrac{\eta}{uv}\bigl(\alpha \nabla_V L - \tfrac\lambda2 V D\bigr),

    with D = UᵀU − VᵀV of the rescaled layer and the gradients of the layer before the rescaling,

    and last, with r = ``radius`` and c = max(1, ‖V‖/r), (U, V) ← (cU, V/c): the population loss
    sees only U Vᵀ, and attention needs a small V to average over many tokens. ``radius`` = ∞ does
    not renormalize, ``balance`` = 0 does not balance, ``whitening`` = ``Whitening.none(d)`` does
    not whiten.

    Raises ValueError if U or V is zero: then no step is defined.

    Source: this book (SA2).
    """

    radius: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.radius, Real) and self.radius > 0):
            raise ValueError(
                f"radius: expected a positive number or infinity, got {shown(self.radius)}"
            )

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, None]:
        """The three moves of one step."""
        U, V = self.whitening.whiten(theta)
        u, v = (float(np.linalg.norm(part, 2)) for part in (U, V))
        # Negated, so that NaN is refused as well.
        if not u * v > 0:
            raise ValueError(
                f"model: expected A and B that are not zero, got ‖U‖ = {u:.3g} and ‖V‖ = {v:.3g}; "
                "start from AttentionRegression.random or .spectral"
            )
        U, V = self.moved(U, V, grad, u, v, k)
        return self.renormalized(U, V, float(np.linalg.norm(V, 2)), theta), state

    def moved(
        self, U: Array, V: Array, grad: Any, u: float, v: float, k: int
    ) -> tuple[Array, Array]:
        """The first two: (U, V), whose spectral norms are u and v, rescaled and a step further."""
        # With α both factors have the spectral norm √(uv). Of a loss of U Vᵀ alone, ∇_U L/α and α
        # ∇_V L are by the chain rule the gradients at (αU, V/α).
        (dU, dV), alpha = self.whitening.pull(grad), (v / u) ** 0.5
        return self.descended(
            alpha * U, V / alpha, dU / alpha, alpha * dV, rate(self.lr, k) / (u * v)
        )

    def renormalized(self, U: Array, V: Array, v: float, theta: Any) -> Any:
        """The third: the model, like ``theta`` in all else, of (U, V), of which V has the spectral
        norm v."""
        c = of_numbers(v).maximum(1.0, v / self.radius)
        return self.back(c * U, V / c, theta)
