"""The memory of a plan of numpy's: arrays that its steps write into, each again as soon as nothing
reads it any more.

What numpy makes anew above malloc's threshold it hands back to the system at once, and every page of
the next one is a page fault: that took up to three quarters of the time of a gradient.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

SMALL = 1000
"""Arrays of fewer numbers malloc keeps by itself, and they are made anew."""
KEPT = 1 << 28
"""Bytes of a plan beyond which its memory is handed back after every call."""


class Layout(NamedTuple):
    """For each array the piece of memory that it lies in, and the lengths of these."""

    places: list[int]
    lengths: list[int]


class Buffers:
    """Arrays by number: asked for while a plan is made, step after step, and lent to each of its
    calls."""

    def __init__(self) -> None:
        self._shapes: list[tuple[int, ...]] = []
        # By the number of an array: the steps that write it, and read it for the last time.
        self._written: list[int] = []
        self._read: list[int] = []
        self._step = 0
        self._free: list[list[np.ndarray]] = []

    def next_step(self) -> None:
        """What follows is of the next step."""
        self._step += 1

    def new(self, shape: Iterable[int]) -> int | None:
        """The number of an array that the present step writes; None for a small one."""
        shape = tuple(shape)
        if prod(shape) < SMALL:
            return None
        self._shapes.append(shape)
        self._written.append(self._step)
        self._read.append(self._step)
        return len(self._shapes) - 1

    def reads(self, numbers: Iterable[int]) -> None:
        """The present step reads these arrays."""
        for number in numbers:
            self._read[number] = self._step

    def lend(self) -> list[np.ndarray]:
        """All arrays, for one call: two threads have each their own."""
        try:
            return self._free.pop()
        except IndexError:
            return self._made()

    def take_back(self, arrays: list[np.ndarray]) -> None:
        """The call has ended, and nothing that it gave lies in them."""
        if 8 * sum(self._layout.lengths) <= KEPT:
            self._free.append(arrays)

    def apart(self) -> list[np.ndarray]:
        """All arrays, none of them in the memory of another."""
        return [np.empty(shape) for shape in self._shapes]

    def _made(self):
        memory = [np.empty(length) for length in self._layout.lengths]
        return [
            memory[place].reshape(shape)
            for place, shape in zip(self._layout.places, self._shapes, strict=True)
        ]

    @cached_property
    def _layout(self) -> "Layout":
        """Each array lies in a piece of its length that is free by then, or in a new one."""
        ended: dict[int, list[int]] = defaultdict(list)
        for number, step in enumerate(self._read):
            ended[step].append(number)
        free: dict[int, list[int]] = defaultdict(list)
        places: list[int] = []
        lengths: list[int] = []
        step = 0
        for shape, written in zip(self._shapes, self._written, strict=True):
            # What a step reads is free for the steps after it, and not for itself.
            for before in range(step, written):
                for number in ended[before]:
                    free[prod(self._shapes[number])].append(places[number])
            step = written
            pieces = free[prod(shape)]
            if not pieces:
                pieces.append(len(lengths))
                lengths.append(prod(shape))
            places.append(pieces.pop())
        return Layout(places, lengths)
