"""What the page laboratory/17_laboratory says, held against what its cells leave and what its
laboratory runs."""

import numpy as np
import pytest

from page import Page

page = Page("laboratory/17_laboratory")


@page.after("say-experiments")
def test_1_the_loss_rises_in_two_steps_and_ends_below_that_of_step_size_1(edge, run_of):
    calm = run_of("edge", lr=1.0)
    assert edge.steps[edge.loss.argmax()] == 2
    assert 1e-6 < edge.loss[-1] < 2e-6
    assert 1e-3 < calm.loss[-1] < 2e-3
    assert calm.steps[-1] == edge.steps[-1] == 200


@page.after("say-experiments")
def test_1_both_rules_start_far_above_the_edge_and_settle_below_it(edge, pushed, top):
    for path, limit, times in ((edge, 2 / 20, 18), (pushed, 3.8 / 20, 10)):
        assert round(top(path[0]) / limit) == times
        assert top(path[-1]) < limit
        assert path.loss[-1] < 1e-5


@page.after("say-experiments")
def test_2_sixteen_heads_stay_equal_at_three_times_the_loss_of_one_and_random_ones_differ(run_of):
    equal, differ = run_of("equal"), run_of("equal", start="normal")
    assert np.ptp(equal[-1].W, axis=0).max() < 1e-12
    assert abs(differ[-1].W - differ[-1].W[0]).max() > 1
    assert 3 < equal.loss[-1] / run_of("equal", H=1).loss[-1] < 4


@page.after("say-experiments")
def test_3_sixteen_unknowns_stop_without_gradient_and_48_go_on(run_of):
    narrow, wide = run_of("narrow"), run_of("narrow", D=48)
    assert narrow.grad_norm[-1] < 2e-3
    assert wide.loss[-1] < wide.loss[-2] < narrow.loss[-1] / 10


@page.after("say-experiments")
def test_4_far_queries_have_no_gradient_and_the_loss_does_not_move(run_of):
    far = run_of("far")
    assert far.grad_norm[0] < 1e-24
    assert abs(far.loss[-1] - far.loss[0]) < 1e-9 * far.loss[0]


@page.after("say-experiments")
def test_5_sa2_leaves_a_tenth_and_at_condition_number_1_less_where_gradient_descent_leaves_more(
    aware, run_of
):
    plain, second = (
        [run_of("conditioned", **rule, kappa=kappa).excess[-1] for kappa in (1.0, 256.0)]
        for rule in ({}, aware)
    )
    assert plain[0] > plain[1] > 10 * second[1] > 10 * second[0]


@page.after("few-refused")
def test_6_sa1_and_sa2_are_refused_and_gradient_descent_trains(run_of):
    for rule in ("preconditioned", "structure_aware"):
        with pytest.raises(ValueError, match="got 5 tokens in 6 dimensions"):
            run_of("few", optimizer=rule)
    plain = run_of("few", optimizer="gd")
    assert plain.excess[-1] > 100 * plain.loss[-1]


@page.after("few-refused")
def test_7_wrong_labels_are_fitted_and_worse_than_a_coin_and_right_ones_give_a_better_test_set(
    right, wrong
):
    assert wrong.accuracy[-1] == 1
    assert wrong.test_accuracy[-1] < 0.5 < right.test_accuracy[-1]
    assert right.test_loss[-1] < wrong.test_loss[-1]


@page.after("solution-warm-up")
def test_warm_up_raises_the_loss_for_four_steps(warm):
    assert warm.steps[:5].tolist() == [0, 1, 2, 3, 4]
    assert warm.loss[4] == warm.loss.max()
    assert warm.loss[warm.steps >= 20].max() < 5e-4


@page.after("solution-edge")
def test_the_loss_first_rises_between_step_sizes_1_and_2_and_no_run_ends_at_infinity(
    laboratory, rises
):
    assert rises == {0.5: False, 1.0: False, 2.0: True, 5.0: True}
    assert not any(laboratory.path(lr=lr, steps=100).stopped for lr in rises)


@page.after("solution-python")
def test_a_file_of_seventeen_digits_restores_every_double(data, read):
    assert (read.X == data.X).all()
    assert (read.y == data.y).all()


@page.after("solution-python-clean")
def test_on_a_quadratic_momentum_trains_above_the_edge_of_gradient_descent(run_of):
    for rule, trains, diverges in (("gd", 0.5, 1.0), ("momentum", 1.0, 2.0)):
        assert not run_of("narrow", optimizer=rule, lr=trains).stopped
        assert run_of("narrow", optimizer=rule, lr=diverges).stopped
