"""Sentences as integers: a vocabulary of words, and a ``TextDataset`` of padded rows with
labels."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from livegrad.arrays import require_count, require_labels

PADDING, UNKNOWN = "<padding>", "<unknown>"


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """The words that a model knows, by number: 0 is padding, 1 every word that is not listed."""

    words: tuple[str, ...]
    numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        words = (PADDING, UNKNOWN, *(word for word in self.words if word not in (PADDING, UNKNOWN)))
        word, count = Counter(words).most_common(1)[0]
        if count > 1:
            raise ValueError(f"words: expected every word once, got {word!r} {count} times")
        object.__setattr__(self, "words", words)
        object.__setattr__(
            self, "numbers", {word: number for number, word in enumerate(words) if number > 1}
        )

    @classmethod
    def of(cls, sentences: Iterable[str], min_count: int = 1) -> Self:
        """The words that occur at least ``min_count`` times in the sentences, the most frequent
        first."""
        require_count(min_count=min_count)
        counts = Counter(word for sentence in sentences for word in sentence.split())
        kept = [word for word, count in counts.items() if count >= min_count]
        return cls(tuple(sorted(kept, key=lambda word: (-counts[word], word))))

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} words)"

    def encode(self, sentences: Iterable[str], length: int | None = None) -> np.ndarray:
        """Numbers (n, length) of the words of n sentences: cut off after ``length`` words, filled
        up with padding.

        Words are what whitespace separates. ``length`` defaults to the longest sentence.

        Raises ValueError if there is no sentence, one has no word, or length is no whole number
        ≥ 1.
        """
        rows = [[self.numbers.get(word, 1) for word in sentence.split()] for sentence in sentences]
        if not rows or not all(rows):
            raise ValueError(
                "sentences: expected at least one, each with a word, got "
                + ("none" if not rows else f"an empty one at position {rows.index([])}")
            )
        length = max(map(len, rows)) if length is None else length
        require_count(length=length)
        tokens = np.zeros((len(rows), length), dtype=np.int64)
        for row, numbers in zip(tokens, rows, strict=True):
            row[: len(numbers)] = numbers[:length]
        return tokens

    def decode(self, tokens: np.ndarray) -> str:
        """The words behind one row of numbers, without the padding."""
        return " ".join(self.words[number] for number in tokens if number)


@dataclass(frozen=True, eq=False, repr=False)
class TextDataset:
    """Labeled sentences: tokens (n, L) of word numbers, padded with 0, and y (n,) in {−1, +1}.

    ``sentences`` are the texts themselves. ``truth`` is the object that made them, where there is
    one; it can draw ``fresh`` sentences.
    """

    tokens: np.ndarray
    y: np.ndarray
    vocabulary: Vocabulary
    sentences: tuple[str, ...]
    truth: Any = None

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        n, L = self.tokens.shape
        return (
            f"TextDataset(n={n}, at most {L} tokens, {int((self.y > 0).sum())} labeled +1, "
            f"{len(self.vocabulary)} words)"
        )

    @property
    def mask(self) -> np.ndarray:
        """True where a token is a word, false where it is padding, (n, L)."""
        return self.tokens > 0

    @property
    def lengths(self) -> np.ndarray:
        """How many words each sentence has, (n,)."""
        return self.mask.sum(axis=1)

    def fresh(self, n: int | None = None, seed: int = 1) -> "TextDataset":
        """n sentences of the same kind and vocabulary that do not occur in this dataset.

        Raises ValueError if the dataset has no source to draw from, or the source so few sentences
        that all are taken: 10,000 draws in a row gave no new one.
        """
        if not hasattr(self.truth, "sample"):
            raise ValueError(
                f"fresh: expected sentences made by a generator of mhabook.c08_digits.text, "
                f"got {self!r}, which has no source of new ones"
            )
        drawn, y = self.truth.sample(
            len(self) if n is None else n, seed, without=set(self.sentences)
        )
        return from_sentences(
            drawn, y, self.vocabulary, length=self.tokens.shape[1], truth=self.truth
        )


PATIENCE = 10_000
"""So many sentences in a row may be refused before a generator gives up."""


def drawn(n: int, draw: Callable[[], str], fits: Callable[[str], object]) -> tuple[str, ...]:
    """n of the sentences that ``draw()`` gives, one after the other, without those that do not fit.

    Raises ValueError if none of ``PATIENCE`` in a row does.
    """
    found, refused = [], 0
    while len(found) < n:
        sentence = draw()
        refused = 0 if fits(sentence) else refused + 1
        if not refused:
            found.append(sentence)
        elif refused == PATIENCE:
            raise ValueError(
                f"n: expected {n} sentences, found {len(found)}: then {PATIENCE:,} draws in a row "
                "gave none that is new and has a label. Take a smaller n, longer sentences, or a "
                "dataset that takes fewer"
            )
    return tuple(found)


def from_sentences(
    sentences: Iterable[str],
    y: ArrayLike,
    vocabulary: Vocabulary | None = None,
    min_count: int = 1,
    length: int | None = None,
    truth: Any = None,
) -> TextDataset:
    """A ``TextDataset`` of your own sentences (words separated by spaces) with labels y (n,) in
    {−1, +1}.

    Raises TypeError or ValueError if labels do not fit, or a sentence has no word.

    Parameters
    ----------
    vocabulary : a ``Vocabulary``; without one, the words that occur at least ``min_count`` times in
        these sentences
    length : where longer sentences are cut off; without it, the longest

    Examples
    --------
    >>> from mhabook.c08_digits import text
    >>> data = text.from_sentences(["a fine film", "a dull film"], np.array([1.0, -1.0]))
    >>> data.tokens
    array([[2, 5, 3],
           [2, 4, 3]])
    """
    sentences = tuple(sentences)
    vocabulary = Vocabulary.of(sentences, min_count) if vocabulary is None else vocabulary
    tokens, y = vocabulary.encode(sentences, length), np.asarray(y, dtype=float)
    require_labels(y, np.empty((len(sentences), 1)))
    return TextDataset(tokens, y, vocabulary, sentences, truth)
