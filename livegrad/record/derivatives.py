"""The gradient of what was recorded: a derivative for each elementwise function, one rule for all
comprehensions."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from livegrad.record.functions import sign
from livegrad.record.trace import (
    Traced,
    axis_by_axis,
    comprehension,
    deriving,
    elementwise,
    filled,
    laid_out,
    node_of,
    stored,
    topological,
)

PARTIALS: dict[str, Callable[..., list[Any]]] = {
    "id": lambda v, a: [1],
    "concatenate": lambda v, *parts: [1] * len(parts),
    "negative": lambda v, a: [-1],
    "add": lambda v, a, b: [1, 1],
    "subtract": lambda v, a, b: [1, -1],
    "multiply": lambda v, a, b: [b, a],
    # By the quotient v: the b² of −a/b² may overflow or underflow.
    "divide": lambda v, a, b: [1 / b, -v / b],
    "absolute": lambda v, a: [sign(a)],
    "exp": lambda v, a: [v],
    "log": lambda v, a: [1 / a],
    "sqrt": lambda v, a: [0.5 / v],
    "log1p": lambda v, a: [1 / (1 + a)],
    "expm1": lambda v, a: [1 + v],
    "arctan": lambda v, a: [1 / (1 + a * a)],
    "tanh": lambda v, a: [1 - v * v],
    "erf": lambda v, a: [2 / np.sqrt(np.pi) * np.exp(-(a * a))],
    "trunc": lambda v, a: [0],
    "sin": lambda v, a: [np.cos(a)],
    "cos": lambda v, a: [-np.sin(a)],
    # v is at least as large as a and b, so neither exponential overflows.
    "logaddexp": lambda v, a, b: [np.exp(a - v), np.exp(b - v)],
    # A comparison is constant wherever it is differentiable.
    **dict.fromkeys(
        ("equal", "greater", "less", "greater_equal", "less_equal"), lambda v, a, b: [0, 0]
    ),
}
"""Elementwise function → its value and arguments → its derivatives, by which a slope is
multiplied."""


def _larger_of(slope, v, a, b):
    """Where two arguments are tied each gets half, as of a maximum over an axis."""
    return [
        np.where(one > other, slope, np.where(one == other, 0.5 * slope, 0.0))
        for one, other in ((a, b), (b, a))
    ]


def _smaller_of(slope, v, a, b):
    return _larger_of(slope, v, b, a)


def _chosen_of(slope, v, condition, a, b):
    """What was not chosen gets 0, also of an infinite slope."""
    return [0, np.where(condition, slope, 0.0), np.where(condition, 0.0, slope)]


def _power_of(slope, v, a, b):
    """b a^(b−1), which is 0 for b = 0 also at a = 0; and a^b log a, which is 0 at a = 0 for b ≥
    0."""
    by_base = slope * (b * a ** (b - 1))
    by_exponent = slope * (v * np.log(a))
    return [
        # A fixed exponent other than 0 needs no choice between cases.
        by_base if b.node.f == "number" and b.node.detail else np.where(b == 0, 0.0, by_base),
        # 0 · log 0 is NaN.
        np.where((a == 0) & (b >= 0), 0.0, by_exponent),
    ]


def _norm_of(slope, v, squared):
    """Of the root that is a norm: 0 at 0."""
    return [np.where(v > 0, slope * (0.5 / v), 0.0)]


PULLBACKS: dict[str, Callable[..., list[Any]]] = {
    "maximum": _larger_of,
    "minimum": _smaller_of,
    "where": _chosen_of,
    "power": _power_of,
    "norm": _norm_of,
}
"""Elementwise function that chooses → the slope, its value and arguments → a slope for each
argument.

A product with 0 would not do: an infinite slope of what was not chosen would become NaN."""


def gradient(value: Traced, wrt: Sequence[Traced]) -> list[Traced]:
    """The derivatives of a recorded number with respect to inputs, each in the shape of its input.

    Reverse mode: every comprehension hands the derivative with respect to itself on to its
    arguments.

    Where there is no derivative it is what torch takes. Where several entries are largest, or the
    two arguments of ``maximum`` or ``minimum`` are equal, each gets an equal part. ``abs`` and the
    Euclidean norm have the slope 0 at 0, a power whose exponent is 0 has none, ``clip`` at a bound
    that of what is clipped; of ``where`` only what was chosen has one, but both branches are
    computed. A root has an infinite slope at 0, as has a logarithm.

    Raises TypeError if value is no number.
    """
    if not isinstance(value, Traced) or value.shape:
        line = f"{value.node.line}: " if isinstance(value, Traced) else ""
        raise TypeError(
            f"{line}expected a loss that is one number and depends on the weights, got {value!r}"
        )
    order, needed = topological([value.node]), {w.node for w in wrt}
    # Arguments come before what reads them, so one pass finds all that depend on `wrt`.
    for v in order:
        if any(arg in needed for arg, _ in v.args):
            needed.add(v)
    slopes = {value.node: filled(1.0, ())}
    # When a node is reached, all that read it have added to its slope.
    for v in reversed(order):
        if v not in slopes or not v.args:
            continue
        with deriving(v):
            for arg, slope in _handed_on(v, slopes[v], needed):
                slopes[arg] = slopes[arg] + slope if arg in slopes else slope
    return [
        slopes[w.node].reshape(w.shape) if w.node in slopes else filled(0.0, w.shape) for w in wrt
    ]


def _handed_on(v, slope, needed):
    """For each argument of node v that is needed: the derivative with respect to it, an axis for
    each of its axes."""
    if v.f == "reshape":
        yield v.args[0][0], laid_out(slope, v.args[0][0].shape)
        return
    if v.f == "pick":
        # The transpose of reading at places is adding up there, and the other way round.
        (places, along), (arg, index) = v.args
        read = axis_by_axis(slope, v.shape), tuple((k, 0) for k in v.out)
        out = [loop for loop, _ in index]
        if arg in needed:
            yield arg, stored(node_of("pick", [(places, along), read], v.loops, out, "sum"))
        return
    slope = _spread(slope, v.out, v)
    own, *args = (
        _spread(stored(node), loops, v)
        for node, loops in (
            (v, v.out),
            *((arg, [loop for loop, _ in index]) for arg, index in v.args),
        )
    )
    if v.over == "max":
        tied = elementwise("equal", args[0], own)
        slope = (
            slope
            * tied
            / tied.sum([k for k in range(len(v.loops)) if k not in v.out], keepdims=True)
        )
    kind = v.detail if v.f == "sqrt" and v.detail else v.f  # a root may be a norm
    parts = PULLBACKS[kind](slope, own, *args) if kind in PULLBACKS else PARTIALS[kind](own, *args)
    for (arg, index), part in zip(v.args, parts, strict=True):
        # isinstance first: == of an array would be recorded.
        if arg not in needed or (isinstance(part, int) and part == 0):
            continue
        if kind in PULLBACKS:
            factors = [part]
        else:
            # Two factors stay apart: with the sum in `_put_back` they are one product of matrices.
            factors = (
                [slope, part] if isinstance(part, Traced) else [slope if part == 1 else -slope]
            )
        yield arg, _put_back(factors, v, arg, index)


def _spread(x, loops, v):
    """An array with an axis for each of ``loops``, as one with an axis for each loop of node v."""
    return Traced(
        x.node, [x.groups[loops.index(k)] if k in loops else () for k in range(len(v.loops))]
    )


def _put_back(factors, v, arg, index):
    """The product of the factors, summed over the loops that the argument does not know, where it
    was read."""
    loops = [loop for loop, _ in index]
    labels = [range(len(v.loops))] * len(factors)
    found = comprehension("multiply" if len(factors) == 2 else "id", factors, labels, loops, "sum")
    # A sum over a loop that no factor knows is a product with its length.
    lost = prod(
        size
        for k, size in enumerate(v.loops)
        if k not in loops and not any(x.groups[k] for x in factors)
    )
    part = axis_by_axis(
        found if lost == 1 else found * lost,
        [1 if loop is None else v.loops[loop] for loop in loops],
    )
    # The transpose of a slice: read at minus its offset the part is 0 outside of what was read.
    back = tuple((axis, -offset) for axis, (_, offset) in enumerate(index))
    return stored(node_of("id", [(part, back)], arg.shape))
