"""The picture of chapter 3: what the gradients know before the step, what the step writes, what
they know after it."""

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
