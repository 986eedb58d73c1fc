"""The page *The ledger*: every statement with what its check found, and every definition, in the
order of the book."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import mhalib as mha
from mhabook import mutants
from mhabook.definitions import DEFINITIONS, Definition
from mhabook.pages.numbers import NUMBERS, chapter_number
from mhabook.pages.text import sortable, table
from mhabook.pages.topics import topics
from mhabook.tables import stored
from mhabook.true_mutants import why_true

Entry: TypeAlias = dict[str, Any]
"""A row of ``mhabook.ledger.rows``."""
PARTS = {"multihead": "I", "preconditioning": "II", "kernels": "III"}
HEAD = (
    "| Number | Statement | <span data-filter>Mark</span> | <span data-filter>Part · "
    "chapter</span> | Instances | Worst slack | Twin, without | Mutants caught |\n|---|---|---|---|--:|--:|---|--:|"
)


def summary(rows: Sequence[Entry]) -> str:
    """How much was checked, whether all came out as it must, when, and with what."""
    instances, twins = sum(row["instances"] for row in rows), sum(row["twins"] for row in rows)
    with_twin = sum(row["twins"] > 0 for row in rows)
    attained = sum(abs(row["slack"]) < 1e-9 for row in rows)
    return (
        f"**{len(rows)} statements** were checked on {instances} instances, and the twins of "
        f"{with_twin} on {twins} with a broken hypothesis. {outcome(rows)} For {attained} of them, "
        f"some instance makes the two sides equal, and {len(stored('certificates.npz'))} statements have "
        f"a certificate. Last run: {_today()}, with Python {sys.version.split()[0]}, NumPy "
        f"{np.__version__} and mhalib {mha.__version__}."
    )


def outcome(rows: Sequence[Entry]) -> str:
    """Whether every statement held and every twin failed; if not, which did not."""
    failed = [
        f"{{prf:ref}}`{row['id']}`" for row in rows if not (row["holds"] and row["twins_fail"])
    ]
    if not failed:
        return "All statements hold, and all twins fail, as they must."
    return f"**Not as they must** came out {', '.join(failed)}: their rows say what failed."


class Count(NamedTuple):
    """How many false mutants were planted, and how many of them were caught."""

    planted: int
    caught: int

    def __str__(self) -> str:
        return f"{self.caught} of {self.planted}"


def count(**wanted: Any) -> Count:
    """The false mutants of a row (``id``), of a ``kind``, or of all rows, in the stored table."""
    outcomes = _outcomes(**wanted)
    caught = sum(map(outcomes.count, mutants.CAUGHT))
    return Count(caught + sum(map(outcomes.count, mutants.THROUGH)), caught)


def _outcomes(**wanted):
    table = stored("mutants.npz")
    chosen = [table[name] == value for name, value in wanted.items()]
    return table["outcome"][np.all(chosen, axis=0) if chosen else slice(None)].tolist()


def power() -> str:
    """How many mutants the rows catch, by kind, and how many were set aside."""
    every, outcomes = count(), _outcomes()
    kinds = {kind: count(kind=kind) for kind in mutants.KINDS}
    later, (first, of) = [kinds[kind] for kind in mutants.LATER], mutants.UNANSWERED
    planted, caught = (sum(column) for column in zip(*later, strict=True))
    rows = [[mutants.KINDS[kind], str(found)] for kind, found in kinds.items()]
    return (
        f"**{every} mutants** ({every.caught / every.planted:.0%}) are caught; of the three kinds "
        f"that were written last, {caught} of {planted} ({caught / planted:.0%}), and before any "
        f"instance answered them, when no other file than that of its row was changed, {first} of "
        f"{of} ({first / of:.0%}). {_loosest(every)} "
        f"Not counted are {outcomes.count('true')} that are true if the statement is, by a reason "
        f"that the list below gives, {outcomes.count('less') + outcomes.count('looser')} that claim "
        f"less than the statement on all instances ({outcomes.count('looser')} of them still show in "
        f"the slack or in a twin), {outcomes.count('idle')} in an expression that only measures an "
        f"error, and {outcomes.count('stops')} that stop with an error.\n\n"
        + table("| What is changed | Caught |\n|---|--:|", rows)
    )


def _loosest(every):
    """The row of which most gets through, and what is caught without it."""
    found = {id: count(id=id) for id in dict.fromkeys(stored("mutants.npz")["id"].tolist())}
    most = min(found, key=lambda id: found[id].caught - found[id].planted)
    planted, caught = (a - b for a, b in zip(every, found[most], strict=True))
    return (
        f"Of the {every.planted - every.caught} others, {found[most].planted - found[most].caught} "
        f"are in one row, {{prf:ref}}`{most}`, most of them in a bound that is thousands of times what "
        f"it bounds. Without this row, {caught / planted:.1%} are caught."
    )


def uncaught() -> str:
    """The mutants that got through, row by row, each with its largest left side over right side; and
    those that are true as well, with the reasons."""
    found = stored("mutants.npz")
    lines, alike = {}, {}
    for id, label, outcome, ratio in zip(
        *(found[name].tolist() for name in ("id", "mutant", "outcome", "ratio")), strict=True
    ):
        if outcome in mutants.THROUGH:
            nearest = f"{ratio:.3g}" if outcome == "through" else "no difference"
            lines.setdefault(id, []).append(f"`{label}` ({nearest})")
        elif outcome == "true":
            reasons = alike.setdefault(id, {})
            reasons.setdefault(why_true(id, label), []).append(f"`{label}`")
    listed = "\n".join(
        f"- {{prf:ref}}`{id}`: {' '.join(filter(None, ('; '.join(some) + '.', mutants.WHY.get(id))))}"
        for id, some in lines.items()
    )
    true = "\n".join(
        f"- {{prf:ref}}`{id}`: "
        + " ".join(f"{'; '.join(some)}. *{reason}*" for reason, some in reasons.items())
        for id, reasons in alike.items()
    )
    return (
        f"<details><summary>What got through in {len(lines)} rows</summary>\n\n{listed}\n\n"
        f"</details>\n<details><summary>What is true as well in {len(alike)} rows, and why</summary>"
        f"\n\n{true}\n\n</details>"
    )


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
    claim, assumptions, breaks, by_proof = (
        row[key].replace("*", r"\*") for key in ("claim", "assumptions", "breaks", "by_proof")
    )
    twin = f"{breaks}: {fail}" if row["twins"] else "–"
    if row["without"]:
        twin += f"; also {', '.join(row['without'])}".replace("*", r"\*")
    test = row["test"].replace("::", "`, `")  # a line may break between file and function
    folded = f"<details><summary>Source and test</summary>{row['source']}. `{test}`</details>"
    found = certificate(row["id"])
    more = [f"*By proof alone: {by_proof}.*"] if by_proof else []
    first = _first_cells(row, claim, f"*Assumes: {assumptions}.*", *more, folded + found)
    first[2] += " · certificate" if found else ""
    return [*first, str(row["instances"]), slack, twin, str(count(id=row["id"]))]


def certificate(id: str) -> str:
    """What the stored certificate of a statement covers, folded, and what not; or nothing."""
    table = stored("certificates.npz")
    if id not in table["id"]:
        return ""
    row = table.where(id=id).columns.items()
    one = {name: str(column[0]).replace("*", r"\*") for name, column in row}
    text = (
        f"For {one['on']}. *Certain:* {one['covers']} *Found:* {one['value']}. "
        f"*Not covered:* {one['leaves']}"
    )
    return f"<details><summary>Certificate</summary>{text}</details>"


def _defined(entry: Definition):
    """The cells of a definition."""
    folded = f"<details><summary>Source</summary>{entry.source}.</details>"
    row = entry._asdict() | {"number": entry.number}
    return [*_first_cells(row, "Definition: nothing to check.", folded), "–", "–", "–", "–"]


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
