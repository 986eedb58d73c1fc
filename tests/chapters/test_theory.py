"""The theory: its formulas against autograd, and its bounds where they are attained."""

import numpy as np
import pytest
from hypothesis import given, settings

import mhalib as mha
import oracles
from checks import assert_close
from mhabook.c01_model import selection
from mhabook.c01_model.instances import equal_tokens, opposite_tokens, token_radius, valley
from mhabook.c02_curvature import bounds, derivatives, loss_bounds
from mhabook.c02_curvature.measured import shares_along
from mhalib.losses import logistic
from strategies import SIZES, direction, problem, problems

seeds = pytest.mark.parametrize("seed", range(6))


def recalled_gradient_bound(*instance, **radius):
    return bounds.recalled_bounds(*instance, **radius)[0]


def recalled_hessian_bound(*instance, **radius):
    return bounds.recalled_bounds(*instance, **radius)[2]


ALL_BOUNDS = [
    bounds.gradient_bound,
    bounds.sharp_gradient_bound,
    bounds.hessian_bound,
    bounds.sharp_hessian_bound,
    recalled_gradient_bound,
    recalled_hessian_bound,
    loss_bounds.self_bounded_gradient,
    loss_bounds.smoothness,
    loss_bounds.weak_convexity,
    loss_bounds.self_bounded_weak_convexity,
]


def dataset(drawn):
    return mha.data.from_arrays(drawn.X, drawn.y)


def test_the_deviation_constant_is_the_best():
    share = np.linspace(0, 1, 100_001)[1:-1]
    two_points = [
        bounds.deviation(np.array([-1.0, 1.0]), np.array([1 - p, p])) for p in share[::100]
    ]
    assert max(two_points) <= bounds.DEVIATION
    assert max(two_points) > bounds.DEVIATION * (1 - 1e-5)
    assert_close(bounds.DEVIATION, 4 / (3 * 3**0.5), 1e-15)


@pytest.mark.parametrize("r", [1e-3, 0.1, 0.7, 1.0, 1.4, 10.0, 1e3])
def test_the_sharper_gradient_bound_is_attained_at_every_size_of_the_decoders(r):
    """By equal tokens where r ≤ 1, by opposite ones where r ≥ 1, both with decoders of norm
    r/R²."""
    model, data = opposite_tokens(u=r / 1.5**2).values()
    assert (
        abs(bounds.sharp_gradient_bound(model, equal_tokens()["data"] if r <= 1 else data).slack)
        < 1e-12
    )


def test_the_gradient_bounds_take_the_mean_over_heads():
    """Opposite tokens attain the sharper one, and nearly the other, with long decoders of different
    lengths, too."""
    model, data = opposite_tokens(u=1e3).values()
    uneven = mha.MultiHeadAttention(model.W, np.array([1, 2, 5])[:, None, None] * model.U)
    assert abs(bounds.sharp_gradient_bound(uneven, data).slack) < 1e-12
    assert 0 <= bounds.gradient_bound(uneven, data).slack < 1e-7


@settings(max_examples=40)
@given(problems)
def test_bounds_hold_at_every_scale(drawn):
    for bound in ALL_BOUNDS:
        check = bound(drawn.model, dataset(drawn))
        # |ℓ′| may be too small for a float: then both sides are zero.
        assert check.holds or check.lhs <= 1e-300, check


def test_constants_are_the_formulas():
    model, _, _ = problem(1, T=4, d=3, H=2)
    R, (first, second) = 1.3, (np.linalg.norm(U) for U in model.U)
    mean, r = (first**2 + second**2) / 2, R**2 * max(first, second)
    B = 2 * R**3 * (r + (r**2 + 4) ** 0.5) / 2
    assert bounds.gradient_constant(model, R) == pytest.approx(
        2 * R * (1 + R**4 * mean) ** 0.5, rel=1e-14
    )
    assert bounds.hessian_constant(model, R) == pytest.approx(B, rel=1e-14)
    assert loss_bounds.curvature_constant(model, None, R) == pytest.approx(B / 2**0.5, rel=1e-14)
    assert bounds.smoothness_constant(model, R) == pytest.approx(
        R**2 * (1 + R**4 * mean) + B / 2**0.5, rel=1e-14
    )


def test_recalled_constants_are_the_formulas():
    """Short decoders, where the Hessian is nearest its bound, and long ones, where the gradient
    is."""
    for u in (0.02, 20.0):
        model, data = opposite_tokens(u=u, T=4, R=1.5, mean=0.05).values()
        theta = (u**2 + (np.arctanh(0.05) / 1.5**2) ** 2) ** 0.5
        beta_1, beta_3 = 3 * (4.5 * theta + 1), 13.5 * (3 * 2**0.5 * 2.25 * theta + 1)
        steep = bounds.gradient_bound(model, data).lhs
        curved = bounds.hessian_bound(model, data).lhs
        G, B = bounds.gradient_constant(model, 1.5), bounds.hessian_constant(model, 1.5)
        found = [check[:2] for check in bounds.recalled_bounds(model, data)]
        assert_close(found, [(steep, G), (G, beta_1), (curved * 3**0.5, B), (B, beta_3)], 1e-12)


@seeds
def test_left_sides_are_what_autograd_measures(seed):
    drawn = problem(seed, n=3, T=3, d=2)
    model, data, theta = drawn.model, dataset(drawn), drawn.model.ravel()
    gradients = oracles.logit_gradients(drawn.X, theta, model.sizes)
    hessians = [oracles.logit_hessian(x, theta, model.sizes) for x in drawn.X]
    _, dW, dU = oracles.loss_and_grad(drawn.X, drawn.y, model.W, model.U)
    eigenvalues = np.linalg.eigvalsh(oracles.loss_hessian(drawn.X, drawn.y, theta, model.sizes))
    measured = {
        bounds.gradient_bound: np.linalg.norm(gradients, axis=1).max(),
        bounds.sharp_gradient_bound: np.linalg.norm(gradients, axis=1).max(),
        bounds.hessian_bound: max(np.linalg.norm(hessian, 2) for hessian in hessians),
        bounds.sharp_hessian_bound: max(np.linalg.norm(hessian, 2) for hessian in hessians),
        loss_bounds.self_bounded_gradient: (np.linalg.norm(dW) ** 2 + np.linalg.norm(dU) ** 2)
        ** 0.5,
        loss_bounds.smoothness: abs(eigenvalues).max(),
        loss_bounds.weak_convexity: -eigenvalues[0],
        loss_bounds.self_bounded_weak_convexity: -eigenvalues[0],
    }
    for bound, lhs in measured.items():
        assert_close(bound(model, data).lhs, lhs, 1e-12, size=abs(eigenvalues).max())


def test_the_radius_is_the_longest_token():
    _, X, _ = problem(2)
    assert token_radius(X) == pytest.approx(
        max(np.linalg.norm(x) for tokens in X for x in tokens), rel=1e-15
    )


@seeds
@pytest.mark.parametrize("bound", ALL_BOUNDS, ids=lambda f: f.__name__)
def test_a_larger_radius_only_loosens(bound, seed):
    drawn = problem(seed)
    R = token_radius(drawn.X)
    check, looser = (bound(drawn.model, dataset(drawn), R=radius) for radius in (R, 2 * R))
    assert check == bound(drawn.model, dataset(drawn))
    assert looser.slack > check.slack


@seeds
def test_lemma_1_agrees_with_autograd(seed):
    """The formulas against the gradient and the dense Hessian of one head."""
    drawn = problem(seed, n=1, H=1)
    X, W, U, d = drawn.X[0], drawn.model.W[0], drawn.model.U[0], 3
    a = np.random.default_rng(seed).standard_normal(4)
    (b, c) = np.random.default_rng(seed + 1).standard_normal((2, 3))
    gradient = oracles.logit_gradients(drawn.X, drawn.model.ravel(), drawn.model.sizes)[0]
    hessian = oracles.logit_hessian(X, drawn.model.ravel(), drawn.model.sizes)
    assert_close(derivatives.logit(X, W, U), drawn.model(drawn.X)[0], 1e-13)
    assert_close(derivatives.gradient_W(X, W, U).ravel(), gradient[: d * d], 1e-12)
    assert_close(derivatives.gradient_U(X, W, U).ravel(), gradient[d * d :], 1e-12)
    assert_close(
        derivatives.gradient_W_of_gradient_U(X, W, U, a, b).ravel(),
        np.outer(a, b).ravel() @ hessian[d * d :, : d * d],
        1e-12,
    )
    assert_close(
        derivatives.gradient_W_of_gradient_W(X, W, U, b, c).ravel(),
        np.outer(c, b).ravel() @ hessian[: d * d, : d * d],
        1e-12,
    )
    assert abs(hessian[d * d :, d * d :]).max() == 0
    V = direction(drawn.model, seed)
    assert_close(
        derivatives.second_derivative(X, W, U, V.W[0], V.U[0]),
        V.ravel() @ hessian @ V.ravel(),
        1e-12,
        size=np.linalg.norm(hessian, 2) * V.norm() ** 2,
    )


@seeds
def test_loss_gradient_is_the_gradient(seed):
    drawn = problem(seed)
    assert_close(
        loss_bounds.loss_gradient(drawn.model, dataset(drawn)),
        drawn.model.loss_and_grad(drawn.X, drawn.y)[1].ravel(),
        1e-12,
    )


@pytest.mark.parametrize(
    "sizes", [SIZES, {"n": 2, "T": 3, "d": 1, "H": 4}, {"n": 1, "T": 1, "d": 2, "H": 3}], ids=str
)
def test_the_hessian_of_the_loss_is_the_second_derivative(sizes):
    drawn = problem(7, **sizes)
    model, X, y = drawn
    dense = oracles.loss_hessian(X, y, model.ravel(), model.sizes)
    ours = sum(loss_bounds.loss_hessian(model, dataset(drawn)))
    assert_close(ours, dense, 1e-12)
    assert_close(ours, dense.T, 1e-12)


def test_the_hessian_of_the_logit_is_block_diagonal_over_heads():
    model, X, _ = problem(8, H=3, T=3)
    p = 3 * 3 + 3 * 3
    blocks = derivatives.logit_hessian(model, X)
    assert blocks.shape == (5, 3, p, p)
    for x, ours in zip(X, blocks, strict=True):
        dense = oracles.logit_hessian(x, model.ravel(), model.sizes)
        assembled = np.zeros((3, p, 3, p))
        for h in range(3):
            assembled[h, :, h] = ours[h] / 3**0.5
        assert_close(assembled.reshape(3 * p, 3 * p), dense, 1e-12)


@seeds
def test_the_parts_of_the_hessian_are_what_they_are_called(seed):
    drawn = problem(seed)
    positive, signed = loss_bounds.loss_hessian(drawn.model, dataset(drawn))
    eigenvalues, p = np.linalg.eigvalsh(positive), len(signed) // 2
    assert eigenvalues[0] >= -1e-13 * eigenvalues[-1]
    assert (eigenvalues > 1e-12 * eigenvalues[-1]).sum() <= len(drawn.X)
    assert abs(signed[:p, p:]).max() == abs(signed[p:, :p]).max() == 0
    assert abs(positive[:p, p:]).max() > 1e-6 * eigenvalues[-1]


@pytest.mark.parametrize(
    "loss", [logistic, bounds.MarginSquared()], ids=["logistic", "squared margin"]
)
def test_loss_derivatives_hold_for_any_loss_of_the_margin(loss):
    drawn = problem(3)
    model, data, V, step = drawn.model, dataset(drawn), direction(drawn.model), 1e-5
    ahead, behind = model + step * V, model - step * V

    def value(m):
        return loss(m.margins(data.X, data.y)).mean()

    along = (value(ahead) - value(behind)) / (2 * step)
    assert_close(loss_bounds.loss_gradient(model, data, loss) @ V.ravel(), along, 1e-7)
    change = (
        loss_bounds.loss_gradient(ahead, data, loss) - loss_bounds.loss_gradient(behind, data, loss)
    ) / (2 * step)
    assert_close(sum(loss_bounds.loss_hessian(model, data, loss)) @ V.ravel(), change, 1e-7)


def test_the_two_models_of_a_valley_have_one_loss_and_a_hump_between():
    model, other, data = valley(1.0).values()
    assert_close(model(data.X), other(data.X), 1e-14)
    assert (model - other).norm() == pytest.approx(1.0, rel=1e-14)
    assert (0.5 * (model + other)).loss(data.X, data.y) > model.loss(data.X, data.y)


@pytest.mark.parametrize(
    "check",
    [
        bounds.gradient_bound,
        bounds.sharp_gradient_bound,
        bounds.hessian_bound,
        bounds.sharp_hessian_bound,
        recalled_gradient_bound,
        recalled_hessian_bound,
        lambda *instance, **R: selection.head_scale(*instance, **R)[0],
    ],
)
def test_the_bounds_hold_for_tokens_that_are_all_zero_and_for_no_smaller_radius_of_others(check):
    model, X, y = problem(n=5, T=4, d=3, H=2)
    with np.errstate(all="raise"):
        found = check(model, mha.data.from_arrays(0 * X, y))
        assert found.holds and found.lhs == 0
        assert not check(model, mha.data.from_arrays(X, y), R=0.0).holds


@pytest.mark.parametrize("distance", [1.8, 10.0])
def test_a_segment_too_long_is_refused(distance):
    curvature = loss_bounds.segment_curvature(**valley(distance))
    assert curvature > 8
    with pytest.raises(ValueError, match=rf"κD² < 8, got κD² = {curvature:.4g}"):
        loss_bounds.quasi_convexity(**valley(distance))


@pytest.mark.parametrize(
    "zeta, gap, mass", [(0.1, 0.0, 0.1), (0.5, 1.0, 1 / (1 + np.exp(-1))), (0.2, 800.0, 1.0)]
)
def test_selected_mass_of_softmax(zeta, gap, mass):
    assert selection.selected_mass(zeta, gap) == pytest.approx(mass, rel=1e-15)


def test_the_share_of_a_bound_is_followed_until_descent_diverges():
    data = mha.data.tokenized_mixture(n=40, T=8, d=6, M=3, zeta=0.25, S=2.0, sigma=0.1, seed=0)
    start = mha.MultiHeadAttention.random(H=4, T=8, d=6, scale=0.3, seed=0)
    steps, shares = shares_along(start, data, bounds.MarginSquared(), lr=0.5)
    assert steps == [0]
    assert 0 < shares[0] < 1


def test_more_heads_are_flatter():
    """With four times as many heads the bound on negative curvature halves, and so does the
    curvature."""
    one, four = (opposite_tokens(H=H) for H in (1, 4))
    few, many = (loss_bounds.weak_convexity(**instance) for instance in (one, four))
    assert many.rhs == pytest.approx(few.rhs / 2, rel=1e-12)
    assert many.lhs == pytest.approx(few.lhs / 2, rel=1e-9)
