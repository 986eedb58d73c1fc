"""What the page multihead/04_further says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c04_convergence import chain, starts
from page import Page

page = Page("multihead/04_further")


@page.after("many")
def test_the_heads_are_a_little_more_than_the_theorem_asks_for(H, demand):
    assert 0 < H - demand.heads < 0.01 * H


@page.after("figure-few-loss")
def test_more_heads_end_higher_and_do_not_look(H, runs):
    ends = [run.loss[-1] for run in runs.values()]
    assert ends == sorted(ends) and ends[-1] < 0.02
    assert runs[2].attention_score[-1] > 0.3
    assert abs(runs[H].attention_score[-1] - 0.2) < 1e-11


@page.after("figure-promise")
def test_two_trillion_heads_satisfy_every_hypothesis_and_keep_the_promise(
    K, chained, data, descent, large, promised, toward
):
    assert all(chain.conditions(large, toward.model, data, descent.lr, K).values())
    assert (chained.loss[1:] < promised).all()
    assert promised[999] > np.log(2)


@page.after("demand")
def test_fewer_heads_save_more_than_a_thousand_and_take_shorter_steps(demand, start):
    assert demand.heads > 1000 * demand.fewer_heads
    ball = chain.ball_constants(start, 1.0, demand.distance)
    assert ball.rho < 1 / 0.33 < chain.head_constants(start, 1.0).rho < 1 / 0.2
    assert chain.steepness(10, 1.0, demand.decoder + 5 * demand.distance) ** 2 / 4 > 2000 * ball.rho
    assert demand.distance / demand.fewer_heads**0.5 < 0.5


@page.after("check-links")
def test_no_link_breaks_and_none_is_tight(links):
    assert all(link.slack.min() > 0.45 for link in links.values())
    assert links["rate"].slack.min() > 7 / 8


def nearest(id):
    """The check of a statement that leaves least, on the instances built to meet it."""
    statement = mhabook.ledger[id]
    return min((statement.on(make()) for make in statement.extremal), key=lambda check: check.slack)


def test_four_links_are_nearly_attained_and_in_two_the_distance_from_the_reference_is_nearest():
    for id in ("lemma-descent", "lemma-one-point", "lemma-linearization", "lemma-reference"):
        assert nearest(id).slack < 0.06
    for id in ("lemma-bounded-iterates", "thm-1-fewer-heads"):
        assert nearest(id).statement == "‖θ_k − θ‖ ≤ 2D₀"


def test_a_convex_loss_leaves_a_quarter_of_the_promise():
    """D₀²/(2ηK) + L(θ) ≤ ¾ [(2/3)D₀²/(ηK) + (5/3)L(θ) + L₀/(3K)], with equality in the first
    term."""
    assert abs(0.75 * chain.guarantee(1.0, 0.0, 0.0, 1.0, 1) - 0.5) < 1e-15
    assert 0.75 * chain.guarantee(0.0, 1.0, 0.0, 1.0, 1) > 1


@page.after("practice-table")
def test_in_all_six_cases_the_hypothesis_fails_by_far_and_the_distances_and_the_rate_hold(practice):
    for _, product, fails in practice.values():
        assert 10_000 < product / (7 / 16) < 1e9
        assert (fails["bounded iterates"], fails["rate"]) == (0, 0)


@page.after("practice-table")
def test_descent_fails_at_first_with_four_random_heads_and_one_point_and_regret_in_two_cases(
    practice,
):
    for name, (_, _, fails) in practice.items():
        assert (fails["descent"] > 0) == name.startswith("4 random heads")
        assert (
            (fails["one point"] > 0)
            == (fails["regret"] > 0)
            == (name.endswith(("noise 1.5", "signs")))
        )


@page.after("practice-table")
def test_few_heads_keep_the_promise_and_stay_near(data, descent, pairs, promised, toward):
    for few in (
        mha.MultiHeadAttention(pairs[0].W, pairs[0].U),
        mha.MultiHeadAttention.zeros(1, 10, 7),
    ):
        long = mha.train(few, data, descent, steps=3000, record=3001)
        assert (long.loss[1:] < promised).all()
        assert max((model - few).norm() for model in long.models) < 3 * toward.distance


def told(live, **values):
    """The last loss, formula and score of the live figure at these settings, the demand, and the
    allowed step."""
    drawn = live.drawn(**values)
    assert (np.array(drawn["loss"]) <= drawn["guarantee"]).all()
    assert (np.array(drawn["from_start"]) <= drawn["limit"]).all()
    ends = (drawn[name][-1] for name in ("loss", "guarantee", "attention_score"))
    return *ends, drawn["heads_needed"], drawn["largest_step"]


@page.after("live-theory")
def test_relevant_tokens_bring_the_demand_and_the_formula_down_and_longer_patterns_do_not(live):
    base, relevant, long = told(live), told(live, zeta=0.8, lr=0.1, H=10**9), told(live, S=2.0)
    assert 0.8 * 4**6 < base[3] / relevant[3] < 4**6
    allowed, slow = told(live, zeta=0.6, lr=0.1), told(live, zeta=0.8, lr=0.03)
    assert allowed[4] > 0.1 > slow[4] > 0.03
    assert 0.3 * base[1] < allowed[1] < 0.36 * base[1] < slow[1] < base[1]
    assert long[4] < 0.1 * base[4] and long[3] > 5 * base[3]


@page.after("live-theory")
def test_only_few_heads_change_the_curves_and_they_are_allowed_shorter_steps(live):
    base, two, hundred = (told(live, H=heads) for heads in (10**12, 2, 100))
    assert base[0] > 5 * two[0] and base[2] < hundred[2] < two[2] < 0.4
    assert abs(two[1] / base[1] - 1) < 3e-4
    assert base[4] > 2000 * two[4] and two[3] > 1e11


@page.after("explore")
def test_the_demand_turns_up_again(demanded):
    for trace in demanded().data:
        asked = np.array(trace.y, dtype=float)
        assert 0 < asked.argmin() < 8


@page.after("twin")
def test_the_twin_has_one_head_where_thousands_would_be_needed():
    lonely = starts.saddle(220, 0.37, 0.35, 0.17)
    assert lonely["start"].sizes[0] == 1
    assert 1000 < chain.heads_needed(lonely["reference"].norm(), 0.0, 4, 0.17) < 10_000


@page.after("figure-frozen")
def test_attention_moves_like_one_over_h(turned):
    assert abs(200 * turned[200] / 0.63 - 1) < 0.05


@page.after("solution-begin")
def test_the_promise_begins_twice_as_late_with_fewer_heads(found):
    assert 1.9 < found[0.2][0] / found[0.33][0] < 2.1 and found[0.2][1] < found[0.33][1]


@page.after("solution-share")
def test_the_powers_of_the_share_grow_toward_six(logits, powers):
    assert (powers < 6).all() and (np.diff(powers) > 0).all()
    assert 4 < logits[0] < 0.5 + np.log(100)
