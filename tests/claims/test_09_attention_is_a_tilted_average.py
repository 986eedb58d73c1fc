"""What the page preconditioning/09_attention_is_a_tilted_average says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import finite_context
from mhalib.theory import tilting
from claims.page import Page

page = Page("preconditioning/09_attention_is_a_tilted_average")


@page.after("effective-tokens")
def test_means_numbers(data, effective, means, queries):
    at = {x: int(np.argmin(abs(queries[:, 0] - x))) for x in (-5, 1, 2, 3, 5)}
    assert means[at[1], 0].round(2) == 0.95 and means[at[2], 0].round(2) == 1.82 and means[at[5], 0].round(2) == 2.98
    assert data.x.max().round(2) == 3.18 and data.x.min().round(2) == -3.18
    assert effective[[at[1], at[2], at[3]]].round(0).tolist() == [389, 53, 11]
    assert (1000 * np.exp(-np.array([1, 4, 9]))).round(1).tolist() == [367.9, 18.3, 0.1]
    assert [round(1 / finite_context.query_error(1000, tau)[1]) for tau in (1, 2, 3)] == [371, 34, 7]


@page.after("ledger")
def test_ledger_numbers(checks, names):
    assert all(check.holds for check in checks) and not any(mha.ledger[name].twin(0).holds for name in names)


@page.after("z-scores")
def test_z_scores_numbers(VS, ns, z):
    assert min(map(np.min, z.values())) > -3.5 and max(map(np.max, z.values())) < 3.5 and len(VS) * len(ns) == 66


@page.after("figure-slopes")
def test_slopes_numbers(VS, errors, measured, ns, sizes, slope_of, spread, true):
    local = {v: np.diff(np.log(true[v])) / np.diff(np.log(sizes)) for v in VS}
    derived = {v: tilting.exponent(v) for v in VS}
    assert sizes[10] == 1e6 and sizes[-1] == 1e60 and len(ns) == 11
    assert [round(local[v][9], 3) for v in VS] == [-0.998, -0.894, -0.791, -0.601, -0.403, -0.27]
    assert [round(local[v][-1], 3) for v in VS] == [-1.0, -0.987, -0.842, -0.614, -0.368, -0.206]
    assert [round(derived[v], 3) for v in VS] == [-1.0, -1.0, -0.846, -0.618, -0.372, -0.207]
    assert all(abs(measured[v] - slope_of(true[v][:11])) < 4 * spread[v] for v in VS)
    assert max(abs(local[v][-1] - derived[v]) for v in VS) < 0.0135
    assert round(0.5 ** (1 / slope_of(true[2.0][:11]))) == 11 and round(0.5 ** (1 / slope_of(true[0.5][:11]))) == 2
    typical = {v: slope_of(np.median(errors[v], axis=0)) for v in VS}
    assert all(typical[v] < slope_of(true[v][:11]) for v in VS[1:])


@page.after("figure-scale")
def test_scale_numbers(CS, best, cost, fresh, theory):
    average = dict(zip(CS.tolist(), cost.mean(axis=1).round(4).tolist(), strict=True))
    assert [average[c] for c in (0.5, 1.0, 2.0, 5.0, 16.0)] == [0.1205, 0.0277, 0.0074, 0.0178, 0.1605]
    assert CS[cost.mean(axis=1).argmin()] == 2.25 and round(1 / best, 2) == 0.44 and round(best, 2) == 2.27
    assert abs(fresh / cost.mean(axis=1) - 1).max() < 0.025
    ratio = dict(zip(CS.tolist(), (cost.mean(axis=1) / theory).round(2).tolist(), strict=True))
    assert ratio[1.5] == 0.27 and ratio[2.25] == 0.88 and ratio[16.0] == 0.88
    assert round(cost[-1].std(ddof=1) / 20 ** 0.5, 3) == 0.017 and round(cost[CS == 2.25].mean() / cost[CS == 1.0].mean(), 2) == 0.26
    deviation = dict(zip(CS.tolist(), cost.std(axis=1, ddof=1).round(4).tolist(), strict=True))
    assert deviation[2.0] == 0.0021 and deviation[16.0] == 0.077 and cost.min(axis=1)[CS == 2.25] < 0.0082 < cost.max(axis=1)[CS == 2.25]


@page.after("live")
def test_live_numbers(live):
    plain, strong, many = live.drawn(), live.drawn(v=2.0), live.drawn(n=1024)
    flat = live.drawn(tokens="box")
    assert [round(case["right"][0], 2) for case in (plain, strong, many)] == [3.12, 1.56, 3.72]
    assert [round(case["two"]) for case in (plain, strong, many)] == [35, 12, 86]
    assert [round(case["two_expected"], 1) for case in (plain, strong, many)] == [2.3, 1.0, 18.8]
    assert np.round(plain["error"], 3)[[0, -1]].tolist() == [0.215, 0.013] and np.round(flat["error"], 2)[[0, 2, -1]].tolist() == [0.15, 0.11, 0.1]
    assert np.round(strong["error"], 2)[[0, -1]].tolist() == [1.07, 0.29] and round(1.0713 / 0.2928, 1) == 3.7


@page.after("other-tokens-table")
def test_other_tokens_numbers(drawn, found, limit):
    assert np.round([found[name][0] for name in drawn], 2).tolist() == [1.0, 0.84, 1.77, 15.17]
    assert np.round([found[name][1] for name in drawn]).tolist() == [36131, 54236, 3424, 2] and round(limit["uniform"], 3) == 0.844


@page.after("other-tokens-table")
def test_breaks_numbers():
    assert [round(np.sqrt(2 * np.log(size)), 1) for size in (1e3, 1e6)] == [3.7, 5.3]


@page.after("solution-queries")
def test_solution_queries(halves):
    assert [round(halves[v], 2) for v in (1.0, 2.0)] == [0.57, 1.02]


@page.after("solution-largest")
def test_solution_largest(shares):
    assert [round(value, 2) for value in shares.values()] == [0.57, 0.54, 0.52, 0.51]


@page.after("solution-open")
def test_solution_open(fresh, gaps, powers):
    assert gaps[250] > gaps[1000] > gaps[4000] > 0 and abs(powers + 0.25).max() < 0.04
    assert all(gaps[n] < fresh[n] for n in gaps) and gaps[250] < 0.65 * fresh[250]
