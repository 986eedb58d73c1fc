"""The multi-head attention classifier of Part I: forward, closed-form gradient, Hessian-vector
product."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike

from livegrad.arrays import (
    LARGE,
    Array,
    as_number,
    namespace,
    precision,
    require,
    require_count,
    require_labels,
    require_number,
    require_same_dtype,
    require_seed,
)
from livegrad.model.axes import Axes
from livegrad.model.vector import Vector
from livegrad.model.workspace import Workspace
from livegrad.vouched import vouched
from mhalib.attention import softmax
from mhalib.losses import logistic
from mhalib.models.classifier_workspace import ClassifierWorkspace, PlainClassifierWorkspace
from mhalib.models.multihead_hessian import MultiHeadHessian
from mhalib.models.multihead_workspace import workspace_of


def normals(count: int, seed: int) -> np.ndarray:
    """The first ``count`` standard normals of the stream that random models of this seed are drawn
    from."""
    # default_rng(seed) itself is the stream that data patterns of the same seed come from: W would
    # know them.
    return np.random.default_rng([seed, 3]).standard_normal(count)


@vouched
@dataclass(frozen=True, eq=False, repr=False)
class MultiHeadAttention(Vector):
    r"""H softmax attention heads that read T tokens and vote on a label.

    .. math:: \Phi(X) = H^{-1/2} \sum_h \langle U_h, \mathrm{softmax}(X W_h X^\top)\, X \rangle

    A ``Path`` of it has the curves ``loss``, ``grad_norm``, ``accuracy``, ``norm_W`` = (1/H) Σ‖W_h‖
    and ``norm_U`` = H^{−1/2} Σ‖U_h‖; ``attention_score``, where the data say which tokens are
    relevant; and with a test set ``test_loss`` and ``test_accuracy``. It trains compiled where there
    is a compiler, in NumPy's double precision, on tokens of up to 24 numbers, or 50 for a single
    head.

    Raises TypeError if W and U differ in library or dtype, or are not floating point; ValueError if
    shapes do not fit, an axis is empty (H = 0 among them), or an entry is not finite.

    Parameters
    ----------
    W : (H, d, d) key–query products
    U : (H, T, d) decoders (the value matrix is absorbed)

    Source: Deora et al. 2023, Section 2 [recalled].

    Examples
    --------
    >>> model = mha.MultiHeadAttention.random(H=2, T=10, d=8, seed=0)
    >>> data = mha.data.tokenized_mixture(n=5, seed=0)
    >>> model(data.X).shape, model.attention(data.X).shape
    ((5,), (5, 2, 10, 10))
    >>> round(float((model - 0.1 * model).norm() / model.norm()), 6)
    0.9
    """

    W: Array
    U: Array
    axes: ClassVar[Axes] = Axes(
        {"W": "H d d", "U": "H T d"}, {"X": "n T d", "y": "n"}, by_head=True
    )

    def __post_init__(self) -> None:
        require("W", self.W, ("H", "d", "d"))
        require("U", self.U, ("H", "T", "d"))
        require_same_dtype(W=self.W, U=self.U)
        (H, d, d2), (H2, _, d3) = self.W.shape, self.U.shape
        if d != d2 or H != H2 or d != d3:
            raise ValueError(
                "expected W (H, d, d) and U (H, T, d) with the same H and d, "
                f"got W {tuple(self.W.shape)} and U {tuple(self.U.shape)}"
            )

    @classmethod
    def zeros(cls, H: int, T: int, d: int, dtype: DTypeLike = np.float64) -> Self:
        """All parameters zero: uniform attention, logit 0."""
        require_count(H=H, T=T, d=d)
        dtype = precision(dtype)
        return cls(np.zeros((H, d, d), dtype), np.zeros((H, T, d), dtype))

    @classmethod
    def random(
        cls,
        H: int,
        T: int,
        d: int,
        scale: float = 1.0,
        seed: int = 0,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """Independent N(0, scale²) entries: first all of W, then all of U, from one seeded
        stream."""
        require_count(H=H, T=T, d=d)
        require_number("scale", scale, above=-LARGE, below=LARGE)
        require_seed(seed)
        dtype = precision(dtype)
        W, U = np.split(normals(H * (d * d + T * d), seed), [H * d * d])
        return cls(
            (scale * W).reshape(H, d, d).astype(dtype), (scale * U).reshape(H, T, d).astype(dtype)
        )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers (H, T, d)."""
        return tuple(self.U.shape)

    def __call__(self, X: Array) -> Array:
        """Logits Φ(X) (n,) of a batch X (n, T, d), by what ``attention`` gives."""
        A, P = self.attention(X), self._readings(X)
        return (A * P).sum(axis=-1).sum(axis=(1, 2)) / self.sizes[0] ** 0.5

    def attention(self, X: Array) -> Array:
        """Attention weights A (n, H, T, T): A[i, h, t] = softmax(X_i W_hᵀ x_t), one row for each
        query token t."""
        self._check(X)
        Xh = X[:, None]  # (n, 1, T, d)
        return softmax(Xh @ self.W @ Xh.mT)

    def loss(self, X: Array, y: Array) -> Any:
        """Mean logistic loss (1/n) Σ log(1 + exp(−y_i Φ(X_i))) of labels y (n,) in {−1, +1}."""
        return logistic(self.margins(X, y)).mean()

    def margins(self, X: Array, y: Array) -> Array:
        """Margins y_i Φ(X_i), (n,)."""
        require_labels(y, X)
        return y * self(X)

    def loss_and_grad(self, X: Array, y: Array) -> tuple[Any, Self]:
        r"""Mean logistic loss and its gradient, which is again a ``MultiHeadAttention``.

        .. math:: \nabla_{U_h} = \sum_i g_i A X, \qquad
                  \nabla_{W_h} = \sum_i g_i X^\top [A \circ (P - \mathrm{rowsum}(A \circ P))] X

        with P = U_h Xᵀ and g_i = y_i ℓ′(y_i Φ_i)/(n √H). Source: Deora et al. 2023, Lemma 1 (ours).

        Examples
        --------
        >>> data = mha.data.tokenized_mixture(n=20, seed=0)
        >>> loss, grad = mha.MultiHeadAttention.zeros(H=2, T=10, d=8).loss_and_grad(data.X, data.y)
        >>> round(float(loss), 4), float(grad.W.max()), grad.U.shape
        (0.6931, 0.0, (2, 10, 8))
        """
        require_labels(y, X)
        A, P = self._attend(X)
        H = self.sizes[0]
        z = y * (A * P).sum(axis=-1).sum(axis=(1, 2)) / H**0.5
        g = y * logistic.slope(z) / (len(y) * H**0.5)
        return logistic(z).mean(), self._pull(X, g, softmax.vjp(A, P), A)

    def require_batch(self, X: Array, y: Array) -> None:
        """Check that this model takes tokens X and labels y."""
        require_labels(y, X)
        self._check(X)

    def workspace(self, X: Array, y: Array) -> ClassifierWorkspace:
        """Buffers for many fast steps on one batch: equal to ``loss_and_grad``, only faster.

        Heads that are equal here are computed as one. They have equal gradients, so they stay equal
        under rules that move every number by its own gradient alone, ``mhalib.optim.ENTRYWISE``:
        for these ``train`` asks for it.
        """
        # HeadGroups are made of this class
        from mhalib.models.head_groups import equal_heads_once

        self.require_batch(X, y)
        if type(self) is not MultiHeadAttention:  # its formulas may be others
            return PlainClassifierWorkspace(self, X, y)
        return equal_heads_once(self, partial(workspace_of, X=X, y=y))

    def workspace_for(
        self, X: Array, y: Array, *, entrywise: bool, steps: int, compiled: bool | None = None
    ) -> Workspace:
        """The same compiled, where that is faster; with every head on its own, unless ``entrywise``:
        another update rule may tell equal heads apart."""
        # the compiler comes with the first run
        from mhalib.models.compiled_workspace import chosen_workspace
        from mhalib.models.head_groups import equal_heads_once

        if type(self) is not MultiHeadAttention:  # not to be grouped either
            return chosen_workspace(self, X, y, compiled, type(self).workspace)
        self.require_batch(X, y)
        alone = partial(chosen_workspace, X=X, y=y, compiled=compiled, plain=workspace_of)
        return equal_heads_once(self, alone) if entrywise else alone(self)

    def logit_gradients(self, X: Array) -> tuple[Array, Array]:
        """Gradients ∇Φ(X_i) of the logits with respect to W (n, H, d, d) and to U (n, H, T, d)."""
        A, P = self._attend(X)
        Xh, root = X[:, None], self.sizes[0] ** 0.5
        return Xh.mT @ softmax.vjp(A, P) @ Xh / root, A @ Xh / root

    def features(self, X: Array) -> Array:
        """Gradients ∇Φ(X_i) of the logits, one row an example: (n, H (d² + T d)) in the order of
        ``ravel``."""
        n, H = len(X), self.sizes[0]
        blocks = [part.reshape(n, H, -1) for part in self.logit_gradients(X)]
        return namespace(X).concatenate(blocks, axis=2).reshape(n, -1)

    def hvp(self, X: Array, y: Array, V: Self) -> Self:
        """Product ∇²L(θ) V of the loss Hessian with a direction V (a ``MultiHeadAttention``), in
        closed form.

        Many products at one point: ``hessian_operator``, of which this is one call.
        """
        return self.hessian_operator(X, y)(V)

    def hessian_operator(self, X: Array, y: Array) -> MultiHeadHessian:
        """The map V ↦ ∇²L(θ) V on a batch, with everything that does not depend on V computed
        once."""
        return MultiHeadHessian.at(self, X, y)

    def norms(self) -> dict[str, float]:
        """The averages that the paper plots: norm_W = (1/H) Σ‖W_h‖ and norm_U = H^{−1/2} Σ‖U_h‖
        (Frobenius).

        Source: Deora et al. 2023, caption of Figure 2 [paper].
        """
        xp, H = namespace(self.W), self.sizes[0]
        W, U = (as_number(xp.norm(part.reshape(H, -1), axis=1).mean()) for part in (self.W, self.U))
        # H^{−1/2} times a sum over heads is √H times their mean.
        return {"norm_W": W, "norm_U": U * H**0.5}

    def ravel(self) -> Array:
        """All parameters as one vector, head after head: W_h row by row, then U_h row by row."""
        H = self.sizes[0]
        return (
            namespace(self.W)
            .concatenate([self.W.reshape(H, -1), self.U.reshape(H, -1)], axis=1)
            .reshape(-1)
        )

    def unravel(self, vector: Array) -> Self:
        """The inverse of ``ravel``: a ``MultiHeadAttention`` of this one's sizes from a vector (H
        (d² + T d),)."""
        H, T, d = self.sizes
        require("vector", vector, (H * (d * d + T * d),), finite=False)
        require_same_dtype(vector=vector, W=self.W)
        rows = vector.reshape(H, -1) + 0  # a copy: the model owns its arrays
        return self._with(
            {"W": rows[:, : d * d].reshape(H, d, d), "U": rows[:, d * d :].reshape(H, T, d)}
        )

    def _check(self, X):
        _, T, d = self.sizes
        require("X", X, ("n", T, d))
        require_same_dtype(X=X, W=self.W)

    def _attend(self, X):
        """Attention weights A and decoder readings P = U Xᵀ, both (n, H, T, T), queries before
        keys."""
        # Not self.attention, which a subclass may override: the closed forms are those of softmax.
        return MultiHeadAttention.attention(self, X), self._readings(X)

    def _readings(self, X):
        return self.U @ X[:, None].mT

    def _pull(self, X, g, dS, A):
        """Σ_i g_i (Xᵀ dS X, A X): from derivatives with respect to the scores to those with respect
        to (W, U)."""
        xp, Xh = namespace(X), X[:, None]
        # g enters both products through the tokens, so it is multiplied in once.
        gX = g[:, None, None] * X
        return self._with(
            {"W": xp.einsum("nta,nhtb->hab", gX, dS @ Xh), "U": xp.einsum("nhtj,njb->htb", A, gX)}
        )
