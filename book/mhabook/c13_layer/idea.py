"""The pictures of chapter 13: what tokens see, and targets that are lines in the plane of two
values."""

from itertools import pairwise

import numpy as np
from IPython.display import HTML

from livegrad.arrays import Array
from mhabook.drawing import Panel, Point, picture
from mhalib.plots import DECODER, FOUND

MILLIONTH = 1e-6
"""What is left of the loss where the descent of a panel with a common point ends."""
START = (-1.35, 0.75)
"""Where the descent of every panel begins."""
CENTER, UNIT, REACH = (130, 96), 56, (2.1, 1.3)
"""Where the origin is drawn, how long the unit is, and how far the panels reach from there."""
STEP = 2.7
"""How large the dot of a step is."""
TRIANGLE, APART, ALIKE = (55, 100, 140), (55, 125), (80, 100)
"""The directions of the rows of B in the three panels, in degrees."""


WEIGHTS = ((0.6, 0.2, 0.1, 0.1), (0.1, 0.7, 0.1, 0.1), (0.2, 0.1, 0.5, 0.2), (0.1, 0.1, 0.2, 0.6))
"""How four tokens of the first picture look at each other."""
TOKENS = (
    (0.9, -0.4, 0.1, 0.6, -0.8),
    (-0.5, 0.8, -0.9, 0.2, 0.4),
    (0.2, 0.3, 0.9, -0.9, -0.2),
    (-0.8, -0.7, 0.4, 0.5, 0.9),
)
CELL = 18
"""How far apart the entries of a row are drawn."""


def rows_of_what_tokens_see() -> HTML:
    """A token looks at the tokens of its sample; what each of them sees is a row of B, and its
    target an equation."""
    looks = Panel("A token looks at its sample")
    for k, weight in enumerate(WEIGHTS[0]):
        looks.weight((130, 149), (43 + 58 * k, 58), weight)
        looks.token((43 + 58 * k, 58)).words((43 + 58 * k, 44), f"token {k + 1}")
    looks.query((130, 156)).words((130, 184), "token 1 gets a context vector")
    rows = Panel("Context vectors: rows of B")
    seen = np.array(WEIGHTS) @ np.array(TOKENS)
    for k, row in enumerate(seen):
        y = 52 + 28 * k
        rows.words((54, y + 5), f"token {k + 1}", anchor="end")
        for j, entry in enumerate(row):
            rows.entry((72 + CELL * j, y), entry)
        rows.words((158, y + 4), "· v", color=DECODER, anchor="start")
        rows.words((178, y + 4), f"= target {k + 1}", color=FOUND, anchor="start")
    rows.words((130, 184), "each target is an equation for v")
    return picture(
        "what-tokens-see",
        "Two panels. Left: a token attends to the four tokens of its sample, with one broad line "
        "and three thin ones; their weighted sum is its context vector. Right: the context vectors "
        "of the four tokens are the rows of a matrix B, drawn as five squares each, filled where an "
        "entry is positive and hollow where it is negative; each row times the values v should "
        "equal a target.",
        [looks, rows],
    )


def lines_of_targets() -> HTML:
    """Three targets without a common point; two whose rows point apart; two whose rows are nearly
    alike."""
    apart, alike = (len(descent(rows_at(*angles), np.zeros(2))) - 1 for angles in (APART, ALIKE))
    middle = _two(Panel("Rows that differ"), APART).words((130, 185), f"fitted in {apart} steps")
    right = _two(Panel("Rows nearly alike"), ALIKE).words((130, 185), f"fitted in {alike} steps")
    return picture(
        "lines-of-targets",
        "Three panels, each the plane of two values; each target is a straight green "
        "line on which it is reached. Left: three lines that form a triangle. Descent ends inside "
        "it, on none of the lines. Middle: two lines that cross at a wide angle, at a star. The "
        f"level lines of the loss around the star are nearly round, and descent converges in {apart} steps. Right: "
        "two lines that cross at a narrow angle. The level lines are long and flat, and descent "
        f"moves slowly along them, for {alike} steps.",
        [_three(Panel("Three targets in a plane")), middle, right],
    )


def rows_at(*degrees: float) -> Array:
    """Rows of length one in these directions."""
    turns = np.radians(degrees)
    return np.stack([np.cos(turns), np.sin(turns)], axis=1)


def descent(B: Array, y: Array) -> list[Point]:
    """Steps of 1/L on ½‖Bv − y‖² from ``START``, until all but a millionth of what can go of the
    loss is gone."""
    least, L = np.linalg.lstsq(B, y)[0], np.linalg.norm(B, 2) ** 2
    v, path = np.array(START), [START]

    def excess(v):
        # ‖Bv − y‖² exceeds its least value by this: the least residual is orthogonal to the range
        # of B.
        return float(((B @ (v - least)) ** 2).sum())

    first = excess(v)
    while excess(v) > MILLIONTH * first:
        v = v - B.T @ (B @ v - y) / L
        path.append((float(v[0]), float(v[1])))
    return path


def _at(point):
    return CENTER[0] + UNIT * float(point[0]), CENTER[1] - UNIT * float(point[1])


def _inside(point):
    return abs(point[0]) <= REACH[0] and abs(point[1]) <= REACH[1]


def _lines(panel, B, y):
    """The lines b·v = y, as far as the panel reaches."""
    for row, target in zip(B, y, strict=True):
        along = np.array([-row[1], row[0]])
        points = [target * row + t * along for t in np.linspace(-3, 3, 301)]
        shown = [point for point in points if _inside(point)]
        panel.target(_at(shown[0]), _at(shown[-1]))
    return panel


def _path(panel, path):
    """A run with a dot at each step, as far as the dots do not touch."""
    panel.run([_at(point) for point in path])
    for point, end in pairwise(path[1:]):
        if np.hypot(*np.subtract(end, point)) * UNIT > 2 * STEP:
            panel.dot(_at(point), size=STEP)
    return panel


def _three(panel):
    B, y = rows_at(*TRIANGLE), np.array([0.6, -0.5, 0.45])
    path = descent(B, y)
    _path(_lines(panel, B, y), path)
    return panel.words((130, 185), "no common point")


def _two(panel, angles):
    B = rows_at(*angles)
    circle = np.linspace(0, 2 * np.pi, 241)
    # The level line ‖Bv‖ = 1 is the image of the unit circle under B⁻¹.
    ring = np.linalg.solve(B, np.stack([np.cos(circle), np.sin(circle)])).T
    widest = (REACH / abs(ring).max(axis=0)).min()
    for level in (widest / 3, widest * 2 / 3, widest):
        panel.curve([_at(level * point) for point in ring], width=1, opacity=0.5)
    _path(_lines(panel, B, np.zeros(2)), descent(B, np.zeros(2)))
    return panel.star(CENTER)
