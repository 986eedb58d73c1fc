"""Sentences of four words for the networks that a page trains: one seed draws sentences and the
start of a network."""

from functools import cache

import numpy as np

from livegrad.arrays import require_seed
from mhabook.c08_digits.text.corpus import drawn
from mhabook.c08_digits.text.words import NOT, score
from mhalib.attention import Gaussian, Softmax
from mhalib.data import SequenceDataset
from mhalib.models import AttentionLayer

OPINIONS, NEUTRAL = ("good", "great", "bad", "awful"), ("the", "film", "was")
WORDS = (*OPINIONS, NOT, *NEUTRAL)
CHANCES = (*[0.12] * len(OPINIONS), 0.2, *[0.32 / len(NEUTRAL)] * len(NEUTRAL))
LENGTH, TRAINED, TESTED = 4, 64, 200
DIMENSIONS = len(WORDS) + LENGTH
WIDTH, HEADS = 4, 2


@cache
def sentences(seed: int, without: str = "") -> tuple[str, ...]:
    """The training sentences of a seed, and after them its test sentences, none of which is one of
    the first; a word may be left out of all of them.

    "good" and "great" count +1, "bad" and "awful" −1, and the other way round right after "not". No
    sentence has the sum 0. Raises ValueError if seed is no whole number ≥ 0.
    """
    require_seed(seed)
    rng = np.random.default_rng([seed, 16])

    def sentence():
        return " ".join(WORDS[k] for k in rng.choice(len(WORDS), LENGTH, p=CHANCES))

    def fits(one):
        # A sentence with the sum 0 has no label.
        return score(one) != 0 and without not in one.split()

    trained = drawn(TRAINED, sentence, fits)
    return trained + drawn(TESTED, sentence, lambda one: fits(one) and one not in trained)


def train_and_test(seed: int, without: str = "") -> tuple[SequenceDataset, SequenceDataset]:
    """64 sentences to train on and 200 others, encoded; every word of a sentence has its label ±1
    as its target.

    A word is a vector of twelve numbers: a 1 that says which of the eight words it is, and a 1 that
    says at which of the four places it stands.
    """
    X, y = encoded(sentences(seed, without))
    return SequenceDataset(X[:TRAINED], y[:TRAINED]), SequenceDataset(X[TRAINED:], y[TRAINED:])


def encoded(texts: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens (N, 4, 12) and targets (N, 4, 1) of sentences of four words."""
    numbers = word_numbers(texts)
    places = np.broadcast_to(np.eye(LENGTH), (len(texts), LENGTH, LENGTH))
    labels = np.array([float(np.sign(score(text))) for text in texts])
    return np.concatenate([np.eye(len(WORDS))[numbers], places], axis=2), np.repeat(
        labels[:, None, None], LENGTH, 1
    )


def word_numbers(texts: tuple[str, ...]) -> np.ndarray:
    """The numbers of the words of sentences, (N, 4)."""
    return np.array([[WORDS.index(word) for word in text.split()] for text in texts])


def network(kernel: Softmax | Gaussian, seed: int) -> AttentionLayer:
    """A layer with two heads of width four and one output, at the random start of a seed."""
    return AttentionLayer.random(D=DIMENSIONS, d=WIDTH, m=1, H=HEADS, kernel=kernel, seed=seed)


def right(layer: AttentionLayer, data: SequenceDataset) -> np.ndarray:
    """For every sentence, whether its label has the sign of the mean output over its words;
    (N,)."""
    return layer(data.X).mean(axis=(1, 2)) * data.y[:, 0, 0] > 0


def without_not(seeds: int) -> float:
    """How often a reader is right on the test sentences of so many seeds who overlooks "not" and
    guesses at ties."""
    texts = [text for seed in range(seeds) for text in sentences(seed)[TRAINED:]]
    counted = [
        score(" ".join(word for word in text.split() if word != NOT) or "the") for text in texts
    ]
    return float(
        np.mean(
            [
                0.5 if count == 0 else np.sign(count) == np.sign(score(text))
                for count, text in zip(counted, texts, strict=True)
            ]
        )
    )
