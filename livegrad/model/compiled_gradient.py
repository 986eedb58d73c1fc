"""The derived gradient of a reader's own model, compiled where that is faster than numpy.

A program has the sizes of the model's weights as they are, and of its samples any number. It is
compared with numpy at a few samples in a process of its own, and at all of them here, before it is
used.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from livegrad.arrays import Array
from livegrad.model.axes import Axes
from livegrad.model.programs import parts, program, sizes_of
from livegrad.model.weights import layout, probe
from livegrad.record import Program, native
from livegrad.record.native import Unusable
from livegrad.record.numeric import Evaluator
from livegrad.record.trace import kind_of

Executor = Callable[[Mapping[str, np.ndarray]], list[Any]]
"""What gives a loss and its derivatives, from weights and samples by name."""
SECONDS_A_STEP, SECONDS_AN_ENTRY = 5e-6, 1e-9
"""Roughly how long numpy takes for a step of a record, and for each number that it computes."""
WORTH = 1.0
"""A program is compiled, which takes a second or two, if numpy would work for longer than this."""
LONGEST = 2000
"""Steps of a record beyond which a compiler takes too long."""
LARGEST = 1 << 28
"""Bytes of a program beyond which numpy does the work."""
WIDEST = 128
"""Length of an axis of a weight beyond which numpy's products of matrices are faster."""
TOLERANCE = 1e-9
RECORDED_AT = {"n": 101}, {"n": 211}
"""Two numbers of samples that are primes, and hardly the length of another axis or a number of the
formula: what is equal to one would be taken for it at the first, and not at the second."""


def chosen(
    compiled: bool | None, name: str, program: Callable[[], Any], plain: Callable[[], Any]
) -> Any:
    """What ``program`` makes, or where that raises Unusable, what ``plain`` does.

    Raises Unusable where a program is asked for, and there is none.
    """
    try:
        if compiled is False:
            raise Unusable("compiled=False")
        return program()
    except Unusable as error:
        if compiled:
            raise Unusable(f"compiled: expected a run that can be compiled; {error}") from None
        native.note(name, str(error))
        return plain()


def compiled_or(
    evaluator: Evaluator, model: Any, X: Array, y: Array, steps: int, compiled: bool | None = None
) -> Executor:
    """The gradient of a model on some samples, compiled; ``evaluator``, which does the same, where
    numpy is to do it.

    Which of the two depends on the arguments, and what ``livegrad.record.native`` finds on this
    machine. For ``steps = 0`` it is always numpy; that also ends the recursion when a program is
    compared with numpy's gradient of its examples.

    Raises as ``chosen``.
    """
    if steps == 0:
        return evaluator

    def program():
        if not compiled:
            require_worth(evaluator, steps, "steps")
        return _compiled(evaluator, model, X, y)

    return chosen(compiled, type(model).__name__, program, lambda: evaluator)


def require_worth(evaluator: Evaluator, count: int, what: str) -> None:
    """Raise Unusable where numpy takes less for so many evaluations than a compiler."""
    seconds = count * (SECONDS_A_STEP * evaluator.steps + SECONDS_AN_ENTRY * evaluator.entries)
    if seconds <= WORTH:
        raise Unusable(
            f"{count:,} {what} take it less than a compiler takes; compiled=True compiles them"
        )


def require_form(evaluator: Evaluator, model: Any, X: Array, y: Array) -> None:
    """Raise Unusable for a record, a model or samples that have no program."""
    if evaluator.steps > LONGEST:
        raise Unusable(f"its record has {evaluator.steps:,} steps, too many for a compiler")
    # Truth values and whole numbers become doubles where they are loaded.
    samples = [a for a in (X, y) if type(a) is not np.ndarray or a.dtype.kind == "f"]
    require_doubles(*samples, *model.arrays().values())
    if not (X.ndim and y.ndim and len(X) == len(y) > 0):
        raise Unusable("X and y have not one row for each sample")
    if any(length > WIDEST for a in model.arrays().values() for length in a.shape):
        raise Unusable(f"of weights with more than {WIDEST} rows its products are faster")


def _compiled(evaluator, model, X, y):
    """The program; Unusable is raised where there is none."""
    require_form(evaluator, model, X, y)
    own = _program(model, X, y)
    library = native.library(own)

    def of_samples(n):
        require_room(library, own, {"n": n})
        return Gradient(native.Arena(library, own, {"n": n}), parts("theta_", model))

    found = Compiled(of_samples(len(X)), evaluator, of_samples)
    if not found.is_right(own.examples[0] | {"X": X, "y": y}):
        native.refuse(own, f"of all {len(X)} samples it gives another gradient than numpy")
    return found


def require_doubles(*arrays: Array) -> None:
    """Raise Unusable unless all are arrays of numpy in double precision."""
    if any(type(a) is not np.ndarray or a.dtype != float for a in arrays):
        raise Unusable("programs compute on arrays of numpy in double precision")


def require_room(library: native.Library, program: Program, sizes: Mapping[str, int]) -> None:
    """Raise Unusable where the memory of a program is that large that numpy, which divides the work
    into parts, does it."""
    if library.bytes(program, sizes) > LARGEST:
        raise Unusable("so many samples do not fit into a program's memory")


def _program(model, X, y):
    """The program of a model's loss and its derivatives."""

    def formulas(a):
        loss, grad = point_of(model, a, "theta_").loss_and_grad(a["X"], a["y"])
        return {"gradient": {"loss": loss} | parts("dtheta_", grad)}

    return own_program(model, X, y, formulas, {"theta": ""}, {"slope": "d"}, type(model).__name__)


def point_of(model: Any, a: Mapping[str, Any], prefix: str) -> Any:
    """The point whose weights are the arrays of these names."""
    return model.with_arrays(**{name: a[f"{prefix}{name}"] for name in model.arrays()})


def own_program(
    model: Any,
    X: Array,
    y: Array,
    formulas: Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]]],
    reads: Mapping[str, str],
    writes: Mapping[str, str],
    name: str,
) -> Program:
    """A program of a reader's own model; of its sizes only the number of samples is open.

    ``reads`` and ``writes`` are as in ``programs.program``, of weights that are called
    ``theta_W``.
    """
    axes = Axes(
        {f"theta_{name}": sizes_of(a.shape) for name, a in model.arrays().items()},
        {"X": f"n {sizes_of(X.shape[1:])}", "y": f"n {sizes_of(y.shape[1:])}"},
    )

    def example(samples, by):
        """The weights moved a little, and the first samples; directions are other numbers."""
        beside = model.map(lambda a: a + by * probe(a.shape))
        found = {"X": X[:samples].copy(), "y": y[:samples].copy()}
        for prefix in reads.values():
            found |= parts(f"{prefix}theta_", beside)
            beside = model.map(lambda a: probe(a.shape, first=3))
        return found

    return program(
        axes,
        formulas,
        reads,
        writes,
        name=name,
        # The number of samples is the one open size: two values of it show that nothing depends on
        # one.
        examples=[example(9, 0.1), example(4, -0.1)],
        kinds={"X": kind_of(X), "y": kind_of(y)},
        recorded_at=RECORDED_AT,
    )


class Gradient:
    """The entry ``gradient`` of a program, whose weights lie one after the other in ``theta``, and
    their derivatives in ``slope``."""

    def __init__(self, arena: native.Arena, weights: Mapping[str, np.ndarray]) -> None:
        self._arena, self._ask = arena, arena.entry("gradient")
        self._theta, self._slope = arena.array("theta"), arena.array("slope")
        self._parts = layout(weights)
        self._samples: tuple[Any, Any] = None, None

    def load(self, X: Array, y: Array) -> None:
        """Read the samples, unless they are the ones that were read last."""
        if X is not self._samples[0] or y is not self._samples[1]:
            self._arena.load(X=X, y=y)
            self._samples = X, y

    def __call__(self, weights: Mapping[str, np.ndarray]) -> tuple[float, dict[str, np.ndarray]]:
        """The loss, and by the names of the weights its derivatives, which own their arrays."""
        for name, (part, _) in self._parts.items():
            self._theta[part] = weights[name].ravel()
        loss = self._ask()
        return loss, {
            name: self._slope[part].reshape(shape).copy()
            for name, (part, shape) in self._parts.items()
        }

    def at(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its derivatives for all weights in one array."""
        self._theta[:] = theta
        return self._ask(), self._slope.copy()


class Compiled:
    """Loss and derivatives by a program, called as the ``Evaluator`` is; what is not finite is
    numpy's to say."""

    def __init__(
        self,
        gradient: Gradient,
        evaluator: Evaluator,
        of_samples: Callable[[int], Gradient],
    ) -> None:
        self._gradient, self._evaluator, self._of_samples = gradient, evaluator, of_samples

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> list[Any]:
        """The loss and its derivatives, which own their arrays."""
        self._gradient.load(inputs["X"], inputs["y"])
        loss, slopes = self._gradient(inputs)
        # A term that is not finite leaves no sum finite; a sum that overflows by itself only costs
        # a second computation.
        if not np.isfinite(loss + sum(slope.sum() for slope in slopes.values())):
            return self._evaluator(inputs)
        return [loss, *slopes.values()]

    def at(self, theta: np.ndarray, X: Array, y: Array) -> tuple[Any, np.ndarray] | None:
        """The same for all weights in one array; None where it is numpy's to say."""
        self._gradient.load(X, y)
        loss, slope = self._gradient.at(theta)
        return (loss, slope) if np.isfinite(loss + slope.sum()) else None

    def losses(self, X: Array, y: Array) -> Callable[[Mapping[str, np.ndarray]], float]:
        """The loss of other samples of the same form, as a function of the weights.

        Raises Unusable where they are too many for a program's memory.
        """
        gradient = self._of_samples(len(X))
        gradient.load(X, y)
        # With its derivatives: an entry for the loss alone would take a compiler half as long again.
        return lambda weights: gradient(weights)[0]

    def is_right(self, inputs: Mapping[str, np.ndarray]) -> bool:
        """Whether it gives what numpy gives."""
        loss, *slopes = self(inputs)
        wanted, *others = self._evaluator(inputs)
        # One scale for all: a derivative that is zero but for rounding has none of its own.
        scale = max(np.abs(slope).max(initial=0.0) for slope in others)
        return bool(
            abs(loss - wanted) <= TOLERANCE * max(abs(wanted), scale)
            and all(
                np.abs(one - other).max(initial=0.0) <= TOLERANCE * scale
                for one, other in zip(slopes, others, strict=True)
            )
        )
