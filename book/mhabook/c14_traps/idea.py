"""The pictures of chapter 14: two tasks as pins on a line, and what lies between a query and its
target."""

import numpy as np
from IPython.display import HTML

from mhabook.c14_traps.lines import Line
from mhabook.c14_traps.statements import EXAMPLES
from mhabook.drawing import Panel, Point, picture
from mhalib.attention import gaussian, softmax
from mhalib.plots import ATTENTION, DECODER, FOUND, GAUSSIAN, GRAY

ORDERS = {"B2": "Values up and down", "B4": "Values that rise"}
BEGIN = {"B2": 0.3, "B4": -1.0}
"""Where the query of each task starts."""
ACROSS = np.linspace(-2.9, 2.9, 157)
MIDDLE, ALONG = 130, 43
"""Where the query 0 is drawn, and how long a unit is along the line."""
WHOLE = {"B2": (124, 27), "B4": (124, 40)}
ABOVE = {"B2": (98, 23), "B4": (120, 43)}
"""Where the value 0 of each task is drawn, and how long a unit of values is: in a whole panel, and above
a strip of losses."""
BASE, STRIP = 180, 28
"""Where the loss 0 is drawn in that strip, and how high the strip is."""


def pins() -> HTML:
    """The keys of two tasks on a line, each with its value, and a query on its way to a target."""
    return picture(
        "two-tasks-on-a-line",
        "Two panels. Keys are diamonds on a line, and on each key is a blue pin as long as its "
        "value; a green line is the target. Left: keys −2, −1, 1 and 2 with the values 3, "
        "−2, 2 and 1, the target 2, and a query, a triangle at 0.3. Right: keys −2 and 2 with the "
        "values 1 and 2, the target 1.5, and a query at −1.",
        [_pins("B2"), _pins("B4")],
    )


def between() -> HTML:
    """What a query reads on its way from one side to the other: the mean of all values, or little
    of any."""
    left, start, low, trap, star = _reads("B2", softmax, ATTENTION, "Softmax: through the mean")
    left.words((start[0] - 5, start[1] - 8), "start", anchor="end")
    left.words((low[0], low[1] + 15), "mean of all")
    left.words((trap[0] + 10, trap[1] - 6), "trapped", anchor="start")
    left.words((star[0] + 12, star[1] - 9), "would be met", color=FOUND, anchor="start")
    left.words((4, BASE - STRIP + 4), "loss", anchor="start")
    right, start, low, trap, star = _reads("B4", gaussian, GAUSSIAN, "Gaussian: between the keys")
    right.words((start[0] + 4, start[1] - 11), "start", anchor="start")
    right.words((low[0], low[1] + 12), "little of either")
    right.words((trap[0], trap[1] - 10), "trapped")
    right.words((star[0] - 12, star[1] - 9), "would be met", color=FOUND, anchor="end")
    right.words((256, BASE - STRIP + 4), "loss", anchor="end")
    return picture(
        "what-lies-between",
        "Two panels with keys and values as pins on a line, the output at every query as a curve, "
        "a green line, the target, and below it the loss at every query. Left, softmax, an "
        "amber curve, values up and down: from its start, a triangle at 0.3, a query moves to the "
        "right and stops at a cross, on top of a low peak. To the left the curve first falls, at "
        "zero to the mean of all values, and "
        "only then rises to the target, which would be met at a star. Right, the Gaussian kernel, "
        "a violet curve, values that rise: from −1 a query moves to the left and stops at a cross, "
        "on top of the peak at the left key, below the target. Between the keys the curve falls to "
        "little above zero; the peak at the right key crosses the target, at a star. In both strips "
        "the cross is in a valley of the loss, and a hill separates it from the star, at loss zero.",
        [left, right],
    )


def _at(scale, q, height) -> Point:
    floor, up = scale
    return MIDDLE + ALONG * float(q), floor - up * float(height)


def _pins(name):
    task, scale, panel = EXAMPLES[name], WHOLE[name], Panel(ORDERS[name])
    _ground(panel, name, scale)
    for key, value in zip(task["keys"], task["values"], strict=True):
        (x, y), top = _at(scale, key, 0), _at(scale, key, value)[1]
        # The key on the side of the line where the pin is not, the value at the pin's end.
        panel.words((x, y + (20 if value > 0 else -11)), _as_text(key))
        end = top + (14 if value > 0 else -5)
        panel.words((x - 6, end), _as_text(value), color=DECODER, anchor="end")
    x, y = _at(scale, BEGIN[name], 0)
    return panel.query((x, y)).words((x, y - 13), "query")


def _reads(name, kernel, color, title):
    """The curve of what a query reads, with its run into the trap, above the strip of its losses; and
    four places on the curve: where the run starts, where the curve is lowest between hills, the trap,
    and where the target is met."""
    task, scale, panel = EXAMPLES[name], ABOVE[name], Panel(title)
    line = Line(task["keys"], task["values"], kernel)

    def at(q):
        return _at(scale, q, line.output([q])[0])

    minima = line.minima(task["y"])
    trap, met = (next(one.q for one in minima if one.spurious == held) for held in (True, False))
    _, turns, top = line.turns()
    _losses(panel, line, task["y"], at, trap, met)
    _ground(panel, name, scale).curve([at(q) for q in ACROSS], color=color, width=3)
    for key, value in zip(task["keys"], task["values"], strict=True):
        # At the foot of the pin: its end is where the curve is.
        x, y = _at(scale, key, 0)
        place = x + 8, y + (-9 if value > 0 else 18)
        panel.words(place, _as_text(value), color=DECODER, anchor="start")
    # From the edge of the triangle to short of the cross.
    way = [at(q) for q in np.linspace(BEGIN[name], trap, 101)]
    way = [x for x in way if abs(x[0] - way[0][0]) > 7 and abs(x[0] - way[-1][0]) > 7]
    panel.curve(way[:-20], width=2.5).arrow(way[-20], way[-1])
    panel.query(at(BEGIN[name])).star(at(met)).trap(at(trap))
    return panel, at(BEGIN[name]), at(turns[~top][0]), at(trap), at(met)


def _losses(panel, line, y, at, trap, met):
    """The strip of losses ½ (o − y)², and what leads down to it from the trap and from the star."""
    losses = (line.output(ACROSS) - y) ** 2 / 2

    def below(q):
        loss = (line.output([q])[0] - y) ** 2 / 2
        return at(q)[0], BASE - STRIP * float(loss / losses.max())

    panel.line((4, BASE), (256, BASE), width=1, opacity=0.5)
    for q in (trap, met):
        panel.line(at(q), below(q), color=GRAY, width=1)
    panel.curve([below(q) for q in ACROSS], width=2)
    return panel.star(below(met)).trap(below(trap))


def _ground(panel, name, scale):
    """The line of keys, each with the pin of its value, and the target."""
    task, floor = EXAMPLES[name], scale[0]
    panel.line((4, floor), (256, floor), width=1, opacity=0.5)
    level = _at(scale, 0, task["y"])[1]
    panel.target((4, level), (256, level))
    x, anchor = (256, "end") if name == "B2" else (4, "start")
    panel.words((x, level - 5), "target", color=FOUND, anchor=anchor)
    for key, value in zip(task["keys"], task["values"], strict=True):
        foot, top = _at(scale, key, 0), _at(scale, key, value)
        panel.line(foot, top, color=DECODER, width=3).dot(top, color=DECODER, size=4).key(foot)
    return panel


def _as_text(number):
    return f"{number:g}".replace("-", "−")
