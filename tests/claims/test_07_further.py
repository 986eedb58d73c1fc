"""What the page multihead/07_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c04_convergence import chain
from mhabook.c07_generalization import statements as generalization
from mhabook.c07_generalization.runs import ended, measured
from page import Page

page = Page("multihead/07_further")


def ranks(x):
    return np.argsort(np.argsort(x))


@page.after("left-loss-seen")
def test_leaving_one_out_tells_memorizing_from_learning(runs, noisy_runs):
    assert max(runs.loss[-1].mean(), runs.left_loss[-1].mean(), runs.path.test_loss[-1]) < 0.01
    assert noisy_runs.loss[-1].mean() < runs.loss[-1].mean()
    assert min(noisy_runs.left_loss[-1].mean(), noisy_runs.path.test_loss[-1]) > np.log(2)


@page.after("figure-pushes")
def test_the_runs_part_early_and_to_push_is_to_matter(runs, distance):
    mean = np.interp([500 / 30, 250, 500], runs.steps, runs.distance.mean(axis=1))
    assert mean[0] > 0.5 * mean[2] and mean[1] > 0.9 * mean[2]
    assert (
        runs.expansion[-1].max() < 1
        and np.corrcoef(ranks(distance), ranks(runs.pushed[-1]))[0, 1] > 0.75
    )


@page.after("check-ledger")
def test_three_lemmas_and_one_theorem_are_nearly_attained_and_the_other_bounds_are_not(rows):
    least = {
        row.id: min(row.on(make()).slack for make in row.extremal) for row in rows if row.extremal
    }
    attained = {name for name in least if name.startswith("lemma")} | {"thm-2-left-out"}
    assert len(attained) == 4 and all(least[name] < 4e-3 for name in attained)
    assert least["thm-2-generalization"] > 0.9 and least["cor-2-test-loss"] > 0.5
    stability = next(row for row in rows if row.id == "thm-2-stability")
    checks = [
        stability.on(instance)
        for instance in (*map(stability.random, range(20)), stability.extremal[0]())
    ]
    assert all(check.lhs <= check.rhs / 1.5 for check in checks)


@page.after("figure-ladder")
def test_each_curve_of_the_ladder_lies_below_the_one_before_and_one_sample_more_is_better(
    ladder, over_n
):
    rungs = np.array([*ladder.values()])
    assert (np.diff(rungs, axis=0) < 0).all() and (rungs[0] > np.log(2)).all()
    assert (rungs[0] / rungs[-1]).min() > 2e4
    assert over_n("first_part").max() < 0 and measured("expansion", 1000, "many").max() < 1
    heads = generalization.samples_needed(zeta=0.2).heads
    assert 1e12 < heads < 1e13 and measured("test_loss", 10, "many").mean(axis=0)[0] < np.log(2)


@page.after("figure-paid")
def test_the_bound_for_the_left_out_sample_says_something_from_128_samples_on(NS, paid):
    bound = dict(zip(NS, paid["bound for the left-out sample"], strict=True))
    assert max(bound[128], bound[256]) < np.log(2) < 10 < bound[64]
    alone = measured("left_loss", 1000, "many")[:, 0]
    labels = mha.data.tokenized_mixture(
        n=8, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=0.0, seed=int(alone.argmax())
    ).y
    assert alone.max() > 5 * np.sort(alone)[-2]
    # the first four are left out, one at a time
    assert (labels < 0).sum() == 2 and (labels[:4] < 0).sum() == 1


@page.after("live-gap")
def test_what_the_figure_shows_of_samples_noise_and_heads(live):
    settings = (
        {},
        {"samples": 64},
        {"samples": 4},
        {"sigma": 1.0},
        {"sigma": 1.0, "samples": 64},
        {"H": 64},
    )
    ends = [
        {name: curve[-1] for name, curve in live.path(**values).curves.items()}
        for values in settings
    ]
    quiet, many, few, loud, louder, wide = ends
    assert 3.5 < quiet["gap_bound"] / many["gap_bound"] < 4 and quiet["gap"] / many["gap"] < 1.6
    assert (
        few["gap"] > 1
        and len(set(mha.data.tokenized_mixture(4, 8, 8, 4, 0.25, 1.0, 0.2, 0).y)) == 1
    )
    assert (
        min(loud["gap"], louder["gap"]) > 1
        and louder["gap"] > 0.99 * loud["gap"]
        and loud["loss"] < 0.0004
    )
    assert loud["gap_bound"] > 50 * quiet["gap_bound"]
    assert [each["distance"] > each["pushed"] for each in (quiet, loud, louder)] == [
        False,
        True,
        True,
    ]
    assert wide["gap"] > 10 * quiet["gap"] and wide["gap_bound"] < quiet["gap_bound"] / 5
    assert all(
        each["gap"] < each["gap_bound"] and each["distance"] < each["distance_bound"]
        for each in ends
    )


@page.after("copies")
def test_a_thousand_copies_break_the_bound_and_the_twin_of_stability_jumps(checks, rows):
    assert [check.holds for check in checks.values()] == [True, True, True, False]
    assert len({check.lhs for check in checks.values()}) == 1
    instance = next(row for row in rows if row.id == "thm-2-stability").broken(0)
    rho = chain.ball_constants(instance["start"], 1e-4, instance["reference"].norm()).rho
    assert 40 < instance["lr"] * rho < 80


@page.after("figure-stop")
def test_with_much_noise_the_test_loss_is_least_early_and_more_samples_lower_the_best_and_raise_the_last(
    stops,
):
    curves = {
        (n, sigma): stops.where(n=n, sigma=sigma)["test_loss"].mean(axis=0)
        for n in (100, 400)
        for sigma in (0.5, 1.0, 1.5)
    }
    best = {case: stops["steps"][0][curve.argmin()] for case, curve in curves.items()}
    assert all(
        best[n, 0.5] == 2000 and 15 <= best[n, 1.0] <= 30 and best[n, 1.5] < 10 for n in (100, 400)
    )
    for sigma in (1.0, 1.5):
        few, many = curves[100, sigma], curves[400, sigma]
        assert min(few[-1] / few.min(), many[-1] / many.min()) > 2
        assert many.argmin() > few.argmin() and many.min() < few.min() and many[-1] > few[-1]
    right = stops.where(n=100, sigma=1.0)["test_accuracy"].mean(axis=0)
    assert 0 <= right[curves[100, 1.0].argmin()] - right[-1] < 0.02


@page.after("figure-heads")
def test_what_many_heads_change_against_one():
    def factor(name, sigma, most, start="zero", scaling="root"):
        one, many = (ended(name, H, sigma, start, scaling).mean() for H in (1, most))
        return many / one

    assert 0.8 < factor("loss", 0.3, 64) < 1.25 and 0.8 < factor("test_loss", 0.3, 8) < 1.25
    assert factor("test_loss", 0.3, 64, scaling="constant") > factor("test_loss", 0.3, 64)
    assert (
        factor("test_loss", 0.3, 16, "random") > 1.2
        and factor("test_loss", 1.0, 16, "random") < 0.8
    )
