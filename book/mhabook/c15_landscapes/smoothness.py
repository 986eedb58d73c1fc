"""How smooth a slice is, in three measures, with derivatives by formula or by differences on its
grid."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from livegrad.landscape import Slice


class Smoothness(NamedTuple):
    """Three measures of how smooth a slice is; a smoother slice has less of each, and they need not
    agree.

    ``maximum`` is the largest loss, ``mean_gradient`` the mean norm of the gradient,
    ``negative_curvature`` the share of points at which the slice curves down in some direction. The
    first two have the unit of the loss, the second one per unit of the directions; all three depend
    on how far the slice reaches.
    """

    maximum: float
    mean_gradient: float
    negative_curvature: float

    def __repr__(self) -> str:
        return f"Smoothness({', '.join(f'{name}={value:.4g}' for name, value in self._asdict().items())})"


def field(cut: Slice) -> tuple[np.ndarray, ...]:
    """Gradients (B, A, 2) and Hessians (B, A, 2, 2) at all grid points, by the model's own
    formulas."""
    found = [[cut.derivatives(a, b)[1:] for a in cut.a] for b in cut.b]
    return tuple(np.array([[point[k] for point in row] for row in found]) for k in range(2))


def spectrum(cut: Slice) -> np.ndarray:
    """The eigenvalues (B, A, 2) of the slice's Hessian at all grid points, ascending.

    They belong to the coordinates (a, b): eigenvalues of the full Hessian restricted to the plane
    only where u and v are orthonormal. Their signs do not depend on that.
    """
    return np.linalg.eigvalsh(field(cut)[1])


def differences(
    loss: ArrayLike, a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient (…, 2) and Hessian (…, 2, 2) at the inner points of a grid loss[i, j] at (a_j, b_i),
    by differences.

    Central differences of second order on evenly spaced axes: exact for quadratic functions.

    Raises ValueError if ``loss`` is no matrix of real numbers, has fewer than three points a side,
    does not fit its axes, or an axis is not evenly spaced.
    """
    loss, steps = np.asarray(loss), []
    if loss.ndim != 2 or loss.dtype.kind not in "fiu":
        raise ValueError(
            "loss: expected a matrix of real numbers, one for each pair of a and b, "
            f"got shape {loss.shape} and dtype {loss.dtype}"
        )
    loss = loss.astype(float)
    for name, axis, count in (("a", a, loss.shape[1]), ("b", b, loss.shape[0])):
        if count < 3 or len(axis) != count:
            raise ValueError(
                f"{name}: expected as many numbers as loss has points, {count}, and at least 3, "
                f"got {len(axis)}"
            )
        gaps = np.diff(axis)
        if not gaps[0] > 0 or not np.allclose(gaps, gaps[0], rtol=1e-9, atol=0):
            raise ValueError(
                f"{name}: expected evenly spaced numbers in rising order, "
                f"got gaps from {gaps.min():.3g} to {gaps.max():.3g}"
            )
        # The mean, since each gap carries the rounding of two numbers.
        steps.append(gaps.mean())
    (h, k), middle = steps, loss[1:-1, 1:-1]
    left, right, below, above = loss[1:-1, :-2], loss[1:-1, 2:], loss[:-2, 1:-1], loss[2:, 1:-1]
    mixed = (loss[2:, 2:] - loss[2:, :-2] - loss[:-2, 2:] + loss[:-2, :-2]) / (4 * h * k)
    gradient = np.stack([(right - left) / (2 * h), (above - below) / (2 * k)], axis=-1)
    second = [
        [(right - 2 * middle + left) / h**2, mixed],
        [mixed, (above - 2 * middle + below) / k**2],
    ]
    return gradient, np.moveaxis(np.array(second), (0, 1), (-2, -1))


def by_differences(
    loss: ArrayLike, a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray
) -> Smoothness:
    """The ``Smoothness`` of a grid of losses loss[i, j] at (a_j, b_i), with derivatives by
    differences.

    ``by_formula`` takes derivatives by the model's formulas; this one needs nothing but the losses.
    """
    return _smoothness(loss, *differences(loss, a, b))


def by_formula(cut: Slice) -> Smoothness:
    """The ``Smoothness`` of a slice, with derivatives by the model's own formulas at all grid
    points."""
    return _smoothness(cut.loss, *field(cut))


def _smoothness(loss, gradient, hessian):
    eigenvalues = np.linalg.eigvalsh(hessian)
    # what is below that may be rounding
    down = eigenvalues[..., 0] < -1e-6 * abs(eigenvalues).max()
    return Smoothness(
        float(np.max(loss)), float(np.linalg.norm(gradient, axis=-1).mean()), float(down.mean())
    )
