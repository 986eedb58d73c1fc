"""Neighbor "Two gradient steps": a query that finds a weak signal hidden in one of many tokens."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from livegrad.arrays import Array
from livegrad.training import train
from mhalib.attention import softmax
from mhalib.losses import logistic
from mhalib.models import Vector
from mhalib.optim import GradientDescent

D, N = 40, 160
"""Dimensions of a token, and samples of each of the two training sets."""
QUERY = 2.0
"""The length of the query with which readouts are trained and tested."""


class Hidden(NamedTuple):
    """Sequences X (n, L, d) with labels y (n,); those labeled +1 have the signal in one token."""

    X: np.ndarray
    y: np.ndarray


def unit_direction(d: int, seed: int) -> np.ndarray:
    """The signal's direction, uniform among those of norm 1 in R^d."""
    normal = np.random.default_rng([seed, 60]).standard_normal(d)
    return normal / np.linalg.norm(normal)


def hidden_signal(n: int, L: int, direction: Array, strength: float, seed: int) -> Hidden:
    """n sequences of L standard normal tokens; every second one hides ``strength · direction``.

    Source: the data of Barnfield et al. 2025 (abstract), with one informative token a sequence and
    classes of equal size.
    """
    rng = np.random.default_rng([seed, L, n, 61])
    X = rng.standard_normal((n, L, len(direction)))
    y = np.where(np.arange(n) % 2 == 1, 1.0, -1.0)
    positive = np.flatnonzero(y > 0)
    X[positive, rng.integers(L, size=len(positive))] += strength * direction
    return Hidden(X, y)


@dataclass(frozen=True, eq=False, repr=False)
class QueryHead(Vector):
    r"""A query q (d,), a readout w (d,), and a threshold b ().

    .. math:: f(X) = \langle w, X^\top s\rangle + b, \qquad s = \mathrm{softmax}(Xq)

    Source: Barnfield et al. 2025 (abstract: "query weight vector of the attention classifier").
    """

    q: Array
    w: Array
    b: Array

    @classmethod
    def zeros(cls, d: int) -> Self:
        """Uniform attention that nothing reads."""
        return cls(np.zeros(d), np.zeros(d), np.zeros(()))

    def attended(self, X: Array) -> Array:
        """The mean token with the query's weights, (n, d)."""
        return (softmax(X @ self.q)[:, None] @ X)[:, 0]

    def __call__(self, X: Array) -> Array:
        """Outputs f(X) (n,): their signs are the predicted labels."""
        return self.attended(X) @ self.w + self.b

    def loss_and_grad(self, X: Array, y: Array) -> tuple[Any, Self]:
        r"""Mean logistic loss and its gradient, with :math:`g_i = y_i\ell'(y_if_i)/n`.

        .. math:: \nabla_w = \sum_i g_i X_i^\top s_i, \qquad
                  \nabla_q = \sum_i g_i X_i^\top [s_i \circ (X_iw - s_i^\top X_iw)]
        """
        s = softmax(X @ self.q)
        means = (s[:, None] @ X)[:, 0]
        z = y * (means @ self.w + self.b)
        g = y * logistic.slope(z) / len(y)
        turn = (softmax.vjp(s, X @ self.w)[:, None] @ X)[:, 0]
        return logistic(z).mean(), self.with_arrays(q=g @ turn, w=g @ means, b=g.sum())


def signal_cosine(vector: Array, direction: Array) -> float:
    """The cosine of a vector with a direction of norm 1, and 0 for the vector 0."""
    return float(vector @ direction / (np.linalg.norm(vector) or 1.0))


def with_readout(head: QueryHead, sample: Hidden, ridge: float = 0.01) -> QueryHead:
    """The head with the w and b of least logistic loss + ½ ridge ‖(w, b)‖², by Newton's method."""
    features = np.column_stack([head.attended(sample.X), np.ones(len(sample.y))])
    w = np.zeros(features.shape[1])
    for _ in range(12):
        z = sample.y * (features @ w)
        slope = features.T @ (sample.y * logistic.slope(z)) / len(z) + ridge * w
        bend = features.T * logistic.curvature(z) @ features / len(z) + ridge * np.eye(len(w))
        w = w - np.linalg.solve(bend, slope)
    return head.with_arrays(w=w[:-1], b=w[-1] + np.zeros(()))


def error_on_fresh(
    head: QueryHead, L: int, direction: Array, strength: float, n: int = 1000
) -> float:
    """The share of n fresh sequences that a head gets wrong.

    They are drawn in the plane of q and w alone. It is all that the head sees, and there, too,
    tokens are standard normal.
    """
    plane, _ = np.linalg.qr(np.column_stack([head.q, head.w]))
    flat = head.with_arrays(q=plane.T @ head.q, w=plane.T @ head.w)
    fresh = hidden_signal(n, L, plane.T @ direction, strength, seed=7)
    return float((fresh.y * flat(fresh.X) <= 0).mean())


def after_two_steps(L: int, strength: float, seed: int = 0) -> dict[str, float]:
    """The cosine of query and signal after two steps from zero, and errors of three classifiers.

    "two steps" and "mean token" have their readouts from a second sample. "signal known" looks for
    the signal and reads it; only its threshold, halfway between the classes, is from the second
    sample. Queries are scaled to the length ``QUERY``.
    """
    direction = unit_direction(D, seed)
    first = hidden_signal(N, L, direction, strength, 2 * seed)
    second = hidden_signal(N, L, direction, strength, 2 * seed + 1)
    zero = QueryHead.zeros(D)
    q = train(zero, first, GradientDescent(1.0), steps=2)[-1].q
    known = QueryHead(QUERY * direction, direction, np.zeros(()))
    heads = {
        "two steps": with_readout(zero.with_arrays(q=QUERY * q / np.linalg.norm(q)), second),
        "mean token": with_readout(zero, second),
        "signal known": known.with_arrays(b=-known(second.X).mean()),
    }
    errors = {name: error_on_fresh(each, L, direction, strength) for name, each in heads.items()}
    return {"cosine": signal_cosine(q, direction)} | errors


def over_strengths(L: int, strengths: Iterable[float], seed: int = 0) -> dict[str, np.ndarray]:
    """What ``after_two_steps`` finds at length L, by name, an array over the strengths."""
    rows = [after_two_steps(L, strength, seed) for strength in strengths]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
