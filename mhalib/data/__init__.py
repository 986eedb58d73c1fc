"""Data: seeded generators and real images, each giving a ``Dataset``; and text."""

from mhalib.data.dataset import Dataset, from_arrays
from mhalib.data.digits import digits
from mhalib.data.mixture import tokenized_mixture
from mhalib.data.planted import planted
from mhalib.data.regression import Population, RegressionDataset, linear_regression, regression_from_arrays
from mhalib.data.text import TextDataset, Vocabulary, from_sentences, reviews, sst2

__all__ = ["Dataset", "Population", "RegressionDataset", "TextDataset", "Vocabulary", "digits", "from_arrays",
           "from_sentences", "linear_regression", "planted", "regression_from_arrays", "reviews", "sst2",
           "tokenized_mixture"]
