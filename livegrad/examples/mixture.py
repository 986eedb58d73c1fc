"""Two normal distributions are fitted to a sample by descent on its negative log-likelihood.

``python -m livegrad.examples.mixture`` writes mixture.html.
"""

from dataclasses import dataclass

import numpy as np

import livegrad as lg


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(lg.Vector):
    """−mean log Σ_k π_k N(x; m_k, e^{2 s_k}), with π the softmax of ``logits``."""

    m: np.ndarray
    s: np.ndarray
    logits: np.ndarray

    def shares(self) -> np.ndarray:
        return np.exp(self.logits) / np.exp(self.logits).sum()

    def loss(self, X: np.ndarray, y: np.ndarray) -> float:
        z = (X - self.m) * np.exp(-self.s)
        density = self.shares() * np.exp(-(z**2) / 2 - self.s) / np.sqrt(2 * np.pi)
        return -np.log(density.sum(axis=1)).mean()


def gap(model: Mixture, data: lg.Samples) -> float:
    return abs(model.m[1] - model.m[0])  # 4 in the distribution of the sample


def share(model: Mixture, data: lg.Samples) -> float:
    return model.shares()[1]  # 0.7 there


def sample(n: int = 200, seed: int = 0) -> lg.Samples:
    rng = np.random.default_rng(seed)
    second = rng.random(n) < 0.7
    X = np.where(second, 2.0, -2.0) + rng.standard_normal(n)
    return lg.Samples(X[:, None], second.astype(float))


def figure() -> lg.live.LiveFigure:
    return lg.live.figure(
        Mixture(np.array([-0.1, 0.1]), np.zeros(2), np.zeros(2)),
        sample(),
        lg.GradientDescent(lr=0.3),
        steps=500,
        controls={"lr": [0.03, 0.1, 0.3, 1.0]},
        curves={"gap": gap, "share": share},
        title="A mixture of two",
    )


if __name__ == "__main__":
    figure().save("mixture.html")
