"""What the page laboratory/17_laboratory says, held against what its cells leave and what its
laboratory runs."""

import numpy as np
import pytest

from page import Page

page = Page("laboratory/17_laboratory")
UNQUOTED = {
    "what the laboratory offers, and how": (
        "title: The figure",
        "need",
        "panels",
        "files",
        "left-out",
    ),
    "another test's": (
        "prove: Its results",
        "check-run",
    ),
    "what rounding does": ("prove: Above",),
    "what is proved": (
        "sliders: So the condition",
        "experiment-3-text: It is quadratic",
        "seen",
    ),
    "what a link does": (
        "sliders: Set",
        "experiment-2-text: Set",
        "experiment-3-text: Set",
        "experiment-4-text: Set",
        "experiment-5-text: Set",
        "breaks: Set",
        "labels: Set",
    ),
}


@page.after(
    "say-experiments",
    says=(
        "guarantees that a step decreases",
        "if the step size is at most one over the curvature along the step",
        "The step size is 20, and the largest eigenvalue at initialization is "
        "{glue:text}`sharpest`, so the edge $2/\\eta=0.1$ lies far below this eigenvalue",
        "The loss rises from {glue:text}`edge_first` to {glue:text}`edge_highest` in two steps, "
        "and then falls to $10^{-6}$, below the $10^{-3}$ that step",
        "size 1 reaches in 200 steps. So",
    ),
)
def test_1_the_loss_rises_in_two_steps_and_ends_below_that_of_step_size_1(
    edge, laboratory, run_of, said
):
    *_, two, ten, same, rate, steps = said
    assert said[0] == laboratory.experiments["edge"]["lr"]
    assert said[1] / said[0] == said[2]
    calm = run_of("edge", lr=rate)
    assert edge.steps[edge.loss.argmax()] == two
    assert ten**-6 < edge.loss[-1] < 2 * ten**-6
    assert same**-3 < calm.loss[-1] < 2 * same**-3
    assert calm.steps[-1] == edge.steps[-1] == steps


@page.after("say-experiments")
def test_1_both_rules_start_far_above_the_edge_and_settle_below_it(edge, pushed, top):
    for path, limit, times in ((edge, 2 / 20, 18), (pushed, 3.8 / 20, 10)):
        assert round(top(path[0]) / limit) == times
        assert top(path[-1]) < limit
        assert path.loss[-1] < 1e-5


@page.after(
    "say-experiments",
    says=(
        'Move "head shown": the sixteen pictures are the same',
        "acts like one head, counted sixteen times",
        "After 500 steps, its loss is more than three times that of a single head",
    ),
)
def test_2_sixteen_heads_stay_equal_at_three_times_the_loss_of_one_and_random_ones_differ(
    run_of, said
):
    heads, same, steps, times = said
    equal, differ = run_of("equal"), run_of("equal", start="normal")
    assert np.ptp(equal[-1].W, axis=0).max() < 1e-12
    assert abs(differ[-1].W - differ[-1].W[0]).max() > 1
    assert len(equal[-1].W) == heads == same and equal.steps[-1] == steps
    assert times < equal.loss[-1] / run_of("equal", H=1).loss[-1] < times + 1


@page.after(
    "say-experiments",
    says=(
        "Raise the dimension to 48",
        "after 1,000 steps the loss is {glue:text}`wide` and still falling",
    ),
)
def test_3_sixteen_unknowns_stop_without_gradient_and_48_go_on(run_of, said):
    dimension, steps = said
    narrow, wide = run_of("narrow"), run_of("narrow", D=int(dimension))
    assert wide.steps[-1] == steps
    assert narrow.grad_norm[-1] < 2e-3
    assert wide.loss[-1] < wide.loss[-2] < narrow.loss[-1] / 10


@page.after(
    "say-experiments",
    says=(
        "The initial queries and keys are ten times larger than usual, so no query is near a key",
        "the gradient is below $10^{-24}$, and after 500 steps, the loss has not changed in any "
        "digit",
        "Lower the initialization scale to 1, and the loss falls from",
    ),
)
def test_4_far_queries_have_no_gradient_and_the_loss_does_not_move(laboratory, near, run_of, said):
    times, ten, steps, scale = said
    assert laboratory.experiments["far"]["scale"] == times * scale
    assert near.loss[-1] < near.loss[0]
    far = run_of("far")
    assert far.grad_norm[0] < ten**-24
    assert far.steps[-1] == steps
    assert abs(far.loss[-1] - far.loss[0]) < 1e-9 * far.loss[0]


@page.after(
    "say-experiments",
    says=(
        "Gradient descent takes 100 steps on tokens whose covariance has condition number 256",
        "Choose SA2 and step size $0.5$: the excess risk is",
        "SA2 is invariant to the conditioning, even with only 200 tokens",
        "the excess risk is {glue:text}`aware_round` at condition number 1 and "
        "{glue:text}`aware` at 256",
        "Move $\\kappa(\\Sigma)$ to 1 and compare the two optimizers: on these data, gradient "
        "descent does worse at 1 than at 256, so conditioning is not all that slows it",
    ),
)
def test_5_sa2_leaves_a_tenth_and_at_condition_number_1_less_where_gradient_descent_leaves_more(
    aware, laboratory, run_of, said
):
    steps, stretched, rate, tokens, one, same, *rest = said
    set_to = laboratory.experiments["conditioned"]
    assert [set_to[name] for name in ("steps", "kappa", "tokens")] == [steps, stretched, tokens]
    assert aware["lr"] == rate and same == stretched
    assert rest == [one, 2, one, stretched]
    plain, second = (
        [run_of("conditioned", **rule, kappa=kappa).excess[-1] for kappa in (one, stretched)]
        for rule in ({}, aware)
    )
    assert plain[0] > plain[1] > 10 * second[1] > 10 * second[0]


@page.after(
    "few-refused",
    says=(
        "Five tokens span at most five dimensions",
        "after 100 steps; its population excess risk stays far above this loss, because five "
        "tokens say little about a sixth dimension",
    ),
)
def test_6_sa1_and_sa2_are_refused_and_gradient_descent_trains(run_of, said):
    tokens, dimensions, steps, same, sixth = said
    assert tokens == dimensions == same
    assert 1 / sixth == pytest.approx(tokens + 1)
    for rule in ("preconditioned", "structure_aware"):
        with pytest.raises(
            ValueError, match=f"got {tokens:.0f} tokens in {tokens + 1:.0f} dimensions"
        ):
            run_of("few", optimizer=rule)
    plain = run_of("few", optimizer="gd")
    assert plain.steps[-1] == steps
    assert plain.excess[-1] > 100 * plain.loss[-1]


@page.after(
    "few-refused",
    says=(
        "A planted head generated the labels, and three in ten of them were flipped, in the "
        "training set and the test set alike. Adam fits all 64 training labels",
        "which, for this random seed, is worse than a coin flip",
    ),
)
def test_7_wrong_labels_are_fitted_and_worse_than_a_coin_and_right_ones_give_a_better_test_set(
    laboratory, right, said, wrong
):
    flipped, of, samples = said
    assert laboratory.experiments["labels"]["flip"] == flipped / of
    assert len(laboratory.run(**laboratory.experiments["labels"])["data"].y) == samples
    assert wrong.accuracy[-1] == 1
    assert wrong.test_accuracy[-1] < 0.5 < right.test_accuracy[-1]
    assert right.test_loss[-1] < wrong.test_loss[-1]


@page.after(
    "solution-warm-up",
    says=(
        "Warm-up takes a tenth of the steps, 20, to reach the same step size: the step sizes are "
        "1, 2, 3, and so on",
        "The loss still rises, from {glue:text}`after_two` after two steps to "
        "{glue:text}`after_four` after four, because step sizes of 2 and more are already above",
        "By the time the step size is 20, the loss is below 0.0005, and the curvature has fallen "
        "with it",
    ),
)
def test_warm_up_raises_the_loss_for_four_steps(said, warm):
    tenth, steps, *first, two, four, rate, reached, loss = said
    assert tenth * warm.steps[-1] == steps == reached
    assert first == [1, 2, 3] and rate == two
    assert warm.steps[:5].tolist() == [0, 1, 2, 3, 4]
    assert warm.loss[int(four)] == warm.loss.max()
    assert 0.1 * loss < warm.loss[warm.steps >= steps].max() < loss


@page.after(
    "solution-edge",
    says=("The threshold lies between step sizes 1 and 2, as the quadratic predicts"),
)
def test_the_loss_first_rises_between_step_sizes_1_and_2_and_no_run_ends_at_infinity(
    first, highest, laboratory, rises, said
):
    low, high = said
    assert low < 2 / highest < high
    assert rises == {low / 2: False, low: False, high: True, 5.0: True}
    assert not any(laboratory.path(**first | {"lr": lr}).stopped for lr in rises)


@page.after("solution-python", says=("Seventeen significant digits restore every double exactly"))
def test_a_file_of_seventeen_digits_restores_every_double(data, read, said):
    (digits,) = said
    assert f"%.{digits:.0f}g" == "%.17g"
    assert (read.X == data.X).all()
    assert (read.y == data.y).all()


@page.after("solution-python-clean")
def test_on_a_quadratic_momentum_trains_above_the_edge_of_gradient_descent(run_of):
    for rule, trains, diverges in (("gd", 0.5, 1.0), ("momentum", 1.0, 2.0)):
        assert not run_of("narrow", optimizer=rule, lr=trains).stopped
        assert run_of("narrow", optimizer=rule, lr=diverges).stopped


@page.after(
    "laboratory",
    says="Seven experiments each ask one question: some drop a hypothesis of a theorem",
)
def test_there_are_seven_experiments(laboratory, said):
    assert said == [len({*laboratory.experiments} - {"first"})]
