"""Models: frozen dataclasses that are points of a vector space, one file per paper; and small torch Transformers."""

from typing import TYPE_CHECKING

from mhalib._later import Getattr, later
from mhalib.models.layer import AttentionLayer
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.regression import AttentionRegression

if TYPE_CHECKING:
    from mhalib.models.transformer import PatchTransformer, TextTransformer

__all__ = ["AttentionLayer", "AttentionRegression", "MultiHeadAttention", "PatchTransformer", "TextTransformer"]
# torch takes longer to import than everything else together.
__getattr__: Getattr = later(
    "mhalib.models", {"PatchTransformer": "transformer", "TextTransformer": "transformer"}, needs="computes with")
