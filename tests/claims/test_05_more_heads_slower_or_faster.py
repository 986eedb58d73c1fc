"""What the page multihead/05_more_heads_slower_or_faster says, held against what its cells leave."""

import numpy as np

from page import Page

page = Page("multihead/05_more_heads_slower_or_faster")


def falls(values, axis=0):
    return (np.diff(values, axis=axis) < 0).all()


@page.after("solution-decay")
def test_with_weight_decay_more_heads_rest_with_a_shorter_W_and_less_attention(decays):
    assert falls(decays[:, [0, 2]])
    assert decays[:, 3].max() < 1e-3


@page.after("solution-short")
def test_short_steps_grow_W_like_the_pairs_of_steps(growth):
    assert abs(growth / [1, 3, 6, 45, 435] - 1).max() < 0.03
