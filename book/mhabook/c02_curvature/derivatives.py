"""Lemma 1: first and second derivatives of one head's logit Φ(X; W, U) = ⟨U, softmax(X W Xᵀ) X⟩.

All functions but the last take one example X (T, d) and one head W (d, d), U (T, d), and are
written row by row as the book states them; ``MultiHeadAttention`` and ``logit_hessian`` compute the
same in batches. Complex arguments are welcome: the checks differentiate by complex steps, which
have no cancellation.
"""

import numpy as np

from livegrad.arrays import Array, namespace
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.attention import softmax
from mhalib.models import MultiHeadAttention


def logit(X: Array, W: Array, U: Array) -> complex:
    """Φ(X; W, U) = Σ_t u_tᵀ Xᵀ s_t, with s_t = softmax(X Wᵀ x_t)."""
    return (U * (softmax(X @ W @ X.T) @ X)).sum()


def gradient_U(X: Array, W: Array, U: Array) -> np.ndarray:
    """∇_U Φ = S X (T, d): row t is the mean token that query t sees. Source: Lemma 1, first formula
    (ours)."""
    return softmax(X @ W @ X.T) @ X


def gradient_W(X: Array, W: Array, U: Array) -> np.ndarray:
    """∇_W Φ = Σ_t x_t u_tᵀ Xᵀ J_t X (d, d), J_t = diag(s_t) − s_t s_tᵀ. Source: Lemma 1, second
    formula (ours)."""
    return sum(
        np.outer(x, u @ _covariance(X, s))
        for x, u, s in zip(X, U, softmax(X @ W @ X.T), strict=True)
    )


def gradient_W_of_gradient_U(X: Array, W: Array, U: Array, a: Array, b: Array) -> np.ndarray:
    """∇_W (aᵀ (∇_U Φ) b) = Σ_t a_t x_t bᵀ Xᵀ J_t X (d, d). Source: Lemma 1, third formula
    (ours)."""
    return sum(
        a_t * np.outer(x, b @ _covariance(X, s))
        for a_t, x, s in zip(a, X, softmax(X @ W @ X.T), strict=True)
    )


def gradient_W_of_gradient_W(X: Array, W: Array, U: Array, b: Array, c: Array) -> np.ndarray:
    """∇_W (cᵀ (∇_W Φ) b) = Σ_t (cᵀx_t) x_t d_tᵀ X (d, d), d_t = J_t[(X u_t − s_tᵀX u_t) ∘ (X b −
    s_tᵀX b)].

    Source: Lemma 1, fourth formula (ours).
    """
    total = 0
    for x, u, s in zip(X, U, softmax(X @ W @ X.T), strict=True):
        product = (X @ u - s @ X @ u) * (X @ b - s @ X @ b)
        total = total + (c @ x) * np.outer(x, (s * (product - s @ product)) @ X)
    return total


def second_derivative(X: Array, W: Array, U: Array, V_W: Array, V_U: Array) -> complex:
    """D²Φ along (V_W, V_U) = 2 Σ_t Cov_t(X a_t, q) + Σ_t E_t[(v − E_t v)(q − E_t q)²], with means
    E_t under s_t.

    q = X V_Wᵀ x_t, v = X u_t, and a_t the rows of V_U.  Source: this book, from Lemma 1.
    """
    total = 0
    for x, u, a, s in zip(X, U, V_U, softmax(X @ W @ X.T), strict=True):
        q = X @ V_W.T @ x
        away = q - s @ q
        total = total + 2 * s @ (X @ a * away) + s @ ((X @ u - s @ X @ u) * away**2)
    return total


def _covariance(X, s):
    """Xᵀ R X (d, d): the covariance of the tokens under the weights s."""
    return (X.T * s) @ X - np.outer(X.T @ s, X.T @ s)


def _slope(X, W, U, V_W, V_U):
    """Derivative of Φ along (V_W, V_U)."""
    return (gradient_W(X, W, U) * V_W).sum() + (gradient_U(X, W, U) * V_U).sum()


def _single_head(seed):
    rng = np.random.default_rng([seed, 13])
    T, d = rng.integers(2, 6, size=2)
    X, W, U = (
        scale * rng.standard_normal(shape)
        for scale, shape in zip(
            10.0 ** rng.uniform([-1, -2, -2], [0.3, 0.5, 1]), [(T, d), (d, d), (T, d)], strict=True
        )
    )
    return {"X": X, "W": W, "U": U, "seed": seed}


@statement(
    id="lemma-1-derivatives",
    title="Derivatives of one head",
    mark="ours",
    source="this book, after Deora et al. 2023, Lemma 1",
    chapter="multihead/02_further",
    assumptions="the attention weights sum to 1",
    random=_single_head,
    broken=lambda seed: _single_head(seed) | {"normalize": 0.5},
    breaks="the attention weights sum to 1",
    hypotheses=lambda normalize=1.0, **_: {"the attention weights sum to 1": normalize == 1},
)
def derivative_formulas(X: Array, W: Array, U: Array, seed: int, normalize: float = 1.0) -> Checks:
    """The four formulas of Lemma 1, and the second derivative along a line, equal complex-step
    derivatives.

    And Φ(U + V) − 2Φ(U) + Φ(U − V) = 0. In each check lhs is the error relative to the derivative's
    largest possible size (R, R³u, R³, R⁵u: saturated attention has derivatives far below it, lost
    in rounding), rhs the tolerance 1e-12. ``normalize`` scales the weights of the differentiated
    function and is 1 in the lemma: weights that do not sum to 1 have other derivatives.
    """
    rng = np.random.default_rng([seed, 14])
    (T, d), R, u = X.shape, np.sqrt((X * X).sum(axis=1).max()), np.linalg.norm(U)
    a, b, c = rng.standard_normal(T), *rng.standard_normal((2, d))
    V, dU = rng.standard_normal((d, d)), rng.standard_normal((T, d))
    # The error of a complex step is of second order, 1e-60: below the last bit of every value here.
    step = 1e-30j
    shifted = W + step * V
    cases = {
        "∇_U Φ": (gradient_U(X, W, U) * dU, logit(X, W, U + step * dU), R),
        "∇_W Φ": (gradient_W(X, W, U) * V, logit(X, shifted, U), R**3 * u),
        "∇_W aᵀ(∇_U Φ)b": (
            gradient_W_of_gradient_U(X, W, U, a, b) * V,
            a @ gradient_U(X, shifted, U) @ b,
            R**3,
        ),
        "∇_W cᵀ(∇_W Φ)b": (
            gradient_W_of_gradient_W(X, W, U, b, c) * V,
            c @ gradient_W(X, shifted, U) @ b,
            R**5 * u,
        ),
        "D²Φ": (
            np.array(second_derivative(X, W, U, V, dU)),
            _slope(X, shifted, U + step * dU, V, dU),
            R**3 + R**5 * u,
        ),
    }
    errors = {
        f"error of the formula for {name}": abs(formula.sum() - normalize * value.imag / step.imag)
        / max(size, TINY)
        for name, (formula, value, size) in cases.items()
    }
    bend = logit(X, W, U + dU) - 2 * logit(X, W, U) + logit(X, W, U - dU)
    # The logit is at most √T R ‖U‖, which sets the size of rounding in the three terms.
    size = T**0.5 * R * (u + np.linalg.norm(dU))
    errors["second derivative in U"] = abs(bend) / max(size, TINY)
    return tuple(Check(float(error), 1e-12, f"{claim} ≤ 1e-12") for claim, error in errors.items())


def logit_hessian(model: MultiHeadAttention, X: Array) -> Array:
    """Per example and head, the Hessian of ⟨U_h, softmax(X W_h Xᵀ) X⟩ in (W_h, U_h): (n, H, p, p),
    p = d² + T d.

    The logit's own Hessian has these blocks, times H^{−1/2}, on its diagonal and zeros elsewhere.
    Source: Deora et al. 2023, Lemma 1 (ours).  Memory grows like n H d⁴: small sizes only.
    """
    xp, A, P = namespace(X), model.attention(X), model.U @ X[:, None].mT
    (n, H, T, _), d = A.shape, X.shape[-1]
    mean = A @ X[:, None]  # (n, H, T, d)
    # (n, H, T, T, d): token j minus the mean seen by query t
    away = X[:, None, None] - mean[..., None, :]
    weighted = A[..., None] * away
    outer = X[:, :, :, None] * X[:, :, None, :]  # (n, T, d, d)
    # (n, H, T, d, d)
    third = (weighted * (P - (A * P).sum(axis=-1)[..., None])[..., None]).mT @ away
    # q_j = x_tᵀ V_W x_j: the rows of W meet the query, the columns the keys.
    WW = xp.einsum("ntab,nhtcd->nhacbd", outer, third).reshape(n, H, d * d, d * d)
    UW = xp.einsum("nta,nhtcb->nhtbac", X, weighted.mT @ away).reshape(n, H, T * d, d * d)
    # Φ is linear in U, so this block is zero; the product lends it shape and library.
    zero = xp.zeros_like(UW @ UW.mT)
    return xp.concatenate(
        [xp.concatenate([WW, UW.mT], axis=3), xp.concatenate([UW, zero], axis=3)], axis=2
    )
