"""What the page preconditioning/11_data_and_compute says, held against what its cells leave."""

import numpy as np
from mhalib.theory import data_and_compute as theory
from mhalib.theory import scaling
from mhalib.theory.tilting import exponent
from mhalib.theory.tilting import mean_excess
from claims.page import Page

page = Page("preconditioning/11_data_and_compute")


@page.after("figure-one")
def test_one_numbers(everything, path):
    assert path.excess[0] == everything.excess[0] and everything.excess[50] < 1e-6
    behind = path.excess / everything.excess
    assert 3 < behind[1] < 4 and behind[3:16].max() < 1.5 and behind[20].round(1) == 2.0 and behind[50] > 1e8
    assert path.effective_tokens[0].round() == 45 and path.excess[50] > 0.9 * path.excess[30] > 0.002


@page.after("floors")
def test_floors_numbers(NS, means, stored_runs):
    assert (NS * means[:, 50]).round(2).tolist() == [1.00, 1.28, 1.04, 0.97, 1.03]
    assert means[[0, 2, 4], 50].round(5).tolist() == [0.00399, 0.00104, 0.00026]  # reference: 3.8e-3, 1.2e-3, 3.0e-4
    assert stored_runs("SA2", 0.4)[:, 1, 50].max() * 500 == stored_runs("SA2", 0.4)[2, 1, 50] * 500 and round(stored_runs("SA2", 0.4)[2, 1, 50] * 500, 1) == 3.6
    assert means[2:, 10].min() > 0.009 and means[2:, 10].max() < 0.01 and means[0, 10].round(4) == 0.0126


@page.after("starts-numbers")
def test_starts_numbers(fell):
    assert fell == {2.0: [0.795, 0.8, 0.26, 0.25], 4.0: [0.873, 0.889, 0.559, 0.562], 8.0: [0.913, 0.941, 0.755, 0.766]}


@page.after("floor-table")
def test_floor_numbers(NS, S_MAX, ends, predicted, values_of):
    each = {s: (NS * ends[s]).mean(axis=1) for s in S_MAX}
    assert [round(float(predicted[s]), 3) for s in S_MAX] == [0.341, 1.035, 22.871]
    assert [round(float(each[s].mean()), 3) for s in S_MAX] == [0.329, 1.064, 23.648]
    assert all(abs(each[s].mean() - predicted[s]) < each[s].std(ddof=1) / 8 ** 0.5 for s in S_MAX)
    slopes = {s: scaling.slope(NS, ends[s]) for s in S_MAX}
    assert [round(slopes[s].value, 2) for s in S_MAX] == [-1.01, -1.03, -0.99] and all(abs(x.value + 1) < 2 * x.error for x in slopes.values())
    assert round(slopes[2.0].error, 3) == 0.035 and [theory.spectral_constant(values_of(s), 5, 5, 0.1).__round__(3) for s in S_MAX] == [0.322, 0.912, 19.8]
    assert round(predicted[0.4] / 0.125, 1) == 8.3


@page.after("unrenormalized-numbers")
def test_unrenormalized_numbers(NS, S_MAX, off, stored_runs, values_of):
    low = {s: scaling.slope(NS, stored_runs("SA1", s)[:, :, 40]) for s in S_MAX}
    assert [round(low[s].value, 2) for s in S_MAX] == [-1.05, -1.04, -0.77] and [round(low[s].error, 2) for s in S_MAX] == [0.07, 0.09, 0.11]
    assert (round(off.value, 2), round(off.error, 2)) == (-0.34, 0.02) and round(exponent(2 ** 0.5), 3) == -0.366
    ended, began = (NS * stored_runs("SA1", 2.0)[:, :, 40]).mean(axis=0), (NS * stored_runs("SA1", 2.0)[:, :, 0]).mean(axis=0)
    assert ended.round().tolist() == [93, 132, 172, 140, 201] and began.min() > 18 and began.max() < 26
    assert abs((NS * stored_runs("SA1", 0.4)[:, :, 40]).mean() - 1.288) < 0.2 and theory.floor_constant(values_of(0.4), 5, 5, 0.1).__round__(3) == 1.288
    assert (NS * stored_runs("SA1", 0.4)[:, :, 40]).mean().round(2) == 1.26 and (NS * stored_runs("SA1", 0.2)[:, :, 40]).mean().round(2) == 0.37


@page.after("fit-numbers")
def test_fit_numbers(S_MAX, fits, law, predicted):
    assert [round(fits[s].law.factor, 2) for s in S_MAX] == [0.85, 0.85, 0.88] and all(found.misfit < 0.125 for found in fits.values())
    assert all(found.interval("factor")[0] < theory.slow_mean(4) < found.interval("factor")[1] for found in fits.values())
    assert all(found.interval("factor")[0] > 0.75 and found.interval("floor")[0] < predicted[s] < found.interval("floor")[1] for s, found in fits.items())
    assert round(4 * (1 - law.factor ** 0.5), 2) == 0.30 and (round(law.amplitude, 3), round(law.floor, 2)) == (0.037, 1.04)


@page.after("live-data")
def test_live_numbers(live):
    base, even, large, free, near = (live.drawn(**values) for values in (
        {}, {"kappa_M": 1.0}, {"s_max": 2.0}, {"s_max": 2.0, "radius": 1e9}, {"start": "spectral"}))
    assert np.array(even["excess_limit"])[10] < np.array(base["excess_limit"])[10] / 200 and np.array(even["excess_320"])[-1] > 1.5 * np.array(base["excess_320"])[-1]
    assert np.array(free["excess_320"])[-1] > 5 * np.array(large["excess_320"])[-1]
    assert all(0.5 < near[name][-1] / near[name][0] < 2.1 for name in ("excess_320", "excess_160", "excess_80", "excess_40"))


@page.after("plan-numbers")
def test_plan_numbers(cheapest, law, real_K, real_n, share):
    assert cheapest.excess <= 1e-3 and abs(cheapest.n / real_n - 1) < 0.02 and abs(cheapest.steps - real_K) < 1
    tenth = scaling.plan(1e-4, law)
    assert (cheapest.n, cheapest.steps, round(share, 3)) == (1122, 40, 0.926)
    assert (tenth.n, tenth.steps, round(tenth.cost / cheapest.cost)) == (11061, 56, 136)


@page.after("limits-table")
def test_limits_numbers(CASES, derived, floors):
    large = {name: floor[:, 5:].mean(axis=1) for name, floor in floors.items()}
    apart = {name: (x.mean() - derived[name]) / (x.std(ddof=1) / 8 ** 0.5) for name, x in large.items()}
    settled = [name for name in CASES if "∞" not in name]
    assert all(abs(apart[name]) < 2.6 for name in settled) and all(0.9 < large[name].mean() / derived[name] < 1.2 for name in settled)
    single = [abs(floors[name].mean(axis=0)[5:] / derived[name] - 1).max() for name in settled]
    assert 0.27 < max(single) < 0.29
    assert np.median(floors["d = p = 10"][:, 0]) > 1000 and floors["as before"].mean(axis=0)[0].round() == 7 and floors["d = p = 10"].mean(axis=0)[0] > 7e4 and floors["d = p = 10"].mean(axis=0)[3].round(1) == 9.7


@page.after("solution-radius")
def test_solution_radius_numbers(NS, s, stored_runs):
    off = {}
    for r in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        v = s ** 0.5 * r / s[0] ** 0.5
        off[r] = mean_excess(np.diag(s / v), np.diag(v)) + (0.25 - theory.fitted_noise(s, v)) / 2
    seen = (NS * stored_runs("SA2", 2.0, "attention_excess")).mean(axis=0)
    assert [round(off[r], 1) for r in (0.1, 0.4, 0.5, 0.6)] == [562.8, 46.5, 47.1, 85.7] and seen[-1].round(1) == 42.6 and (np.diff(seen) > 0).all()


@page.after("solution-typical")
def test_solution_typical_numbers(typical):
    assert round(typical.law.factor, 2) == 0.77 and round(typical.law.floor, 2) == 1.06
