"""What the answers of Part II equal, chapters 9 to 11."""

from functools import cache

import numpy as np
from scipy.stats import norm

import mhabook
import mhalib as mha
from answers.numerics import NUMERIC, ROUNDED, at_largest, best_step, gaussian_mean, root
from mhabook.c09_tilting import finite_context
from mhabook.c09_tilting import statements as tilting
from mhabook.c10_structure import factorization, stationary
from mhabook.c10_structure.population import PopulationRegression
from mhabook.c11_data_and_compute import scaling
from mhabook.c11_data_and_compute import statements as data_and_compute
from mhalib.whitening import Whitening

NS = (250, 500, 1000, 2000, 4000)
STEPS = np.arange(10, 51)


def shifted_limit(A, B, mu, Sigma, x):
    """The attention mean of N(μ, Σ) tokens, by quadrature."""
    weight, token = (lambda g: np.exp(B * x * Sigma**0.5 * g)), (lambda g: mu + Sigma**0.5 * g)
    return A * gaussian_mean(lambda g: token(g) * weight(g)) / gaussian_mean(weight)


def exponential_of_square(v):
    z = np.linspace(-60, 60, 120_001)
    return np.trapezoid(np.exp(-(0.5 - v * v) * z * z), z) / (2 * np.pi) ** 0.5


def half_of_the_error(v):
    z = np.arange(0.005, 8, 0.01)
    share = np.cumsum([finite_context.query_error(1e6, v * x)[0] * np.exp(-x * x / 2) for x in z])
    return v * np.interp(share[-1] / 2, share, z) / (2 * np.log(1e6)) ** 0.5


def squared_weights(n):
    return finite_context.query_error(n, 2 * (2 * np.log(n)) ** 0.5)[1]


def own_token(v):
    """The largest exponent of n over s."""
    s = np.linspace(0, 3, 300_001)
    return (-(s**2) + np.minimum(0, 2 * (2 * (v - v * v / 2) * s**2 - 1))).max()


def scalar_hessian(s, at):
    point = np.array([[at]])
    return np.linalg.eigvalsh(factorization.hessian(point, point, np.array([[s]])))[-1]


def spectrum(s1=2.0, s2=1.0):
    U, V = factorization.optimum(np.diag([s1, s2]))
    found = np.linalg.eigvalsh(factorization.hessian(U, V, np.diag([s1, s2])))
    return found[found > 1e-9]


def balanced_stay(s):
    """The time in which the steepest way out of a balanced saddle that misses s grows by a factor
    of 1000."""
    N = np.diag([2.0, s])
    U, V = factorization.optimum(N, kept=[0])
    return np.log(1000) / -np.linalg.eigvalsh(factorization.hessian(U, V, N))[0]


def drift(lr):
    """The change of the imbalance in a run of length 5."""
    U, V = np.array([[1.0, 0.2], [0.0, 0.5]]), np.array([[0.3, 0.1], [0.4, 0.9]])
    before = stationary.imbalance(U, V)
    for _ in range(round(5 / lr)):
        dU, dV = factorization.gradient(U, V, np.diag([1.0, 0.5]), balance=0.0)
        U, V = U - lr * dU, V - lr * dV
    return np.linalg.norm(stationary.imbalance(U, V) - before)


def steps_worth(K, b, n):
    """Attention weights of the small batches, over those of one full one."""
    tokens = np.zeros((n, 1))
    few, all_of_them = (mha.softmax(tokens[:rows] @ tokens.T).size for rows in (b, n))
    return K * few / all_of_them


def best_late(s_max, s_min):
    """The step size with the smallest largest factor of an error near SA1's optimum, where it
    matters; the factor."""
    N = np.diag([s_max, s_min])
    curvatures = np.linalg.eigvalsh(factorization.hessian(*factorization.optimum(N), N))
    return best_step(curvatures[curvatures > 1e-9])


def left_outside(eta, s_min):
    """What a step of SA1 leaves of an excess in a row outside of the target's range, one direction,
    two targets."""
    N = np.array([[s_min], [0.0]])
    U, V = factorization.optimum(N)
    U[1] = 1e-6
    after = U - eta * factorization.gradient(U, V, N)[0]
    return ((after @ V.T - N) ** 2).sum() / ((U @ V.T - N) ** 2).sum()


@cache
def derived_law():
    """The law of the chapter's run, its amplitude from a run with infinitely many samples."""
    data = mha.data.linear_regression(n=2, d=3, p=3, kappa=1)
    start = PopulationRegression.of(mha.AttentionRegression.random(d=3, p=3, scale=0.5, seed=1))
    end = mha.train(start, data.population(), mha.Preconditioned(0.5), steps=30).excess[-1]
    floor = data_and_compute.floor_constant([0.4, 0.2, 0.1], 3, 3, 0.1)
    return scaling.Law(end / 0.81**30, 0.81, floor)


@cache
def law(kind):
    """The law of SA2 at s_max = 0.4, fitted to the mean or to the median over the seeds."""
    table = mhabook.stored("data_and_compute.npz").where(rule="SA2", s_max=0.4)
    runs = np.stack([table.where(n=n)["excess"] for n in NS], axis=1)[:, :, STEPS]
    return scaling.fit_law(STEPS, np.array(NS), kind(runs, axis=0)[None], resamples=1).law


def predictions_off(r):
    """n times the error of the predictions at s_max = 2 and the radius r."""
    s = 2 * np.geomspace(1, 1 / 4, 5)
    v = s**0.5 * r / s[0] ** 0.5
    return (
        tilting.mean_excess(np.diag(s / v), np.diag(v))
        + (0.25 - data_and_compute.fitted_noise(s, v)) / 2
    )


def heavy_mean(v):
    """Twice the power of n of a mean of numbers with the tail of exp(½ v²x²/(1 + v²)), x normal."""
    logs = np.array([1e5, 2e5])
    chance = norm.logsf(np.sqrt(2 * logs * (1 + v * v) / (v * v)))
    index = -np.diff(chance)[0] / np.diff(logs)[0]
    return 2 * (1 / index - 1)


def across_the_valleys(v):
    """The curvatures of the excess across its valley, for tokens of one coordinate with variance 1
    and v."""
    found = []
    for variance in (1.0, float(v)):
        Sigma, M = np.array([[variance]]), np.array([[variance**-0.5]])  # N = M Σ^{1/2} = 1
        # u = v = 1
        layer = PopulationRegression(np.array([[variance**-0.5]]), np.array([[1 / variance]]))
        columns = [
            layer.hvp(Sigma, M, layer.with_arrays(A=unit[:1], B=unit[1:]))
            for unit in np.eye(2)[:, :, None]
        ]
        found.append(np.linalg.eigvalsh([[image.A[0, 0], image.B[0, 0]] for image in columns])[-1])
    return np.array(found)


def carried(c):
    """The numbers a and b that give on tokens c x what 1 and 1 give on x."""
    x, one = np.array([[1.0], [-2.0], [0.5]]), np.ones((1, 1))
    before, after = Whitening.of(x), Whitening.of(c * x)
    found = after.arrays(*before.whiten(mha.AttentionRegression(one, one)), one)
    same = mha.AttentionRegression(**found)(c * x)
    np.testing.assert_allclose(same, mha.AttentionRegression(one, one)(x), rtol=1e-9)
    return found["A"][0, 0], found["B"][0, 0]


def whitened_curvatures(s1, s2):
    """The curvatures of two losses ½(uv − s)² across their valleys, at u = v."""
    found = []
    for s in (s1, s2):
        N, (U, V) = np.array([[s]]), factorization.optimum(np.array([[s]]))
        found.append(np.linalg.eigvalsh(factorization.hessian(U, V, N, balance=0.0))[-1])
    return np.array(found)


TRUTH = {
    "ex-9-moments": [
        (lambda tau: gaussian_mean(lambda g: g**2 * np.exp(tau * g)), 1e-9),
        (lambda tau: gaussian_mean(lambda g: (g - tau) ** 2 * np.exp(2 * tau * g)), 1e-9),
    ],
    "ex-9-mean": [(shifted_limit, 1e-9)],
    "ex-9-threshold": [(exponential_of_square, 1e-9), "that is, $v<\\frac12$"],
    "ex-9-queries": [
        # Where chance times error is largest: a query of u has the chance n^(−(u/v)²).
        (
            lambda v: at_largest(
                lambda u: float(finite_context.query_rate(u)) - (u / v) ** 2, 3**-0.5, 1.0
            ),
            NUMERIC,
        ),
        (lambda: half_of_the_error(1.0), ROUNDED),
        (lambda: half_of_the_error(2.0), ROUNDED),
    ],
    "ex-9-largest": [
        (lambda: squared_weights(1e6), ROUNDED),
        (lambda: 1 / squared_weights(1e40), 0.03),
    ],
    "ex-9-own": [(own_token, 1e-4), lambda: own_token(0.2)],
    "ex-10-scalar": [lambda s: scalar_hessian(s, 0.0), lambda s: scalar_hessian(s, s**0.5)],
    "ex-10-carry": [lambda c: carried(c)[0], lambda c: carried(c)[1]],
    "ex-10-round": [
        (lambda: best_step(whitened_curvatures(2.0, 1.0))[0], NUMERIC),
        (lambda s1, s2: best_step(whitened_curvatures(s1, s2))[1], NUMERIC),
    ],
    "ex-10-narrow": [
        (lambda sigma: np.divide(*across_the_valleys(sigma**2)[::-1]), 1e-9),
        (lambda sigma: best_step(across_the_valleys(sigma**2))[1], NUMERIC),
    ],
    "ex-10-spectrum": [
        lambda: (abs(spectrum() - 3) < 1e-9).sum(),
        (lambda: best_step(spectrum())[0], NUMERIC),
        (lambda s1, s2: best_step(spectrum(s1, s2))[1], NUMERIC),
    ],
    "ex-10-escape": [  # the second by the bound of the statement, at the flat saddle of size 10
        (balanced_stay, 1e-9),
        (lambda s: np.log(1000) / stationary.flat_saddles(s, s, 10.0)[0].rhs, 0.01),
    ],
    "ex-10-drift": [(lambda: np.log2(drift(0.01) / drift(0.005)), 0.02)],
    "ex-10-minibatch": [steps_worth],
    "ex-11-rate": [
        (lambda s_max, s_min: best_late(s_max, s_min)[0], NUMERIC),
        (lambda s_max, s_min: best_late(s_max, s_min)[1], NUMERIC),
    ],
    "ex-11-rows": [(left_outside, 1e-4)],
    "ex-11-tenth": [
        (lambda rho: root(lambda K: rho**K - 0.1, 0, 99), 1e-9),
        (lambda: root(lambda K: 0.81**K - 0.1, 0, 99), 1e-9),
    ],
    "ex-11-enough": [
        (
            lambda a, n, phi, rho: root(lambda K: np.log(a * n / phi) + K * np.log(rho), -999, 999),
            1e-9,
        ),
        (
            lambda: np.subtract(*(root(lambda K, n=n: 0.81**K - 0.01 / n, 0, 99) for n in (2, 1))),
            1e-9,
        ),
    ],
    "ex-11-cheaper": [
        lambda: scaling.plan(1e-3, derived_law(), power=1).n,
        (lambda: scaling.split(1e-3, derived_law(), 1)[2], ROUNDED),
    ],
    "ex-11-radius": [
        (lambda: predictions_off(0.5), 1e-3),
        lambda: min((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), key=predictions_off),
    ],
    "ex-11-typical": [
        (lambda: law(np.median).factor, ROUNDED),
        (lambda: law(np.median).floor, 1e-3),
    ],
    "ex-11-exponent": [(heavy_mean, 1e-4), lambda: 2 * tilting.exponent(2**0.5)],
}
