"""Chapter 15: what a slice of a landscape can tell, and what it cannot.

A slice of a loss at θ is (a, b) ↦ f(θ + a v_1 + b v_2); H (p, p) is the Hessian ∇²f in all p
parameters.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from livegrad import landscape
from livegrad.arrays import Array
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.attention import gaussian, normalized_gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models.layer import AttentionLayer

CHAPTER, FURTHER = "kernels/15_landscapes", "kernels/15_further"
PLANES = 4000
NORMAL = ((0.0, 2 / 3), (3**0.5, 1 / 6), (-(3**0.5), 1 / 6))
"""Points and weights with the first five moments of a standard normal number."""


def _hessian(seed, least=2, definite=False):
    rng = np.random.default_rng([seed, 150])
    P = int(rng.integers(least, 6))
    basis = np.linalg.qr(rng.standard_normal((P, P)))[0]
    values = rng.uniform(1, 2, P) if definite else rng.standard_normal(P)
    return rng, (basis * values) @ basis.T


@statement(
    id="prop-mean-curvature",
    title="The curvature along a random direction",
    mark="ours",
    source="this book, after Hutchinson 1990",
    chapter=CHAPTER,
    assumptions="independent standard normal entries",
    random=lambda seed: {"H": _hessian(seed)[1]},
    broken=lambda seed: {"H": _hessian(seed)[1], "moments": ((1.0, 0.5), (-1.0, 0.5))},
    breaks="normal entries: entries ±1, whose variance is smaller",
    hypotheses=lambda H, moments=NORMAL: {
        # The fourth moment is 3 for a normal number, and 1 for a sign.
        "independent standard normal entries": sum(w * at**4 for at, w in moments) > 2.999
    },
)
def mean_curvature(H: Array, moments: Sequence[tuple[float, float]] = NORMAL) -> Checks:
    """E vᵀHv = tr H and Var vᵀHv = 2‖H‖_F², up to 1e-10 ‖H‖_F².

    The means are exact: sums over points that have the moments of a normal number. Source: this
    book.
    """
    # Var vᵀHv has degree 4 in every entry, so that five moments are enough.
    points = np.array(list(product([at for at, _ in moments], repeat=len(H))))
    chance = np.prod(
        np.array(list(product([weight for _, weight in moments], repeat=len(H)))), axis=1
    )
    seen = np.einsum("kp,pq,kq->k", points, H, points)
    mean = chance @ seen
    size, spread = (H**2).sum(), chance @ (seen - mean) ** 2
    floor = max(size, TINY)
    return (
        Check(float(abs(mean - np.trace(H)) / floor), 1e-10, "E vᵀHv = tr H"),
        Check(float(abs(spread - 2 * size) / floor), 1e-10, "Var vᵀHv = 2‖H‖²"),
    )


def _framed(seed):
    rng, H = _hessian(seed, least=3)
    return {"H": H, "frame": np.linalg.qr(rng.standard_normal((len(H), 2)))[0]}


def _eigenvectors(chosen=slice(2), more=0.0):
    """The plane of the two lowest eigenvectors, ν_1 = μ_1 and ν_2 = μ_2, or of two others; all
    eigenvalues raised by ``more``."""
    H = _hessian(0, least=3)[1]
    H = H + more * np.eye(len(H))
    return {"H": H, "frame": np.linalg.eigh(H)[1][:, chosen]}


def _stretched(seed):
    rng, H = _hessian(seed, least=3, definite=True)
    # Eigenvalues from 1 to 2 become at least 9 on the plane: above all of the full ones.
    return {"H": H, "frame": 3 * np.linalg.qr(rng.standard_normal((len(H), 2)))[0]}


@statement(
    id="prop-interlacing",
    title="The eigenvalues of a slice interlace those of the full Hessian",
    mark="ours",
    source="this book, after Cauchy",
    chapter=CHAPTER,
    assumptions="v_1, v_2 are orthonormal; p ≥ 3",
    random=_framed,
    # The last is positive definite.
    extremal=(
        _eigenvectors,
        lambda: _eigenvectors(slice(-2, None)),
        lambda: _eigenvectors(more=10.0),
    ),
    broken=_stretched,
    breaks="v_1, v_2 are orthonormal: three times as long",
    hypotheses=lambda H, frame: {
        "v_1, v_2 are orthonormal": abs(frame.T @ frame - np.eye(2)).max() < 1e-12,
        "p ≥ 3": len(H) >= 3,
    },
)
def interlacing(H: Array, frame: Array) -> Checks:
    """μ_1 ≤ ν_1 ≤ μ_{p−1} and μ_2 ≤ ν_2 ≤ μ_p for the eigenvalues ν of the slice's Hessian, μ of
    the full one.

    lhs is one plus the violation in units of ‖H‖, rhs 1, with room for rounding. Source: this book.
    """
    full, seen = np.linalg.eigvalsh(H), np.linalg.eigvalsh(frame.T @ H @ frame)
    over = {
        "μ_1 ≤ ν_1": full[0] - seen[0],
        "ν_1 ≤ μ_{p−1}": seen[0] - full[-2],
        "μ_2 ≤ ν_2": full[1] - seen[1],
        "ν_2 ≤ μ_p": seen[1] - full[-1],
    }
    return tuple(
        Check(float(1 + most / max(abs(full).max(), TINY)), 1 + 1e-12, claim)
        for claim, most in over.items()
    )


def _saddle(seed):
    rng = np.random.default_rng([seed, 152])
    P, (down, up) = int(rng.integers(3, 7)), rng.uniform(0.2, 2, size=2)
    values = np.append(-down * rng.uniform(0.3, 1), up * rng.uniform(1, 3, P - 1))
    return {"values": values, "down": down, "up": up, "seed": seed}


def _even_saddle(P=3, down=1.0, up=0.4):
    return {"values": np.append(-down, np.full(P - 1, up)), "down": down, "up": up, "seed": 1}


def _uneven_saddle():
    return {"values": np.array([-1.0, 0.4, 4000.0]), "down": 1.0, "up": 0.4, "seed": 1}


def missed(P: int, down: float, up: float) -> float:
    """(β/(β+γ))^{(p−2)/2}: the chance that a random plane sees one eigenvalue −β among p − 1
    eigenvalues γ."""
    return (down / (down + up)) ** ((P - 2) / 2)


def chances(values: Array, v: Array) -> np.ndarray:
    """Numbers (k,) whose mean over normal v (k, p − 1) is the chance that a random plane shows −b =
    μ_1.

    A plane with a_i = (u_i, v_i) curves down where b a_1ᵀM⁻¹a_1 > 1, M = Σ_{i>1} μ_i a_i a_iᵀ. Over
    a_1 the chance of that is the mean of e^{−1/(2b (M⁻¹)_11)}, and over u it is ∏_{i>1} (b/(b +
    μ_i))^½ (Σ μ_i v_i² / Σ μ_i v_i² b/(b + μ_i))^½.
    """
    # values[0] is −b, so this is b/(b + μ_i).
    kept, weights = values[0] / (values[0] - values[1:]), values[1:] * v**2
    return np.prod(kept) ** 0.5 * (weights.sum(axis=1) / (weights @ kept)) ** 0.5


@statement(
    id="prop-missed-saddle",
    title="The probability that a random slice shows a saddle",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="p ≥ 3; −β ≤ μ_1 < 0; all others are at least γ > 0; "
    "two directions with independent standard normal entries",
    random=_saddle,
    extremal=(
        _even_saddle,
        lambda: _even_saddle(5),
        # The chances differ most from plane to plane.
        _uneven_saddle,
        # P(seen) is nearly 1, and nearly 0: once a plane shows what is so rare, and once none does.
        lambda: _even_saddle(3, 32.0, 1.0) | {"seed": 0},
        lambda: _even_saddle(8, 0.02, 1.0) | {"seed": 13},
        lambda: _even_saddle(21, 1e-3, 1.0),
    ),
    broken=lambda seed: _saddle(seed) | {"up": 10.0},
    breaks="all others are at least γ > 0: a γ too large",
    hypotheses=lambda values, down, up, **_: {
        "p ≥ 3": len(values) >= 3,
        "−β ≤ μ_1 < 0": -down <= values[0] < 0,
        "all others are at least γ > 0": min(values[1:], default=up) >= up > 0,
    },
    counterexamples=(lambda: _even_saddle() | {"down": 0.5},),
    # There is no plane.
    refused=(lambda: _even_saddle(1),),
)
def missed_saddle(values: Array, down: float, up: float, seed: int) -> Checks:
    """P(the slice's Hessian has a negative eigenvalue) ≤ (β/(β+γ))^{(p−2)/2}, and = for
    eigenvalues −β, γ, …, γ.

    The chance is the mean of ``chances`` over 4,000 draws. The share of 4,000 planes that curve
    down has to agree, up to five standard errors. Source: this book.
    """
    P = len(values)
    u, v = np.random.default_rng([seed, 153]).standard_normal((2, PLANES, P))
    uu, uv, vv = (
        (first * second * values).sum(axis=1) for first, second in ((u, u), (u, v), (v, v))
    )
    # A 2 × 2 form has a negative eigenvalue where its determinant or its first entry is negative.
    share = float(((uu * vv < uv**2) | (uu < 0)).mean())
    chance = float(chances(values, v[:, 1:]).mean())
    even, bound = chances(np.append(-down, np.full(P - 1, up)), v[:, 1:]), missed(P, down, up)
    # rounding may lift a chance above 1
    # 1/PLANES: of a chance near 0 or 1 a single plane may be more than five standard errors
    room = 5 * (chance * max(0.0, 1 - chance) / PLANES) ** 0.5 + 1 / PLANES
    return (
        Check(chance, bound, "P(seen) ≤ (β/(β+γ))^{(p−2)/2}"),
        Check(
            float(abs(even / bound - 1).max()),
            1e-9,
            "P(seen) = (β/(β+γ))^{(p−2)/2} for −β, γ, …, γ",
        ),
        Check(abs(share - chance), room, "the share of 4,000 planes is P(seen)"),
    )


def _rescaled(seed, kernel=None):
    rng = np.random.default_rng([seed, 154])
    kernel = (softmax, gaussian, normalized_gaussian)[seed % 3] if kernel is None else kernel
    values, queries = np.exp(rng.uniform(0.5, 1.5, (2, 2, 1, 1)))
    layer = AttentionLayer.random(4, 3, 2, H=2, kernel=kernel, seed=seed)
    return {
        "layer": layer,
        "data": random_sequences(2, 3, 4, 2, seed=seed),
        "seed": seed,
        "values": values,
        # A product of q and k does not see the factor, a distance does.
        "queries": queries if kernel is softmax else np.ones((2, 1, 1)),
    }


@statement(
    id="prop-filter-scale",
    title="Filter normalization removes scales that do not affect the loss",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    random=_rescaled,
    assumptions="a factor for each head; factors > 0; queries and keys only under softmax; "
    "filter normalization",
    broken=lambda seed: _rescaled(seed, softmax) | {"normalize": None},
    breaks="filter normalization: raw directions",
    hypotheses=lambda layer, values, queries, normalize="filter", **_: {
        "filter normalization": normalize == "filter",
        "factors > 0": min(values.min(), queries.min()) > 0,
        "queries and keys only under softmax": layer.kernel is softmax or (queries == 1).all(),
    },
    counterexamples=(
        lambda: (scaled := _rescaled(0)) | {"values": -scaled["values"]},
        lambda: _rescaled(0, gaussian) | {"queries": _rescaled(0)["queries"]},
    ),
)
def filter_scale(
    layer: AttentionLayer,
    data: SequenceDataset,
    seed: int,
    values: Array,
    queries: Array,
    normalize: str | None = "filter",
) -> Check:
    """W^V → κ W^V, W^O → W^O/κ, and under softmax W^Q → κ′ W^Q, W^K → W^K/κ′, keep every
    filter-normalized slice.

    lhs is the largest relative difference on a grid of nine points, rhs 1e-9.  Source: this book.
    """
    twin = layer.with_arrays(
        WQ=queries * layer.WQ, WK=layer.WK / queries, WV=values * layer.WV, WO=layer.WO / values
    )
    grids = []
    for model in (layer, twin):
        u, v = (
            landscape.random_direction(model, 2 * seed + k, normalize=normalize) for k in range(2)
        )
        grids.append(landscape.slice(model, data, u, v, 1.0, 3).loss)
    return Check(
        float(abs(grids[0] - grids[1]).max() / abs(grids[0]).max()),
        1e-9,
        "one slice for both networks",
    )


def _going_far(seed, beyond=None):
    rng = np.random.default_rng([seed, 155])
    H, n = (int(k) for k in rng.integers(1, 3, size=2))
    layer = AttentionLayer.random(3, 4, 2, H, kernel=gaussian, seed=seed)
    data = random_sequences(2, n, 3, 2, seed=seed)
    delta, reach = _apart(layer, data, None, seed)
    return {
        "layer": layer,
        "data": data,
        "seed": seed,
        "t": float((reach + (rng.uniform(0, 4) if beyond is None else beyond)) / delta),
    }


def _away(layer, seed):
    """A random direction of queries and keys."""
    return landscape.random_direction(layer, seed, only=("WQ", "WK"), normalize=None)


def _apart(layer, data, direction, seed):
    """δ, the least ‖x_kᵀv^Q − x_jᵀv^K‖, and Δ, the largest ‖q_k − k_j‖."""
    X, direction = data.X[:, None], _away(layer, seed) if direction is None else direction
    gaps = [
        np.linalg.norm((X @ at.WQ)[..., :, None, :] - (X @ at.WK)[..., None, :, :], axis=-1)
        for at in (direction, layer)
    ]
    return gaps[0].min(), gaps[1].max()


def _constant_values(seed, kernel):
    """One head whose values are 1 for every token, and targets 0."""
    X = np.random.default_rng([seed, 156]).standard_normal((1, 3, 2)) * np.array(
        [1.0, 0]
    ) + np.array([0, 1.0])
    layer = AttentionLayer.random(2, 2, 1, kernel=kernel, seed=seed)
    # A mean of equal values is 1 however far the queries go: with normalized rows the output never
    # fades.
    layer = layer.with_arrays(WV=np.array([[[0.0, 0], [1, 0]]]), WO=np.array([[[1.0], [0]]]))
    return {"layer": layer, "data": SequenceDataset(X, np.zeros((1, 3, 1))), "seed": seed, "t": 1e3}


def _one_token(N=1, n=1, d=1, H=1):
    """Equal heads whose queries run away from their keys' far side, and those are equal, too: every
    inequality of the proof is one of numbers. The values are 1, 2, and so on."""
    X = np.stack([np.ones(N * n), 1.0 + np.arange(N * n)], axis=-1).reshape(N, n, 2)
    first, second = (np.tile(np.eye(2)[:, k, None] * np.eye(1, d), (H, 1, 1)) for k in (0, 1))
    layer = AttentionLayer(0 * first, -first, second, first.mT[..., :1], gaussian)
    # At t = 2 are q = −2 and k = −1, with δ = Δ = 1: their distance is exactly tδ − Δ.
    direction = (-1 * layer.with_arrays(WQ=first)).only(("WQ",))
    return {
        "layer": layer,
        "data": SequenceDataset(X, 0 * X[..., :1]),
        "direction": direction,
        "t": 2.0,
    }


def _far_enough(layer, data, t, seed=0, direction=None):
    delta, reach = _apart(layer, data, direction, seed)
    return {"the kernel is Gaussian": not layer.kernel.normalized, "tδ ≥ Δ": t * delta >= reach}


@statement(
    id="prop-gaussian-plateau",
    title="Far out, the Gaussian slice is the loss without attention",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="the kernel is Gaussian; only W^Q and W^K move; tδ ≥ Δ",
    random=_going_far,
    # In the third the bound is 1e-4 of √f₀, which pins f₀ itself; in the last every weight is 0.
    extremal=(
        _one_token,
        lambda: _one_token(2, 3, 4, 2),
        lambda: _going_far(0, 6.5),
        lambda: _going_far(0) | {"t": 100.0},
    ),
    slack=(1e-9, 1e-9),
    broken=lambda seed: _constant_values(seed, (softmax, normalized_gaussian)[seed % 2]),
    breaks="the kernel: softmax, and the Gaussian with normalized rows",
    hypotheses=_far_enough,
    counterexamples=(lambda: _going_far(0) | {"t": 0.0},),
)
def gaussian_plateau(
    layer: AttentionLayer,
    data: SequenceDataset,
    t: float,
    seed: int = 0,
    direction: AttentionLayer | None = None,
) -> Check:
    """|√f(θ+tv) − √f_0| ≤ e^{−c(tδ−Δ)²/√d} (Σ_i n Ω_i²/2N)^{1/2}, f_0 = (1/2N) Σ‖Y_i‖², Ω_i = Σ_h
    Σ_j ‖u_j‖.

    δ is the least ‖x_kᵀv^Q − x_jᵀv^K‖, Δ the largest ‖q_k − k_j‖.  Source: this book.
    """
    X, Y, (N, n, _) = data.X, data.y, data.X.shape
    delta, reach = _apart(layer, data, direction, seed)
    direction = _away(layer, seed) if direction is None else direction
    width = np.linalg.norm(X[:, None] @ layer.WV @ layer.WO, axis=-1).sum(axis=(1, 2))
    weight = np.exp(
        # The softmax of the twin has no c: it is held to the bound for the default one.
        -getattr(layer.kernel, "c", 0.5) * (t * delta - reach) ** 2 / layer.sizes[2] ** 0.5
    )
    bound = weight * (n * (width**2).sum() / (2 * N)) ** 0.5
    far, still = (layer + t * direction).loss(X, Y) ** 0.5, ((Y**2).sum() / (2 * N)) ** 0.5
    bound = bound + 1e-15 * still  # room for rounding, where the weights are zero
    return Check(float(abs(far - still)), float(bound), "|√f − √f_0| ≤ e^{−c(tδ−Δ)²/√d} ω")
