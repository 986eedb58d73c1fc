"""The stored runs of chapter 7, as its figures draw them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from mhabook.c01_model.instances import token_radius
from mhabook.tables import Table, stored
from mhalib.data.mixture import tokenized_mixture

NS = [8, 16, 32, 64, 128, 256]
HEADS = [1, 2, 4, 8, 16, 32, 64]


@cache
def gap_runs() -> Table:
    """The runs on n samples, each with leave-one-out runs beside it."""
    return stored("generalization_gap.npz")


@cache
def _heads() -> Table:
    """The runs with H heads."""
    return stored("generalization_heads.npz")


def measured(name: str, step: int, start: str = "zero", sigma: float = 0.0) -> np.ndarray:
    """(trials, n): a stored number of the runs on n samples at a step; "gap" is test loss minus
    training loss."""
    rows = [gap_runs().where(start=start, sigma=sigma, n=n) for n in NS]
    k = rows[0]["steps"][0].tolist().index(step)
    return np.array(
        [row["test_loss"] - row["loss"] if name == "gap" else row[name] for row in rows]
    )[..., k].T


def over_n(name: str, step: int = 1000) -> np.ndarray:
    """(n,): the mean over the trials of a stored number, with many heads."""
    return measured(name, step, "many").mean(axis=0)


def gap_panels(settings: Mapping[str, tuple[str, float]]) -> tuple[dict[str, Any], list[Any]]:
    """The gaps of {panel: (start, σ)} at three steps, and beside each a line that falls like
    1/n."""
    panels = {
        panel: {f"step {step:,}": measured("gap", step, *case) for step in (10, 100, 1000)}
        for panel, case in settings.items()
    }
    return panels, [
        (
            panel,
            "∝ 1/n",
            [8, 256],
            [factor * np.median(lines["step 10"][:, 0]) for factor in (1.6, 0.05)],
        )
        for panel, lines in panels.items()
    ]


def cost_panels(settings: Mapping[str, tuple[str, float]]) -> dict[str, dict[str, np.ndarray]]:
    """Of the runs of every (start, σ), after 1,000 steps: the losses on the way, and the formula G²
    η Σ L / n."""
    totals = {name: measured("total", 1000, *case) for name, case in settings.items()}
    formulas = {name: steepest(*case) ** 2 * totals[name] / NS for name, case in settings.items()}
    return {"η Σ L": totals, "G² η Σ L / n": formulas}


def steepest(start: str = "zero", sigma: float = 0.0) -> np.ndarray:
    """(trials, n): the largest G along the runs on n samples."""
    return np.array([gap_runs().where(start=start, sigma=sigma, n=n)["G"] for n in NS]).T


def decoder_lengths(sigma: float) -> np.ndarray:
    """(trials, n): the largest ‖U‖ along the runs of one head, from G = √T R √(1 + R⁴‖U‖²) and the
    longest token R."""
    # Sizes, ζ and S are those of the stored runs, and a trial is a seed: the samples, and so R,
    # are theirs.
    T, trials = 10, range(len(steepest(sigma=sigma)))
    samples = [
        [tokenized_mixture(n, T, 8, 4, 0.2, 1.0, sigma, seed) for n in NS] for seed in trials
    ]
    R = np.array([[token_radius(data.X) for data in row] for row in samples])
    return np.sqrt(steepest(sigma=sigma) ** 2 / (T * R**2) - 1) / R**2


def rungs(G: float) -> dict[str, np.ndarray]:
    """Many heads after 1,000 steps: the bound of Theorem 2, the two bounds on the way to it, and
    the gap."""
    return {
        "bound of Theorem 2": over_n("promise"),
        "3G²/n · η Σ L": 3 * G**2 / np.array(NS) * over_n("total"),
        "2G · distance": 2 * G * over_n("distance"),
        "gap": over_n("gap"),
    }


def stopped(table: Table) -> dict[str, dict[str, np.ndarray]]:
    """Test losses along the run, from step 1 on, by n and σ."""
    return {
        f"n = {n}": {
            f"σ = {sigma}": table.where(n=n, sigma=sigma)["test_loss"][:, 1:]
            for sigma in (0.5, 0.75, 1.0, 1.5, 2.0)
        }
        for n in (100, 400)
    }


def ended(
    name: str, H: int, sigma: float, start: str = "zero", scaling: str = "root"
) -> np.ndarray:
    """(trials,): the last value of a curve of the runs with H heads."""
    return _heads().where(start=start, scaling=scaling, H=H, sigma=sigma)[name][:, -1]


def by_heads(sigma: float) -> dict[str, np.ndarray]:
    """(trials, heads): the losses after 1,000 steps, from zero with step size √H."""
    return {
        words: np.array([ended(name, H, sigma) for H in HEADS]).T
        for words, name in (("training loss", "loss"), ("test loss", "test_loss"))
    }
