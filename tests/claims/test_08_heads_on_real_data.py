"""What the page multihead/08_heads_on_real_data says, held against what its cells leave."""

import numpy as np

from page import Page

page = Page("multihead/08_heads_on_real_data")


def medians(at_the_end, scale, curve="loss", **setting):
    """The median of eight seeds after 300 steps, for 1, 2, 4, …, 64 heads."""
    return np.median(at_the_end(curve, scale, **setting), axis=1)


def map_of(at_the_end, scale):
    """The median loss at the step sizes of the figure: (step sizes, heads)."""
    return np.array([medians(at_the_end, scale, power=lambda H, p=p: p) for p in range(-2, 8)])


@page.after("train")
def test_sixteen_heads_are_slower_and_each_moves_about_a_quarter_as_far_whatever_the_draw(live):
    for seed in range(4):
        one, sixteen = (live.path(H=H, seed=seed) for H in (1, 16))
        assert sixteen.loss[-1] > 2 * one.loss[-1]
        assert 3.5 < one.moved[-1] / sixteen.moved[-1] < 4.5


@page.after("train")
def test_from_a_large_start_sixteen_heads_move_as_little_and_keep_up(live):
    small, large, one = live.path(H=16), live.path(H=16, scale=1.0), live.path()
    assert large.moved[-1] < 1.2 * small.moved[-1]
    assert large.loss[-1] < 1.25 * one.loss[-1] < 0.5 * small.loss[-1]


@page.after("train")
def test_long_steps_undo_the_slowness_and_one_head_has_more_of_them(live):
    sixteen, one, short = live.path(H=16, lr=4.0), live.path(lr=4.0), live.path()
    assert (np.diff(short.loss[short.steps >= 2]) < 0).all() and (np.diff(short.moved) > 0).all()
    assert sixteen.loss.max() > 3 and sixteen.moved[-1] > 2 * live.path(H=16).moved[-1]
    assert one.loss[-1] < sixteen.loss[-1] < short.loss[-1]


@page.after("figure-constant")
def test_more_heads_are_slower_from_a_small_start_alone(at_the_end):
    small, large = at_the_end("loss", 0.1), medians(at_the_end, 1.0)
    assert (np.diff(np.median(small, axis=1)) > 0).all() and small[0].max() < small[-1].min()
    assert (np.diff(medians(at_the_end, 0.1, "test_loss")) > 0).all()
    assert large.max() < 1.4 * large.min()


@page.after("one-by-one-end")
def test_heads_that_share_the_slopes_alone_train_as_the_model_does(trained, together, data, heads):
    np.testing.assert_allclose(trained(data.X), together, atol=1e-9)
    np.testing.assert_allclose(trained.W, np.concatenate([head.W for head in heads]), atol=1e-9)


@page.after("check-move")
def test_a_head_of_many_moves_less_by_the_root_of_their_number(moved):
    constant, root = moved
    assert (np.diff(constant) < 0).all() and 7 < constant[0] / constant[-1] < 10
    assert root[0] / root[-1] < 3


@page.after("figure-map")
def test_from_a_small_start_fewer_heads_are_lower_and_longer_steps_help_all_up_to_four(POWERS, at_the_end, eta):
    small = map_of(at_the_end, 0.1)[:7]
    assert eta[6] == 4
    assert (np.diff(small, axis=1) > 0).all() and (np.diff(small, axis=0) < 0).all()
    many_with_eight = medians(at_the_end, 0.1, power=POWERS["η ∝ √H"])[-1]
    assert small[6, 0] < many_with_eight < small[2, 0]


@page.after("figure-map")
def test_from_a_large_start_the_lines_lie_together_until_the_single_head_turns_up(at_the_end):
    large = map_of(at_the_end, 1.0)
    single, several = large[:, 0], large[:, 1:]
    assert (several.max(axis=1) / several.min(axis=1))[:9].max() < 1.35
    assert (single / np.median(several, axis=1))[:7].max() < 1.25
    assert single[8] > 2 * several[8].max() and single[9] > 6 * several[9].max()
    assert single.argmin() == 7


@page.after("solution-nine")
def test_four_against_nine_shows_the_same(at_the_end, rows):
    worse, *better = (mean / error for mean, error in rows.values())
    assert worse < -6 and all(1.9 < gain < 3.1 for gain in better)
    assert (np.diff(medians(at_the_end, 0.1, pair="49")) > 0).all()


def test_what_takes_two_moves_is_divided_by_the_root():
    """The exercise on products: one step, term by term."""
    (u, w), step, H = np.random.default_rng(0).random((2, 9)), 0.3, 9
    logit, after = (u * w).sum() / 3, ((u + step * w / 3) * (w + step * u / 3)).sum() / 3
    assert np.isclose(after, logit + step * (u ** 2 + w ** 2).mean() + step ** 2 * logit / H)
