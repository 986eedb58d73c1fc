"""Chapter 9: softmax over Gaussian tokens is a tilted average; how fast it gets there, and what another scale buys."""

from math import inf, sqrt

import numpy as np

from mhalib._array import namespace, require, require_same_dtype
from mhalib.attention import softmax
from mhalib.models.regression import excess
from mhalib.theory.ledger import Check, statement
from mhalib.whitening import symmetric_power

CHAPTER = "preconditioning/09_attention_is_a_tilted_average"
GAUSSIAN = "x ~ N(0, Σ)"
BOX = f"{GAUSSIAN}: uniform on a box of the same covariance instead"
NODES = 40
"""Nodes of a Gauss rule in each direction: exact for the integrals of the checks to about 1e-11."""
LARGEST = 6.0
"""The largest standard deviation of a Gaussian exponent that so many nodes integrate with this accuracy.

At 7 the relative errors are 2e-8, at 8 they are 1e-5, and at 10 three percent."""


def quadrature(Sigma, nodes=NODES, uniform=False):
    """Points (m, d) and weights (m,) of a Gauss rule for N(0, Σ), or for the uniform box of that covariance."""
    legendre, hermite = np.polynomial.legendre.leggauss, np.polynomial.hermite_e.hermegauss
    at, weight = (legendre if uniform else hermite)(nodes)
    at = sqrt(3) * at if uniform else at
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*[at] * len(Sigma), indexing="ij")], axis=1)
    weights = np.prod([axis.ravel() for axis in np.meshgrid(*[weight] * len(Sigma), indexing="ij")], axis=0)
    return grid @ symmetric_power(Sigma, 0.5), weights / weights.sum()


def score_variance(b, Sigma):
    """τ² = bᵀΣb: the variance of the scores xᵀb. About n e^{−τ²} of n tokens are effective."""
    return float(b @ Sigma @ b)


def asymptotic_error(b, Sigma):
    """lim n E(m_n − Σb)(m_n − Σb)ᵀ = e^{τ²}(Σ + Σb bᵀΣ), m_n the softmax mean of n tokens under the scores xᵀb."""
    mean = Sigma @ b
    return np.exp(score_variance(b, Sigma)) * (Sigma + np.outer(mean, mean))


def mean_excess(U, V):
    """lim n E‖f_n − f‖²/2 over queries: ½ det(I − 2VVᵀ)^{−1/2}[‖U‖² + tr N (I − 2VVᵀ)^{−1} Nᵀ], N = U Vᵀ.

    What n tokens cost, times n. U = A Σ^{1/2} (p, d) and V = Σ^{1/2} B Σ^{1/2} (d, d). Infinite unless ‖V‖ < 1/√2.

    Source: this book.
    """
    inner = np.eye(len(V)) - 2 * V @ V.T
    if np.linalg.eigvalsh(inner)[0] <= 0:
        return inf
    N = U @ V.T
    bracket = np.linalg.norm(U) ** 2 + np.trace(N @ np.linalg.solve(inner, N.T))
    return float(bracket / (2 * sqrt(np.linalg.det(inner))))


def exponent(v):
    """−ω(v) = −min(1, (√(1 + 4/v²) − 1)/2): the power of n with which the mean excess falls, v = ‖V‖ > 0."""
    return -min(1.0, (sqrt(1 + 4 / v ** 2) - 1) / 2)


def best_scale(U, V, steps=200):
    """The c > √2‖V‖ at which ``mean_excess(c U, V / c)`` is least, by golden sections over 1/c².

    Raises
    ------
    ValueError
        if U or V is zero: then a larger c is never worse, or a smaller one never.

    Source: this book.
    """
    u, v, golden = np.linalg.norm(U), np.linalg.norm(V, 2), (sqrt(5) - 1) / 2
    if not (u > 0 and v > 0):
        raise ValueError(f"U, V: expected two matrices that are not zero, got norms {u:.3g} and {v:.3g}")
    low, high = 0.0, 1 / (2 * v ** 2)
    for _ in range(steps):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if mean_excess(U * left ** -0.5, V * left ** 0.5) < mean_excess(U * right ** -0.5, V * right ** 0.5):
            high = right
        else:
            low = left
    return ((low + high) / 2) ** -0.5


def _tilted(b, Sigma, uniform, power=1):
    """Points (m, d), weights (m,) and e^{xᵀb} (m,) for the integrals that have e^{``power`` xᵀb} in them."""
    require("b", b, ("d",))
    require("Sigma", Sigma, (len(b),) * 2)
    if not (np.allclose(Sigma, Sigma.T, rtol=1e-9) and np.linalg.eigvalsh(Sigma)[0] > 0):
        raise ValueError(f"Sigma: expected a symmetric positive definite matrix, got {Sigma.tolist()}")
    tau = score_variance(b, Sigma) ** 0.5
    if not tau <= LARGEST / power:
        raise ValueError(f"b, Sigma: expected scores with a standard deviation τ = √(bᵀΣb) up to {LARGEST / power:g}, "
                         f"which {NODES} nodes integrate, got {tau:.4g}")
    x, weights = quadrature(Sigma, uniform=uniform)
    return x, weights, np.exp(x @ b)


def _tilt(seed, largest=1.0):
    rng = np.random.default_rng([seed, 92])
    d = int(rng.integers(1, 3))
    root = rng.standard_normal((d, d))
    Sigma, b = root @ root.T + 0.1 * np.eye(d), rng.standard_normal(d)
    return {"b": b * largest * rng.uniform(0.3, 1) / score_variance(b, Sigma) ** 0.5, "Sigma": Sigma}


def _box(seed):
    return _tilt(seed) | {"uniform": True}


@statement(id="lemma-tilting", title="Tilting a Gaussian moves its mean", mark="ours", source="this book",
           chapter=CHAPTER, assumptions=GAUSSIAN, random=_tilt, broken=_box, breaks=BOX)
def tilting(b, Sigma, uniform=False):
    """E[x e^{xᵀb}]/E[e^{xᵀb}] = Σb, by quadrature.

    lhs is the error relative to ‖Σb‖, or for b = 0 to √tr Σ, rhs 1e-9.

    Raises
    ------
    TypeError, ValueError
        if b (d,) and Σ (d, d) do not fit or are not finite, Σ is not positive definite, or τ > 6: there the
        quadrature is not exact.

    Source: this book.
    """
    x, weights, powers = _tilted(b, Sigma, uniform)
    tilted = weights * powers
    away, size = tilted @ x / tilted.sum() - Sigma @ b, np.linalg.norm(Sigma @ b) or np.trace(Sigma) ** 0.5
    return Check(float(np.linalg.norm(away) / size), 1e-9, "E[x e^{xᵀb}]/E[e^{xᵀb}] = Σb")


def _population(seed):
    rng = np.random.default_rng([seed, 93])
    p = int(rng.integers(1, 3))
    root = rng.standard_normal((2, 2))
    return {"A": rng.standard_normal((p, 2)), "B": rng.standard_normal((2, 2)), "M": rng.standard_normal((p, 2)),
            "Sigma": root @ root.T + 0.1 * np.eye(2), "sigma": float(rng.uniform(0.1, 2))}


@statement(id="prop-population-loss", title="The population loss", mark="ours", source="this book, after Goel et al. "
           "2026", chapter=CHAPTER, assumptions=f"{GAUSSIAN}, y = M x + w; scores x_iᵀ B x_j", random=_population,
           broken=lambda seed: _population(seed) | {"transposed": True}, breaks="scores x_iᵀ B x_j: the transpose of B")
def population_loss(A, B, M, Sigma, sigma, transposed=False):
    """E‖y − A Σ Bᵀ x‖²/2 = ½‖(A Σ Bᵀ − M) Σ^{1/2}‖² + σ²p/2, the mean by quadrature over x and the noise.

    lhs is the relative error, rhs 1e-12.  Source: this book.
    """
    (p, d), covariance = M.shape, np.zeros((len(M) + len(Sigma),) * 2)
    covariance[:d, :d], covariance[d:, d:] = Sigma, sigma ** 2 * np.eye(p)
    drawn, weights = quadrature(covariance, 3)
    x, noise = drawn[:, :d], drawn[:, d:]
    away = x @ M.T + noise - x @ (A @ Sigma @ (B if transposed else B.T)).T
    mean = weights @ (away ** 2).sum(axis=1) / 2
    want = excess(A, B, Sigma, M) + sigma ** 2 * p / 2
    return Check(float(abs(mean / want - 1)), 1e-12, "E‖y − AΣBᵀx‖²/2 = ½‖(AΣBᵀ − M)Σ^{1/2}‖² + σ²p/2")


def gradient(A, B, x, y, centered=True):
    """(∇_A L_n, ∇_B L_n) from the whole matrix of weights: −(1/n) Σ r_i m_iᵀ and Σ x_i g_iᵀ C_i.

    A (p, d), B (d, d), x (n, d), y (n, p).

    Raises
    ------
    TypeError, ValueError
        if shapes, libraries or dtypes do not fit, or an entry is not finite.
    """
    require("A", A, ("p", "d"))
    require("B", B, (A.shape[1],) * 2)
    require("x", x, ("n", A.shape[1]))
    require("y", y, (len(x), len(A)))
    require_same_dtype(A=A, B=B, x=x, y=y)
    xp, weights = namespace(x), softmax(x @ B @ x.T)
    means = weights @ x
    r = y - means @ A.T
    C = xp.einsum("ij,jab->iab", weights, x[:, :, None] * x[:, None])
    C = C - centered * means[:, :, None] * means[:, None]
    return -r.T @ means / len(x), x.T @ xp.einsum("ia,iab->ib", -r @ A / len(x), C)


def _regression(seed):
    rng = np.random.default_rng([seed, 94])
    n, d, p = rng.integers(3, 7), rng.integers(1, 4), rng.integers(1, 4)
    A, B, dA, dB = (rng.standard_normal(shape) for shape in ((p, d), (d, d)) * 2)
    return {"A": A, "B": B, "dA": dA, "dB": dB, "x": rng.standard_normal((n, d)), "y": rng.standard_normal((n, p))}


@statement(id="prop-regression-gradient", title="The gradient in closed form", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="C_i is the covariance of the tokens under π_i", random=_regression,
           broken=lambda seed: _regression(seed) | {"centered": False},
           breaks="C_i is the covariance of the tokens: their second moment instead")
def regression_gradient(A, B, x, y, dA, dB, centered=True):
    """⟨∇_A L_n, dA⟩ + ⟨∇_B L_n, dB⟩ is the derivative of L_n along (dA, dB), taken with an imaginary step of 1e-30.

    lhs is the error relative to the lengths of both, rhs 1e-12.  Source: this book.
    """
    turned, scores = A + 1e-30j * dA, x @ (B + 1e-30j * dB) @ x.T
    weights = np.exp(scores - scores.real.max(axis=1, keepdims=True))
    r = y - weights / weights.sum(axis=1, keepdims=True) @ x @ turned.T
    want = float((r * r).sum().imag / (2 * len(x)) / 1e-30)
    by_A, by_B = gradient(A, B, x, y, centered)
    size = np.hypot(np.linalg.norm(by_A), np.linalg.norm(by_B)) * np.hypot(np.linalg.norm(dA), np.linalg.norm(dB))
    return Check(float(abs((by_A * dA).sum() + (by_B * dB).sum() - want) / size), 1e-12, "the gradient of L_n")


@statement(id="prop-effective-tokens", title="How many tokens are effective", mark="ours", source="this book",
           chapter=CHAPTER, assumptions=GAUSSIAN, random=_tilt, broken=_box, breaks=BOX)
def effective(b, Sigma, uniform=False):
    """lim (1/n)/Σ_j π_j² = E[e^{xᵀb}]²/E[e^{2xᵀb}] = e^{−τ²}, τ² = bᵀΣb.

    The first equality is the law of large numbers; the check is the second, by quadrature: lhs is the relative error,
    rhs 1e-9.

    Raises
    ------
    TypeError, ValueError
        if b (d,) and Σ (d, d) do not fit or are not finite, Σ is not positive definite, or τ > 3: there the
        quadrature is not exact.

    Source: this book.
    """
    _, weights, tilted = _tilted(b, Sigma, uniform, power=2)
    share = (weights @ tilted) ** 2 / (weights @ tilted ** 2)
    return Check(float(abs(share * np.exp(score_variance(b, Sigma)) - 1)), 1e-9, "E[e^{xᵀb}]²/E[e^{2xᵀb}] = e^{−τ²}")


@statement(id="prop-query-error", title="The error of one query", mark="ours", source="this book",
           chapter=CHAPTER, assumptions=GAUSSIAN, random=_tilt, broken=_box, breaks=BOX)
def query(b, Sigma, uniform=False):
    """lim n E(m_n − Σb)(m_n − Σb)ᵀ = E[e^{2xᵀb}(x − Σb)(x − Σb)ᵀ]/E[e^{xᵀb}]² = e^{τ²}(Σ + Σb bᵀΣ).

    The check is the second equality, by quadrature: lhs is the relative error, rhs 1e-8.

    Raises
    ------
    TypeError, ValueError
        if b (d,) and Σ (d, d) do not fit or are not finite, Σ is not positive definite, or τ > 3: there the
        quadrature is not exact.

    Source: this book.
    """
    x, weights, tilted = _tilted(b, Sigma, uniform, power=2)
    away = x - Sigma @ b
    found = (away.T * (weights * tilted ** 2)) @ away / (weights @ tilted) ** 2
    want = asymptotic_error(b, Sigma)
    return Check(float(np.linalg.norm(found - want) / np.linalg.norm(want)), 1e-8,
                 "E[e^{2xᵀb}(x − Σb)(x − Σb)ᵀ]/E[e^{xᵀb}]² = e^{τ²}(Σ + Σb bᵀΣ)")


def _factors(seed, least=0.1, most=0.6):
    rng = np.random.default_rng([seed, 95])
    p, d = rng.integers(1, 3, size=2)
    V = rng.standard_normal((d, d))
    return {"U": rng.standard_normal((p, d)), "V": V * rng.uniform(least, most) / np.linalg.norm(V, 2)}


@statement(id="prop-mean-error", title="The error of all queries", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="‖V‖ < 1/√2", random=_factors, broken=lambda seed: _factors(seed, 0.71, 1.0),
           breaks="‖V‖ < 1/√2: it is larger, and the limit infinite")
def mean_of_queries(U, V):
    """E e^{τ²}(‖U‖² + ‖U Vᵀ z‖²)/2 = ``mean_excess``, τ = ‖Vᵀz‖, by the trapezoidal rule over z ~ N(0, I).

    lhs is the relative error, rhs 1e-9.  Source: this book.
    """
    axis = np.arange(-16, 16, 0.25)
    z = np.stack([part.ravel() for part in np.meshgrid(*[axis] * len(V))], axis=1)
    weights = np.exp(((z @ V) ** 2).sum(axis=1) - (z ** 2).sum(axis=1) / 2) * (0.25 / sqrt(2 * np.pi)) ** len(V)
    found = weights @ (np.linalg.norm(U) ** 2 + ((z @ V @ U.T) ** 2).sum(axis=1)) / 2
    want = mean_excess(U, V)
    lhs = inf if want == inf else float(abs(found / want - 1))
    return Check(lhs, 1e-9, "E e^{‖Vᵀz‖²}(‖U‖² + ‖UVᵀz‖²)/2 = the closed form")


def _scales(seed, least=1.0):
    pair = _factors(seed, 0.3, 3.0)
    rng, v = np.random.default_rng([seed, 96]), np.linalg.norm(pair["V"], 2)
    return pair | {"c": tuple(sqrt(2) * v * least * (1 + rng.exponential(1.0, 2)))}


def _close_scales():
    return {"U": np.array([[1.0, 0.5]]), "V": np.array([[0.8, 0.1], [0.0, 0.3]]), "c": (2.0, 2.05)}


@statement(id="prop-renormalization", title="One scale is best", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="c > √2 ‖V‖", random=_scales, broken=lambda seed: _scales(seed, 0.1), extremal=(_close_scales,),
           breaks="c > √2 ‖V‖: c is smaller")
def renormalization(U, V, c):
    """With F(h) = ``mean_excess(U/√h, √h V)`` and h_i = 1/c_i²: F((h_1 + h_2)/2)² ≤ F(h_1) F(h_2).

    So the cost of a finite context is log-convex in 1/c², and infinite at both ends.  Source: this book.
    """
    h = np.array([c[0], c[1]], float) ** -2
    first, second, between = (mean_excess(U / sqrt(at), sqrt(at) * V) for at in (*h, h.mean()))
    # An end that is infinite bounds nothing: then the check fails.
    lhs, rhs = (between, sqrt(first * second)) if max(first, second) < inf else (inf, 0.0)
    return Check(lhs, rhs, "F((h₁ + h₂)/2) ≤ √(F(h₁) F(h₂))")
