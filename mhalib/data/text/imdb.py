"""IMDb: 50,000 long film reviews with a label, read as bytes from a local copy of the standard archive."""

import re
import tarfile
import zlib
from pathlib import Path

from mhalib.data.text.bytes import from_bytes

LABELS = {"neg": -1.0, "pos": 1.0}
REVIEW = re.compile(r"(\d+)_\d+\.txt")
INSTRUCTIONS = """\
The reviews are the "Large Movie Review Dataset", version 1.0. Download
aclImdb_v1.tar.gz (84 MB) from its page at Stanford,
https://ai.stanford.edu/~amaas/data/sentiment/, and name the archive itself
or the folder aclImdb that it unpacks to. That folder holds

    train/pos/  train/neg/    25,000 reviews to train on
    test/pos/   test/neg/     25,000 reviews to test on

with one file NUMBER_RATING.txt for each review. mhalib downloads nothing by
itself."""


def imdb(path, split="train", length=4096):
    """The reviews of one half of IMDb as a ``ByteDataset``, from the archive or its folder on this machine.

    Every byte is a token, as in Long Range Arena's text task: 256 bytes and padding. A half takes about 33 MB of
    memory. Reviews come in the order of their numbers, first the negative ones, labeled −1.

    Parameters
    ----------
    path : ``aclImdb_v1.tar.gz``, or the folder ``aclImdb`` that it unpacks to
    split : "train" or "test"
    length : where longer reviews are cut off, in bytes

    Raises
    ------
    FileNotFoundError
        with instructions, if there is nothing at ``path``.
    ValueError
        if it is another archive or folder, if the archive is damaged or breaks off, or if a review is empty.

    Source: Maas et al. 2011; as bytes in Tay et al. 2021.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split: expected 'train' or 'test', got {split!r}")
    path = Path(path).expanduser()
    if not path.exists():
        raise FileNotFoundError(f"expected an archive or a folder at {path}, where nothing is.\n\n{INSTRUCTIONS}")
    found = (_unpacked if path.is_dir() else _packed)(path, split, length)
    for label in LABELS:
        if not found[label]:
            raise ValueError(f"{path}: expected reviews in {split}/{label}/, named like 0_9.txt, got none.\n\n"
                             f"{INSTRUCTIONS}")
    texts, y = [], []
    for label, sign in LABELS.items():
        for number, text in sorted(found[label].items()):
            if not text:
                raise ValueError(f"{path}: expected words in every review, got none in {split}/{label}/, "
                                 f"review {number}")
            texts.append(text)
            y.append(sign)
    return from_bytes(texts, y, length)


def _unpacked(folder, split, length):
    """Label → number → first bytes of a review."""
    found = {label: {} for label in LABELS}
    for label, reviews in found.items():
        place = folder / split / label
        for file in place.iterdir() if place.is_dir() else ():
            if number := REVIEW.fullmatch(file.name):
                with file.open("rb") as opened:
                    reviews[int(number[1])] = opened.read(length)
    return found


def _packed(archive, split, length):
    """The same from the archive, in one pass."""
    found = {label: {} for label in LABELS}
    try:
        with tarfile.open(archive, "r:gz") as opened:
            for member in opened:
                *_, half, label, name = ("", "", *member.name.split("/"))
                number = REVIEW.fullmatch(name)
                if half == split and label in found and number and member.isfile():
                    found[label][int(number[1])] = opened.extractfile(member).read(length)
            while opened.fileobj.read(1 << 20):  # to the end, where the checksum of the whole is
                pass
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{archive}: expected the archive aclImdb_v1.tar.gz, whole; reading it ended with "
                         f"{type(error).__name__}: {error}. If the download broke off, repeat it.\n\n"
                         f"{INSTRUCTIONS}") from error
    return found
