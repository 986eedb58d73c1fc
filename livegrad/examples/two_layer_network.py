"""A network of two layers learns a wave: its loss falls, stays on a plateau, and falls again.

``python -m livegrad.examples.two_layer_network`` writes two_layer_network.html.
"""

from dataclasses import dataclass

import numpy as np

import livegrad as lg


@dataclass(frozen=True, eq=False, repr=False)
class TwoLayers(lg.Vector):
    """f(x) = Σ_k a_k tanh(w_k x + b_k), under half the mean squared error."""

    w: np.ndarray
    b: np.ndarray
    a: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.tanh(X * self.w + self.b) @ self.a

    def loss(self, X: np.ndarray, y: np.ndarray) -> float:
        return ((self(X) - y) ** 2).mean() / 2


def wave(n: int = 50) -> lg.Samples:
    """y = sin 3x on n points of [−1, 1]."""
    X = np.linspace(-1, 1, n)[:, None]
    return lg.Samples(X, np.sin(3 * X[:, 0]))


def start(units: int = 12, scale: float = 0.1, seed: int = 0) -> TwoLayers:
    w, b, a = scale * np.random.default_rng(seed).standard_normal((3, units))
    return TwoLayers(w, b, a)


def steepest(model: TwoLayers, data: lg.Samples) -> float:
    """The largest slope of a unit at 0."""
    return abs(model.a * model.w).max()


def figure() -> lg.live.LiveFigure:
    return lg.live.figure(
        start(),
        wave(),
        lg.Momentum(lr=0.1),
        steps=2000,
        controls={"lr": [0.01, 0.03, 0.1, 0.3], "beta": [0.0, 0.5, 0.9, 0.99]},
        curves={"steepest": steepest},
        title="A network of two layers",
    )


if __name__ == "__main__":
    figure().save("two_layer_network.html")
