"""What the page multihead/07_does_it_generalize says, held against what its cells leave."""

import numpy as np
import pytest

from mhabook.c07_generalization.runs import gap_runs, measured
from page import Page

page = Page("multihead/07_does_it_generalize")


def ended(live, **values):
    """Where the curves of the live figure end."""
    return {name: curve[-1] for name, curve in live.drawn(**values).items() if name != "steps"}


def each_doubling(name, step, start, sigma):
    """By what the median of the stored runs changes when the samples are doubled."""
    middle = np.median(measured(name, step, start, sigma), axis=0)
    return middle[1:] / middle[:-1]


@page.after("data")
def test_the_figure_is_the_run_above_it_and_its_run_without_the_sample_parts_early(live, path):
    np.testing.assert_allclose(live.path()[-1].U, path[-1].U, rtol=1e-9)
    drawn, end = live.drawn(), ended(live)
    early = {name: np.interp(50, drawn["steps"], drawn[name]) / end[name] for name in ("distance", "traveled")}
    assert early["distance"] > max(0.7, early["traveled"])
    assert 1 / 7.5 < end["distance"] / end["traveled"] < 1 / 6.5
    assert np.less_equal(drawn["own_loss"], drawn["left_loss"]).all()
    assert 0.8 < end["left_loss"] / end["held_out_loss"] < 1.25


@page.after("data")
def test_another_sample_matters_less_than_it_pushes_and_twice_the_samples_halve_nearly_all(live):
    first, other, many = ended(live), ended(live, left=0), ended(live, samples=40)
    assert other["pushed"] > 0.7 * first["pushed"] and other["distance"] < 0.4 * first["distance"]
    assert all(0.5 < many[name] / first[name] < 0.65 for name in ("pushed", "distance"))
    assert many["left_loss"] < first["left_loss"] / 2


@page.after("data")
def test_long_noise_parts_the_runs_farther_than_the_pushes_and_the_fresh_losses_rise(live):
    drawn, end = live.drawn(sigma=1.0), ended(live, sigma=1.0)
    assert end["distance"] > max(end["pushed"], end["traveled"] / 2)
    assert end["loss"] < ended(live)["loss"]
    late = np.array(drawn["steps"]) > 5
    assert (np.diff(drawn["left_loss"]) > 0).all() and (np.diff(np.array(drawn["held_out_loss"])[late]) > 0).all()
    assert min(end["left_loss"], end["held_out_loss"]) > np.log(2)


@page.after("pushes")
def test_runs_by_hand_are_those_of_the_library_and_none_ends_farther_than_its_sample_pushed(runs, distance):
    np.testing.assert_allclose(runs.distance[-1], distance, rtol=1e-9)
    assert distance.argmax() == 9 and runs.expansion[-1].max() < 1


@pytest.mark.parametrize(("step", "start", "sigma", "most"), [
    (1000, "zero", 0.0, 0.5), (1000, "many", 0.0, 0.5), (1000, "zero", 0.3, 0.6), (10, "zero", 1.0, 0.7)])
def test_the_gap_falls_and_on_average_a_doubling_takes_this_much_of_it(step, start, sigma, most):
    kept = each_doubling("gap", step, start, sigma)
    assert kept.max() < 1 and np.prod(kept) < most ** len(kept)


@page.after("figure-cost")
def test_under_long_noise_the_gap_and_the_cost_grow_at_every_doubling_and_elsewhere_the_cost_does_not(NS):
    assert each_doubling("gap", 1000, "zero", 1.0).min() > 1
    assert each_doubling("total", 1000, "zero", 1.0).min() > 1.4
    assert measured("loss", 1000, "zero", 1.0).max() < 0.01 < 0.4 < measured("loss", 10, "zero", 1.0)[:, -1].min()
    assert all(0.95 < each_doubling("total", 1000, start, 0.0).min() < 1.1 for start in ("zero", "many"))
    G = np.array([gap_runs().where(start="zero", sigma=1.0, n=n)["G"].mean() for n in NS])
    formula = G ** 2 / NS * measured("total", 1000, "zero", 1.0).mean(axis=0)
    assert (np.diff(G) > 0).all() and (np.diff(formula) > 0).all()


@page.after("solution-monotone")
def test_one_sample_more_helps_but_for_much_noise(helps, noisy):
    assert [*helps.values()] == [True, True, True, False]
    error = noisy.std(axis=0, ddof=1) / len(noisy) ** 0.5
    assert (abs(noisy.mean(axis=0)) < 2 * error).sum() == noisy.shape[1] - 1
