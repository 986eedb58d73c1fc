"""Chapter 16: how loud an attention layer is at the start, and what a test set can tell of two networks."""

from math import comb, log, sqrt

import numpy as np

from mhalib.attention import gaussian, softmax
from mhalib.theory.instances import between
from mhalib.theory.ledger import Check, statement

CHAPTER = "kernels/16_text_and_pathfinder"


def mean_weight(sigma, d, c=0.5):
    """(1 + 4cσ²/√d)^{−d/2}, the mean of exp(−c‖q − k‖²/√d) over independent q, k ~ N(0, σ² I_d); numbers or arrays."""
    return (1 + 4 * c * sigma ** 2 / d ** 0.5) ** (-d / 2)


def _pairs(seed):
    rng = np.random.default_rng([seed, 160])
    return {"sigma": rng.uniform(0.1, 3), "d": int(rng.integers(1, 65)), "c": rng.uniform(0.1, 2)}


@statement(id="prop-mean-weight", title="The mean weight of a random query and key", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="q and k independent, N(0, σ² I_d)", random=_pairs,
           broken=lambda seed: _pairs(seed) | {"tied": 0.5}, breaks="independence: half of a query is its key")
def mean_of_weights(sigma, d, c, tied=0.0):
    """E exp(−c‖q − k‖²/√d) = (1 + 4cσ²/√d)^{−d/2}; the mean of the square is the same with 2c in place of c.

    lhs is the relative error of an integral over one coordinate of q − k, of variance 2σ²(1 − tied), to the power d;
    rhs 1e-9.  Source: this book.
    """
    deviation, worst = sigma * (2 * (1 - tied)) ** 0.5, 0.0
    x, step = np.linspace(-12, 12, 4001, retstep=True)
    density = np.exp(-x ** 2 / 2) * step / (2 * np.pi) ** 0.5
    for power in (c, 2 * c):
        one = (density * np.exp(-power * (deviation * x) ** 2 / d ** 0.5)).sum()
        worst = max(worst, abs(one ** d / mean_weight(sigma, d, power) - 1))
    return Check(float(worst), 1e-9, "E exp(−c‖q − k‖²/√d) = (1 + 4cσ²/√d)^{−d/2}")


def _row(seed):
    rng = np.random.default_rng([seed, 161])
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    return {"q": 2 * rng.standard_normal((1, d)), "K": 2 * rng.standard_normal((n, d)), "kernel": softmax}


def _one_place(seed):
    """A query among keys that all lie on it: every Gaussian weight is 1."""
    rng = np.random.default_rng([seed, 162])
    q = rng.standard_normal((1, 3))
    return {"q": q, "K": np.repeat(q, 4, axis=0), "kernel": gaussian}


@statement(id="prop-loudness", title="An average is between one value and the mean of all", mark="ours",
           source="this book", chapter=CHAPTER, assumptions="weights of a row ≥ 0 that sum to 1", random=_row,
           extremal=(lambda: {"q": np.ones((1, 2)), "K": np.array([[500.0, 500.0], [0.0, 0.0]]), "kernel": softmax},),
           broken=_one_place, breaks="rows that sum to 1: Gaussian weights, which are not normalized")
def loudness(q, K, kernel):
    """1/n ≤ Σ_j s_j² ≤ 1 for the weights s of one query: the second moment of Σ_j s_j v_j for independent values.

    lhs is the larger of Σ s_j² and 1/(n Σ s_j²), rhs 1.  Source: this book.
    """
    squares = float((kernel(kernel.scores(q, K)) ** 2).sum())
    return Check(max(squares, 1 / (len(K) * squares)), 1.0, "1/n ≤ Σ_j s_j² ≤ 1")


def _two_networks(seed):
    rng = np.random.default_rng([seed, 163])
    first, second, agree = rng.dirichlet([1.0, 1.0, 3.0])
    return {"first": first, "second": second, "M": int(rng.integers(1, 12)), "same": True}


def _good_and_alike(seed):
    """Two networks that nearly always agree and are right half of the time."""
    return {"first": between(seed, 0, 0.05), "second": 0.05, "M": 1 + seed % 9, "same": False}


@statement(id="prop-same-test", title="Two networks on one test set", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="independent test samples, the same ones for both networks", random=_two_networks,
           extremal=(lambda: {"first": 0.1, "second": 0.1, "M": 7, "same": True},),
           broken=_good_and_alike, breaks="one test set: each network has its own")
def same_test(first, second, M, same):
    """Var(π̂_1 − π̂_2) ≤ (π_+− + π_−+)/M for two accuracies π̂ measured on the same M samples.

    π_+− is the chance that the first network alone is right, π_−+ that the second is. lhs is the variance of the
    exact distribution, summed over all outcomes.  Source: this book.
    """
    if same:
        outcomes = [(a, b, comb(M, a) * comb(M - a, b) * first ** a * second ** b * (1 - first - second) ** (M - a - b))
                    for a in range(M + 1) for b in range(M - a + 1)]
    else:  # each is right half of the time, and they know nothing of each other
        outcomes = [(a, b, comb(M, a) * comb(M, b) * 0.25 ** M) for a in range(M + 1) for b in range(M + 1)]
    differences, chances = np.array([(a - b) / M for a, b, _ in outcomes]), np.array([p for *_, p in outcomes])
    variance = (chances * differences ** 2).sum() - (chances * differences).sum() ** 2
    return Check(float(variance), (first + second) / M, "Var(π̂_1 − π̂_2) ≤ (π_+− + π_−+)/M")


def best_of(M, p, T):
    """The mean of the best of several accuracies on M samples each, of T networks that are right with chance p."""
    chances = np.array([comb(M, a) * p ** a * (1 - p) ** (M - a) for a in range(M + 1)])
    below = np.minimum(np.cumsum(chances), 1) ** T
    return float(1 - below[:-1].sum() / M)


def _runs(seed):
    rng = np.random.default_rng([seed, 164])
    return {"M": int(rng.integers(5, 200)), "p": rng.uniform(0.05, 0.95), "T": int(rng.integers(2, 50)), "gap": 0.0}


@statement(id="prop-best-of", title="The best of many tests flatters", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="each accuracy from M independent samples, for a network that was not chosen by them",
           random=_runs, extremal=(lambda: {"M": 400, "p": 0.5, "T": 100_000, "gap": 0.0},),
           broken=lambda seed: _runs(seed) | {"M": 50, "p": between(seed, 0.1, 0.4), "gap": 1.0},
           breaks="samples that were not seen: those of the training set, on which every network is right")
def best_flatters(M, p, T, gap):
    """E max_t (π̂_t − π_t) ≤ √(ln T/(2M)) for the measured accuracies π̂_t of T networks of accuracies π_t.

    lhs is exact, for T independent accuracies of mean p; ``gap`` moves the measured ones towards 1.
    Source: this book, by Hoeffding's lemma.
    """
    excess = (1 - gap) * (best_of(M, p, T) - p) + gap * (1 - p)
    return Check(excess, sqrt(log(T) / (2 * M)), "E max (π̂ − π) ≤ √(ln T / 2M)")
