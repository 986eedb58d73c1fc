"""SST-2's files, read from a folder."""

import pytest

from mhabook.c08_digits import sst2, text


@pytest.fixture
def folder(tmp_path):
    """A folder in SST-2's format that holds generated reviews."""
    train = text.reviews(60)
    for name, data in {"train": train, "dev": train.fresh(20)}.items():
        (tmp_path / f"{name}.tsv").write_text(sst2.tsv(data), encoding="utf-8")
    return tmp_path


def test_written_reviews_are_read_again(folder):
    made, train = text.reviews(60), sst2.load(folder, min_count=1)
    assert train.sentences == made.sentences
    assert train.y.tolist() == made.y.tolist()
    assert [train.vocabulary.decode(row) for row in train.tokens] == list(made.sentences)
    dev = sst2.load(folder, "dev", length=30)
    assert dev.sentences == made.fresh(20).sentences
    assert dev.tokens.shape == (20, 30)


def test_both_splits_are_encoded_by_the_training_vocabulary(folder):
    train, dev = sst2.load(folder, "train"), sst2.load(folder, "dev")
    counts = {
        word: " ".join(train.sentences).split().count(word)
        for word in set(" ".join(train.sentences).split())
    }
    assert set(train.vocabulary.words[2:]) == {word for word, count in counts.items() if count >= 2}
    assert dev.vocabulary.words == train.vocabulary.words
    given = text.Vocabulary(("the",))
    assert sst2.load(folder, "dev", vocabulary=given).vocabulary is given


def test_the_folder_may_be_at_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    for split in ("train", "dev"):
        assert sst2.load(f"~/{folder.name}", split).sentences == sst2.load(folder, split).sentences


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "\ufeff" + t,
        lambda t: t.rstrip("\n"),
        lambda t: t.replace("\t0", " \t0"),
    ],
    ids=["CRLF", "byte order mark", "no last newline", "a space before the tab"],
)
def test_other_ways_to_end_a_line_change_nothing(folder, change):
    before = sst2.load(folder)
    path = folder / "train.tsv"
    path.write_bytes(change(path.read_text("utf-8")).encode("utf-8"))
    after = sst2.load(folder)
    assert after.sentences == before.sentences
    assert after.y.tolist() == before.y.tolist()


def test_quotation_marks_and_strange_spaces_are_part_of_the_sentence(tmp_path):
    (tmp_path / "train.tsv").write_bytes(
        "sentence\tlabel\nit 's \" good\t1\nso\x85bad\u2028then\t0\n".encode()
    )
    data = sst2.load(tmp_path)
    assert data.sentences == ("it 's \" good", "so bad then")
    assert data.y.tolist() == [1, -1]


@pytest.mark.parametrize("missing", ["train", "dev"])
def test_a_missing_file_says_where_it_comes_from(folder, missing):
    (folder / f"{missing}.tsv").unlink()
    with pytest.raises(FileNotFoundError) as raised:
        sst2.load(folder, missing)
    for word in (
        str(folder / f"{missing}.tsv"),
        "GLUE",
        "gluebenchmark.com",
        "train.tsv",
        "dev.tsv",
        "sentence<TAB>label",
        "mhalib downloads nothing",
    ):
        assert word in str(raised.value)
    with pytest.raises(FileNotFoundError, match="no_such_folder"):
        sst2.load(folder / "no_such_folder")


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
        sst2.load(tmp_path)
    for word in (str(path), *words):
        assert word in str(raised.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"index\tsentence\n0\tgood\n", ["line 1", "header", "index"]),
        (b"", ["line 1", "header", "''"]),
        (b"sentence\tlabel\n", ["expected sentences below the header"]),
        (b"sentence\tlabel\ngood\xff\t1\n", ["UTF-8", "0xff", "position 19"]),
    ],
    ids=["header", "empty", "no row", "bytes"],
)
def test_a_file_of_another_kind_is_named(tmp_path, content, words):
    (tmp_path / "train.tsv").write_bytes(content)
    with pytest.raises(ValueError) as raised:
        sst2.load(tmp_path)
    for word in (str(tmp_path / "train.tsv"), *words):
        assert word in str(raised.value)


def test_the_split_without_labels_is_refused(folder):
    with pytest.raises(
        ValueError, match="expected 'train' or 'dev', got 'test'; test.tsv has no labels"
    ):
        sst2.load(folder, "test")
