"""``certificate``: the decorator, and the certificates in the order in which they are registered."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

try:
    import flint as _flint
except ImportError:  # reading the book, and fractions alone, need no balls
    _flint = None
flint: Any = _flint

Find: TypeAlias = Callable[[Fraction], str]
LEAVES = "Not covered: "
"""Begins the paragraph of a docstring that says what a certificate leaves open."""
PRECISION = 160
"""Bits of the midpoint of a ball."""
LESS, MORE = Fraction(99, 100), Fraction(101, 100)
"""A constant that is better by 1 %, if a smaller one claims more, and if a larger one does."""


class NotCertified(Exception):
    """A claim is false, or not certain within the work that a certificate does."""


@dataclass(frozen=True)
class Certificate:
    """What is certain of the statement ``id``, for all of ``on``.

    ``find`` takes a factor for the constants of the claim, 1 for the claim itself, and returns the
    value in words, or raises ``NotCertified``. With the factor ``better`` it claims 1 % more. One
    that is ``exact`` computes with fractions alone.
    """

    id: str
    on: str
    find: Find
    better: Fraction
    exact: bool

    @property
    def covers(self) -> str:
        """What is certified: the first paragraph of the docstring of ``find``."""
        return self._paragraphs()[0]

    @property
    def leaves(self) -> str:
        """What of the statement is not covered: the second one."""
        return self._paragraphs()[1].removeprefix(LEAVES)

    def _paragraphs(self):
        text = inspect.getdoc(self.find) or ""
        return [" ".join(one.split()) for one in text.split("\n\n")]

    def certify(self, factor: Fraction = Fraction(1)) -> str:
        """The value, computed anew, with the constants of the claim times ``factor``.

        Raises NotCertified; ImportError if it needs python-flint, and that is not installed.
        """
        if self.exact:
            return self.find(factor)
        if flint is None:
            raise ImportError(
                "flint: this certificate needs python-flint, which is not installed; "
                "`make certify` installs it"
            )
        with flint.ctx.workprec(PRECISION):
            return self.find(factor)


certificates: dict[str, Certificate] = {}
"""Statement → its certificate."""


def certificate(
    id: str, on: str, *, better: Fraction = MORE, exact: bool = False
) -> Callable[[Find], Find]:
    """Decorator: register the function as the certificate of a statement."""

    def register(find: Find) -> Find:
        certificates[id] = Certificate(id, on, find, better, exact)
        return find

    return register
