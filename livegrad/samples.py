"""``Samples``: arrays X and y of a reader's own, as ``train`` and live figures take them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from livegrad.arrays import Array, namespace, require_values
from livegrad.console import printed
from livegrad.foreign import converted


@printed
@dataclass(frozen=True, eq=False, repr=False)
class Samples:
    """Inputs X and targets y, a row of each for every sample.

    NumPy arrays and PyTorch tensors in single or double precision are taken as they are; lists,
    whole numbers, truth values and the columns of a table become floats.

    Raises TypeError or ValueError naming what came, if one is no array of finite numbers, they are
    of two libraries, or have not as many rows.

    Examples
    --------
    >>> lg.Samples([[1, 2], [3, 4], [5, 6]], [1, -1, 1])
    Samples(X (3, 2), y (3,), float64)
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
        for name, a in {"X": X, "y": y}.items():
            require_values(name, a)
            if not namespace(a).isfinite(a).all():
                raise ValueError(
                    f"{name}: expected finite numbers, got NaN or infinity in an array of shape "
                    f"{tuple(a.shape)}"
                )
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        kind = str(self.X.dtype).removeprefix("torch.")
        return f"Samples(X {tuple(self.X.shape)}, y {tuple(self.y.shape)}, {kind})"

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same samples with ``function`` applied to both arrays:
        ``samples.map(torch.as_tensor)``."""
        return replace(self, X=function(self.X), y=function(self.y))
