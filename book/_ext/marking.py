"""What the parts of a problem count: (a), (b), and so on, as book/start/sheets.yml says for those of
the book, and problems.py for those whose numbers are drawn."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

SHEETS = Path(__file__).parents[2] / "book" / "start" / "sheets.yml"
MINUTES = 5  # of a point


@dataclass(frozen=True)
class Part:
    """A part of a problem: (points, for what); and what it needs, if it is not by hand."""

    name: str
    earns: tuple
    needs: str = ""

    @property
    def points(self):
        return sum(points for points, _ in self.earns)


@cache
def said():
    """``choose``: week → labels for less time; ``facts``: week → what stands below its problems;
    ``marks``: label → parts; ``errors``: label → an error that many make."""
    return yaml.safe_load(SHEETS.read_text("utf-8"))


def parts(label):
    """The parts of an exercise of the book.

    Raises ValueError for one that has none.
    """
    marks = said()["marks"]
    if label not in marks:
        raise ValueError(f"{label}: expected what its parts count among the marks of {SHEETS.name}")
    return [part(name, earns) for name, earns in marks[label].items()]


def error(label):
    """An error that many make in an exercise of the book, with what it still earns.

    Raises ValueError for an exercise that has none.
    """
    errors = said()["errors"]
    if label not in errors:
        raise ValueError(f"{label}: expected a typical error among the errors of {SHEETS.name}")
    return errors[label]


def part(name, earns):
    """A part as it is written: ``"b, Python"`` and its rows, each ``{points: for what}``."""
    name, _, needs = name.partition(", ")
    return Part(name, tuple(item for row in earns for item in row.items()), needs)


def points(parts):
    return sum(each.points for each in parts)


def counted(points):
    return f"{points} point{'s' * (points > 1)}"


def effort(parts):
    """What a problem takes and counts: "about 15 minutes, 3 points"."""
    return f"about {MINUTES * points(parts)} minutes, {counted(points(parts))}"
