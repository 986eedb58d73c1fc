"""What the page laboratory/17_laboratory says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from claims.page import Page

page = Page("laboratory/17_laboratory")


@page.after("run-check")
def test_run_check(names, path):
    assert (names["path"].loss == path.loss).all() and path.loss[-1] < 0.02 < path.loss[0]


@page.after("run-check")
def test_experiment_1(laboratory):
    runs = laboratory.experiments
    edge, calm = laboratory.path(**runs["edge"]), laboratory.path(**runs["edge"] | {"lr": 1.0})
    top = float(mha.landscape.spectrum(edge[0], laboratory.run()["data"]).values[-1])
    assert round(top, 1) == 1.8 and round(20 / (2 / top)) == 18
    assert round(edge.loss[0], 2) == 0.77 and round(edge.loss.max()) == 34 and edge.steps[edge.loss.argmax()] == 2
    assert 1e-6 < edge.loss[-1] < 2e-6 and 1e-3 < calm.loss[-1] < 2e-3


@page.after("run-check")
def test_experiment_2(laboratory, runs):
    equal, one = laboratory.path(**runs["equal"])[-1], laboratory.path(**runs["equal"] | {"H": 1})
    differ = laboratory.path(**runs["equal"] | {"start": "normal"})[-1]
    assert np.ptp(equal.W, axis=0).max() == 0 and abs(differ.W - differ.W[0]).max() > 1
    assert 3 < laboratory.path(**runs["equal"]).loss[-1] / one.loss[-1] < 4


@page.after("run-check")
def test_experiment_3(laboratory, runs):
    narrow, wide = laboratory.path(**runs["narrow"]), laboratory.path(**runs["narrow"] | {"D": 48})
    assert round(narrow.loss[-1], 2) == 0.72 and narrow.grad_norm[-1] < 2e-3
    assert round(wide.loss[-1], 2) == 0.06 and wide.loss[-1] < wide.loss[-2]
    B = wide[0].mixed(laboratory.run(**runs["narrow"] | {"D": 48})["data"].X)
    assert B.shape == (32, 48) and round(float(np.linalg.svd(B)[1][-1]), 2) == 0.05


@page.after("run-check")
def test_experiment_4(laboratory, runs):
    far, near = laboratory.path(**runs["far"]), laboratory.path(**runs["far"] | {"scale": 1.0})
    assert far.grad_norm[0] < 1e-24 and far.loss[-1] == far.loss[0]
    assert (round(near.loss[0], 1), round(near.loss[-1], 1)) == (2.0, 1.3)


@page.after("run-check")
def test_experiment_5(laboratory, runs):
    sa2 = {"optimizer": "structure_aware", "lr": 0.5}
    plain, aware = (laboratory.path(**runs["conditioned"] | more).excess[-1] for more in ({}, sa2))
    assert round(plain, 3) == 0.027 and round(aware, 4) == 0.0025
    assert laboratory.path(**runs["conditioned"] | {"kappa": 1.0}).excess[-1] > plain
    assert round(laboratory.path(**runs["conditioned"] | sa2 | {"kappa": 1.0}).excess[-1], 4) == 0.0016


@page.after("few-refused")
def test_labels_check(laboratory, runs):
    wrong = laboratory.path(**runs["labels"])
    assert wrong.accuracy[-1] == 1 and round(wrong.test_accuracy[-1], 2) == 0.44
    right = laboratory.path(**runs["labels"] | {"flip": 0.0})
    assert (round(wrong.test_loss[-1], 1), round(right.test_loss[-1], 1)) == (2.6, 1.2)
    assert right.test_accuracy[-1] == 0.625
    assert round(laboratory.path(**runs["few"] | {"optimizer": "gd"}).loss[-1], 2) == 0.15


@page.after("solution-warm-up")
def test_solution_warm_up(cold, warm):
    assert warm.loss.max() < cold.loss.max() / 5 and warm.steps[:5].tolist() == [0, 1, 2, 3, 4]
    assert [round(warm.loss[k], 2) for k in (2, 4)] == [0.39, 2.38] and warm.loss[4] == warm.loss.max()
    assert warm.loss[warm.steps >= 20].max() < 5e-4


@page.after("solution-edge")
def test_solution_edge(highest, laboratory, rises):
    assert rises == {0.5: False, 1.0: False, 2.0: True, 5.0: True}
    assert not any(laboratory.path(lr=lr, steps=100).stopped for lr in rises)
    assert (round(float(highest), 2), round(2 / float(highest), 2)) == (1.84, 1.09)


@page.after("solution-python")
def test_solution_python(data, read):
    assert (read.X == data.X).all() and (read.y == data.y).all()


@page.after("solution-python-clean")
def test_solution_refute_check(laboratory):
    for rule, highest in (("gd", 34), ("momentum", 30)):
        drawn = laboratory.drawn(**laboratory.experiments["edge"] | {"optimizer": rule})
        assert round(drawn["loss"].max()) == highest and drawn["loss"][-1] < 1e-5
        assert drawn["sharpness"][0] > drawn["stability_edge"][0] and drawn["sharpness"][-1] < drawn["stability_edge"][-1]
    drawn = laboratory.drawn(**laboratory.experiments["narrow"] | {"steps": 50})
    assert round(float(drawn["sharpness"][0]), 2) == 2.45
    ends = {(rule, lr): laboratory.path(**laboratory.experiments["narrow"] | {"optimizer": rule, "lr": lr}).stopped
            for rule, lr in (("gd", 0.5), ("gd", 1.0), ("momentum", 1.0), ("momentum", 2.0))}
    assert [bool(stopped) for stopped in ends.values()] == [False, True, False, True]
