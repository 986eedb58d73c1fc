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

    def loss(self, X: np.ndarray, y: np.ndarray) -> float:
        return (X * (self.U @ self.V.mT - y) ** 2).sum() / (2 * X.sum())


def unseen(model: Factors, data: lg.Samples) -> float:
    """The mean of (U Vᵀ − Y)² over the entries that are not seen."""
    hidden = 1 - data.X
    return (hidden * (model.U @ model.V.mT - data.y) ** 2).sum() / hidden.sum()


def matrix(
    rows: int = 20, columns: int = 15, rank: int = 2, seen: float = 0.5, seed: int = 0
) -> lg.Samples:
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
    return lg.Samples((rng.random(Y.shape) < seen).astype(float), Y)


def start(
    rows: int = 20, columns: int = 15, rank: int = 4, scale: float = 0.1, seed: int = 1
) -> Factors:
    rng = np.random.default_rng(seed)
    return Factors(
        scale * rng.standard_normal((rows, rank)), scale * rng.standard_normal((columns, rank))
    )


def figure() -> lg.live.LiveFigure:
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
