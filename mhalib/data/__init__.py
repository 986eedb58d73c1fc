"""Data: seeded generators and real images, each giving a ``Dataset``; and text."""

from mhalib.data.dataset import Dataset, from_arrays
from mhalib.data.digits import digits
from mhalib.data.files import from_file
from mhalib.data.mixture import tokenized_mixture
from mhalib.data.pathfinder import Pathfinder, pathfinder
from mhalib.data.pathfinder_files import pathfinder_files
from mhalib.data.planted import planted
from mhalib.data.regression import Population, RegressionDataset, linear_regression, regression_from_arrays
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.data.text import (
    ByteDataset,
    TextDataset,
    Vocabulary,
    from_bytes,
    from_sentences,
    imdb,
    reviews,
    sst2,
    words,
)

__all__ = ["ByteDataset", "Dataset", "Pathfinder", "Population", "RegressionDataset", "SequenceDataset", "TextDataset",
           "Vocabulary", "digits", "from_arrays", "from_bytes", "from_file", "from_sentences", "imdb",
           "linear_regression", "pathfinder", "pathfinder_files", "planted", "random_sequences",
           "regression_from_arrays", "reviews", "sst2", "tokenized_mixture", "words"]
