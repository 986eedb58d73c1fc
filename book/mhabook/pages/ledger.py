"""The page *The ledger*: every statement with what its check found, and every definition, in the
order of the book."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np

import mhalib as mha
from mhabook.definitions import DEFINITIONS, Definition
from mhabook.pages.numbers import NUMBERS, chapter_number
from mhabook.pages.text import sortable, table
from mhabook.pages.topics import topics

Entry: TypeAlias = dict[str, Any]
"""A row of ``mhabook.ledger.rows``."""
PARTS = {"multihead": "I", "preconditioning": "II", "kernels": "III"}
HEAD = (
    "| Number | Statement | <span data-filter>Mark</span> | <span data-filter>Part · "
    "chapter</span> | Instances | Worst slack | Twin, without |\n|---|---|---|---|--:|--:|---|"
)


def summary(rows: Sequence[Entry]) -> str:
    """How much was checked, whether all came out as it must, when, and with what."""
    instances, twins = sum(row["instances"] for row in rows), sum(row["twins"] for row in rows)
    with_twin = sum(row["twins"] > 0 for row in rows)
    attained = sum(abs(row["slack"]) < 1e-9 for row in rows)
    return (
        f"**{len(rows)} statements** were checked on {instances} instances. {with_twin} of them "
        f"have a twin, and the twins were checked on {twins} instances with a broken hypothesis. "
        f"{outcome(rows)} For {attained} statements some instance makes the two sides equal. "
        f"{len(DEFINITIONS)} definitions are listed with them. Last run: {_today()}, with Python "
        f"{sys.version.split()[0]}, NumPy {np.__version__} and mhalib {mha.__version__}."
    )


def outcome(rows: Sequence[Entry]) -> str:
    """Whether every statement held and every twin failed; if not, which did not."""
    failed = [
        f"{{prf:ref}}`{row['id']}`" for row in rows if not (row["holds"] and row["twins_fail"])
    ]
    if not failed:
        return "All statements hold, and all twins fail, as they must."
    return f"**Not as they must** came out {', '.join(failed)}: their rows say what failed."


def statements(rows: Sequence[Entry]) -> str:
    """The table of all statements and definitions."""
    lines = {row["id"]: checked(row) for row in rows} | {
        entry.id: _defined(entry) for entry in DEFINITIONS
    }
    return sortable(table(HEAD, (lines[id] for id in sorted(lines, key=list(NUMBERS).index))))


def checked(row: Entry) -> list[str]:
    """The cells of a statement."""
    slack = "0" if abs(row["slack"]) < 1e-9 else f"{row['slack']:.2g}"
    slack = slack if row["holds"] else f"**violated:** {slack}"
    fail = f"all {row['twins']} fail" if row["twins_fail"] else f"**not all {row['twins']} fail**"
    claim, assumptions, breaks = (
        row[key].replace("*", r"\*") for key in ("claim", "assumptions", "breaks")
    )
    twin = f"{breaks}: {fail}" if row["twins"] else "–"
    test = row["test"].replace("::", "`, `")  # a line may break between file and function
    folded = f"<details><summary>Source and test</summary>{row['source']}. `{test}`</details>"
    first = _first_cells(row, claim, f"*Assumes: {assumptions}.*", folded)
    return [*first, str(row["instances"]), slack, twin]


def _defined(entry: Definition):
    """The cells of a definition."""
    folded = f"<details><summary>Source</summary>{entry.source}.</details>"
    row = entry._asdict() | {"number": entry.number}
    return [*_first_cells(row, "Definition: nothing to check.", folded), "–", "–", "–"]


def _first_cells(row, *more):
    words = f" data-words='{topics(row['id'])}'" if topics(row["id"]) else ""
    head = f"<a id='ledger-{row['id']}'{words}></a>{{prf:ref}}`{row['id']}`"
    place = f"{PARTS[row['chapter'].split('/')[0]]} · [{chapter_number(row['chapter'])}]({row['chapter']}.ipynb)"
    *lines, folded = more
    paper = [f"{row['number']}."] if row["number"] else []
    return [
        head,
        " <br>".join([f"**{row['title']}.**", *lines, *paper]) + f" {folded}",
        row["mark"],
        place,
    ]


def _today():
    return datetime.now(UTC).date().isoformat()
