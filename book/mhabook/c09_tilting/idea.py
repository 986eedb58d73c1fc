"""The pictures of chapter 9: tokens as large as their weights, and a bell times an exponential,
which is a bell."""

import numpy as np
from IPython.display import HTML

from livegrad.arrays import Array
from mhabook.drawing import DASHES, HEIGHT, Panel, picture
from mhalib.plots import ATTENTION

QUERY = (1.1, 0.55)
"""The query of the first picture: the score of a token is its product with this."""
TILT = 1.5
"""How steep the exponential of the second picture is."""
MIDDLE, UNIT, FLOOR = 110, 27, 148
"""Where zero is drawn in its panels, how long the unit is, and where the axis lies."""


def query_in_a_cloud() -> HTML:
    """A round cloud of tokens, as large as the weights that a query gives them."""
    panel = Panel("Tokens, sized by their weights")
    weights = softmax_weights(tokens())
    for token, weight in zip(tokens(), weights, strict=True):
        size = 3 * (len(weights) * weight) ** 0.5
        panel.dot(_at(token), color=ATTENTION, size=size, apart=True)
    mean, way = _at(weights @ tokens()), np.array(QUERY) / np.linalg.norm(QUERY)
    # Outside of the cloud, where no disc lies on it.
    panel.query(_at(2.3 * way), towards=_at(3.3 * way))
    panel.words((_at(3.3 * way)[0], _at(3.3 * way)[1] - 8), "query")
    panel.line(mean, (200, 142), width=1).dot(mean, apart=True)
    panel.words((202, 149), "their mean", anchor="start")
    return picture(
        "tokens-by-weight",
        "A round cloud of tokens, each of them a disc that is as large as its weight. Outside of the "
        "cloud, an arrow leads from a triangle in the direction of the query. The discs in its direction "
        "are large, and those on the other side nearly vanish. Their mean, a dot, lies away from "
        "the middle, in the direction of the arrow.",
        [panel],
    )


def tokens() -> Array:
    """Those of the first picture (n, 2): of 120 from N(0, I) the ones that fit."""
    drawn = np.random.default_rng(9).standard_normal((120, 2))
    return drawn[np.linalg.norm(drawn, axis=1) < 2.1]


def softmax_weights(tokens: Array) -> Array:
    """The weights (n,) of tokens (n, 2) for the query of the picture."""
    weights = np.exp(tokens @ np.array(QUERY))
    return weights / weights.sum()


def bell_times_exponential() -> HTML:
    """A cloud, the weights e^{τx}, and the cloud by weight: the same bell, moved by τ."""
    x = np.linspace(-3.2, 4.6, 160)
    cloud = _axis(Panel("A cloud of tokens")).curve(_points(x, bell(x)), width=2.5)
    cloud.words((MIDDLE, 184), "exp(−x²/2)")
    weight = _axis(Panel("times the weight"))
    low = x[np.exp(TILT * (x - 3)) <= 1.02]
    weight.curve(_points(low, np.exp(TILT * (low - 3))), color=ATTENTION, width=2.5)
    weight.words((MIDDLE, 184), "exp(τx)", color=ATTENTION)
    moved = _axis(Panel("is the same cloud, shifted"))
    moved.curve(_points(x, bell(x)), dash=DASHES, opacity=0.6)
    moved.curve(_points(x, bell(x - TILT)), color=ATTENTION, width=2.5, fill=True)
    moved.arrow(_points([0], [1.1])[0], _points([TILT], [1.1])[0], width=2)
    moved.words((_points([TILT], [0])[0][0] + 8, 39), "by τ", anchor="start")
    moved.words((_points([TILT], [0])[0][0], 184), "few tokens here")
    for panel in (cloud, moved):
        for token in np.clip(np.random.default_rng(5).standard_normal(45), -3, 3):
            panel.dot((MIDDLE + UNIT * token, FLOOR + 9), size=2.5)
    return picture(
        "bell-times-exponential",
        "Three panels over one axis. A Gaussian centered at zero, with dots below it, the tokens, "
        "of which few are far out. An exponential that increases to the right. And a Gaussian of "
        "the same shape whose center is shifted to the right by τ, next to the first one, dashed; "
        "below the shifted Gaussian there are few tokens.",
        [cloud, weight, moved],
    )


def bell(x: Array) -> Array:
    """e^{−x²/2}."""
    return np.exp(-(x**2) / 2)


def _at(token):
    return 118 + 36 * float(token[0]), HEIGHT / 2 + 8 - 36 * float(token[1])


def _axis(panel):
    return panel.line((10, FLOOR), (250, FLOOR), width=1, opacity=0.5)


def _points(x, height):
    return [
        (float(MIDDLE + UNIT * at), float(FLOOR - 100 * up))
        for at, up in zip(x, height, strict=True)
    ]
