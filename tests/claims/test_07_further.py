"""What the page multihead/07_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c04_convergence import chain
from mhabook.c07_generalization import statements as generalization
from mhabook.c07_generalization.runs import ended
from page import Page

page = Page("multihead/07_further")


@page.after("figure-distance")
def test_the_runs_part_early(runs):
    mean = runs.distance.mean(axis=1)
    share = dict(zip(runs.steps.tolist(), mean / mean[-1], strict=True))
    assert 0.6 < share[17] < 0.62
    assert share[250].round(2) == 0.95


@page.after("figure-pushes")
def test_with_little_noise_no_run_ends_farther_away_than_its_sample_pushed(runs):
    shares = runs.expansion[-1]
    assert runs.expansion.max() < 1 + 1e-9
    assert shares.min().round(2) == 0.30 and shares.max().round(2) == 0.76


@page.after("figure-pushes")
def test_to_push_is_to_matter(distance, runs):
    assert round(np.corrcoef(ranks(distance), ranks(runs.pushed[-1]))[0, 1], 2) == 0.80


@page.after("figure-pushes")
def test_with_much_noise_most_runs_end_farther_away_than_their_samples_pushed(noisy_runs):
    shares = noisy_runs.expansion[-1]
    assert len(shares) == 20 and (shares > 1).sum() == 18
    assert shares.max().round(1) == 4.9


@page.after("figure-pushes")
def test_with_much_noise_the_runs_end_a_third_of_the_way_apart(noisy_runs, start):
    assert round(noisy_runs.distance[-1].mean() / (noisy_runs.path[-1] - start).norm(), 2) == 0.37


@page.after("check-ledger")
def test_every_statement_holds_and_every_twin_fails(rows):
    assert len(rows) == 8
    assert all(row.check(seed).holds for row in rows for seed in range(3))
    assert not any(row.twin(seed).holds for row in rows for seed in range(3))


@page.after("check-ledger")
def test_three_lemmas_and_one_theorem_are_nearly_attained(rows):
    least = least_slack(rows)
    lemmas = [name for name in least if name.startswith("lemma")]
    assert len(lemmas) == 3
    assert all(least[name] < 4e-3 for name in [*lemmas, "thm-2-left-out"])


@page.after("check-ledger")
def test_the_least_slack_of_the_other_bounds_is_as_told(rows):
    least = least_slack(rows)
    assert round(least["thm-2-stability"], 2) == 0.33
    assert round(least["thm-2-generalization"], 2) == 0.92
    assert round(least["cor-2-test-loss"], 2) == 0.63


@page.after("check-ledger")
def test_stability_holds_with_one_in_the_place_of_three_halves(rows):
    stability = next(row for row in rows if row.id == "thm-2-stability")
    checks = [stability.on(instance) for instance in (*map(stability.random, range(20)), stability.extremal[0]())]
    assert all(check.lhs <= check.rhs / 1.5 for check in checks)


@page.after("check-ledger")
def test_a_coin_whose_sides_have_their_own_references_uses_eight_percent_of_the_bound(rows):
    row = next(row for row in rows if row.id == "thm-2-generalization")
    coin = row.extremal[0]()
    assert sorted(coin["data"].y) == [-1, 1] and coin["n"] == 1 and len(coin["reference"]) == 2
    assert not np.ptp(coin["data"].X, axis=(0, 1)).any()
    assert round(1 - row.on(coin).slack, 2) == 0.08


@page.after("figure-ladder")
def test_each_curve_of_the_ladder_lies_below_the_one_before(ladder):
    rungs = [*ladder.values()]
    assert len(rungs) == 4
    assert all((high > low).all() for high, low in zip(rungs[:-1], rungs[1:], strict=True))


@page.after("figure-ladder")
def test_the_theorem_promises_a_hundred_thousand_times_the_gap(ladder):
    top, summed, apart, gap = (rung[-1] for rung in ladder.values())
    assert round(top) == 26 and round(summed, 1) == 3.2 and round(apart, 2) == 0.13 and round(gap * 1e4, 1) == 2.1
    assert round(top / summed) == 8
    assert round(summed / apart) == 24
    assert 600 < apart / gap < 650
    assert 1.2e5 < top / gap < 1.3e5


@page.after("figure-ladder")
def test_the_theorem_never_promises_less_than_log_two(G, ladder):
    assert round(G, 1) == 3.5 and round(ladder["Theorem 2"][0]) == 836
    assert (ladder["Theorem 2"] > np.log(2)).all()


@page.after("figure-ladder")
def test_the_distances_are_a_third_of_what_the_lemma_allows_or_less(measured):
    worst = np.nanmax(np.concatenate([measured("share", step, "many") for step in (10, 100, 1000)]))
    assert round(worst, 2) == 0.36
    assert round(measured("expansion", 1000, "many").max(axis=0)[-1], 2) == 0.20


@page.after("figure-ladder")
def test_a_model_that_has_seen_one_sample_more_is_better_on_average(over_n):
    assert over_n("first_part").max() < 0


@page.after("figure-ladder")
def test_what_the_corollary_asks_for_to_say_that_something_was_learned(measured):
    demand, easy = (generalization.samples_needed(zeta=zeta) for zeta in (0.2, 0.8))
    assert demand.samples == 20438 and round(demand.heads / 1e12, 1) == 3.4
    assert easy.samples == 3029
    assert measured("test_loss", 10, "many").mean(axis=0)[0].round(2) == 0.59


@page.after("figure-paid")
def test_the_bound_for_the_left_out_sample_comes_within_a_factor_of_five(NS, paid):
    bound, loss = paid["bound for the left-out sample"], paid["its loss, measured"]
    assert NS[3:] == [64, 128, 256]
    assert bound[-2:].round(3).tolist() == [0.437, 0.082]
    assert loss[-2:].round(4).tolist() == [0.0176, 0.0173]
    assert bound[3].round() == 31
    assert 4 < bound[-1] / loss[-1] < 5


@page.after("figure-paid")
def test_one_unlucky_training_set_dominates_the_mean(measured):
    lone = measured("left_loss", 1000, "many")[:, 0]
    labels = mha.data.tokenized_mixture(n=8, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=0.0, seed=int(lone.argmax())).y
    assert (labels < 0).sum() == 2 and (labels[:4] < 0).sum() == 1  # the first four are left out, one at a time
    assert lone.max().round(1) == 1.2 and np.sort(lone)[-2] < 0.24
    assert len(lone) == 8 and round(lone.mean(), 2) == 0.23


@page.after("live-gap")
def test_in_the_figure_more_samples_lower_the_formula_more_than_the_gap(live):
    few, many = drawn(live), drawn(live, samples=64)
    assert np.round([1e4 * few["gap"], 1e4 * many["gap"]], 1).tolist() == [9.8, 6.8]
    assert np.round([few["gap_bound"], many["gap_bound"]], -1).tolist() == [4670, 1290]


@page.after("live-gap")
def test_four_samples_of_one_label_teach_to_say_always_the_same(live):
    assert round(drawn(live, samples=4)["gap"], 1) == 2.0
    assert len(set(mha.data.tokenized_mixture(4, 8, 8, 4, 0.25, 1.0, 0.2, 0).y)) == 1


@page.after("live-gap")
def test_in_the_figure_with_much_noise_the_gap_stays_and_the_formula_explodes(live):
    quiet, loud, louder = drawn(live), drawn(live, sigma=1.0), drawn(live, sigma=1.0, samples=64)
    assert [round(each["gap"], 1) for each in (loud, louder)] == [1.6, 1.6]
    assert 3.4e5 < loud["gap_bound"] < 3.7e5 and 8.7e5 < louder["gap_bound"] < 9e5
    assert loud["distance"] > loud["pushed"] and louder["distance"] > louder["pushed"]
    assert quiet["distance"] < quiet["pushed"]
    assert loud["loss"] < 0.0004 and louder["loss"] < 0.0012


@page.after("live-gap")
def test_in_the_figure_more_heads_raise_the_gap_and_lower_the_formula(live):
    one, wide = drawn(live), drawn(live, H=64)
    assert round(one["gap"], 3) == 0.001 and round(wide["gap"], 3) == 0.014
    assert 710 < wide["gap_bound"] < 720


@page.after("live-gap")
def test_in_the_figure_the_curves_stay_below_their_formulas(live):
    settings = ({}, {"samples": 64}, {"samples": 4}, {"sigma": 1.0}, {"sigma": 1.0, "samples": 64}, {"H": 64})
    ends = [drawn(live, **values) for values in settings]
    assert all(each["gap"] < each["gap_bound"] for each in ends)
    assert all(each["distance"] < each["distance_bound"] for each in ends)


@page.after("copies")
def test_a_thousand_copies_break_the_bound(checks):
    assert [check.holds for check in checks.values()] == [True, True, True, False]
    assert len({check.lhs for check in checks.values()}) == 1


@page.after("copies")
def test_the_twin_of_stability_jumps(rows):
    stability = next(row for row in rows if row.id == "thm-2-stability")
    twin, instance = stability.twin(0), stability.broken(0)
    rho = chain.ball_constants(instance["start"], 1e-4, instance["reference"].norm()).rho
    assert not twin.holds and twin.lhs > twin.rhs
    assert 40 < instance["lr"] * rho < 80


@page.after("figure-stop")
def test_with_much_noise_the_test_loss_is_least_early(stops):
    ends = {(n, sigma): best_and_last(stops, n, sigma) for n in (100, 400) for sigma in (0.75, 1.0, 1.5)}
    assert ends[100, 1.0] == (19, 0.40, 0.87) and ends[400, 1.0] == (27, 0.30, 1.18)
    assert ends[100, 1.5] == (2, 0.67, 2.67) and ends[400, 1.5] == (7, 0.64, 5.67)
    assert ends[100, 0.75] == (131, 0.07, 0.08)


@page.after("figure-stop")
def test_with_less_noise_nothing_is_gained_by_stopping(stops):
    assert best_and_last(stops, 100, 0.5)[0] == best_and_last(stops, 400, 0.5)[0] == 2000


@page.after("figure-stop")
def test_the_accuracy_cares_less_when_one_stops(stops):
    def accuracies(n, sigma):
        accuracy = stops.where(n=n, sigma=sigma)["test_accuracy"].mean(axis=0)
        best = stops["steps"][0] == best_and_last(stops, n, sigma)[0]
        return [accuracy[best][0].round(2), accuracy[-1].round(2)]

    assert accuracies(100, 1.0) == [0.83, 0.82]
    assert accuracies(400, 1.0) == [0.88, 0.83]


@page.after("figure-stop")
def test_every_amount_of_noise_is_fitted_in_the_end(stops):
    assert stops.group("n", "sigma")["loss"][:, -1].max() < 0.01


@page.after("figure-heads")
def test_from_zero_many_heads_fit_as_well_and_generalize_worse():
    assert one_and_many("loss", 0.3).round(4).tolist() == [0.0005, 0.0005]
    assert one_and_many("test_loss", 0.3).round(4).tolist() == [0.0007, 0.0018]
    assert one_and_many("test_loss", 0.3, most=8).round(4).tolist() == [0.0007, 0.0006]
    assert one_and_many("test_loss", 1.0).round(2).tolist() == [0.67, 1.22]
    assert one_and_many("test_loss", 0.3, scaling="constant").round(4).tolist() == [0.0002, 0.0041]


@page.after("figure-heads")
def test_many_heads_attend_less_to_the_relevant_tokens():
    assert one_and_many("attention_score", 0.3).round(2).tolist() == [0.70, 0.28]


@page.after("figure-heads")
def test_from_a_random_start_it_depends_on_the_noise():
    assert one_and_many("test_loss", 1.0, "random", most=16).round(2).tolist() == [1.56, 1.04]
    assert one_and_many("test_loss", 0.3, "random", most=16).round(4).tolist() == [0.0008, 0.0012]


@page.after("solution-samples")
def test_a_lower_target_costs_ten_times_and_half_of_zeta_two_to_five_times(halved, needs):
    assert all(9 < more / loose < 12 for loose, more in needs.values())
    assert halved.round(1).tolist() == [2.0, 3.4, 4.6]
