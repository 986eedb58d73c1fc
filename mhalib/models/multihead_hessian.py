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
        self._model, self._X, self._flat, self._keys = model, X, X.reshape(n * T, d), xp.ascontiguousarray(X.mT)
        self._ones = xp.new_ones((T, 1), X)
        self._A, P = (xp.ascontiguousarray(part.swapaxes(1, 2)).reshape(n, T * H, T) for part in (A, P))
        read = (self._A * P) @ self._ones
        z = y * read.sum(axis=(1, 2)) / H ** 0.5
        self._away = P - read
        self._dS = self._A * self._away
        self._g = (y * logistic.slope(z) / (n * H ** 0.5))[:, None, None]
        self._curvature = logistic.curvature(z) / (n * H)  # y² = 1

    def __call__(self, V: Any) -> Any:
        """The product with a direction V, again a ``MultiHeadAttention``."""
        self._model.require_direction(V)
        weights, reads = self._along(V)
        change = (weights * self._away) + self._A * reads
        total = change @ self._ones
        change = change - self._A * total
        g = (self._curvature * total.sum(axis=(1, 2)))[:, None, None]
        return self._pull(self._g * change + g * self._dS, self._g * weights + g * self._A)

    def _along(self, V):
        """Ȧ and Ṗ."""
        xp, (H, T, d), n = namespace(self._X), self._model.sizes, len(self._X)
        maps = V.W.swapaxes(0, 1).reshape(d, H * d)
        scores = (self._flat @ maps).reshape(n, T * H, d) @ self._keys
        weights = self._A * (scores - (self._A * scores) @ self._ones)
        return weights, xp.ascontiguousarray(V.U.swapaxes(0, 1)).reshape(T * H, d) @ self._keys

    def _pull(self, dS, dP):
        """From derivatives with respect to scores and readings to those with respect to (W, U)."""
        xp, (H, T, d), n = namespace(self._X), self._model.sizes, len(self._X)
        W = self._flat.mT @ (dS @ self._X).reshape(n * T, H * d)
        U = dP.swapaxes(0, 1).reshape(T * H, n * T) @ self._flat
        own = xp.ascontiguousarray
        return self._model._with({"W": own(W.reshape(d, H, d).swapaxes(0, 1)),
                                 "U": own(U.reshape(T, H, d).swapaxes(0, 1))})
