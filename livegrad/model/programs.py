"""Programs of a model, made of what it says of its axes: where its weights lie in a vector, and
what is read."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from livegrad.model.axes import Axes
from livegrad.record import Place, Program
from livegrad.record.loops import product_of


def places(axes: Axes, buffer: str, prefix: str = "") -> dict[str, Place]:
    """Where the weights lie in a vector of this name; ``prefix`` begins their own names."""
    shapes = [shape.split() for shape in axes.weights.values()]
    # A weight with no sizes left is one number long.
    blocks = [" * ".join(shape[1:] if axes.by_head else shape) or "1" for shape in shapes]
    whole = f"({_sum(blocks)})"
    length = f"{shapes[0][0]} * {whole}" if axes.by_head else whole
    found = {}
    for k, (name, shape) in enumerate(zip(axes.weights, shapes, strict=True)):
        strides = [product_of(shape[axis + 1 :]) for axis in range(len(shape))]
        if axes.by_head:
            # Heads lie one after the other, each whole: a step of axis 0 is a head's length.
            strides[0] = whole
        found[f"{prefix}{name}"] = Place(buffer, length, _sum(blocks[:k]), strides)
    return found


def program(
    axes: Axes,
    formulas: Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]]],
    reads: Mapping[str, str],
    writes: Mapping[str, str],
    more: Mapping[str, str] | None = None,
    **options: Any,
) -> Program:
    """The program of some formulas of a model.

    Parameters
    ----------
    axes : the model's
    formulas : as of ``Program``: of arrays by name
    reads, writes : name of a vector of weights → what the names of its parts begin with: {"theta":
        "", "slope": "d"} has W in ``theta`` and dW in ``slope``
    more : the sizes of other arrays that are read
    options : of ``Program``
    """
    shapes = {**axes.samples, **(more or {})}
    shapes |= {
        f"{prefix}{name}": shape
        for prefix in reads.values()
        for name, shape in axes.weights.items()
    }
    lie = {
        name: place
        for buffer, prefix in {**reads, **writes}.items()
        for name, place in places(axes, buffer, prefix).items()
    }
    return Program(formulas, shapes, axes.samples["y"].split()[0], lie, **options)


def parts(prefix: str, point: Any) -> dict[str, Any]:
    """The weights of a point by the names that a program has for them."""
    return {f"{prefix}{name}": a for name, a in point.arrays().items()}


def sizes_of(shape: Iterable[int | str]) -> str:
    """The sizes of an array as programs have them: (3, 5) is "3 5"."""
    return " ".join(map(str, shape))


def _sum(lengths: Iterable[str]) -> str:
    counted = Counter(lengths)
    return (
        " + ".join(
            length if count == 1 else f"{count} * {length}" for length, count in counted.items()
        )
        or "0"
    )
