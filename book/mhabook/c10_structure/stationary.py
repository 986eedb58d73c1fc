"""Chapter 10: where the factorized loss is stationary, and what balancing does there.

Throughout E = U Vᵀ − N with N = M Σ^{1/2} (p, d), U (p, d), V (d, d), D = UᵀU − VᵀV.
"""

import numpy as np

from livegrad.arrays import Array
from mhabook.c10_structure.factorization import FURTHER, gradient, hessian, optimum
from mhabook.ledger import TINY, Check, Checks, statement


def imbalance(U: Array, V: Array) -> np.ndarray:
    """D = UᵀU − VᵀV (d, d)."""
    return U.T @ U - V.T @ V


def flat_saddle(s_left: float, s_kept: float, size: float) -> tuple[np.ndarray, ...]:
    """A stationary point of L for N = diag(s_left, s_kept) that misses s_left: (U, V, N), all
    2 × 2.

    U = e₂ uᵀ and V = e₂ vᵀ with ‖u‖ = ‖v‖ = size and uᵀv = s_kept ≤ size².
    """
    # At size² = s_kept rounding may put the ratio above 1, and the root below would be no number.
    cosine = min(1.0, s_kept / size**2)
    rows = size * np.array([[cosine, (1 - cosine**2) ** 0.5], [1.0, 0.0]])
    second = np.array([[0.0], [1.0]])
    return second * rows[0], second * rows[1], np.diag([s_left, s_kept])


def _anywhere(seed):
    rng = np.random.default_rng([seed, 93])
    p, d = rng.integers(1, 5, size=2)
    scale = rng.uniform(0.2, 2, size=3)
    return {
        name: factor * rng.standard_normal(shape)
        for name, factor, shape in zip(
            ("U", "V", "N"), scale, ((p, d), (d, d), (p, d)), strict=True
        )
    }


@statement(
    id="prop-conserved",
    title="Descent in (U, V) keeps its imbalance",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="step of gradient descent on L in (U, V)",
    random=_anywhere,
    broken=lambda seed: _anywhere(seed) | {"balance": 1.0},
    breaks="step of gradient descent on L: one on Q = L + R instead",
    hypotheses=lambda balance=0.0, **_: {"step of gradient descent on L in (U, V)": balance == 0},
)
def conserved(U: Array, V: Array, N: Array, balance: float = 0.0, lr: float = 0.1) -> Checks:
    """D after a step of gradient descent on L is D + η²(G_UᵀG_U − G_VᵀG_V), with G = ∇L; along the
    flow dD/dt = 0.

    lhs are the relative errors, rhs 1e-12.  Source: this book.
    """
    dU, dV = gradient(U, V, N, balance)
    found = imbalance(U - lr * dU, V - lr * dV)
    want = imbalance(U, V) + lr**2 * imbalance(dU, dV)
    # Relative to the squares of which D is a difference: D itself may be nearly 0.
    size = (
        np.linalg.norm(U) ** 2
        + np.linalg.norm(V) ** 2
        + lr**2 * (np.linalg.norm(dU) + np.linalg.norm(dV)) ** 2
    )
    flow = dU.T @ U + U.T @ dU - dV.T @ V - V.T @ dV
    # Relative to the terms of ∇L, too, which cancel where L is stationary.
    scale = np.linalg.norm(U) * np.linalg.norm(U @ V.T - N) * np.linalg.norm(V)
    return (
        Check(
            float(np.linalg.norm(found - want) / max(size, TINY)),
            1e-12,
            "D(Z − η∇L) = D(Z) + η²(G_UᵀG_U − G_VᵀG_V)",
        ),
        Check(
            float(np.linalg.norm(flow) / max(scale, TINY)), 1e-12, "dD/dt = 0 along the flow of L"
        ),
    )


@statement(
    id="prop-balance-decays",
    title="The regularizer balances",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="the gradient flow of Q",
    random=_anywhere,
    broken=lambda seed: _anywhere(seed) | {"balance": 0.0},
    breaks="the gradient flow of Q: that of L alone",
    hypotheses=lambda balance=1.0, **_: {"the gradient flow of Q": balance == 1},
)
def balance_decays(U: Array, V: Array, N: Array, balance: float = 1.0) -> Check:
    """Along the flow (U, V)' = −∇Q the imbalance obeys ½ d‖D‖²/dt = −‖UD‖² − ‖VD‖².

    lhs is the error relative to ‖UD‖² + ‖VD‖² + ‖U‖‖E‖‖V‖‖D‖, rhs 1e-12.  Source: this book.
    """
    dU, dV = gradient(U, V, N, balance)
    D = imbalance(U, V)
    change = -(U.T @ dU + dU.T @ U - V.T @ dV - dV.T @ V)
    want = -(np.linalg.norm(U @ D) ** 2 + np.linalg.norm(V @ D) ** 2)
    # The terms with E cancel; the floor keeps out 0/0, where D = 0.
    size = -want + np.prod([np.linalg.norm(one) for one in (U, U @ V.T - N, V, D)])
    return Check(
        float(abs((D * change).sum() - want) / max(size, TINY)),
        1e-12,
        "½ d‖D‖²/dt = −‖UD‖² − ‖VD‖²",
    )


def _exact(scale):
    U, V = scale * np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 3.0]])
    return {"U": U, "V": V, "N": U @ V.T}


@statement(
    id="prop-balanced-stationary",
    title="Stationary points of the regularized loss are balanced",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="Q = L + R",
    by_proof="∇Q = 0 exactly if D = 0 and ∇L = 0",
    random=_anywhere,
    # In the last two, the wrong sign of the regularizer in one of the two gradients shows.
    extremal=(
        lambda: _exact(1.0),
        lambda: _exact(3.0),
        lambda: _anywhere(8),
        lambda: _anywhere(19),
    ),
    broken=lambda seed: {
        "U": np.array([[2.0 + seed]]),
        "V": np.array([[1.0]]),
        "N": np.array([[2.0 + seed]]),
        "balance": 0.0,
    },
    breaks="Q = L + R: L alone",
    hypotheses=lambda balance=1.0, **_: {"Q = L + R": balance == 1},
)
def balanced_stationary(U: Array, V: Array, N: Array, balance: float = 1.0) -> Check:
    """‖(UD, VD)‖_F ≤ 2‖∇Q‖_F everywhere; so ∇Q = 0 makes UD = VD = 0, D² = 0, D = 0, and ∇L = 0.

    Attained wherever U Vᵀ = N.  Source: this book.
    """
    dU, dV = gradient(U, V, N, balance)
    D = imbalance(U, V)
    lhs = np.hypot(np.linalg.norm(U @ D), np.linalg.norm(V @ D))
    return Check(
        float(lhs),
        float(2 * np.hypot(np.linalg.norm(dU), np.linalg.norm(dV))),
        "‖(UD, VD)‖ ≤ 2‖∇Q‖",
    )


def _missing(seed):
    rng = np.random.default_rng([seed, 94])
    p, d = rng.integers(1, 4, size=2)
    N = rng.standard_normal((p, d))
    # At least one singular value is left out: with all of them the point would be an optimum.
    kept = rng.permutation(min(p, d))[: rng.integers(0, min(p, d))]
    return dict(zip(("U", "V"), optimum(N, kept=kept), strict=True)) | {
        "N": N,
        "mix": rng.standard_normal((d, d)),
        "idle": rng.standard_normal(d),
    }


def _long_unbalanced():
    """t² = ‖Uw‖²/‖E‖ = 10, where (t² + (t⁴ + 4)^{1/2})/2 is nearly t² + t⁻². ``mix`` is so small that
    the other columns of U do not matter."""
    U, V = optimum(N := np.diag([2.0, 0.5]), kept=[0])
    return {"U": U, "V": V, "N": N, "mix": 1e-3 * np.eye(2), "idle": np.array([2.5**0.5, 0])}


def _overshot(seed):
    rng = np.random.default_rng([seed, 95])
    N = np.diag(rng.uniform(0.5, 2, size=2))
    return dict(zip(("U", "V"), (1.5 * part for part in optimum(N)), strict=True)) | {
        "N": N,
        "mix": rng.standard_normal((2, 2)),
        "idle": rng.standard_normal(2),
    }


def _at_a_saddle(U, V, N, **_):
    length = sum(np.linalg.norm(part) for part in gradient(U, V, N))
    return {
        # The factors are of size ‖N‖^{1/2}, and the gradient is cubic in them.
        "∇Q = 0": length < 1e-12 * np.linalg.norm(N) ** 1.5,
        "E ≠ 0": bool(np.linalg.norm(U @ V.T - N) > 1e-6),
    }


@statement(
    id="prop-saddles",
    title="Every other stationary point is a strict saddle",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="∇Q = 0; E ≠ 0",
    by_proof="neither Q nor L has a local minimum that is not global",
    random=_missing,
    extremal=(_long_unbalanced,),
    slack=(0.0002,),
    broken=_overshot,
    breaks="∇Q = 0: a point behind the minimum, (1.5 U, 1.5 V)",
    hypotheses=_at_a_saddle,
    refused=(lambda: dict.fromkeys(("U", "V", "N", "mix"), np.eye(2)) | {"idle": np.eye(2)[0]},),
)
def saddles(U: Array, V: Array, N: Array, mix: Array, idle: Array) -> Checks:
    """λ_min(∇²Q) = −‖E‖, the largest singular value that is missing, E = U Vᵀ − N; and λ_min(∇²L) <
    0 where ∇L = 0.

    The first: lhs is the relative error, rhs 1e-9. The other is checked here and at (UX + Uy wᵀ,
    VX⁻ᵀ), which is stationary for L but not balanced: X is ``mix``, y is ``idle``, w is a unit
    vector with VX⁻ᵀw = 0. By the proof −λ_min(∇²L) ≥ ‖E‖/(t² + t⁻²) with t² = max(1, ‖Uw‖²/‖E‖):
    lhs is this, rhs −λ_min(∇²L). Source: this book.
    """
    missing = np.linalg.norm(U @ V.T - N, 2)
    lowest = np.linalg.eigvalsh(hessian(U, V, N))[0]
    mixed, other = U @ mix, V @ np.linalg.inv(mix).T
    # A singular value is missing, so V has a rank below d: its last right singular vector is in the
    # kernel, as w must be.
    pairs = [(U, V), (mixed + np.outer(U @ idle, np.linalg.svd(other)[2][-1]), other)]
    negative = []
    for U_, V_ in pairs:
        square = max(1.0, np.linalg.norm(U_ @ np.linalg.svd(V_)[2][-1]) ** 2 / missing)
        curvature = -np.linalg.eigvalsh(hessian(U_, V_, N, balance=0.0))[0]
        negative.append(
            Check(float(missing / (square + 1 / square)), float(curvature), "λ_min(∇²L) < 0")
        )
    return Check(float(abs(lowest / missing + 1)), 1e-9, "λ_min(∇²Q) = −‖E‖"), *negative


def _flat(seed):
    rng = np.random.default_rng([seed, 96])
    s_left, s_kept = rng.uniform(0.1, 2, size=2)
    return {"s_left": s_left, "s_kept": s_kept, "size": s_kept**0.5 * rng.uniform(1.01, 10)}


def _not_flat(seed):
    """In turn s and s′ of opposite signs, and the balanced saddle, where ‖u‖² = ‖v‖² = s′, with g =
    10."""
    instance = _flat(seed)
    if seed % 2:
        return instance | {"size": 10.0, "length": instance["s_kept"] ** 0.5}
    return instance | {"s_left": 0.4 * instance["s_kept"], "s_kept": -instance["s_kept"]}


def _at_a_flat_saddle(s_left, s_kept, size, length=None):
    return {
        "s > 0": s_left > 0,
        "g > 0": size > 0,
        "0 ≤ s′ ≤ g²": 0 <= s_kept <= size**2,
        "‖u‖ = ‖v‖ = g": length is None or length == size,
    }


@statement(
    id="prop-flat-saddles",
    title="Without balance, saddles can be arbitrarily flat",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="N = diag(s, s′); s > 0; g > 0; 0 ≤ s′ ≤ g²; U = e₂uᵀ; V = e₂vᵀ; ‖u‖ = ‖v‖ = g; "
    "uᵀv = s′",
    random=_flat,
    extremal=(
        lambda: {"s_left": 0.01, "s_kept": 1.0, "size": 3.0},
        # u and v are neither nearly parallel nor nearly orthogonal.
        lambda: {"s_left": 1e-4, "s_kept": 1.0, "size": 1.2},
        # The bound is nearly attained, and its digits are no rounding.
        lambda: {"s_left": 1e-7, "s_kept": 1.0, "size": 1.2},
    ),
    slack=(0.01, 0.0002),
    broken=_not_flat,
    hypotheses=_at_a_flat_saddle,
    breaks="0 ≤ s′: signs opposite; ‖u‖ = ‖v‖ = g: the balanced saddle, ‖u‖² = ‖v‖² = s′",
    counterexamples=(lambda: {"s_left": -0.01, "s_kept": 1.0, "size": 3.0},),
    refused=(lambda: {"s_left": 0.01, "s_kept": 0.0, "size": 0.0},),
)
def flat_saddles(s_left: float, s_kept: float, size: float, length: float | None = None) -> Checks:
    """−λ_min(∇²L) ≤ s(2s + s′)/g² at a stationary point of L that misses s; balanced, it is s.

    ``size`` is g, and ‖u‖ = ‖v‖ too, unless a ``length`` is given for these: a twin. The other two
    checks, that ∇L = 0 there and that s is missing, have relative errors, rhs 1e-12. −λ_min is less
    by what rounding may add to it.

    Source: this book.
    """
    U, V, N = flat_saddle(s_left, s_kept, size if length is None else length)
    curved = hessian(U, V, N, balance=0.0)
    # An eigenvalue is computed up to a few roundings of the largest, which may be more than s(2s +
    # s′)/g² itself.
    lowest = np.linalg.eigvalsh(curved)[0] + 4 * np.finfo(float).eps * np.linalg.norm(curved)
    steep = sum(np.linalg.norm(part) for part in gradient(U, V, N, balance=0.0)) / (
        np.linalg.norm(N) * size
    )
    missing = np.linalg.norm(N - U @ V.T - np.diag([s_left, 0.0])) / np.linalg.norm(N)
    return (
        Check(
            float(-lowest), s_left * (2 * s_left + s_kept) / size**2, "−λ_min(∇²L) ≤ s(2s + s′)/g²"
        ),
        Check(float(steep), 1e-12, "∇L = 0"),
        Check(float(missing), 1e-12, "N − U Vᵀ = s e₁e₁ᵀ"),
    )
