"""Update rules on anything with ``+ − * / **``; and three that are told the data."""

from mhalib.optim.backtracking import Backtracking
from mhalib.optim.rules import Adam, AdamW, GradientDescent, Momentum, OneCycle, rate
from mhalib.optim.structured import Preconditioned, StructureAware

__all__ = ["Adam", "AdamW", "Backtracking", "GradientDescent", "Momentum", "OneCycle", "Preconditioned",
           "StructureAware", "rate"]
