"""The Hessian of the multi-head classifier's loss at one point, as an operator: many products, one forward pass."""

from typing import Any

from mhalib._array import Array, namespace, require_labels
from mhalib.losses import logistic


class MultiHeadHessian:
    r"""V ↦ ∇²L(θ) V at a fixed θ = (W, U), in closed form; a product costs about one gradient.

    It is the derivative of the gradient along V, term by term. A dot marks derivatives along V; v is the row sum of
    A ∘ P, and g_i = y_i ℓ′(z_i)/(n √H)::

        Ȧ = A ∘ (Ṡ − rowsum(A ∘ Ṡ))     Ṡ = X V_W Xᵀ     Ṗ = V_U Xᵀ     v̇ = rowsum(Ȧ ∘ P + A ∘ Ṗ)
        dṠ = g (Ȧ ∘ (P − v) + A ∘ (Ṗ − v̇)) + ġ A ∘ (P − v)     ġ = ℓ″(z) Σ v̇ / (n H)
        (∇²L V)_W = Xᵀ dṠ X     (∇²L V)_U = (g Ȧ + ġ A) X

    Arrays are (n, T H, T): for each query all heads, so that a product with X serves them all. The row sum of Ȧ is
    zero, hence Ȧ ∘ P has the row sum of Ȧ ∘ (P − v).

    Raises ValueError or TypeError if sizes, labels, libraries or dtypes do not fit; and by a call with what is no
    direction of this model.

    Parameters
    ----------
    model : where the Hessian is taken
    X, y : the batch (n, T, d) and its labels (n,)

    Source: Deora et al. 2023, Lemma 1 (ours).
    """

    def __init__(self, model: Any, X: Array, y: Array) -> None:
        require_labels(y, X)
        A, P = model._attend(X)
        (n, T, d), H, xp = X.shape, len(model.W), namespace(X)
        self.model, self.X, self.flat, self.keys = model, X, X.reshape(n * T, d), xp.ascontiguousarray(X.mT)
        self.ones = xp.new_ones((T, 1), X)
        self.A, P = (xp.ascontiguousarray(part.swapaxes(1, 2)).reshape(n, T * H, T) for part in (A, P))
        read = (self.A * P) @ self.ones
        z = y * read.sum(axis=(1, 2)) / H ** 0.5
        self.away = P - read
        self.dS = self.A * self.away
        self.g = (y * logistic.slope(z) / (n * H ** 0.5))[:, None, None]
        self.curvature = logistic.curvature(z) / (n * H)  # y² = 1

    def __call__(self, V: Any) -> Any:
        """The product with a direction V, again a ``MultiHeadAttention``."""
        self.model.require_direction(V)
        weights, reads = self._along(V)
        change = (weights * self.away) + self.A * reads
        total = change @ self.ones
        change -= self.A * total
        g = (self.curvature * total.sum(axis=(1, 2)))[:, None, None]
        return self._pull(self.g * change + g * self.dS, self.g * weights + g * self.A)

    def _along(self, V):
        """Ȧ and Ṗ."""
        xp, (H, T, d), n = namespace(self.X), self.model.sizes, len(self.X)
        maps = V.W.swapaxes(0, 1).reshape(d, H * d)
        scores = (self.flat @ maps).reshape(n, T * H, d) @ self.keys
        weights = self.A * (scores - (self.A * scores) @ self.ones)
        return weights, xp.ascontiguousarray(V.U.swapaxes(0, 1)).reshape(T * H, d) @ self.keys

    def _pull(self, dS, dP):
        """From derivatives with respect to scores and readings to those with respect to (W, U)."""
        xp, (H, T, d), n = namespace(self.X), self.model.sizes, len(self.X)
        W = self.flat.mT @ (dS @ self.X).reshape(n * T, H * d)
        U = dP.swapaxes(0, 1).reshape(T * H, n * T) @ self.flat
        own = xp.ascontiguousarray
        return self.model._with({"W": own(W.reshape(d, H, d).swapaxes(0, 1)),
                                 "U": own(U.reshape(T, H, d).swapaxes(0, 1))})
