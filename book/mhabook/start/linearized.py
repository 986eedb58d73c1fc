"""A model's linearization around a start: linear in its parameters, trained by the same
``train``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from livegrad.arrays import Array, require, require_labels, require_same_dtype
from livegrad.model.vector import Vector
from mhalib.losses import logistic
from mhalib.models.classifier_workspace import ClassifierWorkspace
from mhalib.models.multihead import MultiHeadAttention


@dataclass(frozen=True, eq=False, repr=False)
class Linearized(Vector):
    r"""The tangent of a ``MultiHeadAttention`` at a start: its features there are fixed, their
    weights are learned.

    .. math:: \Phi_{\rm lin}(X; V) = \Phi(X; \theta_0) + \langle\nabla\Phi(X; \theta_0), V\rangle

    Parameters
    ----------
    V : (H (d² + T d),) the displacement θ − θ₀ from the start, in the order of ``ravel``
    start : the ``MultiHeadAttention`` θ₀, which stays as it is

    Raises
    ------
    TypeError
        if start is no ``MultiHeadAttention``, or V and start differ in library or dtype.
    ValueError
        if V has another length than start has parameters, or an entry is not finite.

    Source: Jacot et al. 2018.

    Examples
    --------
    >>> from mhabook.start.linearized import Linearized
    >>> data = mha.data.tokenized_mixture(n=8, T=4, d=4, M=2, zeta=0.25)
    >>> tangent = Linearized.at(mha.MultiHeadAttention.random(H=2, T=4, d=4))
    >>> tangent.V.shape
    (64,)
    >>> mha.train(tangent, data, mha.GradientDescent(lr=0.3), steps=5).stopped is None
    True
    """

    V: Array
    start: MultiHeadAttention

    fixed: ClassVar[tuple[str, ...]] = ("start",)

    def __post_init__(self) -> None:
        if not isinstance(self.start, MultiHeadAttention):
            raise TypeError(
                f"start: expected a MultiHeadAttention, got {type(self.start).__name__}"
            )
        require("V", self.V, tuple(self.start.ravel().shape))
        require_same_dtype(V=self.V, W=self.start.W)

    @classmethod
    def at(cls, start: MultiHeadAttention) -> "Linearized":
        """The linearization at ``start``, not moved yet: V = 0."""
        if not isinstance(start, MultiHeadAttention):
            raise TypeError(f"start: expected a MultiHeadAttention, got {type(start).__name__}")
        return cls(0 * start.ravel(), start)

    def __call__(self, X: Array) -> Array:
        """Outputs Φ(X; θ₀) + ⟨∇Φ(X; θ₀), V⟩, (n,)."""
        return self.start(X) + self.start.features(X) @ self.V

    def loss(self, X: Array, y: Array) -> Any:
        """Mean logistic loss of labels y (n,) in {−1, +1}."""
        return self.workspace(X, y).loss(self)

    def loss_and_grad(self, X: Array, y: Array) -> tuple[Any, "Linearized"]:
        r"""Mean logistic loss and its gradient (1/n) Σ y_i ℓ′(y_i Φ_i) ∇Φ(X_i; θ₀), which is again
        a ``Linearized``."""
        return self.workspace(X, y).loss_and_grad(self)

    def hvp(self, X: Array, y: Array, V: "Linearized") -> "Linearized":
        r"""Product ∇²L V = (1/n) Σ ℓ″(z_i) ⟨φ_i, V⟩ φ_i with a direction V, z_i = y_i Φ_lin(X_i)
        and φ_i = ∇Φ(X_i; θ₀).

        V is again a ``Linearized``, as is the product.

        Raises TypeError or ValueError if V is no direction in the space of this model.
        """
        return self.hessian_operator(X, y)(V)

    def hessian_operator(self, X: Array, y: Array) -> Any:
        """V ↦ ∇²L V at this point, for many products on one batch: the features are computed
        once."""
        return partial(self.workspace(X, y).hvp, self)

    def map(self, function: Callable[[Array], Array]) -> "Linearized":
        """The same model with ``function`` applied to every array, those of the start among
        them."""
        return self._with({"V": function(self.V), "start": self.start.map(function)})

    def workspace(self, X: Array, y: Array) -> "LinearizedWorkspace":
        """What ``train`` runs on: the features are computed once."""
        require_labels(y, X)
        return LinearizedWorkspace(self, X, y)

    def moved(self) -> MultiHeadAttention:
        """The ``MultiHeadAttention`` θ₀ + V: the same displacement, of the model itself."""
        return self.start + self.start.unravel(self.V)

    def norms(self) -> dict[str, float]:
        """How far the parameters are from the start: norm_V = ‖V‖."""
        return {"norm_V": self.norm()}


class LinearizedWorkspace(ClassifierWorkspace):
    """Logits at the start and features of one batch, computed once."""

    def __init__(self, model: Linearized, X: Array, y: Array) -> None:
        super().__init__(model, X, y)
        self.first: Array = model.start(X)
        self.features: Array = model.start.features(X)

    def logits(self, theta: Any) -> Array:
        """Φ(X_i; θ₀) + ⟨φ_i, V⟩."""
        return self.first + self.features @ theta.V

    def loss(self, theta: Any) -> Any:
        """Mean logistic loss."""
        return logistic(self.y * self.logits(theta)).mean()

    def loss_and_grad(self, theta: Any) -> tuple[Any, Any]:
        """Mean logistic loss and (1/n) Σ y_i ℓ′(y_i Φ_i) φ_i."""
        z = self.y * self.logits(theta)
        pull = self.y * logistic.slope(z) / len(self.y)
        return logistic(z).mean(), theta.with_arrays(V=pull @ self.features)

    def hvp(self, theta: Any, V: Any) -> Any:
        """(1/n) Σ ℓ″(z_i) ⟨φ_i, V⟩ φ_i; y_i² = 1."""
        theta.require_direction(V)
        bend = logistic.curvature(self.y * self.logits(theta)) / len(self.y)
        return theta.with_arrays(V=(bend * (self.features @ V.V)) @ self.features)

    def summary(self, theta: Any, known: Any = None) -> Any:
        """Loss and accuracy; the attention of a linear model stays as it is at the start."""
        return super().summary(theta)
