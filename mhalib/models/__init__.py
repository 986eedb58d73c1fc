"""Models: frozen dataclasses that are points of a vector space, one file per paper; and a small torch Transformer."""

from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.population import PopulationRegression
from mhalib.models.regression import AttentionRegression

__all__ = ["AttentionRegression", "MultiHeadAttention", "PopulationRegression", "TextTransformer"]


def __getattr__(name):
    # torch takes longer to import than everything else together.
    if name != "TextTransformer":
        raise AttributeError(f"module 'mhalib.models' has no attribute {name!r}")
    try:
        from mhalib.models.transformer import TextTransformer
    except ModuleNotFoundError as error:
        raise ImportError(f"mhalib.models.TextTransformer computes with {error.name}: "
                          f"pip install {error.name}") from error
    return TextTransformer
