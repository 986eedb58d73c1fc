"""The picture of chapter 2: a loss that bounds its slope, a logit that bends, and hills that get
flat."""

from math import cos, exp, log, pi

from IPython.display import HTML

from mhabook.drawing import Panel, picture

MARGINS = (-1.4, 2.6)
"""Where the loss is high and steep, and where it is low and flat."""


def slope_times_bend() -> HTML:
    """Slope at most height, times the bend of the logit, is the bend of the loss: high hills bend,
    low ones hardly."""
    loss = (
        Panel("The loss: steep only if high")
        .arrow((20, 165), (246, 165), width=1)
        .curve([_on_loss(-2 + 0.1 * k) for k in range(61)], width=2.5)
        .words((246, 184), "margin of a sample", anchor="end")
    )
    for margin in MARGINS:
        _tangent(loss, margin)
    loss.words((84, 74), "high, and steep", anchor="start").words(
        (160, 142), "low, and flat", anchor="start"
    )
    logit = Panel("The logit: curvature of either sign")
    for left, sign, color, word in ((28, 1, 0, "upward"), (142, -1, 1, "downward")):
        logit.curve(
            [(left + x, 92 - sign * (0.04 * (x - 45) ** 2 - 40)) for x in range(0, 91, 3)],
            color=color,
            width=2.5,
        )
        logit.words((left + 45, 158), word, color=color)
    logit.words((130, 184), "at most B/√H")
    hills = Panel("So the lower, the flatter")
    for height, y in ((70, 108), (24, 142), (5, 160)):
        hills.curve(
            [_on_hill(x, y + height / 4, height) for x in range(-100, 101, 5)], width=2.5, color=1
        )
        hills.dot((130, y + height / 4 - height), size=4)
    hills.words((130, 184), "negative curvature ≤ B/√H × loss")
    return picture(
        "the-lower-the-flatter",
        "Three panels. The logistic loss against the margin, with a steep tangent at a high point "
        "and a flat one at a low point. Two curves for the logit, one convex and one concave. "
        "Three hills of the same shape, a high one, a low one, and a very low one, each with a "
        "dot at its top.",
        [loss, logit, hills],
    )


def _on_loss(margin):
    return 110 + 34 * margin, 165 - 52 * log(1 + exp(-margin))


def _tangent(panel, margin):
    x, y = _on_loss(margin)
    rise = 52 / 34 / (1 + exp(margin))  # downward to the right, in units of the panel
    reach = 30 / (1 + rise**2) ** 0.5
    panel.line((x, y), (x, 165), dash="3 3", opacity=0.7)
    panel.line((x - reach, y - rise * reach), (x + reach, y + rise * reach), color=1, width=3).dot(
        (x, y), size=4
    )


def _on_hill(x, foot, height):
    return 130 + x, foot - height * (1 + cos(pi * x / 100)) / 2
