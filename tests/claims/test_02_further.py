"""What the page multihead/02_further says, held against what its cells leave."""

import numpy as np

from mhabook.c02_curvature import bounds
from page import Page

page = Page("multihead/02_further")


@page.after("small")
def test_mixed_entries_are_hardly_ever_zero_in_the_loss(loss_hessian):
    head = np.repeat(np.arange(3), 10)
    mixed = head[:, None] != head
    assert (abs(loss_hessian[mixed]) > 1e-6).mean() > 0.99


@page.after("figure-shares")
def test_short_decoders_use_all_of_either_bound_and_long_ones_all_of_the_sharper(decoders, shares):
    between = np.max(list(shares.values()), axis=0)
    assert between.max() < 1 + 1e-12
    assert (
        min(shares[f"uniform weights, against {bound}"][0] for bound in ("B", "the sharper one"))
        > 0.99
    )
    assert shares["more on its own kind, against the sharper one"][-1] > 0.99
    assert np.isclose(shares["more on its own kind, against B"][-1], bounds.DEVIATION, rtol=1e-2)
    assert between[(decoders > 0.1) & (decoders < 10)].min() < 0.99


@page.after("run-curvature")
def test_negative_curvature_and_the_largest_eigenvalue_fall_with_the_loss(bottom, path, top):
    assert (bottom.lhs > 0).all() and (bottom.lhs < top.lhs).all()
    assert np.ptp(np.log(bottom.lhs / path.loss)) < np.log(3)
    assert (np.diff(top.lhs[-12:]) < 0).all()


@page.after("live-curvature")
def test_the_line_is_a_warning_about_the_next_few_steps(live):
    two, eight = live.path(lr=10.0), live.path(H=8, lr=30.0).loss
    assert two.steps[2] == 3 and two.sharpness[2] < two.edge[0] < two.sharpness[0] / 2
    assert (np.diff(two.loss) < 0).all()
    assert 1.9 < eight[1] / eight[0] < 2 and (np.diff(eight[1:]) < 0).all()


@page.after("live-curvature")
def test_ten_times_the_scale_multiplies_the_bounds_and_hardly_what_they_bound(live):
    for H in (1, 2, 4, 8):
        base, large = (live.path(H=H, scale=scale).curves for scale in (0.3, 3.0))
        for name in ("sharpness", "negative_curvature"):
            assert 1 / 3 < large[name][0] / base[name][0] < 3
        for name in ("smoothness_bound", "weak_convexity_bound"):
            assert large[name][0] > 30 * base[name][0]


@page.after("logit-table")
def test_at_the_start_only_the_negative_curvature_and_its_bound_fall_with_the_heads(logit, runs):
    largest, rho, negative, bound = (
        np.array([getattr(run[part], side)[0] for run in runs.values()])
        for part in (1, 2)
        for side in ("lhs", "rhs")
    )
    assert (np.diff(negative) < 0).all() and (np.diff(bound) < 0).all()
    assert max(np.ptp(np.log(largest)), np.ptp(np.log(rho))) < 0.25
    assert 3.2 < logit[1].lhs / logit[16].lhs < 4.8


@page.after("logit-table")
def test_at_the_end_more_heads_have_more_loss_a_larger_eigenvalue_and_a_smaller_bound(runs):
    ends = np.array([(path.loss[-1], top.lhs[-1], -top.rhs[-1]) for path, top, _ in runs.values()])
    assert (np.diff(ends, axis=0) > 0).all()
    ratio = {H: bottom.lhs[-1] / path.loss[-1] for H, (path, _, bottom) in runs.items()}
    assert ratio[16] < ratio[1]


@page.after("logit-table")
def test_both_bounds_are_more_than_a_hundred_times_what_they_bound(runs):
    for _, *both in runs.values():
        assert all((check.rhs > 100 * check.lhs).all() for check in both)
    assert min((top.rhs / top.lhs)[-1] for _, top, _ in runs.values()) > 1000


@page.after("figure-unnormalized")
def test_softmax_keeps_the_gradient_bounded_and_unnormalized_weights_do_not(lines):
    assert max(lines["softmax"]) < 0.25
    assert lines["no normalization"][-1] > 1000
