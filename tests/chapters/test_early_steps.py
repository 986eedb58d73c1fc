"""The first steps from zero against autograd and by hand; how long heads wait; what attention is
worth."""

import numpy as np
import pytest

import checks
import mhabook
import mhalib as mha
import oracles
from checks import assert_close
from mhabook.c01_model import selection
from mhabook.c05_heads import early_steps, late_steps
from strategies import problem

seeds = pytest.mark.parametrize("seed", range(4))


def tokens(seed):
    drawn = problem(seed, n=5, T=4, d=3, H=1)
    return mha.data.from_arrays(drawn.X, drawn.y), np.random.default_rng([seed, 7]).standard_normal(
        3
    )


@seeds
def test_gradient_at_equal_rows_agrees_with_autograd(seed):
    data, row = tokens(seed)
    W, U = np.zeros((1, 3, 3)), np.tile(row, (1, 4, 1))
    _, dW, dU = oracles.loss_and_grad(data.X, data.y, W, U)
    found_W, found_row = early_steps.equal_rows_gradient(data, row)
    assert_close(found_W, dW[0], 1e-12)
    assert_close(np.tile(found_row, (4, 1)), dU[0], 1e-12)


@seeds
def test_two_steps_are_two_steps_of_autograd(seed):
    data, _ = tokens(seed)
    W, U = np.zeros((1, 3, 3)), np.zeros((1, 4, 3))
    for _ in range(2):
        _, dW, dU = oracles.loss_and_grad(data.X, data.y, W, U)
        W, U = W - 0.3 * checks.as_numpy(dW), U - 0.7 * checks.as_numpy(dU)
    found = early_steps.two_steps(data, eta_U=0.7, eta_W=0.3)
    assert_close(found[0], W[0], 1e-12)
    assert_close(found[1], U[0], 1e-12)


def test_second_step_by_hand():
    """Tokens 1 and 0 on a line, label +1: x̄ = ½, C = ¼, c = ¼, z = η_u/4, and W = η_u η_w 2 σ(−z)
    ½ ¼ ¼."""
    data = mha.data.from_arrays(np.array([[[1.0], [0.0]]]), np.ones(1))
    W, U = early_steps.two_steps(data, eta_U=4.0, eta_W=3.0)
    sigma = 1 / (1 + np.e)
    assert W.item() == pytest.approx(4 * 3 * 2 * sigma / 32, rel=1e-14)
    assert U.ravel() == pytest.approx([1 + 2 * sigma] * 2, rel=1e-14)


@pytest.mark.parametrize("growth", [0.0, 0.5, 1.0])
def test_first_movement_of_attention_is_the_product_of_the_step_sizes(growth):
    """For a short step W after two steps is η²/H · T/2 · mean y x̄ (C c)ᵀ: free of H if and only if
    η ∝ √H."""
    data, moved = mha.data.tokenized_mixture(n=20), {}
    for H in (1, 16):
        start = mha.MultiHeadAttention.zeros(H, 10, 8)
        moved[H] = mha.train(start, data, mha.GradientDescent(1e-5 * H**growth), 2)[-1].W[0]
    assert_close(moved[16], 16 ** (2 * growth - 1) * moved[1], 1e-4)


@pytest.mark.parametrize("H", [1, 4, 64])
def test_adam_moves_every_entry_alike_whatever_the_number_of_heads(H):
    start = mha.MultiHeadAttention.zeros(H, 10, 8)
    path = mha.train(start, mha.data.tokenized_mixture(), mha.Adam(0.01), 2)
    np.testing.assert_allclose(abs(path[-1].W), 0.01 * 1.999**0.5 / 1.9, rtol=0.05)
    np.testing.assert_allclose(abs(path[1].U), 0.01, rtol=1e-3)


@pytest.mark.parametrize(("eighths", "slack"), [(7, 0.754), (6, 0.82), (5, 0.945)])
def test_the_bound_on_attention_leaves_three_quarters_at_best(eighths, slack):
    instance = mhabook.ledger["thm-slow-attention"].extremal[0]() | {"steps": 2}
    check = early_steps.slow_attention(**instance | early_steps._short_opposite(eighths))
    assert 0.75 <= check.slack <= slack


def test_the_bound_on_attention_is_the_formula():
    data = mha.data.from_arrays(np.full((1, 3, 1), 2.0), np.ones(1))
    bound = early_steps.slow_attention_bound(data, eta_U=0.5, eta_W=0.1, steps=5, loss=np.log(2))
    assert bound == pytest.approx(0.25 * 0.5 * 0.1 * 3 * 16 * 20 / 2, rel=1e-14)


def test_infinitely_many_heads_are_logistic_regression_on_the_mean_token():
    data, lr = mha.data.tokenized_mixture(n=30), 0.3
    row, V = early_steps.many_heads_run(data, lr, 40)
    u, mean = np.zeros(8), data.X.mean(axis=1)
    for _ in range(40):
        u = u + lr * (data.y / (1 + np.exp(data.y * 10 * (mean @ u)))) @ mean / 30
    assert_close(row, u, 1e-12)
    path = mha.train(
        mha.MultiHeadAttention.zeros(2**16, 10, 8), data, mha.GradientDescent(lr), 40, record=[40]
    )
    assert_close(2**16 * path[-1].W[0], V, 2e-3)
    assert path.attention_score[-1] == pytest.approx(0.1, abs=2e-3)


@pytest.mark.parametrize("H", [1, 3])
def test_decoders_are_pulled_by_the_attention_score(H):
    """At θ = 0 the bound is S √(T/2) ζ/2, and balanced pairs attain it."""
    attained = mhabook.ledger["prop-pull"].extremal[0]()["data"]
    check = late_steps.pull(mha.MultiHeadAttention.zeros(H, 10, 8), attained)
    assert check.lhs == pytest.approx(2 * 5**0.5 * 0.1 / 2, rel=1e-14)
    assert check.rhs == pytest.approx(check.lhs, rel=1e-12)
    scores = 0.3 * mha.MultiHeadAttention.random(H, 10, 8, seed=1)
    drawn = late_steps.pull(scores, mha.data.tokenized_mixture(n=20, sigma=0.0))
    assert 0 < drawn.slack < 0.9


@pytest.mark.parametrize("H", [1, 8])
def test_reduced_flow_follows_the_gradient(H):
    """One short time of the flow is that time times minus the gradient of ℓ(u α(w)), by central
    differences."""

    def loss(u, w):
        return np.log1p(np.exp(-u * 0.2 * np.exp(w) / (0.2 * np.exp(w) + 0.8)))

    u, w, h, time = 1.3, 0.4, 1e-6, 1e-6
    end = late_steps.reduced_flow(0.2, 1.0, 1 / H, (u, w), time)
    slopes = [
        (loss(u + h, w) - loss(u - h, w)) / (2 * h),
        (loss(u, w + h) - loss(u, w - h)) / (2 * h),
    ]
    np.testing.assert_allclose((end - [u, w]) / time, [-slopes[0], -slopes[1] / H], rtol=1e-4)


@pytest.mark.parametrize("H", [1, 8, 64])
def test_reduced_share_is_where_the_flow_arrives(H):
    u, w = late_steps.reduced_flow(0.1, 1.0, 1 / H, (0.0, 0.0), 40.0, steps=400)
    share = selection.selected_mass(0.1, w)
    assert late_steps.reduced_share(0.1, H, u * share) == pytest.approx(share, rel=1e-6)
    assert 0.1 < share < 1


def test_the_rate_of_a_path_is_the_growth_of_one_over_the_loss():
    data = mha.data.tokenized_mixture(n=20)
    path = mha.train(
        mha.MultiHeadAttention.zeros(4, 10, 8),
        data,
        mha.GradientDescent(1e-3),
        10,
        record=range(11),
    )
    rate = late_steps.loss_rate(path, 1e-3)
    np.testing.assert_allclose(np.diff(1 / path.loss), rate[:-1], rtol=2e-3)
