"""Models that mhalib has not, and live figures of them."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from py_mini_racer import MiniRacer

import mhalib as mha
from notebooks import BOOK, code, read
from page import run

DATA = mha.data.tokenized_mixture(n=12, T=4, d=6, M=2, zeta=0.25, seed=0)
rng = np.random.default_rng(0)


@dataclass(frozen=True, eq=False, repr=False)
class Tempered(mha.models.Vector):
    """One head with a learned temperature, and a penalty; its loss alone is written down."""

    W: np.ndarray
    U: np.ndarray
    tau: np.ndarray
    decay: float = 0.0

    def attention(self, X):
        S = np.exp(self.tau) * (X @ self.W @ X.mT)
        E = np.exp(S - S.max(axis=-1, keepdims=True))
        return E / E.sum(axis=-1, keepdims=True)

    def loss(self, X, y):
        z = y * (self.attention(X) @ X * self.U).sum(axis=(1, 2))
        return np.logaddexp(0, -z).mean() + self.decay * (self.W**2).sum()


@dataclass(frozen=True, eq=False, repr=False)
class Words(mha.models.Vector):
    """Words of a table, and a next one."""

    E: np.ndarray
    w: np.ndarray
    U: np.ndarray

    def loss(self, X, y):
        H = self.E[X]
        H = H + np.exp(0.1 * H[:, 1:] * self.w).mean(1, keepdims=True)
        z = H.std(1) @ self.U
        return (np.logaddexp(z[:, :-1], z[:, 1:]).sum(1) - z[np.arange(len(y)), y]).mean()


class Line:
    """A straight line, with everything written by hand and no help from mhalib."""

    def __init__(self, w):
        self.w = w

    def __add__(self, other):
        return type(self)(self.w + other.w)

    def __sub__(self, other):
        return type(self)(self.w - other.w)

    def __mul__(self, number):
        return type(self)(self.w * number)

    __rmul__ = __mul__

    def dot(self, other):
        return float(self.w @ other.w)

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() / 2

    def loss_and_grad(self, X, y):
        r = X @ self.w - y
        return (r * r).mean() / 2, Line(X.T @ r / len(y))


TEMPERED = Tempered(
    0.1 * rng.standard_normal((6, 6)), 0.1 * rng.standard_normal((4, 6)), np.zeros(())
)
LINE_DATA = SimpleNamespace(X=rng.standard_normal((20, 3)), y=rng.standard_normal(20))


def score(model, data):
    return (model.attention(data.X) * data.relevant[:, None, :]).sum(axis=-1).mean()


def of_line(rule=None, start=None, data=LINE_DATA, **options):
    """A figure of a line, or of another model on its data."""
    start = Line(np.zeros(3)) if start is None else start
    return mha.live.figure(start, data, rule or mha.GradientDescent(lr=0.1), **options)


def in_v8(figure, values, change=lambda source: source):
    """What the module of a figure answers in V8, changed or as it is; it is given JSON, as by a
    page."""
    v8 = MiniRacer()
    v8.eval(change(figure._esm).replace("export default", "globalThis.made ="))
    given = json.dumps(json.dumps([figure.spec, values], allow_nan=False))
    v8.eval(f"globalThis.training = made.run(...JSON.parse({given})); training.advance();")
    return json.loads(v8.eval("JSON.stringify(training.result)"))


FIGURES = {
    "a loss alone": lambda: mha.live.figure(
        TEMPERED,
        DATA,
        mha.GradientDescent(lr=0.3),
        40,
        {"lr": [0.1, 0.3], "decay": [0.0, 0.01]},
        {"score": score},
    ),
    "a closed form of mhalib": lambda: mha.live.figure(
        mha.MultiHeadAttention.zeros(2, 4, 6),
        DATA,
        mha.Momentum(lr=0.3),
        40,
        {"lr": [0.1, 0.3], "beta": [0.0, 0.9]},
    ),
    "one head, an axis of length 1": lambda: mha.live.figure(
        mha.MultiHeadAttention.random(1, 4, 6), DATA, mha.GradientDescent(lr=0.1), 40
    ),
    "a layer": lambda: mha.live.figure(
        mha.AttentionLayer.random(D=5, d=3, m=2, H=2, kernel=mha.gaussian),
        mha.data.random_sequences(4, 3, 5, 2),
        mha.AdamW(lr=0.01),
        40,
        {"lr": [0.001, 0.01], "eps": [1e-8, 1e-3]},
    ),
    "words": lambda: mha.live.figure(
        Words(rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal((3, 5))),
        SimpleNamespace(X=rng.integers(-5, 5, (11, 4)), y=rng.integers(0, 5, 11)),
        mha.GradientDescent(lr=0.03),
        40,
        {"lr": [0.01, 0.03]},
        {"first": lambda model, data: model.E[data.X[:, 0]].mean()},
    ),
    "a class of its own": lambda: mha.live.figure(
        Line(np.zeros(3)),
        LINE_DATA,
        mha.GradientDescent(lr=0.1),
        40,
        None,
        {"length": lambda model, data: (model.w * model.w).sum() ** 0.5},
    ),
}


def of_the_page():
    """The figure that the page "Your own model, live" makes."""
    namespace = {"__name__": "__main__"}
    for cell in code(read(BOOK / "your_own_model.ipynb")):
        if "figure" not in namespace:
            run(cell, "your_own_model", namespace)
    return namespace["figure"]
