"""How the error of softmax attention falls with the number of tokens, in one dimension; and what
another scale buys.

``python book/results/exponents.py`` writes three tables (some two minutes of one core).

exponents.npz has a row for each draw of 10⁶ tokens N(0, 1) and each v: the squared error (m_n(z) −
v z)² of the first n of them, averaged over queries z ~ N(0, 1) by the trapezoidal rule on [−7, 7].

exponents_exact.npz has a row for each v: the exact means by the integrals of
``c09_tilting.finite_context``, for these n and for larger ones. Nothing in it is drawn.

renormalization.npz has a row for each instance of d = 5 with ‖V‖ = 1 (s_max = 1, n = 2000) and each
c: half the mean squared distance of f_n from A Σ Bᵀ x at (c A, B/c), with (A, B) the balanced
optimum of the population loss, over the 2,000 tokens as queries; over 2,000 fresh queries; and the
limit of theory, ``mean_excess``/n.
"""

import numpy as np

import mhalib as mha
from mhabook.c09_tilting.finite_context import mean_error
from mhabook.c09_tilting.statements import mean_excess, symmetric_power
from mhabook.c10_structure.factorization import optimum
from mhabook.studies import write_tables

V = [0.5, 0.5**0.5, 0.8, 1.0, 1.4, 2.0]
N = np.unique(np.round(10 ** np.arange(1, 6.01, 0.5)).astype(int))
LARGE = 10.0 ** np.array([7, 9, 11, 15, 19, 27, 40, 60])
QUERIES = np.arange(-7, 7.01, 0.25)
SCALES = [0.5, 0.71, 1.0, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 4.0, 5.0, 8.0, 16.0]


def errors(*, v, seed):
    """The mean squared error of nested samples, and the exact means."""
    g = np.random.default_rng([seed, 10]).standard_normal(N[-1])
    # the larger samples contain the smaller: what lies between two sizes is summed once
    parts = np.concatenate([[0], N[:-1]])
    total = np.zeros(len(N))
    for z in QUERIES:
        w = np.exp(v * z * g)
        mean = np.cumsum(np.add.reduceat(w * g, parts)) / np.cumsum(np.add.reduceat(w, parts))
        total += np.exp(-(z**2) / 2) * (mean - v * z) ** 2
    return {"n": N, "error": total * 0.25 / (2 * np.pi) ** 0.5}


def exact(*, v, seed):
    """The exact mean errors for the sizes of the runs and for larger ones; no seed changes them."""
    sizes = np.concatenate([N.astype(float), LARGE])
    return {"n": sizes, "error": np.array([mean_error(n, v) for n in sizes])}


def attention_error(model, data, queries):
    """½ mean ‖f_n(x) − A Σ Bᵀ x‖² over the queries."""
    away = model(queries, data.x) - queries @ (model.A @ data.Sigma @ model.B.T).T
    return float((away**2).sum(axis=1).mean() / 2)


def scaled(*, c, seed):
    """The cost of 2,000 tokens at (c A, B/c)."""
    data = mha.data.linear_regression(
        n=2000, d=5, p=5, kappa=16.0, s_max=1.0, kappa_M=4.0, sigma=0.1, seed=seed
    )
    root, inverse = (symmetric_power(data.Sigma, power) for power in (0.5, -0.5))
    U, V = optimum(data.M @ root)
    model = mha.AttentionRegression(c * U @ inverse, inverse @ V @ inverse / c)
    return {
        "tokens": attention_error(model, data, data.x),
        "theory": mean_excess(c * U, V / c) / len(data),
        "fresh": attention_error(model, data, data.fresh(seed=1).x),
    }


if __name__ == "__main__":
    write_tables(
        __file__,
        __doc__,
        renormalization=(scaled, {"c": SCALES}, 20),
        exponents_exact=(exact, {"v": V}, 1),
        exponents=(errors, {"v": V}, 100),
    )
