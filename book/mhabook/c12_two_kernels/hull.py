"""Keys among other keys: how much weight one can get at most, and which keys stand there."""

import numpy as np
from scipy.optimize import nnls

from mhalib._array import require_count


def most_weight(shares: np.ndarray, others: np.ndarray, c: float = 0.0) -> float:
    """The most weight that a query can give to the key k = Σ λ_j k_j, with shares λ (n,) of the others k_j (n, d).

    1/(1 + e^{H(λ) − c V/√d}), with H(λ) = −Σ λ_j ln λ_j, where 0 ln 0 = 0, and V = Σ λ_j ‖k_j − k‖²: with c = 0 under
    softmax, else under the Gaussian kernel of width c with its rows divided by their sums. It is attained if all
    shares are positive and the others are the corners of a simplex.

    Source: Proposition "A key among the others is never selected by softmax", Exercise "What the distance adds" (this
    book).
    """
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum()
    spread = (shares * ((others - shares @ others) ** 2).sum(axis=1)).sum()
    return float(1 / (1 + np.exp(entropy - c * spread / others.shape[1] ** 0.5)))


def most_between(place: float, ends: tuple[float, float], c: float = 0.0) -> float:
    """The same for a key on a line of two others, ``ends``; outside them a far query gives it all weight."""
    left, right = ends
    if not left <= place <= right:
        return 1.0
    share = (right - place) / (right - left)
    return most_weight(np.array([share, 1 - share]), np.array([[left], [right]]), c)


def inside(keys: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
    """Which keys (n, d) are means of the others, (n,): those that softmax cannot select."""
    raised = np.column_stack([keys, np.ones(len(keys))]).T  # a mean has shares that sum to one
    off = [nnls(np.delete(raised, k, axis=1), raised[:, k])[1] for k in range(len(keys))]
    return np.array(off) < tolerance * (1 + abs(keys).max())


def share_inside(n: int, d: int, draws: int = 20) -> float:
    """The share of n standard normal keys in d dimensions that are means of the others, over some draws.

    Raises TypeError or ValueError if n, d or draws is no whole number ≥ 1.
    """
    require_count(n=n, d=d, draws=draws)
    rng = np.random.default_rng([n, d])
    return float(np.mean([inside(rng.standard_normal((n, d))) for _ in range(draws)]))
