"""What both made-up text tasks share: sentences from streams of random numbers, with labels."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from livegrad.arrays import require_count, require_seed
from mhabook.c08_digits.text.corpus import drawn

Labeled = tuple[tuple[str, ...], list[float]]
"""Sentences, and for each its label ±1."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """Where the sentences of a task come from. A task says how a sentence is made, and its label.

    ``seed`` fixes the stream, together with the task's own ``stream``.
    """

    seed: int
    stream: ClassVar[int]

    def sentence(self, rng: np.random.Generator) -> Callable[[], str]:
        """What gives one sentence after the other, of a stream of random numbers."""
        raise NotImplementedError

    def label(self, sentence: str) -> float:
        """1 or −1, or 0 for a sentence that has no label and is drawn again."""
        raise NotImplementedError

    def sample(self, n: int, seed: int, without: Collection[str] = ()) -> Labeled:
        """n sentences and their labels; none of them occurs in ``without``.

        Raises ValueError if there are no more: 10,000 draws in a row were of no use.
        """
        require_seed(seed)
        return self.draw(n, np.random.default_rng([self.seed, self.stream, 2, seed]), without)

    def draw(self, n: int, rng: np.random.Generator, without: Collection[str] = ()) -> Labeled:
        """n sentences and their labels from a stream of random numbers, one after the other; as
        ``sample``."""
        require_count(n=n)
        sentences = drawn(
            n, self.sentence(rng), lambda one: one not in without and self.label(one) != 0
        )
        return sentences, [self.label(sentence) for sentence in sentences]
