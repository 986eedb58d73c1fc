"""Chapter 10: the population loss of a softmax regression layer as a matrix factorization, and its
optimum manifold."""

from math import inf

import numpy as np

from livegrad.arrays import Array, require, require_same_dtype
from mhabook.c09_tilting.statements import symmetric_power
from mhabook.ledger import TINY, Check, statement
from mhalib.models.regression import excess

CHAPTER = "preconditioning/10_descent_that_knows_the_structure"
FURTHER = "preconditioning/10_further"
SOURCE = "this book, after Goel et al. 2026"


def regularizer(U: Array, V: Array) -> float:
    """R = ⅛‖UᵀU − VᵀV‖_F²: zero where the two factors are balanced."""
    return float(np.linalg.norm(U.T @ U - V.T @ V) ** 2 / 8)


def regularized_excess(U: Array, V: Array, N: Array) -> float:
    """Q − L* = ½‖U Vᵀ − N‖_F² + R, with U (p, d), V (d, d) and N = M Σ^{1/2} (p, d).

    Raises TypeError, ValueError if shapes, libraries or dtypes do not fit, or an entry is not
    finite.
    """
    require("U", U, ("p", "d"))
    require("V", V, (U.shape[1],) * 2)
    require("N", N, U.shape)
    require_same_dtype(U=U, V=V, N=N)
    return float(np.linalg.norm(U @ V.T - N) ** 2 / 2) + regularizer(U, V)


def gradient(U: Array, V: Array, N: Array, balance: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """∇_U Q = E V + (λ/2) U D and ∇_V Q = Eᵀ U − (λ/2) V D, with E = U Vᵀ − N, D = UᵀU − VᵀV, λ =
    ``balance``.

    U (…, p, d) and V (…, d, d) may be many points side by side.
    """
    E, D = U @ V.mT - N, balance * (U.mT @ U - V.mT @ V)
    return E @ V + U @ D / 2, E.mT @ U - V @ D / 2


def hvp(
    U: Array, V: Array, N: Array, dU: Array, dV: Array, balance: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """∇²Q (dU, dV): the derivative of ``gradient`` along (dU, dV)."""
    E, D = U @ V.T - N, balance * (U.T @ U - V.T @ V)
    E_, half = dU @ V.T + U @ dV.T, balance * (U.T @ dU - V.T @ dV)
    D_ = half + half.T
    return E_ @ V + E @ dV + (dU @ D + U @ D_) / 2, E_.T @ U + E.T @ dU - (dV @ D + V @ D_) / 2


def hessian(U: Array, V: Array, N: Array, balance: float = 1.0) -> np.ndarray:
    """The dense Hessian of Q in (U, V), row by row, U first; ``balance`` = 0 gives that of L."""
    sizes, columns = (U.size, V.size), []
    for unit in np.eye(sum(sizes)):
        dU, dV = unit[: sizes[0]].reshape(U.shape), unit[sizes[0] :].reshape(V.shape)
        columns.append(np.concatenate([part.ravel() for part in hvp(U, V, N, dU, dV, balance)]))
    return np.array(columns).T


def optimum(
    N: Array, turn: Array | None = None, kept: Array | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """A point of argmin Q: (P S^{1/2} O, W S^{1/2} O), N = P S Wᵀ, for an orthogonal O = ``turn``
    (d, d).

    ``kept``, indices of singular values, leaves out all others: a balanced saddle.
    """
    P, S, Wt = np.linalg.svd(N, full_matrices=False)
    turn = np.eye(N.shape[1]) if turn is None else turn
    # For p < d there are p singular values: zero columns fill both factors up to the width d.
    width = np.eye(len(S), N.shape[1])
    if kept is not None:
        S = np.where(np.isin(np.arange(len(S)), kept), S, 0)
    return P * S**0.5 @ width @ turn, Wt.T * S**0.5 @ width @ turn


def distance(U: Array, V: Array, N: Array) -> float:
    """The distance δ of (U, V) from the optimum manifold: min over orthogonal O, by a singular
    value decomposition."""
    both, best = np.concatenate([U, V]), np.concatenate(optimum(N))
    # The orthogonal Procrustes problem: its O is the polar factor of this product.
    left, _, right = np.linalg.svd(best.T @ both)
    return float(np.linalg.norm(both - best @ (left @ right)))


def _instance(seed, least=1):
    rng = np.random.default_rng([seed, 90])
    p, d = rng.integers(least, 5, size=2)
    root = rng.standard_normal((d, d))
    return {
        "A": rng.standard_normal((p, d)),
        "B": rng.standard_normal((d, d)),
        "M": rng.standard_normal((p, d)),
        "Sigma": root @ root.T + 0.1 * np.eye(d),
    }


@statement(
    id="prop-factorization",
    title="The population loss is a factorization",
    mark="ours",
    source=SOURCE,
    chapter=CHAPTER,
    assumptions="Σ ≻ 0; V = Σ^{1/2} B Σ^{1/2}, not its transpose",
    random=_instance,
    # From d = 2 on: a 1 × 1 matrix is its own transpose, and the twin would hold.
    broken=lambda seed: _instance(seed, least=2),
    breaks="V = Σ^{1/2} B Σ^{1/2}: the transpose instead",
    false_claim=lambda A, B, M, Sigma: _factorized(A, B, M, Sigma, B.T),
    hypotheses=lambda Sigma, **_: {"Σ ≻ 0": bool(np.linalg.eigvalsh(Sigma)[0] > 0)},
)
def factorization(A: Array, B: Array, M: Array, Sigma: Array) -> Check:
    """½‖(A Σ Bᵀ − M) Σ^{1/2}‖² = ½‖U Vᵀ − M Σ^{1/2}‖² with U = A Σ^{1/2} and V = Σ^{1/2} B Σ^{1/2}.

    lhs is the error relative to ‖UVᵀ‖² + ‖MΣ^{1/2}‖², rhs 1e-12.  Source: this book.
    """
    return _factorized(A, B, M, Sigma, B)


def _factorized(A, B, M, Sigma, inside):
    """With V = Σ^{1/2} ``inside`` Σ^{1/2}."""
    root = symmetric_power(Sigma, 0.5)
    U, V = A @ root, root @ inside @ root
    want = excess(A, B, Sigma, M)
    found = np.linalg.norm(U @ V.T - M @ root) ** 2 / 2
    # At an optimum both sides are rounding of these squares.
    size = np.linalg.norm(U @ V.T) ** 2 + np.linalg.norm(M @ root) ** 2
    return Check(
        float(abs(found - want) / max(size, TINY)),
        1e-12,
        "½‖(AΣBᵀ − M)Σ^{1/2}‖² = ½‖UVᵀ − MΣ^{1/2}‖²",
    )


def _target(seed):
    rng = np.random.default_rng([seed, 91])
    d = int(rng.integers(2, 5))
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    return {
        "N": left * rng.uniform(0.2, 2, d) @ right.T,
        "turn": np.linalg.qr(rng.standard_normal((d, d)))[0],
    }


@statement(
    id="prop-optimum-spectrum",
    title="The Hessian on the optimum manifold",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="p = d; every point of the optimum manifold",
    random=_target,
    broken=_target,
    breaks="(U, V) is balanced: (2U, V/2) instead",
    false_claim=lambda N, turn: _spectrum(N, *stretched(optimum(N, turn))),
    hypotheses=lambda N, turn: {"p = d": len(N) == len(N.T)},
    counterexamples=(lambda: {"N": np.ones((2, 1)), "turn": np.eye(1)},),
)
def optimum_spectrum(N: Array, turn: Array) -> Check:
    """The eigenvalues of ∇²Q at an optimum: d(d−1)/2 zeros, and else s_i + s_j, singular values of
    N; for p = d.

    Those are d² sums over all i, j, and d(d+1)/2 over i ≤ j. lhs is the largest difference, rhs
    1e-9.

    Source: this book.
    """
    return _spectrum(N, *optimum(N, turn))


def stretched(point: tuple[Array, Array]) -> tuple[Array, Array]:
    """(2U, V/2): with the same product U Vᵀ, but not balanced."""
    return 2 * point[0], point[1] / 2


def _spectrum(N, U, V):
    found = np.linalg.eigvalsh(hessian(U, V, N))
    # For p ≠ d there are more eigenvalues than the statement has, or fewer.
    s = np.linalg.svd(N)[1]
    sums = np.add.outer(s, s)
    want = np.sort(
        np.concatenate(
            [sums.ravel(), sums[np.triu_indices(len(s))], np.zeros(len(s) * (len(s) - 1) // 2)]
        )
    )
    off = abs(found - want).max() if len(found) == len(want) else inf
    return Check(float(off), 1e-9, "spectrum of ∇²Q = {0, s_i + s_j}")
