"""A loss of two numbers, to see what descent does: a bowl, or saddles between minima."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from livegrad.arrays import require_count
from mhalib.optim import GradientDescent


@dataclass(frozen=True)
class Surface:
    r"""A loss f(θ) of two numbers with a stationary point at the origin, where ∇²f has eigenvalues
    λ₁ and λ₂.

    .. math:: f = \tfrac12\lambda_1u^2 + \tfrac12\lambda_2v^2 \quad(\lambda_2\ge0),\qquad
              f = \tfrac12\lambda_1u^2 + \frac{|\lambda_2|}{\pi^2}(1+\cos\pi v) \quad(\lambda_2<0)

    Here u is the coordinate of θ along ``direction``, and v the one across. The second kind has a
    saddle at the origin and minima with f = 0 at v = ±1, where the curvatures are λ₁ and |λ₂|; no
    curvature is larger anywhere.

    Parameters
    ----------
    curvatures : the numbers (λ₁, λ₂) with λ₁ > 0, in a tuple, a list or an array; kept as a tuple
    direction : the eigenvector of λ₁, of length 1, likewise; (1, 0) unless you choose

    Raises ValueError if these are not such numbers.

    Examples
    --------
    >>> bowl = Surface((1.0, 0.25))
    >>> bowl.descend((2.0, 2.0), lr=1.0, steps=2)
    array([[2.   , 2.   ],
           [0.   , 1.5  ],
           [0.   , 1.125]])
    """

    curvatures: tuple[float, float]
    direction: tuple[float, float] = (1.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("curvatures", "direction"):
            given = getattr(self, name)
            pair = (
                tuple(given)
                if isinstance(given, Sequence) or getattr(given, "ndim", 0) == 1
                else ()
            )
            if not (
                len(pair) == 2
                and all(isinstance(x, Real) for x in pair)
                and np.isfinite(pair).all()
            ):
                raise ValueError(f"{name}: expected two numbers, got {given!r}")
            object.__setattr__(self, name, pair)
        if self.curvatures[0] <= 0:
            raise ValueError(
                f"curvatures: expected the first to be > 0, got {self.curvatures[0]!r}"
            )
        if abs(np.hypot(*self.direction) - 1) > 1e-9:
            raise ValueError(
                f"direction: expected length 1, got {self.direction!r}, of length "
                f"{np.hypot(*self.direction):g}"
            )

    @property
    def eigenvectors(self) -> np.ndarray:
        """The eigenvectors of the Hessian as columns (2, 2), ``direction`` first."""
        c, s = self.direction
        return np.array([[c, -s], [s, c]])

    def coordinates(self, theta: ArrayLike) -> tuple[Any, Any]:
        """(u, v) of points θ (…, 2)."""
        (c, s), theta = self.direction, np.asarray(theta, dtype=float)
        return c * theta[..., 0] + s * theta[..., 1], c * theta[..., 1] - s * theta[..., 0]

    def loss(self, theta: ArrayLike) -> Any:
        """f at points θ (…, 2)."""
        (first, second), (u, v) = self.curvatures, self.coordinates(theta)
        across = second * v * v / 2 if second >= 0 else -second / np.pi**2 * (1 + np.cos(np.pi * v))
        return first * u * u / 2 + across

    def gradient(self, theta: ArrayLike) -> np.ndarray:
        """∇f at points θ (…, 2)."""
        (first, second), (c, s), (u, v) = self.curvatures, self.direction, self.coordinates(theta)
        du, dv = first * u, second * v if second >= 0 else second / np.pi * np.sin(np.pi * v)
        return np.stack([c * du - s * dv, s * du + c * dv], axis=-1)

    def hessian(self, theta: ArrayLike = (0.0, 0.0)) -> np.ndarray:
        """∇²f (2, 2) at one point θ."""
        (first, second), (_, v) = self.curvatures, self.coordinates(theta)
        curved = second if second >= 0 else second * np.cos(np.pi * v)
        return self.eigenvectors * np.array([first, curved]) @ self.eigenvectors.T

    def descend(self, start: Sequence[float], lr: float, steps: int) -> np.ndarray:
        """The points θ₀, θ₁, …, θ_steps of gradient descent with step size ``lr``, (steps + 1, 2).

        Raises ValueError if start is no pair of finite numbers, lr no number > 0, or steps no whole
        number ≥ 1.
        """
        require_count(steps=steps)
        theta, rule = np.asarray(start, dtype=float), GradientDescent(lr)
        if theta.shape != (2,) or not np.isfinite(theta).all():
            raise ValueError(f"start: expected two finite numbers, got {start!r}")
        points = [theta]
        for k in range(steps):
            theta, _ = rule.step(theta, self.gradient(theta), None, k)
            points.append(theta)
        return np.array(points)
