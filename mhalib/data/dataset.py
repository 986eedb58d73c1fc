"""``Dataset``: what a generator makes and ``train`` reads."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from mhalib._array import Array, as_like, is_array, require, require_labels, to_numpy


class Samples:
    """What datasets of arrays share: ``truth`` is the object that made them, where there is one, and draws more.

    A subclass has ``map``, which takes its arrays to another library or dtype, and labels or targets ``y``.
    """

    def __len__(self) -> int:
        return self.y.shape[0]

    @property
    def _source(self):
        return "arrays" if self.truth is None else type(self.truth).__name__

    def fresh(self, n: int | None = None, seed: int = 1) -> Any:
        """n samples that training has not seen, from the same ``truth``: new draws for each ``seed``.

        n defaults to as many as this dataset has; of real data, whose source is finite, to all that were held out.

        Raises ValueError if the dataset has no source to draw from.
        """
        if not hasattr(self.truth, "sample"):
            raise ValueError(f"fresh: expected a dataset made by a generator of mhalib.data, got {self!r}, "
                             "which has no source of new samples")
        n = getattr(self.truth, "size", len(self)) if n is None else n
        return self.truth.sample(n, seed).map(lambda a: as_like(a, self.y))


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Samples):
    """Labeled token sequences: X (n, T, d), y (n,) in {−1, +1}, and what is known about where they came from.

    ``relevant`` (n, T) marks the tokens that carry the label, where that is known. ``truth`` is the object that made
    the data; it can draw ``fresh`` samples.
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

    def subset(self, kept: Any) -> Self:
        """The samples with the indices ``kept``, or of a slice of them: ``data.subset(slice(50))``."""
        relevant = None if self.relevant is None else self.relevant[kept]
        return replace(self, X=self.X[kept], y=self.y[kept], relevant=relevant)


def from_arrays(X: Array, y: Array, relevant: Array | None = None) -> Dataset:
    """A ``Dataset`` from your own arrays: X (n, T, d) floating point, y (n,) in {−1, +1}.

    Raises TypeError or ValueError naming the argument, what was expected and what came.

    Examples
    --------
    >>> data = mha.data.from_arrays(np.ones((2, 4, 3)), np.array([1.0, -1.0]))
    >>> len(data), data.X.shape
    (2, (2, 4, 3))
    """
    require("X", X, ("n", "T", "d"))
    require_labels(y, X)
    if relevant is not None and (not is_array(relevant) or tuple(relevant.shape) != tuple(X.shape[:2])):
        raise ValueError(f"relevant: expected an array of shape (n, T) = {tuple(X.shape[:2])}, "
                         f"got {getattr(relevant, 'shape', type(relevant).__name__)}")
    if relevant is not None and not bool(((relevant == 0) | (relevant == 1)).all()):
        found = ", ".join(f"{value:g}" for value in sorted(set(to_numpy(relevant).ravel().tolist()))[:5])
        raise ValueError(f"relevant: expected marks, true or false, one a token; got {found}")
    return Dataset(X, y, relevant)
