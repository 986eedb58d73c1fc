"""Update rules on anything with ``+ − * / **``; two that are told the data; and schedules of the
step size."""

from livegrad.optim import (
    ENTRYWISE,
    Adam,
    AdamW,
    Backtracking,
    Cosine,
    GradientDescent,
    InverseRoot,
    LearningRate,
    Momentum,
    OneCycle,
    Rule,
    Warmup,
    clip,
    rate,
)
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
    "clip",
    "rate",
]
