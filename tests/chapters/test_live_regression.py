"""The live figures of chapters 10 and 11: their formulas in JavaScript, and what they say in
Python."""

import numpy as np
import pytest

import mhalib as mha
from checks import assert_refused
from engines import assert_follows, plain
from mhabook.c10_structure import figure as c10
from mhabook.c10_structure.figure_regression import sample, start_on
from mhabook.c11_data_and_compute import figure as c11

ROUND = mha.data.linear_regression(n=60, d=3, p=3, kappa=1, seed=2)
START, PLAIN = mha.AttentionRegression.random(3, 3, 1.0), mha.GradientDescent(0.5)
WHITENED = mha.Preconditioned(0.5, balance=0)
STRETCHED = c10.stretched(ROUND, START, WHITENED, PLAIN, steps=6)
DESCENT = c10.descent(n=60, steps=6)
BOTH = c11.data_and_compute(n=80, steps=5)
MANY_ROUND = mha.data.linear_regression(n=80, d=3, p=3, kappa=2, seed=2)
SMALL = mha.AttentionRegression.random(3, 3, 0.5, seed=1)
BOUGHT = c11.bought(MANY_ROUND, SMALL, mha.Preconditioned(0.3), steps=5, draws=2)
# Where each part of the programs counts.
SA2 = {"d": 4, "s_max": 1.5}
SA1 = {"optimizer": "preconditioned", "start": "spectral", "lr": 0.1, "d": 2, "s_max": 1.0}
SPECTRAL = {"optimizer": "preconditioned", "start": "spectral", "lr": 0.2, "radius": 1.0}
SETTINGS = {
    "descent": (DESCENT, [SA2, SA1, {"optimizer": "gd"}]),
    "both": (BOTH, [{}, SPECTRAL, {"radius": 0.25}, {"start": "spectral", "kappa_M": 1.0}]),
    "stretched": (STRETCHED, [{"kappa": 16.0}, {"steps": 12}, {"kappa": 256.0, "plain_lr": 0.9}]),
    "bought": (BOUGHT, [{}, {"sigma": 0.2}, {"kappa_M": 2.0}, {"lr": 0.2}]),
}


@pytest.mark.parametrize(
    ("name", "values"),
    [(name, values) for name, (_, settings) in SETTINGS.items() for values in settings],
    ids=str,
)
def test_the_figures_follow_mhalib(name, values):
    made, _ = SETTINGS[name]
    assert_follows(plain(made), made, values)


def test_plain_descent_starts_where_the_chosen_rule_does():
    path = DESCENT.path(lr=0.5, optimizer="gd", s_max=0.7)
    for name in ("loss", "excess", "v", "effective_tokens"):
        assert (path.curves[name] == path.curves[f"{name}_plain"]).all()
    other = DESCENT.path(s_max=0.7)
    assert other.loss[0] == path.loss[0] and (other.loss_plain == path.loss).all()


@pytest.mark.parametrize(
    "rule",
    [
        mha.Preconditioned(0.3, balance=0),
        mha.Preconditioned(0.3, balance=0.5),
        mha.StructureAware(0.4, radius=np.inf),
    ],
)
def test_a_rule_that_whitens_does_not_see_the_stretch_and_plain_descent_does(rule):
    data = mha.data.linear_regression(
        n=20, d=4, p=4, kappa=6.0, s_max=0.7, kappa_M=3, sigma=0.2, seed=5
    )
    figure = c10.stretched(data, mha.AttentionRegression.random(4, 4, 0.3), rule, PLAIN, steps=8)
    own = mha.train(mha.AttentionRegression.random(4, 4, 0.3), data, rule, 8)
    np.testing.assert_allclose(figure.path().loss, own.loss, rtol=1e-9)
    assert (
        figure.controls["kappa"].value == pytest.approx(6.0)
        and len(figure.controls["kappa"].values) == 10
    )
    far = figure.path(kappa=256.0)
    np.testing.assert_allclose(far.loss, own.loss, rtol=1e-8)
    assert (
        far.excess_plain[0] == pytest.approx(far.excess[0])
        and far.excess_plain[-1] > 1.5 * own.excess[-1]
    )


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: c10.stretched(ROUND.map(lambda a: a[::-1]), START, WHITENED, PLAIN),
            ["data: expected the samples of a"],
        ),
        (
            lambda: c10.stretched(
                mha.data.linear_regression(n=60, d=3, p=2), START, WHITENED, PLAIN
            ),
            ["data: expected the"],
        ),
        (
            lambda: c10.stretched(
                mha.data.regression_from_arrays(ROUND.x, ROUND.y), START, WHITENED, PLAIN
            ),
            ["data: expe"],
        ),
        (
            lambda: c10.stretched(ROUND.population(), START, WHITENED, PLAIN),
            ["data: expected the samples of a linear"],
        ),
        (
            lambda: c10.stretched(None, START, WHITENED, PLAIN),
            ["data: expected the samples of a linear_regression"],
        ),
        (
            lambda: c10.stretched(ROUND, mha.AttentionRegression.random(2, 2), WHITENED, PLAIN),
            ["start: expected", "d = 3"],
        ),
        (
            lambda: c10.stretched(ROUND, START, PLAIN, PLAIN),
            ["whitened: expected Preconditioned or StructureAware"],
        ),
        (
            lambda: c10.stretched(
                ROUND, START, mha.Preconditioned(whitening=ROUND.whitening()), PLAIN
            ),
            ["whitened: expec"],
        ),
        (
            lambda: c10.stretched(ROUND, START, WHITENED, WHITENED),
            ["plain: expected GradientDescent with a number"],
        ),
        (
            lambda: c10.stretched(ROUND, START, WHITENED, mha.GradientDescent(lambda k: 0.1)),
            ["plain: expected Gradient"],
        ),
    ],
)
def test_a_figure_refuses_what_its_sliders_cannot_move(call, words):
    assert_refused(call, TypeError, words)


@pytest.mark.parametrize(
    "data, start, rule, words",
    [
        (
            MANY_ROUND.map(lambda a: a[::-1]),
            START,
            mha.Preconditioned(0.3),
            "data: expected the samples of a linear",
        ),
        (
            MANY_ROUND,
            mha.AttentionRegression.random(2, 2),
            mha.Preconditioned(0.3),
            "start: expected an AttentionRegr",
        ),
        (MANY_ROUND, START, PLAIN, "rule: expected Preconditioned with a number"),
        (
            MANY_ROUND,
            START,
            mha.Preconditioned(lambda k: 0.1),
            "rule: expected Preconditioned with a number",
        ),
        (
            MANY_ROUND,
            START,
            mha.Preconditioned(whitening=ROUND.whitening()),
            "rule: expected Preconditioned with a",
        ),
    ],
)
def test_the_figure_of_samples_refuses_what_its_sliders_cannot_move(data, start, rule, words):
    assert_refused(lambda: c11.bought(data, start, rule), TypeError, [words])


def test_the_figure_of_samples_shows_the_mean_of_the_readers_runs():
    path, rule = BOUGHT.path(lr=0.2), mha.Preconditioned(0.2)
    draws = [MANY_ROUND, MANY_ROUND.fresh(80, seed=1)]
    runs = [mha.train(SMALL, drawn, rule, 5).excess for drawn in draws]
    np.testing.assert_allclose(path.excess_80, np.mean(runs, axis=0), rtol=1e-9)


def test_a_strong_target_has_no_floor_drawn():
    strong = mha.data.linear_regression(n=80, d=3, p=3, s_max=1.0)
    figure = c11.bought(strong, START, mha.Preconditioned(0.3), steps=2, draws=1)
    assert figure.drawn()["predicted"] == []


def test_the_spectral_start_has_columns_of_positive_sum():
    data = sample({"s_max": 0.4}, 50, 4, 3)
    start, other = start_on(data, {"start": "spectral"}, 3), mha.AttentionRegression.spectral(data)
    V = data.whitening().whiten(start)[1]
    assert (V.sum(axis=0) > 0).all()
    S = data.x.T @ data.x
    np.testing.assert_allclose(start.A @ S @ start.B.T, other.A @ S @ other.B.T, rtol=1e-10)


def test_smaller_samples_are_the_first_tokens_and_the_limit_starts_with_the_largest():
    path = BOTH.path(optimizer="gd", lr=0.1)
    few = [
        mha.train(
            mha.AttentionRegression.random(3, 3, seed=seed),
            sample({"s_max": 0.4}, 10, 3, seed),
            mha.GradientDescent(0.2 * 0.1),
            5,
        )
        for seed in (0, 1)
    ]
    np.testing.assert_allclose(path.excess_10, np.mean([path.excess for path in few], axis=0))
    assert path.excess_limit[0] == pytest.approx(path.excess_80[0])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: c10.descent(n=50), ["n: expected 60 tokens or more", "got 50"]),
        (lambda: c10.descent(steps=0), ["steps: expected a whole number ≥ 1"]),
        (
            lambda: c10.stretched(ROUND, START, WHITENED, PLAIN, steps=2.5),
            ["steps: expected a whole number ≥ 1"],
        ),
        (lambda: c11.data_and_compute(n=60), ["n: expected 80 tokens or more", "got 60"]),
        (
            lambda: c11.bought(ROUND, START, WHITENED),
            ["data: expected 80 samples or more", "got 60"],
        ),
        (
            lambda: c11.bought(MANY_ROUND, START, WHITENED, draws=0),
            ["draws: expected a whole number ≥ 1"],
        ),
        (lambda: c11.data_and_compute(instances=0), ["instances: expected a whole number ≥ 1"]),
    ],
)
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)
