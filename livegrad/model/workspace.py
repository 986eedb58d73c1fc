"""What training runs on: parameters θ, a loss and a gradient on one fixed batch."""

from typing import Any

from livegrad.arrays import Array


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

    def for_steps(self, steps: int, compiled: bool | None = None) -> "Workspace":
        """This workspace, told how many gradients a run will ask it for: more may be worth more
        preparation. ``compiled`` is as in ``train``.

        Raises RuntimeError where a program is asked for, and there is none.
        """
        if compiled:
            raise RuntimeError(
                "compiled: expected a run that can be compiled; of models with a loss_and_grad of "
                "their own numpy computes that"
            )
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

    def known(self, data: Any) -> Any:
        """What the data have beside X and y that ``summary`` reads: nothing, unless a workspace
        overrides it."""
        return None

    def summary(self, theta: Any, known: Any = None) -> dict[str, float]:
        """What a recorded step says about the batch, name → number: the loss, which is not computed
        again if its gradient was just asked at θ."""
        last, loss = self._last
        return {"loss": float(loss if theta is last else self._loss_alone(theta))}

    def _loss_alone(self, theta):
        """The mean loss alone."""
        return self.unpack(theta).loss(self.X, self.y)

    def follow(self, training: "Workspace") -> None:
        """Compute the losses of these samples by what computes the gradients of a run on others,
        where a workspace can."""

    def norms(self, theta: Any, model: Any) -> dict[str, float]:
        """What a recorded step says of the size of the weights, name → number, given θ and its
        model."""
        return model.norms() if hasattr(model, "norms") else {}

    def confirm(self, theta: Any, loss: float, k: int, rows: Any = None) -> None:
        """Check at a recorded step that the formula is still the one that the run began with, on
        the rows whose loss this is, or on all."""

    def origin(self, theta: Any) -> str | None:
        """Where the gradient at θ stops being finite, in words; None if that is not known."""
        return None

    def grad_norm(self, grad: Any) -> float:
        """The Euclidean norm of a gradient in the form of θ."""
        slope = self.unpack(grad)
        return slope.dot(slope) ** 0.5
