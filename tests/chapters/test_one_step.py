"""The figure at the top of chapter 3: the run that it is given, and what it cannot move is refused."""

from functools import cache

import numpy as np
import pytest

import mhalib as mha
from mhabook.c03_first_step.figure_step import one_step


def mixture(**given):
    return mha.data.tokenized_mixture(
        **{"n": 40, "T": 10, "d": 9, "M": 4, "zeta": 0.3, "S": 1.2, "sigma": 0.2, "seed": 3} | given
    )


@cache
def figure(lr=3.0):
    return one_step(mixture(), mha.MultiHeadAttention.zeros(1, 10, 9), mha.GradientDescent(lr))


def test_the_figure_begins_with_the_run_that_it_was_given():
    path = mha.train(
        mha.MultiHeadAttention.zeros(1, 10, 9), mixture(), mha.GradientDescent(3.0), steps=1
    )
    np.testing.assert_allclose(figure().path()[-1].U, path[-1].U, rtol=1e-12)


def test_a_longer_step_multiplies_what_attention_tells_apart():
    short, long = (figure(lr).path() for lr in (2.0, 3.0))
    assert long.margin_W[0] == pytest.approx(1.5 * short.margin_W[0], rel=1e-9)
    assert long.margin_U[0] == pytest.approx(short.margin_U[0], rel=1e-9)


@pytest.mark.parametrize(
    "said, given",
    {
        "start: expected MultiHeadAttention.zeros": {
            "start": mha.MultiHeadAttention.random(1, 10, 9)
        },
        "start: expected one head, got 2": {"start": mha.MultiHeadAttention.zeros(2, 10, 9)},
        "rule: expected GradientDescent": {"rule": mha.Adam(0.1)},
        "data: expected the samples of a tokenized_mixture": {
            "data": mha.data.planted(n=20, T=10, d=9)
        },
    }.items(),
)
def test_what_the_figure_cannot_move_is_refused(said, given):
    right = {
        "data": mixture(),
        "start": mha.MultiHeadAttention.zeros(1, 10, 9),
        "rule": mha.GradientDescent(2.0),
    }
    with pytest.raises((TypeError, ValueError), match=said):
        one_step(**right | given)


def test_a_start_of_another_size_than_the_data_is_refused():
    with pytest.raises(ValueError, match="start: expected"):
        one_step(mixture(), mha.MultiHeadAttention.zeros(1, 10, 8), mha.GradientDescent(2.0))
