"""One query on a line of keys: its output, where that rises and falls, and every minimum of its
loss."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from livegrad.arrays import Array
from mhalib.attention import Gaussian, Softmax, gaussian, normalized_gaussian, softmax

REACH = 200.0
GRID = REACH * np.sinh(np.linspace(-7, 7, 4001)) / np.sinh(7)
"""Where turning points are looked for: 0.0013 apart at 0, and 1 % of |q| apart far out."""


@dataclass(frozen=True)
class QueryMinimum:
    """A minimum of the loss ½ (o(q) − y)² of one query: where, and its loss. It is spurious if that
    is not zero."""

    q: float
    loss: float
    spurious: bool


@dataclass(frozen=True, eq=False)
class Line:
    """What one query on a line sees: keys and values, (n,) of one problem or (P, n) of many, and a
    kernel."""

    keys: ArrayLike
    values: ArrayLike
    kernel: Softmax | Gaussian = softmax

    @property
    def means(self) -> bool:
        """Whether the output is a mean of the values."""
        return self.kernel.normalized

    def exponents(self, q: ArrayLike) -> np.ndarray:
        """Exponents (…, G, n) of the weights of queries q (…, G), without the e^{−cq²/√d} of the
        Gaussian kernel."""
        q, keys = np.asarray(q, float)[..., None], np.asarray(self.keys, float)[..., None, :]
        if isinstance(self.kernel, Gaussian):
            return self.kernel.c * (2 * q * keys - keys**2)
        return q * keys

    def weights(self, q: ArrayLike) -> np.ndarray:
        """Attention weights (…, G, n) of queries q (…, G)."""
        z = self.exponents(q)
        if not self.means:
            return np.exp(z - self.kernel.c * np.asarray(q, float)[..., None] ** 2)
        weights = np.exp(z - z.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    def output(self, q: ArrayLike) -> np.ndarray:
        """o (…, G) of queries q (…, G)."""
        return (self.weights(q) * np.asarray(self.values, float)[..., None, :]).sum(axis=-1)

    def trend(self, q: ArrayLike) -> np.ndarray:
        """A positive multiple of the slope o′(q), (…, G): its sign is right where o′ itself rounds
        to zero.

        Means: Σ_{i<j} w_i w_j (u_j − u_i)(k_j − k_i). The Gaussian kernel: Σ_j w_j u_j (k_j − q).
        """
        z = self.exponents(q)
        (keys, values) = (np.asarray(a, float)[..., None, :] for a in (self.keys, self.values))
        if self.means:
            i, j = np.triu_indices(z.shape[-1], 1)
            z, factor = (
                z[..., i] + z[..., j],
                (values[..., j] - values[..., i]) * (keys[..., j] - keys[..., i]),
            )
        else:
            factor = values * (keys - np.asarray(q, float)[..., None])
        z = np.where(factor != 0, z, -np.inf)  # what has no part in the sum shall not set its scale
        # A positive factor is taken out, which keeps the sign where o′ underflows; `initial` is for
        # one key, which has no pairs, and for rows of zero factors, whose maximum is −∞.
        return (np.exp(z - z.max(axis=-1, keepdims=True, initial=-1e300)) * factor).sum(axis=-1)

    def rows(self, chosen: Array) -> "Line":
        """The problems of these numbers, out of many."""
        return Line(np.asarray(self.keys)[chosen], np.asarray(self.values)[chosen], self.kernel)

    def turns(self, grid: Array = GRID) -> tuple[np.ndarray, ...]:
        """Turning points of o: the problem's number, q, and whether o has a maximum there, each
        (t,).

        Changes of sign between points of the grid, then bisection. Two turns between neighbors are
        not seen.
        """
        many = self
        if np.ndim(self.keys) == 1:
            one = (np.asarray(column, float)[None] for column in (self.keys, self.values))
            many = Line(*one, self.kernel)
        up = many.trend(grid) > 0
        row, at = np.nonzero(up[:, 1:] != up[:, :-1])
        rising = up[row, at]
        q = _bisect(
            lambda q: (many.rows(row).trend(q[:, None])[:, 0] > 0) == rising, grid[at], grid[at + 1]
        )
        return row, q, rising

    def limits(self) -> np.ndarray:
        """Outputs at −∞ and +∞ (…, 2): for means the values of the outer keys, else zero."""
        values = np.asarray(self.values, float)
        if not self.means:
            return np.zeros((*values.shape[:-1], 2))
        order = np.argsort(self.keys, axis=-1)
        return np.take_along_axis(values, order[..., [0, -1]], axis=-1)

    def minima(self, y: float, grid: Array = GRID) -> list[QueryMinimum]:
        """All minima of the loss for the target y, in order, for one problem.

        The output meets y between two turns, or turns below or above it.
        """
        _, turns, top = self.turns(grid)
        ends = np.concatenate([[grid[0]], turns, [grid[-1]]])
        # Between two turns o is monotone, so it meets y once or not at all.
        below = self.output(ends) < y
        crossed = np.flatnonzero(below[1:] != below[:-1])
        q = _bisect(
            lambda q: (self.output(q) < y) == below[crossed], ends[crossed], ends[crossed + 1]
        )
        found = [QueryMinimum(float(one), 0.0, False) for one in q]
        # A maximum of o below y, or a minimum above it: the loss rises to both sides.
        stuck = turns[top == below[1:-1]]
        found += [QueryMinimum(float(one), float(self.loss(one, y)), True) for one in stuck]
        return sorted(found, key=lambda minimum: minimum.q)

    def basins(
        self, y: float, grid: Array = GRID
    ) -> list[tuple[float, float, QueryMinimum | None]]:
        """Where gradient flow of the query goes: (left, right, minimum) of every basin, in order,
        for one problem.

        They are split by the maxima of the loss. A valley that falls towards infinity has no
        minimum, but None.
        """
        _, turns, top = self.turns(grid)
        # A maximum of o above y, or a minimum below it: the loss falls to both sides.
        hills = [-np.inf, *turns[top != (self.output(turns) < y)], np.inf]
        minima = self.minima(y, grid)
        return [
            (left, right, next((one for one in minima if left < one.q < right), None))
            for left, right in zip(hills[:-1], hills[1:], strict=True)
        ]

    def loss(self, q: float | Array, y: float) -> Any:
        """½ (o(q) − y)²."""
        return (self.output(np.atleast_1d(q)) - y).reshape(np.shape(q)) ** 2 / 2

    def slope(self, q: ArrayLike) -> np.ndarray:
        """o′(q), (…, G)."""
        keys, values = (np.asarray(a, float)[..., None, :] for a in (self.keys, self.values))
        weights = self.weights(q)
        scale = 2 * self.kernel.c if isinstance(self.kernel, Gaussian) else 1.0
        around = (weights * keys).sum(axis=-1) if self.means else np.asarray(q, float)
        return scale * (weights * values * (keys - around[..., None])).sum(axis=-1)

    def descend(self, q: ArrayLike, y: float, lr: float, steps: int) -> np.ndarray:
        """Gradient descent of separate queries from q (G,) for a target y: positions (steps + 1,
        G)."""
        path = [np.asarray(q, float)]
        for _ in range(steps):
            q = path[-1]
            path.append(q - lr * (self.output(q) - y) * self.slope(q))
        return np.array(path)


def _bisect(left, a, b, rounds=60):
    """The points between a and b (t,) at which ``left`` turns from true to false."""
    # 60 halvings bring every gap of GRID below 10⁻¹⁸.
    for _ in range(rounds):
        middle = (a + b) / 2
        true = left(middle)
        a, b = np.where(true, middle, a), np.where(true, b, middle)
    return (a + b) / 2


def sides(keys: ArrayLike, values: ArrayLike) -> dict[str, Line]:
    """The same problem for softmax, the Gaussian kernel, and the control."""
    return {
        "softmax": Line(keys, values),
        "Gaussian": Line(keys, values, gaussian),
        "Gaussian, rows normalized": Line(keys, values, normalized_gaussian),
    }
