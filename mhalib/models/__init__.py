"""Models: frozen dataclasses that are points of a vector space, one file per paper."""

from livegrad.model.vector import Vector
from mhalib.models.layer import AttentionLayer
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.regression import AttentionRegression

__all__ = ["AttentionLayer", "AttentionRegression", "MultiHeadAttention", "Vector"]
