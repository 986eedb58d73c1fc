"""Models: frozen dataclasses that are points of a vector space, a file each."""

from livegrad.model.vector import Vector
from mhalib.models.head_groups import HeadGroups
from mhalib.models.layer import AttentionLayer
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.regression import AttentionRegression

__all__ = ["AttentionLayer", "AttentionRegression", "HeadGroups", "MultiHeadAttention", "Vector"]
