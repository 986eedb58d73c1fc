"""Arrays that record what a formula does with them: the loops of a program, and the gradient of what they recorded.

Every recorded array is one comprehension, ``value[out] = Σ f(args[index])`` or a maximum in place of the sum: numpy's
elementwise functions, sums, products of matrices, slices and transposes are all of this form. So the gradient is a
dozen lines for all of them, and a program is a list of loops (``mhalib.javascript``).

Sizes are numbers: a loop over ``range(X.shape[1])`` is written out, once for every token.
"""

import numbers
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

Index = tuple[tuple[int | None, int], ...]
"""Where an argument is read, an entry an axis: (which loop, plus how much), or (None, a fixed place)."""

LONGEST = 20_000
"""A program of more steps than this is refused: a loop over samples has been written out."""


class Untraceable(TypeError):
    """A formula does what no program can: the message names it, its file and its line, and what to write instead."""


def _line() -> str:
    """File and line of the formula that called into this module."""
    frame = sys._getframe(1)
    while frame.f_back and (frame.f_code.co_filename in (__file__, "<string>")  # a dataclass's own code
                            or "site-packages" in frame.f_code.co_filename):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"


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


HIDDEN = "are there random numbers, a write in place such as W *= 2, or a branch on the type of an array?"
"""Why a record may be another function than its formula."""


@dataclass(frozen=True, eq=False)
class Node:
    """One comprehension: ``f`` of the arguments at their indices, in loops of so many rounds; ``over`` those that are
    not in ``out``, "sum" or "max".

    ``detail`` is the value of a "number", the name of an "input", and for "concatenate" the loop and where each part
    begins.
    """

    f: str
    args: tuple[tuple["Node", Index], ...] = ()
    loops: tuple[int, ...] = ()
    out: tuple[int, ...] = ()
    over: str | None = None
    detail: Any = None
    line: str = field(default_factory=_line)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is stored."""
        return tuple(self.loops[k] for k in self.out)


_KNOWN: WeakValueDictionary[Any, Node] = WeakValueDictionary()


def _known(node: Node) -> Node:
    """The node of the same comprehension that is there already, or this one: what is written twice is computed once."""
    return _KNOWN.setdefault((node.f, node.args, node.loops, node.out, node.over, repr(node.detail)), node)


def _every(shape: Sequence[int]) -> Index:
    return tuple((k, 0) for k in range(len(shape)))


class Traced:
    """A recorded array. ``groups[k]`` are the axes of its node that make up axis k, none for an axis of length 1: so
    transposes, new axes and merged axes cost nothing.

    It has ``+ − * / ** @``, slices, comparisons, ``.T .mT .shape .ndim .size``, and takes the functions of numpy that
    ``FUNCTIONS`` lists, as methods, too. Raises Untraceable for anything else.
    """

    is_meta = True
    """Checks of values are left out, because there are none yet."""
    dtype: np.dtype[Any] = np.dtype(float)
    itemsize = 8

    def __init__(self, node: Node, groups: Iterable[Iterable[int]]) -> None:
        self.node: Node = node
        self.groups: tuple[tuple[int, ...], ...] = tuple(tuple(group) for group in groups)

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
        return Traced(self.node, self.groups[::-1])

    @property
    def mT(self) -> "Traced":
        """As of a numpy array."""
        return self.swapaxes(-1, -2)

    def __repr__(self) -> str:
        return f"a recorded array of shape {self.shape}"

    def __len__(self) -> int:
        if not self.groups:
            _refuse("len() of a number")
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in FUNCTIONS:
            return partial(FUNCTIONS[name], self)
        raise UntraceableName(f"{_line()}: a recorded array has no .{name}; it has + − * / ** @, slices, comparisons, "
                              f".T .mT .shape, and as methods or as np.… {LISTED}")

    def __bool__(self) -> bool:
        _refuse("a branch on the values of an array, which a program has not yet; choose by np.where or np.maximum")

    def __iter__(self) -> Any:
        _refuse("a loop over the rows of an array; write the formula for the whole array, or loop over range(len(…))")

    def __float__(self) -> float:
        _refuse("float() of a recorded array: its numbers come when the program runs")

    def __index__(self) -> int:
        _refuse("int() of a recorded number, or its use as an index or a size: its value comes when the program runs")

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse("a write into an array; make a new one, by np.where or np.concatenate")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        _refuse("this function asks for the numbers of an array, which come when the program runs")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> "Traced":
        return _call(f"np.{ufunc.__name__}", ufunc.__name__ if method == "__call__" else method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> "Traced":
        said = f"{function.__module__}.{function.__name__}".replace("numpy", "np")
        return _call(said, said.removeprefix("np.").replace("linalg.norm", "norm"), args, options)

    def swapaxes(self, i: int, j: int) -> "Traced":
        """As of a numpy array."""
        groups = list(self.groups)
        groups[i], groups[j] = groups[j], groups[i]
        return Traced(self.node, groups)

    def reshape(self, *shape: int | tuple[int, ...]) -> "Traced":
        """As of a numpy array."""
        wanted = [int(s) for s in (shape[0] if isinstance(shape[0], (tuple, list)) else shape)]  # pyright: ignore
        if wanted.count(-1) == 1:
            wanted[wanted.index(-1)] = self.size // max(1, -prod(wanted))
        if prod(wanted) != self.size or min(wanted, default=1) < 1:
            _refuse(f"reshape of {self.shape} to {shape}")
        atoms, groups = [k for group in self.groups for k in group], []
        for want in wanted:
            group: list[int] = []
            while prod(self.node.shape[k] for k in group) < want and atoms:
                group.append(atoms.pop(0))
            if prod(self.node.shape[k] for k in group) != want:
                return _laid_out(self, wanted)
            groups.append(group)
        return Traced(self.node, groups)

    def __getitem__(self, key: Any) -> "Traced":
        key = _whole(key if isinstance(key, tuple) else (key,), self.ndim)
        if any(len(group) > 1 for group in self.groups) and any(k not in (None, slice(None)) for k in key):
            return _laid_out(self, self.shape)[key]
        index, sizes, groups, at = list(_every(self.node.shape)), list(self.node.shape), [], 0
        for k in key:
            if k is None:
                groups.append(())
                continue
            group, at = self.groups[at], at + 1
            size = prod(self.node.shape[a] for a in group)
            first, stop, step = k.indices(size) if isinstance(k, slice) else (0, 0, 0)
            if step == 1 and stop > first:
                length = stop - first
                groups.append(group if length > 1 or length == size else ())  # one entry of many has no loop
                for axis in group if length < size else ():
                    index[axis], sizes[axis] = (axis if length > 1 else None, first), length
            elif isinstance(k, (int, np.integer)) and not isinstance(k, bool) and -size <= k < size:
                for axis in group:
                    index[axis] = (None, int(k) % size)
            else:
                said = repr(k) if isinstance(k, (int, slice)) else f"of type {type(k).__name__}"
                _refuse(f"the index {said} of an axis of {size}; slices, None and whole numbers in it are recorded, "
                        "masks, lists and steps not: choose by np.where(mask, x, 0), or multiply by rows of 0 and 1")
        kept = [k for k, (loop, _) in enumerate(index) if loop is not None]
        new = {k: place for place, k in enumerate(kept)}
        read = tuple((None if loop is None else new[loop], offset) for loop, offset in index)
        node = _known(Node("id", ((self.node, read),), tuple(sizes[k] for k in kept), tuple(range(len(kept)))))
        return Traced(node, [[new[k] for k in group] for group in groups])

    def __pow__(self, power: Any) -> "Traced":
        special: dict[Any, Callable[[], Traced]] = {
            0: lambda: ones(self.shape), 1: lambda: self, 2: lambda: self * self, -1: lambda: 1 / self,
            0.5: lambda: elementwise("sqrt", self)}
        plain = isinstance(power, numbers.Real) and power in special
        return special[power]() if plain else elementwise("power", self, power)


class UntraceableName(Untraceable, AttributeError):
    """A name that recorded arrays have not."""


def _whole(key, ndim):
    """The index with an entry for every axis."""
    real = [k for k in key if k is not None and k is not Ellipsis]
    if len(real) > ndim:
        _refuse(f"{len(real)} indices of an array of {ndim} axes")
    at = next((place for place, k in enumerate(key) if k is Ellipsis), len(key))
    return (*key[:at], *[slice(None)] * (ndim - len(real)), *key[at + 1:])


def _axes(x, axis):
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    if any(not -x.ndim <= k < x.ndim for k in axes):
        _refuse(f"axis {axis} of an array of {x.ndim} axes")
    return [k % x.ndim for k in axes]


def array(name: str, shape: Sequence[int]) -> Traced:
    """The input of this name."""
    atoms = [s for s in shape if s != 1]
    places = iter(range(len(atoms)))
    node = Node("input", loops=tuple(atoms), out=tuple(range(len(atoms))), detail=name)
    return Traced(node, [() if s == 1 else (next(places),) for s in shape])


def zeros(shape: Sequence[int]) -> Traced:
    """As np.zeros."""
    return _filled(0.0, shape)


def ones(shape: Sequence[int]) -> Traced:
    """As np.ones."""
    return _filled(1.0, shape)


def _number(value):
    return Traced(_known(Node("number", detail=float(value))), ())


def _filled(value, shape):
    return _broadcast(_number(value)[(None,) * len(shape)], shape)


def _broadcast(x, shape):
    """As np.broadcast_to, for as many axes as x has."""
    loops, index, groups = [], {}, []
    for size, own in zip(shape, x.groups, strict=True):
        sizes = [x.node.shape[k] for k in own] or [int(size)] * (size != 1)
        groups.append(range(len(loops), len(loops) + len(sizes)))
        index |= dict(zip(own, groups[-1], strict=bool(own)))
        loops += sizes
    read = tuple((index[k], 0) for k in range(len(x.node.shape)))
    return Traced(_known(Node("id", ((x.node, read),), tuple(loops), tuple(range(len(loops))))), groups)


def _laid_out(x, shape):
    """The numbers of x as they lie in memory, read in another shape: each axis of it is one of its node."""
    order = [k for group in x.groups for k in group]
    node = x.node
    if order != sorted(order):
        node = Node("id", ((node, tuple((order.index(k), 0) for k in range(len(order)))),),
                    tuple(node.shape[k] for k in order), tuple(range(len(order))))
    there = array("", shape)
    return Traced(Node("reshape", ((node, _every(node.shape)),), there.node.loops, there.node.out), there.groups)


def _comprehension(f, arrays, labels, target, over=None):
    """f of arrays whose axes carry labels, ``over`` those that ``target`` has not."""
    loops, where = [], {}
    for x, own in zip(arrays, labels, strict=True):
        for label, group in zip(own, x.groups, strict=True):
            sizes = [x.node.shape[k] for k in group]
            if not group:
                continue
            if label not in where:
                where[label] = list(range(len(loops), len(loops) + len(group)))
                loops.extend(sizes)
            if prod(sizes) != prod(loops[k] for k in where[label]):
                _refuse(f"arrays of shapes {' and '.join(str(a.shape) for a in arrays)} meet, whose axes do not fit")
            if sizes != [loops[k] for k in where[label]]:  # an axis that was merged meets one that was not
                return _comprehension(f, [_laid_out(a, a.shape) for a in arrays], labels, target, over)
    args = []
    for x, own in zip(arrays, labels, strict=True):
        loop = {axis: at for label, group in zip(own, x.groups, strict=True)
                for axis, at in zip(group, where.get(label, ()), strict=bool(group))}
        args.append((x.node, tuple((loop[axis], 0) for axis in range(len(x.node.shape)))))
    out = tuple(k for label in target for k in where.get(label, ()))
    node = _known(Node(f, tuple(args), tuple(loops), out, over if len(out) < len(loops) else None))
    places = iter(range(len(out)))
    return Traced(node, [[next(places) for _ in where.get(label, ())] for label in target])


def elementwise(f: str, *args: "Traced | float") -> Traced:
    """A function of numbers, of arrays entry by entry, with numpy's broadcasting."""
    arrays = [x if isinstance(x, Traced) else _number(x) for x in map(_plain, args)]
    rank = max(x.ndim for x in arrays)
    try:
        np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        _refuse(f"arrays of shapes {' and '.join(str(x.shape) for x in arrays)} do not broadcast")
    return _comprehension(f, arrays, [range(rank - x.ndim, rank) for x in arrays], range(rank))


def _plain(x):
    if isinstance(x, (Traced, numbers.Real, np.number)) or (isinstance(x, np.ndarray) and x.ndim == 0):
        return x if isinstance(x, Traced) else float(x)
    if isinstance(x, np.ndarray):
        return constant(x)
    return _refuse(f"a recorded array meets {type(x).__name__}")


def constant(values: np.ndarray) -> Traced:
    """An array of numbers that the formula brings along."""
    if values.dtype.kind not in "fiub":
        _refuse(f"an array of {values.dtype}; a program has real numbers")
    values = values.astype(float)
    found = array("", values.shape)
    return Traced(Node("constant", (), found.node.loops, found.node.out, None, values.reshape(found.node.shape)),
                  found.groups)


def _reduced(over, x, axis, keepdims):
    gone = set(_axes(x, axis))
    found = _comprehension("id", [x], [range(x.ndim)], [k for k in range(x.ndim) if k not in gone], over)
    groups = iter(found.groups)
    return Traced(found.node, [() if k in gone else next(groups) for k in range(x.ndim)]) if keepdims else found


def matmul(a: "Traced | np.ndarray", b: "Traced | np.ndarray") -> Traced:
    """As np.matmul."""
    a, b = (x if isinstance(x, Traced) else constant(x) for x in (a, b))
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
    arrays = tuple(x if isinstance(x, Traced) else constant(x) for x in arrays)
    return _comprehension("multiply" if len(arrays) == 2 else "id", list(arrays), own, target, "sum")


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Traced:
    """As np.concatenate."""
    if len(arrays) == 1:
        return arrays[0]
    arrays = [_axis_by_axis(x if isinstance(x, Traced) else constant(x)) for x in arrays]
    axis = axis % arrays[0].ndim
    if len({(*x.shape[:axis], *x.shape[axis + 1:]) for x in arrays}) > 1:
        _refuse(f"concatenate of shapes {', '.join(str(x.shape) for x in arrays)} along axis {axis}, which do not fit")
    axes = [k for k in range(arrays[0].ndim) if k == axis or any(x.groups[k] for x in arrays)]
    args, begins, total = [], [], 0
    for x in arrays:
        args.append((x.node, tuple((axes.index(k), 0) for k in axes if x.groups[k])))
        begins.append(total)
        total += x.shape[axis]
    loops = tuple(total if k == axis else arrays[0].shape[k] for k in axes)
    node = Node("concatenate", tuple(args), loops, tuple(range(len(axes))), detail=(axes.index(axis), tuple(begins)))
    return Traced(node, [[axes.index(k)] if k in axes else [] for k in range(arrays[0].ndim)])


def _axis_by_axis(x):
    """The same array with at most one axis of its node for each of its own, in order."""
    order = [k for group in x.groups for k in group]
    return x if order == sorted(order) and all(len(group) < 2 for group in x.groups) else _laid_out(x, x.shape)


def stack(arrays: Sequence[Traced], axis: int = 0) -> Traced:
    """As np.stack."""
    at = axis % (arrays[0].ndim + 1)
    return concatenate([x[(slice(None),) * at + (None,)] for x in arrays], at)


PARTIALS: dict[str, Callable[..., list[Any]]] = {
    "id": lambda v, a: [1], "add": lambda v, a, b: [1, 1], "subtract": lambda v, a, b: [1, -1],
    "negative": lambda v, a: [-1], "multiply": lambda v, a, b: [b, a], "divide": lambda v, a, b: [1 / b, -v / b],
    "exp": lambda v, a: [v], "log": lambda v, a: [1 / a], "sqrt": lambda v, a: [0.5 / v],
    "log1p": lambda v, a: [1 / (1 + a)], "expm1": lambda v, a: [1 + v], "arctan": lambda v, a: [1 / (1 + a * a)],
    "tanh": lambda v, a: [1 - v * v], "sin": lambda v, a: [elementwise("cos", a)],
    "cos": lambda v, a: [-elementwise("sin", a)],
    "logaddexp": lambda v, a, b: [elementwise("exp", a - v), elementwise("exp", b - v)],
    "maximum": lambda v, a, b: [a >= b, b > a], "minimum": lambda v, a, b: [a <= b, b < a],
    "absolute": lambda v, a: [elementwise("greater", a, 0) - elementwise("less", a, 0)],
    "power": lambda v, a, b: [b * a ** (b - 1), v * elementwise("log", a)], "where": lambda v, c, a, b: [0, c, 1 - c],
    **{name: lambda v, a, b: [0, 0] for name in ("equal", "greater", "less", "greater_equal", "less_equal")}}
"""Elementwise function → its value and arguments → its derivatives."""

for _name, _f in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "gt": "greater",
                  "lt": "less", "ge": "greater_equal", "le": "less_equal", "eq": "equal", "pow": "power",
                  "and": "multiply", "or": "maximum"}.items():
    if _name != "pow":
        setattr(Traced, f"__{_name}__", lambda a, b, f=_f: elementwise(f, a, b))
    setattr(Traced, f"__r{_name}__", lambda a, b, f=_f: elementwise(f, b, a))


def _in_place(x, other):
    return NotImplemented if not x.ndim else _refuse(  # a number is no array: a new one takes its name
        "a write into an array by +=, -=, *= or /=; make a new one: x = x + 1")


for _name in ("iadd", "isub", "imul", "itruediv", "imatmul", "ipow"):
    setattr(Traced, f"__{_name}__", _in_place)
Traced.__matmul__ = matmul  # pyright: ignore
Traced.__rmatmul__ = lambda a, b: matmul(b, a)  # pyright: ignore
Traced.__neg__ = lambda a: elementwise("negative", a)  # pyright: ignore
Traced.__ne__ = lambda a, b: 1 - elementwise("equal", a, b)  # pyright: ignore
Traced.__invert__ = lambda a: 1 - a  # pyright: ignore
Traced.__hash__ = object.__hash__  # pyright: ignore
Traced.__abs__ = lambda a: elementwise("absolute", a)  # pyright: ignore

FUNCTIONS: dict[str, Callable[..., Traced]] = {
    **{name: (lambda *args, f=name: elementwise(f, *args)) for name in PARTIALS if name != "id"},
    "abs": lambda x: elementwise("absolute", x), "power": lambda x, p: x ** p, "square": lambda x: x * x,
    "not_equal": lambda a, b: 1 - elementwise("equal", a, b), "sign": lambda x: (x > 0) - (x < 0),
    "where": lambda c, a, b: elementwise("where", 1 - elementwise("equal", c, 0), a, b),
    "clip": lambda x, low, high: elementwise("minimum", elementwise("maximum", x, low), high),
    "softplus": lambda x: elementwise("logaddexp", 0, x), "matmul": matmul, "einsum": einsum,
    "norm": lambda x, ord=None, axis=None, keepdims=False: (  # ord: whatever numpy would take beside the Euclidean one
        (x * x).sum(axis, keepdims) ** 0.5 if ord is None else _refuse(f"np.linalg.norm of order {ord}")),
    "ravel": lambda x: x.reshape(-1), "copy": lambda x: x, "outer": lambda a, b: a.reshape(-1, 1) * b.reshape(-1),
    "concatenate": concatenate, "stack": stack, "swapaxes": Traced.swapaxes, "reshape": Traced.reshape,
    **dict.fromkeys(("max", "amax"), lambda x, axis=None, keepdims=False: _reduced("max", x, axis, keepdims)),
    **dict.fromkeys(("min", "amin"), lambda x, axis=None, keepdims=False: -_reduced("max", -x, axis, keepdims)),
    "sum": lambda x, axis=None, keepdims=False: _reduced("sum", x, axis, keepdims),
    "mean": lambda x, axis=None, keepdims=False: (
        x.sum(axis, keepdims) / prod(x.shape[k] for k in _axes(x, axis))),
    "transpose": lambda x, axes=None: Traced(x.node, [x.groups[k] for k in axes or range(x.ndim)[::-1]]),
    "matrix_transpose": lambda x: x.mT, "dot": lambda a, b: matmul(a, b) if a.ndim < 3 > b.ndim else _refuse("np.dot"),
    "zeros_like": lambda x: zeros(x.shape), "ones_like": lambda x: ones(x.shape)}
"""What a formula may call: numpy's functions of these names."""
LISTED = ", ".join(sorted(FUNCTIONS))


def _call(said, name, args, options):
    if options.pop("out", None) is not None:
        _refuse(f"{said} with out=: a write into an array; take what the function returns")
    if name not in FUNCTIONS:
        _refuse(f"{said} is not among the functions that are recorded: {LISTED}")
    try:
        return FUNCTIONS[name](*args, **options)
    except TypeError as error:
        if isinstance(error, Untraceable):
            raise
        return _refuse(f"{said} with these arguments: {error}")


def namespace() -> SimpleNamespace:
    """What ``mhalib._array.namespace`` gives for recorded arrays."""
    limits = np.finfo(float)
    return SimpleNamespace(**FUNCTIONS | {
        "norm": lambda x, axis: FUNCTIONS["norm"](x, None, axis), "ascontiguousarray": lambda x: x, "zeros": zeros,
        "new_ones": lambda shape, like: ones(shape), "eps": lambda x: float(limits.eps),
        "log_max": lambda x: float(np.log(limits.max))})


def topological(roots: Iterable[Node]) -> list[Node]:
    """All nodes that the roots need, each after what it needs itself."""
    order: dict[Node, None] = {}
    waiting = [(node, False) for node in roots][::-1]
    while waiting:
        node, ready = waiting.pop()
        if node in order:
            continue
        if ready:
            order[node] = None
        else:
            waiting += [(node, True), *((arg, False) for arg, _ in reversed(node.args))]
        if len(order) > LONGEST:
            raise Untraceable(f"{node.line}: the program has more than {LONGEST} steps, because a loop was written "
                              "out; write the formula for whole arrays")
    return list(order)


def gradient(value: Traced, wrt: Sequence[Traced]) -> list[Traced]:
    """The derivatives of a recorded number with respect to inputs, each in the shape of its input.

    Reverse mode: every comprehension hands the derivative with respect to itself on to its arguments. Where several
    entries are largest, each gets an equal part of it.

    Raises TypeError if value is no number.
    """
    if not isinstance(value, Traced) or value.shape:
        raise TypeError(f"expected a loss that is one number and depends on the weights, got {value!r}")
    order, needed = topological([value.node]), {w.node for w in wrt}
    for v in order:
        if any(arg in needed for arg, _ in v.args):
            needed.add(v)
    slopes = {value.node: ones(value.node.shape)}
    for v in reversed(order):
        for arg, slope in _handed_on(v, slopes[v], needed) if v in slopes and v.args else ():
            slopes[arg] = slopes[arg] + slope if arg in slopes else slope
    return [_like(slopes[w.node], w) if w.node in slopes else zeros(w.shape) for w in wrt]


def _like(x, w):
    """An array with an axis for each axis of the node of w, as w has them."""
    return Traced(x.node, [[k for axis in group for k in x.groups[axis]] for group in w.groups])


def _handed_on(v, slope, needed):
    """For each argument of node v that is needed: the derivative with respect to it, an axis for each of its axes."""
    if v.f == "concatenate":
        joined, begins = v.detail
        for (arg, index), begin in zip(v.args, begins, strict=True):
            if arg in needed:
                axis = next((k for k, (loop, _) in enumerate(index) if loop == joined), None)
                length = 1 if axis is None else arg.shape[axis]
                part = slope[(slice(None),) * joined + (slice(begin, begin + length),)]
                yield arg, _put_back([part], v, arg, index)
        return
    if v.f == "reshape":
        yield v.args[0][0], _laid_out(slope, v.args[0][0].shape)
        return
    slope = _spread(slope, v.out, v)
    if v.f == "id" and v.over != "max":
        partials: list[Any] = [1]
    else:
        own = _spread(_stored(v), v.out, v)
        args = [_spread(_stored(arg), [loop for loop, _ in index], v) for arg, index in v.args]
        if v.over == "max":
            tied = elementwise("equal", args[0], own)
            slope = slope * tied / tied.sum([k for k in range(len(v.loops)) if k not in v.out], keepdims=True)
        partials = args[::-1] if v.f == "multiply" else PARTIALS[v.f](own, *args)
    for (arg, index), part in zip(v.args, partials, strict=True):
        if arg in needed and not (isinstance(part, int) and part == 0):
            factors = [slope, part] if isinstance(part, Traced) else [slope if part == 1 else -slope]
            yield arg, _put_back(factors, v, arg, index)


def _stored(node):
    return Traced(node, [[k] for k in range(len(node.shape))])


def _spread(x, loops, v):
    """An array with an axis for each of ``loops``, as one with an axis for each loop of node v."""
    loops = list(loops)
    return Traced(x.node, [x.groups[loops.index(k)] if k in loops else () for k in range(len(v.loops))])


def _put_back(factors, v, arg, index):
    """The product of the factors, summed over the loops that the argument does not know, where it was read."""
    loops = [loop for loop, _ in index]
    labels = [range(len(v.loops))] * len(factors)
    kept = [loop for loop in loops if loop is not None]
    found = _comprehension("multiply" if len(factors) == 2 else "id", factors, labels, kept, "sum")
    lost = prod(size for k, size in enumerate(v.loops)
                if k not in loops and v.f != "concatenate" and not any(x.groups[k] for x in factors))
    found = (found if lost == 1 else found * lost)[tuple(None if loop is None else slice(None) for loop in loops)]
    there = [1 if loop is None else min(v.loops[loop], arg.shape[axis]) for axis, loop in enumerate(loops)]
    found = found if found.shape == tuple(there) else _broadcast(found, there)
    for axis, (_, offset) in enumerate(index):
        rest = arg.shape[axis] - there[axis] - offset
        around = [zeros([*there[:axis], size, *there[axis + 1:]]) for size in (offset, rest)]
        parts = [part for part in (around[0], found, around[1]) if part.shape[axis]]
        found, there[axis] = concatenate(parts, axis), arg.shape[axis]
    return found


_NUMPY: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in PARTIALS if hasattr(np, name)}, "id": lambda a: a,
    "where": lambda c, a, b: np.where(c != 0, a, b)}


def evaluate(arrays: Sequence[Traced], inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What was recorded, computed by numpy, given the inputs by name.

    Raises KeyError for an input that is not given.
    """
    values: dict[Node, np.ndarray] = {}
    for v in topological(x.node for x in arrays):
        values[v] = _computed(v, values, inputs)
    return [values[x.node].transpose([k for group in x.groups for k in group]).reshape(x.shape) for x in arrays]


def _computed(v, values, inputs):
    if v.f == "number" or v.f == "constant":
        return np.asarray(v.detail)
    if v.f == "input":
        return np.asarray(inputs[v.detail], dtype=float).reshape(v.shape)
    if v.f == "concatenate":
        return np.concatenate([_read(values[arg], index, v) for arg, index in v.args], v.detail[0])
    if v.f == "reshape":
        return values[v.args[0][0]].reshape(v.shape)
    parts = [_read(values[arg], index, v) for arg, index in v.args]
    if v.f == "multiply" and v.over == "sum":
        every = list(range(len(v.loops)))
        return np.einsum(parts[0], every, parts[1], every, list(v.out), optimize=True)
    found = np.broadcast_to(np.asarray(_NUMPY[v.f](*parts), dtype=float), v.loops)
    gone = tuple(k for k in range(len(v.loops)) if k not in v.out)
    found = found if not gone else found.sum(axis=gone) if v.over == "sum" else found.max(axis=gone)
    order = sorted(v.out)
    return found.transpose([order.index(k) for k in v.out])


def _read(a, index, v):
    """An argument at its index, with an axis for each loop of node v."""
    sizes = [None if loop is None else min(v.loops[loop], a.shape[axis]) for axis, (loop, _) in enumerate(index)]
    part = a[tuple(offset if size is None else slice(offset, offset + size)
                   for size, (_, offset) in zip(sizes, index, strict=True))]
    loops = [loop for loop, _ in index if loop is not None]
    part = part.transpose(np.argsort(loops)) if loops else part
    return part[tuple(slice(None) if k in loops else None for k in range(len(v.loops)))]
