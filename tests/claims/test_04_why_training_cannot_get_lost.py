"""What the page multihead/04_why_training_cannot_get_lost says, held against what its cells
leave."""

import numpy as np

import mhalib as mha
from mhabook.c04_convergence import cases, chain, idea
from page import Page

page = Page("multihead/04_why_training_cannot_get_lost")
CASES = ("Initial settings", "Two heads", "Large step size", "Three times as many tokens")


def tried(live, name):
    """What the figure draws after a press on one of its buttons."""
    values = next(case["values"] for case in live.spec["tries"] if case["label"] == name)
    return {curve: np.array(drawn) for curve, drawn in live.drawn(**values).items()}


@page.after("figure-plateau")
def test_a_start_a_hundred_times_smaller_rests_about_as_many_steps_longer(lost):
    halves = [int(np.argmax(run.loss < np.log(2) / 2)) for run in lost.values()]
    assert np.ptp(np.diff(halves)) <= 1 < np.diff(halves).min()


@page.after("run")
def test_the_loss_stays_far_below_the_formula_and_the_distance_falls_until_the_run_is_better(live):
    for name in CASES:
        drawn = tried(live, name)
        assert (10 * drawn["loss"] < drawn["guarantee"]).all()
        turns, end = drawn["from_reference"].argmin(), len(drawn["loss"]) - 1
        assert (np.diff(drawn["from_reference"])[:turns] < 0).all()
        better = (
            np.argmax(drawn["loss"] < drawn["reference_loss"]) if name == "Large step size" else end
        )
        assert abs(turns - better) <= 2 and (turns < end - 2) == (name == "Large step size")


@page.after("run")
def test_two_heads_go_elsewhere_and_more_tokens_bring_the_good_model_near(live):
    many, two, more = (
        tried(live, name)
        for name in ("Initial settings", "Two heads", "Three times as many tokens")
    )
    assert many["reference_loss"][0] < 1e-3
    assert many["steps"][many["guarantee"] < np.log(2)][0] > 800
    assert (
        two["loss"][-1] < many["loss"][-1]
        and two["from_reference"][-1] > many["from_reference"][-1]
    )
    assert min(many["heads_needed"], two["heads_needed"]) > 1e11
    assert all(more[name] < many[name] for name in ("distance", "heads_needed"))
    assert more["largest_step"] < 0.3 < many["largest_step"]
    assert all(more[name][-1] < many[name][-1] for name in ("loss", "guarantee"))


def test_the_drawn_curves_keep_to_the_curvature_of_the_example():
    assert idea.flat(idea.NEAR) > 0.8 - 0.01 > idea.THERE > idea.flat(idea.FAR)


@page.after("heads-asked")
def test_the_gradient_knows_the_way_and_the_run_satisfies_every_hypothesis(
    B, D, data, good, room, start, toward
):
    assert min(room) > 0
    assert toward.largest_logit < 1e-10
    asked = chain.heads_needed(D, chain.decoder_sizes(start)[0], 10, 1.0)
    assert abs((64 / 7 * D**2 * B) ** 2 / asked - 1) < 1e-9
    assert all(chain.conditions(start, good, data, 0.3, 1000).values())


@page.after("figure-broken")
def test_the_link_fails_at_first_and_then_holds_and_at_zero_the_gradient_vanishes(broken):
    fails = broken.lhs > broken.rhs
    assert fails[0] and not fails[fails.argmin() :].any()
    crossed = cases.crossed_signs()
    assert mha.MultiHeadAttention.zeros(8, 4, 2).loss_and_grad(crossed.X, crossed.y)[1].norm() == 0


@page.after("solution-momentum")
def test_with_momentum_one_point_holds_and_only_two_heads_turn(
    data, descent, falls, holds, path, two, used
):
    assert sum(holds) == falls == 300 and used.max() < 1
    assert abs(path.attention_score[-1] - 0.2) < 1e-10
    assert mha.train(two, data, descent, steps=1000, record=2).attention_score[-1] > 0.3


@page.after("solution-gap")
def test_toward_its_reference_the_loss_is_convex(kappa, ratios):
    assert kappa < 0 and len(ratios) == 30
