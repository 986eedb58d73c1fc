"""The pictures of chapter 11: one budget that is spent in two ways, and an error that is a falling line and a
floor."""

import numpy as np
from IPython.display import HTML

from mhabook.c11_data_and_compute.scaling import Law, split
from mhabook.drawing import DASHES, DOTS, Panel, Point, picture
from mhalib.plots import FOUND

LAW = Law(0.05, 0.81, 0.57)
"""About that of the chapter's run."""
TARGET = 0.003
FEW, MANY = (80, 128), (320, 8)
"""Two budgets, (samples, steps), with the same n²K."""
SPENT = 234
"""Where the end of both is drawn."""


def two_budgets() -> HTML:
    """The question: over their cost, a run with few samples and many steps, and one with more
    samples and few steps."""
    panel = Panel("One budget, spent in two ways")
    panel.line((22, 172), (250, 172), width=1, opacity=0.5)
    panel.line((22, 30), (22, 172), width=1, opacity=0.5)
    panel.words((28, 37), "error", anchor="start").words((22, 186), "cost", anchor="start")
    panel.line((SPENT, 36), (SPENT, 172), width=1, opacity=0.5).words((SPENT, 186), "budget")
    for n, K in (FEW, MANY):
        # Half of the points lie in the first tenth, where most of the many steps are.
        shares = np.concatenate([np.linspace(0, 0.1, 60), np.linspace(0.1, 1, 60)])
        panel.curve([_spent(t, LAW(t * K, n)) for t in shares], width=2.5)
        panel.dot(_spent(1, LAW(K, n)))
    panel.words((220, 62), "many samples, few steps:", anchor="end")
    panel.words((220, 74), "it is still falling", anchor="end")
    panel.words((220, 150), "few samples, many steps:", anchor="end")
    panel.words((220, 162), "it has leveled off", anchor="end")
    return picture(
        "two-budgets",
        "The error against the cost, on a logarithmic scale, of two runs, each of which ends in a dot "
        "on a vertical line, the budget. The run with few samples and many steps falls steeply and then "
        "stays flat. The run with many samples and few steps falls slowly along a nearly straight "
        "line; at the end it is still falling, and a little higher.",
        [panel],
    )


def factor_and_floor() -> HTML:
    """The error is a falling line and a floor; samples move the floor alone; and the cheapest pair
    of the two."""
    return picture(
        "factor-and-floor",
        "Three panels. Left: against the steps, on a logarithmic scale, a straight falling line, "
        "which steps lower, a horizontal line, dotted and shaded below, which samples "
        "lower, and their sum, which turns where they cross. Middle: a second horizontal line, at "
        "half the error; the falling line is unchanged, and the new sum turns a few steps later. "
        "Right: in the plane of steps and samples, the pairs of equal error, and a dashed curve of "
        "pairs of equal cost, which touches it at a star, the cheapest pair.",
        [_sum(), _twice(), _cheapest()],
    )


def crossing(n: float) -> float:
    """The step at which both parts of the error are equal."""
    return float(np.log(LAW.amplitude * n / LAW.floor) / -np.log(LAW.factor))


def _spent(share: float, error: float) -> Point:
    """Where an error is drawn when this share of the budget is spent, on a logarithmic scale."""
    return 22 + (SPENT - 22) * float(share), 40 + 100 * float(np.log10(0.06 / error))


def _at(k: float, error: float) -> Point:
    """Where a step and an error are drawn: 45 steps across, and from 0.1 down to 0.0003 on a
    logarithmic scale."""
    return 22 + 5.0 * float(k), 30 + 52 * float(-1 - np.log10(error))


def _axes(panel, across, up):
    panel.line((22, 166), (250, 166), width=1, opacity=0.5).line(
        (22, 26), (22, 166), width=1, opacity=0.5
    )
    return panel.words((250, 183), across, anchor="end").words((28, 36), up, anchor="start")


def _slide(panel):
    ends = [_at(k, LAW.amplitude * LAW.factor**k) for k in (0, 25)]
    return panel.line(*ends)


def _level(n):
    return [_at(k, LAW.floor / n) for k in (0, 45)]


def _floor(panel, n):
    ends = _level(n)
    return panel.wall(ends, beyond=[(x, 166) for x, _ in reversed(ends)])


def _total(panel, n, width=2.5, dash="", opacity=1.0):
    return panel.curve(
        [_at(k, LAW(k, n)) for k in np.linspace(0, 45, 91)], width=width, dash=dash, opacity=opacity
    )


def _sum():
    panel = _total(_floor(_slide(_axes(Panel("Two parts"), "step", "error")), 160), 160)
    # Beside the falling line, and in the floor.
    panel.words((62, 70), "lowered by steps", anchor="start")
    panel.words((242, 132), "lowered by", anchor="end")
    return panel.words((242, 150), "samples", anchor="end")


def _twice():
    panel = _slide(_axes(Panel("Twice the samples"), "step", "error"))
    _floor(panel.line(*_level(160), width=2, dash=DOTS, opacity=0.5), 320)
    _total(_total(panel, 160, 1.5, DASHES, 0.6), 320)
    high, low = (_at(38, LAW.floor / n) for n in (160, 320))
    panel.arrow(high, low, width=2)
    for n in (160, 320):
        panel.dot(_at(crossing(n), LAW.floor / n), size=3.5)
    return panel.words((178, 92), "half the floor").words((100, 183), "they meet later")


def _place(K: float, n: float) -> Point:
    """Where a pair of steps and samples is drawn."""
    return 22 + 3.8 * float(K), 166 - 0.28 * float(n)


def _cheapest():
    panel = _axes(Panel("What to buy"), "steps K", "samples n")
    # From just before the step at which a ρ^K alone meets the target: there n < 0 is left out.
    K = np.linspace(13.2, 60, 300)
    n = LAW.floor / (TARGET - LAW.amplitude * LAW.factor**K)
    panel.curve([_place(*pair) for pair in zip(K, n, strict=True) if 0 < pair[1] < 400], width=2.5)
    best_n, best_K, _ = split(TARGET, LAW)
    cost = best_n**2 * best_K
    panel.curve(
        [_place(k, (cost / k) ** 0.5) for k in np.linspace(8, 60, 100)],
        width=1.5,
        dash=DASHES,
    )
    x, y = _place(best_K, best_n)
    panel.star((x, y)).words((x + 6, y - 12), "cheapest", color=FOUND, anchor="start")
    return panel.words((112, 62), "equal error", anchor="start").words((176, 150), "equal cost")
