"""Chapter 9: the formulas against drawn tokens, the stored tables against the derived, and the live
figure."""

import json
from functools import cache

import numpy as np
import pytest
import torch

import mhabook
import mhalib as mha
from engines import assert_follows, plain
from mhabook.c09_tilting import figure as c09
from mhabook.c09_tilting import finite_context
from mhabook.c09_tilting import statements as tilting
from mhabook.c10_structure.factorization import optimum

FALSE_ALARM = 4.5
"""Standard errors that a mean of draws may be off: by chance once in 150,000 comparisons, if it is
normal."""
NORMS = (0.5, 0.5**0.5, 0.8, 1.0, 1.4, 2.0)


def drawn(n, tau, draws=20_000):
    """The squared errors, Σ π², and the first of two further coordinates, of ``draws`` samples of n
    tokens."""
    rng = np.random.default_rng([n, int(100 * tau)])
    g, other = rng.standard_normal((2, draws, n))
    weights = np.exp(tau * g - (tau * g).max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return (
        ((weights * g).sum(axis=1) - tau) ** 2,
        (weights**2).sum(axis=1),
        (weights * other).sum(axis=1) ** 2,
    )


def assert_mean(values, wanted):
    assert abs(values.mean() - wanted) < FALSE_ALARM * values.std() / len(values) ** 0.5


@pytest.mark.parametrize(
    "n, tau", [(1, 1.3), (2, 0.1), (3, 2.0), (40, 0.7), (40, 3.0), (200, 1.5), (200, 6.0)]
)
def test_the_integrals_are_what_drawn_tokens_do(n, tau):
    error, share = finite_context.query_error(n, tau)
    errors, shares, others = drawn(n, tau)
    assert_mean(errors, error)
    assert_mean(others, share)
    if n > 1:
        assert_mean(shares, share)


@pytest.mark.parametrize("n", [1, 2, 1000, 3000, 10**6])
def test_without_scores_the_mean_is_the_mean(n):
    """τ = 0, and a τ that is nearly 0, on both sides of where the range of the integral is cut."""
    assert finite_context.query_error(n, 0) == (1 / n, 1 / n)
    error, share = finite_context.query_error(n, 1e-3)
    assert error == pytest.approx(1 / n, rel=1e-5) and share == pytest.approx(1 / n, rel=1e-5)


def test_one_token_is_read_alone():
    error, share = finite_context.query_error(1, 1.7)
    assert share == pytest.approx(1, rel=1e-10) and error == pytest.approx(1 + 1.7**2, rel=1e-10)


@pytest.mark.parametrize("tau", [0.5, 1.0, 1.5])
def test_the_integrals_have_the_limits_of_the_theorems(tau):
    error, share = finite_context.query_error(1e9, tau)
    b, Sigma = np.array([tau, 0.0]), np.eye(2)
    limit = tilting.asymptotic_error(b, Sigma)
    assert 1e9 * error == pytest.approx(limit[0, 0], rel=1e-5)
    assert (
        1e9 * share
        == pytest.approx(limit[1, 1], rel=1e-5)
        == pytest.approx(np.exp(tau**2), rel=1e-12)
    )


@pytest.mark.parametrize("n", finite_context.MANY)
def test_the_curves_between_their_points_are_the_integrals(n):
    tau, *logs = finite_context._curves(n)
    for at in np.random.default_rng(0).uniform(0, tau[-1], 12):
        found = [np.exp(np.interp(at, tau, column)) for column in logs]
        assert found == pytest.approx(finite_context.query_error(n, at), rel=2e-3)


@pytest.mark.parametrize("n", [2, 50])
def test_the_error_of_a_layer_is_what_drawn_tokens_and_queries_do(n):
    """U has more rows than columns, V is not symmetric, and ``query_error`` stands in the place of
    the curves."""
    rng = np.random.default_rng(n)
    U = rng.standard_normal((3, 2))
    V = 0.4 * rng.standard_normal((2, 2))
    z = rng.standard_normal((2000, 1, 2))
    tokens = rng.standard_normal((2000, n, 2))
    weights = mha.softmax((z @ V @ tokens.mT)[:, 0])
    away = np.einsum("kj,kjd->kd", weights, tokens) - z[:, 0] @ V
    grid = np.linspace(0, 12, 500)
    with pytest.MonkeyPatch.context() as patch:
        logs = np.log([finite_context.query_error(n, tau) for tau in grid]).T
        patch.setattr(finite_context, "_curves", lambda n: (grid, *logs))
        assert_mean(((away @ U.T) ** 2).sum(axis=1), finite_context.layer_error(n, U, V))


def test_a_layer_has_the_covariance_of_the_lemma():
    """d = 3, a correlated Σ and an asymmetric B, through the model itself: 3,000 samples of 30
    tokens."""
    rng = np.random.default_rng(7)
    root = rng.standard_normal((3, 3, 3))[0]
    B = np.triu(rng.standard_normal((3, 3))) / 3
    x = rng.standard_normal(3)
    Sigma, model = root @ root.T, mha.AttentionRegression(np.eye(3), B)
    b, tokens = B.T @ x, rng.standard_normal((3000, 30, 3)) @ root.T
    away = np.array([model.means(x[None], sample)[0] for sample in tokens]) - Sigma @ b
    tau = tilting.score_variance(b, Sigma) ** 0.5
    error, share = finite_context.query_error(30, tau)
    wanted = share * Sigma + (error - share) / tau**2 * np.outer(Sigma @ b, Sigma @ b)
    for i, j in ((0, 0), (0, 1), (1, 2), (2, 2)):
        assert_mean(away[:, i] * away[:, j], wanted[i, j])


def test_the_mean_over_queries_is_the_closed_form_where_that_is_finite():
    """Half the mean error times n tends to ``mean_excess`` for v < 1/√2; at v = ½ it is near at a
    million tokens."""
    v = np.array([[0.5]])
    assert 1e6 * finite_context.mean_error(1e6, 0.5) / 2 == pytest.approx(
        tilting.mean_excess(np.eye(1), v), rel=5e-3
    )
    assert tilting.mean_excess(np.eye(1), np.array([[0.5**0.5]])) == np.inf


def test_the_mean_over_queries_is_what_drawn_tokens_and_queries_do():
    rng = np.random.default_rng(3)
    z, g = rng.standard_normal(40_000), rng.standard_normal((40_000, 50))
    weights = np.exp(0.7 * z[:, None] * g)
    errors = ((weights * g).sum(axis=1) / weights.sum(axis=1) - 0.7 * z) ** 2
    assert_mean(errors, finite_context.mean_error(50, 0.7))


@pytest.mark.parametrize("v", NORMS)
def test_stored_means_are_the_exact_ones(v):
    """100 draws, whose errors are far from normal: five standard errors at all eleven sizes."""
    runs, exact = (
        mhabook.stored(f"{name}.npz").where(v=v) for name in ("exponents", "exponents_exact")
    )
    error, wanted = runs["error"], exact["error"][0][:11]
    assert len(error) == 100 and (runs["n"][0] == exact["n"][0][:11]).all()
    assert (abs(error.mean(axis=0) - wanted) < 5 * error.std(axis=0, ddof=1) / 10).all()
    assert wanted[2] == pytest.approx(finite_context.mean_error(100, v), rel=1e-12)


@pytest.mark.parametrize("v", NORMS)
def test_exact_slopes_tend_to_the_exponent(v):
    exact = mhabook.stored("exponents_exact.npz").where(v=v)
    slopes = np.diff(np.log(exact["error"][0])) / np.diff(np.log(exact["n"][0]))
    assert abs(slopes[-1] - tilting.exponent(v)) < 0.0135
    assert abs(slopes[9] - tilting.exponent(v)) < 0.11


@pytest.mark.parametrize("u", [0.2, 0.5, 0.7, 0.9, 1.0, 1.4])
def test_the_rate_comes_nearer_with_n(u):
    """The slope of both numbers from n to 100 n, for a small and a large n."""
    away = []
    for n in (1e6, 1e30):
        first, then = (
            finite_context.query_error(m, u * (2 * np.log(m)) ** 0.5) for m in (n, 100 * n)
        )
        away.append(
            abs(np.log(np.array(then) / first) / np.log(100) - finite_context.query_rate(u)).max()
        )
    assert away[1] < min(0.025, away[0])


def test_the_rate_is_continuous_and_the_exponent_has_its_threshold():
    for at in (3**-0.5, 1.0):
        low, high = finite_context.query_rate([at - 1e-9, at + 1e-9])
        assert low == pytest.approx(high, abs=1e-8)
    assert tilting.exponent(0.5) == tilting.exponent(0.7) == -1 < tilting.exponent(0.71)
    assert tilting.exponent(1.0) == pytest.approx(-(5**0.5 - 1) / 2, rel=1e-15)


def test_the_gradient_of_the_proposition_is_the_models():
    rng = np.random.default_rng(2)
    A, B, x, y = (rng.standard_normal(shape) for shape in ((2, 3), (3, 3), (7, 3), (7, 2)))
    by_A, by_B = tilting.gradient(A, B, x, y)
    grad = mha.AttentionRegression(A, B).loss_and_grad(x, y)[1]
    np.testing.assert_allclose(by_A, grad.A, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(by_B, grad.B, rtol=1e-12, atol=1e-14)


def test_the_gradient_is_the_same_in_torch():
    rng = np.random.default_rng(2)
    arrays = [rng.standard_normal(shape) for shape in ((2, 3), (3, 3), (7, 3), (7, 2))]
    for ours, theirs in zip(
        tilting.gradient(*arrays), tilting.gradient(*map(torch.tensor, arrays)), strict=True
    ):
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "check, largest", [(tilting.tilting, 6), (tilting.effective, 3), (finite_context.query, 3)]
)
@pytest.mark.parametrize("seed", range(4))
def test_the_quadrature_is_exact_up_to_the_largest_scores_that_are_let_in(check, largest, seed):
    """To 1e-11, a hundredth of what the statements ask for, and no longer at a third more: so the
    limit is needed."""
    instance = tilting.any_tilt(seed)
    Sigma, b = instance["Sigma"], instance["b"] / tilting.score_variance(**instance) ** 0.5
    assert check((1 - 1e-12) * largest * b, Sigma)[0].lhs < 1e-11
    assert check(0 * b, Sigma)[0].lhs < 1e-13  # without scores, too
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tilting, "LARGEST", 99.0)
        assert not check(4 / 3 * largest * b, Sigma)[0].holds


def test_a_saturated_softmax_teaches_the_scores_nothing():
    """‖C_i‖ ≤ (1 − max π) max ‖x_j − x_k‖², so the gradient in B dies where the weights sit on
    single tokens."""
    rng = np.random.default_rng(4)
    A, x, y = (rng.standard_normal(shape) for shape in ((2, 3), (50, 3), (50, 2)))
    small, large = (
        np.linalg.norm(tilting.gradient(A, size * np.eye(3), x, y)[1]) for size in (1.0, 1e4)
    )
    assert (
        large < 1e-6 * small and np.linalg.norm(tilting.gradient(A, 1e4 * np.eye(3), x, y)[0]) > 0.1
    )


def test_the_risk_of_the_limit_is_the_population_loss():
    """The mean of ½‖y − A Σ Bᵀ x‖² over 400,000 samples."""
    data = mha.data.linear_regression(n=400_000, d=3, p=2, sigma=0.5, seed=1)
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((2, 3)), rng.standard_normal((3, 3)) / 2
    losses = ((data.y - data.x @ (A @ data.Sigma @ B.T).T) ** 2).sum(axis=1) / 2
    assert_mean(losses, mha.models.regression.excess(A, B, data.Sigma, data.M) + 0.5**2 * 2 / 2)


def test_the_best_scale_in_one_dimension_is_the_closed_form():
    for u, v in ((1.0, 1.0), (0.3, 2.5)):
        c = tilting.best_scale(np.array([[u]]), np.array([[v]]))
        assert v / c == pytest.approx(((5 - 13**0.5) / 6) ** 0.5, rel=1e-6)


def test_the_best_scale_is_a_minimum():
    U, V = optimum(np.diag([1.0, 0.6, 0.3]))
    c = tilting.best_scale(U, V)
    costs = [tilting.mean_excess(at * U, V / at) for at in (0.97 * c, c, 1.03 * c)]
    assert costs[1] == min(costs) and 0.4 < np.linalg.norm(V, 2) / c < 0.5


def test_stored_costs_of_a_scale_are_those_of_the_theory_page():
    """Within two standard deviations between instances of .119, .028, .0082, .023, .162; least
    between 2 and 2.5."""
    table = mhabook.stored("renormalization.npz")
    for c, wanted in ((0.5, 0.119), (1.0, 0.028), (2.0, 0.0082), (5.0, 0.023), (16.0, 0.162)):
        costs = table.where(c=c)["tokens"]
        assert abs(costs.mean() - wanted) < 2 * costs.std(ddof=1)
    costs = {c: table.where(c=c)["tokens"].mean() for c in dict.fromkeys(table["c"].tolist())}
    assert 2 <= min(costs, key=costs.get) <= 2.5


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: finite_context.query_error(0, 1.0),
            "n: expected a number of tokens from 1 to 1e100, got 0",
        ),
        (lambda: finite_context.query_error(np.nan, 1.0), "n: expected .* got nan"),
        (
            lambda: finite_context.query_error(10, -1.0),
            "tau: expected a finite number ≥ 0, got -1.0",
        ),
        (lambda: finite_context.query_error(10, np.inf), "tau: expected .* got inf"),
        (lambda: finite_context.mean_error(10, -1.0), "v: expected a finite number ≥ 0, got -1.0"),
        (lambda: finite_context.mean_error(0, 1.0), "n: expected .* got 0"),
        (
            lambda: tilting.best_scale(np.zeros((2, 2)), np.eye(2)),
            "U, V: expected .* not zero, got norms 0 and 1",
        ),
        (
            lambda: tilting.best_scale(np.eye(2), np.zeros((2, 2))),
            "U, V: expected .* not zero, got norms 1.41 and 0",
        ),
    ],
)
def test_what_has_no_answer_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- the live figures
# --------------------------------------------------------------------------------------------


@cache
def figure():
    return c09.tilting()


ONE = np.ones((1, 1))


@cache
def cloud():
    """With a head whose A and B are not one."""
    return c09.cloud(
        mha.data.linear_regression(n=40, d=1, p=1), mha.AttentionRegression(A=-2 * ONE, B=0.5 * ONE)
    )


def test_at_the_query_zero_the_cloud_of_a_box_follows_mhalib():
    assert_follows(plain(cloud()), cloud(), {"x": 0.0, "tokens": "box"})


@pytest.mark.parametrize("x", [-2.0, 0.0, 1.5])
def test_limits_of_the_cloud_are_those_of_its_densities(x):
    grid = np.linspace(-9, 9, 18_001)
    for kind, density in {
        "gaussian": np.exp(-(grid**2) / 2),
        "box": 1.0 * (abs(grid) <= 3**0.5),
    }.items():
        tilted = density * np.exp(x * grid)
        drawn = c09.cloud(
            mha.data.linear_regression(n=20, d=1, p=1), mha.AttentionRegression(A=ONE, B=ONE)
        ).drawn(x=x, tokens=kind)
        assert drawn["limit"] == pytest.approx(tilted @ grid / tilted.sum(), abs=2e-3)
        np.testing.assert_allclose(
            drawn["tilted"], np.interp(c09.SEEN, grid, tilted / tilted.sum() / 1e-3), atol=2e-3
        )


@pytest.mark.parametrize(
    "data, layer, message",
    [
        (
            mha.data.regression_from_arrays(np.ones((20, 1)), np.ones((20, 1))),
            None,
            "data: expected ten or more tokens",
        ),
        (mha.data.linear_regression(n=20, d=2, p=1), None, "data: expected .* dimension d = 1"),
        (mha.data.linear_regression(n=9, d=1, p=1), None, "data: expected ten"),
        (None, mha.AttentionRegression.random(d=2, p=1), "layer: expected .* p = d = 1"),
        (
            None,
            mha.AttentionRegression(A=ONE, B=0 * ONE),
            "layer: expected A and B that are not zero, got 1 and 0",
        ),
    ],
)
def test_what_the_cloud_cannot_move_is_refused(data, layer, message):
    good = mha.data.linear_regression(n=20, d=1, p=1), mha.AttentionRegression(A=ONE, B=ONE)
    with pytest.raises((TypeError, ValueError), match=message):
        c09.cloud(good[0] if data is None else data, good[1] if layer is None else layer)


def test_what_a_page_carries_is_small():
    for made in (figure(), cloud()):
        assert len(json.dumps(made.spec)) < 200_000
