"""What the page multihead/04_why_training_cannot_get_lost says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c04_convergence import cases, chain
from page import Page

page = Page("multihead/04_why_training_cannot_get_lost")
CASES = ("As it starts", "Two heads", "Long steps", "Three times as many tokens")


def tried(live, name):
    """What the figure draws after a press on one of its buttons."""
    values = next(case["values"] for case in live.spec["tries"] if case["label"] == name)
    return {curve: np.array(drawn) for curve, drawn in live.drawn(**values).items()}


@page.after("figure-plateau")
def test_a_start_a_hundred_times_smaller_rests_about_as_many_steps_longer(lost):
    halves = [int(np.argmax(run.loss < np.log(2) / 2)) for run in lost.values()]
    assert np.ptp(np.diff(halves)) <= 1 < np.diff(halves).min()


@page.after("run")
def test_in_each_case_the_loss_stays_far_below_the_formula_and_the_distance_falls_but_for_long_steps(live):
    for name in CASES:
        drawn = tried(live, name)
        assert (10 * drawn["loss"] < drawn["guarantee"]).all()
        assert (np.diff(drawn["from_reference"]) < 0).all() == (name != "Long steps")


@page.after("run")
def test_the_good_model_has_a_loss_below_a_thousandth_and_the_formula_says_something_near_the_end(live):
    drawn = tried(live, "As it starts")
    assert drawn["reference_loss"][0] < 1e-3
    assert drawn["steps"][drawn["guarantee"] < np.log(2)][0] > 800
    assert 1e11 < drawn["heads_needed"] < 1e12


@page.after("run")
def test_two_heads_end_lower_and_farther_from_the_good_model(live):
    many, two = tried(live, "As it starts"), tried(live, "Two heads")
    assert two["loss"][-1] < many["loss"][-1] / 3
    assert two["from_reference"][-1] > 1.2 * many["from_reference"][-1]
    assert two["heads_needed"] > 1e11


@page.after("run")
def test_long_steps_turn_where_the_run_becomes_better_than_the_good_model(live):
    drawn = tried(live, "Long steps")
    turns, better = drawn["from_reference"].argmin(), np.argmax(drawn["loss"] < drawn["reference_loss"])
    assert 0 < abs(turns - better) <= 2 < len(drawn["loss"]) - turns
    assert drawn["largest_step"] < 1


@page.after("run")
def test_three_times_as_many_tokens_bring_the_good_model_near(live):
    base, more = tried(live, "As it starts"), tried(live, "Three times as many tokens")
    assert 2.8 < base["distance"] / more["distance"] < 3.2
    assert 300 < base["heads_needed"] / more["heads_needed"] < 1000
    assert more["loss"][-1] < base["loss"][-1] and more["guarantee"][-1] < base["guarantee"][-1]


@page.after("descent-end")
def test_the_loop_is_the_library_s_and_the_gradient_knows_the_way_at_every_step(data, path, room, theta):
    assert theta.loss(data.X, data.y) == pytest.approx(path.loss[-1], rel=1e-12)
    assert min(room) > 0


@page.after("heads-asked")
def test_the_heads_are_those_of_the_library_and_the_run_satisfies_every_hypothesis(B, D, data, good, start):
    asked = chain.heads_needed(D, chain.decoder_sizes(start)[0], 10, 1.0)
    assert abs((64 / 7 * D ** 2 * B) ** 2 / asked - 1) < 1e-9
    assert all(chain.conditions(start, good, data, 0.3, 1000).values())


@page.after("figure-broken")
def test_the_link_fails_at_first_and_then_holds(broken):
    fails = broken.lhs > broken.rhs
    until = int(fails.argmin())
    assert 0 < until < 10 and fails[:until].all() and not fails[until:].any()
    assert np.ptp(broken.lhs[:until]) < 0.01 and broken.rhs[0] < 0.1 * broken.lhs[0]


@page.after("figure-broken")
def test_at_zero_the_gradient_vanishes_with_any_number_of_heads():
    crossed = cases.crossed_signs()
    assert crossed.X[..., 0].tolist() == [[1, 1, -1, -1], [1, -1, 1, -1]] and crossed.y.tolist() == [1, -1]
    assert mha.MultiHeadAttention.zeros(8, 4, 2).loss_and_grad(crossed.X, crossed.y)[1].norm() == 0


@page.after("solution-stationary")
def test_a_small_gradient_means_a_small_loss(used):
    assert used.max() < 1


@page.after("solution-momentum")
def test_with_momentum_one_point_holds_at_every_step(falls, holds):
    assert sum(holds) == falls == 300


@page.after("solution-momentum")
def test_attention_turns_with_two_heads_and_not_with_a_trillion(data, descent, path, two):
    assert abs(path.attention_score[-1] - 0.2) < 1e-10
    assert mha.train(two, data, descent, steps=1000, record=2).attention_score[-1] > 0.3


@page.after("solution-gap")
def test_toward_its_reference_the_loss_is_convex(kappa, asked, ratios, worst):
    assert kappa < 0 < asked < worst / 10_000
    assert len(ratios) == 30
