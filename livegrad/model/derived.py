"""Derivatives of a model that writes its loss alone: from a record, or by torch where the
weights are its tensors."""

from collections.abc import Callable
from copy import copy
from threading import local
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from livegrad.arrays import Array, derivable, is_tensor, shown, torch_gradient, torch_hvp
from livegrad.model.algebra import Algebra
from livegrad.model.compiled_gradient import TOLERANCE, Compiled, Executor, compiled_or
from livegrad.model.compiled_hessian import products_or
from livegrad.model.weights import (
    attributes,
    layout,
    probe,
    require_array_where_said,
    require_left,
    require_moving,
)
from livegrad.model.workspace import Workspace
from livegrad.record.derivatives import gradient
from livegrad.record.native import Unusable
from livegrad.record.numeric import Evaluator, evaluate, origin
from livegrad.record.trace import HIDDEN, Traced, array, kind_of, strictly, topological

OF_EVERY_MODEL = [
    *(f"__{name}__" for name in ("add", "radd", "sub", "rsub", "mul", "rmul", "neg", "pow")),
    *("__truediv__", "__rtruediv__", "_apply", "_with", "arrays", "with_arrays"),
]
"""What a model may not write anew, if its weights are to move in one array."""


def derived_loss_and_grad(model: Any, X: Array, y: Array) -> tuple[Any, Any]:
    """The loss of a model and its gradient, derived from what ``model.loss`` does.

    Of recorded arrays it is recorded, too: that is how a program comes to the gradient of a loss.

    Raises Untraceable (a TypeError) where ``loss`` does what cannot be recorded, ArithmeticError
    where the record is another function than ``loss``.
    """
    if _is_recorded(model):
        loss, *slopes = _recorded_slopes(model, X, y)
        return loss, model.with_arrays(**dict(zip(model.arrays(), slopes, strict=True)))
    if _on_torch(model):
        return Derived(model, X, y).loss_and_grad(model)
    found = _recorded_once("gradient", model, X, y, _record_gradient)
    loss, *slopes = found.derivatives(_values("theta", model) | {"X": X, "y": y})
    return loss, _filled(model, slopes)


def _recorded_slopes(model, X, y):
    """The loss of recorded arrays, and its derivatives."""
    loss = model.loss(X, y)
    return [loss, *gradient(loss, list(model.arrays().values()))]


class _Recorded(NamedTuple):
    """What computes derivatives; what the formula gives, too, and is compared with it; and what the
    model held beside its weights."""

    derivatives: Evaluator
    formula: Evaluator
    settings: dict[str, Any]


class _Memory(local):
    """What was recorded last, of each class; in each thread by itself."""

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[type, dict[str, dict[Any, _Recorded]]] = WeakKeyDictionary()


_memory = _Memory()
REMEMBERED = 4
"""So many records of a class are kept, of other shapes or settings."""


def _recorded_once(what, model, X, y, record):
    """What computes some derivatives: recorded before, if the formula is still the one that was."""
    known = _memory.of.setdefault(type(model), {}).setdefault(what, {})
    key = _key(model, X, y)
    found = known.pop(key, None)
    if found is None or not all(
        _is_still(found, what, point, X, y) for point in (model, _beside(model))
    ):
        found = _Recorded(*map(Evaluator, record(model, X, y)), _settings(model))
    known[key] = found  # the last of them
    while len(known) > REMEMBERED:
        del known[next(iter(known))]
    return found


def _record_gradient(model, X, y):
    loss, *slopes = _loss_and_slopes(model, X, y, _inputs("theta", model))
    return [loss, *slopes], [loss]


def _key(model, X, y):
    """What a record depends on: formulas, shapes and dtypes, and what the model holds beside its
    weights."""
    arrays = model.arrays() | {"X": X, "y": y}
    kind = type(model)
    return (
        getattr(kind, "loss", None),
        kind.loss_and_grad,
        *((name, a.shape, a.dtype) for name, a in arrays.items()),
        *((name, _value(a)) for name, a in _settings(model).items()),
    )


def _settings(model):
    """What a model holds beside its weights."""
    return {name: a for name, a in attributes(model).items() if name not in model.arrays()}


def _value(setting):
    """A number or a text by itself; another object by which one it is, while the record keeps
    it."""
    return setting if isinstance(setting, (bool, int, float, str)) else id(setting)


def _is_still(recorded, what, model, X, y):
    """Whether the record gives what the formula gives, to the last few digits: a variable that it
    reads may have changed."""
    rounding = 4096 * max(np.finfo(a.dtype).eps for a in model.arrays().values())
    with np.errstate(all="ignore"):
        found = recorded.formula(_values("theta", model) | {"X": X, "y": y})
        wanted = (
            model.loss_and_grad(X, y)[1].arrays().values() if what == CLOSED else [model.loss(X, y)]
        )
        return all(
            np.allclose(
                a, b, rtol=rounding, atol=rounding * np.abs(b).max(initial=0.0), equal_nan=True
            )
            for a, b in zip(found, wanted, strict=True)
        )


OF_LOSS, CLOSED = "Hessian", "Hessian of a closed form"


def derived_hessian(model: Any, X: Array, y: Array, closed: bool) -> Callable[[Any], Any]:
    r"""The map V ↦ ∇²L(θ) V at a model: the gradient of ⟨∇L(θ), V⟩.

    ∇L is the model's ``loss_and_grad`` if that is a ``closed`` form, else the derivative of its
    ``loss``. Of recorded arrays the product is recorded, too.

    Raises as ``derived_loss_and_grad``.
    """
    return derived_hessians(model, X, y, closed)(model)


def derived_hessians(
    model: Any,
    X: Array,
    y: Array,
    closed: bool,
    products: int = 0,
    compiled: bool | None = None,
) -> Callable[[Any], Callable[[Any], Any]]:
    """The map θ ↦ (V ↦ ∇²L(θ) V) at a model and others of its class: recorded once, and compiled
    where so many ``products`` take numpy longer than a compiler.

    Raises as ``derived_loss_and_grad``; RuntimeError where a program is asked for, and there is
    none.
    """
    if _is_recorded(model):
        return lambda theta: lambda V: _recorded_product(theta, X, y, closed, V)
    if _on_torch(model):
        return lambda theta: (
            lambda V: theta.with_arrays(
                **torch_hvp(_loss_of(theta, X, y), theta.arrays(), V.arrays())
            )
        )
    what, key = CLOSED if closed else OF_LOSS, _key(model, X, y)
    recorded = _recorded_once(
        what, model, X, y, _record_closed_hessian if closed else _record_hessian
    )
    product = products_or(recorded.derivatives, model, X, y, products, compiled)

    def at(theta):
        # Other settings, or a formula that has changed in between, have a record of their own.
        if theta is not model and not (
            _key(theta, X, y) == key and _is_still(recorded, what, theta, X, y)
        ):
            return derived_hessians(theta, X, y, closed, products, compiled)(theta)
        known = _values("theta", theta) | {"X": X, "y": y}

        def hessian(V):
            theta.require_direction(V)
            return _filled(theta, product(known | _values("along", V)))

        return hessian

    return at


def _recorded_product(model, X, y, closed, V):
    """The product of a Hessian with a direction, both recorded."""
    slopes = (
        model.loss_and_grad(X, y)[1].arrays().values()
        if closed
        else _recorded_slopes(model, X, y)[1:]
    )
    names, theta = zip(*model.arrays().items(), strict=True)
    return model.with_arrays(
        **dict(zip(names, _along(slopes, V.arrays().values(), theta), strict=True))
    )


def _along(slopes, direction, theta):
    """The derivatives of ⟨slopes, direction⟩."""
    along = sum((slope * v).sum() for slope, v in zip(slopes, direction, strict=True))
    return gradient(along, list(theta))


def _record_hessian(model, X, y):
    theta, direction = _inputs("theta", model), _inputs("along", model)
    loss, *slopes = _loss_and_slopes(model, X, y, theta)
    with strictly():
        return _along(slopes, direction.values(), theta.values()), [loss]


def _record_closed_hessian(model, X, y):
    theta, direction = _inputs("theta", model), _inputs("along", model)
    slopes = _closed(model, X, y, theta)
    with strictly():
        return _along(slopes, direction.values(), theta.values()), slopes


def _closed(model, X, y, theta):
    """The derivatives that ``loss_and_grad`` gives, recorded, and compared with it."""
    with strictly():
        slopes = (
            model.with_arrays(**theta).loss_and_grad(_input("X", X), _input("y", y))[1].arrays()
        )
    found = evaluate(list(slopes.values()), _values("theta", model) | {"X": X, "y": y})
    wanted = model.loss_and_grad(X, y)[1].arrays()
    for (name, a), number in zip(wanted.items(), found, strict=True):
        if not np.allclose(
            number, a, rtol=np.finfo(a.dtype).eps ** 0.5, atol=1e-12, equal_nan=True
        ):
            raise ArithmeticError(
                f"the gradient in {name} is another one by loss_and_grad than by the record from "
                f"which the Hessian is derived: {HIDDEN}"
            )
    return list(slopes.values())


def derived_gauss_newton(model: Any, X: Array, y: Array) -> Callable[[Any], Any]:
    """The map V ↦ Jᵀ H J V at a model: J is the Jacobian of its outputs in the weights, and H the
    Hessian of its loss in the outputs; from a record of each.

    Raises as ``Vector.gauss_newton_operator``.
    """
    kind = type(model).__name__
    if _on_torch(model):
        raise TypeError(
            f"{kind}: expected weights in numpy, got tensors of torch, for which torch.func has jvp "
            "and vjp"
        )
    if not callable(model):
        raise TypeError(f"{kind}: expected a model that says its outputs; {OUTPUTS}")
    with strictly():
        theta, along = _inputs("theta", model), _inputs("along", model)
        point, samples = model.with_arrays(**theta), _input("X", X)
        outputs = point(samples)
        if not isinstance(outputs, Traced):
            raise TypeError(f"__call__: expected outputs that are one array, got {shown(outputs)}")
        z, w = array("outputs", outputs.shape), array("factor", outputs.shape)
        loss = _loss_of_outputs(point, samples, _input("y", y), z)
        # Jᵀw is linear in w, so that its derivative is J, whatever w is.
        pulled = gradient((outputs * w).sum(), list(theta.values()))
        pushed = _along(pulled, along.values(), [w])
        curved = _along(gradient(loss, [z]), [w], [z])
    read, lost, push, curve, pull = map(Evaluator, ([outputs], [loss], pushed, curved, pulled))

    def known(there):
        at = _values("theta", there) | {"X": X, "y": y}
        return at | {"outputs": read(at)[0]}

    _require_loss(model, X, y, lambda there: lost(known(there))[0])
    here = known(model)

    def product(V):
        model.require_direction(V)
        (along,) = push(here | _values("along", V))
        (image,) = curve(here | {"factor": along})
        return _filled(model, pull(here | {"factor": image}))

    return product


OUTPUTS = "write __call__(self, X), which gives one array, and read it in loss by self(X)"


def _loss_of_outputs(point, X, y, outputs):
    """The loss of a recorded model where these stand in for what its ``__call__`` gives."""
    asked = []

    def given(self, at, *others, **named):
        if at is not X or any(other is not None for other in (*others, *named.values())):
            raise TypeError("loss: expected outputs self(X) of the X that it is given, got others")
        asked.append(at)
        return outputs

    known = copy(point)
    stand_in = type(type(point).__name__, (type(point),), {"__call__": given, "__slots__": ()})
    object.__setattr__(known, "__class__", stand_in)
    loss = known.loss(X, y)
    if not asked:
        raise TypeError(f"loss: expected one that reads the outputs self(X); {OUTPUTS}")
    nodes = topological([loss.node]) if isinstance(loss, Traced) else []
    inputs = sorted(v.detail for v in nodes if v.f == "input" and v.detail.startswith("theta_"))
    if inputs:
        names = ", ".join(name.removeprefix("theta_") for name in inputs)
        raise TypeError(
            f"loss: expected one that reads the weights by self(X) alone, got one that reads "
            f"{names} beside it; leave a penalty out, and add its own product"
        )
    return loss


class Derived(Workspace):
    """The workspace of a model whose gradient is derived from its loss: recorded once, not at every
    step."""

    def __init__(self, model: Any, X: Array, y: Array) -> None:
        super().__init__(model, X, y)
        self._steps: int = 0
        self._compiled: bool | None = None
        self._executors: dict[Any, Executor] = {}
        self._leader: Derived = self
        self._losses: Callable[[Any], float] | None = None

    def for_steps(self, steps: int, compiled: bool | None = None) -> Workspace:
        """The same; where so many gradients take numpy longer than a compiler, and there is one,
        they are compiled."""
        self._steps, self._compiled = steps, compiled
        return self

    def loss_and_grad(self, theta: Any) -> tuple[Any, Any]:
        """Mean loss and its gradient."""
        found = self._asked(theta, self.X, self.y)
        self._last = theta, found[0]
        return found

    def partial(self, theta: Any, rows: Any) -> tuple[Any, Any]:
        """Mean loss and gradient of some rows; recorded once for every number of rows."""
        return self._asked(theta, self.X[rows], self.y[rows])

    def _asked(self, theta, X, y):
        if _on_torch(theta):
            loss, slopes = torch_gradient(_loss_of(theta, X, y), theta.arrays())
            return loss, theta.with_arrays(**slopes)
        loss, *slopes = self._executor(X, y)(_values("theta", theta) | {"X": X, "y": y})
        return loss, _filled(theta, slopes)

    def follow(self, training: Workspace) -> None:
        """By the program of the run, if that is compiled and these samples have the form of its
        own."""
        if isinstance(training, Derived) and _form(training) == _form(self):
            self._leader = training

    def _loss_alone(self, theta):
        """The mean loss alone: compiled, if the gradients of the run are."""
        plain = super()._loss_alone
        if self._losses is None:
            known = self._leader._executors.values()
            compiled = next((each for each in known if isinstance(each, Compiled)), None)
            self._losses = self._compared(compiled, theta) if compiled else None
        loss = self._losses(theta) if self._losses else plain(theta)
        # What is not finite is numpy's to say.
        return loss if np.isfinite(loss) else plain(theta)

    def _compared(self, executor, theta):
        """The losses of these samples by a program, if it gives here what the formula gives."""
        plain = super()._loss_alone
        try:
            losses = executor.losses(self.X, self.y)
        except Unusable:
            return plain

        def compiled(theta):
            return losses(_values("theta", self.unpack(theta)))

        is_right = np.isclose(compiled(theta), plain(theta), rtol=TOLERANCE, equal_nan=True)
        return compiled if is_right else plain

    def _executor(self, X, y) -> Executor:
        """What gives loss and derivatives of so many samples: compiled, if that pays, or by
        numpy."""
        shapes = X.shape, y.shape
        if shapes not in self._executors:
            evaluator = Evaluator(_loss_and_slopes(self.model, X, y, _inputs("theta", self.model)))
            self._executors[shapes] = compiled_or(
                evaluator, self.model, X, y, self._steps, self._compiled
            )
        return self._executors[shapes]

    def confirm(self, theta: Any, loss: float, k: int, rows: Any = None) -> None:
        """Check at a recorded step that the loss is still the recorded one.

        Raises ArithmeticError if it is not, because what it reads beside weights and data has
        changed.
        """
        with np.errstate(all="ignore"):
            X, y = (self.X, self.y) if rows is None else (self.X[rows], self.y[rows])
            now = float(self.unpack(theta).loss(X, y))
        kinds = {str(a.dtype).removeprefix("torch.") for a in self.model.arrays().values()}
        # numpy does not know torch's bfloat16, which has eight binary digits
        precision = max(2.0**-7 if kind == "bfloat16" else np.finfo(kind).eps for kind in kinds)
        if np.isfinite(now) and not np.isclose(loss, now, rtol=precision**0.5, atol=precision):
            raise ArithmeticError(
                f"the loss at step {k} is {loss} by the formula as it was when the run began, and "
                f"{now} as it is now: a variable, a dictionary or an array that it reads beside "
                "weights and data has changed on the way; train in pieces, and change it in "
                "between"
            )

    def origin(self, theta: Any) -> str | None:
        """Where the gradient at θ stops being finite: file, line and operation; None where nothing
        is recorded."""
        if _on_torch(self.model):
            return None
        slopes = _loss_and_slopes(self.model, self.X, self.y, _inputs("theta", self.model))[1:]
        return origin(slopes, _values("theta", self.unpack(theta)) | {"X": self.X, "y": self.y})


class Flat(Derived):
    """The same for rules that move every number by itself: θ is one array with all weights, one
    after the other, so that a step is a few operations of numpy, however many weights there are."""

    def __init__(self, model: Any, X: Array, y: Array) -> None:
        super().__init__(model, X, y)
        self._parts = layout(model.arrays())

    def pack(self, model: Any) -> np.ndarray:
        """All weights of a model in one array."""
        return np.concatenate([*model.arrays().values()], axis=None)

    def unpack(self, theta: np.ndarray) -> Any:
        """The model of θ; owns its arrays."""
        return self.model.with_arrays(
            **{
                name: theta[part].reshape(shape).copy()
                for name, (part, shape) in self._parts.items()
            }
        )

    def _asked(self, theta, X, y):
        executor = self._executor(X, y)
        if isinstance(executor, Compiled) and (found := executor.at(theta, X, y)):
            return found
        inputs = {"X": X, "y": y}
        for name, (part, shape) in self._parts.items():
            inputs[f"theta_{name}"] = theta[part].reshape(shape)
        loss, *slopes = executor(inputs)
        slope = np.concatenate(slopes, axis=None)
        return loss, slope.astype(theta.dtype, copy=False)


def flat_or_not(space: Workspace) -> Workspace:
    """The workspace for rules that move every number by itself: on one array, if the model's
    weights are numpy's, of one dtype, and its arithmetic is that of every model."""
    if type(space) is not Derived:
        return space
    model, kind = space.model, type(space.model)
    arrays = model.arrays().values()
    if (
        any(getattr(kind, name) is not getattr(Algebra, name) for name in OF_EVERY_MODEL)
        or any(type(a) is not np.ndarray for a in arrays)
        or len({a.dtype for a in arrays}) > 1
    ):
        return space
    return Flat(model, space.X, space.y).for_steps(space._steps, space._compiled)


def _loss_and_slopes(model, X, y, theta):
    """The loss and its derivatives, recorded; the loss is compared with the formula at the model
    and beside it."""
    with strictly():
        loss = _loss_at(model, theta, _input("X", X), _input("y", y))
        slopes = gradient(loss, list(theta.values()))
    _require_loss(
        model, X, y, lambda there: evaluate([loss], _values("theta", there) | {"X": X, "y": y})[0]
    )
    return [loss, *slopes]


def _require_loss(model, X, y, recorded):
    """Check that the loss by a record is that of the formula, at the model and beside it."""
    # The record is evaluated in double precision, the formula in the model's own: half the digits
    # of the latter tell rounding from another function.
    precision = max(np.finfo(a.dtype).eps for a in model.arrays().values())
    for where, point in {"at the weights": model, "near the weights": _beside(model)}.items():
        with np.errstate(all="ignore"):
            found, wanted = float(recorded(point)), float(point.loss(X, y))
        if not np.isclose(found, wanted, rtol=precision**0.5, equal_nan=True):
            raise ArithmeticError(
                f"{where} the loss is {wanted} by the formula and {found} by the record from which "
                f"its gradient is derived: {HIDDEN}"
            )


def _beside(model):
    """A point near a model: two functions may agree at a special one, such as weights that are all
    zero."""
    return model.map(lambda a: a + 0.1 * probe(a.shape).astype(a.dtype))


def _form(space):
    """What a program of some samples takes for granted of others."""
    return [(a.shape[1:], a.dtype) for a in (space.X, space.y)]


def _is_recorded(model):
    return any(isinstance(a, Traced) for a in model.arrays().values())


def _on_torch(model):
    return any(is_tensor(a) for a in model.arrays().values())


def _loss_of(model, X, y):
    return lambda arrays: _loss_at(model, arrays, derivable(X), derivable(y))


def _loss_at(model, arrays, X, y):
    """The loss at these weights, which is to leave everything else of the model as it was."""
    point = model.with_arrays(**arrays)
    loss = point.loss(X, y)
    require_left("loss", model, attributes(model), attributes(point))
    return loss


def _input(name, a):
    return array(name, a.shape, kind_of(a))


def _inputs(prefix, model):
    """Recorded arrays in place of the weights, by the weights' names."""
    for attribute, value in attributes(model).items():
        if attribute not in (*model.arrays(), *getattr(model, "fixed", ())):
            require_array_where_said(type(model), attribute, value)
    require_moving("model", model)
    return {name: array(f"{prefix}_{name}", a.shape) for name, a in model.arrays().items()}


def _values(prefix, model):
    return {f"{prefix}_{name}": a for name, a in model.arrays().items()}


def _filled(model, arrays):
    """A point like the model, of these arrays in its dtypes: what was recorded is computed in
    double precision."""
    own = model.arrays()
    return model.with_arrays(
        **{name: a.astype(own[name].dtype, copy=False) for name, a in zip(own, arrays, strict=True)}
    )
