"""Update rules on anything with ``+ − * / **``, one that is told the data, and schedules of the step
size."""

from livegrad.optim.backtracking import Backtracking
from livegrad.optim.clipping import clip
from livegrad.optim.rules import (
    ENTRYWISE,
    Adam,
    AdamW,
    GradientDescent,
    LearningRate,
    Momentum,
    Rule,
    rate,
)
from livegrad.optim.schedules import Cosine, InverseRoot, OneCycle, Warmup

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
    "Rule",
    "Warmup",
    "clip",
    "rate",
]
