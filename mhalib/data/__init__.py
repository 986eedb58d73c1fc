"""Data: seeded generators and real images, each giving a ``Dataset``."""

from mhalib.data.dataset import Dataset, from_arrays
from mhalib.data.digits import digits
from mhalib.data.files import from_file
from mhalib.data.mixture import tokenized_mixture
from mhalib.data.pathfinder import Pathfinder, pathfinder
from mhalib.data.planted import planted
from mhalib.data.regression import (
    Population,
    RegressionDataset,
    linear_regression,
    regression_from_arrays,
)
from mhalib.data.sequences import SequenceDataset, random_sequences

__all__ = [
    "Dataset",
    "Pathfinder",
    "Population",
    "RegressionDataset",
    "SequenceDataset",
    "digits",
    "from_arrays",
    "from_file",
    "linear_regression",
    "pathfinder",
    "planted",
    "random_sequences",
    "regression_from_arrays",
    "tokenized_mixture",
]
