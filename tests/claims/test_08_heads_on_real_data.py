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
def test_sixteen_heads_are_slower_and_move_a_quarter_as_far_and_early_on_less_whatever_the_draw(
    live,
):
    for seed in range(4):
        one, sixteen = (live.path(H=H, seed=seed) for H in (1, 16))
        ratio = one.moved[1:] / sixteen.moved[1:]
        assert sixteen.loss[-1] > 2 * one.loss[-1] and 3.5 < ratio[-1] < 4.5
        assert ratio[(one.steps[1:] >= 4) & (one.steps[1:] <= 20)].min() > 6


@page.after("say-large")
def test_from_a_large_start_sixteen_heads_move_as_little_and_are_less_far_behind_whatever_the_draw(
    live, gaps
):
    for seed in range(4):
        (small_one, large_one), (small, large) = (
            [live.path(H=H, scale=scale, seed=seed) for scale in (0.1, 1.0)] for H in (1, 16)
        )
        assert large.moved[-1] < 1.2 * small.moved[-1]
        assert large.loss[-1] / large_one.loss[-1] < 0.75 * small.loss[-1] / small_one.loss[-1]
    assert gaps[0] > 3 and gaps[1] < 1.15


@page.after("train")
def test_steps_of_thirty_are_too_long_for_one_head_and_the_best_for_sixteen(live, data):
    for seed in range(4):
        one, sixteen = (live.path(H=H, lr=30.0, seed=seed) for H in (1, 16))
        assert (
            one.loss[-1] > live.path(seed=seed).loss[-1]
            and 8 < one.moved[-1] / sixteen.moved[-1] < 12.5
        )
        assert (one[-1].attention(data.X).max(axis=-1) > 0.99).mean() > 0.7
        shown = [
            live.path(seed=seed),
            *(live.path(H=16, scale=scale, seed=seed) for scale in (0.1, 1.0)),
            one,
        ]
        assert sixteen.loss[-1] < min(path.loss[-1] for path in shown)


@page.after("second-step")
def test_from_zero_decoders_move_by_one_root_and_attention_by_two(U, W):
    np.testing.assert_allclose([U[0] / U, W[0] / W], [[1, 2, 4], [1, 4, 16]])


@page.after("one-by-one-end")
def test_heads_that_share_the_slopes_alone_train_as_the_model_does(trained, together, data):
    np.testing.assert_allclose(trained(data.X), together, atol=1e-9)


@page.after("check-move")
def test_a_head_of_many_moves_less_by_the_root_of_their_number(moved):
    constant, root = moved
    powers = -np.diff(np.log2(constant))
    assert (
        powers[0] > 0.3
        and powers[-1] < 0.75
        and (np.diff(powers) > 0).all()
        and abs(powers.mean() - 0.5) < 0.03
    )
    assert (np.diff(root) < 0).all() and root[0] / root[-1] < 3


@page.after("figure-map")
def test_the_order_of_the_heads_is_reversed_at_long_steps():
    small, large = map_of(0.1, *range(-2, 7)), map_of(1.0, *range(-2, 7))
    assert (np.diff(small[:7], axis=1) > 0).all() and (np.diff(small[:7], axis=0) < 0).all()
    assert (large.max(axis=1) / large.min(axis=1))[:7].max() < 1.6
    for scale in (0.1, 1.0):
        one, eight, many = map_of(scale, 10)[0, [0, 3, 6]]
        assert one > eight > many


@page.after("figure-best")
def test_at_a_step_size_that_other_seeds_chose_sixteen_heads_and_more_end_lower_than_one():
    (small_sizes, small), (large_sizes, large) = at_its_best(0.1), at_its_best(1.0)
    np.testing.assert_allclose(np.median(small_sizes, axis=0)[:5], 4 * 2 ** (np.arange(5) / 2))
    small_medians, large_medians = (np.median(ends, axis=0) for ends in (small, large))
    assert (
        small_medians[0] > 2 * small_medians[4:].max()
        and large_medians[0] > 2 * large_medians[1:].max()
    )
    assert small_medians[-1] > 20 * small_medians[-2] and small_medians.argmin() == 5
    assert (large_sizes[:, -1] == 256).all()
    assert (small[:, [2, 6]] > 0.1).sum(axis=0).tolist() == [1, 1] and (
        large[:, 4] > 0.1
    ).sum() == 1


@page.after("solution-nine")
def test_four_against_nine_shows_the_same(rows, ends):
    worse, *better = (mean / error for mean, error in rows.values())
    assert worse < -6 and all(1.9 < gain < 3.1 for gain in better)
    spread = ends[0.1, "constant η"].std(axis=1, ddof=1)
    assert 1.7 < -rows[0.1, "constant η"][0] / spread.mean() < 2.5
    assert max(abs(mean) for mean, _ in rows.values()) < 0.04
    assert (np.diff(medians(0.1, pair="49")) > 0).all()


def test_what_takes_two_moves_is_divided_by_the_root():
    """The exercise on products: one step, term by term."""
    (u, w), step, H = np.random.default_rng(0).random((2, 9)), 0.3, 9
    logit, after = (u * w).sum() / 3, ((u + step * w / 3) * (w + step * u / 3)).sum() / 3
    assert np.isclose(after, logit + step * (u**2 + w**2).mean() + step**2 * logit / H)
