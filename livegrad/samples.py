"""``Samples``: arrays X and y of a reader's own, as ``train`` and live figures take them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from livegrad.arrays import (
    Array,
    namespace,
    require_number,
    require_seed,
    require_values,
    shown,
)
from livegrad.console import printed
from livegrad.foreign import converted


class Indexed:
    """What datasets of samples share: ``data[kept]`` has some of the samples, and ``split`` makes
    two datasets of one.

    A subclass has ``y``, and ``map``, which takes a function to each of its arrays.
    """

    y: Array

    def __len__(self) -> int:
        return self.y.shape[0]

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same samples with ``function`` applied to the arrays."""
        raise NotImplementedError

    def __getitem__(self, kept: Any) -> Self:
        """The samples of a slice, with the indices ``kept``, or those that it marks:
        ``data[:50]``, ``data[[0, 7]]``, ``data[data.y > 0]``.

        Raises ValueError if kept chooses none, or is one index alone, which leaves no axis of
        samples.
        """
        try:
            # Tried on the numbers of the samples, which decides alike for every library.
            # A copy, because torch takes no view that runs backward.
            rows = np.arange(len(self))[kept].copy()
        except (IndexError, TypeError, ValueError):
            rows = np.empty(0, int)
        if rows.ndim != 1 or not len(rows):
            raise ValueError(
                f"data[kept]: expected a slice, indices or marks that choose some of {len(self)} "
                f"samples, got {shown(kept)}; data[[0]] has the first one, data.X[0] its inputs"
            )
        return self._chosen(rows)

    def _chosen(self, rows: np.ndarray) -> Self:
        return self.map(lambda a: a[rows])

    def split(self, test: float = 0.25, seed: int = 0) -> tuple[Self, Self]:
        """Two datasets, to train on and to test on: ``train, test = data.split(test=0.25)``.

        Of n samples round(test · n) are in the second, drawn without regard to their labels, and
        the others in the first; each has its samples in random order. The same seed splits n
        samples alike.

        Raises ValueError if test is no number between 0 and 1, or leaves one of the two without a
        sample.
        """
        require_number("test", test, above=0, below=1)
        require_seed(seed)
        n, held_out = len(self), round(test * len(self))
        if not 0 < held_out < n:
            raise ValueError(
                f"test: expected a share that leaves samples on both sides, got {test} of {n}"
            )
        # The 9 keeps this draw apart from those of data, models and minibatches of one seed.
        order = np.random.default_rng([seed, 9]).permutation(n)
        return self[order[held_out:]], self[order[:held_out]]


@printed
@dataclass(frozen=True, eq=False, repr=False)
class Samples(Indexed):
    """Inputs X and targets y, a row of each for every sample.

    NumPy arrays and PyTorch tensors in single or double precision are taken as they are; lists,
    whole numbers, truth values and the columns of a table become floats.

    Raises TypeError or ValueError naming what came, if one is no array of finite numbers, they are
    of two libraries, or have not as many rows.

    Examples
    --------
    >>> data = lg.Samples([[1, 2], [3, 4], [5, 6]], [1, -1, 1])
    >>> data, data[:2]
    (Samples(X (3, 2), y (3,), float64), Samples(X (2, 2), y (2,), float64))
    """

    X: Array
    y: Array

    def __post_init__(self) -> None:
        X = converted("X", self.X)
        y = converted("y", self.y, like=X)
        if not (X.ndim and y.ndim and len(X) == len(y) > 0):
            raise ValueError(
                "y: expected as many rows as X has, and at least one, got X of shape "
                f"{tuple(X.shape)} and y of shape {tuple(y.shape)}"
            )
        if y.ndim == 2 and y.shape[1] == 1:
            raise ValueError(
                f"y: expected one number a sample, or several, got a column {tuple(y.shape)}, which "
                "beside a prediction (n,) would become (n, n); write y[:, 0]"
            )
        namespace(X=X, y=y)
        for name, a in {"X": X, "y": y}.items():
            require_values(name, a)
            if not namespace(a).isfinite(a).all():
                raise ValueError(
                    f"{name}: expected finite numbers, got NaN or infinity in an array of shape "
                    f"{tuple(a.shape)}"
                )
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    def __repr__(self) -> str:
        kind = str(self.X.dtype).removeprefix("torch.")
        return f"Samples(X {tuple(self.X.shape)}, y {tuple(self.y.shape)}, {kind})"

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same samples with ``function`` applied to both arrays:
        ``samples.map(torch.as_tensor)``."""
        return replace(self, X=function(self.X), y=function(self.y))
