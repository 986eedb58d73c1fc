"""``Figure``: an entry of the register; its parameters are read from the stored table, its outcome
is computed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mhabook.studies import Table, stored

STATUSES = {
    "reproduced": "the claims that we can read hold here, on data and at sizes of our choice",
    "in part": "a claim that we can read holds here for some curves, sizes or steps, and not for "
    "others",
    "differs": "a claim that we can read does not hold here, or in a few comparisons only",
    "not knowable": "the caption claims nothing that a run could contradict, and the curves are "
    "not known to us",
    "not run": "the command for the full size is there, and was not run: what stands here is a "
    "small version",
}


class Outcome(NamedTuple):
    """What a stored table says: a sentence with its numbers, and whether the numbers are those
    behind the status."""

    words: str
    holds: bool


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    ``shows`` is its caption in our words, with the ``mark`` of how we know it; ``unknown`` what we
    do not know of it. ``setting`` is what we know of the paper's model, data and training, with
    marks; ``models`` the classes that ran here. ``table`` is the stored table and ``rows`` the part
    of it that belongs to the figure; ``fixed`` are parameters that stand in the script and not in
    its table. ``command`` remakes what was run here. ``full`` is the command for the paper's own
    size, where that is another one. ``tests`` run the script at small size, or hold what it stored.
    """

    id: str
    paper: str
    name: str
    shows: str
    mark: str
    status: str
    unknown: str
    chapter: str
    section: str
    outcome: Callable[..., Outcome]
    tests: tuple[str, ...]
    table: str = ""
    rows: dict[str, Any] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    full: str = ""
    setting: str = field(kw_only=True)
    models: tuple[str, ...] = field(kw_only=True)

    def stored(self) -> Table | None:
        """The rows of the stored table that belong to the figure; None for a figure that is a
        drawing."""
        table = stored(self.table) if self.table else None
        return table.where(**self.rows) if self.rows else table

    def measured(self) -> Outcome:
        """The ``Outcome``, computed from the stored table."""
        table = self.stored()
        return self.outcome() if table is None else self.outcome(table)

    @property
    def command(self) -> str:
        """The command that remakes the table, as the table itself says it; empty for a drawing."""
        return stored(self.table).about["command"] if self.table else ""

    @property
    def versions(self) -> list[str]:
        """What made the stored table: "mhalib 0.1.0, NumPy 2.4.6, Python 3.11.7", one for each set
        of versions."""
        return [
            f"mhalib {made['mhalib']}, NumPy {made['numpy']}, Python {made['python']}"
            for made in stored(self.table).about["versions"]
        ]

    def parameters(self) -> dict[str, Any]:
        """Name → values in the stored rows: of the grid, the seeds, the number of heads, and the
        last step."""
        table = self.stored()
        if table is None:
            return {}
        names = {name for config in table.about["configurations"] for name in config} | {"seed"}
        names |= {"H"} & set(table.columns)
        found = {name: np.unique(table[name]).tolist() for name in table.columns if name in names}
        ends = [int(np.nanmax(table[name])) for name in ("steps", "at") if name in table.columns]
        return found | ({"last step": [max(ends)]} if ends else {})


def by_heads(table: Table, curve: str) -> np.ndarray:
    """Values of a curve for each number of heads, in its order: (heads, trials, steps)."""
    return np.stack([table.where(H=H)[curve] for H in np.unique(table["H"])])


def ends(table: Table, curve: str) -> np.ndarray:
    """The medians over trials of the last values of a curve, for each number of heads."""
    return np.median(by_heads(table, curve)[..., -1], axis=1)
