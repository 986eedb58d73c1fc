"""Models: frozen dataclasses that are points of a vector space, one file per paper; and small torch Transformers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mhalib.models.layer import AttentionLayer
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.regression import AttentionRegression

if TYPE_CHECKING:
    from mhalib.models.network import NetworkPoint
    from mhalib.models.transformer import PatchTransformer, TextTransformer

__all__ = ["AttentionLayer", "AttentionRegression", "MultiHeadAttention", "NetworkPoint",
           "PatchTransformer", "TextTransformer"]
_HOMES = {"NetworkPoint": "network", "PatchTransformer": "transformer", "TextTransformer": "transformer"}


def __getattr__(name: str) -> Any:
    # torch takes longer to import than everything else together.
    if name not in _HOMES:
        raise AttributeError(f"module 'mhalib.models' has no attribute {name!r}")
    try:
        return getattr(import_module(f"mhalib.models.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"mhalib.models.{name} computes with {error.name}: "
                          f"pip install {error.name}") from error
