"""Training torch networks on minibatches, by torch's optimizers: ``train_network`` and ``train_text``."""

from mhalib.networks.samples import read
from mhalib.networks.training import summary, train_network, train_text

__all__ = ["read", "summary", "train_network", "train_text"]
