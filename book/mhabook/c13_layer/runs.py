"""The runs of chapter 13: stored ones by dimension and by start, and four that train the values
alone."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from livegrad.training import Path, train
from mhabook.c13_layer.statements import least_singular, value_rate, value_smoothness
from mhabook.tables import stored
from mhalib.attention import gaussian, softmax
from mhalib.data import SequenceDataset, random_sequences
from mhalib.models import AttentionLayer
from mhalib.optim import GradientDescent

FRACTIONS = {16: 0.5, 24: 0.75, 32: 1.0, 40: 1.25, 48: 1.5, 64: 2.0}
"""D → HD/(nN)."""
ROWS = {
    "values alone, tied": ("WV", True, 1.0),
    "values alone, untied, ½": ("WV", False, 0.5),
    "queries, keys, values": ("WQ WK WV", False, 0.5),
    "queries alone, tied": ("WQ", True, 1.0),
    "queries alone, untied": ("WQ", False, 1.0),
}
"""What trains and from which start → the weights that move, whether keys are tied to queries, and
the scale."""


@cache
def _table():
    return stored("dimensions.npz")


def remaining(row: str, kernel: str, D: int, scale: float | None = None) -> np.ndarray:
    """Relative losses at the end of the runs of a row of the table, a run for each seed."""
    only, tied, usual = ROWS[row]
    return _table().where(only=only, tied=tied, kernel=kernel, D=D, scale=scale or usual)[
        "relative"
    ]


def tried(row: str) -> list[int]:
    """The dimensions of a row of the table: the queries alone have every second one."""
    return [*FRACTIONS][:: 2 if ROWS[row][0] == "WQ" else 1]


def dimension_table() -> None:
    """Print the medians of what remains, by what trains, kernel and dimension."""
    print(" " * 32 + "D" + "".join(f"{D:8}" for D in FRACTIONS))
    print(" " * 26 + "HD/(nN)" + "".join(f"{share:8}" for share in FRACTIONS.values()))
    for row in ROWS:
        for kernel in ("softmax", "gaussian"):
            cells = {D: f"{np.median(remaining(row, kernel, D)):8.1g}" for D in tried(row)}
            print(f"{row:25}{kernel:8}" + "".join(cells.get(D, " " * 8) for D in FRACTIONS))


def scale_table() -> None:
    """Print the medians of what training the values leaves at D = 48, by kernel and start."""
    print("scale              0.1      0.3      0.5        1        4        8")
    for kernel in ("softmax", "gaussian"):
        tied = [
            remaining("values alone, tied", kernel, 48, scale)
            for scale in (0.1, 0.3, 0.5, 1.0, 4.0, 8.0)
        ]
        print(f"{kernel:9} tied" + "".join(f"{np.median(c):9.1g}" for c in tied))
        untied = [
            remaining("values alone, untied, ½", kernel, 48, scale) for scale in (0.5, 1.0, 4.0)
        ]
        print(f"{kernel:9}untied" + " " * 16 + "".join(f"{np.median(c):9.1g}" for c in untied))


def values_alone() -> dict[str, Path]:
    """2,000 steps of size 1/L on the values, from tied starts under either kernel at D = 24 and
    48."""
    runs = {}
    for D in (24, 48):
        data = random_sequences(N=8, n=4, D=D)
        for name, kernel in (("softmax", softmax), ("Gaussian", gaussian)):
            start = AttentionLayer.random(D, 8, 1, tied=True, kernel=kernel)
            rule = GradientDescent(1 / value_smoothness(start, data.X))
            runs[f"{name}, D = {D}"] = train(start, data, rule, 2000, only="WV")
    return runs


def steps_needed(run: Path) -> int:
    """The steps until a millionth of the loss is left, read between two recorded ones."""
    # The loss falls geometrically: its logarithm is nearly straight between records.
    return int(np.ceil(np.interp(np.log(1e6), np.log(run.loss[0] / run.loss), run.steps)))


def promise_table(runs: Mapping[str, Path], data: SequenceDataset) -> None:
    """Print what the theorem promises of the runs at D = 48, and the steps that they needed."""
    print("kernel     σ_min(B)      α/L   steps promised to 1e-6   steps needed")
    for name in ("softmax", "Gaussian"):
        start, run = runs[f"{name}, D = 48"][0], runs[f"{name}, D = 48"]
        slowest = value_rate(start, data.X) / value_smoothness(start, data.X)
        print(
            f"{name:9} {least_singular(start.mixed(data.X)):9.3f} {slowest:9.4f} "
            # Half as many: the loss falls by (1 − α/L)² a step.
            f"{np.log(1e-6) / np.log(1 - slowest) / 2:18.0f} {steps_needed(run):15}"
        )
