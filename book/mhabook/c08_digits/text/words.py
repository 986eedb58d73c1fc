"""Sixteen words with an opinion to add up, where "not" turns the next word round: the words
task."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from livegrad.arrays import require_count, require_seed
from mhabook.c08_digits.text.corpus import TextDataset, Vocabulary, from_sentences
from mhabook.c08_digits.text.grammar import Grammar
from mhabook.c08_digits.text.reviews import NEGATIVE, POSITIVE

NEUTRAL = (
    "the",
    "a",
    "film",
    "plot",
    "music",
    "cast",
    "scene",
    "camera",
    "script",
    "ending",
    "was",
    "is",
    "and",
    "with",
    "on",
    "sunday",
    "night",
    "cinema",
    "sister",
    "city",
)
NOT = "not"
WORDS = (*POSITIVE, *NEGATIVE, *NEUTRAL, NOT)
SIGN: dict[str, int] = dict.fromkeys(POSITIVE, 1) | dict.fromkeys(NEGATIVE, -1)


def score(sentence: str) -> int:
    """The sum of a sentence: an opinion word counts +1 or −1, and the other way round right after
    "not"."""
    words = sentence.split()
    return sum(
        (-1 if before == NOT else 1) * SIGN.get(word, 0)
        for before, word in zip(["", *words], words, strict=False)
    )


@dataclass(frozen=True, eq=False)
class Words(Grammar):
    """Where the sentences come from, ready to ``sample``: ``length`` words, drawn one by one.

    A word is an opinion word with chance ``opinion``, "not" with chance ``negation``, else neutral;
    within its kind every word is as likely as the next. A sentence whose sum is 0 is drawn again.
    """

    length: int = 16
    opinion: float = 0.35
    negation: float = 0.25
    stream: ClassVar[int] = 10

    def sentence(self, rng: np.random.Generator) -> Callable[[], str]:
        """What gives one sentence after the other."""
        chance = np.cumsum(self._chances())

        def drawn():
            places = np.searchsorted(chance, rng.random(self.length) * chance[-1], side="right")
            return " ".join(WORDS[k] for k in places)

        return drawn

    def label(self, sentence: str) -> float:
        """The sign of the sum, which may be 0."""
        return float(np.sign(score(sentence)))

    def _chances(self):
        kinds = {NOT: self.negation} | {word: self.opinion / len(SIGN) for word in SIGN}
        return [
            kinds.get(word, (1 - self.opinion - self.negation) / len(NEUTRAL)) for word in WORDS
        ]


def words(n: int = 8000, length: int = 16, seed: int = 0) -> TextDataset:
    """n sentences of ``length`` words as a ``TextDataset``, labeled by the sign of the sum of their
    opinions.

    "good" counts +1, "bad" −1, "film" nothing, and "not good" −1; no sentence has the sum 0, and
    both labels are equally likely. Who overlooks "not" is right in about seven of ten sentences;
    for the rest the order counts. ``fresh`` draws sentences that do not occur here.

    Raises ValueError if n or length is no whole number ≥ 1, or seed no whole number ≥ 0.

    Parameters
    ----------
    n : how many; the first ones do not depend on n
    length : words in a sentence
    seed : fixes the sentences

    Source: this book; the task is sketched in its account of Song et al. 2024.

    Examples
    --------
    >>> from mhabook.c08_digits import text
    >>> data = text.words(n=4, length=16, seed=0)
    >>> data.tokens.shape, sorted(set(data.y.tolist())) <= [-1.0, 1.0]
    ((4, 16), True)
    """
    require_count(n=n, length=length)
    require_seed(seed)
    truth = Words(seed, length)
    sentences, y = truth.draw(n, np.random.default_rng([seed, 10, 1]))
    return from_sentences(sentences, y, Vocabulary(WORDS), truth=truth)
