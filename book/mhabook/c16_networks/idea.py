"""The pictures of chapter 16: sentences with their labels, and why two networks are compared seed
by seed."""

import numpy as np
from IPython.display import HTML

from mhabook.drawing import Panel, picture
from mhalib.plots import ATTENTION, GAUSSIAN

SENTENCES = (
    ("the film was good", "+1"),
    ("the film not good", "−1"),
    ("bad not awful great", "+1"),
)
COUNTS = {"good": 1, "great": 1, "bad": -1, "awful": -1}
FIRST = np.array([0.655, 0.70, 0.72, 0.765, 0.80, 0.845])
"""Accuracies of six seeds, drawn and not measured: they are far apart, and the second network is a
little better."""
SECOND = FIRST + np.array([0.02, 0.035, 0.015, 0.03, 0.01, 0.025])
LOW, HIGH = 0.62, 0.9


def task() -> HTML:
    """Three sentences and their labels."""
    panel = Panel("Is it positive?")
    for k, (sentence, label) in enumerate(SENTENCES):
        y, flips = 54 + 46 * k, False
        for i, word in enumerate(sentence.split()):
            x = 30 + 52 * i
            panel.words((x, y), word)
            if word == "not":
                panel.arrow((x - 6, y + 15), (x + 43, y + 15), width=1.5)
            elif word in COUNTS:
                panel.label((x, y + 15), (COUNTS[word] > 0) != flips)
            flips = word == "not"
        panel.words((240, y), label)
    panel.words((240, 34), "label").words((130, 184), "not flips the next word")
    networks = Panel("Two networks, one seed").dot((22, 97)).words((22, 118), "seed")
    for k, (name, color) in enumerate((("softmax", ATTENTION), ("Gaussian", GAUSSIAN))):
        y = 66 + 62 * k
        networks.arrow((28, 95 + 4 * k), (70, y), width=1.5).curve(
            [(74, y - 20), (168, y - 20), (168, y + 20), (74, y + 20), (74, y - 20)],
            color=color,
            width=2,
        )
        networks.words((121, y + 5), name, color=color).arrow((172, y), (204, y), width=1.5)
        networks.words((230, y + 5), "0.77" if k == 0 else "0.74", color=color)
    networks.words((230, 34), "accuracy").words((130, 184), "same sentences, same initial weights")
    return picture(
        "two-networks-one-seed",
        "Left, three sentences of four words with their labels: the film was good, plus one; the "
        "film not good, minus one; bad not awful great, plus one. Below each word that counts is a disc "
        "for plus or a ring for minus, and an arrow leads from not to the next word, whose sign it "
        "flips. Right, one seed gives two "
        "networks the same sentences and the same initial weights; one has softmax attention, the "
        "other a Gaussian kernel, and each has its own final test accuracy.",
        [panel, networks],
    )


def pairs() -> HTML:
    """Two clouds of accuracies; the same ones joined seed by seed; and their differences with an
    interval."""
    clouds, joined, apart = (
        Panel(title) for title in ("Two clouds", "The same, seed by seed", "The differences")
    )
    for panel in (clouds, joined):
        panel.words((80, 182), "first").words((180, 182), "second")
    for one, other in zip(FIRST, SECOND, strict=True):
        joined.line((80, _height(one)), (180, _height(other)), width=1.5, opacity=0.6)
        for panel in (clouds, joined):
            panel.dot((80, _height(one))).dot((180, _height(other)))
    differences = SECOND - FIRST
    # 2.571 is the 0.975 quantile of Student's t for five degrees of freedom.
    middle, reach = differences.mean(), 2.571 * differences.std(ddof=1) / len(differences) ** 0.5
    apart.line((70, 30), (70, 165), width=1, opacity=0.6).words((70, 182), "0")
    for k, difference in enumerate(differences):
        apart.dot((_across(difference), 60 + 12 * k), size=4)
    apart.bar((_across(middle - reach), 148), (_across(middle + reach), 148), width=5)
    apart.dot((_across(middle), 148), size=7).words((78, 44), "second ahead", anchor="start")
    return picture(
        "seed-by-seed",
        "Three panels. Left, the accuracies of two networks for six seeds as two clouds of dots "
        "that overlap almost entirely. Middle, the same dots, with a line joining those of each "
        "seed: every line goes up. Right, the six differences on an axis with zero marked, all to "
        "the right of zero, and below them their mean with its interval, which does not contain "
        "zero.",
        [clouds, joined, apart],
    )


def _height(accuracy):
    return 160 - 125 * (accuracy - LOW) / (HIGH - LOW)


def _across(difference):
    return 70 + 2400 * difference
