"""The register of statements: what the book claims, where it stands, and how it is checked."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from math import inf, isfinite
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from livegrad.console import printed
from mhabook._address import is_placeholder, repository, web_address

if TYPE_CHECKING:
    from livegrad.training import Path
    from mhalib.data import Dataset

MARKS = ("paper", "second-hand", "recalled", "ours")
ROUNDING: float = 1e-9
"""Relative room for rounding in ``Check.holds``."""
BREAK = "\n      "
"""Between a statement and what was found, where a line has no room for both."""
TOLERANCE: float = 1e-4
"""A right side up to this is an error that is allowed, of what should be equal."""
TINY: float = float(np.finfo(float).tiny)
"""What a relative error is divided by where its size is 0, and so is the error."""
AMPLE: float = 0.9
"""Errors that leave so much of what is allowed unused are as good as each other, and as none."""
NUMBER = re.compile(
    r"(\w+ et al\. \d{4}), ((?:Theorem|Lemma|Proposition|Corollary|Definition) \d+)"
)
BOX = re.compile(r"(?ms)^(`{3,})\{(prf:\w+|admonition)\} *([^\n]*)\n(.*?)^\1$")
"""A statement or a proof in the source of a page: its fence, kind, title, and what it holds."""
SEVERAL = re.compile(r"(\w+)ies\b")
OPTION = re.compile(r"(?m)^:\w+:.*$\n?")
REFERENCE = re.compile(r"\{prf:ref\}`([^`]*)`")
BOOK = File(__file__).parents[1]
"""Where the pages of the book stand, in a clone."""
TEST = "tests/chapters/test_ledger.py::test_statements_hold_on_random_instances"


def number_in_paper(source: str) -> str:
    """The number that a paper gives to what a source names: "Theorem 1 of Deora et al. 2023"; or
    nothing."""
    found = NUMBER.search(source)
    return f"{found[2]} of {found[1]}" if found else ""


@printed
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
    def slack(self) -> float:
        """The unused share of the bound, (rhs − lhs)/|rhs|: 0 is attained, negative is violated.

        What rounding leaves of 0, which differs by processor, is 0.
        """
        # There is no share of 0: the sign of lhs alone decides.
        if self.rhs == 0:
            return 0.0 if self.lhs == 0 else (inf if self.lhs < 0 else -inf)
        # Not (rhs − lhs)/|rhs|, which is NaN for an infinite rhs.
        share = (1 - self.lhs / self.rhs) * (1 if self.rhs > 0 else -1)
        return 0.0 if abs(share) < 1e-12 else share

    @property
    def holds(self) -> bool:
        """Whether lhs ≤ rhs up to rounding. Both must be finite: an infinite bound says nothing."""
        return (
            isfinite(self.lhs)
            and isfinite(self.rhs)
            # No absolute room: a bound of 1e-30 is held to as many digits as one of 1.
            and self.lhs <= self.rhs + ROUNDING * abs(self.rhs)
        )

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        sides = [f"{side:.3g}" for side in self[:2]]
        if len(set(sides)) == 1:  # more of their digits say whether they are equal
            sides = [f"{side:.6g}" for side in self[:2]]
        finite = isfinite(self.lhs) and isfinite(self.rhs)
        relation = "≤" if self.holds else ">" if finite else "against"
        found = f"{'holds' if self.holds else 'fails'}: {f' {relation} '.join(sides)}"
        # By the longest numbers that there are: rounding is not to decide where a line ends.
        fits = len(f"{self.statement} holds: 1.23456e-17 ≤ 1.23456e-17") < 85
        return f"{self.statement}{' ' if fits else BREAK}{found}"


Checks: TypeAlias = tuple[Check, ...]
Claim: TypeAlias = Callable[..., Check | Checks]
"""Checks every claim of a statement on one instance, its arguments."""
Instance: TypeAlias = dict[str, Any]
Hypotheses: TypeAlias = dict[str, bool]
F = TypeVar("F", bound=Claim)


def _several(found: Check | Checks) -> Checks:
    return (found,) if isinstance(found, Check) else found


def _worst(checks: Iterable[Check]) -> Check:
    """A failure, or the check with the least slack; the first of several that are as good."""
    return min(checks, key=_grade)


def _grade(check):
    # Which of several rounding errors is the largest differs by processor, and so would the claim
    # that is named: they are not compared, and other slacks to the digits that rounding leaves.
    is_rounding = abs(check.rhs) <= TOLERANCE and check.slack > AMPLE
    slack = 1.0 if is_rounding else float(f"{round(check.slack, 9):.6g}")
    # A bound that is infinite or not a number has no small slack, but it fails: failures come
    # first.
    return check.holds, slack


@printed
@dataclass(frozen=True)
class Statement:
    """A numbered statement of the book with its check.

    ``assumptions`` are its hypotheses, parted by semicolons. ``function`` checks every claim of the
    statement on one instance, its arguments: a ``Check``, or a tuple with one ``Check`` for each
    claim. ``random(seed)`` makes a random instance, ``extremal`` makes instances near equality, and
    ``slack`` says what share of the right side each of these leaves unused at most, or None where
    nobody asks. ``broken(seed)`` makes an instance that violates the hypothesis named in
    ``breaks``; where that is a part of the claim, and not of the instance, ``false_claim`` checks
    the claim without it. ``hypotheses`` takes an instance, too, and says of each condition that
    numbers can violate whether it holds: one of the assumptions → bool. Each of the
    ``counterexamples`` makes an instance that violates a further one of them alone, so that the
    statement is false there, and each of ``refused`` one on which it says nothing, so that the check
    stops with an error or gives no number. ``by_proof`` names what the statement claims beyond its check: that
    rests on its proof alone.
    """

    id: str
    title: str
    source: str
    mark: str
    chapter: str
    assumptions: str
    function: Claim
    random: Callable[[int], Instance]
    extremal: tuple[Callable[[], Instance], ...] = ()
    slack: tuple[float | None, ...] = (1e-9,)
    broken: Callable[[int], Instance] | None = None
    breaks: str = ""
    false_claim: Claim | None = None
    hypotheses: Callable[..., Hypotheses] | None = None
    counterexamples: tuple[Callable[[], Instance], ...] = ()
    refused: tuple[Callable[[], Instance], ...] = ()
    by_proof: str = ""

    @property
    def number(self) -> str:
        """The number in its paper of the statement that this one is, or is the counterpart of; or
        nothing."""
        return number_in_paper(self.source)

    @property
    def text(self) -> str:
        """What it claims, and where that comes from, as the docstring of its check says it."""
        return inspect.getdoc(self.function) or ""

    @property
    def url(self) -> str:
        """The address of its page and place, where its proof stands as well, on the web, or from the
        root of a built book whose address is not known."""
        home = web_address(repository())
        known = "" if is_placeholder(repository()) else home
        return f"{known}book/{self.chapter}.html#{self.id}"

    @property
    def proof(self) -> str:
        """The proof of its page, as Markdown with formulas in TeX, other statements by their ids. It is
        empty for one that is recalled, and not proved.

        Raises FileNotFoundError where mhabook is installed without the pages of the book.
        """
        return REFERENCE.sub(r"\1", self._proof())

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the statements and definitions that its proof refers to.

        Raises as ``proof``.
        """
        return tuple(id for id in dict.fromkeys(REFERENCE.findall(self._proof())) if id != self.id)

    def _proof(self):
        page = BOOK / f"{self.chapter}.ipynb"
        if not page.is_file():
            raise FileNotFoundError(
                f"the pages of the book are not installed here: {self.id} is proved at {self.url}"
            )
        cells = json.loads(page.read_text("utf-8"))["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
        boxes = [box.groups()[1:] for box in BOX.finditer(text)]
        place = next(k for k, box in enumerate(boxes) if f":label: {self.id}\n" in box[2])
        after = [box for box in boxes[place + 1 :] if box[0] != "admonition" or _proves(box)]
        own = list(takewhile(_proves, after))
        # A proof may be that of several statements of one kind, "Proof of the four corollaries".
        shared = next((box for box in after if _proves(box)), None)
        several = SEVERAL.search(shared[1]) if shared and not own else None
        if several and self.mark != "recalled" and boxes[place][0] == f"prf:{several[1]}y":
            own = [shared]
        return "\n\n".join(
            f"{'' if title == 'Proof' else f'*{title}.* '}{OPTION.sub('', body).strip()}"
            for _, title, body in own
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """The assumptions one by one: semicolons part them."""
        return tuple(self.assumptions.split("; "))

    @property
    def test(self) -> str:
        """The name, for pytest, of the test that calls the check on random instances."""
        return f"{TEST}[{self.id}]"

    def check(self, seed: int) -> Check:
        """The worst check among the random instance of ``seed`` and the extremal ones: a failure,
        or least slack."""
        return _worst(self.every_check([seed]))

    def every_check(self, seeds: Iterable[int]) -> Iterator[Check]:
        """The check of every claim, on the random instances of several seeds and on the extremal
        ones."""
        for instance in (*map(self.random, seeds), *(make() for make in self.extremal)):
            yield from _several(self.function(**instance))

    def on(self, instance: Instance) -> Check:
        """The worst check among the statement's claims on one instance: a failure, or least
        slack."""
        return _worst(_several(self.function(**instance)))

    def twin(self, seed: int) -> Check | None:
        """The same check with one hypothesis broken, which must fail; None for a statement that has
        no twin."""
        # One failing claim is enough: not every claim needs the hypothesis that is broken.
        claim = self.false_claim or self.function
        return None if self.broken is None else _worst(_several(claim(**self.broken(seed))))

    def without(self) -> dict[str, Check]:
        """The hypothesis that a counterexample violates → the statement's check there, which must
        fail."""
        instances = [make() for make in self.counterexamples]
        return {missing(self, instance)[0]: self.on(instance) for instance in instances}


def _proves(box):
    kind, title, _ = box
    return kind == "admonition" and title.startswith("Proof")


def missing(statement: Statement, instance: Instance) -> list[str]:
    """The hypotheses that do not hold on an instance."""
    held = statement.hypotheses(**instance) if statement.hypotheses else {}
    return [name for name, holds in held.items() if not holds]


class Ledger:
    """All statements, in the order of the book: iterate, or look one up by id.

    Examples
    --------
    >>> statement = mhabook.ledger["prop-1-hessian"]
    >>> statement.mark, statement.check(seed=0).holds
    ('ours', True)
    """

    def __init__(self) -> None:
        self._statements: dict[str, Statement] = {}

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._statements.values())

    def __len__(self) -> int:
        return len(self._statements)

    def __contains__(self, id: object) -> bool:
        return id in self._statements

    def __repr__(self) -> str:
        return f"Ledger({', '.join(self._statements)})"

    def __getitem__(self, id: str) -> Statement:
        if id not in self._statements:
            raise KeyError(f"no statement {id!r}; the ledger has {', '.join(self._statements)}")
        return self._statements[id]

    def along(self, path: "Path", data: "Dataset", id: str, **arguments: Any) -> "Along":
        """Check a statement about a model and data at every recorded model of a ``Path``, with the
        ``arguments`` that it takes beside them, such as R.

        Its hypotheses are asked first. Of several claims each step shows the worst.

        Raises KeyError for an unknown id; TypeError if the statement is about something else, or
        about another kind of model; ValueError if a hypothesis does not hold.

        Examples
        --------
        >>> data = mha.data.tokenized_mixture(n=20)
        >>> path = mha.train(mha.MultiHeadAttention.zeros(2, 10, 8), data, mha.GradientDescent(1.0), 5)
        >>> mhabook.ledger.along(path, data, "prop-1-hessian").holds
        True
        """
        statement = self[id]
        names = tuple(inspect.signature(statement.function).parameters)
        if names[:2] != ("model", "data"):
            raise TypeError(
                f"{id} is about {', '.join(names)}, not about a model on data: check it by "
                f"ledger[{id!r}].on({{name: value}})"
            )
        if wrong := set(arguments) - set(names[2:]):
            raise TypeError(
                f"{id} takes no {', '.join(sorted(wrong))}; beside model and data it has {names[2:]}"
            )
        return along(path, data, partial(_covered, statement, **arguments))

    def register(self, statement: Statement) -> None:
        """Add a statement; ids are unique and marks are those of the book."""
        if statement.id in self._statements:
            raise ValueError(f"id: expected a new id, got {statement.id!r} again")
        if statement.mark not in MARKS:
            raise ValueError(f"mark: expected one of {MARKS}, got {statement.mark!r}")
        self._statements[statement.id] = statement

    def rows(self, seeds: int = 100) -> list[dict[str, Any]]:
        """One dict a statement for the book's ledger page, from ``seeds`` fresh random instances
        each."""
        return [_row(statement, seeds) for statement in self]


def _row(statement: Statement, seeds: int) -> dict[str, Any]:
    checks = list(statement.every_check(range(seeds)))
    worst = _worst(checks)
    twins = [twin for seed in range(min(seeds, 20)) if (twin := statement.twin(seed)) is not None]
    without = statement.without()
    return {
        "id": statement.id,
        "title": statement.title,
        "claim": "; ".join(dict.fromkeys(check.statement for check in checks)),
        "source": statement.source,
        "number": statement.number,
        "mark": statement.mark,
        "chapter": statement.chapter,
        "assumptions": statement.assumptions,
        "by_proof": statement.by_proof,
        "instances": seeds + len(statement.extremal),
        "holds": worst.holds,
        "slack": worst.slack,
        "breaks": statement.breaks,
        "test": statement.test,
        "twins": len(twins),
        "without": list(without),
        "twins_fail": not any(twin.holds for twin in (*twins, *without.values())),
    }


ledger: Ledger = Ledger()


def statement(**entry: Any) -> Callable[[F], F]:
    """Decorator: register the function, which returns a ``Check`` or several, as a statement of the
    book.

    Parameters are the fields of ``Statement`` other than ``function``.
    """

    def register(function: F) -> F:
        ledger.register(Statement(function=function, **entry))
        return function

    return register


@printed
class Along(NamedTuple):
    """One statement along a training path: ``lhs`` and ``rhs`` at the recorded ``steps``."""

    steps: np.ndarray
    lhs: np.ndarray
    rhs: np.ndarray
    statement: str

    @property
    def slack(self) -> np.ndarray:
        """The unused share of the bound, (rhs − lhs)/|rhs|, at every recorded step."""
        return np.array([check.slack for check in self.checks])

    @property
    def checks(self) -> list[Check]:
        """The ``Check`` of every recorded step."""
        return [
            Check(lhs, rhs, self.statement)
            for lhs, rhs in zip(self.lhs.tolist(), self.rhs.tolist(), strict=True)
        ]

    @property
    def worst(self) -> Check:
        """The check with the least slack, a failure first."""
        return _worst(self.checks)

    @property
    def holds(self) -> bool:
        """Whether it holds at every recorded step."""
        return all(self.checks)


def along(path: "Path", data: "Dataset", function: Callable[..., Check | Checks]) -> Along:
    """Check a statement, given by its function, at every recorded model of a ``Path``:
    ``along(path, data, theory.smoothness)``.

    Of several claims each step shows the worst. Hypotheses are not asked: ``ledger.along`` asks.
    """
    checks = [_worst(_several(function(model, data))) for model in path.models]
    lhs, rhs = np.array([check[:2] for check in checks]).T
    texts = dict.fromkeys(check.statement for check in checks)
    return Along(path.steps, lhs, rhs, "; ".join(texts))


def _covered(statement, model, data, **arguments):
    """The check of a statement on a model that its hypotheses cover."""
    instance = {"model": model, "data": data} | arguments
    try:
        if wrong := missing(statement, instance):
            raise ValueError(f"{statement.id} needs: {'; '.join(wrong)}. This does not hold here")
        return statement.function(**instance)
    except AttributeError as error:
        about = inspect.signature(statement.function).parameters["model"].annotation
        known = getattr(about, "__name__", str(about))
        if type(model).__name__ == known:
            raise
        raise TypeError(
            f"model: {statement.id} is about {known}, got {type(model).__name__}"
        ) from error
