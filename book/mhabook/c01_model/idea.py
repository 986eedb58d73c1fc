"""The picture of chapter 1: at first the decoder moves, then attention."""

from IPython.display import HTML

from mhabook.drawing import Panel, picture

TOKENS = [(26 + 23 * k, 60) for k in range(10)]
STARRED, QUERY = 6, (130, 160)
NOISE = (0.4, -0.7, 1.0, -0.3, 0.8, -1.0, 0.0, 0.5, -0.5, 0.2)


def first_the_decoder() -> HTML:
    """Three moments of a run from zero: equal weights, the first step of the decoder, weights on
    one token."""
    start = _looking(Panel("At the start: look everywhere"), [1.5] * 10)
    start.words((130, 184), "a tenth each, and nothing is read")
    decoder = (
        Panel("First: learn what to read")
        .line((20, 100), (240, 100), width=1, opacity=0.4)
        .line((130, 30), (130, 165), width=1, opacity=0.4)
        .star((214, 58), color=2)
        .words((222, 48), "token of label +", anchor="end")
        .star((46, 142), color=2)
        .words((30, 162), "token of label −", anchor="start")
        .dot((141, 95), color=0, size=4)
        .dot((119, 105), color=1, size=4)
        .arrow((130, 100), (190, 70), color=0, width=3.5)
        .words((204, 96), "decoder", color=0)
        .words((130, 184), "the two mean tokens differ a little")
    )
    end = _looking(
        Panel("Then: learn where to look"), [9.0 if k == STARRED else 0.6 for k in range(10)]
    )
    end.words((130, 184), "look at what the decoder reads")
    return picture(
        "first-the-decoder-then-attention",
        "Three panels. At the start one token looks at ten others with equally thin lines; one "
        "of them is a star. Then, in a plane, an arrow, the decoder, grows from the mean token "
        "of one label toward that of the other, along the line between the two starred tokens. "
        "At the end the line to the star is thick, and those to the other nine are thin.",
        [start, decoder, end],
    )


def _looking(panel, widths):
    for k, ((x, y), width) in enumerate(zip(TOKENS, widths, strict=True)):
        panel.line(
            QUERY,
            (x, y + 8),
            width=width,
            color=2 if k == STARRED and width > 2 else None,
            opacity=0.75,
        )
    for k, (x, y) in enumerate(TOKENS):
        if k == STARRED:
            panel.star((x, y), color=2)
        else:
            panel.dot((x, y + 3 * NOISE[k]), size=4.5)
    return panel.dot(QUERY, size=6, hollow=True).words(
        (QUERY[0] + 14, QUERY[1] + 3), "a token looks", anchor="start"
    )
