"""What training runs on: parameters θ, a loss and a gradient on one fixed batch."""

from typing import Any

from mhalib._array import Array, to_numpy
from mhalib.losses import logistic


class Workspace:
    """The plain formula: θ is the model itself. The reference that every faster workspace must
    equal.

    A faster one keeps θ in whatever form its products want, and says how to get there and back with
    ``pack`` and ``unpack``. Only the package's own entrywise rules see that form; every other rule
    sees models. ``loss_and_grad`` may reuse its buffers: a gradient is good until the next call.
    """

    model: Any
    X: Array
    y: Array

    def __init__(self, model: Any, X: Array, y: Array) -> None:
        self.model, self.X, self.y = model, X, y
        self._last: tuple[Any, Any] = None, None  # θ and the loss that was found with its gradient

    def for_steps(self, steps: int) -> "Workspace":
        """This workspace, told how many gradients a run will ask it for: more may be worth more
        preparation."""
        return self

    def pack(self, model: Any) -> Any:
        """θ of a model."""
        return model

    def pack_unchecked(self, model: Any) -> Any:
        """θ of a model that came out of this workspace, or of its gradient: what must hold for
        ``pack`` holds by construction, up to rounding, and is not checked."""
        return self.pack(model)

    def unpack(self, theta: Any) -> Any:
        """The model of θ; owns its arrays."""
        return theta

    def loss_and_grad(self, theta: Any) -> tuple[Any, Any]:
        """Mean loss (a number) and its gradient, in the form of θ."""
        loss, grad = theta.loss_and_grad(self.X, self.y)
        self._last = theta, loss
        return loss, grad

    def partial(self, theta: Any, rows: Any) -> tuple[Any, Any]:
        """Mean loss and gradient of some rows of the batch, as those of ``loss_and_grad``."""
        # By the plain formula: the buffers of a faster workspace are made for the whole batch.
        loss, grad = self.unpack(theta).loss_and_grad(self.X[rows], self.y[rows])
        return loss, self.pack_unchecked(grad)

    def summary(self, theta: Any, relevant: Array | None = None) -> dict[str, float]:
        """What a recorded step says about the batch, name → number: the loss, for nothing if its
        gradient was just asked at θ.

        ``relevant`` (n, T) says which tokens are, where that is known: a model that attends to them
        has more to say.
        """
        last, loss = self._last
        return {"loss": float(loss if theta is last else theta.loss(self.X, self.y))}

    def norms(self, theta: Any, model: Any) -> dict[str, float]:
        """What a recorded step says of the size of the weights, name → number, given θ and its
        model."""
        return model.norms() if hasattr(model, "norms") else {}

    def confirm(self, theta: Any, loss: float, k: int) -> None:
        """Check at a recorded step that the formula is still the one that the run began with."""

    def origin(self, theta: Any) -> str | None:
        """Where the gradient at θ stops being finite, in words; None if that is not known."""
        return None

    def grad_norm(self, grad: Any) -> float:
        """The Euclidean norm of a gradient in the form of θ."""
        slope = self.unpack(grad)
        return slope.dot(slope) ** 0.5


class ClassifierWorkspace(Workspace):
    """The same for a model whose outputs are logits, under the logistic loss."""

    def logits(self, theta: Any) -> Array:
        """The model's outputs on the batch (n,)."""
        return theta(self.X)

    def summary(self, theta: Any, relevant: Array | None = None) -> dict[str, float]:
        """Loss, accuracy and, given which tokens are relevant (n, T), the attention score."""
        logits = self.logits(theta)
        summary = {
            "loss": float(logistic(self.y * logits).mean()),
            "accuracy": accuracy(self.y, logits),
        }
        return (
            summary
            if relevant is None
            else summary | {"attention_score": self.attention_score(theta, relevant)}
        )

    def attention_score(self, theta: Any, relevant: Array) -> float:
        """The weight on relevant tokens, averaged over examples, heads and queries; asked for after
        ``logits``."""
        return float((theta.attention(self.X) * relevant[:, None, None, :]).sum(axis=-1).mean())


class PlainClassifierWorkspace(ClassifierWorkspace):
    """The plain formulas of a classifier, its loss among them, which need not be the logistic
    loss."""

    def summary(self, theta: Any, relevant: Array | None = None) -> dict[str, float]:
        """The model's own loss, accuracy and, given which tokens are relevant (n, T), the attention
        score."""
        # The right side wins: its loss is the model's own, the left one's is logistic.
        return super().summary(theta, relevant) | Workspace.summary(self, theta)


def accuracy(y: Array, logits: Array) -> float:
    """Share of examples with y Φ > 0; a logit of exactly 0 counts as wrong."""
    return float(to_numpy(y * logits > 0).mean())
