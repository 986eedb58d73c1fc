"""The stored runs of chapter 8 on images, as its figures draw them, and logistic regression on the
pixels."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from sklearn.linear_model import LogisticRegression

from mhabook.plots import multiples
from mhabook.tables import Table, stored
from mhalib.data import digits

HEADS = [1, 2, 4, 8, 16, 32, 64]
STARTS = {"small": 0.1, "large": 1.0}
POWERS: dict[str, Callable[[int], int]] = {
    "constant η": lambda H: 0,
    # log₂ H, for every H is a power of two.
    "η ∝ √H": lambda H: H.bit_length() - 1,
}
"""H → p, where the step size of gradient descent is 2^(p/2)."""
MAP = (*range(-2, 8), *range(8, 17, 2))
"""The powers p of all stored step sizes 2^(p/2), from one half to 256; above 8 they double."""
CASES = {
    f"{rule}, {size} start": (scale, power)
    for rule, power in zip(("constant η", "η ∝ root of H"), POWERS.values(), strict=True)
    for size, scale in STARTS.items()
}


@cache
def _table(name="digits.npz"):
    return stored(name)


def digit_runs(scale: float, H: int, power: int = 0, pair: str = "38", rule: str = "gd") -> Table:
    """The eight stored runs of one setting; the step size of gradient descent is 2^(power/2)."""
    # Step sizes from 2^(8/2) on are in the table of the continued map.
    table = _table() if power < 8 else _table("digits_long.npz")
    return table.where(pair=pair, scale=scale, rule=rule, power=power, H=H)


def at_the_end(
    curve: str, scale: float, power: Callable[[int], int] = POWERS["constant η"], **more: Any
) -> np.ndarray:
    """(heads, seeds): the last value of a curve, or a number of each run."""
    columns = [digit_runs(scale, H, power(H), **more)[curve] for H in HEADS]
    return np.array(
        [column[:, -1] if column.ndim > 1 else column for column in columns], dtype=float
    )


def digit_panels(rule: str, title: str, alt: str) -> go.Figure:
    """Training and test loss along the run, from both starts, by the number of heads."""
    panels = {
        f"{words}, {size} start": {
            f"H = {H}": digit_runs(scale, H, POWERS[rule](H))[curve] for H in (1, 8, 64)
        }
        for words, curve in (("loss", "loss"), ("test", "test_loss"))
        for size, scale in STARTS.items()
    }
    return multiples(_table()["steps"][0], panels, title=title, alt=alt)


def by_step_size(powers: Iterable[int]) -> dict[str, dict[str, np.ndarray]]:
    """(seeds, step sizes): training losses at the end, from both starts, by the number of heads."""
    return {
        f"{size} start": {
            f"H = {H}": np.array([digit_runs(scale, H, power)["loss"][:, -1] for power in powers]).T
            for H in (1, 8, 64)
        }
        for size, scale in STARTS.items()
    }


def at_its_best(
    scale: float, curve: str = "loss", step: int = 300
) -> tuple[np.ndarray, np.ndarray]:
    """The step size for each seed and number of heads, and the curve there after ``step`` steps:
    (seeds, heads), twice.

    A seed gets the step size at which the worst of the *other* seeds is lowest: none chooses for
    itself.
    """
    record = _table()["steps"][0].tolist().index(step)
    powers, columns = [], []
    for H in HEADS:
        ends = np.array([digit_runs(scale, H, power)[curve][:, record] for power in MAP])
        seeds = range(ends.shape[1])
        best = [np.delete(ends, seed, axis=1).max(axis=1).argmin() for seed in seeds]
        powers.append([MAP[k] for k in best])
        columns.append(ends[best, seeds])
    return 2 ** (np.array(powers).T / 2), np.array(columns).T


def at_one_and_at_its_best() -> dict[str, dict[str, np.ndarray]]:
    """(seeds, heads): training losses at the step size 1, and at the best one of the other
    seeds."""
    return {
        f"{size} start": {
            "η = 1": at_the_end("loss", scale).T,
            "the best η for each H": at_its_best(scale)[1],
        }
        for size, scale in STARTS.items()
    }


def on_pixels(pair: tuple[int, int], seed: int) -> float:
    """The test accuracy of logistic regression on the pixels."""
    train = digits(pair, seed=seed)
    rows, held_out = (part.X.reshape(len(part), -1) for part in (train, train.fresh()))
    return (
        LogisticRegression(solver="newton-cholesky", tol=1e-8)
        .fit(rows, train.y)
        .score(held_out, train.fresh().y)
    )
