"""Data: seeded generators and real images, each giving a ``Dataset``."""

from mhalib.data.dataset import Dataset, from_arrays
from mhalib.data.digits import digits
from mhalib.data.mixture import tokenized_mixture

__all__ = ["Dataset", "digits", "from_arrays", "tokenized_mixture"]
