"""Chapter 11: how fast descent ends, and what n samples leave: the late factor and the floor of the
excess."""

from collections.abc import Sequence
from math import inf, prod, sqrt

import numpy as np

from livegrad.arrays import Array, is_positive, require
from mhabook.c09_tilting.statements import quadrature, symmetric_power
from mhabook.c10_structure.factorization import optimum
from mhabook.c10_structure.population import PopulationRegression
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.data.regression import RegressionDataset
from mhalib.models.regression import AttentionRegression, excess
from mhalib.optim.structured import StructureAware
from mhalib.whitening import Whitening

CHAPTER = "preconditioning/11_data_and_compute"
FURTHER = "preconditioning/11_further"
GAUSSIAN = "x ~ N(0, Σ)"


def late_factor(singular_values: Sequence[float] | Array, p: int, d: int, lr: float = 0.5) -> float:
    """What one step of SA2 leaves of the slowest error near the optimum: 1 − 2η/κ, or 1 − η/κ where
    p ≠ d.

    The excess is multiplied by its square. The singular values are the min(p, d) of M Σ^{1/2}, all
    positive, κ is the ratio of the largest to the smallest, and η = ``lr`` ≤ κ/(1 + κ). Source:
    this book.
    """
    s = np.asarray(singular_values, float)
    if not (s.min() > 0 and len(s) == min(p, d)):
        raise ValueError(
            f"singular_values: expected the min(p, d) = {min(p, d)} of M Σ^{{1/2}}, all "
            f"positive, got {s}"
        )
    kappa = s.max() / s.min()
    if not 0 < lr <= kappa / (1 + kappa):
        raise ValueError(
            f"lr: expected a step size in (0, κ/(1 + κ)], here up to {kappa / (1 + kappa):.3g}, "
            f"got {lr}"
        )
    return float(1 - (2 if p == d else 1) * lr / kappa)


def least_squares_excess(n: int, d: int, p: int, sigma: float) -> float:
    """σ²pd/(2(n − d − 1)): the mean excess of least squares on n Gaussian tokens.

    Raises ValueError if n ≤ d + 1: the mean is infinite.
    """
    if n <= d + 1:
        raise ValueError(
            f"n: expected at least d + 2 = {d + 2} samples, got {n}; with fewer the mean is "
            f"infinite"
        )
    return sigma**2 * p * d / (2 * (n - d - 1))


def spectral_constant(singular_values: Array, d: int, p: int, sigma: float) -> float:
    """½[σ²pd + (Σ s_i)² + Σ s_i²]: n times the excess of the spectral start, in the limit of many
    samples."""
    s = np.asarray(singular_values, float)
    return float((sigma**2 * p * d + s.sum() ** 2 + (s**2).sum()) / 2)


def fitted_noise(s: Array, v: Array) -> float:
    r"""n times the mean square of the linear map that descent fits to the noise of attention, to
    first order.

    .. math:: \Psi = \prod_i (1-v_i^4)^{-1/2} \Bigl[\sum_i \frac{s_i^2/v_i^2}{1-v_i^4}\, \sum_i\frac{v_i^2}{1-v_i^4}
              + \sum_i \frac{s_i^2(1+v_i^4)}{(1-v_i^4)^2}\Bigr]

    s (k,) are the singular values of M Σ^{1/2} and v (k,) those of V at an optimum, so that s_i/v_i
    are those of U. Infinite unless all v_i < 1. Source: this book.
    """
    s, v = np.asarray(s, float), np.asarray(v, float)
    if v.max() >= 1:
        return inf
    left = 1 - v**4
    inside = (s**2 / v**2 / left).sum() * (v**2 / left).sum() + (s**2 * (1 + v**4) / left**2).sum()
    return float(inside / sqrt(prod(left)))


def floor_constant(
    singular_values: Array, d: int, p: int, sigma: float, radius: float = inf
) -> float:
    """φ = ½(σ²pd + Ψ): n times the excess at which SA1 (``radius`` = ∞) or SA2 ends, to first order
    in 1/n.

    The optimum has v_i = √s_i, divided by c = max(1, √s_max/radius).  Source: this book.
    """
    s = np.asarray(singular_values, float)
    v = np.sqrt(s) / max(1.0, sqrt(s.max()) / radius)
    return (sigma**2 * p * d + fitted_noise(s, v)) / 2


def _optimum(seed, p=None):
    rng = np.random.default_rng([seed, 110])
    d = int(rng.integers(2, 4))
    p = int(rng.integers(1, 5)) if p is None else d
    left, right = (np.linalg.qr(rng.standard_normal((size, size)))[0] for size in (p, d))
    s, k = np.sort(rng.uniform(0.2, 2, min(p, d)))[::-1], min(p, d)
    return {
        "target": left[:, :k] * s @ right[:, :k].T,
        "turn": np.linalg.qr(rng.standard_normal((d, d)))[0],
        "lr": rng.uniform(0.1, 0.5),
    }


def _ends(target, lr, away=0.0, balance=1.0, **_):
    s = np.linalg.svd(target, compute_uv=False)
    return {
        "s_1 > s_2 ≥ … ≥ s_ℓ > 0": s[-1] > 0 and (len(s) == 1 or s[0] > s[1]),
        "λ = 1": balance == 1,
        "at every point of the optimum manifold": away == 0,
        "0 < η ≤ κ/(1 + κ)": s[-1] > 0 and 0 < lr * (1 + s[-1] / s[0]) <= 1,
    }


@statement(
    id="prop-late-factor",
    title="The late rate of structure-aware descent",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="s_1 > s_2 ≥ … ≥ s_ℓ > 0; infinitely many samples; λ = 1; "
    "at every point of the optimum manifold; 0 < η ≤ κ/(1 + κ)",
    by_proof="the directions with the eigenvalue 1 are those along the manifold, for p = d",
    random=_optimum,
    broken=lambda seed: _optimum(seed) | {"away": 1.0},
    breaks="at every point of the optimum manifold: (2U, V), which is not on it",
    hypotheses=_ends,
    counterexamples=(lambda: _optimum(0) | {"balance": 0.5},),
    refused=(lambda: _optimum(0) | {"lr": 2.0},),
)
def late_spectrum(
    target: Array, turn: Array, lr: float, away: float = 0.0, balance: float = 1.0
) -> Checks:
    """The derivative of a balanced step of SA2 at an optimum has the eigenvalues 1 − η(s_i +
    s_j)/s_max.

    For p = d: d² of them for all i, j, d(d+1)/2 for i ≤ j, and 1 otherwise; but 0 for one of the
    two with i = j = 1. For p ≠ d also 1 − η s_i/s_max, see ``late_eigenvalues``. The largest but
    for those that are 1 is ``late_factor``, and a step along its direction leaves the square of it
    of the excess. The check differentiates the book's own rule; each lhs is a difference, rhs 1e-5.
    Source: this book.
    """
    step, (U, V) = _balanced_step(target, lr, balance), optimum(target, turn)
    at = np.concatenate([(1 + away) * U.ravel(), V.ravel()])
    # Central differences of step 1e-6 lose about 1e-10 to rounding. The eigenvalues are real, but
    # rounding may turn equal ones into a complex pair.
    units = 1e-6 * np.eye(len(at))
    found = np.sort(
        np.linalg.eigvals(np.array([step(at + e) - step(at - e) for e in units]).T / 2e-6).real
    )
    want = late_eigenvalues(target, lr)
    # Along the optimum manifold the factor is 1, which does not slow a run: those are left out.
    moving = found[np.argsort(abs(found - 1))[np.count_nonzero(want == 1) :]]
    factor = late_factor(np.linalg.svd(target)[1], *target.shape, lr)
    aside = 1e-5 * _slowest(target, U, V)
    # On both sides of the optimum, so that the odd orders of the excess cancel.
    ends = [at + aside, at - aside]
    left = sum(_excess(step(x), target) for x in ends) / sum(_excess(x, target) for x in ends)
    return (
        Check(float(abs(found - want).max()), 1e-5, "eigenvalues 1 − η(s_i + s_j)/s_max"),
        Check(
            float(abs(abs(moving).max() - factor)),
            1e-5,
            "the slowest is 1 − 2η/κ, or 1 − η/κ for p ≠ d",
        ),
        Check(
            float(abs(left - factor**2)),
            1e-5,
            "the excess falls by the square of the slowest factor",
        ),
    )


def _balanced_step(target, lr, balance):
    """(U, V) as one vector ↦ a step of SA2, then the balancing with which the next one begins."""
    (p, d) = target.shape
    rule = StructureAware(lr, balance, Whitening.none(target.shape[1]), radius=0.5)

    def step(both):
        model = PopulationRegression(both[: p * d].reshape(p, d), both[p * d :].reshape(d, d))
        model, _ = rule.step(model, model.loss_and_grad(np.eye(d), target)[1], None, 0)
        # Balancing also undoes the renormalization: (cU, V/c) has the same balanced pair as (U, V).
        alpha = sqrt(np.linalg.norm(model.B, 2) / np.linalg.norm(model.A, 2))
        return np.concatenate([alpha * model.A.ravel(), model.B.ravel() / alpha])

    return step


def _excess(both, target):
    p, d = target.shape
    U, V = both[: p * d].reshape(p, d), both[p * d :].reshape(d, d)
    return float(((U @ V.T - target) ** 2).sum() / 2)


def _slowest(target, U, V):
    """The direction of (U, V), as one vector, that changes U Vᵀ and dies out last, at an
    optimum."""
    (p, d), (left, _, right) = target.shape, np.linalg.svd(target)
    turn = U.T @ left[:, min(p, d) - 1]
    dU, dV = np.outer(left[:, min(p - 1, d)], turn), np.outer(right[min(p, d - 1)], turn)
    return np.concatenate([(dU if p >= d else 0 * U).ravel(), (dV if p <= d else 0 * V).ravel()])


def late_eigenvalues(target: Array, lr: float) -> np.ndarray:
    """The eigenvalues of ``prop-late-factor``, in rising order, for a target (p, d) that is not
    zero.

    Raises TypeError, ValueError if the target is no such matrix of finite numbers, or ``lr`` no
    finite number > 0.
    """
    require("target", target, ("p", "d"))
    if not is_positive(lr):
        raise ValueError(f"lr: expected a finite number > 0, got {lr!r}")
    (p, d), s = target.shape, np.linalg.svd(target, compute_uv=False)
    if not s[0] > 0:
        raise ValueError(
            f"target: expected a matrix that is not zero, got zeros of shape {target.shape}"
        )
    sums = np.add.outer(s, s)
    # Between the k directions of the target and those that it does not have, a sum is s_i alone.
    lone = np.repeat(s, (p - d) if p > d else 2 * (d - p))
    moving = np.concatenate([sums.ravel(), sums[np.triu_indices(len(s))], lone])
    factors = 1 - lr / s[0] * moving
    factors[0] = 0.0  # one of the two with i = j = 1: its direction is that of the balancing itself
    return np.sort(np.concatenate([factors, np.ones(d * (p + d) - len(factors))]))


def slow_mean(kappa: float, lr: float = 0.5) -> float:
    """1/(1 + η/κ): what a step leaves of the mean excess over random starts, as far as the last
    direction decides."""
    return 1 / (1 + lr / kappa)


def _starts(seed):
    rng = np.random.default_rng([seed, 118])
    return {
        "kappa": float(np.exp(rng.uniform(0.01, 2.5))),
        "lr": rng.uniform(0.1, 0.5),
        "tilt": rng.uniform(-0.9, 0.9),
    }


@statement(
    id="prop-mean-over-starts",
    title="The mean over random initializations is slower than every run",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    by_proof="the limit of (1 + h)^K E(1 − x_K²)² is positive and finite",
    random=_starts,
    # The density falls from 2 to 0; and a step so short that the limit is nearly 1. In the others
    # the density is nearly 0 at 0: one that is changed by as much as is left there has another limit.
    extremal=(
        lambda: {"kappa": 2.0, "lr": 0.4, "tilt": -1.0},
        lambda: {"kappa": 20.0, "lr": 0.3, "tilt": 0.0},
        lambda: {"kappa": 2.0, "lr": 0.9, "tilt": 0.96},
        lambda: {"kappa": 2.0, "lr": 0.9, "tilt": 0.98},
    ),
    slack=(),
    assumptions="x_{j+1} = x_j(1 + h(1 − x_j²)); 0 < h < ½; a continuous density that is "
    "positive at 0",
    broken=lambda seed: _starts(seed) | {"least": 0.3},
    breaks="a continuous density that is positive at 0: x₀ ≥ 0.3",
    hypotheses=lambda kappa, lr, tilt, least=0.0: {
        "0 < h < ½": 0 < lr / kappa < 0.5,
        "a continuous density that is positive at 0": least == 0 and tilt < 1,
    },
    counterexamples=(lambda: {"kappa": 1.0, "lr": 0.95, "tilt": 0.0},),
)
def mean_over_starts(kappa: float, lr: float, tilt: float, least: float = 0.0) -> Checks:
    """E(1 − x_K²)² is multiplied by 1/(1 + h) a step as K → ∞, each (1 − x_K²)² by (1 − 2h)², with
    h = η/κ.

    The density is 1 + ``tilt``·(2x − 1). The check takes the ratio of two means, by quadrature,
    once they are below 1e-4 of the first: lhs is its distance from the limit, rhs 0.02 of what the
    limit lacks to 1. It takes the ratio of a run from x₀ = ½ once 1 − x is below 1e-9: rhs 1e-8.
    Source: this book.
    """
    h = lr / kappa
    steps = int(np.ceil(9 / np.log1p(h)))
    # The late mean is decided by starts near 0, of order (1 + h)^{−K}: so the grid is even in ln x,
    # and the weights have the x of dx = x d(ln x).
    log_x = (
        np.linspace(-3 * steps * h - 12, 0, 4001)
        if least == 0
        else np.linspace(np.log(least), 0, 4001)
    )
    x = np.exp(log_x)
    weights, means = (1 + tilt * (2 * x - 1)) * x, []
    for k in range(steps + 2):
        if k >= steps:
            means.append(weights @ (1 - x**2) ** 2)
        x = x * (1 + h * (1 - x**2))
    want = slow_mean(kappa, lr)
    off = float(abs(means[1] / means[0] - want))
    return (
        Check(off, 0.02 * (1 - want), "a step leaves 1/(1 + η/κ) of E(1 − x_K²)²"),
        Check(
            abs(_late_ratio(h) - (1 - 2 * h) ** 2), 1e-8, "a step leaves (1 − 2η/κ)² of (1 − x_K²)²"
        ),
    )


def _late_ratio(h):
    """(1 − x_{K+1}²)²/(1 − x_K²)² for the first K with y = 1 − x_K < 1e-9, in y, which no rounding
    cancels."""
    y = 0.5
    while True:
        after = y * (1 - h * (1 - y) * (2 - y))
        if y < 1e-9:
            return (after * (2 - after) / (y * (2 - y))) ** 2
        y = after


def _tokens(seed):
    rng = np.random.default_rng([seed, 111])
    d, p = (int(size) for size in rng.integers(1, 4, size=2))
    return {
        # From n = d + 8 on tr (ZᵀZ)⁻¹ has four moments, so that its standard error can be trusted.
        "n": int(rng.integers(d + 8, 30)),
        "d": d,
        "p": p,
        "sigma": rng.uniform(0.1, 2),
        "seed": seed,
    }


@statement(
    id="prop-least-squares",
    title="The error of least squares with n samples",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="x_i ~ N(0, Σ); w_i ~ N(0, σ²I_p); n > d + 1",
    random=_tokens,
    # So many draws that five standard errors are 0.6 % of the mean.
    extremal=(lambda: {"n": 12, "d": 4, "p": 1, "sigma": 1.0, "seed": 0, "draws": 100_000},),
    slack=(None,),
    broken=lambda seed: _tokens(seed) | {"heavy": True, "n": 12},
    breaks="x_i ~ N(0, Σ): tokens of random size, with the same covariance",
    hypotheses=lambda n, d, heavy=False, **_: {"n > d + 1": n > d + 1, "x_i ~ N(0, Σ)": not heavy},
    refused=(lambda: (drawn := _tokens(0)) | {"n": drawn["d"] + 1},),
)
def least_squares(
    n: int, d: int, p: int, sigma: float, seed: int, heavy: bool = False, draws: int = 1000
) -> Check:
    """E ½‖(M̂ − M)Σ^{1/2}‖² = σ²pd/(2(n − d − 1)), the mean over the noise exactly, over the tokens
    by ``draws``.

    The left side does not depend on Σ, which is I here. lhs is the difference, rhs five standard
    errors of the draws.

    Source: this book; the mean of an inverse Wishart matrix is classical.
    """
    rng = np.random.default_rng([seed, 112])
    z = rng.standard_normal((draws, n, d))
    if heavy:
        # 0.7 · 0.1² + 0.3 · (1 − 0.7 · 0.01)/0.3 = 1: the covariance stays I.
        z *= np.where(rng.random((draws, n, 1)) < 0.7, 0.1, sqrt((1 - 0.7 * 0.01) / 0.3))
    found = sigma**2 * p / 2 * np.trace(np.linalg.inv(z.mT @ z), axis1=1, axis2=2)
    error = found.std() / sqrt(draws)
    return Check(
        float(abs(found.mean() - least_squares_excess(n, d, p, sigma))),
        float(5 * error),
        "E ½‖(M̂ − M)Σ^{1/2}‖² = σ²pd/(2(n − d − 1))",
    )


def _spectral(seed):
    rng = np.random.default_rng([seed, 113])
    p, d = (int(size) for size in rng.integers(1, 4, size=2))
    root = rng.standard_normal((d, d))
    return {
        "M": rng.standard_normal((p, d)),
        "Sigma": root @ root.T + 0.3 * np.eye(d),
        "sigma": rng.uniform(0.1, 1),
    }


@statement(
    id="prop-spectral-excess",
    title="The error of the spectral start",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{GAUSSIAN}; the s_i are positive and distinct",
    by_proof="the errors of the estimated covariance and map have a Gaussian limit",
    random=_spectral,
    broken=lambda seed: _spectral(seed) | {"fourth": 1.8},
    breaks=f"{GAUSSIAN}: uniform tokens, whose fourth moment is 1.8 instead of 3",
    hypotheses=lambda M, Sigma, fourth=3.0, **_: {
        GAUSSIAN: fourth == 3.0,
        "the s_i are positive and distinct": _apart(
            np.linalg.svd(M @ symmetric_power(Sigma, 0.5))[1]
        ),
    },
    counterexamples=(lambda: {"M": np.eye(2), "Sigma": np.eye(2), "sigma": 1.0},),
)
def spectral_excess(M: Array, Sigma: Array, sigma: float, fourth: float = 3.0) -> Checks:
    """n(L(A₀, B₀) − L*) tends to X = ½‖σG − P S^{1/2} H S^{1/2} Wᵀ‖², and E X = ½[σ²pd + (Σ s_i)² +
    Σ s_i²].

    The excess is a quadratic form in the fluctuations of Σ̂ and of the noise, to leading order. The
    check measures it along each of them with the book's own start, on d tokens made for the
    purpose, and adds up with their variances. It also compares the form with X, at a random H for
    G = 0 and at a random G for a diagonal H, where the signs of P and W play no part. That the
    fluctuations tend to Gaussian ones is the central limit theorem, and not checked. Each lhs is an
    error relative to the mean, rhs 1e-4. Source: this book.
    """
    (p, d), root = M.shape, symmetric_power(Sigma, 0.5)
    found, none, rng = 0.0, np.zeros((p, d)), np.random.default_rng([p, d, 120])
    for i, j in zip(*np.triu_indices(d), strict=True):
        H = np.zeros((d, d))
        H[i, j] = H[j, i] = 1
        # √n (Σ̂ − I) has uncorrelated entries, of variance E g⁴ − 1 on the diagonal and 1 off it.
        found += (fourth - 1 if i == j else 1) * _spectral_form(M, root, H, none)
    for unit in np.eye(p * d):
        found += sigma**2 * _spectral_form(M, root, np.zeros((d, d)), unit.reshape(p, d))
    want = spectral_constant(np.linalg.svd(M @ root)[1], d, p, sigma)
    H, G = (
        one / np.linalg.norm(one)
        for one in (rng.standard_normal((d, d)), rng.standard_normal((p, d)))
    )
    pairs = (H + H.T, none), (np.diag(H[0]), sigma * G)
    off = max(
        abs(_spectral_form(M, root, *pair) - _limit(M @ root, *pair)) / want for pair in pairs
    )
    return (
        Check(float(abs(found / want - 1)), 1e-4, "n(L(A₀,B₀) − L*) → mean ½[σ²pd + (Σs)² + Σs²]"),
        Check(float(off), 1e-4, "n(L(A₀,B₀) − L*) → ½‖σG − P S^{1/2} H S^{1/2} Wᵀ‖²"),
    )


def _limit(target, H, G):
    """½‖G − P S^{1/2} H S^{1/2} Wᵀ‖², of H (d, d) the first ℓ rows and columns, and P S Wᵀ the
    target (p, d)."""
    P, s, W = np.linalg.svd(target, full_matrices=False)
    return ((G - P * s**0.5 @ H[: len(s), : len(s)] * s**0.5 @ W) ** 2).sum() / 2


def _spectral_form(M, root, H, G, step=1e-3):
    """The excess of the spectral start where Σ̂ = Σ^{1/2}(I + tH)Σ^{1/2} and M̂ = M + tGΣ^{−1/2},
    over t² as t → 0."""
    d, total = len(root), 0.0
    for t in (step, -step):
        # d tokens with exactly the wanted second moment; ±t cancel the odd orders.
        x = sqrt(d) * symmetric_power(root @ (np.eye(d) + t * H) @ root, 0.5)
        y = x @ (M + t * np.linalg.solve(root, G.T).T).T
        start = AttentionRegression.spectral(RegressionDataset(x, y))
        total += excess(start.A, start.B, root @ root, M) / (2 * step**2)
    return total


def _apart(s):
    """Whether singular values are positive and distinct."""
    return s[-1] > 0 and len(set(s)) == len(s)


_FIT = {1: (60, 0.8), 2: (26, 0.7), 3: (8, 0.3)}
"""d → nodes in each direction, and the largest ‖V‖ that they integrate to 1e-5."""


def _fitted(seed, largest=None, d=None):
    """U (p, d) and V (d, d) with the same right singular vectors, in any order."""
    rng = np.random.default_rng([seed, 114])
    d, p = d or int(rng.integers(1, 3)), int(rng.integers(1, 4))
    left, right, turn = (np.linalg.qr(rng.standard_normal((size, size)))[0] for size in (p, d, d))
    v = rng.uniform(0.2, 1, d) * (largest or rng.uniform(0.2, 0.7))
    u, k = rng.uniform(0.4, 2, min(p, d)), min(p, d)
    return {"U": left[:, :k] * u @ turn[:k], "V": right * v @ turn}


@statement(
    id="prop-fitted-noise",
    title="The noise of attention that descent fits",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="x, z ~ N(0, I_d); ‖V‖ < 1; the same right singular vectors; the scores are "
    "those of V",
    by_proof="Ψ is finite exactly if ‖V‖ < 1, and its formula for ‖V‖ ≥ 0.7",
    random=_fitted,
    extremal=(lambda: _fitted(0, 0.1, 3),),
    slack=(),
    broken=lambda seed: _fitted(seed, 0.4) | {"scores": 1.5},
    breaks="the scores are those of V: half as large again",
    hypotheses=lambda U, V, scores=1.0: {
        "‖V‖ < 1": np.linalg.norm(V, 2) < 1,
        "the scores are those of V": scores == 1,
        "the same right singular vectors": np.allclose(U.T @ U @ V.T @ V, V.T @ V @ U.T @ U),
    },
    refused=(lambda: _fitted(0) | {"V": np.eye(2)},),
)
def fitted(U: Array, V: Array, scores: float = 1.0) -> Checks:
    """E Γ(x) = 0 and E_x‖U Γ(x)‖² = Ψ with Γ(x) = E_z[e^{zᵀVx − ‖Vᵀz‖²/2}(x − Vᵀz)zᵀ], all means by
    quadrature.

    Each lhs is a relative error, rhs 1e-5; of Γ, whose terms are of order 1, 1e-9 counts as
    rounding.

    Raises ValueError for d > 3, or a ‖V‖ for which no grid of ours is wide enough. Source: this
    book.
    """
    nodes, largest = _FIT.get(len(V), (0, 0.0))
    if not (nodes and np.linalg.norm(V, 2) <= largest):
        raise ValueError(
            f"V: expected a matrix (d, d) with ‖V‖ ≤ 0.8, 0.7 or 0.3 for d = 1, 2 or 3, which the "
            f"quadrature integrates, got d = {len(V)} and ‖V‖ = {np.linalg.norm(V, 2):.3g}"
        )
    d = len(V)
    x, weights = quadrature(np.eye(d), nodes)
    b = scores * x @ V
    # query z = x_a, token x_j
    tilt = weights[:, None] * np.exp(b @ x.T - (b**2).sum(axis=1)[:, None] / 2)
    pulls = (b[:, :, None] * x[:, None, :]).reshape(-1, d * d)
    g = x[:, :, None] * (tilt.T @ x)[:, None, :] - (tilt.T @ pulls).reshape(-1, d, d)
    mean, square = np.tensordot(weights, g, 1), weights @ (g**2).sum(axis=(1, 2))
    found = weights @ ((U @ g) ** 2).sum(axis=(1, 2))
    _, v, axes = np.linalg.svd(V)
    v = np.maximum(v, 1e-15)  # Ψ reads the size of a column of U as s/v
    want = fitted_noise(np.linalg.norm(U @ axes.T, axis=0) * v, v)
    return (
        Check(float(np.linalg.norm(mean) / max(sqrt(square), 1e-9)), 1e-5, "E Γ(x) = 0"),
        Check(
            float(abs(found - want) / max(want, 1e-18 * np.linalg.norm(U) ** 2, TINY)),
            1e-5,
            "E‖U Γ(x)‖² = Ψ(s, v)",
        ),
    )
