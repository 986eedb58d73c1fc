"""The data of Part III: sequences of tokens with a target for every token."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from livegrad.arrays import Array, require, require_count, require_same_dtype, require_seed, shown
from mhalib.data.dataset import Samples


@dataclass(frozen=True, eq=False, repr=False)
class SequenceDataset(Samples):
    """N samples of n tokens X (N, n, D) with targets y (N, n, m), one for every token: n counts
    tokens here, and samples in the other datasets."""

    X: Array
    y: Array
    truth: ClassVar[Any] = None

    def __post_init__(self) -> None:
        require("X", self.X, ("N", "n", "D"))
        require("y", self.y, (*self.X.shape[:2], "m"))
        require_same_dtype(X=self.X, y=self.y)

    def __repr__(self) -> str:
        (N, n, D), m = self.X.shape, self.y.shape[2]
        return f"SequenceDataset(N={N}, n={n}, D={D}, m={m}, {self.X.dtype})"

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same data with ``function`` applied to X and y: ``data.map(torch.as_tensor)``."""
        return replace(self, X=function(self.X), y=function(self.y))


def random_sequences(
    N: int = 8,
    n: int = 4,
    D: int = 32,
    m: int = 1,
    seed: int = 0,
    teacher: Callable[[Array], Array] | None = None,
) -> SequenceDataset:
    """Standard normal tokens with standard normal targets, or with the outputs of a ``teacher``.

    Raises ValueError if a size is no whole number ≥ 1; TypeError or ValueError if the teacher gives
    no such targets.

    Parameters
    ----------
    N, n, D, m : samples, tokens in each, dimensions of a token, targets of a token
    seed : fixes tokens and targets
    teacher : a model that is called on the tokens (N, n, D) and gives targets (N, n, m); then m is
        its own

    Source: this book.

    Examples
    --------
    >>> data = mha.data.random_sequences(N=8, n=4, D=6, m=2, seed=0)
    >>> data.X.shape, data.y.shape
    ((8, 4, 6), (8, 4, 2))
    """
    require_count(N=N, n=n, D=D, m=m)
    require_seed(seed)
    # Streams of their own: a seed has the same tokens with a teacher as without.
    tokens, targets = (np.random.default_rng([seed, 5, kind]) for kind in range(2))
    X = tokens.standard_normal((N, n, D))
    if teacher is None:
        return SequenceDataset(X, targets.standard_normal((N, n, m)))
    if not callable(teacher):
        raise TypeError(
            f"teacher: expected a model that is called on tokens (N, n, D), got {shown(teacher)}"
        )
    try:
        return SequenceDataset(X, teacher(X))
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"teacher: expected targets (N, n, m) of tokens {X.shape}: {error}"
        ) from None
