"""The Hessian of the multi-head classifier's loss at one point, as an operator: many products, one
forward pass."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from livegrad.arrays import Array, namespace, require_labels
from mhalib.losses import logistic


@dataclass(frozen=True, eq=False)
class MultiHeadHessian:
    r"""V ↦ ∇²L(θ) V at a fixed θ = (W, U), in closed form; a product costs about one gradient.

    It is the derivative of the gradient along V, term by term. A dot marks derivatives along V; v is the row sum of
    A ∘ P, and g_i = y_i ℓ′(z_i)/(n √H)::

        Ȧ = A ∘ (Ṡ − rowsum(A ∘ Ṡ))     Ṡ = X V_W Xᵀ     Ṗ = V_U Xᵀ     v̇ = rowsum(Ȧ ∘ P + A ∘ Ṗ)
        dṠ = g (Ȧ ∘ (P − v) + A ∘ (Ṗ − v̇)) + ġ A ∘ (P − v)     ġ = ℓ″(z) Σ v̇ / (n H)
        (∇²L V)_W = Xᵀ dṠ X     (∇²L V)_U = (g Ȧ + ġ A) X

    Arrays of attention are (n, T H, T): for each query all heads, so that a product with X serves
    them all. The row sum of Ȧ is zero, hence Ȧ ∘ P has the row sum of Ȧ ∘ (P − v).

    Parameters
    ----------
    model, X : where the Hessian is taken, and the tokens (n, T, d)
    A : attention weights (n, T H, T)
    away : P − v (n, T H, T)
    g : g_i (n, 1, 1)
    curvature : ℓ″(z_i)/(n H) (n,)

    Raises ValueError or TypeError by a call with what is no direction of this model.

    Source: Deora et al. 2023, Lemma 1 (ours).
    """

    model: Any
    X: Array
    A: Array
    away: Array
    g: Array
    curvature: Array

    @classmethod
    def at(cls, model: Any, X: Array, y: Array) -> Self:
        """The Hessian at a model on a batch X (n, T, d) with labels y (n,): everything that knows
        no direction.

        Raises ValueError or TypeError if sizes, labels, libraries or dtypes do not fit.
        """
        require_labels(y, X)
        A, P = model._attend(X)
        (n, T, _), H, xp = X.shape, len(model.W), namespace(X)
        # Rows (query, head) are the order in which one product of all tokens with [V_1 … V_H] has
        # them: ``_along`` reshapes it without a copy.
        A, P = (xp.ascontiguousarray(part.swapaxes(1, 2)).reshape(n, T * H, T) for part in (A, P))
        read = (A * P) @ xp.new_ones((T, 1), X)
        z = y * read.sum(axis=(1, 2)) / H**0.5
        g = (y * logistic.slope(z) / (n * H**0.5))[:, None, None]
        return cls(model, X, A, P - read, g, logistic.curvature(z) / (n * H))  # y² = 1

    @cached_property
    def dS(self) -> Array:
        """A ∘ (P − v), the derivative of what is read with respect to scores."""
        return self.A * self.away

    @cached_property
    def _keys(self) -> Array:
        return namespace(self.X).ascontiguousarray(self.X.mT)

    @property
    def _flat(self) -> Array:
        n, T, d = self.X.shape
        return self.X.reshape(n * T, d)

    @cached_property
    def _ones(self) -> Array:
        return namespace(self.X).new_ones((self.X.shape[1], 1), self.X)

    def __call__(self, V: Any) -> Any:
        """The product with a direction V, again a ``MultiHeadAttention``."""
        self.model.require_direction(V)
        weights, reads = self._along(V)
        # Row sums of Ȧ are 0, so P − v gives the same v̇ as P: ``total``.
        change = (weights * self.away) + self.A * reads
        total = change @ self._ones
        change = change - self.A * total
        # ``change`` is now Ȧ ∘ (P − v) + A ∘ (Ṗ − v̇), and g is ġ.
        g = (self.curvature * total.sum(axis=(1, 2)))[:, None, None]
        return self._pull(self.g * change + g * self.dS, self.g * weights + g * self.A)

    def _along(self, V):
        """Ȧ and Ṗ."""
        xp, (H, T, d), n = namespace(self.X), self.model.sizes, len(self.X)
        maps = V.W.swapaxes(0, 1).reshape(d, H * d)
        scores = (self._flat @ maps).reshape(n, T * H, d) @ self._keys
        weights = self.A * (scores - (self.A * scores) @ self._ones)
        return weights, xp.ascontiguousarray(V.U.swapaxes(0, 1)).reshape(T * H, d) @ self._keys

    def _pull(self, dS, dP):
        """From derivatives with respect to scores and readings to those with respect to (W, U)."""
        xp, (H, T, d), n = namespace(self.X), self.model.sizes, len(self.X)
        W = self._flat.mT @ (dS @ self.X).reshape(n * T, H * d)
        U = dP.swapaxes(0, 1).reshape(T * H, n * T) @ self._flat
        own = xp.ascontiguousarray
        return self.model._with(
            {
                "W": own(W.reshape(d, H, d).swapaxes(0, 1)),
                "U": own(U.reshape(T, H, d).swapaxes(0, 1)),
            }
        )
