"""Things that a reader may bring, and what becomes of each: computed right, or refused in a
sentence that names it.

``python tests/support/brought.py`` prints the table; tests/package/test_brought.py holds every
cell.
"""

import json
import os
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

import mhalib as mha
import rules
from livegrad.pages import book_is_asked
from optional import torch
from own import in_v8

STEPS = 6
RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3))
Y = np.tanh(X @ [1.0, -2.0, 0.5])
W = np.array([0.3, -0.2, 0.1])
TOKENS = mha.data.tokenized_mixture(n=8, T=4, d=5, M=2, zeta=0.25, seed=0)
HEADS = mha.MultiHeadAttention.random(H=2, T=4, d=5, scale=0.3, seed=1)
EQUAL = HEADS.map(lambda a: a[[0, 0, 0]])
LABELS = np.where(Y > 0, 1.0, -1.0)
own = dataclass(frozen=True, eq=False, repr=False)


@own
class Line(mha.models.Vector):
    """A straight line, by its loss alone."""

    w: Any

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() / 2


@own
class Logistic(mha.models.Vector):
    """The logistic loss of labels −1 and 1."""

    w: Any

    def loss(self, X, y):
        return np.logaddexp(0, -y * (X @ self.w)).mean()


class Frame:
    """What a frame of pandas is to a program that does not know pandas."""

    def __init__(self, numbers):
        self.numbers = numbers

    def to_numpy(self):
        return self.numbers


def data_of(X=X, y=Y, **more):
    """Data without a length."""
    return SimpleNamespace(X=X, y=y, **more)


@dataclass
class Brought:
    """A model, data and a rule; what is not said is plain. ``means`` is the same in plain
    arrays."""

    model: Any = field(default_factory=lambda: Line(W))
    data: Any = field(default_factory=data_of)
    rule: Any = field(default_factory=lambda: mha.GradientDescent(lr=0.3))
    title: Any = "A model, live"
    controls: Any = None
    curves: Any = None
    means: "Brought | None" = None
    rounding: float = 1e-9


# --- right or refused: what is done with a thing, and what it must give
# --------------------------------------------


def _right_losses(brought):
    """The losses of the plain loop."""
    plain = brought.means or brought
    losses = []
    for k in range(STEPS + 1):
        there = rules.walked(plain.model, plain.data, plain.rule, k)
        losses.append(float(there.loss_and_grad(plain.data.X, plain.data.y)[0]))
    return losses


def _close(found, right, rounding):
    np.testing.assert_allclose(np.asarray(found, float), right, rtol=rounding, atol=rounding)


def train(brought):
    """A run has the losses of the plain loop."""
    path = mha.train(brought.model, brought.data, brought.rule, STEPS)
    if path.stopped:
        raise ArithmeticError(path.stopped)
    _close(path.loss, _right_losses(brought), brought.rounding)


def _figure(brought):
    return mha.live.figure(
        brought.model,
        brought.data,
        brought.rule,
        steps=STEPS,
        title=brought.title,
        controls=brought.controls,
        curves=brought.curves,
    )


def live(brought):
    """A live figure has them in Python, and in the page."""
    figure = _figure(brought)
    right = _right_losses(brought)
    _close(figure.path().loss, right, brought.rounding)
    _close(in_v8(figure, figure.values)["curves"]["loss"], right, brought.rounding)


def landscape(brought):
    """A Hessian is that of differences of the gradient."""
    found = mha.landscape.hessian(brought.model, brought.data)
    plain = brought.means or brought
    rows, size = [], sum(a.size for a in plain.model.arrays().values())
    for unit in np.eye(size):
        way = mha.landscape.direction(plain.model, unit)
        ends = [
            (plain.model + h * way).loss_and_grad(plain.data.X, plain.data.y)[1]
            for h in (1e-5, -1e-5)
        ]
        slope = (ends[0] - ends[1]) / 2e-5
        rows.append(np.concatenate([a.ravel() for a in slope.arrays().values()]))
    np.testing.assert_allclose(
        found, rows, rtol=max(1e-5, brought.rounding), atol=max(1e-6, brought.rounding)
    )


def explore(brought):
    """A function of one's own that trains shows the losses of the plain loop."""
    shown = []

    def losses(steps):
        path = mha.train(brought.model, brought.data, brought.rule, steps)
        if path.stopped:
            raise ArithmeticError(path.stopped)
        shown.append(path.loss)
        return mha.plots.curves(path.steps, {"loss": path.loss}, log_y=False)

    mha.explore(losses, steps=[STEPS])
    _close(shown[-1], _right_losses(brought), brought.rounding)


def save(brought):
    """A saved file carries the figure that trains so, and no script but the page's own."""
    figure = _figure(brought)
    with TemporaryDirectory() as folder:
        file = Path(folder, "figure.html")
        figure.save(file)
        text = file.read_text("utf-8")
    # plotly, the numbers, the module; what a saved page does, and the keys of slides; in a book the frame
    assert len(re.findall(r"(?i)<script", text)) == 6 + book_is_asked()
    state = json.loads(
        re.search(r'(?s)<script type="application/json" id="state">(.*?)</script>', text)[1]
    )
    saved = SimpleNamespace(_esm=figure._esm, spec=state["spec"])
    _close(in_v8(saved, figure.values)["curves"]["loss"], _right_losses(brought), brought.rounding)


COLUMNS: dict[str, Callable[[Brought], None]] = {
    "train": train,
    "live.figure": live,
    "landscape": landscape,
    "explore": explore,
    "save": save,
}
REFUSALS = (TypeError, ValueError, ArithmeticError, ImportError, OSError)


def outcome(thing, column):
    """What becomes of a thing: "right", or "refused: " and why; AssertionError if it is wrong, or
    badly refused."""
    if column in thing.beside:
        return "–"
    with warnings.catch_warnings(), np.errstate(all="ignore"), thing.around():
        warnings.simplefilter("ignore")
        try:
            COLUMNS[column](thing.make())
        except AssertionError:
            raise
        except REFUSALS as error:
            said = str(error)
            assert re.search(thing.named, said[:200]), (
                f"{thing.words}: {column} does not name it: {said[:300]}"
            )
            assert len(said) < 700 and not re.search(
                r"\[\s*-?\d+\.\d+[\s,]+-?\d+\.\d+[\s,]", said
            ), said[:700]
            return f"refused: {said}"
    return "right"


@dataclass
class Thing:
    """A thing that a reader may bring: in words, how it is made, and what a refusal must name.

    ``cells`` has a letter for each column, R for right and x for refused; ``beside`` are columns
    that do not see it.
    """

    group: str
    words: str
    make: Callable[[], Brought]
    cells: str
    named: str = "^"
    beside: tuple[str, ...] = ()
    around: Callable[[], Any] = lambda: warnings.catch_warnings()


# --- what is brought
# ------------------------------------------------------------------------------------------------


def of_rule(rule, model=EQUAL, data=TOKENS):
    """A rule of one's own, on heads of which all are equal."""
    return lambda: Brought(model, data, rule)


class Returning(rules.Stateless):
    """A rule that returns something else than a model and a state."""

    def __init__(self, answer):
        super().__init__(0.1)
        self.answer = answer

    def step(self, theta, grad, state, k):
        return self.answer(theta, grad)


def divided(theta, grad):
    """0/0, because the gradient of a straight line is not 0 but its difference with itself is."""
    return theta - (grad - grad) / (grad - grad).norm(), None


def taken(X=X, y=Y, model=None, means=None, **more):
    """Data that mean others."""
    model = Line(W) if model is None else model
    return lambda: Brought(model, data_of(X, y), means=Brought(model, means or data_of()), **more)


def as_it_is(make_model, data=None):
    """A model, and what it means as a straight line."""
    return lambda: Brought(
        make_model(), data or data_of(), means=Brought(Line(W), data or data_of())
    )


@own
class Cached(Line):
    """A line whose prediction goes through what the class remembers of its weights."""

    from functools import cached_property as _cached

    @_cached
    def kept(self):
        return 1.0 * self.w

    def loss(self, X, y):
        return ((X @ self.kept - y) ** 2).mean() / 2


def used(model):
    """A model that was looked at."""
    model.loss(X, Y)
    return model


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Slots(mha.models.Vector):
    """A line with slots."""

    w: Any

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() / 2


@own
class Derived(Line):
    """A line with a value that is set when it is made."""

    def __post_init__(self):
        object.__setattr__(self, "length", float(np.linalg.norm(self.w)))


@own
class Layers(Line):
    """A line with weights in something else."""

    layers: Any = None

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() / 2


@own
class Table(Line):
    """A line with an array of its class."""

    b = np.zeros(3)


@own
class Called(Line):
    """A line with a method that is called as one of every model."""

    def norm(self, x):
        return x / abs(x).max()


def with_loss(form, start=W):
    """A model with a loss of its own."""

    @own
    class Formed(Line):
        def loss(self, X, y):
            return form(self.w, X, y)

    return lambda: Brought(Formed(start))


def named(name):
    """Data with an array of this name, which a curve reads."""

    def make():
        data = data_of(**{name: np.arange(3.0)})
        return Brought(
            data=data, curves={"level": lambda model, there: (model.w * getattr(there, name)).sum()}
        )

    return make


def weight_named(name):
    """A model whose weight has this name."""

    def make():
        def loss(self, X, y):
            return ((X @ getattr(self, name) - y) ** 2).mean() / 2

        kind = dataclass(frozen=True, eq=False, repr=False)(
            type("Named", (mha.models.Vector,), {"__annotations__": {name: Any}, "loss": loss})
        )
        return Brought(kind(W), means=Brought(Line(W)))

    return make


def environment(**changes):
    """The environment with some variables changed."""
    from contextlib import contextmanager

    @contextmanager
    def around():
        before = {name: os.environ.get(name) for name in changes}
        os.environ.update(changes)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name)
                else:
                    os.environ[name] = value

    return around


def printing():
    """Numbers printed with two digits."""
    return np.printoptions(precision=2, threshold=3)


def in_single():
    """torch makes single precision, as it does unless told otherwise, and numpy raises what it
    may."""
    return np.errstate(all="raise")


HOSTILE = "z = 0;alert(document.title)//"
FRAMES = ("live.figure", "save")
"""The columns that make a page."""
KINKS = {
    "a maximum with 0, from 0": (
        lambda w, X, y: (np.maximum(X @ w, 0) - y * (X @ w)).mean() + (w * w).sum(),
        0 * W,
    ),
    "the stable logistic form, from 0": (
        lambda w, X, y: (
            np.maximum(X @ w, 0) - (X @ w) * (y > 0) + np.log1p(np.exp(-abs(X @ w)))
        ).mean(),
        0 * W,
    ),
    "the norm of w, from 0": (
        lambda w, X, y: ((X @ w - y) ** 2).mean() + 0.1 * np.linalg.norm(w),
        0 * W,
    ),
}
"""Formulas that have no derivative where the run begins."""
MATHEMATICS = {
    "a clipped slope": lambda w, X, y: ((np.clip(X @ w, -0.1, None) - y) ** 2).mean(),
    "the norm of w": lambda w, X, y: ((X @ w - y) ** 2).mean() + 0.1 * np.linalg.norm(w),
    "masks that are counted": lambda w, X, y: (
        ((X > 0) & ~(X > 1)).sum(axis=1) * (X @ w - y) ** 2
    ).mean(),
    "powers, of which one is 0": lambda w, X, y: (
        (X @ (w * w) ** np.array([0.0, 1.0, 2.0]) - y) ** 2
    ).mean(),
    "an axis turned by method": lambda w, X, y: ((X.transpose(1, 0).T @ w - y) ** 2).mean(),
}
REFUSED_FORMS = {
    "a cumulative sum": (lambda w, X, y: np.cumsum(X @ w).mean(), "line"),
    "a write in place": (lambda w, X, y: _written(X @ w - y).mean(), "line"),
    "a mask as an index": (lambda w, X, y: (X @ w)[y > 0].mean(), "line"),
    "a branch on a number": (lambda w, X, y: (X @ w - y).mean() if w[0] > 0 else w.sum(), "line"),
    "−mask": (lambda w, X, y: (-(X > 0) * (X @ w)[:, None]).mean(), "line|negative"),
    "random numbers": (
        lambda w, X, y: (X @ w * np.random.default_rng().random()).mean(),
        "random numbers",
    ),
}


def _written(a):
    a *= a
    return a


THINGS = [
    *(
        Thing("rule", words, of_rule(rule), "Rx-Rx", "^rule|^optimizer", ("landscape",))
        for words, rule in {
            "g/‖g‖": rules.ByNorm(0.1),
            "by a dot product": rules.ByDot(0.1),
            "each array by its norm": rules.Layerwise(0.1),
            "matrices made orthogonal": rules.Matrices(0.1),
            "noise": rules.Noisy(0.1),
            "a rate for each head": rules.ByPlace(0.1),
            "a branch on ndim": rules.ByShape(0.1),
            "clipped by norm": rules.Clipped(0.1),
            "writes in place": rules.InPlace(0.1),
            "keeps gradients": rules.Keeping(0.1),
            "its own momentum": rules.Smooth(0.1),
            "AdaGrad": rules.Squares(0.1),
            "a subclass of Adam": rules.Heir(0.1),
            "Backtracking": mha.Backtracking(),
            "a schedule": mha.GradientDescent(mha.Cosine(0.5, 10)),
        }.items()
    ),
    Thing("rule", "AdamW", of_rule(mha.AdamW(0.03)), "RR-RR", beside=("landscape",)),
    *(
        Thing(
            "rule",
            words,
            of_rule(Returning(answer)),
            "xx-xx",
            "^rule|^optimizer|^Returning",
            ("landscape",),
        )
        for words, answer in {
            "returns NaN": divided,
            "returns an array": lambda theta, grad: (theta.W, None),
            "returns a model alone": lambda theta, grad: theta,
            "returns another shape": lambda theta, grad: (theta.map(lambda a: a[:1]), None),
            "returns single precision": lambda theta, grad: (
                theta.map(lambda a: a.astype("f4")),
                None,
            ),
            "returns None": lambda theta, grad: None,
        }.items()
    ),
    Thing(
        "rule",
        "the class of a rule",
        of_rule(mha.Adam),
        "xx-xx",
        "^rule|^optimizer",
        ("landscape",),
    ),
    Thing("model", "a loss alone", lambda: Brought(), "RRRRR"),
    Thing("model", "remembers a value (cached_property)", as_it_is(lambda: Cached(W)), "RRRRR"),
    Thing("model", "the same, looked at before", as_it_is(lambda: used(Cached(W))), "RRRRR"),
    Thing("model", "slots", as_it_is(lambda: Slots(W)), "RRRRR"),
    Thing(
        "model", "a value set in __post_init__", as_it_is(lambda: Derived(W)), "xxxxx", "^length"
    ),
    Thing("model", "weights in a list", as_it_is(lambda: Layers(W, [1 * W])), "xxxxx", "^layers"),
    Thing("model", "weights in a tuple", as_it_is(lambda: Layers(W, (1 * W,))), "xxxxx", "^layers"),
    Thing(
        "model", "weights in a dict", as_it_is(lambda: Layers(W, {"w": 1 * W})), "xxxxx", "^layers"
    ),
    Thing(
        "model", "a model in a model", as_it_is(lambda: Layers(W, Line(1 * W))), "xxxxx", "^layers"
    ),
    Thing(
        "model",
        "a torch module",
        as_it_is(lambda: Layers(W, torch.nn.Linear(2, 1))),
        "xxxxx",
        "^layers",
    ),
    Thing("model", "an array of the class", as_it_is(lambda: Table(W)), "xxxxx", "^b"),
    Thing("model", "a method called norm", as_it_is(lambda: Called(W)), "xxxxx", "^norm"),
    Thing(
        "model",
        "whole numbers as weights",
        as_it_is(lambda: Line(np.array([1, 2, 3]))),
        "xxxxx",
        "^w",
    ),
    Thing("model", "complex weights", as_it_is(lambda: Line(W + 0j)), "xxxxx", "^w"),
    Thing(
        "model",
        "masked weights",
        as_it_is(lambda: Line(np.ma.masked_array(W, [1, 0, 0]))),
        "xxxxx",
        "^w",
    ),
    Thing("model", "no model but an array", lambda: Brought(model=W), "xxxxx", "^model|^start"),
    Thing(
        "model",
        "a class in place of a model",
        lambda: Brought(model=Line),
        "xxxxx",
        "^model|^start|unsupported",
    ),
    Thing(
        "model",
        "weights of single precision",
        lambda: Brought(
            Line(W.astype("f4")),
            data_of(X.astype("f4"), Y.astype("f4")),
            means=Brought(),
            rounding=1e-4,
        ),
        "RxRRx",
        "^w|^X",
    ),
    *(
        Thing(
            "model", f"a loss with {words}", with_loss(form, start), "RR-RR", beside=("landscape",)
        )
        for words, (form, start) in KINKS.items()
    ),
    *(
        Thing("model", f"a loss with {words}", with_loss(form, W), "RRRRR")
        for words, form in MATHEMATICS.items()
    ),
    *(
        Thing("model", f"a loss with {words}", with_loss(form), "xxxxx", said)
        for words, (form, said) in REFUSED_FORMS.items()
    ),
    Thing("data", "no __len__", lambda: Brought(), "RRRRR"),
    Thing("data", "lists", taken(X.tolist(), Y.tolist()), "xxxxx", "^X"),
    Thing(
        "data",
        "lists, by from_arrays",
        lambda: Brought(
            HEADS,
            mha.data.from_arrays(TOKENS.X.tolist(), TOKENS.y.astype(int).tolist()),
            means=Brought(HEADS, TOKENS),
        ),
        "RRRRR",
    ),
    Thing("data", "a frame and a series", taken(Frame(X), Frame(Y)), "xxxxx", "^X"),
    Thing(
        "data",
        "a series of labels, by from_arrays",
        lambda: Brought(
            HEADS, mha.data.from_arrays(TOKENS.X, Frame(TOKENS.y)), means=Brought(HEADS, TOKENS)
        ),
        "RRRRR",
    ),
    Thing("data", "masked", taken(np.ma.masked_array(X, X > 1)), "xxxxx", "^X"),
    Thing("data", "sparse", taken(sparse.csr_matrix(X)), "xxxxx", "^X"),
    Thing(
        "data",
        "whole numbers",
        taken(np.rint(3 * X).astype(int), means=data_of(np.rint(3 * X))),
        "RRRRR",
    ),
    Thing("data", "truth values", taken(X > 0, means=data_of(1.0 * (X > 0))), "RRRRR"),
    Thing("data", "big-endian", taken(X.astype(">f8"), Y.astype(">f8")), "RRRRR"),
    Thing(
        "data",
        "half precision",
        taken(X.astype("f2"), means=data_of(X.astype("f2").astype(float))),
        "RxRRx",
        "^X",
    ),
    Thing("data", "complex numbers", taken(X + 0j), "xxxxx", "^X"),
    Thing("data", "words", taken(y=np.where(Y > 0, "yes", "no")), "xxxxx", "^y"),
    Thing("data", "objects", taken(X.astype(object)), "xxxxx", "^X"),
    Thing(
        "data",
        "labels of 0 and 1 for heads",
        lambda: Brought(HEADS, data_of(TOKENS.X, (TOKENS.y + 1) / 2)),
        "xxxxx",
        "^y",
    ),
    Thing(
        "data",
        "whole labels for heads",
        lambda: Brought(HEADS, data_of(TOKENS.X, TOKENS.y.astype(int))),
        "xxxxx",
        "^y",
    ),
    Thing(
        "data",
        "labels (n, 1) for heads",
        lambda: Brought(HEADS, data_of(TOKENS.X, TOKENS.y[:, None])),
        "xxxxx",
        "^y",
    ),
    Thing(
        "data",
        "of another length",
        lambda: Brought(HEADS, data_of(TOKENS.X, TOKENS.y[:3])),
        "xxxxx",
        "^y",
    ),
    Thing("data", "NaN", lambda: Brought(data=data_of(X * np.nan)), "xxxxx", "(?i)nan|finite"),
    Thing(
        "data",
        "tensors for arrays of weights",
        lambda: Brought(HEADS, TOKENS.map(torch.as_tensor)),
        "xxxxx",
        "",
    ),
    Thing("data", "none", lambda: Brought(data=3.0), "xxxxx", "^data"),
    Thing(
        "data",
        "−inf in an array that a curve reads",
        lambda: Brought(
            data=data_of(mask=np.array([0.0, -np.inf, 0.0])),
            curves={"level": lambda model, data: np.exp(model.w + data.mask).sum()},
        ),
        "RRRRR",
    ),
    *(
        Thing(
            "name",
            f"an array of the data called {name[:24]!r}",
            named(name),
            "RRRRR",
            "^data|" + re.escape(name[:8]),
        )
        for name in (
            "größe",
            "test-set",
            HOSTILE,
            "</script><script>alert(1)</script>",
            "constructor",
            "class",
            "η",
            "a" * 999,
        )
    ),
    *(
        Thing(
            "name", f"a weight called {name!r}", weight_named(name), "RRRRR", "^" + re.escape(name)
        )
        for name in ("größe", "loss_", "size", "curves", "final", "constructor", "class_")
    ),
    *(
        Thing("name", f"a weight called {name!r}", weight_named(name), "xxxxx", f"^{name}")
        for name in ("map", "dot")
    ),
    *(
        Thing("name", f"a title {title[:24]!r}", lambda title=title: Brought(title=title), "RRRRR")
        for title in (
            "<!-- <script>",
            "</title><script>alert(1)</script>",
            "\"quoted\" & 'so'",
            "η = ∞",
            "{loss}",
        )
    ),
    *(
        Thing(
            "name",
            f"a title {title!r:.24}",
            lambda title=title: Brought(title=title),
            "RxRRx",
            "^title",
        )
        for title in (None, 3, "\ud800")
    ),
    Thing(
        "name",
        "a curve called 'my curve'",
        lambda: Brought(curves={"my curve": lambda model, data: model.w.sum()}),
        "RxRRx",
        "^curves",
    ),
    Thing(
        "name",
        "a slider of values by linspace",
        lambda: Brought(controls={"lr": np.linspace(0.1, 1, 10)}),
        "RRRRR",
    ),
    Thing(
        "name",
        "a slider without the start's value",
        lambda: Brought(controls={"lr": [0.1, 1.0]}),
        "RxRRx",
        "^controls",
    ),
    Thing(
        "name",
        "a slider of nothing the model has",
        lambda: Brought(controls={"H": [1]}),
        "RxRRx",
        "^controls",
    ),
    *(
        Thing("surroundings", words, lambda: Brought(EQUAL, TOKENS), "RRRRR", around=around)
        for words, around in {
            "no compiled programs": environment(LIVEGRAD_COMPILED="0"),
            "a compiler's cache where nothing may be written": environment(
                XDG_CACHE_HOME="/proc/nowhere"
            ),
            "a relative cache folder": environment(XDG_CACHE_HOME="cache"),
            "no compiler": environment(PATH=""),
            "numbers printed short": printing,
            "numpy raises what it may": in_single,
        }.items()
    ),
]


def table():
    """The table, in Markdown."""
    lines = [
        f"| | what a reader brings | {' | '.join(COLUMNS)} |",
        "|---" * (2 + len(COLUMNS)) + "|",
    ]
    for thing in THINGS:
        cells = [
            re.sub(r"\s+", " ", outcome(thing, column)).replace("|", "\\|") for column in COLUMNS
        ]
        lines.append(f"| {thing.group} | {thing.words} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
