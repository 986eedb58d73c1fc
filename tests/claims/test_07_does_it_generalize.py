"""What the page multihead/07_does_it_generalize says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c04_convergence import chain
from mhabook.c07_generalization import statements as generalization
from mhabook.c07_generalization.runs import ended
from page import Page

page = Page("multihead/07_does_it_generalize")


def ranks(x):
    return np.argsort(np.argsort(x))


@page.after("leave-run")
def test_the_runs_end_a_seventeenth_of_the_way_apart(distance, runs, traveled):
    assert round(traveled, 2) == 7.04
    assert distance.min().round(2) == 0.17 and distance.max().round(2) == 1.04
    assert round(runs.distance[-1].mean() / traveled, 2) == 0.06


@page.after("left-loss-seen")
def test_with_little_noise_a_left_out_sample_pays_about_twice_as_much(runs):
    assert runs.loss[-1].mean().round(4) == 0.0011 and runs.left_loss[-1].mean().round(4) == 0.0025
    assert round(float(runs.path.test_loss[-1]), 4) == 0.0099
    assert not (runs.left_loss[-1] > np.log(2)).any()


@page.after("left-loss-seen")
def test_with_much_noise_the_model_memorizes(noisy_runs):
    assert noisy_runs.loss[-1].mean().round(4) == 0.0004
    assert noisy_runs.left_loss[-1].mean().round(2) == 1.54 and (noisy_runs.left_loss[-1] > np.log(2)).sum() == 7
    assert round(float(noisy_runs.path.test_loss[-1]), 2) == 1.41


@page.after("figure-gap")
def test_the_gap_falls_like_a_power_of_the_samples(NS, measured, settings):
    def slope(start, sigma, step, first=2):
        gap = measured("gap", step, start, sigma).mean(axis=0)
        return np.polyfit(np.log(NS[first:]), np.log(gap[first:]), 1)[0].round(2)

    slopes = {case: [slope(*case, step) for step in (10, 100, 1000)] for case in settings.values()}
    assert NS[2] == 32
    assert slopes["zero", 0.0] == [-0.97, -1.22, -1.24]
    assert slopes["many", 0.0] == [-0.8, -1.13, -1.33]
    assert slopes["zero", 0.3] == [-0.68, -0.83, -0.8]
    assert slopes["zero", 1.0] == [-1.07, -0.09, 0.23]


@page.after("figure-gap")
def test_with_much_noise_the_gap_falls_early_and_grows_late(measured):
    early, late = (measured("gap", step, "zero", 1.0).mean(axis=0) for step in (10, 1000))
    assert early[[0, -1]].round(2).tolist() == [1.05, 0.07]
    assert measured("loss", 10, "zero", 1.0).mean(axis=0)[-1] > 0.5
    assert late[[0, -1]].round(1).tolist() == [1.6, 3.2] and (np.diff(late) > 0).all()
    assert measured("loss", 1000, "zero", 1.0).mean(axis=0).max() < 0.005


def least_slack(rows):
    return {row.id: min(row.on(make()).slack for make in row.extremal) for row in rows if row.extremal}


def drawn(live, **values):
    """Where the curves of the live figure end."""
    curves = live.drawn(**values)
    return {name: curves[name][-1] for name in ("gap", "gap_bound", "distance", "distance_bound", "pushed", "loss")}


@page.after("figure-cost")
def test_without_noise_it_costs_the_same_to_fit_more_samples(cost):
    assert cost["one head, σ = 0"][[0, -1]].round(1).tolist() == [10.7, 11.1]
    assert cost["one head, σ = 0.3"][[0, -1]].round(1).tolist() == [11.5, 13.6]


@page.after("figure-cost")
def test_with_much_noise_the_cost_grows_with_the_samples_and_so_does_the_steepness(NS, cost, gaps):
    noisy = cost["one head, σ = 1"]
    steep = [gaps.where(start="zero", sigma=1.0, n=n)["G"].mean() for n in NS]
    assert noisy[[0, -1]].round(1).tolist() == [2.9, 51.8] and NS[-1] / NS[0] == 32
    assert 17.5 < noisy[-1] / noisy[0] < 18.5
    assert np.round([steep[0], steep[-1]], -2).tolist() == [1000, 6100]


def best_and_last(stops, n, sigma):
    """The step of the least mean test loss, and the mean test loss there and at the end."""
    loss = stops.where(n=n, sigma=sigma)["test_loss"].mean(axis=0)
    return int(stops["steps"][0][loss.argmin()]), loss.min().round(2), loss[-1].round(2)


def one_and_many(name, sigma, start="zero", scaling="root", most=64):
    return np.array([ended(name, H, sigma, start, scaling).mean() for H in (1, most)])


@page.after("solution-lipschitz")
def test_without_the_losses_the_bound_is_thirteen_times_larger(steps, with_losses, without):
    assert steps[-1] == 1000 and (without[-1] / with_losses[-1]).round(1) == 13.7


@page.after("solution-estimate")
def test_leaving_one_out_estimates_the_test_loss_within_a_factor_of_five(ratios):
    assert 0.2 < ratios["σ = 0.3"].min() < 0.25
    assert ratios["σ = 1"].min() > 0.99 and ratios["σ = 1"].max() < 1.3


@page.after("solution-monotone")
def test_one_sample_more_helps_but_for_much_noise(helps, settings):
    assert helps == dict(zip(settings, (True, True, False, True), strict=True))


@page.after("solution-monotone")
def test_with_much_noise_five_of_six_signs_cannot_be_told(noisy):
    error = noisy.std(axis=0, ddof=1) / len(noisy) ** 0.5
    assert noisy.shape[1] == 6 and (abs(noisy.mean(axis=0)) < 2 * error).sum() == 5
