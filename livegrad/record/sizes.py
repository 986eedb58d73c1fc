"""The sizes of a recorded formula as names: one program for all of them.

A formula is recorded twice, with two sets of prime sizes. Where the two records have other numbers,
the number is a product of powers of sizes, and the program says which: ``n * T``, ``1 / (n √H)``.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from livegrad.record.trace import HIDDEN, Node, Traced, Untraceable, topological

PRIMES = (11, 7, 5, 3, 13, 19, 17), (23, 13, 17, 5, 29, 31, 37)
"""Two values for each size of a program, so different that no product of some is one of others."""


class Sizes:
    """The names of sizes: what the numbers of a record are, given a second record with other sizes.

    Raises Untraceable, naming file and line, where the two differ in more than numbers, or a number
    is no product of powers of sizes.

    Parameters
    ----------
    one, two : the same results, recorded with other sizes
    sizes : the name of a size and its two values
    """

    def __init__(
        self, one: Sequence[Traced], two: Sequence[Traced], sizes: Mapping[str, tuple[float, float]]
    ) -> None:
        self._names = list(sizes)
        self._values = np.log(np.array(list(sizes.values()), dtype=float).T)
        self.loops: dict[Node, list[str]] = {}
        self.numbers: dict[Node, str] = {}
        self.named: dict[str, str] = {}
        """Text of a number that depends on sizes → its name."""
        for v, w in itertools.zip_longest(
            *(topological(x.node for x in record) for record in (one, two))
        ):
            if not (
                v
                and w
                and (v.f, v.out, v.over, len(v.loops)) == (w.f, w.out, w.over, len(w.loops))
                and [index for _, index in v.args] == [index for _, index in w.args]
            ):
                raise Untraceable(
                    f"{(v or w).line}: expected the same steps for all sizes, got a loop over a "
                    "size, or a place that depends on one"
                )
            # A length is a product of whole powers; a number may be a quotient or a root, too.
            self.loops[v] = [
                self.text(a, b, v, (0, 1, 2)) for a, b in zip(v.loops, w.loops, strict=True)
            ]
            if v.f == "number":
                text = self.text(v.detail, w.detail, v, (-1, -0.5, 0, 0.5, 1))
                self.numbers[v] = (
                    # A literal has no blank; what depends on sizes is computed once, under a name.
                    self.named.setdefault(text, f"number{len(self.named)}") if " " in text else text
                )
            elif v.f == "constant" and not np.array_equal(v.detail, w.detail, equal_nan=True):
                raise Untraceable(f"{v.line}: expected the same array for all sizes")

    @cache  # noqa: B019 - lives as long as the record
    def _products(self, powers):
        """All products of powers, the simple ones first: their exponents, and their logarithms at
        both sets of sizes."""
        exponents = np.array(list(itertools.product(powers, repeat=len(self._names))))
        exponents = exponents[np.argsort(np.abs(exponents).sum(axis=1), kind="stable")]
        return exponents, *(exponents @ logs for logs in self._values)

    def text(self, a: float, b: float, node: Node, powers: Sequence[float]) -> str:
        """The text of a number that is a at the first sizes and b at the second.

        The quotient a/b decides: it is that of the same product of powers at the two sets of sizes,
        and these are primes, so that no two products have the same. In logarithms products are
        sums, whose rounding stays far below 1e-12, and the quotients are farther apart than that.
        """
        # `is` for NaN, which does not equal itself.
        if a is b or a == b:
            return literal(a)
        if not self._names:
            raise Untraceable(
                f"{node.line}: the number {a} is {b} when the formula is asked again: {HIDDEN}"
            )
        exponents, first, second = self._products(powers)
        fits = (
            np.abs(np.log(abs(a)) - first - np.log(abs(b)) + second) < 1e-12
            # Sizes are > 0, so a number that changes its sign or vanishes is no product of them.
            if a * b > 0
            else np.zeros(1)
        )
        # A length has no factor beside its sizes, so the product has to be the length itself.
        if isinstance(a, int):
            fits = fits & (np.abs(np.log(a) - first) < 1e-12)
        if not fits.any():
            raise Untraceable(
                f"{node.line}: the number {a} is {b} with other sizes, which is no product of "
                f"powers of {', '.join(self._names)}"
            )
        best = exponents[np.argmax(fits)]
        factor = a / float(np.exp(best @ self._values[0]))
        if isinstance(a, int):
            return " * ".join(
                [name for name, e in zip(self._names, best, strict=True) for _ in range(int(e))]
            )
        # exp and log leave an error in the last digits, which a factor such as 0.5 is not to show.
        short = float(f"{factor:.14g}")
        factor = short if abs(short / factor - 1) < 1e-14 else factor
        return f"{factor!r}" + "".join(
            f" {'*' if e > 0 else '/'} {name if step == 1 else f'root({name})'}"
            for name, e in zip(self._names, best, strict=True)
            for step in [1] * int(abs(e)) + [0.5] * int(2 * abs(e) % 2)
        )


def literal(number: float) -> str:
    """A number as C++ and JavaScript read it."""
    # By a division, because the two languages have no literal in common.
    infinite = {np.inf: "(1/0.)", -np.inf: "(-1/0.)"}
    return infinite.get(number) or (
        # A negative number in parentheses: behind a minus it would make a decrement.
        "(0/0.)" if number != number else f"({number!r})" if number < 0 else repr(number)
    )


class Place(NamedTuple):
    """Where an array lies that is part of a longer one: the name and length of that, where it
    begins, its strides."""

    buffer: str
    length: str
    begin: str
    strides: Sequence[str]

    def only(self, kept: Sequence[bool]) -> "Place":
        """The same of an array without some of its axes, which have length 1."""
        strides = [stride for stride, is_kept in zip(self.strides, kept, strict=True) if is_kept]
        return self._replace(strides=strides)

    def index(self, shape: Sequence[int], sizes: Mapping[str, float]) -> np.ndarray:
        """Where each entry of an array of this shape lies in the longer one, given the values of
        sizes."""
        at = np.full(shape, self.value(self.begin, sizes))
        for axis, stride in enumerate(self.strides):
            steps = np.arange(shape[axis]) * self.value(stride, sizes)
            at += steps.reshape([-1 if k == axis else 1 for k in range(len(shape))])
        return at

    @staticmethod
    def value(text: str, sizes: Mapping[str, float]) -> int:
        """What a length or a stride is: a sum of products of sizes."""
        return int(eval(text, {"__builtins__": {}}, dict(sizes)))
