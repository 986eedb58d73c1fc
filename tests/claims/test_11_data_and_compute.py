"""What the page preconditioning/11_data_and_compute says, held against what its cells leave."""

import numpy as np
import pytest

from mhabook.c11_data_and_compute.scaling import slope
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


@page.after("law")
def test_the_late_factor_is_the_derived_one(shown, rho):
    limit = shown.path().excess_limit
    assert (limit[30] / limit[10]) ** (1 / 20) == pytest.approx(rho, rel=0.01)


@page.after("law-whole")
def test_the_runs_follow_the_law_from_the_eighth_step_on(shown, law):
    run = shown.path()
    for size in SIZES:
        share = run.curves[f"excess_{size}"] / law(run.steps, size)
        assert (share[:4] > 1.5).all()
        assert 0.65 < share[8:].min() <= share[8:].max() < 1.2
        assert 0.7 < share[-1] < 1


@page.after("buy")
def test_the_plan_is_what_the_library_says_and_reaches_its_target(target, plan, K, n, best, ends):
    assert (n[best], K[best]) == (plan.n, plan.steps)
    assert abs(np.mean(ends) - target) < 2 * np.std(ends, ddof=1) / 8 ** 0.5


@page.after("say-tenth")
def test_a_tenth_takes_ten_times_the_samples_and_a_few_more_steps(plan, tenth, rho):
    assert 9 < tenth.n / plan.n < 10
    assert abs(tenth.steps - plan.steps - np.log(10) / np.log(1 / rho)) < 3
    assert 100 < tenth.cost / plan.cost < 150


@page.after("figure-breaks")
def test_a_strong_target_has_no_constant(runs):
    weak, strong = (slope(runs.NS, runs.stored_runs("SA1", s)[:, :, 40]) for s in (0.4, 2.0))
    assert abs(weak.value + 1) < weak.error
    assert strong.value + 1 > 2 * strong.error
