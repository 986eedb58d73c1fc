"""Chapter 10: where the factorized loss is stationary, and what balancing does there.

Throughout E = U Vᵀ − N with N = M Σ^{1/2} (p, d), U (p, d), V (d, d), D = UᵀU − VᵀV.
"""

import numpy as np

from mhalib.theory.factorization import CHAPTER, gradient, hessian, optimum
from mhalib.theory.ledger import Check, statement


def imbalance(U, V):
    """D = UᵀU − VᵀV (d, d)."""
    return U.T @ U - V.T @ V


def flat_saddle(s_left, s_kept, size):
    """A stationary point of L for N = diag(s_left, s_kept) that misses s_left: (U, V, N), all 2 × 2.

    U = e₂ uᵀ and V = e₂ vᵀ with ‖u‖ = ‖v‖ = size and uᵀv = s_kept ≤ size².
    """
    cosine = min(1.0, s_kept / size ** 2)
    rows = size * np.array([[cosine, (1 - cosine ** 2) ** 0.5], [1.0, 0.0]])
    second = np.array([[0.0], [1.0]])
    return second * rows[0], second * rows[1], np.diag([s_left, s_kept])


def _anywhere(seed):
    rng = np.random.default_rng([seed, 93])
    p, d = rng.integers(1, 5, size=2)
    scale = rng.uniform(0.2, 2, size=3)
    return {name: factor * rng.standard_normal(shape)
            for name, factor, shape in zip(("U", "V", "N"), scale, ((p, d), (d, d), (p, d)), strict=True)}


@statement(id="prop-conserved", title="Descent in (U, V) keeps its imbalance", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="a step of gradient descent on L in (U, V)", random=_anywhere,
           broken=lambda seed: _anywhere(seed) | {"balance": 1.0}, breaks="a step on L: one on Q = L + R instead")
def conserved(U, V, N, balance=0.0, lr=0.1):
    """D after a step of gradient descent on L is D + η²(G_UᵀG_U − G_VᵀG_V), with G = ∇L: no first-order change.

    lhs is the relative error, rhs 1e-12.  Source: this book.
    """
    dU, dV = gradient(U, V, N, balance)
    found = imbalance(U - lr * dU, V - lr * dV)
    want = imbalance(U, V) + lr ** 2 * imbalance(dU, dV)
    size = np.linalg.norm(U) ** 2 + np.linalg.norm(V) ** 2 + lr ** 2 * (np.linalg.norm(dU) + np.linalg.norm(dV)) ** 2
    return Check(float(np.linalg.norm(found - want) / size), 1e-12, "D(Z − η∇L) = D(Z) + η²(G_UᵀG_U − G_VᵀG_V)")


@statement(id="prop-balance-decays", title="The regularizer balances", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="gradient flow on Q = L + R", random=_anywhere,
           broken=lambda seed: _anywhere(seed) | {"balance": 0.0}, breaks="Q = L + R: L alone")
def balance_decays(U, V, N, balance=1.0):
    """Along the flow (U, V)' = −∇Q the imbalance obeys ½ d‖D‖²/dt = −‖UD‖² − ‖VD‖².

    lhs is the relative error, rhs 1e-12.  Source: this book.
    """
    dU, dV = gradient(U, V, N, balance)
    D = imbalance(U, V)
    change = -(U.T @ dU + dU.T @ U - V.T @ dV - dV.T @ V)
    want = -(np.linalg.norm(U @ D) ** 2 + np.linalg.norm(V @ D) ** 2)
    return Check(float(abs((D * change).sum() - want) / abs(want)), 1e-12, "½ d‖D‖²/dt = −‖UD‖² − ‖VD‖²")


def _exact(scale):
    U, V = scale * np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 3.0]])
    return {"U": U, "V": V, "N": U @ V.T}


@statement(id="prop-balanced-stationary", title="Stationary points of the regularized loss are balanced", mark="ours",
           source="this book", chapter=CHAPTER, assumptions="Q = L + R", random=_anywhere,
           extremal=(lambda: _exact(1.0), lambda: _exact(3.0)),
           broken=lambda seed: {"U": np.array([[2.0 + seed]]), "V": np.array([[1.0]]), "N": np.array([[2.0 + seed]]),
                                "balance": 0.0}, breaks="Q = L + R: L alone")
def balanced_stationary(U, V, N, balance=1.0):
    """‖(UD, VD)‖_F ≤ 2‖∇Q‖_F everywhere; so ∇Q = 0 makes UD = VD = 0, D² = 0, D = 0, and ∇L = 0.

    Attained wherever U Vᵀ = N.  Source: this book.
    """
    dU, dV = gradient(U, V, N, balance)
    D = imbalance(U, V)
    lhs = np.hypot(np.linalg.norm(U @ D), np.linalg.norm(V @ D))
    return Check(float(lhs), float(2 * np.hypot(np.linalg.norm(dU), np.linalg.norm(dV))), "‖(UD, VD)‖ ≤ 2‖∇Q‖")


def _missing(seed):
    rng = np.random.default_rng([seed, 94])
    p, d = rng.integers(1, 4, size=2)
    N = rng.standard_normal((p, d))
    kept = rng.permutation(min(p, d))[:rng.integers(0, min(p, d))]
    return _at_saddle(N, kept)


def _at_saddle(N, kept):
    return dict(zip(("U", "V"), optimum(N, kept=kept), strict=True)) | {"N": N}


def _overshot(seed):
    rng = np.random.default_rng([seed, 95])
    N = np.diag(rng.uniform(0.5, 2, size=2))
    return dict(zip(("U", "V"), (1.5 * part for part in optimum(N)), strict=True)) | {"N": N}


@statement(id="prop-saddles", title="Every other stationary point is a strict saddle", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="∇Q = 0 and U Vᵀ ≠ N", random=_missing,
           broken=_overshot, breaks="∇Q = 0: a point behind the minimum, (1.5 U, 1.5 V)")
def saddles(U, V, N):
    """λ_min(∇²Q) = −‖U Vᵀ − N‖, the largest singular value that is missing; and λ_min(∇²L) < 0.

    lhs is the relative error, infinite where ∇²L has no negative eigenvalue; rhs 1e-9.  Source: this book.
    """
    missing = np.linalg.norm(U @ V.T - N, 2)
    lowest, plain = (np.linalg.eigvalsh(hessian(U, V, N, balance))[0] for balance in (1.0, 0.0))
    error = abs(lowest / missing + 1) if plain < 0 else np.inf
    return Check(float(error), 1e-9, "λ_min(∇²Q) = −‖E‖, λ_min(∇²L) < 0")


def _flat(seed):
    rng = np.random.default_rng([seed, 96])
    s_left, s_kept = rng.uniform(0.1, 2, size=2)
    return {"s_left": s_left, "s_kept": s_kept, "size": s_kept ** 0.5 * rng.uniform(1.01, 10)}


@statement(id="prop-flat-saddles", title="Without balance, saddles can be as flat as you like", mark="ours",
           source="this book", chapter=CHAPTER, assumptions="U = e₂uᵀ, V = e₂vᵀ, N = diag(s, s′), ‖u‖ = ‖v‖ = g",
           random=_flat, extremal=(lambda: {"s_left": 0.01, "s_kept": 1.0, "size": 3.0},),
           broken=lambda seed: _flat(seed) | {"size": 10.0, "balanced": True},
           breaks="‖u‖ = ‖v‖ = g: the balanced saddle, ‖u‖² = ‖v‖² = s′, instead")
def flat_saddles(s_left, s_kept, size, balanced=False):
    """−λ_min(∇²L) ≤ s(2s + s′)/g² at a stationary point of L that misses s; balanced, it is s.  Source: this book."""
    U, V, N = flat_saddle(s_left, s_kept, s_kept ** 0.5 if balanced else size)
    lowest = np.linalg.eigvalsh(hessian(U, V, N, balance=0.0))[0]
    return Check(float(-lowest), s_left * (2 * s_left + s_kept) / size ** 2, "−λ_min(∇²L) ≤ s(2s + s′)/g²")
