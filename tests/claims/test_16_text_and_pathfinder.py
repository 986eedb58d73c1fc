"""What the page kernels/16_text_and_pathfinder says, held against what its cells leave."""

import itertools

import numpy as np
import pytest

import mhalib as mha
from mhabook.c16_networks import sentences
from mhabook.c16_networks.figure import STEP_SIZES, one_run
from page import Page

page = Page("kernels/16_text_and_pathfinder")


def holds_zero(drawn):
    return drawn["low"] < 0 < drawn["high"]


# --- the live figure
# -------------------------------------------------------------------------------------------


@page.after("train")
def test_a_run_of_the_page_is_that_of_the_library(right):
    for seed in (0, 5):
        assert right(mha.gaussian, seed).mean() == one_run("gaussian", seed, seed, 0.02, 150)[1]


@page.after("train")
def test_with_four_seeds_lines_go_up_and_down_and_with_twelve_the_interval_is_narrower_and_holds_zero(
    live,
):
    four, twelve = live.drawn(), live.drawn(seeds=12)
    apart = np.subtract(four["second"], four["first"])
    assert apart.min() < 0 < apart.max()
    assert holds_zero(four)
    assert holds_zero(twelve)
    assert twelve["high"] - twelve["low"] < 0.6 * (four["high"] - four["low"])


@page.after("train")
def test_with_twelve_seeds_a_network_seems_farther_from_itself_than_from_the_other_kernel(live):
    itself, both = live.drawn(other="again", seeds=12), live.drawn(seeds=12)
    gaps = [np.abs(np.subtract(drawn["second"], drawn["first"])) for drawn in (itself, both)]
    assert holds_zero(itself)
    assert gaps[0].mean() > 1.3 * gaps[1].mean()
    assert 0.03 < gaps[0].mean() < 0.07


@page.after("say-many")
def test_with_48_seeds_the_gaussian_kernel_is_ahead_and_a_network_is_as_far_from_itself(
    many, soft, gauss, again
):
    assert 0 < many.low < many.high < 0.05
    assert 0.7 < abs(again - soft).mean() / abs(gauss - soft).mean() < 1.3


@page.after("train")
def test_with_long_steps_softmax_is_far_ahead_until_the_other_takes_shorter_ones(live):
    long = live.drawn(seeds=12, lr_first=0.2, lr_second=0.2)
    assert long["high"] < -0.08
    assert 8 <= (np.subtract(long["second"], long["first"]) < -0.05).sum() < 12
    assert holds_zero(live.drawn(seeds=12, lr_first=0.2, lr_second=0.02))


@page.after("train")
def test_neither_network_is_as_good_as_a_reader_who_overlooks_not(live):
    drawn = live.drawn(seeds=12)
    assert sentences.without_not(12) > max(drawn["first_mean"], drawn["second_mean"]) + 0.03


@page.after("train")
def test_both_networks_are_right_on_nearly_all_sentences_that_they_learn_from():
    for kernel, seed in itertools.product(("softmax", "gaussian"), range(4)):
        path, _ = one_run(kernel, seed, seed, 0.02, 150)
        assert sentences.right(path[-1], sentences.train_and_test(seed)[0]).mean() > 0.95


def test_with_512_sentences_to_learn_from_both_networks_are_ahead_of_a_reader_who_overlooks_not():
    found = {kernel: [] for kernel in (mha.softmax, mha.gaussian)}
    for seed in range(4):
        texts, trained = sentences.sentences(seed), sentences.TRAINED
        rng, tests = np.random.default_rng([seed, 512]), texts[trained:]
        (X, y), fresh = (
            sentences.encoded(texts[:trained] + drawn_anew(rng, 512 - trained, tests)),
            mha.data.SequenceDataset(*sentences.encoded(tests)),
        )
        for kernel, accuracies in found.items():
            start = sentences.network(kernel, seed)
            path = mha.train(start, mha.data.SequenceDataset(X, y), mha.Adam(0.02), 150)
            accuracies.append(sentences.right(path[-1], fresh).mean())
    assert (
        min(np.mean(accuracies) for accuracies in found.values()) > sentences.without_not(4) + 0.02
    )


def drawn_anew(rng, n, unlike):
    """More sentences of the page's kind, none of them one of the tests."""
    found = ()
    while len(found) < n:
        text = " ".join(rng.choice(sentences.WORDS, sentences.LENGTH, p=sentences.CHANCES))
        if sentences.score(text) and text not in unlike:
            found += (text,)
    return found


@page.after("train")
def test_without_not_all_twelve_lines_go_up_zero_lies_outside_and_dividing_rows_takes_the_lead(
    live,
):
    alone = {"texts": "plain", "seeds": 12}
    gauss, divided = live.drawn(**alone), live.drawn(other="normalized", **alone)
    assert (np.subtract(gauss["second"], gauss["first"]) > 0).all()
    assert gauss["low"] > 0.015 and min(gauss["first_mean"], gauss["second_mean"]) > 0.9
    assert divided["low"] < 0 and divided["mean"] < 0.01
    assert holds_zero(live.drawn(other="again", **alone))


@pytest.mark.parametrize("seed", range(3))
def test_without_not_no_sentence_has_the_word_and_its_label_is_that_of_the_sum(seed):
    texts = sentences.sentences(seed, "not")
    assert not any("not" in text.split() for text in texts)
    assert set(texts[: sentences.TRAINED]).isdisjoint(texts[sentences.TRAINED :])
    assert len(texts) == 264 and all(sentences.score(text) for text in texts)


def test_a_reader_who_overlooks_not_counts_the_other_words():
    texts = sentences.sentences(0)[sentences.TRAINED :]
    signs = {"good": 1, "great": 1, "bad": -1, "awful": -1}
    counted = [sum(signs.get(word, 0) for word in text.split()) for text in texts]
    truth = [np.sign(sentences.score(text)) for text in texts]
    reader = np.mean(
        [
            0.5 if count == 0 else np.sign(count) == label
            for count, label in zip(counted, truth, strict=True)
        ]
    )
    assert sentences.without_not(1) == reader


# --- checks
# ----------------------------------------------------------------------------------------------------


@page.after("interval-check")
def test_the_interval_is_that_of_the_paired_test_and_of_the_figure(low, high, known, live):
    np.testing.assert_allclose([low, high], known, rtol=1e-12)
    np.testing.assert_allclose([low, high], [live.drawn()["low"], live.drawn()["high"]], rtol=1e-12)


@page.after("spread")
def test_the_test_sentences_make_about_half_of_the_variance(alone, scatter):
    assert 0.4 < alone / 200 / scatter**2 < 0.8


@page.after("flattery")
def test_the_best_of_nine_flatters_and_by_no_more_than_the_bound(bound, exact):
    assert bound / 3 < exact < bound


@page.after("peeking")
def test_who_looks_until_it_suits_errs_several_times_as_often(outside):
    assert 0.04 < outside[-1].mean() < 0.065
    assert np.any(outside, axis=0).mean() > 3 * outside[-1].mean()


@page.after("solution-itself")
def test_the_correlations_with_two_other_starts_lie_on_both_sides_of_that_with_the_other_kernel(
    correlations,
):
    kernel, nearer, farther = correlations
    assert 0 < nearer < kernel - 0.1
    assert farther > kernel + 0.1


@page.after("solution-choose")
def test_with_step_sizes_of_their_own_the_kernels_cannot_be_told_apart(known):
    assert known.low < 0 < known.high


@pytest.mark.parametrize("seed", range(3))
def test_no_test_sentence_is_trained_on_and_no_sum_is_zero(seed):
    texts = sentences.sentences(seed)
    assert set(texts[: sentences.TRAINED]).isdisjoint(texts[sentences.TRAINED :])
    assert all(sentences.score(text) for text in texts)
    assert 0.2 in STEP_SIZES
