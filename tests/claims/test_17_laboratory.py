"""What the page laboratory/17_laboratory says, held against what its cells leave and what its laboratory runs."""

from functools import cache

import numpy as np
import pytest

import mhalib as mha
from page import Page

page = Page("laboratory/17_laboratory")
SA2 = {"optimizer": "structure_aware", "lr": 0.5}


@cache
def path(laboratory, experiment, **changes):
    """The run of an experiment with some of its settings changed, computed once."""
    return laboratory.path(**laboratory.experiments[experiment] | changes)


@cache
def drawn(laboratory, experiment, **changes):
    """What the laboratory draws of such a run."""
    return laboratory.drawn(**laboratory.experiments[experiment] | changes)


def excess(laboratory, **changes):
    """The population excess at the end of experiment 5."""
    return path(laboratory, "conditioned", **changes).excess[-1]


@page.after("run")
def test_the_printed_lines_repeat_the_run(laboratory, path):
    names = {}
    exec(laboratory.code(H=8, schedule="cosine", steps=200), names)
    assert np.allclose(names["path"].loss, path.loss, rtol=1e-9, atol=0)
    assert path.loss[-1] < 0.02 < path.loss[0]


@page.after("run")
def test_1_the_step_is_eighteen_times_two_over_the_largest_eigenvalue(laboratory):
    edge = path(laboratory, "edge")
    largest = float(mha.landscape.spectrum(edge[0], laboratory.run()["data"]).values[-1])
    assert round(largest, 1) == 1.8
    assert laboratory.experiments["edge"]["lr"] == 20
    assert round(20 / (2 / largest)) == 18


@page.after("run")
def test_1_the_loss_rises_to_34_in_two_steps_and_ends_below_that_of_step_size_1(laboratory):
    edge, calm = path(laboratory, "edge"), path(laboratory, "edge", lr=1.0)
    assert round(edge.loss[0], 2) == 0.77
    assert round(edge.loss.max()) == 34
    assert edge.steps[edge.loss.argmax()] == 2
    assert 1e-6 < edge.loss[-1] < 2e-6
    assert 1e-3 < calm.loss[-1] < 2e-3
    assert calm.steps[-1] == edge.steps[-1] == 200


@page.after("run")
def test_1_the_curvature_drops_below_the_edge_and_the_run_settles_there(laboratory):
    seen = drawn(laboratory, "edge")
    assert seen["sharpness"][0] > seen["stability_edge"][0]
    assert seen["sharpness"][-1] < seen["stability_edge"][-1]
    assert np.allclose(seen["stability_edge"], 0.1)


@page.after("run")
def test_2_heads_that_start_at_zero_stay_equal_and_random_ones_differ(laboratory):
    equal, differ = path(laboratory, "equal")[-1], path(laboratory, "equal", start="normal")[-1]
    assert np.ptp(equal.W, axis=0).max() < 1e-12
    assert abs(differ.W - differ.W[0]).max() > 1


@page.after("run")
def test_2_the_loss_of_sixteen_equal_heads_is_three_times_that_of_one(laboratory):
    assert 3 < path(laboratory, "equal").loss[-1] / path(laboratory, "equal", H=1).loss[-1] < 4


@page.after("run")
def test_3_sixteen_unknowns_stop_at_a_loss_without_gradient(laboratory):
    narrow = path(laboratory, "narrow")
    assert round(narrow.loss[-1], 2) == 0.72
    assert narrow.grad_norm[-1] < 2e-3


@page.after("run")
def test_3_at_dimension_48_the_rank_is_full_and_the_loss_still_falls(laboratory):
    wide = path(laboratory, "narrow", D=48)
    B = wide[0].mixed(laboratory.run(**laboratory.experiments["narrow"] | {"D": 48})["data"].X)
    assert B.shape == (32, 48)
    assert round(float(np.linalg.svd(B)[1][-1]), 2) == 0.05
    assert round(wide.loss[-1], 2) == 0.06
    assert wide.loss[-1] < wide.loss[-2]


@page.after("run")
def test_4_far_queries_have_no_gradient_and_the_loss_does_not_move(laboratory):
    far = path(laboratory, "far")
    assert far.grad_norm[0] < 1e-24
    assert abs(far.loss[-1] - far.loss[0]) < 1e-9 * far.loss[0]


@page.after("run")
def test_4_from_scale_1_the_loss_falls(laboratory):
    near = path(laboratory, "far", scale=1.0)
    assert round(near.loss[0], 1) == 2.0
    assert round(near.loss[-1], 1) == 1.3


@page.after("run")
def test_5_gradient_descent_leaves_ten_times_the_excess_of_sa2(laboratory):
    assert round(excess(laboratory), 3) == 0.027
    assert round(excess(laboratory, **SA2), 4) == 0.0025


@page.after("run")
def test_5_at_condition_number_1_gradient_descent_does_worse_and_sa2_a_little_better(laboratory):
    assert excess(laboratory, kappa=1.0) > excess(laboratory)
    assert round(excess(laboratory, **SA2, kappa=1.0), 4) == 0.0016


@page.after("few-refused")
def test_6_sa1_and_sa2_are_refused_and_gradient_descent_trains(laboratory):
    for rule in ("preconditioned", "structure_aware"):
        with pytest.raises(ValueError, match="got 5 tokens in 6 dimensions"):
            path(laboratory, "few", optimizer=rule)
    plain = path(laboratory, "few", optimizer="gd")
    assert round(plain.loss[-1], 2) == 0.15
    assert plain.excess[-1] > 100 * plain.loss[-1]


@page.after("few-refused")
def test_7_wrong_labels_are_fitted_and_the_test_set_pays(laboratory):
    wrong = path(laboratory, "labels")
    assert wrong.accuracy[-1] == 1
    assert round(wrong.test_accuracy[-1], 2) == 0.44
    assert round(wrong.test_loss[-1], 1) == 2.6


@page.after("few-refused")
def test_7_right_labels_give_a_better_test_set(laboratory):
    right = path(laboratory, "labels", flip=0.0)
    assert right.test_accuracy[-1] == 0.625
    assert round(right.test_loss[-1], 1) == 1.2


@page.after("solution-warm-up")
def test_warm_up_tames_the_step_and_the_loss_still_rises(cold, warm):
    assert warm.loss.max() < cold.loss.max() / 5
    assert warm.steps[:5].tolist() == [0, 1, 2, 3, 4]
    assert [round(warm.loss[k], 2) for k in (2, 4)] == [0.39, 2.38]
    assert warm.loss[4] == warm.loss.max()
    assert warm.loss[warm.steps >= 20].max() < 5e-4


@page.after("solution-edge")
def test_the_loss_first_rises_between_step_sizes_1_and_2_and_no_run_ends_at_infinity(highest, laboratory, rises):
    assert rises == {0.5: False, 1.0: False, 2.0: True, 5.0: True}
    assert not any(laboratory.path(lr=lr, steps=100).stopped for lr in rises)
    assert round(float(highest), 2) == 1.84
    assert round(2 / float(highest), 2) == 1.09


@page.after("solution-edge")
def test_b_has_full_row_rank_from_dimension_32_on(laboratory):
    for D in (4, 8, 16, 24, 32, 48):
        run = laboratory.run(**laboratory.experiments["narrow"] | {"D": D, "steps": 50})
        assert np.linalg.matrix_rank(run["model"].mixed(run["data"].X)) == min(D, 32)


@page.after("solution-python")
def test_a_file_of_seventeen_digits_restores_every_double(data, read):
    assert (read.X == data.X).all()
    assert (read.y == data.y).all()


@page.after("solution-python-clean")
def test_both_rules_survive_far_above_the_edge_on_the_classifier(laboratory):
    for rule, highest in (("gd", 34), ("momentum", 30)):
        seen = drawn(laboratory, "edge", optimizer=rule)
        assert round(seen["loss"].max()) == highest
        assert seen["loss"][-1] < 1e-5
        assert seen["sharpness"][0] > seen["stability_edge"][0]
        assert seen["sharpness"][-1] < seen["stability_edge"][-1]


@page.after("solution-python-clean")
def test_on_a_quadratic_momentum_trains_above_the_edge_of_gradient_descent(laboratory):
    assert round(float(drawn(laboratory, "narrow", steps=50)["sharpness"][0]), 2) == 2.45
    for rule, trains, diverges in (("gd", 0.5, 1.0), ("momentum", 1.0, 2.0)):
        assert not path(laboratory, "narrow", optimizer=rule, lr=trains).stopped
        assert path(laboratory, "narrow", optimizer=rule, lr=diverges).stopped
