"""A model is a point of a vector space: ``model - lr * grad`` is again a model."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from mhalib._array import Array, as_number, is_array, namespace, require_same_dtype
from mhalib.models.workspace import Workspace
from mhalib.trace import HIDDEN, array, evaluate, gradient, strictly


def with_attributes(model: Any, changes: dict[str, Any]) -> Any:
    """The same object with some of its attributes replaced, unchecked: a diverging run may reach infinity."""
    new = object.__new__(type(model))
    new.__dict__.update(model.__dict__ | changes)
    return new


class Vector:
    """Arithmetic, field by field, for a frozen dataclass that holds arrays.

    ``+ − * / **`` act elementwise, between two points of the same class and shape or with a number, so that
    update rules, interpolation, Lanczos and gradient checks are written once for all models. Fields that hold
    no array (a kernel, say) are carried along unchanged, and two points must agree in them: between a softmax layer and
    a Gaussian one there is no third layer.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    __array_ufunc__: None = None  # np.float64(0.1) * model is our product, not numpy's attempt at an object array

    def arrays(self) -> dict[str, Array]:
        """The array fields by name, in order."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if is_array(value)}

    def __repr__(self) -> str:
        arrays = self.arrays()
        shapes = ", ".join(f"{name} {tuple(a.shape)}" for name, a in arrays.items())
        return f"{type(self).__name__}({shapes}, {next(iter(arrays.values())).dtype})"

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same model with ``function`` applied to every array: ``model.map(torch.as_tensor)``."""
        return self._with({name: function(a) for name, a in self.arrays().items()})

    def with_arrays(self, **arrays: Array) -> Self:
        """The same model with some of its arrays replaced, unchecked."""
        return self._with(arrays)

    def only(self, names: str | Iterable[str]) -> Self:
        """The same point with zeros in all arrays but the chosen: of a gradient, what moves these weights alone.

        Raises ValueError if a name is none of this model's arrays, or there is none.
        """
        chosen = self.chosen(names)
        return self._with({name: namespace(a).zeros_like(a) for name, a in self.arrays().items() if name not in chosen})

    def chosen(self, names: str | Iterable[str]) -> list[str]:
        """The arrays that one name or several stand for, by name and in order: here each stands for itself.

        Raises ValueError if a name is none of this model's arrays, or there is none.
        """
        arrays, names = tuple(self.arrays()), (names,) if isinstance(names, str) else tuple(names)
        if not names or not set(names) <= set(arrays):
            raise ValueError(f"only: expected some of {arrays}, got {names}")
        return [name for name in arrays if name in names]

    _with = with_attributes

    def _apply(self, op, other):
        if isinstance(other, Real) or (is_array(other) and other.ndim == 0):  # an inner product, say
            number = as_number(other)
            return self._with({name: op(a, number) for name, a in self.arrays().items()})
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        if mine.keys() != theirs.keys():
            raise ValueError(f"expected two {type(self).__name__} with the same arrays, got one with "
                             f"{', '.join(sorted(mine.keys() ^ theirs.keys()))} and one without")
        for name in mine:
            require_same_dtype(**{f"left {name}": mine[name], f"right {name}": theirs[name]})
            if mine[name].shape != theirs[name].shape:
                raise ValueError(f"{name}: expected two {type(self).__name__} of one shape, "
                                 f"got {tuple(mine[name].shape)} and {tuple(theirs[name].shape)}")
        self._require_alike(other)
        return self._with({name: op(mine[name], theirs[name]) for name in mine})

    def _require_alike(self, other):
        """Check that the fields that are no arrays are equal."""
        for name in (f.name for f in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not theirs and not is_array(mine) and not _equal(mine, theirs):
                raise self._unlike(name, repr(mine), repr(theirs), name)

    def _unlike(self, name, mine, theirs, field):
        return ValueError(f"{name}: expected two {type(self).__name__} with the same {field}, got {mine} and {theirs}; "
                          f"to compare their weights alone, take dataclasses.replace(second, {field}=first.{field})")

    def __add__(self, other: Self | float) -> Self:
        return self._apply(operator.add, other)

    def __sub__(self, other: Self | float) -> Self:
        return self._apply(operator.sub, other)

    def __rsub__(self, other: Self | float) -> Self:
        return (-self)._apply(operator.add, other)

    def __mul__(self, other: Self | float) -> Self:
        return self._apply(operator.mul, other)

    def __truediv__(self, other: Self | float) -> Self:
        return self._apply(operator.truediv, other)

    def __pow__(self, power: float) -> Self:
        return self._apply(operator.pow, power)

    def __radd__(self, other: Self | float) -> Self:
        return self._apply(operator.add, other)

    def __rmul__(self, other: Self | float) -> Self:
        return self._apply(operator.mul, other)

    def __neg__(self) -> Self:
        return -1.0 * self

    def dot(self, other: Self) -> float:
        """The Euclidean inner product of all parameters with those of a point of the same class, a number.

        Examples
        --------
        >>> model = mha.MultiHeadAttention.random(H=2, T=4, d=3)
        >>> bool(np.isclose(model.dot(model), model.norm() ** 2))
        True
        """
        if type(other) is not type(self):
            raise TypeError(f"other: expected a {type(self).__name__}, got {type(other).__name__}")
        return as_number(sum(a.sum() for a in self._apply(operator.mul, other).arrays().values()))

    def require_direction(self, V: Self) -> None:
        """Check that V is a direction in the space of this model: of one class, shape, library and dtype with it.

        Raises TypeError if it is of another class, library or dtype; ValueError if its shapes are others.
        """
        if type(V) is not type(self):
            raise TypeError(f"V: expected a direction like {self!r}, got {type(V).__name__}")
        mine, theirs = self.arrays(), V.arrays()
        if any(theirs[name].shape != a.shape for name, a in mine.items()):
            raise ValueError(f"V: expected a direction like {self!r}, got {V!r}")
        for name, a in mine.items():
            require_same_dtype(V=theirs[name], model=a)

    def norms(self) -> dict[str, float]:
        """What a recorded step says of the size of the weights, name → number: nothing, unless a model overrides it."""
        return {}

    def against(self, data: Any) -> dict[str, float]:
        """What the truth behind ``data`` says of this model, name → number: nothing, unless a model overrides it."""
        return {}

    def loss(self, X: Array, y: Array) -> Any:
        """The loss that ``loss_and_grad`` gives; a model overrides one of the two, or both.

        Raises TypeError for a model with neither.
        """
        if type(self).loss_and_grad is Vector.loss_and_grad:
            raise TypeError(f"{type(self).__name__}: expected a model with loss(X, y) or loss_and_grad(X, y)")
        return self.loss_and_grad(X, y)[0]

    def loss_and_grad(self, X: Array, y: Array) -> tuple[Any, Self]:
        """The loss and its gradient, derived from what ``loss`` does; a model with a closed form overrides it.

        Raises Untraceable (a TypeError) where ``loss`` does what cannot be recorded, ArithmeticError where the record
        is another function than ``loss``.
        """
        return _asked(self, _recorded(self, X, y), X, y)

    def workspace(self, X: Array, y: Array) -> Workspace:
        """What ``train`` runs on: the plain formula here, a faster equivalent where a model has one."""
        return (_Derived if type(self).loss_and_grad is Vector.loss_and_grad else Workspace)(self, X, y)

    def norm(self) -> float:
        """The Euclidean norm ‖θ‖ of all parameters together.

        Examples
        --------
        >>> float(mha.MultiHeadAttention.zeros(H=2, T=4, d=3).norm())
        0.0
        """
        return self.dot(self) ** 0.5


def _recorded(model, X, y):
    """The loss of a model and its derivatives, recorded, and the loss compared a little beside the model."""
    theta = {name: array(f"theta_{name}", a.shape) for name, a in model.arrays().items()}
    with strictly():
        loss = model.with_arrays(**theta).loss(array("X", X.shape), array("y", y.shape))
    recorded = [loss, *gradient(loss, list(theta.values()))]
    near = model.map(lambda a: a + 0.1 * np.cos(np.arange(1.0, a.size + 1)).reshape(a.shape).astype(a.dtype))
    with np.errstate(all="ignore"):
        found, wanted = float(_asked(near, recorded, X, y)[0]), float(near.loss(X, y))
    precision = max(np.finfo(a.dtype).eps for a in model.arrays().values())
    if not np.isclose(found, wanted, rtol=precision ** 0.5, equal_nan=True):
        raise ArithmeticError(f"near the weights the loss is {wanted} by the formula and {found} by the record from "
                              f"which its gradient is derived: {HIDDEN}")
    return recorded


def _asked(model, recorded, X, y):
    """Loss and gradient of a model, from what was recorded of one of its shapes."""
    arrays = model.arrays()
    value, *slopes = evaluate(recorded, {f"theta_{name}": a for name, a in arrays.items()} | {"X": X, "y": y})
    return value, model.with_arrays(**dict(zip(arrays, slopes, strict=True)))


class _Derived(Workspace):
    """The workspace of a model whose gradient is derived from its loss: recorded once, not at every step."""

    @cached_property
    def _recorded(self):
        return _recorded(self.model, self.X, self.y)

    def loss_and_grad(self, theta):
        """Mean loss and its gradient."""
        found = _asked(theta, self._recorded, self.X, self.y)
        self._last = theta, found[0]
        return found


def _equal(mine, theirs):
    """Whether two values are equal, where points are if all their numbers are."""
    if not isinstance(mine, Vector):
        return mine == theirs
    return type(mine) is type(theirs) and not any((a != 0).any() for a in (mine - theirs).arrays().values())
