"""The pictures of chapter 3: what the gradients know before the step, what the step writes, what
they know after it; and the margin of a direction."""

import numpy as np
from IPython.display import HTML

from mhabook.drawing import Panel, picture
from mhalib.plots import ATTENTION, DECODER, GRAY

CENTER = (130, 108)
FAR = 66
HIGH = FAR * (2 / 3) ** 0.5
"""How far a label lies from the center, across and up: as 1 to 0.82, the margins of the two moves
in the example by hand."""
PLUS, MINUS = (214, 56), (46, 150)
"""The tokens of the two labels."""
DISTRACTING = ((92, 72), (160, 64), (70, 106), (182, 132), (120, 148))
POSITIVE = np.array([(0.36, 0.8), (1.2, 0.95), (1.5, -0.3)])
NEGATIVE = np.array([(-0.67, -0.35), (-1.3, 0.1), (-1.1, -0.75)])
"""Tangent features of a sketch with two parameters, by label."""
UNIT, LOW, TOP = 60, -0.95, 1.15
"""How long a direction of norm 1 is drawn; and between which heights lines are."""


def margin_by_pythagoras() -> HTML:
    """Two labels on one axis; the decoder's arrow from one starred token to the other; two labels
    in the plane."""
    x, y = CENTER
    corner, point = (x + FAR, y), (x + FAR, y - HIGH)
    before = _axes(Panel("Before: one way to move"))
    before.line(CENTER, corner, width=4, color=DECODER).words((x + FAR / 2, y - 9), "margin")
    before.label(corner, True, size=6).label((x - FAR, y), False, size=6)
    before.words((x, 184), "attention changes nothing")
    step = Panel("The step: a decoder").star(PLUS).star(MINUS)
    for at in DISTRACTING:
        step.token(at)
    step.arrow(_between(0.1), _between(0.9), color=DECODER, width=3.5)
    step.words((242, 40), "label +", anchor="end").words((22, 174), "label −", anchor="start")
    step.words((164, 112), "decoder", color=DECODER, anchor="start")
    after = _axes(Panel("After: two ways to move"))
    after.line(CENTER, corner, width=4, color=DECODER).line(corner, point, width=4, color=ATTENTION)
    after.line(CENTER, point, width=4).label(point, True, size=6)
    after.label((x - FAR, y + HIGH), False, size=6)
    after.words((x + FAR - 8, y - HIGH - 1), "margin", anchor="end")
    after.words((x + FAR + 8, y - HIGH / 2 + 6), "new", color=ATTENTION, anchor="start")
    after.words((x, 184), "farther apart")
    return picture(
        "what-one-step-knows",
        "Three panels. Before the step the two labels, a dot and a ring, are on the horizontal axis "
        "of a plane, at a distance from the center that is the margin; the vertical axis is attention. "
        "Then an arrow, the decoder, points from the token of label minus to the token of label "
        "plus, past the distracting tokens. After the step the dot and the ring have left the axis, one "
        "upward and one downward, and the margin is now the hypotenuse of a right triangle.",
        [before, step, after],
    )


def margin_of_a_direction() -> HTML:
    """Samples in the plane of two parameters: a direction with a narrow margin, and the best one."""
    across = _separated("One direction", np.array([1.0, 0.0]))
    # The best direction leads to the point of the hull of all yφ that is nearest to zero; here it
    # lies between the first positive sample and the first negative one.
    one, other = POSITIVE[0], -NEGATIVE[0]
    share = one @ (one - other) / ((one - other) @ (one - other))
    nearest = one + share * (other - one)
    best = _separated("The best direction", nearest / np.linalg.norm(nearest))
    return picture(
        "margin-of-a-direction",
        "Two panels with the same six samples: three dots of one label lie to the right, "
        "three rings of the other to the left. In each panel an arrow of length 1, the "
        "direction, starts at zero, and a line through zero at a right angle to it separates the "
        "dots from the rings. Left, the arrow points to the right, and one dot lies near the line: "
        "the margin is 0.36. Right, the arrow points upward as well; a dot and a ring are now "
        "equally far from the line, and the margin is 0.75.",
        [across, best],
    )


def _separated(title, direction):
    """The samples, a direction of norm 1, the line at a right angle to it, and the distance from
    there to the samples that are nearest."""
    panel = Panel(title)
    distances = np.concatenate([POSITIVE, -NEGATIVE]) @ direction
    margin = distances.min()
    panel.line(*_across(direction, 0), color=GRAY)
    for side in (-margin, margin):
        panel.line(*_across(direction, side), width=1, color=GRAY)
    samples = np.concatenate([POSITIVE, NEGATIVE])
    for sample in samples[distances < margin + 1e-9]:
        foot = sample - (sample @ direction) * direction
        panel.line(_place(foot), _place(sample), width=4)
    x, y = _place(direction)
    panel.arrow(CENTER, (x, y)).words((x + 6, y + 4), "length 1", anchor="start")
    for sample in POSITIVE:
        panel.label(_place(sample), True, size=6)
    for sample in NEGATIVE:
        panel.label(_place(sample), False, size=6)
    return panel.words((130, 184), f"margin {margin:.2f}")


def _across(direction, distance):
    """The ends of a line at a right angle to a direction, at a distance from zero along it."""
    along = np.array([-direction[1], direction[0]])
    foot = distance * direction
    return [_place(foot + (height - foot[1]) / along[1] * along) for height in (LOW, TOP)]


def _place(point):
    """Where a point of the plane is drawn."""
    x, y = CENTER
    return x + UNIT * point[0], y - UNIT * point[1]


def _between(share):
    """The point at this share of the way from one token to the other."""
    (x, y), (far, up) = MINUS, PLUS
    return x + share * (far - x), y + share * (up - y)


def _axes(panel):
    x, y = CENTER
    panel.line((20, y), (240, y), width=1, opacity=0.4).line(
        (x, 34), (x, 166), width=1, opacity=0.4
    )
    return panel.words((246, y + 21), "decoder", color=DECODER, anchor="end").words(
        (x - 6, 40), "attention", color=ATTENTION, anchor="end"
    )
