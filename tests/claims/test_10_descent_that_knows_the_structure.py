"""What the page preconditioning/10_descent_that_knows_the_structure says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c10_structure import factorization, idea
from page import Page

page = Page("preconditioning/10_descent_that_knows_the_structure")


# --- the live figure -------------------------------------------------------------------------------------------


@page.after("train")
def test_on_round_tokens_both_curves_fall_alike_and_are_near_their_end_after_20_steps(live):
    drawn = live.drawn()
    ours, theirs = (np.array(drawn[name]) for name in ("excess", "excess_plain"))
    assert (abs(np.log(ours / theirs)) < np.log(2)).all()
    for curve in (ours, theirs):
        assert curve[20] < 2 * curve[-1] < curve[0] / 50


@page.after("train")
def test_the_figure_shows_the_run_of_its_cell(live, path):
    np.testing.assert_allclose(live.drawn()["excess"], path.excess, rtol=1e-9)


@page.after("train")
def test_the_curve_with_whitening_stays_where_it_was_at_every_stretch(live):
    first = live.drawn()["excess"]
    for kappa in live.controls["kappa"].values:
        np.testing.assert_allclose(live.drawn(kappa=kappa)["excess"], first, rtol=1e-6)


@page.after("train")
def test_the_layer_goes_along_with_the_stretch(live):
    starts = [live.drawn(kappa=kappa)["excess_plain"][0] for kappa in live.controls["kappa"].values]
    np.testing.assert_allclose(starts, starts[0], rtol=1e-9)


@page.after("train")
def test_stretched_a_little_plain_descent_ends_more_than_twice_as_high(live):
    ends = [live.drawn(kappa=kappa)["excess_plain"][-1] for kappa in (1.0, 16.0)]
    assert 2.2 < ends[1] / ends[0] < 2.7


@page.after("train")
def test_stretched_a_lot_plain_descent_diverges(live):
    drawn = live.drawn(kappa=256.0)
    assert np.isnan(drawn["excess_plain"][5:]).all()
    assert drawn["plain_end"] == "more than 10"


@page.after("train")
def test_with_shorter_steps_it_ends_about_a_hundred_times_as_high(live):
    drawn = live.drawn(kappa=256.0, plain_lr=0.1)
    assert (np.diff(drawn["excess_plain"]) < 0).all()
    assert 85 < drawn["excess_plain"][-1] / drawn["excess"][-1] < 115


# --- the picture -----------------------------------------------------------------------------------------------


@page.after("idea")
def test_the_narrow_valley_takes_many_times_the_steps_of_the_round_one():
    assert len(idea.descent(idea.VARIANCES)) > 3 * len(idea.descent((1.0, 1.0)))


@page.after("idea")
def test_descent_on_the_loss_stops_on_the_valley_away_from_the_balanced_point():
    first, *_, (u, v) = idea.unbalanced()
    assert abs(u * v - 1) < 2e-3
    assert u > 3 * v
    assert np.isclose(u ** 2 - v ** 2, first[0] ** 2 - first[1] ** 2, rtol=0.02)


@page.after("idea")
def test_a_layer_of_two_numbers_has_this_loss():
    a, b, m, variance = 0.7, -0.4, 1.3, 2.5
    excess = mha.models.regression.excess(*(np.array([[x]]) for x in (a, b, variance, m)))
    assert np.isclose(excess, (a * variance ** 0.5 * b * variance - m * variance ** 0.5) ** 2 / 2)


# --- the theorem, and the rules by hand ------------------------------------------------------------------------


@page.after("twin-run")
def test_the_losses_on_stretched_tokens_are_those_on_round_ones(C, data, far, path, twin):
    assert np.allclose(data.x @ C.T, far.x, rtol=1e-9, atol=1e-12)
    assert np.allclose(data.y, far.y, rtol=1e-9, atol=1e-12)
    assert abs(twin.loss - path.loss).max() < 1e-9 < path.loss[-1]


@page.after("excess")
def test_the_excess_is_half_the_squared_distance(U, V, N, twin):
    assert np.isclose(np.linalg.norm(U @ V.T - N) ** 2 / 2, twin.excess[0], rtol=1e-10)


@page.after("first-step")
def test_sixty_steps_by_hand_end_where_the_library_ends(theta, far, twin):
    assert np.isclose(theta.loss(far.x, far.y), twin.loss[-1], rtol=1e-9)


# --- conditioning, from a stored table -------------------------------------------------------------------------


@page.after("conditioning")
def test_the_steps_of_plain_descent_grow_as_its_valley_narrows(steps):
    round_, far = steps.where(kappa=1.0), steps.where(kappa=256.0)
    narrower = np.median(far["condition"]) / np.median(round_["condition"])
    longer = np.median(far["one"]) / np.median(round_["one"])
    assert longer > 100
    assert 0.7 < longer / narrower < 1.4
    for table in (round_, far):
        assert (table["two"] <= table["one"]).all()
    assert (far["two"] > 10 * far["whitened"]).all()


@page.after("conditioning")
def test_conditioning_costs_whitened_descent_nothing(steps):
    assert (steps.where(kappa=1.0)["whitened"] == steps.where(kappa=256.0)["whitened"]).all()
    assert steps["whitened"].max() < 20


@page.after("target")
def test_a_target_four_times_as_stretched_costs_about_four_times_the_steps(grown):
    first, *others = np.divide(grown[1:], grown[:-1])
    assert 2.4 < first < 5  # of a round target the optimum that is perturbed is any, and four or five steps are needed
    assert min(others) > 3.2
    assert max(others) < 4.8


@page.after("solution-gauge")
def test_turned_optima_differ_on_finitely_many_tokens(far, turns, own, to_A):
    losses = []
    for turn in turns:
        U, V = factorization.optimum(far.M @ own, turn)
        losses.append(mha.AttentionRegression(U @ to_A, to_A @ V @ to_A).loss(far.x, far.y))
    assert np.ptp(losses) > 1e-4
