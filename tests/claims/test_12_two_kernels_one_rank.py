"""What the page kernels/12_two_kernels_one_rank says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import two_kernels
from claims.page import Page

page = Page("kernels/12_two_kernels_one_rank")


@page.after("figure-weights")
def test_weights_numbers(between, gauss, keys, queries, soft):
    assert [round(float(w[:, 1].max()), 2) for w in (soft, gauss, between)] == [0.35, 1.0, 0.59]
    assert queries[80, 0] == 0 and gauss[80].round(2).tolist() == [0.14, 1.0, 0.61] and round(gauss[80].sum(), 2) == 1.74
    a_third = np.array([1, 2]) / 3
    entropy12 = -(a_third * np.log(a_third)).sum()
    assert round(entropy12, 3) == 0.637 and round(1 / (1 + np.exp(entropy12)), 3) == 0.346
    stretched = mha.softmax(mha.softmax.scores(np.linspace(-1, 1, 2001)[:, None], 4 * keys))[:, 1].max()
    narrow = mha.gaussian(mha.gaussian.scores(4 * queries, 4 * keys))
    assert round(float(stretched), 2) == 0.35 and (narrow / narrow.sum(axis=1, keepdims=True))[:, 1].max() > 0.99


@page.after("figure-outputs")
def test_outputs_numbers(outputs):
    assert [round(float(o.max()), 2) for o in outputs.values()] == [1.03, 1.77, 1.25]
    assert [round(float(o[-1]), 2) for o in outputs.values()] == [-0.95, -0.01, -0.91] and round(float(outputs["Gaussian"].min()), 2) == -0.34


@page.after("ledger")
def test_ledger_numbers(checks, names):
    assert all(check.holds for check in checks) and not any(mha.ledger[name].twin(0).holds for name in names)


@page.after("ledger")
def test_flat_numbers(keys, values):
    eight, u12 = np.array([[8.0]]), values[:, None]
    soft8, gauss8 = mha.softmax(mha.softmax.scores(eight, keys)), mha.gaussian(mha.gaussian.scores(eight, keys))
    slopes8 = float((soft8 @ (u12 * keys) - soft8 @ u12 * (soft8 @ keys))[0, 0]), float((gauss8 @ (u12 * (keys - 8)))[0, 0])
    assert round(-slopes8[0], 3) == 0.001 and round(slopes8[1] * 1e10) == 2


@page.after("figure-stretch")
def test_stretch_numbers(least, pair, scales):
    assert [np.linalg.matrix_rank(S) for S in pair] == [6, 6]
    assert [f"{np.linalg.svd(S)[1][-1]:.1e}" for S in pair] == ["7.8e-06", "4.3e-05"]
    at_4 = {name: round(float(np.interp(4, scales, row)), 3) for name, row in least.items()}
    assert at_4 == {"softmax": 0.003, "Gaussian": 0.507, "Gaussian, rows normalized": 0.329}
    assert least["softmax"][-1] < 1e-4 and min(least["Gaussian"][-1], least["Gaussian, rows normalized"][-1]) > 0.95


@page.after("jacobians")
def test_jacobians_numbers(X, bound, free):
    thin, full = (np.linalg.svd(two_kernels.token_jacobians(layer, X))[1][0] for layer in (bound, free))
    assert full[:, 0].min() > 0.5 and full[:, 0].max() < 1
    assert (thin[:, 2] < 1e-12).all() and thin[:, 1].min() > 0.07 and full[:, 2].min() > 0.016 and full[:, 2].max() < 0.043


@page.after("live-numbers")
def test_live_numbers(drawn, three):
    forces = [[round(one[f"{name}_here_force"], 2) for name in three] for one in drawn]
    assert forces[0] == [-0.32, 0.33, -0.48] and forces[3][1] == -0.41 and max(abs(forces[3][0]), abs(forces[3][2])) == 0
    hills = [[max(one[f"{name}_weight"]) for name in three] for one in drawn[:3]]
    assert np.round(hills, 2)[:, 1:].tolist() == [[1.0, 0.59], [1.0, 1.0], [1.0, 0.4]] and max(row[0] for row in hills) < 0.35
    assert min(max(drawn[4][f"{name}_weight"]) for name in three) > 0.99


@page.after("far-rank")
def test_far_rank_numbers(far):
    assert far[0].max() > 0.99 and 0 < far[1].max() < 1e-260 and np.linalg.matrix_rank(far[1], tol=1e-15) == 0


@page.after("solution-third")
def test_solution_third(J12):
    assert np.linalg.svd(J12)[1][1] > 0.05 and np.linalg.svd(J12)[1][2] < 1e-8


@page.after("solution-back-numbers")
def test_solution_back_numbers(ends, keys, q, values):
    assert abs((mha.gaussian(mha.gaussian.scores(q, keys)) @ values)[0] - 0.5) < 1e-6
    assert {name: loss < 1e-12 for name, (_, loss) in ends.items()} == {"softmax": True, "Gaussian": False, "Gaussian, rows normalized": True}


@page.after("solution-open")
def test_solution_open_numbers(medians, ratio):
    assert ratio[0.5] > 0.95 and 0.28 < ratio[2.0] < 0.4 and round(medians[0.5][1] / medians[0.5][0], 1) == 4.4
    assert [round(medians[scale][k], 4) for scale in (0.5, 2.0) for k in (0, 2)] == [0.0134, 0.0140, 0.0015, 0.0021]
