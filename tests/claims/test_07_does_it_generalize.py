"""What the page multihead/07_does_it_generalize says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c07_generalization.runs import NS, cost_panels, decoder_lengths, measured, steepest
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
    early = {
        name: np.interp(50, drawn["steps"], drawn[name]) / end[name]
        for name in ("distance", "traveled")
    }
    assert early["distance"] > max(0.7, early["traveled"])
    assert 1 / 7.5 < end["distance"] / end["traveled"] < 1 / 6.5
    assert np.less_equal(drawn["own_loss"], drawn["left_loss"]).all()
    assert 2 < np.argmax(drawn["left_loss"]) < 10 and drawn["left_loss"][-1] < min(
        drawn["left_loss"][:10]
    )
    assert 5 * end["loss"] < end["held_out_loss"] < 0.02 * np.log(2)


@page.after("data")
def test_another_sample_matters_less_than_it_pushes_and_twice_the_samples_halve_neither_distance_nor_gap(
    live,
):
    first, other, many = ended(live), ended(live, left=0), ended(live, samples=40)
    assert other["pushed"] > 0.7 * first["pushed"] and other["distance"] < 0.4 * first["distance"]
    assert (
        other["left_loss"]
        < 0.5 * other["held_out_loss"]
        < first["left_loss"]
        < 1.1 * first["held_out_loss"]
    )
    assert all(0.5 < many[name] / first[name] < 0.65 for name in ("pushed", "distance"))
    gaps = [end["held_out_loss"] - end["loss"] for end in (first, many)]
    assert 0.7 < gaps[1] / gaps[0] < 0.75


@page.after("data")
def test_long_noise_parts_the_runs_farther_than_the_pushes_and_the_fresh_losses_rise(live):
    drawn, end = live.drawn(sigma=1.0), ended(live, sigma=1.0)
    assert end["distance"] > max(end["pushed"], end["traveled"] / 2)
    assert end["loss"] < ended(live)["loss"]
    late = np.array(drawn["steps"]) > 5
    assert (np.diff(drawn["left_loss"]) > 0).all() and (
        np.diff(np.array(drawn["held_out_loss"])[late]) > 0
    ).all()
    assert min(end["left_loss"], end["held_out_loss"]) > np.log(2)


@page.after("pushes")
def test_runs_by_hand_are_those_of_the_library_and_none_ends_farther_than_its_sample_pushed(
    run, runs, distance, everyone, path
):
    np.testing.assert_allclose(run(everyone).U, path[-1].U, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(runs.distance[-1], distance, rtol=1e-9)
    assert distance.argmax() == 9 and runs.expansion[-1].max() < 1


@pytest.mark.parametrize(
    ("step", "start", "sigma", "most"),
    [
        (1000, "zero", 0.0, 0.5),
        (1000, "many", 0.0, 0.5),
        (1000, "zero", 0.3, 0.6),
        (10, "zero", 1.0, 0.7),
    ],
)
def test_the_gap_falls_and_on_average_a_doubling_takes_this_much_of_it(step, start, sigma, most):
    kept = each_doubling("gap", step, start, sigma)
    assert kept.max() < 1 and np.prod(kept) < most ** len(kept)


@pytest.mark.parametrize("start", ["zero", "many"])
def test_without_noise_a_doubling_leaves_about_a_third_of_the_gap_on_average_but_not_each(start):
    kept = each_doubling("gap", 1000, start, 0.0)
    assert 0.31 < np.prod(kept) ** (1 / len(kept)) < 0.39 and kept.min() < 0.25 < 0.5 < kept.max()


@pytest.mark.parametrize(
    ("start", "sigma"), [("zero", 0.0), ("many", 0.0), ("zero", 0.3), ("zero", 1.0)]
)
def test_training_loss_and_formula_together_exceed_what_a_guess_has_at_every_recorded_step(
    start, sigma
):
    for step in (10, 30, 100, 300, 1000):
        formula = 3 * steepest(start, sigma) ** 2 * measured("total", step, start, sigma) / NS
        assert (formula + measured("loss", step, start, sigma)).min() > np.log(2)


@page.after("figure-cost")
def test_under_long_noise_the_gap_the_cost_and_the_formula_grow_at_every_doubling(settings):
    assert each_doubling("gap", 1000, "zero", 1.0).min() > 1
    assert each_doubling("total", 1000, "zero", 1.0).min() > 1.5
    assert (
        measured("loss", 1000, "zero", 1.0).max()
        < 0.01
        < 0.4
        < measured("loss", 10, "zero", 1.0)[:, -1].min()
    )
    assert all(
        0.95 < each_doubling("total", 1000, start, 0.0).min() < 1.1 for start in ("zero", "many")
    )
    assert (np.diff(steepest("zero", 1.0).mean(axis=0)) > 0).all()
    costs, formulas = (
        {name: np.median(runs, axis=0) for name, runs in panel.items()}
        for panel in cost_panels(settings).values()
    )
    loud, *quiet = formulas.pop("one head, σ = 1"), *formulas.values()
    assert (np.diff(loud) > 0).all() and all((np.diff(formula) < 0).all() for formula in quiet)
    assert (costs["one head, σ = 1"] < costs["one head, σ = 0"])[:3].all()
    assert measured("gap", 1000, "zero", 1.0).min() > np.log(2)


def test_the_more_noisy_samples_there_are_to_memorize_the_longer_is_the_decoder():
    loud = decoder_lengths(1.0)
    assert (np.diff(loud.mean(axis=0)) > 0).all()
    data = mha.data.tokenized_mixture(n=8, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=1.0)
    path = mha.train(mha.MultiHeadAttention.zeros(1, 10, 8), data, mha.GradientDescent(1.0), 1000)
    np.testing.assert_allclose(np.linalg.norm(path[-1].U), loud[0, 0], rtol=1e-9)


@page.after("solution-monotone")
def test_one_sample_more_helps_but_for_much_noise(helps, noisy):
    assert [*helps.values()] == [True, True, True, False]
    error = noisy.std(axis=0, ddof=1) / len(noisy) ** 0.5
    assert (abs(noisy.mean(axis=0)) < 2 * error).sum() == noisy.shape[1] - 1
