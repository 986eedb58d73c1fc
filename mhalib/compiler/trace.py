"""Arrays that record what a formula does with them: the loops of a program, and the gradient of what they recorded.

Every recorded array is one comprehension, ``value[out] = Σ f(args[index])`` or a maximum in place of the sum: numpy's
elementwise functions, sums, products of matrices, slices and transposes are all of this form. So the gradient is a
dozen lines for all of them, and a program is a list of loops (``mhalib.compiler.javascript``).

Sizes are numbers: a loop over ``range(X.shape[1])`` is written out, once for every token.
"""

import numbers
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Index = tuple[tuple[int | None, int], ...]
"""Where an argument is read, an entry an axis: (which loop, plus how much), or (None, a fixed place).

Before its beginning and behind its end an argument is 0."""

LONGEST = 20_000
"""A program of more steps than this is refused: a loop over samples has been written out."""


class Untraceable(TypeError):
    """A formula does what no program can: the message names it, its file and its line, and what to write instead."""


_FOLDER = str(Path(__file__).parent)


def _line() -> str:
    """File and line of the formula that called into this package."""
    frame = sys._getframe(1)
    while frame.f_back and (frame.f_code.co_filename.startswith(_FOLDER)
                            or frame.f_code.co_filename == "<string>"  # a dataclass's own code
                            or "-packages" in frame.f_code.co_filename):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"


_deriving: list["Node"] = []
"""The step whose derivative is being recorded: the steps of that are said to stand where it stands."""


def _place():
    """File and line of a step."""
    return f"{_deriving[-1].line}, in the derivative of {_deriving[-1].f}" if _deriving else _line()


_refused: list[Untraceable] = []


def _refuse(what: str) -> NoReturn:
    _refused.append(Untraceable(f"{_line()}: {what}"))
    raise _refused[-1]


@contextmanager
def strictly() -> Iterator[None]:
    """Raise what a formula was refused in here, also if it has caught that itself: it went another way than on numbers.

    What is never refused can still make a record another function than the formula, see ``HIDDEN``: so the two are
    compared wherever a record is made.
    """
    _refused.clear()
    _KNOWN.clear()  # what another formula wrote has another line
    yield
    if _refused:
        raise _refused[0]


HIDDEN = ("are there random numbers, a write in place such as W *= 2, a branch on the type of an array, or small whole "
          "numbers that wrap around, which a.astype(float) mends?")
"""Why a record may be another function than its formula."""


@dataclass(frozen=True, eq=False)
class Node:
    """One comprehension: ``f`` of the arguments at their indices, in loops of so many rounds; ``over`` those that are
    not in ``out``, "sum" or "max".

    ``detail`` is the value of a "number" or "constant", the name of an "input" or "output", and "norm" of a root that
    is one.
    """

    f: str
    args: tuple[tuple["Node", Index], ...]
    loops: tuple[int, ...]
    out: tuple[int, ...]
    over: str | None
    detail: Any
    line: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is stored."""
        return tuple(self.loops[k] for k in self.out)


_KNOWN: WeakValueDictionary[Any, Node] = WeakValueDictionary()


def _node(f, args=(), loops=(), out=None, over=None, detail=None):
    """A node, or one that is there already: what is written twice is computed once, and a view of all is no view."""
    args, loops, every = tuple(args), tuple(loops), tuple(range(len(loops)))
    out = every if out is None else tuple(out)
    if (f, out, over) == ("id", every, None) and args[0][0].f != "number" and (
            args[0][0].shape == loops and args[0][1] == tuple((k, 0) for k in every)):
        return args[0][0]
    node = Node(f, args, loops, out, over, detail, args[0][0].line if f == "output" else _place())
    return node if f in ("input", "constant") else _KNOWN.setdefault((f, args, loops, out, over, repr(detail)), node)


def beyond(v: Node) -> bool:
    """Whether a node reads an argument before its beginning or behind its end."""
    return any(offset < 0 or offset + (1 if loop is None else v.loops[loop]) > size
               for arg, index in v.args for (loop, offset), size in zip(index, arg.shape, strict=True))


class Traced(NDArrayOperatorsMixin):
    """A recorded array. ``groups[k]`` are the axes of its node that make up axis k, none for an axis of length 1: so
    transposes, new axes and merged axes cost nothing.

    It has ``+ − * / ** @``, slices, comparisons, ``.T .mT .shape .ndim .size``, and takes the functions of numpy that
    ``FUNCTIONS`` lists, as methods, too. Raises Untraceable for anything else. What a comparison gives is a mask, whose
    numbers are 0 and 1, with numpy's operators for masks.
    """

    is_meta = True
    """Checks of values are left out, because there are none yet."""
    itemsize = 8
    __hash__ = object.__hash__

    def __init__(self, node: Node, groups: Iterable[Iterable[int]], mask: bool = False) -> None:
        self.node: Node = node
        self.groups: tuple[tuple[int, ...], ...] = tuple(tuple(group) for group in groups)
        self.mask: bool = mask

    @property
    def dtype(self) -> np.dtype[Any]:
        """As of a numpy array."""
        return np.dtype(bool if self.mask else float)

    @property
    def shape(self) -> tuple[int, ...]:
        """As of a numpy array."""
        return tuple(prod(self.node.shape[k] for k in group) for group in self.groups)

    @property
    def ndim(self) -> int:
        """As of a numpy array."""
        return len(self.groups)

    @property
    def size(self) -> int:
        """As of a numpy array."""
        return prod(self.shape)

    @property
    def T(self) -> "Traced":
        """As of a numpy array."""
        return Traced(self.node, self.groups[::-1], self.mask)

    @property
    def mT(self) -> "Traced":
        """As of a numpy array."""
        return self.swapaxes(-1, -2)

    def __repr__(self) -> str:
        return f"a recorded array of shape {self.shape}"

    def __len__(self) -> int:
        return self.shape[0] if self.groups else _refuse("len() of a number")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in FUNCTIONS:
            return lambda *args, **options: _call(f".{name}()", name, (self, *args), options)
        raise UntraceableName(f"{_line()}: a recorded array has no .{name}; it has + − * / ** @, slices, comparisons, "
                              f".T .mT .shape, and as methods or as np.… {listed()}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> "Traced":
        arrays = (Traced, np.ndarray, np.generic)
        if any(hasattr(type(x), "__array_ufunc__") and not isinstance(x, arrays) for x in inputs):
            return NotImplemented  # a model knows itself what a number times it is
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return _call(f"np.{name}" if hasattr(np, ufunc.__name__) else name, name, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> "Traced":
        said = f"{function.__module__}.{function.__name__}".replace("numpy", "np")
        return _call(said, said.removeprefix("np.").replace("linalg.norm", "norm"), args, options)

    def swapaxes(self, i: int, j: int) -> "Traced":
        """As of a numpy array."""
        groups = list(self.groups)
        groups[i], groups[j] = groups[j], groups[i]
        return Traced(self.node, groups, self.mask)

    def transpose(self, *axes: Any) -> "Traced":
        """As of a numpy array."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)) else axes
        order = range(self.ndim)[::-1] if not order else [int(k) % max(1, self.ndim) for k in order]
        if sorted(order) != list(range(self.ndim)):
            _refuse(f"transpose of an array of {self.ndim} axes to {axes}")
        return Traced(self.node, [self.groups[k] for k in order], self.mask)

    def astype(self, dtype: Any, **_: Any) -> "Traced":
        """As of a numpy array, to floating-point numbers; a mask also to whole ones."""
        kind = np.dtype(dtype)
        if kind == self.dtype:
            return self
        if kind is not np.dtype(float) and not (self.mask and kind.kind in "iu"):
            _refuse(f"astype({kind}); a program computes in double precision")
        return Traced(self.node, self.groups)

    def reshape(self, *shape: int | tuple[int, ...], order: str = "C") -> "Traced":
        """As of a numpy array, row by row."""
        if order != "C":
            _refuse(f"reshape with order={order!r}; transpose before and after it")
        wanted = [int(s) for s in (shape[0] if isinstance(shape[0], (tuple, list)) else shape)]  # pyright: ignore
        if wanted.count(-1) == 1:
            wanted[wanted.index(-1)] = self.size // max(1, -prod(wanted))
        if prod(wanted) != self.size or min(wanted, default=1) < 1:
            _refuse(f"reshape of {self.shape} to {shape}")
        atoms = [k for group in self.groups for k in group]
        ends = np.cumprod([1, *(self.node.shape[k] for k in atoms)]).tolist()
        cuts = np.cumprod([1, *wanted]).tolist()
        if not set(cuts) <= set(ends):
            return _laid_out(self, wanted)
        return Traced(self.node, [atoms[ends.index(a):ends.index(b)] for a, b in pairwise(cuts)], self.mask)

    def __getitem__(self, key: Any) -> "Traced":
        key = key if isinstance(key, tuple) else (key,)
        missing = self.ndim - sum(k is not None and k is not Ellipsis for k in key)
        if missing < 0:
            _refuse(f"{self.ndim - missing} indices of an array of {self.ndim} axes")
        at = next((place for place, k in enumerate(key) if k is Ellipsis), len(key))
        key = (*key[:at], *[slice(None)] * missing, *key[at + 1:])
        if any(len(group) > 1 for group in self.groups) and any(k not in (None, slice(None)) for k in key):
            return _laid_out(self, self.shape)[key]
        index, loops, groups, own = [(None, 0)] * len(self.node.shape), [], [], iter(self.groups)
        for k in key:
            group = () if k is None else next(own)
            first, length = (0, 1) if k is None else _part(k, prod(self.node.shape[axis] for axis in group))
            for axis in group:
                index[axis] = (None if length == 1 else len(loops) + group.index(axis), first)
            kept = group if length > 1 else ()
            if not isinstance(k, (int, np.integer)):
                groups.append(range(len(loops), len(loops) + len(kept)))
            loops += [min(length, self.node.shape[axis]) for axis in kept]
        return Traced(_node("id", [(self.node, tuple(index))], loops), groups, self.mask)


class UntraceableName(Untraceable, AttributeError):
    """A name that recorded arrays have not."""


def _part(key, size):
    """Where an index of an axis begins, and how many entries it takes."""
    if isinstance(key, slice):
        first, stop, step = key.indices(size)
        if step == 1 and stop > first:
            return first, stop - first
    elif isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        return (int(key) % size, 1) if -size <= key < size else _refuse(f"the index {key} of an axis of {size}")
    said = repr(key) if isinstance(key, (int, slice)) else f"of type {type(key).__name__}"
    return _refuse(f"the index {said} of an axis of {size}; slices, None and whole numbers in it are recorded, masks, "
                   "lists and steps not: choose by np.where(mask, x, 0), or multiply by rows of 0 and 1")


def _axes(x, axis):
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    if any(not -x.ndim <= k < x.ndim for k in axes):
        _refuse(f"axis {axis} of an array of {x.ndim} axes")
    return [k % x.ndim for k in axes]


def array(name: str, shape: Sequence[int], mask: bool = False) -> Traced:
    """The input of this name; a ``mask`` has the numbers 0 and 1."""
    return _of_shape(shape, "input", detail=name, mask=mask)


def _of_shape(shape, f, args=(), detail=None, mask=False):
    """A node each of whose axes is one of this shape; those of length 1 have none."""
    groups, sizes = [], []
    for size in shape:
        groups.append([len(sizes)] * (size != 1))
        sizes += [int(size)] * (size != 1)
    return Traced(_node(f, args, sizes, detail=detail), groups, mask)


def _filled(value, shape):
    """As np.full, the other way round."""
    return _of_shape(shape, "id", [(recorded(value).node, ())])


def recorded(x: Any) -> Traced:
    """A recorded array as it is; numbers that a formula brings along, one or an array of them, become part of it."""
    if isinstance(x, Traced):
        return x
    if isinstance(x, (numbers.Real, np.bool_)):
        return Traced(_node("number", detail=float(x)), (), mask=isinstance(x, (bool, np.bool_)))
    if isinstance(x, np.ma.MaskedArray):
        _refuse("a recorded array meets a masked array; say what stands for masked entries: x.filled(0)")
    if not isinstance(x, (np.ndarray, np.generic)) or x.dtype.kind not in "fiub":
        _refuse(f"a recorded array meets {getattr(x, 'dtype', type(x).__name__)}; a program has real numbers")
    if not x.ndim:
        return recorded(x.item())
    return _of_shape(x.shape, "constant", detail=x.astype(float).squeeze(), mask=x.dtype == bool)


def in_order(x: Traced, f: str = "id", detail: str | None = None) -> Traced:
    """An array whose node has its axes in their order."""
    order = [k for group in x.groups for k in group]
    return _stored(_node(f, [(x.node, tuple((order.index(k), 0) for k in range(len(order))))],
                         [x.node.shape[k] for k in order], detail=detail))


def _laid_out(x, shape):
    """The numbers of x as they lie in memory, read in another shape: each axis of it is one of its node."""
    node = in_order(x).node
    return _of_shape(shape, "reshape", [(node, tuple((k, 0) for k in range(len(node.shape))))], mask=x.mask)


def _axis_by_axis(x, shape):
    """A node with an axis for each of x, also where it is the same all along it."""
    if any(len(group) > 1 for group in x.groups):
        x = _laid_out(x, x.shape)
    axis = {own: k for k, group in enumerate(x.groups) for own in group}
    return _node("id", [(x.node, tuple((axis[own], 0) for own in range(len(axis))))], shape)


def _comprehension(f, arrays, labels, target, over=None):
    """f of arrays whose axes carry labels, ``over`` those not in ``target``, whose own have length 1."""
    loops, where, args = [], {}, []
    for x, own in zip(arrays, labels, strict=True):
        at = {}
        for label, group in zip(own, x.groups, strict=True):
            if not group:
                continue
            sizes = [x.node.shape[k] for k in group]
            if label not in where:
                where[label] = range(len(loops), len(loops) + len(group))
                loops += sizes
            met = [loops[k] for k in where[label]]
            if prod(sizes) != prod(met):
                _refuse(f"arrays of shapes {' and '.join(str(a.shape) for a in arrays)} do not fit together")
            if sizes != met:  # an axis that was merged meets one that was not
                return _comprehension(f, [_laid_out(a, a.shape) for a in arrays], labels, target, over)
            at |= zip(group, where[label], strict=True)
        args.append((x.node, tuple((at[axis], 0) for axis in range(len(at)))))
    out = [k for label in target for k in where.get(label, ())]
    places = iter(range(len(out)))
    return Traced(_node(f, args, loops, out, over if len(out) < len(loops) else None),
                  [[next(places) for _ in where.get(label, ())] for label in target])


def elementwise(f: str, *args: "Traced | float") -> Traced:
    """A function of numbers, of arrays entry by entry, with numpy's broadcasting."""
    arrays = [recorded(x) for x in args]
    rank = max(x.ndim for x in arrays)
    return _comprehension(f, arrays, [range(rank - x.ndim, rank) for x in arrays], range(rank))


def _reduced(over, x, axis, keepdims):
    gone = _axes(x, axis)
    target = [None if k in gone else k for k in range(x.ndim) if keepdims or k not in gone]
    return _comprehension("id", [x], [range(x.ndim)], target, over)


def matmul(a: "Traced | np.ndarray", b: "Traced | np.ndarray") -> Traced:
    """As np.matmul."""
    a, b = recorded(a), recorded(b)
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-min(2, b.ndim)]:
        _refuse(f"a product of shapes {a.shape} and {b.shape}")
    left, right = ([*range(2 - x.ndim, 0)] for x in (a, b))
    rows, columns = ["i"] * (a.ndim > 1), ["j"] * (b.ndim > 1)
    target = [*max(left, right, key=len), *rows, *columns]
    return _comprehension("multiply", [a, b], [[*left, *rows, "r"], [*right, "r", *columns]], target, "sum")


def einsum(subscripts: str, *arrays: Traced, **_: Any) -> Traced:
    """As np.einsum, with its result spelled out; several arrays are multiplied from the left."""
    labels, arrow, target = subscripts.replace(" ", "").partition("->")
    own = labels.split(",")
    if not arrow or "." in labels or any(len(set(part)) < len(part) for part in own) or len(own) != len(arrays):
        _refuse(f"einsum({subscripts!r}) of {len(arrays)}; no letter twice in one array, and the result after ->")
    if len(arrays) > 2:
        kept = "".join(letter for letter in dict.fromkeys(own[0] + own[1]) if letter in "".join([target, *own[2:]]))
        first = einsum(f"{own[0]},{own[1]}->{kept}", *arrays[:2])
        return einsum(f"{','.join([kept, *own[2:]])}->{target}", first, *arrays[2:])
    return _comprehension("multiply" if len(arrays) == 2 else "id", list(map(recorded, arrays)), own, target, "sum")


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Traced:
    """As np.concatenate: the sum of the arrays, each of which is 0 beyond its ends."""
    arrays = [recorded(x) for x in arrays]
    if axis is None:
        _refuse("concatenate with axis=None; ravel the arrays first")
    axis = axis % arrays[0].ndim
    if len({(*x.shape[:axis], *x.shape[axis + 1:]) for x in arrays}) > 1:
        _refuse(f"concatenate of shapes {', '.join(str(x.shape) for x in arrays)} along axis {axis}, which do not fit")
    ends = [*accumulate(x.shape[axis] for x in arrays)]
    shape = [*arrays[0].shape[:axis], ends[-1], *arrays[0].shape[axis + 1:]]
    loops = [group[0] if group else None for group in array("", shape).groups]
    return _of_shape(shape, "concatenate" if len(arrays) > 1 else "id", [
        (_axis_by_axis(x, x.shape), tuple((loop, (x.shape[axis] - end) * (k == axis)) for k, loop in enumerate(loops)))
        for x, end in zip(arrays, ends, strict=True)])


def _numbers(x):
    """A mask as the numbers 0 and 1."""
    return Traced(x.node, x.groups) if isinstance(x, Traced) and x.mask else x


def _mask(x):
    """The numbers 0 and 1 as a mask."""
    return Traced(x.node, x.groups, mask=True)


def _sign(a):
    """1, 0 or −1."""
    return elementwise("subtract", a > 0, a < 0)


PARTIALS: dict[str, Callable[..., list[Any]]] = {
    **dict.fromkeys(("id", "concatenate"), lambda v, *parts: [1] * len(parts)), "negative": lambda v, a: [-1],
    "add": lambda v, a, b: [1, 1], "subtract": lambda v, a, b: [1, -1], "multiply": lambda v, a, b: [b, a],
    "divide": lambda v, a, b: [1 / b, -v / b], "absolute": lambda v, a: [_sign(a)],
    "exp": lambda v, a: [v], "log": lambda v, a: [1 / a], "sqrt": lambda v, a: [0.5 / v],
    "log1p": lambda v, a: [1 / (1 + a)], "expm1": lambda v, a: [1 + v], "arctan": lambda v, a: [1 / (1 + a * a)],
    "tanh": lambda v, a: [1 - v * v], "sin": lambda v, a: [np.cos(a)], "cos": lambda v, a: [-np.sin(a)],
    "logaddexp": lambda v, a, b: [np.exp(a - v), np.exp(b - v)],
    **dict.fromkeys(("equal", "greater", "less", "greater_equal", "less_equal"), lambda v, a, b: [0, 0])}
"""Elementwise function → its value and arguments → its derivatives, by which a slope is multiplied."""


def _larger_of(slope, v, a, b):
    """Where two arguments are tied each gets half, as of a maximum over an axis."""
    return [np.where(one > other, slope, np.where(one == other, 0.5 * slope, 0.0)) for one, other in ((a, b), (b, a))]


def _smaller_of(slope, v, a, b):
    return _larger_of(slope, v, b, a)


def _chosen_of(slope, v, condition, a, b):
    """What was not chosen gets 0, also of an infinite slope."""
    return [0, np.where(condition, slope, 0.0), np.where(condition, 0.0, slope)]


def _power_of(slope, v, a, b):
    """b a^(b−1), which is 0 for b = 0 also at a = 0; and a^b log a, which is 0 at a = 0 for b ≥ 0."""
    by_base = slope * (b * a ** (b - 1))
    by_exponent = slope * (v * np.log(a))
    return [by_base if b.node.f == "number" and b.node.detail else np.where(b == 0, 0.0, by_base),
            np.where((a == 0) & (b >= 0), 0.0, by_exponent)]


def _norm_of(slope, v, squared):
    """Of the root that is a norm: 0 at 0."""
    return [np.where(v > 0, slope * (0.5 / v), 0.0)]


PULLBACKS: dict[str, Callable[..., list[Any]]] = {
    "maximum": _larger_of, "minimum": _smaller_of, "where": _chosen_of, "power": _power_of, "norm": _norm_of}
"""Elementwise function that chooses → the slope, its value and arguments → a slope for each argument.

A product with 0 would not do: an infinite slope of what was not chosen would become NaN."""


def _power(x, power):
    """As np.power, by something simpler where there is."""
    simpler: dict[Any, Callable[[], Traced]] = {
        0: lambda: _filled(1.0, x.shape), 1: lambda: x, 2: lambda: x * x, -1: lambda: 1 / x, 0.5: lambda: np.sqrt(x)}
    plain = isinstance(power, numbers.Real) and isinstance(x, Traced) and power in simpler
    return simpler[power]() if plain else elementwise("power", x, power)


def _clip(x, low=None, high=None, min=None, max=None):  # numpy has both names of either bound
    """As np.clip. At a bound the slope is still x's."""
    low, high = (low if min is None else min), (high if max is None else max)
    if low is not None:
        x = np.where(x < low, low, x)
    if high is not None:
        x = np.where(x > high, high, x)
    return x


def _norm(x, ord=None, axis=None, keepdims=False):
    """As np.linalg.norm, the Euclidean one; its slope at 0 is 0."""
    if ord is not None:  # whatever numpy would take beside the Euclidean one
        _refuse(f"np.linalg.norm of order {ord}; only the Euclidean norm is recorded, which has none")
    squared = (x * x).sum(axis, keepdims)
    return Traced(_node("sqrt", [(squared.node, tuple((k, 0) for k in range(len(squared.node.shape))))],
                        squared.node.shape, detail="norm"), squared.groups)


def _where(condition, a, b):
    chosen = elementwise("where", elementwise("subtract", 1, elementwise("equal", condition, 0)), a, b)
    return _mask(chosen) if _is_mask(a) and _is_mask(b) else chosen


def _kept(function):
    """A function of arrays, or of an array and its axes, that of masks gives a mask."""
    def kept(x, *args, **options):
        found = function(x, *args, **options)
        parts = x if isinstance(x, (list, tuple)) else [x]
        return _mask(found) if all(map(_is_mask, parts)) else found
    return kept


def _is_mask(x):
    """Whether numpy would compute with x as with a mask."""
    return x.mask if isinstance(x, Traced) else isinstance(x, bool) or str(getattr(x, "dtype", "")) == "bool"


for _name, _what in {
        "bool": "a branch on the values of an array or of a slider, which a program has not yet; choose by np.where",
        "iter": "a loop over the rows of an array; write the formula for the whole array, or loop over range(len(…))",
        "float": "float() of a recorded array: its numbers come when the program runs; leave float() out",
        "index": "int() of a recorded number, or its use as an index or a size: its value comes when the program runs",
        "format": "the text of a recorded number: its value comes when the program runs", **dict.fromkeys(
            ("floordiv", "rfloordiv", "mod", "rmod", "divmod", "round"), "//, % or round() of an array: not recorded"),
        "contains": "in: a branch on the values of an array; choose by np.where",
        "setitem": "a write into an array; make a new one, by np.where or np.concatenate",
        "array": "this function asks for the numbers of an array, which come when the program runs; arrays are joined "
                 "by np.stack or np.concatenate"}.items():
    setattr(Traced, f"__{_name}__", lambda *_, what=_what, **__: _refuse(what))

def _compared(f):
    return lambda a, b: _mask(elementwise(f, a, b))


def _stack(arrays, axis=0):
    """As np.stack."""
    arrays = [recorded(x) for x in arrays]
    before = (slice(None),) * (axis % (arrays[0].ndim + 1))
    return concatenate([x[(*before, None)] for x in arrays], axis)


def _smallest(x, axis=None, keepdims=False):
    return elementwise("negative", _reduced("max", elementwise("negative", x), axis, keepdims))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: (lambda *args, f=name: elementwise(f, *args)) for name in (*PARTIALS, "maximum", "minimum", "power")
       if name != "id"},
    **{name: _compared(name) for name in ("equal", "greater", "less", "greater_equal", "less_equal")},
    "not_equal": lambda a, b: _mask(elementwise("subtract", 1, elementwise("equal", a, b))),
    "abs": lambda x: elementwise("absolute", x), "power": _power, "square": lambda x: x * x, "sign": _sign,
    "where": _where, "clip": _clip, "norm": _norm,
    "any": lambda x, axis=None, keepdims=False: _mask(_reduced("max", x != 0, axis, keepdims)),
    "all": lambda x, axis=None, keepdims=False: _mask(_smallest(x != 0, axis, keepdims)),
    "softplus": lambda x: elementwise("logaddexp", 0, x), "matmul": matmul, "einsum": einsum,
    "ravel": lambda x: x.reshape(-1), "copy": lambda x: x, "outer": lambda a, b: a.reshape(-1, 1) * b.reshape(-1),
    "concatenate": _kept(concatenate), "swapaxes": Traced.swapaxes, "reshape": Traced.reshape,
    "stack": _kept(_stack),
    **dict.fromkeys(("max", "amax"), _kept(lambda x, axis=None, keepdims=False: _reduced("max", x, axis, keepdims))),
    **dict.fromkeys(("min", "amin"), _kept(_smallest)),
    "sum": lambda x, axis=None, keepdims=False: _reduced("sum", x, axis, keepdims),
    "mean": lambda x, axis=None, keepdims=False: x.sum(axis, keepdims) / prod(x.shape[k] for k in _axes(x, axis)),
    "transpose": lambda x, axes=None: x.transpose(*(axes or ())), "astype": Traced.astype,
    "matrix_transpose": lambda x: x.mT, "dot": lambda a, b: (
        matmul(a, b) if a.ndim < 3 > b.ndim else _refuse("np.dot of more than two axes; write a @ b or np.einsum")),
    "shape": lambda x: x.shape, "ndim": lambda x: x.ndim, "size": lambda x: x.size,
    "broadcast_to": lambda x, shape: x + _filled(0.0, shape), "zeros_like": lambda x: _filled(0.0, x.shape),
    "ones_like": lambda x: _filled(1.0, x.shape)}
"""What a formula may call: numpy's functions of these names."""

OF_MASKS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("add", "bitwise_or", "logical_or", "maximum"), lambda a, b: _mask(elementwise("maximum", a, b))),
    **dict.fromkeys(("multiply", "bitwise_and", "logical_and", "minimum"),
                    lambda a, b: _mask(elementwise("multiply", a, b))),
    **dict.fromkeys(("bitwise_xor", "logical_xor"), lambda a, b: a != b),
    **dict.fromkeys(("invert", "logical_not"), lambda a: _mask(elementwise("subtract", 1, a))),
    **dict.fromkeys(("absolute", "abs"), lambda a: a),
    "subtract": lambda a, b: _refuse("− of two masks, which numpy refuses; write a != b, or a & ~b"),
    "negative": lambda a: _refuse("− of a mask, which numpy refuses; write ~a"),
    **dict.fromkeys(("matmul", "dot", "einsum"), lambda *_: _refuse(
        "a product of two masks is a mask in numpy, not a count; write a.astype(float)"))}
"""What numpy's functions do where all their arguments are masks."""
KEEP_MASKS = ("where", "concatenate", "stack", "max", "amax", "min", "amin", "ravel", "copy", "swapaxes", "reshape",
              "transpose", "matrix_transpose", "astype", "equal", "not_equal")
"""Functions to which a mask is given as it is; to all others as the numbers 0 and 1."""


def listed() -> str:
    """The names of what a formula may call, as part of a sentence."""
    return ", ".join(sorted({*FUNCTIONS, *OF_MASKS}))


def _applied(name, args, options):
    """A function of numpy, with numpy's rules for masks."""
    operands = args[1:] if name == "einsum" else args
    if name in OF_MASKS and all(map(_is_mask, operands)):
        return OF_MASKS[name](*operands)
    if name.startswith("logical_"):
        return OF_MASKS[name](*(x if _is_mask(x) else recorded(x) != 0 for x in args))
    if name.startswith("bitwise_") or name == "invert":
        _refuse("&, |, ^ or ~ of numbers, which numpy has for masks and whole numbers alone; compare first: (x > 0)")
    if name not in KEEP_MASKS:
        args = [_numbers(x) for x in args]
    return FUNCTIONS[name](*args, **options)


def _call(said, name, args, options):
    out = options.pop("out", None)
    if out is not None and not (isinstance(out, tuple) and isinstance(out[0], Traced) and not out[0].ndim):
        _refuse(f"a write into an array by out= of {said}, or by +=, -=, *= or /=; make a new one: x = x + 1")
    if name not in FUNCTIONS and name not in OF_MASKS:
        _refuse(f"{said} is not among the functions that are recorded: {listed()}; mhalib.compiler.primitive adds one")
    try:
        return _applied(name, args, options)
    except TypeError as error:
        if isinstance(error, Untraceable):
            raise
        return _refuse(f"{said} with these arguments: {str(error).replace('<lambda>()', 'it')}")


def namespace() -> SimpleNamespace:
    """What ``mhalib._array.namespace`` gives for recorded arrays."""
    limits = np.finfo(float)
    return SimpleNamespace(**FUNCTIONS | {
        "norm": lambda x, axis: np.sqrt((x * x).sum(axis)), "ascontiguousarray": lambda x: x,
        "zeros": lambda shape: _filled(0.0, shape), "new_ones": lambda shape, like: _filled(1.0, shape),
        "eps": lambda x: float(limits.eps), "log_max": lambda x: float(np.log(limits.max))})


def topological(roots: Iterable[Node]) -> list[Node]:
    """All nodes that the roots need, each after what it needs itself."""
    order: dict[Node, None] = {}
    waiting = [(node, False) for node in roots][::-1]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            order[node] = None
        elif node not in order:
            waiting += [(node, True), *((arg, False) for arg, _ in reversed(node.args))]
        if len(order) > LONGEST:
            raise Untraceable(f"{node.line}: the program has more than {LONGEST} steps, because a loop was written "
                              "out; write the formula for whole arrays")
    return list(order)


def gradient(value: Traced, wrt: Sequence[Traced]) -> list[Traced]:
    """The derivatives of a recorded number with respect to inputs, each in the shape of its input.

    Reverse mode: every comprehension hands the derivative with respect to itself on to its arguments.

    Where there is no derivative it is what torch takes. Where several entries are largest, or the two arguments of
    ``maximum`` or ``minimum`` are equal, each gets an equal part. ``abs`` and the Euclidean norm have the slope 0 at 0,
    a power whose exponent is 0 has none, ``clip`` at a bound that of what is clipped; of ``where`` only what was chosen
    has one, but both branches are computed. A root has an infinite slope at 0, as has a logarithm.

    Raises TypeError if value is no number.
    """
    if not isinstance(value, Traced) or value.shape:
        raise TypeError(f"expected a loss that is one number and depends on the weights, got {value!r}")
    order, needed = topological([value.node]), {w.node for w in wrt}
    for v in order:
        if any(arg in needed for arg, _ in v.args):
            needed.add(v)
    slopes = {value.node: _filled(1.0, ())}
    for v in reversed(order):
        if v not in slopes or not v.args:
            continue
        _deriving.append(v)
        try:
            for arg, slope in _handed_on(v, slopes[v], needed):
                slopes[arg] = slopes[arg] + slope if arg in slopes else slope
        finally:
            _deriving.pop()
    return [slopes[w.node].reshape(w.shape) if w.node in slopes else _filled(0.0, w.shape) for w in wrt]


def _handed_on(v, slope, needed):
    """For each argument of node v that is needed: the derivative with respect to it, an axis for each of its axes."""
    if v.f == "reshape":
        yield v.args[0][0], _laid_out(slope, v.args[0][0].shape)
        return
    slope = _spread(slope, v.out, v)
    own, *args = (_spread(_stored(node), loops, v) for node, loops in (
        (v, v.out), *((arg, [loop for loop, _ in index]) for arg, index in v.args)))
    if v.over == "max":
        tied = elementwise("equal", args[0], own)
        slope = slope * tied / tied.sum([k for k in range(len(v.loops)) if k not in v.out], keepdims=True)
    kind = v.detail if v.f == "sqrt" and v.detail else v.f  # a root may be a norm
    parts = PULLBACKS[kind](slope, own, *args) if kind in PULLBACKS else PARTIALS[kind](own, *args)
    for (arg, index), part in zip(v.args, parts, strict=True):
        if arg not in needed or (isinstance(part, int) and part == 0):
            continue
        if kind in PULLBACKS:
            factors = [part]
        else:
            factors = [slope, part] if isinstance(part, Traced) else [slope if part == 1 else -slope]
        yield arg, _put_back(factors, v, arg, index)


def _stored(node):
    return Traced(node, [[k] for k in range(len(node.shape))])


def _spread(x, loops, v):
    """An array with an axis for each of ``loops``, as one with an axis for each loop of node v."""
    return Traced(x.node, [x.groups[loops.index(k)] if k in loops else () for k in range(len(v.loops))])


def _put_back(factors, v, arg, index):
    """The product of the factors, summed over the loops that the argument does not know, where it was read."""
    loops = [loop for loop, _ in index]
    labels = [range(len(v.loops))] * len(factors)
    found = _comprehension("multiply" if len(factors) == 2 else "id", factors, labels, loops, "sum")
    lost = prod(size for k, size in enumerate(v.loops) if k not in loops and not any(x.groups[k] for x in factors))
    part = _axis_by_axis(found if lost == 1 else found * lost, [1 if loop is None else v.loops[loop] for loop in loops])
    back = tuple((axis, -offset) for axis, (_, offset) in enumerate(index))
    return _stored(_node("id", [(part, back)], arg.shape))
