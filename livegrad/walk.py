"""The steps of a run, and what it records on its way."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import to_numpy
from livegrad.model.weights import weights, with_weights
from livegrad.model.workspace import Workspace
from livegrad.optim import ENTRYWISE, Rule
from livegrad.own_rule import NotANumber, leaves_all
from livegrad.path import Path, Records, RunState
from livegrad.stopping import INTERRUPTED, at_the_start, nan_gradient, overshot
from livegrad.watching import Watch

OF_EVERY_PATH = (
    *("steps", "models", "curves", "stopped", "state", "save"),
    *("loss", "grad_norm", "test_loss"),
)
"""Names that what a model measures cannot have."""
GROWN = 1e3
"""Weights that are so many times as large as at the start, and as 1, are those of a run that
diverges."""


class _Point(NamedTuple):
    """A step of a run whose loss is finite: its number, its loss, θ, and the rows of its
    minibatch."""

    k: int
    loss: float
    theta: Any
    rows: Any


class Walk:
    """The steps of a run: its first loss, and the last point of it whose loss was finite."""

    def __init__(
        self,
        ask: Callable[..., Any],
        step: Callable[..., Any],
        optimizer: Rule,
        recorder: "Recorder",
        recorded: set[int],
        confirmed: set[int],
        watching: Watch,
    ) -> None:
        self.ask = ask
        self.step = step
        self.optimizer = optimizer
        self.recorder = recorder
        self.recorded = recorded
        # where the loss is compared with the formula
        self.confirmed = confirmed
        self.watching = watching
        self.entrywise: bool = type(optimizer) in ENTRYWISE
        self.trusted: bool = leaves_all(optimizer)
        # Where the run stands before it asks for the loss of step k: k, θ, and what the rule
        # remembers, in the form that its step takes.
        self.here: tuple[int, Any, Any] | None = None
        self.last: _Point | None = None
        self.first: float | None = None
        self.start: Any = None
        self.given: Any = None

    def to(
        self, steps: int, state: RunState, samples: Callable[[int], Iterable[Any]], start: Any
    ) -> Path:
        """Walk from a state to this step, and give the path, which says why if it ends before.

        ``start`` is θ at step 0.
        """
        self.first, self.start, self.given = state.first_loss, start, state.recipe
        space = self.recorder.train_space
        # An entrywise rule steps on the workspace's form of θ, so its moments take that form; any
        # other sees models, and may keep or overwrite what it is given.
        memory = state.memory
        if self.entrywise:
            memory = _each(space.pack_unchecked, memory)
        here = state.k, space.pack_unchecked(state.model), memory
        try:
            # A diverging run overflows many times on its way; it is reported once, as the reason
            # why it ended.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                stopped = self._walked(steps, here, samples(state.k))
        except NotANumber as error:
            stopped = str(error)
        except KeyboardInterrupt:
            if self.last is None or _interrupts_raise.get():
                raise
            stopped = f"{INTERRUPTED} {self.last.k}: the path up to there is kept."
        last = self.last
        if stopped and last is not None and last.k not in self.recorder.records.steps:
            # The gradient is computed anew: the workspace may have overwritten that of the step.
            self.recorder.add(last.k, last.theta, self.ask(last.theta, last.rows)[1])
        self._confirm()
        path = self.path(stopped)
        if self.watching.file is not None and path.state is not None:
            path.save(self.watching.file)
        return path

    def path(self, stopped: str | None = None) -> Path:
        """All that was recorded until here, and the state to go on from."""
        return self.recorder.records.path(stopped, self.state())

    def state(self) -> RunState | None:
        """Where the run stands, in models; None if that is not known."""
        if self.here is None:
            return None
        unpack = self.recorder.train_space.unpack
        k, theta, memory = self.here
        if self.entrywise:
            memory = _each(unpack, memory)
        # a copy: the workspace's model may be the one that was recorded, which a reader may write into
        return RunState(k, copied(unpack(theta)), memory, self.first, self.given)

    def _so_far(self):
        """The same for others to look at and to write into, while the run goes on."""
        path = self.path()
        models = (*path.models[:-1], *map(copied, path.models[-1:]))
        return replace(path, models=models, state=path.state and path.state.copied())

    def _confirm(self):
        """Check that the loss is still computed by the formula that the run began with."""
        if self.last is not None:
            k, loss, theta, rows = self.last
            self.recorder.train_space.confirm(theta, loss, k, rows)

    def _walked(self, steps, here, samples):
        # One evaluation more than updates, for the loss after the last; ``samples`` has no end.
        begun, theta, memory = here
        for k, rows in zip(range(begun, steps + 1), samples, strict=False):
            self.here = k, theta, memory
            value, grad = self.ask(theta, rows)
            loss = float(value)
            if not isfinite(loss):
                self.here = None
                return self._why(k, loss, theta)
            self.last = _Point(k, loss, theta, rows)
            if self.first is None:
                self.first = loss
            new = k in self.recorded and k not in self.recorder.records.steps[-1:]
            unknown = new and np.isnan(self.recorder.add(k, theta, grad))
            if k in self.confirmed:
                self._confirm()
            # A diverging run may overflow in its gradient a step before its loss: it goes on to
            # that step, and ends as one that overshot.
            if unknown and not self._diverging():
                self.here = None
                return nan_gradient(k, loss, theta, grad, self.recorder.train_space)
            if asked := self.watching.at(k, new, self._so_far):
                return asked
            if k < steps:
                theta, memory = self._stepped(theta, grad, memory, k)
        return None

    def _stepped(self, before, grad, memory, k):
        """θ and what the rule remembers, a step further."""
        if not self.trusted:
            # It may write into what it remembers: in the middle of a step that is no state.
            self.here = None
        theta, memory = self.step(before, grad, memory, k)
        if type(theta) is not type(before):
            raise TypeError(
                f"model: expected + − * of {type(before).__name__} to give a "
                f"{type(before).__name__}, got a {type(theta).__name__}, whose loss may "
                f"be another"
            )
        return theta, memory

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
            return at_the_start(loss, k)
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


def _each(function, memory):
    """What an entrywise rule remembers, nothing or points, in another form."""
    if isinstance(memory, tuple):
        return tuple(map(function, memory))
    return None if memory is None else function(memory)


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


def copied(model: Any) -> Any:
    """A model like this one, with arrays of its own."""
    # A product copies an array in numpy and torch alike; each has its own method for a copy.
    return with_weights(model, {name: a * 1.0 for name, a in weights(model).items()})


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


class Recorder:
    """What a run computes on, and what it measures; everything costly happens here, at recorded
    steps only."""

    def __init__(
        self,
        model: Any,
        data: Any,
        optimizer: Rule,
        test: Any,
        steps: int,
        compiled: bool | None,
    ) -> None:
        self.train_space: Workspace = _space(model, data, optimizer, steps, compiled)
        # A test set is asked at recorded steps alone: what it cannot be compiled for is no error.
        self.test_space: Workspace | None = (
            None
            if test is None
            else _test_space(model, test, optimizer, None if compiled else compiled)
        )
        if self.test_space is not None:
            self.test_space.follow(self.train_space)
        self.data: Any = data
        self.known: Any = self.train_space.known(data)
        self.records: Records = Records()

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
