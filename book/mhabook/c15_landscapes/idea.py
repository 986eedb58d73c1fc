"""The pictures of chapter 15: one saddle with two slices, and why a random direction is blind to a
way down."""

from collections.abc import Callable

import numpy as np
from IPython.display import HTML

from mhabook.drawing import Panel, Point, picture
from mhalib.plots import FOUND

MIDDLE, UNIT = (130, 104), 42
"""Where the origin of the map is drawn, and how long one is."""
CORNER, LENGTH, OPENING = (40, 166), 132, 36
"""Where the directions begin, how long they are, and within how many degrees of the way down the
loss curves down."""


def one_saddle() -> HTML:
    """The saddle of f = ½ (xy − 1)² from above, and its slices along the two diagonals."""
    above = Panel("A saddle, from above")
    for side in (1, -1):
        valley = [_on_map(side * x, side / x) for x in np.geomspace(0.57, 1.75, 40)]
        above.curve(valley, color=FOUND, width=4)
    above.line(_on_map(-1.5, 1.5), _on_map(1.5, -1.5), dash="6 4", width=2)
    above.line(_on_map(-1.5, -1.5), _on_map(1.5, 1.5), width=2).dot(MIDDLE, size=6)
    above.star(_on_map(1, 1)).star(_on_map(-1, -1))
    above.words((226, 60), "loss 0", color=FOUND).words((34, 158), "loss 0", color=FOUND)
    return picture(
        "one-saddle-two-slices",
        "Three panels. From above: a dot between two valleys of loss zero, a dashed line through it "
        "along the ridge between them, and a solid line that crosses both, each at a star. Then "
        "the loss along the dashed line: a bowl, with the dot at its bottom. Last, the loss along "
        "the solid line: the dot is on a peak between two minima, the stars.",
        [
            above,
            # Along the two diagonals xy is −s²/2 and s²/2.
            _slice("One slice: a bowl", "6 4", lambda s: (1 + s * s / 2) ** 2 / 2),
            _slice("Another: a peak", "", lambda s: (1 - s * s / 2) ** 2 / 2, minima=(-1, 1)),
        ],
    )


def _on_map(x: float, y: float) -> Point:
    return MIDDLE[0] + UNIT * x, MIDDLE[1] - UNIT * y


def _slice(
    title: str, dash: str, loss: Callable[[float], float], minima: tuple[float, ...] = ()
) -> Panel:
    """The loss over s; ``minima`` are at s/√2, as the valleys are on the map."""

    def at(s: float) -> Point:
        return 130 + 58 * s, 168 - 62 * min(loss(s), 2.3)

    reach = 1.25 if dash else 1.95
    panel = (
        Panel(title).line((16, 168), (244, 168), width=1, opacity=0.5).words((130, 184), "loss 0")
    )
    panel.curve([at(s) for s in np.linspace(-reach, reach, 81)], dash=dash, width=2.5)
    for x in minima:
        panel.star(at(x * 2**0.5))
    return panel.dot(at(0), size=6)


def right_angles() -> HTML:
    """The angles of random directions with one direction: any in two dimensions, nearly right ones
    in 114."""
    return picture(
        "nearly-at-a-right-angle",
        "Two panels with a quarter circle. An upward arrow is the direction of negative "
        "curvature; the shaded sector around it contains the directions along which the loss has "
        "negative curvature. Left, with two weights, thirty random directions are spread over the "
        "whole quarter, many in the sector. Right, with 114 weights, all thirty are close to the "
        "bottom, nearly orthogonal to that direction.",
        [_fan(2, "Two weights"), _fan(114, "114 weights")],
    )


def _fan(p: int, title: str) -> Panel:
    drawn = np.random.default_rng(0).standard_normal((30, p))
    # Normal draws prefer no direction, so the way down may be the first axis, up to its sign.
    angles = np.degrees(np.arccos(abs(drawn[:, 0]) / np.linalg.norm(drawn, axis=1)))
    rim = [_leaning(angle, LENGTH + 8) for angle in np.linspace(0, OPENING, 30)]
    panel = Panel(title).curve([CORNER, *rim, CORNER], width=0.5, fill=True)
    for angle in angles.tolist():
        panel.line(CORNER, _leaning(angle, LENGTH), width=1, opacity=0.7)
    panel.arrow(CORNER, _leaning(0, LENGTH + 8), width=3)
    panel.words((34, 96), "way", anchor="end").words((34, 110), "down", anchor="end")
    panel.words((146, 46), "here the loss", anchor="start")
    panel.words((146, 60), "is concave", anchor="start")
    return panel.words((152, 184), "random directions")


def _leaning(angle: float, length: float) -> Point:
    """The end of a line that leans by so many degrees from the top."""
    return (
        CORNER[0] + length * float(np.sin(np.radians(angle))),
        CORNER[1] - length * float(np.cos(np.radians(angle))),
    )
