"""A record as a function of numbers, computed by numpy: how each step is done is found once, for
all that follow.

A step is a chain of what numpy and ``operator`` offer: functions of Python would take longer than the
work on small arrays."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import erf, prod
from operator import itemgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

from livegrad.record.buffers import Buffers
from livegrad.record.derivatives import PARTIALS, PULLBACKS
from livegrad.record.trace import Index, Node, Traced, topological


class Change(NamedTuple):
    """A view of an array, a sum over some of its axes, and the like; where it makes a large array,
    the number of the buffer that it writes, as its argument ``out``.

    ``is_view`` says that what comes of it may lie where its argument lies.
    """

    of: Callable[..., Any]
    into: int | None = None
    is_view: bool = True


_doubles: Callable[..., Any] = partial(np.asarray, dtype=float)


class Step(NamedTuple):
    """What computes a value from those before it: a function of some of them, each by its number
    and seen through some views, and what becomes of its result, which may be written ``into`` a
    buffer."""

    arguments: Sequence[tuple[int, Sequence[Change]]]
    function: Callable[..., Any]
    finish: Sequence[Change]
    into: int | None = None


def _erf(x):
    """By scipy, which the formula has called, if it has."""
    special = sys.modules.get("scipy.special")
    return special.erf(x) if special else np.vectorize(erf, otypes=[float])(x)


def _sum(*parts, out=None):
    """Every part is padded by zeros to the whole length, so the sum joins them."""
    if out is None:
        return sum(parts)
    np.add(parts[0], 0.0, out=out)
    for part in parts[1:]:
        np.add(out, part, out=out)
    return out


def _where(condition, a, b, out=None):
    if out is None:
        return np.where(condition != 0, a, b)
    np.copyto(out, b)
    np.copyto(out, a, where=condition != 0)
    return out


NUMPY: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (*PARTIALS, *PULLBACKS) if hasattr(np, name)},
    "id": np.asarray,
    "concatenate": _sum,
    "where": _where,
    "erf": _erf,
}
"""Elementwise function → the same of numpy's arrays."""


class Evaluator:
    """Recorded arrays as a function of the numbers of their inputs.

    Parameters
    ----------
    arrays : what is computed

    Examples
    --------
    >>> from livegrad.record import array
    >>> x = array("x", (3,))
    >>> Evaluator([x.sum(), 2 * x])({"x": np.array([1.0, 2.0, 3.0])})
    [array(6.), array([2., 4., 6.])]
    """

    def __init__(self, arrays: Sequence[Traced]) -> None:
        self._order = topological(x.node for x in arrays)
        # Value 0 are the inputs by name.
        self._at = {v: k for k, v in enumerate(self._order, start=1)}
        self._buffers = Buffers()
        # By the number of a value: the buffers that it may lie in.
        self._lies: list[set[int]] = [set()]
        self._steps = [
            *(self._counted(self._step(v)) for v in self._order),
            *(self._counted(self._result(x)) for x in arrays),
        ]

    def _counted(self, step: Step) -> Step:
        """A step, after it is noted which buffers it reads, and in which its value lies."""
        read = {at for number, _ in step.arguments for at in self._lies[number]}
        self._buffers.reads(read)
        views = [view for _, views in step.arguments for view in views]
        # A function from outside may give back what it is given.
        is_new = isinstance(step.function, np.ufunc) or step.into is not None
        lies = {step.into} - {None} if is_new else read | _written(views)
        for change in step.finish:
            lies = (lies if change.is_view else set()) | _written([change])
        self._lies.append(lies)
        self._buffers.next_step()
        return step

    @property
    def steps(self) -> int:
        """How many steps one evaluation takes."""
        return len(self._order)

    @property
    def entries(self) -> int:
        """How many numbers all steps compute, those among them that are then added up."""
        # The first loop of a pick is at one place.
        return sum(prod(v.loops[v.f == "pick" :]) for v in self._order)

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """What was recorded, given the inputs by name; the results own their numbers.

        Raises KeyError for an input that is not given.
        """
        buffers = self._buffers.lend()
        found = self._values(inputs, buffers)[len(self._order) + 1 :]
        self._buffers.take_back(buffers)
        return found

    def of_nodes(self, inputs: Mapping[str, np.ndarray]) -> dict[Node, np.ndarray]:
        """The values of all steps."""
        found = self._values(inputs, self._buffers.apart())
        return dict(zip(self._order, found[1:], strict=False))

    def _values(self, inputs, buffers):
        values: list[Any] = [inputs]
        for arguments, function, finish, into in self._steps:
            found = []
            for at, views in arguments:
                a = values[at]
                for view, to, _ in views:
                    a = view(a) if to is None else view(a, out=buffers[to])
                found.append(a)
            a = function(*found) if into is None else function(*found, out=buffers[into])
            for change, to, _ in finish:
                a = change(a) if to is None else change(a, out=buffers[to])
            values.append(a)
        return values

    def _step(self, v: Node) -> Step:
        if v.f == "input":
            return Step([(0, [Change(itemgetter(v.detail))])], _doubles, [_reshape(v.shape)])
        if not v.args:
            return Step([], partial(np.asarray, _doubles(v.detail).reshape(v.shape)), [])
        if v.f == "reshape":
            (arg, _), *_ = v.args
            return Step([(self._at[arg], [])], np.asarray, [self._merged(arg.shape, v.shape)])
        if v.f == "pick":
            return self._pick(v)
        product = self._product(v) if v.f == "multiply" and v.over == "sum" else None
        return product or self._entrywise(v)

    def _result(self, x: Traced) -> Step:
        """The numbers of a node in the shape of the recorded array, and its own: a rule may write
        into them."""
        order = [k for group in x.groups for k in group]
        views = [_transpose(order), _reshape(x.shape)]
        return Step([(self._at[x.node], views)], methodcaller("copy"), [])

    def _merged(self, shape: Iterable[int], into: Iterable[int]) -> Change:
        """An array of one shape in another; a copy in a buffer where its numbers do not lie so."""
        number = self._buffers.new(shape)
        return _reshape(into) if number is None else Change(_Merged(tuple(into)), number)

    def _entrywise(self, v: Node) -> Step:
        """A function of numbers in all loops, and then perhaps a sum or a maximum over some of
        them."""
        every = range(len(v.loops))
        arguments = [(self._at[arg], self._views(arg, index, v, every)) for arg, index in v.args]
        known = {loop for _, index in v.args for loop, _ in index}
        function = NUMPY[v.f]
        takes_out = isinstance(function, np.ufunc) or function in (_sum, _where)
        shape = [size if loop in known else 1 for loop, size in enumerate(v.loops)]
        into = self._buffers.new(shape) if takes_out else None
        return Step(arguments, function, self._finish(v), into)

    def _pick(self, v: Node) -> Step:
        """What is read at places along the first loop, or added up there."""
        (places, along), (arg, index) = v.args
        size = v.loops[0]
        of_places, of_arg = ([loop for loop, _ in each] for each in (along, index))
        is_sum = 0 in v.out
        # Loops that the places share with what is read, or that have sums of their own, go in step.
        step = [k for k in of_places if k in (v.out if is_sum else of_arg)]
        inner = [k for k in of_places if k not in step]
        rest = [k for k in range(1, len(v.loops)) if k not in of_places]
        if is_sum:
            read, found = [*step, *inner, *rest], [*step, 0, *rest]
        else:
            read, found = [*step, *([0] * (0 in of_arg)), *rest], [*step, *inner, *rest]
        sizes = [v.loops[k] for k in read]
        rows, width = prod(v.loops[k] for k in step), prod(v.loops[k] for k in rest)
        ahead, behind = size * np.arange(rows)[:, None], np.arange(width)

        def picked(at, a):
            at = _in_range(at.reshape(rows, -1), size, v)
            a = np.broadcast_to(a, sizes)
            if is_sum:
                flat = ((ahead + at).reshape(-1, 1) * width + behind).ravel()
                return np.bincount(flat, a.ravel(), rows * size * width)
            if 0 in of_arg:
                return a.reshape(rows * size, width)[ahead + at]
            return np.repeat(a.reshape(rows, 1, width), at.shape[1], axis=1)

        arguments = [
            (self._at[places], self._views(places, along, v, [*step, *inner])),
            (self._at[arg], self._views(arg, index, v, read)),
        ]
        return Step(arguments, picked, _reordered(v, found))

    def _product(self, v: Node) -> Step | None:
        """A sum of products as a product of matrices, if it is one: of rows and columns, and of
        many side by side."""
        (a, b) = ([loop for loop, _ in index if loop is not None] for _, index in v.args)
        out = set(v.out)
        summed = [k for k in a if k in b and k not in out]
        together = [k for k in v.out if k in a and k in b]
        rows, columns = (
            [k for k in v.out if k in own and k not in other] for own, other in ((a, b), (b, a))
        )
        if (
            not summed
            or not (rows or columns)
            or {*a, *b} != set(range(len(v.loops)))
            or ({*a, *b} - out - {*summed})
        ):
            # a sum over a loop that one of the factors does not know is left to the general way
            return None
        sizes = [prod(v.loops[k] for k in loops) for loops in (together, rows, summed, columns)]
        count, height, depth, width = sizes
        many = [count] if together else []
        orders = [*together, *rows, *summed], [*together, *summed, *columns]
        shapes = [*many, height, depth], [*many, depth, width]
        factors = []
        for (arg, index), loops, shape in zip(v.args, orders, shapes, strict=True):
            views = self._views(arg, index, v, loops, is_flat=True)
            own = [v.loops[loop] for loop in loops]
            if own != shape:
                views.append(self._merged(own, shape))
            factors.append((self._at[arg], views))
        # A product of matrices has its axes in this order, the result in that of `out`.
        found = [*together, *rows, *columns]
        order = [found.index(k) for k in v.out]
        finish = [_reshape(v.loops[k] for k in found), _transpose(order)]
        return Step(factors, np.matmul, finish, self._buffers.new([*many, height, width]))

    def _finish(self, v: Node) -> list[Change]:
        """What becomes of values in all loops of a node: broadcast, reduced, and their axes in
        order."""
        known = {loop for _, index in v.args for loop, _ in index}
        gone = tuple(k for k in range(len(v.loops)) if k not in v.out)
        kept = sorted(v.out)
        order = [kept.index(k) for k in v.out]
        finish = []
        # A loop that no argument knows counts all the same: a sum over it adds each round.
        if not known >= set(range(len(v.loops))):
            finish.append(Change(partial(np.broadcast_to, shape=v.loops)))
        if gone:
            over = np.max if v.over == "max" else np.sum
            into = self._buffers.new(v.loops[k] for k in kept)
            finish.append(Change(partial(over, axis=gone), into, is_view=False))
        if order != sorted(order):
            finish.append(_transpose(order))
        return [*finish, Change(_doubles)]

    def _views(
        self, arg: Node, index: Index, v: Node, loops: Sequence[int], *, is_flat: bool = False
    ) -> list[Change]:
        """How an argument is read: the views, one of the other, that have its numbers at its index, an
        axis for each of ``loops``.

        Of a loop that the argument does not know the axis has length 1; with ``is_flat`` there are no
        such loops.
        """
        known = [loop for loop, _ in index if loop is not None]
        ahead, behind, key = [], [], []
        for (loop, offset), length in zip(index, arg.shape, strict=True):
            size = 1 if loop is None else v.loops[loop]
            ahead.append(max(0, -offset))
            behind.append(max(0, offset + size - length))
            # Padding ahead moves all entries by as much: offset + ahead is max(0, offset).
            first = max(0, offset)
            key.append(offset + ahead[-1] if loop is None else slice(first, first + size))
        views: list[Change] = []
        if any(ahead) or any(behind):
            padding = list(zip(ahead, behind, strict=True))
            into = self._buffers.new(
                a + n + b for (a, b), n in zip(padding, arg.shape, strict=True)
            )
            views.append(Change(_Padded(padding), into, is_view=False))
        if views or key != [slice(0, n) for n in arg.shape]:
            views.append(Change(itemgetter(tuple(key))))
        order = [known.index(loop) for loop in loops if loop in known]
        if order != sorted(order):
            views.append(_transpose(order))
        axes = tuple(slice(None) if loop in known else None for loop in loops)
        if None in axes and not is_flat:
            views.append(Change(itemgetter(axes)))
        return views


class _Merged:
    """An array in another shape: itself, or a copy in ``out``."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape

    def __call__(self, a: np.ndarray, out: np.ndarray) -> np.ndarray:
        if not a.flags.c_contiguous:
            np.copyto(out, a)
            a = out
        return a.reshape(self._shape)


class _Padded:
    """An array with zeros around it."""

    def __init__(self, padding: list[tuple[int, int]]) -> None:
        self._padding = padding

    def __call__(self, a: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            return np.pad(a, self._padding)
        out.fill(0.0)
        out[
            tuple(
                slice(ahead, ahead + n)
                for (ahead, _), n in zip(self._padding, a.shape, strict=True)
            )
        ] = a
        return out


def evaluate(arrays: Sequence[Traced], inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What was recorded, computed by numpy, given the inputs by name; an ``Evaluator`` computes it
    many times.

    Raises KeyError for an input that is not given.
    """
    return Evaluator(arrays)(inputs)


def origin(arrays: Sequence[Traced], inputs: Mapping[str, np.ndarray]) -> str | None:
    """Where recorded arrays that are not finite become so: place and name of a step of finite
    arguments, or None."""
    values = Evaluator(arrays).of_nodes(inputs)

    def wrong(nodes):
        return next((v for v in nodes if not np.isfinite(values[v]).all()), None)

    v = found = wrong(x.node for x in arrays)
    while v is not None:
        found, v = v, wrong(arg for arg, _ in v.args)
    if found is None:
        return None
    if found.f in ("input", "constant", "number"):
        return (
            f"the numbers of {str(found.detail).removeprefix('theta_')}"
            if found.f == "input"
            else found.line
        )
    # A step of a derivative has the name of its function in its line already.
    return found.line if "derivative" in found.line else f"{found.line}, in {found.f}"


def _reshape(shape: Iterable[int]) -> Change:
    return Change(methodcaller("reshape", tuple(shape)))


def _transpose(order: Iterable[int]) -> Change:
    return Change(methodcaller("transpose", tuple(order)))


def _written(changes: Iterable[Change]) -> set[int]:
    """The buffers that changes write."""
    return {change.into for change in changes if change.into is not None}


def _in_range(places: np.ndarray, size: int, v: Node) -> np.ndarray:
    """Places of an axis of this size as whole numbers from 0 on; IndexError names one that is
    beyond."""
    if not ((places >= -size) & (places < size)).all():
        beyond = places[~((places >= -size) & (places < size))][0]
        raise IndexError(
            f"{v.line}: expected places from {-size} to {size - 1} of an axis of {size}, got "
            f"{beyond:g}"
        )
    at = places.astype(np.intp)
    return np.where(at < 0, at + size, at)


def _reordered(v: Node, loops: Sequence[int]) -> list[Change]:
    """What becomes of flat values in some loops of a node: those that are no axes are summed, and
    the others brought into order."""
    gone = tuple(i for i, k in enumerate(loops) if k not in v.out)
    kept = [k for k in loops if k in v.out]
    finish = [_reshape(v.loops[k] for k in loops)]
    if gone:
        finish.append(Change(methodcaller("sum", gone), is_view=False))
    return [*finish, _transpose(kept.index(k) for k in v.out)]
