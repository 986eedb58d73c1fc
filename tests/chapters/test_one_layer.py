"""One layer of attention must train: rates along runs, and the constants of the neighborhood
sampled inside it."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import mhabook
import mhalib as mha
from mhabook.c13_layer import statements as one_layer
from strategies import seeds


def problem(seed):
    """A random small problem of either kernel, with HD ≥ Nn."""
    instance = one_layer._value_step(seed % 1000)
    return instance["layer"], instance["data"]


def violations(seeds, steps, factors):
    """How many steps of training the values fall short of each factor times the rate, and how many
    there were."""
    short, taken = np.zeros(len(factors), dtype=int), 0
    for seed in seeds:
        layer, data = problem(seed)
        rate = one_layer.value_rate(layer, data.X)
        lr = 1 / one_layer.value_smoothness(layer, data.X)
        loss, grad = layer.loss_and_grad(data.X, data.y)
        losses = [loss]
        # below, rounding is larger than a step
        while len(losses) <= steps and losses[-1] > 1e-12 * losses[0]:
            layer = layer - lr * grad.only("WV")
            loss, grad = layer.loss_and_grad(data.X, data.y)
            losses.append(loss)
        before, after = np.array(losses[:-1]), np.array(losses[1:])
        contraction = np.maximum(1 - np.array(factors)[:, None] * lr * rate, 0) ** 2
        short += (after > contraction * before * (1 + 1e-9) + 1e-25 * losses[0]).sum(axis=1)
        taken += len(after)
    return short.tolist(), taken


def test_the_rate_of_the_values_is_never_violated_and_a_faster_one_is():
    """Chapter 13: none in about 11,000 steps, and more than a third."""
    (none, many), taken = violations(range(70), 200, [1.0, 1.5])
    assert none == 0
    assert 10_900 < taken < 11_100
    assert taken / 3 < many < 0.36 * taken


@pytest.mark.parametrize("seed", range(0, 40, 7))
def test_the_rate_of_the_values_holds_up_to_two_over_both_curvatures_and_no_further(seed):
    """At η = 2/(α + L) the largest curvature reflects by as much as the least contracts."""
    instance = one_layer._two_curvatures(seed, 1.0)
    layer, data = instance["layer"], instance["data"]
    longest = 2 / (one_layer.value_rate(layer, data.X) + one_layer.value_smoothness(layer, data.X))
    assert abs(one_layer.values_descend(layer, data, longest)[0].slack) < 1e-9
    assert not one_layer.values_descend(layer, data, 1.001 * longest)[0].holds
    layer, data = problem(seed)
    longest = 2 / (one_layer.value_rate(layer, data.X) + one_layer.value_smoothness(layer, data.X))
    assert all(check.holds for check in one_layer.values_descend(layer, data, longest))


def test_the_row_of_the_neighborhood_does_not_pin_its_constants(monkeypatch):
    """Chapter 13: four times the rate, a step of 2/L and 16 times the first loss, on a hundred
    instances."""
    drawn = [mhabook.ledger["thm-neighborhood"].random(seed) for seed in range(100)]
    rate = one_layer.value_rate
    for one in drawn:
        layer, data = one["layer"], one["data"]
        L = one_layer.smoothness(layer, data, one_layer.neighborhood(layer, data.X))
        assert all(one_layer.stays_near(layer, data, 2 / L))
        far = one_layer.near(layer, data.X, 16)
        L = one_layer.smoothness(layer, far, one_layer.neighborhood(layer, far.X))
        assert all(one_layer.stays_near(layer, far, 1 / L))
    monkeypatch.setattr(one_layer, "value_rate", lambda *given: 4 * rate(*given))
    assert all(check.holds for one in drawn for check in one_layer.stays_near(**one))


@pytest.mark.parametrize(
    "id, name, by, attained",
    [
        ("thm-values", "value_rate", 1.05, 4),
        ("thm-queries", "query_rate", 1.05, 4),
        ("lemma-kernel-moves", "kernel_moves", 0.95, 14),  # the others are for its other parts
    ],
)
def test_a_constant_that_is_a_twentieth_better_fails(id, name, by, attained, monkeypatch):
    function = getattr(one_layer, name)
    monkeypatch.setattr(one_layer, name, lambda *given: by * np.array(function(*given)))
    for make in mhabook.ledger[id].extremal[:attained]:
        assert not mhabook.ledger[id].on(make()).holds


@pytest.mark.parametrize("kernel", one_layer.KERNELS, ids=["softmax", "gaussian"])
def test_a_random_start_of_one_head_has_a_rate_if_the_tokens_and_the_outputs_have_full_rank(kernel):
    X = mha.data.random_sequences(2, 2, 4).X
    dependent = X.copy()
    dependent[1, 1] = X[0, 0] + X[0, 1]
    flat = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])[None]
    for seed in range(20):
        layer = mha.AttentionLayer.random(4, 3, 2, kernel=kernel, seed=seed)
        assert one_layer.value_rate(layer, X) > 1e-15
        assert one_layer.value_rate(layer, dependent) < 1e-25
        assert one_layer.value_rate(layer.with_arrays(WO=flat), X) < 1e-25


@given(seeds, st.floats(0.01, 1))
def test_in_the_neighborhood_the_least_singular_value_does_not_halve(seed, share):
    layer, data = problem(seed)
    away = mha.AttentionLayer.random(
        *(layer.sizes[k] for k in (1, 2, 3, 0)), kernel=layer.kernel, seed=seed % 1000 + 1
    )
    away = (away - layer).only(("WQ", "WK", "WV"))
    there = layer + share * one_layer.neighborhood(layer, data.X) / away.norm() * away
    before = one_layer.least_singular(layer.mixed(data.X))
    assert one_layer.least_singular(there.mixed(data.X)) >= before / 2 * (1 - 1e-9)


@given(seeds, st.floats(0.01, 1.5))
def test_the_curvature_on_the_ball_is_at_most_the_smoothness(seed, radius):
    layer, data = problem(seed)
    other, along = (
        mha.AttentionLayer.random(
            *(layer.sizes[k] for k in (1, 2, 3, 0)), kernel=layer.kernel, seed=seed % 1000 + k
        ).only(("WQ", "WK", "WV"))
        for k in (1, 2)
    )
    there = layer + radius / other.norm() * other
    bound = one_layer.smoothness(layer, data, radius)
    # M √(2N f) grows so
    scale = max(float(there.loss(data.X, data.y) / layer.loss(data.X, data.y)), 1.0) ** 0.5
    along = along / along.norm()
    assert along.dot(there.hvp(data.X, data.y, along)) <= bound * scale * (1 + 1e-9)


@pytest.mark.parametrize("kernel", one_layer.KERNELS, ids=["softmax", "gaussian"])
@given(seed=seeds, radius=st.floats(0.0, 1.0))
def test_kernel_moves_bound_what_a_move_does(kernel, seed, radius):
    """At the end of the ball, by differences."""
    rng = np.random.default_rng(seed)
    layer = mha.AttentionLayer.random(
        3, 2, 1, scale=rng.uniform(0.3, 3), kernel=kernel, seed=seed % 1000
    )
    X = rng.uniform(0.3, 2) * rng.standard_normal((1, 4, 3))
    first, second = one_layer.kernel_moves(layer, X, radius)
    V, away = (
        mha.AttentionLayer.random(3, 2, 1, kernel=kernel, seed=seed % 1000 + k).only(("WQ", "WK"))
        for k in (1, 2)
    )
    V, there, h = V / V.norm(), layer + radius / away.norm() * away, 1e-4
    behind, here, ahead = (there + step * V for step in (-h, 0, h))
    S = [one.weights(X) for one in (behind, here, ahead)]
    assert np.linalg.norm(S[2] - S[0]) / (2 * h) <= first[0] * (1 + 1e-6) + 1e-7
    assert np.linalg.norm(S[2] - 2 * S[1] + S[0]) / h**2 <= second[0] * (1 + 1e-3) + 1e-5


@pytest.mark.parametrize("n", [1, 4, 9])
def test_a_query_among_n_tokens_moves_gaussian_attention_as_the_root_of_n(n):
    """It moves a row of n weights: 1/√2 of λ₁ at the steepest distance from the keys, and half of
    λ₂ at none."""
    zero = 0 * mha.AttentionLayer.random(n, 1, 1, kernel=mha.gaussian)
    along = zero.with_arrays(WQ=np.eye(n)[None, :, :1])
    at = [one_layer.moves(start, np.eye(n)[None], along, zero, 0.0) for start in (along, zero)]
    assert at[0][0].lhs == pytest.approx(0.5**0.5, rel=1e-12) and at[1][1].lhs == pytest.approx(
        0.5, rel=1e-12
    )


def test_the_neighborhood_of_a_softmax_start_at_zero_is_finite():
    """Queries and keys zero: λ₁ is zero at the center, so that r (Σ ξ²λ₁²)^½ = σ_min(B)/2 is
    quadratic in r."""
    zero = 0 * mha.AttentionLayer.random(4, 2, 1)
    X = mha.data.random_sequences(3, 1, 4).X
    r = one_layer.neighborhood(zero, X)
    first = one_layer.kernel_moves(zero, X, r)[0]
    half = one_layer.least_singular(zero.mixed(X)) / 2
    assert r * np.linalg.norm(np.linalg.norm(X, 2, axis=(1, 2)) * first) == pytest.approx(
        half, rel=1e-12
    )
    assert one_layer.neighborhood(zero, mha.data.random_sequences(3, 2, 4).X) == 0


@pytest.mark.parametrize("kernel", one_layer.KERNELS, ids=["softmax", "gaussian"])
def test_tokens_that_are_zero_have_no_neighborhood(kernel):
    """B is zero, and so is its least singular value: targets near by are the outputs."""
    layer, X = mha.AttentionLayer.random(4, 2, 1, kernel=kernel), np.zeros((1, 2, 4))
    assert one_layer.neighborhood(layer, X) == 0
    assert (one_layer.near(layer, X).y == layer(X)).all()


@pytest.mark.parametrize(
    "convert",
    [lambda a: a.astype("float32"), lambda a: torch.tensor(a, dtype=torch.float32), torch.tensor],
    ids=["numpy, single", "torch, single", "torch"],
)
def test_near_targets_have_the_dtype_of_the_tokens(convert):
    layer, data = problem(3)
    want, near = one_layer.near(layer, data.X), one_layer.near(layer.map(convert), convert(data.X))
    assert near.y.dtype == near.X.dtype == convert(data.X).dtype
    assert np.asarray(near.y) == pytest.approx(want.y, rel=1e-4, abs=1e-5)


def test_no_constants_are_made_up_for_a_normalized_gaussian():
    layer = mha.AttentionLayer.random(3, 2, 1, kernel=mha.normalized_gaussian)
    with pytest.raises(
        TypeError, match="layer: expected softmax or a Gaussian kernel without normalization"
    ):
        one_layer.neighborhood(layer, mha.data.random_sequences(1, 2, 3).X)


@pytest.mark.parametrize("H", [1, 3])
def test_the_smoothness_of_the_values_is_a_curvature_for_one_head_and_else_a_bound(H):
    layer = mha.AttentionLayer.random(4, 3, 2, H, seed=5)
    data = mha.data.random_sequences(2, 3, 4, 2, seed=5)
    size = layer.WV.size

    def gradient(values):
        moved = layer.with_arrays(WV=values.reshape(layer.WV.shape))
        return moved.loss_and_grad(data.X, data.y)[1].WV.ravel()

    # the loss is a quadratic form in the values: differences of its gradient are its Hessian
    hessian = np.array([gradient(row) - gradient(np.zeros(size)) for row in np.eye(size)])
    largest, bound = np.linalg.eigvalsh(hessian)[-1], one_layer.value_smoothness(layer, data.X)
    assert (
        largest == pytest.approx(bound, rel=1e-9)
        if H == 1
        else 0.1 * bound < largest < 0.99 * bound
    )


@pytest.mark.parametrize("H, ranks", [(1, (16, 16)), (2, (16, 32))])
def test_heads_add_no_rank_to_softmax_over_one_token(H, ranks):
    """n = 1: softmax weights are 1, so all blocks of B are X; the Gaussian ones differ."""
    X = mha.data.random_sequences(32, 1, 16).X
    for kernel, rank in zip(one_layer.KERNELS, ranks, strict=True):
        assert (
            np.linalg.matrix_rank(mha.AttentionLayer.random(16, 8, 1, H, kernel=kernel).mixed(X))
            == rank
        )


def test_identical_tokens_and_a_singular_start_have_no_rate():
    layer = mha.AttentionLayer.random(8, 2, 1, tied=True, kernel=mha.gaussian)
    X = np.repeat(mha.data.random_sequences(1, 1, 8).X, 2, axis=1)
    assert one_layer.value_rate(layer, X) < 1e-25
    assert one_layer.neighborhood(layer, X) < 1e-12
