"""The laboratory: one live figure that combines the models, data, starts and rules of the book."""

from mhalib.live.lab.figure import Laboratory, laboratory

__all__ = ["Laboratory", "laboratory"]
