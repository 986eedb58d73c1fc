"""mhalib: how gradient descent trains attention.

The package behind the book *How Attention Learns*. Start with ``mha.data.tokenized_mixture``,
``mha.MultiHeadAttention`` and ``mha.train``; every numbered statement of the book is in ``mha.ledger``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from mhalib import data, losses, models, theory
from mhalib.attention import gaussian, softmax
from mhalib.models import MultiHeadAttention
from mhalib.optim import Adam, GradientDescent, Momentum
from mhalib.theory.ledger import ledger
from mhalib.training import Path, train

if TYPE_CHECKING:
    from mhalib import live, plots
    from mhalib.exploring import explore

__version__ = "0.1.0"
__all__ = ["Adam", "GradientDescent", "Momentum", "MultiHeadAttention", "Path", "data", "explore", "gaussian", "ledger",
           "live", "losses", "models", "plots", "softmax", "theory", "train"]


def __getattr__(name):
    # Figures need plotly and widgets, which take longer to import than everything else together.
    if name not in {"explore", "live", "plots"}:
        raise AttributeError(f"module 'mhalib' has no attribute {name!r}")
    try:
        return import_module("mhalib.exploring").explore if name == "explore" else import_module(f"mhalib.{name}")
    except ModuleNotFoundError as error:
        raise ImportError(f"mhalib.{name} draws with {error.name}: pip install {error.name}") from error


def __dir__():
    return sorted({*globals(), *__all__})
