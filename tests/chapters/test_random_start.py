"""Chapter 8's statements: the Gram matrix of a random start, its first order, and how far a head
moves."""

import numpy as np
import pytest

import mhalib as mha
import oracles
from checks import assert_close
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import hessian_constant
from mhabook.c08_digits import random_start
from mhabook.c08_digits.random_start import (
    copied_gram,
    first_order,
    first_order_ratios,
    frozen_losses,
    gram,
    head_moves,
    random_gram,
)
from strategies import problem

seeds = pytest.mark.parametrize("seed", range(6))


def dataset(drawn):
    return mha.data.from_arrays(drawn.X, drawn.y)


@seeds
def test_gram_is_made_of_autograds_gradients(seed):
    drawn = problem(seed, n=5, T=4, d=3, H=2)
    gradients = oracles.logit_gradients(drawn.X, drawn.model.ravel(), drawn.model.sizes)
    assert_close(gram(drawn.model, drawn.X), gradients @ gradients.T, 1e-12)


@seeds
def test_the_gram_matrix_is_the_mean_of_those_of_the_heads(seed):
    drawn = problem(seed, H=4)
    W, U = drawn.model.W, drawn.model.U
    own = [gram(mha.MultiHeadAttention(W[h : h + 1], U[h : h + 1]), drawn.X) for h in range(4)]
    assert_close(gram(drawn.model, drawn.X), np.mean(own, axis=0), 1e-13)


def test_over_many_starts_the_gram_matrix_keeps_its_mean_and_loses_its_spread():
    """By sampling, at real sizes: the spread of 16 heads is a sixteenth of that of one, within four
    standard errors."""
    X = mha.data.digits(n=8).X
    grams = {
        H: np.array(
            [
                gram(mha.MultiHeadAttention.random(H, 8, 8, seed=1000 * H + seed), X)
                for seed in range(400)
            ]
        )
        for H in (1, 16)
    }
    mean = {H: K.mean(axis=0) for H, K in grams.items()}
    squares = {H: ((K - mean[H]) ** 2).sum(axis=(1, 2)) for H, K in grams.items()}
    ratio = squares[1].mean() / squares[16].mean()
    error = ratio * sum((s.std() / s.mean() / 20) ** 2 for s in squares.values()) ** 0.5
    assert abs(ratio - 16) < 4 * error < 8
    assert np.linalg.norm(mean[1] - mean[16]) < 4 * (squares[1].mean() / 400) ** 0.5


@seeds
def test_copies_of_one_head_keep_the_spread_of_one(seed):
    """What the twin breaks: the mean of copies is that of one head, but so is their spread, and not
    a share of it."""
    instance = random_start._few_heads(seed)
    heads, chances, H, X = (instance[name] for name in ("heads", "chances", "H", "X"))
    assert all(random_gram(heads, chances, 1, X))
    assert all(copied_gram(heads, chances, 1, X))
    assert [check.holds for check in copied_gram(heads, chances, H, X)] == [True, False]


@seeds
def test_first_order_measures_both_ratios(seed):
    drawn = problem(seed, H=2)
    model, data = drawn.model, dataset(drawn)
    step = 0.3 * problem(seed + 50, H=2).model
    kappa = max(hessian_constant(m, token_radius(drawn.X)) for m in (model, model + step)) / 2**0.5
    here, there = (
        oracles.logit_gradients(drawn.X, m.ravel(), m.sizes) for m in (model, model + step)
    )
    linear = model(drawn.X) + here @ step.ravel()
    remainder = abs((model + step)(drawn.X) - linear).max() / (kappa * step.norm() ** 2 / 2)
    change = np.linalg.norm(there - here, axis=1).max() / (kappa * step.norm())
    assert first_order_ratios(model, data, step, token_radius(drawn.X)) == pytest.approx(
        (remainder, change), rel=1e-9
    )
    checks = first_order(model, data, step)
    assert [check.lhs for check in checks] == pytest.approx([remainder, change], rel=1e-9)
    assert [check.rhs for check in checks] == [1, 1]
    assert all(checks)


def test_both_ratios_are_nearly_attained():
    instance = random_start._along_the_top()
    assert first_order_ratios(**instance, R=token_radius(instance["data"].X)) == pytest.approx(
        (1, 1), abs=1e-4
    )


@seeds
def test_head_moves_measures_the_farthest_head(seed):
    drawn = problem(seed, H=3)
    path = mha.train(drawn.model, dataset(drawn), mha.GradientDescent(0.5), 5, record=6)
    moved = [
        np.hypot(
            np.linalg.norm(path[-1].W[h] - path[0].W[h]),
            np.linalg.norm(path[-1].U[h] - path[0].U[h]),
        )
        for h in range(3)
    ]
    check = head_moves(drawn.model, dataset(drawn), 0.5)
    assert check.lhs == pytest.approx(max(moved), rel=1e-10)
    longest = max(np.linalg.norm(U) for model in path.models for U in model.U)
    R, T = token_radius(drawn.X), drawn.model.sizes[1]
    assert check.rhs == pytest.approx(
        0.5 * 5 * (T / 3) ** 0.5 * R * max(1, R**2 * longest), rel=1e-10
    )


def test_frozen_losses_are_gradient_descent_on_the_tangent():
    """The same run in parameters: Φ(θ₀) + ⟨∇Φ(θ₀), θ − θ₀⟩, with a gradient from autograd."""
    import torch

    drawn = problem(4, n=5, T=4, d=3, H=2)
    features, logits, y = (
        torch.tensor(a) for a in (drawn.model.features(drawn.X), drawn.model(drawn.X), drawn.y)
    )
    away, losses = torch.zeros(features.shape[1], dtype=torch.float64, requires_grad=True), []
    for _ in range(8):
        loss = torch.nn.functional.softplus(-y * (logits + features @ away)).mean()
        losses.append(loss.item())
        (slope,) = torch.autograd.grad(loss, away)
        away = (away - 0.4 * slope).detach().requires_grad_()
    assert_close(frozen_losses(drawn.model, dataset(drawn), 0.4, 7), np.array(losses), 1e-12)


def test_many_heads_follow_their_frozen_run():
    """At one step size the distance to the run with frozen features falls with the number of
    heads."""
    data = mha.data.digits(n=40)
    away = []
    for H in (1, 16, 256):
        start = mha.MultiHeadAttention.random(H, 8, 8)
        path = mha.train(start, data, mha.GradientDescent(0.3), 20, record=21)
        away.append(abs(np.log(path.loss / frozen_losses(start, data, 0.3, 20))).max())
    assert away[0] > 2 * away[1] > 4 * away[2]
