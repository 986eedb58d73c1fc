"""Which samples go through a network: what it reads of a dataset, some of it, and a minibatch in pieces."""

import numpy as np


def read(data):
    """What a network reads of a dataset: word numbers (n, L), or tokens (n, L, width)."""
    return data.tokens if hasattr(data, "tokens") else data.X


class Some:
    """n samples of a dataset, evenly spaced: files often have one label first."""

    def __init__(self, data, n):
        rows = np.unique(np.rint(np.linspace(0, len(data) - 1, n)).astype(int))
        self.X, self.y = read(data)[rows], data.y[rows]


def pieces(rows, size):
    """Rows in pieces of at most ``size``, or in one."""
    return [rows] if size is None else [rows[k:k + size] for k in range(0, len(rows), size)]


def arrays(data, rows):
    """Tokens and labels of some rows, without the padding behind the longest sentence: it costs time for nothing."""
    X = read(data)[rows]
    return (X[:, :int(data.lengths[rows].max())] if hasattr(data, "tokens") else X), data.y[rows]
