"""Neighbor "A mixture's gate": softmax attention over tokens from a mixture of two Gaussians.

The clusters lie around (3, 0) and (0, 3), are equally likely, and have the covariance s I.
"""

import numpy as np
from scipy.optimize import minimize

from livegrad.arrays import Array
from mhalib.attention import softmax
from mhalib.models import AttentionRegression

MEANS = 3.0 * np.eye(2)
SPREAD, NOISE, POINTS = 0.5, 1.5, 20_000
"""Standard deviations of the clean tokens and of the noise; how many noisy points are judged."""
COUNTS = (100, 1_000, 10_000)
"""Numbers of tokens at which the formula is checked."""


def clustered(n: int, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The clusters (n,), 0 or 1, and the positions (n, 2) of n tokens."""
    rng = np.random.default_rng([seed, 7])
    cluster = rng.integers(2, size=n)
    return cluster, MEANS[cluster] + spread * rng.standard_normal((n, 2))


def gated_mean(b: Array, s: float) -> np.ndarray:
    r"""The attention mean (m, 2) of infinitely many tokens under the scores bᵀx, for b (m, 2).

    .. math:: s\,b + \sum_k \alpha_k \mu_k, \qquad \alpha = \mathrm{softmax}_k(\mu_k^\top b)

    Source: Gabet et al. 2026, Proposition 2.1; derived on the page from chapter 9's tilt.
    """
    return s * b + softmax(b @ MEANS.T) @ MEANS


def infinite_head(head: AttentionRegression, z: Array, s: float) -> np.ndarray:
    """Outputs (m, p) of a head for queries z (m, 2) when it reads infinitely many tokens."""
    return gated_mean(z @ head.B, s) @ head.A.T


def off_formula(n: int, contexts: int = 5, queries: int = 300) -> float:
    """How far the mean of n tokens lies from the formula, for A = I and B = I/s.

    It is the median over queries, averaged over contexts.
    """
    s = SPREAD**2 + NOISE**2
    head = AttentionRegression(np.eye(2), np.eye(2) / s)
    z = clustered(queries, s**0.5, seed=0)[1]
    exact, medians = infinite_head(head, z, s), []
    for seed in range(1, contexts + 1):
        away = head(z, clustered(n, s**0.5, seed)[1]) - exact
        medians.append(np.median(np.linalg.norm(away, axis=1)))
    return float(np.mean(medians))


def posterior_mean(z: Array, spread: float, noise: float) -> np.ndarray:
    r"""E[x | z] (m, 2) for noisy points z = x + noise: the denoiser of the least squared error.

    .. math:: (1 - c)\,z + c \sum_k \beta_k \mu_k, \qquad
              \beta = \mathrm{softmax}_k(\mu_k^\top z / s), \qquad
              s = \gamma^2 + \xi^2, \qquad c = \xi^2/s

    with the spread γ and the noise ξ.  Source: Gabet et al. 2026, equation (11).
    """
    s = spread**2 + noise**2
    c = noise**2 / s
    return (1 - c) * z + c * softmax(z @ MEANS.T / s) @ MEANS


def denoising_heads(spread: float, noise: float) -> list[AttentionRegression]:
    r"""Two heads that read noisy tokens and add up to ``posterior_mean``.

    .. math:: A_k = c\,\mu_k \nu_k^\top, \qquad
              B_k^\top = \tfrac1s I + \tfrac{1 - 2c}{sc} (\mu_1 + \mu_2)\,\nu_k^\top

    with ν_k = μ_k/‖μ_k‖²: A_k keeps its own mean and cancels the other. What B_k has beyond I/s
    adds the same to the scores of both means, so it does not move the gate.  Source: this book.
    """
    s = spread**2 + noise**2
    c = noise**2 / s
    heads = []
    for mean in MEANS:
        nu = mean / (mean @ mean)
        extra = (1 - 2 * c) / (s * c) * np.outer(nu, MEANS.sum(axis=0))
        heads.append(AttentionRegression(c * np.outer(mean, nu), np.eye(2) / s + extra))
    return heads


def best_one_head(z: Array, x: Array, s: float) -> np.ndarray:
    """What the best single head predicts of x: A by least squares, and B by search.

    B = aI + b(𝟏𝟏ᵀ − I) has the symmetry of the two clusters.
    """
    across = np.ones((2, 2)) - np.eye(2)

    def predictions(weights):
        return linear_fit(gated_mean(z @ (weights[0] * np.eye(2) + weights[1] * across), s), x)

    def error(weights):
        return squared_error(predictions(weights), x)

    return predictions(minimize(error, (1 / s, 0.0), method="Nelder-Mead").x)


def linear_fit(features: Array, x: Array) -> np.ndarray:
    """The predictions (m, 2) of x that are linear in features (m, k), by least squares."""
    return features @ np.linalg.lstsq(features, x, rcond=None)[0]


def squared_error(predicted: Array, x: Array) -> float:
    """The mean over points of ‖predicted − x‖²."""
    return float(((predicted - x) ** 2).sum(axis=1).mean())


def wrong_clusters(seed: int = 0) -> dict[str, float]:
    """The share of noisy points that go to the wrong cluster, by the sign of a score."""
    s = SPREAD**2 + NOISE**2
    cluster, z = clustered(POINTS, s**0.5, seed)
    between = MEANS[1:] - MEANS[:1]
    head = AttentionRegression(between, np.eye(2) / s)
    away = np.linalg.norm(z[:, None] - MEANS, axis=2)
    scores = {
        "linear map": z @ between[0],
        "one head": infinite_head(head, z, s)[:, 0],
        "best possible": away[:, 0] - away[:, 1],
    }
    return {name: float(((score > 0) != (cluster == 1)).mean()) for name, score in scores.items()}


def denoising_errors(
    spread: float = SPREAD, noise: float = NOISE, seed: int = 0
) -> dict[str, float]:
    """The squared errors of denoisers on the same points. The linear map has a constant, too."""
    s = spread**2 + noise**2
    x = clustered(POINTS, spread, seed)[1]
    z = x + noise * np.random.default_rng([seed, 8]).standard_normal(x.shape)
    heads = denoising_heads(spread, noise)
    predicted = {
        "linear map": linear_fit(np.column_stack([z, np.ones(len(z))]), x),
        "one head": best_one_head(z, x, s),
        "two heads": sum(infinite_head(head, z, s) for head in heads),
        "best possible": posterior_mean(z, spread, noise),
    }
    return {name: squared_error(each, x) for name, each in predicted.items()}


def gate_table() -> None:
    """Print how far tokens are from the formula, then both tasks, a line a predictor."""
    print("tokens read            " + "".join(f"{n:10,}" for n in COUNTS))
    print("head minus formula     " + "".join(f"{off_formula(n):10.3f}" for n in COUNTS))
    wrong, errors = wrong_clusters(), denoising_errors()
    print("\n               wrong cluster   squared error of denoising")
    for name, error in errors.items():
        share = f"{wrong[name]:.2%}" if name in wrong else "–"
        print(f"{name:15}{share:>13}{error:29.3f}")
