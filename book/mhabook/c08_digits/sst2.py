"""SST-2: sentences of film reviews with a label, read from the files of the GLUE benchmark in a
local folder."""

from pathlib import Path

from mhabook.c08_digits.text import TextDataset, Vocabulary, from_sentences

HEADER = "sentence\tlabel"
INSTRUCTIONS = """\
SST-2, the Stanford Sentiment Treebank with two classes, is a task of the
GLUE benchmark. Download it from https://gluebenchmark.com/tasks and unpack
it, so that the folder you name holds

    train.tsv    67,349 sentences to train on
    dev.tsv      872 sentences to test on

Each is a UTF-8 text file. Its first line is "sentence<TAB>label", every
other line is a sentence, a tab, and 0 or 1. mhalib downloads nothing by
itself."""


def load(
    folder: str | Path,
    split: str = "train",
    vocabulary: Vocabulary | None = None,
    min_count: int = 2,
    length: int | None = None,
) -> TextDataset:
    """The sentences of SST-2's ``train.tsv`` or ``dev.tsv``, from a folder on this machine, as a
    ``TextDataset``.

    Words are what spaces separate: the files come lower-cased and tokenized. Label 0 becomes −1.
    GLUE's third file, ``test.tsv``, has no labels and is not read; results on SST-2 are reported on
    ``dev.tsv``.

    Raises FileNotFoundError with instructions, if the file is not there; ValueError naming file and
    line, if a line is not a sentence, a tab, and 0 or 1.

    Parameters
    ----------
    folder : the folder that holds the two files
    split : "train" or "dev"
    vocabulary : a ``Vocabulary``; without one it is built from ``train.tsv``, for either split
    min_count : how often a word must occur there to be known
    length : where longer sentences are cut off; without it, the longest of this split

    Source: Socher et al. 2013, in the form of Wang et al. 2019 (GLUE).
    """
    if split not in ("train", "dev"):
        raise ValueError(f"split: expected 'train' or 'dev', got {split!r}; test.tsv has no labels")
    folder = Path(folder).expanduser()
    sentences, y = read(folder / f"{split}.tsv")
    if vocabulary is None:
        known = sentences if split == "train" else read(folder / "train.tsv")[0]
        vocabulary = Vocabulary.of(known, min_count)
    return from_sentences(sentences, y, vocabulary, length=length)


def tsv(data: TextDataset) -> str:
    """The text of a file in SST-2's format: a header, then a line with a sentence and its label 0
    or 1 for each."""
    lines = [
        f"{sentence}\t{int(label > 0)}"
        for sentence, label in zip(data.sentences, data.y, strict=True)
    ]
    return "\n".join([HEADER, *lines, ""])


def read(path: Path) -> tuple[tuple[str, ...], list[float]]:
    """Sentences and labels ±1 of one file."""
    if not path.is_file():
        raise FileNotFoundError(
            f"expected the file {path}, which does not exist.\n\n{INSTRUCTIONS}"
        )
    try:
        # No csv reader: quotation marks are part of the sentences. Only "\n" ends a line.
        # utf-8-sig, because an editor may have put a byte order mark first.
        lines = (
            path.read_bytes()
            .decode("utf-8-sig")
            .replace("\r\n", "\n")
            .removesuffix("\n")
            .split("\n")
        )
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: expected UTF-8 text, got the byte {error.object[error.start]:#04x} "
            f"at position {error.start}"
        ) from None
    if lines[0] != HEADER:
        raise ValueError(
            f"{path}, line 1: expected the header 'sentence<TAB>label', got {lines[0]!r:.80}"
        )
    if len(lines) == 1:
        raise ValueError(f"{path}: expected sentences below the header, got none")
    rows = [_row(path, number, line) for number, line in enumerate(lines[1:], 2)]
    return tuple(sentence for sentence, _ in rows), [label for _, label in rows]


def _row(path, number, line):
    sentence, *labels = line.split("\t")
    if len(labels) != 1 or labels[0] not in ("0", "1") or not sentence.strip():
        raise ValueError(
            f"{path}, line {number}: expected a sentence, a tab, and 0 or 1, got {line!r:.80}"
        )
    return " ".join(sentence.split()), 1.0 if labels[0] == "1" else -1.0
