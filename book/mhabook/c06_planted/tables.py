"""Verdicts of chapter 6: are more heads faster? By five trials of three numbers of heads, from
stored tables."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from livegrad.training import Path
from mhabook.tables import Table

HEADS = (1, 4, 16)
RULES = ("gd-root", "momentum-root", "adam")
LOSSES = ("loss", "test_loss")
SETTINGS = ((10, 5, 0.0), (5, 5, 0.0), (10, 10, 0.0), (10, 5, 0.3))
"""(T, d, scale of the start) of the table planted.npz."""
COLUMNS = ("n", "T", "d", "strength", "margin", "flip", "start", "lr")
"""What tells the settings of planted_map.npz from one another."""
COUNTS, SIZES = (250, 500, 1000, 2000), ((5, 5), (10, 5), (10, 10))
"""The n and the (T, d) of planted_samples.npz."""
Marks: TypeAlias = dict[tuple[Any, ...], list[str]]


def print_results(
    runs: Mapping[str, Path], aligned: Mapping[str, Mapping[str, np.ndarray]]
) -> None:
    """Where losses, test accuracy and ``alignments`` of some runs end, a line a run."""
    print(
        f"{'':16} {'train loss':>10} {'test loss':>10} {'test accuracy':>14} {'align W':>8} "
        f"{'align U':>8}"
    )
    for name, run in runs.items():
        print(
            f"{name:16} {run.loss[-1]:10.3f} {run.test_loss[-1]:10.3f} "
            f"{run.test_accuracy[-1]:14.3f} {aligned[name]['W'][-1]:8.2f} "
            f"{aligned[name]['U'][-1]:8.2f}"
        )


def by_heads(rows: Table) -> dict[int, Table]:
    """The rows of each number of heads."""
    return {H: rows.where(H=H) for H in HEADS}


def panel(rows: Table, curve: str) -> dict[str, np.ndarray]:
    """A stored curve by the number of heads, for ``mhabook.plots.multiples``."""
    return {f"H = {H}": each[curve] for H, each in by_heads(rows).items()}


def verdicts(rows: Table, curve: str, at: Sequence[int] | slice = slice(None)) -> list[str]:
    """At each stored step: "faster" if the curve falls with every number of heads in four trials of
    five.

    "slower" if it rises, else "mixed". ``at`` picks steps by their position.
    """
    # (heads, trials, steps)
    losses = np.stack([each[curve] for each in by_heads(rows).values()])[..., at]
    change = np.diff(losses, axis=0)
    falls, rises = ((sign * change > 0).all(axis=0).sum(axis=0) >= 4 for sign in (-1, 1))
    return np.where(falls, "faster", np.where(rises, "slower", "mixed")).tolist()


def letters(rows: Table) -> list[str]:
    """The first letters of the verdicts on training and test loss, one a stored step: ["ffm",
    "mmm"]."""
    return ["".join(word[0] for word in verdicts(rows, curve)) for curve in LOSSES]


def at_full_size(table: Table) -> Marks:
    """(T, d, start, rule, curve) → the verdicts at steps 30, 100, 300, 600."""
    at = np.flatnonzero(np.isin(table["steps"][0], (30, 100, 300, 600))).tolist()
    return {
        (T, d, start, rule, curve): verdicts(
            table.where(T=T, d=d, start=start, rule=rule), curve, at
        )
        for T, d, start in SETTINGS
        for rule in RULES
        for curve in LOSSES
    }


def print_full_size(marks: Marks) -> None:
    """The verdicts of ``at_full_size``, a line for each curve."""
    print(
        f"{'T':>3} {'d':>3}  {'start':7} {'rule':14} {'loss':6} {'step 30':8} {'100':8} "
        f"{'300':8} {'600':8}"
    )
    for (T, d, start, rule, curve), row in marks.items():
        name = "train" if curve == "loss" else "test"
        print(
            f"{T:3} {d:3}  {'random' if start else 'zero':7} {rule:14} {name:6} "
            + " ".join(f"{word:8}" for word in row)
        )


def over_map(chart: Table) -> Marks:
    """Setting → the ``letters`` of the three rules one after the other."""
    settings = dict.fromkeys(zip(*(chart[name].tolist() for name in COLUMNS), strict=True))
    rows = {
        setting: chart.where(**dict(zip(COLUMNS, setting, strict=True))) for setting in settings
    }
    return {
        setting: [word for rule in RULES for word in letters(rows[setting].where(rule=rule))]
        for setting in rows
    }


def print_map(marks: Marks) -> None:
    """The letters of ``over_map``, a line a setting."""
    widths = [max(len(name), 4) for name in COLUMNS]
    print(
        " " * (sum(widths) + len(widths))
        + f"{'gd √H':^12} {'momentum √H':^12} {'Adam':^12}".rstrip()
    )
    print(
        *(f"{name:>{width}}" for name, width in zip(COLUMNS, widths, strict=True)),
        *["train test "] * 3,
    )
    for setting, row in marks.items():
        print(
            *(f"{value:{width}g}" for value, width in zip(setting, widths, strict=True)),
            "",
            "   ".join(row),
        )


def along_n(axis: Table) -> dict[tuple[str, int, int], list[list[str]]]:
    """(rule, T, d) → the ``letters`` of each number of samples."""
    return {
        (rule, T, d): [letters(axis.where(rule=rule, T=T, d=d, n=n)) for n in COUNTS]
        for rule in RULES
        for T, d in SIZES
    }


def print_along_n(marks: Mapping[tuple[str, int, int], list[list[str]]]) -> None:
    """The letters of ``along_n``, a line for each rule and size."""
    print(f"{'rule':14} {'T':>2} {'d':>2}  " + "  ".join(f"n = {n:<8}" for n in COUNTS))
    print(
        *(
            f"{rule:14} {T:2} {d:2}  " + "  ".join(f"{train} {test}   " for train, test in row)
            for (rule, T, d), row in marks.items()
        ),
        sep="\n",
    )
