"""The pictures of chapter 10: tokens that are stretched, and the landscape of uv = 1 with its saddle and valleys."""

import numpy as np
from IPython.display import HTML

from mhabook.drawing import Panel, Point, picture
from mhalib._array import Array

VARIANCE = 16.0
"""That of the tokens of the narrow valley, which have one dimension."""
START = (1.8, 0.3)
"""Where the two descents on Q begin, in (u, v)."""
NEAR = 0.05
"""They end where they are as near to the balanced point (1, 1)."""
CENTER, UNIT = (130, 98), 40
"""Where the origin is drawn, and how long the unit is."""


def stretched_tokens() -> HTML:
    """Two clouds of the same tokens: round, and stretched along one direction."""
    z = np.random.default_rng(3).standard_normal((70, 2))
    clouds = [Panel("Round tokens"), Panel("The same tokens, stretched")]
    for panel, wide, narrow in zip(clouds, (28, 52), (28, 3.5), strict=True):
        for x, y in np.clip(z, -2.2, 2.2):
            panel.dot((130 + wide * x, 92 + narrow * y), color=2, size=2.5)
    clouds[0].words((130, 182), "as long in every direction")
    clouds[1].words((130, 182), "long in one direction, short in the other")
    return picture("round-and-stretched-tokens",
                   "Two clouds of dots. On the left a round one. On the right the same dots, pulled apart from left to "
                   "right and pressed together from top to bottom: a flat cloud.", clouds)


def landscape() -> HTML:
    """A saddle between two valleys; the narrow valley of long tokens, and the round one after whitening."""
    narrow, round_ = descent(VARIANCE), descent(1.0)
    return picture("saddle-and-valleys",
                   "Three panels. Left: in the plane of u and v two curved lines, the valleys, where u v = 1, and "
                   "between them the origin, a saddle. A balanced point is marked on each valley; a path of descent "
                   "comes to rest on a valley elsewhere. Middle: in the coordinates of the layer the level lines "
                   "around a balanced point are flat ovals, and descent jumps from side to side, for "
                   f"{len(narrow) - 1} steps. "
                   "Right: in whitened coordinates the level lines around it are round, and descent arrives in "
                   f"{len(round_) - 1} steps.",
                   [_valleys(), _ovals("The layer's coordinates", narrow, VARIANCE, "a narrow valley"),
                    _ovals("Whitened coordinates", round_, 1.0, "a round valley")])


def descent(variance: float) -> list[Point]:
    """Gradient descent on Q = ½(uv − 1)² + ⅛(u² − v²)² in a = u/σ and b = v/σ²: the points (u, v) until it is near.

    The step size is the best one near (1, 1), where the curvature is 2σ² along a and 2σ⁴ along b.
    """
    (u, v), path, lr = START, [START], 1 / (variance + variance ** 2)
    while np.hypot(u - 1, v - 1) > NEAR:
        E, D = u * v - 1, u ** 2 - v ** 2
        u, v = u - lr * variance * (E * v + D * u / 2), v - lr * variance ** 2 * (E * u - D * v / 2)
        path.append((float(u), float(v)))
    return path


def unbalanced() -> list[Point]:
    """The gradient flow of L = ½(uv − 1)² from (2.0, −1.0): it keeps u² − v², and ends at an unbalanced optimum."""
    u, v, path = 2.0, -1.0, []
    while abs(u * v - 1) > 1e-3:
        path.append((u, v))
        E = u * v - 1
        u, v = u - 0.01 * E * v, v - 0.01 * E * u
    return [*path, (u, v)]


def oval(level: float) -> Array:
    """The points (u, v) where Q = level, one loop or two: 4(uv − 1)² + (u² − v²)² = 8 Q is an oval of Cassini."""
    circle = 1j + (2 * level) ** 0.5 * np.exp(1j * np.linspace(0, 2 * np.pi, 241))
    root = np.sqrt(2 * circle)
    for k in range(1, len(root)):  # the root that goes on from the last one
        if abs(root[k] - root[k - 1]) > abs(root[k] + root[k - 1]):
            root[k] = -root[k]
    return np.stack([root.real, root.imag], axis=1)


def _at(point, variance=1.0):
    """Where (u, v) is drawn as (a, b), on a scale on which the narrow valley is well seen."""
    unit = UNIT if variance == 1 else 1.4 * UNIT
    return CENTER[0] + unit * point[0], CENTER[1] - unit * point[1] / variance ** 0.5


def _axes(panel, across, up):
    (x, y), gray = CENTER, 0.35
    panel.line((8, y), (252, y), width=1, opacity=gray).line((x, 24), (x, 176), width=1, opacity=gray)
    return panel.words((250, y - 5), across, anchor="end").words((x + 6, 34), up, anchor="start")


def _valleys():
    panel = _axes(Panel("Two valleys and a saddle"), "u", "v")
    for product, width, opacity in ((0.4, 1, 0.5), (1.0, 3, 1), (-0.4, 1, 0.5)):
        u = np.geomspace(abs(product) / 1.75, 3, 60)
        for side in (1, -1):
            panel.curve([_at((side * x, side * product / x)) for x in u], color=0 if product == 1 else None,
                        width=width, opacity=opacity)
    for side in (1, -1):
        panel.dot(_at((side, side)), color=0)
    path = [_at(point) for point in unbalanced()]
    panel.curve(path, color=1, width=2.5).dot(path[0], color=1, size=3).dot(path[-1], color=1)
    panel.dot(CENTER, hollow=True).words((CENTER[0] - 8, CENTER[1] + 18), "saddle", anchor="end")
    panel.words((176, 52), "balanced", color=0, anchor="start").words((222, 152), "descent", color=1)
    return panel.words((130, 188), "it may stop unbalanced")


def _ovals(title, path, variance, words):
    panel = _axes(Panel(title), *("ab" if variance > 1 else "uv"))
    for level in (0.06, 0.25, 0.5, 0.8):
        loop = oval(level)
        for side in (1, -1):
            panel.curve([_at(side * point, variance) for point in loop], width=1, opacity=0.55)
    points = [_at(point, variance) for point in path]
    panel.curve(points, color=1, width=1.5)
    for point in points:
        panel.dot(point, color=1, size=2.5)
    for side in (1, -1):
        panel.dot(_at((side, side), variance), color=0, size=4)
    return panel.dot(CENTER, hollow=True, size=4).words((130, 188), f"{words}: {len(path) - 1} steps")
