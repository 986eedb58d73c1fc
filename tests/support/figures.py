"""The live figures of the book, and the settings at which each is compared with mhalib."""

import json
from functools import cache

import numpy as np
import pytest

import mhalib as mha
import own
from legends import as_drawn
from livegrad.examples import (
    logistic_regression,
    matrix_factorization,
    mixture,
    recurrence,
    two_layer_network,
)
from mhabook.c01_model import figure as c01
from mhabook.c02_curvature import figure as c02
from mhabook.c03_first_step import figure as c03
from mhabook.c03_first_step import figure_step
from mhabook.c04_convergence import figure as c04
from mhabook.c04_convergence.starts import first_phase_groups
from mhabook.c05_heads import figure as c05
from mhabook.c05_heads.figure_two_steps import two_steps
from mhabook.c06_planted import figure as c06
from mhabook.c07_generalization import figure as c07
from mhabook.c08_digits import figure as c08
from mhabook.c09_tilting import figure as c09
from mhabook.c10_structure import figure as c10
from mhabook.c11_data_and_compute import figure as c11
from mhabook.c11_data_and_compute import figure_gap
from mhabook.c12_two_kernels import figure as c12
from mhabook.c12_two_kernels import figure_forces
from mhabook.c13_layer import figure as c13
from mhabook.c13_layer import figure_promise
from mhabook.c13_layer.statements import value_smoothness
from mhabook.c14_traps import figure as c14
from mhabook.c14_traps import figure_traps, figure_two_tokens
from mhabook.c15_landscapes import figure as c15
from mhabook.c16_networks import figure as c16
from mhabook.start import figure_linearized, figure_scores, figure_surface, figure_words
from visits import KINDS, begins_with


def of_one_head(make):
    """The figure of chapter 13's walk: its tokens, its head, and steps of 1/L."""
    data = mha.data.random_sequences(N=8, n=4, D=48)
    start = mha.AttentionLayer.random(D=48, d=8, m=1, tied=True)
    return make(data, start, mha.GradientDescent(1 / value_smoothness(start, data.X)))


def trillion():
    """The data and the start of chapter 4."""
    data = mha.data.tokenized_mixture(n=20, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0)
    return data, first_phase_groups(data, (500_000_000_000,) * 2)


def _turned():
    """The figure of chapter 15, with the layer of its cell."""
    data = mha.data.random_sequences(N=6, n=4, D=6, m=1, seed=0)
    start = mha.AttentionLayer.random(D=6, d=3, m=1, H=2, seed=0)
    network = mha.train(start, data, mha.Backtracking(), 30)[-1]
    return c15.turned({"after 30 steps": network, "before training": start}, data)


# What the notebooks make, in the order of their pages; a test holds each to what its page carries.
FIGURES = {
    "book/index.html": (figure_words.words,),
    "book/multihead/01_a_small_attention_model.html": (
        lambda: c01.finding(
            mha.data.tokenized_mixture(),
            mha.MultiHeadAttention.zeros(1, 10, 8),
            mha.GradientDescent(1.0),
            2000,
        ),
    ),
    "book/multihead/01_further.html": (
        lambda: mha.live.heads(mha.data.tokenized_mixture(n=64, T=8, zeta=0.125)),
    ),
    "book/multihead/02_how_steep_how_curved.html": (
        lambda: c02.downward(
            mha.data.tokenized_mixture(n=40, T=8, d=6, M=3, zeta=0.25, S=1.0, sigma=0.1, seed=0),
            mha.MultiHeadAttention.random(4, 8, 6, 0.3, seed=0),
            mha.GradientDescent(1.0),
        ),
    ),
    "book/multihead/02_further.html": (
        lambda: c02.curvature(
            mha.data.tokenized_mixture(n=40, T=8, d=6, M=3, zeta=0.25, S=1.0, sigma=0.1, seed=0)
        ),
    ),
    "book/multihead/03_what_one_random_step_knows.html": (
        lambda: figure_step.one_step(
            mha.data.tokenized_mixture(n=60, T=10, d=12, M=5, zeta=0.2, S=2.0, sigma=0.0),
            mha.MultiHeadAttention.zeros(1, 10, 12),
            mha.GradientDescent(2.0),
        ),
    ),
    "book/multihead/03_further.html": (c03.realizability,),
    "book/multihead/04_why_training_cannot_get_lost.html": (
        lambda: c04.nearer(*trillion(), mha.GradientDescent(0.3), 1000),
    ),
    "book/multihead/04_further.html": (c04.theory_and_practice,),
    "book/multihead/05_more_heads_slower_or_faster.html": (
        lambda: c05.step_sizes(
            mha.data.tokenized_mixture(),
            mha.MultiHeadAttention.zeros(64, 10, 8),
            mha.GradientDescent(0.3),
        ),
        lambda: two_steps(
            mha.data.tokenized_mixture(),
            mha.MultiHeadAttention.zeros(1, 10, 8),
            mha.GradientDescent(0.3),
        ),
    ),
    "book/multihead/05_further.html": (c05.width,),
    "book/multihead/06_a_planted_head.html": (
        lambda: c06.planted(
            mha.data.planted(n=400, T=6, d=4),
            mha.MultiHeadAttention.zeros(8, 6, 4),
            mha.GradientDescent(1.0),
        ),
    ),
    "book/multihead/06_further.html": (
        lambda: c06.planted(
            mha.data.planted(n=200, T=6, d=4),
            mha.MultiHeadAttention.zeros(1, 6, 4),
            mha.Momentum(0.03),
            steps=400,
        ),
    ),
    "book/multihead/07_does_it_generalize.html": (
        lambda: c07.leaving_out(
            mha.data.tokenized_mixture(n=20, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=0.3),
            mha.MultiHeadAttention.zeros(1, 10, 8),
            mha.GradientDescent(1.0),
            left=9,
        ),
    ),
    "book/multihead/07_further.html": (c07.generalization,),
    "book/multihead/08_heads_on_real_data.html": (
        lambda: c08.many_heads(
            mha.data.digits(classes=(3, 8), n=60),
            mha.MultiHeadAttention.random(1, 8, 8, 0.1),
            mha.GradientDescent(1.0),
        ),
    ),
    "book/multihead/08_further.html": (c08.digits,),
    "book/preconditioning/09_attention_is_a_tilted_average.html": (
        lambda: c09.cloud(
            mha.data.linear_regression(n=1000, d=1, p=1),
            mha.AttentionRegression(A=np.ones((1, 1)), B=np.ones((1, 1))),
        ),
    ),
    "book/preconditioning/09_further.html": (c09.tilting,),
    "book/preconditioning/10_descent_that_knows_the_structure.html": (
        lambda: c10.stretched(
            mha.data.linear_regression(n=200, d=3, p=3, kappa=1),
            mha.AttentionRegression.random(3, 3, 0.5, seed=1),
            mha.Preconditioned(lr=0.5, balance=0),
            mha.GradientDescent(lr=0.5),
        ),
    ),
    "book/preconditioning/10_further.html": (c10.descent,),
    "book/preconditioning/11_data_and_compute.html": (
        lambda: c11.bought(
            mha.data.linear_regression(n=320, d=3, p=3, kappa=1),
            mha.AttentionRegression.random(3, 3, 0.5, seed=1),
            mha.Preconditioned(lr=0.5),
        ),
    ),
    "book/preconditioning/11_further.html": (figure_gap.gap, c11.data_and_compute),
    "book/kernels/12_two_kernels_one_rank.html": (
        lambda: c12.selecting(
            np.linspace(-4, 4, 161)[:, None], np.array([[-2.0], [0.0], [1.0]]), mha.gaussian
        ),
    ),
    "book/kernels/12_further.html": (figure_forces.kernels,),
    "book/kernels/13_when_gradient_descent_must_succeed.html": (
        lambda: of_one_head(figure_promise.promised),
    ),
    "book/kernels/13_further.html": (c13.layer,),
    "book/kernels/14_traps.html": (
        lambda: c14.held(
            {
                "up and down": ([-2, -1, 1, 2], [3, -2, 2, 1], 2.0),
                "that rise": ([-2, 2], [1, 2], 1.5),
            },
            0.3,
            mha.GradientDescent(0.1),
            300,
        ),
    ),
    "book/kernels/14_further.html": (figure_traps.traps, figure_two_tokens.two_tokens),
    "book/kernels/15_landscapes.html": (_turned,),
    "book/kernels/16_text_and_pathfinder.html": (
        lambda: c16.compared(mha.softmax, mha.gaussian, lr=0.02, steps=150, seeds=4),
    ),
    "book/start/softmax.html": (figure_scores.scores,),
    "book/start/descent_and_curvature.html": (figure_surface.surface,),
    "book/start/tangent_kernel.html": (figure_linearized.linearized,),
    "book/theory_and_practice.html": (c04.theory_and_practice,),
    "book/your_own_model.html": (own.of_the_page,),
    "book/without_attention.html": (
        logistic_regression.figure,
        two_layer_network.figure,
        matrix_factorization.figure,
        mixture.figure,
        recurrence.figure,
    ),
}


PLACES = [(page, k) for page, figures in FIGURES.items() for k in range(len(figures))]


def of_each_kind(places, name=str):
    """The places as parameters of a test; those on pages that stand for no kind are tested every
    week alone."""

    def marks(place):
        page = place if isinstance(place, str) else place[0]
        return () if begins_with(page, KINDS) else pytest.mark.weekly

    return [pytest.param(place, marks=marks(place), id=name(place)) for place in places]


def place_id(place):
    """The name of a figure in the names of tests, by which those of one page stay together."""
    return f"{place[0]}-{place[1]}"


@cache
def figure(page, k):
    """The figure of a place."""
    return FIGURES[page][k]()


def stopped_at(path):
    """The step at which mhalib's run ended early, or None."""
    if path.stopped is None:
        return None
    words = path.stopped.replace(")", " ").split()
    return int(words[words.index("step") + 1])


@cache
def computed(made, values):
    """What mhalib draws for some values of the controls, and the step at which the run stopped;
    computed once."""
    return made.drawn(**dict(values)), stopped_at(made.path(**dict(values)))


@cache
def _pictured(made, values):
    return as_drawn(made.figure(**dict(values))), made.path(**dict(values)).loss


def pictured(made, values):
    """The figure that mhalib draws for some values of the controls, and the loss of its run;
    computed once."""
    return _pictured(made, tuple(sorted(values.items())))


def expected(made, values):
    """What `computed` gives, for values in a dictionary."""
    return computed(made, tuple(sorted(values.items())))


@cache
def _followed(made, values):
    path = made.path(**dict(values))
    run = np.array(path.loss, dtype=float)
    calm = np.maximum.accumulate(run) <= 10 * run[0]
    if "lr" not in made.controls:
        return calm
    values = made.values | dict(values)
    beside = made._description.train(values | {"lr": np.nextafter(values["lr"], np.inf)})
    other = np.full(run.shape, np.nan)
    shared = min(len(run), len(beside.loss))
    other[:shared] = beside.loss[:shared]
    return calm & np.logical_and.accumulate(np.isclose(run, other, rtol=1e-11, atol=1e-13))


def followed(made, values):
    """Which records of a run are the same on every machine: those before a step size one rounding
    away gives others.

    None comes after a loss of ten times that of the start. With a step size too large for its loss
    a run enlarges the last digit of its numbers without limit. Another processor, compiler or
    browser then draws another run, as right as this one.
    """
    return _followed(made, tuple(sorted(values.items())))


def default_and_ends(made):
    """For each control its values at min, default and max, the others at the start."""
    return [
        (name, value)
        for name, control in made.controls.items()
        for value in dict.fromkeys((control.values[0], control.value, control.values[-1]))
    ]


def different_runs(made):
    """The same as values of controls, without the start again for every control."""
    return [
        {},
        *(
            {name: value}
            for name, value in default_and_ends(made)
            if value != made.controls[name].value
        ),
    ]


def corners(made, seed=0, count=4):
    """Settings of all controls at once, drawn from a seed."""
    rng = np.random.default_rng(seed)
    return [
        {
            name: control.values[rng.integers(len(control.values))]
            for name, control in made.controls.items()
        }
        for _ in range(count)
    ]


def assert_figure_agrees(made, values, result, rel=1e-9):
    """What the engine measures for these values of the controls is what mhalib computes.

    A run that enlarges rounding is compared up to there.
    """
    result, (right, stopped) = json.loads(result), expected(made, values)
    assert result["stopped"] == stopped
    assert result["steps"] == right["steps"]
    same = followed(made, values)
    for name in result["curves"] | (result["final"] if same.all() else {}):
        found, wanted = ((result["curves"] | result["final"])[name], right[name])
        if np.array(wanted).dtype.kind in "US":
            assert found == wanted
            continue
        found, wanted = (np.array(numbers, dtype=float) for numbers in (found, wanted))
        if name in result["curves"]:
            found, wanted = found[same], wanted[same]
        np.testing.assert_allclose(
            found,
            wanted,
            rtol=rel,
            atol=1e-9 * (name in result["final"]),
            err_msg=f"{name} of {made.spec['title']!r} at {values}",
        )
