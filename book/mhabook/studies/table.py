"""``Table``: the rows that a sweep leaves, one for each configuration and seed."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mhabook.studies.files import RESERVED, pack, unpack, write


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of a sweep, in the order of its grid; the seeds of a configuration follow one another.

    ``table["loss"]`` is the column of that name, an array with one entry a row: (rows,) for a number, (rows, …) for an
    array. The columns are those of the configuration, ``seed``, and the results. ``about`` says what the rows come
    from: the function, its configurations and seeds, and the versions of Python, NumPy and mhalib that computed them.

    Raises
    ------
    ValueError
        if the columns differ in length, or one is named ``about``, ``file`` or ``allow_pickle``.
    """

    columns: dict
    about: dict = field(default_factory=dict)

    def __post_init__(self):
        if len(lengths := {len(column) for column in self.columns.values()}) != 1:
            raise ValueError(f"columns: expected one or more of the same length, got lengths {sorted(lengths)}")
        if taken := [name for name in RESERVED if name in self.columns]:
            raise ValueError(f"columns: {', '.join(taken)} cannot name a column: {', '.join(RESERVED)} are reserved; "
                             "choose another name")

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name):
        self._require(name)
        return self.columns[name]

    def __repr__(self):
        shapes = (f"{name} {column.shape[1:]}" if column.ndim > 1 else name for name, column in self.columns.items())
        return f"Table({len(self)} rows of {', '.join(shapes)})"

    def where(self, **wanted):
        """The rows in which every named column has the wanted value, or one of a list of them: ``where(H=4)``.

        Raises
        ------
        ValueError
            if there is no such row.

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
            found = "; ".join(f"{name} takes {', '.join(map(str, np.unique(self.columns[name])))}" for name in wanted)
            raise ValueError(f"where: no row has {', '.join(f'{k}={v!r}' for k, v in wanted.items())}; {found}")
        return self._rows(np.flatnonzero(chosen))

    def group(self, *names, by=np.mean):
        """One row for each combination of values of the named columns: all other columns reduced over its rows.

        ``table.group("H")`` has the mean over seeds, and over whatever else is not named; ``by=np.min`` and
        ``by=np.max`` give a band. ``by`` is any function that takes ``axis=0``. Columns of words go, as does ``seed``;
        ``rows`` counts the rows behind each one. Truth values count as 1 and 0.

        Examples
        --------
        >>> table = mhabook.Table({"H": np.array([1, 1, 4]), "loss": np.array([0.5, 0.3, 0.2])})
        >>> table.group("H")["loss"]
        array([0.4, 0.2])
        """
        self._require(*names)
        groups = {}
        for row, values in enumerate(zip(*(self.columns[name].tolist() for name in names), strict=True)):
            groups.setdefault(values, []).append(row)
        members = [np.array(rows) for rows in groups.values()] if names else [np.arange(len(self))]
        firsts = [rows[0] for rows in members]
        columns = {name: self.columns[name][firsts] for name in names}
        columns["rows"] = np.array([len(rows) for rows in members])
        for name, column in self.columns.items():
            if name not in columns and name != "seed" and column.dtype.kind != "U":
                columns[name] = np.stack([by(1 * column[rows], axis=0) for rows in members])
        return Table(columns, self.about)

    def save(self, path, command=None):
        """Write everything into one npz file, with the ``command`` that makes it again; equal tables, equal bytes.

        ``Table.load(path)`` reads it, and so does ``numpy.load``: one array a column, and ``about`` in JSON.
        """
        write(path, pack(self.columns, self.about | ({} if command is None else {"command": command})))

    @classmethod
    def load(cls, path):
        """The table that ``save`` wrote.

        Raises
        ------
        ValueError
            if the file is damaged or something else.
        """
        try:
            return cls(*unpack(Path(path).expanduser().read_bytes()))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def _rows(self, chosen):
        return Table({name: column[chosen] for name, column in self.columns.items()}, self.about)

    def _require(self, *names):
        unknown = [name for name in names if name not in self.columns]
        if unknown:
            raise KeyError(f"no column {unknown[0]!r}; there are {', '.join(self.columns)}")
