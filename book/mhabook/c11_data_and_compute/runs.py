"""The stored runs of chapter 11 as its figures and tables show them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mhabook.c10_structure.factorization import gradient
from mhabook.c11_data_and_compute import scaling
from mhabook.c11_data_and_compute import statements as theory
from mhabook.tables import Table, stored
from mhalib.data import linear_regression
from mhalib.models import AttentionRegression
from mhalib.plots import FOUND, aloud, curves, looks

NS, S_MAX = np.array([250, 500, 1000, 2000, 4000]), (0.2, 0.4, 2.0)
SMALL = np.array([12, 16, 32, 64, 125, 250, 500, 1000])
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "as before": ("plain", {}),
    "κ(Σ) = 256": ("kappa 256", {}),
    "κ = 16": ("kappa_M 16", {"kappa_M": 16.0}),
    "p = 2": ("p 2", {"p": 2}),
    "p = 8": ("p 8", {"p": 8}),
    "d = p = 10": ("d 10", {"d": 10, "p": 10}),
    "σ = 1": ("sigma 1", {"sigma": 1.0}),
    "s_max = 2": ("s_max 2", {"s_max": 2.0}),
    "s_max = 2, r = ∞": ("s_max 2, radius inf", {"s_max": 2.0}),
}
"""What is varied → its name in the table, and the arguments of ``linear_regression`` that it
changes."""


@cache
def _table():
    return stored("data_and_compute.npz")


def stored_runs(rule: str, s_max: float, name: str = "excess") -> np.ndarray:
    """(seeds, n, …): a column of the stored runs, one axis for the seeds and one for the number of
    samples."""
    return np.stack(
        [_table().where(rule=rule, s_max=s_max, n=n)[name] for n in NS.tolist()], axis=1
    )


def values_of(s_max: float, kappa: float = 4.0) -> np.ndarray:
    """(5,): the singular values of the target."""
    return s_max * np.geomspace(1, 1 / kappa, 5)


def over_starts(runs: Table) -> dict[str, Any]:
    """Mean and median of the excess at 61 steps with infinitely many samples, and the two factors
    that are derived."""
    return {
        "mean over 4,000 starts": runs["mean"].mean(axis=0),
        "median": np.median(runs["median"], axis=0),
        # (1 − 2η/κ)² at η = ½ and κ = 4.
        "slopes of 0.5625 and 1/(1 + η/κ) a step": _with_gaps(
            (np.arange(20, 61), 1e-4 * 0.5625 ** np.arange(41)),
            (np.arange(10, 61), 0.015 * theory.slow_mean(4) ** np.arange(51)),
        ),
    }


def _with_gaps(*lines):
    """Several lines (x, y) as one, with a gap after each."""
    return tuple(
        np.concatenate([[*part, np.nan] for part in parts]) for parts in zip(*lines, strict=True)
    )


def over_draws() -> dict[int, np.ndarray]:
    """n → (20, 31): the excess of the chapter's run with n samples, each row a mean over ten draws
    of them."""
    table = stored("data_and_compute_draws.npz")
    return {n: table.where(n=n)["excess"] for n in (40, 80, 160, 320)}


def with_law(
    steps: np.ndarray,
    means: Mapping[int, np.ndarray],
    law: scaling.Law,
    ylabel: str,
    title: str,
) -> go.Figure:
    """The excess over the steps for each number of samples, and dotted what the law says of it."""
    samples = {f"{n:,} samples": mean for n, mean in means.items()}
    laws = _with_gaps(*((steps, law(steps, n)) for n in means))
    ends = "; ".join(
        f"with {n:,} samples the excess ends at {aloud(mean[-1])}, and the law at "
        f"{aloud(law(steps[-1], n))}"
        for n, mean in means.items()
    )
    figure = curves(
        steps, samples | {"law": laws}, ylabel=ylabel, title=title, alt=f"{title}: {ends}."
    )
    for line, look in zip(figure.data, looks(samples), strict=False):
        line.update(line={"color": look["color"], "dash": "solid"})
    return figure


def from_starts(target: np.ndarray, lr: float, steps: int, count: int = 60) -> np.ndarray:
    """(count, steps + 1): the excess of SA1 steps on infinitely many round samples, from the random
    starts 1, 2, …

    ``target`` (d, d) is M. Tokens are round, so that U = A and V = B.
    """
    d = len(target)
    models = [
        AttentionRegression.random(d=d, p=d, scale=0.5, seed=seed) for seed in range(1, count + 1)
    ]
    U, V = (np.stack([getattr(model, name) for model in models]) for name in "AB")
    excess = []
    for _ in range(steps + 1):
        excess.append(((U @ V.mT - target) ** 2).sum(axis=(1, 2)) / 2)
        dU, dV = gradient(U, V, target)
        U, V = U - lr * dU, V - lr * dV
    return np.array(excess).T


def floor_table(ends: Mapping[float, np.ndarray], predicted: Mapping[float, float]) -> None:
    """Print n times the excess after 50 steps, derived and measured, and the slope of the excess in
    n."""
    for s, excess in ends.items():
        each, slope = (NS * excess).mean(axis=1), scaling.slope(NS, excess)
        print(
            f"s_max = {s}: derived {predicted[s]:7.3f}, measured {each.mean():7.3f} ± "
            f"{each.std(ddof=1) / 8**0.5:.3f}, slope in n {slope.value:.3f} ± {slope.error:.3f}"
        )


def unrenormalized_table() -> None:
    """Print n times the excess of SA1 after 40 steps, and the slopes of start, end and predictions
    in n."""
    for s in S_MAX:
        excess, off = stored_runs("SA1", s), stored_runs("SA1", s, "attention_excess")
        print(
            f"s_max = {s}: derived {theory.floor_constant(values_of(s), 5, 5, 0.1):.3f}; n × "
            f"excess",
            *(f"{x:.2f}" for x in (NS * excess[:, :, 40]).mean(axis=0)),
        )
        slopes = {"start": excess[:, :, 0], "end": excess[:, :, 40], "predictions": off}
        print(
            "   slopes:",
            *(
                "{} {:.2f} ± {:.2f}".format(name, *scaling.slope(NS, values))
                for name, values in slopes.items()
            ),
        )


def fit_table(fits: Mapping[float, scaling.Fit]) -> None:
    """Print the three numbers of each fitted law with their intervals, and the misfit."""
    letters = {"amplitude": "a", "factor": "ρ", "floor": "φ"}
    for s, found in fits.items():
        numbers = (
            f"{letter} {getattr(found.law, name):.2g} [{low:.2g}, {high:.2g}]"
            for name, letter in letters.items()
            for low, high in [found.interval(name)]
        )
        print(f"{s}:", *numbers, f"misfit {found.misfit:.2f}")


def equal_excess(steps: np.ndarray, law: scaling.Law, title: str) -> go.Figure:
    """The samples that each number of steps needs for three targets, and the cheapest plans."""
    targets = (1e-2, 3e-3, 1e-3)
    needed = {
        target: np.array([law.samples(target, k) for k in steps], float) for target in targets
    }
    plans = [scaling.plan(target, law) for target in targets]
    lines = {f"excess {target:g}": np.where(n < 1e6, n, np.nan) for target, n in needed.items()}
    figure = curves(steps, lines, xlabel="steps K", ylabel="samples n", title=title)
    pairs = "; ".join(f"{plan.n:,} samples, {plan.steps} steps" for plan in plans)
    figure.layout.meta["alt"] += f" Stars mark the cheapest: {pairs}."
    return figure.add_scatter(
        x=[plan.steps for plan in plans],
        y=[plan.n for plan in plans],
        name="cheapest",
        mode="markers",
        marker={"color": FOUND, "symbol": "star", "size": 14},
    )


def floor_limits() -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """n times the excess at the end of the runs on few samples, (seeds, n) for each case, and the
    constant derived."""
    table, floors, derived = stored("data_and_compute_limits.npz"), {}, {}
    for name, (case, change) in CASES.items():
        # Σ and M do not depend on n. At κ = 16 a step leaves 1 − 2η/κ = 15/16 of the slowest error:
        # these runs have more steps.
        truth, last = linear_regression(n=2, **change).truth, 200 if case == "kappa_M 16" else 60
        floors[name] = (
            np.stack([table.where(case=case, n=n)["excess"][:, last] for n in SMALL], axis=1)
            * SMALL
        )
        derived[name] = theory.floor_constant(
            truth.singular_values,
            truth.M.shape[1],
            len(truth.M),
            truth.sigma,
            np.inf if "∞" in name else 0.5,
        )
    return floors, derived


def limits_table(floors: Mapping[str, np.ndarray], derived: Mapping[str, float]) -> None:
    """Print the mean over the seeds at six numbers of samples."""
    shown = [0, 2, 4, 5, 6, 7]
    print(f"{'n':>28}", *(f"{n:8}" for n in SMALL[shown]))
    for name, floor in floors.items():
        print(
            f"{name:16} φ = {derived[name]:5.3g}:",
            *(f"{x:8.3g}" for x in floor.mean(axis=0)[shown]),
        )
