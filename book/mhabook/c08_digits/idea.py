"""The picture of chapter 8: many short moves add up to a long one, and their products do not."""

from IPython.display import HTML

from mhabook.drawing import Panel, picture

LONG, SHORT = 160, 80


def many_short_moves() -> HTML:
    """One head makes one long move; four make four half as long, enough for what takes one move and not for two."""
    one = Panel("One head: a long move").dot((50, 95)).arrow((50, 95), (50 + LONG, 95), color=0, width=4)
    one.words((50 + LONG / 2, 80), "1").words((130, 184), "one step of training")
    four = Panel("Four heads: short moves")
    for k in range(4):
        y = 42 + 36 * k
        four.dot((90, y)).arrow((90, y), (90 + SHORT, y), color=1, width=4).words((90 + SHORT / 2, y - 7), "½")
    four.words((130, 184), "the same step, each ÷ √4")
    together = Panel("What the logit gets of them")
    for y, what, share, sums in ((46, "of what takes one move", 1, "4 × ½ ÷ √4 = 1"),
                                 (120, "of what takes two, one on the other", 0.5, "4 × ½ × ½ ÷ √4 = ½")):
        together.words((12, y), what, anchor="start")
        for row, (color, length, words) in enumerate(((0, 1, "one head"), (1, share, sums))):
            at = y + 16 + 20 * row
            together.line((16, at), (16 + 90 * length, at), color=color, width=10)
            together.words((120, at + 4), words, color=color, anchor="start")
    return picture("many-short-moves",
                   "Three panels. One head makes one long move. Four heads make four moves, each half as long. Bars "
                   "for what the logit gets: of what takes one move, one head and four heads give the same. Of what "
                   "takes two moves, four heads give half as much.", [one, four, together])
