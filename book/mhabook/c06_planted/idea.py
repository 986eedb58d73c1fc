"""The pictures of chapter 6: a head that hides behind labels, and the directions that eight heads
take."""

from math import acos, cos, sin

import numpy as np
from IPython.display import HTML

from livegrad.arrays import Array
from mhabook.c06_planted.statements import cosine
from mhabook.drawing import Panel, picture
from mhalib.plots import ATTENTION, DECODER, FOUND

ROWS = (52, 84, 116, 148)
LABELS = "+−−+"
FOOT, LENGTH = (130, 120), 72
"""Where the arrows of a panel start, and how long the longest is."""
FOUND_AT = (130, 34)
"""Where the star of the hidden head is drawn."""


def hidden_head() -> HTML:
    """A head makes labels and is covered; tokens and labels remain; eight heads are trained on
    them."""
    made = _tokens(Panel("A head generates labels"))
    made.arrow((100, 100), (124, 100)).curve(_square((148, 100), 18), color=FOUND, fill=True)
    made.star((148, 100)).arrow((172, 100), (196, 100)).words((202, 106), "+ or −", anchor="start")
    made.words((130, 184), "W* and U*, hidden")
    seen = _tokens(Panel("This is what you see"))
    for y, sign in zip(ROWS, LABELS, strict=True):
        seen.words((122, y + 5), sign)
    seen.words((194, 105), "400 times").words((130, 184), "noise and its label")
    train = Panel("Eight heads train on it")
    for k in range(8):
        x, y = 34 + 112 * (k // 4), ROWS[k % 4] - 4
        train.head((x, y), size=22, reach=42).words((x + 11, y + 5), f"{k + 1}")
    train.words((94, 38), "decoder", color=DECODER).words((130, 184), "do they find it?")
    return picture(
        "a-hidden-head",
        "Three panels. Rows of random dots go into a box with a star, the hidden head, and a plus "
        "or a minus comes out. Then the box is gone: rows of dots, each with its sign, four "
        "hundred of them. Then eight heads that are trained on these, each a numbered square "
        "for its attention and a bar for its decoder.",
        [made, seen, train],
    )


def directions(equal: Array, different: Array, hidden: Array) -> HTML:
    """The hidden W, and at their true angles to it the W of heads that started equal, and of heads
    that did not.

    Parameters
    ----------
    equal, different : the trained W (H, d, d) of two models
    hidden : the planted W (d, d)
    """
    together = _arrows(Panel("Heads that start identical"), equal, hidden)
    below = FOOT[0], FOOT[1] + 20
    together.words(below, f"{len(equal)} heads, one on another", color=ATTENTION)
    together.words((130, 186), "they find it")
    apart = _arrows(Panel("Heads that start different"), different, hidden)
    apart.words((130, 186), "a few come close")
    return picture(
        "equal-heads-find-it",
        "Two panels. In each a green line leads upward to a star: the direction of the hidden head. "
        "Left, eight arrows on top of one another, almost upward, are the heads that start "
        "identical. Right, eight arrows in different directions, two of them nearly upward and one "
        "downward, are the heads that start different.",
        [together, apart],
    )


def _arrows(panel, heads, hidden):
    panel.target(FOOT, (FOOT[0], FOUND_AT[1] + 12)).star(FOUND_AT)
    panel.words((FOUND_AT[0] + 14, FOUND_AT[1] + 4), "hidden head", color=FOUND, anchor="start")
    lengths = np.linalg.norm(heads, axis=(1, 2))
    for k, (head, length) in enumerate(zip(heads, LENGTH * lengths / lengths.max(), strict=True)):
        # An angle in ℝ^{d²} has no side: heads that differ go right and left in turn, equal ones
        # stay together.
        same = np.allclose(head, heads[0])
        angle = acos(cosine(head, hidden)) * (1 if same or k % 2 == 0 else -1)
        end = FOOT[0] + length * sin(angle), FOOT[1] - length * cos(angle)
        panel.arrow(FOOT, end, color=ATTENTION)
    return panel


def _tokens(panel):
    rng = np.random.default_rng(6)
    for y in ROWS:
        for x in range(20, 100, 14):
            panel.dot((x, y + 7 * rng.uniform(-1, 1)), size=3.5)
    return panel


def _square(middle, half):
    (x, y), turns = middle, ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))
    return [(x + half * across, y + half * down) for across, down in turns]
