"""What the page multihead/08_heads_on_real_data says, held against what its cells leave."""

import numpy as np

from mhabook.c08_digits.runs import at_its_best, at_the_end
from page import Page

page = Page("multihead/08_heads_on_real_data")


def medians(scale, curve="loss", **setting):
    """The median of eight seeds after 300 steps, for 1, 2, 4, …, 64 heads."""
    return np.median(at_the_end(curve, scale, **setting), axis=1)


def map_of(scale, *powers):
    """The median loss at the step sizes 2^(power/2): (step sizes, heads)."""
    return np.array([medians(scale, power=lambda H, p=p: p) for p in powers])


@page.after("train")
def test_sixteen_heads_are_slower_and_move_a_quarter_as_far_and_early_on_less_whatever_the_draw(live):
    for seed in range(4):
        one, sixteen = (live.path(H=H, seed=seed) for H in (1, 16))
        ratio = one.moved[1:] / sixteen.moved[1:]
        assert sixteen.loss[-1] > 2 * one.loss[-1] and 3.5 < ratio[-1] < 4.5
        assert ratio[(one.steps[1:] >= 4) & (one.steps[1:] <= 20)].min() > 6


@page.after("train")
def test_from_a_large_start_sixteen_heads_move_as_little_and_keep_up(live):
    small, large, one = live.path(H=16), live.path(H=16, scale=1.0), live.path()
    assert large.moved[-1] < 1.2 * small.moved[-1]
    assert large.loss[-1] < 1.25 * one.loss[-1] < 0.5 * small.loss[-1]


@page.after("train")
def test_steps_of_thirty_are_too_long_for_one_head_and_the_best_for_sixteen(live, data):
    for seed in range(4):
        one, sixteen = (live.path(H=H, lr=30.0, seed=seed) for H in (1, 16))
        assert one.loss[-1] > live.path(seed=seed).loss[-1] and 8 < one.moved[-1] / sixteen.moved[-1] < 12.5
        assert (one[-1].attention(data.X).max(axis=-1) > 0.99).mean() > 0.7
        singles = [live.path(lr=lr, scale=scale, seed=seed).loss[-1] for lr in live.controls["lr"].values
                   for scale in live.controls["scale"].values]
        assert sixteen.loss[-1] < min(singles)


@page.after("second-step")
def test_from_zero_decoders_move_by_one_root_and_attention_by_two(U, W):
    np.testing.assert_allclose([U[0] / U, W[0] / W], [[1, 2, 4], [1, 4, 16]])


@page.after("one-by-one-end")
def test_heads_that_share_the_slopes_alone_train_as_the_model_does(trained, together, data):
    np.testing.assert_allclose(trained(data.X), together, atol=1e-9)


@page.after("check-move")
def test_a_head_of_many_moves_less_by_the_root_of_their_number(moved):
    constant, root = moved
    assert (np.diff(constant) < 0).all() and 7 < constant[0] / constant[-1] < 10 and root[0] / root[-1] < 3


@page.after("figure-map")
def test_the_order_of_the_heads_is_reversed_at_long_steps(POWERS):
    small, large = map_of(0.1, *range(-2, 7)), map_of(1.0, *range(-2, 7))
    assert (np.diff(small[:7], axis=1) > 0).all() and (np.diff(small[:7], axis=0) < 0).all()
    assert small[6, 0] < medians(0.1, power=POWERS["η ∝ √H"])[-1] < small[2, 0]
    assert (large.max(axis=1) / large.min(axis=1))[:7].max() < 1.6
    for scale in (0.1, 1.0):
        one, eight, many = map_of(scale, 10)[0, [0, 3, 6]]
        assert one > eight > many


@page.after("figure-best")
def test_at_its_best_step_size_more_heads_end_lower_and_from_a_small_start_only_late():
    (small_sizes, small), (_, large) = at_its_best(0.1), at_its_best(1.0)
    np.testing.assert_allclose(small_sizes[:5], 4 * 2 ** (np.arange(5) / 2))
    assert large.max(axis=0)[0] > 3 * large.max(axis=0)[1:].max()
    assert small.max(axis=0)[0] > 5 * small.max(axis=0)[-1]
    early_small, early_large = (at_its_best(scale, step=111)[1].max(axis=0) for scale in (0.1, 1.0))
    assert early_small.max() < 1.3 * early_small.min() and early_large[0] > 2 * early_large[1:].max()


@page.after("figure-best")
def test_on_held_out_images_one_head_is_behind_from_a_large_start_alone():
    small, large = (np.median(at_its_best(scale, "test_loss")[1], axis=0) for scale in (0.1, 1.0))
    assert small.max() < 1.2 * small.min()
    assert large[0] / large[2:].max() > 1.7 and large[0] / large[2:].min() < 2.3


@page.after("solution-nine")
def test_four_against_nine_shows_the_same(rows):
    worse, *better = (mean / error for mean, error in rows.values())
    assert worse < -6 and all(1.9 < gain < 3.1 for gain in better)
    assert (np.diff(medians(0.1, pair="49")) > 0).all()


def test_what_takes_two_moves_is_divided_by_the_root():
    """The exercise on products: one step, term by term."""
    (u, w), step, H = np.random.default_rng(0).random((2, 9)), 0.3, 9
    logit, after = (u * w).sum() / 3, ((u + step * w / 3) * (w + step * u / 3)).sum() / 3
    assert np.isclose(after, logit + step * (u ** 2 + w ** 2).mean() + step ** 2 * logit / H)
