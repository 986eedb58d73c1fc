"""What the page multihead/06_a_planted_head says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c06_planted.statements import alignments, cosine, seen_in_mean
from mhabook.c06_planted.tables import COLUMNS, COUNTS, HEADS, RULES, SETTINGS, by_heads
from page import Page

page = Page("multihead/06_a_planted_head")


# See: the head is found, or it is not


def full_size(table, start, curve):
    """H → trials: where a curve of gradient descent at T = 10, d = 5 ends."""
    return {H: rows[curve][:, -1] for H, rows in by_heads(table.where(T=10, d=5, start=start, rule="gd-root")).items()}


def counts(words):
    """How many verdicts are faster, slower, mixed."""
    letters = "".join(words)
    return [letters.count(letter) for letter in "fsm"]


def halves(marks):
    """The rows of the map: from random starts, from zero. In a row training and test alternate, for three rules."""
    return ([row for setting, row in marks.items() if setting[6] > 0],
            [row for setting, row in marks.items() if setting[6] == 0])


def median_alignments(chart, marks):
    """(setting, rule, H) → median alignment of W, for n = 200 and a start at zero."""
    def end(setting, rule, H):
        return np.median(chart.where(**dict(zip(COLUMNS, setting, strict=True)), rule=rule, H=H)["align_W"])
    return {(setting, rule, H): end(setting, rule, H) for setting in marks
            if setting[0] == 200 and setting[6] == 0 for rule in RULES for H in HEADS}


def map_end(chart, curve, H, **changed):
    """The median after 300 steps of gradient descent, at the center of the map but for what is changed."""
    chosen = {"n": 200, "T": 10, "d": 5, "strength": 1.0, "margin": 0.0, "flip": 0.0, "rule": "gd-root", "lr": 1.0}
    return np.median(chart.where(**chosen | changed, H=H)[curve].reshape(5, -1)[:, -1])


@page.after("solution-one")
def test_one_aligned_head_of_four_has_an_alignment_of_a_quarter(one_of):
    assert np.isclose(one_of(4, 1.0), 1 / 4)
    assert 1 / 2 - 1e-6 < one_of(4, 1e6) < 1 / 2


@page.after("solution-samples")
def test_the_alignment_passes_0_9_between_100_and_200_samples(found_by_n):
    medians = np.median(found_by_n, axis=0)
    assert medians[1] < 0.9
    assert medians[2] > 0.9
    assert found_by_n[:, 3:].min() > 0.9


@page.after("solution-prune")
def test_the_model_needs_its_second_and_third_head(without):
    assert max(without[1:3]) < 0.78
    assert min(without[:1] + without[3:]) > 0.78


@page.after("solution-prune")
def test_two_heads_predict_better_than_all_eight(accuracy_of, alone):
    assert round(alone[1], 3) == 0.797
    assert round(accuracy_of(list(range(8))), 2) == 0.81
    assert round(accuracy_of([1, 2]), 3) == 0.819


@page.after("solution-open")
def test_the_smaller_the_random_start_the_better_the_alignment(found_from):
    assert [round(end[0], 2) for end in found_from.values()] == [0.99, 0.86, 0.36, 0.17]
