"""``Table``: the rows that a sweep leaves; and ``stored``, the tables that come with the book."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from livegrad.console import printed
from livegrad.record._files import whole_file

RESERVED = ("about", "allow_pickle", "file")
"""Names that no column can have, since ``numpy.savez`` or a table uses them."""
# the wheel has the tables in the package (setup.py); a clone, beside it
_INSTALLED = Path(__file__).parent / "results"
FOLDER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1] / "results"


@printed
@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of a sweep, in the order of its grid; the seeds of a configuration follow one another.

    ``table["loss"]`` is the column of that name, an array with one entry a row: (rows,) for a
    number, (rows, …) for an array. The columns are those of the configuration, ``seed``, and the
    results. ``about`` says what the rows come from: the function, its configurations and seeds, and
    the versions of Python, NumPy and mhalib that computed them.

    Raises ValueError if the columns differ in length, or one is named ``about``, ``file`` or
    ``allow_pickle``.
    """

    columns: Mapping[str, np.ndarray]
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(lengths := {len(column) for column in self.columns.values()}) != 1:
            raise ValueError(
                f"columns: expected one or more of the same length, got lengths {sorted(lengths)}"
            )
        if taken := [name for name in RESERVED if name in self.columns]:
            raise ValueError(
                f"columns: {', '.join(taken)} cannot name a column: {', '.join(RESERVED)} are "
                "reserved; choose another name"
            )

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> np.ndarray:
        self._require(name)
        return self.columns[name]

    def __repr__(self) -> str:
        shapes = (
            f"{name} {column.shape[1:]}" if column.ndim > 1 else name
            for name, column in self.columns.items()
        )
        return f"Table({len(self)} rows of {', '.join(shapes)})"

    def where(self, **wanted: Any) -> "Table":
        """The rows in which every named column has the wanted value, or one of a list of them:
        ``where(H=4)``.

        Raises ValueError if there is no such row.

        Examples
        --------
        >>> table = mhabook.Table({"H": np.array([1, 1, 4]), "loss": np.array([0.5, 0.3, 0.2])})
        >>> len(table.where(H=1)), table.where(H=4)["loss"]
        (2, array([0.2]))
        """
        self._require(*wanted)
        chosen = np.ones(len(self), dtype=bool)
        for name, value in wanted.items():
            chosen &= np.isin(self.columns[name], value)
        if not chosen.any():
            found = "; ".join(
                f"{name} takes {', '.join(map(str, np.unique(self.columns[name])))}"
                for name in wanted
            )
            raise ValueError(
                f"where: no row has {', '.join(f'{k}={v!r}' for k, v in wanted.items())}; {found}"
            )
        return Table({name: column[chosen] for name, column in self.columns.items()}, self.about)

    def group(self, *names: str, by: Callable[..., Any] = np.mean) -> "Table":
        """One row for each combination of values of the named columns: all other columns reduced
        over its rows.

        ``table.group("H")`` has the mean over seeds, and over whatever else is not named;
        ``by=np.min`` and ``by=np.max`` give a band. ``by`` is any function that takes ``axis=0``.
        Columns of words go, as does ``seed``; ``rows`` counts the rows behind each one. Truth
        values count as 1 and 0.

        Examples
        --------
        >>> table = mhabook.Table({"H": np.array([1, 1, 4]), "loss": np.array([0.5, 0.3, 0.2])})
        >>> table.group("H")["loss"]
        array([0.4, 0.2])
        """
        self._require(*names)
        groups = {}
        for row, values in enumerate(
            zip(*(self.columns[name].tolist() for name in names), strict=True)
        ):
            groups.setdefault(values, []).append(row)
        members = [np.array(rows) for rows in groups.values()] if names else [np.arange(len(self))]
        columns = {name: self.columns[name][[rows[0] for rows in members]] for name in names}
        columns["rows"] = np.array([len(rows) for rows in members])
        for name, column in self.columns.items():
            if name not in columns and name != "seed" and column.dtype.kind != "U":
                columns[name] = np.stack([by(1 * column[rows], axis=0) for rows in members])
        return Table(columns, self.about)

    def save(self, path: str | Path, command: str | None = None) -> None:
        """Write everything into one npz file, with the ``command`` that makes it again; equal
        tables, equal bytes.

        ``Table.load(path)`` reads it, and so does ``numpy.load``: one array a column, and ``about``
        in JSON. The file appears whole or not at all.
        """
        about = dict(self.about) | ({} if command is None else {"command": command})
        path, buffer = Path(path).expanduser(), io.BytesIO()
        # Sorted keys, since equal tables shall give equal bytes.
        np.savez_compressed(
            buffer, about=np.array(json.dumps(about, sort_keys=True)), **self.columns
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> "Table":
        """The table that ``save`` wrote.

        Raises ValueError if the file is damaged or something else.
        """
        data = Path(path).expanduser().read_bytes()
        try:
            columns = _columns(data)
            about = json.loads(str(columns.pop("about")))
            return cls(columns, dict(about))
        # zipfile and NumPy raise a dozen kinds for files that are not what they say
        except Exception as error:
            said = str(error) or "it ends too early"
            raise ValueError(
                f"{path}: damaged, or not made by mhalib ({type(error).__name__}: {said:.200})"
            ) from error

    def _require(self, *names):
        unknown = [name for name in names if name not in self.columns]
        if unknown:
            raise KeyError(f"no column {unknown[0]!r}; there are {', '.join(self.columns)}")


def _columns(data):
    """Name → array of an archive: of every member, each read to its end, where its checksum is
    compared."""
    columns = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _require_no_gap(archive, data)
        for entry in archive.infolist():
            member = io.BytesIO(archive.read(entry))
            columns[entry.filename.removesuffix(".npy")] = np.lib.format.read_array(
                member, allow_pickle=False
            )
            if member.read(1):
                raise ValueError(f"{entry.filename} is longer than its array")
    return columns


def _require_no_gap(archive, data):
    """Raise ValueError unless the members of the directory, one behind the other, are all that the
    file holds.

    A damaged directory may be shorter than it was, and still be read: columns would be missing
    without a word.
    """
    end = 0
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        if entry.header_offset != end:
            raise ValueError(
                f"{entry.header_offset - end} bytes before {entry.filename} belong to no column"
            )
        # of the name and of what is added to it, in the member's own header
        # The zip64 sizes that NumPy adds stand there alone, not in the directory.
        lengths = data[end + 26 : end + 30]
        end += (
            30
            + int.from_bytes(lengths[:2], "little")
            + int.from_bytes(lengths[2:], "little")
            + entry.compress_size
        )
    if end != archive.start_dir:
        raise ValueError(
            f"{archive.start_dir - end} bytes before the directory belong to no column"
        )


def stored(name: str) -> Table:
    """The ``Table`` ``book/results/<name>`` that a page of the book shows, of the clone or of the
    installed package.

    Raises
    ------
    FileNotFoundError
        if there is no such table; the message names those that there are.
    ValueError
        if the file is damaged.

    Examples
    --------
    >>> table = mhabook.stored("heads.npz")
    >>> "H" in table.columns
    True
    """
    tables = sorted(path.name for path in FOLDER.glob("*.npz"))
    if name not in tables:
        raise FileNotFoundError(
            f"name: expected one of {', '.join(tables)}, the tables in {FOLDER}, got {name!r}"
        )
    return Table.load(FOLDER / name)
