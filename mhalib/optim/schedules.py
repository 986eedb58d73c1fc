"""Step sizes that change along a run: functions of the step, to be given to a rule as its ``lr``.

``GradientDescent(lr=Cosine(0.1, steps=500))`` takes 500 steps whose size falls from 0.1 to zero. Every rule takes them,
and every function of the step k = 0, 1, 2, … that returns numbers ≥ 0 is one as well.
"""

from dataclasses import dataclass
from math import cos, pi

from mhalib.optim.rules import require_rate


@dataclass(frozen=True)
class _Schedule:
    """What the schedules share: a peak, which is a positive number."""

    peak: float

    def __post_init__(self):
        require_rate(self.peak)
        if callable(self.peak):
            raise ValueError(f"peak: expected a positive number, got {self.peak!r}")


def _require_steps(name, steps):
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"{name}: expected a whole number ≥ 1, got {steps!r}")


@dataclass(frozen=True)
class InverseRoot(_Schedule):
    """A step size that falls like one over the root of the step: η_k = peak / √(k + 1)."""

    def __call__(self, k):
        """The step size of step k = 0, 1, …"""
        return self.peak / (k + 1) ** 0.5


@dataclass(frozen=True)
class Warmup(_Schedule):
    """A step size that rises on a straight line to its peak, and stays: η_k = peak · min((k + 1)/rise, 1)."""

    rise: int

    def __post_init__(self):
        super().__post_init__()
        _require_steps("rise", self.rise)

    def __call__(self, k):
        """The step size of step k = 0, 1, …; ``peak`` from k = rise − 1 on."""
        return self.peak * min((k + 1) / self.rise, 1)


@dataclass(frozen=True)
class Cosine(_Schedule):
    """A step size that falls to zero on half a period of the cosine: η_k = peak · (1 + cos(π k/steps))/2.

    Source: Loshchilov and Hutter 2017, without restarts.
    """

    steps: int

    def __post_init__(self):
        super().__post_init__()
        _require_steps("steps", self.steps)

    def __call__(self, k):
        """The step size of step k = 0, 1, …; zero from k = steps on."""
        return self.peak * (1 + cos(pi * min(k / self.steps, 1))) / 2
