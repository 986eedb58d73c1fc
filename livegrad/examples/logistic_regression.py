"""Logistic regression on two clouds of points: without a penalty the weights grow for ever.

``python -m livegrad.examples.logistic_regression`` writes logistic_regression.html.
"""

from dataclasses import dataclass

import numpy as np

import livegrad as lg


@dataclass(frozen=True, eq=False, repr=False)
class LogisticRegression(lg.Vector):
    """Mean of log(1 + exp(−y ⟨w, x⟩)), and ``penalty`` times ½‖w‖²."""

    w: np.ndarray
    penalty: float = 0.0

    def loss(self, X: np.ndarray, y: np.ndarray) -> float:
        return np.logaddexp(0, -y * (X @ self.w)).mean() + self.penalty * (self.w**2).sum() / 2


def length(model: LogisticRegression, data: lg.Samples) -> float:
    return np.linalg.norm(model.w)


def margin(model: LogisticRegression, data: lg.Samples) -> float:
    return (data.y * (data.X @ model.w)).min()  # above 0 once no point is on the wrong side


def clouds(n: int = 80, seed: int = 0) -> lg.Samples:
    """Labels ±1, and points around (1, ½) for one and around (−1, −½) for the other."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n / 2, 1.0, -1.0)
    return lg.Samples(y[:, None] * [1.0, 0.5] + 0.4 * rng.standard_normal((n, 2)), y)


def figure() -> lg.live.LiveFigure:
    return lg.live.figure(
        LogisticRegression(np.zeros(2)),
        clouds(),
        lg.GradientDescent(lr=1.0),
        steps=1000,
        controls={"lr": [0.1, 0.3, 1.0, 3.0, 10.0], "penalty": [0.0, 0.01, 0.1, 1.0]},
        curves={"length": length, "margin": margin},
        title="Logistic regression",
    )


if __name__ == "__main__":
    figure().save("logistic_regression.html")
