"""Chapter 9: what a finite context costs, exactly, and the power of n with which it falls."""

from math import log, sqrt

import numpy as np

from mhalib.theory.ledger import Check, statement
from mhalib.theory.tilting import CHAPTER, GAUSSIAN, exponent

STEP = 1 / 3
"""Step of the trapezoidal rules, in units of a score: the integrands are analytic in a strip about the real line."""


def query_error(n, tau):
    r"""(E(m_n − τ)², E Σ_j π_j²) for a query with scores τ g_j, over the draw of n tokens g_j ~ N(0, 1).

    With w = e^{τg} and ψ(t) = E e^{−tw}, by quadrature, without sampling:

    .. math:: E(m_n-\tau)^2 = \int_0^\infty t\,\Bigl[n\,E[(g-\tau)^2w^2e^{-tw}]\,\psi^{n-1}
              + n(n-1)\,(\tau t\,E[w^2e^{-tw}])^2\,\psi^{n-2}\Bigr]dt

    and E Σ π_j² = ∫ t n E[w² e^{−tw}] ψ^{n−1} dt.

    Parameters
    ----------
    n : number of tokens ≥ 1; any size up to 1e100
    tau : standard deviation τ ≥ 0 of the scores

    Raises
    ------
    ValueError
        if a number is outside of its range.

    Source: this book.
    """
    _require_tokens(n)
    if not 0 <= tau < np.inf:
        raise ValueError(f"tau: expected a finite number ≥ 0, got {tau!r}")
    if tau == 0:
        return 1 / n, 1 / n
    largest = 2 * sqrt(log(n) + 14)
    g = np.arange(-9, largest, min(STEP, STEP / tau))
    return _integrals(float(n), tau, g, np.exp(-g ** 2 / 2) / np.exp(-g ** 2 / 2).sum())


def _require_tokens(n):
    if not 1 <= n <= 1e100:
        raise ValueError(f"n: expected a number of tokens from 1 to 1e100, got {n!r}")


def _integrals(n, tau, g, p):
    """Both integrals of ``query_error`` for tokens that are g with chance p; the first one for Gaussian tokens."""
    most = 7 if n > 2000 else 9 * tau + 7  # beyond that ψ^{n−2} is no float
    s = np.arange(-max(log(n) + 20 + tau ** 2 / 2, tau * g[-1] + 5), most, STEP)  # log t
    x = np.minimum(s[:, None] + tau * g, 50.0)  # log tw
    w = np.exp(x)
    log_psi = np.log1p(-np.minimum(-np.expm1(-w) @ p, 1 - 1e-16))
    squares = np.exp(2 * x - w)
    weight = squares @ p
    one, others = n * np.exp((n - 1) * log_psi) * STEP, n * (n - 1) * np.exp((n - 2) * log_psi) * STEP
    return (float(one @ (squares @ (p * (g - tau) ** 2)) + others @ (tau * weight) ** 2), float(one @ weight))


def mean_error(n, v):
    """E(m_n(z) − v z)² over queries z ~ N(0, 1) as well as tokens: ``query_error`` at τ = v|z|, integrated.

    Raises
    ------
    ValueError
        if n or v is outside of its range.

    Source: this book.
    """
    _require_tokens(n)
    if not 0 <= v < np.inf:
        raise ValueError(f"v: expected a finite number ≥ 0, got {v!r}")
    step = 0.2 / max(1.0, v)
    z = np.arange(0, sqrt(2 * (log(n) + 20)), step)
    density = np.exp(-z ** 2 / 2) * step * np.where(z == 0, 1, 2) / sqrt(2 * np.pi)
    return float(sum(p * query_error(n, v * x)[0] for p, x in zip(density, z, strict=True)))


def query_rate(u):
    """The power of n of the mean squared error of a query with τ = u √(2 ln n): −1 + 2u², −(1 − u²)²/(4u²), 0.

    The three pieces meet at u² = ⅓ and u = 1.  Source: this book.
    """
    q = np.asarray(u, float) ** 2
    return np.where(3 * q <= 1, 2 * q - 1, -np.clip(1 - q, 0, None) ** 2 / (4 * np.maximum(q, 1 / 3)))


def _plane(seed, apart=True):
    rng = np.random.default_rng([seed, 97])
    return {"tau": float(rng.uniform(0.1, 3)), "shared": 0.0 if apart else float(rng.uniform(0.3, 0.9))}


@statement(id="lemma-exact-error", title="The error of a query, exactly", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="the tokens are independent", random=_plane,
           broken=lambda seed: _plane(seed, apart=False), breaks="the tokens are independent: two correlated ones")
def exact_error(tau, shared=0.0):
    """The integrals of ``query_error`` for n = 2 against the mean over the plane of the two tokens.

    lhs is the larger relative error, rhs 1e-9; ``shared`` is the correlation of the two.  Source: this book.
    """
    axis = np.arange(-9, 9, 0.2)
    first, other = axis[:, None], axis[None]
    second = shared * first + sqrt(1 - shared ** 2) * other
    p = np.exp(-first ** 2 / 2 - other ** 2 / 2)
    share = 1 / (1 + np.exp(tau * (second - first)))
    wanted = ((share * first + (1 - share) * second - tau) ** 2, share ** 2 + (1 - share) ** 2)
    found = query_error(2, tau)
    lhs = max(abs(value * p.sum() / (p * want).sum() - 1) for value, want in zip(found, wanted, strict=True))
    return Check(float(lhs), 1e-9, "E(m₂ − τ)² and E(π₁² + π₂²) as integrals over t")


def _share(seed, gaussian=True):
    rng = np.random.default_rng([seed, 98])
    return {"u": float(rng.uniform(0.05, 1.5)) if gaussian else float(rng.uniform(0.6, 1.5)), "gaussian": gaussian}


@statement(id="lemma-query-rate", title="The rate of one query", mark="ours", source="this book", chapter=CHAPTER,
           assumptions=f"{GAUSSIAN}; τ = u √(2 ln n)", random=_share, broken=lambda seed: _share(seed, gaussian=False),
           breaks=f"{GAUSSIAN}: uniform tokens instead")
def rate(u, gaussian=True):
    """ln E(m_n − τ)² / ln n and ln E Σ π_j² / ln n tend to ``query_rate(u)`` at τ = u √(2 ln n).

    The check takes the slopes between n = 1e12 and 1e16, where logarithms still count: lhs is the larger difference
    from the limit, rhs 0.06. For uniform tokens it takes the second slope.  Source: this book.
    """
    ends = []
    for n in (1e12, 1e16):
        tau = u * sqrt(2 * log(n))
        box = np.arange(-1, 1, 1 / 3 / tau) * sqrt(3)
        ends.append(query_error(n, tau) if gaussian else _integrals(n, tau, box, np.full(len(box), 1 / len(box))))
    slopes = np.log(np.array(ends[1]) / ends[0]) / log(1e4)
    return Check(float(abs(slopes - query_rate(u))[not gaussian:].max()), 0.06, "ln E(m_n − τ)²/ln n → χ(u)")


def _norm(seed, gaussian=True):
    rng = np.random.default_rng([seed, 99])
    return {"v": float(rng.uniform(0.2, 4) if gaussian else rng.uniform(0.8, 4)), "gaussian": gaussian}


@statement(id="thm-exponent", title="The exponent", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="queries are Gaussian", random=_norm, broken=lambda seed: _norm(seed, gaussian=False),
           breaks="queries are Gaussian: queries with bounded scores instead")
def mean_rate(v, gaussian=True):
    """max over u of χ(u) − u²/v² is −ω(v): the rate of a query, plus that of the chance of such a query.

    The check takes the largest value on a grid: lhs is the difference, rhs 1e-5. Bounded scores have u → 0.

    Source: this book.
    """
    u = np.linspace(0, 1, 2001 if gaussian else 1)
    return Check(float(abs((query_rate(u) - (u / v) ** 2).max() - exponent(v))), 1e-5, "max_u [χ(u) − u²/v²] = −ω(v)")
