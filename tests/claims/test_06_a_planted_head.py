"""What the page multihead/06_a_planted_head says, held against what its cells leave."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mhabook.c06_planted import runs
from mhabook.c06_planted.statements import alignments, cosine
from page import Page

page = Page("multihead/06_a_planted_head")
found = cache(runs.found)
UNQUOTED = {
    "what is proved, or defined": (
        "theorem: This is data",
        "alignment-text: The caption",
        "below-one",
    ),
    "another page's": ("teachers-seen: See the",),
}


@page.after(
    "different",
    says=(
        "You never see that head: you get only tokens and labels, and train eight heads on them",
        "All heads train for 600 steps. They start at zero, except in the third question, where they start "
        "at eight different random points",
        "draws 400 samples from it, and trains eight heads from zero",
        "So eight of them have no more freedom than one head, whose $W$ has $d^2$ entries and whose decoder "
        "has $Td$, together 40 numbers. There are 400 labels, ten for each number. Forty numbers cannot fit",
        "Then there are eight times 40 numbers, nearly as many as there are labels",
        "the rest correct the remaining errors on the 400 samples",
    ),
)
def test_heads_and_samples_are_as_many_as_the_text_says(data, path, mixed, zero, start, said):
    trained, steps, random, samples, heads, *said = said
    equal, numbers, labels, each, forty, different, same, errors = said
    assert trained == random == heads == equal == different == len(zero.W) == len(start.W)
    assert path.steps[-1] == mixed.steps[-1] == steps
    assert samples == labels == errors == len(data.y)
    assert not np.ptp(path[-1].W, axis=0).any() and not np.ptp(path[-1].U, axis=0).any()
    assert zero.W[0].size + zero.U[0].size == numbers == forty == same == labels / each
    assert labels / 2 < different * same < labels


@page.after(
    "different",
    says=(
        "All eight bars end close to one: each head has found the hidden head, from 400 binary labels alone"
    ),
)
def test_every_head_from_zero_becomes_the_hidden_one(data, path, said):
    assert [len(path[-1].W), len(data.y)] == said and set(data.y) == {-1, 1}
    assert min(cosine(W, data.truth.W) for W in path[-1].W) > 0.985
    assert not np.ptp(path[-1].W, axis=0).any()


@page.after(
    "different", says="The alignment rises first, and the fraction of correct labels follows"
)
def test_the_alignment_rises_first_and_the_right_labels_follow(data, path):
    halfway = np.argmax(alignments(path, data.truth)["W"] > 0.5)
    assert 0 < path.steps[halfway] < 30
    assert path.test_accuracy[halfway] < path.test_accuracy[1] + 0.02
    assert path.test_accuracy[-1] > path.test_accuracy[1] + 0.2


@page.after(
    "different",
    says=(
        "At the end, all training labels are predicted correctly, but fewer test labels than before",
        "With 400 samples, heads that start different fit the training labels but predict fewer test labels "
        "correctly than identical heads do",
    ),
)
def test_different_heads_fit_all_labels_better_and_fresh_ones_worse(mixed, path, data, said):
    assert [len(data.y)] == said
    assert mixed.accuracy[-1] == 1
    assert mixed.loss[-1] < path.loss[-1]
    assert mixed.test_accuracy[-1] < path.test_accuracy[-1] - 0.1


@page.after(
    "different",
    says=(
        "one cosine for all eight heads together",
        "With 400 samples, this hidden head is missed only when several different heads train together",
        "**An eighth of the samples.**",
        "The more different the heads are at the start, the lower the alignment is at the end",
    ),
)
def test_the_buttons_and_sliders_show_what_the_text_says(live, mixed, data, path, said):
    heads, samples, part = said
    assert len(live.drawn()["cosines"]) == heads
    np.testing.assert_allclose(
        live.drawn()["align_W"][-1], alignments(path, data.truth)["W"][-1], rtol=1e-6
    )
    assert len(data.y) == samples == 50 / part
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


@page.after(
    "different",
    says=(
        "The alignment stays low, and the bars show why: two heads have come near the hidden one, one has "
        "come near its *opposite*, and the other five have learned something else",
        "A few of them come near the hidden head, and one comes near its opposite",
    ),
)
def test_two_different_heads_come_near_and_one_goes_to_the_opposite(mixed, data, said):
    near, others = said
    own = np.array([cosine(W, data.truth.W) for W in mixed[-1].W])
    assert alignments(mixed, data.truth)["W"][-1] < 0.5
    assert ((own > 0.8).sum(), (abs(own) < 0.5).sum(), (own < -0.6).sum()) == (near, others, 1)


@page.after(
    "check-split",
    says=(
        "The cosines of the eight heads are the bars",
        "The bound is three times the alignment. Most of the difference is due to the heads with a negative "
        "cosine",
    ),
)
def test_two_of_the_heads_by_hand_come_near_and_one_goes_to_the_opposite(
    aligned, length, mixed, own, theta, said
):
    heads, times = said
    np.testing.assert_allclose(theta.W, mixed[-1].W, rtol=1e-6)
    assert len(own) == heads
    assert ((own > 0.8).sum(), (abs(own) < 0.5).sum(), (own < -0.6).sum()) == (2, 5, 1)
    bound = np.sqrt((own**2).mean())
    assert times < bound / aligned < 1.1 * times
    unsigned = (length * abs(own)).sum() / (8**0.5 * np.linalg.norm(length))
    assert bound > 3 * aligned
    assert unsigned - aligned > (bound - aligned) / 2


@page.after(
    "check-split",
    says=(
        "Suppose that one head of eight is perfect, and the others are orthogonal to the teacher. Then the "
        r"sum has one nonzero term, and the alignment is at most $1/\sqrt8\approx0.35$. A stacked vector of "
        "eight parts cannot have a larger cosine",
        r"gives an alignment of at most $1/\sqrt H$",
        "we set it to $0$",
    ),
)
def test_one_perfect_head_of_eight_has_an_alignment_of_0_35(hidden, zero, alignment, data, said):
    heads, one, parts, top, undefined = said
    stacked = np.zeros((int(heads), 4, 4))
    stacked[0] = hidden
    most = cosine(stacked, np.stack([hidden] * int(parts)))
    assert most == pytest.approx(one / np.sqrt(heads)) == pytest.approx(0.35, abs=0.005)
    assert top == one
    assert alignment(zero, data.truth)["W"] == undefined


@page.after(
    "check-split",
    says=(
        "Two heads can also share the teacher's work in such a way that each alone looks wrong",
        "with two or more heads, the alignment in $U$ can be arbitrarily small while every label is correct",
        "determine the alignment of all eight heads",
        "is three times the tokens of a sample",
        "and two heads can split a function so that neither looks right",
    ),
)
def test_by_hand_and_by_the_library_and_two_that_share_a_decoder(
    aligned, alignment, data, pair, right, theta, shift, test, said
):
    two, least, heads, times, again = said
    assert len(pair.W) == two == least == again and len(theta.W) == heads
    np.testing.assert_allclose(shift, times * data.X[0], rtol=1e-12)
    far = replace(pair, U=data.truth.U + 50 * np.stack([shift, -shift]))
    assert ((far(test.X) * test.y) > 0).all() and alignment(far, data.truth)["U"] < 0.02
    assert np.isclose(aligned, alignment(theta, data.truth)["W"], rtol=1e-12)
    assert right == 1
    assert alignment(pair, data.truth)["U"] < 0.5


@page.after(
    "different",
    says=(
        "The explanation agrees with two observations on this page: with too few labels, identical heads "
        "miss the hidden one, and with more labels, different heads predict better"
    ),
)
def test_few_labels_mislead_identical_heads_and_more_help_different_ones(live, mixed, said):
    missed = max(live.drawn(n=50)["cosines"]) < 0.5
    helped = found(8, 0.3, seed=0, n=1600)[1] > mixed.test_accuracy[-1]
    assert missed and helped and [len((missed, helped))] == said


@page.after(
    "say-more",
    says=(
        "The next figure shows five teachers, each with its own 400 samples, and three runs for each: eight "
        "identical heads, eight different heads, and a single head",
        "Identical heads find all five teachers",
        "finds two of the teachers and misses the other three. For two of these three, it ends closer to the "
        "opposite of the teacher than to the teacher, and for all three, it predicts fewer labels correctly "
        "than the eight different heads do",
        "for each of the five teachers, many different heads end in between",
    ),
)
def test_equal_heads_find_five_teachers_and_different_heads_none(ends, mixed, path, data, said):
    teachers, samples, ways, heads, same, all_five, two, three, opposite, *rest, each = said
    assert rest == [three, three, heads] and teachers == all_five == each
    assert len(data.y) == samples and len(path[-1].W) == heads == same
    (equal, equal_right), (different, different_right), (alone, alone_right) = (
        map(np.array, e) for e in ends.values()
    )
    assert len(ends) == ways and len(equal) == teachers
    np.testing.assert_allclose(equal_right[0], path.test_accuracy[-1])
    np.testing.assert_allclose(different_right[0], mixed.test_accuracy[-1])
    assert equal.min() > 0.9
    assert different.max() < 0.5
    assert np.ptp(different_right) < 0.06
    found, missed = alone > 0.9, alone < 0.1
    assert (found.sum(), missed.sum(), (alone < -0.6).sum()) == (two, three, opposite)
    assert (alone_right[missed] < different_right[missed]).all()
    assert (alone_right[found] > different_right[found]).all()
    assert (equal_right > different_right).all()


@page.after(
    "say-more",
    says=("Give the eight different heads 1,600 samples instead of 400",),
)
def test_with_more_samples_different_heads_are_right_and_the_alignment_stays_low(
    labels, mixed, more, data, said
):
    heads, samples, before = said
    assert len(data.y) == before
    assert found(int(heads), 0.3, seed=0, n=int(samples)) == (more, labels)
    assert labels > mixed.test_accuracy[-1] + 0.1
    assert more < 0.6


@page.after(
    "solution-samples",
    says=(
        "The median alignment passes 0.9 between 100 and 200 samples, and at 400 samples, all five seeds have "
        "passed it. So five samples per parameter are enough in the median, and ten for all five seeds. Each "
        "label is one bit, whereas the parameters are 40 real numbers"
    ),
)
def test_the_alignment_passes_0_9_between_100_and_200_samples(found_by_n, sizes, one, said):
    high, before, passed, every, seeds, enough, most, same, parameters = said
    assert one.W.size + one.U.size == parameters
    assert len(found_by_n) == seeds == same
    assert (passed / parameters, every / parameters) == (enough, most)
    medians = dict(zip(sizes, np.median(found_by_n, axis=0), strict=True))
    assert medians[before] < high < medians[passed] < high + 0.08
    at = sizes.index(every)
    assert sizes.index(passed) == sizes.index(before) + 1
    assert found_by_n[:, at - 1].min() < high < found_by_n[:, at:].min() < high + 0.09


@page.after(
    "solution-prune",
    says=(
        "if either of them is removed, fewer labels are predicted correctly. Most of the other heads can be "
        "removed at no cost. The second head alone is almost as good as all eight",
        "and the second and the third together are better than all eight. The other six add mostly noise",
    ),
)
def test_the_model_needs_its_second_and_third_head_and_these_two_are_better_than_all(
    accuracy_of, alone, without, said
):
    heads, same, others = said
    assert len(alone) == heads == same == others + 2
    everything = accuracy_of(list(range(8)))
    assert max(without[1:3]) < everything - 0.03
    assert min(without[:1] + without[3:]) > everything - 0.01
    assert everything - 0.02 < alone[1] < everything < accuracy_of([1, 2])


@page.after(
    "solution-open",
    says=(
        "The alignment is high again at the smallest scale, nearly so at the next, and lower at larger scales",
        "at scale $0.01$, nearly all heads are near the hidden one, and one is not",
    ),
)
def test_the_smaller_the_random_start_the_better_the_alignment(found_from, live, said):
    (scale,) = said
    near = np.array(live.drawn(scale=scale)["cosines"]) > 0.75
    assert near.sum() == len(near) - 1
    ends = [found for found, _ in found_from.values()]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > 0.98 and ends[1] > 0.8 and ends[2] < 0.5
