"""A matrix of rank 2, of which half of the entries are seen, is completed by two small factors.

``python -m livegrad.examples.matrix_factorization`` writes matrix_factorization.html.
"""

from dataclasses import dataclass

import numpy as np

import livegrad as lg


@dataclass(frozen=True, eq=False, repr=False)
class Factors(lg.Vector):
    """½ of the mean of (U Vᵀ − Y)² over the entries that X marks as seen."""

    U: np.ndarray
    V: np.ndarray

    def loss(self, X, y):
        return (X * (self.U @ self.V.mT - y) ** 2).sum() / (2 * X.sum())


def unseen(model, data):
    """The mean of (U Vᵀ − Y)² over the entries that are not seen."""
    hidden = 1 - data.X
    return (hidden * (model.U @ model.V.mT - data.y) ** 2).sum() / hidden.sum()


def matrix(rows=20, columns=15, rank=2, seen=0.5, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
    return lg.Samples((rng.random(Y.shape) < seen).astype(float), Y)


def start(rows=20, columns=15, rank=4, scale=0.1, seed=1):
    rng = np.random.default_rng(seed)
    return Factors(
        scale * rng.standard_normal((rows, rank)), scale * rng.standard_normal((columns, rank))
    )


def figure():
    return lg.live.figure(
        start(),
        matrix(),
        lg.GradientDescent(lr=3.0),
        steps=2000,
        controls={"lr": [0.3, 1.0, 3.0, 10.0]},
        curves={"unseen": unseen},
        title="Half of a matrix",
    )


if __name__ == "__main__":
    figure().save("matrix_factorization.html")
