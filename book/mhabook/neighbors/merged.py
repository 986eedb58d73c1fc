"""Neighbor "Keys and queries, merged or apart": linear attention and regression in context.

A prompt holds N pairs (x_j, wᵀx_j) and a query x, with all tokens N(0, Λ) and w ~ N(0, I). The
heads together answer βᵀPx, where β = (1/N) Σ_j x_j (wᵀx_j) and P is the sum of their matrices.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from livegrad.arrays import Array
from livegrad.model.vector import Vector
from livegrad.training import train
from mhabook import plots
from mhalib.optim import GradientDescent

VARIANCES, PAIRS = (2.0, 1.2, 0.7), 32
"""The eigenvalues of Λ, and the number N of pairs in a prompt."""
HEADS, SCALE, LR, STARTS = 8, 0.02, 0.05, (0, 1, 2)
"""Heads of either kind, the size of their entries at the start, step size, and seeds."""
LENGTHS = {"merged": 100, "apart": 1_000}
"""Steps of a run."""


class InContextHeads(Vector):
    """What both kinds of heads share: the loss of their matrix P (D, D)."""

    def loss(self, Lam: Array, second: Array) -> Any:
        """The loss alone."""
        return self.loss_and_grad(Lam, second)[0]

    def loss_and_grad(self, Lam: Array, second: Array) -> tuple[Any, Any]:
        r"""E(wᵀx − βᵀPx)² over prompts, and its gradient.

        .. math:: \mathrm{tr}\,\Lambda - 2\,\langle\Lambda^2, P\rangle
                  + \langle P, M P \Lambda\rangle, \qquad
                  G = 2\,(M P \Lambda - \Lambda^2)

        with the covariance Λ and the ``second`` moment M = E ββᵀ, both (D, D).  Source: this book.
        """
        P, square = self.product(), Lam @ Lam
        G = 2 * (second @ P @ Lam - square)
        return np.trace(Lam) + (P * (G / 2 - square)).sum(), self.pulled(G)


@dataclass(frozen=True, eq=False, repr=False)
class MergedHeads(InContextHeads):
    """P = Σ_h v_h G_h: values v (H,), and keys and queries in one matrix G (H, D, D)."""

    v: np.ndarray
    G: np.ndarray

    def product(self) -> np.ndarray:
        """P (D, D)."""
        return np.tensordot(self.v, self.G, axes=1)

    def pulled(self, dP: Array) -> "MergedHeads":
        """The gradient from that in P."""
        return MergedHeads((self.G * dP).sum(axis=(1, 2)), self.v[:, None, None] * dP)


@dataclass(frozen=True, eq=False, repr=False)
class ApartHeads(InContextHeads):
    """P = Σ_h v_h k_h q_hᵀ: values v (H,), keys k (H, D) and queries q (H, D)."""

    v: np.ndarray
    k: np.ndarray
    q: np.ndarray

    def product(self) -> np.ndarray:
        """P (D, D)."""
        return (self.v[:, None] * self.k).T @ self.q

    def pulled(self, dP: Array) -> "ApartHeads":
        """The gradient from that in P."""
        dk, dq = self.q @ dP.T, self.k @ dP
        return ApartHeads((self.q * dq).sum(axis=1), self.v[:, None] * dk, self.v[:, None] * dq)


def prompts() -> SimpleNamespace:
    """The two moments that the loss needs: X = Λ, diagonal, and y = E ββᵀ = Λ(Λ + (Λ + tr Λ)/N)."""
    each = np.array(VARIANCES)
    return SimpleNamespace(X=np.diag(each), y=np.diag(each * (each + (each + each.sum()) / PAIRS)))


def small_heads(kind: str, seed: int, scale: float = SCALE) -> InContextHeads:
    """Heads of one kind, "merged" or "apart", with entries N(0, ``scale``²)."""
    rng, D = np.random.default_rng([seed, 9]), len(VARIANCES)
    v = scale * rng.standard_normal(HEADS)
    if kind == "merged":
        return MergedHeads(v, scale * rng.standard_normal((HEADS, D, D)))
    k, q = (scale * rng.standard_normal((HEADS, D)) for _ in range(2))
    return ApartHeads(v, k, q)


def plateau_levels() -> np.ndarray:
    r"""The loss (D + 1,) with the first m directions learned, m = 0, …, D, variances λ falling.

    .. math:: \mathrm{tr}\,\Lambda - \sum_{d \le m}
              \frac{\lambda_d}{1 + (1 + \mathrm{tr}\,\Lambda/\lambda_d)/N}

    Source: Zhang et al. 2025, equation (19).
    """
    each = np.array(VARIANCES)
    steps_down = each / (1 + (1 + each.sum() / each) / PAIRS)
    return each.sum() - np.concatenate([[0.0], np.cumsum(steps_down)])


def drops(losses: Array, factor: float = 3.0) -> int:
    """How often the loss falls faster again: its speed rises by ``factor`` above its last low.

    A drop ends when the speed has fallen by the same factor. The last 1% of the way does not count.
    """
    far = losses[1:] > losses[-1] + 0.01 * (losses[0] - losses[-1])
    count, falling, mark = 0, False, np.inf
    for speed in -np.diff(losses)[far]:
        mark = max(mark, speed) if falling else min(mark, speed)
        if falling and speed < mark / factor:
            falling, mark = False, speed
        elif not falling and speed > factor * mark:
            falling, mark, count = True, speed, count + 1
    return count


def loss_paths(starts: Iterable[int] = STARTS, scale: float = SCALE) -> dict[str, np.ndarray]:
    """Kind → the losses (starts, steps + 1) of descent from small starts."""
    data, rule, starts = prompts(), GradientDescent(lr=LR), tuple(starts)
    paths = {}
    for kind, steps in LENGTHS.items():
        each = [small_heads(kind, seed, scale) for seed in starts]
        runs = [train(start, data, rule, steps, record=range(steps + 1)) for start in each]
        paths[kind] = np.array([run.loss for run in runs])
    return paths


def drop_counts(paths: Mapping[str, np.ndarray]) -> dict[str, list[int]]:
    """Kind → the drops of every run."""
    return {kind: [drops(run) for run in losses] for kind, losses in paths.items()}


def plateau_figure(paths: Mapping[str, np.ndarray]) -> go.Figure:
    """Losses over steps, a panel a kind, a line a start; dotted are the levels of the formula."""
    levels, panels, guides = plateau_levels(), {}, []
    for kind, losses in paths.items():
        panel, at = f"loss, {kind}", np.arange(losses.shape[1])
        panels[panel] = {f"start {k + 1}": (at, run[None]) for k, run in enumerate(losses)}
        across = np.tile([0, at[-1], np.nan], len(levels))  # the gaps part one level from the next
        guides.append((panel, "levels of the formula", across, np.repeat(levels, 3)))
    heights = ", ".join(f"{level:.2f}" for level in levels)
    alt = (
        "Two panels of the loss over steps, three starts each, with dotted levels at "
        f"{heights}. Merged, {LENGTHS['merged']} steps: each loss falls once, past the levels "
        f"between, and flattens toward the lowest. Apart, {LENGTHS['apart']:,} steps: each loss "
        "waits near the highest level, drops to the next one, waits near it, some longer and some "
        "shorter, and so on down to the lowest."
    )
    return plots.multiples(
        [],
        panels,
        guides,
        span=(0.0, 1.05 * levels[0]),
        log_x=False,
        title="The loss of three starts",
        alt=alt,
    )
