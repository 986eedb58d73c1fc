"""Text: vocabularies, and the grammar of reviews with its rule."""

from statistics import NormalDist

import numpy as np
import pytest

from checks import assert_refused
from mhabook.c08_digits import text
from mhabook.c08_digits.text.corpus import PADDING, UNKNOWN
from mhabook.c08_digits.text.reviews import LONGEST, Reviews, label

Z = NormalDist().inv_cdf(1 - 0.5e-6)  # a right grammar fails one two-sided test in a million
SENTENCES = ("it was good", "it was not good", "a bad bad film")


def assert_share(hits, chance):
    hits = np.asarray(hits)
    assert abs(hits.mean() - chance) < Z * (chance * (1 - chance) / hits.size) ** 0.5


def by_hand(sentence):
    """The rule, read off word by word: a "but" forgets what came before, an "and" begins a new
    clause."""
    good = {
        "good",
        "great",
        "moving",
        "funny",
        "clever",
        "brilliant",
        "loved",
        "enjoyed",
        "admired",
    }
    bad = {"bad", "awful", "dull", "boring", "clumsy", "terrible", "hated", "regretted", "disliked"}
    clauses, sign, turn = [], None, 1
    for word in [*sentence.split(), "and"]:
        if word in ("but", "and"):
            clauses.append(sign * turn)
            sign, turn = None, 1
        elif word in ("not", "never"):
            turn = -turn
        elif word in good | bad:
            assert sign is None
            sign = 1 if word in good else -1
    return clauses


def test_words_are_numbered_by_frequency_then_by_letters():
    words = text.Vocabulary.of(SENTENCES)
    assert words.words == (PADDING, UNKNOWN, "bad", "good", "it", "was", "a", "film", "not")
    assert text.Vocabulary.of(SENTENCES, min_count=2).words == (
        PADDING,
        UNKNOWN,
        "bad",
        "good",
        "it",
        "was",
    )
    assert len(words) == 9
    assert repr(words) == "Vocabulary(9 words)"


def test_rare_and_foreign_words_are_unknown_and_short_sentences_padded():
    words = text.Vocabulary.of(SENTENCES, min_count=2)
    tokens = words.encode(["it was splendid", "bad", f"{PADDING} {UNKNOWN} good"])
    assert tokens.tolist() == [[4, 5, 1], [2, 0, 0], [1, 1, 3]]
    assert tokens.dtype == np.int64
    assert words.decode(tokens[0]) == f"it was {UNKNOWN}"
    assert words.decode(tokens[1]) == "bad"


def test_long_sentences_are_cut():
    words = text.Vocabulary.of(SENTENCES)
    assert (
        words.encode(SENTENCES, length=2).tolist()
        == words.encode(["it was", "it was", "a bad"]).tolist()
    )
    assert words.encode(["good"], length=4).tolist() == [[3, 0, 0, 0]]


def test_a_text_dataset_knows_mask_and_lengths():
    data = text.from_sentences(SENTENCES, [1, -1, -1])
    assert data.mask.tolist() == [[True, True, True, False], [True] * 4, [True] * 4]
    assert data.lengths.tolist() == [3, 4, 4]
    assert len(data) == 3
    assert repr(data) == "TextDataset(n=3, at most 4 tokens, 1 labeled +1, 9 words)"


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_reviews_follow_the_rule(seed):
    data = text.reviews(300, seed)
    for sentence, y in zip(data.sentences, data.y, strict=True):
        clauses = by_hand(sentence)
        assert clauses[-1] == y == label(sentence)
        if len(clauses) == 2:
            assert bool(clauses[0] == y) is (" and " in sentence)


@pytest.mark.parametrize(
    ("sentence", "y"),
    [
        ("the plot was good", 1),
        ("the plot was not good", -1),
        ("i never hated the plot", 1),
        ("the music was great but the ending seemed dull", -1),
        ("i hated the music but the ending was not very dull", 1),
        ("the music is not bad and i loved this film on sunday", 1),
    ],
)
def test_the_rule_on_sentences_of_your_own(sentence, y):
    assert label(sentence) == y


def test_reviews_have_the_chances_of_the_grammar():
    data = text.reviews(4000, seed=3)
    assert_share(data.y > 0, 0.5)
    assert_share([" but " in s for s in data.sentences], 0.4)
    assert_share([" and " in s for s in data.sentences], 0.2)
    clauses = [
        clause
        for s in data.sentences
        for part in s.split(" but ")
        for clause in part.split(" and ")
    ]
    assert_share(["not" in clause.split() or "never" in clause.split() for clause in clauses], 0.3)
    assert_share([clause.startswith("i ") for clause in clauses], 0.3)
    # No opinion word alone tells the label: it stands before "but", or behind "not".
    for word in ("good", "awful"):
        says = data.y[[word in s.split() for s in data.sentences]]
        assert -0.5 < says.mean() < 0.5


def test_reviews_use_the_whole_vocabulary_and_no_other_word():
    data = text.reviews(4000)
    assert set(data.tokens.ravel().tolist()) == set(range(len(data.vocabulary))) - {1}
    assert data.vocabulary.words == text.reviews(1, seed=5).vocabulary.words
    assert [data.vocabulary.decode(row) for row in data.tokens[:50]] == list(data.sentences[:50])


def test_no_review_is_longer_than_the_longest():
    clause = "the first half seemed not really terrible in a small cinema"
    assert len(f"{clause} but {clause}".split()) == LONGEST
    assert max(text.reviews(4000, seed).lengths.max() for seed in range(3)) in range(
        LONGEST - 4, LONGEST + 1
    )
    assert text.reviews(1).tokens.shape[1] == LONGEST


def test_reviews_are_seeded_and_the_first_ones_do_not_depend_on_n():
    few, many, other = text.reviews(20, seed=1), text.reviews(50, seed=1), text.reviews(20, seed=2)
    assert many.sentences[:20] == few.sentences
    assert few.sentences != other.sentences
    assert (
        few.fresh(9, seed=4).sentences
        == few.fresh(9, seed=4).sentences
        != few.fresh(9, seed=5).sentences
    )


def test_fresh_reviews_do_not_occur_in_training():
    data = text.reviews(1000)
    fresh = data.fresh(500)
    assert not set(fresh.sentences) & set(data.sentences)
    assert set(Reviews(0).sample(500, 1)[0]) & set(data.sentences)  # of themselves they would
    assert fresh.vocabulary is data.vocabulary
    assert fresh.tokens.shape == (500, LONGEST)
    assert len(data.fresh()) == 1000
    assert fresh.fresh(3).truth is data.truth


def test_a_grammar_with_no_more_sentences_says_so(monkeypatch):
    monkeypatch.setattr(Reviews, "review", lambda self, rng: "the plot was good")
    data = text.reviews(3)
    assert_refused(
        lambda: data.fresh(2),
        ValueError,
        ["n: expected 2 sentences, found 0", "10,000 draws in a row"],
    )


BAD = {
    "no review": (lambda: text.reviews(n=0), ["n: expected a whole number ≥ 1", "got 0"]),
    "reviews without a seed": (lambda: text.reviews(seed=None), ["seed: expected", "None"]),
    "fresh reviews of no seed": (
        lambda: text.reviews(2).fresh(2, seed=-1),
        ["seed: expected", "-1"],
    ),
    "no sentence": (
        lambda: text.from_sentences([], []),
        ["sentences: expected at least one", "none"],
    ),
    "an empty sentence": (
        lambda: text.from_sentences(["a", " "], [1, 1]),
        ["empty one at position 1"],
    ),
    "sentences with labels 0 and 1": (
        lambda: text.from_sentences(["a", "b"], [0, 1]),
        ["−1 and +1"],
    ),
    "sentences without a label": (
        lambda: text.from_sentences(["a", "b"], [1]),
        ["y: expected shape (2,)"],
    ),
    "sentences of no length": (
        lambda: text.from_sentences(["a"], [1], length=0),
        ["length: expected"],
    ),
    "words never counted": (lambda: text.from_sentences(["a"], [1], min_count=0), ["min_count:"]),
    "a word twice": (
        lambda: text.Vocabulary(("a", "b", "b")),
        ["words: expected every word once, got 'b' 2 times"],
    ),
    "fresh from sentences": (
        lambda: text.from_sentences(["a"], [1]).fresh(),
        ["fresh:", "no source"],
    ),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)
