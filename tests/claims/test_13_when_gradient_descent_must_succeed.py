"""What the page kernels/13_when_gradient_descent_must_succeed says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import one_layer
from claims.page import Page

page = Page("kernels/13_when_gradient_descent_must_succeed")


@page.after("train-others")
def test_train_numbers(promised, runs):
    ratio = {name: run.loss[-1] / run.loss[0] for name, run in runs.items()}
    assert [round(ratio[f"{name}, D = 24"], 3) for name in ("softmax", "Gaussian")] == [0.081, 0.048]
    assert f"{ratio['softmax, D = 48']:.0e}" == "5e-07" and f"{promised[-1]:.0e}" == "3e-13" and 5e-16 < ratio["Gaussian, D = 48"] < 9e-16
    fitted = runs["Gaussian, D = 48"].loss
    assert (fitted <= fitted[0] * promised * (1 + 1e-9)).all()


@page.after("dimension-table")
def test_dimension_numbers(ROWS, remaining, table, tried):
    mid = {(row, kernel): [np.median(remaining(row, kernel, D)) for D in tried(row)] for row in ROWS for kernel in ("softmax", "gaussian")}
    values, untied, every = ([mid[row, kernel] for kernel in ("softmax", "gaussian")] for row in [*ROWS][:3])
    assert len(table) == 496 and all(len(remaining(row, "softmax", D)) == 8 for row in ROWS for D in tried(row))
    assert [f"{number:.2g}" for kind in values for number in kind[:3]] == ["0.34", "0.13", "0.0022", "0.3", "0.12", "0.0033"]
    assert [f"{number:.0e}" for kind in values for number in kind[3:]] == ["4e-12", "3e-17", "3e-28", "1e-18", "5e-28", "2e-29"]
    assert [round(number, 2) for kind in untied for number in kind] == [0.52, 0.26, 0.14, 0.12, 0.16, 0.12, 0.44, 0.25, 0.12, 0.09, 0.13, 0.11]
    assert max(every[0]) < 1e-28 and f"{every[1][0]:.0e}" == "6e-11" and max(every[1][1:]) < 1e-28
    least = {(D, tied): table.where(only="WV", D=D, tied=tied, scale=1.0 if tied else 0.5)["sigma"] for D in (32, 64) for tied in (False, True)}
    assert [f"{pick(least[64, tied]):.2g}" for tied in (False, True) for pick in (min, max)] == ["0.0023", "0.12", "0.46", "2.3"]
    assert [f"{pick(least[32, tied]):.0e}" for tied in (False, True) for pick in (min, max)] == ["9e-05", "1e-02", "2e-03", "3e-01"]


@page.after("dimension-table")
def test_joint_numbers(FRACTIONS, ROWS, remaining, tried):
    joint = {(kernel, D): remaining("queries, keys, values", kernel, D) for kernel in ("softmax", "gaussian") for D in FRACTIONS}
    assert max(joint["softmax", D].max() for D in FRACTIONS) < 1e-27
    assert np.sort(joint["gaussian", 16])[-2:].round(4).tolist() == [0.0064, 0.0075] and np.sort(joint["gaussian", 16])[-3] < 1e-9
    assert [int((joint["gaussian", D] > 1e-5).sum()) for D in FRACTIONS] == [2, 0, 1, 0, 1, 0] and np.sort(joint["gaussian", 48])[-2] < 1e-9
    queries = {(row, kernel): np.array([remaining(row, kernel, D) for D in tried(row)]) for row in [*ROWS][3:] for kernel in ("softmax", "gaussian")}
    ahead = [(queries[row, "gaussian"] < queries[row, "softmax"]).sum(axis=1).tolist() for row in [*ROWS][3:]]
    assert ahead == [[3, 5, 4], [4, 5, 4]]
    every_run = {kernel: np.concatenate([queries[row, kernel].ravel() for row in [*ROWS][3:]]) for kernel in ("softmax", "gaussian")}
    assert [(int((runs_ < 1e-8).sum()), int((runs_ > 1e-3).sum()), len(runs_)) for runs_ in every_run.values()] == [(18, 23, 48), (7, 11, 48)]
    middle = {kernel: [np.median(part) for row in [*ROWS][3:] for part in queries[row, kernel]] for kernel in ("softmax", "gaussian")}
    assert [f"{pick(middle[kernel]):.0e}" for kernel in ("softmax", "gaussian") for pick in (min, max)] == ["2e-07", "4e-03", "5e-06", "3e-04"]


@page.after("scale-table")
def test_scale_numbers(table):
    by_scale = {(kernel, tied, s): np.median(table.where(only="WV", kernel=kernel, tied=tied, D=48, scale=s)["relative"])
                for kernel in ("softmax", "gaussian") for tied, s in ((True, 0.1), (True, 1.0), (True, 4.0), (True, 8.0), (False, 4.0))}
    assert [round(by_scale[kernel, True, 0.1], 2) for kernel in ("softmax", "gaussian")] == [0.57, 0.54]
    assert max(by_scale[kernel, True, 1.0] for kernel in ("softmax", "gaussian")) < 1e-16 and max(by_scale["gaussian", True, s] for s in (4.0, 8.0)) < 1e-28
    assert [round(by_scale["softmax", True, s], 4) for s in (4.0, 8.0)] == [0.0017, 0.0005]
    assert [f"{by_scale[kernel, False, 4.0]:.2g}" for kernel in ("softmax", "gaussian")] == ["0.034", "0.94"]


@page.after("scale-table")
def test_start_numbers(remaining):
    least32 = {(kernel, scale): one_layer.least_singular(mha.AttentionLayer.random(32, 8, 1, scale=scale, kernel=kernel).mixed(
        mha.data.random_sequences(8, 4, 32).X)) for scale in (1.0, 4.0) for kernel in (mha.softmax, mha.gaussian)}
    found32 = list(least32.values())
    assert [f"{least:.0e}" for least in found32[:3]] == ["1e-04", "2e-05", "4e-08"] and found32[3] < 1e-20
    assert [sum((remaining("queries, keys, values", kernel, D) < 1e-9).sum() for kernel in ("softmax", "gaussian")) for D in (16, 24)] == [14, 16]
    assert (remaining("queries, keys, values", "softmax", 16) < 1e-9).all()
    line13 = np.linspace(-1, 1, 6)[:, None]
    on_line = [np.linalg.svd(mha.softmax(mha.softmax.scores(s * line13, s * line13)))[1][-1] for s in (4, 8)]
    assert round(on_line[0], 3) == 0.003 and f"{on_line[1]:.0e}" == "9e-10"


@page.after("check-ledger")
def test_check_ledger_numbers(mine):
    assert len(mine) == 7 and all(row.check(seed).holds and not row.twin(seed).holds for row in mine for seed in range(3))


@page.after("near-numbers")
def test_near_asserted(allowed, data, lr, radius, runs, start):
    assert f"{radius:.1e}" == "2.8e-03" and f"{allowed:.0e}" == "2e-08" and round(float(start.loss(data.X, data.y)), 1) == 2.4
    spent = {name: (run.steps[run.loss <= 1e-6 * run.loss[0]][0], one_layer.value_rate(run[0], data.X) / one_layer.value_smoothness(run[0], data.X))
             for name, run in runs.items() if name.endswith("48")}
    assert {name: (int(steps), round(np.log(1e-6) / np.log(1 - rate) / 2 / steps, 1)) for name, (steps, rate) in spent.items()} == {
        "softmax, D = 48": (1899, 1.4), "Gaussian, D = 48": (566, 1.7)}
    close = one_layer.near(start, data.X)
    ended = mha.train(start, close, mha.GradientDescent(lr), 500, only=("WQ", "WK", "WV"))
    assert round((ended[-1] - start).norm() / radius, 2) == 0.06 and ended.loss[-1] < 2e-9 * ended.loss[0]
    assert round(lr * one_layer.smoothness(start, close, radius), -1) == 460


@page.after("live")
def test_live_numbers(live):
    seen = {name: live.drawn(**values) for name, values in {
        "long": {"lr": 1.5}, "longer": {"lr": 2.5}, "wide": {"D": 32}, "four": {"D": 8, "H": 4},
        "untied": {"tied": False, "scale": 4.0}, "tied": {"scale": 4.0}, "all": {"moves": "WQ WK WV", "D": 16}}.items()}
    first, low = live.drawn(), live.drawn(D=24)
    assert [round(float(one[f"{kernel}_least"]), 2) for one in (first, seen["wide"]) for kernel in ("softmax", "gaussian")] == [0.56, 1.12, 0.04, 0.11]
    assert [round(float(seen["wide"][f"{kernel}_guarantee"]), 2) for kernel in ("softmax", "gaussian")] == [0.99, 0.96]
    assert all(low[f"{kernel}_least"] == 0 and min(low[f"{kernel}_spectrum"]) > 0.4 for kernel in ("softmax", "gaussian"))
    assert max(seen["long"][kernel][-1] for kernel in ("softmax", "gaussian")) < 0.0021 and min(seen["longer"][kernel][-1] for kernel in ("softmax", "gaussian")) > 1e100
    assert all(seen["four"][f"{kernel}_least"] < 0.7 * seen["wide"][f"{kernel}_least"] for kernel in ("softmax", "gaussian"))
    assert [f"{seen[start_]['gaussian_guarantee']:.0e}" for start_ in ("tied", "untied")] == ["1e-04", "1e+00"]
    assert [f"{seen[start_]['softmax_guarantee']:.2g}" for start_ in ("tied", "untied")] == ["0.88", "1"]
    assert [f"{seen['all'][kernel][-1]:.1g}" for kernel in ("softmax", "gaussian")] == ["0.0008", "0.003"]


@page.after("equal-tokens")
def test_equal_numbers(start, twice):
    assert one_layer.value_rate(start, twice) < 1e-25


@page.after("far-start")
def test_far_asserted(data, far):
    assert np.median(far.weights(data.X).max(axis=-1)) < 1e-11


@page.after("solution-heads")
def test_solution_heads(best):
    assert all(best[1, kernel] > max(best[2, kernel], best[4, kernel]) for kernel in (mha.softmax, mha.gaussian))
