"""What the page kernels/16_text_and_pathfinder says, held against what its cells leave."""

import itertools

import numpy as np
import pytest
from scipy import stats

import mhalib as mha
from mhabook.c16_networks import idea, sentences
from mhabook.c16_networks.figure import STEP_SIZES, one_run
from page import Page

page = Page("kernels/16_text_and_pathfinder")
UNQUOTED = {
    "what is asked, or compared": (
        "title",
        "see: The comparison",
        "train-seen: Is a network",
        "tests-text: Is a network",
        "breaks: The [further",
        "flattery-text: By how much",
    ),
    "what is proved, or defined": (
        "train-seen: The right panel",
        "interval: If two networks",
        "test-set",
        "best-of",
        "tests-text: The squares",
        "tests-text: So more test",
        "solution-itself-end: The first of",
        "breaks-end: On average",
        "idea-text: The accuracies of one",
    ),
    "what a cell does": ("spread-text: Four seeds",),
    "another page's": ("breaks: With the usual",),
    "what is said above": ("seen",),
}


def holds_zero(drawn):
    return drawn["low"] < 0 < drawn["high"]


# --- the live figure
# -------------------------------------------------------------------------------------------


@page.after(
    "train",
    says=(
        "Each network has one attention layer, learns from 64 sentences, and is tested on 200 "
        "others"
    ),
)
def test_a_run_of_the_page_is_that_of_the_library(right, said):
    trained, tested = said
    assert [len(part) for part in sentences.train_and_test(0)] == [trained, tested]
    for seed in (0, 5):
        assert right(mha.gaussian, seed).mean() == one_run("gaussian", seed, seed, 0.02, 150)[1]


@page.after(
    "train",
    says=(
        "With four seeds, some lines go up and some go down",
        "The interval is much narrower, but it still contains zero",
        "If the kernels differ here at all, the difference is smaller than twelve seeds can show",
    ),
)
def test_with_four_seeds_lines_go_up_and_down_and_with_twelve_the_interval_is_narrower_and_holds_zero(
    live, said
):
    few, many = said
    four, twelve = live.drawn(), live.drawn(seeds=int(many))
    assert len(four["first"]) == few
    apart = np.subtract(four["second"], four["first"])
    assert apart.min() < 0 < apart.max()
    assert holds_zero(four)
    assert holds_zero(twelve)
    assert twelve["high"] - twelve["low"] < 0.6 * (four["high"] - four["low"])


@page.after("train", says=("With twelve seeds, the second number was the smaller one by luck"))
def test_with_twelve_seeds_a_network_seems_farther_from_itself_than_from_the_other_kernel(
    live, said
):
    seeds = int(said[0])
    itself, both = live.drawn(other="again", seeds=seeds), live.drawn(seeds=seeds)
    gaps = [np.abs(np.subtract(drawn["second"], drawn["first"])) for drawn in (itself, both)]
    assert holds_zero(itself)
    assert gaps[0].mean() > 1.3 * gaps[1].mean()
    assert 0.03 < gaps[0].mean() < 0.07


@page.after(
    "say-many",
    says=(
        "Here is the same comparison with 48 seeds",
        "Four seeds could not show this, and neither could twelve",
        "With 48 seeds, the average distance of a network from itself, with another "
        "initialization, is {glue:text}`self_many` percentage points, and its average distance "
        "from the network with the other kernel is {glue:text}`both_many`",
    ),
)
def test_with_48_seeds_the_gaussian_kernel_is_ahead_and_a_network_is_as_far_from_itself(
    again, drawn, gauss, many, said, soft
):
    seeds, *fewer, same = said
    assert len(soft) == len(gauss) == len(again) == seeds == same
    assert fewer == [4, 12]
    assert all(holds_zero(drawn(seeds=int(few))) for few in fewer)
    assert 0 < many.low < many.high < 0.05
    assert 0.7 < abs(again - soft).mean() / abs(gauss - soft).mean() < 1.3


@page.after(
    "train",
    says=(
        "But with the step size of the other network back at 0.02, the lead is gone",
        "So the comparison shows only that softmax tolerates larger steps. Most lines fall "
        "steeply, but two do not",
    ),
)
def test_with_long_steps_softmax_is_far_ahead_until_the_other_takes_shorter_ones(live, said):
    back, two = said
    long = live.drawn(seeds=12, lr_first=0.2, lr_second=0.2)
    assert long["high"] < -0.08
    assert (np.subtract(long["second"], long["first"]) > -0.05).sum() == two
    assert holds_zero(live.drawn(seeds=12, lr_first=0.2, lr_second=back))


@page.after("train")
def test_neither_network_is_as_good_as_a_reader_who_overlooks_not(live):
    drawn = live.drawn(seeds=12)
    assert sentences.without_not(12) > max(drawn["first_mean"], drawn["second_mean"]) + 0.03


@page.after(
    "train",
    says=(
        "With *not*, neither network learns the task from 64 sentences, although both are right "
        "on nearly all of these 64"
    ),
)
def test_both_networks_are_right_on_nearly_all_sentences_that_they_learn_from(said):
    assert said == [sentences.TRAINED] * 2
    for kernel, seed in itertools.product(("softmax", "gaussian"), range(4)):
        path, _ = one_run(kernel, seed, seed, 0.02, 150)
        assert sentences.right(path[-1], sentences.train_and_test(seed)[0]).mean() > 0.95


@page.after(
    "train", says=("Trained on 512 sentences, both are ahead of the reader who overlooks the word")
)
def test_with_512_sentences_to_learn_from_both_networks_are_ahead_of_a_reader_who_overlooks_not(
    said,
):
    size = int(said[0])
    found = {kernel: [] for kernel in (mha.softmax, mha.gaussian)}
    for seed in range(4):
        texts, trained = sentences.sentences(seed), sentences.TRAINED
        rng, tests = np.random.default_rng([seed, size]), texts[trained:]
        (X, y), fresh = (
            sentences.encoded(texts[:trained] + drawn_anew(rng, size - trained, tests)),
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


@page.after(
    "train",
    says=(
        "All twelve lines go up, and zero lies outside the interval. Here twelve seeds are enough"
    ),
)
def test_without_not_all_twelve_lines_go_up_zero_lies_outside_and_dividing_rows_takes_the_lead(
    live, said
):
    lines, seeds = said
    alone = {"texts": "plain", "seeds": int(seeds)}
    gauss, divided = live.drawn(**alone), live.drawn(other="normalized", **alone)
    assert len(gauss["first"]) == lines
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


@page.after(
    "run",
    says=("A sentence has four words. *Good* and *great* count $+1$, *bad* and *awful* count $-1$"),
)
def test_a_reader_who_overlooks_not_counts_the_other_words(said):
    words, good, bad = said
    assert words == sentences.LENGTH
    texts = sentences.sentences(0)[sentences.TRAINED :]
    signs = {"good": good, "great": good, "bad": bad, "awful": bad}
    counted = [sum(signs.get(word, 0) for word in text.split()) for text in texts]
    truth = [np.sign(sentences.score(text)) for text in texts]
    reader = np.mean(
        [
            0.5 if count == 0 else np.sign(count) == label
            for count, label in zip(counted, truth, strict=True)
        ]
    )
    assert sentences.without_not(1) == reader


@page.after(
    "idea",
    says=(
        "The accuracies form two clouds that overlap. Their means differ a little",
        "Here every line goes up",
        "Zero lies outside this interval, so the difference is more than luck",
        "and there some lines go up and others down",
    ),
)
def test_in_the_sketch_the_clouds_overlap_and_every_line_goes_up(said):
    first, second = clouds = idea.FIRST, idea.SECOND
    assert said == [len(clouds)]
    assert second.min() < first.max() and 0 < second.mean() - first.mean() < np.ptp(first) / 4
    assert (second > first).all()
    assert stats.ttest_rel(second, first).confidence_interval(0.95).low > 0


# --- checks
# ----------------------------------------------------------------------------------------------------


@page.after("interval-check")
def test_the_interval_is_that_of_the_paired_test_and_of_the_figure(low, high, known, live):
    np.testing.assert_allclose([low, high], known, rtol=1e-12)
    np.testing.assert_allclose([low, high], [live.drawn()["low"], live.drawn()["high"]], rtol=1e-12)


@page.after(
    "interval-check",
    says=(
        "then, with 95 percent probability",
        "where $t_J$ is the 0.975 quantile of Student's $t$ with $J-1$ degrees of freedom",
        "This quantile is 3.2 for four seeds, 2.2 for twelve, and 1.96 for many",
        "Halving the width of the interval takes about four times as many seeds",
        "and halving its width takes four times as many seeds",
        "each line goes up with probability ½. The probability that all four lines go the same way",
    ),
)
def test_the_quantiles_of_the_interval(said):
    percent, part, few, four, some, twelve, many, times, same, lines = said
    assert part == pytest.approx(1 - (1 - percent / 100) / 2)
    quantiles = [stats.t.ppf(part, seeds - 1) for seeds in (four, twelve)]
    assert np.round(quantiles, 1).tolist() == [few, some]
    assert round(stats.norm.ppf(part), 2) == many
    assert times == same == 2**2
    assert lines == four


@page.after(
    "say-errors",
    says=(
        "Suppose that exactly one of two networks is right on a tenth of 1,000 sentences",
        "Then the difference has a standard error of {glue:text}`error`, and two standard errors are",
        "If instead exactly one is right on a hundredth of the sentences, two standard errors are about",
    ),
)
def test_the_standard_errors(said, tenth, hundredth):
    networks, part, tests, errors, rare, same = said
    assert networks == errors == same == 2
    assert tenth == (part / tests) ** 0.5
    assert hundredth == (rare / tests) ** 0.5


@page.after(
    "spread",
    says=(
        "The 200 test sentences account for about half of the variance, and twelve seeds do not "
        "determine this fraction more precisely",
        "In our runs, these samples accounted for about half of the variance",
    ),
)
def test_the_test_sentences_make_about_half_of_the_variance(alone, said, scatter, twelve):
    tests, half, seeds, same = said
    assert all(network.shape == (seeds, tests) for network in twelve)
    assert half == same
    assert 0.8 * half < alone / tests / scatter**2 < 1.6 * half


@page.after(
    "flattery",
    says=(
        "Nine networks have accuracy 0.9, and each is tested on 1,000 sentences",
        "The best of many test accuracies makes its network look better than it is. Choose",
    ),
)
def test_the_best_of_nine_flatters_and_by_no_more_than_the_bound(bound, exact, networks, said):
    count, accuracy, tests = said
    assert bound == (np.log(count) / (2 * tests)) ** 0.5
    assert exact == networks.best_of(int(tests), accuracy, int(count)) - accuracy
    assert bound / 3 < exact < bound


@page.after(
    "peeking",
    says=(
        "Compute the interval after two seeds, after three, and so on up to twelve, and stop as "
        "soon as zero lies outside",
        "Two equally good networks are then declared different far more often than one time in "
        "twenty",
    ),
)
def test_who_looks_until_it_suits_errs_several_times_as_often(draws, k, outside, said):
    first, second, last, networks, twenty = said
    assert networks == 2
    assert (first, k) == (second - 1, last) and draws.shape[1] == last
    assert len(outside) == last - first + 1
    assert 0.8 < twenty * outside[-1].mean() < 1.3
    assert np.any(outside, axis=0).mean() > 3 * outside[-1].mean()


@page.after(
    "solution-itself",
    says=(
        "All three correlations are above zero, because the sentences are shared",
        "because a correlation estimated from twelve pairs is very imprecise",
    ),
)
def test_the_correlations_with_two_other_starts_lie_on_both_sides_of_that_with_the_other_kernel(
    correlations, one, said
):
    count, seeds = said
    assert len(correlations) == count and len(one) == seeds
    kernel, nearer, farther = correlations
    assert 0 < nearer < kernel - 0.1
    assert farther > kernel + 0.1


@page.after(
    "solution-choose",
    says=(
        "On these sentences, with a step size chosen for each kernel, eight seeds cannot "
        "distinguish the two kernels"
    ),
)
def test_with_step_sizes_of_their_own_the_kernels_cannot_be_told_apart(best, known, said):
    seeds, kernels = said
    assert len(best) == kernels and all(len(accuracies) == seeds for accuracies in best)
    assert known.low < 0 < known.high


@pytest.mark.parametrize("seed", range(3))
def test_no_test_sentence_is_trained_on_and_no_sum_is_zero(seed):
    texts = sentences.sentences(seed)
    assert set(texts[: sentences.TRAINED]).isdisjoint(texts[sentences.TRAINED :])
    assert all(sentences.score(text) for text in texts)
    assert 0.2 in STEP_SIZES
