"""Chapter 11: with n samples, SA1 comes geometrically near the optimum, and how near."""

from math import inf, sqrt
from statistics import NormalDist

import numpy as np

from livegrad.arrays import Array
from livegrad.training import run
from mhabook.c10_structure.contraction import LARGEST, RADIUS, RATE
from mhabook.c10_structure.factorization import distance, optimum
from mhabook.c11_data_and_compute.finite_data import (
    Ball,
    Task,
    best_bound,
    gradient_gap,
    sampling_error,
)
from mhabook.c11_data_and_compute.statements import FURTHER
from mhabook.ledger import TINY, Check, Checks, Instance, statement
from mhalib.data.regression import regression_from_arrays as from_arrays
from mhalib.data.regression import rotation
from mhalib.models import AttentionRegression
from mhalib.optim import Preconditioned
from mhalib.whitening import Whitening


def at_the_fit(noise: float = 0.003, steps: int = 12) -> Instance:
    """The tokens of ``in_the_plane``, made white, and a start at the optimum of L̂."""
    one = in_the_plane()
    x = one["x"] @ Whitening.of(one["x"]).inverse
    y = x @ one["M"].T + noise * np.random.default_rng(1).standard_normal(one["y"].shape)
    U, V = optimum(Whitening.of(x).fit(x, y), np.eye(2))
    return one | {"x": x, "y": y, "U": U, "V": V, "lr": one["lr"] / 2, "steps": steps}


def _alone(along_U, along_V, lr=1e-6, s=0.03, n=400):
    """Targets sx of quantiles x of N(0, 1), and a start off the optimum by shares of δ* in U and in
    V."""
    x = np.array([[NormalDist().inv_cdf((k + 0.5) / n)] for k in range(n)])
    x /= (x**2).mean() ** 0.5
    U, V = (np.array([[s**0.5 * (1 + RADIUS * share)]]) for share in (along_U, along_V))
    return {"x": x, "y": s * x, "M": np.array([[s]]), "U": U, "V": V, "lr": lr / s}


def _unlike(share, s=1e-4, ratio=10.0):
    """Two singular values far apart, a start off the optimum of the smaller one by a ``share`` of δ*
    in U and in V, and tokens whose gap is nearly all of the smaller one, too."""
    # Three values have the first five moments of N(0, 1), two values the first three.
    x = np.array([[3**0.5 * a, b] for a in (1.0, 0, 0, 0, 0, -1.0) for b in (1.0, -1.0)])
    M, U = np.diag([ratio * s, s]), np.diag([(ratio * s) ** 0.5, s**0.5 * (1 + RADIUS * share)])
    return {
        "x": x,
        "y": x @ M,
        "M": M,
        "U": U,
        "V": U,
        "lr": LARGEST / (ratio * s),
        "steps": 60,
    }


def _near_the_fit(seed, x=None):
    """Tokens near the quantiles of N(0, 1): with so few, the gap of drawn ones is often too large
    for the theorem."""
    rng = np.random.default_rng([seed, 126])
    if x is None:
        shares = (np.arange(120) + 0.5) / 120
        x = np.array([[NormalDist().inv_cdf(share)] for share in shares])
        x = x + 0.1 * rng.standard_normal(x.shape)
    d = x.shape[1]
    p = int(rng.integers(d, 4))
    M = rotation(rng, p)[:, :d] * rng.uniform(0.03, 0.1)
    y = x @ M.T + 0.003 * rng.standard_normal((len(x), p))
    fit = Whitening.of(x).fit(x, y)
    s = np.linalg.svd(fit, compute_uv=False)
    away = rng.standard_normal((p + d, d))
    away *= RADIUS * rng.random() * s[-1] ** 0.5 / np.linalg.norm(away)
    U, V = optimum(fit, rotation(rng, d))
    lr = LARGEST * rng.uniform(0.3, 1) / s[0]
    return {"x": x, "y": y, "M": M, "U": U + away[:p], "V": V + away[p:], "lr": lr}


def in_the_plane() -> Instance:
    """Two coordinates: drawn tokens and their negatives, since a mean other than zero adds to the
    gap."""
    x = np.random.default_rng(127).standard_normal((300, 2))
    return _near_the_fit(0, np.concatenate([x, -x]))


def _at_zero(seed):
    instance = _near_the_fit(seed)
    return instance | {name: 0 * instance[name] for name in "UV"}


def _descended(x, y, U, V, lr, steps):
    """The (U, V) of SA1 from a start, and the largest gap of gradients at them."""
    data = from_arrays(x, y)
    start = AttentionRegression(**data.whitening().arrays(U, V, x))
    path = run(start, data, Preconditioned(lr), steps, None, list(range(steps + 1)))
    pairs = [data.whitening().whiten(model) for model in path.models]
    return pairs, max(gradient_gap(x, y, *pair).size for pair in pairs)


def _close(x, y, M, U, V, lr, steps=12):
    fit = Whitening.of(x).fit(x, y)
    s = np.linalg.svd(fit, compute_uv=False)
    full = bool(len(s) == x.shape[1] and s[-1] > 1e-9 * s[0])
    near = RADIUS * s[-1] ** 0.5
    return {
        "p ≥ d": y.shape[1] >= x.shape[1],
        "N̂ has rank d": full,
        "δ(Z₀) ≤ δ* ≤ ¼√ŝ_min": bool(distance(U, V, fit) <= near * (1 + 1e-9)),
        "0 < η ≤ 2/(13 ŝ_max)": bool(0 < lr <= (1 + 1e-9) * LARGEST / s[0]),
        "ε ≤ (21/64) ŝ_min δ*": bool(
            _descended(x, y, U, V, lr, steps)[1] <= RATE / 2 * s[-1] * near
        ),
    }


@statement(
    id="thm-finite-descent",
    title="On n samples, SA1 comes geometrically near the optimum",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="p ≥ d; N̂ has rank d; δ(Z₀) ≤ δ* ≤ ¼√ŝ_min; 0 < η ≤ 2/(13 ŝ_max); "
    "ε ≤ (21/64) ŝ_min δ*",
    random=_near_the_fit,
    # From the optimum of L̂ only the gap of gradients moves a run; in white tokens with noisy targets
    # the layer is as far from M as the fit.
    extremal=(
        in_the_plane,
        lambda: at_the_fit(steps=3),
        lambda: at_the_fit(0.03, steps=1),
        lambda: _near_the_fit(6),
        # Steps too short to move: ‖U‖ stays the largest, or ‖UVᵀ − N̂‖, that is within δ*.
        lambda: _alone(1.0, 0.0),
        lambda: _alone(0.5**0.5, 0.5**0.5),
        # The gap moves a run from the optimum by several times the gap, as ŝ_min is small.
        lambda: _alone(0.0, 0.0, LARGEST),
        # ŝ_max in the place of ŝ_min would be false, in the gap's part, and in the rate.
        lambda: _unlike(0.0),
        lambda: _unlike(0.5),
    ),
    slack=(None,),
    broken=_at_zero,
    breaks="δ(Z₀) ≤ δ* ≤ ¼√ŝ_min: the saddle at zero instead",
    hypotheses=_close,
    counterexamples=(lambda: (one := in_the_plane()) | {"lr": 20 * one["lr"]},),
)
def finite_descent(
    x: Array, y: Array, M: Array, U: Array, V: Array, lr: float, steps: int = 12
) -> Checks:
    """δ(Z_K) ≤ (1 − (21/64) η ŝ_min)^K δ(Z₀) + 64 ε/(21 ŝ_min) along SA1 on n samples, and the
    excess of each of its layers, for tokens of covariance I.

    Here δ* = ¼√ŝ_min, and ε is the largest gap of gradients at the points of the run, which is all
    that the proof uses. The first check takes the largest ratio of the two sides over K: rhs 1.
    The last is the distance of the spectral start, rhs 1e-6. Source: this book.
    """
    whitening = Whitening.of(x)
    fit, (pairs, gap) = whitening.fit(x, y), _descended(x, y, U, V, lr, steps)
    s = np.linalg.svd(fit, compute_uv=False)
    rate, near = RATE / 2 * s[-1], RADIUS * s[-1] ** 0.5
    found = np.array([distance(*pair, fit) for pair in pairs])
    proved = (1 - lr * rate) ** np.arange(steps + 1) * found[0] + gap / rate
    (U_, V_), S_inverse = pairs[-1], whitening.inverse @ whitening.inverse
    u, v = np.linalg.norm(U_, 2), np.linalg.norm(V_, 2)
    layer = U_ @ S_inverse @ V_.T @ whitening.inverse
    spread = np.linalg.norm(S_inverse - np.eye(len(V)))
    sampled = np.linalg.norm(fit - M @ whitening.root)
    spectral = whitening.whiten(AttentionRegression.spectral(from_arrays(x, y)))
    return (
        Check(
            float((found / np.maximum(proved, TINY)).max()),
            1.0,
            "δ(Z_K) ≤ (1 − (21/64)ηŝ_min)^K δ(Z₀) + 64ε/(21ŝ_min)",
        ),
        Check(
            float(max(np.linalg.norm(part, 2) for pair in pairs for part in pair)),
            float(s[0] ** 0.5 + near),
            "‖U‖, ‖V‖ ≤ √ŝ_max + δ*",
        ),
        Check(
            float(np.linalg.norm(layer - M)),
            float(
                np.linalg.norm(whitening.inverse, 2)
                * (1.54 * s[0] ** 0.5 * found[-1] + u * v * spread + sampled)
            ),
            "√(2(L − L*)) ≤ √ϑ(1.54 √ŝ_max δ + ‖U‖‖V‖h + ‖N̂ − MΣ̂^{1/2}‖)",
        ),
        Check(distance(*spectral, fit), 1e-6, "δ = 0 at the spectral start"),
    )


def enough_samples(singular_values: Array, p: int, sigma: float, failure: float = 0.1) -> float:
    """A number of Gaussian samples from which on the two theorems together cover the ball of SA1,
    with probability 1 − ``failure``: infinite unless s_max < ½, and where it is above 1e60.

    The singular values are those of the target, at least one, d of them; the ball reaches as far
    as r < 1/√2 allows. By bisection, as ε and τ fall with n, for the q and k of ``best_bound``.
    """
    s = np.asarray(singular_values, float)
    task = Task(len(s), p, float(np.linalg.norm(s)), sigma)

    def covered(power):
        tau = sampling_error(10**power, task, failure)[1]
        if tau >= s[-1]:
            return False
        top, low = sqrt(s[0] + tau), s[-1] - tau
        near = min(RADIUS * sqrt(low), (sqrt(0.5) - top) / 2)
        ball = Ball(top + near, top + near)
        return near > 0 and best_bound(10**power, task, ball, failure) <= RATE / 2 * low * near

    few, many = 1.0, 60.0
    if not covered(many):
        return inf
    while many - few > 0.01:
        middle = (few + many) / 2
        few, many = (few, middle) if covered(middle) else (middle, many)
    return float(10**many)
