"""The stored slices of chapter 15 as its tables show them, and the slices that it draws."""

from functools import cache
from typing import Any

import numpy as np

from livegrad.landscape import Slice, random_direction, slice
from mhabook.c15_landscapes.smoothness import by_differences
from mhabook.tables import stored
from mhalib.data import SequenceDataset
from mhalib.models import AttentionLayer

TASKS = ("words", "words, longer", "micro-Pathfinder")
PAIRS = {
    "Gaussian : softmax": ("Gaussian", "softmax"),
    "Gaussian : scaled": ("Gaussian", "softmax, scaled"),
    "normalized : softmax": ("Gaussian, normalized", "softmax"),
    "scaled : softmax": ("softmax, scaled", "softmax"),
}


@cache
def _table():
    return stored("landscapes.npz")


def measures_of(kernel: str, trains: str, **wanted: Any) -> np.ndarray:
    """The three measures of stored slices (rows, 3), in the order of the table."""
    rows = _table().where(kernel=kernel, trains=trains, **wanted)
    return np.array(
        [by_differences(loss, a, a) for loss, a in zip(rows["loss"], rows["a"], strict=True)]
    )


def wins(kernel: str, other: str, trains: str, **wanted: Any) -> list[int]:
    """In how many slices a kernel has less than another: maximum, mean gradient, negative
    curvature."""
    return (
        (measures_of(kernel, trains, **wanted) < measures_of(other, trains, **wanted))
        .sum(axis=0)
        .tolist()
    )


def verdicts_table() -> None:
    """Print in how many of nine slices each kernel of a pair has less than the other, by the three
    measures."""
    lines = [" " * 26 + "".join(f"{name.split(' : ')[k]:>14}" for name in PAIRS) for k in (0, 1)]
    for trains in ("queries and keys", "everything"):
        lines += [trains]
        for task in TASKS:
            for scaled in ("filter", "raw"):
                counts = (wins(*pair, trains, task=task, scaled=scaled) for pair in PAIRS.values())
                lines += [
                    f"  {task + ', ' + scaled:24}"
                    + "".join("{:>8}{:>3}{:>3}".format(*one) for one in counts)
                ]
    print(*lines, sep="\n")


def heights_table() -> None:
    """Print the median maximum of the slices of three kernels, beside the loss without
    attention."""
    print(f"{'queries and keys':22} {'maximum on the slice (median)':>46}   no attention")
    for task in TASKS:
        softmax, gaussian, normalized = (
            np.median(measures_of(kernel, "queries and keys", task=task)[:, 0])
            for kernel in ("softmax", "Gaussian", "Gaussian, normalized")
        )
        off = np.median(
            _table().where(task=task, kernel="Gaussian", trains="queries and keys")["off"]
        )
        print(
            f"{task:18} softmax {softmax:.3f}  Gaussian {gaussian:.3f}  normalized "
            f"{normalized:.3f}{off:15.3f}"
        )


def bending_down(H: np.ndarray, planes: int = 2000, seed: int = 0) -> float:
    """The share of random planes on which the quadratic form of a Hessian (p, p) has a negative
    eigenvalue."""
    spanned = np.random.default_rng(seed).standard_normal((planes, len(H), 2))
    # No orthonormal basis is needed: the signs of the eigenvalues are the same in any.
    return float((np.linalg.eigvalsh(spanned.mT @ H @ spanned)[:, 0] < 0).mean())


def random_slice(
    layer: AttentionLayer,
    data: SequenceDataset,
    radius: float,
    resolution: int,
    normalize: str = "filter",
) -> Slice:
    """A slice along two random directions of all weights, the same for every radius."""
    u, v = (random_direction(layer, seed, normalize=normalize) for seed in (1, 2))
    return slice(layer, data, u, v, radius, resolution)


def cut_of(
    data: SequenceDataset, layer: AttentionLayer, radius: float, seed: int, normalize: str
) -> Slice:
    """A slice along two random directions of queries and keys."""
    # 2 seed + k: no two slices share a direction.
    u, v = (random_direction(layer, 2 * seed + k, ("WQ", "WK"), normalize) for k in (0, 1))
    return slice(layer, data, u, v, radius, 13)


def named(name: str, cut: Slice) -> str:
    """A kernel and its three measures."""
    return "{}: {:.3g}; {:.3g}; {:.0%}".format(name, *by_differences(cut.loss, cut.a, cut.b))
