"""The pictures of chapter 5: three ways through the plane of two step sizes, and heads that share a
gradient."""

from math import hypot

from IPython.display import HTML

from mhabook.drawing import Panel, picture

ONE = (104, 54)
"""Where one head stands in the plane."""
FOURFOLD = 28
"""How far a factor of four is."""
WAYS = {
    "Same step size: straight down": (0, -1),
    "Step size × √H: down a diagonal": (0.5, -0.5),
    "Adam: to the right": (0.5, 0),
}
"""Title → the power of H by which the step of the decoder grows, and that by which attention's
does."""
HEADS = (52, 86, 120, 154)
LONG = 212
"""How long the arrow of a whole step is."""


def three_ways() -> HTML:
    """The plane of the two step sizes three times, with the way that 1, 4, 16 and 64 heads take
    under each rule."""
    return picture(
        "three-ways-through-the-plane",
        "Three times the same plane. The decoder takes larger steps to the right, and attention "
        "takes larger steps upward. Four dots are 1, 4, 16, and 64 heads, and an arrow passes "
        "through them: straight down if the step size stays the same, down a diagonal if it grows "
        "like √H, and to the right under Adam.",
        [
            _way(title, FOURFOLD * decoder, -FOURFOLD * attention)
            for title, (decoder, attention) in WAYS.items()
        ],
    )


def equal_heads() -> HTML:
    """Equal heads add up, each receives a share of the gradient, and the one head that they are
    takes two steps."""
    together, shares = Panel("Identical heads add up"), Panel("Each receives a fraction")
    for y in HEADS:
        _head(together, y).arrow((112, y), (186, 103 + 0.1 * (y - 103)), width=1.5)
        _head(shares, y).arrow((186, 103 + 0.1 * (y - 103)), (112, y), width=1.5)
    for panel in (together, shares):
        panel.words((36, 34), "W", color=1).words((83, 34), "U", color=0)
    together.dot((200, 103)).words((200, 127), "logit").words((130, 184), "their sum over √H")
    shares.dot((200, 103)).words((200, 127), "gradient").words(
        (130, 184), "H heads: 1/H of the gradient"
    )
    one = (
        Panel("So one head takes two steps")
        .words((24, 60), "its decoder U: η", color=0, anchor="start")
        .arrow((24, 76), (24 + LONG, 76), color=0, width=4)
        .words((24, 126), "its attention W: η/H", color=1, anchor="start")
        .arrow((24, 142), (24 + LONG / len(HEADS), 142), color=1, width=4)
        .words((130, 184), "H is the ratio of the two")
    )
    return picture(
        "equal-heads-are-one-head",
        "Three panels. Four identical heads, each a square for attention and a bar for its "
        "decoder, send arrows to one dot, the logit. Then arrows of the gradient go back from the "
        "dot to each of the four heads. At the end there are two arrows: a long one, the step of "
        "the decoder, η, and a short one, the step of attention, η/H.",
        [together, shares, one],
    )


def _way(title, across, down):
    panel = (
        Panel(title)
        .arrow((40, 168), (246, 168), width=1)
        .arrow((40, 168), (40, 24), width=1)
        .words((246, 184), "larger steps of the decoder", anchor="end")
        .words((48, 32), "larger steps of attention", anchor="start")
    )
    (x, y), many = ONE, (ONE[0] + 3 * across, ONE[1] + 3 * down)
    beyond = 22 / hypot(across, down)
    panel.arrow(ONE, (many[0] + beyond * across, many[1] + beyond * down), color=0)
    for k in range(4):
        panel.dot((x + k * across, y + k * down), color=0, size=4 + k)
    panel.words((x - 12, y + 5), "1 head", anchor="end")
    if down:
        return panel.words((many[0] + 17, many[1] - (across and 4) + 5), "64 heads", anchor="start")
    return panel.words((many[0], many[1] + 26), "64 heads")


def _head(panel, y):
    panel.curve(
        [(24, y - 11), (48, y - 11), (48, y + 11), (24, y + 11), (24, y - 11)], color=1, fill=True
    )
    return panel.line((62, y), (104, y), color=0, width=6)
