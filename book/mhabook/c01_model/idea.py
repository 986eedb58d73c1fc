"""The picture of chapter 1: at first the decoder moves, then attention."""

from IPython.display import HTML

from mhabook.drawing import Panel, Point, picture

TOKENS = [(26 + 23 * k, 60) for k in range(10)]
STARRED, QUERY = 6, (130, 160)
SPREAD, SELECTED = [0.1] * 10, [0.64 if k == STARRED else 0.04 for k in range(10)]
"""Weights on the ten tokens, at the start and at the end."""
ZERO, PLUS, MINUS = (130, 100), (214, 58), (46, 142)
"""In the plane of the second panel: where the axes cross, and the tokens of the two labels."""
NOISE = (0.4, -0.7, 1.0, -0.3, 0.8, -1.0, 0.0, 0.5, -0.5, 0.2)


def first_the_decoder() -> HTML:
    """Three moments of a run from zero: equal weights, the first step of the decoder, weights on
    one token."""
    start = _looking(Panel("At first: look everywhere"), SPREAD)
    start.words((130, 184), "a tenth each, and no readout")
    decoder = (
        Panel("First: learn what to read")
        .line((20, ZERO[1]), (240, ZERO[1]), width=1, opacity=0.4)
        .line((ZERO[0], 30), (ZERO[0], 165), width=1, opacity=0.4)
        .star(PLUS, color=2)
        .words((222, 48), "token of label +", anchor="end")
        .star(MINUS, color=2)
        .words((30, 162), "token of label −", anchor="start")
        .dot(_toward(PLUS, 0.1), color=0, size=4)
        .dot(_toward(MINUS, 0.1), color=1, size=4)
        .arrow(ZERO, _toward(PLUS, 0.7), color=0, width=3.5)
        .words((204, 96), "decoder", color=0)
        .words((130, 184), "the two mean tokens differ a little")
    )
    end = _looking(Panel("Then: learn where to look"), SELECTED)
    end.words((130, 184), "look at what the decoder reads")
    return picture(
        "first-the-decoder-then-attention",
        "Three panels. At initialization one token attends to ten tokens with equally thin lines; "
        "one of them is a star. Then, in a plane, the mean tokens of the two labels are slightly "
        "apart, and an arrow, the decoder, grows from the midpoint between them, along the line "
        "between the two relevant tokens. At the end the line to the star is thick, and the lines "
        "to the other nine are thin.",
        [start, decoder, end],
    )


def _toward(token, share) -> Point:
    """A tenth of every sample is the token of its label: its mean lies a tenth of the way there."""
    (x, y), (far, down) = ZERO, token
    return x + share * (far - x), y + share * (down - y)


def _looking(panel, weights):
    for (x, y), weight in zip(TOKENS, weights, strict=True):
        color = 2 if weight > 0.5 else None
        panel.line(QUERY, (x, y + 8), width=15 * weight, color=color, opacity=0.75)
    for k, (x, y) in enumerate(TOKENS):
        if k == STARRED:
            panel.star((x, y), color=2)
        else:
            panel.dot((x, y + 3 * NOISE[k]), size=4.5)
    return panel.dot(QUERY, size=6, hollow=True).words(
        (QUERY[0] + 14, QUERY[1] + 3), "a token looks", anchor="start"
    )
