"""Chapter 9: softmax over Gaussian tokens is a tilted average; its loss, its gradient, and what
another scale buys."""

from math import inf, sqrt

import numpy as np

from livegrad.arrays import Array, namespace, require, require_same_dtype
from mhabook.ledger import TINY, Check, Checks, Instance, statement
from mhalib.attention import softmax
from mhalib.models.regression import excess

CHAPTER = "preconditioning/09_attention_is_a_tilted_average"
FURTHER = "preconditioning/09_further"
GAUSSIAN = "x ~ N(0, Σ)"
BOX = f"{GAUSSIAN}: uniform on a box of the same covariance instead"
NODES = 40
"""Nodes of a Gauss rule in each direction: exact for the integrals of the checks to about 1e-11."""
LARGEST = 6.0
"""The largest standard deviation of a Gaussian exponent that so many nodes integrate with this
accuracy.

At 7 the relative errors are 2e-8, at 8 they are 1e-5, and at 10 three percent."""


def symmetric_power(Sigma: np.ndarray, power: float) -> np.ndarray:
    """Σ^power of a positive definite matrix (d, d)."""
    values, basis = np.linalg.eigh(Sigma)
    return basis * values**power @ basis.T


def quadrature(
    Sigma: Array, nodes: int = NODES, uniform: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Points (m, d) and weights (m,) of a Gauss rule for N(0, Σ), or for the uniform box of that
    covariance."""
    legendre, hermite = np.polynomial.legendre.leggauss, np.polynomial.hermite_e.hermegauss
    at, weight = (legendre if uniform else hermite)(nodes)
    # On [−√3, √3] a uniform coordinate has variance 1.
    at = sqrt(3) * at if uniform else at
    grid = np.stack(
        [axis.ravel() for axis in np.meshgrid(*[at] * len(Sigma), indexing="ij")], axis=1
    )
    weights = np.prod(
        [axis.ravel() for axis in np.meshgrid(*[weight] * len(Sigma), indexing="ij")], axis=0
    )
    return grid @ symmetric_power(Sigma, 0.5), weights / weights.sum()


def is_covariance(Sigma: Array) -> bool:
    """Whether Σ (d, d) is symmetric and positive definite."""
    return bool(np.allclose(Sigma, Sigma.T, rtol=1e-9) and np.linalg.eigvalsh(Sigma)[0] > 0)


def score_variance(b: Array, Sigma: Array) -> float:
    """τ² = bᵀΣb: the variance of the scores xᵀb. About n e^{−τ²} of n tokens are effective."""
    return float(b @ Sigma @ b)


def asymptotic_error(b: Array, Sigma: Array) -> np.ndarray:
    """lim n E(m_n − Σb)(m_n − Σb)ᵀ = e^{τ²}(Σ + Σb bᵀΣ), m_n the softmax mean of n tokens under the
    scores xᵀb."""
    mean = Sigma @ b
    return np.exp(score_variance(b, Sigma)) * (Sigma + np.outer(mean, mean))


def mean_excess(U: Array, V: Array) -> float:
    """lim n E‖f_n − f‖²/2 over queries: ½ det(I − 2VVᵀ)^{−1/2}[‖U‖² + tr N (I − 2VVᵀ)^{−1} Nᵀ], N =
    U Vᵀ.

    What n tokens cost, times n. U = A Σ^{1/2} (p, d) and V = Σ^{1/2} B Σ^{1/2} (d, d). Infinite
    unless ‖V‖ < 1/√2.

    Source: this book.
    """
    inner = np.eye(len(V)) - 2 * V @ V.T
    if np.linalg.eigvalsh(inner)[0] <= 0:
        return inf
    N = U @ V.T
    bracket = np.linalg.norm(U) ** 2 + np.trace(N @ np.linalg.solve(inner, N.T))
    return float(bracket / (2 * sqrt(np.linalg.det(inner))))


def exponent(v: float) -> float:
    """−ω(v) = −min(1, (√(1 + 4/v²) − 1)/2): the power of n with which the mean excess falls, v =
    ‖V‖ > 0."""
    return -min(1.0, (sqrt(1 + 4 / v**2) - 1) / 2)


def best_scale(U: Array, V: Array, steps: int = 200) -> float:
    """The c > √2‖V‖ at which ``mean_excess(c U, V / c)`` is least, by golden sections over 1/c².

    Raises ValueError if U or V is zero: then a larger c is never worse, or a smaller one never.
    Source: this book.
    """
    u, v, golden = np.linalg.norm(U), np.linalg.norm(V, 2), (sqrt(5) - 1) / 2
    if not (u > 0 and v > 0):
        raise ValueError(
            f"U, V: expected two matrices that are not zero, got norms {u:.3g} and {v:.3g}"
        )
    # In h = 1/c² the excess is log-convex and infinite at both ends (prop-renormalization): it has
    # one valley, which golden sections keep enclosed.
    low, high = 0.0, 1 / (2 * v**2)
    for _ in range(steps):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if mean_excess(U * left**-0.5, V * left**0.5) < mean_excess(
            U * right**-0.5, V * right**0.5
        ):
            high = right
        else:
            low = left
    return ((low + high) / 2) ** -0.5


def tilted_quadrature(
    b: Array, Sigma: Array, uniform: bool, power: int = 1
) -> tuple[np.ndarray, ...]:
    """Points (m, d), weights (m,) and e^{xᵀb} (m,) for the integrals that have e^{``power`` xᵀb} in
    them."""
    require("b", b, ("d",))
    require("Sigma", Sigma, (len(b),) * 2)
    if not is_covariance(Sigma):
        raise ValueError(
            f"Sigma: expected a symmetric positive definite matrix, got {Sigma.tolist()}"
        )
    tau = score_variance(b, Sigma) ** 0.5
    # The exponent of e^{power · xᵀb} has the standard deviation power · τ.
    if not tau <= LARGEST / power:
        raise ValueError(
            f"b, Sigma: expected scores with a standard deviation τ = √(bᵀΣb) up to "
            f"{LARGEST / power:g}, which {NODES} nodes integrate, got {tau:.4g}"
        )
    x, weights = quadrature(Sigma, uniform=uniform)
    return x, weights, np.exp(x @ b)


def any_tilt(seed: int, largest: float = 1.0) -> Instance:
    rng = np.random.default_rng([seed, 92])
    d = int(rng.integers(1, 3))
    root = rng.standard_normal((d, d))
    Sigma, b = root @ root.T + 0.1 * np.eye(d), rng.standard_normal(d)
    return {
        "b": b * largest * rng.uniform(0.3, 1) / score_variance(b, Sigma) ** 0.5,
        "Sigma": Sigma,
    }


def any_box(seed: int) -> Instance:
    return any_tilt(seed) | {"uniform": True}


def tilts(b: Array, Sigma: Array, uniform: bool = False) -> dict[str, bool]:
    """What the statements about one query assume of an instance."""
    return {GAUSSIAN: not uniform, "Σ is symmetric, Σ ≻ 0": is_covariance(Sigma)}


@statement(
    id="lemma-tilting",
    title="Tilting a Gaussian shifts its mean",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=f"{GAUSSIAN}; Σ is symmetric, Σ ≻ 0",
    random=any_tilt,
    broken=any_box,
    hypotheses=tilts,
    breaks=BOX,
    refused=(lambda: any_tilt(0) | {"Sigma": -np.eye(1)},),
)
def tilting(b: Array, Sigma: Array, uniform: bool = False) -> Checks:
    """Under the density of x times e^{xᵀb} the mean is Σb and the covariance Σ, by quadrature.

    lhs are the errors relative to ‖Σb‖, or for b = 0 to √tr Σ, and to ‖Σ‖_F; rhs 1e-9. Higher
    moments are not checked.

    Raises TypeError, ValueError if b (d,) and Σ (d, d) do not fit or are not finite, Σ is not
    positive definite, or τ > 6: there the quadrature is not exact. Source: this book.
    """
    x, weights, powers = tilted_quadrature(b, Sigma, uniform)
    tilted = weights * powers
    tilted, size = tilted / tilted.sum(), np.linalg.norm(Sigma @ b) or np.trace(Sigma) ** 0.5
    mean, away = tilted @ x, x - Sigma @ b
    return (
        Check(float(np.linalg.norm(mean - Sigma @ b) / size), 1e-9, "E[x e^{xᵀb}]/E[e^{xᵀb}] = Σb"),
        Check(
            float(np.linalg.norm((away.T * tilted) @ away - Sigma) / np.linalg.norm(Sigma)),
            1e-9,
            "E[(x − Σb)(x − Σb)ᵀ e^{xᵀb}]/E[e^{xᵀb}] = Σ",
        ),
    )


def _population(seed):
    rng = np.random.default_rng([seed, 93])
    p = int(rng.integers(1, 3))
    root = rng.standard_normal((2, 2))
    return {
        "A": rng.standard_normal((p, 2)),
        "B": rng.standard_normal((2, 2)),
        "M": rng.standard_normal((p, 2)),
        "Sigma": root @ root.T + 0.1 * np.eye(2),
        "sigma": float(rng.uniform(0.1, 2)),
    }


@statement(
    id="prop-population-loss",
    title="The population loss",
    mark="ours",
    source="this book, after Goel et al. 2026",
    chapter=CHAPTER,
    assumptions=f"{GAUSSIAN}; Σ ≻ 0; y = Mx + w; scores x_iᵀ B x_j",
    by_proof="the minimum is attained only where AΣBᵀ = M",
    random=_population,
    broken=_population,
    breaks="scores x_iᵀ B x_j: the transpose of B",
    false_claim=lambda **instance: _population_loss(**instance, turned=np.transpose),
    hypotheses=lambda Sigma, **_: {"Σ ≻ 0": is_covariance(Sigma)},
    refused=(lambda: (model := _population(0)) | {"Sigma": -model["Sigma"]},),
)
def population_loss(A: Array, B: Array, M: Array, Sigma: Array, sigma: float) -> Checks:
    """E‖y − A Σ Bᵀ x‖²/2 = ½‖(A Σ Bᵀ − M) Σ^{1/2}‖² + σ²p/2 = ½‖U Vᵀ − M Σ^{1/2}‖² + σ²p/2; A = M,
    B = Σ⁻¹ attains the least value σ²p/2. The mean is by quadrature over x and the noise.

    lhs are the errors relative to ‖AΣBᵀΣ^{1/2}‖² + ‖MΣ^{1/2}‖² + σ²p/2, rhs 1e-12, and 1e-9 for the
    least value, where Σ is inverted. Source: this book.
    """
    return _population_loss(A, B, M, Sigma, sigma, lambda B: B)


def _population_loss(A, B, M, Sigma, sigma, turned):
    """With scores x_iᵀ B′ x_j, B′ = ``turned(B)``."""
    (p, d), covariance = M.shape, np.zeros((len(M) + len(Sigma),) * 2)
    covariance[:d, :d], covariance[d:, d:] = Sigma, sigma**2 * np.eye(p)
    # Three nodes are exact up to degree 5, and the loss is a square of something linear.
    drawn, weights = quadrature(covariance, 3)
    x, noise = drawn[:, :d], drawn[:, d:]

    def mean(A, B):
        away = x @ M.T + noise - x @ (A @ Sigma @ turned(B).T).T
        return weights @ (away**2).sum(axis=1) / 2

    root, least = symmetric_power(Sigma, 0.5), sigma**2 * p / 2
    product, target = A @ root @ (root @ B @ root).T, M @ root
    size = max(np.linalg.norm(product) ** 2 + np.linalg.norm(target) ** 2 + least, TINY)
    found, factors = mean(A, B), np.linalg.norm(product - target) ** 2 / 2
    claims = (
        (found, excess(A, B, Sigma, M), 1e-12, "E‖y − AΣBᵀx‖²/2 = ½‖(AΣBᵀ − M)Σ^{1/2}‖² + σ²p/2"),
        (found, factors, 1e-12, "… = ½‖UVᵀ − MΣ^{1/2}‖² + σ²p/2"),
        (mean(M, np.linalg.inv(Sigma)), 0.0, 1e-9, "at A = M, B = Σ⁻¹ it is σ²p/2"),
    )
    return tuple(
        Check(float(abs(found - over - least) / size), room, claim)
        for found, over, room, claim in claims
    )


def gradient(A: Array, B: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """(∇_A L_n, ∇_B L_n) from the whole matrix of weights: −(1/n) Σ r_i m_iᵀ and Σ x_i g_iᵀ C_i.

    A (p, d), B (d, d), x (n, d), y (n, p).

    Raises TypeError, ValueError if shapes, libraries or dtypes do not fit, or an entry is not
    finite.
    """
    require("A", A, ("p", "d"))
    require("B", B, (A.shape[1],) * 2)
    require("x", x, ("n", A.shape[1]))
    require("y", y, (len(x), len(A)))
    require_same_dtype(A=A, B=B, x=x, y=y)
    return _gradient(A, B, x, y, 1.0)


def _gradient(A, B, x, y, centered):
    """With C_i − centered m_i m_iᵀ, C_i the second moment."""
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
    return {
        "A": A,
        "B": B,
        "dA": dA,
        "dB": dB,
        "x": rng.standard_normal((n, d)),
        "y": rng.standard_normal((n, p)),
    }


@statement(
    id="prop-regression-gradient",
    title="The gradient in closed form",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="C_i is the covariance of the tokens under π_i",
    random=_regression,
    broken=_regression,
    breaks="C_i is the covariance of the tokens: their second moment instead",
    false_claim=lambda **instance: _derivative(**instance, centered=0.0),
    hypotheses=lambda **_: {},
)
def regression_gradient(A: Array, B: Array, x: Array, y: Array, dA: Array, dB: Array) -> Check:
    """⟨∇_A L_n, dA⟩ + ⟨∇_B L_n, dB⟩ is the derivative of L_n along (dA, dB), taken with an
    imaginary step of 1e-30.

    lhs is the error relative to the lengths of both, rhs 1e-12.  Source: this book.
    """
    return _derivative(A, B, x, y, dA, dB, 1.0)


def _derivative(A, B, x, y, dA, dB, centered):
    turned, scores = A + 1e-30j * dA, x @ (B + 1e-30j * dB) @ x.T
    # The shift is real, so that everything stays analytic in the imaginary step.
    weights = np.exp(scores - scores.real.max(axis=1, keepdims=True))
    r = y - weights / weights.sum(axis=1, keepdims=True) @ x @ turned.T
    # r², not |r|²: only the first is analytic. Nothing is subtracted, so that a step of 1e-30 costs
    # no digits.
    want = float((r * r).sum().imag / (2 * len(x)) / 1e-30)
    by_A, by_B = _gradient(A, B, x, y, centered)
    size = np.hypot(np.linalg.norm(by_A), np.linalg.norm(by_B)) * np.hypot(
        np.linalg.norm(dA), np.linalg.norm(dB)
    )
    return Check(
        float(abs((by_A * dA).sum() + (by_B * dB).sum() - want) / size),
        1e-12,
        "the gradient of L_n",
    )


@statement(
    id="prop-effective-tokens",
    title="The effective number of tokens",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=f"{GAUSSIAN}; Σ is symmetric, Σ ≻ 0",
    by_proof="the limit holds almost surely",
    random=any_tilt,
    # So nearly uniform weights that the standard error is of the order τ², and not τ.
    extremal=tuple(lambda b=b: {"b": np.array([b]), "Sigma": np.eye(1)} for b in (0.1, 0.2, 0.3)),
    slack=(),
    broken=any_box,
    hypotheses=tilts,
    breaks=BOX,
    refused=(lambda: any_tilt(0) | {"Sigma": -np.eye(1)},),
)
def effective(b: Array, Sigma: Array, uniform: bool = False, n: int = 200_000) -> Checks:
    """lim (1/n)/Σ_j π_j² = E[e^{xᵀb}]²/E[e^{2xᵀb}] = e^{−τ²}, τ² = bᵀΣb.

    The first check is the second equality, by quadrature: lhs is the relative error, rhs 1e-9. The
    other takes n drawn tokens in place of the limit: lhs is the relative error of (1/n)/Σ_j π_j²,
    rhs six standard errors of it: 0.03 for τ = 0.8.

    Raises TypeError, ValueError if b (d,) and Σ (d, d) do not fit or are not finite, Σ is not
    positive definite, or τ > 3: there the quadrature is not exact. Source: this book.
    """
    _, weights, tilted = tilted_quadrature(b, Sigma, uniform, power=2)
    share, variance = (weights @ tilted) ** 2 / (weights @ tilted**2), score_variance(b, Sigma)
    # the scores of n tokens are τ g
    # Seeded by the instance, so that its check is the same every time.
    g = np.random.default_rng(int(1e6 * variance)).standard_normal(n)
    w = np.exp(variance**0.5 * g)
    # By the delta method: the variance of 2w/E w − w²/E w², over n, with E w^k = e^{k²τ²/2}.
    error = (
        (np.exp(4 * variance) - 4 * np.exp(2 * variance) + 4 * np.exp(variance) - 1) / n
    ) ** 0.5
    drawn = w.sum() ** 2 / (w**2).sum() / n * np.exp(variance) - 1
    return (
        Check(float(abs(share * np.exp(variance) - 1)), 1e-9, "E[e^{xᵀb}]²/E[e^{2xᵀb}] = e^{−τ²}"),
        Check(
            float(abs(drawn)), float(6 * error), "(1/n)/Σ_j π_j² of drawn tokens is near e^{−τ²}"
        ),
    )


def any_factors(seed: int, least: float = 0.1, most: float = 0.6) -> Instance:
    rng = np.random.default_rng([seed, 95])
    p, d = rng.integers(1, 3, size=2)
    V = rng.standard_normal((d, d))
    return {
        "U": rng.standard_normal((p, d)),
        "V": V * rng.uniform(least, most) / np.linalg.norm(V, 2),
    }


def _scales(seed, least=1.0):
    pair = any_factors(seed, 0.3, 3.0)
    rng, v = np.random.default_rng([seed, 96]), np.linalg.norm(pair["V"], 2)
    return pair | {"c": tuple(sqrt(2) * v * least * (1 + rng.exponential(1.0, 2)))}


def _close_scales():
    # So near to each other that ln F is almost straight between them.
    return {"U": np.array([[1.0, 0.5]]), "V": np.array([[0.8, 0.1], [0.0, 0.3]]), "c": (2.0, 2.05)}


def _near_an_end():
    # h is 0.9997 and 0.941 of 1/2‖V‖²: F goes as 1/(1 − 2h‖V‖²)^{3/2} there.
    return {"U": np.eye(1), "V": np.eye(1), "c": (sqrt(2 / 0.9997), sqrt(2 / 0.941))}


@statement(
    id="prop-renormalization",
    title="One scale is best",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="c > √2 ‖V‖; A ≠ 0, B ≠ 0",
    by_proof="the limit is strictly log-convex, so it has no second minimum",
    random=_scales,
    broken=lambda seed: _scales(seed, 0.1),
    extremal=(
        _close_scales,
        _near_an_end,
        lambda: _scales(7),
        # A scale below 1 that is hardly above √2 ‖V‖.
        lambda: {"U": np.eye(1), "V": np.eye(1) / 2, "c": (0.708, 1.0)},
    ),
    slack=(0.0004,),
    breaks="c > √2 ‖V‖: c is smaller",
    hypotheses=lambda U, V, c: {
        "c > √2 ‖V‖": min(c) > sqrt(2) * np.linalg.norm(V, 2),
        "A ≠ 0, B ≠ 0": bool(U.any() and V.any()),
    },
    refused=(lambda: (scales := _scales(0)) | {"U": 0 * scales["U"]},),
)
def renormalization(U: Array, V: Array, c: tuple[float, float]) -> Check | Checks:
    """F(h) = ``mean_excess(U/√h, √h V)``, with h = 1/c² between 0 and 1/(2‖V‖²), is log-convex and
    infinite at both ends, so it has one least value; for d = 1 that is at ‖V‖/c = √((5 − √13)/6).
    The population loss sees no c.

    The checks: F((h₁ + h₂)/2)² ≤ F(h₁) F(h₂) for the two c; F falls from each of them towards
    1/c*², c* of ``best_scale``; near the ends it is above a thousand times the least value; c* for
    the norms of U and V as 1 × 1 factors, relative error ≤ 1e-6; and (cU)(V/c)ᵀ = UVᵀ, relative
    error ≤ 1e-12. Source: this book.
    """

    def F(h):
        return mean_excess(U / sqrt(h), sqrt(h) * V)

    v, (left, right) = np.linalg.norm(V, 2), (at**-2.0 for at in c)
    if not F(left) + F(right) < inf:  # an end that is infinite bounds nothing: then the check fails
        return Check(inf, 0.0, "F(1/c²) is finite")
    # 60 sections leave 3e-13 of the interval: around its minimum F is constant, up to rounding,
    # over far more than that.
    best, top = best_scale(U, V, 60) ** -2, 1 / (2 * v**2)
    falls = [(F((h + best) / 2), F(h)) for h in (left, right)]
    alone = v / best_scale(np.linalg.norm(U) * np.eye(1), v * np.eye(1), 60)
    same = np.linalg.norm(c[0] * U @ (V / c[0]).T - U @ V.T) / (np.linalg.norm(U) * v)
    return (
        Check(F((left + right) / 2), sqrt(F(left) * F(right)), "F((h₁ + h₂)/2) ≤ √(F(h₁) F(h₂))"),
        *(Check(*pair, "F((h + h*)/2) ≤ F(h)") for pair in falls),
        Check(1e3 * F(best), min(F(1e-9 * top), F((1 - 1e-9) * top)), "F → ∞ at both ends"),
        Check(
            float(abs(alone / sqrt((5 - sqrt(13)) / 6) - 1)), 1e-6, "d = 1: ‖V‖/c* = √((5 − √13)/6)"
        ),
        Check(float(same), 1e-12, "(cU)(V/c)ᵀ = UVᵀ"),
    )
