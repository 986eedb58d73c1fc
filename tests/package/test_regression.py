"""The regression layer of Part II: against autograd, dense formulas, and its own data."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mhalib as mha
from checks import assert_close, assert_refused
from livegrad.training import minibatches
from mhalib.models import regression
from mhalib.whitening import Whitening
from optional import torch
from oracles import tensors
from strategies import seeds

SIZES = st.permutations((1, 2, 3, 4, 5)).map(
    lambda sizes: dict(zip(("n", "d", "p", "m"), sizes, strict=False))
)


@pytest.fixture(params=[2**18, 6], ids=["one block", "blocks"])
def entries(request, monkeypatch):
    """Once with all queries in one block, once with one or two in each."""
    monkeypatch.setattr(regression, "ENTRIES", request.param)


in_blocks = pytest.mark.usefixtures("entries")


def drawn(seed, n=5, d=3, p=2, m=4, scale=1.0):
    """A model, m queries with targets, and n tokens as their context."""
    rng = np.random.default_rng([seed, 102])
    model = mha.AttentionRegression.random(d, p, scale, seed % 1000)
    x, context = rng.standard_normal((m, d)), rng.standard_normal((n, d))
    return model, x, rng.standard_normal((m, p)), context


def oracle_loss(A, B, x, y, context):
    """Query by query, token by token."""
    total = 0.0
    for query, target in zip(x, y, strict=True):
        weights = torch.softmax(torch.stack([query @ B @ token for token in context]), 0)
        mean = sum(w * token for w, token in zip(weights, context, strict=True))
        total = total + ((target - A @ mean) ** 2).sum() / 2
    return total / len(x)


def grads(model, x, y, context, V=None):
    """Gradient by autograd, or the Hessian times V."""
    A, B, x, y, context = tensors(model.A, model.B, x, y, context)
    A.requires_grad_(), B.requires_grad_()
    found = torch.autograd.grad(oracle_loss(A, B, x, y, context), (A, B), create_graph=True)
    if V is not None:
        along = sum((g * torch.tensor(v)).sum() for g, v in zip(found, (V.A, V.B), strict=True))
        found = torch.autograd.grad(along, (A, B))
    return [g.detach().numpy() for g in found]


@in_blocks
@given(seeds, SIZES, st.floats(0.01, 3))
def test_loss_and_gradient_are_autograds(seed, sizes, scale):
    model, x, y, context = drawn(seed, **sizes, scale=scale)
    loss, grad = model.loss_and_grad(x, y, context)
    assert loss == pytest.approx(
        float(oracle_loss(*tensors(model.A, model.B, x, y, context))), rel=1e-12
    )
    assert loss == pytest.approx(float(model.loss(x, y, context)), rel=1e-13)
    dA, dB = grads(model, x, y, context)
    assert_close(grad.A, dA, 1e-12)
    assert_close(grad.B, dB, 1e-12, abs(dB).max() + abs(dA).max())


@in_blocks
@given(seeds, SIZES, st.floats(0.01, 2))
def test_hvp_is_autograds(seed, sizes, scale):
    model, x, y, context = drawn(seed, **sizes, scale=scale)
    V = mha.AttentionRegression.random(*model.sizes[::-1], seed=5)
    found, (A, B) = model.hvp(x, y, V, context), grads(model, x, y, context, V)
    size = np.hypot(np.linalg.norm(A), np.linalg.norm(B))
    assert_close(found.A, A, 1e-11, size)
    assert_close(found.B, B, 1e-11, size)


@in_blocks
def test_queries_attend_to_themselves_unless_told():
    model, x, y, _ = drawn(1)
    assert_close(model(x), model(x, x), 0)
    assert model.loss_and_grad(x, y)[0] == model.loss_and_grad(x, y, x)[0]


@in_blocks
def test_effective_tokens_count_equal_weights():
    model, x, _, context = drawn(2)
    assert_close((0 * model).effective_tokens(x, context), np.full(len(x), len(context)), 1e-14)
    sharp = mha.AttentionRegression(model.A, 1e4 * model.B)
    assert_close(sharp.effective_tokens(x, context), np.ones(len(x)), 1e-9)


@in_blocks
def test_torch_and_single_precision_stay_what_they_are():
    model, x, y, context = drawn(3)
    loss, grad = model.loss_and_grad(x, y, context)
    there, other = model.map(torch.tensor).loss_and_grad(*tensors(x, y, context))
    assert float(there) == pytest.approx(float(loss), rel=1e-14)
    assert_close(other.B.numpy(), grad.B, 1e-13)
    single = [a.astype(np.float32) for a in (x, y, context)]
    assert model.map(lambda a: a.astype(np.float32)).loss_and_grad(*single)[1].B.dtype == np.float32
    meta = [torch.tensor(a, device="meta") for a in (x, y, context)]
    on_meta = model.map(lambda a: torch.tensor(a, device="meta"))
    assert on_meta.hvp(*meta[:2], on_meta, meta[2]).B.shape == model.B.shape


def test_blocks_of_five_hundred_tokens_are_the_dense_formula(monkeypatch):
    """Every n × n array of the formula at once, against blocks of about 40 queries."""
    monkeypatch.setattr(regression, "ENTRIES", 20_000)
    data = mha.data.linear_regression(n=500, d=7, p=3)
    model = mha.AttentionRegression.random(7, 3, scale=0.5)
    P = np.exp(data.x @ model.B @ data.x.T)
    P /= P.sum(axis=1, keepdims=True)
    means = P @ data.x
    r = data.y - means @ model.A.T
    g = -r @ model.A / 500
    C = np.einsum("ij,ja,jb->iab", P, data.x, data.x) - means[:, :, None] * means[:, None, :]
    loss, grad = model.loss_and_grad(data.x, data.y)
    assert loss == pytest.approx((r**2).sum() / 1000, rel=1e-12)
    assert_close(grad.A, -r.T @ means / 500, 1e-12)
    assert_close(grad.B, np.einsum("ia,ibc,ic->ab", data.x, C, g), 1e-12)
    assert_close(model.effective_tokens(data.x), 1 / (P**2).sum(axis=1), 1e-12)


def test_ten_thousand_tokens_never_meet_in_one_array(monkeypatch):
    monkeypatch.setattr(regression, "ENTRIES", 2**18)
    data = mha.data.linear_regression(n=10_000, d=20, p=20)
    model = mha.AttentionRegression.random(20, 20, scale=0.1)
    tracemalloc.start()
    model.loss_and_grad(data.x, data.y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6 < 8 * 10_000**2


@given(seeds, st.floats(1, 100), st.floats(0, 3), st.floats(1, 10))
def test_instances_are_conditioned_as_asked(seed, kappa, s_max, kappa_M):
    data = mha.data.linear_regression(
        n=3, d=4, p=3, kappa=kappa, s_max=s_max, kappa_M=kappa_M, seed=seed
    )
    eigenvalues = np.linalg.eigvalsh(data.Sigma)
    assert eigenvalues.sum() == pytest.approx(4) and eigenvalues[-1] / eigenvalues[
        0
    ] == pytest.approx(kappa)
    found = np.linalg.svd(data.M @ data.truth.root)[1]
    assert_close(found, s_max * np.geomspace(1, 1 / kappa_M, 3), 1e-10, 1e-12)
    assert_close(data.truth.root @ data.truth.root, data.Sigma, 1e-12)


def test_one_dimension_has_one_eigenvalue_and_one_target_one_singular_value():
    line = mha.data.linear_regression(n=9, d=1, p=3)
    narrow = mha.data.linear_regression(n=9, d=4, p=1)
    assert line.Sigma.tolist() == [[1.0]]
    assert line.truth.singular_values.tolist() == narrow.truth.singular_values.tolist() == [0.4]


def test_fresh_samples_have_the_same_truth_and_other_draws():
    data = mha.data.linear_regression(n=6, d=3, p=2)
    fresh = data.fresh(4)
    assert fresh.truth is data.truth and len(fresh) == 4
    assert not np.isclose(fresh.x, data.x[:4]).any()
    few = mha.data.linear_regression(n=2, d=3, p=2)
    assert_close(few.x, data.x[:2], 0)
    assert data.map(torch.tensor).fresh(2).x.dtype == torch.float64


def test_excess_is_the_risk_of_many_tokens():
    data = mha.data.linear_regression(n=20_000, d=2, p=2, s_max=0.1, sigma=0.0)
    model = mha.AttentionRegression.random(2, 2, scale=0.3)
    measured = float(model.loss(data.x[:500], data.y[:500], data.x))
    assert model.against(data)["excess"] == pytest.approx(measured, rel=0.1)
    assert model.against(mha.data.regression_from_arrays(data.x, data.y)) == {}


def test_spectral_start_fits_the_least_squares():
    data = mha.data.linear_regression(n=50, d=4, p=2, seed=3)
    start = mha.AttentionRegression.spectral(data)
    S = data.x.T @ data.x / 50
    assert_close(start.A @ S @ start.B.T, data.y.T @ data.x / 50 @ np.linalg.inv(S), 1e-11)
    wide = mha.data.linear_regression(n=50, d=2, p=4, seed=3)
    assert mha.AttentionRegression.spectral(wide).sizes == (4, 2)


@pytest.mark.parametrize("rule", [mha.StructureAware(), mha.Preconditioned()], ids=["SA2", "SA1"])
def test_structure_aware_rules_do_not_see_the_conditioning_of_tokens(rule):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 3))
    y = rng.standard_normal((30, 2))
    C = rng.standard_normal((3, 3))
    plain, mixed = (mha.data.regression_from_arrays(tokens, y) for tokens in (x, x @ C.T))
    before, after = Whitening.of(plain.x), Whitening.of(mixed.x)
    # whitened tokens of the one are rotated ones of the other
    turn = after.inverse @ C @ before.root
    start = mha.AttentionRegression.random(3, 2, scale=0.5)
    U, V = before.whiten(start)
    same = start.with_arrays(**after.arrays(U @ turn.T, turn @ V @ turn.T, start.A))
    ends = [mha.train(model, data, rule, 5) for model, data in ((start, plain), (same, mixed))]
    assert_close(ends[1].loss, ends[0].loss, 1e-9)
    assert_close(ends[1].effective_tokens, ends[0].effective_tokens, 1e-9)


@pytest.mark.parametrize("rule", [mha.StructureAware(), mha.Preconditioned()], ids=["SA2", "SA1"])
def test_rules_that_know_their_data_are_equal_where_these_are_the_same(rule):
    data = mha.data.linear_regression(n=7, d=3, p=2)
    one, other = rule.on(data), rule.on(data)
    assert one == one.on(data) and one != other and rule == type(rule)()
    assert len({rule, one, other}) == 3


def test_preconditioned_descends_on_the_regularized_loss():
    data = mha.data.linear_regression(n=40, d=3, p=3, seed=1)
    start = mha.AttentionRegression.random(3, 3, scale=0.4, seed=2)
    rule = mha.Preconditioned(lr=1e-4).on(data)

    def Q(model):
        U, V = rule.whitening.whiten(model)
        return float(model.loss(data.x, data.y)) + np.linalg.norm(U.T @ U - V.T @ V) ** 2 / 8

    after = mha.train(start, data, rule, 1)[-1]
    ends = (rule.whitening.whiten(model) for model in (after, start))
    moved = [np.linalg.norm(a - b) for a, b in zip(*ends, strict=True)]
    assert (Q(start) - Q(after)) == pytest.approx(np.square(moved).sum() / 1e-4, rel=1e-3)


def test_renormalization_keeps_attention_soft():
    data = mha.data.linear_regression(n=60, d=3, p=3, s_max=2.0)
    path = mha.train(mha.AttentionRegression.random(3, 3), data, mha.StructureAware(radius=0.5), 20)
    V = mha.StructureAware().on(data).whitening.whiten(path[-1])[1]
    assert np.linalg.norm(V, 2) <= 0.5 + 1e-12


@in_blocks
def test_minibatches_are_queries_and_all_tokens_their_context():
    data = mha.data.linear_regression(n=7, d=3, p=2)
    start = mha.AttentionRegression.random(3, 2)
    path = mha.train(start, data, mha.GradientDescent(0.1), 2, batch=3, seed=4)
    model, rows = start, minibatches(7, 3, 4)
    for _ in range(2):
        chosen = next(rows)
        model = model - 0.1 * model.loss_and_grad(data.x[chosen], data.y[chosen], data.x)[1]
    assert_close(path[-1].B, model.B, 1e-14)
    assert path.loss[-1] == pytest.approx(float(model.loss(data.x, data.y)), rel=1e-14)


DATA, MODEL = mha.data.linear_regression(n=6, d=3, p=2), mha.AttentionRegression.random(3, 2)
ZERO = 0 * MODEL
BAD = {
    "no kappa": (
        lambda: mha.data.linear_regression(kappa=0.5),
        ValueError,
        ["kappa: expected a finite number ≥ 1", "0.5"],
    ),
    "no target": (
        lambda: mha.data.linear_regression(p=0),
        ValueError,
        ["p: expected a whole number ≥ 1"],
    ),
    "targets of another n": (
        lambda: mha.data.regression_from_arrays(DATA.x, DATA.y[:4]),
        ValueError,
        ["y: expected shape (6, p)", "(4, 2)"],
    ),
    "A and B differ": (
        lambda: mha.AttentionRegression(MODEL.A[:, :2], MODEL.B),
        ValueError,
        ["same d", "(2, 2)", "(3, 3)"],
    ),
    "tokens of another d": (
        lambda: MODEL(DATA.x[:, :2]),
        ValueError,
        ["x: expected shape (m, 3)", "(6, 2)"],
    ),
    "context of another d": (
        lambda: MODEL(DATA.x, DATA.x[:, :2]),
        ValueError,
        ["context: expected shape (n, 3)"],
    ),
    "targets of another p": (
        lambda: MODEL.loss(DATA.x, DATA.y[:, :1]),
        ValueError,
        ["y: expected shape (6, 2)", "(6, 1)"],
    ),
    "direction of another size": (
        lambda: MODEL.hvp(DATA.x, DATA.y, mha.AttentionRegression.random(3, 1)),
        ValueError,
        ["V: expected a direction like AttentionRegression(A (2, 3)", "A (1, 3)"],
    ),
    "fewer tokens than dimensions": (
        lambda: mha.AttentionRegression.spectral(mha.data.linear_regression(n=2, d=3, p=2)),
        ValueError,
        ["second moment", "2 tokens in 3 dimensions"],
    ),
    "a rule that knows no data": (
        lambda: mha.StructureAware().start(MODEL),
        ValueError,
        ["knows the data", "rule.on(data)"],
    ),
    "nothing to balance": (
        lambda: mha.train(ZERO, DATA, mha.StructureAware(), 1),
        ValueError,
        ["‖U‖ = 0", "not zero"],
    ),
    "negative balance": (
        lambda: mha.StructureAware(balance=-1),
        ValueError,
        ["balance: expected a finite number ≥ 0"],
    ),
    "no radius": (
        lambda: mha.StructureAware(radius=0),
        ValueError,
        ["radius: expected a positive number or infinity"],
    ),
    "heads for a regression": (
        lambda: mha.Preconditioned().on(DATA).start(mha.MultiHeadAttention.zeros(1, 2, 3)),
        TypeError,
        ["AttentionRegression", "MultiHeadAttention"],
    ),
    "no batch": (
        lambda: mha.train(MODEL, DATA, mha.GradientDescent(0.1), 1, batch=0),
        ValueError,
        ["batch: expected"],
    ),
    "nothing fresh": (
        lambda: mha.data.regression_from_arrays(DATA.x, DATA.y).fresh(),
        ValueError,
        ["fresh: expected"],
    ),
}


@pytest.mark.parametrize("call, error, words", BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
