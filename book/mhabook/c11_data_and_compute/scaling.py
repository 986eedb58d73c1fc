"""Chapter 11: the law of data and compute, a ρ^K + φ/n: fitted with uncertainty, and turned around
into a plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log, log1p
from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import Array, require_count, require_seed
from mhabook.c11_data_and_compute.statements import CHAPTER
from mhabook.ledger import Check, Checks, statement


@dataclass(frozen=True)
class Law:
    """The mean excess after K steps on n samples, a ρ^K + φ/n.

    ``amplitude`` a > 0 belongs to the start, ``factor`` 0 < ρ < 1 to the algorithm, ``floor`` φ > 0
    to the data. Call it: ``law(K, n)``; n = inf is infinitely many samples. Raises ValueError if a
    number is outside of its range.

    Source: this book, after the abstract of Goel et al. 2026, which states the shape.
    """

    amplitude: float
    factor: float
    floor: float

    def __post_init__(self) -> None:
        for name, value, most in (
            ("amplitude", self.amplitude, inf),
            ("factor", self.factor, 1),
            ("floor", self.floor, inf),
        ):
            if not 0 < value < most:
                raise ValueError(
                    f"{name}: expected a number above 0 and below {most}, got {value!r}"
                )

    def __call__(self, K: float | Array, n: float | Array) -> Any:
        return self.amplitude * self.factor ** np.asarray(K, float) + self.floor / np.asarray(
            n, float
        )

    def samples(self, target: float, K: int) -> float:
        """The fewest samples with which K steps reach ``target``; inf if no number does."""
        left = target - self.amplitude * self.factor**K
        if not left > 0:
            return inf
        return _least(max(1, ceil(self.floor / left)), 1, lambda n: self(K, n) <= target)

    def steps(self, target: float, n: float) -> int:
        """The fewest steps with which n samples reach ``target``; inf if no number does."""
        left = target - self.floor / n
        if not left > 0:
            return inf
        return _least(
            max(0, ceil(log(self.amplitude / left) / -log(self.factor))),
            0,
            lambda K: self(K, n) <= target,
        )


def _least(number, lowest, enough):
    """The least whole number ≥ ``lowest`` that is ``enough``, near ``number``, which rounding may
    put far off.

    Strides that double enclose it, then halves find it: where the floor is left a rounding error of
    the target, the formula misses by a share of the number, and single steps would not end.
    """
    high, stride = number, 1
    while not enough(high):
        high, stride = high + stride, 2 * stride
    low, stride = high - 1, 1
    while low >= lowest and enough(low):
        high, low, stride = low, low - stride, 2 * stride
    low = max(low, lowest - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class Fit(NamedTuple):
    """A fitted ``law``, with the fits to resampled seeds (draws, 3), and the root mean square of
    ln(excess/law)."""

    law: Law
    draws: np.ndarray
    misfit: float

    def interval(self, name: str, level: float = 0.9) -> tuple[float, float]:
        """The central interval of ``level`` of the resampled fits: of amplitude, factor or
        floor."""
        if name not in ("amplitude", "factor", "floor"):
            raise ValueError(f"name: expected amplitude, factor or floor, got {name!r}")
        column = self.draws[:, ("amplitude", "factor", "floor").index(name)]
        low, high = np.quantile(column, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def fit_law(
    steps: Sequence[int] | Array, n: Array, excess: Array, *, resamples: int = 200, seed: int = 0
) -> Fit:
    """The ``Law`` nearest to measured excesses: least squares in the logarithm of the mean over
    seeds.

    The same is done for ``resamples`` resamplings of the seeds, with replacement and the same seeds
    at every n: a bootstrap, which knows that the errors along one run belong together.

    Parameters
    ----------
    steps : (k,) steps that were recorded, at least two; from where the law is meant to hold
    n : (m,) numbers of samples
    excess : (seeds, m, k) positive numbers
    resamples, seed : how many resamplings, and what fixes them

    Raises ValueError if shapes do not fit, numbers are not positive and finite, or three numbers of
    the law cannot be told apart.

    Source: this book.
    """
    steps, n, excess = (np.asarray(a, float) for a in (steps, n, excess))
    require_count(resamples=resamples)
    require_seed(seed)
    if excess.ndim != 3 or excess.shape[1:] != (*n.shape, *steps.shape):
        raise ValueError(
            f"excess: expected shape (seeds, {n.size}, {steps.size}), got {excess.shape}"
        )
    _require_positive("excess", excess)
    if len(np.unique(steps)) < 2 or excess[0].size < 3:
        raise ValueError(
            f"steps: expected two different ones or more, and three numbers a seed, got "
            f"{steps.size} steps and {n.size} sizes"
        )
    chosen = np.random.default_rng([seed, 115]).integers(len(excess), size=(resamples, len(excess)))
    # Row 0 is the measurement itself and the others are resamples: all are fitted side by side.
    means = np.concatenate([excess.mean(axis=0)[None], excess[chosen].mean(axis=1)])
    found, misfit = _least_squares(steps, n, np.log(means))
    return Fit(Law(*map(float, found[0])), found[1:], float(misfit[0]))


def _require_positive(name, numbers):
    odd = numbers[~(np.isfinite(numbers) & (numbers > 0))]
    if odd.size:
        raise ValueError(
            f"{name}: expected positive finite numbers, got {odd[0]:.3g} among them; a run that "
            "diverged follows no law"
        )


def _least_squares(steps, n, logs, rounds=80):
    """(fits, 3) numbers a, ρ, φ of the laws nearest to ``logs`` (fits, m, k), and the misfit;
    Levenberg–Marquardt.

    The unknowns are ln a, ln(−ln ρ) and ln φ, so that every value of them is a law.
    """

    def model(t):
        run = t[:, 0, None, None] - np.exp(t[:, 1])[:, None, None] * steps
        end = t[:, 2, None, None] - np.log(n)[:, None]
        # ln(a ρ^K + φ/n) of logarithms, since a ρ^K may be too small for a float.
        total = np.logaddexp(run, end)
        share = np.exp(run - total)
        slow = -share * np.exp(t[:, 1])[:, None, None] * steps
        return logs - total, np.stack([share, slow, 1 - share], axis=-1).reshape(len(t), -1, 3)

    flat = (len(logs), -1)
    last = (logs[:, :, -1] + np.log(n)).mean(axis=1)
    rate = np.full(len(logs), 0.5)
    t = np.stack([logs[:, :, 0].max(axis=1) + rate * steps[0], np.log(rate), last], axis=1)
    damping, (away, slopes) = np.full(len(t), 1e-2), model(t)
    for _ in range(rounds):
        J = slopes.mT @ slopes
        # Marquardt's scaling; 1e-12 keeps J regular where one part of the law has no share in the
        # excess, so that its column vanishes.
        J = J + damping[:, None, None] * (np.eye(3) * J + 1e-12 * np.eye(3))
        move = np.linalg.solve(J, slopes.mT @ away.reshape(*flat)[:, :, None])[:, :, 0]
        # At most a factor e² a round: a long step from a poor start would leave the range of exp.
        new = t + np.clip(move, -2, 2)
        away_, slopes_ = model(new)
        better = (away_**2).sum(axis=(1, 2)) <= (away**2).sum(axis=(1, 2))
        t = np.where(better[:, None], new, t)
        away, slopes = (
            np.where(better[:, None, None], away_, away),
            np.where(better[:, None, None], slopes_, slopes),
        )
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-12, 1e12)
    found = np.stack([np.exp(t[:, 0]), np.exp(-np.exp(t[:, 1])), np.exp(t[:, 2])], axis=1)
    return found, np.sqrt((away**2).mean(axis=(1, 2)))


class Slope(NamedTuple):
    """The power of n with which a mean falls, and its standard error over resampled seeds."""

    value: float
    error: float


def slope(n: Sequence[int] | Array, values: Array, *, resamples: int = 400, seed: int = 0) -> Slope:
    """The slope of ln(mean over seeds) of ``values`` (seeds, m) in ln n, by least squares, with a
    bootstrap error."""
    n, values = np.asarray(n, float), np.asarray(values, float)
    if values.ndim != 2 or values.shape[1:] != n.shape or len(np.unique(n)) < 2:
        raise ValueError(
            f"values: expected shape (seeds, m) for m ≥ 2 sizes, got {values.shape} for n of "
            f"{n.shape}"
        )
    _require_positive("values", values)
    chosen = np.random.default_rng([seed, 116]).integers(len(values), size=(resamples, len(values)))
    # Centered, so that the logarithms of the means need no intercept.
    at = np.log(n) - np.log(n).mean()
    slopes = (
        np.log(np.concatenate([values.mean(axis=0)[None], values[chosen].mean(axis=1)]))
        @ at
        / (at @ at)
    )
    return Slope(float(slopes[0]), float(slopes[1:].std(ddof=1)))


class Plan(NamedTuple):
    """``n`` samples and ``steps`` steps, the ``excess`` that the law promises, and what it costs,
    steps · n^power."""

    n: int
    steps: int
    excess: float
    cost: float


def plan(
    target: float, law: Law, *, power: float = 2, n: int | None = None, steps: int | None = None
) -> Plan:
    """The cheapest whole numbers n and K ≥ 1 with a ρ^K + φ/n ≤ ``target``, at a cost of K n^power.

    Parameters
    ----------
    target : the excess that is to be reached, > 0
    law : a ``Law``; the plan is worth what the law is worth at n and K
    power : a step of full attention costs n², one on a fixed number of queries n
    n, steps : one of the two if it is given; the least of the other is found

    Raises ValueError if no plan reaches the target, with the least n or K that could; or an
    argument does not fit.

    Source: this book.
    """
    if not (isinstance(target, (int, float, np.number)) and 0 < target < inf):
        raise ValueError(f"target: expected a number above 0, got {target!r}")
    if not 0 < power < inf:
        raise ValueError(f"power: expected a number above 0, got {power!r}")
    if n is not None and steps is not None:
        raise ValueError(
            f"n, steps: expected one of them or none, got both; the law says {law(steps, n):.3g}"
        )
    if n is not None:
        return _with_samples(target, law, power, n)
    if steps is not None:
        return _with_steps(target, law, power, steps)
    # ``least``: with fewer than φ/ε samples no number of steps reaches the target.
    best, K, least = None, 1, max(1.0, law.floor / target)
    while best is None or K * least**power < best.cost:  # no plan with K steps or more is cheaper
        needed = law.samples(target, K)
        if needed < inf and (best is None or K * needed**power < best.cost):
            best = _plan(law, needed, K, power)
        K += 1
    return best


def _plan(law, n, K, power):
    return Plan(int(n), int(K), float(law(K, n)), float(K * n**power))


def _with_samples(target, law, power, n):
    require_count(n=n)
    if law.floor / n >= target:
        raise ValueError(
            f"n: {n} samples never reach {target:.3g}, their floor is {law.floor / n:.3g}; "
            f"take at least {floor(law.floor / target) + 1}"
        )
    return _plan(law, n, max(1, law.steps(target, n)), power)


def _with_steps(target, law, power, steps):
    require_count(steps=steps)
    if law.amplitude * law.factor**steps >= target:
        raise ValueError(
            f"steps: {steps} steps never reach {target:.3g}, with any number of samples they "
            f"leave {law.amplitude * law.factor**steps:.3g}; take at least "
            f"{max(1, law.steps(target, inf))}"
        )
    return _plan(law, law.samples(target, steps), steps, power)


def split(target: float, law: Law, power: float = 2) -> tuple[float, float, float]:
    """The cheapest real n and K, and the share of the target that the floor has there.

    At the optimum floor/rest = power · K ln(1/ρ). Raises ValueError unless 0 < target < a:
    otherwise no step is needed.

    Source: this book.
    """
    if not 0 < target < law.amplitude:
        raise ValueError(
            f"target: expected a number in (0, a), here a = {law.amplitude:.3g}, got {target!r}"
        )
    # x = floor/rest is the one root of x − power · ln((1 + x) a/target): in x, and not in 1 + x,
    # since x may be tiny.
    start = log1p((law.amplitude - target) / target)
    low, high = 0.0, max(2.0, 2.0 * power)
    while high < power * (start + log1p(high)):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if middle > power * (start + log1p(middle)) else (middle, high)
    share = high / (1 + high)
    return law.floor / (share * target), (start + log1p(high)) / -log(law.factor), share


def _priced(seed):
    rng = np.random.default_rng([seed, 117])
    law = Law(
        float(np.exp(rng.uniform(-1, 4))), rng.uniform(0.3, 0.97), float(np.exp(rng.uniform(-2, 3)))
    )
    return {
        "law": law,
        "target": law.amplitude * float(np.exp(-rng.uniform(0.5, 12))),
        "power": rng.uniform(0.5, 3),
        "share": rng.uniform(0.02, 0.98),
    }


def _cheapest(seed=1):
    instance = _priced(seed) | {"power": 2.0}
    return instance | {"share": split(instance["target"], instance["law"], 2.0)[2]}


def _mispriced(seed):
    instance = _priced(seed)
    return instance | {
        "power": 1.0,
        "assumed": 3.0,
        "share": split(instance["target"], instance["law"], 1.0)[2],
    }


def _can_be_planned(law, target, power, share, assumed=None):
    return {
        "a run costs Kn^q": assumed in (None, power),
        "q > 0": power > 0,
        "a > 0": law.amplitude > 0,
        "φ > 0": law.floor > 0,
        "0 < ρ < 1": 0 < law.factor < 1,
        "0 < ε < a": 0 < target < law.amplitude,
        "all real n, K > 0 with aρ^K + φ/n = ε": 0 < share < 1,
    }


@statement(
    id="prop-plan",
    title="The cheapest plan",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="a run costs Kn^q; q > 0; a > 0; φ > 0; 0 < ρ < 1; 0 < ε < a; "
    "all real n, K > 0 with aρ^K + φ/n = ε",
    by_proof="no other pair is as cheap",
    random=_priced,
    extremal=(_cheapest,),
    broken=_mispriced,
    hypotheses=_can_be_planned,
    breaks="a run costs Kn^q: planned with q = 3, paid with q = 1",
    counterexamples=(lambda: _priced(0) | {"power": -1.0},),
    refused=(
        lambda: (drawn := _priced(0)) | {"target": 2 * drawn["law"].amplitude},
        lambda: _priced(0) | {"share": 1.0},
    ),
)
def cheapest_plan(
    law: Law, target: float, power: float, share: float, assumed: float | None = None
) -> Checks:
    """No pair (n, K) that reaches the target costs less than the one at which floor/rest = q K
    ln(1/ρ).

    lhs is that cost, over the cost of the pair at which the floor has the ``share`` of the target.
    The second check has the relative error of floor/rest there, the third that of the excess, both
    with rhs 1e-9. Source: this book.
    """
    n, K, _ = split(target, law, power if assumed is None else assumed)
    n_other = law.floor / (share * target)
    K_other = (log1p((law.amplitude - target) / target) - log1p(-share)) / -log(law.factor)
    # n^q alone may be no number
    dearer = float(np.exp(log(K / K_other) + power * log(n / n_other)))
    ratio = law.floor / n / (law.amplitude * law.factor**K)
    return (
        Check(dearer, 1.0, "K*(n*)^q ≤ K n^q on the curve of equal excess"),
        Check(abs(ratio / (power * K * -log(law.factor)) - 1), 1e-9, "(φ/n)/(a ρ^K) = q K ln(1/ρ)"),
        Check(abs(float(law(K, n)) / target - 1), 1e-9, "a ρ^K + φ/n = ε"),
    )
