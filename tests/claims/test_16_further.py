"""What the page kernels/16_further says, held against what its cells leave."""

import numpy as np

from mhabook.c08_digits.text.words import NOT, SIGN
from mhabook.c16_networks import runs
from mhabook.c16_networks.runs import (
    ADAM,
    GAIN,
    LOUD,
    MOMENTUM,
    NAMES,
    SIXTEEN,
    SMALL,
    chosen,
    final_accuracy,
    gap,
)
from page import Page

page = Page("kernels/16_further")
SOFTMAX, GAUSSIAN, NORMALIZED, LOUDER = NAMES
WORDS = ADAM, MOMENTUM, SMALL, SIXTEEN, GAIN


def pairs_won(*rows, **setting):
    """In how many pairs of runs the Gaussian kernel is ahead of softmax."""
    return int(
        (
            final_accuracy(GAUSSIAN, *rows, **setting) > final_accuracy(SOFTMAX, *rows, **setting)
        ).sum()
    )


def excludes_zero(apart, half):
    return abs(apart) > half


def moved(name, lr, setting):
    """By how much a kernel's mean accuracy at the chosen step size is above that at another one."""
    return final_accuracy(name, **setting).mean() - runs.mean_at(name, lr, setting)


@page.after("sentences")
def test_nearly_a_quarter_of_the_words_is_not_and_more_than_a_third_are_opinions(data):
    said = " ".join(data.sentences).split()
    assert 0.24 < np.mean([word == NOT for word in said]) < 0.25
    assert 0.36 < np.mean([word in SIGN for word in said]) < 0.37


@page.after("figure-small")
def test_all_three_kernels_are_above_the_level_of_a_reader_who_overlooks_not(paths, short):
    assert all(
        runs.without_not(short) + 0.05 < path.test_accuracy[-1] <= 1 for path in paths.values()
    )


# Seeds, step sizes, controls


@page.after("table-micro")
def test_the_step_sizes_that_were_tried_and_chosen(pictures):
    assert runs.rates(**ADAM) == [0.001, 0.002, 0.004, 0.008]
    assert runs.rates(**MOMENTUM) == [0.025, 0.05, 0.1]
    assert (
        runs.rates(**SMALL)
        == runs.rates(**GAIN)
        == runs.rates(**SIXTEEN)
        == runs.rates(pictures)
        == [0.002]
    )
    assert chosen(SOFTMAX, **ADAM)["lr"][0] == chosen(GAUSSIAN, **ADAM)["lr"][0] == 0.002
    assert chosen(LOUDER, **MOMENTUM)["lr"][0] == 0.025


@page.after("table-micro")
def test_the_gaussian_kernel_is_ahead_in_18_of_20_pairs_and_in_1_of_4_with_gain_1(pictures):
    assert [pairs_won(**setting) for setting in WORDS] == [4, 3, 3, 4, 1]
    assert pairs_won(pictures) == 4
    assert len(final_accuracy(SOFTMAX, pictures)) == 4


@page.after("table-micro")
def test_intervals_exclude_zero_on_micro_pathfinder_and_for_the_control_at_gain_1(pictures):
    assert not any(excludes_zero(*gap(GAUSSIAN, **setting)) for setting in WORDS)
    assert not any(
        excludes_zero(*gap(name, **setting)) for setting in (MOMENTUM, SMALL) for name in NAMES[1:]
    )
    assert not excludes_zero(*gap(NORMALIZED, **SIXTEEN))
    assert [excludes_zero(*gap(name, **GAIN)) for name in LOUD[1:]] == [False, True, False]
    assert all(
        apart > half for apart, half in (gap(name, pictures) for name in (GAUSSIAN, NORMALIZED))
    )


@page.after("table-adam")
def test_with_adam_the_control_is_level_with_softmax_and_softmax_loses_more_at_other_step_sizes():
    assert abs(gap(NORMALIZED, **ADAM)[0]) < 0.005
    assert all(moved(SOFTMAX, lr, ADAM) > moved(GAUSSIAN, lr, ADAM) for lr in (0.001, 0.004, 0.008))


@page.after("table-micro")
def test_four_times_the_weights_do_not_help_softmax(pictures):
    assert max(gap(LOUDER, **ADAM)[0], gap(LOUDER, **SIXTEEN)[0], gap(LOUDER, pictures)[0]) < 0


# The other optimizer, the other starts


@page.after("table-others")
def test_with_momentum_both_controls_are_ahead_and_the_gaussian_kernel_bears_larger_steps():
    assert all(gap(name, **MOMENTUM)[0] > 0 for name in NAMES[1:])
    assert (
        moved(GAUSSIAN, 0.1, MOMENTUM)
        < min(moved(name, 0.1, MOMENTUM) for name in (SOFTMAX, NORMALIZED)) / 2
    )


@page.after("table-others")
def test_with_gain_1_softmax_is_ahead_and_of_the_control_in_all_pairs():
    assert gap(GAUSSIAN, **GAIN)[0] < 0
    assert (final_accuracy(NORMALIZED, **GAIN) < final_accuracy(SOFTMAX, **GAIN)).all()


@page.after("table-others")
def test_the_gain_moves_softmax_about_as_much_as_the_kernel_does_and_a_factor_of_16_moves_little():
    assert -gap(GAUSSIAN, **GAIN)[0] < runs.moved_by_gain(SOFTMAX) < gap(GAUSSIAN, **ADAM)[0]
    assert (
        abs(
            final_accuracy("Gaussian × 16", **GAIN).mean() - final_accuracy(GAUSSIAN, **GAIN).mean()
        )
        < 0.01
    )


# Sixteen words, and Pathfinder


@page.after("table-micro")
def test_the_distance_makes_the_whole_difference_on_sixteen_words_and_two_thirds_on_images(
    pictures,
):
    assert 0.95 < gap(NORMALIZED, **SIXTEEN)[0] / gap(GAUSSIAN, **SIXTEEN)[0] < 1
    assert 0.6 < gap(NORMALIZED, pictures)[0] / gap(GAUSSIAN, pictures)[0] < 0.72


# Check by number


@page.after("mean-weights")
def test_gaussian_rows_sum_to_a_sixteenth_with_gain_1_and_to_more_than_softmax_where_there_are_many_tokens(
    weight,
):
    assert abs(1 / (8 * weight[0]) - 16) < 0.2
    assert 8 * weight[1] > 1
    assert (4096 * weight > 1).all()


@page.after("solution-second")
def test_both_layers_of_networks_start_with_these_sums(measured, second, weight):
    for sums, mean in ((measured[0], weight[0]), (measured[1], weight[1]), (second, weight[0])):
        assert abs(sums.mean() - 8 * mean) < 3 * sums.std(ddof=1) / 24**0.5


@page.after("solution-best")
def test_the_last_accuracy_is_nearly_the_best_and_in_the_same_order():
    accuracies = [chosen(name, **ADAM)["test_accuracy"] for name in NAMES]
    last, best = (
        np.array([choose(one) for one in accuracies])
        for choose in (lambda one: one[:, -1].mean(), lambda one: one.max(axis=1).mean())
    )
    assert (best - last).max() < 0.005
    assert (np.argsort(last) == np.argsort(best)).all()
