"""Step sizes that change along a run: functions of the step, to be given to a rule as its ``lr``.

``GradientDescent(lr=Cosine(0.1, steps=500))`` takes 500 steps whose size falls from 0.1 to zero.
Every rule takes them, and every function of the step k = 0, 1, 2, … that returns numbers ≥ 0 is one
as well. Two are multiplied step by step: ``Warmup(1.0, rise=50) * Cosine(0.1, steps=500)`` rises
first and falls from 0.1.
"""

from dataclasses import dataclass
from math import pi
from typing import Any, NoReturn

from livegrad.arrays import is_positive, of_numbers, require_count, require_number, shown


class _Factor:
    """What schedules share: two of them can be multiplied."""

    def __call__(self, k: int) -> float:
        """The step size of step k = 0, 1, …"""
        raise NotImplementedError

    def __mul__(self, other: "_Factor") -> "_Product":
        if not isinstance(other, _Factor):
            raise TypeError(
                "*: expected two schedules, such as Warmup(1.0, rise=50) * Cosine(0.1, steps=500), "
                f"got a {type(self).__name__.strip('_')} and {shown(other)}; a number belongs "
                "into peak"
            )
        return _Product(self, other)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> NoReturn:
        raise TypeError(
            "+: expected *, because schedules are multiplied step by step, as in Warmup(1.0, rise=50) "
            f"* Cosine(0.1, steps=500), got {self!r} + {shown(other)}"
        )

    __radd__ = __add__


@dataclass(frozen=True, repr=False)
class _Product(_Factor):
    """The product of two schedules, step by step."""

    one: _Factor
    other: _Factor

    def __call__(self, k: int) -> float:
        return self.one(k) * self.other(k)

    def __repr__(self) -> str:
        return f"{self.one!r} * {self.other!r}"


@dataclass(frozen=True)
class _Schedule(_Factor):
    """What the schedules with a name share: a peak, which is a positive number."""

    peak: float

    def __post_init__(self) -> None:
        if not is_positive(self.peak):
            raise ValueError(f"peak: expected a positive number, got {shown(self.peak)}")


@dataclass(frozen=True)
class InverseRoot(_Schedule):
    """A step size that falls like one over the root of the step: η_k = peak / √(k + 1)."""

    def __call__(self, k: int) -> float:
        """The step size of step k = 0, 1, …"""
        return self.peak / (k + 1) ** 0.5


@dataclass(frozen=True)
class Warmup(_Schedule):
    """A step size that rises on a straight line to its peak, and stays: η_k = peak · min((k +
    1)/rise, 1).

    ``rise`` is a number of steps, a whole one; that of ``OneCycle`` is a share.

    Raises ValueError if peak is no positive number, or rise no whole number ≥ 1.
    """

    rise: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count(rise=self.rise)

    def __call__(self, k: int) -> float:
        """The step size of step k = 0, 1, …; ``peak`` from k = rise − 1 on."""
        # ``of_numbers``, here and below, since k may be a record: a page's schedules are these
        # lines.
        return self.peak * of_numbers(k).minimum((k + 1) / self.rise, 1)


@dataclass(frozen=True)
class Cosine(_Schedule):
    """A step size that falls to zero on half a period of the cosine: η_k = peak · (1 + cos(π
    k/steps))/2.

    Source: Loshchilov and Hutter 2017, without restarts.
    """

    steps: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count(steps=self.steps)

    def __call__(self, k: int) -> float:
        """The step size of step k = 0, 1, …; zero from k = steps on."""
        xp = of_numbers(k)
        return self.peak * (1 + xp.cos(pi * xp.minimum(k / self.steps, 1))) / 2


@dataclass(frozen=True)
class OneCycle(_Schedule):
    """A step size for ``lr`` that rises once and falls once, on two straight lines.

    It begins at peak/25, is ``peak`` after the share ``rise`` of the ``steps``, and ends at
    peak/250,000. The rise must take more than one step, so 0.1 is for more than ten; that of
    ``Warmup`` is a number of steps.

    Raises ValueError if peak is no positive number, steps no whole number ≥ 2, or rise · steps does
    not lie between 1 and steps.

    Source: Smith and Topin 2019, with the constants of PyTorch's OneCycleLR.

    Examples
    --------
    >>> rate = lg.OneCycle(peak=1.0, steps=100, rise=0.1)
    >>> [round(rate(k), 3) for k in (0, 10, 55, 99)]
    [0.04, 0.989, 0.489, 0.0]
    """

    steps: int
    rise: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count(steps=self.steps)
        if self.steps < 2:
            raise ValueError(f"steps: expected a whole number ≥ 2, got {shown(self.steps)}")
        require_number("rise", self.rise, above=0, below=1)
        # ``top`` below would be 0 or less, and the rise divides by it.
        if self.rise * self.steps <= 1:
            raise ValueError(
                f"rise: expected a share of the steps between one step and all, got "
                f"{self.rise!r} of {self.steps} steps, which is {self.rise * self.steps:g}"
            )

    def __call__(self, k: int) -> float:
        """The step size of step k = 0, 1, …, steps − 1."""
        top, last = self.rise * self.steps - 1, self.steps - 1
        low, end = self.peak / 25, self.peak / 250_000
        xp = of_numbers(k)
        fall = xp.minimum((k - top) / (last - top), 1)
        # Not ``if``: a comparison that is recorded has no truth value to branch on.
        return xp.where(
            k <= top, low + (self.peak - low) * k / top, self.peak + (end - self.peak) * fall
        )
