"""Chapter 9: what a finite context costs, exactly, and the power of n with which it falls."""

from functools import cache
from itertools import product
from math import inf, log, sqrt
from typing import Any

import numpy as np

from livegrad.arrays import Array
from mhabook.c09_tilting.statements import (
    BOX,
    FURTHER,
    GAUSSIAN,
    any_box,
    any_factors,
    any_tilt,
    asymptotic_error,
    exponent,
    mean_excess,
    score_variance,
    symmetric_power,
    tilted_quadrature,
    tilts,
)
from mhabook.ledger import Check, Checks, statement
from mhalib.attention import softmax

STEP = 1 / 3
"""Step of the trapezoidal rules, in units of a score: the integrands are analytic in a strip about
the real line."""
MANY = (1e10, 1e20, 1e40)
"""Numbers of tokens at which the statements about limits are checked: each one the square of the
one before."""


def query_error(n: float, tau: float) -> tuple[float, float]:
    r"""(E(m_n − τ)², E Σ_j π_j²) for a query with scores τ g_j, over the draw of n tokens g_j ~
    N(0, 1).

    With w = e^{τg} and ψ(t) = E e^{−tw}, by quadrature, without sampling:

    .. math:: E(m_n-\tau)^2 = \int_0^\infty t\,\Bigl[n\,E[(g-\tau)^2w^2e^{-tw}]\,\psi^{n-1}
              + n(n-1)\,(\tau t\,E[w^2e^{-tw}])^2\,\psi^{n-2}\Bigr]dt

    and E Σ π_j² = ∫ t n E[w² e^{−tw}] ψ^{n−1} dt.

    Parameters
    ----------
    n : number of tokens ≥ 1; any size up to 1e100
    tau : standard deviation τ ≥ 0 of the scores

    Raises ValueError if a number is outside of its range.

    Source: this book.
    """
    _require_tokens(n)
    if not 0 <= tau < np.inf:
        raise ValueError(f"tau: expected a finite number ≥ 0, got {tau!r}")
    # All weights are equal: the mean of n tokens has variance 1/n.
    if tau == 0:
        return 1 / n, 1 / n
    # The chance that one of n tokens lies beyond this is below e^{−28}/n.
    largest = 2 * sqrt(log(n) + 14)
    g = np.arange(-9, largest, min(STEP, STEP / tau))
    return _integrals(float(n), tau, g, np.exp(-(g**2) / 2) / np.exp(-(g**2) / 2).sum())


def _require_tokens(n):
    if not 1 <= n <= 1e100:
        raise ValueError(f"n: expected a number of tokens from 1 to 1e100, got {n!r}")


def _integrals(n, tau, g, p):
    """Both integrals of ``query_error`` for tokens that are g with chance p; the first one for
    Gaussian tokens."""
    most = 7 if n > 2000 else 9 * tau + 7  # beyond that ψ^{n−2} is no float
    s = np.arange(-max(log(n) + 20 + tau**2 / 2, tau * g[-1] + 5), most, STEP)  # log t
    # Above 50 e^{−tw} is 0 in any case, and without a limit e^x would overflow.
    x = np.minimum(s[:, None] + tau * g, 50.0)  # log tw
    w = np.exp(x)
    # For a huge n and a small t, ψ^{n−1} hangs on digits of 1 − ψ that a float near 1 has lost: so
    # 1 − ψ is what is summed.
    log_psi = np.log1p(-np.minimum(-np.expm1(-w) @ p, 1 - 1e-16))
    # With t = e^s the integral has t² ds in place of t dt: w² e^{−tw} becomes (tw)² e^{−tw}.
    squares = np.exp(2 * x - w)
    weight = squares @ p
    one = n * np.exp((n - 1) * log_psi) * STEP
    others = n * (n - 1) * np.exp((n - 2) * log_psi) * STEP
    return (
        float(one @ (squares @ (p * (g - tau) ** 2)) + others @ (tau * weight) ** 2),
        float(one @ weight),
    )


def mean_error(n: float, v: float) -> float:
    """E(m_n(z) − v z)² over queries z ~ N(0, 1) as well as tokens: ``query_error`` at τ = v|z|,
    integrated.

    Raises ValueError if n or v is outside of its range.  Source: this book.
    """
    _require_tokens(n)
    if not 0 <= v < np.inf:
        raise ValueError(f"v: expected a finite number ≥ 0, got {v!r}")
    step = 0.2 / max(1.0, v)
    # Beyond, the density is below e^{−20}/n, and the mean error falls no faster than 1/n. The
    # integrand is even, so that every z > 0 counts twice.
    z = np.arange(0, sqrt(2 * (log(n) + 20)), step)
    density = np.exp(-(z**2) / 2) * step * np.where(z == 0, 1, 2) / sqrt(2 * np.pi)
    return float(sum(p * query_error(n, v * x)[0] for p, x in zip(density, z, strict=True)))


def query_rate(u: float | Array | list[float]) -> Any:
    """The power of n of the mean squared error of a query with τ = u √(2 ln n): −1 + 2u², −(1 −
    u²)²/(4u²), 0.

    The three pieces meet at u² = ⅓ and u = 1.  Source: this book.
    """
    q = np.asarray(u, float) ** 2
    # Both pieces are evaluated everywhere: the maximum keeps u = 0 out of the denominator.
    return np.where(
        3 * q <= 1, 2 * q - 1, -(np.clip(1 - q, 0, None) ** 2) / (4 * np.maximum(q, 1 / 3))
    )


def error_matrix(n: float, b: Array, Sigma: Array) -> np.ndarray:
    """E(m_n − Σb)(m_n − Σb)ᵀ = q_n Σ + (e_n − q_n) Σb bᵀΣ/τ², with (e_n, q_n) = ``query_error(n,
    τ)``, τ² = bᵀΣb.

    For b = 0 it is Σ/n.  Source: this book.
    """
    square, mean = score_variance(b, Sigma), Sigma @ b
    error, share = query_error(n, square**0.5)
    # For b = 0 the second term is 0, whatever it is divided by.
    return share * Sigma + (error - share) / (square or 1.0) * np.outer(mean, mean)


@cache
def _curves(n, degree=64):
    """τ from 0 to 1.6 √(2 ln n), and ln e_n and ln q_n there: polynomials through ``degree`` + 1
    Chebyshev points.

    The relative error of e_n and q_n is below 0.002 for n up to 1e40.
    """
    most = 1.6 * sqrt(2 * log(n))
    at = most / 2 * (1 + np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)))
    # In logarithms, since both span dozens of powers of ten between the two ends.
    logs = np.log([query_error(n, tau) for tau in at])
    tau = np.linspace(0, most, 8001)
    return tau, *(
        np.polynomial.Chebyshev.fit(at, column, degree, domain=[0, most])(tau) for column in logs.T
    )


def layer_error(n: float, U: Array, V: Array) -> float:
    """E‖f_n(x) − A Σ Bᵀ x‖² over tokens and a fresh query, by an integral over z ~ N(0, I): with
    τ = ‖Vᵀz‖ it is

    E[q_n(τ) ‖U‖_F² + (e_n(τ) − q_n(τ)) ‖U Vᵀ z‖²/τ²]. U (p, d), V (d, d), d ≤ 2, ‖V‖ ≤ 3. Source:
    this book.
    """
    step, far = 0.5 / max(1.0, np.linalg.norm(V, 2)), sqrt(2 * (log(n) + 20))
    axis = np.arange(-far, far, step)
    z = np.stack([part.ravel() for part in np.meshgrid(*[axis] * len(V))], axis=1)
    chance = np.exp(-(z**2).sum(axis=1) / 2) * (step / sqrt(2 * np.pi)) ** len(V)
    at, *logs = _curves(n)
    # At z = 0 ``along`` would be 0/0; any number will do, since there e_n = q_n.
    tau = np.maximum(np.linalg.norm(z @ V, axis=1), 1e-12)
    error, share = (np.exp(np.interp(tau, at, log_)) for log_ in logs)
    along = (np.linalg.norm(z @ V @ U.T, axis=1) / tau) ** 2
    return float(chance @ (share * np.linalg.norm(U) ** 2 + (error - share) * along))


def _power(values):
    """The power of n in numbers that are near C (ln n)^k n^power at the three n of ``MANY``,
    whatever C and k."""
    first, second, third = np.log(values)
    # ln n is ℓ, 2ℓ and 4ℓ: the combination cancels ln C and k ln ln n and leaves the power times ℓ.
    return (third - 2 * second + first) / log(MANY[0])


@statement(
    id="prop-query-error",
    title="The error of one query",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{GAUSSIAN}; Σ is symmetric, Σ ≻ 0",
    random=any_tilt,
    broken=any_box,
    hypotheses=tilts,
    breaks=BOX,
    refused=(lambda: (tilt := any_tilt(0)) | {"Sigma": -tilt["Sigma"]},),
)
def query(b: Array, Sigma: Array, uniform: bool = False) -> Checks:
    """lim n E(m_n − Σb)(m_n − Σb)ᵀ = E[e^{2xᵀb}(x − Σb)(x − Σb)ᵀ]/E[e^{xᵀb}]² = e^{τ²}(Σ + Σb bᵀΣ).

    The first check is the second equality, by quadrature: lhs is the relative error, rhs 1e-8. The
    others take ``error_matrix`` at n = 1e40 in place of the limit, and its trace: rhs 1e-6.

    Raises TypeError, ValueError if b (d,) and Σ (d, d) do not fit or are not finite, Σ is not
    positive definite, or τ > 3: there the quadrature is not exact. Source: this book.
    """
    x, weights, tilted = tilted_quadrature(b, Sigma, uniform, power=2)
    away, want = x - Sigma @ b, asymptotic_error(b, Sigma)
    integral = (away.T * (weights * tilted**2)) @ away / (weights @ tilted) ** 2
    late, mean = MANY[-1] * error_matrix(MANY[-1], b, Sigma), Sigma @ b
    first, last = (
        float(np.linalg.norm(found - want) / np.linalg.norm(want)) for found in (integral, late)
    )
    whole = np.exp(score_variance(b, Sigma)) * (np.trace(Sigma) + mean @ mean)
    return (
        Check(first, 1e-8, "E[e^{2xᵀb}(x − Σb)(x − Σb)ᵀ]/E[e^{xᵀb}]² = e^{τ²}(Σ + Σb bᵀΣ)"),
        Check(last, 1e-6, "n E(m − Σb)(m − Σb)ᵀ is e^{τ²}(Σ + Σb bᵀΣ) at n = 1e40"),
        Check(
            float(abs(np.trace(late) / whole - 1)),
            1e-6,
            "n E‖m − Σb‖² is e^{τ²}(tr Σ + ‖Σb‖²) at n = 1e40",
        ),
    )


@statement(
    id="prop-mean-error",
    title="The error of all queries",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="‖V‖ < 1/√2; A ≠ 0",
    random=any_factors,
    broken=lambda seed: any_factors(seed, 0.71, 1.0),
    breaks="‖V‖ < 1/√2: it is larger, and the limit infinite",
    hypotheses=lambda U, V: {"‖V‖ < 1/√2": np.linalg.norm(V, 2) < 0.5**0.5, "A ≠ 0": bool(U.any())},
    refused=(lambda: (factors := any_factors(0)) | {"U": 0 * factors["U"]},),
)
def mean_of_queries(U: Array, V: Array) -> Check | Checks:
    """lim (n/2) E‖f_n − f‖² = E e^{τ²}(‖U‖² + ‖U Vᵀ z‖²)/2 = ``mean_excess``, τ = ‖Vᵀz‖; it is ∞
    for ‖V‖ ≥ 1/√2.

    The checks: the second equality, by the trapezoidal rule over z ~ N(0, I), relative error ≤
    1e-9, or what rounding leaves near 1/√2; ``layer_error`` at n = 1e40 in place of the limit, ≤
    0.001, for ‖V‖ ≤ 0.6, as the limit is late near 1/√2; and with V so scaled that ‖V‖ = 0.75, n
    E‖f_n − f‖² grows at least tenfold from n = 1e20 to 1e40: V = 0 has no such scale.

    Source: this book.
    """
    want, v, (_, less, many) = mean_excess(U, V), np.linalg.norm(V, 2), MANY
    if want == inf:
        return Check(inf, 1e-9, "E e^{‖Vᵀz‖²}(‖U‖² + ‖UVᵀz‖²)/2 = the closed form")
    # Along a left singular vector of V the integrand is as wide as 1/√(1 − 2v²): so is the grid.
    squares, basis = np.linalg.eigh(V @ V.T)
    wide, axis = (1 - 2 * squares) ** -0.5, np.arange(-10, 10, 0.25)
    grid = np.stack([part.ravel() for part in np.meshgrid(*[axis] * len(V))], axis=1)
    z = grid * wide @ basis.T
    weights = np.exp(((z @ V) ** 2).sum(axis=1) - (z**2).sum(axis=1) / 2) * np.prod(
        0.25 * wide / sqrt(2 * np.pi)
    )
    found = weights @ (np.linalg.norm(U) ** 2 + ((z @ V @ U.T) ** 2).sum(axis=1)) / 2
    late = (
        [
            Check(
                float(abs(many / 2 * layer_error(many, U, V) / want - 1)),
                0.001,
                "(n/2) E‖f_n − f‖² is the closed form at n = 1e40",
            )
        ]
        if v <= 0.6
        else []
    )
    return (
        Check(
            float(abs(found / want - 1)),
            max(1e-9, 1e-13 * float(wide.max()) ** 2),
            "E e^{‖Vᵀz‖²}(‖U‖² + ‖UVᵀz‖²)/2 = the closed form",
        ),
        *late,
        *_growth(U, V, v, less, many),
    )


def _growth(U, V, v, less, many):
    if v == 0:
        return
    n_errors = [n * layer_error(n, U, 0.75 / v * V) for n in (less, many)]
    yield Check(10 * n_errors[0], n_errors[1], "n E‖f_n − f‖² grows without end for ‖V‖ = 0.75")


def _few(seed, apart=True):
    """Two tokens in three dimensions, or three in two, and a query with scores of deviation up to
    2."""
    rng = np.random.default_rng([seed, 97])
    n, d = ((2, 3), (3, 2))[int(rng.integers(2))]
    root, b = rng.standard_normal((d, d)), rng.standard_normal(d)
    Sigma, shared = root @ root.T + 0.1 * np.eye(d), 0.0 if apart else float(rng.uniform(0.3, 0.9))
    return {
        "n": n,
        "b": b * rng.uniform(0.1, 2) / score_variance(b, Sigma) ** 0.5,
        "Sigma": Sigma,
        "shared": shared,
    }


def _four():
    return {"n": 4, "b": np.array([0.8]), "Sigma": np.eye(1)}


def _moments_of_few(n, b, Sigma, shared):
    """E(m − Σb)(m − Σb)ᵀ and E Σ_j π_j² by quadrature over n tokens ~ N(0, Σ), each two of
    correlation ``shared``.

    The weights see differences of scores alone. So the tokens' mean is integrated by hand, and the
    rest along n − 1 orthogonal differences: the trapezoidal rule along Σb, and ±1 in every other
    direction, where m is linear.
    """
    d, root = len(b), symmetric_power(Sigma, 0.5)
    # its first column is along Σ^{1/2}b, up to sign
    basis = np.linalg.qr(np.column_stack([root @ b, np.eye(d)]))[0]
    # The first column is along (1, …, 1): that is the tokens' mean, which the weights do not see.
    apart = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:] * sqrt(
        1 - shared
    )
    # Four tokens have three differences: the finer grid would have half a million points.
    axis = np.arange(-8, 8, 0.2 if n < 4 else 0.4)
    # all points of n − 1 axes: one point without an axis, for n = 1
    y = axis[np.indices((len(axis),) * (n - 1)).reshape(n - 1, len(axis) ** (n - 1))].T
    chance = np.exp(-(y**2).sum(axis=1) / 2) / np.exp(-(y**2).sum(axis=1) / 2).sum()
    tau = basis[:, 0] @ root @ b
    g, others = y @ apart.T, (n - 1) * (d - 1)
    pi = softmax(tau * g)
    signs = np.array([*product((-1.0, 1.0), repeat=others)]).reshape(2**others, n - 1, d - 1)
    other = (pi @ apart) @ signs  # (signs, grid, d − 1)
    along = np.broadcast_to((pi * g).sum(axis=1)[None, :, None] - tau, (*other.shape[:2], 1))
    away = np.concatenate([along, other], axis=2) @ (root @ basis).T
    second = np.einsum("kma,kmb->ab", away * chance[:, None], away) / len(away)
    return second + (shared + (1 - shared) / n) * Sigma, float(chance @ (pi**2).sum(axis=1))


@statement(
    id="lemma-exact-error",
    title="The error of a query, exactly",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="the tokens are independent; bᵀΣb > 0",
    random=_few,
    extremal=(_four,),
    slack=(),
    broken=lambda seed: _few(seed, apart=False),
    breaks="the tokens are independent: correlated ones",
    hypotheses=lambda b, Sigma, shared=0.0, **_: {
        "the tokens are independent": shared == 0,
        "bᵀΣb > 0": score_variance(b, Sigma) > 0,
    },
)
def exact_error(n: int, b: Array, Sigma: Array, shared: float = 0.0) -> Checks:
    """E(m − Σb)(m − Σb)ᵀ = q_n Σ + (e_n − q_n) Σb bᵀΣ/τ² and E Σ_j π_j² = q_n, against quadrature
    over one to four tokens in up to three dimensions. For d = 1 the first is e_n.

    lhs are the relative errors, rhs 1e-9; ``shared`` is the correlation of each two tokens. Source:
    this book.
    """
    second, share = _moments_of_few(n, b, Sigma, shared)
    away = np.linalg.norm(error_matrix(n, b, Sigma) - second) / np.linalg.norm(second)
    return (
        Check(float(away), 1e-9, "E(m − Σb)(m − Σb)ᵀ as integrals over t"),
        Check(
            float(abs(query_error(n, score_variance(b, Sigma) ** 0.5)[1] / share - 1)),
            1e-9,
            "E Σ_j π_j² as an integral over t",
        ),
    )


def _share(seed, gaussian=True):
    rng = np.random.default_rng([seed, 98])
    return {
        "u": float(rng.uniform(0.05, 1.5)) if gaussian else float(rng.uniform(0.6, 1.5)),
        "gaussian": gaussian,
    }


@statement(
    id="lemma-query-rate",
    title="The rate of one query",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{GAUSSIAN}; τ = u√(2ln n); u > 0",
    by_proof="the limits are uniform in u",
    random=_share,
    # Close to 1/√3, where one piece of the rate follows the other, and where the second is steep.
    extremal=(lambda: {"u": 0.572}, lambda: {"u": 0.578}, lambda: {"u": 0.6}),
    slack=(None,),
    broken=lambda seed: _share(seed, gaussian=False),
    breaks=f"{GAUSSIAN}: uniform tokens instead",
    hypotheses=lambda u, gaussian=True: {GAUSSIAN: gaussian, "u > 0": u > 0},
)
def rate(u: float, gaussian: bool = True) -> Check | Checks:
    """ln e_n / ln n and ln q_n / ln n tend to ``query_rate(u)`` at τ = u √(2 ln n).

    Near C (ln n)^k n^χ the logarithms at n = 1e10, 1e20 and 1e40 give χ, whatever C and k. lhs are
    the differences from the limit, rhs 0.015 for e_n and 0.004 for q_n. For uniform tokens q_n
    alone. A limit cannot be checked, and nor can that it is uniform in u. Source: this book.
    """
    taus = [u * sqrt(2 * log(n)) for n in MANY]
    if not gaussian:
        boxes = [np.arange(-1, 1, STEP / tau) * sqrt(3) for tau in taus]
        shares = [
            _integrals(n, tau, box, np.full(len(box), 1 / len(box)))[1]
            for n, tau, box in zip(MANY, taus, boxes, strict=True)
        ]
        return Check(float(abs(_power(shares) - query_rate(u))), 0.004, "ln E Σ_j π_j²/ln n → χ(u)")
    at = [
        (np.interp(tau, tau_, error), np.interp(tau, tau_, share))
        for tau, (tau_, error, share) in zip(taus, map(_curves, MANY), strict=True)
    ]
    errors, shares = np.exp(at).T
    return (
        Check(float(abs(_power(errors) - query_rate(u))), 0.015, "ln E(m_n − τ)²/ln n → χ(u)"),
        Check(float(abs(_power(shares) - query_rate(u))), 0.004, "ln E Σ_j π_j²/ln n → χ(u)"),
    )


def _norm(seed, gaussian=True):
    rng = np.random.default_rng([seed, 99])
    # Bounded scores have the power −1, as Gaussian ones have for ‖V‖ ≤ 1/√2: only above this does
    # the twin differ.
    v, d = float(rng.uniform(0.2 if gaussian else 0.8, 3)), int(rng.integers(1, 3))
    V = rng.standard_normal((d, d))
    return {"V": V * v / np.linalg.norm(V, 2), "gaussian": gaussian}


@statement(
    id="thm-exponent",
    title="The exponent",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="queries are Gaussian; V ≠ 0",
    by_proof="ω(v) = 1 exactly if v ≤ 1/√2",
    random=_norm,
    # At 1/√2 all u up to 1/√3 are as good, and just above it the best u is there.
    extremal=(lambda: {"V": np.eye(1) / sqrt(2)}, lambda: {"V": 0.723 * np.eye(1)}),
    slack=(None,),
    broken=lambda seed: _norm(seed, gaussian=False),
    breaks="queries are Gaussian: queries with bounded scores instead",
    hypotheses=lambda V, gaussian=True: {"queries are Gaussian": gaussian, "V ≠ 0": bool(V.any())},
    refused=(lambda: {"V": np.zeros((1, 1))},),
)
def mean_rate(V: Array, gaussian: bool = True) -> Check | Checks:
    """max over u of χ(u) − u²/v² is −ω(v), v = ‖V‖: the rate of a query, plus that of the chance of
    such a query. And ln 𝓔_n/ln n tends to −ω(v), 𝓔_n the ``layer_error`` with U = I.

    The first check takes the largest value on a grid: lhs is the difference, rhs 1e-5. Bounded
    scores have u → 0. The other takes the power of n in the exact 𝓔_n at n = 1e10, 1e20 and 1e40,
    as in ``rate``: rhs 0.015.

    Source: this book.
    """
    # A maximum inside has a curvature below 20: a grid of step 1/2000 misses less than 1e-6.
    v, u = float(np.linalg.norm(V, 2)), np.linspace(0, 1, 2001 if gaussian else 1)
    found = Check(
        float(abs((query_rate(u) - (u / v) ** 2).max() - exponent(v))),
        1e-5,
        "max_u [χ(u) − u²/v²] = −ω(v)",
    )
    if not gaussian:
        return found
    errors = [layer_error(n, np.eye(len(V)), V) for n in MANY]
    return found, Check(float(abs(_power(errors) - exponent(v))), 0.015, "ln 𝓔_n/ln n → −ω(v)")
