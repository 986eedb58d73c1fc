"""The runs of chapter 14 as its figures and tables show them."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import Any

import numpy as np
import plotly.graph_objects as go

from livegrad.training import Path, recorded_steps, train
from mhabook.c12_two_kernels.statements import Kernel
from mhabook.c14_traps.lines import Line
from mhabook.c14_traps.statements import EXAMPLES, example
from mhabook.plots import mark
from mhabook.tables import Table
from mhalib.data import SequenceDataset
from mhalib.models import AttentionLayer
from mhalib.optim import GradientDescent
from mhalib.plots import slices

KINDS = ("softmax", "Gaussian", "Gaussian, rows normalized")
SIDE = np.linspace(-4, 4, 65)
STARTS = np.array([[0.5, -1.0], [1.5, 1.9], [-1.5, 0.4], [-0.4, -1.5]])
"""Where descents of two free queries begin."""


def by_kind(corner: str, rows: Mapping[str, Sequence[str]], kinds: Iterable[str] = KINDS) -> None:
    """Print a table with a column for each kernel, as narrow as it can be, whose rows are {label:
    cells}."""
    table = [[kind.split()[-1] for kind in kinds], *rows.values()]
    widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    for label, cells in zip((corner, *rows), table, strict=True):
        print(
            label + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        )


def trained(
    layer: AttentionLayer, data: SequenceDataset, lr: float = 0.1, only: Iterable[str] = ("WQ",)
) -> Path:
    """1,000 steps of gradient descent on the queries alone, or on other weights."""
    return train(layer, data, GradientDescent(lr), 1000, only=only, record=[0, 500, 1000])


MOVING = {
    "queries alone": ("WQ",),
    "queries and keys": ("WQ", "WK"),
    "queries, keys, values": ("WQ", "WK", "WV"),
}
"""Words → the weights that train."""


def released(name: str, kernel: Kernel, steps: int = 1000) -> dict[str, Path]:
    """Runs of an example in which the queries alone train, or the keys too, or the values too.

    Every query of the layer has the target: one that is to stand still would hold the keys back.
    """
    n, start = len(EXAMPLES[name]["keys"]), EXAMPLES[name]["start"]
    layer, data = example(name, kernel, np.resize(start, n), n)
    return {
        words: train(
            layer, data, GradientDescent(0.1), steps, only=only, record=recorded_steps(steps, 60)
        )
        for words, only in MOVING.items()
    }


def two_free(
    seen_by: Mapping[str, Line], y: float, lr: float, steps: int = 1000
) -> dict[str, tuple[Any, Any, Any]]:
    """Kernel → √f over a square of two free queries, its minima of loss zero and the spurious ones,
    and descents."""
    found = {}
    for kind, line in seen_by.items():
        alone = line.loss(SIDE, y)
        # The loss is a sum over the two queries: its minima are the pairs of minima of one.
        pairs = [
            (a, b) for a in line.minima(y) for b in line.minima(y) if max(abs(a.q), abs(b.q)) <= 4
        ]
        sorts = [
            [(a.q, b.q) for a, b in pairs if (a.spurious or b.spurious) == spurious]
            for spurious in (False, True)
        ]
        found[kind] = np.sqrt(alone[:, None] + alone), sorts, line.descend(STARTS.T, y, lr, steps)
    return found


def two_free_figure(square: Mapping[str, tuple[Any, Any, Any]], title: str, alt: str) -> go.Figure:
    """Maps of what ``two_free`` found, with minima, starts and descents."""
    figure = slices(
        {kind.split(", ")[-1]: drawn[0] for kind, drawn in square.items()},
        SIDE,
        colorbar="√f",
        xlabel="q₁",
        ylabel="q₂",
        title=title,
        alt=alt,
    )
    for panel, (_, (zero, spurious), ways) in enumerate(square.values()):
        points = {
            "loss zero": np.array(zero).T,
            "spurious": np.array(spurious).reshape(-1, 2).T,
            "start": STARTS.T,
        }
        drawn = ways[np.r_[:60, 60:1001:20]].transpose(2, 1, 0)
        figure = mark(figure, panel, points, [(way[0], way[1]) for way in drawn])
    return figure


def steps_in_b3(q: float = -1.0) -> int:
    """The steps of size 1 that the query of B3 takes from q until it is within 3 of the key at
    5."""
    steps = 0
    while q < 2:
        # The key at −5 has the value 0, and no part in what the query reads.
        weight = exp(-((q - 5) ** 2) / 2)
        q, steps = q - (weight - 0.9) * weight * (5 - q), steps + 1
    return steps


def basins_table(basins: Table) -> None:
    """Print the shares of starts in B2 from which descent arrives, by kernel and spread."""
    print("share with loss below 1e-6 after 5,000 steps (in the limit)")
    found = {s: [basins.where(kind=kind, s=s) for kind in KINDS] for s in (0.5, 1.0, 2.0, 4.0, 8.0)}
    by_kind(
        "   s",
        {
            f"{s:4}": [f"{cell['arrived'][0][1]:.3f} ({cell['limit'][0]:.4f})" for cell in cells]
            for s, cells in found.items()
        },
    )


def random_table(random: Table) -> None:
    """Print how many random problems have a spurious minimum, and how often gradient flow
    arrives."""
    print("                       with a spurious minimum            flow arrives")
    print("keys spread problems   softmax Gaussian normal.    z  softmax Gaussian normal.")
    for row in range(len(random)):
        kept, stuck, arrives = (random[name][row] for name in ("kept", "stuck", "arrives"))
        first, second = random["only"][row]
        # McNemar's statistic: only problems that stop one of the two kernels count.
        z = (second - first) / (first + second) ** 0.5
        print(
            f"{random['n'][row]:4} {random['spread'][row]:6} {kept:8} "
            + "".join(f"{share:9.1%}" for share in stuck / kept)
            + f"{z:5.1f}"
            + "".join(f"{share:9.3f}" for share in arrives / kept)
        )


def teachers_table(teachers: Table) -> None:
    """Print what students of either kernel learn from teachers of either kernel."""
    print("runs of 20 that learn, and the median of the last loss over the first")
    print("teacher → student         queries alone    queries, keys, values")
    for teacher in ("softmax", "gaussian"):
        for student in ("softmax", "gaussian"):
            cells = [
                teachers.where(teacher=teacher, student=student, only=only)["relative"][:, 1]
                for only in ("WQ", "WQ WK WV")
            ]
            print(
                f"{teacher:8} → {student:10}"
                + "".join(f"{(cell < 1e-6).sum():9}{np.median(cell):11.1e}" for cell in cells)
            )
