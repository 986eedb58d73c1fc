"""What computes the loss and the gradient of a model: each way that there is, as one function."""

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np
from py_mini_racer import MiniRacer
from scipy.special import erf

import mhalib as mha
from engines import ATTENTION, BOOK, LIVE, exposed
from livegrad.arrays import torch_gradient
from livegrad.model.compiled_gradient import Compiled
from livegrad.model.derived import Derived
from livegrad.record import native
from mhabook.live import formulas as of_the_book
from mhalib.live import formulas
from mhalib.models.compiled_workspace import compiled_workspace
from optional import torch

PROGRAMS = formulas.PROGRAMS | of_the_book.PROGRAMS
RUN = """
const run = (program, given, entry) => {
  for (const [name, values] of Object.entries(given)) program[name].set(values);
  program.loaded();
  program.call(entry);
  const arrays = Object.entries(program).filter(([, array]) => array instanceof Float64Array);
  return JSON.stringify(Object.fromEntries(arrays.map(([name, array]) => [name, Array.from(array)])));
};"""


@dataclass(frozen=True, eq=False, repr=False)
class Everything(mha.Vector):
    """A reader's model with a loss alone, in which every elementwise function occurs, and a mean
    over samples."""

    W: np.ndarray
    b: np.ndarray
    s: np.ndarray

    def loss(self, X, y):
        h = X @ self.W + self.b
        h = (
            np.tanh(h)
            + np.sin(h) * np.cos(self.b)
            + np.arctan(h)
            + np.expm1(0.1 * h)
            + np.sqrt(1 + h * h)
        )
        z = h.max(axis=1) + self.s * h.sum(axis=1)
        p = 1 / (1 + np.exp(-z))
        far = (
            np.log1p(z * z)
            + np.maximum(z, 0.1)
            + np.minimum(z, y)
            + (1 + z * z) ** 1.3
            + np.where(z > 0, z, -2 * z)
        )
        away = z - z.mean()
        return (
            (far + away * away - y * np.log(p)).mean()
            + (abs(self.W) ** 1.5).sum()
            + np.logaddexp(self.s, 0.0)
        )


@dataclass(frozen=True, eq=False, repr=False)
class TwoLayers(mha.models.Vector):
    """A reader's model: two layers of attention, one on the other."""

    W: np.ndarray
    V: np.ndarray
    Q: np.ndarray
    U: np.ndarray

    def loss(self, X, y):
        H = X + _attend(X, self.W) @ X @ self.V
        z = y * (_attend(H, self.Q) @ H * self.U).sum(axis=(1, 2))
        return np.logaddexp(0, -z).mean()


@dataclass(frozen=True, eq=False, repr=False)
class Words(mha.models.Vector):
    """A reader's small language model: X are words and y is the next one, whole numbers. It has what
    such losses are written with: entries at places of the data, causal masks, the normalization of
    layers, the exact GELU."""

    E: np.ndarray
    P: np.ndarray
    W: np.ndarray
    V: np.ndarray
    U: np.ndarray

    def loss(self, X, y):
        n, T = X.shape
        H = self.E[X] + self.P
        H = (H - H.mean(-1, keepdims=True)) / np.sqrt(H.var(-1, keepdims=True) + 1e-5)
        S = np.where(np.tril(np.ones((T, T), bool)), H @ self.W @ H.mT, -np.inf)
        E = np.exp(S - S.max(axis=-1, keepdims=True))
        H = H + E / E.sum(axis=-1, keepdims=True) @ H
        H = np.concatenate([H[..., :1], H[..., 1:] @ self.V], -1)
        H = 0.5 * H * (1 + erf(H / np.sqrt(2)))
        last = H[np.arange(n), (X > 0).sum(axis=1) - 1]
        logits = last @ self.U
        logits = logits - np.logaddexp(logits[:, :1], logits[:, 1:]).max(1, keepdims=True)
        logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return (
            -logp[np.arange(n), y].mean()
            - 0.1 * np.take_along_axis(logp, X[:, 1:], axis=1).mean()
            + 0.1 * H.std(axis=(1, 2), ddof=1).mean()
        )


def _attend(X, W):
    S = X @ W @ X.mT
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


# How the loss is computed: (model, X, y) → the loss, and the derivatives by the names of the
# weights.


def formula(model, X, y):
    """As the model says: in closed form, or derived by numpy."""
    loss, grad = model.loss_and_grad(X, y)
    return loss, grad.arrays()


def derived(model, X, y):
    """From a record of the loss, whether there is a closed form or not."""
    loss, grad = Derived(model, X, y).loss_and_grad(model)
    return loss, grad.arrays()


def by_torch(model, X, y):
    """By torch's own derivatives of the loss."""
    on_torch = model.map(torch.tensor)
    X, y = torch.tensor(X), torch.tensor(y)
    loss, slopes = torch_gradient(
        lambda arrays: on_torch.with_arrays(**arrays).loss(X, y), on_torch.arrays()
    )
    return loss, {name: slope.numpy() for name, slope in slopes.items()}


def ordered(model, X, y):
    """By the workspace that numpy trains on."""
    return _by_workspace(model.workspace(X, y), model)


def compiled(model, X, y):
    """By the program that ``train`` runs, which must have been compiled."""
    with suppress(native.Unusable):
        return _by_workspace(compiled_workspace(model, X, y), model)
    space = model.workspace(X, y).for_steps(10**9)
    found = _by_workspace(space, model)
    assert [type(one) for one in space._executors.values()] == [Compiled], native.status()
    return found


def _by_workspace(space, model):
    loss, grad = space.loss_and_grad(space.pack(model))
    return loss, space.unpack(grad).arrays()


def webassembly(model, X, y):
    """By the program that pages carry, in V8."""
    return _in_v8(_assembled(_name(model)), model, X, y)


def javascript(model, X, y):
    """By the program of a page that may run no WebAssembly."""
    return _in_v8(_plain(_name(model)), model, X, y)


EXECUTORS = {f.__name__: f for f in (derived, by_torch, ordered, compiled, webassembly, javascript)}


def _name(model):
    """The name of a model's program in pages."""
    if isinstance(model, mha.AttentionLayer):
        return {
            mha.softmax: "softmax",
            mha.gaussian: "gaussian",
            mha.normalized_gaussian: "normalized",
        }[model.kernel]
    return {mha.MultiHeadAttention: "heads", mha.AttentionRegression: "regression"}[type(model)]


def committed(file):
    """The file of a program of a page, which the package has, or the book."""
    folder = ATTENTION if file.partition(".")[0] in formulas.PROGRAMS else BOOK / "live"
    return folder / "programs" / file


@cache
def program(name):
    """The program of a page."""
    return PROGRAMS[name]()


@cache
def _assembled(name):
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "programs.js") + RUN)
    content = list(committed(f"{name}.wasm").read_bytes())
    v8.eval(f"const made = makeProgram(Uint8Array.from({content}));")
    return v8


@cache
def _plain(name):
    return plain(committed(f"{name}.js").read_text("utf-8"))


def plain(text):
    """A V8 with a program of JavaScript."""
    v8 = MiniRacer()
    v8.eval(text.replace("export function", "function") + RUN + "const made = program;")
    return v8


def _in_v8(v8, model, X, y):
    own, arrays = program(_name(model)), {"X": X, "y": y} | model.arrays()
    if "context" in own.shapes:
        arrays["context"] = X
    sizes = {
        size: length
        for name, a in arrays.items()
        for size, length in zip(own.shapes[name].split(), a.shape, strict=True)
    }
    sizes |= {"c": model.kernel.c} if getattr(getattr(model, "kernel", None), "c", None) else {}
    sizes = {name: sizes.get(name, 1) for name in own.sizes}
    given = {name: a.tolist() for name, a in flat(own, arrays, sizes).items()}
    found = json.loads(
        v8.eval(f"run(made({list(sizes.values())}), {json.dumps(given)}, 'gradient')")
    )
    slopes = {
        name: np.array(found["slope"])[where(own.places[f"d{name}"], a.shape, sizes)]
        for name, a in model.arrays().items()
    }
    return found["loss"][0], slopes


def flat(program, arrays, sizes):
    """Arrays by the names and in the order of a program."""
    found = {}
    for name, a in arrays.items():
        place = program.places.get(name)
        if place is None:
            found[name] = np.ravel(a)
            continue
        whole = found.setdefault(place.buffer, np.zeros(int(eval(place.length, {}, sizes))))
        whole[where(place, a.shape, sizes)] = a
    return found


def where(place, shape, sizes):
    """Where the entries of an array of this shape lie in the longer one."""
    at = np.array(int(eval(place.begin, {}, sizes)))
    for size, stride in zip(shape, place.strides, strict=True):
        at = at[..., None] + np.arange(size) * int(eval(stride, {}, sizes))
    return at
