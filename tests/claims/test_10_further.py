"""What the page preconditioning/10_further says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c10_structure import contraction, factorization
from mhabook.c10_structure.population import PopulationRegression
from mhabook.c10_structure.runs import FAR, rows, spectral_distances, tuned
from page import Page

page = Page("preconditioning/10_further")


@page.after("two-rules")
def test_plain_descent_is_slow_and_the_other_rule_is_done_after_20_steps(aware, plain):
    assert plain.excess[-1].round(4) == 0.0073
    assert aware.excess[[5, 20, -1]].round(4).tolist() == [0.0086, 0.0018, 0.0017]


@page.after("two-rules")
def test_attention_averages_over_224_tokens_within_five_steps(aware, plain):
    assert plain.effective_tokens[[0, -1]].round().tolist() == [78, 127]
    assert aware.effective_tokens[[5, -1]].round().tolist() == [224, 211]


def tuned_descent(d):
    return rows(d, method="gd", start="random", lr=tuned(d, "gd", FAR[d]), steps=FAR[d])


def aware_runs(d):
    return rows(d, method="SA2", start="random")


@page.after("figure-same")
def test_the_tuned_step_sizes():
    assert {d: tuned(d, "gd", FAR[d]) for d in FAR} == {5: 0.1, 10: 0.1, 20: 0.15}


@page.after("figure-same")
def test_tuned_descent_ends_where_the_table_says():
    table = {5: (0.0404, 0.1081, 83.5), 10: (0.1921, 0.2513, 4.7), 20: (0.4917, 0.5191, 1.5)}
    for d, (least, most, tokens) in table.items():
        runs = tuned_descent(d)
        assert runs["loss"][:, -1].min().round(4) == least
        assert runs["loss"][:, -1].max().round(4) == most
        assert np.median(runs["effective_tokens"][:, -1]).round(1) == tokens


@page.after("figure-same")
def test_structure_aware_descent_is_where_the_table_says():
    table = {5: (0.0352, 0.0268, 0.0011, 0.0024), 10: (0.0603, 0.0546, 0.0047, 0.0048),
             20: (0.1317, 0.1203, 0.0181, 0.0116)}
    for d, (at_20, at_60, least_excess, last_excess) in table.items():
        runs = aware_runs(d)
        assert runs["loss"][:, 20].max().round(4) == at_20
        assert runs["loss"][:, -1].max().round(4) == at_60
        assert runs["excess"][:, 20].min().round(4) == least_excess
        assert runs["excess"][:, -1].max().round(4) == last_excess


@page.after("figure-same")
def test_within_1_5_times_the_floor_are_all_runs_of_one_rule_and_none_of_the_other():
    count = 0
    for d in FAR:
        near = 1.5 * d * 0.005
        assert (aware_runs(d)["loss"][:, 20] < near).all()
        assert (tuned_descent(d)["loss"][:, -1] > near).all()
        count += len(aware_runs(d)["loss"])
    assert count == 13


@page.after("figure-same")
def test_with_1500_steps_two_of_five_runs_come_near_the_floor_at_d_5_and_none_at_d_10():
    last = {d: np.sort(rows(d, method="gd", start="random", steps=1500)["loss"][:, -1]) for d in (5, 10)}
    assert last[5].round(3).tolist() == [0.031, 0.032, 0.035, 0.058, 0.085]
    assert last[10].min().round(2) == 0.14


def from_the_spectral_start(method, what="excess"):
    """d → the mean over the seeds at every recorded step."""
    return {d: rows(d, method=method, start="spectral")[what].mean(axis=0) for d in FAR}


@page.after("figure-spectral")
def test_the_spectral_start_itself_has_little_excess():
    assert [mean[0].round(4) for mean in from_the_spectral_start("SA2").values()] == [0.0013, 0.0036, 0.0097]


@page.after("figure-spectral")
def test_training_from_there_raises_the_excess():
    ends = {"SA2": [0.0015, 0.0042, 0.0114], "SA1": [0.0018, 0.0051, 0.0149], "gd": [0.0016, 0.0049, 0.0147]}
    for method, wanted in ends.items():
        assert [mean[-1].round(4) for mean in from_the_spectral_start(method).values()] == wanted
    for method, wanted in (("SA2", [15, 19]), ("SA1", [39, 54])):
        raised = [100 * (mean[-1] / mean[0] - 1) for mean in from_the_spectral_start(method).values()]
        assert [round(min(raised)), round(max(raised))] == wanted


@page.after("figure-spectral")
def test_and_lowers_the_training_loss():
    losses = from_the_spectral_start("SA2", "loss")
    assert [mean[0].round(4) for mean in losses.values()] == [0.0269, 0.0643, 0.1657]
    assert [mean[-1].round(4) for mean in losses.values()] == [0.0259, 0.0544, 0.1183]


@page.after("figure-spectral")
def test_sgd_catches_up_on_some_instances_at_d_5():
    last = {d: np.sort(rows(d, method="sgd", start="random", lr=tuned(d, "sgd", 5000))["excess"][:, -1]) for d in FAR}
    assert last[5][:2].round(4).tolist() == [0.0016, 0.0017]
    assert last[5][-1].round(4) == 0.0157
    assert last[10].min().round(3) == 0.089
    assert last[20].min().round(2) == 2.47


@page.after("figure-spectral")
def test_the_second_rule_takes_minibatches():
    means = [rows(d, method="SA2 minibatch")["excess"][:, -1].mean().round(4) for d in FAR]
    assert means == [0.0015, 0.0046, 0.0163]


@page.after("check-ledger")
def test_twelve_statements_hold_and_their_twins_fail(mine):
    assert len(mine) == 12  # four on the chapter's page, eight on this one
    for row in mine:
        assert all(row.check(seed).holds for seed in range(3))
        assert not any(row.twin(seed).holds for seed in range(3))


@page.after("check-ledger")
def test_balance_of_stationary_points_is_attained():
    tight = mhabook.ledger["prop-balanced-stationary"]
    assert all(abs(tight.on(make()).slack) < 1e-9 for make in tight.extremal)


@page.after("check-ledger")
def test_the_local_rate_leaves_half_a_percent_but_six_times_the_logarithm():
    row = mhabook.ledger["thm-local-rate"]
    instance = row.extremal[0]()
    check, s = row.on(instance), np.linalg.svd(instance["N"])[1]
    before = factorization.distance(instance["U"], instance["V"], instance["N"]) ** 2
    assert round(s[0] / s[-1]) == 100
    assert round(check.slack, 4) == 0.0052
    assert 6.1 < np.log(check.lhs / before) / np.log(check.rhs / before) < 6.3


def shrunk(U, V, N, lr):
    """The squared distance from the optimum after a step, as a share of that before."""
    return contraction.local_rate(U, V, N, lr).lhs / factorization.distance(U, V, N) ** 2


def scalars(move, lr):
    """U = V = 1 + ``move`` for N = 1, at the distance √2 |move| from the optimum."""
    return {"U": np.array([[1 + move]]), "V": np.array([[1 + move]]), "N": np.eye(1), "lr": lr}


@page.after("check-ledger")
def test_the_local_theorem_is_false_with_2_72_times_its_rate():
    assert shrunk(**contraction.inward()) > 1 - 2.72 * contraction.RATE * contraction.LARGEST


@page.after("check-ledger")
def test_the_local_theorem_is_false_with_4_43_times_its_step():
    step = 4.43 * contraction.LARGEST
    assert shrunk(**scalars(contraction.RADIUS / 2 ** 0.5, step)) > 1 - contraction.RATE * step


@page.after("check-ledger")
def test_the_local_theorem_is_false_with_4_16_times_its_radius():
    step = contraction.LARGEST
    assert shrunk(**scalars(-4.16 * contraction.RADIUS / 2 ** 0.5, step)) > 1 - contraction.RATE * step


@page.after("check-ledger")
def test_the_largest_step_gains_a_tenth_of_the_condition_number():
    assert 0.1 < contraction.LARGEST * contraction.RATE < 0.102


@page.after("check-ledger")
def test_the_steepest_way_out_of_a_saddle_is_the_missing_singular_value():
    N = np.diag([2.0, 1.0])
    assert np.isclose(np.linalg.eigvalsh(factorization.hessian(*factorization.optimum(N, kept=[1]), N))[0], -2)


@page.after("figure-late")
def test_a_late_step_multiplies_the_excess_as_the_spectrum_says(ideals):
    factors = [excess[71] / excess[70] for excess in ideals.values()]
    assert min(factors) > 0.561
    assert max(factors) < 0.563
    assert (1 - 2 * 0.5 / 4) ** 2 == 0.5625
    assert round(1 - contraction.LARGEST * contraction.RATE / 4, 3) == 0.975


@page.after("figure-late")
def test_two_of_three_runs_are_done_after_60_steps(ideals):
    assert ideals["start 0"][20] < 5e-6
    assert ideals["start 0"][60] < 2e-17
    assert ideals["start 1"][60] < 1e-14


@page.after("figure-late")
def test_the_third_run_stands_still_for_some_twenty_steps(ideals):
    slow = ideals["start 2"]
    assert slow[[10, 20, 35]].round(4).tolist() == [0.0123, 0.0052, 0.0041]
    assert 7e-7 < slow[60] < 8e-7


@page.after("spectral-distance")
def test_at_n_2000_all_spectral_starts_are_within_the_local_theorem(away):
    assert (away <= 0.1 ** 0.5 / 4).all()
    assert 6.4 < away.mean() * (2000 / 0.1) ** 0.5 < 6.6


@page.after("spectral-distance")
def test_at_n_500_18_of_100_are():
    assert (spectral_distances(500) <= 0.1 ** 0.5 / 4).sum() == 18


def without(parts, d, left_out, what="excess"):
    """Five runs at their end, sorted, without one part of the rule; with ``nothing`` left out, the whole rule."""
    return np.sort(parts.where(d=d, left_out=left_out)[what][:, 8])


PARTS = ("nothing", "renormalization", "regularizer", "whitening")


@page.after("parts-table")
def test_at_d_5_two_parts_are_worth_a_hundredfold(parts):
    assert [without(parts, 5, name)[2].round(4) for name in PARTS] == [0.0011, 0.0014, 0.141, 0.084]
    assert (without(parts, 5, "regularizer") > 0.04).all()
    assert (without(parts, 5, "whitening") > 0.04).all()


@page.after("parts-table")
def test_at_d_20_the_rule_fails_without_any_one_part(parts):
    assert without(parts, 20, "nothing")[2].round(3) == 0.011
    assert round(without(parts, 20, "renormalization")[2]) == 376
    assert round(without(parts, 20, "regularizer")[2]) == 13
    assert without(parts, 20, "whitening").min() > 1e70


@page.after("parts-table")
def test_without_renormalization_attention_reads_2_6_tokens_at_d_20(parts):
    assert np.median(without(parts, 20, "renormalization", "effective_tokens")).round(1) == 2.6
    assert without(parts, 20, "renormalization", "v").min().round(1) == 3.6


def excess_after(live, **values):
    return live.drawn(**values)["excess"][-1]


@page.after("live-descent")
def test_stretched_tokens_hardly_change_the_structure_aware_rule(live):
    ends = [excess_after(live, kappa=kappa) for kappa in (1.0, 16.0, 256.0)]
    assert np.round(ends, 4).tolist() == [0.0019, 0.0026, 0.0027]


@page.after("live-descent")
def test_gradient_descent_never_gets_below_an_excess_of_0_01(live):
    best = [min(excess_after(live, optimizer="gd", lr=lr, kappa=kappa) for lr in live.controls["lr"].values)
            for kappa in (1.0, 16.0, 256.0)]
    assert np.round(best, 3).tolist() == [0.12, 0.03, 0.043]


@page.after("live-descent")
def test_the_first_rule_takes_steps_up_to_0_3(live):
    assert round(excess_after(live, optimizer="preconditioned", lr=0.03), 2) == 0.16
    assert round(excess_after(live, optimizer="preconditioned", lr=0.3), 4) == 0.0036
    assert live.path(optimizer="preconditioned", lr=0.5).stopped


@page.after("live-descent")
def test_the_true_covariance_shows_0_53_for_a_half(live):
    assert round(live.drawn()["v"][-1], 2) == 0.53


@page.after("live-descent")
def test_a_larger_s_max_leaves_more_excess(live):
    assert round(excess_after(live, s_max=2.0), 3) == 0.059


@page.after("saddle")
def test_the_run_that_stands_still_lacks_the_smallest_singular_direction(E, instance):
    missing = np.linalg.svd(E)[1]
    assert missing[0].round(4) == 0.0973
    assert missing[1] < 2e-5
    assert np.isclose(instance.truth.singular_values[-1], 0.1)


@page.after("saddle")
def test_the_way_out_is_as_weak_as_that_direction_is_small(U, V, instance, root):
    share = (np.linalg.norm(V, 2) / np.linalg.norm(U, 2)) ** 0.5
    lowest = np.linalg.eigvalsh(factorization.hessian(share * U, V / share, instance.M @ root))[0]
    assert round(lowest, 3) == -0.091


@page.after("zero-start")
def test_zero_is_a_saddle_with_infinitely_many_tokens_and_not_quite_with_300(data, start):
    assert PopulationRegression.of(0 * start).loss_and_grad(data.Sigma, data.M)[1].norm() == 0
    assert 0 < (0 * start).loss_and_grad(data.x, data.y)[1].norm() < 0.1


@page.after("small-p-runs")
def test_fewer_outputs_than_dimensions_do_well_all_the_same(narrow):
    for p, path in narrow.items():
        assert path.excess[-1] < 0.003
        assert path.loss[-1] < 1.1 * p * 0.005


@page.after("large-step-runs")
def test_up_to_1_no_step_is_too_large(large):
    assert max(large[lr].excess[-1] for lr in (0.25, 0.5, 1.0)) < 0.0018


@page.after("large-step-runs")
def test_a_step_of_1_5_ends_with_twenty_times_the_excess_and_one_of_2_5_diverges(large):
    assert large[1.5].excess[-1].round(3) == 0.036
    assert large[1.5].loss[-1].round(3) == 0.048
    assert min(large[2.5].loss[-1], large[2.5].excess[-1]) > 1e70


@page.after("large-step-runs")
def test_attention_is_not_saturated_then(large):
    assert min(large[lr].effective_tokens[-1] for lr in (1.5, 2.5)) > 200


@page.after("lesson")
def test_the_rule_of_the_page_is_that_of_the_library(data, start, structure_aware):
    rule, grad = mha.StructureAware().on(data), start.loss_and_grad(data.x, data.y)[1]
    by_hand = structure_aware(*rule.whitening.whiten(start), *rule.whitening.pull(grad))
    after = rule.whitening.whiten(rule.step(start, grad, None, 0)[0])
    for mine, theirs in zip(by_hand, after, strict=True):
        assert np.allclose(mine, theirs, rtol=1e-12, atol=1e-13)


@page.after("second-end")
def test_a_hundred_steps_by_hand_end_where_the_library_ends(theta, data, aware):
    assert np.isclose(theta.loss(data.x, data.y), aware.loss[-1], rtol=1e-8)
