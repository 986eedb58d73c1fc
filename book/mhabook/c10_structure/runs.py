"""The stored runs of chapter 10 as its figures and tables show them, and the short runs beside
them."""

from collections.abc import Mapping
from functools import cache
from textwrap import wrap
from typing import Any

import numpy as np

from livegrad.training import Path, train
from mhabook.c10_structure import factorization
from mhabook.c10_structure.population import PopulationRegression
from mhabook.tables import Table, stored
from mhalib.data import linear_regression
from mhalib.data.regression import RegressionDataset
from mhalib.models import AttentionRegression
from mhalib.optim import StructureAware

FAR = {5: 500, 10: 500, 20: 600}
"""d → the steps of gradient descent in the comparison."""
RATES = 0.02 * 1.1 ** np.arange(60)
"""The step sizes of which a count of steps near the optimum takes the best."""


@cache
def _tables():
    return stored("descent.npz"), stored("descent_wide.npz")


def rows(d: int, **wanted: Any) -> Table:
    """The runs of one kind, a row for each seed."""
    # The runs with d = 20 have a table of their own, the second.
    return _tables()[d == 20].where(d=d, **wanted)


def tuned(d: int, method: str, steps: int) -> float:
    """The step size of the grid with the least mean excess at the end, where no run diverged."""
    table = rows(d, method=method, start="random", steps=steps)
    mean = {lr: table.where(lr=lr)["excess"][:, -1].mean() for lr in np.unique(table["lr"])}
    return min((lr for lr in mean if np.isfinite(mean[lr])), key=mean.__getitem__)


def from_random_starts() -> dict[str, Any]:
    """The excess of tuned gradient descent and of the structure-aware rule, a panel for each d."""
    return {
        f"d = {d}": _excess(
            {
                "structure-aware": rows(d, method="SA2", start="random"),
                "gradient descent, tuned": rows(
                    d, method="gd", start="random", lr=tuned(d, "gd", far), steps=far
                ),
            }
        )
        for d, far in FAR.items()
    }


def from_spectral_starts() -> dict[str, Any]:
    """The excess of three rules from a spectral start, and of tuned SGD from a random one, a panel
    for each d."""
    return {
        f"d = {d}": _excess(
            {
                "structure-aware, spectral": rows(d, method="SA2", start="spectral"),
                "gradient descent, spectral": rows(d, method="gd", start="spectral"),
                "preconditioned, spectral": rows(d, method="SA1", start="spectral"),
                "SGD, random start, tuned": rows(
                    d, method="sgd", start="random", lr=tuned(d, "sgd", 5000)
                ),
            }
        )
        for d in FAR
    }


def comparison_table() -> None:
    """Print, from random starts, the losses of tuned gradient descent at its end and of the
    structure-aware rule."""
    print("       noise    tuned gradient descent    structure-aware")
    print("  d    floor    loss at end     tokens    loss, step 20    loss, step 60")
    for d, far in FAR.items():
        plain = rows(d, method="gd", start="random", lr=tuned(d, "gd", far), steps=far)
        aware = rows(d, method="SA2", start="random")["loss"]
        spans = [
            f"{min(ends):.3f}–{max(ends):.3f}"
            for ends in (plain["loss"][:, -1], aware[:, 20], aware[:, -1])
        ]
        tokens = np.median(plain["effective_tokens"][:, -1])
        print(f"{d:3} {d * 0.005:8.3f} {spans[0]:>14} {tokens:10.1f} {spans[1]:>16} {spans[2]:>16}")


def spectral_table() -> None:
    """Print the means of excess and loss at the spectral start, and at the end of three rules from
    there."""
    print("mean over the seeds       start    structure-aware     plain    preconditioned")
    for what, words in (("excess", "excess"), ("loss", "training loss")):
        for d in FAR:
            curves = [
                rows(d, method=method, start="spectral")[what].mean(axis=0)
                for method in ("SA2", "gd", "SA1")
            ]
            first, ends = curves[0][0], [curve[-1] for curve in curves]
            print(
                f"{words + ', d = ' + str(d):23} {first:7.4f} {ends[0]:18.4f} {ends[1]:9.4f} "
                f"{ends[2]:17.4f}"
            )


def _excess(tables: Mapping[str, Table]):
    return {name: (table["at"][0][1:], table["excess"][:, 1:]) for name, table in tables.items()}


def conditioning_table(steps: Table) -> None:
    """Print the steps that three rules need at three condition numbers of Σ, from the least to the
    largest."""
    print("κ(Σ)   condition number     plain   plain, two step sizes   whitened, balanced")
    for kappa in (1, 16, 256):
        row = steps.where(kappa=float(kappa))
        spans = [
            f"{min(row[name]):.0f}–{max(row[name]):.0f}"
            for name in ("condition", "one", "two", "whitened")
        ]
        print(f"{kappa:4} {spans[0]:>18} {spans[1]:>11} {spans[2]:>15} {spans[3]:>20}")


def steps_needed(steps: Table) -> dict[str, list[float]]:
    """The median steps that three rules need at the condition numbers 1, 16 and 256 of Σ."""
    names = {
        "plain descent": "one",
        "plain, two step sizes": "two",
        "whitened, balanced": "whitened",
    }
    return {
        words: [float(np.median(steps.where(kappa=kappa)[name])) for kappa in (1.0, 16.0, 256.0)]
        for words, name in names.items()
    }


def steps_by_stretch(steps: Table) -> dict[str, list[float]]:
    """The median steps of plain descent, as stored, and of whitened steps, at the condition numbers
    1, 16, 256 of Σ."""
    plain = {
        words: counts for words, counts in steps_needed(steps).items() if words.startswith("plain")
    }
    return {"whitened": [whitened_steps(kappa) for kappa in (1.0, 16.0, 256.0)]} | plain


def whitened_steps(kappa: float = 1.0, kappa_M: float = 4.0) -> float:
    """The median steps of descent on L in (U, V) to an excess of 1e-10, with the best constant step
    size of a grid.

    Instances, starts and step sizes are those of ``book/results/conditioning.py``.
    """
    return float(np.median([whitened_count(kappa, kappa_M, seed) for seed in range(5)]))


def whitened_count(kappa: float, kappa_M: float, seed: int, excess: float = 1e-10) -> int:
    """The steps of one instance to an ``excess``; all step sizes run side by side, until the first
    arrives."""
    data = linear_regression(n=1, d=5, p=5, kappa=kappa, s_max=0.4, kappa_M=kappa_M, seed=seed)
    # Stream 104 is that of book/results/conditioning.py: the starts are those of the stored runs.
    N, rng = data.M @ data.truth.root, np.random.default_rng([seed, 104])
    lr = RATES[:, None, None]
    U, V = (part * (1 + 0.3 * rng.standard_normal(part.shape)) for part in factorization.optimum(N))
    U, V = (np.repeat(part[None], len(lr), axis=0) for part in (U, V))
    count, E = 0, U @ V.mT - N
    with np.errstate(over="ignore", invalid="ignore"):  # the longest steps diverge
        # What a diverged run leaves, infinity or not a number, is never below the target.
        while not ((E**2).sum(axis=(1, 2)) / 2 < excess).any():
            U, V, count = U - lr * E @ V, V - lr * E.mT @ U, count + 1
            E = U @ V.mT - N
    return count


def steps_for_target(kappa_M: float) -> float:
    """The median steps of descent on Q in (U, V) to an excess of 1e-10, with the best constant step
    size near the end.

    Five instances of d = 5 with s_max/s_min = ``kappa_M``; every entry of an optimum is perturbed
    by 30 percent.
    """
    return float(np.median([_steps_for_target(kappa_M, seed) for seed in range(5)]))


def _steps_for_target(kappa_M, seed):
    data = linear_regression(n=1, d=5, p=5, kappa_M=kappa_M, seed=seed)
    N, s = data.M @ data.truth.root, data.truth.singular_values
    rng = np.random.default_rng([seed, 104])
    U, V = (part * (1 + 0.3 * rng.standard_normal(part.shape)) for part in factorization.optimum(N))
    # 2/(λ_max + λ_min) with the ends 2s_max and 2s_min of the curvatures s_i + s_j at the optimum.
    steps, lr = 0, 1 / (s[0] + s[-1])
    while np.linalg.norm(U @ V.T - N) ** 2 / 2 > 1e-10:
        dU, dV = factorization.gradient(U, V, N)
        U, V, steps = U - lr * dU, V - lr * dV, steps + 1
    return steps


def parts_table(parts: Table) -> None:
    """Print the median excess of the rule, and of the rule without each of its parts."""
    print("median excess of five runs      d = 5      d = 20")
    for left_out in ("nothing", "renormalization", "regularizer", "whitening"):
        small, large = (
            np.median(parts.where(d=d, left_out=left_out)["excess"][:, 8]) for d in (5, 20)
        )
        label = "the whole rule" if left_out == "nothing" else f"without {left_out}"
        print(f"{label:24} {small:14.2g} {large:11.2g}")


def ideal_excess(seed: int) -> np.ndarray:
    """The excess of SA2 at 81 steps with infinitely many tokens, from a random start."""
    data = linear_regression(n=1000, d=5, p=5, seed=seed)
    return train(
        PopulationRegression.random(5, 5, seed=seed), data.population(), StructureAware(), 80
    ).excess


def spectral_distances(n: int) -> np.ndarray:
    """The distances of 100 spectral starts, each from n tokens, to the nearest optimum."""
    drawn = [linear_regression(n=n, d=5, p=5, seed=seed) for seed in range(100)]
    whitened = [(one.truth.root, AttentionRegression.spectral(one), one) for one in drawn]
    return np.array(
        [
            factorization.distance(m.A @ root, root @ m.B @ root, one.M @ root)
            for root, m, one in whitened
        ]
    )


def with_outputs(p: int) -> Path:
    """A run of SA2 on tokens of five dimensions with p outputs."""
    data = linear_regression(n=500, d=5, p=p, seed=3)
    return train(AttentionRegression.random(d=5, p=p, seed=3), data, StructureAware(), 40)


def refusal(start: AttentionRegression, data: RegressionDataset) -> str:
    """The words with which SA2 refuses to train, in short lines."""
    try:
        train(start, data, StructureAware(), 1)
    except ValueError as error:
        return "\n".join(wrap(str(error), 80))
    raise ValueError("start, data: expected what SA2 refuses, got a run")
