"""What the page multihead/04_why_training_cannot_get_lost says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import chain
from mhalib.theory import convergence
from mhalib.theory import starts
from claims.page import Page

page = Page("multihead/04_why_training_cannot_get_lost")


@page.after("few")
def test_few(H, demand, ends, path, runs, scores, start):
    moved = {heads: chain.head_distance(run[-1], run[0]) for heads, run in runs.items()}
    assert 1.10e11 < demand.heads < 1.12e11 and 119 * 8 * H > 1e14 and start.W[0].size + start.U[0].size == 119
    assert round(ends[2], 4) == 0.0028 and round(ends[H], 4) == 0.0155 and 5 < ends[H] / ends[2] < 6
    assert round(scores[2], 2) == 0.38 and round(scores[20], 2) == 0.23 and abs(scores[H] - 0.2) < 1e-11
    assert round(moved[H] * 1e5, 3) == 2.765 and round((path[-1] - start).norm(), 2) == round(H ** 0.5 * 2.765e-5, 2) == 9.21


@page.after("reference")
def test_reference(K, chained, descent, large, promised, steps, toward):
    constants = chain.ball_constants(large, 1.0, toward.distance)
    allowed = chain.largest_step(constants, toward.distance, chained.reference_loss, chained.loss[0], K)
    assert constants.kappa * toward.distance ** 2 <= 7 / 64 and descent.lr <= allowed and chained.reference_loss < 1 / K
    assert round(promised[99], 1) == 7.3 and steps[promised < np.log(2)][0] == 1049
    assert round(promised[-1], 2) == 0.24 and round(chained.loss[-1], 4) == 0.0051
    assert np.argmax(chained.loss < promised[-1]) == 59


@page.after("promise-numbers")
def test_promise_numbers(chained, data, descent, needed, path, start):
    assert round(needed / 1e12, 1) == 1.0 and needed < 2e12
    hundred = chain.reference_along(start, starts.mixture_witness(data, start.copies), data, 100)
    promise_100 = chain.guarantee(hundred.distance, hundred.model.loss(data.X, data.y), path.loss[0], descent.lr, 100)
    assert round(float(promise_100), 1) == 2.6 and chained.head_distance[-1] < 1e-5


@page.after("figure-demand")
def test_demand_numbers(asked, demand, start):
    rho = chain.ball_constants(start, 1.0, demand.distance).rho
    assert chain.steepness(10, 1.0, demand.decoder + 5 * demand.distance) ** 2 / 4 > 10_000 and round(rho, 1) == 3.0
    by_distance = {name: [f(D, demand.decoder, 10, 1.0) for D in (50, 100)] for name, f in asked.items()}
    assert 62 < np.divide(*by_distance["Theorem 1"][::-1]) < 64 and abs(np.divide(*by_distance["fewer heads"][::-1]) - 16) < 1e-9
    assert round(demand.distance) == 13 and 1700 < demand.heads / demand.fewer_heads < 1800 and round(demand.fewer_heads / 1e6) == 63
    assert demand.distance / demand.fewer_heads ** 0.5 < 0.002 and round(chain.head_constants(start, 1.0).rho, 1) == 4.8
    half = convergence.mixture_demand(zeta=0.1)
    assert round(convergence.mixture_demand(n=1).heads / 1e10, 1) == 8.4
    assert 30 < half.heads / demand.heads < 35 and round(half.distance) == 24


@page.after("check-links")
def test_check_links_numbers(constants, links, toward):
    slack = {name: (round(link.slack.min(), 2), round(link.slack.max(), 2)) for name, link in links.items()}
    assert all((link.lhs < link.rhs).all() for link in links.values())
    assert slack["descent"] == (0.50, 0.50) and slack["one point"][0] == 0.77 and slack["rate"] == (0.88, 1.00)
    assert slack["bounded iterates"] == (0.5, 0.8) and 4 * constants.kappa * toward.distance ** 2 < 0.31
    for statement in ("lemma-descent", "lemma-one-point", "lemma-regret", "lemma-bounded-iterates", "thm-1-training",
                      "thm-1-fewer-heads", "lemma-linearization", "lemma-reference", "cor-2-mixture", "prop-groups"):
        assert mha.ledger[statement].check(1).holds and not mha.ledger[statement].twin(1).holds, statement


@page.after("practice-table")
def test_practice_promise(data, descent, pairs, promised, toward):
    pair, alone = mha.MultiHeadAttention(pairs[0].W, pairs[0].U), mha.MultiHeadAttention.zeros(1, 10, 7)
    for few_heads in (pair, alone):
        long = mha.train(few_heads, data, descent, steps=3000, record=3001)
        assert len(long.steps) == 3001 and (long.loss[1:] < promised).all()
        assert max((model - few_heads).norm() for model in long.models) < 3 * toward.distance


@page.after("practice-table")
def test_practice_numbers(practice):
    table = {name: tuple(fails.values()) for name, (_, _, fails) in practice.items()}
    assert all(10_000 < product / (7 / 16) < 1e9 for _, product, _ in practice.values()) and all(row[3:] == (0, 0) for row in table.values())
    assert table["one head from zero, mixture"] == table["2 heads, first phase"] == (0, 0, 0, 0, 0)
    assert table["one head from zero, noise 1.5"][1:3] == (2, 2) and table["1 small random head, signs"][1:3] == (7, 11)
    for name, fails, rises in ("4 random heads, mixture", 5, 0), ("4 random heads, digits", 19, 5):
        link = chain.descent_link(practice[name][0])
        assert (link.lhs > link.rhs)[:fails].all() and (link.rhs < 0).sum() == (link.rhs[:fails] < 0).sum() == rises
    assert table["4 random heads, mixture"][:3] == (5, 0, 0) and table["4 random heads, digits"][:3] == (19, 0, 0)


@page.after("live-theory-numbers")
def test_live_theory_numbers(told):
    base, relevant = told(), told(zeta=0.8, lr=0.1, H=10 ** 9)
    assert 870 < 1000 * base[1] / np.log(2) < 880  # the formula is nearly proportional to 1/k
    assert round(base[1], 2) == 0.61 and round(base[3] / 1e11, 1) == 4.3 and round(base[4], 2) == 0.32
    assert 3400 < base[3] / relevant[3] < 3600 and round(relevant[3] / 1e8, 1) == 1.2 and round(relevant[1], 2) == 0.11
    allowed, slow = told(zeta=0.6, lr=0.1), told(zeta=0.8, lr=0.03)
    assert round(allowed[4], 2) == 0.14 and round(relevant[4], 3) == 0.094 and slow[4] > 0.03
    assert [round(one[1], 2) for one in (allowed, slow)] == [0.20, 0.38]


@page.after("live-theory-numbers")
def test_sliders_by_heads(base, told):
    by_H = {heads: told(H=heads) for heads in (2, 100, 1000, 10 ** 6)}
    assert round(by_H[2][0], 4) == 0.0032 and round(base[0], 4) == 0.0171 and round(by_H[2][2], 2) == 0.38
    assert all(abs(each[1] / base[1] - 1) < 3e-4 for each in by_H.values())
    assert round(by_H[100][2], 3) == 0.206 and by_H[1000][2] < 0.201 and round(by_H[2][4] * 1e4, 1) == 1.1
    assert round(told(S=2.0)[4], 3) == 0.006 and told(S=2.0)[3] > 6 * base[3]


@page.after("figure-broken")
def test_plateau_numbers(broken, crossed, halves):
    assert halves == sorted(halves) and np.ptp(np.diff(halves)) <= 1
    lonely = starts.saddle(220, 0.37, 0.35, 0.17)
    assert round(chain.heads_needed(lonely["reference"].norm(), 0.0, 4, 0.17), -2) == 6500
    assert round(broken.rhs[0], 3) == 0.015 and np.ptp(broken.lhs[:7]) < 0.01
    assert (broken.lhs[:7] > broken.rhs[:7]).all() and (broken.lhs[7:] < broken.rhs[7:]).all()
    crossed_zero = mha.MultiHeadAttention.zeros(8, 4, 2).loss_and_grad(crossed.X, crossed.y)[1]
    assert crossed_zero.norm() == 0 and halves == [8, 16, 25, 33]


@page.after("frozen")
def test_frozen(data, descent, scores, turned):
    for half in (1000, 50_000):
        pair = starts.first_phase_groups(data, (half, half))
        scores[2 * half] = mha.train(pair, data, descent, steps=1000, record=2).attention_score[-1]
    products = {heads: heads * change for heads, change in turned.items()}
    assert all(0.62 < products[heads] < 0.65 for heads in products if heads >= 200) and round(products[2], 2) == 0.37


@page.after("solution-stationary")
def test_solution_stationary(used):
    assert used.max() < 1


@page.after("solution-begin")
def test_solution_begin(found, start):
    assert [steps for steps, _ in found.values()] == [729, 1443]
    assert round(chain.head_constants(start, 1.0).rho, 1) == 4.8 and round(1 / chain.head_constants(start, 1.0).rho, 2) == 0.21


@page.after("solution-share")
def test_solution_share(powers):
    assert (powers < 6).all() and (np.diff(powers) > 0).all() and powers.round(1).tolist() == [1.3, 4.3, 5.5]


@page.after("solution-momentum")
def test_solution_momentum(falls, holds):
    assert sum(holds) == falls.sum() == 300


@page.after("solution-gap")
def test_solution_gap(kappa, needed_kappa, worst):
    assert kappa < 0 and 0.0018 < needed_kappa < 0.0019 and worst > 10_000 * needed_kappa
