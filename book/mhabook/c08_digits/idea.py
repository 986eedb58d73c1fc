"""The picture of chapter 8: many short moves of decoders add up, and attention moves less, since it
waits for them."""

from IPython.display import HTML

from mhabook.drawing import Panel, picture
from mhalib.plots import ATTENTION, DECODER

HEADS = 4
LONG = 140
SHORT = LONG / HEADS**0.5
"""How long the move of one head is, and that of each of four."""


def many_short_moves() -> HTML:
    """One head makes one long move; four decoders make four half as long, and attention, one root
    later, a quarter."""
    one = Panel("One head: a large step")
    _step(one, (24, 96), LONG, "1").words((130, 184), "its decoder moves")
    four = Panel("Four heads: small steps")
    for k in range(HEADS):
        y = 42 + 36 * k
        _step(four, (64, y), SHORT, "½")
    four.words((130, 184), "the same step ÷ √4")
    together = Panel("Change of the logit")
    for y, what, color, share, sums in (
        (46, "from decoders", DECODER, HEADS * 1 / 2 / HEADS**0.5, "4 × ½ ÷ √4 = 1"),
        (126, "from attention", ATTENTION, HEADS * 1 / 8 / HEADS**0.5, "4 × ½ × ¼ ÷ √4 = ¼"),
    ):
        together.words((10, y), what, color=color, anchor="start")
        for row, (length, words) in enumerate(((1, "one head"), (share, sums))):
            at = y + 16 + 22 * row
            together.bar((10, at), (10 + 60 * length, at), color=color, width=12)
            together.words((78, at + 5), words, anchor="start")
    return picture(
        "many-short-moves",
        "Three panels. A head is a square, its attention, and a bar, its decoder, which an arrow "
        "lengthens by a step. The decoder of one head takes one large step. Those of four heads "
        "take four steps, each half as large. "
        "Bars for the change of the logit: from the decoders, it is the same for one head and "
        "four heads. From attention, which moves a quarter as far, the change with four heads is "
        "a quarter as large.",
        [one, four, together],
    )


def _step(panel, at, length, words):
    """A head, the step that lengthens its decoder from the end of its bar on, and what it counts."""
    (x, y), size, reach = at, 24, 30
    end = x + 1.6 * size + reach
    panel.head(at, size=size, reach=reach)
    panel.arrow((end, y), (end + length, y), color=DECODER, width=2)
    return panel.words((end + length + 18, y + 5), words)
