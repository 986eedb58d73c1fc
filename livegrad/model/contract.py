"""What a reader's model must be: its own arrays move, and nothing else may depend on them."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import combinations
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from livegrad.arrays import is_array, share_memory
from livegrad.model.algebra import Algebra
from livegrad.model.vector import Vector
from livegrad.model.weights import (
    attributes,
    field_names,
    remembered,
    require_array_where_said,
    require_moving,
    weights,
)
from livegrad.vouched import is_vouched

DEPTH = 5
"""So many containers and objects within each other are searched for arrays."""


def require_weights(name: str, model: Any) -> None:
    """Check that the weights of a model are its own arrays of floating-point numbers, and that
    nothing else it holds could depend on them. ``train``, live figures and landscapes ask for it.

    Arrays that training leaves as they are may stand anywhere if the class names them: ``fixed =
    ("positions",)``.

    Raises TypeError naming the attribute: arrays in a list, a dict or another object, or of the
    class; a list, a number or a column of a table in a field whose type is an array; a value set
    beside the fields; weights that are integers, masked, or want a gradient of torch. The same if
    there are no weights; ``name`` is then the argument's.
    """
    if isinstance(model, type):
        raise TypeError(
            f"{name}: expected a model, got the class {model.__name__}; write {model.__name__}(…)"
        )
    kind = type(model)
    # Before ``weights``, which calls the model's own ``arrays``.
    _require_algebra(name, model)
    _require_own_gradient(kind)
    fixed = getattr(kind, "fixed", ())
    if not (isinstance(fixed, (tuple, list)) and all(isinstance(each, str) for each in fixed)):
        raise TypeError(
            f'fixed: expected names of arrays that are no weights, as fixed = ("mask",) in the class '
            f"{kind.__name__}, got a {type(fixed).__name__}; a field needs another name"
        )
    moving = weights(model)
    _require_no_arrays_of(kind, fixed)
    if is_dataclass(model):
        _require_nothing_beside_fields(model)
        _require_made_as_it_moves(model, moving)
    # A class that says itself where its weights are may keep them in a dictionary.
    known = {id(a) for a in moving.values()} if says_where(kind) else set()
    for attribute, value in attributes(model).items():
        if attribute in (*moving, *fixed):
            continue
        if any(id(a) not in known for a in _arrays_in(value)):
            raise TypeError(
                f"{attribute}: expected an array or a number, got a {type(value).__name__} that "
                f"holds "
                "arrays, which would not be trained; give each array a field of its own, or say "
                f'fixed = ("{attribute}",) in the class {kind.__name__} if they are to stay as they are'
            )
        require_array_where_said(kind, attribute, value)
    require_moving(name, model)
    if not is_vouched(kind):  # whose fields are two weights, also where they begin alike
        _require_apart(moving)


def cure_of_module(model: Any) -> str:
    """What a torch module becomes a model by, as the end of a message; nothing of other objects."""
    is_module = not isinstance(model, type) and hasattr(model, "named_parameters")
    return "; livegrad.NetworkPoint.of(network, loss) makes one of a torch module" * is_module


def require_dataset(name: str, data: Any) -> None:
    """Check that data have arrays X and y; TypeError if not."""
    if not (hasattr(data, "X") and hasattr(data, "y")):
        raise TypeError(
            f"{name}: expected a dataset with arrays X and y, got {type(data).__name__}; "
            "livegrad.Samples(X, y) makes one from arrays"
        )


def _require_apart(moving):
    """Check that no two weights have numbers in common."""
    for (one, a), (other, b) in combinations(moving.items(), 2):
        if share_memory(a, b):
            raise TypeError(
                f"{other}: expected an array of its own, got one that shares its numbers with "
                f"{one}: each would be trained by itself, and they would part at the first step. "
                f"Write {other}.copy() if they are two weights; if they are one, give it one field "
                "and use it twice"
            )


def _require_own_gradient(kind):
    """A loss that a subclass writes anew has another gradient than the one that it inherits."""
    names = [
        [name for name in ("loss", "loss_and_grad") if name in vars(base)] for base in kind.__mro__
    ]
    first = next((found for found in names if found), [])
    derived = issubclass(kind, Vector) and kind.loss_and_grad is Vector.loss_and_grad
    if first == ["loss"] and hasattr(kind, "loss_and_grad") and not derived:
        raise TypeError(
            f"loss: expected a {kind.__name__} whose loss_and_grad is of its own loss, got one "
            "inherited from a class with another loss; write loss_and_grad, too, or say "
            "loss_and_grad = livegrad.Vector.loss_and_grad in the class, which derives it"
        )


def says_where(kind: type) -> bool:
    """Whether a class says itself where its weights are: it has an ``arrays`` of its own."""
    own = (base for base in kind.__mro__ if base is not Algebra)
    return any("arrays" in vars(base) for base in own)


def _require_algebra(name, model):
    """Check that what a class says of ``map``, ``dot`` and ``norm`` is still what rules and
    landscapes ask of a point: a layer that is called ``norm`` is something else.
    """
    kind = type(model)
    if not issubclass(kind, Vector):
        return
    if field_names(kind) is None:
        raise TypeError(
            f"{name}: expected a dataclass, whose fields are the weights; write "
            f"@dataclass(frozen=True, eq=False) above class {kind.__name__}"
        )
    asked = {
        "arrays": lambda: isinstance(model.arrays(), dict),
        "map": lambda: type(model.map(lambda a: a)) is kind,
        "dot": lambda: np.ndim(model.dot(model)) == 0,
        "norm": lambda: np.ndim(model.norm()) == 0,
    }
    for method, answers in asked.items():
        if getattr(kind, method) is getattr(Vector, method):
            continue
        try:
            right = answers()
        except Exception:  # it takes other arguments
            right = False
        if not right:
            raise TypeError(
                f"{method}: expected the method that every model has, Vector.{method}, got "
                f"another one of {kind.__name__}; rename it"
            )


def _require_no_arrays_of(kind, fixed):
    """An array of the class is no weight, though it looks like one: a field needs its type."""
    for base in kind.__mro__:
        for attribute, value in vars(base).items():
            if is_array(value) and attribute not in (
                fixed if field_names(kind) is None else (*fixed, *field_names(kind))
            ):
                if attribute in vars(base).get("__annotations__", {}):
                    raise TypeError(
                        f"{attribute}: expected a field of {kind.__name__}, got an array of the "
                        "class, which would not be trained; write @dataclass(frozen=True, "
                        f"eq=False) above class {base.__name__}, too"
                    )
                raise TypeError(
                    f"{attribute}: expected an array in a field of {kind.__name__}, got one of "
                    f"the class, which would not be trained; write {attribute}: np.ndarray if it "
                    f"is a weight, or "
                    f'fixed = ("{attribute}",) in the class if it is to stay as it is'
                )


def _require_nothing_beside_fields(model):
    """What ``__post_init__`` derives of the weights would stay as it was while they move."""
    kind = type(model)
    derived = [f.name for f in fields(model) if not f.init]
    beside = [
        name
        for name in getattr(model, "__dict__", {})
        if name not in (*field_names(kind), *remembered(kind))
    ]
    if derived or beside:
        attribute = [*derived, *beside][0]
        raise TypeError(
            f"{attribute}: expected a field that {kind.__name__}(…) is given, got a value that "
            "was set when it was made, which would stay as it is while the weights move; make it "
            "a property"
        )


def _require_made_as_it_moves(model, moving):
    """What ``__post_init__`` makes of weights when a model is made would not be done while they
    move."""
    kind = type(model)
    makers = [base for base in kind.__mro__ if "__post_init__" in vars(base)]
    if not makers or is_vouched(makers[0]):
        return  # it only checks
    # Far from 0 to either side, where a clip, a projection or a normalization would show.
    for sign in (-3.0, 3.0):
        moved = {
            name: sign * (abs(a) + 1.0) + 0.5
            for name, a in moving.items()
            if name in field_names(kind)
        }
        try:
            made = kind(**{f.name: getattr(model, f.name) for f in fields(model)} | moved)
        except Exception:  # it refuses these numbers, and leaves those that it takes
            continue
        changed = [name for name, a in moved.items() if not _equal(getattr(made, name), a)]
        if changed:
            raise TypeError(
                f"{changed[0]}: expected weights that {kind.__name__}.__post_init__ leaves as "
                "they are, because steps move them without it; do what it does to them in loss, "
                "or in an update rule of your own"
            )


def _equal(one, other):
    return one is other or (np.shape(one) == np.shape(other) and bool((one == other).all()))


def _arrays_in(value: Any, depth: int = DEPTH) -> Iterator[Any]:
    """The arrays inside of a value: in lists, dictionaries, and the attributes of objects."""
    if is_array(value):
        yield value
        return
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = value
    elif isinstance(value, (type, FunctionType, ModuleType)):
        return
    else:
        parts = attributes(value).values()
    # Also what ends the search among objects that hold each other.
    if depth:
        for part in parts:
            yield from _arrays_in(part, depth - 1)
