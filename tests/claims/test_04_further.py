"""What the page multihead/04_further says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c04_convergence import cases, chain, starts
from mhabook.c04_convergence import statements as convergence
from page import Page

page = Page("multihead/04_further")


@page.after("data")
def test_theorem_1_asks_for_a_hundred_billion_heads(demand):
    assert 1.02e11 < demand.heads < 1.03e11


@page.after("many")
def test_that_many_heads_would_fill_nearly_a_hundred_terabytes(H, demand, start):
    assert start.W[0].size + start.U[0].size == 119
    assert 0.9e14 < 119 * 8 * H < 1e14
    assert 0 < H - demand.heads < 0.01 * H


@page.after("figure-few-loss")
def test_all_four_runs_fit_and_two_heads_end_lower(H, runs):
    ends = last(runs, "loss")
    assert 5 < ends[H] / ends[2] < 6
    assert max(ends.values()) < 0.02


@page.after("figure-few-loss")
def test_more_heads_end_a_little_higher(runs):
    ends = [*last(runs, "loss").values()]
    assert ends == sorted(ends)


@page.after("figure-few-loss")
def test_few_heads_look_and_many_do_not(H, runs):
    scores = last(runs, "attention_score")
    assert round(scores[2], 2) == 0.38
    assert round(scores[20], 2) == 0.23
    assert abs(scores[H] - 0.2) < 1e-11


@page.after("figure-few-loss")
def test_no_head_of_the_large_run_moves_far_and_together_they_do(H, path, start):
    moved = chain.head_distance(path[-1], start)
    assert round(moved * 1e5, 3) == 2.870
    assert round((path[-1] - start).norm(), 2) == 9.21
    assert round((1.03e11 ** 0.5) * 2.870e-5, 2) == 9.21


@page.after("figure-promise")
def test_two_trillion_heads_satisfy_every_hypothesis(K, chained, data, descent, large, toward):
    assert chain.ball_constants(large, 1.0, toward.distance).kappa * toward.distance ** 2 <= 7 / 64
    assert descent.lr <= allowed_step(large, toward, chained, K)
    assert chained.reference_loss < 1 / K
    assert all(chain.conditions(large, toward.model, data, descent.lr, K).values())


@page.after("figure-promise")
def test_three_thousand_steps_ask_for_one_point_six_trillion_heads(K, data, toward):
    demand = convergence.sample_demand(data, K=K)
    assert round(demand.heads / 1e12, 1) == 1.6
    assert toward.largest_logit < demand.largest_logit


@page.after("figure-promise")
def test_the_promise_is_generous(chained, promised, steps):
    assert round(promised[99], 1) == 7.3
    assert steps[promised < np.log(2)][0] == 1049
    assert np.argmax(chained.loss < promised[-1]) == 59


@page.after("figure-promise")
def test_the_loss_stays_below_the_promise_at_every_step(chained, promised):
    assert (chained.loss[1:] < promised).all()
    assert chained.head_distance[-1] < 1e-5


# --- Prove: the chain -----------------------------------------------------------------------------------------


@page.after("demand")
def test_sampling_noise_enlarges_the_logits(data, demand, start):
    psi = start.U[0, 0]
    forward = 10 * abs(data.X.mean(axis=1) @ psi).max()
    assert round(forward, 3) == 0.271
    assert round(10 * 0.2 ** 2 / 2, 12) == 0.2
    assert abs(demand.largest_logit / (forward * np.sqrt(2 * np.log(2 / 0.05))) - 1) < 1e-12
    assert abs(demand.decoder / (10 ** 0.5 * np.linalg.norm(psi)) - 1) < 1e-12


@page.after("demand")
def test_the_coins_of_the_run_leave_smaller_logits_than_the_bound(data, demand, start):
    assert abs(start(data.X)).max() < demand.largest_logit


@page.after("demand")
def test_the_run_has_the_heads_and_the_step_that_the_theorem_wants(data, demand, descent, start):
    toward = chain.reference_along(start, starts.mixture_witness(data, start.copies), data, 100)
    assert all(chain.conditions(start, toward.model, data, descent.lr, 100).values())
    assert toward.distance < demand.distance


@page.after("demand")
def test_both_demands(demand):
    assert round(demand.heads / 1e11, 2) == 1.03
    assert round(demand.fewer_heads / 1e7, 1) == 6.0
    assert round(demand.heads / demand.fewer_heads, -2) == 1700


@page.after("demand")
def test_the_root_mean_square_keeps_rho_small(demand, start):
    assert round(chain.ball_constants(start, 1.0, demand.distance).rho, 1) == 3.0
    assert chain.steepness(10, 1.0, demand.decoder + 5 * demand.distance) ** 2 / 4 > 10_000


@page.after("demand")
def test_with_fewer_heads_the_step_is_shorter_and_the_reference_near_enough(demand, start):
    assert demand.distance / demand.fewer_heads ** 0.5 < 0.002
    assert round(chain.head_constants(start, 1.0).rho, 1) == 4.8


@page.after("figure-demand")
def test_demands_grow_like_the_sixth_and_the_fourth_power(asked, demand):
    (six, four) = (f(100, demand.decoder, 10, 1.0) / f(50, demand.decoder, 10, 1.0) for f in asked.values())
    assert 62 < six < 64
    assert abs(four - 16) < 1e-9


# --- Check it by number ---------------------------------------------------------------------------------------


@page.after("check-links")
def test_no_link_breaks_and_none_is_tight(links):
    slack = {name: (round(link.slack.min(), 2), round(link.slack.max(), 2)) for name, link in links.items()}
    assert all((link.lhs < link.rhs).all() for link in links.values())
    assert slack["descent"] == (0.50, 0.50)
    assert slack["one point"][0] == 0.77
    assert slack["rate"] == (0.88, 1.00)
    assert slack["bounded iterates"] == (0.5, 0.8)


@page.after("check-links")
def test_the_constants_leave_room(large, toward):
    assert 4 * chain.ball_constants(large, 1.0, toward.distance).kappa * toward.distance ** 2 < 0.31


@page.after("check-links")
def test_every_statement_holds_and_its_twin_fails():
    for id in ("lemma-descent", "lemma-one-point", "lemma-regret", "lemma-bounded-iterates", "thm-1-training",
               "thm-1-fewer-heads", "lemma-linearization", "lemma-reference", "cor-2-mixture", "prop-groups"):
        assert mhabook.ledger[id].check(1).holds, id
        assert not mhabook.ledger[id].twin(1).holds, id


@page.after("check-links")
def test_four_statements_are_nearly_attained():
    for id in ("lemma-descent", "lemma-one-point", "lemma-linearization"):
        assert 0 < nearest(id).slack < 0.004
    assert 0 < nearest("lemma-reference").slack < 0.054


@page.after("check-links")
def test_the_table_of_least_unused_shares_is_the_ledger_s():
    for id, share in (("lemma-regret", 0.25), ("lemma-bounded-iterates", 0.18), ("thm-1-training", 0.26),
                      ("thm-1-fewer-heads", 0.19), ("cor-2-mixture", 0.63)):
        assert round(nearest(id).slack, 2) == share, id


@page.after("check-links")
def test_the_nearest_claims_are_the_distances_where_the_table_says_so():
    assert nearest("lemma-bounded-iterates").statement == "‖θ_k − θ‖ ≤ 2D₀"
    assert nearest("thm-1-fewer-heads").statement == "‖θ_k − θ‖ ≤ 2D₀"


@page.after("check-links")
def test_a_convex_loss_leaves_a_quarter_of_the_promise():
    """D₀²/(2ηK) + L(θ) ≤ ¾ [(2/3)D₀²/(ηK) + (5/3)L(θ) + L₀/(3K)], with equality in the first term."""
    assert abs(0.75 * chain.guarantee(1.0, 0.0, 0.0, 1.0, 1) - 0.5) < 1e-15
    assert 0.75 * chain.guarantee(0.0, 1.0, 0.0, 1.0, 1) > 1


@page.after("practice-table")
def test_the_new_data_set_is_that_of_the_section_on_saddles():
    crossed = cases.crossed_signs()
    assert crossed.X[..., 0].tolist() == [[1, 1, -1, -1], [1, -1, 1, -1]]
    assert crossed.y.tolist() == [1, -1]


@page.after("practice-table")
def test_in_all_six_cases_the_hypothesis_fails_by_far(practice):
    assert all(10_000 < product / (7 / 16) < 1e9 for _, product, _ in practice.values())


@page.after("practice-table")
def test_distances_and_the_rate_hold_everywhere(practice):
    assert all(tuple(fails.values())[3:] == (0, 0) for _, _, fails in practice.values())


@page.after("practice-table")
def test_two_cases_fail_nowhere(practice):
    assert failures(practice, "one head from zero, mixture") == (0, 0, 0, 0, 0)
    assert failures(practice, "2 heads, first phase") == (0, 0, 0, 0, 0)


@page.after("practice-table")
def test_one_point_and_regret_fail_twice_under_noise_and_more_often_at_the_saddle(practice):
    assert failures(practice, "one head from zero, noise 1.5")[1:3] == (2, 2)
    assert failures(practice, "1 small random head, signs")[1:3] == (7, 11)


@page.after("practice-table")
def test_descent_fails_at_first_with_four_random_heads(practice):
    for name, fails, rises in ("4 random heads, mixture", 5, 0), ("4 random heads, digits", 19, 5):
        link = chain.descent_link(practice[name][0])
        assert failures(practice, name)[:3] == (fails, 0, 0)
        assert (link.lhs > link.rhs)[:fails].all()
        assert (link.rhs < 0).sum() == (link.rhs[:fails] < 0).sum() == rises


@page.after("practice-table")
def test_few_heads_keep_the_promise_and_stay_near(data, descent, pairs, promised, toward):
    pair, alone = mha.MultiHeadAttention(pairs[0].W, pairs[0].U), mha.MultiHeadAttention.zeros(1, 10, 7)
    for few_heads in (pair, alone):
        long = mha.train(few_heads, data, descent, steps=3000, record=3001)
        assert len(long.steps) == 3001
        assert (long.loss[1:] < promised).all()
        assert max((model - few_heads).norm() for model in long.models) < 3 * toward.distance


# --- Move the sliders -----------------------------------------------------------------------------------------


@page.after("live-theory")
def test_the_formula_falls_below_log_2_near_step_880(live):
    assert 870 < 1000 * told(live)[1] / np.log(2) < 880  # the formula is nearly proportional to 1/k


@page.after("live-theory")
def test_four_times_as_many_relevant_tokens_ask_for_a_3500th(live):
    base, relevant = told(live), told(live, zeta=0.8, lr=0.1, H=10 ** 9)
    assert 3400 < base[3] / relevant[3] < 3600


@page.after("live-theory")
def test_relevant_tokens_bring_the_formula_down_most(live):
    base, allowed, slow = told(live), told(live, zeta=0.6, lr=0.1), told(live, zeta=0.8, lr=0.03)
    assert 0.3 < allowed[1] / base[1] < 0.36
    assert allowed[4] > 0.1 > slow[4] > 0.03
    assert allowed[1] < slow[1] < base[1]


@page.after("live-theory")
def test_only_few_heads_change_the_curves(live):
    base, by_H = told(live), {heads: told(live, H=heads) for heads in (2, 100, 1000, 10 ** 6)}
    assert 5 < base[0] / by_H[2][0] < 6
    assert round(by_H[2][2], 2) == 0.38
    assert by_H[100][2] > 0.205
    assert by_H[1000][2] < 0.201
    assert all(abs(each[1] / base[1] - 1) < 3e-4 for each in by_H.values())


@page.after("live-theory")
def test_the_allowed_step_falls_with_few_heads(live):
    many, two = told(live), told(live, H=2)
    assert 2800 < many[4] / two[4] < 3000
    assert round(two[3] / 1e11, 1) == 4.3


@page.after("live-theory")
def test_longer_patterns_do_not_help(live):
    base, long = told(live), told(live, S=2.0)
    assert round(long[4], 3) == 0.006
    assert long[3] > 6 * base[3]


@page.after("explore")
def test_the_demand_turns_up_again(demanded):
    asked = {trace.name: np.array(trace.y, dtype=float) for trace in demanded().data}
    theorem_1, fewer = asked["training theorem"], asked["fewer heads"]
    shares = np.arange(1, 10) / 10
    assert np.allclose(theorem_1, [convergence.mixture_demand(zeta=zeta).heads for zeta in shares], rtol=1e-12)
    assert np.allclose(fewer, [convergence.mixture_demand(zeta=zeta).fewer_heads for zeta in shares], rtol=1e-12)
    assert 0 < theorem_1.argmin() < 8
    assert 0 < fewer.argmin() < 8


# --- Where it breaks ------------------------------------------------------------------------------------------


@page.after("twin")
def test_the_twin_has_one_head_where_6500_would_be_needed():
    lonely = starts.saddle(220, 0.37, 0.35, 0.17)
    assert lonely["start"].sizes[0] == 1
    assert round(chain.heads_needed(lonely["reference"].norm(), 0.0, 4, 0.17), -2) == 6500
    assert not mhabook.ledger["thm-1-training"].twin(seed=0).holds


@page.after("twin")
def test_the_promise_of_a_hundred_steps_says_less_than_log_2(data, descent, path, start):
    hundred = chain.reference_along(start, starts.mixture_witness(data, start.copies), data, 100)
    promise = chain.guarantee(hundred.distance, hundred.model.loss(data.X, data.y), path.loss[0], descent.lr, 100)
    assert round(float(promise), 1) == 2.6


@page.after("figure-frozen")
def test_attention_moves_like_one_over_h(data, descent, turned):
    more = {2 * half: mha.train(starts.first_phase_groups(data, (half, half)), data, descent, steps=1000,
                                record=2).attention_score[-1] - 0.2 for half in (1000, 50_000)}
    products = {heads: heads * change for heads, change in (turned | more).items()}
    assert all(0.62 < products[heads] < 0.65 for heads in products if heads >= 200)
    assert round(products[2], 2) == 0.37


# --- Exercises ------------------------------------------------------------------------------------------------


@page.after("solution-begin")
def test_the_promise_begins_twice_as_late_with_fewer_heads(found, start):
    assert [steps for steps, _ in found.values()] == [731, 1446]
    assert found[0.2][1] < found[0.33][1]
    assert round(chain.head_constants(start, 1.0).rho, 1) == 4.8
    assert round(1 / chain.head_constants(start, 1.0).rho, 2) == 0.21


@page.after("solution-share")
def test_the_powers_of_the_share_stay_below_six(logits, powers):
    assert (powers < 6).all()
    assert (np.diff(powers) > 0).all()
    assert powers.round(1).tolist() == [2.4, 4.8, 5.7]
    assert round(logits[0], 1) == 4.3
    assert round(0.5 + np.log(100), 1) == 5.1


@page.after("solution-share")
def test_half_the_share_asks_for_forty_times_the_heads():
    whole, half = convergence.mixture_demand(), convergence.mixture_demand(zeta=0.1)
    assert 40 < half.heads / whole.heads < 43
    assert round(half.distance) == 23
