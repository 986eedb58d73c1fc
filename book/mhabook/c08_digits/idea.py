"""The picture of chapter 8: many short moves of decoders add up, and attention moves less, since it
waits for them."""

from IPython.display import HTML

from mhabook.drawing import Panel, picture

HEADS = 4
LONG = 160
SHORT = LONG / HEADS**0.5
"""How long the move of one head is, and that of each of four."""


def many_short_moves() -> HTML:
    """One head makes one long move; four decoders make four half as long, and attention, one root
    later, a quarter."""
    one = (
        Panel("One head: a large step")
        .dot((50, 95))
        .arrow((50, 95), (50 + LONG, 95), color=0, width=4)
    )
    one.words((50 + LONG / 2, 80), "1").words((130, 184), "a step of its decoder")
    four = Panel("Four heads: small steps")
    for k in range(HEADS):
        y = 42 + 36 * k
        four.dot((90, y)).arrow((90, y), (90 + SHORT, y), color=1, width=4).words(
            (90 + SHORT / 2, y - 7), "½"
        )
    four.words((130, 184), "the same step, each ÷ √4")
    together = Panel("Change of the logit")
    for y, what, share, sums in (
        (46, "from decoders, which move ½", HEADS * 1 / 2 / HEADS**0.5, "4 × ½ ÷ √4 = 1"),
        (
            120,
            "from attention, which moves ½ × ½",
            HEADS * 1 / 8 / HEADS**0.5,
            "4 × ½ × ¼ ÷ √4 = ¼",
        ),
    ):
        together.words((12, y), what, anchor="start")
        for row, (color, length, words) in enumerate(((0, 1, "one head"), (1, share, sums))):
            at = y + 16 + 20 * row
            together.bar((16, at), (16 + 90 * length, at), color=color, width=10)
            together.words((120, at + 4), words, color=color, anchor="start")
    return picture(
        "many-short-moves",
        "Three panels. The decoder of one head takes one large step. Those of four heads take "
        "four steps, each half as large. Bars for the change of the logit: from the decoders, it "
        "is the same for one head and four heads. From attention, which moves a quarter as far, "
        "the change with four heads is a quarter as large.",
        [one, four, together],
    )
