"""Neighbor "Token selection": a head against the support vector machine that picks best tokens."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import Array
from livegrad.training import Path
from mhabook.c03_first_step.max_margin import nearest_in_hull
from mhalib.data import Dataset
from mhalib.models import MultiHeadAttention


class SelectionMachine(NamedTuple):
    """The widest separation of the best token of every query from the others.

    ``direction`` (d, d) has norm 1, ``margin`` is its least score difference. ``weights`` (m,) are
    the convex weights of the ``pairs`` (m, d²), one for each query and each token not its best.
    """

    direction: np.ndarray
    margin: float
    weights: np.ndarray
    pairs: np.ndarray


def best_tokens(model: MultiHeadAttention, data: Dataset) -> np.ndarray:
    """The token from which a query's decoder row reads most for the label, (n, T).

    For query t of sample i it is the j with the largest y_i ⟨u_t, x_ij⟩; one head.
    """
    readings = model.U[0] @ data.X.mT  # (n, T, T): row t of the decoder, token j
    return (data.y[:, None, None] * readings).argmax(axis=2)


def selection_pairs(X: Array, best: Array) -> np.ndarray:
    r"""The matrices x_t (x_best − x_j)ᵀ of all queries t and all other tokens j, as rows (m, d²).

    Their inner product with W is how far the score of the best token is ahead.

    Source: Tarzanagh et al. 2023 (abstract: "linear constraints on the outer-products of token
    pairs").
    """
    n, T, d = X.shape
    ahead = np.take_along_axis(X, best[..., None], axis=1)[:, :, None] - X[:, None]  # (n, t, j, d)
    others = best[..., None] != np.arange(T)
    queries = np.broadcast_to(X[:, :, None], ahead.shape)
    return np.einsum("ma,mb->mab", queries[others], ahead[others]).reshape(-1, d * d)


def token_machine(X: Array, best: Array, rounds: int = 40, more: int = 50) -> SelectionMachine:
    r"""The support vector machine without bias that puts best tokens (n, T) of X (n, T, d) ahead.

    .. math:: \max_{\|W\|=1}\ \min_{i,t,j}\ x_{it}^\top W(x_{i,best} - x_{ij})

    Solved on few pairs, exactly, as the point of their hull that is nearest to zero. Then the pairs
    that this solution violates most join, until no pair outside has a smaller margin.

    Raises ValueError if no direction separates.

    Source: Tarzanagh et al. 2023 (abstract); the solver is this book's.
    """
    pairs, d = selection_pairs(X, best), X.shape[2]
    normal, chosen = pairs.mean(axis=0), np.zeros(0, dtype=int)
    size = np.linalg.norm(pairs, axis=1).max()
    for _ in range(rounds):
        worst = (pairs @ normal).argsort(kind="stable")[:more]
        chosen = np.union1d(chosen, worst)
        few = pairs[chosen]
        convex = nearest_in_hull(few @ few.T)
        normal = convex @ few
        length = float(np.linalg.norm(normal))
        if length < 1e-6 * size:
            raise ValueError(
                "best: expected tokens that one W can put ahead of all others, "
                "got some that none can"
            )
        chosen = chosen[convex > 0]
        if (pairs @ normal).min() > (1 - 1e-9) * length**2:
            break
    weights = np.zeros(len(pairs))
    weights[chosen] = convex[convex > 0]
    return SelectionMachine((normal / length).reshape(d, d), length, weights, pairs)


def optimality_gaps(machine: SelectionMachine) -> dict[str, float]:
    """How far a machine is from the conditions of Karush, Kuhn and Tucker, over its margin."""
    unit = machine.direction.ravel()
    ahead = machine.pairs @ unit - machine.margin
    combined = machine.weights @ machine.pairs / machine.margin
    return {
        "no pair is closer": max(0.0, -float(ahead.min())) / machine.margin,
        "only the closest count": float(abs(machine.weights * ahead).max()) / machine.margin,
        "W is their combination": float(np.linalg.norm(combined - unit)),
    }


@dataclass(frozen=True)
class UnitStep:
    """Normalized gradient descent: θ ← θ − η ∇L/‖∇L‖."""

    lr: float

    def start(self, theta: Any) -> None:
        """No state."""

    def step(self, theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, None]:
        """θ − η ∇L/‖∇L‖."""
        return theta - self.lr / grad.norm() * grad, None


def against_machine(path: Path, machine: SelectionMachine) -> dict[str, np.ndarray]:
    """Where W is not zero: steps, cosine of W with the machine, and its share of the margin."""
    moved = [k for k, model in enumerate(path.models) if model.W.any()]
    units = np.array([path[k].W.ravel() / np.linalg.norm(path[k].W) for k in moved])
    return {
        "steps": path.steps[moved],
        "cosine": units @ machine.direction.ravel(),
        "share": (units @ machine.pairs.T).min(axis=1) / machine.margin,
    }
