"""Arrays as a reader brings them: taken where they have one meaning, else refused with what to
do."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from livegrad.arrays import (
    Array,
    in_precision,
    is_array,
    is_dense,
    require_detached,
    require_own_meaning,
    shown,
    to_numpy,
)

PAD = (
    "pad the short ones with zeros, and mark in one more feature what is there, for the loss to "
    "leave out the rest"
)
EXACT = 2**53
"""Below it every whole number is one in double precision."""


def converted(name: str, given: Any, like: Array | None = None) -> Array:
    """The numbers that were given, as a plain numpy array or a torch tensor in single or double
    precision.

    What is one already is returned as it is. Whatever has ``to_numpy()`` or ``__array__()``, as
    frames and series have, lists, and another order of bytes are read; whole numbers and truth
    values take the precision of ``like``, or double precision.

    Raises TypeError or ValueError, with what to do, for anything with no meaning as numbers or with
    more than one: masks, sparse arrays, text, complex numbers, fields, times, units, and half or
    extended precision.
    """
    if _is_tensor(given):
        return _tensor(name, given, like)
    array = _numpy(name, given)
    if type(array) is not np.ndarray:
        # Before ``asarray``, which drops masks and units without a word.
        require_own_meaning(name, np.asanyarray(array))
        array = np.asarray(array)  # of a file mapped to memory, a view: nothing is copied
    if array.dtype == object:
        array = _of_objects(name, array)
    require_own_meaning(name, array)
    kind = array.dtype.kind
    # In floats, because the absolute value of the least int64 overflows to a negative number.
    if kind in "iu" and array.size and np.abs(array.astype(float)).max() >= EXACT:
        raise ValueError(
            f"{name}: expected whole numbers below 2**53, which floats hold exactly, got larger "
            f"ones; {name}.astype(float) rounds them"
        )
    if kind == "f" and array.dtype.itemsize not in (4, 8):
        raise TypeError(
            f"{name}: expected single or double precision, got dtype {array.dtype}; "
            f"{name}.astype(float) is in double precision"
        )
    if kind == "f":
        # A copy is made only of another order of bytes.
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    return array.astype(like.dtype if isinstance(like, np.ndarray) else float)


def marks(given: Any, shape: Sequence[int]) -> Array:
    """Which tokens are relevant, an array of this shape of truth values, or of 0 and 1.

    Raises TypeError or ValueError if it is none.
    """
    numbers = converted("relevant", given)
    if tuple(numbers.shape) != tuple(shape):
        raise ValueError(
            f"relevant: expected an array of shape {tuple(shape)}, one mark a token, "
            f"got {tuple(numbers.shape)}"
        )
    if not getattr(numbers, "is_meta", False) and not bool(((numbers == 0) | (numbers == 1)).all()):
        found = ", ".join(
            f"{value:g}" for value in sorted(set(to_numpy(numbers).ravel().tolist()))[:5]
        )
        raise ValueError(f"relevant: expected marks, true or false, one a token; got {found}")
    return given if is_array(given) else numbers != 0


def _is_tensor(given):
    """Whether this is an array, but none of numpy: a tensor, or one that records."""
    return is_array(given) and not isinstance(given, (np.ndarray, np.generic))


def _tensor(name, tensor, like):
    if not is_dense(tensor):
        raise TypeError(
            f"{name}: expected a dense tensor, got one of layout {tensor.layout}; "
            f"{name}.to_dense() makes "
            "one"
        )
    require_detached(name, tensor)
    if in_precision(tensor):
        return tensor
    if tensor.is_complex() or tensor.is_floating_point():
        cure = (
            f"take {name}.real or abs({name})"
            if tensor.is_complex()
            else f"{name}.float() is in single precision"
        )
        raise TypeError(
            f"{name}: expected single or double precision, got dtype {tensor.dtype}; {cure}"
        )
    return tensor.to(like.dtype) if _is_tensor(like) else tensor.double()


def _numpy(name, given):
    """The numpy array of anything but a tensor."""
    if isinstance(given, (np.ndarray, np.generic)):
        return given
    if hasattr(given, "toarray"):
        raise TypeError(
            f"{name}: expected a dense array, got {shown(given)}; {name}.toarray() makes one"
        )
    if isinstance(given, (list, tuple, range)):
        return _of_lists(name, given)
    if not (hasattr(given, "to_numpy") or hasattr(given, "__array__")):
        raise TypeError(
            f"{name}: expected a numpy array, a torch tensor, a frame or lists of numbers, "
            f"got {shown(given)}"
        )
    try:
        return given.to_numpy() if hasattr(given, "to_numpy") else np.asarray(given)
    except Exception as error:  # a library's own refusal, whatever its class
        raise TypeError(
            f"{name}: expected what numpy can read, got {shown(given)}: {str(error)[:160]}"
        ) from None


def _of_lists(name, items):
    _require_numbers(name, items)
    try:
        return np.array(items)
    except ValueError:
        raise ValueError(
            f"{name}: expected lists of one length, got several lengths"
            f"{f'; {PAD}' if name == 'X' else ''}"
        ) from None


def _require_numbers(name, items):
    """Check that lists hold numbers or arrays of them: of a masked array in a list numpy would read
    what is masked."""
    for item in items:
        if isinstance(item, (list, tuple)):
            _require_numbers(name, item)
        elif _is_tensor(item):
            raise TypeError(
                f"{name}: expected lists of numbers, got one of tensors; torch.stack({name}) "
                f"makes one"
            )
        elif isinstance(item, np.ndarray):
            require_own_meaning(name, item)
        elif not isinstance(item, Real):
            raise TypeError(
                f"{name}: expected lists of numbers, got one that holds {shown(item)}"
                f"{_in_words(name, item, 'np.array(y)')}"
            )


def _in_words(name, item, written):
    """What becomes of labels in words."""
    if name != "y" or not isinstance(item, str):
        return ""
    return f"; for labels in words there is np.where({written} == {item[:40]!r}, 1.0, -1.0)"


def _of_objects(name, array):
    """Numbers that are stored as Python objects, as frames store columns of several kinds."""
    for item in array.flat:
        if isinstance(item, (list, tuple, np.ndarray)):
            raise TypeError(
                f"{name}: expected numbers, got objects, among them {shown(item)}; if they have "
                f"one length, np.stack({name}) makes an array, else {PAD}"
            )
        if not isinstance(item, Real):
            raise TypeError(
                f"{name}: expected numbers, got objects, among them {shown(item)}"
                f"{_in_words(name, item, 'y')}"
            )
        if abs(item) >= EXACT and not isinstance(item, (float, np.floating)):
            raise ValueError(
                f"{name}: expected whole numbers below 2**53, which floats hold exactly, "
                f"got {shown(item)}"
            )
    return array.astype(float)
