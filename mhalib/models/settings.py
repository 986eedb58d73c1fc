"""What a network, a rule or a kernel is, in words that are the same in every process: to compare, and to store."""

import hashlib
from dataclasses import fields, is_dataclass
from functools import partial
from types import MethodType, ModuleType

import numpy as np

from mhalib._array import is_array, to_numpy


def settings(network):
    """What the modules of a network hold besides parameters: heads, kernels, factors."""
    found = {f"{path}.{name}".strip("."): value for path, module in network.named_modules()
             for name, value in vars(module).items() if not name.startswith("_") and name != "training"}
    return {f"network.{name}": describe(value) for name, value in found.items()}


def describe(thing, inside=()):
    """An object in words that are the same in every process: its type and all that it holds, however it prints.

    A dataclass is described field by field, another object by its attributes in the order of their names, an array by
    its checksum, a function or a class by its name. ``inside`` are the ids of what holds this object.
    """
    if id(thing) in inside:
        return "…"  # it holds itself
    part = partial(describe, inside=(*inside, id(thing)))
    if isinstance(thing, MethodType):
        return f"{part(thing.__self__)}.{thing.__name__}"
    if hasattr(thing, "__qualname__") or isinstance(thing, ModuleType):
        return getattr(thing, "__qualname__", thing.__name__)
    if is_array(thing):
        return _array(to_numpy(thing), part)
    if isinstance(thing, (list, tuple, set, frozenset, dict)):
        return _collection(thing, part)
    held = _held(thing)
    if held is None:
        return type(thing).__qualname__ if " at 0x" in repr(thing) else repr(thing)
    return f"{type(thing).__qualname__}({', '.join(f'{name}={part(value)}' for name, value in held.items())})"


def _array(array, part):
    if not array.ndim or array.dtype.hasobject:
        return part(array.tolist())
    return f"{array.dtype}{list(array.shape)}, checksum {checksum(array)}"


def _collection(things, part):
    """As Python prints it; what has no order of its own is sorted."""
    if isinstance(things, dict):
        return "{" + ", ".join(sorted(f"{part(key)}: {part(value)}" for key, value in things.items())) + "}"
    words = [part(one) for one in things]
    if isinstance(things, (set, frozenset)):
        return "{" + ", ".join(sorted(words)) + "}"
    if isinstance(things, list):
        return f"[{', '.join(words)}]"
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def _held(thing):
    """What an object holds, by name; None for numbers, words and what else shows nothing but how it prints."""
    if isinstance(thing, (int, float, complex, str, bytes)):
        return None
    if isinstance(thing, partial):
        return {"func": thing.func, "args": thing.args, "keywords": thing.keywords}
    if is_dataclass(thing):
        return {field.name: getattr(thing, field.name, None) for field in fields(thing)}
    if hasattr(thing, "__dict__"):
        return dict(sorted(vars(thing).items()))
    named = [getattr(kind, "__slots__", ()) for kind in type(thing).__mro__]
    slots = {name for names in named for name in ([names] if isinstance(names, str) else names)}
    return {name: getattr(thing, name) for name in sorted(slots) if hasattr(thing, name)} or None


def checksum(*arrays):
    """One for arrays together: their dtypes, shapes and contents. An array of another kind says ``fingerprint()``."""
    total = hashlib.sha256()
    for array in arrays:
        if hasattr(array, "fingerprint"):
            total.update(array.fingerprint().encode())
        else:
            array = np.ascontiguousarray(array)
            total.update(f"{array.dtype.str} {array.shape}".encode())
            total.update(array.view(np.uint8).data if array.size else b"")
    return total.hexdigest()[:16]
