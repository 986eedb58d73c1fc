"""Keys among other keys: how much weight one can get at most, and which keys stand there."""

import numpy as np
from scipy.optimize import nnls

from livegrad.arrays import require_count


def most_weight(proportions: np.ndarray, others: np.ndarray, c: float = 0.0) -> float:
    """What no query exceeds when it gives weight to the key k = Σ λ_j k_j: λ (n,) and the other
    keys (n, d).

    1/(1 + e^{H(λ) − c V/√d}), with H(λ) = −Σ λ_j ln λ_j, where 0 ln 0 = 0, and V = Σ λ_j ‖k_j −
    k‖²: with c = 0 under softmax, else under the Gaussian kernel of width c with its rows divided
    by their sums. A query attains it if all λ_j are positive and the other keys are the corners of
    a simplex.

    Source: Proposition "Softmax never selects a key that is an average of the others",
    Exercise "What the distance adds" (this book).
    """
    # ln 1 = 0 stands in for 0 ln 0.
    positive = np.where(proportions > 0, proportions, 1)
    entropy = -(proportions * np.log(positive)).sum()
    spread = (proportions * ((others - proportions @ others) ** 2).sum(axis=1)).sum()
    return float(1 / (1 + np.exp(entropy - c * spread / others.shape[1] ** 0.5)))


def most_between(place: float, ends: tuple[float, float], c: float = 0.0) -> float:
    """The most weight that a query can give to a key between two others on a line; beyond them it
    tends to 1."""
    left, right = ends
    if not left <= place <= right:
        return 1.0
    share = (right - place) / (right - left)
    return most_weight(np.array([share, 1 - share]), np.array([[left], [right]]), c)


def inside(keys: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
    """Which keys (n, d) are means of the others, (n,): those that softmax cannot select."""
    raised = np.column_stack([keys, np.ones(len(keys))]).T  # the proportions of a mean sum to one
    off = [nnls(np.delete(raised, k, axis=1), raised[:, k])[1] for k in range(len(keys))]
    # The residual of a mean is rounding in units of the keys and of the row of ones.
    return np.array(off) < tolerance * (1 + abs(keys).max())


def share_inside(n: int, d: int, draws: int = 20) -> float:
    """The share of n standard normal keys in d dimensions that are means of the others, over some
    draws.

    Raises TypeError or ValueError if n, d or draws is no whole number ≥ 1.
    """
    require_count(n=n, d=d, draws=draws)
    rng = np.random.default_rng([n, d])
    return float(np.mean([inside(rng.standard_normal((n, d))) for _ in range(draws)]))
