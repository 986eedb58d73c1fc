"""The multi-head classifier's closed form, ordered as large matrix products over buffers that are
used again."""

from typing import Any

import numpy as np

from livegrad.arrays import Array, namespace, on_device
from mhalib.losses import logistic
from mhalib.models.classifier_workspace import ClassifierWorkspace

BLOCK_BYTES = 1 << 22
"""Heads are taken in blocks whose largest buffer has about this size, so that it stays in the
cache."""
HELD_BYTES = 1 << 28
"""A batch whose arrays would take more than this goes through in parts: the weights and readings of
all heads are kept from the way forward to the way back."""
DEVICE_BYTES = 1 << 30
"""Both, for tensors on a GPU: its cores have no such cache, and a small product leaves most of them
idle."""


def workspace_of(model: Any, X: Array, y: Array) -> ClassifierWorkspace:
    """The workspace of a batch: in one part, or in as many as keep its memory near
    ``HELD_BYTES``, or ``DEVICE_BYTES`` on a GPU."""
    _, T, d = X.shape
    # Bytes of one sample: mostly E and P of all heads, 2 H T², and its tokens in three layouts.
    held = DEVICE_BYTES if on_device(X) else HELD_BYTES
    rows = max(1, held // (T * (2 * len(model.W) * T + T + 3 * d) * X.itemsize))
    if len(X) <= rows:
        return MultiHeadWorkspace(model, X, y)
    return MultiHeadParts(model, X, y, rows)


class Packing(ClassifierWorkspace):
    """θ as one matrix (d, H (d + T)): the columns of all W_hᵀ, then those of all U_hᵀ."""

    def pack(self, model: Any) -> Array:
        """θ = [W_1ᵀ … W_Hᵀ, U_1ᵀ … U_Hᵀ], a copy (d, H (d + T))."""
        columns = [part.mT.swapaxes(0, 1).reshape(part.shape[2], -1) for part in (model.W, model.U)]
        return namespace(self.X).concatenate(columns, axis=1)

    def unpack(self, theta: Array) -> Any:
        """The model of θ."""
        (d, _), H = theta.shape, len(self.model.W)
        heads = {
            name: part.reshape(d, H, -1).swapaxes(0, 1).mT
            for name, part in (("W", theta[:, : H * d]), ("U", theta[:, H * d :]))
        }
        own = namespace(theta).ascontiguousarray
        return self.model.with_arrays(**{name: own(part + 0) for name, part in heads.items()})

    def grad_norm(self, grad: Array) -> float:
        """Its Euclidean norm."""
        return float((grad * grad).sum()) ** 0.5


class MultiHeadWorkspace(Packing):
    """Loss and gradient of ``MultiHeadAttention`` on one batch, equal to the plain formula and
    several times faster.

    A step is two products with θ, two with the gradient, two batches of n small products in which
    all heads of a block share one factor, and elementwise work on contiguous memory::

        R = X Wᵀ      S = R Xᵀ      P = X Uᵀ      E = exp(S)      v = Σ_j E P / Σ_j E      Φ = H^{−1/2} Σ v
        gA = g E / Σ_j E      dS = gA (P − v)      dWᵀ = Xᵀ (dS X)      dUᵀ = Xᵀ gA

    In ``R``, ``E`` and ``P`` keys come before queries: the sum over keys then runs along a middle
    axis.
    """

    def __init__(self, model: Any, X: Array, y: Array) -> None:
        super().__init__(model, X, y)
        self._xp, (n, T, d), H = namespace(X), X.shape, len(model.W)
        self._share = y / (n * H**0.5)  # turns a slope ℓ′(z_i) into g_i = ∂L/∂(√H Φ_i)
        self._grad = self._xp.new_empty((d, H * (d + T)), X)
        # R (n T, H d) or E (n T, H T) is the largest buffer to divide; −(−a // b) rounds up.
        limit = DEVICE_BYTES if on_device(X) else BLOCK_BYTES
        count = min(H, -(-H * n * T * max(d, T) * X.itemsize // limit))
        size = -(-H // count)  # heads per block, the last one perhaps fewer
        # θ, its logits and, once their gradient was taken, its g
        self._seen: tuple[Any, Any, Any] = None, None, None
        batch = _Batch(X, size)
        self.blocks: list[_Heads] = [
            _Heads(batch, at, min(size, H - at), H) for at in range(0, H, size)
        ]

    def logits(self, theta: Array) -> Array:
        """Φ (n,), which ``loss_and_grad`` has computed already if it was just asked at θ."""
        return self._seen[1] if theta is self._seen[0] else self._forward(theta)

    def _forward(self, theta):
        first, *others = (block.forward(theta) for block in self.blocks)
        logits = sum(others, start=first) * len(self.model.W) ** -0.5
        self._seen = theta, logits, None
        return logits

    def loss_and_grad(self, theta: Array) -> tuple[Any, Array]:
        """Mean logistic loss and its gradient in the form of θ; the gradient is overwritten by the
        next call."""
        logits = self._forward(theta)
        z = self.y * logits
        values = logistic(z)
        g = self._share * logistic.slope(z, values)
        for block in self.blocks:
            block.backward(g, self._grad)
        self._seen = theta, logits, g
        return values.mean(), self._grad

    def scores(self, theta: Array, relevant: Array) -> Array:
        """Each head's weight on relevant tokens (H,), averaged; from the pass that ``logits`` or
        ``loss_and_grad`` took."""
        g = self._seen[2]
        # too small to divide by
        if g is not None and not abs(g).min() > np.exp(-0.5 * self._xp.log_max(g)):
            self._forward(theta)
            g = None
        return self._xp.concatenate([block.weight_on(relevant, g) for block in self.blocks])


class MultiHeadParts(Packing):
    """The workspace of a large batch, a part of its samples at a time.

    Loss, gradient, accuracy and attention score are means over samples; each part counts by its
    share of them.
    """

    def __init__(self, model: Any, X: Array, y: Array, rows: int) -> None:
        super().__init__(model, X, y)
        self.parts: list[slice] = [slice(at, at + rows) for at in range(0, len(X), rows)]

    def _each(self, ask):
        """For every part its share of the samples, and what its workspace answers; only one of them
        is alive."""
        for rows in self.parts:
            space = MultiHeadWorkspace(self.model, self.X[rows], self.y[rows])
            space.head_share = self.head_share
            yield len(space.y) / len(self.y), ask(space, rows)

    def logits(self, theta: Array) -> Array:
        """Φ (n,)."""
        return namespace(self.X).concatenate(
            [own for _, own in self._each(lambda space, _: space.logits(theta))]
        )

    def loss_and_grad(self, theta: Array) -> tuple[Any, Array]:
        """Mean logistic loss and its gradient in the form of θ."""
        loss = grad = 0
        for share, (own, slope) in self._each(lambda space, _: space.loss_and_grad(theta)):
            loss, grad = loss + share * own, grad + share * slope
        return loss, grad

    def summary(self, theta: Array, known: Array | None = None) -> dict[str, float]:
        """Loss, accuracy and attention score, as in ``ClassifierWorkspace``."""

        def ask(space, rows):
            return space.summary(theta, None if known is None else known[rows])

        shares, found = zip(*self._each(ask), strict=True)
        return {
            name: sum(share * own[name] for share, own in zip(shares, found, strict=True))
            for name in found[0]
        }


class _Batch:
    """What all blocks of heads share: the tokens in four arrangements, and two buffers for values
    that are needed for a moment."""

    def __init__(self, X: Array, heads: int) -> None:
        xp, (n, T, d) = namespace(X), X.shape
        self.X, self.X_t = xp.ascontiguousarray(X), xp.ascontiguousarray(X.mT)
        self.flat = self.X.reshape(n * T, d)
        self.flat_t = xp.ascontiguousarray(self.flat.mT)
        self.ones = xp.new_ones((1, T), X)
        self.R = xp.new_empty((n * T * heads * d,), X)
        self.EP = xp.new_empty((n * T * heads * T,), X)


class _Heads:
    """A block of H heads, of ``all_heads``: their columns of θ, their buffers, and their part of the
    two passes."""

    def __init__(self, batch: _Batch, first: int, H: int, all_heads: int) -> None:
        self.batch, self.xp, (n, T, d) = batch, namespace(batch.X), batch.X.shape
        self.columns_W = slice(first * d, (first + H) * d)
        self.columns_U = slice(all_heads * d + first * T, all_heads * d + (first + H) * T)
        self.R = batch.R[: n * T * H * d].reshape(n * T, -1)
        self.EP = batch.EP[: n * T * H * T].reshape(n, T, -1)
        keys, sums = (
            [self.xp.new_empty((n, rows, H * T), batch.X) for _ in range(2)] for rows in (T, 1)
        )
        self.E, self.P = keys  # E: scores, then their exponentials, then the weights times g
        self.total, self.v = sums
        # The same memory as matrices (n T, H T), and per example with a row for each key and head.
        self.E_flat, self.P_flat = self.E.reshape(n * T, H * T), self.P.reshape(n * T, H * T)
        self.R_rows, self.E_rows, self.P_rows = (
            a.reshape(n, T * H, -1) for a in (self.R, self.E, self.P)
        )

    def forward(self, theta: Array) -> Array:
        """Σ_h,t of what the queries read (n,).

        Leaves exp(scores), their sums over keys, P and v in the buffers.
        """
        xp, batch = self.xp, self.batch
        xp.matmul(batch.flat, theta[:, self.columns_W], out=self.R)
        xp.matmul(self.R_rows, batch.X_t, out=self.E_rows)
        xp.matmul(batch.flat, theta[:, self.columns_U], out=self.P_flat)
        self._keep_in_range(self.E)
        xp.exp(self.E, out=self.E)
        xp.multiply(self.E, self.P, out=self.EP)
        # A sum over the middle axis is a product with a row of ones: four times faster than a
        # strided reduction.
        xp.matmul(batch.ones, self.E, out=self.total)
        xp.matmul(batch.ones, self.EP, out=self.v)
        self.v /= self.total
        return self.v.sum(axis=(1, 2))

    def _keep_in_range(self, S):
        # Softmax ignores a shift of a query's scores, and most steps need none. Half of the dtype's
        # exponents are left for P, which multiplies exp(S) before the division by its sum.
        limit = 0.5 * self.xp.log_max(S)
        # or not a number, in a run that is to end here
        if not (-limit <= S.min() and S.max() <= limit):
            S -= self.xp.amax(S, axis=1, keepdims=True)

    def backward(self, g: Array, grad: Array) -> None:
        """Write this block's columns of the gradient, given g = ∂L/∂(√H Φ) (n,)."""
        xp, batch = self.xp, self.batch
        # From here on E is g A, the attention weights times g: exp(S) g / Σ exp(S).
        xp.divide(g[:, None, None], self.total, out=self.total)
        self.E *= self.total
        xp.matmul(batch.flat_t, self.E_flat, out=grad[:, self.columns_U])
        # And P is dS = g A ∘ (P − v).
        self.P -= self.v
        self.P *= self.E
        xp.matmul(self.P_rows, batch.X, out=self.R_rows)
        xp.matmul(batch.flat_t, self.R, out=grad[:, self.columns_W])

    def weight_on(self, relevant: Array, g: Array | None) -> Array:
        """Each head's attention weight on the marked tokens (n, T), averaged over examples and
        queries; after ``forward``, or given its g after ``backward``."""
        # After ``forward`` E is exp(S), to be divided by its sums; after ``backward`` it is g A.
        weights = self.xp.matmul(relevant[:, None, :], self.E) / (
            self.total if g is None else g[:, None, None]
        )
        n, T = relevant.shape
        # A row for each head, because a sum along rows rounds less than one over them.
        return weights.reshape(n, -1).mT.reshape(-1, n * T).mean(axis=1)
