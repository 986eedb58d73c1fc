"""Second derivatives of a reader's own model: compiled as first ones are, recorded once, and those of
torch."""

import re
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from checks import assert_close, assert_refused
from executors import Everything, TwoLayers, Words
from livegrad.lanczos import Lanczos
from livegrad.model import compiled_hessian
from livegrad.record import native
from optional import torch

pytestmark = pytest.mark.long

DATA = mha.data.tokenized_mixture(n=37, T=6, d=5, M=2, zeta=1 / 3, seed=37)
rng = np.random.default_rng(0)
OWN = TwoLayers(*(0.3 * rng.standard_normal(s) for s in ((5, 5), (5, 5), (5, 5), (6, 5))))
own = dataclass(frozen=True, eq=False, repr=False)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def fresh(cache, monkeypatch):
    """Every test as in a new process, with the cache of this file."""
    monkeypatch.setattr(native, "_folder", lambda: cache)
    monkeypatch.setattr(native, "_found", {})
    monkeypatch.setattr(native, "_said", {})
    monkeypatch.delenv("LIVEGRAD_COMPILED", raising=False)


def drawn(model, seed=1):
    """A direction of a model."""
    numbers = np.random.default_rng(seed)
    return model.map(lambda a: numbers.standard_normal(a.shape).astype(a.dtype))


def by_torch(theta, X, y):
    """The loss of ``TwoLayers`` as one writes it in torch."""
    W, V, Q, U = theta
    H = X + torch.softmax(X @ W @ X.mT, -1) @ X @ V
    z = y * (torch.softmax(H @ Q @ H.mT, -1) @ H * U).sum((1, 2))
    return torch.logaddexp(torch.zeros_like(z), -z).mean()


def hessian_of_torch(model, data):
    """The Hessian (P, P) by two derivatives of torch."""
    X, y = torch.tensor(data.X), torch.tensor(data.y)
    shapes = [a.shape for a in model.arrays().values()]
    flat = torch.tensor(np.concatenate([*model.arrays().values()], axis=None))

    def loss(vector):
        parts = vector.split([int(np.prod(shape)) for shape in shapes])
        return by_torch([a.reshape(s) for a, s in zip(parts, shapes, strict=True)], X, y)

    return torch.autograd.functional.hessian(loss, flat).numpy()


@own
class Logistic(mha.models.Vector):
    """A loss with a closed form of its gradient, and a product that is derived of that."""

    w: np.ndarray
    b: np.ndarray

    def loss(self, X, y):
        return np.logaddexp(0.0, -y * (X @ self.w + self.b)).mean()

    def loss_and_grad(self, X, y):
        z = y * (X @ self.w + self.b)
        slope = -y / (1 + np.exp(z)) / len(y)
        return np.logaddexp(0.0, -z).mean(), Logistic(X.T @ slope, slope.sum())


def everything():
    X = rng.standard_normal((19, 3))
    model = Everything(rng.standard_normal((3, 4)), rng.standard_normal(4), np.array(0.3))
    return model, SimpleNamespace(X=X, y=np.sign(X[:, 0]))


def words():
    shapes = (5, 4), (3, 4), (4, 4), (3, 3), (4, 5)
    model = Words(*(rng.standard_normal(shape) for shape in shapes))
    return model, SimpleNamespace(X=rng.integers(0, 5, (17, 3)), y=rng.integers(0, 5, 17))


def logistic():
    X = rng.standard_normal((21, 4))
    return Logistic(rng.standard_normal(4), np.array(0.1)), SimpleNamespace(X=X, y=np.sign(X[:, 1]))


PAIRS = {
    "two layers": lambda: (OWN, DATA),
    "every function": everything,
    "words": words,
    "a closed form": logistic,
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_a_compiled_product_is_that_of_numpy(pair):
    model, data = pair()
    hessian_at = model.hessians(data.X, data.y, products=1, compiled=True)
    assert ".hvp " in native.status() and "compiled by" in native.status()
    for point in (model, 0.5 * model):
        V = drawn(point)
        found, wanted = hessian_at(point)(V), point.hvp(data.X, data.y, V)
        size = wanted.norm()
        for name, a in found.arrays().items():
            assert_close(a, wanted.arrays()[name], 1e-12, size)
            assert a.base is None  # owns its memory


@pytest.mark.parametrize("compiled", [True, False])
def test_the_product_is_that_of_torchs_hessian(compiled):
    operator = OWN.hessians(DATA.X, DATA.y, 1, compiled)(OWN)
    V = drawn(OWN)
    found, v = (np.concatenate([*m.arrays().values()], axis=None) for m in (operator(V), V))
    assert_close(found, hessian_of_torch(OWN, DATA) @ v, 1e-12)


def test_what_is_compiled_is_decided_by_the_number_of_products():
    OWN.hessians(DATA.X, DATA.y, products=5)
    said = "TwoLayers.hvp: numpy: 5 products take it less than a compiler takes; compiled=True"
    assert native.status().startswith(said)
    OWN.hessians(DATA.X, DATA.y, products=100_000)
    assert "TwoLayers.hvp " in native.status() and "compiled by" in native.status()


@own
class Counted(mha.models.Vector):
    """A loss that counts how often it is recorded, with a setting and a variable of the class."""

    W: np.ndarray
    power: float = 1.0
    recorded = 0
    factor = 1.0

    def loss(self, X, y):
        Counted.recorded += not isinstance(X, np.ndarray)
        return Counted.factor * self.power * (self.W**2).sum()


def test_a_product_by_hand_is_recorded_once_for_each_shape_and_setting(monkeypatch):
    def recorded(*models):
        before = Counted.recorded
        for model in models:
            product = model.hvp(DATA.X, DATA.y, drawn(model))
            assert_close(product.W, 2 * Counted.factor * model.power * drawn(model).W, 1e-12)
        return Counted.recorded - before

    model = Counted(np.ones((2, 5)))
    assert recorded(model, 0.5 * model, 0.0 * model, model) == 1
    assert recorded(replace(model, power=3.0), model) == 1
    monkeypatch.setattr(Counted, "factor", 7.0)  # nothing of the model, and it is noticed
    assert recorded(0.0 * model, model) == 1


def test_at_other_settings_the_product_is_that_of_the_model_asked_for(monkeypatch):
    model = Counted(np.ones((2, 5)))
    for compiled in (True, False):
        monkeypatch.setattr(Counted, "factor", 1.0)
        hessian_at = model.hessians(DATA.X, DATA.y, 1, compiled)
        V, other = drawn(model), replace(model, power=3.0)
        assert_close(hessian_at(other)(V).W, 6 * V.W, 1e-12)
        monkeypatch.setattr(Counted, "factor", 7.0)
        assert_close(hessian_at(2 * model)(V).W, 14 * V.W, 1e-12)


@own
class Gram(mha.models.Vector):
    """Samples meet each other."""

    w: np.ndarray

    def loss(self, X, y):
        means = X.mean(axis=1) * self.w
        return ((means @ means.T) ** 2).sum() / len(y)


class LogOfExp(Gram):
    """A logarithm of an exponential that becomes small."""

    def loss(self, X, y):
        return -np.log(np.exp(X @ self.w)).mean() + (self.w**2).sum()


@pytest.mark.parametrize(
    "model, data, reason",
    [
        (OWN.map(lambda a: a.astype("float32")), DATA, "arrays of numpy in double precision"),
        (Gram(np.ones(5)), DATA, "samples meet each other"),
        (Counted(np.ones((130, 2))), DATA, "of weights with more than 128 rows"),
        (mha.MultiHeadAttention.random(2, 6, 5), DATA, "models with an hvp of their own"),
    ],
    ids=["float32", "samples that meet", "a wide weight", "an own product"],
)
def test_who_asks_for_a_program_hears_why_there_is_none(model, data, reason):
    with pytest.raises(RuntimeError, match=f"compiled: expected .*{reason}"):
        model.hessians(data.X, data.y, 1, compiled=True)
    operator = model.hessians(data.X, data.y, 10**9)(model)
    V = drawn(model)
    assert (operator(V) - model.hvp(data.X, data.y, V)).norm() == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_finite_is_numpys_to_say():
    """Below e^-708 the program's exponential is 0, and numpy's is not yet: infinite, and not NaN."""
    model = LogOfExp(np.full(5, -0.1))
    X, y = np.ones((3, 5)), np.ones(3)
    far, V = 1417.0 * model, drawn(model)
    found = model.hessians(X, y, 1, True)(far)(V).w
    assert not np.isnan(found).any()
    assert np.array_equal(found, far.hvp(X, y, V).w)


def test_what_differs_at_all_samples_is_numpys_and_status_says_so(monkeypatch):
    monkeypatch.setattr(compiled_hessian.Products, "is_right", lambda self: False)
    OWN.hessians(DATA.X, DATA.y, 10**9)
    assert "of all 37 samples it gives another product than numpy" in native.status()


def run(lr=0.3):
    return mha.train(
        OWN, DATA, mha.GradientDescent(lr), 120, record=[*range(0, 121, 10)], compiled=False
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_sharpness_is_the_largest_eigenvalue_of_torchs_hessian(compiled):
    path = run()
    found = mha.landscape.sharpness(path, DATA, points=5, compiled=compiled)
    assert found.steps.tolist() == [0, 30, 60, 90, 120]
    wanted = [np.linalg.eigvalsh(hessian_of_torch(path[k], DATA))[-1] for k in (0, 3, 6, 9, 12)]
    np.testing.assert_allclose(found.values, wanted, rtol=1e-4)
    exact = mha.landscape.sharpness(path, DATA, points=5, tol=None, compiled=compiled)
    np.testing.assert_allclose(exact.values, wanted, rtol=1e-11)
    whole = mha.landscape.sharpness(path, DATA, points=10**6, compiled=compiled)
    assert whole.steps.tolist() == path.steps.tolist()
    part = mha.landscape.sharpness(path, DATA, points=1, only="Q", tol=None, compiled=compiled)
    image = mha.landscape.hessian(path[0], DATA, only="Q")
    np.testing.assert_allclose(part.values, np.linalg.eigvalsh(image)[-1:], rtol=1e-11)


def test_a_point_of_sharpness_costs_less_than_a_search_of_its_own(monkeypatch):
    asked, step = [], Lanczos._next
    monkeypatch.setattr(Lanczos, "_next", lambda *given: asked.append(1) or step(*given))
    path = run(lr=0.03)
    mha.landscape.sharpness(path, DATA, compiled=False)
    along = len(asked)
    for model in path:
        mha.landscape.spectrum(model, DATA, tol=1e-3, ends="high", compiled=False)
    assert along < 0.9 * (len(asked) - along)


@pytest.mark.parametrize("P", [50, 900])
def test_an_eigenvalue_that_overtakes_another_is_seen(P):
    """Their vectors are orthogonal, and the search starts from the one that is overtaken."""
    numbers = np.random.default_rng(0)
    values, near = numbers.uniform(-0.3, 1.0, P), None
    for k in range(60):
        values[:2] = 1.5, 1.2 + 0.01 * k
        found, near = Lanczos(P, lambda v: values * v, 1e-3, 300, seed=k).largest(near)
        assert found == pytest.approx(values.max(), rel=1e-3)


def test_sharpness_says_at_which_step_it_cannot_be_found():
    path = run()
    broken = replace(path, models=(*path.models[:-1], 1e200 * path[-1]))
    with np.errstate(all="ignore"):
        assert_refused(
            lambda: mha.landscape.sharpness(broken, DATA, compiled=False),
            ValueError,
            ["step 120: model: expected a finite Hessian"],
        )
    assert_refused(
        lambda: mha.landscape.sharpness(path, DATA, tol=1e-18, maxiter=2, compiled=False),
        RuntimeError,
        ["step 0: spectrum: 0 of 1 eigenvalues have converged"],
    )
    assert_refused(
        lambda: mha.landscape.sharpness(OWN, DATA), TypeError, ["path: expected what train gave"]
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_the_trace_is_that_of_torchs_hessian_within_its_error(compiled):
    found = mha.landscape.density(OWN, DATA, probes=200, steps=12, compiled=compiled)
    values = np.linalg.eigvalsh(hessian_of_torch(OWN, DATA))
    assert len(values) == found.P
    for f in (lambda v: v, np.square, np.exp):
        value, error = found.trace(f)
        assert 0 < error < 0.2 * np.linalg.norm(f(values))
        # Further off by chance once in 10^6.
        assert abs(value - f(values).sum()) < 4.9 * error
    again = mha.landscape.density(OWN, DATA, probes=200, steps=12, compiled=compiled)
    other = mha.landscape.density(OWN, DATA, probes=200, steps=12, seed=1, compiled=compiled)
    assert np.array_equal(again.nodes, found.nodes) and not np.array_equal(other.nodes, found.nodes)


def test_the_density_is_that_of_all_eigenvalues():
    """With as many steps as parameters the nodes of each vector are the eigenvalues."""
    only = "Q"
    values = np.linalg.eigvalsh(mha.landscape.hessian(OWN, DATA, only))
    found = mha.landscape.density(OWN, DATA, probes=400, steps=10**6, only=only)
    assert found.nodes.shape == (400, len(values))
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, rtol=1e-12)
    grid, width = np.linspace(2 * values[0], 2 * values[-1], 2001), 0.1 * values[-1]
    smooth = found.at(grid, width)
    bells = np.exp(-(((grid[:, None] - values) / width) ** 2) / 2) / (width * (2 * np.pi) ** 0.5)
    np.testing.assert_allclose(smooth, bells.mean(axis=1), atol=0.15 * bells.mean(axis=1).max())
    wide = np.linspace(values[0] - 9 * width, values[-1] + 9 * width, 4001)
    assert np.trapezoid(found.at(wide, width), wide) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("steps, P", [(1, 30), (4, 30), (30, 30)])
def test_quadrature_is_exact_for_polynomials_of_twice_its_nodes(steps, P):
    values = np.random.default_rng(1).uniform(-1.0, 2.0, P)
    nodes, weights = Lanczos(P, lambda v: values * v, seed=5).quadrature(steps)
    v = np.random.default_rng([5, 8]).standard_normal(P)
    share = v**2 / (v @ v)
    for power in range(min(2 * steps, 40)):
        wanted = (share * values**power).sum()
        assert (weights * nodes**power).sum() == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_a_vector_in_an_invariant_subspace_has_fewer_nodes():
    nodes, weights = Lanczos(40, lambda v: np.repeat([2.0, 5.0], 20) * v, seed=0).quadrature(9)
    np.testing.assert_allclose(nodes, [2.0, 5.0], rtol=1e-12)
    assert weights.sum() == pytest.approx(1.0)


# --- Gauss–Newton products


@own
class Classes(mha.models.Vector):
    """Scores of three classes, under the cross-entropy."""

    W: np.ndarray
    U: np.ndarray

    def __call__(self, X):
        return np.exp(0.3 * np.tanh(X @ self.W)) @ self.U

    def loss(self, X, y):
        z = self(X)
        return (np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]).mean()


def classes():
    numbers = np.random.default_rng(4)
    model = Classes(numbers.standard_normal((4, 5)), numbers.standard_normal((5, 3)))
    return model, SimpleNamespace(X=numbers.standard_normal((9, 4)), y=numbers.integers(0, 3, 9))


def classes_in_torch(theta, X):
    return torch.exp(0.3 * torch.tanh(X @ theta["W"])) @ theta["U"]


def heads_in_torch(theta, X):
    Xh = X[:, None]
    A = torch.softmax(Xh @ theta["W"] @ Xh.mT, -1)
    return (A @ Xh * theta["U"]).sum((1, 2, 3)) / len(theta["W"]) ** 0.5


GAUSS_NEWTON = {
    "heads": (
        lambda: (mha.MultiHeadAttention.random(3, 6, 5, seed=2), DATA),
        heads_in_torch,
        lambda z, y: torch.nn.functional.softplus(-y * z, threshold=1e9).mean(),
    ),
    "an own model": (
        classes,
        classes_in_torch,
        lambda z, y: torch.nn.functional.cross_entropy(z, y),
    ),
}


@pytest.mark.parametrize("pair, outputs, loss", GAUSS_NEWTON.values(), ids=GAUSS_NEWTON)
def test_a_gauss_newton_product_is_that_of_torchs_two_modes(pair, outputs, loss):
    model, data = pair()
    X, y = torch.tensor(data.X), torch.tensor(data.y)
    theta, along = (
        {name: torch.tensor(a) for name, a in m.arrays().items()} for m in (model, drawn(model))
    )
    z, pull = torch.func.vjp(lambda at: outputs(at, X), theta)
    _, image = torch.func.jvp(lambda at: outputs(at, X), (theta,), (along,))
    slope = torch.func.grad(lambda at: loss(at, y))
    (wanted,) = pull(torch.func.jvp(slope, (z,), (image,))[1])
    found = model.gauss_newton_operator(data.X, data.y)(drawn(model))
    for name, a in found.arrays().items():
        assert_close(a, wanted[name], 1e-10)


def test_where_the_loss_is_convex_in_the_outputs_a_spectrum_has_no_negative_end():
    class GaussNewton(mha.MultiHeadAttention):
        hessian_operator = mha.MultiHeadAttention.gauss_newton_operator

    model = mha.MultiHeadAttention.random(2, 6, 5, seed=1)
    instead = GaussNewton(model.W, model.U)
    low, high = mha.landscape.spectrum(instead, DATA).values
    assert mha.landscape.spectrum(model, DATA).values[0] < -1e-3 * high
    assert -1e-12 * high < low < high
    # By the gradients of the logits: G = Fᵀ diag(ℓ″) F / n.
    F = model.features(DATA.X)
    curvature = mha.losses.logistic.curvature(model.margins(DATA.X, DATA.y))
    wanted = np.linalg.eigvalsh(F.T * curvature @ F / len(DATA.y))[-1]
    assert abs(high - wanted) < 1e-10 * wanted


class Penalized(Classes):
    def loss(self, X, y):
        return super().loss(X, y) + 0.1 * (self.U**2).sum()


class OfOthers(Classes):
    def loss(self, X, y):
        return (self(2 * X) ** 2).mean()


class InTwo(Classes):
    def __call__(self, X):
        return X @ self.W, self.U


class Turned(Classes):
    """Outputs that are others for recorded arrays."""

    def __call__(self, X):
        return (X @ self.W @ self.U) * (1 if isinstance(X, np.ndarray) else 2)


@pytest.mark.parametrize(
    "kind, error, words",
    [
        (Penalized, TypeError, ["reads U beside it", "leave a penalty out"]),
        (OfOthers, TypeError, ["loss: expected outputs self(X) of the X that it is given"]),
        (InTwo, TypeError, ["__call__: expected outputs that are one array", "tuple"]),
        (Turned, ArithmeticError, ["the loss is", "branch on the type"]),
    ],
)
def test_a_model_that_does_not_say_its_outputs_has_no_gauss_newton_product(kind, error, words):
    model, data = classes()
    call = kind(model.W, model.U).gauss_newton_operator
    assert_refused(lambda: call(data.X, data.y), error, words)


def test_outputs_are_what_a_loss_calls():
    for model, words in (
        (OWN, "TwoLayers: expected a model that says its outputs; write __call__(self, X)"),
        (mha.MultiHeadAttention.random(2, 6, 5).map(torch.tensor), "torch.func has jvp and vjp"),
    ):
        with pytest.raises(TypeError, match=re.escape(words)):
            model.gauss_newton_operator(DATA.X, DATA.y)

    class Unread(Classes):
        def loss(self, X, y):
            return ((X @ self.W) ** 2).mean()

    model, data = classes()
    with pytest.raises(TypeError, match=r"loss: expected one that reads the outputs self\(X\)"):
        Unread(model.W, model.U).gauss_newton_operator(data.X, data.y)
