"""What the page kernels/13_when_gradient_descent_must_succeed says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c13_layer import statements as one_layer
from mhabook.c13_layer.runs import FRACTIONS, ROWS, remaining, steps_needed, tried
from page import Page

page = Page("kernels/13_when_gradient_descent_must_succeed")
table = mhabook.stored("dimensions.npz")
KERNELS = ("softmax", "gaussian")


# --- the values alone ------------------------------------------------------------------------------------------


def medians(row):
    """kernel → medians over seeds of what a row of the table has left, by dimension."""
    return {kernel: [np.median(remaining(row, kernel, D)) for D in tried(row)] for kernel in KERNELS}


def left_at_48(kernel, tied, scale):
    """The median of what training the values leaves at D = 48."""
    return np.median(table.where(only="WV", kernel=kernel, tied=tied, D=48, scale=scale)["relative"])


@page.after("equal-tokens")
def test_two_equal_tokens_have_no_rate(start, twice):
    assert one_layer.value_rate(start, twice) < 1e-25


@page.after("solution-below")
def test_below_the_threshold_the_share_of_the_loss_that_remains_is_the_predicted_one(shares):
    assert abs(np.mean(shares) - 0.5) < 0.05


@page.after("solution-heads")
def test_one_wide_head_has_the_best_rate(best):
    for kernel in (mha.softmax, mha.gaussian):
        assert best[1, kernel] > max(best[2, kernel], best[4, kernel])
