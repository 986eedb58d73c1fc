"""Data as a page carries them: what the browser reads, and computes with in doubles."""

from typing import Any

import numpy as np

from mhalib._array import to_numpy
from mhalib.data import Dataset
from mhalib.data.mixture import Mixture, MixtureDraws


def in_doubles(data: Dataset) -> Dataset:
    """The same ``Dataset`` in numpy and double precision, as the browser computes."""
    if not isinstance(data, Dataset):
        raise TypeError(f"data: expected a Dataset, got {type(data).__name__}; mhalib.data.from_arrays(X, y) makes one")
    return data.map(lambda array: to_numpy(array).astype(np.float64))


def arrays(data: Dataset) -> dict[str, Any]:
    """A ``Dataset`` as the browser reads it."""
    n, T, d = data.X.shape
    relevant = None if data.relevant is None else data.relevant.astype(int).ravel().tolist()
    return {"kind": "arrays", "n": n, "T": T, "d": d, "X": data.X.ravel().tolist(), "y": data.y.tolist(),
            "relevant": relevant}


def mixture_draws(mixture: Mixture, draws: MixtureDraws) -> dict[str, Any]:
    """The draws of a ``Mixture`` as the browser reads them: it assembles X for any ζ and σ."""
    n, T, d = draws.normal.shape
    flat = {name: getattr(draws, name).ravel().tolist() for name in ("sign", "rank", "pattern", "normal")}
    return {"kind": "mixture", "n": n, "T": T, "d": d, "mu": mixture.mu.ravel().tolist(),
            "nu": mixture.nu.ravel().tolist(), **flat}
