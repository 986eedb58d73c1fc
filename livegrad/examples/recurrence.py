"""A recurrence learns to remember: what it must answer stands at the beginning of what it reads.

``python -m livegrad.examples.recurrence`` writes recurrence.html.
"""

from dataclasses import dataclass

import numpy as np

import livegrad as lg


@dataclass(frozen=True, eq=False, repr=False)
class Recurrence(lg.Vector):
    """h ← tanh(A h + b x_t) from h = 0, for each x_t in turn, and ⟨c, h⟩ in the end."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        h = np.zeros((len(X), len(self.b)))
        for t in range(X.shape[1]):
            h = np.tanh(h @ self.A.mT + X[:, t, None] * self.b)
        return h @ self.c

    def loss(self, X: np.ndarray, y: np.ndarray) -> float:
        return ((self(X) - y) ** 2).mean() / 2


def kept(model: Recurrence, data: lg.Samples) -> float:
    return np.linalg.norm(model.A)  # how much of h a step may keep


def sequences(n: int = 60, length: int = 6, seed: int = 0) -> lg.Samples:
    """Sequences of normal numbers; the answer is the sine of the first."""
    X = np.random.default_rng(seed).standard_normal((n, length))
    return lg.Samples(X, np.sin(X[:, 0]))


def start(units: int = 6, seed: int = 1) -> Recurrence:
    rng = np.random.default_rng(seed)
    A, b, c = 0.5 * rng.standard_normal((units, units)), *0.5 * rng.standard_normal((2, units))
    return Recurrence(A, b, c)


def figure() -> lg.live.LiveFigure:
    return lg.live.figure(
        start(),
        sequences(),
        lg.Adam(lr=0.001),
        steps=1000,
        controls={"lr": [0.0003, 0.001, 0.003, 0.01, 0.03]},
        curves={"kept": kept},
        title="A recurrence",
    )


if __name__ == "__main__":
    figure().save("recurrence.html")
