"""Chapter 16: how loud an attention layer is at the start, and what a test set can tell of two
networks."""

from itertools import product
from math import comb, log, sqrt

import numpy as np

from livegrad.arrays import Array
from mhabook.c01_model.instances import between
from mhabook.c12_two_kernels.statements import Kernel
from mhabook.ledger import Check, Checks, statement
from mhalib.attention import gaussian, softmax

CHAPTER, FURTHER = "kernels/16_text_and_pathfinder", "kernels/16_further"


def mean_weight(sigma: float, d: int, c: float = 0.5) -> float:
    """(1 + 4cσ²/√d)^{−d/2}, the mean of exp(−c‖q − k‖²/√d) over independent q, k ~ N(0, σ² I_d);
    numbers or arrays."""
    return (1 + 4 * c * sigma**2 / d**0.5) ** (-d / 2)


def _pairs(seed):
    rng = np.random.default_rng([seed, 160])
    return {"sigma": rng.uniform(0.1, 3), "d": int(rng.integers(1, 65)), "c": rng.uniform(0.1, 2)}


def summed_weight(sigma: float, d: int, c: float, tied: float = 0.0) -> float:
    """The mean of exp(−c‖q − k‖²/√d): a sum over one coordinate of q − k, of variance 2σ²(1 −
    tied), to the power d."""
    # For a smooth function that is zero at both ends a plain sum with equal steps is exact to
    # rounding.
    x, step = np.linspace(-12, 12, 4001, retstep=True)
    density = np.exp(-(x**2) / 2) * step / (2 * np.pi) ** 0.5
    return (density * np.exp(-2 * c * (1 - tied) * (sigma * x) ** 2 / d**0.5)).sum() ** d


@statement(
    id="prop-mean-weight",
    title="The mean weight of a random query and key",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="q and k independent; N(0, σ² I_d)",
    random=_pairs,
    broken=lambda seed: _pairs(seed) | {"tied": 0.5},
    breaks="independence: half of a query is its key",
    hypotheses=lambda tied=0.0, **_: {"q and k independent": tied == 0},
)
def mean_of_weights(sigma: float, d: int, c: float, tied: float = 0.0) -> Checks:
    """E exp(−c‖q − k‖²/√d) = (1 + 4cσ²/√d)^{−d/2}; the mean of the square is the same with 2c in
    place of c.

    lhs is the relative error of ``summed_weight``, rhs 1e-9.  Source: this book.
    """
    claims = {
        "E exp(−c‖q − k‖²/√d) = (1 + 4cσ²/√d)^{−d/2}": c,
        "E of the square: 2c in place of c": 2 * c,
    }
    return tuple(
        Check(
            float(abs(summed_weight(sigma, d, power, tied) / mean_weight(sigma, d, power) - 1)),
            1e-9,
            claim,
        )
        for claim, power in claims.items()
    )


def _row(seed):
    rng = np.random.default_rng([seed, 161])
    # At most 8 keys: all 2ⁿ rows of signs are summed.
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    return {
        "q": 2 * rng.standard_normal((1, d)),
        "K": 2 * rng.standard_normal((n, d)),
        "kernel": softmax,
        "sigma": rng.uniform(0.1, 3),
        "c": rng.uniform(0.1, 2),
    }


def _one_place(seed):
    """A query among keys that all lie on it: every Gaussian weight is 1."""
    rng = np.random.default_rng([seed, 162])
    q = rng.standard_normal((1, 3))
    return {"q": q, "K": np.repeat(q, 4, axis=0), "kernel": gaussian, "sigma": 1.0, "c": 0.5}


def _one_key():
    """Two keys, and a query that reads one of them alone."""
    return {
        "q": np.ones((1, 2)),
        # The scores differ by 1000/√2, so that the second weight is 0 but for rounding.
        "K": np.array([[500.0, 500.0], [0.0, 0.0]]),
        "kernel": softmax,
        "sigma": 1.0,
        "c": 0.5,
    }


def _averages(q, K, kernel, **_):
    weights = kernel(kernel.scores(q, K))
    return {"s_j ≥ 0": weights.min() >= 0, "Σ_j s_j = 1": abs(weights.sum() - 1) < 1e-12}


@statement(
    id="prop-loudness",
    title="An average is between one value and the mean of all",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="s_j ≥ 0; Σ_j s_j = 1",
    by_proof="under the Gaussian kernel, every mean square between 0 and n occurs",
    random=_row,
    extremal=(_one_key, lambda: _one_key() | {"q": np.zeros((1, 2))}),
    slack=(1e-9, 1e-9),
    broken=_one_place,
    breaks="Σ_j s_j = 1: Gaussian weights, which are not normalized",
    hypotheses=_averages,
)
def loudness(q: Array, K: Array, kernel: Kernel, sigma: float, c: float) -> Checks:
    """1/n ≤ Σ_j s_j² ≤ 1 for the weights s of one query, which is E‖Σ_j s_j v_j‖² for values of
    mean 0 with E v_jᵀv_l = δ_jl; and for Gaussian weights of random queries and keys the mean of
    that is n(1 + 8cσ²/√d)^{−d/2}.

    The values are all rows of signs, the mean over them is exact. Relative errors up to 1e-9.
    Source: this book.
    """
    (n, d), weights = K.shape, kernel(kernel.scores(q, K))[0]
    signs = np.array(list(product((-1, 1), repeat=n)))
    squares, read = float((weights**2).sum()), ((signs @ weights) ** 2).mean()
    loud = n * (1 + 8 * c * sigma**2 / d**0.5) ** (-d / 2)
    return (
        Check(squares, 1.0, "Σ_j s_j² ≤ 1"),
        Check(1 / n, squares, "1/n ≤ Σ_j s_j²"),
        Check(abs(float(read) / squares - 1), 1e-9, "E‖Σ_j s_j v_j‖² = Σ_j s_j²"),
        Check(
            abs(float(n * summed_weight(sigma, d, 2 * c) / loud) - 1),
            1e-9,
            "E‖Σ_j s_j v_j‖² = n(1 + 8cσ²/√d)^{−d/2} for the Gaussian kernel",
        ),
    )


def _two_networks(seed):
    rng = np.random.default_rng([seed, 163])
    first, second, agree = rng.dirichlet([1.0, 1.0, 3.0])
    return {"first": first, "second": second, "M": int(rng.integers(1, 12)), "same": True}


def _good_and_alike(seed):
    """Two networks that nearly always agree and are right half of the time."""
    # On two test sets M Var is ½, far above π_+− + π_−+ ≤ 0.1.
    return {"first": between(seed, 0, 0.05), "second": 0.05, "M": 1 + seed % 9, "same": False}


@statement(
    id="prop-same-test",
    title="Two networks on one test set",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="one test set; of independent samples; π ≥ 0; π_+− + π_−+ ≤ 1",
    by_proof="equality only if both are equally good",
    random=_two_networks,
    # Equally good networks: the square vanishes.
    extremal=(lambda: {"first": 0.1, "second": 0.1, "M": 7, "same": True},),
    broken=_good_and_alike,
    breaks="one test set: each network has its own",
    hypotheses=lambda first, second, same, **_: {
        "one test set": same,
        "π ≥ 0": min(first, second) >= 0,
        "π_+− + π_−+ ≤ 1": first + second <= 1,
    },
)
def same_test(first: float, second: float, M: int, same: bool) -> Checks:
    """M Var(π̂_1 − π̂_2) = π_+− + π_−+ − (π_+− − π_−+)² ≤ π_+− + π_−+ for two accuracies π̂
    measured on the same M samples; the mean of π̂_1 − π̂_2 is π_+− − π_−+, and the inequality is an
    equality if the two are the same.

    π_+− is the chance that the first network alone is right, π_−+ that the second is. Mean and
    variance are those of ``differences``; errors up to 1e-9. Source: this book.
    """
    (mean, variance), both = differences(first, second, M, same), first + second
    even = differences(both / 2, both / 2, M, same)[1]
    return (
        Check(M * variance, both, "M Var(π̂_1 − π̂_2) ≤ π_+− + π_−+"),
        Check(
            abs(M * variance - both + (first - second) ** 2),
            1e-9,
            "M Var = π_+− + π_−+ − (π_+− − π_−+)²",
        ),
        Check(abs(mean - first + second), 1e-9, "E(π̂_1 − π̂_2) = π_+− − π_−+"),
        Check(abs(M * even - both), 1e-9, "M Var = π_+− + π_−+ if both are equally good"),
    )


def differences(first: float, second: float, M: int, same: bool) -> tuple[float, float]:
    """Mean and variance of π̂_1 − π̂_2, summed over all outcomes: on the same M samples, or each on
    its own.

    Each on its own is right half of the time, and knows nothing of the other.
    """
    if same:
        outcomes = [
            (
                a,
                b,
                comb(M, a)
                * comb(M - a, b)
                * first**a
                * second**b
                * (1 - first - second) ** (M - a - b),
            )
            for a in range(M + 1)
            for b in range(M - a + 1)
        ]
    else:
        outcomes = [
            (a, b, comb(M, a) * comb(M, b) * 0.25**M) for a in range(M + 1) for b in range(M + 1)
        ]
    apart = np.array([(a - b) / M for a, b, _ in outcomes])
    chances = np.array([p for *_, p in outcomes])
    mean = float(chances @ apart)
    return mean, float(chances @ (apart - mean) ** 2)


def best_of(M: int, p: float, T: float) -> float:
    """The mean of the best of several accuracies on M samples each, of T networks that are right
    with chance p."""
    chances = np.array([comb(M, a) * p**a * (1 - p) ** (M - a) for a in range(M + 1)])
    # E max = Σ_{a>0} P(max ≥ a)/M; the cap keeps out log 0.
    above = np.minimum(np.cumsum(chances[::-1])[::-1], 1 - 1e-16)[1:]
    # 1 − (1 − above)^T, with its digits for T up to 1e20.
    return float(-np.expm1(T * np.log1p(-above)).sum() / M)


def _runs(seed):
    rng = np.random.default_rng([seed, 164])
    return {
        "M": int(rng.integers(5, 200)),
        "p": rng.uniform(0.05, 0.95),
        "T": int(rng.integers(2, 50)),
        "gap": 0.0,
    }


@statement(
    id="prop-best-of",
    title="The best of many tests is biased upward",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="each accuracy from M independent samples; samples that were not seen",
    random=_runs,
    # M = 1000 is near the end: binomial coefficients exceed all floats from M = 1030 on.
    extremal=(
        lambda: {"M": 1000, "p": 0.5, "T": 1e20, "gap": 0.0},
        # so rarely right that the standard deviation says far too little of the best of 50
        lambda: {"M": 5, "p": 0.01, "T": 50, "gap": 0.0},
    ),
    slack=(0.036,),
    broken=lambda seed: _runs(seed) | {"M": 50, "p": between(seed, 0.1, 0.4), "gap": 1.0},
    breaks="samples that were not seen: those of the training set, on which every network is right",
    hypotheses=lambda gap, **_: {"samples that were not seen": gap == 0},
)
def best_flatters(M: int, p: float, T: float, gap: float) -> Check:
    """E max_t (π̂_t − π_t) ≤ √(ln T/(2M)) for the measured accuracies π̂_t of T networks of
    accuracies π_t.

    lhs is exact, for T independent accuracies of mean p; ``gap`` moves the measured ones towards 1.
    Source: this book, by Hoeffding's lemma.
    """
    excess = (1 - gap) * (best_of(M, p, T) - p) + gap * (1 - p)
    return Check(excess, sqrt(log(T) / (2 * M)), "E max (π̂ − π) ≤ √(ln T / 2M)")
