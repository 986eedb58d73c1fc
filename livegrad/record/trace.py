"""Arrays that record what a formula does with them.

Every recorded array is one comprehension, ``value[out] = Σ f(args[index])`` or a maximum in place
of the sum: numpy's elementwise functions, sums, products of matrices, slices and transposes are all
of this form. So one rule derives all of them (``derivatives.py``), and a program is a list of loops
(``loops.py``). Entries at places that are data have a form of their own, see ``picked``. What
numpy's functions record stands in ``functions.py``.

Sizes are numbers: a loop over ``range(X.shape[1])`` is written out, once for every token.
"""

import numbers
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import prod
from pathlib import Path
from site import getsitepackages, getusersitepackages
from sysconfig import get_path
from threading import local
from types import CodeType
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from livegrad.arrays import Recorded
from livegrad.vouched import PACKAGES

Index = tuple[tuple[int | None, int], ...]
"""Where an argument is read, one entry per axis: (which loop, plus how much), or (None, a fixed
place).

Before its beginning and past its end an argument is 0."""

LONGEST = 20_000
"""A program of more steps than this is refused: a loop over samples has been written out."""


class Untraceable(TypeError):
    """A formula does what no program can: the message names it, its file and its line, and what to
    write instead."""


class Recording:
    """What is known while a formula is recorded: what was refused in it, which nodes it has, and
    the step whose derivative is being recorded, at whose place the steps of that are said to stand.
    ``length`` is how many steps the formula has so far, without those of derivatives.

    ``asked_by`` is the code that asks for the record: what that calls is the formula.
    """

    def __init__(self, asked_by: CodeType | None = None) -> None:
        self.asked_by: CodeType | None = asked_by
        self.refused: list[Untraceable] = []
        self.known: WeakValueDictionary[Any, Node] = WeakValueDictionary()
        self.deriving: Node | None = None
        self.length: int = 0


class _Thread(local):
    """The recording of each thread: two may record at once."""

    def __init__(self) -> None:
        self.recording: Recording = Recording()


_thread = _Thread()


@contextmanager
def strictly() -> Iterator[None]:
    """Raise what a formula was refused in here, also if it has caught that itself: it went another
    way than on numbers.

    What is never refused can still make a record another function than the formula, see ``HIDDEN``:
    so the two are compared wherever a record is made.
    """
    # A recording of its own, also inside of another one: a loss may train a model of its own, and
    # what was written by another formula has another line. Frame 1 is that of the `with` itself.
    outer, own = _thread.recording, Recording(sys._getframe(2).f_code)
    _thread.recording = own
    try:
        yield
    except Untraceable:
        raise  # a caller may have added the name of a curve
    except Exception:
        # It was caught, and the formula went on without what it had asked for.
        if own.refused:
            raise own.refused[0] from None
        raise
    finally:
        _thread.recording = outer
    if own.refused:
        raise own.refused[0]


@contextmanager
def deriving(v: "Node") -> Iterator[None]:
    """Say of the steps that are recorded in here that they stand where v stands, whose derivative
    they make."""
    _thread.recording.deriving = v
    try:
        yield
    finally:
        _thread.recording.deriving = None


def refuse(what: str) -> NoReturn:
    """Raise Untraceable with the file and line of the formula."""
    refused = Untraceable(f"{_line()}: {what}")
    # Kept as well as raised: a formula may catch it, and `strictly` raises it then.
    _thread.recording.refused.append(refused)
    raise refused


def _place():
    """File and line of a step."""
    v = _thread.recording.deriving
    return _line() if v is None else f"{v.line}, in the derivative of {v.f}"


_INSTALLED = tuple(
    path + os.sep for path in (get_path("stdlib"), *getsitepackages(), getusersitepackages())
)
"""The folders of Python's own modules and of installed packages."""


_OWN = __name__.partition(".")[0]


def _line() -> str:
    """File and line of the formula that is recorded: the innermost line that is neither NumPy's nor
    this package's, nor of one whose models are ``vouched``, nor of another library that the formula
    calls.

    A formula may be installed itself; and that of a vouched model has its own line.
    """
    frame, installed, ours = sys._getframe(1), [], None
    while frame and frame.f_code is not _thread.recording.asked_by:
        # What a dataclass wrote itself, such as its __eq__, is nobody's line.
        if not frame.f_code.co_qualname.startswith("__create_fn__."):
            package = _package(frame)
            if package not in (_OWN, "numpy") and package not in PACKAGES:
                if not frame.f_code.co_filename.startswith(_INSTALLED):
                    return _said(frame)
                installed.append(frame)
            elif ours is None and _is_formula_of_ours(frame):
                ours = frame
        frame = frame.f_back
    # The outermost of them is the formula; what it calls of other packages is a library's.
    of_formula = [each for each in installed if _package(each) == _package(installed[-1])]
    return _said(of_formula[0] if of_formula else ours or sys._getframe(1))


def _package(frame):
    """The package or module that the code of a frame belongs to: its name and not its path, for a
    folder may have any name, and a package lie in an archive."""
    return frame.f_globals.get("__name__", "").partition(".")[0]


def _is_formula_of_ours(frame):
    return _package(frame) != "numpy" and frame.f_globals.get("__package__") != __package__


def _said(frame):
    return f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"


HIDDEN = (
    "are there random numbers, a count of calls, a write in place such as W *= 2, a branch on the "
    "type of an array, or small whole numbers that wrap around, which a.astype(float) mends?"
)
"""Why a record may be another function than its formula."""


@dataclass(frozen=True, eq=False)
class Node:
    """One comprehension: ``f`` of the arguments at their indices, in loops of so many rounds.

    ``out`` are the loops that are axes of the result. Those that are not are reduced, by what
    ``over`` says: "sum" or "max". Of ``X @ w`` with X (5, 3) the loops are (5, 3), out is (0,) and
    over "sum"; X is read at ((0, 0), (1, 0)), one entry per axis, of a loop and what is added to it,
    and w at ((1, 0),). A "reshape" alone is none: it reads the numbers of its argument in another
    shape.

    ``detail`` is the value of a "number" or "constant", the name of an "input" or "output", and
    "norm" of a root that is one.
    """

    f: str
    args: tuple[tuple["Node", Index], ...]
    loops: tuple[int, ...]
    out: tuple[int, ...]
    over: str | None
    detail: Any
    line: str

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is stored."""
        return tuple(self.loops[k] for k in self.out)

    def __deepcopy__(self, _: object) -> "Node":
        """Itself, which nothing changes: of a copy nobody would know that it is the same weight."""
        return self

    def __reduce_ex__(self, _: object) -> NoReturn:
        refuse("a recorded array is pickled: its numbers come when the program runs")


def node_of(
    f: str,
    args: Iterable[tuple[Node, Index]] = (),
    loops: Iterable[int] = (),
    out: Iterable[int] | None = None,
    over: str | None = None,
    detail: Any = None,
) -> Node:
    """A node, or the one that is equal: what is written twice is computed once. A view of a whole
    array is that array."""
    args, loops, every = tuple(args), tuple(loops), tuple(range(len(loops)))
    out = every if out is None else tuple(out)
    if (
        (f, out, over) == ("id", every, None)
        # A number is written where it is used and has no buffer, so its copy stays a node.
        and args[0][0].f != "number"
        and (args[0][0].shape == loops and args[0][1] == tuple((k, 0) for k in every))
    ):
        return args[0][0]
    # An output is made after the formula has returned, so it stands where its value does.
    node = Node(f, args, loops, out, over, detail, args[0][0].line if f == "output" else _place())
    recording = _thread.recording
    # NumPy abbreviates the repr of a long array: two different constants could look equal.
    if f not in ("input", "constant"):
        found = recording.known.setdefault((f, args, loops, out, over, repr(detail)), node)
        if found is not node:
            return found
    if recording.asked_by is not None and recording.deriving is None:
        recording.length += 1
        if recording.length > LONGEST:
            refuse(_too_long())
    return node


def beyond(v: Node) -> bool:
    """Whether a node reads an argument before its beginning or past its end."""
    return any(
        offset < 0 or offset + (1 if loop is None else v.loops[loop]) > size
        for arg, index in v.args
        for (loop, offset), size in zip(index, arg.shape, strict=True)
    )


class Traced(Recorded, NDArrayOperatorsMixin):
    """A recorded array: a node, and how the axes of the array are made of those of the node.

    ``groups[k]`` are the axes of the node that make up axis k; an axis of length 1 has none. Of a
    node of shape (3, 5) the array itself has the groups ((0,), (1,)), its transpose ((1,), (0,)),
    ``x[:, None]`` ((0,), (), (1,)), and ``x.reshape(15)`` ((0, 1),). So transposes, new axes and
    merged axes cost nothing: they are another array of the same node.

    It has ``+ − * / ** @``, slices, comparisons, ``.T .mT .shape .ndim .size``, and takes the
    functions of numpy that ``FUNCTIONS`` lists, as methods, too. Raises Untraceable for anything
    else. ``kind`` is what numpy has there: float; bool of what a comparison gives, a mask whose
    numbers are 0 and 1, with numpy's operators for masks; int of whole numbers, which are indices.
    """

    is_meta = True
    """Checks of values are left out, because there are none yet."""
    # Models choose the sizes of their blocks by the bytes of an entry.
    itemsize = 8
    is_number = False
    """Whether it stands for a number of Python, which nothing can write into."""

    # The mixin defines ==, which alone would leave arrays without a hash.
    def __hash__(self) -> int:
        if self.is_number:
            refuse(
                "a number of the model as a key of a dictionary or a member of a set, where a "
                "program has no value of it yet; compute with it, or give it no slider"
            )
        return object.__hash__(self)

    def __init__(self, node: Node, groups: Iterable[Iterable[int]], kind: type = float) -> None:
        self.node: Node = node
        self.groups: tuple[tuple[int, ...], ...] = tuple(tuple(group) for group in groups)
        self.kind: type = kind

    @property
    def mask(self) -> bool:
        """Whether numpy would have True and False here."""
        return self.kind is bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """As of a numpy array."""
        return np.dtype(self.kind)

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
        return Traced(self.node, self.groups[::-1], self.kind)

    @property
    def mT(self) -> "Traced":
        """As of a numpy array."""
        return self.swapaxes(-1, -2)

    def __repr__(self) -> str:
        return f"a recorded array of shape {self.shape}"

    def __len__(self) -> int:
        return self.shape[0] if self.groups else refuse("len() of a number")

    def __getattr__(self, name: str) -> Any:
        # Python and NumPy ask for protocols such as __array_interface__, where no is an answer.
        if name.startswith("__"):
            raise AttributeError(name)
        if name in FUNCTIONS:
            return partial(_method, name, self)
        # Not by `refuse`: hasattr, or getattr with a default, is not to fail under `strictly`.
        raise UntraceableName(
            f"{_line()}: a recorded array has no .{name}; it has + − * / ** @, slices, comparisons, "
            f".T .mT .shape, and functions of numpy; {instead(name)}"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> "Traced":
        arrays = (Traced, np.ndarray, np.generic)
        if any(hasattr(type(x), "__array_ufunc__") and not isinstance(x, arrays) for x in inputs):
            return NotImplemented  # a model knows itself what a number times it is
        if method == "__call__" and all(map(is_mask, inputs)):
            _require_precision(ufunc)
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return _call(f"np.{name}" if hasattr(np, ufunc.__name__) else name, name, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> "Traced":
        said = f"{function.__module__}.{function.__name__}".replace("numpy", "np")
        return _call(said, said.removeprefix("np.").replace("linalg.norm", "norm"), args, options)

    def swapaxes(self, i: int, j: int) -> "Traced":
        """As of a numpy array."""
        groups = list(self.groups)
        groups[i], groups[j] = groups[j], groups[i]
        return Traced(self.node, groups, self.kind)

    def transpose(self, *axes: Any) -> "Traced":
        """As of a numpy array."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)) else axes
        order = range(self.ndim)[::-1] if not order else [int(k) % max(1, self.ndim) for k in order]
        if sorted(order) != list(range(self.ndim)):
            refuse(f"transpose of an array of {self.ndim} axes to {axes}")
        return Traced(self.node, [self.groups[k] for k in order], self.kind)

    def astype(self, dtype: Any, **_: Any) -> "Traced":
        """As of a numpy array, to floating-point numbers or to whole ones."""
        kind = next((each for each in (bool, int, float) if np.dtype(dtype) == each), None)
        if kind is self.kind:
            return self
        if kind not in (float, int):
            refuse(
                f"astype({np.dtype(dtype)}); a program computes in double precision, and small or unsigned "
                "whole numbers wrap around: write astype(float), or astype(int) for indices"
            )
        if kind is float:
            return of_kind(self, float)
        return of_kind(self if self.mask else elementwise("trunc", self), int)

    def reshape(self, *shape: int | tuple[int, ...], order: str = "C") -> "Traced":
        """As of a numpy array, row by row."""
        if order != "C":
            refuse(f"reshape with order={order!r}; transpose before and after it")
        wanted = [int(s) for s in (shape[0] if isinstance(shape[0], (tuple, list)) else shape)]  # pyright: ignore
        if wanted.count(-1) == 1:
            # The product contains the -1, so its negative is that of the known sizes.
            wanted[wanted.index(-1)] = self.size // max(1, -prod(wanted))
        if prod(wanted) != self.size or min(wanted, default=1) < 1:
            refuse(f"reshape of {self.shape} to {shape}")
        # If the axes of the node, one after the other, can be grouped into the wanted shape, no
        # number moves. They can where each end of a wanted axis is the end of one of them.
        atoms = [k for group in self.groups for k in group]
        ends = np.cumprod([1, *(self.node.shape[k] for k in atoms)]).tolist()
        cuts = np.cumprod([1, *wanted]).tolist()
        if not set(cuts) <= set(ends):
            return laid_out(self, wanted)
        return Traced(
            self.node, [atoms[ends.index(a) : ends.index(b)] for a, b in pairwise(cuts)], self.kind
        )

    def __getitem__(self, key: Any) -> "Traced":
        key = key if isinstance(key, tuple) else (key,)
        missing = self.ndim - sum(k is not None and k is not Ellipsis for k in key)
        if missing < 0:
            refuse(f"{self.ndim - missing} indices of an array of {self.ndim} axes")
        at = next((place for place, k in enumerate(key) if k is Ellipsis), len(key))
        key = (*key[:at], *[slice(None)] * missing, *key[at + 1 :])
        if any(map(_is_places, key)):
            return _at_places(self, key)
        # A part of a merged axis is in general no box in the axes of the node.
        if any(len(group) > 1 for group in self.groups) and any(
            k not in (None, slice(None)) for k in key
        ):
            return laid_out(self, self.shape)[key]
        # The part is a node of its own, which reads this one: an axis that is kept has a loop, and
        # where it begins is added to that; a whole number is that place alone.
        index, loops, groups, own = [(None, 0)] * len(self.node.shape), [], [], iter(self.groups)
        for k in key:
            group = () if k is None else next(own)
            first, length = (
                (0, 1) if k is None else _part(k, prod(self.node.shape[axis] for axis in group))
            )
            for axis in group:
                index[axis] = (None if length == 1 else len(loops) + group.index(axis), first)
            kept = group if length > 1 else ()
            if not isinstance(k, (int, np.integer)):
                groups.append(range(len(loops), len(loops) + len(kept)))
            # A merged axis is kept whole: `length` is the product of its axes in the node.
            loops += [min(length, self.node.shape[axis]) for axis in kept]
        return Traced(node_of("id", [(self.node, tuple(index))], loops), groups, self.kind)


class UntraceableName(Untraceable, AttributeError):
    """An attribute that recorded arrays lack."""


def _part(key, size):
    """Where an index of an axis begins, and how many entries it takes."""
    if isinstance(key, slice):
        first, stop, step = key.indices(size)
        if step == 1 and stop > first:
            return first, stop - first
    # To NumPy a bool is a mask, and not the place 0 or 1.
    elif isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        return (
            (int(key) % size, 1)
            if -size <= key < size
            else refuse(f"the index {key} of an axis of {size}")
        )
    said = repr(key) if isinstance(key, (int, slice)) else f"of type {type(key).__name__}"
    return refuse(
        f"the index {said} of an axis of {size}; slices, None, whole numbers and arrays of them "
        "are recorded, masks and steps not: choose by np.where(mask, x, 0), or multiply by rows of "
        "0 and 1"
    )


def _is_places(key):
    """Whether an index is an array of places, and no mask."""
    return isinstance(key, (Traced, np.ndarray, list)) and not is_mask(
        np.asarray(key) if isinstance(key, list) else key
    )


def whole(x: Any, size: int) -> Traced:
    """The places of an axis of this size, recorded: those that a formula brings along are checked
    here, and others when they are read."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and x.size:
        least, most = int(x.min()), int(x.max())
        if least < -size or most >= size:
            refuse(f"the index {most if most >= size else least} of an axis of {size}")
    x = recorded(x)
    if x.kind is not int:
        refuse(
            f"an index of {'True and False' if x.mask else 'floating-point numbers'}; write "
            ".astype(int), of data as whole numbers, which Samples keeps as floats"
        )
    return x


def _at_places(x, key):
    """x[key] where some indices are arrays of whole numbers: first all others, and then one array
    after the other."""
    key = [np.asarray(k) if isinstance(k, list) else k for k in key]
    arrays = [k for k in key if _is_places(k)]
    try:
        shape = np.broadcast_shapes(*(k.shape for k in arrays))
    except ValueError:
        refuse(f"indices of shapes {' and '.join(str(k.shape) for k in arrays)}")
    x = x[tuple(slice(None) if _is_places(k) else k for k in key)]
    # Beside arrays NumPy takes a whole number as one more. Axes of these stand where the first of
    # them was; in front, if others are in between.
    advanced = [at for at, k in enumerate(key) if not (k is None or isinstance(k, slice))]
    first, apart = advanced[0], advanced[-1] - advanced[0] + 1 > len(advanced)
    of_key = [k for k in key if not isinstance(k, (int, np.integer))]
    own = [axis for axis, k in enumerate(of_key) if not _is_places(k)]
    ahead = 0 if apart else sum(k is None or isinstance(k, slice) for k in key[:first])
    places = [("places", j) for j in range(len(shape))]
    target = [*own[:ahead], *places, *own[ahead:]]
    labels, left = list(range(x.ndim)), []
    for axis, k in enumerate(of_key):
        if not _is_places(k):
            continue
        along = places[len(shape) - k.ndim :]
        # Row k of row k, as in logp[np.arange(n), y]: an axis that is read in step.
        step = next((label for label, size in zip(along, k.shape, strict=True) if size > 1), None)
        if step not in labels and _is_every(k, x.shape[axis]):
            labels[axis] = step
        else:
            left.append((axis, whole(k, x.shape[axis]), along))
    if not left:
        return of_kind(comprehension("id", [x], [labels], target), x.kind)
    for count, (axis, k, along) in enumerate(left, 1):
        rest = [label for label in labels if label != axis and label not in places]
        wanted = target if count == len(left) else [*places, *rest]
        x, labels = picked(x, labels, axis, k, along, wanted), wanted
    return x


def _is_every(k, size):
    """Whether places are all of an axis, in their order, along one axis of theirs."""
    return (
        isinstance(k, np.ndarray)
        and k.dtype.kind in "iu"
        and size > 1
        and k.size == max(k.shape, default=1) == size
        and np.array_equal(k.ravel(), np.arange(size))
    )


def picked(
    x: Traced,
    labels: Sequence[Any],
    axis: Any,
    places: Traced,
    along: Sequence[Any],
    target: Sequence[Any],
) -> Traced:
    """x, whose axes carry labels, read on the one with the label ``axis`` at recorded places, whose
    axes carry the labels ``along``; from −size on, as numpy does.

    It is a node "pick" of places and x: Σ over its first loop, which is that axis, of what x has
    where the loop is at the place.
    """
    size = x.shape[list(labels).index(axis)]
    loops, where, args = [size], {axis: 0}, []
    for a, names in ((places, along), (x, labels)):
        if any(len(group) > 1 for group in a.groups):
            a = laid_out(a, a.shape)
        at = {}
        for label, group in zip(names, a.groups, strict=True):
            if not group:
                continue
            if label not in where:
                where[label] = len(loops)
                loops.append(a.node.shape[group[0]])
            if loops[where[label]] != a.node.shape[group[0]]:
                refuse(f"places of shape {places.shape} in an array of shape {x.shape}")
            at[group[0]] = where[label]
        args.append((a.node, tuple((at[own], 0) for own in range(len(at)))))
    out = [where[label] for label in target if label in where]
    count = iter(range(len(out)))
    return Traced(
        node_of("pick", args, loops, out, "sum"),
        [[next(count)] if label in where else [] for label in target],
        x.kind,
    )


def axes_of(x: Traced, axis: Any) -> list[int]:
    """The axes that an argument of numpy's functions names."""
    axes = (
        range(x.ndim)
        if axis is None
        else [axis]
        if isinstance(axis, (int, np.integer))
        else list(axis)
    )
    if any(not -x.ndim <= k < x.ndim for k in axes):
        refuse(f"axis {axis} of an array of {x.ndim} axes")
    return [k % x.ndim for k in axes]


def array(name: str, shape: Sequence[int], kind: type = float) -> Traced:
    """The input of this name: of floats, whole numbers (int) or truth values (bool)."""
    return of_shape(shape, "input", detail=name, kind=kind)


KINDS = {"b": bool, "i": int, "u": int}


def kind_of(x: Any) -> type:
    """float, int or bool: what an array, or a number, has."""
    if isinstance(x, Traced):
        return x.kind
    dtype = x.dtype if isinstance(x, (np.ndarray, np.generic)) else np.min_scalar_type(x)
    return KINDS.get(dtype.kind, float)


def of_shape(
    shape: Iterable[int],
    f: str,
    args: Iterable[tuple[Node, Index]] = (),
    detail: Any = None,
    kind: type = float,
) -> Traced:
    """A node each of whose axes is one of this shape; those of length 1 have none."""
    groups, sizes = [], []
    for size in shape:
        groups.append([len(sizes)] * (size != 1))
        sizes += [int(size)] * (size != 1)
    return Traced(node_of(f, args, sizes, detail=detail), groups, kind)


def filled(value: float, shape: Iterable[int]) -> Traced:
    """As np.full, the other way round."""
    return of_shape(shape, "id", [(recorded(value).node, ())])


def recorded(x: Any) -> Traced:
    """A recorded array as it is; numbers that a formula brings along, one or an array of them,
    become part of it."""
    if isinstance(x, Traced):
        return x
    if isinstance(x, (numbers.Real, np.bool_)):
        return Traced(node_of("number", detail=float(x)), (), kind_of(x))
    if isinstance(x, np.ma.MaskedArray):
        refuse(
            "a recorded array meets a masked array; say what stands for masked entries: x.filled(0)"
        )
    if not isinstance(x, (np.ndarray, np.generic)) or x.dtype.kind not in "fiub":
        refuse(
            f"a recorded array meets {getattr(x, 'dtype', type(x).__name__)}; a program has real "
            f"numbers"
        )
    if not x.ndim:
        return recorded(x.item())
    # Squeezed, because the axes of length 1 have none in the node.
    return of_shape(x.shape, "constant", detail=x.astype(float).squeeze(), kind=kind_of(x))


def in_order(x: Traced, f: str = "id", detail: str | None = None) -> Traced:
    """An array whose node has its axes in their order."""
    order = [k for group in x.groups for k in group]
    return stored(
        node_of(
            f,
            [(x.node, tuple((order.index(k), 0) for k in range(len(order))))],
            [x.node.shape[k] for k in order],
            detail=detail,
        )
    )


def laid_out(x: Traced, shape: Iterable[int]) -> Traced:
    """The numbers of x as they lie in memory, read in another shape: each axis of it is one of its
    node."""
    node = in_order(x).node
    return of_shape(
        shape, "reshape", [(node, tuple((k, 0) for k in range(len(node.shape))))], kind=x.kind
    )


def axis_by_axis(x: Traced, shape: Iterable[int]) -> Node:
    """A node with an axis for each of x, also where it is the same all along it."""
    if any(len(group) > 1 for group in x.groups):
        x = laid_out(x, x.shape)
    axis = {own: k for k, group in enumerate(x.groups) for own in group}
    return node_of("id", [(x.node, tuple((axis[own], 0) for own in range(len(axis))))], shape)


def comprehension(
    f: str,
    arrays: Sequence[Traced],
    labels: Iterable[Iterable[Any]],
    target: Iterable[Any],
    over: str | None = None,
) -> Traced:
    """f of arrays whose axes carry labels, ``over`` those not in ``target``, whose own have length
    1."""
    loops, where, args = [], {}, []
    for x, own in zip(arrays, labels, strict=True):
        at = {}
        for label, group in zip(own, x.groups, strict=True):
            # An axis of length 1 is in no loop: this is how arrays are broadcast.
            if not group:
                continue
            sizes = [x.node.shape[k] for k in group]
            if label not in where:
                where[label] = range(len(loops), len(loops) + len(group))
                loops += sizes
            met = [loops[k] for k in where[label]]
            if prod(sizes) != prod(met):
                refuse(
                    f"arrays of shapes {' and '.join(str(a.shape) for a in arrays)} do not fit "
                    f"together"
                )
            if sizes != met:  # an axis that was merged meets one that was not
                return comprehension(
                    f, [laid_out(a, a.shape) for a in arrays], labels, target, over
                )
            at |= zip(group, where[label], strict=True)
        args.append((x.node, tuple((at[axis], 0) for axis in range(len(at)))))
    out = [k for label in target for k in where.get(label, ())]
    places = iter(range(len(out)))
    return Traced(
        # Where nothing is reduced `over` is None, so that the node may be an identity or inlined.
        node_of(f, args, loops, out, over if len(out) < len(loops) else None),
        [[next(places) for _ in where.get(label, ())] for label in target],
    )


def elementwise(f: str, *args: "Traced | float") -> Traced:
    """A function of numbers, of arrays entry by entry, with numpy's broadcasting."""
    arrays = [recorded(x) for x in args]
    rank = max(x.ndim for x in arrays)
    return comprehension(f, arrays, [range(rank - x.ndim, rank) for x in arrays], range(rank))


def reduced(over: str, x: Traced, axis: Any, keepdims: bool) -> Traced:
    """A sum or a maximum over some axes."""
    gone = axes_of(x, axis)
    # No axis has the label None, so it becomes an axis of length 1, as keepdims wants it.
    target = [None if k in gone else k for k in range(x.ndim) if keepdims or k not in gone]
    return comprehension("id", [x], [range(x.ndim)], target, over)


def is_mask(x: Any) -> bool:
    """Whether numpy would compute with x as with a mask."""
    return (
        x.mask
        if isinstance(x, Traced)
        else isinstance(x, bool) or str(getattr(x, "dtype", "")) == "bool"
    )


def stored(node: Node) -> Traced:
    """The array that a node stores."""
    return Traced(node, [[k] for k in range(len(node.shape))])


def _require_precision(ufunc):
    """Check that numpy computes a function of masks in double precision, or gives masks."""
    try:
        asked = (np.dtype(bool),) * ufunc.nin + (None,) * ufunc.nout
        found = ufunc.resolve_dtypes(asked)[-1]
    except TypeError:
        return  # it has none of masks, and says so itself
    if found.kind == "f" and found.itemsize < 8:
        refuse(
            f"{ufunc.__name__} of a mask, which numpy computes in {found}; write a.astype(float)"
        )


def _numbers(x):
    """A mask as the numbers 0 and 1."""
    return of_kind(x, int) if isinstance(x, Traced) and x.mask else x


def as_mask(x: Traced) -> Traced:
    """The numbers 0 and 1 as a mask."""
    return of_kind(x, bool)


def of_kind(x: Traced, kind: type) -> Traced:
    """The same numbers, as floats, whole numbers or truth values."""
    return Traced(x.node, x.groups, kind)


REFUSED = {
    "bool": "a branch on the values of an array or of a slider, which a program does not have yet; "
    "choose by np.where",
    "float": "float() of a recorded array, which math.exp asks for, too: its numbers come when the "
    "program runs; leave float() out, and write np.exp for math.exp, scipy.special.erf for math.erf",
    "index": "int() of a recorded number, or its use as an index or a size: its value comes when "
    "the program runs",
    "format": "the text of a recorded number: its value comes when the program runs",
    "contains": "in: a branch on the values of an array; choose by np.where",
    "setitem": "a write into an array; make a new one, by np.where or np.concatenate",
    "array": "this function asks for the numbers of an array, which come when the program runs; "
    "arrays are joined by np.stack or np.concatenate, a.dot(b) is a @ b, np.eye(C)[y] is y[:, None] "
    "== np.arange(C), and np.vectorize(math.erf) is scipy.special.erf",
    **dict.fromkeys(
        ("floordiv", "rfloordiv", "mod", "rmod", "divmod", "round"),
        "//, % or round() of an array: not recorded",
    ),
}
"""Operator of Python that a recorded array lacks → what is said of it."""


def _refusing(what):
    def refused(*_, **__):
        refuse(what)

    return refused


def _no_iter(x):
    # np.zeros(x) and axis=x ask a number for its rows before they take it for a size
    refuse(
        "a loop over the rows of an array; write the formula for the whole array, or loop over "
        "range(len(…))"
        if x.ndim
        else REFUSED["index"]
    )


for _name, _what in REFUSED.items():
    setattr(Traced, f"__{_name}__", _refusing(_what))
Traced.__iter__ = _no_iter  # pyright: ignore[reportAttributeAccessIssue]

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""What a formula may call: numpy's functions of these names."""
OF_MASKS: dict[str, Callable[..., Any]] = {}
"""What numpy's functions do where all their arguments are masks."""
KEEP_WHOLE = frozenset(
    (
        *("absolute", "abs", "add", "amax", "amin", "concatenate", "max", "maximum", "min"),
        *("minimum", "multiply", "negative", "sign", "square", "stack", "subtract", "sum", "where"),
    )
)
"""Functions that give whole numbers of whole numbers."""
KEEP_MASKS: set[str] = set()
"""Functions to which a mask is given as it is; to all others as the numbers 0 and 1."""


def function(
    *names: str, of_masks: bool = False, keeps_masks: bool = False
) -> Callable[[Any], Any]:
    """Let formulas call what is decorated by these names of numpy's.

    With ``of_masks`` it is called where all arguments are masks; with ``keeps_masks`` it gets masks
    as they are.
    """

    def register(called):
        (OF_MASKS if of_masks else FUNCTIONS).update(dict.fromkeys(names, called))
        if keeps_masks:
            KEEP_MASKS.update(names)
        return called

    return register


LOGSUMEXP = (
    "np.log(np.exp(z - m).sum(axis=1, keepdims=True)) + m with m = z.max(axis=1, keepdims=True)"
)
WRITTEN = {
    "cosh": "(np.exp(x) + np.exp(-x)) / 2",
    "cumsum": "np.tril(np.ones((n, n))) @ x",
    "exp2": "np.exp(np.log(2) * x)",
    "expand_dims": "x[:, None]",
    "hstack": "np.concatenate([x, y], axis=1)",
    "inner": "np.einsum or x @ y",
    "log10": "np.log(x) / np.log(10)",
    "log2": "np.log(x) / np.log(2)",
    "logaddexp.reduce": LOGSUMEXP,
    "logsumexp": LOGSUMEXP,
    "prod": "np.exp(np.log(x).sum()), of positive numbers",
    "reciprocal": "1 / x",
    "result_type": "in np.exp, np.log and the like what a function of scipy computes, for logsumexp "
    f"{LOGSUMEXP}",
    "sinh": "(np.exp(x) - np.exp(-x)) / 2",
    "squeeze": "x[:, 0] or x.reshape(n)",
    "tan": "np.sin(x) / np.cos(x)",
    "tensordot": "np.einsum or x @ y",
    "vstack": "np.concatenate([x, y])",
}
"""What to write for functions of numpy that are not recorded."""


def instead(name: str) -> str:
    """What to write for a function that is not recorded, or which three have names like it, as the
    end of a sentence."""
    if name in WRITTEN:
        return f"write {WRITTEN[name]}"
    from difflib import get_close_matches  # for the words of an error alone

    near = get_close_matches(name, sorted({*FUNCTIONS, *OF_MASKS}), 3)
    return f"near it: {', '.join(near)}" if near else "livegrad/README.md lists them"


def _applied(name, args, options):
    """A function of numpy, with numpy's rules for masks."""
    operands = args[1:] if name == "einsum" else args
    if name in OF_MASKS and all(map(is_mask, operands)):
        return OF_MASKS[name](*operands)
    if name.startswith("logical_"):
        return OF_MASKS[name](*(x if is_mask(x) else recorded(x) != 0 for x in args))
    if name.startswith("bitwise_") or name == "invert":
        refuse(
            "&, |, ^ or ~ of numbers, which numpy has for masks and whole numbers alone; compare "
            "first: (x > 0)"
        )
    if name not in KEEP_MASKS:
        args = [_numbers(x) for x in args]
    found = FUNCTIONS[name](*args, **options)
    if name in KEEP_WHOLE and isinstance(found, Traced) and found.kind is float:
        parts = args[0] if isinstance(args[0], (tuple, list)) else args
        if all(kind_of(x) is not float for x in parts if x is not None):
            _require_wide(parts)
            return of_kind(found, int)
    return found


def _require_wide(parts):
    """Check that whole numbers which a formula brings along are none that wrap around."""
    for x in parts:
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "iu" and x.dtype != int:
            refuse(
                f"whole numbers of {x.dtype} meet masks or whole numbers, and wrap around in numpy; "
                "write .astype(int) behind them"
            )


def _method(name, x, *args, **options):
    return _call(f".{name}()", name, (x, *args), options)


def _is_immutable(x):
    """Whether x += 1 makes a new number: of one of Python, and of what NumPy computes of arrays
    without axes; but not of such an array itself."""
    return isinstance(x, Traced) and not x.ndim and (x.is_number or x.node.f != "input")


def _call(said, name, args, options):
    out = options.pop("out", None)
    if out is not None and not (isinstance(out, tuple) and _is_immutable(out[0])):
        refuse(
            f"a write into an array by out= of {said}, or by +=, -=, *= or /=; make a new one: x "
            f"= x + 1"
        )
    if name not in FUNCTIONS and name not in OF_MASKS:
        refuse(
            f"{said} is not among the functions that are recorded; "
            f"{instead(name.removeprefix('linalg.'))}; livegrad/record/README.md says how to add one"
        )
    try:
        return _applied(name, args, options)
    except TypeError as error:
        if isinstance(error, Untraceable):
            raise
        # the name of a function of ours says nothing to a reader
        what = re.sub(r"^\S+\(\) ", "it ", str(error))
        return refuse(f"{said} with these arguments: {what}")


def _too_long():
    return (
        f"the program has more than {LONGEST} steps, because a loop was written out; write the "
        "formula for whole arrays"
    )


def topological(roots: Iterable[Node]) -> list[Node]:
    """All nodes that the roots need, each after what it needs itself."""
    order: dict[Node, None] = {}
    # A stack of its own: records are deeper than Python's recursion may be.
    waiting = [(node, False) for node in roots][::-1]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            order[node] = None
        elif node not in order:
            waiting += [(node, True), *((arg, False) for arg, _ in reversed(node.args))]
        if len(order) > LONGEST:
            raise Untraceable(f"{node.line}: {_too_long()}")
    return list(order)
