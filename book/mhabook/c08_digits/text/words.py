"""Sixteen words with an opinion to add up, where "not" turns the next word round: the words
task."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from mhabook.c08_digits.text.corpus import TextDataset, Vocabulary, drawn, from_sentences
from mhabook.c08_digits.text.reviews import NEGATIVE, POSITIVE
from mhalib._array import require_count, require_seed

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
class Words:
    """Where the sentences come from, ready to ``sample``: ``length`` words, drawn one by one.

    A word is an opinion word with chance ``opinion``, "not" with chance ``negation``, else neutral;
    within its kind every word is as likely as the next. A sentence whose sum is 0 is drawn again.
    """

    seed: int
    length: int = 16
    opinion: float = 0.35
    negation: float = 0.25

    def sample(
        self, n: int, seed: int, without: Collection[str] = ()
    ) -> tuple[tuple[str, ...], list[float]]:
        """n sentences and their labels; none of them occurs in ``without``.

        Raises ValueError if there are no more: 10,000 draws in a row were of no use.
        """
        require_seed(seed)
        return self.draw(n, np.random.default_rng([self.seed, 10, 2, seed]), without)

    def draw(
        self, n: int, rng: np.random.Generator, without: Collection[str] = ()
    ) -> tuple[tuple[str, ...], list[float]]:
        """n sentences and their labels ±1 from a stream of random numbers, one after the other; as
        ``sample``."""
        require_count(n=n)
        chance = np.cumsum(self._chances())

        def sentence():
            places = np.searchsorted(chance, rng.random(self.length) * chance[-1], side="right")
            return " ".join(WORDS[k] for k in places)

        sentences = drawn(n, sentence, lambda one: score(one) and one not in without)
        return sentences, [float(np.sign(score(one))) for one in sentences]

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
