"""Data as a page carries them: what the browser reads, and computes with in doubles."""

from math import isfinite
from typing import Any

import numpy as np

from mhalib._array import to_numpy
from mhalib.data import Dataset

NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
"""How Python writes a number, and how JavaScript does."""


def in_doubles(data: Dataset) -> Dataset:
    """The same ``Dataset`` in numpy and double precision, as the browser computes."""
    if not isinstance(data, Dataset):
        raise TypeError(
            f"data: expected a Dataset, got {type(data).__name__}; mhalib.data.from_arrays(X, y) "
            f"makes one"
        )
    return data.map(lambda array: to_numpy(array).astype(np.float64))


def numbers(array: np.ndarray) -> list[float | str]:
    """The numbers of an array as JSON carries them: those that are not finite as texts that the
    browser reads.

    Examples
    --------
    >>> numbers(np.array([[0.5, -np.inf], [np.inf, np.nan]]))
    [0.5, '-Infinity', 'Infinity', 'NaN']
    """
    listed = array.astype(float).ravel().tolist()
    return (
        listed
        if np.isfinite(array).all()
        else [x if isfinite(x) else NOT_FINITE[repr(x)] for x in listed]
    )


def arrays(data: Dataset) -> dict[str, Any]:
    """A ``Dataset`` as the browser reads it."""
    n, T, d = data.X.shape
    relevant = None if data.relevant is None else data.relevant.astype(int).ravel().tolist()
    return {
        "kind": "arrays",
        "n": n,
        "T": T,
        "d": d,
        "X": data.X.ravel().tolist(),
        "y": data.y.tolist(),
        "relevant": relevant,
    }
