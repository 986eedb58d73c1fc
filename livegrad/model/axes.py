"""What a model says of its arrays once: the names of their sizes. Every program of the model is
made of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Axes:
    """The axes of a model's arrays by the names of their sizes, such as ``{"W": "H d d", "U": "H T
    d"}``.

    Parameters
    ----------
    weights : name of a weight → its sizes
    samples : the same of X and y; the first size of y is the number of samples
    by_head : whether a vector of all weights goes head after head, as ``ravel`` does; else it has
        one weight after the other
    """

    weights: Mapping[str, str]
    samples: Mapping[str, str] = field(default_factory=dict)
    by_head: bool = False
