"""The picture of chapter 4: a high hill leads away from a good model, a flat one does not, and distance runs out."""

from itertools import pairwise
from math import cos, exp, pi, sin

from IPython.display import HTML

from mhabook.drawing import Panel, picture

MODEL = (222, 150)
"""Where the good model lies in the first two panels."""


def downhill_leads_there() -> HTML:
    """Far away downhill may lead elsewhere; near a good model it leads there; so the run comes nearer step by step."""
    far = _slope(Panel("Far away: a hill between"), height=74)
    _downhill(far, to=22, height=74, color=1).words((8, 186), "downhill leads away", color=1, anchor="start")
    near = _slope(Panel("Near: no hill is high enough"), height=8)
    near.line((62, _loss(62, 8)), MODEL, dash="3 3", opacity=0.7)
    _downhill(near, to=112, height=8, color=0).words((8, 186), "downhill leads there", color=0, anchor="start")
    steps = Panel("So the distance falls")
    center = (150, 100)
    for radius in (20, 45, 72):
        steps.curve(_circle(center, radius), dash="3 4", opacity=0.5)
    steps.star(center)
    path = [(62, 52), (92, 58), (116, 66), (131, 76), (139, 84)]
    for begin, end in pairwise(path):
        steps.arrow(begin, end, color=0, width=2)
        steps.dot(begin, size=3.5)
    steps.words((54, 44), "start", anchor="middle").words((130, 187), "high loss: a long way nearer")
    return picture("downhill-leads-there",
                   "Three panels. A loss with a high hill between a dot and a star, the good model: the slope at the "
                   "dot leads away from the star. The same with a flat hill: the slope leads toward the star. Circles "
                   "around a star, and a path of steps from the outermost circle inward, the first steps longest.",
                   [far, near, steps])


def _loss(x, height):
    """How low a point of the first two panels lies: a slope down to the good model, and a hill on the way."""
    return 96 + 54 * (x - 14) / (MODEL[0] - 14) - height * exp(-((x - 108) / 40) ** 2)


def _slope(panel, height):
    panel.curve([(x, _loss(x, height)) for x in range(14, 223, 4)], width=2.5)
    return panel.star(MODEL).words((254, 172), "good model", anchor="end")


def _downhill(panel, to, height, color):
    """A dot, and an arrow beside the curve from it downward."""
    step = 8 if to > 62 else -8
    panel.arrow((62 + step, _loss(62 + step, height) - 13), (to, _loss(to, height) - 13), color=color)
    return panel.dot((62, _loss(62, height)))


def _circle(center, radius):
    return [(center[0] + radius * cos(k * pi / 30), center[1] + radius * sin(k * pi / 30)) for k in range(61)]
