"""What a model holds: its attributes, and those of them that are its weights."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np

from livegrad.arrays import (
    Array,
    is_array,
    is_tensor,
    require_detached,
    require_own_meaning,
    shown,
)


def attributes(model: Any) -> dict[str, Any]:
    """What a model holds, name → value: the fields of a dataclass, of another object what was set
    on it.

    What it only remembers of them is left out: the value of a ``cached_property`` is that of one
    set of weights.
    """
    names, held = field_names(type(model)), getattr(model, "__dict__", {})
    if names is None:
        left_out = remembered(type(model))
        return {name: value for name, value in held.items() if name not in left_out}
    if len(held) == len(names) and held.keys() == set(names):
        return dict(held)
    if all(name in held for name in names):
        return {name: held[name] for name in names}
    # slots, or not made by its class
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def probe(shape: tuple[int, ...], first: int = 1) -> np.ndarray:
    """A direction that moves every entry of an array, and each by another number: the cosines of
    ``first``, ``first`` + 1, …

    The cosine of a whole number is never 0, and no seed is needed.
    """
    a = np.empty(shape)
    return np.cos(np.arange(a.size) + float(first)).reshape(shape)


def with_attributes(model: Any, changes: dict[str, Any]) -> Any:
    """The same object with some of its attributes replaced, unchecked: a diverging run may reach
    infinity."""
    new, held = object.__new__(type(model)), attributes(model)
    for name, value in changes.items():
        # what numpy makes of shape ()
        held[name] = np.asarray(value) if isinstance(value, np.generic) else value
    if _has_slots(type(model)):
        for name, value in held.items():
            object.__setattr__(new, name, value)  # past a dataclass that is frozen
    else:
        new.__dict__.update(held)
    return new


@cache
def field_names(kind: type) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass; None of another class."""
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else None


@cache
def _has_slots(kind):
    """Whether a class keeps some of its attributes outside of ``__dict__``."""
    return any("__slots__" in vars(base) for base in kind.__mro__)


@cache
def remembered(kind: type) -> set[str]:
    """The names of the cached properties of a class."""
    return {
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, cached_property)
    }


def weights(model: Any) -> dict[str, Array]:
    """The weights of a model by name: its arrays."""
    named = model.arrays() if hasattr(model, "arrays") else attributes(model)
    return {name: a for name, a in named.items() if is_array(a)}


def layout(arrays: Mapping[str, Array]) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Where arrays lie in a vector of all, one after the other: name → its part, and its shape."""
    found, end = {}, 0
    for name, a in arrays.items():
        begin, end = end, end + prod(a.shape)
        found[name] = slice(begin, end), tuple(a.shape)
    return found


def with_weights(model: Any, arrays: Mapping[str, Array]) -> Any:
    """A point like the model, of its class, with other weights."""
    return (
        model.with_arrays(**arrays)
        if hasattr(model, "with_arrays")
        else with_attributes(model, dict(arrays))
    )


def require_left(
    method: str, model: Any, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Check that a method of a model has left what the model holds beside its weights as it was.

    Raises TypeError that names the attribute.
    """
    for name in before.keys() - weights(model).keys():
        was, now = before[name], after.get(name)
        if now is not was and (is_array(was) or is_array(now) or now != was):
            kind = type(model).__name__
            raise TypeError(
                f"{name}: expected a {kind} whose {method} changes nothing of it, got "
                f"{shown(was)} before a call and {shown(now)} after it; a step moves the weights "
                f"alone, so keep what {method} counts or remembers outside of the model"
            )


ARRAY = re.compile(r"(\w+\.)*(ndarray|NDArray|ArrayLike|Array|Tensor)(\[.*\])?")
"""How the type of an array is written."""


def require_array_where_said(kind: type, attribute: str, value: Any) -> None:
    """Check that a field that is to be an array is none that only can become one: it would stay as
    it is."""
    types = {f.name: f.type for f in fields(kind)} if is_dataclass(kind) else {}
    said = getattr(types.get(attribute), "__name__", str(types.get(attribute)))
    parts = set(said.replace(" ", "").split("|")) - {"None"}
    is_meant = parts and value is not None and all(map(ARRAY.fullmatch, parts))
    if is_meant or (hasattr(value, "__array__") and not isinstance(value, np.generic)):
        raise TypeError(
            f"{attribute}: expected an array, got {shown(value)}, which would not be trained; write "
            f"np.array({attribute}, dtype=float)"
        )


def require_moving(name: str, model: Any) -> None:
    """Check that a model has weights, and that they are arrays that steps can move.

    Raises TypeError naming the weight; the argument ``name`` if there is none.
    """
    moving = weights(model)
    if not moving:
        raise TypeError(
            f"{name}: expected a model with weights that are arrays; {type(model).__name__} has "
            "none"
        )
    for weight, a in moving.items():
        dtype = str(a.dtype).removeprefix("torch.")
        if not dtype.startswith(("float", "bfloat")):
            raise TypeError(
                f"{weight}: expected weights that are floating-point numbers, got {dtype} of shape "
                f"{tuple(a.shape)}; write {weight}.{'double()' if is_tensor(a) else 'astype(float)'}"
            )
        if isinstance(a, np.ndarray):
            require_own_meaning(weight, a)
        require_detached(weight, a)
