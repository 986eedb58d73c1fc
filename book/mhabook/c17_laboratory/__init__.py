"""The laboratory: one live figure that combines the models, data, starts and rules of the book."""

from mhabook.c17_laboratory.figure import Laboratory, laboratory

__all__ = ["Laboratory", "laboratory"]
