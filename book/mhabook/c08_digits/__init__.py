"""Chapter 8: heads on digits and on sentences, and the small torch Transformers that read
sentences."""

from typing import TYPE_CHECKING

from livegrad.later import Getattr, later

if TYPE_CHECKING:
    from mhabook.c08_digits.network_training import train_network
    from mhabook.c08_digits.transformer import PatchTransformer, TextTransformer

__all__ = ["PatchTransformer", "TextTransformer", "train_network"]
# torch takes longer to import than everything else together.
__getattr__: Getattr = later(
    "mhabook.c08_digits",
    {
        "PatchTransformer": "transformer",
        "TextTransformer": "transformer",
        "train_network": "network_training",
    },
)
