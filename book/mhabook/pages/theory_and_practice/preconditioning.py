"""Part II: what the theorems of chapters 9 to 11 ask for or promise, and what runs need."""

from math import log

import numpy as np

import mhalib as mha
from mhabook.c09_tilting import statements as tilting
from mhabook.c10_structure import contraction, factorization
from mhabook.c10_structure.population import PopulationRegression
from mhabook.c11_data_and_compute.finite_data import gaps
from mhabook.c11_data_and_compute.finite_descent import enough_samples
from mhabook.c11_data_and_compute.runs import NS, stored_runs, values_of
from mhabook.c11_data_and_compute.statements import floor_constant
from mhabook.pages.theory_and_practice.row import Row, Rows, power
from mhabook.tables import stored
from mhalib.data import RegressionDataset


def exponent() -> Rows:
    """The error of the first 100 to 10,000 of stored tokens, 100 draws, and the exponent of the
    theorem."""
    tokens = stored("exponents.npz")
    sizes = (tokens["n"][0] >= 100) & (tokens["n"][0] <= 10_000)
    errors = {
        v: np.log(tokens.where(v=v)["error"].mean(axis=0)[sizes]) for v in np.unique(tokens["v"])
    }
    fall = {
        v: -np.polyfit(np.log(tokens["n"][0, sizes]), error, 1)[0] for v, error in errors.items()
    }
    derived = {v: -tilting.exponent(v) for v in fall}
    wrong = {v: max(slope / derived[v], derived[v] / slope) for v, slope in fall.items()}
    v = max(wrong, key=wrong.__getitem__)
    return [
        Row(
            "thm-exponent",
            "power of n in the error",
            f"−{derived[v]:.2f} as n → ∞, at ‖V‖ = {v:g}",
            f"−{fall[v]:.2f} from 100 to 10,000 tokens",
            wrong[v],
        )
    ]


def regression() -> Rows:
    """Chapters 10 and 11, d = p = 5, κ = 4, s_max = 0.4."""
    instance = mha.data.linear_regression(n=2000, d=5, p=5, seed=0)
    derived, ends, excess = derived_floor(instance), stored_floors(), constant_step(instance)
    asked = min(n for n in ends if near_starts(n) == 20)
    needed = min(n for n in ends if ends[n] < 1.25 * derived)
    promised, taken = (
        log(10) / -log(factor)
        for factor in (1 - contraction.LARGEST * contraction.RATE / 4, excess[40] / excess[39])
    )
    floor = np.mean([*ends.values()])
    return [
        Row(
            "thm-local-rate",
            "tokens for a start",
            f"a start within ¼√s_min: {asked:,}, in 20 of 20 draws",
            f"{needed}, the least stored: 8 random starts end at {ends[needed]:.2f}/n, the floor",
            asked / needed,
        ),
        Row(
            "thm-local-rate",
            "steps near the optimum",
            f"{promised:.0f} to divide the squared distance by ten",
            f"{taken:.1f} with the best constant step",
            promised / taken,
        ),
        Row(
            "prop-fitted-noise",
            "excess that n samples leave",
            f"derived {derived:.3f}/n",
            f"measured {floor:.3f}/n",
            max(floor / derived, derived / floor),
        ),
    ]


def finite_data() -> Rows:
    """The two theorems of chapter 11 on finite data, d = p = 5, κ = 4: the gradients at s_max = 0.1,
    and stored runs of SA1 at s_max = 0.2."""
    measured, _, before = gaps(1000, 0.2)
    asked, needed = enough_samples(values_of(0.2), 5, 0.1), min(NS.tolist())
    ends = needed * stored_runs("SA1", 0.2)[:, 0, 40].mean()
    return [
        Row(
            "thm-finite-gradient",
            "gap of gradients",
            f"at most {power(before)} with probability 0.9, 1,000 samples, ‖U‖ and ‖V‖ up to 0.2",
            f"{measured:.4f}, the larger of two points",
            before / measured,
        ),
        Row(
            "thm-finite-descent",
            "samples for SA1",
            f"{power(asked)} for an excess of order 1/n with probability 0.9",
            f"{needed}, the least stored: 8 spectral starts end at {ends:.2f}/n",
            asked / needed,
        ),
    ]


def derived_floor(data: RegressionDataset) -> float:
    """n times the excess that n samples leave, as derived."""
    return floor_constant(data.truth.singular_values, 5, 5, 0.1, 0.5)


def stored_floors() -> dict[int, float]:
    """n → n times the excess at which eight stored random starts end."""
    kept = stored("data_and_compute.npz").where(rule="SA2", s_max=0.4)
    return {n: n * kept.where(n=n)["excess"][:, 50].mean() for n in np.unique(kept["n"]).tolist()}


def constant_step(data: RegressionDataset) -> np.ndarray:
    """The excess at each of 40 steps from a spectral start, with the best constant step on
    infinitely many tokens."""
    start = PopulationRegression.of(mha.AttentionRegression.spectral(data))
    return mha.train(start, data.population(), mha.Preconditioned(2.0), 40).excess


def near_starts(n: int) -> int:
    """How many of 20 spectral starts on n tokens are as near an optimum as the theorem wants
    them."""
    drawn = [mha.data.linear_regression(n=n, d=5, p=5, seed=seed) for seed in range(20)]
    fitted = [(mha.AttentionRegression.spectral(one), one.truth.root, one.M) for one in drawn]
    return sum(
        factorization.distance(m.A @ root, root @ m.B @ root, M @ root) <= 0.1**0.5 / 4
        for m, root, M in fitted
    )
