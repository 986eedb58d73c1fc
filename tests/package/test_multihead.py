"""The multi-head classifier: what it computes, its symmetries, its curvature, and its behavior at
extreme scales."""

import numpy as np
import pytest
from hypothesis import given, settings

import mhalib as mha
import oracles
from checks import assert_close
from mhabook.c02_curvature.loss_bounds import loss_hessian
from mhalib.data import Dataset
from mhalib.losses import logistic
from strategies import SIZES, direction, grouped, problem, problems, rounding, steepness

seeds = pytest.mark.parametrize("seed", range(2))
H, T, D = SIZES["H"], SIZES["T"], SIZES["d"]


def head(model, h):
    """The model of one of its heads alone."""
    return mha.MultiHeadAttention(model.W[h : h + 1], model.U[h : h + 1])


@seeds
def test_the_model_is_the_written_one(seed):
    model, X, y = problem(seed, W=2.0, U=5.0)
    X_, y_, W, U = oracles.tensors(X, y, model.W, model.U)
    assert_close(model(X), oracles.logits(X_, W, U), 1e-13)
    assert_close(model.loss(X, y), oracles.loss(X_, y_, W, U), 1e-13)
    assert_close(model.margins(X, y), y * oracles.logits(X_, W, U).numpy(), 1e-13)
    written = [[oracles.attention(x, W_h).tolist() for W_h in W] for x in X_]
    assert_close(model.attention(X), written, 1e-13)


@given(problems)
def test_attention_rows_are_probabilities(drawn):
    A = drawn.model.attention(drawn.X)
    (H, T, _), n = drawn.model.sizes, len(drawn.X)
    assert A.shape == (n, H, T, T)
    assert A.min() >= 0
    assert_close(A.sum(axis=-1), np.ones((n, H, T)), 1e-14)


@settings(max_examples=40)
@given(problems)
def test_the_loss_is_right_at_every_scale(drawn):
    model, X, y = drawn
    assert_close(
        model.loss(X, y), oracles.exact_loss(X, y, model.W, model.U), 1e-15 * rounding(model, X)
    )


@seeds
def test_the_loss_survives_long_decoders_and_sharp_attention(seed):
    model, X, y = problem(seed, W=30.0, U=1e4)
    exact = oracles.exact_loss(X, y, model.W, model.U)
    assert exact > 1e3  # log(1 + e^{−z}) written naively is infinite from 710 on
    assert_close(model.loss(X, y), exact, 1e-11)
    assert_close(model.loss_and_grad(X, y)[0], exact, 1e-11)


def test_zeros_attend_uniformly_and_say_nothing():
    _, X, y = problem()
    model = mha.MultiHeadAttention.zeros(H, T, D)
    assert_close(model.attention(X), np.full((5, H, T, T), 1 / T), 1e-15)
    assert model(X).tolist() == [0] * 5
    assert model.loss(X, y) == pytest.approx(np.log(2), rel=1e-15)


def test_random_entries_are_normal_and_seeded():
    model = mha.MultiHeadAttention.random(H=20, T=30, d=40, scale=3.0, seed=5)
    entries, N = model.ravel() / 3, model.ravel().size
    # A million seeds would give two false alarms in each of the two claims.
    assert abs(entries.mean()) * N**0.5 < 4.9
    assert abs((entries**2).mean() - 1) * (N / 2) ** 0.5 < 4.9
    again, other = (mha.MultiHeadAttention.random(20, 30, 40, 3.0, seed) for seed in (5, 6))
    assert_close(again.ravel(), model.ravel(), 0)
    assert abs(other.ravel() - model.ravel()).max() > 1


def test_a_random_model_does_not_know_the_patterns_of_its_seed():
    """The first column of W_1 and the first pattern, equal seeds: a squared cosine has mean 1/d in
    R^d."""
    squares = []
    for seed in range(200):
        pattern = mha.data.tokenized_mixture(n=1, d=6, M=4, S=1.0, seed=seed).truth.mu[0]
        column = mha.MultiHeadAttention.random(H=1, T=10, d=6, seed=seed).W[0][:, 0]
        squares.append((column @ pattern) ** 2 / (column @ column))
    deviation = (3 / (6 * 8) - 1 / 36) ** 0.5
    assert abs(np.mean(squares) - 1 / 6) < 4.9 * deviation / 200**0.5


def test_heads_permute():
    model, X, y = problem(2, H=3)
    order = [2, 0, 1]
    permuted = mha.MultiHeadAttention(model.W[order], model.U[order])
    assert_close(permuted(X), model(X), 1e-14)
    assert_close(permuted.attention(X), model.attention(X)[:, order], 1e-15)
    grad, moved = model.loss_and_grad(X, y)[1], permuted.loss_and_grad(X, y)[1]
    assert_close(moved.ravel(), mha.MultiHeadAttention(grad.W[order], grad.U[order]).ravel(), 1e-13)


def test_tokens_permute_with_decoders():
    model, X, _ = problem(3)
    order = [3, 1, 0, 2]
    permuted = mha.MultiHeadAttention(model.W, model.U[:, order])
    assert_close(permuted(X[:, order]), model(X), 1e-13)


def test_heads_vote_with_weight_one_over_root_H():
    model, X, _ = problem(4, H=4)
    alone = [head(model, h)(X) for h in range(4)]
    assert_close(model(X), sum(alone) / 4**0.5, 1e-14)


@pytest.mark.parametrize("copies", [2, 3, 16])
def test_equal_heads_are_one_head_of_other_length(copies):
    one, X, y = problem(5, H=1)
    many = mha.MultiHeadAttention(one.W.repeat(copies, axis=0), one.U.repeat(copies, axis=0))
    assert_close(many(X), copies**0.5 * one(X), 1e-13)
    longer = mha.MultiHeadAttention(one.W, copies**0.5 * one.U)
    grad, expected = many.loss_and_grad(X, y)[1], longer.loss_and_grad(X, y)[1]
    for h in range(copies):
        assert_close(grad.W[h], expected.W[0] / copies, 1e-12)
        assert_close(grad.U[h], expected.U[0] / copies**0.5, 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_groups_are_their_heads(seed):
    few, data = grouped(seed)
    heads = few.expand()
    assert few.sizes == heads.sizes == (6, 4, 3)
    (loss, grad), (loss_6, grad_6) = (model.loss_and_grad(data.X, data.y) for model in (few, heads))
    assert_close(few(data.X), heads(data.X), 1e-13)
    assert_close(few.margins(data.X, data.y), data.y * heads(data.X), 1e-13)
    assert loss == pytest.approx(loss_6, rel=1e-13) == few.loss(data.X, data.y)
    assert_close(grad.expand().ravel(), grad_6.ravel(), 1e-12)
    assert few.dot(grad) == pytest.approx(heads.dot(grad_6), rel=1e-11)
    assert few.norms() == pytest.approx(heads.norms(), rel=1e-13)


def test_from_zero_all_heads_stay_one_head():
    _, X, y = problem(6)
    heads, lr, steps = 4, 0.5, 20
    many, one = mha.MultiHeadAttention.zeros(heads, T, D), mha.MultiHeadAttention.zeros(1, T, D)
    for _ in range(steps):
        many = many - lr * many.loss_and_grad(X, y)[1]
        grad = one.loss_and_grad(X, y)[1]
        one = mha.MultiHeadAttention(one.W - lr / heads * grad.W, one.U - lr * grad.U)
    for h in range(heads):
        assert_close(many.W[h], one.W[0], 1e-12)
        assert_close(heads**0.5 * many.U[h], one.U[0], 1e-12)


@seeds
def test_hvp_is_the_hessian_times_a_vector(seed):
    model, X, y = problem(seed)
    V = direction(model, seed)
    dense = oracles.loss_hessian(X, y, model.ravel(), model.sizes)
    assert_close(model.hvp(X, y, V).ravel(), dense @ V.ravel(), 1e-12)


@seeds
def test_hvp_is_the_derivative_of_the_gradient(seed):
    model, X, y = problem(seed)
    V, step = direction(model, seed), 1e-5
    ahead, behind = ((model + shift * V).loss_and_grad(X, y)[1] for shift in (step, -step))
    assert_close(model.hvp(X, y, V).ravel(), ((ahead - behind) / (2 * step)).ravel(), 1e-7)


@given(problems)
def test_hvp_agrees_with_the_hessian_at_every_scale(drawn):
    model, X, y = drawn
    V = direction(model)
    z, G = model.margins(X, y), steepness(model, X)
    size = (G**2 * logistic.curvature(z).mean() + G**3 * abs(logistic.slope(z)).mean()) * V.norm()
    dense = sum(loss_hessian(model, Dataset(X, y)))
    assert_close(model.hvp(X, y, V).ravel(), dense @ V.ravel(), 1e-14 * rounding(model, X), size)


@seeds
def test_ravel_goes_head_by_head_and_unravel_back(seed):
    model, *_ = problem(seed)
    vector = model.ravel()
    W, U = oracles.per_head(*oracles.tensors(vector), *model.sizes)
    assert_close(model.W, W, 0)
    assert_close(model.U, U, 0)
    back = model.unravel(vector)
    assert_close(back.W, model.W, 0)
    assert_close(back.U, model.U, 0)
    assert_close(model.unravel(direction(model).ravel()).ravel(), direction(model).ravel(), 0)


def test_norms_are_the_averages_of_the_paper():
    model, *_ = problem(9)
    per_head = [
        (np.linalg.norm(W), np.linalg.norm(U)) for W, U in zip(model.W, model.U, strict=True)
    ]
    norms = model.norms()
    assert norms["norm_W"] == pytest.approx(sum(W for W, _ in per_head) / H, rel=1e-14)
    assert norms["norm_U"] == pytest.approx(sum(U for _, U in per_head) / H**0.5, rel=1e-14)


@pytest.mark.parametrize(
    "make",
    [
        lambda: problem().map(lambda a: a.astype("float32")).model,
        lambda: mha.MultiHeadAttention.zeros(H, T, D, dtype="float32"),
        lambda: mha.MultiHeadAttention.random(H, T, D, seed=1, dtype="float32"),
    ],
    ids=["cast", "zeros", "random"],
)
def test_single_precision_stays_single(make):
    model, (double, X, y) = make(), problem().map(lambda a: a.astype("float32"))
    loss, grad = model.loss_and_grad(X, y)
    moved = model - np.float64(0.1) * grad
    results = [
        model(X),
        model.attention(X),
        loss,
        model.loss(X, y),
        grad.W,
        grad.U,
        moved.W,
        moved.U,
        model.hvp(X, y, double).ravel(),
        model.features(X),
    ]
    assert {a.dtype.name for a in results} == {"float32"}


def test_single_precision_is_the_double_result_rounded():
    (model, X, y), single = problem(), problem().map(lambda a: a.astype("float32"))
    loss, grad = single.model.loss_and_grad(single.X, single.y)
    assert_close(loss, model.loss(X, y), 1e-6)
    assert_close(grad.ravel(), model.loss_and_grad(X, y)[1].ravel(), 1e-5)
