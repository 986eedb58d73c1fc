"""Update rules on anything with ``+ − * / **``; and two that know the structure of a softmax layer of two matrices."""

from mhalib.optim.rules import Adam, GradientDescent, Momentum, rate
from mhalib.optim.structured import Preconditioned, StructureAware

__all__ = ["Adam", "GradientDescent", "Momentum", "Preconditioned", "StructureAware", "rate"]
