"""The minima of a slice, and how they curve."""

from dataclasses import dataclass

import numpy as np

from livegrad.landscape import Slice


@dataclass(frozen=True)
class Minimum:
    """A stationary point of a slice: where, its loss, and the two eigenvalues of the slice's
    Hessian.

    ``scale`` is the largest curvature that was met on the way to it, in absolute value: what is far
    below is rounding.
    """

    at: tuple[float, float]
    loss: float
    eigenvalues: tuple[float, float]
    scale: float = 0.0

    @property
    def strict(self) -> bool:
        """Whether both eigenvalues are positive beyond rounding, above 10⁻⁹ of the largest
        curvature."""
        return self.eigenvalues[0] > 1e-9 * max(self.scale, self.eigenvalues[1])


def minima_of(cut: Slice, tolerance: float = 1e-6) -> list[Minimum]:
    """The local minima inside the slice, lowest first: grid minima, refined by damped Newton steps.

    Two that end within a hundredth of the slice's width are one. A minimum that no grid point is
    lowest around is not found: refine the grid. Where the slice is flat, points are found that are
    not ``strict``: an eigenvalue may be negative by as much as ``tolerance`` times the largest
    curvature on the way to the point.
    """
    found = []
    for i, j in _lowest(cut.loss):
        minimum = _refined(cut, cut.a[j], cut.b[i])
        width = cut.a[-1] - cut.a[0]
        known = any(np.hypot(*np.subtract(minimum.at, other.at)) < 0.01 * width for other in found)
        inside = abs(minimum.at[0]) <= cut.a[-1] and abs(minimum.at[1]) <= cut.b[-1]
        if inside and not known and minimum.eigenvalues[0] >= -tolerance * minimum.scale:
            found.append(minimum)
    return sorted(found, key=lambda minimum: minimum.loss)


def _refined(cut, a, b, steps=60):
    point, scale = np.array([a, b], float), 0.0
    loss, gradient, hessian = cut.derivatives(*point)
    for _ in range(steps):
        values, basis = np.linalg.eigh(hessian)
        scale = max(scale, float(abs(values).max()))
        # Absolute eigenvalues, so that the step goes down where the slice curves down; the floor
        # keeps it finite where the slice is flat.
        step = -basis @ ((basis.T @ gradient) / np.maximum(abs(values), 1e-12 * (scale or 1.0)))
        while True:
            trial = cut.derivatives(*(point + step))
            if trial[0] <= loss or np.abs(step).max() < 1e-13:
                break
            step = step / 2
        if np.abs(step).max() < 1e-13:
            break
        point, (loss, gradient, hessian) = point + step, trial
    return Minimum(tuple(point.tolist()), loss, tuple(np.linalg.eigvalsh(hessian).tolist()), scale)


def _lowest(Z):
    """Grid points that are nowhere higher than a neighbor, edges excluded."""
    middle = Z[1:-1, 1:-1]
    around = [
        Z[1 + i : Z.shape[0] - 1 + i, 1 + j : Z.shape[1] - 1 + j]
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if i or j
    ]
    # ≤, since two neighbors may tie for the lowest: < would lose them both.
    return np.argwhere(np.all([middle <= other for other in around], axis=0)) + 1
