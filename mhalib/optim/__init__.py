"""Update rules on anything with ``+ − * / **``; three that are told the data; and schedules of the
step size."""

from mhalib.optim.backtracking import Backtracking
from mhalib.optim.rules import (
    ENTRYWISE,
    Adam,
    AdamW,
    GradientDescent,
    LearningRate,
    Momentum,
    Rule,
    rate,
)
from mhalib.optim.schedules import Cosine, InverseRoot, OneCycle, Warmup
from mhalib.optim.structured import Preconditioned, StructureAware

__all__ = [
    "ENTRYWISE",
    "Adam",
    "AdamW",
    "Backtracking",
    "Cosine",
    "GradientDescent",
    "InverseRoot",
    "LearningRate",
    "Momentum",
    "OneCycle",
    "Preconditioned",
    "Rule",
    "StructureAware",
    "Warmup",
    "rate",
]
