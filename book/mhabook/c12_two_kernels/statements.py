"""Chapter 12: a softmax and a Gaussian kernel side by side: the same rank, two ways to move a
query."""

from typing import NamedTuple, TypeAlias

import numpy as np

from livegrad.arrays import Array, namespace, require, require_same_dtype
from mhabook.c01_model.instances import between
from mhabook.ledger import TINY, Check, Instance, statement
from mhalib.attention import Gaussian, NormalizedGaussian, Softmax, gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models.layer import AttentionLayer

CHAPTER = "kernels/12_two_kernels_one_rank"
FURTHER = "kernels/12_further"
Kernel: TypeAlias = Softmax | Gaussian
KERNELS: tuple[Kernel, ...] = (softmax, gaussian)


def token_jacobians(layer: AttentionLayer, X: Array) -> np.ndarray:
    """J (N, n, m, d): how the output of a token moves with its query, for one head.

    softmax: (1/√d) Σ_j S_kj u_j (k_j − k̄)ᵀ; Gaussian: (2c/√d) Σ_j S_kj u_j (k_j − q_k)ᵀ, u_j = (X
    W^V W^O)_j. With rows divided by their sums, the Gaussian has k̄ in place of q_k.
    """
    if layer.sizes[0] != 1:
        raise ValueError(f"layer: expected one head, got {layer.sizes[0]}")
    S, U = layer.weights(X)[:, 0], X @ layer.WV[0] @ layer.WO[0]
    Q, K = X @ layer.WQ[0], X @ layer.WK[0]
    around = S @ K if layer.kernel.normalized else Q
    return _strength(layer) * (
        # Σ_j S_kj u_j (k_j − a_k)ᵀ as two sums, without the differences of all pairs.
        np.einsum("nkj,njm,njd->nkmd", S, U, K) - (S @ U)[..., None] * around[:, :, None]
    )


def _strength(layer):
    """2c/√d for a Gaussian kernel, 1/√d for softmax."""
    return (2 * layer.kernel.c if isinstance(layer.kernel, Gaussian) else 1) / layer.sizes[2] ** 0.5


def room(a: Array, times: int = 2**12) -> float:
    """What rounding may leave of an identity, relative to its terms: ``times`` the eps of the dtype
    of a."""
    return times * namespace(a).eps(a)


class GaussianQuery(NamedTuple):
    """The loss φ = ½‖o − y‖² of one query q (d,) under a Gaussian kernel: keys (n, d), values (n,
    m), y (m,)."""

    keys: np.ndarray
    values: np.ndarray
    y: np.ndarray
    kernel: Gaussian

    def errors(self, q: Array) -> tuple[np.ndarray, ...]:
        """S_j (n,), k_j − q (n, d) and o − y (m,)."""
        away = self.keys - q
        S = np.exp(-self.kernel.c / len(q) ** 0.5 * (away**2).sum(axis=1))
        return S, away, S @ self.values - self.y

    def off(self, q: Array) -> float:
        """‖o − y‖."""
        return float(np.linalg.norm(self.errors(q)[2]))

    def derivatives(self, q: Array) -> tuple[np.ndarray, np.ndarray]:
        """∇φ = Jᵀr and ∇²φ = JᵀJ + Σ_j e_j (4c̄² a_j a_jᵀ − 2c̄ I), r = o − y, J = 2c̄ Σ_j S_j u_j
        a_jᵀ, c̄ = c/√d.

        a_j = k_j − q, and e_j = S_j u_j·r are the value errors.
        """
        (S, away, r), b = self.errors(q), self.kernel.c / len(q) ** 0.5
        J, errors = 2 * b * (S[:, None] * self.values).T @ away, S * (self.values @ r)
        return J.T @ r, J.T @ J + 4 * b**2 * (
            errors[:, None] * away
        ).T @ away - 2 * b * errors.sum() * np.eye(len(q))

    def rounding(self, q: Array) -> tuple[float, float]:
        """How far at most, to first order in eps, ‖o − y‖ and ∇φ as computed are from those at the
        real numbers next to q.

        In units of eps, S_j is off by the part e_j = p(1 + c̄‖a_j‖²) + 2c̄‖a_j‖‖q‖ of itself and
        a_j by ‖a_j‖ + ‖q‖: p = n + m + d + 1 is for the operations, ‖q‖ for q, which is itself
        rounded.
        """
        (S, away, r), b = self.errors(q), self.kernel.c / len(q) ** 0.5
        far, size = np.linalg.norm(away, axis=1), np.linalg.norm(q)
        p = sum(away.shape + r.shape) + 1
        e = p * (1 + b * far**2) + 2 * b * far * size
        parts, rest = S * np.linalg.norm(self.values, axis=1), np.linalg.norm(r)
        slope = rest * parts @ (e * far + far + size) + (parts @ far) * (parts @ e)
        eps = namespace(q).eps(q)
        return float(eps * (p * rest + parts @ e)), float(eps * 2 * b * slope)

    def slope(self, q: Array) -> float:
        """‖∇φ‖ in units of its ``rounding``: below 1 it is rounding."""
        # 1e-300 keeps out 0/0, where all is exactly zero.
        return float(np.linalg.norm(self.derivatives(q)[0]) / (self.rounding(q)[1] + 1e-300))

    def bottom(self, radius: float, steps: int = 300) -> tuple[np.ndarray, float]:
        """Where Newton steps from the first key end that go downhill and stay within ``radius``,
        and the ``slope`` there.
        """
        q = self.keys[0]
        for _ in range(steps):
            slope, hessian = self.derivatives(q)
            bends, axes = np.linalg.eigh(hessian)
            along = axes.T @ slope
            # Absolute eigenvalues, so that the step goes down where the loss curves down; along no
            # axis it is longer than the radius.
            step = axes @ (along / np.maximum(abs(bends), abs(along) / radius + 1e-300))
            better = next(
                (one for k in range(60) if self._lower(one := q - step * 0.5**k, q, radius)), None
            )
            if better is None:
                break
            q = better
        return q, self.slope(q)

    def _lower(self, one, q, radius):
        """Whether ``one`` lies within the radius, and below q, or beside it with less slope where
        rounding ends."""
        if np.linalg.norm(one - self.keys[0]) > radius:
            return False
        new, old, slack = self.off(one), self.off(q), self.rounding(q)[0]
        flatter = self.slope(one) < self.slope(q)
        return new < old - slack or (new <= old + slack and flatter)


def _projected(seed):
    """Queries and keys at scales from 0.001 to 1000, each its own."""
    rng = np.random.default_rng([seed, 120])
    n, d, m = rng.integers(1, 6, size=3)
    scale_Q, scale_K = 10 ** rng.uniform(-3, 3, size=2)
    return {"Q": scale_Q * rng.standard_normal((n, d)), "K": scale_K * rng.standard_normal((m, d))}


def _require_rows(Q, K):
    """Check queries Q (n, d) and keys K (m, d) of one dtype."""
    require("Q", Q, ("n", "d"))
    require("K", K, ("m", Q.shape[1]))
    require_same_dtype(Q=Q, K=K)


def _halves(Q, K):
    """‖q‖²/2√d (n, 1) and ‖k‖²/2√d (m,): the exponents of D_Q^½ and D_K^½."""
    squares = ((A * A).sum(axis=1) / (2 * Q.shape[1] ** 0.5) for A in (Q, K))
    return [half[:, None] if one is Q else half for one, half in zip((Q, K), squares, strict=True)]


def _log(weights, exponents):
    """log of weights; what is too small for its dtype is replaced by the exponent that it was made
    of."""
    xp = namespace(weights)
    # 0.9 stays clear of subnormal weights, whose logarithms have few digits.
    # Both sides of `where` are computed: a 1 stands in for weights whose logarithm is not taken.
    seen = exponents > -0.9 * xp.log_max(weights)
    return xp.where(
        seen, xp.log(xp.where(seen, weights, xp.exp(xp.zeros_like(weights)))), exponents
    )


@statement(
    id="lemma-same-rank",
    title="Both kernels have the same rank",
    mark="recalled",
    source="identity: Chen et al. 2021; rank: this book",
    chapter=CHAPTER,
    assumptions="c = ½; for all Q and K",
    by_proof="both matrices have the same rank",
    random=_projected,
    broken=lambda seed: _projected(seed) | {"c": 1.0},
    breaks="c = ½: c = 1 beside the same softmax",
    hypotheses=lambda Q, K, c=0.5: {"c = ½": c == 0.5},
)
def same_rank(Q: Array, K: Array, c: float = 0.5) -> Check:
    """G = D_Q^{−1/2} Z S D_K^{−1/2}: the Gaussian matrix G is the softmax matrix S between two
    diagonal matrices.

    (D_Q)_ii = e^{‖q_i‖²/√d}, Z_ii = Σ_j e^{q_i·k_j/√d}, Q (n, d), K (m, d). Both sides are compared
    by their logarithms, so that no scale overflows: lhs is the largest difference over 1 + the sum
    of the exponents of D_Q^½ and D_K^½, rhs ``room``. Source: Chen et al. 2021, recalled; this
    book.
    """
    _require_rows(Q, K)
    kernel, xp, (half_Q, half_K) = Gaussian(c), namespace(Q, K), _halves(Q, K)
    scores, exponents = softmax.scores(Q, K), kernel.scores(Q, K)
    # The largest score is taken out of the sum: at these scales Z itself overflows.
    top = xp.amax(scores, axis=1, keepdims=True)
    log_Z = top + xp.log(xp.exp(scores - top).sum(axis=1)[:, None])
    found = log_Z + _log(softmax(scores), scores - log_Z) - half_Q - half_K
    # Exponents of this size carry rounding of eps times it.
    off = abs(found - _log(kernel(exponents), exponents)) / (1 + half_Q + half_K)
    return Check(float(off.max()), room(Q), "G = D_Q^{−1/2} Z S D_K^{−1/2}")


def _unequal(seed):
    """Two keys of different length, one query."""
    return {
        "Q": 1 + np.random.default_rng([seed, 126]).random((1, 1)),
        "K": np.array([[1.0], [2.0]]),
    }


@statement(
    id="prop-normalized-gaussian",
    title="Softmax is a normalized Gaussian when all keys have the same norm",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="c = ½; all keys have the same norm",
    random=_projected,
    broken=_unequal,
    breaks="all keys have the same norm: norms 1 and 2",
    false_claim=lambda Q, K: Check(_apart(Q, K, False), room(Q), "G_kj / Σ_l G_kl = S_kj"),
    hypotheses=lambda **_: {},
)
def normalized_gaussian(Q: Array, K: Array) -> Check:
    """G_kj / Σ_l G_kl = S_kj γ_j / Σ_l S_kl γ_l with γ_j = e^{−‖k_j‖²/2√d}, and = S_kj for keys of
    the same norm.

    The first is asked of K, the second of K / ‖k_j‖, for Q (n, d), K (m, d). Sums are divided by
    their largest term, so that no scale overflows. lhs is the largest difference over 1 + the
    largest exponent, rhs ``room``.

    Source: this book.
    """
    _require_rows(Q, K)
    sphere = K / (K * K).sum(axis=1)[:, None] ** 0.5
    off = max(_apart(Q, K, True), _apart(Q, sphere, False))
    return Check(off, room(Q), "G_kj / Σ_l G_kl = S_kj γ_j / Σ_l S_kl γ_l")


def _apart(Q, K, handicap):
    """How far a normalized Gaussian is from softmax, with the factors γ or without."""
    half_Q, half_K = _halves(Q, K)
    off = abs(
        NormalizedGaussian()(gaussian.scores(Q, K))
        # log γ_j = −‖k_j‖²/2√d is added to the scores, where γ_j itself would underflow.
        - softmax(softmax.scores(Q, K) - handicap * half_K)
    )
    return float(off.max() / (1 + half_Q.max() + half_K.max()))


def one_head(layer: AttentionLayer) -> dict[str, bool]:
    """The hypothesis of statements about one head."""
    return {"one head": layer.sizes[0] == 1}


def _one_head(seed, kernel=None, tokens=1):
    rng = np.random.default_rng([seed, 124])
    N, n, D, m, d = (int(size) for size in rng.integers(1, 5, size=5))
    n = max(n, tokens)
    kernel = KERNELS[seed % 2] if kernel is None else kernel
    layer = AttentionLayer.random(D, d, m, scale=rng.uniform(0.3, 2), kernel=kernel, seed=seed)
    return {"layer": layer, "data": random_sequences(N, n, D, m, seed=seed)}


def _two_heads():
    """What several heads have no J_k for."""
    one = _one_head(0)
    return one | {"layer": AttentionLayer.random(*one["layer"].sizes[1:], H=2)}


@statement(
    id="prop-query-force",
    title="What moves a query: a covariance, or attraction",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="one head",
    by_proof="a query that is free moves along −F_k",
    random=_one_head,
    broken=lambda seed: _one_head(seed, gaussian),
    breaks="attraction to keys from the query: from their mean instead",
    false_claim=lambda layer, data: _force(layer, data, True),
    hypotheses=lambda layer, data: one_head(layer),
)
def query_force(layer: AttentionLayer, data: SequenceDataset) -> Check:
    """∇_{W^Q} f = Xᵀ F with F_k = (1/N) J_kᵀ r_k: softmax (1/√d) Σ_j S_kj e_kj (k_j − k̄_k),
    Gaussian (2c/√d) Σ_j S_kj e_kj (k_j − q_k), with the value errors e_kj = u_j·r_k/N.

    lhs is the error in units of its rounding over eps, rhs ``room``.

    Raises ValueError if all weights underflow.  Source: this book.
    """
    return _force(layer, data, layer.kernel.normalized)


def _force(layer, data, from_mean):
    """With the keys seen from their mean, or from the query."""
    X, R = data.X, layer(data.X) - data.y
    S = layer.weights(X)[:, 0]
    U = X @ layer.WV[0] @ layer.WO[0]
    Q = X @ layer.WQ[0]
    K = X @ layer.WK[0]
    errors = S * (R @ U.mT) / len(X)
    # Rows of softmax sum to 1 already; the false claim asks for the mean under the Gaussian kernel.
    around = (S / S.sum(axis=2, keepdims=True)) @ K if from_mean else Q
    force = _strength(layer) * (errors @ K - errors.sum(axis=2)[..., None] * around)
    want, found = layer.loss_and_grad(X, data.y)[1].WQ[0], (X.mT @ force).sum(axis=0)
    # TINY keeps out 0/0, where all tokens are zero.
    off = abs(found - want).max() / (_rounding(layer, data)[1] + TINY)
    return Check(float(off), room(want), "∇_{W^Q} f = Xᵀ F")


def _rounding(layer, data):
    """How far at most, to first order in eps and in units of it, outputs and the gradients in W^Q
    and W^K as computed are from the real ones, but for a factor that counts operations.

    A weight S_kj is off by the part 1 + (2c/√d) ‖x‖² (‖W^Q‖ + ‖W^K‖)² of itself, where x is the
    longest token, and 2c is 1 for softmax. The terms of an output add up to Σ_j S_kj ‖u_j‖.
    """
    X, S = data.X, layer.weights(data.X)
    # 0.9 stays clear of subnormal weights, which have few digits.
    if S.max() < np.finfo(S.dtype).tiny ** 0.9:
        raise ValueError(
            "layer: expected a query near a key, but all weights underflow: take smaller W^Q and W^K"
        )
    U, longest = X[:, None] @ layer.WV @ layer.WO, np.linalg.norm(X, axis=2).max()
    far = longest * (np.linalg.norm(layer.WQ) + np.linalg.norm(layer.WK))
    part = 1 + _strength(layer) * far**2
    terms = np.einsum("nhkj,nhj->nk", S, np.linalg.norm(U, axis=3))
    forces = _strength(layer) * far * terms * (terms + np.linalg.norm(data.y, axis=2))
    return float(part * terms.max()), float(part * longest * forces.sum() / len(X))


@statement(
    id="prop-shift",
    title="Which common shifts leave the weights unchanged",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="all keys shift; queries shift just if the kernel is Gaussian",
    # KERNELS is (softmax, gaussian): odd seeds have the Gaussian kernel, and shift queries too.
    random=lambda seed: _shifted(seed, KERNELS[seed % 2], seed % 2 == 1),
    broken=lambda seed: _shifted(seed, KERNELS[seed % 2], seed % 2 == 0),
    breaks="each kernel with the other's shift",
    hypotheses=lambda kernel, queries, **_: {
        "queries shift just if the kernel is Gaussian": queries == isinstance(kernel, Gaussian)
    },
)
def shift(Q: Array, K: Array, by: Array, kernel: Kernel, queries: bool) -> Check:
    """softmax: S(Q, K + 1bᵀ) = S(Q, K). Gaussian: S(Q + 1bᵀ, K + 1bᵀ) = S(Q, K).

    lhs is the largest difference of the weights in units of their rounding over eps, rhs ``room``.
    The unit is 1 + ‖q‖‖k‖/√d for softmax and 1 + (c/√d)(‖q‖ + ‖k‖)² for Gaussian, with the longest
    q and k, shifted or not.  Source: this book.
    """
    pairs = (Q, K), (Q + by if queries else Q, K + by)
    before, after = (kernel(kernel.scores(q, k)) for q, k in pairs)
    most = max(_largest_terms(q, k, kernel) for q, k in pairs)
    return Check(
        float(abs(after - before).max()) / (1 + most),
        room(before),
        "S(Q, K + 1bᵀ) = S(Q, K), or both shifted",
    )


def _largest_terms(Q, K, kernel):
    """What the terms of a score add up to at most."""
    q, k = (float((A * A).sum(axis=1).max()) ** 0.5 for A in (Q, K))
    terms = kernel.c * (q + k) ** 2 if isinstance(kernel, Gaussian) else q * k
    return terms / Q.shape[1] ** 0.5


def _shifted(seed, kernel, queries):
    """At least two keys, which a shift of the queries along b tells apart."""
    rng = np.random.default_rng([seed, 125])
    n, d = rng.integers(2, 6, size=2)
    return {
        "Q": rng.standard_normal((n, d)),
        "K": rng.standard_normal((n, d)),
        "by": 1 + rng.random(d),
        "kernel": kernel,
        "queries": queries,
    }


@statement(
    id="prop-jacobian-rank",
    title="Normalization costs a degree of freedom",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="one head",
    random=lambda seed: _one_head(seed, tokens=2),
    extremal=tuple(
        (lambda sizes=sizes, kernel=kernel: all_ranks(*sizes, kernel))
        for sizes in ((4, 4, 3), (5, 5, 5), (2, 3, 5), (3, 2, 5))
        for kernel in KERNELS
    ),
    slack=(1e-9,) * 8,
    broken=lambda seed: _wide(seed),
    breaks="softmax: the Gaussian kernel with its bound",
    false_claim=lambda layer, data: _ranks(layer, data, data.X.shape[1] - 1),
    hypotheses=lambda layer, data: one_head(layer),
    refused=(_two_heads,),
)
def jacobian_rank(layer: AttentionLayer, data: SequenceDataset) -> Check:
    """rank J_k ≤ min(m, n − 1, d) for softmax and min(m, n, d) for the Gaussian kernel. Source:
    this book."""
    # A bool counts as 1: with normalized rows Σ_j S_kj (k_j − k̄_k) = 0 takes one token away.
    return _ranks(layer, data, data.X.shape[1] - layer.kernel.normalized)


def _ranks(layer, data, tokens):
    """With what ``tokens`` there are to choose from in the place of n."""
    J, (_, _, d, m) = token_jacobians(layer, data.X), layer.sizes
    most = min(m, tokens, d)
    size = np.linalg.norm(data.X) ** 2 * np.prod(
        [np.linalg.norm(W) for W in (layer.WK, layer.WV, layer.WO)]
    )
    # Relative to the factors of J and not to J, which may be nothing but rounding.
    rank = max(int(np.linalg.matrix_rank(one, tol=1e-12 * size)) for one in J.reshape(-1, m, d))
    return Check(float(rank), float(most), "rank J_k ≤ min(m, n − 1, d), or min(m, n, d)")


def _wide(seed):
    """Three tokens and a Gaussian kernel, and room for more than their ranks."""
    return {
        "layer": AttentionLayer.random(4, 4, 4, kernel=gaussian, seed=seed),
        "data": random_sequences(1, 3, 4, 4, seed=seed),
    }


def all_ranks(m: int, d: int, n: int, kernel: Kernel) -> Instance:
    """The rank that m, d and n allow: X = I, queries zero, and unit vectors as the first keys and
    values."""
    rank = min(m, d, n - 1 if kernel.normalized else n)

    def units(rows, columns):
        return (np.eye(rows, columns) * (np.arange(rows) < rank)[:, None])[None]

    layer = AttentionLayer(np.zeros((1, n, d)), units(n, d), units(n, d), units(d, m), kernel)
    return {"layer": layer, "data": SequenceDataset(np.eye(n)[None], np.zeros((1, n, m)))}


@statement(
    id="prop-flat",
    title="How flat: far keys, and weights on one key",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="one head",
    random=_one_head,
    extremal=tuple(
        (lambda n=n, kernel=kernel: _few(n, kernel))
        for n, kernel in ((2, softmax), (1, gaussian), (1, softmax))
    ),
    slack=(1e-9, 1e-9),
    broken=lambda seed: _few(1, gaussian, seed),
    breaks="softmax: the Gaussian with its bound",
    false_claim=lambda layer, data: _flatness(layer, data, True),
    hypotheses=lambda layer, data: one_head(layer),
    refused=(_two_heads,),
)
def flat(layer: AttentionLayer, data: SequenceDataset) -> Check:
    """‖J_k‖ ≤ (1/√d) Σ_{j<l} S_kj S_kl ‖u_j − u_l‖ ‖k_j − k_l‖ for softmax,
    ‖J_k‖ ≤ (2c/√d) Σ_j S_kj ‖u_j‖ ‖k_j − q_k‖ for the Gaussian kernel.

    The checked k has the least slack. rhs has room for the rounding of ‖u‖ ‖k‖.  Source: this book.
    """
    return _flatness(layer, data, layer.kernel.normalized)


def _flatness(layer, data, covariance):
    """With the bound by a covariance, or by attraction."""
    X = data.X
    S = layer.weights(X)[:, 0]
    U = X @ layer.WV[0] @ layer.WO[0]
    Q = X @ layer.WQ[0]
    K = X @ layer.WK[0]
    if covariance:
        apart = np.linalg.norm(U[:, :, None] - U[:, None], axis=3) * np.linalg.norm(
            K[:, :, None] - K[:, None], axis=3
        )
        # Half of the sum over all pairs is that over j < l.
        most = _strength(layer) / 2 * np.einsum("nkj,nkl,njl->nk", S, S, apart)
    else:
        far = (
            np.linalg.norm(K[:, None] - Q[:, :, None], axis=3) * np.linalg.norm(U, axis=2)[:, None]
        )
        most = _strength(layer) * (S * far).sum(axis=2)
    most = most + 1e-14 * np.linalg.norm(U) * (np.linalg.norm(K) + np.linalg.norm(Q))
    steep = np.linalg.norm(token_jacobians(layer, X), 2, axis=(2, 3))
    at = np.argmax((steep - most).ravel())
    return Check(
        float(steep.ravel()[at]),
        float(most.ravel()[at]),
        "‖J_k‖ ≤ what covariance or attraction allow",
    )


def _few(n, kernel, seed=0):
    """Two tokens or one: every sum has one term."""
    return {
        "layer": AttentionLayer.random(3, 2, 2, kernel=kernel, seed=seed),
        "data": random_sequences(1, n, 3, 2, seed=seed),
    }


def _widths(seed):
    rng = np.random.default_rng([seed, 127])
    return _one_head(seed, Gaussian(float(rng.uniform(0.1, 3)))) | {
        "lr": float(rng.uniform(0.01, 0.3))
    }


@statement(
    id="prop-width",
    title="The width c is a scale",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="step of gradient descent on W^Q and W^K",
    random=_widths,
    broken=_widths,
    breaks="step 2cη: the same step η",
    hypotheses=lambda **_: {},
    false_claim=lambda layer, data, lr: _wider(layer, data, lr, lr),
)
def width(layer: AttentionLayer, data: SequenceDataset, lr: float) -> Check:
    """A step η under c is a step 2cη under c = ½, from √(2c) W^Q and √(2c) W^K, which is the same
    layer.

    lhs is the distance of the two outputs, or of the two steps in W^Q and W^K, in units of its
    rounding over eps, rhs ``room``.

    Raises ValueError if all weights underflow.  Source: this book.
    """
    return _wider(layer, data, lr, 2 * layer.kernel.c * lr)


def _wider(layer, data, lr, other):
    """With the step size ``other`` under ½."""
    by = (2 * layer.kernel.c) ** 0.5
    same = AttentionLayer(by * layer.WQ, by * layer.WK, layer.WV, layer.WO, gaussian)
    (_, slow), (_, fast) = (one.loss_and_grad(data.X, data.y) for one in (layer, same))
    # In √(2c) W a step of W is √(2c) times as long.
    steps = [(by * lr * getattr(slow, name), other * getattr(fast, name)) for name in ("WQ", "WK")]
    output, slope = _rounding(layer, data)
    # TINY keeps out 0/0, where all tokens are zero.
    apart = abs(layer(data.X) - same(data.X)).max() / (output + TINY)
    off = max(abs(a - b).max() for a, b in steps) / (by * lr * slope + TINY)
    return Check(float(max(apart, off)), room(layer.WQ), "a step η under c is a step 2cη under ½")


def _inside(seed):
    """A key that is a mean of the others, with weights λ > 0."""
    rng = np.random.default_rng([seed, 128])
    n, d = rng.integers(2, 6, size=2)
    others, lam = rng.standard_normal((n, d)), rng.dirichlet(np.ones(n))
    return {"q": rng.uniform(0, 3) * rng.standard_normal(d), "others": others, "lam": lam}


def _best_query():
    """Keys −2 and 1 around 0, λ = (1/3, 2/3): e^{s_j}/λ_j is the same for both at q = ln(2)/3."""
    return {
        "q": np.array([np.log(2) / 3]),
        "others": np.array([[-2.0], [1.0]]),
        "lam": np.array([1 / 3, 2 / 3]),
    }


@statement(
    id="prop-inside-hull",
    title="Softmax never selects a key that is an average of the others",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="softmax; a mean of the other keys; λ_j ≥ 0; Σ λ_j = 1",
    random=_inside,
    # In the second, one of the other keys is no part of the mean.
    extremal=(_best_query, lambda: _best_query() | {"lam": np.array([1.0, 0.0])}),
    broken=lambda seed: (
        # Near the middle key itself, which a distance selects.
        _best_query() | {"q": np.array([between(seed, -0.3, 0.3)]), "kernel": gaussian}
    ),
    breaks="softmax: the Gaussian kernel, its rows normalized",
    hypotheses=lambda lam, kernel=softmax, **_: {
        "softmax": kernel is softmax,
        "λ_j ≥ 0": lam.min() >= 0,
        "Σ λ_j = 1": abs(lam.sum() - 1) < 1e-12,
    },
    counterexamples=(
        lambda: _best_query() | {"q": np.full(1, -10.0), "lam": np.array([2.0, -1.0])},
        lambda: _best_query() | {"q": np.full(1, -10.0), "lam": np.array([2.0, 0.0])},
    ),
)
def inside_hull(q: Array, others: Array, lam: Array, kernel: Kernel = softmax) -> Check:
    """The weight of the key Σ λ_j k_j is at most 1/(1 + e^{H(λ)}) with H(λ) = −Σ λ_j ln λ_j, where
    0 ln 0 = 0.

    Source: this book.
    """
    weights = kernel(kernel.scores(q[None], np.vstack([others, lam @ others])))[0]
    entropy = -(lam * np.log(np.where(lam > 0, lam, 1))).sum()
    return Check(
        float(weights[-1] / weights.sum()),
        float(1 / (1 + np.exp(entropy))),
        "S_kl ≤ 1/(1 + e^{H(λ)})",
    )
