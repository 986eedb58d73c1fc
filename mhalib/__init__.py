"""mhalib: how gradient descent trains attention.

The package behind the book *How Attention Learns*. Start with ``mha.data.tokenized_mixture``,
``mha.MultiHeadAttention`` and ``mha.train``.
"""

from typing import TYPE_CHECKING

from livegrad import landscape
from livegrad.later import Getattr, later
from livegrad.model.given_gradient import check_gradient
from livegrad.model.vector import Vector
from livegrad.path import Path, load
from livegrad.training import Model, train
from mhalib import data, losses, models
from mhalib.attention import gaussian, normalized_gaussian, softmax
from mhalib.data import Dataset
from mhalib.models import AttentionLayer, AttentionRegression, MultiHeadAttention
from mhalib.optim import (
    Adam,
    AdamW,
    Backtracking,
    Cosine,
    GradientDescent,
    InverseRoot,
    Momentum,
    OneCycle,
    Preconditioned,
    Rule,
    StructureAware,
    Warmup,
    clip,
)

if TYPE_CHECKING:
    from livegrad.explorer import explore
    from livegrad.network import NetworkPoint as NetworkPoint
    from mhalib import live, native, plots

__version__ = "0.3.0"
__all__ = [
    "Adam",
    "AdamW",
    "AttentionLayer",
    "AttentionRegression",
    "Backtracking",
    "Cosine",
    "Dataset",
    "GradientDescent",
    "InverseRoot",
    "Model",
    "Momentum",
    "MultiHeadAttention",
    "OneCycle",
    "Path",
    "Preconditioned",
    "Rule",
    "StructureAware",
    "Vector",
    "Warmup",
    "check_gradient",
    "clip",
    "data",
    "explore",
    "gaussian",
    "landscape",
    "live",
    "load",
    "losses",
    "models",
    "native",
    "normalized_gaussian",
    "plots",
    "softmax",
    "train",
]


# Figures need plotly and widgets, which take longer to import than everything else together; and
# many a reader needs no compiler and no torch.
__getattr__: Getattr = later(
    "mhalib",
    {
        "NetworkPoint": "livegrad.network",
        "explore": "livegrad.explorer",
        "live": "live",
        "native": "native",
        "plots": "plots",
    },
)


def __dir__() -> list[str]:
    # not in __all__, because "import *" is not to need torch
    return sorted({*globals(), *__all__, "NetworkPoint"})
