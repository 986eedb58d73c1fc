"""The pictures of chapter 14: two tasks as pins on a line, and what lies between a query and its
target."""

import numpy as np
from IPython.display import HTML

from mhabook.c14_traps.lines import Line
from mhabook.c14_traps.statements import EXAMPLES
from mhabook.drawing import Panel, Point, picture
from mhalib.attention import gaussian, softmax
from mhalib.plots import ATTENTION, DECODER, FOUND, GAUSSIAN

ORDERS = {"B2": "Values up and down", "B4": "Values that rise"}
BEGIN = {"B2": 0.3, "B4": -1.0}
"""Where the query of each task starts."""
ACROSS = np.linspace(-2.9, 2.9, 157)
MIDDLE, ALONG = 130, 43
"""Where the query 0 is drawn, and how long a unit is along the line."""
FLOOR, UP = {"B2": 124, "B4": 150}, {"B2": 27, "B4": 50}
"""Where the value 0 of each task is drawn, and how long a unit of values is."""


def pins() -> HTML:
    """The keys of two tasks on a line, each with its value, and a query on its way to a target."""
    return picture(
        "two-tasks-on-a-line",
        "Two panels. Keys are diamonds on a line, and on each key is a blue pin as long as its "
        "value; a dashed green line is the target. Left: keys −2, −1, 1 and 2 with the values 3, "
        "−2, 2 and 1, the target 2, and a query, a ring at 0.3. Right: keys −2 and 2 with the "
        "values 1 and 2, the target 1.5, and a query at −1.",
        [_pins("B2"), _pins("B4")],
    )


def between() -> HTML:
    """What a query reads on its way from one side to the other: the mean of all values, or little
    of any."""
    left, start, low, trap, star = _reads("B2", softmax, ATTENTION, "Softmax: through the mean")
    left.words((start[0] + 4, start[1] - 12), "start")
    left.words((low[0], low[1] + 19), "mean of all")
    left.words((trap[0] + 13, trap[1] - 9), "trapped", anchor="start")
    left.words((star[0] + 12, star[1] - 9), "would be met", color=FOUND, anchor="start")
    right, start, low, trap, star = _reads("B4", gaussian, GAUSSIAN, "Gaussian: between the keys")
    right.words((start[0] + 4, start[1] - 11), "start", anchor="start")
    right.words((low[0], low[1] + 15), "little of either")
    right.words((trap[0], trap[1] - 11), "trapped")
    right.words((star[0] - 12, star[1] - 9), "would be met", color=FOUND, anchor="end")
    return picture(
        "what-lies-between",
        "Two panels with keys and values as pins on a line, the output at every query as a curve, "
        "and a dashed green line, the target. Left, softmax, an amber curve, values up and down: "
        "from its start, a ring at 0.3, a query moves to the right and stops at a cross, on top of "
        "a low peak. To the left the curve first falls, at zero to the mean of all values, and "
        "only then rises to the target, which would be met at a star. Right, the Gaussian kernel, "
        "a violet curve, values that rise: from −1 a query moves to the left and stops at a cross, "
        "on top of the peak at the left key, below the target. Between the keys the curve falls to "
        "little above zero; the peak at the right key crosses the target, at a star.",
        [left, right],
    )


def _at(name, q, height) -> Point:
    return MIDDLE + ALONG * float(q), FLOOR[name] - UP[name] * float(height)


def _beside(name, value):
    """How far down words about a key stand, on the side of the line where its pin is not."""
    return FLOOR[name] + (20 if value > 0 else -11)


def _pins(name):
    task, panel = EXAMPLES[name], _ground(name, ORDERS[name])
    for key, value in zip(task["keys"], task["values"], strict=True):
        x, y = _at(name, key, value)
        panel.words((x, _beside(name, value)), _as_text(key))
        inward = 14 if value > 0 else -5
        panel.words((x - 6, y + inward), _as_text(value), color=DECODER, anchor="end")
    x, y = _at(name, BEGIN[name], 0)
    return panel.query((x, y)).words((x, y - 13), "query")


def _reads(name, kernel, color, title):
    """The curve of what a query reads, with its run into the trap, and four places on it: where it
    starts, where the curve is lowest between hills, the trap, and where the target is met."""
    task = EXAMPLES[name]
    line = Line(task["keys"], task["values"], kernel)

    def at(q):
        return _at(name, q, line.output([q])[0])

    minima = line.minima(task["y"])
    trap, met = (next(one.q for one in minima if one.spurious == held) for held in (True, False))
    _, turns, top = line.turns()
    panel = _ground(name, title)
    for key, value in zip(task["keys"], task["values"], strict=True):
        place = _at(name, key, 0)[0], _beside(name, value)
        panel.words(place, _as_text(value), color=DECODER)
    panel.curve([at(q) for q in ACROSS], color=color, width=3)
    # From the edge of the ring to short of the cross.
    way = [at(q) for q in np.linspace(BEGIN[name], trap, 101)]
    way = [x for x in way if abs(x[0] - way[0][0]) > 7 and abs(x[0] - way[-1][0]) > 7]
    panel.curve(way[:-20], width=2.5).arrow(way[-20], way[-1])
    panel.query(at(BEGIN[name])).star(at(met))
    return _cross(panel, at(trap)), at(BEGIN[name]), at(turns[~top][0]), at(trap), at(met)


def _ground(name, title):
    """The line of keys, each with the pin of its value, and the target."""
    task, panel, floor = EXAMPLES[name], Panel(title), FLOOR[name]
    panel.line((4, floor), (256, floor), width=1, opacity=0.5)
    level = _at(name, 0, task["y"])[1]
    panel.target((4, level), (256, level))
    x, anchor = (256, "end") if name == "B2" else (4, "start")
    panel.words((x, level - 5), "target", color=FOUND, anchor=anchor)
    for key, value in zip(task["keys"], task["values"], strict=True):
        foot, top = _at(name, key, 0), _at(name, key, value)
        panel.line(foot, top, color=DECODER, width=3).dot(top, color=DECODER, size=4).key(foot)
    return panel


def _cross(panel, at):
    """A trap."""
    (x, y), arm = at, 5
    panel.line((x - arm, y - arm), (x + arm, y + arm), width=2.6)
    return panel.line((x - arm, y + arm), (x + arm, y - arm), width=2.6)


def _as_text(number):
    return f"{number:g}".replace("-", "−")
