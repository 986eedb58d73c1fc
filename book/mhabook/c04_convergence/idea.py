"""The picture of chapter 4: near a good model a loss cannot start flat, far away it can, and
distance runs out."""

from itertools import pairwise
from math import acos, asin, cos, pi, sin

from IPython.display import HTML

from mhabook.drawing import Panel, Point, picture

KAPPA = 0.1
"""Along the line to the good model the loss curves downward by at most this multiple of itself."""
HERE, THERE = 1.0, 0.1
"""The loss where the run is, and that of the good model."""
NEAR, FAR = 2.0, 5.0
"""How far away the good model is in the first two panels."""
LEFT, BOTTOM, ACROSS, UP = 42, 156, 38, 116
"""Where distance 0 and loss 0 are drawn, and how long their units are."""


def downhill_leads_there() -> HTML:
    """Near a good model a flat start ends too high; far away it does not; so the run comes nearer
    step by step."""
    end = flat(NEAR)
    near = _axis(Panel("Near: it cannot be flat"), NEAR).words((190, 177), "distance")
    near.wall(_points(flat, NEAR), beyond=[_at(NEAR, 0), _at(0, 0)])
    near.words((_at(NEAR, end)[0] + 8, _at(NEAR, end)[1] - 2), "a flat start", anchor="start")
    near.words((_at(NEAR, end)[0] + 8, _at(NEAR, end)[1] + 16), "ends too high", anchor="start")
    near.curve(_points(_sloping, NEAR), width=2.5).star(_at(NEAR, THERE))
    near.arrow(_at(0.25, _sloping(0.25) - 0.12), _at(1.1, _sloping(1.1) - 0.12), width=2)
    far = _axis(Panel("Far away: it can"), FAR).words((136, 177), "distance")
    far.curve(_points(_reaching, FAR), width=2.5).star(_at(FAR, THERE))
    far.words((52, 112), "a flat start", anchor="start")
    far.words((52, 130), "ends low enough", anchor="start")
    return picture(
        "downhill-leads-there",
        "Three panels. Left, the loss over the distance from the run: a dot at a high loss, and near "
        "it a star, the good model, at a low loss. A dotted curve starts flat at the dot with as "
        "much negative curvature as is allowed, and ends far above the star; the region below it, "
        "which no flat start reaches, is shaded. The solid curve that reaches the star slopes down "
        "from the dot on. Middle: the star is far away, and a curve that starts flat reaches it. "
        "Right: arcs of circles around a star, and a path of steps from the outermost arc inward, with "
        "the largest steps first.",
        [near, far, _steps()],
    )


def flat(x: float) -> float:
    """The lowest loss at distance x after a flat start: it solves L'' = −κL with L = 1 and L' = 0
    at 0."""
    return HERE * cos(KAPPA**0.5 * x)


def _sloping(x):
    """A convex fall to the good model nearby."""
    return THERE + (HERE - THERE) * (1 - x / NEAR) ** 1.3


def _reaching(x):
    """From a flat start to the good model far away, with less downward curvature than is
    allowed."""
    return HERE * cos(acos(THERE / HERE) * x / FAR)


def _at(distance, loss) -> Point:
    return LEFT + ACROSS * distance, BOTTOM - UP * loss


def _points(loss, end):
    return [_at(end * k / 40, loss(end * k / 40)) for k in range(41)]


def _axis(panel, end):
    """Distance to the right, loss upward; the run as a dot."""
    panel.line(_at(0, 0), _at(5.4, 0), opacity=0.6).line(_at(0, 0), _at(0, 1.05), opacity=0.6)
    panel.words((34, _at(0, 1)[1] + 5), "1", anchor="end").words(
        (34, _at(0, THERE)[1] + 5), "0.1", anchor="end"
    )
    panel.words((_at(0, 0)[0], 177), "0").words((_at(end, 0)[0], 177), f"{end:g}")
    panel.words((34, 100), "loss", anchor="end")
    return panel.dot(_at(0, HERE))


def _steps():
    """A run that comes nearer to the star, by long steps where its loss is high."""
    panel, star = Panel("So the distance falls"), (230, 98)
    # Where the loss is proportional to the squared distance, every step takes the same share of it.
    distances = [196 * 0.5 ** (k / 2) for k in range(5)]
    for radius in distances[::2]:
        half = asin(min(1, 60 / radius))
        arc = [_on_circle(star, radius, pi + half * k / 20) for k in range(-20, 21)]
        panel.curve(arc, width=1, opacity=0.5)
    panel.star(star)
    turns = [pi + 0.14 - 0.06 * k for k in range(5)]
    path = [_on_circle(star, *polar) for polar in zip(distances, turns, strict=True)]
    for begin, end in pairwise(path[:-1]):
        panel.line(begin, end, width=2).dot(begin, size=4)
    panel.arrow(*path[-2:], width=2).dot(path[-2], size=4)
    panel.words((path[0][0] + 10, path[0][1] - 10), "start", anchor="start")
    return panel.words((130, 183), "long steps while loss is high")


def _on_circle(center, radius, turn) -> Point:
    return center[0] + radius * cos(turn), center[1] + radius * sin(turn)
