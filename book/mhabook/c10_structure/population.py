"""The regression layer of Part II with infinitely many Gaussian tokens as its context: no softmax
is left."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from livegrad.arrays import Array, require, require_same_dtype
from livegrad.model.workspace import Workspace
from mhalib.models.regression import AttentionRegression, excess_and_grad


@dataclass(frozen=True, eq=False, repr=False)
class PopulationRegression(AttentionRegression):
    r"""``AttentionRegression`` in the limit of infinitely many tokens x ~ N(0, Σ), which a model
    sees through Σ alone.

    .. math:: f(x) = A \Sigma B^\top x, \qquad
              L(A, B) - L^* = \tfrac12 \|(A \Sigma B^\top - M)\, \Sigma^{1/2}\|_F^2

    Train it on ``data.population()``, whose X and y are Σ (d, d) and M (p, d).

    Source: this book, after Goel et al. 2026.
    """

    @classmethod
    def of(cls, model: AttentionRegression) -> Self:
        """The same A and B before infinitely many tokens."""
        return cls(model.A, model.B)

    def __call__(self, x: Array, Sigma: Array) -> Array:
        """Predictions A Σ Bᵀ x (m, p) of queries x (m, d)."""
        return self.means(x, Sigma) @ self.A.mT

    def means(self, x: Array, Sigma: Array) -> Array:
        """Attention means Σ Bᵀ x (m, d)."""
        require("x", x, ("m", self.sizes[1]))
        return x @ self.B @ Sigma

    def effective_tokens(self, x: Array, Sigma: Array) -> Array:
        """Infinitely many."""
        return np.full(len(x), np.inf)

    def loss(self, Sigma: Array, M: Array) -> Any:
        """The excess L − L*, a number: the noise floor σ²p/2 is left out."""
        return self.loss_and_grad(Sigma, M)[0]

    def loss_and_grad(self, Sigma: Array, M: Array) -> tuple[Any, Self]:
        """The excess and ∇_A = E B Σ, ∇_B = Eᵀ A Σ, with E = (A Σ Bᵀ − M) Σ."""
        self._require_moments(Sigma, M)
        loss, dA, dB = excess_and_grad(self.A, self.B, Sigma, M)
        return loss, self._with({"A": dA, "B": dB})

    def hvp(self, Sigma: Array, M: Array, V: Self) -> Self:
        """∇²L(θ) V: the derivative of ``loss_and_grad`` along V."""
        self.require_direction(V)
        self._require_moments(Sigma, M)
        E = (self.A @ Sigma @ self.B.mT - M) @ Sigma
        E_ = (V.A @ Sigma @ self.B.mT + self.A @ Sigma @ V.B.mT) @ Sigma
        return self._with(
            {"A": (E_ @ self.B + E @ V.B) @ Sigma, "B": (E_.mT @ self.A + E.mT @ V.A) @ Sigma}
        )

    def workspace(self, Sigma: Array, M: Array) -> Workspace:
        """What ``train`` runs on: this formula; a recorded step measures the excess, under the name
        loss."""
        self._require_moments(Sigma, M)
        return Workspace(self, Sigma, M)

    def _require_moments(self, Sigma, M):
        p, d = self.sizes
        require("Sigma", Sigma, (d, d))
        require("M", M, (p, d))
        require_same_dtype(Sigma=Sigma, M=M, A=self.A)
