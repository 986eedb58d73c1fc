"""The reader's own data from a CSV or NPZ file, by the rules by which the laboratory reads it in
the page."""

import io
import re
import warnings
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np

from livegrad.arrays import shown
from livegrad.foreign import converted
from mhalib.data.dataset import Dataset, from_arrays
from mhalib.data.regression import RegressionDataset, regression_from_arrays
from mhalib.data.sequences import SequenceDataset

# no text is read in two ways: linear time
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SHAPES = "X (n, T, d) with labels y (n,), X (n, d) with targets y (n, p), or X (N, n, D) with targets y (N, n, m)"


def from_file(path: str | PathLike[str]) -> Dataset | RegressionDataset | SequenceDataset:
    """The dataset of a CSV or NPZ file: labeled sequences, a regression, or sequences with a target
    for every token.

    An NPZ file holds ``X`` and ``y``, as ``numpy.savez(path, X=X, y=y)`` writes them, floats of 32
    or 64 bits or integers. A CSV file is UTF-8 with commas; its first line names the columns, every
    other line is one token:

    - ``sample``, ``x1`` … ``xd``, ``y``: a ``Dataset``, X (n, T, d), y (n,); all lines of a sample have the same y, −1
      or 1
    - ``x1`` … ``xd``, ``y1`` … ``yp``: a ``RegressionDataset``, x (n, d), y (n, p); a single target may be called ``y``
    - ``sample``, ``x1`` … ``xD``, ``y1`` … ``ym``: a ``SequenceDataset``, X (N, n, D), y (N, n, m)

    The lines of a sample stand together, as many for each sample.

    Raises FileNotFoundError if there is no such file; ValueError if it is no such file: what was
    expected, and what came, and in which line.

    Parameters
    ----------
    path : of a file that ends in .csv or .npz
    """
    path = _path(path)
    readers = {".csv": _csv, ".npz": _npz}
    if path.suffix.lower() not in readers:
        raise ValueError(f"path: expected a file that ends in .csv or .npz, got {path.name!r}")
    return _dataset(*readers[path.suffix.lower()](path))


def _dataset(X, y):
    for name, array in (("X", X), ("y", y)):
        if not array.size:
            raise ValueError(f"{name}: expected at least one sample, got shape {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers, got NaN or infinity")
    if (X.ndim, y.ndim) not in ((3, 1), (3, 3), (2, 1), (2, 2)) or y.shape[
        : max(y.ndim - 1, 1)
    ] != X.shape[: max(y.ndim - 1, 1)]:
        raise ValueError(f"X, y: expected {SHAPES}, got X {X.shape} and y {y.shape}")
    if X.ndim == 2:
        return regression_from_arrays(X, y.reshape(len(y), -1))
    return from_arrays(X, y) if y.ndim == 1 else SequenceDataset(X, y)


def _path(path):
    if not isinstance(path, (str, PathLike)) or "\0" in str(path):
        raise TypeError(f"path: expected the path of a file, got {shown(path)}")
    path = Path(path).expanduser()
    if path.is_dir():
        raise ValueError(f"path: expected a file, got the folder {path.name!r}")
    return path


def _npz(path):
    try:
        with zipfile.ZipFile(path) as archive:
            stored = {name.removesuffix(".npy"): name for name in archive.namelist()}
            names = {"X": "X" if "X" in stored else "x", "y": "y"}
            missing = [name for name in names.values() if name not in stored]
            if not missing:  # a member is read to its end: only there its checksum is compared
                members = {name: archive.read(stored[own]) for name, own in names.items()}
    except FileNotFoundError:
        raise
    # a damaged archive fails in zipfile, zlib, lzma and struct, each with errors of its own
    except Exception as error:
        raise ValueError(
            f"path: expected a whole NPZ file, got {path.name!r}: {_first_line(error)}"
        ) from None
    if missing:
        raise ValueError(f"path: expected arrays X and y, got {', '.join(stored)[:80] or 'none'}")
    return [_numbers(name, content) for name, content in members.items()]


def _first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def _numbers(name, content):
    """The array of a member, all of it."""
    stream = io.BytesIO(content)
    try:
        with warnings.catch_warnings():
            # a damaged header is first taken for one that Python 2 wrote
            warnings.simplefilter("ignore")
            array = np.lib.format.read_array(stream, allow_pickle=False)
    # objects, which are pickled; no array at all; or a header that is none
    except Exception as error:
        raise ValueError(
            f"{name}: expected an array of numbers, got another content: {_first_line(error)}"
        ) from None
    if stream.read(1):
        raise ValueError(
            f"{name}: expected an array of shape {array.shape}, got more numbers than that"
        )
    kind = array.dtype
    # Compared and not read from ``byteorder``: that is "=" for the machine's own, "|" for one byte.
    little = kind.newbyteorder("<") == kind
    if kind.kind not in "fiu" or kind.itemsize > 8 or kind == np.float16 or not little:
        raise ValueError(
            f"{name}: expected floats of 32 or 64 bits or integers, little-endian, got {kind.str}"
        )
    return converted(name, array).astype(np.float64)


def _csv(path):
    try:
        # Spreadsheets write a byte order mark, which would become part of the first name.
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(
            f"path: expected text in UTF-8, got other bytes in {path.name!r}"
        ) from None
    # Not ``splitlines``, which also splits at form feeds and the line separators of Unicode. Empty
    # lines are counted before they are dropped, so that errors name the line of the file.
    rows = [
        (k + 1, row.split(","))
        for k, row in enumerate(re.split(r"\r\n|\n|\r", text))
        if row.strip()
    ]
    if len(rows) < 2:
        raise ValueError(
            f"path: expected a line of names and a line for each token, got {len(rows)} lines"
        )
    names = [name.strip() for name in rows[0][1]]
    samples, xs, ys = _columns(names)
    cells = [_cells(line, row, names, samples) for line, row in rows[1:]]
    X, y = (np.array([[row[at] for at in columns] for row in cells]) for columns in (xs, ys))
    return (
        (X, y)
        if samples is None
        else _by_sample(X, y, [row[samples] for row in cells], "y" in names)
    )


def _columns(names):
    """Where the sample, the coordinates and the targets stand."""
    at = {name: k for k, name in enumerate(names)}

    def run(letter):
        count = next(k for k in range(len(names) + 1) if f"{letter}{k + 1}" not in at)
        return [at[f"{letter}{k + 1}"] for k in range(count)]

    if re.search("[\"']", "".join(names)):
        raise ValueError(
            f"path: expected names of columns without quotation marks, got {','.join(names)[:60]}"
        )
    if all(map(NUMBER.fullmatch, names)):
        raise ValueError(
            f"path: expected a first line that names the columns, got numbers, "
            f"{','.join(names)[:60]}"
        )
    samples, xs, ys = at.get("sample"), run("x"), [at["y"]] if "y" in at else run("y")
    if (
        len(at) < len(names)
        or not xs
        or not ys
        or len(xs) + len(ys) + (samples is not None) != len(names)
    ):
        raise ValueError(
            "path: expected columns x1, x2, … and y, or y1, y2, …, each once and separated by "
            f"commas, and sample for sequences, got {','.join(names)[:60]}"
        )
    return samples, xs, ys


def _cells(line, row, names, samples):
    if len(row) != len(names):
        raise ValueError(
            f"path: expected {len(names)} entries in every line, got {len(row)} in line {line}"
        )
    return [
        cell.strip() if at == samples else _number(cell.strip(), line, name)
        for at, (cell, name) in enumerate(zip(row, names, strict=True))
    ]


def _number(text, line, name):
    # ``float`` alone would also take underscores, "nan" and the digits of other scripts.
    value = float(text) if NUMBER.fullmatch(text) else np.nan
    if not np.isfinite(value):
        raise ValueError(
            f"path: expected a finite number in line {line}, column {name}, got {text[:20]!r}"
        )
    return value


def _by_sample(X, y, samples, single):
    """Lines to (samples, tokens, …); a column y is a label, the same in all lines of a sample."""
    begins = [k for k in range(len(samples)) if k == 0 or samples[k] != samples[k - 1]]
    if len(begins) != len(set(samples)):
        raise ValueError(
            "path: expected the lines of a sample together, got one that comes up again"
        )
    tokens, n = len(samples) // len(begins), len(begins)
    if begins != list(range(0, len(samples), tokens)) or n * tokens != len(samples):
        raise ValueError("path: expected as many lines for every sample, got different numbers")
    X, y = X.reshape(n, tokens, -1), y.reshape(n, tokens, -1)
    if not single:
        return X, y
    if (y != y[:, :1]).any():
        raise ValueError(
            "path: expected one label y for all lines of a sample, got two; targets of tokens are "
            "y1, y2, …"
        )
    return X, y[:, 0, 0]
