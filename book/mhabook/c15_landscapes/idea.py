"""The pictures of chapter 15: one saddle with two slices, and why a random direction is blind to a
way down."""

import numpy as np
from IPython.display import HTML

from mhabook.drawing import DASHES, Panel, Point, picture
from mhalib.plots import FOUND

MIDDLE, UNIT = (130, 104), 50
"""Where the origin of the map is drawn, and how long one is."""
BOTTOM = 168
"""Where the loss zero of the slices is drawn."""
CORNER, LENGTH, OPENING = (40, 166), 132, 36
"""Where the directions begin, how long they are, and within how many degrees of the way down the
loss curves down."""


def one_saddle() -> HTML:
    """The saddle of f = ½ (xy − 1)² from above, and its slices along the two diagonals."""
    above = Panel("A saddle, from above")
    for product in (-0.4, 0.4):
        for side in (1, -1):
            level = [_on_map(side * x, side * product / x) for x in np.geomspace(0.27, 1.5, 60)]
            above.curve(level, width=1, opacity=0.5)
    for side in (1, -1):
        valley = [_on_map(side * x, side / x) for x in np.geomspace(2 / 3, 1.5, 40)]
        above.curve(valley, color=FOUND, width=4)
    above.line(_on_map(-1.5, 1.5), _on_map(1.5, -1.5), dash=DASHES, width=2)
    above.line(_on_map(-1.5, -1.5), _on_map(1.5, 1.5), width=2).dot(MIDDLE, size=6)
    above.star(_on_map(1, 1)).star(_on_map(-1, -1))
    above.words((208, 64), "loss 0", color=FOUND, anchor="start")
    above.words((52, 152), "loss 0", color=FOUND, anchor="end")
    slices = Panel("Two slices through the dot").line(
        (24, BOTTOM), (236, BOTTOM), width=1, opacity=0.5
    )
    # Along the two diagonals xy is −s²/2 and s²/2; the valleys are at s = √2.
    for reach, dash, side in ((1.2, DASHES, -1), (1.9, "", 1)):
        points = [(s, (side * s * s / 2 - 1) ** 2 / 2) for s in np.linspace(-reach, reach, 81)]
        slices.curve([_on_slice(*point) for point in points], dash=dash, width=2.5)
    for side in (1, -1):
        slices.star(_on_slice(side * 2**0.5, 0))
    slices.dot(_on_slice(0, 0.5), size=6)
    slices.words((130, 100), "a bowl").words((130, 147), "a peak").words((130, 184), "loss 0")
    return picture(
        "one-saddle-two-slices",
        "Two panels. Left, from above: a dot between two valleys of loss zero, a dashed line through it "
        "along the ridge between them, and a solid line that crosses both, each at a star. Right, "
        "the loss along both lines. Along the dashed one it is a bowl, with the dot at its bottom; "
        "along the solid one, the dot is on a peak between two minima, the stars.",
        [above, slices],
    )


def _on_map(x: float, y: float) -> Point:
    return MIDDLE[0] + UNIT * x, MIDDLE[1] - UNIT * y


def _on_slice(s: float, loss: float) -> Point:
    return 130 + 50 * float(s), BOTTOM - 84 * float(loss)


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
