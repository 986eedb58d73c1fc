"""The pictures of chapter 6: a head that hides behind labels, and the directions that eight heads
take."""

from math import acos, cos, sin

import numpy as np
from IPython.display import HTML

from livegrad.arrays import Array
from mhabook.c06_planted.statements import cosine
from mhabook.drawing import Panel, picture

ROWS = (52, 84, 116, 148)
LABELS = "+−−+"
FOOT, LENGTH = (130, 108), 74
"""Where the arrows of a panel start, and how long the longest is."""


def hidden_head() -> HTML:
    """A head makes labels and is covered; tokens and labels remain; eight heads are trained on
    them."""
    made = _tokens(Panel("A head generates the labels"))
    _box(made.arrow((104, 100), (126, 100)), 150, 100, 22).words((150, 106), "?")
    made.arrow((176, 100), (202, 100)).words((208, 105), "+ or −", color=0, anchor="start")
    made.words((130, 184), "W* and U*, hidden")
    seen = _tokens(Panel("This is what you see"))
    for y, sign in zip(ROWS, LABELS, strict=True):
        seen.words((122, y + 5), sign, color=0)
    seen.words((184, 105), "400 times").words((130, 184), "noise, and its label")
    train = Panel("Eight heads are trained on it")
    for k in range(8):
        x, y = 46 + 56 * (k % 4), 76 + 52 * (k // 4)
        _box(train, x, y, 16).words((x, y + 5), f"{k + 1}")
    train.words((130, 184), "do they become the hidden head?")
    return picture(
        "a-hidden-head",
        "Three panels. Rows of random dots go into a box with a question mark, the hidden head, "
        "and a plus or a minus comes out. Then the box is gone: rows of dots, each with its "
        "sign, four hundred of them. Then eight numbered boxes, the heads that are trained on "
        "these.",
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
    star = (
        Panel("The hidden head")
        .arrow(FOOT, (FOOT[0], FOOT[1] - LENGTH), width=4)
        .star((FOOT[0], 26), color=2)
    )
    star.words((130, 184), "one direction to find")
    together = _arrows(Panel("Heads that start identical"), equal, hidden)
    together.words((130, 184), "one direction, which is found")
    apart = _arrows(Panel("Heads that start different"), different, hidden)
    apart.words((130, 184), "a few are close, most are not")
    return picture(
        "equal-heads-find-it",
        "Three panels. An upward arrow is the hidden head. Eight arrows on top of one another, "
        "almost upward, are the heads that start identical. Eight arrows in different directions, "
        "two of them nearly upward and one downward, are the heads that start different.",
        [star, together, apart],
    )


def _arrows(panel, heads, hidden):
    panel.line(FOOT, (FOOT[0], 36), dash="4 4", opacity=0.6).star((FOOT[0], 26), color=2)
    lengths = np.linalg.norm(heads, axis=(1, 2))
    for k, (head, length) in enumerate(zip(heads, LENGTH * lengths / lengths.max(), strict=True)):
        # An angle in ℝ^{d²} has no side: heads that differ go right and left in turn, equal ones
        # stay together.
        same = np.allclose(head, heads[0])
        angle = acos(cosine(head, hidden)) * (1 if same or k % 2 == 0 else -1)
        panel.arrow(FOOT, (FOOT[0] + length * sin(angle), FOOT[1] - length * cos(angle)), color=0)
    return panel


def _tokens(panel):
    rng = np.random.default_rng(6)
    for y in ROWS:
        for x in range(20, 100, 14):
            panel.dot((x, y + 7 * rng.uniform(-1, 1)), size=3.5)
    return panel


def _box(panel, x, y, size):
    left, right, top, bottom = x - size, x + size, y - size, y + size
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    return panel.curve(corners, color=1, fill=True)
