"""``train``: full-batch steps from a model, on a dataset, by an update rule, to the ``Path`` they
leave."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, repeat
from numbers import Real
from os import PathLike
from typing import Any, Protocol, Self, TypeVar

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
)
from livegrad.model.contract import cure_of_module, require_dataset, require_weights
from livegrad.model.given_gradient import require_end, require_gradient, require_samples
from livegrad.model.vector import Vector
from livegrad.model.weights import weights
from livegrad.optim import ENTRYWISE, GradientDescent, Rule
from livegrad.optim.clipping import name_of
from livegrad.own_rule import fingerprint, leaves_all, on_models, require_steady
from livegrad.path import Path as Path  # read from here, too
from livegrad.path import Records, RunState
from livegrad.recipe import recipe, resumed
from livegrad.stopping import BY_CALLBACK, INTERRUPTED
from livegrad.vouched import is_vouched
from livegrad.walk import Recorder, Walk, copied
from livegrad.watching import NOBODY, Watch, watch

CONFIRMED = 200
"""At so many steps a run that asks the reader's own code in between, and at each that it records,
compares the loss with the one that it began with."""


class Model(Protocol):
    """What ``train`` asks of a model: a point of a vector space that knows its loss. ``Vector`` has
    all but the loss.

    The arguments of a loss are what the data have as X and y. A model may have more: a faster
    ``workspace(X, y)``, and ``norms()`` and ``against(data)`` to be recorded.
    """

    def loss(self, X: Any, y: Any, /) -> Any:
        """The mean loss, a number."""

    def loss_and_grad(self, X: Any, y: Any, /) -> tuple[Any, Self]:
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


Point = TypeVar("Point", bound=Model)
"""The class of a model, which its path has as well."""


def train(
    model: Point,
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
    resume: Path[Any] | None = None,
    callback: Callable[[Path[Point]], Any] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    every: int | None = None,
) -> Path[Point]:
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

    A run that was stopped goes on by the same call with ``resume=path``. The path that it returns
    is that of one long run, bit by bit, if the same engine computed both parts: that is so with the
    same ``steps``, and with ``compiled=True`` or ``False`` for both. Otherwise the first part may
    have been too short to be compiled, and the two differ by rounding, which an unstable run
    enlarges. The rule sees the number of each step, and so does its schedule, as if there had been
    no stop. What a rule of your own, or a function of the step, keeps in itself and not in its
    state is not carried over.

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
    resume : the path of an earlier run, which this one goes on with: model, data, test, batch, seed
        and only are the same, and the rule is of the same class; its settings hold from there on.
        ``steps`` counts from the start of that run, so it is larger than ``resume.state.k``. The
        path that is returned begins with all that ``resume`` recorded, and has from there on the
        steps that one long run records: with the same ``steps`` and ``record`` in both calls it has
        these alone. A step that was recorded because an interrupt came is left out again
    callback : a function that is called at each recorded step with the path so far, its state
        included; the run stops there if it returns True
    checkpoint : a file that the path so far is saved in, every so many steps and at the end. After
        a crash, ``resume=load(checkpoint)`` goes on from there
    every : how many steps lie between two savings, 1,000 unless you choose

    Examples
    --------
    >>> from livegrad.examples.logistic_regression import LogisticRegression, clouds
    >>> path = lg.train(LogisticRegression(np.zeros(2)), clouds(), lg.GradientDescent(lr=1.0), steps=200)
    >>> round(float(path.loss[0]), 4), bool(path.loss[-1] < 0.05)
    (0.6931, True)
    """
    path = run(
        model,
        data,
        optimizer,
        steps,
        test,
        record,
        batch,
        seed,
        only,
        compiled,
        resume,
        watch(callback, checkpoint, every),
    )
    if path.stopped and not path.stopped.startswith(BY_CALLBACK):
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
    resume: Path | None = None,
    watching: Watch = NOBODY,
) -> Path:
    """``train`` without its warning."""
    recorded = set(recorded_steps(steps, record))
    require_compiled(compiled)
    _require_parts(model, optimizer, data=data, **({} if test is None else {"test": test}))
    chosen, optimizer = optimizer, _given_data(optimizer, data)
    recorder = Recorder(model, data, optimizer, test, steps, compiled)
    samples = _samples(data, optimizer, batch, seed)
    space, before = recorder.train_space, _known(model, data)
    require_gradient(model, data.X, data.y)
    if batch is not None:
        require_samples(model, data.X, data.y, batch)
    ask, step = _ask_and_step(model, data, optimizer, space, only)
    ask = _leaving_data(ask, model, data, before)
    own = copied(model)  # the path keeps no array of the reader's
    given = recipe(model, data, test, chosen, batch, seed, only)
    if resume is None:
        state = RunState(0, own, optimizer.start(copied(own)), None, given)
    else:
        state = resumed(resume, given, own, steps)
        recorder.records = Records(_without_interrupt(resume, recorded))
    confirmed = recorded
    if _asks_others(optimizer):
        # What a loss reads may change between few recorded steps, too, and be as before at each.
        confirmed = recorded.union(recorded_steps(steps, CONFIRMED))
    walk = Walk(ask, step, optimizer, recorder, recorded, confirmed, watching)
    path = walk.to(steps, state, samples, space.pack(own))
    if walk.last is not None:
        require_end(path.models[-1], data.X, data.y)
    return path


def _without_interrupt(path, recorded):
    """A path to go on from, without the step that was recorded only because an interrupt ended the
    run there."""
    if not (path.stopped or "").startswith(INTERRUPTED) or int(path.steps[-1]) in recorded:
        return path
    curves = {name: a[:-1] for name, a in path.curves.items()}
    return replace(path, steps=path.steps[:-1], models=path.models[:-1], curves=curves)


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


def _asks_others(optimizer):
    """Whether a step runs code that may change what a loss reads: a rule of the reader's own, or a
    step size that is a function."""
    rule = getattr(optimizer, "rule", optimizer)
    return not leaves_all(optimizer) or callable(getattr(rule, "lr", None))


def _given_data(optimizer, data):
    """The rule, which is told the data if it asks for them."""
    if not callable(getattr(optimizer, "on", None)):
        return optimizer
    rule = optimizer.on(data)
    _require_rule(rule, f"expected {type(optimizer).__name__}.on(data) to return an update rule")
    return rule


def minibatches(n: int, batch: int, seed: int, first: int = 0) -> Iterator[np.ndarray]:
    """Rows of n samples in batches, from number ``first`` on and without end: every pass in a new
    order, the last batch of a pass perhaps smaller.

    Examples
    --------
    >>> rows = minibatches(5, 2, seed=0)
    >>> sorted(np.concatenate([next(rows) for _ in range(3)]).tolist())
    [0, 1, 2, 3, 4]
    """
    begun, within = divmod(first, -(-n // batch))
    for k in count(begun):
        # The 7 keeps these draws apart from those of data, models and directions of one seed.
        order = np.random.default_rng([seed, 7, k]).permutation(n)
        yield from (order[at : at + batch] for at in range(within * batch, n, batch))
        within = 0


def _samples(data, optimizer, batch, seed):
    """From the number of a step on, for each the rows of its minibatch, or None for all samples;
    without end."""
    require_seed(seed)
    if batch is None:
        return lambda first: repeat(None)
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
    return partial(minibatches, n, batch, seed)


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
            f"got {name_of(optimizer)}, which moves all weights together"
        )


def require_compiled(compiled: Any) -> None:
    """Check that it says whether to compile, or leaves it open."""
    if compiled is not None and not isinstance(compiled, bool):
        raise TypeError(f"compiled: expected True, False or None, got {shown(compiled)}")


def _require_parts(model, optimizer, **datasets):
    if not hasattr(model, "loss_and_grad") or isinstance(model, type):
        raise TypeError(
            "model: expected a model, such as one of a dataclass that extends livegrad.Vector, got "
            f"{type(model).__name__}{cure_of_module(model)}"
        )
    for name, data in datasets.items():
        require_dataset(name, data)
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
    # Half precision is one of weights; of data it is read as whole numbers are.
    single = {name: a for name, a in moving.items() if a.dtype.itemsize <= 8}
    require_same_dtype(**single, **{name: a for name, a in given.items() if in_precision(a)})


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
        inside, outside = [], []
        for k in record:
            fits = isinstance(k, Real) and 0 <= k <= steps and k == int(k)
            (inside if fits else outside).append(k)
            if len(outside) == 3:
                break
        if outside or not inside:
            found = ", ".join(map(shown, outside)) or "none"
            raise ValueError(f"record: expected whole numbers between 0 and {steps}, got {found}")
        return [int(k) for k in inside]
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
