"""Chapter 13: when gradient descent on one layer must succeed.

B = [S_1 X … S_H X] (N n, H D) is ``AttentionLayer.mixed``; R (N n, m) are the residuals, so f =
‖R‖²/2N.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from livegrad.arrays import Array, as_like, is_positive
from mhabook.c12_two_kernels.statements import KERNELS, Kernel, one_head, token_jacobians
from mhabook.ledger import Check, Checks, statement
from mhalib.attention import Gaussian, NormalizedGaussian, gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models.layer import AttentionLayer

SUCCEED, FURTHER = "kernels/13_when_gradient_descent_must_succeed", "kernels/13_further"


def least_singular(M: Array) -> float:
    """σ_min over rows: the least of the singular values of M (r, c), 0 where r > c."""
    return 0.0 if M.shape[0] > M.shape[1] else float(np.linalg.svd(M, compute_uv=False)[-1])


def value_rate(layer: AttentionLayer, X: Array) -> float:
    """α = min_h σ_min(W_h^O)² λ_min(BBᵀ)/N: how fast training the values alone must be."""
    outputs = min(least_singular(W.T) for W in layer.WO)
    return outputs**2 * least_singular(layer.mixed(X)) ** 2 / len(X)


def value_smoothness(layer: AttentionLayer, X: Array) -> float:
    """L = ‖B‖² max_h ‖W_h^O‖²/N: the largest curvature of the loss in the values of one head, for
    several a bound."""
    return float(
        np.linalg.norm(layer.mixed(X), 2) ** 2
        * max(np.linalg.norm(W, 2) for W in layer.WO) ** 2
        / len(X)
    )


def query_rate(
    layer: AttentionLayer, X: Array, least: Callable[[Any], float] = least_singular
) -> float:
    """α_Q = λ_min(XXᵀ) min_k σ_min(J_k)²/N, X = X_{1:N} stacked: how steep the loss is in the
    queries of one head."""
    stacked = X.reshape(-1, X.shape[-1])
    J = token_jacobians(layer, X)
    steep = min(least_singular(one) for one in J.reshape(-1, *J.shape[2:]))
    return least(stacked) ** 2 * steep**2 / len(X)


def _layer(seed):
    rng = np.random.default_rng([seed, 121])
    N, n, m = rng.integers(1, 3, size=3)
    d, H = int(rng.integers(m, 4)), int(rng.integers(1, 3))
    # HD ≥ Nn, as d ≥ m above: without both α is 0 and the theorem is empty.
    D = int(-(-N * n // H) + rng.integers(0, 3))
    layer = AttentionLayer.random(
        D, d, int(m), H, scale=rng.uniform(0.3, 2), kernel=KERNELS[seed % 2], seed=seed
    )
    return layer, random_sequences(int(N), int(n), D, int(m), seed=seed)


def _value_step(seed):
    """A step of at most 1/L, on the first layer of a stream whose B has full row rank."""
    # Steps of 1000, so that two seeds below that never arrive at one layer.
    drawn = (_layer(seed + 1000 * k) for k in range(9))
    layer, data = next(one for one in drawn if value_rate(one[0], one[1].X) > 1e-12)
    share = np.random.default_rng([seed, 122]).uniform(0.1, 1)
    return {"layer": layer, "data": data, "lr": share / value_smoothness(layer, data.X)}


@statement(
    id="thm-values",
    title="Training the values must succeed",
    mark="ours",
    source="this book, after Song et al. 2024",
    chapter=SUCCEED,
    assumptions="W^V alone moves; 0 < η ≤ 1/L; B has full row rank",
    by_proof="α > 0 exactly if B has full row rank, which requires HD ≥ Nn, and every W_h^O full column rank",
    random=_value_step,
    # One curvature: α = L, and a step takes exactly (1 − ηα)² of the loss. In the last, the heads
    # have different W^O.
    extremal=(
        *((lambda share=share: _one_curvature(share)) for share in (0.01, 0.5, 0.9)),
        lambda: _one_head_reads(0.9),
    ),
    slack=(1e-9, None, 1e-9, 1e-9),
    # The loss is all in the token of curvature L, and 3/L makes it (1 − 3)² = 4 times as large.
    broken=lambda seed: _two_curvatures(seed, 3.0),
    breaks="η ≤ 1/L: 3/L",
    hypotheses=lambda layer, data, lr: {
        "0 < η ≤ 1/L": 0 < lr * value_smoothness(layer, data.X) <= 1,
        "B has full row rank": value_rate(layer, data.X) > 0,
    },
)
def values_descend(layer: AttentionLayer, data: SequenceDataset, lr: float) -> Checks:
    """f(θ − η ∇_{W^V} f) ≤ (1 − ηα)² f(θ) and 2αf ≤ ‖∇_{W^V} f‖², α = min_h σ_min(W_h^O)²
    λ_min(BBᵀ)/N.

    Source: this book.
    """
    loss, grad = layer.loss_and_grad(data.X, data.y)
    rate, after = value_rate(layer, data.X), (layer - lr * grad.only("WV")).loss(data.X, data.y)
    return (
        Check(float(after), float((1 - lr * rate) ** 2 * loss), "f_{t+1} ≤ (1 − ηα)² f_t"),
        Check(float(2 * rate * loss), float((grad.WV**2).sum()), "2αf ≤ ‖∇_{W^V} f‖²"),
    )


def _one_curvature(share):
    """One sample of one token: B is a row, and the loss has one curvature."""
    layer, data = AttentionLayer.random(2, 1, 1), random_sequences(1, 1, 2, 1)
    return {"layer": layer, "data": data, "lr": share / value_smoothness(layer, data.X)}


def _one_head_reads(share):
    """Two tokens of opposite residuals. The second head averages the tokens, so that only the first
    one, whose W^O is shorter, moves the outputs apart."""
    X, first = np.eye(2)[None], np.stack([np.eye(2), 0 * np.eye(2)])
    WO = np.array([[[1.0], [0.0]], [[3.0], [0.0]]])
    layer, Y = AttentionLayer(first, first, 0 * first, WO), np.array([[[1.0], [-1.0]]])
    return {
        "layer": layer,
        "data": SequenceDataset(X, Y),
        "lr": share / value_smoothness(layer, X),
    }


def _two_curvatures(seed, share):
    """Two samples of one token, B = diag(1, 2) under softmax, and a target off the output of the
    second."""
    layer, X = AttentionLayer.random(2, 1, 1, seed=seed), np.diag([1.0, 2.0])[:, None]
    data = SequenceDataset(X, layer(X) + np.array([0.0, 1.0])[:, None, None])
    return {"layer": layer, "data": data, "lr": share / value_smoothness(layer, X)}


_ONE_LINE = np.array([[[1.0], [2.0]]])
"""Two tokens in one dimension."""


def _no_keys():
    """W^K = 0 under softmax: all rows of S are equal."""
    layer = AttentionLayer.random(2, 1, 1, tied=True)
    return {"layer": layer.with_arrays(WK=0 * layer.WK), "X": np.eye(2)[None]}


def _tied(seed):
    rng = np.random.default_rng([seed, 123])
    N, n = (int(size) for size in rng.integers(1, 4, size=2))
    layer = AttentionLayer.random(
        N * n + 1, 3, 1, scale=rng.uniform(0.2, 3), tied=True, kernel=KERNELS[seed % 2], seed=seed
    )
    return {"layer": layer, "X": random_sequences(N, n, N * n + 1, 1, seed=seed).X}


@statement(
    id="lemma-tied-start",
    title="A good initialization of the layer",
    mark="ours",
    source="this book",
    chapter=SUCCEED,
    assumptions="one head; X_{1:N} of full row rank; W^K = W^Q; different queries; "
    "these three for the second claim alone",
    random=_tied,
    extremal=(
        # One token: S = 1 under softmax, and both sides are ‖x‖ = 5.
        lambda: {"layer": AttentionLayer.random(2, 2, 1, tied=True), "X": np.array([[[3.0, 4.0]]])},
        # Two samples: B = diag(S_1, S_2), and the S_i have different σ_min.
        lambda: {
            "layer": AttentionLayer.random(4, 2, 1, tied=True),
            "X": np.eye(4).reshape(2, 2, 4),
        },
    ),
    slack=(1e-9, 1e-9),
    broken=lambda seed: _one_query(seed),
    breaks="different queries: two tokens with one query",
    hypotheses=lambda layer, X: (
        one_head(layer)
        | full_rank(X)
        | {
            "W^K = W^Q": bool((layer.WK == layer.WQ).all()),
            "different queries": _closest(X @ layer.WQ[0]) > 0,
        }
    ),
    counterexamples=(
        lambda: {"layer": AttentionLayer.random(1, 1, 1, tied=True), "X": _ONE_LINE},
        _no_keys,
    ),
)
def tied_start(layer: AttentionLayer, X: Array) -> Checks:
    """σ_min(X_{1:N}) min_i σ_min(S_i) ≤ σ_min(B), and the left side is positive; X_{1:N} (N n, D)
    stacks all tokens.

    Positive is above 1e-12, which is more than rounding leaves of zero.  Source: this book.
    """
    S, stacked = layer.weights(X)[:, 0], X.reshape(-1, X.shape[-1])
    least = least_singular(stacked) * min(least_singular(one) for one in S)
    return (
        Check(least, least_singular(layer.mixed(X)), "σ_min(X_{1:N}) min_i σ_min(S_i) ≤ σ_min(B)"),
        # 0 < least as a quotient with the right side 1; what rounding leaves of zero gives 2.
        Check(1e-12 / max(least, 5e-13), 1.0, "0 < σ_min(X_{1:N}) min_i σ_min(S_i)"),
    )


def full_rank(X: Array) -> dict[str, bool]:
    """The hypothesis that the tokens of all samples, X (N, n, D), are linearly independent."""
    stacked = X.reshape(-1, X.shape[-1])
    return {"X_{1:N} of full row rank": bool(np.linalg.matrix_rank(stacked) == len(stacked))}


def _closest(Q):
    """The least distance of two tokens' queries Q (N, n, d) in a sample; inf for samples of one
    token."""
    apart = np.linalg.norm(Q[:, :, None] - Q[:, None], axis=3) + np.diag(
        np.full(Q.shape[1], np.inf)
    )
    return float(apart.min())


def _one_query(seed):
    """Two tokens that differ only in a coordinate that W^Q does not see."""
    layer = AttentionLayer.random(2, 1, 1, tied=True, kernel=KERNELS[seed % 2], seed=seed)
    blind = layer.WQ * np.array([1.0, 0.0])[:, None]
    X = np.array([[[1.0, 0.0], [1.0, 1.0]]])
    return {"layer": AttentionLayer(blind, blind, layer.WV, layer.WO, layer.kernel), "X": X}


def _untied(seed):
    rng = np.random.default_rng([seed, 129])
    N, n, d = (int(size) for size in rng.integers(1, 4, size=3))
    D = N * n + int(rng.integers(0, 3))
    layer = AttentionLayer.random(
        D, d, 1, scale=rng.uniform(0.5, 1), kernel=KERNELS[seed % 2], seed=seed
    )
    return {"layer": layer, "X": random_sequences(N, n, D, 1, seed=seed).X}


def _two_heads(seed):
    """Two samples of one token in one dimension, two softmax heads: HD = Nn."""
    # Over one token softmax is 1: both heads see the same, and B has rank 1.
    X = 1 + random_sequences(2, 1, 1, seed=seed).X ** 2
    return {"layer": AttentionLayer.random(1, 1, 1, H=2, seed=seed), "X": X}


@statement(
    id="prop-almost-every-start",
    title="Almost every initialization is good",
    mark="ours",
    source="this book",
    chapter=SUCCEED,
    assumptions="one head; X_{1:N} of full row rank; W^Q and W^K outside a null set",
    by_proof="the exceptions have measure zero, the same for both kernels; the converse",
    random=_untied,
    # Every good start attains it: B has no more than Nn rows.
    extremal=(lambda: _untied(0), lambda: _untied(1)),
    broken=_two_heads,
    breaks="X_{1:N} of full row rank: one dimension and two heads for two tokens, so that only "
    "HD = Nn",
    hypotheses=lambda layer, X: one_head(layer) | full_rank(X),
    counterexamples=(lambda: {"layer": AttentionLayer.random(1, 1, 1), "X": _ONE_LINE},),
)
def almost_every_start(layer: AttentionLayer, X: Array) -> Check:
    """Nn ≤ rank B for almost every W^Q, W^K, under either kernel: here for random ones. Source:
    this book."""
    N, n, _ = X.shape
    B = layer.mixed(X)
    rank = np.linalg.matrix_rank(B, tol=1e-12 * np.linalg.norm(X))
    return Check(float(N * n), float(rank), "Nn ≤ rank B")


def _spread_out(seed):
    rng = np.random.default_rng([seed, 130])
    n, d = rng.integers(2, 5, size=2)
    return {"Q": rng.uniform(1, 2) * rng.standard_normal((n, d)), "scale": rng.uniform(1.05, 3)}


def _on_a_line(seed):
    """Six tokens from −a to a under softmax: those in the middle see an end."""
    s, scale = np.random.default_rng([seed, 131]).uniform((3.5, 1.5), (5, 2.5))
    return {"Q": s * np.linspace(-1, 1, 6)[:, None], "scale": scale, "kernel": softmax}


@statement(
    id="prop-larger-is-better",
    title="Larger is better if keys equal queries",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="the Gaussian matrix; equal keys; t ≥ 1",
    random=_spread_out,
    # A token alone has S = 1 at every scale.
    extremal=(lambda: {"Q": np.ones((1, 1)), "scale": 2.0},),
    broken=_on_a_line,
    breaks="the Gaussian kernel: softmax, six tokens on a line",
    hypotheses=lambda Q, scale, kernel=gaussian: {
        "t ≥ 1": scale >= 1,
        "the Gaussian matrix": kernel is gaussian,
    },
    counterexamples=(lambda: _spread_out(0) | {"scale": 0.5},),
)
def larger_is_better(Q: Array, scale: float, kernel: Kernel = gaussian) -> Checks:
    """σ_min(S(Q, Q)) ≤ σ_min(S(tQ, tQ)) and ‖S(tQ, tQ)‖ ≤ ‖S(Q, Q)‖ for t = ``scale`` ≥ 1. Source:
    this book."""
    here, there = (
        np.linalg.svd(kernel(kernel.scores(t * Q, t * Q)), compute_uv=False) for t in (1.0, scale)
    )
    return (
        Check(float(here[-1]), float(there[-1]), "σ_min(S(Q, Q)) ≤ σ_min(S(tQ, tQ))"),
        Check(float(there[0]), float(here[0]), "‖S(tQ, tQ)‖ ≤ ‖S(Q, Q)‖"),
    )


def kernel_moves(layer: AttentionLayer, X: Array, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """(λ₁, λ₂), an entry for each sample: ‖Ṡ‖_F ≤ λ₁ a and ‖S̈‖_F ≤ λ₂ a² as queries and keys of a
    head move by a.

    They hold on the ball of a radius around the layer. ξ = ‖X_i‖ and r̄ = max_h (‖W_h^Q‖² +
    ‖W_h^K‖²)^½ + radius: Gaussian λ₁ = (4cn/(e√d))^½ ξ, λ₂ = 4c√n ξ²/√d; softmax λ₁ = r̄ξ²/(2√d),
    λ₂ = r̄²ξ⁴/d + ξ²/(2√d). A normalized Gaussian has no such constants here: a TypeError.
    """
    if isinstance(layer.kernel, NormalizedGaussian):
        raise TypeError(
            "layer: expected softmax or a Gaussian kernel without normalization, got a "
            "normalized one"
        )
    size, n, root = np.linalg.norm(X, 2, axis=(1, 2)), X.shape[1], layer.sizes[2] ** 0.5
    if isinstance(layer.kernel, Gaussian):
        # 2c̄xe^{−c̄x²} is at most (2c̄/e)^½, and ‖q′ − k′‖ at most √2 ‖x‖ a.
        steep = 4 * layer.kernel.c / root
        return (steep * n / np.e) ** 0.5 * size, steep * n**0.5 * size**2
    rho = spread(layer) + radius
    return rho * size**2 / (2 * root), rho**2 * size**4 / root**2 + size**2 / (2 * root)


def _moved(seed):
    rng = np.random.default_rng([seed, 128])
    n, D, d = (int(size) for size in rng.integers((2, 1, 1), 5))
    layer, along = (
        AttentionLayer.random(
            D, d, 1, scale=rng.uniform(0.3, 3), kernel=KERNELS[seed % 2], seed=number
        )
        for number in (2 * seed, 2 * seed + 1)
    )
    away = AttentionLayer.random(D, d, 1, kernel=layer.kernel, seed=seed + 10_000)
    along, away = (way.only(("WQ", "WK")) for way in (along, away))
    radius, share = rng.uniform(0, 2, size=2)
    return {
        "layer": layer,
        "X": rng.uniform(0.3, 2) * rng.standard_normal((2, n, D)),
        "along": along / along.norm(),
        # Half of the shares are above 1 and cut there: these instances lie on the edge of the ball.
        "away": min(share, 1) * radius / away.norm() * away,
        "radius": radius,
    }


def _pushed(kernel, at, along, away=0.0, radius=0.0, d=1, n=1, size=1.0):
    """Multiples of e₁ᵀ (d,) as W^Q, W^K, at ``at``, that move ``along``, W^Q displaced by ``away``:
    n equal tokens, or under softmax two opposite ones, of a size."""

    def pair(q, k):
        rows = [w * np.eye(1, d)[None] for w in (q, k, 0.0)]
        return AttentionLayer(*rows, np.zeros((1, d, 1)), kernel)

    X = np.ones((1, n, 1)) if kernel is gaussian else np.array([[[1.0], [-1.0]]])
    return {
        "layer": pair(*at),
        "X": size * X,
        "along": pair(*along),
        "away": pair(away, 0),
        "radius": radius,
    }


_HALF = 0.5**0.5
# λ₁ of the Gaussian kernel, then its λ₂
_FASTEST = (
    # q − k = 1 = (2c̄)^{−½}, where the weight is steepest.
    lambda: _pushed(gaussian, (0.5, -0.5), (_HALF, -_HALF)),
    # q = k, the top, where the weight curves most.
    lambda: _pushed(gaussian, (0.3, 0.3), (_HALF, -_HALF)),
    # λ₁ of softmax at the end of a ball, then its λ₂
    lambda: _pushed(softmax, (0.7, 0.0), (0, 1), 0.4, 0.4),
    lambda: _pushed(softmax, (0.0, 0.0), (_HALF, _HALF)),
    # In four dimensions 2c̄ is ½, and a softmax score is halved. Only λ₁ is attained by n tokens.
    lambda: _pushed(gaussian, (_HALF, -_HALF), (_HALF, -_HALF), d=4, n=3),
    lambda: _pushed(gaussian, (0.3, 0.3), (_HALF, -_HALF), d=4),
    lambda: _pushed(softmax, (0.7, 0.0), (0, 1), 0.4, 0.4, d=4),
    lambda: _pushed(softmax, (0.0, 0.0), (_HALF, _HALF), d=4),
    # Long and short tokens: λ₁ of the Gaussian kernel is linear in them, that of softmax quadratic.
    lambda: _pushed(gaussian, (0.1, -0.1), (_HALF, -_HALF), size=5.0),
    lambda: _pushed(gaussian, (1.0, -1.0), (_HALF, -_HALF), size=0.5),
    lambda: _pushed(softmax, (0.7, 0.0), (0, 1), 0.4, 0.4, size=5.0),
    lambda: _pushed(softmax, (0.7, 0.0), (0, 1), 0.4, 0.4, size=0.2),
    lambda: _pushed(softmax, (0.0, 0.0), (_HALF, _HALF), size=0.2),
    # λ₂ of the Gaussian kernel is quadratic in them.
    lambda: _pushed(gaussian, (0.3, 0.3), (_HALF, -_HALF), size=5.0),
    # Far from zero, and for long tokens, λ₂ of softmax is what its scores' speed makes it.
    lambda: _pushed(softmax, (100.0, 0.005), (0, 1)),
    lambda: _pushed(softmax, (1.0, 5e-5), (0, 1), size=100.0),
    # One token among many that are zero: half of λ₂, whose √n shows.
    lambda: _pushed(gaussian, (0.0, 0.0), (_HALF, -_HALF)) | {"X": np.eye(16, 1)[None]},
)


@statement(
    id="lemma-kernel-moves",
    title="How far attention moves",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="one head; at most r from the center; a = 1",
    random=_moved,
    extremal=_FASTEST,
    slack=(1e-9,) * 14,
    broken=lambda seed: _pushed(softmax, (0.1 * seed, 0.0), (0, 1), 4.0, 0.4),
    breaks="the ball of radius r: at the distance 10r",
    hypotheses=lambda layer, X, along, away, radius: {
        "at most r from the center": away.norm() <= radius * (1 + 1e-12),
        "a = 1": abs(along.norm() - 1) < 1e-9,
    },
    counterexamples=(lambda: (fast := _FASTEST[0]()) | {"along": 2 * fast["along"]},),
)
def moves(
    layer: AttentionLayer, X: Array, along: AttentionLayer, away: AttentionLayer, radius: float
) -> Checks:
    """‖Ṡ‖_F ≤ λ₁ and ‖S̈‖_F ≤ λ₂ where W^Q, W^K are ``away`` from the center and move with unit
    speed.

    λ₁ and λ₂ are those of the ball of a radius around the center. lhs are the largest quotients,
    rhs 1. Source: this book.
    """
    kernel, bounds, there = layer.kernel, kernel_moves(layer, X, radius), layer + away
    Q, K, Q_, K_ = (X @ W[0] for W in (there.WQ, there.WK, along.WQ, along.WK))
    S = kernel(kernel.scores(Q, K))
    A_ = kernel.scores_along(Q, K, Q_, K_)
    # Scores are quadratic in (Q, K): their second derivative is `scores_along` at the velocities.
    A__ = kernel.scores_along(Q_, K_, Q_, K_)
    S_ = kernel.vjp(S, A_)
    sizes = [np.linalg.norm(one, axis=(1, 2)) for one in (S_, kernel.vjp_along(S, A_, S_, A__))]
    quotients = [
        # 0/0 counts as 0: with W^Q = W^K = 0 and r = 0 softmax has λ₁ = 0, and Ṡ = 0.
        np.divide(size, bound, out=np.zeros_like(size), where=size > 0)
        for size, bound in zip(sizes, bounds, strict=True)
    ]
    return tuple(
        Check(float(np.max(found)), 1.0, claim)
        for found, claim in zip(quotients, ("‖Ṡ‖ ≤ λ₁ a", "‖S̈‖ ≤ λ₂ a²"), strict=True)
    )


def spread(layer: AttentionLayer) -> float:
    """max_h (‖W_h^Q‖² + ‖W_h^K‖²)^½, spectral norms."""
    return float(np.hypot(*(np.linalg.norm(W, 2, axis=(1, 2)) for W in (layer.WQ, layer.WK))).max())


def neighborhood(layer: AttentionLayer, X: Array) -> float:
    """The radius r with r (Σ_i ξ_i² λ₁²)^½ = σ_min(B)/2, ξ_i = ‖X_i‖: within it σ_min(B) does not
    halve.

    It is 0 where B has no full row rank, as for tokens that are all zero.
    """
    size, half = np.linalg.norm(X, 2, axis=(1, 2)), least_singular(layer.mixed(X)) / 2
    # λ₁ of the Gaussian kernel is the same for every radius, so 1.0 stands for any.
    move = float(np.linalg.norm(size * kernel_moves(layer, X, 1.0)[0]))
    if isinstance(layer.kernel, Gaussian) or half == 0:
        return half / move if half else 0.0
    # then g (spread + r) r = half
    g, rho = float(np.linalg.norm(size**3)) / (2 * layer.sizes[2] ** 0.5), spread(layer)
    # The positive root, in the form without cancellation.
    return 2 * half / (g * rho + (g**2 * rho**2 + 4 * g * half) ** 0.5)


def smoothness(layer: AttentionLayer, data: SequenceDataset, radius: float) -> float:
    """L = (C₁² + C₂ √(2N f))/N bounds the curvature on the ball where the loss is at most f, its
    value here.

    C₁² = H ω² Σ_i ξ_i² (λ₁² ν² + ς²) and C₂² = ω² Σ_i ξ_i² (λ₂ ν + λ₁)², with ξ_i = ‖X_i‖, ω =
    max‖W_h^O‖, ν = max‖W_h^V‖ + radius, and ς = √n (softmax) or n (Gaussian), a bound on ‖S_h‖.
    """
    X = data.X
    size, (N, n, _) = np.linalg.norm(X, 2, axis=(1, 2)), X.shape
    first, second = kernel_moves(layer, X, radius)
    omega, nu = (float(np.linalg.norm(W, 2, axis=(1, 2)).max()) for W in (layer.WO, layer.WV))
    # n entries a row of at most 1 allow ‖S‖ = n; rows that sum to 1 allow √n.
    most, nu = n if isinstance(layer.kernel, Gaussian) else n**0.5, nu + radius
    first_squared = (
        layer.sizes[0] * omega**2 * float((size**2 * (first**2 * nu**2 + most**2)).sum())
    )
    curved = omega * float(np.linalg.norm(size * (second * nu + first)))
    return (first_squared + curved * (2 * N * float(layer.loss(X, data.y))) ** 0.5) / N


def near(layer: AttentionLayer, X: Array, share: float = 1.0, seed: int = 0) -> SequenceDataset:
    """Targets so near that the theorem applies: f_0 = share · r² α_r/8 with r = ``neighborhood``
    and α_r = α_0/4.

    Raises ValueError if ``share`` is no finite number > 0: no loss is negative, and the theorem
    divides by f_0.
    """
    if not is_positive(share):
        raise ValueError(f"share: expected a finite number > 0, got {share!r}")
    away = np.random.default_rng([seed, 126]).standard_normal((*X.shape[:2], layer.sizes[3]))
    # 32 = 8 · 4, since α_r is a quarter of α₀; below, f = ‖R‖²/2N gives ‖R‖.
    loss = share * neighborhood(layer, X) ** 2 * value_rate(layer, X) / 32
    return SequenceDataset(
        X, layer(X) + as_like((2 * len(X) * loss) ** 0.5 / np.linalg.norm(away) * away, X)
    )


def _near(seed):
    rng = np.random.default_rng([seed, 127])
    (N, n, m), (share, slower) = rng.integers(1, 3, size=3), rng.uniform(0.1, 1, size=2)
    # D > Nn, and tied keys: the start is good, α₀ > 0.
    D, H = int(N * n + 2), int(rng.integers(1, 3))
    layer = AttentionLayer.random(
        D, 2, int(m), H, rng.uniform(0.5, 1.5), True, KERNELS[seed % 2], seed
    )
    data = near(layer, random_sequences(int(N), int(n), D, 1, seed=seed).X, share, seed)
    return {
        "layer": layer,
        "data": data,
        "lr": slower / smoothness(layer, data, neighborhood(layer, data.X)),
    }


@statement(
    id="thm-neighborhood",
    title="Training all weights must succeed from a good initialization",
    mark="ours",
    source="this book, after Song et al. 2024",
    chapter=FURTHER,
    assumptions="W^Q, W^K, W^V are trained; α₀ > 0; f₀ ≤ ⅛r²α_r; 0 < η ≤ 1/L",
    random=_near,
    # A step so short hardly moves the loss or its bound: their quotient is nearly 1.
    # In the second, sixteen samples are fitted, each as fast as α₀ says, by small outputs and tokens.
    extremal=(lambda: _one_token(1e-6), lambda: _orthogonal()),
    slack=(1e-5,),
    broken=lambda seed: _one_token(3.0, seed),
    breaks="η ≤ 1/L: three over the curvature in the values",
    hypotheses=lambda layer, data, lr: _near_enough(layer, data, lr, neighborhood(layer, data.X)),
    counterexamples=(lambda: _far_target(),),
    refused=(lambda: _zero_token(),),
)
def stays_near(layer: AttentionLayer, data: SequenceDataset, lr: float, steps: int = 12) -> Checks:
    """f_t ≤ (1 − ηα_r)^t f_0 and ‖θ_t − θ_0‖ ≤ r: lhs are the largest of these quotients over the
    steps, rhs 1.

    r is ``neighborhood``, α_r a quarter of ``value_rate`` at the start. The constants are not
    sharp: no instance here pins them. The third check is the equation for r, relative error ≤ 1e-9.
    Source: this book.
    """
    theta, loss, falls, moves = layer, float(layer.loss(data.X, data.y)), [], []
    r, alpha = neighborhood(layer, data.X), value_rate(layer, data.X) / 4
    for t in range(1, steps + 1):
        theta = theta - lr * theta.loss_and_grad(data.X, data.y)[1].only(("WQ", "WK", "WV"))
        falls.append(float(theta.loss(data.X, data.y)) / ((1 - lr * alpha) ** t * loss))
        moves.append((theta - layer).norm() / r)
    size, half = np.linalg.norm(data.X, 2, axis=(1, 2)), least_singular(layer.mixed(data.X)) / 2
    moved = r * np.linalg.norm(size * kernel_moves(layer, data.X, r)[0])
    return (
        Check(max(falls), 1.0, "f_t ≤ (1 − ηα_r)^t f_0"),
        Check(max(moves), 1.0, "‖θ_t − θ_0‖ ≤ r"),
        Check(float(abs(moved / half - 1)), 1e-9, "r (Σ_i ξ_i² λ₁²)^½ = σ_min(B)/2"),
    )


def _near_enough(layer, data, lr, r):
    alpha = value_rate(layer, data.X)
    return {
        "α₀ > 0": alpha > 0,
        "0 < η ≤ 1/L": 0 < lr * smoothness(layer, data, r) <= 1 + 1e-12,
        "f₀ ≤ ⅛r²α_r": float(layer.loss(data.X, data.y)) <= r**2 * alpha / 32 * (1 + 1e-9),
    }


def _orthogonal(N=16, size=0.05):
    """One token in each sample, all orthogonal: every residual shrinks at the same rate."""
    layer = AttentionLayer.random(N, 1, 1)
    layer = layer.with_arrays(WO=np.full_like(layer.WO, size))
    data = near(layer, size * np.eye(N)[:, None], 0.01)
    return {
        "layer": layer,
        "data": data,
        "lr": 1 / smoothness(layer, data, neighborhood(layer, data.X)),
    }


def _far_target():
    """So far from what one token gives that the way to it is longer than r."""
    layer = AttentionLayer.random(2, 1, 1)
    data = near(layer, random_sequences(1, 1, 2, 1).X, 1e6)
    return {
        "layer": layer,
        "data": data,
        "lr": 1 / smoothness(layer, data, neighborhood(layer, data.X)),
    }


def _zero_token():
    """A sample that is zero, so that B has a row of zeros, and targets that are met: α₀ and f₀ are
    0."""
    layer, X = AttentionLayer.random(2, 1, 1), np.array([[[0.0, 0.0]], [[1.0, 1.0]]])
    return {"layer": layer, "data": SequenceDataset(X, layer(X)), "lr": 1e-9}


def _one_token(share, seed=0):
    """One token: attention is constant under softmax, and the loss has one curvature."""
    layer = AttentionLayer.random(2, 1, 1, seed=seed)
    data = near(layer, random_sequences(1, 1, 2, 1, seed=seed).X, 0.01, seed)
    return {"layer": layer, "data": data, "lr": share / value_smoothness(layer, data.X)}


def _queries(seed):
    """Sizes for which the Jacobians of either kernel have m independent rows."""
    rng = np.random.default_rng([seed, 132])
    N, n = int(rng.integers(1, 3)), int(rng.integers(2, 5))
    d = int(rng.integers(1, 4))
    m = int(rng.integers(1, min(d, n - 1) + 1))
    D = N * n + int(rng.integers(0, 3))
    layer = AttentionLayer.random(
        D, d, m, scale=rng.uniform(0.3, 2), kernel=KERNELS[seed % 2], seed=seed
    )
    return {"layer": layer, "data": random_sequences(N, n, D, m, seed=seed)}


def _opposed(seed):
    """The same token in two samples, with targets on both sides of the output."""
    layer, X = AttentionLayer.random(2, 1, 1, kernel=gaussian, seed=seed), np.ones((2, 1, 2))
    return {
        "layer": layer,
        "data": SequenceDataset(X, layer(X) + np.array([1.0, -1.0])[:, None, None]),
    }


def _alike(N, off=None):
    """Samples of one token each, e_i, with the same query, key and value: XXᵀ is I, and all J are
    equal; or each query farther from its key than the one before, and only the token ``off``
    misses its target."""
    q, k, v = (w * np.ones((1, N, 1)) for w in (0.5, -0.3, 1.0))
    q = q if off is None else q + 0.5 * np.arange(N)[:, None]
    layer, X = AttentionLayer(q, k, v, np.ones((1, 1, 1)), gaussian), np.eye(N)[:, None]
    y = np.arange(1.0, N + 1)[:, None, None]
    if off is not None:
        y = layer(X) + (np.arange(N) == off)[:, None, None]
    return {"layer": layer, "data": SequenceDataset(X, y)}


@statement(
    id="thm-queries",
    title="Training the queries while their Jacobians have full rank",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="one head; W^Q alone moves",
    random=_queries,
    extremal=(
        lambda: {
            # One token, one output, d = 1: XXᵀ and J are numbers, and both sides are equal.
            "layer": AttentionLayer.random(2, 1, 1, kernel=gaussian),
            "data": random_sequences(1, 1, 2, 1),
        },
        lambda: _alike(2),
        lambda: _alike(3),
        lambda: _alike(3, off=2),
    ),
    slack=(1e-9,) * 4,
    broken=_opposed,
    breaks="λ_min is 0 without full row rank: one token in two samples, and the eigenvalue that "
    "is not 0",
    false_claim=lambda layer, data: _steep(layer, data, partial(np.linalg.norm, ord=2)),
    hypotheses=lambda layer, data: one_head(layer),
    refused=(
        lambda: (
            (one := _queries(0)) | {"layer": AttentionLayer.random(*one["layer"].sizes[1:], H=2)}
        ),
    ),
)
def queries_steep(layer: AttentionLayer, data: SequenceDataset) -> Check:
    """2 α_Q f ≤ ‖∇_{W^Q} f‖² with α_Q = λ_min(XXᵀ) min_k σ_min(J_k)²/N, X = X_{1:N} stacked.
    Source: this book."""
    return _steep(layer, data, least_singular)


def _steep(layer, data, least):
    loss, grad = layer.loss_and_grad(data.X, data.y)
    rate = query_rate(layer, data.X, least)
    return Check(float(2 * rate * loss), float((grad.WQ**2).sum()), "2 α_Q f ≤ ‖∇_{W^Q} f‖²")
