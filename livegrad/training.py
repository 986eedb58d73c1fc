"""``train``: full-batch steps from a model, on a dataset, by an update rule, to the ``Path`` they
leave."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from livegrad.arrays import (
    MOST,
    Array,
    in_precision,
    is_whole,
    namespace,
    require_count,
    require_same_dtype,
    require_seed,
    require_values,
    shown,
    to_numpy,
)
from livegrad.console import printed
from livegrad.model.contract import require_weights
from livegrad.model.given_gradient import require_end, require_gradient, require_samples
from livegrad.model.vector import Vector
from livegrad.model.weights import weights, with_weights
from livegrad.model.workspace import Workspace
from livegrad.optim import ENTRYWISE, GradientDescent, Rule
from livegrad.own_rule import NotANumber, fingerprint, on_models, require_steady
from livegrad.stopping import at_the_start, nan_gradient, overshot
from livegrad.vouched import is_vouched

OF_EVERY_PATH = ("steps", "models", "curves", "stopped", "loss", "grad_norm", "test_loss")
"""Names that what a model measures cannot have."""
GROWN = 1e3
"""Weights that are so many times as large as at the start, and as 1, are those of a run that
diverges."""


class Model(Protocol):
    """What ``train`` asks of a model: a point of a vector space that knows its loss. ``Vector`` has
    all but the loss.

    The arguments of a loss are what the data have as X and y. A model may have more: a faster
    ``workspace(X, y)``, and ``norms()`` and ``against(data)`` to be recorded.
    """

    def loss(self, X: Array, y: Array, /) -> Any:
        """The mean loss, a number."""

    def loss_and_grad(self, X: Array, y: Array, /) -> tuple[Any, Self]:
        """The mean loss and its gradient, again a model."""
        ...

    def dot(self, other: Self, /) -> float:
        """The inner product with a point of the same space."""
        ...

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, number: float, /) -> Self: ...
    def __rmul__(self, number: float, /) -> Self: ...


class Data(Protocol):
    """What ``train`` asks of a dataset."""

    @property
    def X(self) -> Array:
        """Inputs, one row per sample."""
        ...

    @property
    def y(self) -> Array:
        """Labels or targets."""
        ...


@printed
@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """What a training run left behind, at the recorded steps.

    ``path.steps`` are the recorded steps in order; 0 and the last are among them unless you chose
    others. Every curve is an array of the same length. All models have ``loss`` and ``grad_norm``,
    and ``test_loss`` with a test set; the others are those of the model, such as what its
    ``norms()`` give. ``path[k]`` is the model at the k-th recorded step. ``stopped`` says why a run
    ended early, else it is None.

    Examples
    --------
    >>> from livegrad.examples.logistic_regression import LogisticRegression, clouds
    >>> path = lg.train(LogisticRegression(np.zeros(2)), clouds(), lg.GradientDescent(lr=1.0), steps=5)
    >>> path.steps
    array([0, 1, 2, 3, 4, 5])
    >>> path[-1].w.shape, path.loss.shape
    ((2,), (6,))
    """

    steps: np.ndarray
    models: tuple[Any, ...]
    curves: dict[str, np.ndarray]
    stopped: str | None = None

    def __getattr__(self, name: str) -> np.ndarray:
        # Copying and unpickling ask for attributes of an object that has no fields yet: plain
        # access to ``self.curves`` would come back here without end.
        curves = self.__dict__.get("curves", {})
        nothing = f"nothing: {self.__dict__.get('stopped')}"
        if name in curves:
            return curves[name]
        raise AttributeError(
            f"this Path has no curve {name!r}; it recorded {', '.join(sorted(curves)) or nothing}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.curves]

    def __repr__(self) -> str:
        if not len(self):
            return f"Path(nothing recorded, stopped={self.stopped!r})"
        losses = f"loss {self.loss[0]:.3g} at step {self.steps[0]} → {self.loss[-1]:.3g} at step {self.steps[-1]}"
        return f"Path({len(self)} recorded steps, {losses}" + (
            f", stopped={self.stopped!r})" if self.stopped else ")"
        )

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, k: int) -> Any:
        return self.models[k]


def train(
    model: Model,
    data: Data,
    optimizer: Rule,
    steps: int,
    *,
    test: Data | None = None,
    record: int | Iterable[int] = 200,
    batch: int | None = None,
    seed: int = 0,
    only: str | Iterable[str] | None = None,
    compiled: bool | None = None,
) -> Path:
    """Run ``steps`` steps of ``optimizer`` from ``model`` on ``data``, with all samples or a
    minibatch in each.

    Raises ValueError or TypeError if sizes, labels, libraries or dtypes do not fit, or the rule
    takes no ``batch`` or no ``only``, before any step is taken; for a model that writes its loss
    alone also Untraceable (a TypeError) where the loss cannot be recorded, and ArithmeticError
    where its record is another function.

    Where there is a compiler, a model that writes its loss alone runs compiled, if its steps would
    take numpy more than about a second; so may a model that has a workspace of its own. A compiled
    run is equal up to rounding, and faster. The first one on a machine compiles, which takes a
    second or two. The same call gives the same bits, whatever ran before.

    Returns a ``Path``. If the loss or its gradient stops being finite, if the rule returns NaN, or
    if you interrupt the run (Ctrl-C, or the stop button of a notebook), the path up to there, with
    the reason in ``path.stopped``; a ``RuntimeWarning`` says the same.

    Parameters
    ----------
    model : the starting point, a dataclass that extends ``Vector``
    data : ``Samples``, or anything else with arrays ``X`` and ``y``; they decide between numpy and
        torch
    optimizer : ``GradientDescent``, ``Momentum``, ``Adam``, or any object with ``start`` and
        ``step``. A rule of your own sees models: θ and its gradient have ``arrays()``, ``map``,
        ``dot``, ``norm`` and ``+ − * / **``, with the shapes of ``model``, whatever computes. Both
        are copies of its own
    steps : how many updates, ≥ 0
    test : a second dataset, evaluated at the recorded steps only
    record : at most how many steps to record (half of them evenly, half geometrically spaced; the
        first and the last always), or the list of steps to record. Models are kept at the recorded
        steps.
    batch : how many samples the gradient of a step is made of; every step takes all of them unless
        you choose. Every pass over the data has a new order. The curves are those of all samples,
        but ``grad_norm`` is of the minibatch. ``Backtracking`` takes none
    seed : fixes the minibatches
    only : the names of the weights that move, such as ("w",); the others stay as they are. All move
        unless you choose. A rule that moves several weights as one takes no choice
    compiled : None compiles where that pays, by the arguments of the run alone; True compiles, or
        raises RuntimeError that says why it cannot; False leaves the work to numpy

    Examples
    --------
    >>> from livegrad.examples.logistic_regression import LogisticRegression, clouds
    >>> path = lg.train(LogisticRegression(np.zeros(2)), clouds(), lg.GradientDescent(lr=1.0), steps=200)
    >>> round(float(path.loss[0]), 4), bool(path.loss[-1] < 0.05)
    (0.6931, True)
    """
    path = run(model, data, optimizer, steps, test, record, batch, seed, only, compiled)
    if path.stopped:
        warnings.warn(path.stopped, RuntimeWarning, stacklevel=2)
    return path


def run(
    model: Model,
    data: Data,
    optimizer: Rule,
    steps: int,
    test: Data | None,
    record: int | Iterable[int],
    batch: int | None = None,
    seed: int = 0,
    only: str | Iterable[str] | None = None,
    compiled: bool | None = None,
) -> Path:
    """``train`` without its warning."""
    recorded = set(recorded_steps(steps, record))
    if compiled is not None and not isinstance(compiled, bool):
        raise TypeError(f"compiled: expected True, False or None, got {shown(compiled)}")
    _require_parts(model, optimizer, data=data, **({} if test is None else {"test": test}))
    optimizer = _given_data(optimizer, data)
    recorder = _Recorder(model, data, optimizer, test, steps, compiled)
    samples = _samples(data, optimizer, batch, seed)
    space, before = recorder.train_space, _known(model, data)
    require_gradient(model, data.X, data.y)
    if batch is not None:
        require_samples(model, data.X, data.y, batch)
    ask, step = _ask_and_step(model, data, optimizer, space, only)
    ask = _leaving_data(ask, model, data, before)
    own = _copied(model)  # the path keeps no array of the reader's
    # An entrywise rule steps on the workspace's form of θ, so its moments take that form; any other
    # sees models, and may keep or overwrite what it is given.
    state = optimizer.start(space.pack(own) if type(optimizer) in ENTRYWISE else _copied(own))
    walk = _Walk(ask, step, optimizer, recorder, recorded)
    path = recorder.records.path(walk.to(steps, state, samples, space.pack(own)))
    if walk.last is not None:
        require_end(path.models[-1], data.X, data.y)
    return path


def _copied(model):
    # A product copies an array in numpy and torch alike; each has its own method for a copy.
    return with_weights(model, {name: a * 1.0 for name, a in weights(model).items()})


def _ask_and_step(model, data, optimizer, workspace, only):
    """How a run asks for loss and gradient, and how it steps, for θ in the form of the
    workspace."""
    ask, step = partial(_loss_and_grad, workspace), optimizer.step
    if type(optimizer) not in ENTRYWISE:
        step = on_models(optimizer, workspace, model, data)
    if only is not None:
        _require_apart(optimizer)
        if not hasattr(model, "chosen"):
            raise TypeError(
                f"only: expected a model that extends livegrad.Vector, got a {type(model).__name__}"
            )
        step, ask = _holding(step, workspace, model, only), _restricted(ask, workspace, only)
    return ask, step


class _Point(NamedTuple):
    """A step of a run whose loss is finite: its number, its loss, θ, and the rows of its
    minibatch."""

    k: int
    loss: float
    theta: Any
    rows: Any


class _Walk:
    """The steps of a run: its first loss, and the last point of it whose loss was finite."""

    def __init__(
        self,
        ask: Callable[..., Any],
        step: Callable[..., Any],
        optimizer: Rule,
        recorder: "_Recorder",
        recorded: set[int],
    ) -> None:
        self.ask = ask
        self.step = step
        self.optimizer = optimizer
        self.recorder = recorder
        self.recorded = recorded
        self.first, self.start = np.inf, None
        self.last: _Point | None = None

    def to(self, steps: int, state: Any, samples: Iterable[Any], theta: Any) -> str | None:
        """Walk so many steps from θ, and say why, if they were fewer."""
        try:
            # A diverging run overflows many times on its way; it is reported once, as the reason
            # why it ended.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                stopped = self._walked(steps, state, samples, theta)
        except NotANumber as error:
            stopped = str(error)
        except KeyboardInterrupt:
            if self.last is None or _interrupts_raise.get():
                raise
            stopped = f"Interrupted after step {self.last.k}: the path up to there is kept."
        last = self.last
        if stopped and last is not None and last.k not in self.recorder.records.steps:
            # The gradient is computed anew: the workspace may have overwritten that of the step.
            self.recorder.add(last.k, last.theta, self.ask(last.theta, last.rows)[1])
        self._confirm()
        return stopped

    def _confirm(self):
        """Check that the loss is still computed by the formula that the run began with."""
        if self.last is not None:
            k, loss, theta, rows = self.last
            self.recorder.train_space.confirm(theta, loss, k, rows)

    def _walked(self, steps, state, samples, theta):
        # One evaluation more than updates, for the loss after the last; ``samples`` has no end.
        for k, rows in zip(range(steps + 1), samples, strict=False):
            value, grad = self.ask(theta, rows)
            loss = float(value)
            if not isfinite(loss):
                return self._why(k, loss, theta)
            self.last = _Point(k, loss, theta, rows)
            if k == 0:
                self.first, self.start = loss, theta
            if k in self.recorded:
                unknown = np.isnan(self.recorder.add(k, theta, grad))
                self._confirm()
                # A diverging run may overflow in its gradient a step before its loss: it goes on to
                # that step, and ends as one that overshot.
                if unknown and not self._diverging():
                    return nan_gradient(k, loss, theta, grad, self.recorder.train_space)
            if k < steps:
                before, (theta, state) = theta, self.step(theta, grad, state, k)
                if type(theta) is not type(before):
                    raise TypeError(
                        f"model: expected + − * of {type(before).__name__} to give a "
                        f"{type(before).__name__}, got a {type(theta).__name__}, whose loss may "
                        f"be another"
                    )
        return None

    def _diverging(self):
        """Whether loss or weights have grown so far that a gradient which is NaN has overflowed."""
        start, last = (
            max(
                abs(to_numpy(a)).max()
                for a in weights(self.recorder.train_space.unpack(theta)).values()
            )
            for theta in (self.start, self.last.theta)
        )
        return self.last.loss > 10 * self.first or last > GROWN * max(1.0, start)

    def _why(self, k, loss, theta):
        """Why the run ends at step k, whose loss is not finite."""
        last = self.last
        if last is None:
            return at_the_start(loss)
        _, grad = self.ask(last.theta, last.rows)
        undefined = nan_gradient(last.k, last.loss, last.theta, grad, self.recorder.train_space)
        return (
            undefined
            if undefined and not self._diverging()
            else overshot(
                k,
                self.optimizer,
                theta,
                last.theta,
                (self.first, last.loss),
                lambda there: float(self.ask(there, last.rows)[0]),
                self.recorder.train_space,
            )
        )


_interrupts_raise: ContextVar[bool] = ContextVar("interrupts_raise", default=False)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """In here an interrupt ends ``train`` with KeyboardInterrupt, for callers that must not mistake
    half a run for a whole one."""
    before = _interrupts_raise.set(True)
    try:
        yield
    finally:
        _interrupts_raise.reset(before)


def _given_data(optimizer, data):
    """The rule, which is told the data if it asks for them."""
    if not callable(getattr(optimizer, "on", None)):
        return optimizer
    rule = optimizer.on(data)
    _require_rule(rule, f"expected {type(optimizer).__name__}.on(data) to return an update rule")
    return rule


def minibatches(n: int, batch: int, seed: int) -> Iterator[np.ndarray]:
    """Rows of n samples in batches, without end: every pass in a new order, the last batch of a
    pass perhaps smaller.

    Examples
    --------
    >>> rows = minibatches(5, 2, seed=0)
    >>> sorted(np.concatenate([next(rows) for _ in range(3)]).tolist())
    [0, 1, 2, 3, 4]
    """
    for k in count():
        # The 7 keeps these draws apart from those of data, models and directions of one seed.
        order = np.random.default_rng([seed, 7, k]).permutation(n)
        yield from (order[at : at + batch] for at in range(0, n, batch))


def _samples(data, optimizer, batch, seed):
    """For every step the rows of its minibatch, or None for all samples; without end."""
    require_seed(seed)
    if batch is None:
        return repeat(None)
    require_count(batch=batch)
    n = len(data) if hasattr(data, "__len__") else _rows(data)  # type: ignore[arg-type]
    if n is None:
        raise ValueError(
            "batch: expected data of finitely many samples, with as many rows of X as of y, "
            f"got a {type(data).__name__}"
        )
    if getattr(optimizer, "whole", False):
        raise ValueError(
            "batch: expected no number with this rule, because it compares losses of all samples "
            f"with the slope of the gradient, which must be theirs too; got batch={batch} with "
            f"{type(optimizer).__name__}"
        )
    return minibatches(n, batch, seed)


def _rows(data):
    """How many samples data without a length have: as many as X and y have rows, or None."""
    if getattr(data, "infinite", False):
        return None
    n = {a.shape[0] if getattr(a, "ndim", 0) else None for a in (data.X, data.y)}
    return n.pop() if len(n) == 1 else None


def _loss_and_grad(workspace, theta, rows):
    """The loss and gradient of some rows, or of all samples."""
    return workspace.loss_and_grad(theta) if rows is None else workspace.partial(theta, rows)


def _known(model, data):
    """What the data are, if a loss may change them."""
    return None if is_vouched(type(model)) else fingerprint(data)


def _leaving_data(ask, model, data, before):
    """The same; its first call checks that the loss has left the data as they were before the
    run."""

    def leaving(theta, rows):
        nonlocal before
        found = ask(theta, rows)
        if before is not None and fingerprint(data) != before:
            raise TypeError(
                f"data: expected a loss of {type(model).__name__} that leaves X and y as they are, "
                "got others after its first call; make a new array, as in X = X - X.mean(0), in "
                "place of X -= X.mean(0), and load your data again"
            )
        before = None
        return found

    return leaving


def _restricted(ask, workspace, names):
    """The same loss with the gradient of some weights alone; those of the others are zero."""

    def restricted(theta, rows):
        loss, grad = ask(theta, rows)
        return loss, workspace.pack_unchecked(workspace.unpack(grad).only(names))

    return restricted


def _holding(step, workspace, model, names):
    """The same step, with all weights but some put back: weight decay moves a weight whose gradient
    is zero, too."""
    moving = model.chosen(names)
    held = {name: a for name, a in model.arrays().items() if name not in moving}

    def holding(theta, grad, state, k):
        theta, state = step(theta, grad, state, k)
        return workspace.pack_unchecked(workspace.unpack(theta).with_arrays(**held)), state

    return holding


def _require_apart(optimizer):
    if getattr(optimizer, "together", False):
        raise ValueError(
            "only: expected a rule that moves each weight by itself, such as "
            "GradientDescent(lr=0.1), "
            f"got {type(optimizer).__name__}, which moves all weights together"
        )


def _require_parts(model, optimizer, **datasets):
    if not hasattr(model, "loss_and_grad") or isinstance(model, type):
        raise TypeError(
            "model: expected a model, such as one of a dataclass that extends livegrad.Vector, got "
            f"{type(model).__name__}"
        )
    for name, data in datasets.items():
        if not (hasattr(data, "X") and hasattr(data, "y")):
            raise TypeError(
                f"{name}: expected a dataset with arrays X and y, got {type(data).__name__}; "
                "livegrad.Samples(X, y) makes one from arrays"
            )
        require_values("X", data.X)
        require_values("y", data.y)
        require_steady(name, data)
    require_weights("model", model)
    if type(model).loss_and_grad is Vector.loss_and_grad:  # others may read data of any kind
        for name, data in datasets.items():
            _require_one_kind(weights(model), {f"{name}.X": data.X, f"{name}.y": data.y})
    _require_rule(optimizer, "expected an update rule such as GradientDescent(lr=0.1)")
    _require_operators(model, optimizer)


def _require_one_kind(moving, given):
    """Check that weights and data are of one library and on one device, and those that are no whole
    numbers of one dtype: a step would turn the weights into others."""
    arrays = {**moving, **given}
    namespace(**arrays)
    require_same_dtype(**{name: a for name, a in arrays.items() if in_precision(a)})


def _require_operators(model, rule):
    """Check that a model has what a rule of the package does with points; all that extend
    ``Vector`` have."""
    needed = {GradientDescent: ["__rmul__"]}.get(type(rule), ["__rmul__", "__truediv__", "__pow__"])
    missing = (
        [name for name in needed if not hasattr(model, name)] if type(rule) in ENTRYWISE else []
    )
    if missing:
        raise TypeError(
            f"model: expected a point with + − * / **, a number on either side, as "
            f"{type(rule).__name__} asks for; got a {type(model).__name__} without "
            f"{', '.join(missing)}; extend "
            "livegrad.Vector, which has all of them"
        )


def _require_rule(rule, expected):
    if isinstance(rule, type):
        raise TypeError(
            f"optimizer: {expected}, got the class {rule.__name__}; write {rule.__name__}(…)"
        )
    if not (callable(getattr(rule, "start", None)) and callable(getattr(rule, "step", None))):
        raise TypeError(
            f"optimizer: {expected}, an object with start(theta) and step(theta, grad, state, k), "
            f"got {type(rule).__name__}"
        )


def recorded_steps(steps: int, record: int | Iterable[int]) -> Sequence[int]:
    """The steps that ``train`` records, in order, for its arguments ``steps`` and ``record``.

    Examples
    --------
    >>> recorded_steps(1000, 5)
    [0, 1, 500, 1000]
    >>> recorded_steps(3, 200)
    range(0, 4)
    """
    if not is_whole(steps) or not 0 <= steps <= MOST:
        raise ValueError(
            f"steps: expected a whole number ≥ 0, and at most {MOST:,}, got {shown(steps)}"
        )
    # An array of shape () has ``__iter__`` too, and counts as one number.
    if isinstance(record, Iterable) and getattr(record, "ndim", 1):
        record = list(record)
        outside = [
            k for k in record if not isinstance(k, Real) or not 0 <= k <= steps or k != int(k)
        ]
        if outside or not record:
            found = ", ".join(map(shown, outside[:3])) or "none"
            raise ValueError(f"record: expected whole numbers between 0 and {steps}, got {found}")
        return [int(k) for k in record]
    if not is_whole(record):
        raise TypeError(
            f"record: expected how many steps to record, or a list of them, got {shown(record)}"
        )
    if record < 2:
        raise ValueError(
            f"record: expected at least 2 recorded steps, the first and the last, got {record}"
        )
    if steps < record:
        return range(steps + 1)
    even = np.linspace(0, steps, record - record // 2)
    geometric = np.geomspace(steps, 1, record // 2)
    # The small geometric steps round to the same whole numbers: fewer than ``record`` may be left.
    return np.unique(np.rint(np.concatenate([even, geometric])).astype(int)).tolist()


def _space(model, data, optimizer, steps, compiled):
    """What a run computes on."""
    if not hasattr(model, "workspace_for"):
        if hasattr(model, "workspace"):
            return model.workspace(data.X, data.y).for_steps(steps, compiled)
        return Workspace(model, data.X, data.y).for_steps(steps, compiled)
    return model.workspace_for(
        data.X,
        data.y,
        entrywise=type(optimizer) in ENTRYWISE,
        steps=steps,
        compiled=compiled,
    )


def _test_space(model, test, optimizer, compiled):
    try:
        return _space(model, test, optimizer, 1, compiled)
    except (TypeError, ValueError) as error:
        raise type(error)(f"test: {error}") from None


class Records:
    """The rows of a Path in the making."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.models: list[Any] = []
        self.rows: list[dict[str, float]] = []

    def add(self, k: int, model: Any, row: dict[str, float]) -> None:
        """The model at step k and its row: name of a curve → number."""
        self.steps.append(k)
        self.models.append(model)
        # The row comes last, because ``path`` takes as many steps and models as there are rows.
        self.rows.append(row)

    def path(self, stopped: str | None) -> Path:
        """All rows, as a Path."""
        # an interrupt may leave a step without its row
        names, n = self.rows[0] if self.rows else (), len(self.rows)
        curves = {name: np.array([row[name] for row in self.rows]) for name in names}
        return Path(np.array(self.steps[:n], dtype=int), tuple(self.models[:n]), curves, stopped)


class _Recorder:
    """What a run computes on, and what it measures; everything costly happens here, at recorded
    steps only."""

    def __init__(
        self,
        model: Model,
        data: Data,
        optimizer: Rule,
        test: Data | None,
        steps: int,
        compiled: bool | None,
    ) -> None:
        self.train_space = _space(model, data, optimizer, steps, compiled)
        # A test set is asked at recorded steps alone: what it cannot be compiled for is no error.
        self.test_space = (
            None
            if test is None
            else _test_space(model, test, optimizer, None if compiled else compiled)
        )
        self.data, self.known = data, self.train_space.known(data)
        self.records = Records()

    def add(self, k: int, theta: Any, grad: Any) -> float:
        """Measure at step k, and give the norm of the gradient."""
        space = self.train_space
        model = space.unpack(theta)
        row = space.summary(theta, self.known) | {"grad_norm": space.grad_norm(grad)}
        own = space.norms(theta, model) | (
            model.against(self.data) if hasattr(model, "against") else {}
        )
        taken = sorted(name for name in own if name in row or name in OF_EVERY_PATH)
        if taken:
            raise ValueError(
                f"norms, against: expected names that a Path does not use itself, got "
                f"{', '.join(taken)}"
            )
        row |= own
        if self.test_space is not None:
            own = self.test_space.pack_unchecked(model)  # one may be compiled, and the other not
            row |= {f"test_{name}": value for name, value in self.test_space.summary(own).items()}
        self.records.add(k, model, row)
        return row["grad_norm"]
