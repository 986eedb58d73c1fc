"""Numpy's functions, as recorded arrays do them: ``FUNCTIONS`` has each under numpy's name for
it."""

import numbers
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from livegrad.arrays import Recorded
from livegrad.record.trace import (
    FUNCTIONS,
    Traced,
    array,
    as_mask,
    axes_of,
    axis_by_axis,
    comprehension,
    elementwise,
    filled,
    function,
    is_mask,
    node_of,
    of_shape,
    picked,
    recorded,
    reduced,
    refuse,
    whole,
)

# Functions of numbers

ELEMENTWISE = (
    "absolute",
    "add",
    "arctan",
    "cos",
    "divide",
    "erf",  # of scipy.special: numpy has none
    "exp",
    "expm1",
    "log",
    "log1p",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "sin",
    "sqrt",
    "subtract",
    "tanh",
    "trunc",
)
for _name in ELEMENTWISE:
    function(_name)(partial(elementwise, _name))


@function("abs")
def _abs(x):
    return elementwise("absolute", x)


@function("square")
def _square(x):
    return x * x


@function("softplus")
def _softplus(x):
    """log(1 + eˣ)."""
    # logaddexp takes the larger argument out of its exponentials, so large x do not overflow.
    return elementwise("logaddexp", 0, x)


@function("sign")
def sign(a: Traced) -> Traced:
    """1, 0 or −1."""
    # Not by `-`, which refuses two masks as NumPy does.
    return elementwise("subtract", a > 0, a < 0)


@function("power")
def _power(x, power):
    """As np.power, by something simpler where there is."""
    if not (isinstance(power, numbers.Real) and isinstance(x, Traced)):
        return elementwise("power", x, power)
    # WebAssembly has no library of mathematics: what is written without pow runs there, too.
    if power == 0:
        return filled(1.0, x.shape)
    if power == 1:
        return x
    if power == 2:
        return x * x
    if power == -1:
        return 1 / x
    return np.sqrt(x) if power == 0.5 else elementwise("power", x, power)


@function("clip")
def _clip(x, low=None, high=None, min=None, max=None):  # numpy has both names of either bound
    """As np.clip. At a bound the slope is still x's."""
    low, high = (low if min is None else min), (high if max is None else max)
    # np.maximum and np.minimum would halve the slope where x equals a bound.
    if low is not None:
        x = np.where(x < low, low, x)
    if high is not None:
        x = np.where(x > high, high, x)
    return x


# Comparisons, whose results are masks


def _comparison(f):
    def compared(a, b):
        return as_mask(elementwise(f, a, b))

    return compared


for _name in ("greater", "less", "greater_equal", "less_equal"):
    function(_name)(_comparison(_name))
function("equal", keeps_masks=True)(_comparison("equal"))


@function("not_equal", keeps_masks=True)
def _not_equal(a, b):
    return as_mask(elementwise("subtract", 1, elementwise("equal", a, b)))


@function("where", keeps_masks=True)
def _where(condition, a, b):
    # All but 0 is true, NaN included, which JavaScript would take for false: so 0 and 1 are made.
    chosen = elementwise(
        "where", elementwise("subtract", 1, elementwise("equal", condition, 0)), a, b
    )
    return as_mask(chosen) if is_mask(a) and is_mask(b) else chosen


# Sums, and what is largest


@function("sum")
def _sum(x, axis=None, keepdims=False):
    return reduced("sum", x, axis, keepdims)


@function("mean")
def _mean(x, axis=None, keepdims=False):
    return x.sum(axis, keepdims) / prod(x.shape[k] for k in axes_of(x, axis))


@function("var")
def _var(x, axis=None, ddof=0, keepdims=False):
    """As np.var."""
    count = prod(x.shape[k] for k in axes_of(x, axis))
    if ddof >= count:
        refuse(f"a variance of {count} with ddof={ddof}, which divides by {count - ddof}")
    away = x - x.mean(axis, True)
    return (away * away).sum(axis, keepdims) / (count - ddof)


@function("std")
def _std(x, axis=None, ddof=0, keepdims=False):
    """As np.std; its slope where nothing varies is 0, as torch has it."""
    return _root(_var(x, axis, ddof, keepdims))


def _smallest(x, axis=None, keepdims=False):
    # A comprehension reduces by a sum or a maximum alone.
    return elementwise("negative", reduced("max", elementwise("negative", x), axis, keepdims))


def _of_kind(found, *parts):
    """What is made of masks alone is a mask."""
    return as_mask(found) if all(map(is_mask, parts)) else found


@function("max", "amax", keeps_masks=True)
def _max(x, axis=None, keepdims=False):
    return _of_kind(reduced("max", x, axis, keepdims), x)


@function("min", "amin", keeps_masks=True)
def _min(x, axis=None, keepdims=False):
    return _of_kind(_smallest(x, axis, keepdims), x)


@function("any")
def _any(x, axis=None, keepdims=False):
    return as_mask(reduced("max", x != 0, axis, keepdims))


@function("all")
def _all(x, axis=None, keepdims=False):
    return as_mask(_smallest(x != 0, axis, keepdims))


@function("norm")
def _norm(x, ord=None, axis=None, keepdims=False):
    """As np.linalg.norm, the Euclidean one; its slope at 0 is 0."""
    if ord is not None:  # whatever numpy would take beside the Euclidean one
        refuse(
            f"np.linalg.norm of order {ord}; only the Euclidean norm is recorded, which has none"
        )
    return _root((x * x).sum(axis, keepdims))


def _root(squared):
    """A root with a mark, whose slope at 0 is 0: that of any other is infinite."""
    index = tuple((k, 0) for k in range(len(squared.node.shape)))
    return Traced(
        node_of("sqrt", [(squared.node, index)], squared.node.shape, detail="norm"), squared.groups
    )


# Products


@function("matmul")
def matmul(a: "Traced | np.ndarray", b: "Traced | np.ndarray") -> Traced:
    """As np.matmul."""
    a, b = recorded(a), recorded(b)
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-min(2, b.ndim)]:
        refuse(f"a product of shapes {a.shape} and {b.shape}")
    # Labels counted from the right, below 0: axes of several matrices broadcast from there.
    left, right = ([*range(2 - x.ndim, 0)] for x in (a, b))
    rows, columns = ["i"] * (a.ndim > 1), ["j"] * (b.ndim > 1)
    target = [*max(left, right, key=len), *rows, *columns]
    return comprehension(
        "multiply", [a, b], [[*left, *rows, "r"], [*right, "r", *columns]], target, "sum"
    )


@function("dot")
def _dot(a, b):
    if a.ndim > 2 or b.ndim > 2:
        refuse("np.dot of more than two axes; write a @ b or np.einsum")
    return matmul(a, b)


@function("outer")
def _outer(a, b):
    return a.reshape(-1, 1) * b.reshape(-1)


@function("einsum")
def einsum(subscripts: str, *arrays: Traced, **_: Any) -> Traced:
    """As np.einsum, with its result spelled out; several arrays are multiplied from the left."""
    if not isinstance(subscripts, str):
        refuse("einsum with lists of axes; write letters: np.einsum('ij,j->i', X, w)")
    labels, arrow, target = subscripts.replace(" ", "").partition("->")
    own = labels.split(",")
    if (
        not arrow
        or "." in labels
        or any(len(set(part)) < len(part) for part in own)
        or len(own) != len(arrays)
    ):
        refuse(
            f"einsum({subscripts!r}) of {len(arrays)}; no letter twice in one array, and the "
            f"result after ->"
        )
    if len(arrays) > 2:
        # A letter that nothing needs later is summed at once, which keeps the first product small.
        kept = "".join(
            letter
            for letter in dict.fromkeys(own[0] + own[1])
            if letter in "".join([target, *own[2:]])
        )
        first = einsum(f"{own[0]},{own[1]}->{kept}", *arrays[:2])
        return einsum(f"{','.join([kept, *own[2:]])}->{target}", first, *arrays[2:])
    return comprehension(
        "multiply" if len(arrays) == 2 else "id", list(map(recorded, arrays)), own, target, "sum"
    )


# Entries at places that are whole numbers


@function("take", keeps_masks=True)
def _take(x, indices, axis=None, mode="raise"):
    """As np.take."""
    if mode != "raise":
        refuse(f"np.take with mode={mode!r}; np.clip the indices")
    x = x.reshape(-1) if axis is None else x
    before = (slice(None),) * axes_of(x, 0 if axis is None else axis)[0]
    return x[(*before, indices if isinstance(indices, (int, Traced)) else np.asarray(indices))]


@function("take_along_axis", keeps_masks=True)
def _take_along_axis(x, indices, axis=-1):
    """As np.take_along_axis."""
    x, indices = recorded(x), recorded(indices)
    if axis is None:
        x, indices, axis = x.reshape(-1), indices.reshape(-1), 0
    if indices.ndim != x.ndim:
        refuse(f"places of shape {indices.shape} in an array of shape {x.shape}")
    (axis,) = axes_of(x, axis)
    along = ["places" if k == axis else k for k in range(x.ndim)]
    return picked(x, range(x.ndim), axis, whole(indices, x.shape[axis]), along, along)


@function("tril")
def _tril(x, k=0):
    return np.where(np.tril(np.ones(x.shape[-2:], dtype=bool), k), x, 0.0)


@function("triu")
def _triu(x, k=0):
    return np.where(np.triu(np.ones(x.shape[-2:], dtype=bool), k), x, 0.0)


# The same numbers in another shape

function("reshape", keeps_masks=True)(Traced.reshape)
function("swapaxes", keeps_masks=True)(Traced.swapaxes)
function("astype", keeps_masks=True)(Traced.astype)


@function("transpose", keeps_masks=True)
def _transpose(x, axes=None):
    return x.transpose(*(axes or ()))


@function("matrix_transpose", keeps_masks=True)
def _matrix_transpose(x):
    return x.mT


@function("ravel", keeps_masks=True)
def _ravel(x):
    return x.reshape(-1)


@function("copy", keeps_masks=True)
def _copy(x):
    # No recorded array is ever written into, so a copy may be the array itself.
    return x


@function("concatenate", keeps_masks=True)
def _concatenate(arrays, axis=0):
    return _of_kind(concatenate(arrays, axis), *arrays)


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Traced:
    """As np.concatenate: the sum of the arrays, each of which is 0 beyond its ends."""
    arrays = [recorded(x) for x in arrays]
    if axis is None:
        refuse("concatenate with axis=None; ravel the arrays first")
    axis = axis % arrays[0].ndim
    if len({(*x.shape[:axis], *x.shape[axis + 1 :]) for x in arrays}) > 1:
        refuse(
            f"concatenate of shapes {', '.join(str(x.shape) for x in arrays)} along axis {axis}, "
            f"which do not fit"
        )
    ends = [*accumulate(x.shape[axis] for x in arrays)]
    shape = [*arrays[0].shape[:axis], ends[-1], *arrays[0].shape[axis + 1 :]]
    # An input serves only to say how `of_shape` numbers the axes.
    loops = [group[0] if group else None for group in array("", shape).groups]
    return of_shape(
        shape,
        "concatenate" if len(arrays) > 1 else "id",
        [
            (
                axis_by_axis(x, x.shape),
                # A part begins at end − length, so its offset is minus that.
                tuple((loop, (x.shape[axis] - end) * (k == axis)) for k, loop in enumerate(loops)),
            )
            for x, end in zip(arrays, ends, strict=True)
        ],
    )


@function("stack", keeps_masks=True)
def _stack(arrays, axis=0):
    """As np.stack."""
    parts = [recorded(x) for x in arrays]
    before = (slice(None),) * (axis % (parts[0].ndim + 1))
    return _of_kind(concatenate([x[(*before, None)] for x in parts], axis), *arrays)


@function("broadcast_to")
def _broadcast_to(x, shape):
    return x + filled(0.0, shape)


@function("zeros_like")
def _zeros_like(x):
    return filled(0.0, x.shape)


@function("ones_like")
def _ones_like(x):
    return filled(1.0, x.shape)


@function("shape")
def _shape(x):
    return x.shape


@function("ndim")
def _ndim(x):
    return x.ndim


@function("size")
def _size(x):
    return x.size


# What numpy does where all arguments are masks


@function("add", "bitwise_or", "logical_or", "maximum", of_masks=True)
def _or(a, b):
    return as_mask(elementwise("maximum", a, b))


@function("multiply", "bitwise_and", "logical_and", "minimum", of_masks=True)
def _and(a, b):
    return as_mask(elementwise("multiply", a, b))


@function("bitwise_xor", "logical_xor", of_masks=True)
def _xor(a, b):
    return a != b


@function("invert", "logical_not", of_masks=True)
def _not(a):
    return as_mask(elementwise("subtract", 1, a))


@function("absolute", "abs", of_masks=True)
def _same(a):
    return a


@function("subtract", of_masks=True)
def _no_difference(a, b):
    refuse("− of two masks, which numpy refuses; write a != b, or a & ~b")


@function("negative", of_masks=True)
def _no_negative(a):
    refuse("− of a mask, which numpy refuses; write ~a")


@function("matmul", "dot", "einsum", of_masks=True)
def _no_product(*_):
    refuse("a product of two masks is a mask in numpy, not a count; write a.astype(float)")


def namespace() -> SimpleNamespace:
    """What ``arrays.namespace`` gives for recorded arrays."""
    return SimpleNamespace(
        **FUNCTIONS
        | {
            "norm": _root_of_squares,
            "ascontiguousarray": _copy,
            "zeros": _zeros,
            "new_ones": _new_ones,
            "eps": _eps,
            "log_max": _log_max,
        }
    )


Recorded.functions = namespace


def _root_of_squares(x, axis):
    return np.sqrt((x * x).sum(axis))


def _zeros(shape):
    return filled(0.0, shape)


def _new_ones(shape, like):
    return filled(1.0, shape)


def _eps(x):
    return float(np.finfo(float).eps)


def _log_max(x):
    return float(np.log(np.finfo(float).max))
