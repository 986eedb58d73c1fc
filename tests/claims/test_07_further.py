"""What the page multihead/07_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c04_convergence import chain
from mhabook.c07_generalization import statements as generalization
from mhabook.c07_generalization.leave_one_out import sample_losses
from mhabook.c07_generalization.runs import ended, measured
from page import Page

page = Page("multihead/07_further")


def ranks(x):
    return np.argsort(np.argsort(x))


@page.after("left-loss-seen")
def test_leaving_one_out_tells_memorizing_from_learning(runs, noisy_runs):
    little, much = (np.array([each.loss[-1].mean(), each.left_loss[-1].mean(), each.path.test_loss[-1]])
                    for each in (runs, noisy_runs))
    assert little.max() < 0.01 and 3.5 < little[2] / little[1] < 4.5
    assert much[0] < little[0] and much[1:].min() > np.log(2)


@page.after("left-loss-seen")
def test_one_fresh_sample_in_fifty_makes_up_nearly_half_of_a_small_test_loss(runs, data):
    lost = np.sort(sample_losses(runs.path[-1], data.fresh(n=1000, seed=1)))
    assert 0.4 < lost[-20:].sum() / lost.sum() < 0.5
    assert 0.98 ** 20 > 0.5


@page.after("figure-distance")
def test_the_runs_part_early(runs):
    mean = np.interp([17, 250, 500], runs.steps, runs.distance.mean(axis=1))
    assert mean[0] > 0.5 * mean[2] and mean[1] > 0.9 * mean[2]


@page.after("figure-pushes")
def test_to_push_is_to_matter_and_with_much_noise_most_runs_end_farther_away(distance, runs, noisy_runs):
    assert runs.expansion[-1].max() < 1
    assert np.corrcoef(ranks(distance), ranks(runs.pushed[-1]))[0, 1] > 0.75
    assert (noisy_runs.expansion[-1] > 1).sum() == 18 and 4.5 < noisy_runs.expansion[-1].max() < 5


@page.after("check-ledger")
def test_three_lemmas_and_one_theorem_are_nearly_attained_and_the_other_bounds_are_not(rows):
    least = {row.id: min(row.on(make()).slack for make in row.extremal) for row in rows if row.extremal}
    attained = {name for name in least if name.startswith("lemma")} | {"thm-2-left-out"}
    assert len(attained) == 4 and all(least[name] < 4e-3 for name in attained)
    assert least["thm-2-generalization"] > 0.9 and least["cor-2-test-loss"] > 0.5
    stability = next(row for row in rows if row.id == "thm-2-stability")
    checks = [stability.on(instance) for instance in (*map(stability.random, range(20)), stability.extremal[0]())]
    assert all(check.lhs <= check.rhs / 1.5 for check in checks)


@page.after("figure-ladder")
def test_each_curve_of_the_ladder_lies_below_the_one_before(ladder):
    rungs = [*ladder.values()]
    factors = [high[-1] / low[-1] for high, low in zip(rungs[:-1], rungs[1:], strict=True)]
    assert all((high > low).all() for high, low in zip(rungs[:-1], rungs[1:], strict=True))
    assert 7 < factors[0] < 9 and 20 < factors[1] < 25 and 600 < factors[2] < 650
    assert np.prod(factors) > 1e5 and (rungs[0] > np.log(2)).all()


@page.after("figure-ladder")
def test_what_the_corollary_asks_for_and_one_sample_more_is_better_on_average(over_n):
    assert over_n("first_part").max() < 0 and measured("expansion", 1000, "many").max() < 1
    demand = generalization.samples_needed(zeta=0.2)
    assert 2e4 < demand.samples < 2.1e4 and 1e12 < demand.heads < 1e13
    assert measured("test_loss", 10, "many").mean(axis=0)[0] < np.log(2)


@page.after("figure-paid")
def test_the_bound_for_the_left_out_sample_comes_within_a_factor_of_five(NS, paid):
    bound, loss = paid["bound for the left-out sample"], paid["its loss, measured"]
    assert NS[3:] == [64, 128, 256] and 4 < bound[-1] / loss[-1] < 5
    assert bound[-2] < np.log(2) < 10 < bound[-3]


@page.after("figure-paid")
def test_one_unlucky_training_set_dominates_the_mean():
    lone = measured("left_loss", 1000, "many")[:, 0]
    labels = mha.data.tokenized_mixture(n=8, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=0.0, seed=int(lone.argmax())).y
    assert (labels < 0).sum() == 2 and (labels[:4] < 0).sum() == 1  # the first four are left out, one at a time
    assert len(lone) == 8 and lone.max() > 5 * np.sort(lone)[-2]


@page.after("live-gap")
def test_what_the_figure_shows_of_samples_noise_and_heads(live):
    settings = {}, {"samples": 64}, {"samples": 4}, {"sigma": 1.0}, {"sigma": 1.0, "samples": 64}, {"H": 64}
    ends = [{name: curve[-1] for name, curve in live.path(**values).curves.items()} for values in settings]
    quiet, many, few, loud, louder, wide = ends
    assert 3.5 < quiet["gap_bound"] / many["gap_bound"] < 4 and 1.3 < quiet["gap"] / many["gap"] < 1.6
    assert few["gap"] > 1 and len(set(mha.data.tokenized_mixture(4, 8, 8, 4, 0.25, 1.0, 0.2, 0).y)) == 1
    assert loud["gap"] > 1 and louder["gap"] > 0.99 * loud["gap"] and loud["loss"] < 0.0004
    assert 50 < loud["gap_bound"] / quiet["gap_bound"] < 200
    assert [each["distance"] > each["pushed"] for each in (quiet, loud, louder)] == [False, True, True]
    assert wide["gap"] > 10 * quiet["gap"] and wide["gap_bound"] < quiet["gap_bound"] / 5
    assert all(each["gap"] < each["gap_bound"] and each["distance"] < each["distance_bound"] for each in ends)


@page.after("copies")
def test_a_thousand_copies_break_the_bound(checks):
    assert [check.holds for check in checks.values()] == [True, True, True, False]
    assert len({check.lhs for check in checks.values()}) == 1


@page.after("copies")
def test_the_twin_of_stability_jumps(rows):
    instance = next(row for row in rows if row.id == "thm-2-stability").broken(0)
    rho = chain.ball_constants(instance["start"], 1e-4, instance["reference"].norm()).rho
    assert 40 < instance["lr"] * rho < 80


@page.after("figure-stop")
def test_with_much_noise_the_test_loss_is_least_early_and_with_less_at_the_end(stops):
    for sigma, first, last in ((0.5, 2000, 2000), (1.0, 15, 30), (1.5, 1, 9)):
        for n in (100, 400):
            curve = stops.where(n=n, sigma=sigma)["test_loss"].mean(axis=0)
            assert first <= stops["steps"][0][curve.argmin()] <= last
            assert sigma == 0.5 or curve[-1] > 2 * curve.min()


@page.after("figure-stop")
def test_more_samples_lower_the_best_loss_and_raise_the_last_and_the_accuracy_cares_less(stops):
    for sigma in (1.0, 1.5):
        few, many = (stops.where(n=n, sigma=sigma)["test_loss"].mean(axis=0) for n in (100, 400))
        assert many.argmin() > few.argmin() and many.min() < few.min() and many[-1] > few[-1]
    rows = stops.where(n=100, sigma=1.0)
    right = rows["test_accuracy"].mean(axis=0)
    assert 0 <= right[rows["test_loss"].mean(axis=0).argmin()] - right[-1] < 0.02


@page.after("figure-heads")
def test_what_many_heads_change_against_one():
    def factor(name, sigma, most, start="zero", scaling="root"):
        one, many = (ended(name, H, sigma, start, scaling).mean() for H in (1, most))
        return many / one

    assert 0.8 < factor("loss", 0.3, 64) < 1.25 and 0.8 < factor("test_loss", 0.3, 8) < 1.25
    assert factor("test_loss", 0.3, 64) > 2 and factor("test_loss", 1.0, 64) > 1.7
    assert factor("test_loss", 0.3, 64, scaling="constant") > 10 and factor("attention_score", 0.3, 64) < 0.5
    assert factor("test_loss", 0.3, 16, "random") > 1.2 and factor("test_loss", 1.0, 16, "random") < 0.8
