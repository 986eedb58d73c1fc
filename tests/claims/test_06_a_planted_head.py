"""What the page multihead/06_a_planted_head says, held against what its cells leave."""

import numpy as np
import pytest

import mhabook
from mhabook.c06_planted.statements import alignments, cosine
from page import Page

page = Page("multihead/06_a_planted_head")


@pytest.mark.parametrize("name", ["prop-alignment-heads", "prop-split-decoders"])
def test_the_statements_of_the_page_hold_and_fail_without_their_hypothesis(name):
    assert mhabook.ledger[name].check(0).holds
    assert not mhabook.ledger[name].twin(0).holds


@page.after("different")
def test_every_head_from_zero_becomes_the_hidden_one(data, path):
    assert min(cosine(W, data.truth.W) for W in path[-1].W) > 0.985
    assert (path[-1].W == path[-1].W[0]).all()


@page.after("different")
def test_the_alignment_rises_first_and_the_right_labels_follow(data, path):
    halfway = np.argmax(alignments(path, data.truth)["W"] > 0.5)
    assert 0 < path.steps[halfway] < 30
    assert path.test_accuracy[halfway] < path.test_accuracy[1] + 0.02
    assert path.test_accuracy[-1] > path.test_accuracy[1] + 0.2


@page.after("different")
def test_different_heads_fit_all_labels_better_and_fresh_ones_worse(mixed, path):
    assert mixed.accuracy[-1] == 1
    assert mixed.loss[-1] < path.loss[-1]
    assert mixed.test_accuracy[-1] < path.test_accuracy[-1] - 0.1


@page.after("different")
def test_two_different_heads_come_near_and_one_goes_to_the_opposite(data, mixed):
    own = np.array([cosine(W, data.truth.W) for W in mixed[-1].W])
    assert (own > 0.8).sum() == 2
    assert (own < -0.6).sum() == 1
    assert (abs(own) < 0.5).sum() == 5


@page.after("different")
def test_the_figure_has_one_head_from_a_random_start_that_finds_and_eight_that_miss_with_few_samples(live):
    alone, few = live.drawn(H=1, scale=0.3), live.drawn(n=50)
    assert alone["align_W"][-1] > 0.98
    assert few["accuracy"][-1] == 1
    assert few["test_accuracy"][-1] < live.drawn()["test_accuracy"][-1] - 0.15
    assert max(few["cosines"]) < 0.5


@page.after("different")
def test_a_single_head_fits_the_training_labels_less_well_than_eight_different_ones(live, mixed):
    assert mixed.loss[-1] < live.drawn(H=1)["loss"][-1]
    assert live.drawn(H=1)["align_W"][-1] > 0.98


@page.after("different")
def test_the_more_the_heads_differ_the_lower_the_alignment(live):
    scales = live.controls["scale"].values
    assert (np.diff([live.drawn(scale=scale)["align_W"][-1] for scale in scales]) < 0).all()


@page.after("check-split")
def test_by_hand_and_by_the_library_the_alignment_is_one_number(aligned, alignment, data, mixed, own, theta):
    assert np.isclose(aligned, alignment(theta, data.truth)["W"], rtol=1e-12)
    np.testing.assert_allclose(theta.W, mixed[-1].W, rtol=1e-6)
    assert 3 < np.sqrt((own ** 2).mean()) / aligned < 3.5


@page.after("check-split")
def test_most_of_what_the_bound_loses_is_lost_to_negative_cosines(aligned, length, own):
    without_signs = (length * abs(own)).sum() / (8 ** 0.5 * np.linalg.norm(length))
    bound = np.sqrt((own ** 2).mean())
    assert without_signs - aligned > (bound - aligned) / 2


@page.after("check-split")
def test_two_heads_that_share_a_decoder_are_right_and_hardly_aligned(alignment, data, pair, right):
    assert right == 1
    assert alignment(pair, data.truth)["U"] < 0.5


@page.after("say-more")
def test_equal_heads_find_five_teachers_and_different_heads_none(ends):
    (equal, equal_right), (different, different_right), (alone, alone_right) = (map(np.array, e) for e in ends.values())
    assert equal.min() > 0.9
    assert different.max() < 0.5
    assert np.ptp(different_right) < 0.06
    found, missed = alone > 0.9, alone < 0.1
    assert (found.sum(), missed.sum(), (alone < -0.6).sum()) == (2, 3, 2)
    assert (alone_right[missed] < different_right[missed]).all()
    assert (alone_right[found] > different_right[found]).all()
    assert (equal_right > different_right).all()


@page.after("say-more")
def test_with_more_samples_different_heads_are_right_and_the_alignment_stays_low(labels, mixed, more):
    assert labels > mixed.test_accuracy[-1] + 0.1
    assert more < 0.6


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
def test_the_model_needs_its_second_and_third_head_and_these_two_are_better_than_all(accuracy_of, alone, without):
    everything = accuracy_of(list(range(8)))
    assert max(without[1:3]) < everything - 0.03
    assert min(without[:1] + without[3:]) > everything - 0.01
    assert everything - 0.02 < alone[1] < everything < accuracy_of([1, 2])


@page.after("solution-open")
def test_the_smaller_the_random_start_the_better_the_alignment(found_from):
    ends = [found for found, _ in found_from.values()]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > 0.98 and ends[1] > 0.8 and ends[2] < 0.5
