"""What the page preconditioning/11_data_and_compute says, held against what its cells leave."""

from dataclasses import replace

import numpy as np
import pytest

from mhabook.c11_data_and_compute import scaling
from mhabook.c11_data_and_compute import statements as theory
from page import Page

page = Page("preconditioning/11_data_and_compute")
SIZES = (40, 80, 160, 320)


def ends(run):
    """The mean excess at the end, for every number of samples."""
    return np.array([run.curves[f"excess_{n}"][-1] for n in SIZES])


@page.after("bought")
def test_all_fall_together_and_end_by_their_samples(shown):
    run = shown.path()
    early = [run.curves[f"excess_{n}"][5] for n in SIZES]
    assert max(early) < 1.6 * run.excess_limit[5]
    assert all(1.6 < ratio < 2.5 for ratio in ends(run)[:-1] / ends(run)[1:])
    assert run.excess_limit[-1] < ends(run).min() / 10


@page.after("bought")
def test_with_shorter_steps_more_samples_hardly_lower_the_excess(shown):
    run = shown.path(lr=0.2)
    assert 1 < ends(run)[2] / ends(run)[3] < 1.3
    assert run.excess_320[-1] < 0.9 * run.excess_320[-3]


@page.after("bought")
def test_most_of_the_floor_is_not_the_noise_of_the_targets(shown):
    assert (ends(shown.path(sigma=0.0)) > 0.6 * ends(shown.path())).all()


@page.after("bought")
def test_equal_directions_fall_faster_and_end_higher(shown):
    run, equal = shown.path(), shown.path(kappa_M=1.0)
    assert equal.excess_limit[15] < run.excess_limit[15] / 10
    assert (ends(equal) > 2 * ends(run)).all()


@page.after("bought")
def test_with_equal_directions_the_lowest_curve_dips_and_ends_below_the_formula(shown):
    equal = shown.path(kappa_M=1.0).excess_320
    assert (
        equal.min()
        < 0.8 * equal[-1]
        < equal[-1]
        < theory.floor_constant([0.4] * 3, 3, 3, 0.1) / 320
    )


@page.after("law")
def test_the_late_factor_is_the_derived_one(shown, rho):
    limit = shown.path().excess_limit
    assert (limit[30] / limit[10]) ** (1 / 20) == pytest.approx(rho, rel=0.01)


@page.after("one-direction-run")
def test_a_variance_a_tenth_too_large_leaves_a_layer_a_tenth_too_weak(ended):
    assert abs(1.1 * ended.A.item() * ended.B.item() / 0.1 - 1) < 0.02


@page.after("figure-law")
def test_over_many_draws_the_runs_follow_the_law_from_the_eighth_step_on(steps, drawn, law):
    for n, batches in drawn.items():
        share = batches / law(steps, n)
        assert (share.mean(axis=0)[:4] > 1.5).all()
        assert (abs(share.mean(axis=0)[8:] - 1) < 0.2).all()
        assert 0 < share[:, -1].mean() - 1 < 2 * share[:, -1].std(ddof=1) / len(share) ** 0.5


@page.after("figure-law")
def test_six_draws_may_end_below_the_law_or_above_it(shown, steps, drawn, law):
    assert all(ends(shown.path()) < law(30, np.array(SIZES)))
    assert any(drawn[320][:, -1] > law(30, 320))


@page.after("buy")
def test_the_plan_is_what_the_library_says_and_reaches_its_target(target, plan, K, n, best, ends):
    assert (n[best], K[best]) == (plan.n, plan.steps)
    assert abs(np.mean(ends) - target) < 2 * np.std(ends, ddof=1) / 8**0.5
    assert 0.3 < np.std(ends, ddof=1) / target < 0.8


@page.after("plan")
def test_the_floor_has_most_of_every_target_below_the_start(law):
    shares = [scaling.split(share * law.amplitude, law)[2] for share in (0.999, 0.5, 0.1, 0.01)]
    assert shares[0] > 0.7 and (np.diff(shares) > 0).all()


@page.after("say-tenth")
def test_a_tenth_takes_ten_times_the_samples_and_a_few_more_steps(plan, tenth, rho):
    assert 9 < tenth.n / plan.n < 10
    assert abs(tenth.steps - plan.steps - np.log(10) / np.log(1 / rho)) < 3


@page.after("figure-breaks")
def test_a_strong_target_is_not_level_though_its_runs_have_settled(ends_of, runs):
    weak, strong = ends_of[0.4], ends_of[2.0]
    assert weak.max() < 1.4 * weak.min() and strong[-1] > 1.8 * strong[0]
    late = runs.stored_runs("SA1", 2.0).mean(axis=0)
    assert (abs(late[:, 40] / late[:, 30] - 1) < 0.04).all()


@page.after("say-sixty")
def test_the_amplitude_varies_widely_and_costs_steps_rather_than_samples(amplitudes, law):
    assert amplitudes.min() < 0.06 and amplitudes.max() > 1e5
    plans = [scaling.plan(0.001, replace(law, amplitude=a)) for a in amplitudes]
    n, K = np.array([[plan.n, plan.steps] for plan in plans]).T
    assert n.max() < 1.06 * n.min() and K.max() > 3 * K.min()


@page.after("say-sixty")
def test_a_run_that_has_left_its_saddle_falls_by_the_factor_or_faster(falling, shown, rho):
    np.testing.assert_allclose(falling[0, :31], shown.path().excess_limit, rtol=1e-9)
    for run in falling:
        late = np.flatnonzero((run < 1e-4) & (run > 1e-8))
        if len(late) > 10:
            assert (run[late[-1]] / run[late[0]]) ** (1 / np.ptp(late)) < rho + 0.02
