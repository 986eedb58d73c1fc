"""Chapter 11: how fast descent ends, and what n samples leave: the late factor and the floor of the excess."""

from math import inf, prod, sqrt

import numpy as np

from mhalib._array import is_positive, require
from mhalib.data.regression import RegressionDataset
from mhalib.models.population import PopulationRegression
from mhalib.models.regression import AttentionRegression, excess
from mhalib.optim.structured import StructureAware
from mhalib.theory.factorization import optimum
from mhalib.theory.ledger import Check, statement
from mhalib.theory.tilting import quadrature
from mhalib.whitening import Whitening, symmetric_power

CHAPTER = "preconditioning/11_data_and_compute"
GAUSSIAN = "x ~ N(0, Σ)"


def late_factor(singular_values, p, d, lr=0.5):
    """What one step of SA2 leaves of the slowest error near the optimum: 1 − 2η/κ, or 1 − η/κ where p ≠ d.

    The excess is multiplied by its square. The singular values are the min(p, d) of M Σ^{1/2}, all positive, κ is the
    ratio of the largest to the smallest, and η = ``lr`` ≤ κ/(1 + κ).  Source: this book.
    """
    s = np.asarray(singular_values, float)
    if not (s.min() > 0 and len(s) == min(p, d)):
        raise ValueError(f"singular_values: expected the min(p, d) = {min(p, d)} of M Σ^{{1/2}}, all positive, got {s}")
    kappa = s.max() / s.min()
    if not 0 < lr <= kappa / (1 + kappa):
        raise ValueError(f"lr: expected a step size in (0, κ/(1 + κ)], here up to {kappa / (1 + kappa):.3g}, got {lr}")
    return float(1 - (2 if p == d else 1) * lr / kappa)


def least_squares_excess(n, d, p, sigma):
    """σ²pd/(2(n − d − 1)): the mean excess of least squares on n Gaussian tokens.

    Raises
    ------
    ValueError
        if n ≤ d + 1: the mean is infinite.
    """
    if n <= d + 1:
        raise ValueError(f"n: expected at least d + 2 = {d + 2} samples, got {n}; with fewer the mean is infinite")
    return sigma ** 2 * p * d / (2 * (n - d - 1))


def spectral_constant(singular_values, d, p, sigma):
    """½[σ²pd + (Σ s_i)² + Σ s_i²]: n times the excess of the spectral start, in the limit of many samples."""
    s = np.asarray(singular_values, float)
    return float((sigma ** 2 * p * d + s.sum() ** 2 + (s ** 2).sum()) / 2)


def fitted_noise(s, v):
    r"""n times the mean square of the linear map that descent fits to the noise of attention, to first order.

    .. math:: \Psi = \prod_i (1-v_i^4)^{-1/2} \Bigl[\sum_i \frac{s_i^2/v_i^2}{1-v_i^4}\, \sum_i\frac{v_i^2}{1-v_i^4}
              + \sum_i \frac{s_i^2(1+v_i^4)}{(1-v_i^4)^2}\Bigr]

    s (k,) are the singular values of M Σ^{1/2} and v (k,) those of V at an optimum, so that s_i/v_i are those of U.
    Infinite unless all v_i < 1.  Source: this book.
    """
    s, v = np.asarray(s, float), np.asarray(v, float)
    if v.max() >= 1:
        return inf
    left = 1 - v ** 4
    inside = (s ** 2 / v ** 2 / left).sum() * (v ** 2 / left).sum() + (s ** 2 * (1 + v ** 4) / left ** 2).sum()
    return float(inside / sqrt(prod(left)))


def floor_constant(singular_values, d, p, sigma, radius=inf):
    """φ = ½(σ²pd + Ψ): n times the excess at which SA1 (``radius`` = ∞) or SA2 ends, to first order in 1/n.

    The optimum has v_i = √s_i, divided by c = max(1, √s_max/radius).  Source: this book.
    """
    s = np.asarray(singular_values, float)
    v = np.sqrt(s) / max(1.0, sqrt(s.max()) / radius)
    return (sigma ** 2 * p * d + fitted_noise(s, v)) / 2


def _optimum(seed, p=None):
    rng = np.random.default_rng([seed, 110])
    d = int(rng.integers(2, 4))
    p = int(rng.integers(1, 5)) if p is None else d
    left, right = (np.linalg.qr(rng.standard_normal((size, size)))[0] for size in (p, d))
    s, k = np.sort(rng.uniform(0.2, 2, min(p, d)))[::-1], min(p, d)
    return {"target": left[:, :k] * s @ right[:, :k].T, "turn": np.linalg.qr(rng.standard_normal((d, d)))[0],
            "lr": rng.uniform(0.1, 0.5)}


@statement(id="prop-late-factor", title="How fast structure-aware descent ends", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="infinitely many samples, s_max > s_2, near the optimum manifold",
           random=_optimum, broken=lambda seed: _optimum(seed) | {"away": 1.0}, breaks="the point is an optimum")
def late_spectrum(target, turn, lr, away=0.0):
    """The derivative of a balanced step of SA2 at an optimum has the eigenvalues 1 − η(s_i + s_j)/s_max.

    For p = d: d² of them for all i, j, d(d+1)/2 for i ≤ j, and 1 otherwise; but 0 for one of the two with i = j = 1.
    For p ≠ d also 1 − η s_i/s_max, see ``late_eigenvalues``. The check differentiates the book's own rule; lhs is the
    largest difference, rhs 1e-5.

    Source: this book.
    """
    (p, d), rule = target.shape, StructureAware(lr, whitening=Whitening.none(target.shape[1]), radius=0.5)
    U, V = optimum(target, turn)
    at = np.concatenate([(1 + away) * U.ravel(), V.ravel()])

    def step(both):
        """A step, then the balancing with which the next one begins."""
        model = PopulationRegression(both[:p * d].reshape(p, d), both[p * d:].reshape(d, d))
        model, _ = rule.step(model, model.loss_and_grad(np.eye(d), target)[1], None, 0)
        alpha = sqrt(np.linalg.norm(model.B, 2) / np.linalg.norm(model.A, 2))
        return np.concatenate([alpha * model.A.ravel(), model.B.ravel() / alpha])

    units = 1e-6 * np.eye(len(at))
    found = np.sort(np.linalg.eigvals(np.array([step(at + e) - step(at - e) for e in units]).T / 2e-6).real)
    return Check(float(abs(found - late_eigenvalues(target, lr)).max()), 1e-5, "eigenvalues 1 − η(s_i + s_j)/s_max")


def late_eigenvalues(target, lr):
    """The eigenvalues of ``prop-late-factor``, in rising order, for a target (p, d) that is not zero.

    Raises
    ------
    TypeError, ValueError
        if the target is no such matrix of finite numbers, or ``lr`` no finite number > 0.
    """
    require("target", target, ("p", "d"))
    if not is_positive(lr):
        raise ValueError(f"lr: expected a finite number > 0, got {lr!r}")
    (p, d), s = target.shape, np.linalg.svd(target, compute_uv=False)
    if not s[0] > 0:
        raise ValueError(f"target: expected a matrix that is not zero, got zeros of shape {target.shape}")
    sums = np.add.outer(s, s)
    # Between the k directions of the target and those that it does not have, a sum is s_i alone.
    lone = np.repeat(s, (p - d) if p > d else 2 * (d - p))
    moving = np.concatenate([sums.ravel(), sums[np.triu_indices(len(s))], lone])
    factors = 1 - lr / s[0] * moving
    factors[0] = 0.0  # one of the two with i = j = 1: its direction is that of the balancing itself
    return np.sort(np.concatenate([factors, np.ones(d * (p + d) - len(factors))]))


def slow_mean(kappa, lr=0.5):
    """1/(1 + η/κ): what a step leaves of the mean excess over random starts, as far as the last direction decides."""
    return 1 / (1 + lr / kappa)


def _starts(seed):
    rng = np.random.default_rng([seed, 118])
    return {"kappa": rng.uniform(1.5, 12), "lr": rng.uniform(0.1, 0.5), "tilt": rng.uniform(-0.9, 0.9)}


@statement(id="prop-mean-over-starts", title="The mean over random starts is slower than every run", mark="ours",
           source="this book", chapter=CHAPTER, random=_starts,
           assumptions="x_{k+1} = x_k(1 + (η/κ)(1 − x_k²)), x₀ with a density on (0, 1] that is positive at 0",
           broken=lambda seed: _starts(seed) | {"least": 0.3}, breaks="a density that is positive at 0: x₀ ≥ 0.3")
def mean_over_starts(kappa, lr, tilt, least=0.0):
    """E(1 − x_K²)² is multiplied by 1/(1 + η/κ) a step as K → ∞, each (1 − x_K²)² by (1 − 2η/κ)².

    The density is 1 + ``tilt``·(2x − 1). The check takes the ratio of two means, by quadrature, once they are below
    1e-4 of the first: lhs is its distance from the limit, rhs 0.02 of what the limit lacks to 1.  Source: this book.
    """
    h = lr / kappa
    steps = int(np.ceil(9 / np.log1p(h)))
    log_x = np.linspace(-3 * steps * h - 12, 0, 4001) if least == 0 else np.linspace(np.log(least), 0, 4001)
    x = np.exp(log_x)
    weights, means = (1 + tilt * (2 * x - 1)) * x, []
    for k in range(steps + 2):
        if k >= steps:
            means.append(weights @ (1 - x ** 2) ** 2)
        x = x * (1 + h * (1 - x ** 2))
    want = slow_mean(kappa, lr)
    return Check(float(abs(means[1] / means[0] - want)), 0.02 * (1 - want), "a step leaves 1/(1 + η/κ) of E(1 − x_K²)²")


def _tokens(seed):
    rng = np.random.default_rng([seed, 111])
    d, p = (int(size) for size in rng.integers(1, 4, size=2))
    return {"n": int(rng.integers(d + 8, 30)), "d": d, "p": p, "sigma": rng.uniform(0.1, 2), "seed": seed}


@statement(id="prop-least-squares", title="What n samples cost least squares", mark="ours", source="this book",
           chapter=CHAPTER, assumptions=f"{GAUSSIAN}, noise N(0, σ²) in each target, n > d + 1", random=_tokens,
           broken=lambda seed: _tokens(seed) | {"heavy": True, "n": 12},
           breaks=f"{GAUSSIAN}: tokens of random size, with the same covariance")
def least_squares(n, d, p, sigma, seed, heavy=False, draws=1000):
    """E ½‖(M̂ − M)Σ^{1/2}‖² = σ²pd/(2(n − d − 1)), the mean over the noise exactly, over the tokens by ``draws``.

    The left side does not depend on Σ, which is I here. lhs is the difference, rhs five standard errors of the draws.

    Source: this book; the mean of an inverse Wishart matrix is classical.
    """
    rng = np.random.default_rng([seed, 112])
    z = rng.standard_normal((draws, n, d))
    if heavy:
        z *= np.where(rng.random((draws, n, 1)) < 0.7, 0.1, sqrt((1 - 0.7 * 0.01) / 0.3))
    found = sigma ** 2 * p / 2 * np.trace(np.linalg.inv(z.mT @ z), axis1=1, axis2=2)
    error = found.std() / sqrt(draws)
    return Check(float(abs(found.mean() - least_squares_excess(n, d, p, sigma))), float(5 * error),
                 "E ½‖(M̂ − M)Σ^{1/2}‖² = σ²pd/(2(n − d − 1))")


def _spectral(seed):
    rng = np.random.default_rng([seed, 113])
    p, d = (int(size) for size in rng.integers(1, 4, size=2))
    root = rng.standard_normal((d, d))
    return {"M": rng.standard_normal((p, d)), "Sigma": root @ root.T + 0.3 * np.eye(d), "sigma": rng.uniform(0.1, 1)}


@statement(id="prop-spectral-excess", title="What the spectral start leaves", mark="ours", source="this book",
           chapter=CHAPTER, assumptions=f"{GAUSSIAN}, the singular values of M Σ^{{1/2}} positive and distinct",
           random=_spectral, broken=lambda seed: _spectral(seed) | {"fourth": 1.8},
           breaks=f"{GAUSSIAN}: uniform tokens, whose fourth moment is 1.8 instead of 3")
def spectral_excess(M, Sigma, sigma, fourth=3.0, step=1e-3):
    """The mean of the limit of n(L(A₀, B₀) − L*) is ½[σ²pd + (Σ s_i)² + Σ s_i²].

    The excess is a quadratic form in the fluctuations of Σ̂ and of the noise, to leading order. The check measures it
    along each of them with the book's own start, on d tokens made for the purpose, and adds up with their variances.
    lhs is the relative error, rhs 1e-4.  Source: this book.
    """
    (p, d), root = M.shape, symmetric_power(Sigma, 0.5)

    def form(H, G):
        """The quadratic form: half the second difference of the excess."""
        total = 0.0
        for t in (step, -step):
            x = sqrt(d) * symmetric_power(root @ (np.eye(d) + t * H) @ root, 0.5)
            y = x @ (M + t * np.linalg.solve(root, G.T).T).T
            start = AttentionRegression.spectral(RegressionDataset(x, y))
            total += excess(start.A, start.B, Sigma, M) / (2 * step ** 2)
        return total

    found, none = 0.0, np.zeros((p, d))
    for i, j in zip(*np.triu_indices(d), strict=True):
        H = np.zeros((d, d))
        H[i, j] = H[j, i] = 1
        found += (fourth - 1 if i == j else 1) * form(H, none)
    for unit in np.eye(p * d):
        found += sigma ** 2 * form(np.zeros((d, d)), unit.reshape(p, d))
    want = spectral_constant(np.linalg.svd(M @ root)[1], d, p, sigma)
    return Check(float(abs(found / want - 1)), 1e-4, "n(L(A₀,B₀) − L*) → mean ½[σ²pd + (Σs)² + Σs²]")


def _fitted(seed, largest=0.4):
    rng = np.random.default_rng([seed, 114])
    d = int(rng.integers(1, 3))
    left, right, turn = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(3))
    v, u = (np.sort(rng.uniform(0.2, 1, d))[::-1] * size for size in (largest, 2.0))
    return {"U": left * u @ turn, "V": right * v @ turn}


@statement(id="prop-fitted-noise", title="The noise of attention that descent fits", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="z, x ~ N(0, I), ‖V‖ < 1, U and V with the same right singular vectors",
           random=_fitted, broken=lambda seed: _fitted(seed) | {"scores": 1.5},
           breaks="the scores are those of V: half as large again")
def fitted(U, V, scores=1.0, nodes=16):
    """E_x‖U Γ(x)‖² = Ψ with Γ(x) = E_z[e^{zᵀVx − ‖Vᵀz‖²/2}(x − Vᵀz)zᵀ], both means by quadrature.

    lhs is the relative error, rhs 1e-5.  Source: this book.
    """
    d = len(V)
    x, weights = quadrature(np.eye(d), nodes)
    b = scores * x @ V
    tilt = weights[:, None] * np.exp(b @ x.T - (b ** 2).sum(axis=1)[:, None] / 2)  # query z = x_a, token x_j
    g = np.einsum("aj,jk,al->jkl", tilt, x, x) - np.einsum("aj,ak,al->jkl", tilt, b, x)
    found = weights @ ((U @ g) ** 2).sum(axis=(1, 2))
    s, v = np.linalg.svd(U @ V.T)[1], np.linalg.svd(V)[1]
    return Check(float(abs(found / fitted_noise(s, v) - 1)), 1e-5, "E‖U Γ(x)‖² = Ψ(s, v)")
