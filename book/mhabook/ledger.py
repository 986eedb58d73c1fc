"""The register of statements: what the book claims, where it stands, and how it is checked."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

MARKS = ("paper", "second-hand", "recalled", "ours")
ROUNDING = 1e-9
"""Relative room for rounding in ``Check.holds``."""
NUMBER = re.compile(r"(\w+ et al\. \d{4}), ((?:Theorem|Lemma|Proposition|Corollary|Definition) \d+)")
TEST = "tests/chapters/test_ledger.py::test_statements_hold_on_random_instances"


def number_in_paper(source):
    """The number that a paper gives to what a source names: "Theorem 1 of Deora et al. 2023"; or nothing."""
    found = NUMBER.search(source)
    return f"{found[2]} of {found[1]}" if found else ""


class Check(NamedTuple):
    """One statement lhs ≤ rhs on one instance.

    Examples
    --------
    >>> Check(lhs=1.0, rhs=4.0, statement="one is less than four").slack
    0.75
    """

    lhs: float
    rhs: float
    statement: str

    @property
    def slack(self):
        """The unused share of the bound, (rhs − lhs)/|rhs|: 0 is attained, negative is violated."""
        if self.rhs == 0:
            return 0.0 if self.lhs == 0 else (inf if self.lhs < 0 else -inf)
        return (1 - self.lhs / self.rhs) * (1 if self.rhs > 0 else -1)

    @property
    def holds(self):
        """Whether lhs ≤ rhs up to rounding. Both must be finite: an infinite bound says nothing."""
        return isfinite(self.lhs) and isfinite(self.rhs) and self.lhs <= self.rhs + ROUNDING * abs(self.rhs)

    def __bool__(self):
        return self.holds

    def __repr__(self):
        relation = "≤" if self.holds else "> (violates ≤)"
        return f"Check({self.lhs:.6g} {relation} {self.rhs:.6g}, slack {self.slack:.3g}: {self.statement})"


def _worst(checks):
    # A bound that is infinite or not a number has no small slack, but it fails: failures come first.
    return min(checks, key=lambda check: (check.holds, check.slack))


@dataclass(frozen=True)
class Statement:
    """A numbered statement of the book with its check.

    ``function`` checks every claim of the statement on one instance, its arguments: a ``Check``, or a tuple with one
    ``Check`` for each claim. ``random(seed)`` makes a random instance, ``extremal`` makes instances near equality, and
    ``broken(seed)`` makes one that violates the hypothesis named in ``breaks``. ``hypotheses`` takes an instance, too,
    and says of each condition that numbers can violate whether it holds: condition → bool.
    """

    id: str
    title: str
    source: str
    mark: str
    chapter: str
    assumptions: str
    function: Callable[..., Check | tuple[Check, ...]]
    random: Callable[[int], dict]
    extremal: tuple[Callable[[], dict], ...] = ()
    broken: Callable[[int], dict] | None = None
    breaks: str = ""
    hypotheses: Callable[..., dict[str, bool]] | None = None

    @property
    def number(self):
        """The number in its paper of the statement that this one is, or is the counterpart of; or nothing."""
        return number_in_paper(self.source)

    @property
    def test(self):
        """The name, for pytest, of the test that calls the check on random instances."""
        return f"{TEST}[{self.id}]"

    def check(self, seed):
        """The worst check among the random instance of ``seed`` and the extremal ones: a failure, or least slack."""
        return self.worst([seed])

    def worst(self, seeds):
        """The worst check among the random instances of several seeds and the extremal ones, each made once."""
        return _worst(self.every_check(seeds))

    def every_check(self, seeds):
        """The check of every claim, on the random instances of several seeds and on the extremal ones."""
        for instance in (*map(self.random, seeds), *(make() for make in self.extremal)):
            yield from self.checks(instance)

    def checks(self, instance):
        """One check for each claim of the statement, on one instance."""
        found = self.function(**instance)
        return (found,) if isinstance(found, Check) else found

    def on(self, instance):
        """The worst check among the statement's claims on one instance: a failure, or least slack."""
        return _worst(self.checks(instance))

    def twin(self, seed):
        """The same check with one hypothesis broken, which must fail; None for a statement that has no twin."""
        return None if self.broken is None else self.on(self.broken(seed))


class Ledger:
    """All statements, in the order of the book: iterate, or look one up by id.

    Examples
    --------
    >>> statement = mhabook.ledger["prop-1-hessian"]
    >>> statement.mark, statement.check(seed=0).holds
    ('ours', True)
    """

    def __init__(self):
        self._statements = {}

    def __iter__(self):
        return iter(self._statements.values())

    def __len__(self):
        return len(self._statements)

    def __contains__(self, id):
        return id in self._statements

    def __repr__(self):
        return f"Ledger({', '.join(self._statements)})"

    def __getitem__(self, id):
        if id not in self._statements:
            raise KeyError(f"no statement {id!r}; the ledger has {', '.join(self._statements)}")
        return self._statements[id]

    def register(self, statement):
        """Add a statement; ids are unique and marks are those of the book."""
        if statement.id in self._statements:
            raise ValueError(f"id: expected a new id, got {statement.id!r} again")
        if statement.mark not in MARKS:
            raise ValueError(f"mark: expected one of {MARKS}, got {statement.mark!r}")
        self._statements[statement.id] = statement

    def rows(self, seeds=100):
        """One dict a statement for the book's ledger page, from ``seeds`` fresh random instances each."""
        return [_row(statement, seeds) for statement in self]


def _row(statement, seeds):
    checks = list(statement.every_check(range(seeds)))
    worst = _worst(checks)
    twins = [statement.twin(seed) for seed in range(min(seeds, 20))] if statement.broken else []
    return {"id": statement.id, "title": statement.title,
            "claim": "; ".join(dict.fromkeys(check.statement for check in checks)), "source": statement.source,
            "number": statement.number, "mark": statement.mark, "chapter": statement.chapter,
            "assumptions": statement.assumptions, "instances": seeds + len(statement.extremal), "holds": worst.holds,
            "slack": worst.slack, "breaks": statement.breaks, "test": statement.test,
            "twins": len(twins), "twins_fail": all(not twin.holds for twin in twins)}


ledger = Ledger()


def statement(**entry):
    """Decorator: register the function, which returns a ``Check`` or several, as a statement of the book.

    Parameters are the fields of ``Statement`` other than ``function``.
    """
    def register(function):
        ledger.register(Statement(function=function, **entry))
        return function
    return register


class Along(NamedTuple):
    """One statement along a training path: ``lhs`` and ``rhs`` at the recorded ``steps``."""

    steps: np.ndarray
    lhs: np.ndarray
    rhs: np.ndarray
    statement: str

    @property
    def slack(self):
        """The unused share of the bound, (rhs − lhs)/|rhs|, at every recorded step."""
        return np.array([check.slack for check in self.checks])

    @property
    def checks(self):
        """The ``Check`` of every recorded step."""
        return [Check(lhs, rhs, self.statement) for lhs, rhs in zip(self.lhs.tolist(), self.rhs.tolist(), strict=True)]

    @property
    def worst(self):
        """The check with the least slack, a failure first."""
        return _worst(self.checks)


def along(path, data, function):
    """Check a statement at every recorded model of a ``Path``: ``along(path, data, theory.smoothness)``."""
    checks = [function(model, data) for model in path.models]
    lhs, rhs = np.array([check[:2] for check in checks]).T
    return Along(path.steps, lhs, rhs, checks[0].statement)
