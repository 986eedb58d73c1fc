"""What the answers of Part III and of the laboratory equal, chapters 12 to 17."""

from functools import cache
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

import mhabook
import mhalib as mha
from answers.numerics import NUMERIC, ROUNDED, slope
from mhabook.c12_two_kernels import statements as two_kernels
from mhabook.c13_layer import statements as one_layer
from mhabook.c14_traps import statements as traps
from mhabook.c15_landscapes import statements as landscapes
from mhabook.c16_networks import statements as networks
from mhalib.attention import Gaussian, NormalizedGaussian


def blind_directions(d, kernel):
    """The dimension of the matrices M that, to first order, leave a kernel's scores at Q(1 + M),
    K(1 − Mᵀ) the same.

    Row sums of scores do not matter to softmax; here they do not change either.
    """
    Q, K = np.random.default_rng(0).normal(size=(2, 3 * d, d))
    moved = [
        kernel.scores_along(Q, K, Q @ M, -K @ M.T).ravel() for M in np.eye(d * d).reshape(-1, d, d)
    ]
    return d * d - np.linalg.matrix_rank(np.array(moved), tol=1e-9)


def lifted_entry(c):
    """The last entry that makes softmax's scores equal to the Gaussian ones, up to a constant of
    the row."""
    q, keys = 0.6, np.array([-1.0, 0.3, 2.0])
    right = -c * (q - keys) ** 2
    return np.polyfit(keys, right - 2 * c * q * keys, 2)[0]


def largest_share(a, c):
    """The most that a query on a grid gives to 0 between −a and a, under a Gaussian kernel with its
    rows divided."""
    kernel, keys = NormalizedGaussian(c), np.array([[-a], [0.0], [a]])
    return kernel(kernel.scores(np.linspace(-3, 3, 601)[:, None], keys))[:, 1].max()


def one_weight(kernel, q, k):
    """What a kernel makes of a query and a key, numbers both."""
    return kernel(kernel.scores(np.array([[q]]), np.array([[k]])))[0, 0]


def query_force(q, k, u, r, c):
    """The derivative of ½(o − y)² by differences, y such that the residual at q is r."""
    y = one_weight(Gaussian(c), q, k) * u - r
    return slope(lambda at: (one_weight(Gaussian(c), at, k) * u - y) ** 2 / 2, q)


def directions_left():
    layer = mha.AttentionLayer.random(D=6, d=4, m=3, seed=2, kernel=mha.normalized_gaussian)
    J = two_kernels.token_jacobians(layer, mha.data.random_sequences(N=1, n=3, D=6, m=3, seed=2).X)
    return np.linalg.matrix_rank(J[0][0], tol=1e-9)


def layer_of_one_token(o, x, r, c, d):
    """A layer whose query and key of one token are r apart: (α, L)."""
    WQ, WK = np.zeros((2, 1, d, d))
    WQ[0, 0, 0] = r / x
    out, X = np.zeros((1, d, 1)), np.zeros((1, 1, d))
    out[0, 0, 0], X[0, 0, 0] = o, x
    return one_layer.value_smoothness(
        mha.AttentionLayer(WQ, WK, np.zeros((1, d, d)), out, Gaussian(c)), X
    )


def unreachable_share(H, D, N, n):
    X = np.random.default_rng(0).normal(size=(N, n, D))
    return 1 - np.linalg.matrix_rank(mha.AttentionLayer.random(D, 3, 1, H, seed=1).mixed(X)) / (
        N * n
    )


def ratio_below():
    """The mean over twenty seeds of what the values cannot fit, D = 16."""
    found = []
    for seed in range(20):
        data = mha.data.random_sequences(8, 4, 16, 1, seed=seed)
        B = mha.AttentionLayer.random(16, 8, 1, tied=True, seed=seed).mixed(data.X)
        y = data.y.reshape(-1, 1)
        found.append(((y - B @ np.linalg.pinv(B) @ y) ** 2).sum() / (y**2).sum())
    return np.mean(found)


def rank_of_single_tokens(N, D, kernel):
    X = mha.data.random_sequences(N, 1, D, 1, seed=1).X
    return np.linalg.matrix_rank(
        mha.AttentionLayer.random(D, 3, 1, 2, kernel=kernel, seed=3).mixed(X)
    )


def least_output_b1():
    layer, _ = traps.example("B1", mha.softmax)
    queries = np.linspace(-3, 3, 601)
    return min(
        layer.with_arrays(WQ=np.full_like(layer.WQ, q))(np.eye(3)[None])[0, 0, 0] for q in queries
    )


def stretched_width(t, c):
    q, k = np.array([[0.7]]), np.array([[-0.4]])
    return (Gaussian(c).scores(t * q, t * k) / Gaussian(1.0).scores(q, k))[0, 0]


def half_missed(p):
    return brentq(
        lambda beta: landscapes.missed(p, beta, 1) - 0.5, 1e-9, 1e5, xtol=1e-12, rtol=1e-14
    )


def curvature_at(phi, beta, gamma):
    v = np.array([np.cos(phi), np.sin(phi), 0])
    return v @ np.diag([-beta, gamma, gamma]) @ v


def factor_moves(eta, psi, rule):
    """How far the first step of a rule moves ψW^V, where the weights carry the factor ψ; and the
    plain gradient."""
    plain = mha.AttentionLayer.random(5, 3, 1, seed=4)
    data = mha.data.random_sequences(6, 4, 5, 1, seed=4)
    # S ψ X W^V W^O: the factor may as well stand at W^O.
    scaled = plain.with_arrays(WV=plain.WV / psi, WO=psi * plain.WO)
    wanted, found = (layer.loss_and_grad(data.X, data.y)[1].WV for layer in (plain, scaled))
    moved, _ = rule(eta).step(scaled.WV, found, rule(eta).start(scaled.WV), 0)
    return psi * abs(moved - scaled.WV), abs(wanted)


def best_less_last():
    setting = {"rule": "adam", "embedding": 1.0, "gain": 3**-0.5, "length": 8}
    rows = mhabook.stored("words.npz").where(**setting, kernel="softmax", scale=4.0)
    tried = [rows.where(lr=lr) for lr in np.unique(rows["lr"])]
    accuracy = max(tried, key=lambda runs: runs["validation_accuracy"][:, -1].mean())[
        "test_accuracy"
    ]
    return (accuracy.max(axis=1) - accuracy[:, -1]).mean()


laboratory = cache(lambda: mhabook.laboratory())


def largest_loss(schedule):
    return laboratory().path(**laboratory().experiments["edge"] | {"schedule": schedule}).loss.max()


def edge_at_the_start():
    run = laboratory().run(**laboratory().experiments["edge"])
    return 2 / mha.landscape.spectrum(run["model"], run["data"]).values[-1]


def first_rise():
    """Of the step sizes of the slider from one half on."""
    first = laboratory().experiments["edge"] | {"steps": 50}
    rates = [lr for lr in laboratory().controls["lr"].values if lr >= 0.5]
    return next(
        lr for lr in rates if (np.diff(laboratory().path(**first | {"lr": lr}).loss) > 0).any()
    )


def enough_unknowns():
    """The least D of the slider at which σ_min(B) is positive."""
    settings = laboratory().experiments["narrow"]
    for D in laboratory().controls["D"].values:
        B = mha.AttentionLayer.random(D, 8, 1, seed=0).mixed(
            laboratory().run(**settings | {"D": D})["data"].X
        )
        if np.linalg.matrix_rank(B) == B.shape[0]:
            return D


def both_all_ahead(J):
    """The share of all patterns of J coins that show one side alone."""
    return np.mean([len(set(pattern)) == 1 for pattern in product((0, 1), repeat=J)])


def mean_difference(v, rho, J):
    """The variance of the mean of J differences, from the covariance of all 2J accuracies."""
    covariance = np.kron(np.eye(J), v * np.array([[1, rho], [rho, 1]]))
    contrast = np.tile([1, -1], J) / J
    return contrast @ covariance @ contrast


TRUTH = {
    "ex-12-center": [lambda n: mha.softmax(np.zeros(int(n) + 1))[0]],
    "ex-12-distance": [(largest_share, NUMERIC)],
    "ex-12-turn": [  # what matrices of five rows show holds of any number
        lambda d: blind_directions(min(d, 5), mha.softmax) + d * d - min(d, 5) ** 2,
        lambda d: (
            blind_directions(min(d, 5), mha.gaussian)
            + (d * (d - 1) - min(d, 5) * (min(d, 5) - 1)) / 2
        ),
    ],
    "ex-12-lift": [(lifted_entry, 1e-9)],
    "ex-12-equal": [  # softmax over three keys with one value, by differences as well
        (
            lambda: slope(
                lambda q: mha.softmax(q * np.array([-2.0, 0.3, 1.0])) @ np.full(3, 0.7), 0.5, 0.01
            ),
            NUMERIC,
        ),
        (query_force, NUMERIC),
    ],
    "ex-12-third": [directions_left],
    "ex-13-one": [layer_of_one_token],
    "ex-13-below": [unreachable_share],
    "ex-13-below-code": [(ratio_below, 0.06)],
    "ex-13-rank": [
        lambda N, D: rank_of_single_tokens(N, D, mha.softmax),
        lambda N, D: rank_of_single_tokens(N, D, mha.gaussian),
    ],
    "ex-14-b1": [least_output_b1, lambda: 3 * (least_output_b1() - 0.5) ** 2 / 2],
    "ex-14-stretch": [stretched_width],
    "ex-15-two": [
        lambda phi: (
            np.array([np.cos(phi), np.sin(phi)]) @ [[0, -1], [-1, 0]] @ [np.cos(phi), np.sin(phi)]
        ),
        lambda t: (t * -t - 1) ** 2 / 2,
    ],
    "ex-15-angle": [
        curvature_at,
        lambda beta, gamma: (
            np.cos(brentq(lambda phi: curvature_at(phi, beta, gamma), 0, np.pi / 2, xtol=1e-14))
            ** 2
        ),
    ],
    "ex-15-chance": [(half_missed, 1e-9), (lambda: half_missed(10_002), 1e-9)],
    "ex-16-coin": [
        lambda J: both_all_ahead(J),
        lambda: next(J for J in range(1, 20) if both_all_ahead(J) < 0.05),
    ],
    "ex-16-enough": [
        (lambda s, w: brentq(lambda J: norm.ppf(0.975) * s / J**0.5 - w, 1e-3, 1e5), 1e-4),
        (lambda: np.ceil(brentq(lambda J: norm.ppf(0.975) * 0.04 / J**0.5 - 0.01, 1, 999)), 1e-9),
    ],
    "ex-16-joined": [
        (mean_difference, 1e-9),
        (lambda rho: mean_difference(1.0, 0.0, 1) / mean_difference(1.0, rho, 1), 1e-9),
    ],
    "ex-16-one": [
        lambda c, sigma, d: 1 / networks.mean_weight(sigma, d, c),
        lambda: 1 / networks.mean_weight(1.0, 32),
    ],
    "ex-16-wide": [(lambda c0, sigma: networks.mean_weight(sigma, 1e9, c0 / 1e9**0.5), NUMERIC)],
    "ex-16-factor": [
        (lambda eta, psi: np.divide(*factor_moves(eta, psi, mha.GradientDescent)).mean(), 1e-9),
        (lambda eta, psi: np.median(factor_moves(eta, psi, mha.Adam)[0]), 1e-4),
    ],
    "ex-16-best": [(best_less_last, ROUNDED)],
    "ex-17-warm-up": [
        (lambda: largest_loss("constant"), ROUNDED),
        (lambda: largest_loss("warmup"), ROUNDED),
    ],
    "ex-17-edge": [(edge_at_the_start, 1e-3), first_rise],
    "ex-17-unknowns": [enough_unknowns],
}
