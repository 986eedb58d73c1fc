"""livegrad: a loss written in NumPy becomes its gradient, its Hessian product, training, and a live
figure that trains in a page.

Start with a dataclass that extends ``livegrad.Vector``, with ``livegrad.Samples``,
``livegrad.train`` and ``livegrad.live.figure``.
"""

from typing import TYPE_CHECKING

from livegrad import landscape
from livegrad.later import Getattr, later
from livegrad.model import Vector
from livegrad.model.given_gradient import check_gradient
from livegrad.optim import (
    Adam,
    AdamW,
    Backtracking,
    Cosine,
    GradientDescent,
    InverseRoot,
    Momentum,
    OneCycle,
    Rule,
    Warmup,
    clip,
)
from livegrad.path import Path, load
from livegrad.samples import Samples
from livegrad.training import Model, train

if TYPE_CHECKING:
    from livegrad import live, plots
    from livegrad.explorer import explore
    from livegrad.network import NetworkPoint as NetworkPoint
    from livegrad.record import primitive

__version__ = "0.3.0"
__all__ = [
    "Adam",
    "AdamW",
    "Backtracking",
    "Cosine",
    "GradientDescent",
    "InverseRoot",
    "Model",
    "Momentum",
    "OneCycle",
    "Path",
    "Rule",
    "Samples",
    "Vector",
    "Warmup",
    "check_gradient",
    "clip",
    "explore",
    "landscape",
    "live",
    "load",
    "plots",
    "primitive",
    "train",
]

# Figures need plotly and widgets, which take longer to import than everything else together; and
# many a reader needs no compiler and no torch.
__getattr__: Getattr = later(
    "livegrad",
    {
        "NetworkPoint": "network",
        "explore": "explorer",
        "live": "live",
        "plots": "plots",
        "primitive": "record",
    },
)


def __dir__() -> list[str]:
    # not in __all__, because "import *" is not to need torch
    return sorted({*globals(), *__all__, "NetworkPoint"})
