"""Models: frozen dataclasses that are points of a vector space, one file per paper."""

from mhalib.models.layer import AttentionLayer
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.regression import AttentionRegression
from livegrad.model.vector import Vector

__all__ = ["AttentionLayer", "AttentionRegression", "MultiHeadAttention", "Vector"]
