"""Text: vocabularies, the grammar of reviews with its rule, and SST-2's files read from a folder."""

from statistics import NormalDist

import numpy as np
import pytest

import mhalib as mha
from mhalib.data.text.corpus import PADDING, UNKNOWN
from mhalib.data.text.reviews import LONGEST, Reviews, label
from oracles import assert_refused

Z = NormalDist().inv_cdf(1 - 0.5e-6)  # a right grammar fails one two-sided test in a million
SENTENCES = ("it was good", "it was not good", "a bad bad film")


def assert_share(hits, chance):
    hits = np.asarray(hits)
    assert abs(hits.mean() - chance) < Z * (chance * (1 - chance) / hits.size) ** 0.5


def by_hand(sentence):
    """The rule, read off word by word: a "but" forgets what came before, an "and" begins a new clause."""
    good = {"good", "great", "moving", "funny", "clever", "brilliant", "loved", "enjoyed", "admired"}
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
    words = mha.data.Vocabulary.of(SENTENCES)
    assert words.words == (PADDING, UNKNOWN, "bad", "good", "it", "was", "a", "film", "not")
    assert mha.data.Vocabulary.of(SENTENCES, min_count=2).words == (PADDING, UNKNOWN, "bad", "good", "it", "was")
    assert len(words) == 9
    assert repr(words) == "Vocabulary(9 words)"


def test_rare_and_foreign_words_are_unknown_and_short_sentences_padded():
    words = mha.data.Vocabulary.of(SENTENCES, min_count=2)
    tokens = words.encode(["it was splendid", "bad", f"{PADDING} {UNKNOWN} good"])
    assert tokens.tolist() == [[4, 5, 1], [2, 0, 0], [1, 1, 3]]
    assert tokens.dtype == np.int64
    assert words.decode(tokens[0]) == f"it was {UNKNOWN}"
    assert words.decode(tokens[1]) == "bad"


def test_long_sentences_are_cut():
    words = mha.data.Vocabulary.of(SENTENCES)
    assert words.encode(SENTENCES, length=2).tolist() == words.encode(["it was", "it was", "a bad"]).tolist()
    assert words.encode(["good"], length=4).tolist() == [[3, 0, 0, 0]]


def test_a_text_dataset_knows_mask_and_lengths():
    data = mha.data.from_sentences(SENTENCES, [1, -1, -1])
    assert data.mask.tolist() == [[True, True, True, False], [True] * 4, [True] * 4]
    assert data.lengths.tolist() == [3, 4, 4]
    assert len(data) == 3
    assert repr(data) == "TextDataset(n=3, at most 4 tokens, 1 labeled +1, 9 words)"


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_reviews_follow_the_rule(seed):
    data = mha.data.reviews(300, seed)
    for sentence, y in zip(data.sentences, data.y, strict=True):
        clauses = by_hand(sentence)
        assert clauses[-1] == y == label(sentence)
        if len(clauses) == 2:
            assert bool(clauses[0] == y) is (" and " in sentence)


@pytest.mark.parametrize(("sentence", "y"), [
    ("the plot was good", 1), ("the plot was not good", -1), ("i never hated the plot", 1),
    ("the music was great but the ending seemed dull", -1), ("i hated the music but the ending was not very dull", 1),
    ("the music is not bad and i loved this film on sunday", 1)])
def test_the_rule_on_sentences_of_your_own(sentence, y):
    assert label(sentence) == y


def test_reviews_have_the_chances_of_the_grammar():
    data = mha.data.reviews(4000, seed=3)
    assert_share(data.y > 0, 0.5)
    assert_share([" but " in s for s in data.sentences], 0.4)
    assert_share([" and " in s for s in data.sentences], 0.2)
    clauses = [clause for s in data.sentences for part in s.split(" but ") for clause in part.split(" and ")]
    assert_share(["not" in clause.split() or "never" in clause.split() for clause in clauses], 0.3)
    assert_share([clause.startswith("i ") for clause in clauses], 0.3)
    # No opinion word alone tells the label: it stands before "but", or behind "not".
    for word in ("good", "awful"):
        says = data.y[[word in s.split() for s in data.sentences]]
        assert -0.5 < says.mean() < 0.5


def test_reviews_use_the_whole_vocabulary_and_no_other_word():
    data = mha.data.reviews(4000)
    assert set(data.tokens.ravel().tolist()) == set(range(len(data.vocabulary))) - {1}
    assert data.vocabulary.words == mha.data.reviews(1, seed=5).vocabulary.words
    assert [data.vocabulary.decode(row) for row in data.tokens[:50]] == list(data.sentences[:50])


def test_no_review_is_longer_than_the_longest():
    clause = "the first half seemed not really terrible in a small cinema"
    assert len(f"{clause} but {clause}".split()) == LONGEST
    assert max(mha.data.reviews(4000, seed).lengths.max() for seed in range(3)) in range(LONGEST - 4, LONGEST + 1)
    assert mha.data.reviews(1).tokens.shape[1] == LONGEST


def test_reviews_are_seeded_and_the_first_ones_do_not_depend_on_n():
    few, many, other = mha.data.reviews(20, seed=1), mha.data.reviews(50, seed=1), mha.data.reviews(20, seed=2)
    assert many.sentences[:20] == few.sentences
    assert few.sentences != other.sentences
    assert few.fresh(9, seed=4).sentences == few.fresh(9, seed=4).sentences != few.fresh(9, seed=5).sentences


def test_fresh_reviews_do_not_occur_in_training():
    data = mha.data.reviews(1000)
    fresh = data.fresh(500)
    assert not set(fresh.sentences) & set(data.sentences)
    assert set(Reviews(0).sample(500, 1)[0]) & set(data.sentences)  # of themselves they would
    assert fresh.vocabulary is data.vocabulary
    assert fresh.tokens.shape == (500, LONGEST)
    assert len(data.fresh()) == 1000
    assert fresh.fresh(3).truth is data.truth


def test_a_grammar_with_no_more_sentences_says_so(monkeypatch):
    monkeypatch.setattr(Reviews, "review", lambda self, rng: "the plot was good")
    data = mha.data.reviews(3)
    assert_refused(lambda: data.fresh(2), ValueError, ["n: expected 2 sentences, found 0", "10,000 draws in a row"])


# --- SST-2 --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A folder in SST-2's format that holds generated reviews."""
    train = mha.data.reviews(60)
    for name, data in {"train": train, "dev": train.fresh(20)}.items():
        (tmp_path / f"{name}.tsv").write_text(data.tsv(), encoding="utf-8")
    return tmp_path


def test_written_reviews_are_read_again(folder):
    made, train = mha.data.reviews(60), mha.data.sst2(folder, min_count=1)
    assert train.sentences == made.sentences
    assert train.y.tolist() == made.y.tolist()
    assert [train.vocabulary.decode(row) for row in train.tokens] == list(made.sentences)
    dev = mha.data.sst2(folder, "dev", length=30)
    assert dev.sentences == made.fresh(20).sentences
    assert dev.tokens.shape == (20, 30)


def test_both_splits_are_encoded_by_the_training_vocabulary(folder):
    train, dev = mha.data.sst2(folder, "train"), mha.data.sst2(folder, "dev")
    counts = {word: " ".join(train.sentences).split().count(word) for word in set(" ".join(train.sentences).split())}
    assert set(train.vocabulary.words[2:]) == {word for word, count in counts.items() if count >= 2}
    assert dev.vocabulary.words == train.vocabulary.words
    given = mha.data.Vocabulary(("the",))
    assert mha.data.sst2(folder, "dev", vocabulary=given).vocabulary is given


def test_the_folder_may_be_at_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    for split in ("train", "dev"):
        assert mha.data.sst2(f"~/{folder.name}", split).sentences == mha.data.sst2(folder, split).sentences


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t.rstrip("\n"),
                                    lambda t: t.replace("\t0", " \t0")],
                         ids=["CRLF", "byte order mark", "no last newline", "a space before the tab"])
def test_other_ways_to_end_a_line_change_nothing(folder, change):
    before = mha.data.sst2(folder)
    path = folder / "train.tsv"
    path.write_bytes(change(path.read_text("utf-8")).encode("utf-8"))
    after = mha.data.sst2(folder)
    assert after.sentences == before.sentences
    assert after.y.tolist() == before.y.tolist()


def test_quotation_marks_and_strange_spaces_are_part_of_the_sentence(tmp_path):
    (tmp_path / "train.tsv").write_bytes('sentence\tlabel\nit \'s " good\t1\nso\x85bad\u2028then\t0\n'.encode())
    data = mha.data.sst2(tmp_path)
    assert data.sentences == ("it 's \" good", "so bad then")
    assert data.y.tolist() == [1, -1]


@pytest.mark.parametrize("missing", ["train", "dev"])
def test_a_missing_file_says_where_it_comes_from(folder, missing):
    (folder / f"{missing}.tsv").unlink()
    with pytest.raises(FileNotFoundError) as raised:
        mha.data.sst2(folder, missing)
    for word in (str(folder / f"{missing}.tsv"), "GLUE", "gluebenchmark.com", "train.tsv", "dev.tsv",
                 "sentence<TAB>label", "mhalib downloads nothing"):
        assert word in str(raised.value)
    with pytest.raises(FileNotFoundError, match="no_such_folder"):
        mha.data.sst2(folder / "no_such_folder")


MALFORMED = {
    "no tab": ("a film", ["line 3", "a sentence, a tab, and 0 or 1", "'a film'"]),
    "a word for a label": ("a film\tgood", ["line 3", "'a film\\tgood'"]),
    "a label 2": ("a film\t2", ["line 3"]),
    "two tabs": ("a\tfilm\t1", ["line 3"]),
    "no sentence": (" \t1", ["line 3", "' \\t1'"]),
    "an empty line": ("", ["line 3", "''"]),
    "no label": ("a film\t", ["line 3"]),
}


@pytest.mark.parametrize(("line", "words"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_line_is_named(tmp_path, line, words):
    path = tmp_path / "train.tsv"
    path.write_text(f"sentence\tlabel\ngood\t1\n{line}\nbad\t0\n", encoding="utf-8")
    with pytest.raises(ValueError) as raised:
        mha.data.sst2(tmp_path)
    for word in (str(path), *words):
        assert word in str(raised.value)


@pytest.mark.parametrize(("content", "words"), [
    (b"index\tsentence\n0\tgood\n", ["line 1", "header", "index"]), (b"", ["line 1", "header", "''"]),
    (b"sentence\tlabel\n", ["expected sentences below the header"]),
    (b"sentence\tlabel\ngood\xff\t1\n", ["UTF-8", "0xff", "position 19"])], ids=["header", "empty", "no row", "bytes"])
def test_a_file_of_another_kind_is_named(tmp_path, content, words):
    (tmp_path / "train.tsv").write_bytes(content)
    with pytest.raises(ValueError) as raised:
        mha.data.sst2(tmp_path)
    for word in (str(tmp_path / "train.tsv"), *words):
        assert word in str(raised.value)


def test_the_split_without_labels_is_refused(folder):
    with pytest.raises(ValueError, match="expected 'train' or 'dev', got 'test'; test.tsv has no labels"):
        mha.data.sst2(folder, "test")
