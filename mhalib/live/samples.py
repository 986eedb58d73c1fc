"""A ``Dataset`` as a page carries it."""

from typing import Any

import numpy as np

from livegrad.arrays import to_numpy
from mhalib.data import Dataset


def in_doubles(data: Dataset) -> Dataset:
    """The same ``Dataset`` in numpy and double precision, as the browser computes."""
    if not isinstance(data, Dataset):
        raise TypeError(
            f"data: expected a Dataset, got {type(data).__name__}; mhalib.data.from_arrays(X, y) "
            f"makes one"
        )
    return data.map(lambda array: to_numpy(array).astype(np.float64))


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
