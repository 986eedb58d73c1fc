"""Minibatch steps on torch networks."""

from mhalib.minibatches.training import summary, train_network, train_text
from mhalib.training import minibatches

__all__ = ["minibatches", "summary", "train_network", "train_text"]
