"""Small film reviews from a grammar, with a label that follows from a rule: text for tests and for
sliders."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from livegrad.arrays import require_count, require_seed
from mhabook.c08_digits.text.corpus import TextDataset, Vocabulary, from_sentences
from mhabook.c08_digits.text.grammar import Grammar

POSITIVE = ("good", "great", "moving", "funny", "clever", "brilliant")
NEGATIVE = ("bad", "awful", "dull", "boring", "clumsy", "terrible")
LIKED, HATED = ("loved", "enjoyed", "admired"), ("hated", "regretted", "disliked")
NEGATIONS = ("not", "never")
INTENSIFIERS = ("very", "really", "quite")
SUBJECTS = (
    "the plot",
    "the music",
    "the ending",
    "the cast",
    "the camera",
    "the script",
    "this film",
    "the first half",
)
VERBS = ("was", "is", "seemed")
FILLERS = (
    "with my sister",
    "on sunday",
    "for two hours",
    "last night",
    "in a small cinema",
    "once more",
)
SIGN = dict.fromkeys((*POSITIVE, *LIKED), 1) | dict.fromkeys((*NEGATIVE, *HATED), -1)
WORDS = sorted(
    {
        word
        for group in (SIGN, NEGATIONS, INTENSIFIERS, SUBJECTS, VERBS, FILLERS, ("i", "but", "and"))
        for phrase in group
        for word in phrase.split()
    }
)


def label(sentence: str) -> float:
    """The label of a review, by the rule: the last clause after "but" decides.

    A clause has one opinion word. It counts +1 or −1, and the other way round if "not" or "never"
    stands in the clause. Clauses are joined by "but" and "and"; two that are joined by "and" agree.
    """
    clause = sentence.split(" but ")[-1].split(" and ")[-1].split()
    (sign,) = (SIGN[word] for word in clause if word in SIGN)
    return float(sign * (-1) ** sum(word in NEGATIONS for word in clause))


@dataclass(frozen=True, eq=False)
class Reviews(Grammar):
    """The grammar with the chances of its choices, ready to ``sample``.

    A review is one clause; or two of equal sign joined by "and"; or two of opposite sign joined by
    "but". A clause says what something was ("the plot was not very good") or what someone did ("i
    never enjoyed the music"), with a negation with chance ``negation``, and now and then a filler
    that says nothing ("on sunday").
    """

    contrast: float = 0.4
    agreement: float = 0.2
    negation: float = 0.3
    stream: ClassVar[int] = 6

    def sentence(self, rng: np.random.Generator) -> Callable[[], str]:
        """What gives one review after the other."""
        return partial(self.review, rng)

    def label(self, sentence: str) -> float:
        """By the rule, which every review has a label by."""
        return label(sentence)

    def review(self, rng: np.random.Generator) -> str:
        """One review."""
        sign, kind = rng.choice([-1, 1]), rng.random()
        if kind < self.contrast:
            return f"{self.clause(-sign, rng)} but {self.clause(sign, rng)}"
        if kind < self.contrast + self.agreement:
            return f"{self.clause(sign, rng)} and {self.clause(sign, rng)}"
        return self.clause(sign, rng)

    def clause(self, sign: int, rng: np.random.Generator) -> str:
        """A clause of the given sign."""
        negated, filled = rng.random() < self.negation, rng.random() < 0.3
        polarity = -sign if negated else sign
        subject = rng.choice(SUBJECTS)
        if rng.random() < 0.3:
            verb = rng.choice(LIKED if polarity > 0 else HATED)
            words = ["i", "never" if negated else "", verb, subject]
        else:
            opinion = rng.choice(POSITIVE if polarity > 0 else NEGATIVE)
            intensifier = rng.choice(INTENSIFIERS) if rng.random() < 0.3 else ""
            words = [subject, rng.choice(VERBS), "not" if negated else "", intensifier, opinion]
        return " ".join(
            [word for word in words if word] + ([rng.choice(FILLERS)] if filled else [])
        )


def reviews(n: int = 500, seed: int = 0) -> TextDataset:
    """n small film reviews from a grammar, as a ``TextDataset`` with labels by the rule of
    ``reviews.label``.

    Opinion words alone do not tell the label: "the plot was not very good" is negative, and so is
    "the music was great but the ending seemed dull", where the clause after "but" decides. The
    vocabulary is that of the grammar, the same for every seed; ``fresh`` draws sentences that do
    not occur here.

    Raises ValueError if n is no whole number ≥ 1, or seed no whole number ≥ 0.

    Parameters
    ----------
    n : how many; the first ones do not depend on n
    seed : fixes the sentences

    Examples
    --------
    >>> from mhabook.c08_digits import text
    >>> data = text.reviews(n=3, seed=0)
    >>> data.sentences[0], float(data.y[0])
    ('this film is funny', 1.0)
    """
    require_count(n=n)
    require_seed(seed)
    grammar = Reviews(seed)
    sentences, y = grammar.draw(n, np.random.default_rng([seed, 6, 1]))
    return from_sentences(sentences, y, Vocabulary(tuple(WORDS)), length=LONGEST, truth=grammar)


LONGEST = 23
"""The most words that a review can have."""
