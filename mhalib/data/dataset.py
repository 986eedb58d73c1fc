"""``Dataset``: what a generator makes and ``train`` reads."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from livegrad.arrays import Array, as_like, require, require_labels
from livegrad.console import printed
from livegrad.foreign import PAD, converted, marks
from livegrad.samples import Indexed


class Samples(Indexed):
    """What datasets of this package share: ``truth`` is the object that made them, where there is
    one, and draws more.

    A subclass has ``map``, which takes its arrays to another library or dtype, and labels or
    targets ``y``.
    """

    truth: Any

    @property
    def _source(self):
        return "arrays" if self.truth is None else type(self.truth).__name__

    def fresh(self, n: int | None = None, seed: int = 1) -> Any:
        """n samples that training has not seen, from the same ``truth``: new draws for each
        ``seed``.

        n defaults to as many as this dataset has; of real data, whose source is finite, to all that
        were held out.

        Raises ValueError if the dataset has no source to draw from.
        """
        if not hasattr(self.truth, "sample"):
            raise ValueError(
                "fresh: expected a dataset whose generator draws more of it, as those of "
                f"tokenized_mixture do, got {self!r}, which has no source of new samples"
            )
        n = getattr(self.truth, "size", len(self)) if n is None else n
        return self.truth.sample(n, seed).map(lambda a: as_like(a, self.y))


@printed
@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Samples):
    """Labeled sequences, n samples of T tokens: X (n, T, d), y (n,) in {−1, +1}, and what is known
    about where they came from.

    ``data[kept]`` has some of the samples: ``data[:50]``, ``data[[0, 7]]``, ``data[data.y > 0]``.
    ``relevant`` (n, T) marks the tokens that carry the label, where that is known. ``truth`` is the
    object that made the data; it can draw ``fresh`` samples.
    """

    X: Array
    y: Array
    relevant: Array | None = None
    truth: Any = None

    def __repr__(self) -> str:
        (n, T, d), positive = self.X.shape, int((self.y > 0).sum())
        return f"Dataset(n={n}, T={T}, d={d}, {positive} labeled +1, from {self._source}, {self.X.dtype})"

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same data with ``function`` applied to X and y: ``data.map(torch.as_tensor)``."""
        return replace(self, X=function(self.X), y=function(self.y))

    def _chosen(self, rows: np.ndarray) -> Self:
        relevant = None if self.relevant is None else self.relevant[rows]
        return replace(super()._chosen(rows), relevant=relevant)


def from_arrays(X: Any, y: Any, relevant: Any = None) -> Dataset:
    """A ``Dataset`` from your own data: tokens X (n, T, d), labels y (n,) in {−1, +1}, marks
    ``relevant`` (n, T).

    Whatever has one meaning is taken, the rest refused with what to do:

    ============================================================  ================================================
    what you bring                                                what becomes of it
    ============================================================  ================================================
    numpy arrays and torch tensors in single or double precision  taken as they are, read-only ones and views too
    lists and tuples; pandas frames and series, and whatever      read by numpy, in double precision
    else has ``to_numpy()`` or ``__array__()``
    whole numbers and truth values; another order of bytes        the same numbers as floats
    files mapped to memory                                        taken as views
    labels −1 and 1 as whole numbers                              the same labels as floats
    labels 0 and 1, of any dtype                                  refused: ``y = 2.0 * y - 1``
    two or more labels that are other numbers                     refused: ``y = 2.0 * (y == 8) - 1``
    labels in words                                               refused: ``np.where(y == "yes", 1.0, -1.0)``
    sequences of several lengths                                  refused: padded, and marked in one more feature
    a column y (n, 1)                                             refused: ``np.ravel(y)``
    masked arrays                                                 refused: ``X.filled(0.0)``
    sparse arrays                                                 refused: ``X.toarray()``, ``X.to_dense()``
    half and extended precision                                   refused: ``X.astype(float)``, ``X.float()``
    complex numbers, fields, times, units, ``np.matrix``          refused
    tensors that require a gradient                               refused: ``X.detach()``
    X and y of two libraries, devices or precisions               refused: convert one side
    nothing (an empty axis); NaN or infinity                      refused
    ============================================================  ================================================

    Raises TypeError or ValueError naming the argument, what was expected and what came.

    Examples
    --------
    >>> data = mha.data.from_arrays(np.ones((2, 4, 3)), np.array([1.0, -1.0]))
    >>> len(data), data.X.shape
    (2, (2, 4, 3))
    >>> mha.data.from_arrays([[[0, 1], [2, 3]]], [-1])
    Dataset(n=1, T=2, d=2, 0 labeled +1, from arrays, float64)
    """
    try:
        X = converted("X", X)
    except (TypeError, ValueError) as error:
        if not str(error).endswith(PAD):
            raise
        # The engine knows no model that leaves padding out.
        raise type(error)(f"{error}, as the model Padded of the API page does") from None
    if X.ndim == 2:
        raise ValueError(
            f"X: expected shape (n, T, d), sequences of T tokens, got {tuple(X.shape)}; for "
            "single tokens with targets there is mhalib.data.regression_from_arrays"
        )
    require("X", X, ("n", "T", "d"))
    written = "np.array(y)" if isinstance(y, (list, tuple)) else "y"
    y = converted("y", y, like=X)
    require_labels(y, X, written)
    return Dataset(X, y, None if relevant is None else marks(relevant, tuple(X.shape[:2])))
