"""Numbers as a page carries them: what the browser reads, and computes with in doubles."""

from math import isfinite

import numpy as np

NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
"""How Python writes a number, and how JavaScript does."""


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
