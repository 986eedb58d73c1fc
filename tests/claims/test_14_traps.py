"""What the page kernels/14_traps says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import lines
from mhalib.theory import traps
from claims.page import Page

page = Page("kernels/14_traps")


@page.after("table-examples")
def test_examples_numbers(KINDS, runs):
    ends = {key: float(path.loss[-1]) for key, path in runs.items()}
    assert [round(ends[name, "softmax"], 7) for name in ("B1", "B2")] == [0.0416667, 1.3491885] and ends["B3", "softmax"] < 1e-32
    assert ends["B1", "Gaussian"] < 1e-31 and ends["B2", "Gaussian"] < 1e-30 and round(ends["B3", "Gaussian"], 6) == 0.405
    assert round(runs["B2", "softmax"].loss[0], 6) == 1.501927 and round(runs["B2", "Gaussian"].loss[0], 6) == 0.642318
    assert [round(ends[name, KINDS[2]], 4) for name in ("B1", "B2")] == [0.0035, 0.6758] and ends["B3", KINDS[2]] < 1e-32
    other = mha.train(*traps.example("B2", mha.softmax, start=(-1.0,) * 4), mha.GradientDescent(0.1), 1000, only=("WQ",), record=[0, 1000])
    assert 3e-30 < other.loss[-1] < 4e-30
    last = runs["B2", "softmax"][-1]
    units = [last.with_arrays(**{name: W * 0 for name, W in last.arrays().items()} | {"WQ": np.eye(4)[i].reshape(1, 4, 1)}) for i in range(4)]
    B2_data = traps.example("B2", mha.softmax)[1]
    hessian = np.array([[last.hvp(B2_data.X, B2_data.y, e).dot(f) for e in units] for f in units])
    assert runs["B2", "softmax"].grad_norm[-1] < 1e-12 and np.linalg.eigvalsh(hessian).round(3).tolist() == [0.272] * 4


@page.after("figure-one-query")
def test_one_query_numbers(B2, KINDS, minima, seen_by):
    assert [[(round(one.q, 2), round(one.loss, 3)) for one in minima[kind]] for kind in KINDS] == [
        [(-1.39, 0.0), (1.07, 0.337)], [(-2.51, 0.0), (-2.24, 0.0), (0.73, 0.0), (2.16, 0.0)], [(-2.89, 0.0), (1.42, 0.169)]]
    hill = {kind: line.basins(B2["y"])[0][1] for kind, line in seen_by.items()}
    assert abs(hill["softmax"]) < 1e-12 and round(hill[KINDS[2]], 2) == -0.63 and round(float(seen_by["Gaussian"].loss(hill["Gaussian"], 2)), 2) < 0.3


@page.after("figure-other-way")
def test_other_way_numbers(KINDS, ends, shown, turned):
    assert np.allclose(shown["softmax"], shown[KINDS[2]]) and [round(ends["B4", kind], 6) for kind in KINDS] == [0.0, 0.124663, 0.0]
    assert [(round(one.q, 2), round(one.loss, 4)) for one in turned["Gaussian"].minima(1.5)] == [(-2.0, 0.1247), (1.24, 0.0), (2.76, 0.0)]
    assert [(round(abs(one.q), 6), one.loss) for one in turned["softmax"].minima(1.5)] == [(0.0, 0.0)]
    assert round(float(turned["Gaussian"].loss(turned["Gaussian"].basins(1.5)[0][1], 1.5)), 2) == 0.63 and ends["B4", "softmax"] < 1e-28


@page.after("two-free-numbers")
def test_two_free_numbers(found, seen_by, square):
    assert [[len(sort) for sort in drawn[1]] for drawn in square.values()] == [[1, 3], [16, 0], [1, 3]]
    assert found == [0.337, 0.337, 0.675]
    arrived = [int((seen_by[kind].loss(drawn[2][-1], 2).sum(axis=0) < 1e-9).sum()) for kind, drawn in square.items()]
    assert arrived == [1, 4, 0]


@page.after("figure-two-free-turned")
def test_two_free_turned_numbers(KINDS, square4, turned):
    assert [[len(sort) for sort in square4[kind][1]] for kind in KINDS] == [[1, 0], [4, 5], [1, 0]]
    arrived4 = [int((turned[kind].loss(drawn[2][-1], 1.5).sum(axis=0) < 1e-9).sum()) for kind, drawn in square4.items()]
    assert arrived4 == [4, 1, 4]


@page.after("prove-numbers")
def test_prove_numbers(B2, eps, seen_by, w):
    B3 = {name: np.array(traps.EXAMPLES["B3"][name])[:, None] for name in ("keys", "values")}
    assert round(traps.waiting_time(np.array([-1.0]), **B3, y=np.array([0.9]), lr=1.0, kernel=mha.gaussian, near=3.0)) == 2_001_830
    assert (0.9 - np.exp(-4.5)) ** 2 / 2 > 0.395
    assert (round(w, 3), round(eps, 3)) == (0.135, 0.271) and eps < 0.5 and 2 * eps < 1 - w
    means = traps.top_means(B2["keys"], B2["values"])
    assert np.allclose(means, [1, 1.5, 1 / 3, 1]) and seen_by["softmax"].output(np.array(B2["start"])).min() > 1


@page.after("slices-two-free-table")
def test_slices_two_free_numbers(cuts, square):
    for kind, cut in cuts.items():
        by_pairs, found = [pair for sort in square[kind][1] for pair in sort], cut.minima()
        assert all(one.strict for one in found) and sorted(np.round(by_pairs, 5).tolist()) == sorted(np.round([one.at for one in found], 5).tolist())


@page.after("wait")
def test_wait_numbers(B3, steps):
    assert steps == 2_154_384
    assert 9e8 < traps.waiting_time(np.array([-2.0]), **B3, y=np.array([0.9]), lr=1.0, kernel=mha.gaussian, near=3.0) < 1e9


@page.after("basins-numbers")
def test_basins_numbers(KINDS, share):
    assert share["softmax"] == [0.513, 0.513, 0.489, 0.341] and share["Gaussian"] == [1.0, 0.999, 0.898, 0.588]
    assert share[KINDS[2]][0] == 0.273


@page.after("random-numbers")
def test_random_numbers(only, random):
    stuck, arrives = (100 * random[name] / random["kept"][:, None] for name in ("stuck", "arrives"))
    assert stuck.round(1).tolist() == [[7.2, 14.4, 9.0], [6.4, 31.0, 13.4], [18.5, 70.7, 56.4]] and random["kept"].tolist() == [2533, 2825, 3338]
    assert ((only[:, 1] - only[:, 0]) / only.sum(axis=1) ** 0.5).min() > 8 and random["missed"].max() <= 4
    assert (arrives / 100).round(2).tolist() == [[0.94, 0.9, 0.92], [0.87, 0.74, 0.82], [0.74, 0.64, 0.64]]
    sampled = (stuck * (100 - stuck) / random["kept"][:, None]) ** 0.5
    assert sampled.max() < 0.9
    away = 100 * random["outward"] / random["kept"][:, None]
    assert (abs(away[:, 0] - 41) < 2.5).all() and (abs(away[:, 1] - 66.5) < 3).all()


@page.after("teachers-table")
def test_teachers_numbers(teachers):
    done = {only: [int((teachers.where(teacher=a, student=b, only=only)["relative"][:, 1] < 1e-6).sum()) for a in ("softmax", "gaussian")
                   for b in ("softmax", "gaussian")] for only in ("WQ", "WQ WK WV")}
    assert done == {"WQ": [16, 9, 4, 12], "WQ WK WV": [19, 18, 19, 18]} and len(teachers) == 160


@page.after("live-two-tokens")
def test_live_numbers(B2, seen_by):
    moved = {kind: line.descend(np.array(B2["start"]) - 1, 2.0, 0.1, 300)[-1] for kind, line in seen_by.items()}
    assert [int((seen_by[kind].loss(q, 2.0) < 1e-6).sum()) for kind, q in moved.items()] == [2, 4, 1]
    B1_line = {c: lines.Line(traps.EXAMPLES["B1"]["keys"], traps.EXAMPLES["B1"]["values"], mha.attention.Gaussian(c)) for c in (0.5, 0.75, 1.0)}
    assert [[round(one.loss, 3) for one in line.minima(0.5)] for line in B1_line.values()] == [[0, 0], [0, 0.099, 0], [0, 0.028, 0]]
    wide = {c: lines.Line(traps.EXAMPLES["B3"]["keys"], traps.EXAMPLES["B3"]["values"], mha.attention.Gaussian(c)) for c in (0.125, 0.5)}
    assert (wide[0.5].loss(wide[0.5].descend([0.0, 0.8, 1.0], 0.9, 1.0, 300)[-1], 0.9) < 1e-6).tolist() == [False, False, True]
    assert wide[0.125].loss(wide[0.125].descend([-1.0], 0.9, 1.0, 300)[-1], 0.9)[0] < 1e-6


@page.after("width-b1")
def test_width_b1_numbers(by_width):
    assert [(a < 1e-9, b < 1e-9) for a, b in by_width.values()] == [(True, False), (False, True), (False, True)]
    assert round(by_width[1.0][0], 4) == 0.0834 and round(by_width[0.75][0], 3) == 0.297


@page.after("all-weights-runs")
def test_all_weights_numbers(escaped):
    assert max(loss for (only, kind), loss in escaped.items() if only != ("WQ",)) < 0.002


@page.after("lifted")
def test_lifted_numbers(KINDS, lifted_ends):
    assert lifted_ends[1.0, "Gaussian"].grad_norm[-1] < 1e-9 and round(float(lifted_ends[1.0, "Gaussian"].loss[-1]), 3) == 0.214
    stuck_on_line = [lifted_ends[0.0, kind].grad_norm[-1] < 1e-6 and lifted_ends[0.0, kind].loss[-1] > 0.8 for kind in KINDS]
    assert stuck_on_line == [True, False, True] and all(lifted_ends[lift, "Gaussian"].loss[-1] < 1e-20 for lift in (0.0, 0.1))
    falling = [path.loss[-1] < 0.98 * path.loss[1] for (lift, kind), path in lifted_ends.items() if lift and kind != "Gaussian"]
    assert [round(float(lifted_ends[0.0, kind].loss[-1]), 2) for kind in KINDS][2] == 0.88
    assert all(falling) and (lifted_ends[0.1, "softmax"][-1].WQ[0, :, 0] > 0).all()


@page.after("solution-rounding")
def test_solution_rounding_numbers(dip, true):
    naive, exact = int(dip.any(axis=1).sum()), len(true)
    assert exact == 34 and naive > 3 * exact


@page.after("solution-push")
def test_solution_push_numbers(pushed):
    assert all(1.349 < path.loss[-1] < 1.36 and path[-1].WQ.min() > 0.9 for path in pushed.values())
