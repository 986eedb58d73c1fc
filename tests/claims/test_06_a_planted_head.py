"""What the page multihead/06_a_planted_head says, held against what its cells leave."""

import numpy as np

from mhabook.c06_planted.statements import alignments, cosine
from page import Page

page = Page("multihead/06_a_planted_head")


@page.after("different")
def test_every_head_from_zero_becomes_the_hidden_one(data, path):
    assert min(cosine(W, data.truth.W) for W in path[-1].W) > 0.985
    assert not np.ptp(path[-1].W, axis=0).any()


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
def test_the_buttons_and_sliders_show_what_the_text_says(live, mixed):
    equal, alone, one, few = (
        live.drawn(**at) for at in ({}, {"H": 1, "scale": 0.3}, {"H": 1}, {"n": 50})
    )
    assert min(alone["align_W"][-1], one["align_W"][-1]) > 0.98
    assert mixed.loss[-1] < one["loss"][-1]
    assert few["accuracy"][-1] == 1
    assert few["test_accuracy"][-1] < equal["test_accuracy"][-1] - 0.15
    assert max(few["cosines"]) < 0.5
    falling = [live.drawn(scale=scale)["align_W"][-1] for scale in live.controls["scale"].values]
    assert (np.diff(falling) < 0).all()


@page.after("check-split")
def test_two_of_the_heads_by_hand_come_near_and_one_goes_to_the_opposite(
    aligned, length, mixed, own, theta
):
    np.testing.assert_allclose(theta.W, mixed[-1].W, rtol=1e-6)
    assert ((own > 0.8).sum(), (abs(own) < 0.5).sum(), (own < -0.6).sum()) == (2, 5, 1)
    bound = np.sqrt((own**2).mean())
    unsigned = (length * abs(own)).sum() / (8**0.5 * np.linalg.norm(length))
    assert bound > 3 * aligned
    assert unsigned - aligned > (bound - aligned) / 2


@page.after("check-split")
def test_by_hand_and_by_the_library_and_two_that_share_a_decoder(
    aligned, alignment, data, pair, right, theta
):
    assert np.isclose(aligned, alignment(theta, data.truth)["W"], rtol=1e-12)
    assert right == 1
    assert alignment(pair, data.truth)["U"] < 0.5


@page.after("say-more")
def test_equal_heads_find_five_teachers_and_different_heads_none(ends):
    (equal, equal_right), (different, different_right), (alone, alone_right) = (
        map(np.array, e) for e in ends.values()
    )
    assert equal.min() > 0.9
    assert different.max() < 0.5
    assert np.ptp(different_right) < 0.06
    found, missed = alone > 0.9, alone < 0.1
    assert (found.sum(), missed.sum(), (alone < -0.6).sum()) == (2, 3, 2)
    assert (alone_right[missed] < different_right[missed]).all()
    assert (alone_right[found] > different_right[found]).all()
    assert (equal_right > different_right).all()


@page.after("say-more")
def test_with_more_samples_different_heads_are_right_and_the_alignment_stays_low(
    labels, mixed, more
):
    assert labels > mixed.test_accuracy[-1] + 0.1
    assert more < 0.6


@page.after("solution-samples")
def test_the_alignment_passes_0_9_between_100_and_200_samples(found_by_n):
    medians = np.median(found_by_n, axis=0)
    assert medians[1] < 0.9
    assert medians[2] > 0.9
    assert found_by_n[:, 3:].min() > 0.9


@page.after("solution-prune")
def test_the_model_needs_its_second_and_third_head_and_these_two_are_better_than_all(
    accuracy_of, alone, without
):
    everything = accuracy_of(list(range(8)))
    assert max(without[1:3]) < everything - 0.03
    assert min(without[:1] + without[3:]) > everything - 0.01
    assert everything - 0.02 < alone[1] < everything < accuracy_of([1, 2])


@page.after("solution-open")
def test_the_smaller_the_random_start_the_better_the_alignment(found_from):
    ends = [found for found, _ in found_from.values()]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > 0.98 and ends[1] > 0.8 and ends[2] < 0.5
