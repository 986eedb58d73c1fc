"""What the page preconditioning/11_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c09_tilting.statements import exponent, mean_excess
from mhabook.c11_data_and_compute import finite_descent, scaling
from mhabook.c11_data_and_compute import statements as theory
from mhabook.c11_data_and_compute.runs import values_of
from page import Page

page = Page("preconditioning/11_further")


@page.after("figure-one")
def test_the_samples_do_not_slow_the_run_down_and_end_it(everything, path):
    behind = path.excess / everything.excess
    assert behind[1] > 3 and behind[3:16].max() < 1.5
    assert path.excess[50] > 0.9 * path.excess[30] > 1e5 * everything.excess[50]


@page.after("floors")
def test_first_the_samples_hardly_help_and_at_the_end_they_halve(NS, means, stored_runs):
    assert means[0, 10] < 1.5 * means[1:, 10].min()
    ends = NS * means[:, 50]
    assert ends.max() < 1.35 * ends.min() and ends.argmax() == 1
    assert (500 * stored_runs("SA2", 0.4)[:, 1, 50]).max() > 3


@page.after("finite-table")
def test_the_gap_of_gradients_falls_and_its_bounds_are_far_above_it(found):
    for r in (0.2, 0.36):
        measured, from_data, before = np.array([found[r, n] for n in (250, 1000, 4000)]).T
        assert (measured[1:] < 0.6 * measured[:-1]).all()
        assert (from_data / measured > 500).all() and (from_data / measured < 2000).all()
        assert (before > 1000 * from_data).all()
    assert np.isinf(found[0.36, 250][2])
    family = values_of(0.1)
    assert found[0.36, 250][0] > found[0.2, 250][0]
    assert family[0] ** 0.5 + family[-1] ** 0.5 / 4 < 0.36
    assert 1e16 < finite_descent.enough_samples(family, 5, 0.1) < 1e17


@page.after("figure-starts")
def test_the_mean_over_starts_falls_more_slowly_than_the_median(starts):
    for kappa, nearest in {2.0: 0.01, 4.0: 0.02, 8.0: 0.03}.items():
        rows = starts.where(kappa=kappa)
        mean, median = rows["mean"].mean(axis=0), np.median(rows["median"], axis=0)
        late = (1 - 1 / kappa) ** 2
        assert abs((median[60] / median[50]) ** 0.1 - late) < 0.015
        assert (
            late
            < theory.slow_mean(kappa) - nearest
            < (mean[40] / mean[20]) ** (1 / 20)
            < theory.slow_mean(kappa)
        )


@page.after("predicted")
def test_the_first_order_is_late_for_larger_keys():
    """d = p = 1, SA1 from the spectral start, 400 runs on 100 samples: n times the excess, as
    shares of φ.

    The sign of the start, which LAPACK chooses, moves both means by a standard error.
    """
    means, errors = {}, {}
    for v in (0.5, 0.7):
        ends = []
        for seed in range(400):
            data = mha.data.linear_regression(
                n=100, d=1, p=1, s_max=v**2, kappa=1.0, kappa_M=1.0, seed=seed
            )
            start = mha.AttentionRegression.spectral(data)
            path = mha.train(start, data, mha.StructureAware(radius=np.inf), steps=6, record=[6])
            ends.append(100 * path.excess[-1] / theory.floor_constant([v**2], 1, 1, 0.1))
        means[v], errors[v] = np.mean(ends), np.std(ends) / 20
    assert abs(means[0.5] - 1) < 2 * errors[0.5]
    assert 0.55 < means[0.7] < 0.8
    assert means[0.7] < 1 - 3 * errors[0.7]


@page.after("floor-table")
def test_the_measured_floors_are_the_derived_ones(NS, S_MAX, ends, predicted):
    for s in S_MAX:
        each, slope = (NS * ends[s]).mean(axis=1), scaling.slope(NS, ends[s])
        assert abs(each.mean() - predicted[s]) < each.std(ddof=1) / 8**0.5
        assert abs(slope.value + 1) < 2 * slope.error
    assert 8 < predicted[0.4] / 0.125 < 8.5


@page.after("unrenormalized")
def test_without_renormalization_a_large_target_has_no_floor(NS, S_MAX, stored_runs, values_of):
    slopes = {s: scaling.slope(NS, stored_runs("SA1", s)[:, :, 40]) for s in S_MAX}
    for s in (0.2, 0.4):
        floor = (NS * stored_runs("SA1", s)[:, :, 40]).mean()
        assert abs(floor / theory.floor_constant(values_of(s), 5, 5, 0.1) - 1) < 0.2
        assert abs(slopes[s].value + 1) < slopes[s].error
    assert slopes[2.0].value + 1 > 2 * slopes[2.0].error
    began, ended = ((NS * stored_runs("SA1", 2.0)[:, :, k]).mean(axis=0) for k in (0, 40))
    assert abs(began / theory.spectral_constant(values_of(2.0), 5, 5, 0.1) - 1).max() < 0.35
    assert ended.min() > 3 * began.max() and 1.8 < ended[-1] / ended[0] < 2.5
    off = scaling.slope(NS, stored_runs("SA1", 2.0, "attention_excess"))
    assert abs(off.value - exponent(2**0.5)) < 2 * off.error


@page.after("fit-table")
def test_the_law_is_near_the_means_and_its_intervals_hold_what_is_derived(fits, predicted):
    for s, found in fits.items():
        low, high = found.interval("factor")
        assert 0.75 < low < theory.slow_mean(4) < high and found.misfit < 0.125
        low, high = found.interval("floor")
        assert low < predicted[s] < high


@page.after("live-data")
def test_the_three_changes_of_the_live_figure(live):
    base, even, near = live.drawn(), live.drawn(kappa_M=1.0), live.drawn(start="spectral")
    assert even["excess_limit"][10] < base["excess_limit"][10] / 200
    assert even["excess_320"][-1] > 1.5 * base["excess_320"][-1]
    large, free = live.drawn(s_max=2.0), live.drawn(s_max=2.0, radius=1e9)
    assert free["excess_320"][-1] > 5 * large["excess_320"][-1]
    assert all(
        0.5 < near[f"excess_{n}"][-1] / near[f"excess_{n}"][0] < 2.1 for n in (40, 80, 160, 320)
    )


@page.after("proportion")
def test_the_whole_plan_has_nearly_the_proportion_of_the_proposition(floor, rest, cheapest, law):
    assert abs(floor / rest / (2 * cheapest.steps * np.log(1 / law.factor)) - 1) < 0.1


@page.after("limits-table")
def test_the_floor_holds_beyond_the_family_and_not_with_few_samples(derived, floors):
    for name in derived:
        large = floors[name][:, 5:].mean(axis=1)
        if "∞" not in name:
            assert abs(large.mean() - derived[name]) < 2.6 * large.std(ddof=1) / 8**0.5
            assert 0.9 < large.mean() / derived[name] < 1.2
    many = floors["d = p = 10"]
    assert floors["as before"].mean(axis=0)[0] > 5 * derived["as before"]
    assert np.median(many[:, 0]) > 1000 and many.mean(axis=0)[3] > 2 * derived["d = p = 10"]


@page.after("solution-radius")
def test_the_error_of_the_predictions_rises_toward_the_formula(s, NS, stored_runs):
    v = s**0.5 * 0.5 / s[0] ** 0.5
    predicted = mean_excess(np.diag(s / v), np.diag(v)) + (0.25 - theory.fitted_noise(s, v)) / 2
    seen = (NS * stored_runs("SA2", 2.0, "attention_excess")).mean(axis=0)
    assert (np.diff(seen) > 0).all() and 0.85 < seen[-1] / predicted < 1
