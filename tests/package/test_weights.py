"""What training moves is all that a model's loss depends on, or the model is refused by the name of
what would not."""

from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mhalib as mha
from livegrad.model.contract import require_weights
from livegrad.model.derived import derived_hessian
from livegrad.model.weights import with_attributes
from optional import torch

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
DATA = SimpleNamespace(X=X, y=X @ [1.0, -2, 0.5])
RULE = mha.GradientDescent(lr=0.1)
own = dataclass(frozen=True, eq=False, repr=False)


def squares(prediction, y):
    return ((prediction - y) ** 2).mean() / 2


@own
class Plain(mha.models.Vector):
    w: np.ndarray

    def loss(self, X, y):
        return squares(X @ self.w, y)


@own
class Cached(Plain):
    @cached_property
    def doubled(self):
        return 2.0 * self.w

    def loss(self, X, y):
        return squares(X @ self.doubled / 2, y)


@own
class Closed(Cached):
    def loss_and_grad(self, X, y):
        r = X @ self.doubled / 2 - y
        return (r * r).mean() / 2, Closed(X.T @ r / len(y))


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Slots(mha.models.Vector):
    w: np.ndarray
    power: int = 1

    def loss(self, X, y):
        return squares(X @ self.w**self.power, y)


@own
class Shifted(Plain):
    """A model with arrays that are to stay: a field, and one of the class."""

    shift: Any = None
    scale = np.ones(3)
    fixed = ("shift", "scale")

    def loss(self, X, y):
        return squares(X @ (self.scale * self.w) + self.shift[0], y)


RIGHT = {
    "plain": lambda: Plain(np.zeros(3)),
    "cached": lambda: Cached(np.zeros(3)),
    "cached, closed": lambda: Closed(np.zeros(3)),
    "slots": lambda: Slots(np.zeros(3)),
    "fixed": lambda: Shifted(np.zeros(3), [np.zeros(()), None]),
}


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
@pytest.mark.parametrize("used", [False, True], ids=["fresh", "used"])
def test_a_run_ends_where_the_plain_loop_does(make, used):
    start = make()
    if used:
        start.loss(DATA.X, DATA.y)  # fills what the class remembers
    path, w = mha.train(start, DATA, RULE, 50), np.zeros(3)
    for _ in range(50):
        w = w - 0.1 * X.T @ (X @ w - DATA.y) / len(X)
    np.testing.assert_allclose(path[-1].w, w, rtol=1e-12)
    assert path.loss[-1] == pytest.approx(squares(X @ w, DATA.y), rel=1e-12)


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
def test_the_hessian_of_a_loss_alone_is_that_of_the_formula(make):
    np.testing.assert_allclose(
        mha.landscape.hessian(make(), DATA), X.T @ X / len(X), rtol=1e-12, atol=1e-15
    )


def test_the_hessian_of_tensors_is_that_of_the_formula():
    data = SimpleNamespace(X=torch.as_tensor(X), y=torch.as_tensor(DATA.y))
    found = mha.landscape.hessian(Plain(torch.zeros(3, dtype=torch.float64)), data)
    np.testing.assert_allclose(found, X.T @ X / len(X), rtol=1e-12)


def test_a_derived_product_is_the_closed_form():
    """Of every model of the package, whose own products are written out."""
    data = mha.data.tokenized_mixture(n=5, T=4, d=6, M=2, zeta=0.25)
    rng = np.random.default_rng(0)
    for model, X, y in (
        (mha.MultiHeadAttention.random(2, 4, 6), data.X, data.y),
        (mha.AttentionLayer.random(4, 3, 2, 2), *(rng.normal(size=(3, 5, m)) for m in (4, 2))),
    ):
        V = model.map(lambda a: rng.normal(size=a.shape))
        written = model.hvp(X, y, V).arrays()
        for closed in (True, False):
            derived = derived_hessian(model, X, y, closed)(V)
            for name, a in derived.arrays().items():
                np.testing.assert_allclose(a, written[name], rtol=1e-9, atol=1e-12)


@own
class Derived(Plain):
    length: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "length", float(np.linalg.norm(self.w)))


@own
class Beside(Plain):
    def __post_init__(self):
        object.__setattr__(self, "length", float(np.linalg.norm(self.w)))


@own
class Containing(Plain):
    layers: Any = ()


@own
class Unannotated(Plain):
    b = np.zeros(3)


class Inheriting(Unannotated):
    """A line whose class inherits an array."""


class Undecorated(mha.models.Vector):
    def __init__(self, w):
        self.w = w

    def loss(self, X, y):
        return squares(X @ self.w, y)


@own
class Normed(Plain):
    def norm(self, h):
        return h / abs(h).max()


@own
class Mapped(Plain):
    def map(self, x):
        return x @ self.w


@own
class Empty(mha.models.Vector):
    size: int = 3

    def loss(self, X, y):
        return 0.0


class Column:
    """As of a table, which becomes an array where one is asked for."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(3, dtype)


@own
class Biased(Plain):
    b: "np.ndarray | None" = None


REFUSED = {
    "derived": (lambda: Derived(np.ones(3)), "^length: .* make it a property"),
    "beside": (lambda: Beside(np.ones(3)), "^length: .* make it a property"),
    "list": (
        lambda: Containing(np.ones(3), [np.ones(2)]),
        "^layers: .* got a list that holds arrays",
    ),
    "tuple": (lambda: Containing(np.ones(3), (1.0, np.ones(2))), "^layers: .* got a tuple"),
    "dict": (lambda: Containing(np.ones(3), {"a": np.ones(2)}), "^layers: .* got a dict"),
    "deep": (lambda: Containing(np.ones(3), {"a": [(np.ones(2),)]}), "^layers: .* got a dict"),
    "model": (lambda: Containing(np.ones(3), Plain(np.ones(2))), "^layers: .* got a Plain"),
    "object": (
        lambda: Containing(np.ones(3), SimpleNamespace(w=np.ones(2))),
        "^layers: .* got a SimpleNamespace",
    ),
    "module": (lambda: Containing(np.ones(3), torch.nn.Linear(2, 1)), "^layers: .* got a Linear"),
    "numbers in a list": (
        lambda: Biased(np.ones(3), [1.0, 2.0]),
        r"^b: expected an array, got \[1.0, 2.0\], .* write np.array\(b, dtype=float\)",
    ),
    "a number": (lambda: Biased(np.ones(3), 0.5), "^b: expected an array, got 0.5"),
    "a column": (lambda: Containing(np.ones(3), Column()), "^layers: expected an array, got a Col"),
    "of the class": (lambda: Unannotated(np.ones(3)), "^b: .* write b: np.ndarray"),
    "of a class above": (lambda: Inheriting(np.ones(3)), "^b: .* write b: np.ndarray"),
    "no dataclass": (lambda: Undecorated(np.ones(3)), "^(model|first|start): expected a dataclass"),
    "a layer called norm": (
        lambda: Normed(np.ones(3)),
        "^norm: expected the method that every model has",
    ),
    "a layer called map": (
        lambda: Mapped(np.ones(3)),
        "^map: expected the method that every model has",
    ),
    "integers": (
        lambda: Plain(np.zeros(3, int)),
        r"^w: .* got int64 of shape \(3,\); write w.astype",
    ),
    "complex numbers": (lambda: Plain(np.zeros(3, complex)), "^w: .* got complex128"),
    "booleans": (lambda: Plain(np.zeros(3, bool)), "^w: .* got bool"),
    "masked": (
        lambda: Plain(np.ma.masked_array(np.ones(3), [True, False, False])),
        r"^w: .* w.filled\(value\)",
    ),
    "matrix": (
        lambda: Plain(np.matrix([[1.0, 2, 3]])),
        r"^w: expected a plain numpy array, got a matrix",
    ),
    "a gradient": (
        lambda: Plain(torch.zeros(3).double().requires_grad_()),
        r"^w: .* w.detach\(\) gives",
    ),
    "no weights": (Empty, "expected a model with weights that are arrays; Empty has none"),
}
ASKING = {
    "train": lambda model: mha.train(model, DATA, RULE, 3),
    "live": lambda model: mha.live.figure(model, DATA, RULE, steps=3),
    "hessian": lambda model: mha.landscape.hessian(model, DATA),
    "spectrum": lambda model: mha.landscape.spectrum(model, DATA),
    "slice": lambda model: mha.landscape.slice(model, DATA, model, model),
    "interpolation": lambda model: mha.landscape.interpolation(model, model, DATA),
    "direction": lambda model: mha.landscape.random_direction(model),
}


ROWS = [
    (why, asking)
    for why in REFUSED
    for asking in ASKING
    if asking == "train" or why in ("beside", "list", "integers")
]
"""All ask one function, so each reason is tried with one of them, and each of them with a few."""


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("why, asking", ROWS)
def test_a_model_that_would_go_stale_is_refused_by_name(why, asking):
    make, said = REFUSED[why]
    with pytest.raises(TypeError, match=said):
        ASKING[asking](make())


@pytest.mark.parametrize("name", ["map", "norm", "dot", "arrays", "only", "loss", "hvp"])
def test_a_field_has_a_name_of_its_own(name):
    with pytest.raises(
        TypeError, match=f"^{name}: expected a field with a name of its own, .* rename the field"
    ):
        type("Named", (mha.models.Vector,), {"__annotations__": {name: np.ndarray}})


def test_what_a_class_remembers_is_not_carried_along():
    start = Cached(np.ones(3))
    assert start.doubled[0] == 2
    assert (start + 1.0).doubled[0] == 4 and with_attributes(start, {"w": np.zeros(3)}).doubled[
        0
    ] == 0
    require_weights("model", start)
