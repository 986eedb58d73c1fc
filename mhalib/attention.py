"""From scores to attention weights: the softmax, the Gaussian and the normalized Gaussian, each with
its pullback."""

from dataclasses import dataclass

from livegrad.arrays import Array, Given, is_positive, namespace, shown


@dataclass(frozen=True)
class Softmax:
    """Softmax attention weights: every row is a probability distribution over the keys.

    ``softmax(S)`` = exp(S) / rowsum(exp(S)) over the last axis; any real scores S (…, T, T) will
    do.
    """

    normalized = True
    """Whether the weights of a row sum to 1, so that an output is a mean of values."""

    def __call__(self, S: Given) -> Given:
        """Weights A (…, q, k) from scores S (…, q, k); a row's largest score is subtracted first,
        so no overflow.

        Examples
        --------
        >>> mha.softmax(np.array([[0.0, 0.0], [0.0, np.log(3)]]))
        array([[0.5 , 0.5 ],
               [0.25, 0.75]])
        """
        xp = namespace(S=S)
        if not S.ndim or not S.shape[-1]:
            raise ValueError(
                f"S: expected scores (…, q, k) with no empty axis, got {tuple(S.shape)}"
            )
        E = xp.exp(S - xp.amax(S, axis=-1, keepdims=True))
        return E / E.sum(axis=-1, keepdims=True)

    def vjp(self, A: Array, dA: Array) -> Array:
        """Pullback dS = A ∘ (dA − rowsum(A ∘ dA)): a row of dA minus its mean under the weights.

        The derivative of the weights is symmetric, so this is also how they move along scores dA.

        Raises TypeError or ValueError if A and dA are no arrays of one library, or dA has neither
        the shape of A nor is a stack of such.

        Examples
        --------
        >>> A = mha.softmax(np.array([[0.0, np.log(3)]]))
        >>> mha.softmax.vjp(A, np.array([[1.0, 0.0]]))
        array([[ 0.1875, -0.1875]])
        """
        _require_alike(A, dA)
        return A * (dA - (A * dA).sum(axis=-1, keepdims=True))

    def vjp_along(self, A: Array, dA: Array, A_: Array, dA_: Array) -> Array:
        """How ``vjp`` moves when A and dA move along ``A_`` and ``dA_``."""
        # The product rule on A ∘ (dA − rowsum(A ∘ dA)). The row sum moves by mean_ along dA_, and
        # along A_ by rowsum(A_ ∘ dA), in the last line.
        mean, mean_ = (
            (left * right).sum(axis=-1, keepdims=True) for left, right in ((A, dA), (A, dA_))
        )
        return A_ * (dA - mean) + A * (dA_ - mean_ - (A_ * dA).sum(axis=-1, keepdims=True))

    def scores(self, Q: Array, K: Array) -> Array:
        """Scaled dot products S = Q Kᵀ / √d of queries Q (…, q, d) and keys K (…, k, d).

        Raises TypeError or ValueError if they are no arrays of one library and of these shapes.
        """
        _require_pairs(Q, K)
        # A power of an int is a Python float, which leaves float32 as it is; np.sqrt's would not.
        return Q @ K.mT / Q.shape[-1] ** 0.5

    def scores_along(self, Q: Array, K: Array, Q_: Array, K_: Array) -> Array:
        """How ``scores`` move when Q and K move along ``Q_`` and ``K_``."""
        return (Q_ @ K.mT + Q @ K_.mT) / Q.shape[-1] ** 0.5

    def scores_vjp(self, Q: Array, K: Array, dS: Array) -> tuple[Array, Array]:
        """Pullback of ``scores``: dQ = dS K / √d and dK = dSᵀ Q / √d."""
        return dS @ K / Q.shape[-1] ** 0.5, dS.mT @ Q / Q.shape[-1] ** 0.5


@dataclass(frozen=True)
class Gaussian:
    """Gaussian attention weights exp(−c ‖q − k‖² / √d), not normalized over the keys.

    Raises ValueError if c is no finite number > 0.

    Source: Song et al. 2024 (kernel second-hand; c = ½ is the default of this book).
    """

    c: float = 0.5

    def __post_init__(self) -> None:
        if not is_positive(self.c):
            raise ValueError(f"c: expected a finite number > 0, got {shown(self.c)}")
        # a np.float64 would turn float32 scores into float64
        object.__setattr__(self, "c", float(self.c))

    # No annotation, so the dataclass does not take it for a field.
    normalized = False
    """Whether the weights of a row sum to 1; here each key acts alone."""

    def __call__(self, S: Given) -> Given:
        """Weights A = exp(S) (…, q, k) from scores S ≤ 0.

        Examples
        --------
        >>> mha.gaussian(np.array([[0.0, -np.log(4)]]))
        array([[1.  , 0.25]])
        """
        return namespace(S=S).exp(S)

    def vjp(self, A: Array, dA: Array) -> Array:
        """Pullback dS = A ∘ dA, and how weights move along scores dA."""
        _require_alike(A, dA)
        return A * dA

    def vjp_along(self, A: Array, dA: Array, A_: Array, dA_: Array) -> Array:
        """How ``vjp`` moves when A and dA move along ``A_`` and ``dA_``."""
        return A_ * dA + A * dA_

    def scores(self, Q: Array, K: Array) -> Array:
        """Negative scaled squared distances S_ij = −c ‖q_i − k_j‖² / √d of queries (…, q, d) and
        keys (…, k, d).

        The expanded form ‖q‖² − 2q·k + ‖k‖² can round below zero; it is cut there, so no weight
        exceeds 1. What all queries and keys share, b say, cancels: in double precision that leaves
        an error of some 10⁻¹⁶ c ‖b‖²/√d, and in single precision it is taken away beforehand.

        Examples
        --------
        >>> Q, K = np.zeros((1, 4)), np.ones((2, 4))
        >>> mha.gaussian.scores(Q, K)
        array([[-1., -1.]])
        """
        xp = _require_pairs(Q, K)
        Q, K = _without_offset(K, Q, K)
        # Expanded, distances cost one matrix product; the differences would fill (…, q, k, d).
        squares = (
            (Q * Q).sum(axis=-1)[..., :, None] - 2 * Q @ K.mT + (K * K).sum(axis=-1)[..., None, :]
        )
        # torch.maximum takes no number in place of the zeros.
        return -self.c / Q.shape[-1] ** 0.5 * xp.maximum(squares, xp.zeros_like(squares))

    def scores_along(self, Q: Array, K: Array, Q_: Array, K_: Array) -> Array:
        """How ``scores`` move when Q and K move along ``Q_`` and ``K_``: −(2c/√d) (q_i −
        k_j)·(q′_i − k′_j)."""
        # A common part of q′ and k′ cancels in q′ − k′, too, and it is not that of q and k.
        (Q, K), (Q_, K_) = _without_offset(K, Q, K), _without_offset(K_, Q_, K_)
        inner = (
            (Q * Q_).sum(axis=-1)[..., :, None]
            + (K * K_).sum(axis=-1)[..., None, :]
            - Q_ @ K.mT
            - Q @ K_.mT
        )
        return -2 * self.c / Q.shape[-1] ** 0.5 * inner

    def scores_vjp(self, Q: Array, K: Array, dS: Array) -> tuple[Array, Array]:
        """Pullback of ``scores``: dQ = (2c/√d)(dS K − diag(dS 1) Q), dK = (2c/√d)(dSᵀ Q −
        diag(dSᵀ 1) K)."""
        scale = 2 * self.c / Q.shape[-1] ** 0.5
        return (
            scale * (dS @ K - dS.sum(axis=-1)[..., None] * Q),
            scale * (dS.mT @ Q - dS.sum(axis=-2)[..., None] * K),
        )


@dataclass(frozen=True)
class NormalizedGaussian(Gaussian):
    """Gaussian weights divided by their row sums, the softmax of Gaussian scores: the control
    between the two kernels.

    It has the distance of the Gaussian kernel and the normalization of softmax.

    Raises ValueError if c is no finite number > 0.

    Source: this book.

    Examples
    --------
    >>> mha.normalized_gaussian(np.array([[0.0, -np.log(4)]]))
    array([[0.8, 0.2]])
    """

    normalized = True

    def __call__(self, S: Given) -> Given:
        """Weights A (…, q, k) of scores S (…, q, k), as softmax has them."""
        return softmax(S)

    def vjp(self, A: Array, dA: Array) -> Array:
        """As softmax's."""
        return softmax.vjp(A, dA)

    def vjp_along(self, A: Array, dA: Array, A_: Array, dA_: Array) -> Array:
        """As softmax's."""
        return softmax.vjp_along(A, dA, A_, dA_)


def _require_pairs(Q, K):
    """The functions of the library of queries and keys, whose rows are vectors of one length."""
    xp = namespace(Q=Q, K=K)
    if min(Q.ndim, K.ndim) < 2 or Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            "Q, K: expected queries (…, q, d) and keys (…, k, d) with the same d, "
            f"got {tuple(Q.shape)} and {tuple(K.shape)}"
        )
    return xp


def _require_alike(A, dA):
    """Check that dA has the shape of A, or is a stack of such; that it is not stretched along A."""
    namespace(A=A, dA=dA)
    # If dA has fewer axes than A, so has any slice of its shape: it never matches.
    if tuple(dA.shape)[dA.ndim - A.ndim :] != tuple(A.shape):
        raise ValueError(
            f"A, dA: expected dA of the shape of A, or a stack of such, got A {tuple(A.shape)} and "
            f"dA {tuple(dA.shape)}"
        )


def _without_offset(K, *rows):
    """The rows minus the mean key, which leaves their differences; in double precision the rows: it
    takes time."""
    if K.itemsize >= 8:
        return rows
    n = K.shape[-2]
    offset = namespace(K).new_ones((1, n), K) @ K / n  # faster than a sum over the middle axis
    return tuple(part - offset for part in rows)


softmax: Softmax = Softmax()
gaussian: Gaussian = Gaussian()
normalized_gaussian: NormalizedGaussian = NormalizedGaussian()
