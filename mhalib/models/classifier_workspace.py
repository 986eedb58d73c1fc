"""What training runs on for a classifier: what a recorded step says of its logits and its attention."""

from typing import Any

import numpy as np

from livegrad.arrays import Array, as_like, to_numpy
from livegrad.foreign import marks
from livegrad.model.workspace import Workspace
from mhalib.losses import logistic


class ClassifierWorkspace(Workspace):
    """The plain formula for a model whose outputs are logits, under the logistic loss."""

    head_share: np.ndarray | None = None
    """How much each head (H,) counts in the attention score; None where all count alike."""

    def logits(self, theta: Any) -> Array:
        """The model's outputs on the batch (n,)."""
        return theta(self.X)

    def known(self, data: Any) -> Array | None:
        """Which tokens are relevant (n, T), in the library of the tokens; None if the data do not
        say."""
        relevant = getattr(data, "relevant", None)
        return None if relevant is None else as_like(marks(relevant, data.X.shape[:2]), data.X)

    def summary(self, theta: Any, known: Array | None = None) -> dict[str, float]:
        """Loss, accuracy and, given which tokens are relevant (n, T), the attention score."""
        logits = self.logits(theta)
        summary = {
            "loss": float(logistic(self.y * logits).mean()),
            "accuracy": accuracy(self.y, logits),
        }
        return (
            summary
            if known is None
            else summary | {"attention_score": self.over_heads(self.scores(theta, known))}
        )

    def scores(self, theta: Any, relevant: Array) -> Array:
        """Each head's weight on relevant tokens (H,), averaged over examples and queries; asked for
        after ``logits``."""
        weights = theta.attention(self.X) * relevant[:, None, None, :]
        return weights.sum(axis=-1).mean(axis=(0, 2))

    def over_heads(self, scores: Array) -> float:
        """The mean of the scores of heads (H,)."""
        return float(
            scores.mean() if self.head_share is None else to_numpy(scores) @ self.head_share
        )


class PlainClassifierWorkspace(ClassifierWorkspace):
    """The plain formulas of a classifier, its loss among them, which need not be the logistic
    loss."""

    def summary(self, theta: Any, known: Array | None = None) -> dict[str, float]:
        """The model's own loss, accuracy and, given which tokens are relevant (n, T), the attention
        score."""
        # The right side wins: its loss is the model's own, the left one's is logistic.
        return super().summary(theta, known) | Workspace.summary(self, theta)


def accuracy(y: Array, logits: Array) -> float:
    """Share of examples with y Φ > 0; a logit of exactly 0 counts as wrong."""
    return float(to_numpy(y * logits > 0).mean())
