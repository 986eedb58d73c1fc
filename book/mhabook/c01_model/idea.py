"""The pictures of chapter 1: one sample, whose tokens a token looks at; and how at first the decoder
moves, then attention."""

from IPython.display import HTML

from mhabook.drawing import Panel, Point, picture
from mhalib.plots import DECODER

ROW = [(26 + 23 * k, 68) for k in range(10)]
LOOKS = (130, 154)
"""The ten tokens of one sample, and below them the one that looks."""
TOKENS = [(26 + 23 * k, 52) for k in range(10)]
STARRED, QUERY = 6, (130, 146)
SPREAD, SELECTED = [0.1] * 10, [0.64 if k == STARRED else 0.04 for k in range(10)]
"""Weights on the ten tokens, at the start and at the end."""
ZERO, PLUS, MINUS = (130, 100), (214, 60), (46, 140)
"""In the plane of the second panel: where the axes cross, and the tokens of the two labels."""


def one_sample() -> HTML:
    """Ten tokens of a sample, one of which carries the label; a token looks at all of them, and
    does not know at which it should."""
    sample = _looking(Panel("One of ten tokens carries the label"), LOOKS, ROW, SPREAD)
    sample.words((LOOKS[0] - 13, LOOKS[1] + 8), "?", size=24, anchor="end")
    x, y = ROW[STARRED]
    sample.arrow((x, y - 13), (x, y - 28), width=1.5).words((x, y - 33), "label +")
    sample.words((LOOKS[0] + 13, LOOKS[1] + 4), "a token looks", anchor="start")
    sample.words((ROW[0][0] - 5, y - 14), "one sample", anchor="start")
    return picture(
        "one-sample",
        "A row of ten tokens: nine discs and a star, from which an arrow points to the label plus. "
        "Below them a triangle, a token that looks, with a question mark. A line leads from it to "
        "each of the ten, all equally thick.",
        [sample],
    )


def first_the_decoder() -> HTML:
    """Three moments of a run from zero: equal weights, the first step of the decoder, weights on
    one token."""
    start = _looking(Panel("At first: look everywhere"), QUERY, TOKENS, SPREAD)
    start.words((130, 180), "a tenth each")
    decoder = (
        Panel("First: what to read")
        .line((20, ZERO[1]), (240, ZERO[1]), width=1, opacity=0.4)
        .line((ZERO[0], 30), (ZERO[0], 160), width=1, opacity=0.4)
        .star(PLUS)
        .words((240, 44), "label +", anchor="end")
        .star(MINUS)
        .words((60, 146), "label −", anchor="start")
        .arrow(ZERO, _between(ZERO, PLUS, 0.7), color=DECODER, width=3.5)
        # A tenth of every sample is the token of its label: its mean lies a tenth of the way there.
        .dot(_between(ZERO, PLUS, 0.1), size=5, apart=True)
        .label(_between(ZERO, MINUS, 0.1), False, size=5)
        .words((166, 119), "decoder", color=DECODER, anchor="start")
        .words((130, 180), "means differ a little")
    )
    end = _looking(Panel("Then: where to look"), QUERY, TOKENS, SELECTED)
    end.words((130, 180), "most on one")
    return picture(
        "first-the-decoder-then-attention",
        "Three panels. At initialization one token attends to ten tokens with equally thin lines; "
        "one of them is a star. Then, in a plane, the mean tokens of the two labels, a dot and a "
        "ring, are slightly apart, and an arrow, the decoder, grows from the midpoint between "
        "them, along the line between the two relevant tokens. At the end the line to the star is "
        "thick, and the lines to the other nine are thin.",
        [start, decoder, end],
    )


def _looking(panel, query, tokens, weights):
    x, y = query
    for token, weight in zip(tokens, weights, strict=True):
        panel.weight((x, y - 8), token, weight)
    for k, token in enumerate(tokens):
        panel.star(token) if k == STARRED else panel.token(token)
    return panel.query(query)


def _between(start, end, share) -> Point:
    """The point at this share of the way."""
    (x, y), (far, down) = start, end
    return x + share * (far - x), y + share * (down - y)
