"""The picture of chapter 2: a loss that bounds its slope, a logit that bends, and hills that get
flat."""

from math import cos, exp, log, pi

from IPython.display import HTML

from mhabook.drawing import DASHES, Panel, picture

MARGINS = (-1.4, 2.6)
"""Where the loss is high and steep, and where it is low and flat."""
BEND, LIMIT = 0.08, 0.36
"""Second derivatives of the logit as it is drawn, and of the curve that bends as much as it could."""


def slope_times_bend() -> HTML:
    """Slope at most height, times the bend of the logit, is the bend of the loss: high hills bend,
    low ones hardly."""
    loss = (
        Panel("Loss: steep only if high")
        .arrow((20, 165), (246, 165), width=1)
        .curve([_on_loss(-2 + 0.1 * k) for k in range(61)], width=1.5)
        .words((246, 184), "margin of a sample", anchor="end")
    )
    for margin in MARGINS:
        _tangent(loss, margin)
    loss.words((86, 64), "high, steep", anchor="start").words(
        (160, 136), "low, flat", anchor="start"
    )
    logit = Panel("The logit bends both ways")
    for top, sign, dash, word in ((73, 1, "", "upward"), (187, -1, DASHES, "downward")):
        logit.curve(_bent(top, sign * BEND, 45), width=2.5, dash=dash)
        logit.wall(_bent(top, sign * LIMIT, 21))
        logit.words((top, 156), word)
    logit.words((130, 182), "dots: its limit, B/√H")
    hills = Panel("So the lower, the flatter")
    for height, y in ((70, 108), (24, 142), (5, 160)):
        # Dashes where it curves downward, between the two points of no curvature.
        for start, end, dash in ((-100, -50, ""), (-50, 50, DASHES), (50, 100, "")):
            hills.curve(
                [_on_hill(x, y + height / 4, height) for x in range(start, end + 1, 5)],
                width=2.5,
                dash=dash,
            )
        hills.dot((130, y + height / 4 - height), size=4)
    hills.words((130, 184), "at most B/√H × loss")
    return picture(
        "the-lower-the-flatter",
        "Three panels. The logistic loss against the margin, with a steep tangent at a high point "
        "and a flat one at a low point. Two curves for the logit, a solid one that curves upward "
        "and a dashed one that curves downward, each with a dotted curve, its limit, which bends "
        "more; the side of stronger bends is shaded. Three hills of the same shape, a high one, a "
        "low one, and a very low one, each dashed where it curves downward, with a dot at its top.",
        [loss, logit, hills],
    )


def _on_loss(margin):
    return 110 + 34 * margin, 165 - 52 * log(1 + exp(-margin))


def _tangent(panel, margin):
    x, y = _on_loss(margin)
    rise = 52 / 34 / (1 + exp(margin))  # downward to the right, in units of the panel
    reach = 30 / (1 + rise**2) ** 0.5
    panel.line((x, y), (x, 165), width=1, opacity=0.5)
    panel.line((x - reach, y - rise * reach), (x + reach, y + rise * reach), width=4).dot((x, y))


def _bent(middle, bend, reach):
    """A parabola with this second derivative, as far as ``reach`` on both sides of its middle; it
    begins where others of its sign do."""
    end = 92 + 40 * (1 if bend > 0 else -1)
    return [
        (middle + reach * k / 15, end - bend * (reach * k / 15) ** 2 / 2) for k in range(-15, 16)
    ]


def _on_hill(x, foot, height):
    return 130 + x, foot - height * (1 + cos(pi * x / 100)) / 2
