"""A model is a point of a vector space that knows its loss; what is derived of that."""

from livegrad.model.vector import Vector

__all__ = ["Vector"]
