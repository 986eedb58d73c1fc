"""What a program is printed from: its formulas, recorded, and the names of all sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from livegrad.record.sizes import Place, Sizes
from livegrad.record.trace import Traced

PREFIXES = "abcefg"
"""Of the buffers of the first, the second, … entry: no name of an array or a size is one of these
and a number."""


@dataclass(frozen=True, eq=False)
class Record:
    """The formulas of a program, recorded.

    Parameters
    ----------
    entries : name of an entry → its results by name
    numbers : the names of sizes, and of numbers that depend on them
    arrays : name of each array that is read or written from outside → its length
    sizes : the names of the sizes, in their order, and of the number
    number : the one of these that is a number > 0, and no size
    sample : the size that is the number of samples
    places : where arrays lie that are parts of a longer one
    lanes : name of each array with an axis of samples → its other sizes
    """

    entries: Mapping[str, Mapping[str, Traced]]
    numbers: Sizes
    arrays: Mapping[str, str]
    sizes: Sequence[str]
    number: str | None
    sample: str
    places: Mapping[str, Place]
    lanes: Mapping[str, Sequence[str]]

    def prefixes(self) -> dict[str, str]:
        """What the names of buffers begin with, for each entry."""
        return {
            name: PREFIXES[k] if k < len(PREFIXES) else f"h{k}_"
            for k, name in enumerate(self.entries)
        }
