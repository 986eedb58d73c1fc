"""What the page multihead/02_further says, held against what its cells leave."""

import numpy as np
import pytest

import mhabook
from mhabook.c01_model import instances
from mhabook.c02_curvature import bounds, loss_bounds
from page import Page

page = Page("multihead/02_further")
STATEMENTS = [statement for statement in mhabook.ledger if statement.chapter == page.name]


@page.after("small")
def test_three_heads_have_10_parameters_each(logit_hessian, model):
    assert model.sizes[0] == 3
    assert len(logit_hessian) == 30
    assert len(model.ravel()) == 30


@page.after("small")
def test_mixed_entries_are_zero_in_the_logit_and_hardly_ever_in_the_loss(logit_hessian, loss_hessian):
    assert abs(logit_hessian[of_two_heads()]).max() < 1e-12 * abs(logit_hessian).max()
    assert (abs(loss_hessian[of_two_heads()]) > 1e-6).mean() > 0.99


@page.after("small")
def test_the_numerical_hessian_of_the_loss_is_that_of_the_library(data, loss_hessian, model):
    assert np.allclose(loss_hessian, sum(loss_bounds.loss_hessian(model, data)), atol=1e-7 * abs(loss_hessian).max())


@page.after("run-curvature")
def test_negative_curvature_falls_by_more_than_a_hundred_as_the_loss_does(bottom, path):
    ratio = bottom.lhs / path.loss
    assert path.loss[0] / path.loss[-1] > 100
    assert bottom.lhs[0] / bottom.lhs[-1] > 100
    assert ratio.max() / ratio.min() < 3
    assert bottom.lhs.min() > 0


@page.after("run-curvature")
def test_the_largest_eigenvalue_is_the_one_of_largest_size_and_falls_like_the_loss(bottom, path, top):
    assert (bottom.lhs < top.lhs).all()
    assert (top.lhs / path.loss).max() < 5 * (top.lhs / path.loss).min()


@page.after("run-curvature")
def test_the_constant_grows_from_12_to_21_and_the_bound_falls_by_170(bottom, path):
    kappa = bottom.rhs / path.loss
    assert round(kappa[0]) == 12
    assert round(kappa[-1]) == 21
    assert round(bottom.rhs[0] / bottom.rhs[-1], -1) == 170


@page.after("check-tight-hessian")
def test_bounds_are_attained_at_zero_decoders():
    assert abs(bounds.gradient_bound(**instances.equal_tokens()).slack) < 1e-12
    assert abs(bounds.hessian_bound(**instances.opposite_tokens()).slack) < 1e-12


@page.after("figure-shares")
def test_no_share_of_the_hessian_bound_exceeds_one(shares):
    assert max(map(max, shares.values())) < 1 + 1e-12


@page.after("figure-shares")
def test_short_decoders_with_uniform_attention_use_all_of_either_bound(shares):
    assert shares["uniform attention, B bound"][0] > 0.99
    assert shares["uniform attention, sharper bound"][0] > 0.99


@page.after("figure-shares")
def test_long_decoders_use_0_77_of_the_bound_and_all_of_the_sharper_one(shares):
    assert 0.76 < shares["mean 1/√3 attention, B bound"][-1] < 0.77
    assert shares["mean 1/√3 attention, sharper bound"][-1] > 0.99


@page.after("figure-shares")
def test_in_between_neither_family_attains_the_sharper_bound(decoders, shares):
    between = np.max(list(shares.values()), axis=0)[(decoders > 0.1) & (decoders < 10)]
    assert between.min() > 0.7
    assert between.min() < between.max() < 0.995


@page.after("live-curvature")
def test_with_two_heads_the_loss_falls_though_the_line_lies_below_the_largest_eigenvalue(live):
    steep = live.path(lr=10.0)
    assert steep.edge[0] < steep.sharpness[0] / 2
    assert (np.diff(steep.loss) < 0).all()


@page.after("live-curvature")
def test_within_three_steps_the_largest_eigenvalue_comes_below_the_line(live):
    steep = live.path(lr=10.0)
    assert list(steep.steps[:3]) == [0, 1, 3]
    assert steep.sharpness[2] < steep.edge[0] < steep.sharpness[1]


@page.after("live-curvature")
def test_with_eight_heads_a_step_of_30_nearly_doubles_the_loss_and_later_ones_lower_it(live):
    loss = live.path(H=8, lr=30.0).loss
    assert 1.9 < loss[1] / loss[0] < 2
    assert (np.diff(loss[1:]) < 0).all()


@page.after("live-curvature")
def test_ten_times_the_scale_moves_the_measured_curvature_less_than_threefold_up_or_down(live):
    for H in (1, 2, 4, 8):
        base, large = (live.path(H=H, scale=scale) for scale in (0.3, 3.0))
        assert 1 / 3 < large.sharpness[0] / base.sharpness[0] < 3
        assert 1 / 3 < large.negative_curvature[0] / base.negative_curvature[0] < 3


@page.after("live-curvature")
def test_ten_times_the_scale_multiplies_every_bound_by_more_than_37(live):
    for H in (1, 2, 4, 8):
        base, large = (live.path(H=H, scale=scale) for scale in (0.3, 3.0))
        assert large.smoothness_bound[0] > 37 * base.smoothness_bound[0]
        assert large.weak_convexity_bound[0] > 37 * base.weak_convexity_bound[0]


@page.after("logit-table")
def test_the_figure_shows_the_eigenvalue_of_the_dense_hessian(live, runs):
    assert np.isclose(live.path(H=8).sharpness[[0, -1]], runs[8][1].lhs[[0, -1]], rtol=1e-9).all()


@page.after("logit-table")
def test_at_the_start_the_largest_eigenvalue_and_its_bound_do_not_depend_on_the_heads(runs):
    for _, top, _ in runs.values():
        assert 0.38 < top.lhs[0] < 0.45
        assert 47 < top.rhs[0] < 59


@page.after("logit-table")
def test_at_the_start_negative_curvature_and_its_bound_fall_with_the_heads(runs):
    measured, bound = zip(*((bottom.lhs[0], bottom.rhs[0]) for _, _, bottom in runs.values()), strict=True)
    assert list(measured) == sorted(measured, reverse=True)
    assert list(bound) == sorted(bound, reverse=True)
    assert measured[-1] < measured[0] / 2


@page.after("logit-table")
def test_at_the_end_more_heads_have_more_loss_left_and_more_curvature(runs):
    losses = [path.loss[-1] for path, _, _ in runs.values()]
    largest = [top.lhs[-1] for _, top, _ in runs.values()]
    negative = [bottom.lhs[-1] for _, _, bottom in runs.values()]
    assert losses == sorted(losses)
    assert losses[-1] > 4 * losses[0]
    assert largest == sorted(largest)
    assert largest[-1] > 3 * largest[0]
    assert negative[:4] == sorted(negative[:4])
    assert negative[-1] > 2 * negative[0]
    assert abs(negative[-1] / negative[-2] - 1) < 0.02


@page.after("logit-table")
def test_at_the_end_more_heads_have_a_smaller_bound(runs):
    smoothness = [top.rhs[-1] for _, top, _ in runs.values()]
    assert smoothness == sorted(smoothness, reverse=True)
    assert smoothness[0] > 4 * smoothness[-1]


@page.after("logit-table")
def test_negative_curvature_over_loss_is_with_sixteen_heads_half_of_that_with_one(runs):
    ratio = {H: bottom.lhs[-1] / path.loss[-1] for H, (path, _, bottom) in runs.items()}
    assert 0.45 < ratio[16] / ratio[1] < 0.55


@page.after("logit-table")
def test_the_bounds_hold_along_every_run(runs):
    for _, top, bottom in runs.values():
        assert (bottom.lhs < top.lhs).all()
        assert (top.lhs <= top.rhs).all()
        assert (bottom.lhs <= bottom.rhs).all()


@page.after("logit-table")
def test_at_the_start_the_bound_is_more_than_a_hundred_times_the_largest_eigenvalue(runs):
    assert all(100 < (top.rhs / top.lhs)[0] < 150 for _, top, _ in runs.values())


@page.after("logit-table")
def test_at_the_end_it_is_at_least_7000_times_the_largest_eigenvalue(runs):
    assert 7_000 < min((top.rhs / top.lhs)[-1] for _, top, _ in runs.values()) < 8_000


@page.after("logit-table")
def test_the_bound_on_negative_curvature_is_more_than_a_hundred_times_what_is_measured(runs):
    assert min((bottom.rhs / bottom.lhs).min() for _, _, bottom in runs.values()) > 100


@page.after("logit-table")
def test_sixteen_heads_have_a_quarter_of_the_curvature_of_the_logit(logit):
    assert 3.2 < logit[1].lhs / logit[16].lhs < 4.8


@page.after("logit-table")
def test_with_four_heads_the_bounds_of_the_logit_are_6_and_20_times_too_large(data, logit, runs):
    steep = bounds.gradient_bound(runs[4][0][0], data)
    assert round(steep.rhs / steep.lhs) == 6
    assert round(logit[4].rhs / logit[4].lhs) == 20


@page.after("figure-unnormalized")
def test_softmax_keeps_the_gradient_bounded_and_unnormalized_weights_do_not(lines):
    assert max(lines["softmax"]) < 0.25
    assert lines["no normalization"][-1] > 1000


@page.after("solution-power")
def test_power_iteration_needs_few_products(products):
    assert products < 100


@page.after("solution-worst")
def test_no_search_beats_the_best_constant(best):
    assert 0.7690 < best < bounds.DEVIATION + 1e-12
