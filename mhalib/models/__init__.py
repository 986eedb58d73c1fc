"""Models: frozen dataclasses that are points of a vector space, one file per paper."""

from mhalib.models.multihead import MultiHeadAttention

__all__ = ["MultiHeadAttention"]
