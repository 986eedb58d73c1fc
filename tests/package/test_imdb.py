"""IMDb as bytes: from the archive and from its folder, and what is said where something else is."""

import gzip
import io
import tarfile

import numpy as np
import pytest

import mhalib as mha
from mhalib.data.text import from_bytes
from mhalib.models import TextTransformer
from oracles import assert_refused

REVIEWS = {"train/neg/0_3.txt": b"dull", "train/neg/2_1.txt": b"a b", "train/neg/10_4.txt": b"not good<br />at all",
           "train/pos/0_9.txt": "très bon".encode(), "train/pos/7_10.txt": b"good", "train/unsup/0_0.txt": b"who knows",
           "test/neg/1_2.txt": b"bad", "test/pos/4_8.txt": b"\x00\xff fine", "test/pos/urls_pos.txt": b"no review",
           "README": b"Large Movie Review Dataset v1.0"}


@pytest.fixture
def folder(tmp_path):
    """A small copy of the folder."""
    for name, text in REVIEWS.items():
        path = tmp_path / "aclImdb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return tmp_path / "aclImdb"


def packed(path, reviews=REVIEWS, top="aclImdb/"):
    """A small copy of the archive, its files in another order than their names."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in reversed(reviews.items()):
            member = tarfile.TarInfo(top + name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return path


@pytest.mark.parametrize("form", ["folder", "archive"])
def test_reviews_are_read_in_the_order_of_their_numbers(folder, tmp_path, form):
    place = folder if form == "folder" else packed(tmp_path / "aclImdb_v1.tar.gz")
    data, test = mha.data.imdb(place), mha.data.imdb(str(place), "test")
    assert [data.text(k) for k in range(len(data))] == ["dull", "a b", "not good<br />at all", "très bon", "good"]
    assert data.y.tolist() == [-1, -1, -1, 1, 1]
    assert (test.y.tolist(), test.lengths.tolist()) == ([-1, 1], [3, 7])
    assert test.tokens[1].tolist() == [1, 256, *(b + 1 for b in b" fine")]
    assert repr(data).startswith("ByteDataset(n=5, at most 20 bytes, 2 labeled +1")


def test_tokens_are_bytes_with_padding_behind(folder):
    tokens = mha.data.imdb(folder).tokens
    rows = tokens[np.array([4, 1])]
    assert rows.tolist() == [[b + 1 for b in b"good"], [*(b + 1 for b in b"a b"), 0]]
    assert rows.dtype == np.int64
    assert tokens[1:3].shape == (2, 20)
    assert tokens[:2].tolist() == tokens[np.array([0, 1])].tolist()
    assert (len(tokens), tokens[5:].shape) == (5, (0, 0))


def test_numbers_below_zero_count_from_the_end():
    data = mha.data.from_bytes([b"first", b"second", b"third"], [1, -1, 1])
    assert [data.text(k) for k in (-3, -2, -1, 0)] == ["first", "second", "third", "first"]
    for k in range(-3, 3):
        assert data.tokens[k].tolist() == data.tokens[[k]][0][:data.lengths[k]].tolist() == [
            byte + 1 for byte in data.text(k).encode()]
    assert data.tokens[np.int64(-1)].tolist() == data.tokens[2].tolist()
    for k in (3, -4):
        assert_refused(lambda k=k: data.text(k), IndexError, [f"text {k}: expected a number from -3 to 2"])
        assert_refused(lambda k=k: data.tokens[k], IndexError, [f"text {k}"])


@pytest.mark.parametrize("form", ["folder", "archive"])
def test_long_reviews_are_cut(folder, tmp_path, form):
    place = folder if form == "folder" else packed(tmp_path / "aclImdb_v1.tar.gz")
    data = mha.data.imdb(place, length=4)
    assert data.lengths.tolist() == [4, 3, 4, 4, 4]
    assert data.text(3) == "trè"  # è has two bytes
    assert mha.data.imdb(place, length=3).text(3) == "tr\ufffd"


def test_a_network_reads_bytes(folder):
    data, test = mha.data.imdb(folder), mha.data.imdb(folder, "test")
    model = TextTransformer(data.words, 20, d=8, H=2, hidden=5)
    path = mha.train_network(model, data, mha.Adam(0.1), 15, test=test, batch=3, record=2)
    assert path.loss[-1] < 0.2 < path.loss[0]
    alone = [model.logits(data.tokens[k:k + 1])[0] for k in range(5)]
    np.testing.assert_allclose(model.logits(data.tokens), alone, rtol=1e-5)


def test_equal_texts_have_one_fingerprint_and_others_another():
    one, again, other, moved = (from_bytes(texts, np.ones(2)).tokens.fingerprint()
                                for texts in ([b"ab", b"c"], [b"ab", b"c"], [b"ab", b"d"], [b"a", b"bc"]))
    assert one == again
    assert len({one, other, moved}) == 3


@pytest.mark.parametrize("name", ["aclImdb", "aclImdb_v1.tar.gz"])
def test_what_is_missing_says_where_it_comes_from(tmp_path, name):
    assert_refused(lambda: mha.data.imdb(tmp_path / name), FileNotFoundError,
                   [str(tmp_path / name), "Large Movie Review Dataset", "ai.stanford.edu/~amaas/data/sentiment",
                    "aclImdb_v1.tar.gz", "train/pos/", "mhalib downloads nothing"])


def test_another_folder_or_archive_is_refused(folder, tmp_path):
    other = packed(tmp_path / "other.tar.gz", {"train.tsv": b"good\t1"}, top="SST-2/")
    half = packed(tmp_path / "half.tar.gz", {name: b"x" for name in REVIEWS if "neg" not in name})
    for place, words in ((tmp_path, "train/neg/"), (folder / "train", "train/neg/"), (other, "train/neg/"),
                         (half, "train/neg/")):
        assert_refused(lambda place=place: mha.data.imdb(place), ValueError,
                       [str(place), f"expected reviews in {words}", "got none", "Large Movie Review Dataset"])


DAMAGE = {"breaks off": lambda b: b[:len(b) // 2], "breaks off at the end": lambda b: b[:-5],
          "breaks off early": lambda b: b[:15], "has a wrong bit": lambda b: b[:-6] + bytes([b[-6] ^ 1]) + b[-5:],
          "is empty": lambda b: b"", "is no gzip": lambda b: gzip.decompress(b),
          "is a page": lambda b: b"<html>not found</html>", "holds no tar": lambda b: gzip.compress(b"hello" * 500)}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_an_archive_that_is_damaged_is_refused(tmp_path, damage):
    noise = np.random.default_rng(0).bytes(3000)  # incompressible: half of the file is half of this review
    path = packed(tmp_path / "aclImdb_v1.tar.gz", REVIEWS | {"test/neg/2_1.txt": noise})
    path.write_bytes(damage(path.read_bytes()))
    assert_refused(lambda: mha.data.imdb(path), ValueError,
                   [str(path), "expected the archive aclImdb_v1.tar.gz, whole", "If the download broke off, repeat it"])


@pytest.mark.parametrize("form", ["folder", "archive"])
def test_an_empty_review_is_named(folder, tmp_path, form):
    (folder / "train/pos/7_10.txt").write_bytes(b"")
    empty = packed(tmp_path / "aclImdb_v1.tar.gz", REVIEWS | {"train/pos/7_10.txt": b""})
    assert_refused(lambda: mha.data.imdb(folder if form == "folder" else empty), ValueError,
                   ["expected words in every review", "train/pos/, review 7"])


BAD = {
    "another split": (lambda: mha.data.imdb(".", "dev"), ValueError, ["split: expected 'train' or 'test', got 'dev'"]),
    "no length": (lambda: from_bytes([b"a"], np.ones(1), length=0), ValueError, ["length: expected"]),
    "no text": (lambda: from_bytes([], np.ones(0)), ValueError, ["expected at least one", "got none"]),
    "an empty text": (lambda: from_bytes([b"a", b""], np.ones(2)), ValueError, ["an empty one at position 1"]),
    "labels 0 and 1": (lambda: from_bytes([b"a", b"b"], [0, 1]), ValueError, ["y: expected labels −1 and +1"]),
    "too few labels": (lambda: from_bytes([b"a", b"b"], [1]), ValueError, ["y: expected shape (2,)"]),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
