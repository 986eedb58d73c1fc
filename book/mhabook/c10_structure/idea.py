"""The pictures of chapter 10: tokens that are stretched, a narrow and a round valley, and a saddle
between valleys."""

import numpy as np
from IPython.display import HTML

from livegrad.arrays import Array
from mhabook.drawing import DASHES, Panel, Point, picture
from mhalib.plots import FOUND, GRAY, ORDERED

ISOTROPIC, STRETCHED = (1.0, 1.0), (1.7, 0.3)
"""The variances of isotropic tokens, and of tokens that are stretched; the mean of either is 1."""
VARIANCES = (4.0, 1.0)
"""Those of the tokens along their wide and their narrow direction, in the panels that compare two
descents."""
WIDE = ("along the wide", "token direction:", "steep")
NARROW = ("along the narrow", "one: flat")
"""What the axes of the narrow valley are, in lines of words."""
ERRORS = (0.02, 0.04)
"""How far the products u v of the two coordinates are above 1 at the start: so little that a whitened
step hardly overshoots."""
NEAR = 0.002
"""Descent ends where both products are as near to 1."""
MIDST, OFF = (130, 106), 1820
"""Where the clouds and the star on them are drawn, and how long an error of one is."""
PLAIN = ORDERED[-1]
"""The color of plain descent beside whitened descent, where it is dashed, as in the live figure."""
CENTER, UNIT = (130, 98), 40
"""Where the origin is drawn, and how long the unit is."""


def stretched_tokens() -> HTML:
    """Isotropic tokens, and the same ones stretched; on either cloud the errors of descent along the two
    directions."""
    clouds = [Panel("Isotropic tokens"), Panel("The same tokens, stretched")]
    z = np.random.default_rng(3).standard_normal((90, 2))
    z = z[np.linalg.norm(z, axis=1) < 2.2]
    for panel, variances in zip(clouds, (ISOTROPIC, STRETCHED), strict=True):
        for x, y in 36 * np.sqrt(variances) * z:
            panel.dot((MIDST[0] + x, MIDST[1] + y), color=GRAY, size=2)
        if variances != ISOTROPIC:
            panel.curve(map(_off, descent(variances)), color=PLAIN, dash=DASHES).words(
                (92, 50), "plain descent", anchor="end"
            )
        whitened = [_off(errors) for errors in descent(ISOTROPIC)]
        panel.curve(whitened, width=2.5).start(*whitened[:2]).star(MIDST)
    clouds[0].words((180, 42), "either descent", anchor="start")
    clouds[1].words((180, 36), "whitened", anchor="start").words(
        (180, 49), "descent", anchor="start"
    )
    return picture(
        "descent-on-two-clouds",
        "Two clouds of faint dots with a star in the middle, where the errors along both directions are "
        "zero. Left, isotropic tokens: one step leads from a tick to the star; plain and "
        "whitened descent are the same. Right, the same tokens, stretched horizontally: whitened "
        "descent takes the same step, and plain descent, dashed, zigzags from side to side on its way "
        "down.",
        clouds,
    )


def landscape() -> HTML:
    """The narrow valley of a wide and a narrow token direction, and the round one of whitened
    coordinates."""
    narrow, round_ = (descent(variances) for variances in (VARIANCES, (1.0, 1.0)))
    return picture(
        "narrow-and-round",
        "Two panels. Left: horizontally, the distance from the valley of the wide token direction; "
        "vertically, from that of the narrow one. The level lines are narrow ovals around a star, "
        "the optimum: the loss is steep along the wide direction and flat along the narrow one. "
        "Descent jumps from side to side, for "
        f"{_counted(narrow)}. Right: in whitened coordinates the level lines are circles, and "
        f"descent converges in {_counted(round_)}.",
        [
            _ovals(
                _named(Panel("Descent moves A and B"), WIDE, NARROW, 24),
                narrow,
                VARIANCES,
                "a narrow valley",
            ),
            _ovals(
                _named(Panel("Descent moves u and v"), ("wide",), ("narrow",), 48),
                round_,
                (1.0, 1.0),
                "a round valley",
            ),
        ],
    )


def valleys() -> HTML:
    """A saddle between two valleys, and where descent comes to rest."""
    return picture(
        "saddle-and-valleys",
        "In the plane of u and v two green curves, the valleys, where u v = 1, and between them "
        "the origin, a saddle. A star on each valley is its balanced point; a path of descent "
        "converges to another point of a valley.",
        [_valleys()],
    )


def curvature(variance: Array) -> Array:
    """That of ½(uv − 1)² across its valley, in A = u/σₓ and B = v/σₓ², at u = v = 1: σₓ² + σₓ⁴."""
    return variance + variance**2


def descent(variances: tuple[float, float]) -> Array:
    """Gradient descent on ½(uv − 1)² for two coordinates at once, in their A and B, from balanced
    starts: their errors uv − 1 (steps + 1, 2), until both are near zero.

    The step size is the best one for the two curvatures across the valleys.
    """
    variance = np.array(variances)
    lr = 2 / curvature(variance).sum()
    u = v = np.sqrt(1 + np.array(ERRORS))
    path = [u * v - 1]
    while abs(path[-1]).max() > NEAR:
        E = path[-1]
        u, v = u - lr * variance * E * v, v - lr * variance**2 * E * u
        path.append(u * v - 1)
    return np.array(path)


def unbalanced() -> list[Point]:
    """The gradient flow of L = ½(uv − 1)² from (2.0, −1.0): it keeps u² − v², and ends at an
    unbalanced optimum."""
    u, v, path = 2.0, -1.0, []
    while abs(u * v - 1) > 1e-3:
        path.append((u, v))
        E = u * v - 1
        u, v = u - 0.01 * E * v, v - 0.01 * E * u
    return [*path, (u, v)]


def _at(point):
    """Where (u, v) is drawn."""
    return CENTER[0] + UNIT * point[0], CENTER[1] - UNIT * point[1]


def _axes(panel):
    x, y = CENTER
    panel.line((8, y), (246, y), width=1, opacity=0.35)
    return panel.line((x, 35), (x, 172), width=1, opacity=0.35)


def _valleys():
    panel = _axes(Panel("Two valleys and a saddle"))
    panel.words((250, CENTER[1] + 3), "u", anchor="start").words((CENTER[0], 30), "v")
    for product in (0.4, 1.0, -0.4):
        u = np.geomspace(abs(product) / 1.75, 2.9, 60)
        for side in (1, -1):
            line = [_at((side * x, side * product / x)) for x in u]
            if product == 1:
                panel.curve(line, color=FOUND, width=4)
            else:
                panel.curve(line, width=1, opacity=0.5)
    panel.run(_at(point) for point in unbalanced())
    for side in (1, -1):
        panel.star(_at((side, side)))
    panel.dot(CENTER, size=3).words((CENTER[0] - 8, CENTER[1] + 14), "saddle", anchor="end")
    panel.words((182, 54), "balanced", color=FOUND, anchor="start").words((222, 152), "descent")
    return panel.words((130, 186), "it may stop unbalanced")


def _named(panel, across, up, beside):
    """The two axes with their names: on the first one, and so far beside the top of the second."""
    _axes(panel)
    for k, words in enumerate(across):
        panel.words((254, CENTER[1] - 5 - 12 * (len(across) - 1 - k)), words, anchor="end")
    for k, words in enumerate(up):
        panel.words((CENTER[0] - beside, 34 + 12 * k), words, anchor="end")
    return panel


def _ovals(panel, errors, variances, words):
    curvatures = curvature(np.array(variances))
    # The distances from the two valleys.
    path = errors / np.sqrt(curvatures)
    turn = np.linspace(0, 2 * np.pi, 121)
    # The level lines through the start and at a quarter and a sixteenth of its loss.
    loss = (errors[0] ** 2).sum()
    for share in (1, 1 / 4, 1 / 16):
        radii = np.sqrt(share * loss / curvatures)
        panel.curve(
            [_near((radii[0] * np.cos(t), radii[1] * np.sin(t))) for t in turn],
            width=1,
            opacity=0.55,
        )
    points = [_near(point) for point in path]
    panel.curve(points).start(*points[:2])
    for point in points[1:]:
        if np.hypot(*np.subtract(point, CENTER)) > 12:  # none is half under the star
            panel.dot(point, size=2.5)
    panel.words((points[0][0] + 9, points[0][1] + 1), "start", anchor="start")
    return panel.star(CENTER).words((130, 186), f"{words}: {_counted(path)}")


def _counted(path):
    """The steps of a path, in words."""
    steps = len(path) - 1
    return f"{steps} step" + "s" * (steps > 1)


def _off(errors):
    """Where the errors of the two coordinates are drawn on a cloud."""
    return MIDST[0] + OFF * errors[0], MIDST[1] - OFF * errors[1]


def _near(point):
    """Where the distances from the two valleys are drawn."""
    return CENTER[0] + 2300 * point[0], CENTER[1] - 2300 * point[1]
