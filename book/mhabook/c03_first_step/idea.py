"""The pictures of chapter 3: what the gradients know before the step, what the step writes, what
they know after it; and the margin of a direction."""

import numpy as np
from IPython.display import HTML

from mhabook.drawing import Panel, picture

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
    before = _axes(Panel("Before: one way to move"))
    before.line((x, y), (x + FAR, y), width=4, opacity=0.8).words(
        (x + FAR / 2 - 4, y - 9), "margin"
    )
    before.dot((x + FAR, y), color=0, size=7).dot((x - FAR, y), color=1, size=7)
    before.words((x, 184), "attention changes nothing")
    step = Panel("The step: the decoder points").star(PLUS, color=2).star(MINUS, color=2)
    for at in DISTRACTING:
        step.dot(at, size=4.5)
    step.arrow(_between(0.1), _between(0.9), color=0, width=3.5)
    step.words((222, 42), "token of label +", anchor="end").words(
        (26, 170), "token of label −", anchor="start"
    )
    step.words((166, 108), "decoder", color=0, anchor="start")
    after = _axes(Panel("After: two ways to move"))
    corner, point = (x + FAR, y), (x + FAR, y - HIGH)
    after.line(CENTER, corner, width=4, opacity=0.8).line(corner, point, width=4, color=2)
    after.line(CENTER, point, width=4, color=0).dot(point, color=0, size=7).dot(
        (x - FAR, y + HIGH), color=1, size=7
    )
    after.words((x + 8, y - HIGH - 4), "margin", color=0, anchor="start")
    after.words((x + FAR + 8, y - HIGH / 2 + 6), "new", color=2, anchor="start")
    after.words((x, 184), "farther apart")
    return picture(
        "what-one-step-knows",
        "Three panels. Before the step the two labels are two points on the horizontal axis of a "
        "plane, at a distance from the center that is the margin; the vertical axis is attention. "
        "Then an arrow, the decoder, points from the token of label minus to the token of label "
        "plus, past the distracting tokens. After the step the two points have left the axis, one "
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
    panel.line(*_across(direction, 0), width=2)
    for side in (-margin, margin):
        panel.line(*_across(direction, side), width=1, dash="4 4", opacity=0.7)
    samples = np.concatenate([POSITIVE, NEGATIVE])
    for sample in samples[distances < margin + 1e-9]:
        foot = sample - (sample @ direction) * direction
        panel.line(_place(foot), _place(sample), width=4, color=2)
    x, y = _place(direction)
    panel.arrow(CENTER, (x, y), color=3).words((x + 6, y + 4), "length 1", anchor="start")
    for sample in POSITIVE:
        panel.dot(_place(sample), color=0, size=6)
    for sample in NEGATIVE:
        panel.dot(_place(sample), color=1, size=6, hollow=True)
    return panel.words((130, 184), f"margin {margin:.2f}", color=2)


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
    return panel.words((240, y + 17), "decoder", anchor="end").words(
        (x - 6, 40), "attention", anchor="end"
    )
