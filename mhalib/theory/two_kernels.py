"""Chapter 12: a softmax and a Gaussian kernel side by side: the same rank, two ways to move a query."""

import numpy as np

from mhalib.attention import Gaussian, gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models.layer import AttentionLayer
from mhalib.theory.ledger import Check, statement

CHAPTER = "kernels/12_two_kernels_one_rank"
KERNELS = (softmax, gaussian)


def token_jacobians(layer, X):
    """J (N, n, m, d): how the output of a token moves with its query, for one head.

    softmax: (1/√d) Σ_j S_kj u_j (k_j − k̄)ᵀ; Gaussian: (2c/√d) Σ_j S_kj u_j (k_j − q_k)ᵀ, u_j = (X W^V W^O)_j. With
    rows divided by their sums, the Gaussian has k̄ in place of q_k.
    """
    if layer.sizes[0] != 1:
        raise ValueError(f"layer: expected one head, got {layer.sizes[0]}")
    S, U = layer.weights(X)[:, 0], X @ layer.WV[0] @ layer.WO[0]
    Q, K = X @ layer.WQ[0], X @ layer.WK[0]
    around = S @ K if layer.kernel.normalized else Q
    return _strength(layer) * (np.einsum("nkj,njm,njd->nkmd", S, U, K) - (S @ U)[..., None] * around[:, :, None])


def _strength(layer):
    """2c/√d for a Gaussian kernel, 1/√d for softmax."""
    return (2 * layer.kernel.c if isinstance(layer.kernel, Gaussian) else 1) / layer.sizes[2] ** 0.5


def _projected(seed):
    rng = np.random.default_rng([seed, 120])
    n, d = rng.integers(1, 6, size=2)
    return {"Q": rng.standard_normal((n, d)), "K": rng.standard_normal((n, d))}


@statement(id="lemma-same-rank", title="Both kernels have the same rank", mark="recalled",
           source="identity: Chen et al. 2021; rank: this book", chapter=CHAPTER,
           assumptions="c = ½, any Q and K", random=_projected,
           broken=lambda seed: _projected(seed) | {"c": 1.0}, breaks="c = ½: c = 1 beside the same softmax")
def same_rank(Q, K, c=0.5):
    """G = D_Q^{−1/2} Z S D_K^{−1/2}: the Gaussian matrix G is the softmax matrix S between two diagonal matrices.

    (D_Q)_ii = e^{‖q_i‖²/√d}, Z_ii = Σ_j e^{q_i·k_j/√d}. lhs is the relative error, rhs 1e-10.
    Source: Chen et al. 2021, recalled; this book.
    """
    kernel, root = Gaussian(c), Q.shape[1] ** 0.5
    S, G = softmax(softmax.scores(Q, K)), kernel(kernel.scores(Q, K))
    rows = np.exp(-(Q ** 2).sum(axis=1) / (2 * root)) * np.exp(Q @ K.T / root).sum(axis=1)
    found = rows[:, None] * S * np.exp(-(K ** 2).sum(axis=1) / (2 * root))
    return Check(float(np.linalg.norm(found - G) / np.linalg.norm(G)), 1e-10, "G = D_Q^{−1/2} Z S D_K^{−1/2}")


def _unequal(seed):
    """Two keys of different length, one query."""
    return {"Q": 1 + np.random.default_rng([seed, 126]).random((1, 1)), "K": np.array([[1.0], [2.0]]),
            "one_length": False}


@statement(id="prop-normalized-gaussian", title="Softmax is a normalized Gaussian when keys have one length",
           mark="ours", source="this book", chapter=CHAPTER, assumptions="c = ½, ‖k_j‖ the same for all j",
           random=_projected, broken=_unequal, breaks="keys of one length: lengths 1 and 2")
def normalized_gaussian(Q, K, one_length=True):
    """G_kj / Σ_l G_kl = S_kj γ_j / Σ_l S_kl γ_l with γ_j = e^{−‖k_j‖²/2√d}, and = S_kj for keys of one length.

    The first is asked of K, the second of K / ‖k_j‖. lhs is the largest difference, rhs 1e-10.  Source: this book.
    """
    sphere = K / np.linalg.norm(K, axis=1, keepdims=True) if one_length else K
    handicap = np.exp(-(K ** 2).sum(axis=1) / (2 * Q.shape[1] ** 0.5))

    def softly(keys, by=1.0):
        S = softmax(softmax.scores(Q, keys)) * by
        return S / S.sum(axis=1, keepdims=True)

    apart = [abs(_row_normalized(Q, keys) - softly(keys, by)).max() for keys, by in ((K, handicap), (sphere, 1.0))]
    return Check(float(max(apart)), 1e-10, "G_kj / Σ_l G_kl = S_kj γ_j / Σ_l S_kl γ_l")


def _row_normalized(Q, K):
    G = gaussian(gaussian.scores(Q, K))
    return G / G.sum(axis=1, keepdims=True)


def _one_head(seed, kernel=None, tokens=1):
    rng = np.random.default_rng([seed, 124])
    N, n, D, m, d = (int(size) for size in rng.integers(1, 5, size=5))
    n = max(n, tokens)
    kernel = KERNELS[seed % 2] if kernel is None else kernel
    layer = AttentionLayer.random(D, d, m, scale=rng.uniform(0.3, 2), kernel=kernel, seed=seed)
    return {"layer": layer, "data": random_sequences(N, n, D, m, seed=seed)}


@statement(id="prop-query-force", title="What moves a query: a covariance, or attraction", mark="ours",
           source="this book", chapter=CHAPTER, assumptions="one head", random=_one_head,
           broken=lambda seed: _one_head(seed, gaussian) | {"centered": True},
           breaks="attraction to keys from the query: from their mean instead")
def query_force(layer, data, centered=False):
    """∇_{W^Q} f = Xᵀ F with F_k = (1/N) J_kᵀ r_k: softmax (1/√d) Σ_j S_kj e_kj (k_j − k̄_k), Gaussian
    (2c/√d) Σ_j S_kj e_kj (k_j − q_k), with the value errors e_kj = u_j·r_k/N.

    lhs is the relative error, rhs 1e-10.  Source: this book.
    """
    X, R = data.X, layer(data.X) - data.y
    S, U, Q, K = layer.weights(X)[:, 0], X @ layer.WV[0] @ layer.WO[0], X @ layer.WQ[0], X @ layer.WK[0]
    errors = S * (R @ U.mT) / len(X)
    mean = (S / S.sum(axis=2, keepdims=True)) @ K
    around = mean if layer.kernel.normalized or centered else Q
    force = _strength(layer) * (errors @ K - errors.sum(axis=2)[..., None] * around)
    want, found = layer.loss_and_grad(X, data.y)[1].WQ[0], (X.mT @ force).sum(axis=0)
    return Check(float(np.linalg.norm(found - want) / max(np.linalg.norm(want), 1e-12)), 1e-10, "∇_{W^Q} f = Xᵀ F")


@statement(id="prop-shift", title="Which common shifts a kernel does not see", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="softmax: the keys shift; Gaussian: queries and keys shift together",
           random=lambda seed: _shifted(seed, KERNELS[seed % 2], seed % 2 == 1),
           broken=lambda seed: _shifted(seed, KERNELS[seed % 2], seed % 2 == 0),
           breaks="each kernel with the other's shift")
def shift(Q, K, by, kernel, queries):
    """softmax: S(Q, K + 1bᵀ) = S(Q, K). Gaussian: S(Q + 1bᵀ, K + 1bᵀ) = S(Q, K).

    lhs is the largest difference of the weights, rhs 1e-10.  Source: this book.
    """
    before, after = (kernel(kernel.scores(q, k)) for q, k in ((Q, K), (Q + by if queries else Q, K + by)))
    return Check(float(abs(after - before).max()), 1e-10, "S(Q, K + 1bᵀ) = S(Q, K), or both shifted")


def _shifted(seed, kernel, queries):
    """At least two keys, which a shift of the queries along b tells apart."""
    rng = np.random.default_rng([seed, 125])
    n, d = rng.integers(2, 6, size=2)
    return {"Q": rng.standard_normal((n, d)), "K": rng.standard_normal((n, d)), "by": 1 + rng.random(d),
            "kernel": kernel, "queries": queries}


@statement(id="prop-jacobian-rank", title="Normalization costs a degree of freedom", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="one head", random=lambda seed: _one_head(seed, tokens=2),
           extremal=tuple((lambda kernel=kernel: all_ranks(4, 4, 3, kernel)) for kernel in KERNELS),
           broken=lambda seed: _wide(gaussian) | {"allowed": 2}, breaks="softmax: the Gaussian kernel with its bound")
def jacobian_rank(layer, data, allowed=None):
    """rank J_k ≤ min(m, n − 1, d) for softmax and min(m, n, d) for the Gaussian kernel.  Source: this book."""
    J = token_jacobians(layer, data.X)
    n, (_, _, d, m) = data.X.shape[1], layer.sizes
    most = min(m, n - 1 if layer.kernel.normalized else n, d) if allowed is None else allowed
    size = np.linalg.norm(data.X) ** 2 * np.prod([np.linalg.norm(W) for W in (layer.WK, layer.WV, layer.WO)])
    rank = max(int(np.linalg.matrix_rank(one, tol=1e-12 * size)) for one in J.reshape(-1, m, d))
    return Check(float(rank), float(most), "rank J_k ≤ min(m, n − 1, d), or min(m, n, d)")


def _wide(kernel):
    """Three tokens, and room for more than their ranks."""
    return {"layer": AttentionLayer.random(4, 4, 4, kernel=kernel), "data": random_sequences(1, 3, 4, 4)}


def all_ranks(m, d, n, kernel):
    """The rank that m, d and n allow: X = I, queries zero, and unit vectors as the first keys and values."""
    rank = min(m, d, n - 1 if kernel.normalized else n)

    def units(rows, columns):
        return (np.eye(rows, columns) * (np.arange(rows) < rank)[:, None])[None]

    layer = AttentionLayer(np.zeros((1, n, d)), units(n, d), units(n, d), units(d, m), kernel)
    return {"layer": layer, "data": SequenceDataset(np.eye(n)[None], np.zeros((1, n, m)))}


@statement(id="prop-flat", title="How flat: far keys, and weights on one key", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="one head", random=_one_head,
           extremal=tuple((lambda n=n, kernel=kernel: _few(n, kernel)) for n, kernel in ((2, softmax), (1, gaussian))),
           broken=lambda seed: _few(1, gaussian) | {"covariance": True}, breaks="softmax: the Gaussian with its bound")
def flat(layer, data, covariance=None):
    """‖J_k‖ ≤ (1/√d) Σ_{j<l} S_kj S_kl ‖u_j − u_l‖ ‖k_j − k_l‖ for softmax,
    ‖J_k‖ ≤ (2c/√d) Σ_j S_kj ‖u_j‖ ‖k_j − q_k‖ for the Gaussian kernel.

    The checked k has the least slack. rhs has room for the rounding of ‖u‖ ‖k‖.  Source: this book.
    """
    X = data.X
    S, U, Q, K = layer.weights(X)[:, 0], X @ layer.WV[0] @ layer.WO[0], X @ layer.WQ[0], X @ layer.WK[0]
    if layer.kernel.normalized if covariance is None else covariance:
        apart = np.linalg.norm(U[:, :, None] - U[:, None], axis=3) * np.linalg.norm(K[:, :, None] - K[:, None], axis=3)
        most = _strength(layer) / 2 * np.einsum("nkj,nkl,njl->nk", S, S, apart)
    else:
        far = np.linalg.norm(K[:, None] - Q[:, :, None], axis=3) * np.linalg.norm(U, axis=2)[:, None]
        most = _strength(layer) * (S * far).sum(axis=2)
    most = most + 1e-14 * np.linalg.norm(U) * (np.linalg.norm(K) + np.linalg.norm(Q))
    steep = np.linalg.norm(token_jacobians(layer, X), 2, axis=(2, 3))
    at = np.argmax((steep - most).ravel())
    return Check(float(steep.ravel()[at]), float(most.ravel()[at]), "‖J_k‖ ≤ what covariance or attraction allow")


def _few(n, kernel):
    """Two tokens or one: every sum has one term."""
    return {"layer": AttentionLayer.random(3, 2, 2, kernel=kernel), "data": random_sequences(1, n, 3, 2)}


def _widths(seed):
    rng = np.random.default_rng([seed, 127])
    return _one_head(seed, Gaussian(float(rng.uniform(0.1, 3)))) | {"lr": float(rng.uniform(0.01, 0.3))}


@statement(id="prop-width", title="What c does", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="W^Q and W^K move, by gradient descent", random=_widths,
           broken=lambda seed: _widths(seed) | {"faster": False}, breaks="step 2cη: the same step η")
def width(layer, data, lr, faster=True):
    """A step η under c is a step 2cη under c = ½, from √(2c) W^Q and √(2c) W^K, which is the same layer.

    lhs is the relative distance of the two outputs, or of the two steps in W^Q and W^K, rhs 1e-10.  Source: this book.
    """
    by = (2 * layer.kernel.c) ** 0.5
    same = AttentionLayer(by * layer.WQ, by * layer.WK, layer.WV, layer.WO, gaussian)
    (_, slow), (_, fast) = (one.loss_and_grad(data.X, data.y) for one in (layer, same))
    steps = [(by * lr * getattr(slow, name), lr * (by ** 2 if faster else 1) * getattr(fast, name))
             for name in ("WQ", "WK")]
    off, size = sum(np.linalg.norm(a - b) for a, b in steps), sum(np.linalg.norm(a) for a, _ in steps)
    apart = np.linalg.norm(layer(data.X) - same(data.X)) / np.linalg.norm(layer(data.X))
    return Check(float(max(apart, off / max(size, 1e-12))), 1e-10, "a step η under c is a step 2cη under ½")


def _inside(seed):
    """A key that is a mean of the others, with weights λ > 0."""
    rng = np.random.default_rng([seed, 128])
    n, d = rng.integers(2, 6, size=2)
    others, lam = rng.standard_normal((n, d)), rng.dirichlet(np.ones(n))
    return {"q": rng.uniform(0, 3) * rng.standard_normal(d), "others": others, "lam": lam}


def _best_query():
    """Keys −2 and 1 around 0, λ = (1/3, 2/3): e^{s_j}/λ_j is the same for both at q = ln(2)/3."""
    return {"q": np.array([np.log(2) / 3]), "others": np.array([[-2.0], [1.0]]), "lam": np.array([1 / 3, 2 / 3])}


@statement(id="prop-inside-hull", title="A key among the others is never selected by softmax", mark="ours",
           source="this book", chapter=CHAPTER, assumptions="the key is a mean Σ λ_j k_j of the other keys",
           random=_inside, extremal=(_best_query,), broken=lambda seed: _best_query() | {"kernel": gaussian},
           breaks="softmax: the Gaussian kernel, its rows normalized")
def inside_hull(q, others, lam, kernel=softmax):
    """The weight of the key Σ λ_j k_j is at most 1/(1 + e^{H(λ)}) with H(λ) = −Σ λ_j ln λ_j, where 0 ln 0 = 0.

    Source: this book.
    """
    weights = kernel(kernel.scores(q[None], np.vstack([others, lam @ others])))[0]
    entropy = -(lam * np.log(np.where(lam > 0, lam, 1))).sum()
    return Check(float(weights[-1] / weights.sum()), float(1 / (1 + np.exp(entropy))),
                 "S_kl ≤ 1/(1 + e^{H(λ)})")
