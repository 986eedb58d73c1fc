"""The laboratory: one live figure in which every model, data, start and rule of the book can be combined."""

from mhalib.live.lab.figure import Laboratory, laboratory

__all__ = ["Laboratory", "laboratory"]
