"""mhalib: how gradient descent trains attention.

The package behind the book *How Attention Learns*. Start with ``mha.data.tokenized_mixture``,
``mha.MultiHeadAttention`` and ``mha.train``; every numbered statement of the book is in ``mha.ledger``.
"""

from importlib import import_module

from mhalib import data, losses, models, theory
from mhalib.attention import gaussian, softmax
from mhalib.models import MultiHeadAttention
from mhalib.optim import Adam, GradientDescent, Momentum
from mhalib.theory.ledger import ledger
from mhalib.training import Path, train

__version__ = "0.1.0"
__all__ = ["Adam", "GradientDescent", "Momentum", "MultiHeadAttention", "Path", "data", "gaussian", "ledger", "losses",
           "models", "plots", "softmax", "theory", "train"]


def __getattr__(name):
    # Figures need plotly, which takes longer to import than everything else together.
    if name == "plots":
        return import_module("mhalib.plots")
    raise AttributeError(f"module 'mhalib' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
