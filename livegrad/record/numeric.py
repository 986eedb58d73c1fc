"""A record as a function of numbers, computed by numpy: how each step is done is found once, for
all that follow."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from livegrad.record.derivatives import PARTIALS, PULLBACKS
from livegrad.record.trace import Index, Node, Traced, topological

Step = Callable[[list[np.ndarray], Mapping[str, np.ndarray]], np.ndarray]
"""What computes a node from the values of those before it, and from the inputs by name."""

NUMPY: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (*PARTIALS, *PULLBACKS) if hasattr(np, name)},
    "id": lambda a: a,
    # Every part is padded by zeros to the whole length, so the sum joins them.
    "concatenate": lambda *parts: sum(parts),
    "where": lambda condition, a, b: np.where(condition != 0, a, b),
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
        self._arrays = list(arrays)
        self._order = topological(x.node for x in arrays)
        self._at = {v: k for k, v in enumerate(self._order)}
        self._steps = [self._step(v) for v in self._order]

    @property
    def steps(self) -> int:
        """How many steps one evaluation takes."""
        return len(self._order)

    @property
    def entries(self) -> int:
        """How many numbers all steps compute, those among them that are then added up."""
        return sum(prod(v.loops) for v in self._order)

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """What was recorded, given the inputs by name; the results own their numbers.

        Raises KeyError for an input that is not given.
        """
        values = self._values(inputs)
        return [_in_shape(values[self._at[x.node]], x) for x in self._arrays]

    def of_nodes(self, inputs: Mapping[str, np.ndarray]) -> dict[Node, np.ndarray]:
        """The values of all steps."""
        return dict(zip(self._order, self._values(inputs), strict=True))

    def _values(self, inputs):
        values: list[np.ndarray] = []
        for step in self._steps:
            values.append(step(values, inputs))
        return values

    def _step(self, v: Node) -> Step:
        shape = v.shape
        if v.f == "input":
            return lambda values, inputs: np.asarray(inputs[v.detail], dtype=float).reshape(shape)
        if not v.args:
            constant = np.asarray(v.detail, dtype=float).reshape(shape)
            return lambda values, inputs: constant
        if v.f == "reshape":
            at = self._at[v.args[0][0]]
            return lambda values, inputs: values[at].reshape(shape)
        product = self._product(v) if v.f == "multiply" and v.over == "sum" else None
        return product or self._entrywise(v)

    def _entrywise(self, v: Node) -> Step:
        """A function of numbers in all loops, and then perhaps a sum or a maximum over some of
        them."""
        every = range(len(v.loops))
        function, finish = NUMPY[v.f], _finished(v)
        parts = [(self._at[arg], _view(arg, index, v, every)) for arg, index in v.args]

        def step(values, inputs):
            return finish(function(*[view(values[at]) for at, view in parts]))

        return step

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
        left, right = (
            _view(arg, index, v, loops, is_flat=True)
            for (arg, index), loops in zip(
                v.args, ([*together, *rows, *summed], [*together, *summed, *columns]), strict=True
            )
        )
        (at_left, _), (at_right, _) = v.args
        at_left, at_right = self._at[at_left], self._at[at_right]
        many = [count] if together else []
        of_left, of_right = [*many, height, depth], [*many, depth, width]
        # A product of matrices has its axes in this order, the result in that of `out`.
        found = [*together, *rows, *columns]
        shape, order = [v.loops[k] for k in found], [found.index(k) for k in v.out]

        def step(values, inputs):
            product = left(values[at_left]).reshape(of_left) @ right(values[at_right]).reshape(
                of_right
            )
            return product.reshape(shape).transpose(order)

        return step


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


def _in_shape(value: np.ndarray, x: Traced) -> np.ndarray:
    """The numbers of a node in the shape of the recorded array, and its own: a rule may write into
    them."""
    found = value.transpose([k for group in x.groups for k in group]).reshape(x.shape)
    return found.copy() if found.base is not None else found


def _finished(v: Node) -> Callable[[np.ndarray], np.ndarray]:
    """What becomes of values in all loops of a node: broadcast, reduced, and their axes in
    order."""
    known = {loop for _, index in v.args for loop, _ in index}
    gone = tuple(k for k in range(len(v.loops)) if k not in v.out)
    kept = sorted(v.out)
    order = [kept.index(k) for k in v.out]
    is_whole, is_in_order = known >= set(range(len(v.loops))), order == list(range(len(order)))

    def finish(found):
        found = np.asarray(found, dtype=float)
        # A loop that no argument knows counts all the same: a sum over it adds each round.
        if not is_whole:
            found = np.broadcast_to(found, v.loops)
        if gone:
            found = np.asarray(found.max(gone) if v.over == "max" else found.sum(gone))
        return found if is_in_order else found.transpose(order)

    return finish


def _view(arg: Node, index: Index, v: Node, loops: Sequence[int], *, is_flat: bool = False):
    """How an argument is read: a function of its numbers that gives those at its index, an axis for
    each of ``loops``.

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
    pads = list(zip(ahead, behind, strict=True)) if any(ahead) or any(behind) else None
    is_all = not pads and all(
        isinstance(k, slice) and k == slice(0, n) for k, n in zip(key, arg.shape, strict=True)
    )
    order = [known.index(loop) for loop in loops if loop in known]
    is_in_order = order == list(range(len(order)))
    axes = tuple(slice(None) if loop in known else None for loop in loops)
    is_complete = is_flat or None not in axes
    key = tuple(key)

    def view(a):
        if pads:
            a = np.pad(a, pads)
        if not is_all:
            a = a[key]
        if not is_in_order:
            a = a.transpose(order)
        return a if is_complete else a[axes]

    return view
