"""The pictures of chapter 14: two tasks as pins on a line, and what lies between a query and its
target."""

import numpy as np
from IPython.display import HTML

from mhabook.c14_traps.lines import Line
from mhabook.c14_traps.statements import EXAMPLES
from mhabook.drawing import Panel, picture
from mhalib.attention import gaussian, softmax

ORDERS = {"B2": "Values up and down", "B4": "Values that rise"}
BEGIN = {"B2": 0.3, "B4": -1.0}
"""Where the query of each task starts."""
ACROSS = np.linspace(-3.9, 3.9, 157)
MIDDLE, ALONG = 130, 31
"""Where the query 0 is drawn, and how long a unit is along the line."""


def pins() -> HTML:
    """The keys of two tasks on a line, each with its value, and a query on its way to a target."""
    return picture(
        "two-tasks-on-a-line",
        "Two panels. Keys are on a line, and on each key is a pin as long as its value; a dashed "
        "line is the target. Left: keys −2, −1, 1 and 2 with the values 3, −2, 2 and 1, the "
        "target 2, and a query at 0.3. Right: keys −2 and 2 with the values 1 and 2, the target "
        "1.5, and a query at −1.",
        [_pins("B2"), _pins("B4")],
    )


def between() -> HTML:
    """What a query reads on its way from one side to the other: the mean of all values, or little
    of any."""
    left, ring, hill, star = _reads("B2", softmax, "Softmax: through the mean")
    left.words((ring[0] - 4, ring[1] + 22), "mean of all values")
    left.words((hill[0] + 2, hill[1] - 10), "trapped here", anchor="start", color=1)
    left.words((star[0] + 12, star[1] - 10), "reached here", anchor="start", color=2)
    right, ring, hill, star = _reads("B4", gaussian, "Gaussian: between the keys")
    right.words((ring[0], ring[1] + 32), "little of either value")
    right.words((hill[0], hill[1] + 29), "trapped here", color=1)
    right.words((star[0] - 6, star[1] - 10), "reached here", anchor="end", color=2)
    return picture(
        "what-lies-between",
        "Two panels with the output at every query, and a dashed line, the target. Left, softmax, "
        "values up and down: a query stops at the top of a low peak on the right. To the left the "
        "curve first falls, at zero to the mean of all values, and only then rises to the target. "
        "Right, the Gaussian kernel, values that rise: a query stops at the top of a peak at the "
        "left key, below the target. Between the keys the curve falls to little above zero; the "
        "peak at the right key crosses the target.",
        [left, right],
    )


def _pins(name):
    task, floor = EXAMPLES[name], 124

    def at(q, height):
        return MIDDLE + ALONG * q, floor - 27 * height

    panel = _ground(ORDERS[name], at(0, 0)[1], at(0, task["y"])[1])
    for key, value in zip(task["keys"], task["values"], strict=True):
        (x, y), below = at(key, value), value > 0
        panel.line((x, floor), (x, y), width=3).dot((x, y), size=4.5)
        panel.words((x, floor + (16 if below else -6)), _as_text(key))
        panel.words((x - 9, y + 4), _as_text(value), anchor="end", color=0)
    x, y = at(BEGIN[name], 0)
    return panel.dot((x, y), color=1, size=6).words((x, y - 11), "q", color=1)


def _reads(name, kernel, title):
    """The curve of what a query reads, and three places on it: where it is lowest between hills,
    the trap, and where the target is met."""
    task = EXAMPLES[name]
    line, floor = Line(task["keys"], task["values"], kernel), 160

    def at(q):
        return MIDDLE + ALONG * q, floor - 38 * float(line.output([q])[0])

    minima = line.minima(task["y"])
    trap, met = (next(one.q for one in minima if one.spurious == held) for held in (True, False))
    _, turns, top = line.turns()
    lowest = turns[~top][0]
    panel = _ground(title, floor, floor - 38 * task["y"])
    panel.curve([at(q) for q in ACROSS], color=0, width=2.5)
    panel.dot(at(lowest), size=6, hollow=True).dot(at(trap), color=1, size=6).star(at(met), color=2)
    return panel, at(lowest), at(trap), at(met)


def _ground(title, floor, target):
    panel = Panel(title).line((8, floor), (252, floor), width=1, opacity=0.5)
    panel.line((8, target), (252, target), color=2, dash="5 4")
    return panel.words((252, target - 5), "target", color=2, anchor="end")


def _as_text(number):
    return f"{number:g}".replace("-", "−")
