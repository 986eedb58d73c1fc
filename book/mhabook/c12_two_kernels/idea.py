"""The pictures of chapter 12: the two weights of one query, and what a product and a distance select
among keys."""

import numpy as np
from IPython.display import HTML

from mhabook.drawing import Panel, Point, picture
from mhalib.attention import gaussian, softmax
from mhalib.plots import ATTENTION, GAUSSIAN

CORNERS = [(46.0, 122.0), (92.0, 50.0), (196.0, 56.0), (222.0, 128.0), (128.0, 158.0)]
"""Keys in the plane; the one in the middle is a mean of them."""
MIDDLE = (134.0, 108.0)
# y counts downward: a negative second entry points up.
ALONG = (0.8, -0.6)
"""The direction of the query, in the picture."""
QUERY = (118.0, 92.0)
ON_LINE = (-2, 0, 1)
ASKS, FLOOR = 0.5, 124
"""The query on the line of the weights, and where the weight 0 is drawn, above that line."""
GROUND = 157
"""Where the keys are drawn that are lifted on the bowl."""


def three_keys() -> HTML:
    """The question: what one query gives to three keys on a line, under either kernel."""
    soft, gauss = (
        _weights("Softmax weights", softmax, ATTENTION, "exp(qk), divided by the sum"),
        _weights(
            "Gaussian weights", gaussian, GAUSSIAN, "exp(−(q − k)²/2), not divided by the sum"
        ),
    )
    return picture(
        "two-weights-of-one-query",
        "Two panels with the same three keys on a line, diamonds at −2, 0 and 1, the one at 0 "
        "filled, and the same query, a triangle at one half. On each key is a bar as high as its "
        "weight. Left, the softmax weights 0.12, 0.33 and 0.55, which are divided by their sum: the "
        "bars reach up to an exponential that increases to the right. Right, the Gaussian weights "
        "0.04, 0.88 and 0.88, which are not: the bars reach up to a bell around the query.",
        [soft, gauss],
    )


def product_and_distance() -> HTML:
    """A product selects a corner, a distance the nearest key, and on a bowl every key is a
    corner."""
    return picture(
        "a-product-selects-corners",
        "Three panels. A query is an arrow; parallel amber lines perpendicular to it mark equal "
        "scores, and the last of them touches a corner of the pentagon of keys, far from the key "
        "inside. A query is a point; violet circles around it mark equal scores, and the smallest "
        "one touches the key inside. Three keys on a line are lifted to a parabola; there a line "
        "perpendicular to the arrow of the query touches the lowest key, the middle one.",
        [_product(), _distance(), _bowl()],
    )


def _weights(title, kernel, color, words):
    """The weights of the query ``ASKS`` as bars on the keys, below the curve of the weight over the
    place of a key."""
    panel, query = Panel(title), np.array([[ASKS]])
    weights = kernel(kernel.scores(query, np.array(ON_LINE, float)[:, None]))[0]
    places = np.linspace(-2.6, 1.7, 87)
    # A softmax weight is exp(score), divided by what that of the last key was divided by.
    scores = kernel.scores(query, np.array([ON_LINE[-1], *places])[:, None])[0]
    curve = weights[-1] * np.exp(scores[1:] - scores[0])
    panel.curve([_high(k, weight) for k, weight in zip(places, curve, strict=True)], color=color)
    line = FLOOR + 11
    panel.line(
        (_high(places[0], 0)[0], line), (_high(places[-1], 0)[0], line), width=1, opacity=0.5
    )
    for k, weight in zip(ON_LINE, weights, strict=True):
        foot, top = _high(k, 0), _high(k, weight)
        panel.bar(foot, top, color=color).key((foot[0], line), chosen=k == 0)
        panel.words((foot[0], line + 21), f"{k}".replace("-", "−"))
        # On the side of the bar on which the curve is lower.
        side = 1 if kernel is gaussian and k > ASKS else -1
        panel.words(
            (top[0] + 3 * side, top[1] - 8),
            f"{weight:.2f}",
            color=color,
            anchor="start" if side > 0 else "end",
        )
    asks = _high(ASKS, 0)[0]
    panel.query((asks, line + 1)).words((asks, line + 21), "query")
    return panel.words((130, 184), words)


def _high(k, weight) -> Point:
    """Where a weight is drawn over the place k of a key on the line."""
    return 150 + 56 * float(k), FLOOR - 88 * float(weight)


def _keys(panel):
    panel.curve([*CORNERS, CORNERS[0]], width=1, fill=True, opacity=0.7)
    for at in CORNERS:
        panel.key(at)
    return panel.key(MIDDLE, chosen=True)


def winner() -> Point:
    """The key that lies farthest along the query."""
    return max([*CORNERS, MIDDLE], key=lambda at: at[0] * ALONG[0] + at[1] * ALONG[1])


def _product():
    panel = Panel("A product: how far along?")
    across = (-ALONG[1], ALONG[0])
    for share in (0, 0.5, 1):
        x, y = (a + share * (b - a) for a, b in zip(MIDDLE, winner(), strict=True))
        panel.line(
            (x - 30 * across[0], y - 30 * across[1]),
            (x + 70 * across[0], y + 70 * across[1]),
            width=1.5,
            color=ATTENTION,
        )
    panel.query((18, 84), towards=(18 + 60 * ALONG[0], 84 + 60 * ALONG[1]))
    panel.words((4, 106), "query", anchor="start")
    _keys(panel.circle(winner(), 12, color=ATTENTION, fill=0.25))
    return panel.words((130, 184), "meets a corner")


def _distance():
    panel = Panel("A distance: how near?")
    near = ((QUERY[0] - MIDDLE[0]) ** 2 + (QUERY[1] - MIDDLE[1]) ** 2) ** 0.5
    for radius in (near, near + 14, near + 28):
        panel.circle(QUERY, radius, color=GAUSSIAN)
    _keys(panel).query(QUERY).line((52, 77), (106, 90), width=1)
    panel.words((48, 80), "query", anchor="end")
    return panel.words((130, 184), "meets the nearest")


def lifted(k: float) -> Point:
    """A key of the line on the bowl, as high as its square."""
    return 166 + 52 * k, 136 - 22 * k**2


def _bowl():
    panel = Panel("Lifted onto a bowl")
    panel.curve([lifted(k / 10) for k in range(-22, 15)], width=1, opacity=0.6)
    panel.curve([lifted(k) for k in (*ON_LINE, ON_LINE[0])], width=1, fill=True, opacity=0.7)
    panel.line((40, GROUND), (240, GROUND), width=1, opacity=0.5)
    lowest = lifted(0)[1]
    panel.line((76, lowest), (238, lowest), color=GAUSSIAN)
    for k in ON_LINE:
        x, y = lifted(k)
        panel.line((x, GROUND - 7), (x, y + 7), width=1, opacity=0.6).key((x, GROUND))
        panel.key((x, y), chosen=k == 0)
    panel.query((30, 84), towards=(30, 132)).words((30, 70), "query")
    return panel.words((130, 184), "every key a corner")
