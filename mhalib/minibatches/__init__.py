"""Minibatch steps on torch networks."""

from mhalib.minibatches.samples import read
from mhalib.minibatches.training import summary, train_network, train_text
from mhalib.training import minibatches

__all__ = ["minibatches", "read", "summary", "train_network", "train_text"]
