"""The words task: opinions to add up, and "not"."""

import numpy as np
import pytest

from checks import assert_refused
from mhabook.c08_digits import text
from mhabook.c08_digits.text.words import NEUTRAL, NOT, SIGN, WORDS, Words, score
from mhabook.c16_networks.runs import without_not

DATA = text.words(2000)


def by_hand(sentence):
    """The sum, one word at a time, written from the rule."""
    total, words = 0, sentence.split()
    for k, word in enumerate(words):
        value = SIGN.get(word, 0)
        if k and words[k - 1] == "not":
            value = -value
        total += value
    return total


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("good", 1),
        ("bad", -1),
        ("film", 0),
        ("not good", -1),
        ("not bad", 1),
        ("not film good", 1),
        ("good not", 1),
        ("not not good", -1),
        ("not good good", 0),
        ("the plot was not dull and great", 2),
    ],
)
def test_not_turns_the_next_word_and_no_other(sentence, expected):
    assert score(sentence) == expected


def test_the_label_is_the_sign_of_the_sum():
    totals = np.array([by_hand(sentence) for sentence in DATA.sentences])
    assert (totals != 0).all()
    assert (np.sign(totals) == DATA.y).all()


def test_every_sentence_has_its_length_in_words_of_the_vocabulary():
    assert DATA.tokens.shape == (2000, 16)
    assert DATA.tokens.min() == 2  # no padding, no unknown word
    assert DATA.tokens.max() == len(DATA.vocabulary) - 1
    assert len(DATA.vocabulary) == len(WORDS) + 2
    assert text.words(5, length=4).tokens.shape == (5, 4)


def test_labels_are_balanced_and_words_as_frequent_as_said():
    """Within four standard errors: each of these four fails for one correct generator in 16,000."""
    n, settings = 2000, Words(0)
    assert abs(DATA.y.mean()) < 4 / n**0.5
    raw = " ".join(" ".join(Words(0).draw(n, np.random.default_rng(3))[0]).split()).split()
    for words, chance in (
        ((NOT,), settings.negation),
        (tuple(SIGN), settings.opinion),
        (NEUTRAL, None),
    ):
        chance = 1 - settings.negation - settings.opinion if chance is None else chance
        share = np.mean([word in words for word in raw])
        # sentences of sum 0 are drawn again, which makes opinions a little more frequent
        assert abs(share - chance) < 0.035, words


def test_who_overlooks_not_is_right_in_seven_of_ten():
    blind = np.array(
        [sum(SIGN.get(word, 0) for word in sentence.split()) for sentence in DATA.sentences]
    )
    right = (np.sign(blind) == DATA.y).mean() + 0.5 * (blind == 0).mean()
    assert right == without_not(DATA) == pytest.approx(0.71, abs=0.04)


def test_sentences_are_seeded_and_the_first_do_not_depend_on_n():
    assert text.words(50).sentences == DATA.sentences[:50]
    assert text.words(50, seed=1).sentences != DATA.sentences[:50]


def test_fresh_sentences_are_others_in_the_same_vocabulary():
    short = text.words(200, length=3)
    fresh = short.fresh(300)
    assert len(fresh) == 300
    assert not set(fresh.sentences) & set(short.sentences)
    assert fresh.vocabulary is short.vocabulary
    assert fresh.sentences == short.fresh(300).sentences != short.fresh(300, seed=2).sentences


BAD = {
    "none": (lambda: text.words(0), ["n: expected"]),
    "no length": (lambda: text.words(3, 0), ["length:"]),
    "no seed": (lambda: text.words(3, seed=-1), ["seed: expected"]),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)


def test_a_source_with_no_more_sentences_says_so():
    """One word: twelve opinions, and all are taken."""
    data = text.words(n=500, length=1)
    assert len(set(data.sentences)) == 12
    assert_refused(
        lambda: data.fresh(n=5),
        ValueError,
        ["n: expected 5 sentences, found 0", "10,000 draws in a row", "Take a smaller n"],
    )
    assert_refused(
        lambda: Words(0, length=2, opinion=0.0).sample(3, 1),
        ValueError,
        ["n: expected 3", "found 0"],
    )


def test_all_sentences_that_are_left_are_found(monkeypatch):
    """Two of twelve words are, after 17 draws on average: 200 in a row are many, in all they are
    few."""
    monkeypatch.setattr("mhabook.c08_digits.text.corpus.PATIENCE", 200)
    left = {"good", "dull"}
    sentences, y = Words(0, length=1).sample(40, 2, without=set(SIGN) - left)
    assert set(sentences) == left and y == [float(SIGN[word]) for word in sentences]
