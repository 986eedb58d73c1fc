"""What the page multihead/07_does_it_generalize says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from page import Page

page = Page("multihead/07_does_it_generalize")


def ended(live, **values):
    """Where the curves of the live figure end."""
    return {name: curve[-1] for name, curve in live.drawn(**values).items() if name != "steps"}


@page.after("leave-run")
def test_a_run_by_hand_is_that_of_the_library(run, start, data):
    library = mha.train(start, data, mha.GradientDescent(1.0), 500, record=2)[-1]
    np.testing.assert_allclose(run(np.arange(20)).U, library.U, rtol=1e-9)


@page.after("data")
def test_the_figure_is_the_run_of_the_lines_above_it(live, path):
    np.testing.assert_allclose(live.path()[-1].U, path[-1].U, rtol=1e-9)


@page.after("data")
def test_the_run_without_the_sample_that_matters_most_ends_a_seventh_of_the_way_apart(live):
    end = ended(live)
    assert 1 / 7.5 < end["distance"] / end["traveled"] < 1 / 6.5
    assert all(ended(live, left=other)["distance"] < end["distance"] for other in range(9))


@page.after("data")
def test_the_runs_part_early_and_the_left_out_sample_ends_as_a_fresh_one(live):
    drawn = live.drawn()
    early = np.interp(50, drawn["steps"], drawn["distance"])
    assert early > 2 / 3 * drawn["distance"][-1]
    assert early / drawn["distance"][-1] > np.interp(50, drawn["steps"], drawn["traveled"]) / drawn["traveled"][-1]
    assert drawn["own_loss"][-1] < drawn["held_out_loss"][-1] < drawn["left_loss"][-1] < 0.02


@page.after("data")
def test_another_sample_matters_less_than_it_pushes_and_twice_the_samples_halve_nearly_all(live):
    first, other, many = ended(live), ended(live, left=0), ended(live, samples=40)
    assert other["pushed"] > 0.7 * first["pushed"] and other["distance"] < 0.4 * first["distance"]
    assert all(0.5 < many[name] / first[name] < 0.65 for name in ("pushed", "distance"))
    assert many["left_loss"] < first["left_loss"] / 2


@page.after("data")
def test_long_noise_parts_the_runs_farther_than_the_pushes_and_the_model_memorizes(live):
    end = ended(live, sigma=1.0)
    assert end["distance"] > end["pushed"] and end["distance"] > end["traveled"] / 2
    assert end["loss"] < ended(live)["loss"] < 0.002
    assert min(end["left_loss"], end["held_out_loss"]) > np.log(2)


@page.after("pushes")
def test_runs_by_hand_are_those_of_the_library_and_none_ends_farther_than_its_sample_pushed(runs, distance):
    np.testing.assert_allclose(runs.distance[-1], distance, rtol=1e-9)
    assert distance.argmax() == 9 and runs.expansion[-1].max() < 1


@page.after("figure-gap")
def test_the_gap_falls_like_a_power_of_the_samples_but_for_long_noise(NS, measured):
    def slope(step, *case):
        gap = measured("gap", step, *case).mean(axis=0)
        return np.polyfit(np.log(NS[2:]), np.log(gap[2:]), 1)[0]

    assert all(-1.1 < slope(10, start, 0.0) < -0.75 and -1.5 < slope(1000, start, 0.0) < -1.1
               for start in ("zero", "many"))
    assert all(-0.9 < slope(step, "zero", 0.3) < -0.6 for step in (10, 1000))
    assert slope(10, "zero", 1.0) < -0.9


@page.after("figure-gap")
def test_with_long_noise_the_gap_grows_once_all_samples_are_fitted(measured):
    assert (np.diff(measured("gap", 1000, "zero", 1.0).mean(axis=0)) > 0).all()
    assert measured("loss", 1000, "zero", 1.0).mean(axis=0).max() < 0.005
    assert measured("loss", 10, "zero", 1.0).mean(axis=0)[-1] > 0.5


@page.after("figure-cost")
def test_what_fitting_costs_grows_with_the_samples_only_under_long_noise(NS, cost, gap_runs):
    ends = {panel: costs[-1] / costs[0] for panel, costs in cost.items()}
    assert 1 < ends["one head, σ = 0"] < 1.1 and 1 < ends["one head, σ = 0.3"] < 1.25
    assert (NS[-1] / NS[0]) ** 0.8 < ends["one head, σ = 1"] < NS[-1] / NS[0]
    steep = [gap_runs().where(start="zero", sigma=1.0, n=n)["G"].mean() for n in NS]
    assert (np.diff(steep) > 0).all()


@page.after("solution-monotone")
def test_one_sample_more_helps_but_for_much_noise(helps, noisy):
    assert [*helps.values()] == [True, True, True, False]
    error = noisy.std(axis=0, ddof=1) / len(noisy) ** 0.5
    assert noisy.shape[1] == 6 and (abs(noisy.mean(axis=0)) < 2 * error).sum() == 5
