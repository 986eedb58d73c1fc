"""What training runs on: parameters θ, a loss and a gradient on one fixed batch."""

from mhalib._array import to_numpy


class Workspace:
    """The plain formula: θ is the model itself. The reference that every faster workspace must equal.

    A faster one keeps θ in whatever form its products want, and says how to get there and back with ``pack`` and
    ``unpack``. An update rule sees only ``+ − * /`` on θ. ``loss_and_grad`` may reuse its buffers: a gradient is
    good until the next call.
    """

    def __init__(self, model, X, y):
        self.model, self.X, self.y = model, X, y

    def pack(self, model):
        """θ of a model."""
        return model

    def unpack(self, theta):
        """The model of θ; owns its arrays."""
        return theta

    def loss_and_grad(self, theta):
        """Mean loss (a number) and its gradient, in the form of θ."""
        return theta.loss_and_grad(self.X, self.y)

    def partial(self, theta, rows):
        """Mean loss and gradient of some rows of the batch, as those of ``loss_and_grad``."""
        loss, grad = self.unpack(theta).loss_and_grad(self.X[rows], self.y[rows])
        return loss, self.pack(grad)

    def logits(self, theta):
        """The model's outputs on the batch."""
        return theta(self.X)

    def summary(self, theta, relevant=None):
        """What a recorded step says about the batch: loss, accuracy and, given which tokens are relevant (n, T),
        the attention score: the weight on relevant tokens, averaged over examples, heads and queries."""
        summary = {"loss": float(theta.loss(self.X, self.y)),
                   "accuracy": accuracy(self.y, self.logits(theta))}
        if relevant is not None:
            A = theta.attention(self.X)
            summary["attention_score"] = float((A * relevant[:, None, None, :]).sum(axis=-1).mean())
        return summary


def accuracy(y, logits):
    """Share of examples with y Φ > 0; a logit of exactly 0 counts as wrong."""
    return float(to_numpy(y * logits > 0).mean())
