"""Whitening: the coordinates in which tokens have second moment I."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from livegrad.arrays import Array, as_like, is_array, require, require_count, to_numpy

SINGULAR = 1e-12
"""A second moment whose smallest eigenvalue is below this share of the largest one counts as
singular."""


def moment(y: Array, x: Array) -> Array:
    """The mean (1/n) Σ y_i x_iᵀ (p, d) of arrays y (n, p) and x (n, d)."""
    return y.T @ x / len(x)


@dataclass(frozen=True, eq=False)
class Whitening:
    """The symmetric roots Σ̂^{1/2} and Σ̂^{−1/2} (d, d), and the way to (U, V) and back."""

    root: np.ndarray
    inverse: np.ndarray

    @classmethod
    def of(cls, x: Array) -> Self:
        """The roots of the second moment Σ̂ = (1/n) Σ x_i x_iᵀ of tokens x (n, d).

        Raises ValueError if Σ̂ is singular, as it is for n < d: a direction that no token has
        cannot be whitened.
        """
        require("x", x, ("n", "d"))
        # Double precision whatever x has: single precision rounds by far more than SINGULAR.
        x = np.asarray(to_numpy(x), float)
        return cls.roots(moment(x, x), f"{len(x)} tokens in {x.shape[1]} dimensions")

    @classmethod
    def roots(cls, second_moment: Array, whose: str = "a matrix") -> Self:
        """The roots of a second moment (d, d), refused in words of ``whose`` if it is singular."""
        square = second_moment.shape[:1] * 2 if is_array(second_moment) else ("d", "d")
        require("second_moment", second_moment, square)
        values, basis = np.linalg.eigh(np.asarray(to_numpy(second_moment), float))
        # eigh sorts in ascending order. NaN fails ``>``, too, and so does 0 > 0 of a zero moment.
        if not values[0] > SINGULAR * values[-1]:
            raise ValueError(
                f"data: expected tokens whose second moment can be inverted, got {whose} with "
                f"eigenvalues from {values[0]:.3g} to {values[-1]:.3g}; take more tokens, or "
                f"fewer dimensions"
            )
        # basis * v scales columns: it is basis @ diag(v).
        return cls(basis * values**0.5 @ basis.T, basis * values**-0.5 @ basis.T)

    @classmethod
    def none(cls, d: int) -> Self:
        """Σ̂ = I: a rule that does not whiten."""
        require_count(d=d)
        return cls(np.eye(d), np.eye(d))

    def whiten(self, model: Any) -> tuple[np.ndarray, np.ndarray]:
        """U = A Σ̂^{1/2} and V = Σ̂^{1/2} B Σ̂^{1/2} of a model."""
        A, B = map(to_numpy, (model.A, model.B))
        return A @ self.root, self.root @ B @ self.root

    def pull(self, grad: Any) -> tuple[np.ndarray, np.ndarray]:
        """The gradient with respect to (U, V): ∇_A L Σ̂^{−1/2} and Σ̂^{−1/2} ∇_B L Σ̂^{−1/2}."""
        # The chain rule of A = U Σ̂^{−1/2} and B = Σ̂^{−1/2} V Σ̂^{−1/2}.
        return replace(self, root=self.inverse).whiten(grad)

    def arrays(self, U: np.ndarray, V: np.ndarray, like: Array) -> dict[str, Array]:
        """A = U Σ̂^{−1/2} and B = Σ̂^{−1/2} V Σ̂^{−1/2}, in the library, dtype and place of the
        array ``like``."""
        return {
            "A": as_like(U @ self.inverse, like),
            "B": as_like(self.inverse @ V @ self.inverse, like),
        }

    def fit(self, x: Array, y: Array) -> Array:
        """The least-squares fit of targets y (n, p) to whitened tokens, (p, d)."""
        return moment(y, x) @ self.inverse

    def balanced(
        self, P: np.ndarray, S: np.ndarray, W: np.ndarray, like: Array
    ) -> dict[str, Array]:
        """A and B of the balanced factors U = P S^{1/2} and V = W S^{1/2} of P diag(S) Wᵀ."""
        return self.arrays(P * S**0.5, W * S**0.5, like)
