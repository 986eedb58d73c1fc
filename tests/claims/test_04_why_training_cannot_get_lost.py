"""What the page multihead/04_why_training_cannot_get_lost says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c04_convergence import cases, chain, starts
from mhabook.c04_convergence import statements as convergence
from page import Page

page = Page("multihead/04_why_training_cannot_get_lost")


# --- See: a run with a hundred billion heads ------------------------------------------------------------------


def last(runs, curve):
    """H → where a curve ends."""
    return {H: run.curves[curve][-1] for H, run in runs.items()}


def allowed_step(start, toward, run, K):
    """The largest step size of Theorem 1 for a reference at this distance."""
    constants = chain.ball_constants(start, 1.0, toward.distance)
    return chain.largest_step(constants, toward.distance, run.reference_loss, run.loss[0], K)


def nearest(id):
    """The row's check on the nearest of its extremal instances."""
    return min((mhabook.ledger[id].on(make()) for make in mhabook.ledger[id].extremal), key=lambda check: check.slack)


def failures(practice, name):
    return tuple(practice[name][2].values())


def told(live, **values):
    """The last loss, formula and score of the live figure at these settings, the demand, and the allowed step."""
    drawn = live.drawn(**values)
    assert (np.array(drawn["loss"]) <= drawn["guarantee"]).all()
    assert (np.array(drawn["from_start"]) <= drawn["limit"]).all()
    ends = (drawn[name][-1] for name in ("loss", "guarantee", "attention_score"))
    return *ends, drawn["heads_needed"], drawn["largest_step"]


@page.after("figure-broken")
def test_a_start_a_hundred_times_smaller_rests_eight_or_nine_steps_longer(lost):
    halves = [int(np.argmax(run.loss < np.log(2) / 2)) for run in lost.values()]
    assert halves == [8, 16, 25, 33]
    assert halves == sorted(halves)
    assert np.ptp(np.diff(halves)) <= 1


@page.after("figure-broken")
def test_the_run_is_lost_for_seven_steps(broken):
    assert round(broken.rhs[0], 3) == 0.015
    assert np.ptp(broken.lhs[:7]) < 0.01
    assert (broken.lhs[:7] > broken.rhs[:7]).all()
    assert (broken.lhs[7:] < broken.rhs[7:]).all()


@page.after("figure-broken")
def test_at_zero_the_gradient_vanishes_with_any_number_of_heads():
    crossed = cases.crossed_signs()
    assert mha.MultiHeadAttention.zeros(8, 4, 2).loss_and_grad(crossed.X, crossed.y)[1].norm() == 0


@page.after("solution-stationary")
def test_a_small_gradient_means_a_small_loss(used):
    assert used.max() < 1


@page.after("solution-momentum")
def test_with_momentum_one_point_holds_at_every_step(falls, holds):
    assert sum(holds) == 300
    assert falls == 300


@page.after("solution-gap")
def test_toward_its_reference_the_loss_is_convex(kappa, asked, ratios, worst):
    assert kappa < 0
    assert len(ratios) == 30
    assert 0.0018 < asked < 0.0019
    assert worst > 10_000 * asked
