"""A model is a point of a vector space: ``model - lr * grad`` is again a model."""

import operator
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import fields
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from livegrad.arrays import Array, as_number, is_array, namespace, require_same_dtype, shown
from livegrad.console import printed
from livegrad.model.weights import attributes, with_attributes

OPERATORS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.power: operator.pow,
}
"""What numpy calls for ``np.float64(0.1) * model``, and what is done then, for torch's tensors,
too."""


@printed
class Algebra:
    """Arithmetic, field by field, for a frozen dataclass that holds arrays.

    ``+ − * / **`` act elementwise, between two points of the same class and shape or with a number,
    so that update rules, interpolation, Lanczos and gradient checks are written once for all
    models. Fields that hold no array (a kernel, say) are carried along unchanged, and two points
    must agree in them: between a softmax layer and a Gaussian one there is no third layer. So are
    those that a class names in ``fixed``, arrays or objects that hold arrays: nothing else may hold
    arrays, nor depend on the weights without being a property.
    """

    fixed: ClassVar[tuple[str, ...]] = ()
    """The names of fields, or of attributes of the class, whose arrays are not trained."""
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def arrays(self) -> dict[str, Array]:
        """The array fields by name, in order, without those that are ``fixed``."""
        return {
            name: value
            for name, value in attributes(self).items()
            if is_array(value) and name not in self.fixed
        }

    def __repr__(self) -> str:
        arrays = self.arrays()
        shapes = ", ".join(f"{name} {tuple(a.shape)}" for name, a in arrays.items())
        return f"{type(self).__name__}({shapes}, {next(iter(arrays.values())).dtype})"

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same model with ``function`` applied to every array:
        ``model.map(torch.as_tensor)``."""
        return self._with({name: function(a) for name, a in self.arrays().items()})

    def with_arrays(self, **arrays: Array) -> Self:
        """The same model with some of its arrays replaced, unchecked."""
        return self._with(arrays)

    def only(self, names: str | Iterable[str]) -> Self:
        """The same point with zeros in all arrays but the chosen: of a gradient, what moves these
        weights alone.

        Raises ValueError if a name is none of this model's arrays, or there is none.
        """
        chosen = self.chosen(names)
        return self._with(
            {
                # Not 0 * a, which is NaN where a diverged run has reached infinity.
                name: namespace(a).zeros_like(a)
                for name, a in self.arrays().items()
                if name not in chosen
            }
        )

    def chosen(self, names: str | Iterable[str]) -> list[str]:
        """The arrays that one name or several stand for, by name and in order: here each stands for
        itself.

        Raises ValueError if a name is none of this model's arrays, or there is none.
        """
        arrays, names = tuple(self.arrays()), (names,) if isinstance(names, str) else names
        if not isinstance(names, (Collection, Iterator)) or is_array(names):
            raise TypeError(f"only: expected some of {arrays}, got {shown(names)}")
        # An iterator yields its names once, and they are read twice below.
        names = tuple(names)
        if not names or not all(isinstance(name, str) and name in arrays for name in names):
            raise ValueError(f"only: expected some of {arrays}, got {shown(names)}")
        return [name for name in arrays if name in names]

    _with = with_attributes

    def _apply(self, op, other):
        # an inner product, say
        if isinstance(other, Real) or (is_array(other) and other.ndim == 0):
            number = as_number(other)
            return self._with({name: op(a, number) for name, a in self.arrays().items()})
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        if mine.keys() != theirs.keys():
            raise ValueError(
                f"expected two {type(self).__name__} with the same arrays, got one with "
                f"{', '.join(sorted(mine.keys() ^ theirs.keys()))} and one without"
            )
        for name in mine:
            require_same_dtype(**{f"left {name}": mine[name], f"right {name}": theirs[name]})
            if mine[name].shape != theirs[name].shape:
                raise ValueError(
                    f"{name}: expected two {type(self).__name__} of one shape, "
                    f"got {tuple(mine[name].shape)} and {tuple(theirs[name].shape)}"
                )
        self._require_alike(other)
        return self._with({name: op(mine[name], theirs[name]) for name in mine})

    def _require_alike(self, other):
        """Check that the fields that are no arrays are equal."""
        for name in (f.name for f in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not theirs and not is_array(mine) and not _equal(mine, theirs):
                raise self._unlike(name, repr(mine), repr(theirs), name)

    def _unlike(self, name, mine, theirs, field):
        return ValueError(
            f"{name}: expected two {type(self).__name__} with the same {field}, got {mine} and "
            f"{theirs}; to compare their weights alone, take dataclasses.replace(second, "
            f"{field}=first.{field})"
        )

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

    def __rtruediv__(self, other: float) -> Self:
        return self._apply(lambda a, number: number / a, other)

    def __neg__(self) -> Self:
        return -1.0 * self

    def __bool__(self) -> bool:
        kind = type(self).__name__
        raise TypeError(
            f"{kind}: expected a question that has one answer, got a point, which has one for each "
            "of its numbers; ask its arrays: any(np.isnan(a).any() for a in grad.arrays().values())"
        )

    def __abs__(self) -> Self:
        return self.map(abs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Self:
        """Functions of numpy act on every array: ``np.sign(grad)`` is ``grad.map(np.sign)``."""
        if method != "__call__" or options or len(inputs) > 2:
            raise TypeError(
                f"np.{ufunc.__name__}.{method}: expected arrays, got a {type(self).__name__}; "
                "write theta.map(function), or ask its arrays()"
            )
        if len(inputs) == 1:
            return self.map(ufunc)
        op = OPERATORS.get(ufunc, ufunc)
        left, right = inputs
        # On the right, the lambda restores the order: − and / do not commute.
        moved = (
            left._apply(op, right)
            if isinstance(left, Algebra)
            else right._apply(lambda a, number: op(number, a), left)
        )
        # Handed back to numpy, NotImplemented would become an error that names no cure.
        if moved is NotImplemented:
            kinds = [
                f"an array of shape {x.shape}" if is_array(x) else type(x).__name__ for x in inputs
            ]
            raise TypeError(
                f"np.{ufunc.__name__}: expected a number beside a {type(self).__name__}, or two "
                f"points of its space, got {' and '.join(kinds)}"
            )
        return moved

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Two functions of numpy take a whole point: ``np.linalg.norm(grad)`` is ``grad.norm()``,
        ``np.dot(grad, other)`` is ``grad.dot(other)``; any other one is refused."""
        if not options and all(isinstance(x, Algebra) for x in args):
            if function is np.linalg.norm and len(args) == 1:
                return args[0].norm()
            if function in (np.dot, np.vdot, np.inner) and len(args) == 2:
                return args[0].dot(args[1])
        said = f"{function.__module__}.{function.__name__}".replace("numpy", "np")
        raise self._no_array(f"{said}: ")

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refused: of an array that holds the point as one object, ``np.linalg.norm`` would be
        computed entry by entry."""
        raise self._no_array("")

    def _no_array(self, said):
        return TypeError(
            f"{said}expected arrays, got a {type(self).__name__}; a point has norm(), "
            "dot(other) and map(function), which calls a function for each of its arrays()"
        )

    def dot(self, other: Self) -> float:
        """The Euclidean inner product of all parameters with those of a point of the same class, a
        number.

        Examples
        --------
        >>> from livegrad.examples.two_layer_network import start
        >>> model = start()
        >>> bool(np.isclose(model.dot(model), model.norm() ** 2))
        True
        """
        if type(other) is not type(self):
            raise TypeError(f"other: expected a {type(self).__name__}, got {type(other).__name__}")
        return as_number(sum(a.sum() for a in self._apply(operator.mul, other).arrays().values()))

    def require_direction(self, V: Self) -> None:
        """Check that V is a direction in the space of this model: of one class, shape, library and
        dtype with it.

        Raises TypeError if it is of another class, library or dtype; ValueError if its shapes are
        others.
        """
        if type(V) is not type(self):
            raise TypeError(f"V: expected a direction like {self!r}, got {type(V).__name__}")
        mine, theirs = self.arrays(), V.arrays()
        if any(theirs[name].shape != a.shape for name, a in mine.items()):
            raise ValueError(f"V: expected a direction like {self!r}, got {V!r}")
        for name, a in mine.items():
            require_same_dtype(V=theirs[name], model=a)

    def norm(self) -> float:
        """The Euclidean norm ‖θ‖ of all parameters together.

        Examples
        --------
        >>> from livegrad.examples.logistic_regression import LogisticRegression
        >>> LogisticRegression(np.array([3.0, 4.0])).norm()
        5.0
        """
        return self.dot(self) ** 0.5


def _equal(mine, theirs):
    """Whether two values are equal, where points are if all their numbers are."""
    if not isinstance(mine, Algebra):
        return mine == theirs
    return type(mine) is type(theirs) and not any(
        (a != 0).any() for a in (mine - theirs).arrays().values()
    )
