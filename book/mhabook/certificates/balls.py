"""Ball arithmetic: branch and bound, interval Newton, and polynomial identities."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from mhabook.certificates.registry import NotCertified, flint

Ball: TypeAlias = Any
"""A ``flint.arb``: all reals within its radius of its midpoint."""
Side: TypeAlias = tuple[Fraction, Fraction]
SMALLEST = Fraction(1, 2**40)
"""A part of a box that is shorter is not split."""
MOST = 100_000
"""As many parts of a box are looked at."""


def ball(number: Any) -> Ball:
    """The ball of a fraction, or of a whole number."""
    number = Fraction(number)
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def hull(side: Side) -> Ball:
    """A ball that holds all numbers between two fractions."""
    left, right = map(ball, side)
    return left.union(right)


def require(is_certain: Any, words: str) -> None:
    """Raise NotCertified, with these words, unless something is certain."""
    if not is_certain:
        raise NotCertified(words)


def everywhere(holds: Callable[..., Any], *box: Side) -> None:
    """Branch and bound: split a box in halves until ``holds`` is certain on every part.

    Raises NotCertified where it is not.
    """
    parts, looked = [box], 0
    while parts:
        part, looked = parts.pop(), looked + 1
        if holds(*map(hull, part)):
            continue
        k = max(range(len(part)), key=lambda k: part[k][1] - part[k][0])
        left, right = part[k]
        if right - left < SMALLEST or looked > MOST:
            raise NotCertified(f"near {', '.join(f'{float(side[0]):.6g}' for side in part)}")
        middle = (left + right) / 2
        parts += [(*part[:k], half, *part[k + 1 :]) for half in ((left, middle), (middle, right))]


Curve: TypeAlias = Callable[[Ball], Ball]


def roots(f: Curve, slope: Curve, left: Fraction, right: Fraction) -> list[Ball]:
    """Every zero of f between two fractions, each in a ball that holds no other: where f is not
    certainly different from 0, it is monotone.

    Raises NotCertified where a zero is double, or at the end of a part.
    """
    parts, found, looked = [(left, right)], [], 0
    while parts:
        (left, right), looked = parts.pop(), looked + 1
        x = hull((left, right))
        if f(x) != 0:
            continue
        if slope(x) != 0:
            ends = f(ball(left)), f(ball(right))
            require(all(end != 0 for end in ends), f"a zero at the edge of {x}")
            if (ends[0] > 0) != (ends[1] > 0):
                found.append(_newton(f, slope, x))
            continue
        require(right - left > SMALLEST and looked < MOST, f"a double zero near {x}")
        # Not in halves: o′ is exactly 0 at 0 in the tasks of chapter 14.
        middle = left + (right - left) * Fraction(4, 9)
        parts += [(left, middle), (middle, right)]
    return sorted(found, key=lambda x: float(x.mid()))


def _newton(f, slope, x):
    """The interval Newton method around the one zero in x."""
    for _ in range(60):
        middle = x.mid()
        x = x.intersection(middle - f(middle) / slope(x))
    return x


def identical(f: Callable[..., Any], *degrees: int) -> bool:
    """Whether a polynomial of at most these degrees in its variables is zero: it is if it vanishes
    on a grid that has one point more than the degree each way."""
    return not any(f(*map(Fraction, at)) for at in product(*(range(1, k + 2) for k in degrees)))


def near(found: Ball, claimed: str, factor: Fraction, words: str) -> None:
    """Require that a ball lies within one unit of the last digit of a claimed decimal."""
    _, _, digits = claimed.partition(".")
    off = abs(found - ball(Fraction(claimed) * factor))
    require(off < ball(Fraction(1, 10 ** len(digits))), f"{words} is {found.str(8, radius=False)}")
