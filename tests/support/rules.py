"""Update rules as a reader may write them, models to move, and the plain loop that says where they
go."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

import mhalib as mha
from livegrad.arrays import as_like
from optional import torch


class Stateless:
    """A rule that remembers nothing."""

    def __init__(self, lr):
        self.lr = lr

    def start(self, theta):
        return None


class ByNorm(Stateless):
    """θ − η g/‖g‖."""

    def step(self, theta, grad, state, k):
        return theta - self.lr * grad / (grad.norm() + 1e-3), state


class ByDot(Stateless):
    """The same by an inner product, and a step that shrinks with ‖θ‖."""

    def step(self, theta, grad, state, k):
        return theta - self.lr * grad / (1e-3 + grad.dot(grad) ** 0.5) / (
            1 + theta.dot(theta)
        ), state


class Layerwise(Stateless):
    """Each array by its own norm."""

    def step(self, theta, grad, state, k):
        arrays = grad.arrays()
        scaled = {name: a / ((a * a).sum() ** 0.5 + 1e-3) for name, a in arrays.items()}
        return theta - self.lr * grad.with_arrays(**scaled), state


class Matrices(Stateless):
    """A step towards the orthogonal factor of each matrix, the last two axes of an array."""

    def step(self, theta, grad, state, k):
        def orthogonal(a):
            if a.ndim < 2:
                return a
            a = a / ((a * a).sum(-1).sum(-1)[..., None, None] ** 0.5 + 1e-3)
            return 1.5 * a - 0.5 * a @ a.mT @ a

        return theta - self.lr * grad.map(orthogonal), state


class Noisy(Stateless):
    """Gradient descent with noise, which tells equal heads apart."""

    def step(self, theta, grad, state, k):
        rng = np.random.default_rng(k)
        return theta - self.lr * grad.map(
            lambda a: a + as_like(0.1 * rng.standard_normal(tuple(a.shape)), a)
        ), state


class ByPlace(Stateless):
    """A step size of its own for every row of an array, as heads are."""

    def step(self, theta, grad, state, k):
        def scaled(a):
            rates = as_like(1.0 / np.arange(1.0, 1 + len(a)) if a.ndim else np.array(1.0), a)
            return a * rates.reshape((-1,) + (1,) * (a.ndim - 1)) if a.ndim else a

        return theta - self.lr * grad.map(scaled), state


class ByShape(Stateless):
    """Another step for arrays of three axes than for others."""

    def step(self, theta, grad, state, k):
        return theta - grad.map(lambda a: self.lr * a if a.ndim == 3 else 0.1 * self.lr * a), state


class Clipped(Stateless):
    """Gradient descent whose step has at most the length η."""

    def step(self, theta, grad, state, k):
        return theta - grad * min(1.0, self.lr / (grad.norm() + 1e-12)), state


class InPlace(Stateless):
    """A rule that writes into what it is given."""

    def step(self, theta, grad, state, k):
        for name, a in grad.arrays().items():
            a *= self.lr
            weights = theta.arrays()[name]
            weights -= a
        return theta, state


class Keeping:
    """A step along the first gradient that was seen, and the last; both are kept as they came."""

    def __init__(self, lr):
        self.lr = lr

    def start(self, theta):
        return []

    def step(self, theta, grad, state, k):
        state = [*state, grad]
        return theta - self.lr * (state[0] + state[-1]), state


class Smooth:
    """An elementwise rule with a state: momentum, and a step that levels off."""

    def __init__(self, lr):
        self.lr = lr

    def start(self, theta):
        return 0.0 * theta

    def step(self, theta, grad, state, k):
        state = 0.9 * state + grad
        return theta - self.lr * state.map(lambda a: a / (abs(a) + 0.1)), state


class Squares:
    """Steps divided by the root of the sum of all squares so far."""

    def __init__(self, lr):
        self.lr = lr

    def start(self, theta):
        return 0.0 * theta

    def step(self, theta, grad, state, k):
        state = state + grad**2
        return theta - self.lr * grad / (state**0.5 + 0.1), state


class Heir(mha.Adam):
    """A subclass of the package's own rule that steps otherwise."""

    def step(self, theta, grad, state, k):
        return super().step(theta, grad / (grad.norm() + 1e-3), state, k)


OWN = (
    ByNorm,
    ByDot,
    Layerwise,
    Matrices,
    Noisy,
    ByPlace,
    ByShape,
    Clipped,
    InPlace,
    Keeping,
    Smooth,
    Squares,
    Heir,
)
PACKAGE = (mha.GradientDescent, mha.Momentum, mha.Adam, mha.AdamW, mha.Backtracking)


@dataclass(frozen=True, eq=False, repr=False)
class Loss(mha.models.Vector):
    """Two layers of a reader's own, by their loss alone."""

    W: np.ndarray
    v: np.ndarray
    b: np.ndarray

    def loss(self, X, y):
        hidden = 1 / (1 + (X.mean(axis=1) @ self.W) ** 2)
        return ((hidden @ self.v + self.b - y) ** 2).mean()


def heads(rng):
    """Heads, some of them equal, and mixtures."""
    # With one token W has no gradient but rounding, which Adam would enlarge.
    H, T, d = (int(rng.integers(low, high)) for low, high in ((1, 5), (2, 6), (1, 6)))
    start = mha.MultiHeadAttention.random(H, T, d, scale=0.5, seed=int(rng.integers(99)))
    kind = rng.integers(3)
    if kind == 0:
        start = 0 * start
    elif kind == 1:
        start = start.map(lambda a: a[rng.integers(0, H, size=H)])
    return start, (T, d), ()


def layer(rng):
    """A layer with one of the kernels."""
    H, D, d, m, n = (int(rng.integers(1, 5)) for _ in range(5))
    kernel = (mha.softmax, mha.gaussian, mha.normalized_gaussian)[rng.integers(3)]
    return (
        mha.AttentionLayer.random(D, d, m, H, kernel=kernel, seed=int(rng.integers(99))),
        (n, D),
        (n, m),
    )


def own(rng):
    """A model of a reader's own."""
    T, d, m = (int(rng.integers(1, 5)) for _ in range(3))
    return Loss(rng.normal(size=(d, m)), rng.normal(size=m), rng.normal(size=())), (T, d), ()


def drawn(seed):
    """A model, data and a rule: from a seed."""
    rng = np.random.default_rng([seed, 5])
    start, tokens, targets = (heads, heads, layer, own)[seed % 4](rng)
    n = int(rng.integers(2, 9))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0) if not targets else rng.normal(size=(n, *targets))
    data = SimpleNamespace(X=rng.normal(size=(n, *tokens)), y=y)
    kinds = OWN if rng.random() < 0.8 else PACKAGE
    rule = kinds[rng.integers(len(kinds))](lr=float(10 ** rng.uniform(-2, 0)))
    return start, data, rule


def walked(model, data, rule, steps, only=None):
    """The weights after so many steps of the plain loop: each step a model, by the plain
    formula."""
    rule = rule.on(data) if hasattr(rule, "on") else rule
    state = rule.start(model)
    for k in range(steps):
        grad = model.loss_and_grad(data.X, data.y)[1]
        held = model.arrays()
        grad = 1.0 * (grad if only is None else grad.only(only))
        model, state = rule.step(1.0 * model, grad, state, k)
        model = 1.0 * model
        if only is not None:
            model = model.with_arrays(
                **{name: a for name, a in held.items() if name not in model.chosen(only)}
            )
    return model


def to_torch(model, data):
    """The same in torch."""
    return model.map(torch.as_tensor), SimpleNamespace(
        X=torch.as_tensor(data.X), y=torch.as_tensor(data.y)
    )
