"""Derivatives of a model that writes its loss alone: from a record, or by torch where they are its."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from mhalib._array import Array, is_tensor, torch_gradient, torch_hvp
from mhalib.models.workspace import Workspace
from mhalib.trace import HIDDEN, Traced, array, evaluate, gradient, origin, strictly


def derived_loss_and_grad(model: Any, X: Array, y: Array) -> tuple[Any, Any]:
    """The loss of a model and its gradient, derived from what ``model.loss`` does.

    Raises Untraceable (a TypeError) where ``loss`` does what cannot be recorded, ArithmeticError where the record
    is another function than ``loss``.
    """
    return Derived(model, X, y).loss_and_grad(model)


def derived_hessian(model: Any, X: Array, y: Array, closed: bool) -> Callable[[Any], Any]:
    r"""The map V ↦ ∇²L(θ) V at a model: the gradient of ⟨∇L(θ), V⟩, recorded once for many products.

    ∇L is the model's ``loss_and_grad`` if that is a ``closed`` form, else the derivative of its ``loss``.

    Raises as ``derived_loss_and_grad``.
    """
    if _on_torch(model):
        return lambda V: model.with_arrays(**torch_hvp(_loss_of(model, X, y), model.arrays(), V.arrays()))
    theta, direction = _inputs("theta", model), _inputs("along", model)
    with strictly():
        moved = model.with_arrays(**theta)
        if closed:
            slopes = list(moved.loss_and_grad(_input("X", X), _input("y", y))[1].arrays().values())
        else:
            slopes = gradient(moved.loss(_input("X", X), _input("y", y)), list(theta.values()))
        along = sum((slope * v).sum() for slope, v in zip(slopes, direction.values(), strict=True))
        products = gradient(along, list(theta.values()))

    def hessian(V):
        model.require_direction(V)
        return _filled(model, evaluate(products, _values("theta", model) | _values("along", V) | {"X": X, "y": y}))

    return hessian


class Derived(Workspace):
    """The workspace of a model whose gradient is derived from its loss: recorded once, not at every step."""

    def loss_and_grad(self, theta: Any) -> tuple[Any, Any]:
        """Mean loss and its gradient."""
        if _on_torch(theta):
            loss, slopes = torch_gradient(_loss_of(theta, self.X, self.y), theta.arrays())
            found = loss, theta.with_arrays(**slopes)
        else:
            loss, *slopes = evaluate(self._recorded, self._inputs(theta))
            found = loss, _filled(theta, slopes)
        self._last = theta, found[0]
        return found

    def origin(self, theta: Any) -> str | None:
        """Where the gradient at θ stops being finite: file, line and operation; None where nothing is recorded."""
        return None if _on_torch(theta) else origin(self._recorded[1:], self._inputs(theta))

    def _inputs(self, theta):
        return _values("theta", theta) | {"X": self.X, "y": self.y}

    @cached_property
    def _recorded(self) -> list[Traced]:
        """The loss and its derivatives; the loss is compared with the formula at the model and a little beside it."""
        model, X, y = self.model, self.X, self.y
        theta = _inputs("theta", model)
        with strictly():
            loss = model.with_arrays(**theta).loss(_input("X", X), _input("y", y))
        recorded = [loss, *gradient(loss, list(theta.values()))]
        beside = model.map(lambda a: a + 0.1 * np.cos(np.arange(1.0, a.size + 1)).reshape(a.shape).astype(a.dtype))
        precision = max(np.finfo(a.dtype).eps for a in model.arrays().values())
        for where, point in {"at the weights": model, "near the weights": beside}.items():
            with np.errstate(all="ignore"):
                found, wanted = float(evaluate([loss], self._inputs(point))[0]), float(point.loss(X, y))
            if not np.isclose(found, wanted, rtol=precision ** 0.5, equal_nan=True):
                raise ArithmeticError(f"{where} the loss is {wanted} by the formula and {found} by the record from "
                                      f"which its gradient is derived: {HIDDEN}")
        return recorded


def _on_torch(model):
    return any(is_tensor(a) for a in model.arrays().values())


def _loss_of(model, X, y):
    return lambda arrays: model.with_arrays(**arrays).loss(X, y)


def _input(name, a):
    return array(name, a.shape, mask=a.dtype == bool)


def _inputs(prefix, model):
    """Recorded arrays in place of the weights, by the weights' names."""
    return {name: array(f"{prefix}_{name}", a.shape) for name, a in model.arrays().items()}


def _values(prefix, model):
    return {f"{prefix}_{name}": a for name, a in model.arrays().items()}


def _filled(model, arrays):
    """A point like the model, of these arrays in its dtypes: what was recorded is computed in double precision."""
    own = model.arrays()
    return model.with_arrays(**{name: a.astype(own[name].dtype, copy=False)
                                for name, a in zip(own, arrays, strict=True)})
