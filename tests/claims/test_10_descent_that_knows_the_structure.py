"""What the page preconditioning/10_descent_that_knows_the_structure says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import contraction
from mhalib.theory import factorization
from claims.page import Page

page = Page("preconditioning/10_descent_that_knows_the_structure")


@page.after("figure-two")
def test_two_numbers(aware, plain):
    assert plain.excess[-1].round(4) == 0.0073 and aware.excess[[5, 20, -1]].round(4).tolist() == [0.0086, 0.0018, 0.0017]
    assert plain.effective_tokens[[0, -1]].round().tolist() == [78, 127] and aware.effective_tokens[[5, -1]].round().tolist() == [224, 211]


@page.after("same-numbers")
def test_same_numbers(chosen, far, rows):
    slow = {d: rows(d, method="gd", start="random", lr=chosen[d], steps=far[d]) for d in far}
    quick = {d: rows(d, method="SA2", start="random") for d in far}
    assert chosen == {5: 0.1, 10: 0.1, 20: 0.15}
    for d, least, most, tokens in ((5, 0.0404, 0.1081, 83.5), (10, 0.1921, 0.2513, 4.7), (20, 0.4917, 0.5191, 1.5)):
        assert (slow[d]["loss"][:, -1].min().round(4), slow[d]["loss"][:, -1].max().round(4)) == (least, most)
        assert np.median(slow[d]["effective_tokens"][:, -1]).round(1) == tokens
    for d, at_20, most, first, last in ((5, 0.0352, 0.0268, 0.0011, 0.0024), (10, 0.0603, 0.0546, 0.0047, 0.0048), (20, 0.1317, 0.1203, 0.0181, 0.0116)):
        assert (quick[d]["loss"][:, 20].max().round(4), quick[d]["loss"][:, -1].max().round(4)) == (at_20, most)
        assert quick[d]["excess"][:, 20].min().round(4) == first and quick[d]["excess"][:, -1].max().round(4) == last
    assert all((quick[d]["loss"][:, 20] < 1.5 * d * 0.005).all() and (slow[d]["loss"][:, -1] > 1.5 * d * 0.005).all() for d in far)
    long = {d: np.sort(rows(d, method="gd", start="random", steps=1500)["loss"][:, -1]) for d in (5, 10)}
    assert long[5].round(3).tolist() == [0.031, 0.032, 0.035, 0.058, 0.085] and long[10].min().round(2) == 0.14


@page.after("figure-spectral")
def test_spectral_numbers(far, rows, tuned):
    spectral = {(d, name): rows(d, method=name, start="spectral")["excess"].mean(axis=0) for d in far for name in ("SA1", "SA2", "gd")}
    assert [spectral[d, "SA2"][0].round(4) for d in far] == [0.0013, 0.0036, 0.0097]
    assert [spectral[d, "SA2"][-1].round(4) for d in far] == [0.0015, 0.0042, 0.0114]
    assert [spectral[d, "SA1"][-1].round(4) for d in far] == [0.0018, 0.0051, 0.0149] and [spectral[d, "gd"][-1].round(4) for d in far] == [0.0016, 0.0049, 0.0147]
    drop = {d: rows(d, method="SA2", start="spectral")["loss"].mean(axis=0) for d in far}
    assert [(drop[d][0].round(4), drop[d][-1].round(4)) for d in far] == [(0.0269, 0.0259), (0.0643, 0.0544), (0.1657, 0.1183)]
    raised = {name: [100 * (spectral[d, name][-1] / spectral[d, name][0] - 1) for d in far] for name in ("SA1", "SA2")}
    assert [round(pick(raised["SA2"])) for pick in (min, max)] == [15, 19] and [round(pick(raised["SA1"])) for pick in (min, max)] == [39, 54]
    sgd = {d: np.sort(rows(d, method="sgd", start="random", lr=tuned(d, "sgd", 5000))["excess"][:, -1]) for d in far}
    assert sgd[5][:2].round(4).tolist() == [0.0016, 0.0017] and sgd[5][-1].round(4) == 0.0157 and sgd[10].min().round(3) == 0.089 and sgd[20].min().round(2) == 2.47
    batch = {d: rows(d, method="SA2 minibatch")["excess"][:, -1].mean() for d in far}
    assert [value.round(4) for value in batch.values()] == [0.0015, 0.0046, 0.0163]


@page.after("lesson-check")
def test_lesson_check(data, rule, start, structure_aware):
    grad = start.loss_and_grad(data.x, data.y)[1]
    by_hand = structure_aware(*rule.whitening.whiten(start), *rule.whitening.pull(grad))
    after = rule.whitening.whiten(rule.step(start, grad, None, 0)[0])
    assert all(np.allclose(mine, theirs, rtol=1e-12, atol=1e-13) for mine, theirs in zip(by_hand, after, strict=True))


@page.after("check-ledger")
def test_check_ledger_numbers(mine):
    assert len(mine) == 12 and all(row.check(seed).holds and not row.twin(seed).holds for row in mine for seed in range(3))
    near = mha.ledger["thm-local-rate"]
    slow_case = near.extremal[0]()
    slowest = near.function(**slow_case)
    there = factorization.distance(slow_case["U"], slow_case["V"], slow_case["N"]) ** 2
    assert round(slowest.slack, 4) == 0.0052 and 6.1 < np.log(slowest.lhs / there) / np.log(slowest.rhs / there) < 6.3
    tight = mha.ledger["prop-balanced-stationary"]
    assert all(abs(tight.function(**make()).slack) < 1e-9 for make in tight.extremal)
    lowest = np.linalg.eigvalsh(factorization.hessian(*factorization.optimum(np.diag([2.0, 1.0]), kept=[1]), np.diag([2.0, 1.0])))[0]
    assert np.isclose(lowest, -2)


@page.after("conditioning")
def test_conditioning_numbers(steps):
    assert (steps.where(kappa=1.0)["whitened"] == steps.where(kappa=256.0)["whitened"]).all()
    assert [int(np.median(steps.where(kappa=kappa)["one"])) for kappa in (1.0, 16.0, 256.0)] == [17, 117, 3045]
    assert [int(np.median(steps.where(kappa=kappa)["two"])) for kappa in (1.0, 16.0, 256.0)] == [15, 47, 607]
    assert int(np.median(steps["whitened"])) == 15 and (steps["whitened"].min(), steps["whitened"].max()) == (14, 17) and round(np.median(steps.where(kappa=256.0)["condition"])) == 824


@page.after("late-others")
def test_late_others(factors, ideals):
    assert min(factors) > 0.561 and max(factors) < 0.563 and round(contraction.LARGEST * contraction.RATE, 2) == 0.10
    slow = ideals["start 2"]
    assert slow[[10, 20, 35]].round(4).tolist() == [0.0123, 0.0052, 0.0041] and ideals["start 0"][20] < 5e-6
    assert ideals["start 0"][60] < 2e-17 and ideals["start 1"][60] < 1e-14 and 7e-7 < slow[60] < 8e-7


@page.after("spectral-distance")
def test_spectral_distance_numbers(away):
    assert (away <= 0.1 ** 0.5 / 4).all() and 6.4 < away.mean() * (2000 / 0.1) ** 0.5 < 6.6


@page.after("parts-table")
def test_parts_numbers(parts):
    left = {(d, name): parts.where(d=d, left_out=name) for d in (5, 20) for name in ("nothing", "renormalization", "regularizer", "whitening")}
    end = {case: np.sort(table["excess"][:, 8]) for case, table in left.items()}
    assert [end[5, name][2].round(4) for name in ("nothing", "renormalization", "regularizer", "whitening")] == [0.0011, 0.0014, 0.141, 0.084]
    assert end[20, "nothing"][2].round(3) == 0.011 and round(end[20, "renormalization"][2]) == 376 and round(end[20, "regularizer"][2]) == 13
    assert end[20, "whitening"].min() > 1e70 and np.median(left[20, "renormalization"]["effective_tokens"][:, 8]).round(1) == 2.6
    assert left[20, "renormalization"]["v"][:, 8].min().round(1) == 3.6 and (end[5, "regularizer"] > 0.04).all() and (end[5, "whitening"] > 0.04).all()


@page.after("live-descent")
def test_live_descent_numbers(live):
    def left_after(**values):
        return live.drawn(**values)["excess"][-1]
    aware_ends = [left_after(kappa=kappa) for kappa in (1.0, 16.0, 256.0)]
    gd_ends = [[left_after(optimizer="gd", lr=lr, kappa=kappa) for lr in live.controls["lr"].values] for kappa in (1.0, 16.0, 256.0)]
    assert np.round(aware_ends, 4).tolist() == [0.0019, 0.0026, 0.0027] and np.round([min(row) for row in gd_ends], 3).tolist() == [0.12, 0.03, 0.043]
    first_rule = [left_after(optimizer="preconditioned", lr=lr) for lr in (0.03, 0.1, 0.2, 0.3)]
    assert round(first_rule[0], 2) == 0.16 and round(first_rule[-1], 4) == 0.0036 and live.path(optimizer="preconditioned", lr=0.5).stopped
    assert round(live.drawn()["v"][-1], 2) == 0.53 and round(left_after(s_max=2.0), 3) == 0.059


@page.after("saddle")
def test_saddle_numbers(E, U, V, instance, root, share):
    missing = np.linalg.svd(E)[1]
    assert missing[0].round(4) == 0.0973 and missing[1] < 2e-5 and np.isclose(instance.truth.singular_values[-1], 0.1)
    lowest = np.linalg.eigvalsh(factorization.hessian(share * U, V / share, instance.M @ root))[0]
    assert round(lowest, 3) == -0.091


@page.after("zero-start")
def test_zero_start_numbers(data, start):
    assert mha.PopulationRegression.of(0 * start).loss_and_grad(data.Sigma, data.M)[1].norm() == 0
    assert 0 < (0 * start).loss_and_grad(data.x, data.y)[1].norm() < 0.1


@page.after("small-p-runs")
def test_small_p_numbers(narrow):
    assert all(path.excess[-1] < 0.003 and path.loss[-1] < 1.1 * p * 0.005 for p, path in narrow.items())


@page.after("large-step-runs")
def test_large_step_numbers(large):
    assert max(large[lr].excess[-1] for lr in (0.25, 0.5, 1.0)) < 0.0018 and large[1.5].excess[-1].round(3) == 0.036
    assert large[1.5].loss[-1].round(3) == 0.048 and min(large[2.5].loss[-1], large[2.5].excess[-1]) > 1e70
    assert min(large[lr].effective_tokens[-1] for lr in (1.5, 2.5)) > 200
