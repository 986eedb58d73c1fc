"""What the page preconditioning/09_further says, held against what its cells leave."""

import numpy as np

from page import Page

page = Page("preconditioning/09_further")


@page.after("slopes-table")
def test_the_slopes_of_the_means_are_the_exact_ones_up_to_chance(errors, ns, true):
    assert len(ns) == 11
    for v in VS:
        assert abs(slope(ns, errors[v].mean(axis=0)) - slope(ns, true[v])) < 4 * spread(ns, errors[v])


@page.after("slopes-table")
def test_half_the_error_takes_twice_the_tokens_at_a_half_and_eleven_times_at_2(ns, true):
    assert round(0.5 ** (1 / slope(ns, true[0.5]))) == 2
    assert round(0.5 ** (1 / slope(ns, true[2.0]))) == 11


@page.after("slopes-table")
def test_the_median_falls_faster_than_the_mean(errors, ns, true):
    typical = {v: slope(ns, np.median(errors[v], axis=0)) for v in VS}
    assert all(typical[v] < slope(ns, true[v]) for v in VS[1:])


# --- the statements --------------------------------------------------------------------------------------------


@page.after("ledger")
def test_every_statement_holds_and_its_twin_fails(checks, names):
    assert all(check.holds for check in checks)
    assert not any(mhabook.ledger[name].twin(0).holds for name in names)


@page.after("ledger")
def test_the_page_names_every_statement_of_the_chapter(names):
    assert {*names} == {statement.id for statement in mhabook.ledger if statement.chapter == page.name}


@page.after("ledger")
def test_the_ledger_tries_twenty_random_instances_of_each():
    assert any("mhabook.ledger.rows(seeds=20)" in source(cell) for cell in code(read(BOOK / "ledger.ipynb")))


@page.after("ledger")
def test_rows_about_limits_draw_200000_tokens_or_take_up_to_1e40():
    assert tilting.effective.__defaults__[-1] == 200_000
    assert finite_context.MANY[-1] == 1e40


@page.after("z-scores")
def test_drawn_tokens_agree_with_the_integral_in_66_means(ns, z):
    assert len(VS) * len(ns) == 66
    assert min(map(np.min, z.values())) > -3.5
    assert max(map(np.max, z.values())) < 3.5


# --- how slowly the exponent comes -----------------------------------------------------------------------------


@page.after("figure-slopes")
def test_at_a_million_tokens_the_slopes_are_not_yet_the_derived_ones(sizes, true):
    assert sizes[10] == 1e6
    slopes = local_slopes(sizes, true)
    assert [round(slopes[v][9], 3) for v in VS] == [-0.998, -0.894, -0.791, -0.601, -0.403, -0.27]
    assert [round(tilting.exponent(v), 3) for v in VS] == [-1.0, -1.0, -0.846, -0.618, -0.372, -0.207]


@page.after("figure-slopes")
def test_at_1e60_tokens_the_slopes_are_within_0_014(sizes, true):
    assert sizes[-1] == 1e60
    slopes = local_slopes(sizes, true)
    assert [round(slopes[v][-1], 3) for v in VS] == [-1.0, -0.987, -0.842, -0.614, -0.368, -0.206]
    assert max(abs(slopes[v][-1] - tilting.exponent(v)) for v in VS) < 0.0135


@page.after("figure-slopes")
def test_from_1_4_on_the_error_falls_faster_than_its_exponent_says(sizes, true):
    slopes = local_slopes(sizes, true)
    assert all(slopes[v][9] < tilting.exponent(v) for v in VS if v >= 1.4)


# --- what a scale is worth -------------------------------------------------------------------------------------


@page.after("figure-scale")
def test_costs_are_least_between_two_ways_to_lose(CS, cost):
    mean = cost.mean(axis=1)
    half, one, best, far = (at_scale(CS, mean, c) for c in (0.5, 1.0, 2.25, 16.0))
    assert half > one > best < far
    assert round(best / one, 2) == 0.26


@page.after("figure-scale")
def test_the_measured_cost_is_least_next_to_the_best_scale_of_the_formula(CS, cost, half):
    best = tilting.best_scale(np.diag(half), np.diag(half))
    assert CS[cost.mean(axis=1).argmin()] == 2.25
    assert round(best, 2) == 2.27


@page.after("figure-scale")
def test_the_formula_is_late_near_the_threshold(CS, cost, scales):
    ratio = cost.mean(axis=1) / [scales.where(c=c)["theory"].mean() for c in CS]
    assert round(at_scale(CS, ratio, 1.5), 2) == 0.27
    assert round(at_scale(CS, ratio, 2.25), 2) == 0.88


@page.after("figure-scale")
def test_fresh_queries_pay_the_same_within_three_percent(CS, cost, scales):
    fresh = [scales.where(c=c)["fresh"].mean() for c in CS]
    assert abs(fresh / cost.mean(axis=1) - 1).max() < 0.025


# --- the live figure -------------------------------------------------------------------------------------------


@page.after("live")
def test_stronger_scores_move_the_edge_in_and_more_tokens_hardly_out(live):
    plain, strong, many = live.drawn(), live.drawn(v=2.0), live.drawn(n=1024)
    assert [round(case["right"][0] / plain["right"][0], 2) for case in (strong, many)] == [0.5, 1.2]
    assert [round(case["two"]) for case in (plain, many)] == [35, 86]


@page.after("live")
def test_the_error_falls_slowly_for_strong_scores(live):
    plain, strong = live.drawn()["error"], live.drawn(v=2.0)["error"]
    assert 16 < plain[0] / plain[-1] < 17
    assert 3.5 < strong[0] / strong[-1] < 4


@page.after("live")
def test_with_uniform_tokens_the_error_stays(live):
    first, _, *later = live.drawn(tokens="box")["error"]
    assert 0.1 < min(later) < max(later) < 0.11 < 0.15 < first


# --- where it breaks -------------------------------------------------------------------------------------------


@page.after("other-tokens-table")
def test_tokens_that_are_not_gaussian_have_other_means(drawn, found):
    assert np.round([found[name][0] for name in drawn], 2).tolist() == [1.0, 0.84, 1.77, 15.17]
    assert round(drawn["uniform"][1], 3) == 0.844


@page.after("other-tokens-table")
def test_of_tokens_with_outliers_few_are_effective_and_the_mean_is_near_the_largest(drawn, found):
    assert np.round([found[name][1] for name in drawn]).tolist() == [36131, 54236, 3424, 2]
    assert 0.9 < found["Student, 5 degrees"][0] / drawn["Student, 5 degrees"][0].max() < 1


@page.after("other-tokens-table")
def test_the_edge_of_the_tokens_is_at_3_7_and_5_3():
    assert [round(np.sqrt(2 * np.log(size)), 1) for size in (1e3, 1e6)] == [3.7, 5.3]


# --- solutions -------------------------------------------------------------------------------------------------


@page.after("solution-queries")
def test_half_of_the_error_lies_at_0_57_and_1_02(halves):
    assert round(halves[1.0], 2) == 0.57
    assert round(halves[2.0], 2) == 1.02
