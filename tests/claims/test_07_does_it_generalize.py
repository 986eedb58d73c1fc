"""What the page multihead/07_does_it_generalize says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import generalization
from claims.page import Page

page = Page("multihead/07_does_it_generalize")


@page.after("figure-pushes")
def test_distance_numbers(distance, noisy_runs, runs, start, traveled):
    def rank_correlation(x, y):
        return np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1]
    mean, shares, noisy_shares = runs.distance.mean(axis=1), runs.expansion[-1], noisy_runs.expansion[-1]
    assert round(traveled, 2) == 7.04 and distance.min().round(2) == 0.17 and distance.max().round(2) == 1.04
    assert round(mean[-1] / traveled, 2) == 0.06 and 0.6 < (mean / mean[-1])[runs.steps == 17][0] < 0.62
    assert (mean / mean[-1])[runs.steps == 250][0].round(2) == 0.95
    assert runs.expansion.max() < 1 + 1e-9 and shares.min().round(2) == 0.30 and shares.max().round(2) == 0.76
    assert (noisy_shares > 1).sum() == 18 and noisy_shares.max().round(1) == 4.9
    assert round(rank_correlation(distance, runs.pushed[-1]), 2) == 0.80
    assert round(noisy_runs.distance[-1].mean() / (noisy_runs.path[-1] - start).norm(), 2) == 0.37


@page.after("left-loss-seen")
def test_left_loss_numbers(noisy_runs, runs):
    assert runs.loss[-1].mean().round(4) == 0.0011 and runs.left_loss[-1].mean().round(4) == 0.0025
    assert round(float(runs.path.test_loss[-1]), 4) == 0.0099 and noisy_runs.loss[-1].mean().round(4) == 0.0004
    assert noisy_runs.left_loss[-1].mean().round(2) == 1.54 and round(float(noisy_runs.path.test_loss[-1]), 2) == 1.41
    assert (noisy_runs.left_loss[-1] > np.log(2)).sum() == 7 and not (runs.left_loss[-1] > np.log(2)).any()


@page.after("figure-gap")
def test_gap_numbers(NS, measured, settings):
    def slope(start, sigma, step, first=2):
        gap = measured("gap", step, start, sigma).mean(axis=0)
        return np.polyfit(np.log(NS[first:]), np.log(gap[first:]), 1)[0].round(2)
    slopes = {case: [slope(*case, step) for step in (10, 100, 1000)] for case in settings.values()}
    assert slopes["zero", 0.0] == [-0.97, -1.22, -1.24] and slopes["many", 0.0] == [-0.8, -1.13, -1.33]
    assert slopes["zero", 0.3] == [-0.68, -0.83, -0.8] and slopes["zero", 1.0] == [-1.07, -0.09, 0.23]
    noise_gap, noise_loss = (measured(name, 1000, "zero", 1.0).mean(axis=0) for name in ("gap", "loss"))
    assert noise_gap[[0, -1]].round(1).tolist() == [1.6, 3.2] and noise_loss.max() < 0.005
    early_gap = measured("gap", 10, "zero", 1.0).mean(axis=0)
    assert early_gap[[0, -1]].round(2).tolist() == [1.05, 0.07] and measured("loss", 10, "zero", 1.0).mean(axis=0)[-1] > 0.5


@page.after("check-ledger")
def test_check_ledger_numbers(rows):
    assert len(rows) == 8 and all(row.check(seed).holds and not row.twin(seed).holds for row in rows for seed in range(3))
    least = {row.id: min(row.on(make()).slack for make in row.extremal) for row in rows if row.extremal}
    assert [np.round(least[name], 2) for name in ("thm-2-stability", "thm-2-generalization", "cor-2-test-loss")] == [0.33, 0.97, 0.67]
    assert all(slack < 4e-3 for name, slack in least.items() if name.startswith("lemma") or name == "thm-2-left-out")


@page.after("ladder")
def test_ladder(ladder):
    assert all((high > low).all() for high, low in zip([*ladder.values()][:-1], [*ladder.values()][1:], strict=True))


@page.after("figure-ladder")
def test_ladder_numbers(G, ladder, measured, over_n):
    top, summed, apart, gap = (rung[-1] for rung in ladder.values())
    assert round(top) == 26 and round(summed, 1) == 3.2 and round(apart, 2) == 0.13 and round(gap * 1e4, 1) == 2.1
    assert round(top / summed) == 8 and round(summed / apart) == 24 and 600 < apart / gap < 650 and 1.2e5 < top / gap < 1.3e5
    assert round(G, 1) == 3.5 and round(ladder["Theorem 2"][0]) == 836 and (ladder["Theorem 2"] > np.log(2)).all()
    worst = np.nanmax(np.concatenate([measured("share", step, "many") for step in (10, 100, 1000)]))
    assert round(worst, 2) == 0.36 and round(measured("expansion", 1000, "many").max(axis=0)[-1], 2) == 0.20 and over_n("first_part").max() < 0
    demand, easy = (generalization.samples_needed(zeta=zeta) for zeta in (0.2, 0.8))
    assert demand.samples == 20438 and round(demand.heads / 1e12, 1) == 3.4 and easy.samples == 3029
    assert measured("test_loss", 10, "many").mean(axis=0)[0].round(2) == 0.59


@page.after("figure-paid")
def test_paid_numbers(AT, gaps, paid):
    assert paid["bound for the left-out sample"][-2:].round(3).tolist() == [0.437, 0.082]
    assert paid["its loss, measured"][-2:].round(4).tolist() == [0.0176, 0.0173]
    assert paid["bound for the left-out sample"][3].round() == 31 and 4 < paid["bound for the left-out sample"][-1] / paid["its loss, measured"][-1] < 5
    lone = gaps.where(start="many", sigma=0.0, n=8)["left_loss"][:, AT[1000]]
    unlucky = mha.data.tokenized_mixture(n=8, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=0.0, seed=int(lone.argmax())).y
    assert (unlucky < 0).sum() == 2 and (unlucky[:4] < 0).sum() == 1  # the first four are left out, one at a time
    assert lone.max().round(1) == 1.2 and np.sort(lone)[-2] < 0.24 and round(lone.mean(), 2) == 0.23


@page.after("live-gap-numbers")
def test_live_gap_numbers(base, ends, few, more, wide):
    loud, louder = ends(sigma=1.0), ends(sigma=1.0, samples=64)
    assert np.round([1e4 * base[0], 1e4 * more[0]], 1).tolist() == [9.8, 6.8] and np.round([base[1], more[1]], -1).tolist() == [4670, 1290]
    assert round(few[0], 1) == 2.0 and len(set(mha.data.tokenized_mixture(4, 8, 8, 4, 0.25, 1.0, 0.2, 0).y)) == 1
    assert [round(each[0], 1) for each in (loud, louder)] == [1.6, 1.6] and 3.4e5 < loud[1] < 3.7e5 and 8.7e5 < louder[1] < 9e5
    assert loud[2] > loud[3] and louder[2] > louder[3] and base[2] < base[3] and loud[4] < 0.0004 and louder[4] < 0.0012
    assert round(wide[0], 3) == 0.014 and 710 < wide[1] < 720
    assert all(each[0] < each[1] and each[2] < each[5] for each in (base, more, few, loud, louder, wide))


@page.after("cost")
def test_cost(NS, cost, gaps):
    steep = [gaps.where(start="zero", sigma=1.0, n=n)["G"].mean() for n in NS]
    assert cost["one head, σ = 1"][[0, -1]].round(1).tolist() == [2.9, 51.8] and cost["one head, σ = 0"][[0, -1]].round(1).tolist() == [10.7, 11.1]
    assert 17.5 < np.divide(*cost["one head, σ = 1"][[-1, 0]]) < 18.5
    assert cost["one head, σ = 0.3"][[0, -1]].round(1).tolist() == [11.5, 13.6] and np.round([steep[0], steep[-1]], -2).tolist() == [1000, 6100]


@page.after("copies")
def test_copies_numbers(checks):
    assert [check.holds for check in checks.values()] == [True, True, True, False]
    lost = mha.ledger["thm-2-stability"].twin(0)
    assert not lost.holds and lost.lhs > lost.rhs


@page.after("figure-stop")
def test_stop_numbers(SIGMAS, best, long, stops):
    def right_at(n, sigma):
        at = stops.where(n=n, sigma=sigma)["test_accuracy"].mean(axis=0)
        return [at[long == best[n, sigma][0]][0].round(2), at[-1].round(2)]
    told = {case: (step, low.round(2), end.round(2)) for case, (step, low, end) in best.items()}
    assert told[100, 0.75] == (131, 0.07, 0.08) and told[100, 1.0] == (19, 0.40, 0.87) and told[400, 1.0] == (27, 0.30, 1.18)
    assert told[100, 1.5] == (2, 0.67, 2.67) and told[400, 1.5] == (7, 0.64, 5.67) and best[100, 0.5][0] == best[400, 0.5][0] == 2000
    assert right_at(100, 1.0) == [0.83, 0.82] and right_at(400, 1.0) == [0.88, 0.83]
    assert max(stops.where(n=n, sigma=sigma)["loss"][:, -1].mean() for n in (100, 400) for sigma in SIGMAS) < 0.01


@page.after("figure-heads")
def test_heads_numbers(ended):
    def both(name, sigma, start="zero", scaling="root", most=64):
        return [ended(name, H, sigma, start, scaling).mean() for H in (1, most)]
    assert np.round(both("loss", 0.3), 4).tolist() == [0.0005, 0.0005] and np.round(both("test_loss", 0.3), 4).tolist() == [0.0007, 0.0018]
    assert np.round(both("test_loss", 0.3, most=8), 4).tolist() == [0.0007, 0.0006]
    assert np.round(both("attention_score", 0.3), 2).tolist() == [0.70, 0.28] and np.round(both("test_loss", 1.0), 2).tolist() == [0.67, 1.22]
    assert np.round(both("test_loss", 0.3, scaling="constant"), 4).tolist() == [0.0002, 0.0041]
    assert np.round(both("test_loss", 1.0, "random", most=16), 2).tolist() == [1.56, 1.04]
    assert np.round(both("test_loss", 0.3, "random", most=16), 4).tolist() == [0.0008, 0.0012]


@page.after("solution-lipschitz")
def test_solution_lipschitz(with_losses, without):
    assert (without[1:] / with_losses[1:]).round(1).tolist()[-1] == 13.7


@page.after("solution-samples")
def test_solution_samples(halved, needs):
    assert all(9 < more / loose < 12 for loose, more in needs.values())
    assert halved.round(1).tolist() == [2.0, 3.4, 4.6]


@page.after("solution-estimate")
def test_solution_estimate(ratios):
    assert 0.2 < ratios["σ = 0.3"].min() < 0.25 and ratios["σ = 1"].min() > 0.99 and ratios["σ = 1"].max() < 1.3


@page.after("solution-monotone")
def test_solution_monotone(helps, noisy, settings):
    assert helps == dict(zip(settings, (True, True, False, True), strict=True))
    assert (abs(noisy.mean(axis=0)) < 2 * noisy.std(axis=0, ddof=1) / len(noisy) ** 0.5).sum() == 5
