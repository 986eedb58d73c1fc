"""The pictures of chapter 5: three ways through the plane of two step sizes, and equal heads that
are one head."""

from IPython.display import HTML

from mhabook.drawing import Panel, picture
from mhalib.plots import ATTENTION, DECODER

ONE = (92, 50)
"""Where one head stands in the plane."""
FOURFOLD = 36
"""How far a factor of four is."""
WAYS = {
    "same step size": (0, -1),
    "step size × √H": (0.5, -0.5),
    "Adam": (0.5, 0),
}
"""Name → the power of H by which the step of the decoder grows, and that by which attention's
does."""
HEADS = (52, 88, 124, 160)
SQUARE, REACH = 24, 42
"""The size of a head's W, and how long its U is."""
LONG = 212
"""How long the arrow of a whole step is."""


def three_ways() -> HTML:
    """The plane of the two step sizes, with the ways that 1, 4, 16 and 64 heads take under three
    rules."""
    panel = (
        Panel("Three ways to add heads")
        .arrow((40, 174), (240, 174), color=DECODER, width=2)
        .words((240, 187), "decoder steps", color=DECODER, anchor="end")
        .arrow((40, 174), (40, 26), color=ATTENTION, width=2)
        .words((48, 33), "attention steps", color=ATTENTION, anchor="start")
    )
    panel.dot(ONE, size=4)
    for name, (decoder, attention) in WAYS.items():
        _way(panel, name, FOURFOLD * decoder, -FOURFOLD * attention)
    for k, name in enumerate(("1 head", "4", "16")):
        panel.words((ONE[0] - 10, ONE[1] + k * FOURFOLD + 3), name, anchor="end")
    return picture(
        "three-ways-through-the-plane",
        "A plane. The decoder takes larger steps to the right, and attention takes larger steps "
        "upward. Three paths lead from one point, 1 head, through dots that grow: 4, 16, and 64 "
        "heads. With the same step size the path goes straight down, with the step size times √H "
        "it goes down a diagonal, and under Adam it goes to the right.",
        [panel],
    )


def equal_heads() -> HTML:
    """Equal heads add up to one head, which takes two steps."""
    four, one = Panel("Four identical heads"), Panel("are one head")
    for y in HEADS:
        four.head((24, y), size=SQUARE, reach=REACH)
        four.arrow((114, y), (196, 106 + 0.1 * (y - 106)), width=1.5)
    four.dot((210, 106)).words((212, 134), "logit")
    # The decoder of the one head is √H U, twice that of each of four.
    half = len(HEADS) ** 0.5 * REACH / 2
    middle = 78 + 1.6 * SQUARE + half
    for y in (102, 110):  # an equals sign
        one.bar((22, y), (46, y), width=3)
    one.head((78, 106), size=SQUARE, reach=2 * half)
    one.words((78 + SQUARE / 2, 80), "W", color=ATTENTION)
    one.words((middle, 80), "2 U", color=DECODER).arrow((222, 106), (256, 106), width=3)
    steps = (
        Panel("that takes two steps")
        .words((24, 50), "decoder: η", color=DECODER, anchor="start")
        .arrow((24, 64), (24 + LONG, 64), color=DECODER, width=4)
        .words((24, 98), "attention: η/4", color=ATTENTION, anchor="start")
        .arrow((24, 112), (24 + LONG / len(HEADS), 112), color=ATTENTION, width=4)
        .line((24, 138), (24 + LONG, 138))
        .words((130, 180), "a quarter as long")
    )
    for k in range(len(HEADS) + 1):
        x = 24 + LONG * k / len(HEADS)
        steps.line((x, 132), (x, 144)).words((x, 160), f"{k}")
    return picture(
        "equal-heads-are-one-head",
        "Three panels. Four identical heads, each a square for its attention and a bar for its "
        "decoder, send arrows to one dot, the logit. They equal one head with the same square, W, "
        "and a bar that is twice as long, 2 U. An arrow leads on: this head takes two steps: a long arrow is the step "
        "of the decoder, η, and a short one the step of attention, η/4. A ruler below them shows "
        "that the second is a quarter as long as the first.",
        [four, one, steps],
    )


def _way(panel, name, across, down):
    """A line from one head to 64, with a dot at 4, 16 and 64."""
    dots = [(ONE[0] + k * across, ONE[1] + k * down) for k in range(4)]
    panel.line(dots[0], dots[-1], width=2.5)
    for k in (1, 2, 3):
        panel.dot(dots[k], size=4 + k)
    x, y = dots[-1]
    panel.words((x + 14, y - 2), name, anchor="start")
    panel.words((x + 14, y + 10), "64 heads", anchor="start")
