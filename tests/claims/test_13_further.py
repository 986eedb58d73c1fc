"""What the page kernels/13_further says, held against what its cells leave."""

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c13_layer import statements as one_layer
from mhabook.c13_layer.runs import FRACTIONS, ROWS, remaining, steps_needed, tried
from page import Page

page = Page("kernels/13_further")
table = mhabook.stored("dimensions.npz")
KERNELS = ("softmax", "gaussian")


@page.after("train-others")
def test_below_the_threshold_the_loss_stops_and_above_it_the_promise_is_kept(promised, runs):
    left = {name: run.loss / run.loss[0] for name, run in runs.items()}
    for name in ("softmax", "Gaussian"):
        assert left[f"{name}, D = 24"][-1] > 0.04 and left[f"{name}, D = 48"][-1] < 1e-6
    assert left["Gaussian, D = 48"][-1] < left["softmax, D = 48"][-1]
    assert (left["Gaussian, D = 48"] <= promised * (1 + 1e-9)).all()


def medians(row, kernel):
    """Medians over seeds of what a row of the table has left, by dimension."""
    return np.array([np.median(remaining(row, kernel, D)) for D in tried(row)])


@pytest.mark.parametrize("kernel", KERNELS)
def test_from_tied_starts_the_values_reach_zero_beyond_the_threshold_and_from_untied_ones_they_are_slow(
    kernel,
):
    tied, untied = medians("values alone, tied", kernel), medians("values alone, untied, ½", kernel)
    assert tied[1] > 0.1 > tied[2] > 1e-4 and tied[3:].max() < 1e-11
    assert untied.min() > 0.08 and len(remaining("values alone, tied", kernel, 64)) == 8
    small, large = (
        table.where(only="WV", D=64, tied=tied, scale=0.5 + 0.5 * tied)["sigma"]
        for tied in (False, True)
    )
    assert small.max() < large.min() / 3


@page.after("dimension-table")
def test_training_everything_softmax_is_more_reliable_and_the_queries_alone_neither_kernel():
    row = "queries, keys, values"
    failed = {
        kernel: [int((remaining(row, kernel, D) > 1e-9).sum()) for D in FRACTIONS]
        for kernel in KERNELS
    }
    assert failed == {"softmax": [0] * 6, "gaussian": [2, 0, 1, 0, 1, 0]}
    soft, gauss = (
        np.array([[remaining(row, kernel, D) for D in tried(row)] for row in [*ROWS][3:]])
        for kernel in KERNELS
    )
    assert soft.size == 48 and 20 <= (gauss < soft).sum() <= 28
    assert (soft < 1e-8).sum() > (gauss < 1e-8).sum() and (soft > 1e-3).sum() > (gauss > 1e-3).sum()


@page.after("scale-table")
def test_large_tied_starts_suit_the_gaussian_kernel_and_large_untied_ones_softmax():
    soft, gauss = (
        [
            np.median(
                table.where(only="WV", kernel=kernel, tied=tied, D=48, scale=scale)["relative"]
            )
            for tied, scale in ((True, 0.1), (True, 1.0), (True, 4.0), (True, 8.0), (False, 4.0))
        ]
        for kernel in KERNELS
    )
    assert (
        min(soft[0], gauss[0]) > 0.5 and max(soft[1], *gauss[1:4]) < 1e-16 and min(soft[2:4]) > 1e-4
    )
    assert soft[4] < 0.04 < 0.9 < gauss[4]


@page.after("promise")
def test_the_kernel_with_the_larger_rate_is_faster_and_both_are_faster_than_promised(data, runs):
    slow, fast = (runs[f"{name}, D = 48"] for name in ("softmax", "Gaussian"))
    rates = [
        one_layer.value_rate(run[0], data.X) / one_layer.value_smoothness(run[0], data.X)
        for run in (slow, fast)
    ]
    promised = np.log(1e-6) / np.log1p(-np.array(rates)) / 2
    needed = [steps_needed(run) for run in (slow, fast)]
    assert rates[0] < rates[1] and needed[0] > needed[1] and (needed < promised).all()


@page.after("near")
def test_near_targets_are_fitted_within_a_small_part_of_the_radius(
    allowed, data, first, lr, radius, start
):
    assert 5e7 < first / allowed < 2e8
    close = one_layer.near(start, data.X)
    path = mha.train(start, close, mha.GradientDescent(lr), 500, only=("WQ", "WK", "WV"))
    assert (path[-1] - start).norm() < 0.1 * radius and path.loss[-1] < 1e-8 * path.loss[0]
    assert lr * one_layer.smoothness(start, close, radius) > 200


@page.after("live")
def test_the_guarantee_is_there_where_the_answers_say(live):
    wide, low = live.drawn(D=32), live.drawn(D=24)
    tied, untied = (live.drawn(tied=tied, scale=4.0) for tied in (True, False))
    for kernel in KERNELS:
        assert wide[f"{kernel}_least"] < 0.15 and wide[f"{kernel}_guarantee"] > 0.95
        assert low[f"{kernel}_least"] == 0 and min(low[f"{kernel}_spectrum"]) > 0.4
        assert untied[f"{kernel}_guarantee"] > 0.999
        assert live.drawn(lr=1.5)[kernel][-1] < 0.01 and live.drawn(lr=2.5)[kernel][-1] > 1e100
        assert live.drawn(moves="WQ WK WV", D=16)[kernel][-1] < 0.01
        assert live.drawn(D=8, H=4)[f"{kernel}_least"] < wide[f"{kernel}_least"]
    assert tied["gaussian_guarantee"] < 0.001 < 0.8 < tied["softmax_guarantee"]


@page.after("far-start")
def test_a_positive_rate_may_be_worth_nothing_and_large_untied_gaussian_starts_see_nothing(
    data, far
):
    X = mha.data.random_sequences(8, 4, 32).X
    for kernel in (mha.softmax, mha.gaussian):
        least = [
            one_layer.least_singular(
                mha.AttentionLayer.random(32, 8, 1, scale=scale, kernel=kernel).mixed(X)
            )
            for scale in (1.0, 4.0)
        ]
        assert 1e-3 > least[0] > 100 * least[1]
    assert least[1] < 1e-20 and np.median(far.weights(data.X).max(axis=-1)) < 1e-11
