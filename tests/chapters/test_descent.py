"""Chapter 10: the factorization, its stationary points, the two rules, and the runs that the
chapter shows."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import mhabook
import mhalib as mha
from checks import assert_close, assert_refused
from mhabook.c10_structure import contraction, factorization, stationary
from mhabook.c10_structure.population import PopulationRegression
from mhalib.whitening import Whitening
from oracles import tensors
from strategies import seeds

SIZES = st.permutations((1, 2, 3, 4)).map(lambda sizes: sizes[:2])


def drawn(seed, p, d, scale=1.0):
    """U, V, N and a direction, in whitened coordinates."""
    rng = np.random.default_rng([seed, 105])
    return [
        scale * rng.standard_normal(shape) for shape in ((p, d), (d, d), (p, d), (p, d), (d, d))
    ]


def regularized(U, V, N, balance):
    """The formula of Q − L*, written for torch."""
    return ((U @ V.T - N) ** 2).sum() / 2 + balance * ((U.T @ U - V.T @ V) ** 2).sum() / 8


@given(seeds, SIZES, st.floats(0.1, 3), st.sampled_from([0.0, 0.5, 1.0]))
def test_gradient_and_hessian_of_the_factorization_are_autograds(seed, sizes, scale, balance):
    U, V, N, dU, dV = drawn(seed, *sizes, scale)
    u, v, n = tensors(U, V, N)
    u.requires_grad_(), v.requires_grad_()
    wanted = torch.autograd.grad(regularized(u, v, n, balance), (u, v), create_graph=True)
    size = max(float(abs(g).detach().max()) for g in wanted)
    for found, want in zip(factorization.gradient(U, V, N, balance), wanted, strict=True):
        assert_close(found, want.detach().numpy(), 1e-12, size)
    along = sum((g * torch.tensor(step)).sum() for g, step in zip(wanted, (dU, dV), strict=True))
    second = [part.numpy() for part in torch.autograd.grad(along, (u, v))]
    size = max(abs(part).max() for part in second)
    for found, want in zip(factorization.hvp(U, V, N, dU, dV, balance), second, strict=True):
        assert_close(found, want, 1e-11, size)
    product = factorization.hessian(U, V, N, balance) @ np.concatenate([dU.ravel(), dV.ravel()])
    assert_close(product, np.concatenate([part.ravel() for part in second]), 1e-11, size)


@given(seeds, SIZES, st.floats(0.1, 2))
def test_infinitely_many_tokens_have_the_gradient_and_hessian_of_autograd(seed, sizes, scale):
    p, d = sizes
    data = mha.data.linear_regression(n=1, d=d, p=p, seed=seed % 1000).population()
    model = PopulationRegression.random(d, p, scale, seed=seed % 1000)
    V = PopulationRegression.random(d, p, seed=1 + seed % 1000)
    A, B, Sigma, M = tensors(model.A, model.B, data.Sigma, data.M)
    A.requires_grad_(), B.requires_grad_()
    away = A @ Sigma @ B.T - M
    loss = ((away @ Sigma) * away).sum() / 2
    first = torch.autograd.grad(loss, (A, B), create_graph=True)
    along = sum((g * torch.tensor(v)).sum() for g, v in zip(first, (V.A, V.B), strict=True))
    second = torch.autograd.grad(along, (A, B))
    value, grad = model.loss_and_grad(data.X, data.y)
    assert value == pytest.approx(loss.item(), rel=1e-12) == float(model.loss(data.X, data.y))
    for found, want in ((grad, first), (model.hvp(data.X, data.y, V), second)):
        size = max(float(abs(part).detach().max()) for part in want)
        assert_close(found.A, want[0].detach().numpy(), 1e-11, size)
        assert_close(found.B, want[1].detach().numpy(), 1e-11, size)


def test_the_population_is_what_many_tokens_tend_to():
    data = mha.data.linear_regression(n=20_000, d=2, p=3, s_max=0.1, sigma=0.0)
    finite = mha.AttentionRegression.random(2, 3, scale=0.3)
    infinite = PopulationRegression.of(finite)
    assert_close(infinite(data.x[:50], data.Sigma), finite(data.x[:50], data.x), 0.05, 1.0)
    assert infinite.against(data) == finite.against(data)
    assert np.isinf(infinite.effective_tokens(data.x[:5], data.Sigma)).all()


@pytest.mark.parametrize(
    "rule", [mha.StructureAware(), mha.Preconditioned(), mha.GradientDescent(0.1)], ids=repr
)
def test_rules_train_on_the_population(rule):
    data = mha.data.linear_regression(n=1, d=3, p=2).population()
    start = PopulationRegression.random(3, 2, scale=0.5)
    path = mha.train(start, data, rule, 60)
    assert path.excess[-1] < 0.2 * path.excess[0]
    assert_close(path.loss, path.excess, 1e-12)


@pytest.mark.parametrize(
    "way", [lambda a: a.astype("float32"), torch.as_tensor], ids=["float32", "torch"]
)
@pytest.mark.parametrize("rule", [mha.StructureAware(), mha.GradientDescent(0.1)], ids=repr)
def test_the_population_has_the_library_and_dtype_of_the_samples(rule, way):
    data = mha.data.linear_regression(n=9, d=3, p=2)
    start = PopulationRegression.random(3, 2, scale=0.5)
    wanted = mha.train(start, data.population(), rule, 20)
    for population in (data.map(way).population(), data.population().map(way)):
        assert population.X.dtype == population.y.dtype == way(data.x).dtype
        path = mha.train(start.map(way), population, rule, 20)
        assert path[-1].A.dtype == way(data.x).dtype and type(path[-1].A) is type(way(data.x))
        assert_close(path.loss, wanted.loss, 1e-5)
        assert_close(path.excess, wanted.excess, 1e-5)


@pytest.mark.parametrize("batch", [None, 8])
@pytest.mark.parametrize(
    "rule", [mha.StructureAware(), mha.Preconditioned(0.3), mha.GradientDescent(0.1)], ids=repr
)
def test_torch_takes_the_same_steps(rule, batch):
    data = mha.data.linear_regression(n=40, d=3, p=2, seed=4)
    start = mha.AttentionRegression.spectral(data)
    path = mha.train(start, data, rule, 10, batch=batch)
    there = mha.train(start.map(torch.as_tensor), data.map(torch.as_tensor), rule, 10, batch=batch)
    assert isinstance(there[-1].A, torch.Tensor)
    assert_close(there.excess, path.excess, 1e-9)
    assert_close(there.loss, path.loss, 1e-10)


@given(seeds)
def test_the_distance_to_the_optimum_manifold_forgets_turns(seed):
    U, V, N, *_ = drawn(seed, 4, 3)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    best = np.concatenate(factorization.optimum(N, turn))
    assert factorization.distance(best[:4], best[4:], N) < 1e-7
    found = factorization.distance(U, V, N)
    assert found == pytest.approx(factorization.distance(U @ turn, V @ turn, N), rel=1e-9)
    assert found <= np.linalg.norm(np.concatenate([U, V]) - best) + 1e-9


def on_the_diagonal(move, lr=contraction.LARGEST):
    """U = V = 1 + ``move`` for N = 1; the distance from the optimum is √2 |move|."""
    return {"U": np.array([[1 + move]]), "V": np.array([[1 + move]]), "N": np.eye(1), "lr": lr}


def test_the_local_theorem_fails_with_a_larger_rate_or_step_or_radius():
    """None of its constants is the best: these are the factors at which the worst instances that we
    know violate it."""
    check = contraction.local_rate(**contraction.inward())
    square = contraction.RADIUS**2
    rate = (1 - check.lhs / square) / contraction.LARGEST / contraction.RATE
    assert 2.70 < rate < 2.72
    out = contraction.RADIUS / 2**0.5
    assert contraction.local_rate(**on_the_diagonal(out, 4.41 * contraction.LARGEST))
    assert not contraction.local_rate(**on_the_diagonal(out, 4.43 * contraction.LARGEST))
    assert contraction.local_rate(**on_the_diagonal(-4.14 * out))
    assert not contraction.local_rate(**on_the_diagonal(-4.16 * out))


@pytest.mark.parametrize("p, d", [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_a_search_finds_no_slower_step_than_the_known_one(p, d):
    """Climbs over points at the theorem's radius, with its largest step: all contract by more than
    1 − 1.77 η s_min."""
    rng, N = np.random.default_rng([p, d]), np.eye(p, d)
    U, V = factorization.optimum(N)

    def rate(away):
        away = away / np.linalg.norm(away) * contraction.RADIUS
        there = {"U": U + away[:p], "V": V + away[p:], "N": N}
        check = contraction.local_rate(**there, lr=contraction.LARGEST)
        return (1 - check.lhs / factorization.distance(**there) ** 2) / contraction.LARGEST

    for _ in range(6):
        best = rng.standard_normal((p + d, d))
        for size in np.geomspace(0.5, 0.005, 150):
            best = min(best, best + size * rng.standard_normal(best.shape), key=rate)
        assert rate(best) > 1.77


@pytest.mark.parametrize(
    "id, name",
    [
        ("prop-blind", "Preconditioned"),
        ("prop-blind-variants", "Preconditioned"),
        ("prop-blind-variants", "StructureAware"),
    ],
)
def test_blindness_is_checked_of_every_rule(id, name):
    """A rule that whitens with another matrix than Σ̂ sees how tokens are conditioned."""
    rule = getattr(contraction, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            contraction,
            name,
            lambda lr=0.5, **kept: rule(lr, **kept | {"whitening": Whitening.none(2)}),
        )
        row = mhabook.ledger[id]
        assert not any(row.on(row.random(seed)).holds for seed in range(5))


def test_strict_saddles_are_checked_where_they_are_not_balanced():
    row = mhabook.ledger["prop-saddles"]
    instance = row.random(3)
    plain, mixed = row.function(**instance)[1:]
    assert plain.rhs != pytest.approx(mixed.rhs, rel=0.01)
    eigenvalues = np.linalg.eigvalsh
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stationary.np.linalg, "eigvalsh", lambda H: np.maximum(eigenvalues(H), 0))
        assert not any(check.holds for check in row.function(**instance))


def test_conditioning_costs_plain_descent_and_not_the_whitened_one():
    table = mhabook.stored("conditioning.npz")
    median = {
        name: [int(np.median(table.where(kappa=kappa)[name])) for kappa in (1.0, 16.0, 256.0)]
        for name in ("one", "two", "whitened")
    }
    assert (
        median["whitened"] == [15, 15, 15]
        and (table.where(kappa=1.0)["whitened"] == table.where(kappa=256.0)["whitened"]).all()
    )
    low, high = (
        [best(table.where(kappa=kappa)["two"]) for kappa in (1.0, 16.0, 256.0)]
        for best in (min, max)
    )
    # theory: two step sizes, one instance
    for reference, least, most in zip((14, 96, 1360), low, high, strict=True):
        assert 0.5 * least <= reference <= 1.5 * most


def test_the_late_factor_of_structure_aware_descent_is_that_of_the_spectrum():
    data = mha.data.linear_regression(n=1, d=5, p=5, seed=2)
    path = mha.train(
        PopulationRegression.random(5, 5, seed=2), data.population(), mha.StructureAware(), 90
    )
    assert path.excess[81] / path.excess[80] == pytest.approx((1 - 2 * 0.5 / 4) ** 2, rel=5e-3)


GIVEN = mha.AttentionRegression.random(3, 2)
BAD = {
    "population of arrays": (
        lambda: mha.data.regression_from_arrays(np.eye(3), np.eye(3)).population(),
        ValueError,
        ["population: expected a dataset made by", "not known"],
    ),
    "Σ of another d": (
        lambda: PopulationRegression.random(3, 2).loss(np.eye(2), np.ones((2, 3))),
        ValueError,
        ["Sigma: expected shape (3, 3)", "(2, 2)"],
    ),
    "a direction with infinitely many tokens": (
        lambda: PopulationRegression.random(3, 2).hvp(np.eye(3), np.ones((2, 3)), GIVEN),
        TypeError,
        ["V: expected a direction like PopulationRegression(A (2, 3)", "got AttentionRegression"],
    ),
    "M of another p": (
        lambda: PopulationRegression.random(3, 2).loss(np.eye(3), np.ones((1, 3))),
        ValueError,
        ["M: expected shape (2, 3)", "(1, 3)"],
    ),
    "a batch of infinitely many": (
        lambda: mha.train(
            PopulationRegression.random(5, 5),
            mha.data.linear_regression(n=1).population(),
            mha.GradientDescent(0.1),
            1,
            batch=4,
        ),
        ValueError,
        ["batch: expected data of finitely many samples", "got a Population"],
    ),
    "one matrix of a rule of two": (
        lambda: mha.train(
            mha.AttentionRegression.random(2, 2),
            mha.data.linear_regression(n=9, d=2, p=2),
            mha.StructureAware(),
            1,
            only="A",
        ),
        ValueError,
        ["only: expected a rule", "StructureAware"],
    ),
    "singular Σ": (
        lambda: Whitening.roots(np.diag([1.0, 0.0])),
        ValueError,
        ["second moment", "a matrix", "0"],
    ),
}


@pytest.mark.parametrize("call, error, words", BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
