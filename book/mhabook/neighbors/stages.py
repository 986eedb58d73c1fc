"""Neighbor "Stages of heads": queries that move together, then part along one direction each."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from livegrad.arrays import Array
from livegrad.training import Path
from mhalib.attention import softmax
from mhalib.models import Vector

STRENGTHS = (6.0, 4.0, 2.5)
"""How long the signal is in each of three directions."""


class Located(NamedTuple):
    """Sequences X (n, L, K + 1) and targets y (n,): what the last coordinate of one token says."""

    X: np.ndarray
    y: np.ndarray


def single_location(n: int, L: int, strengths: tuple[float, ...], seed: int) -> Located:
    """n sequences of L standard normal tokens, of which one, at random, decides.

    To it a signal is added along one of the first K coordinates, at random, of the strength that
    belongs to it. The target is the same token's last coordinate, which is noise like all others.

    Source: this book, after the "single-location" regression with several directions of Sagitova
    et al. 2026 (abstract), whose law we have not read.
    """
    rng, K = np.random.default_rng([seed, 62]), len(strengths)
    X = rng.standard_normal((n, L, K + 1))
    rows, place, along = np.arange(n), rng.integers(L, size=n), rng.integers(K, size=n)
    X[rows, place, along] += np.array(strengths)[along]
    return Located(X, X[rows, place, -1].copy())


@dataclass(frozen=True, eq=False, repr=False)
class QueryHeads(Vector):
    r"""H heads with one query each, which read the last coordinate and are added.

    .. math:: f(X) = c\sum_h \langle\mathrm{softmax}(Xq_h),\ X e_{K+1}\rangle

    Parameters
    ----------
    Q : (H, d) queries
    c : what each head counts, which is not trained

    Source: this book, after Sagitova et al. 2026 (abstract: "multi-head softmax attention").
    """

    Q: Array
    c: float

    @classmethod
    def random(cls, H: int, d: int, c: float, scale: float = 0.001, seed: int = 0) -> Self:
        """Independent N(0, scale²) entries in the queries."""
        return cls(scale * np.random.default_rng([seed, 63]).standard_normal((H, d)), c)

    def loss_and_grad(self, X: Array, y: Array) -> tuple[Any, Self]:
        r"""Mean squared error and its gradient, with r = X e_{K+1} and weights a_h.

        .. math:: \nabla_{q_h} = \frac{2c}{n}\sum_i (f_i - y_i)\,
                  X_i^\top[a_{ih}\circ(r_i - a_{ih}^\top r_i)]
        """
        A = softmax(self.Q @ X.mT)  # (n, H, L)
        readings = np.broadcast_to(X[:, None, :, -1], A.shape)
        error = self.c * (A * readings).sum(axis=(1, 2)) - y
        pull = softmax.vjp(A, readings) * (2 * self.c * error / len(y))[:, None, None]
        return (error**2).mean(), self.with_arrays(Q=np.einsum("nhl,nld->hd", pull, X))


def overlaps(path: Path, directions: int) -> np.ndarray:
    """The component of every query along each direction, at every recorded step: (steps, H, K)."""
    return np.array([model.Q[:, :directions] for model in path.models])


def partings(path: Path, directions: int, apart: float = 0.5) -> list[float]:
    """For each direction the first recorded step at which two heads differ along it by ``apart``.

    Infinite where they never do.
    """
    spread = np.ptp(overlaps(path, directions), axis=1)
    return [
        float(path.steps[column.argmax()]) if column.any() else np.inf
        for column in (spread > apart).T
    ]
