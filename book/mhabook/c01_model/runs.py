"""The runs behind chapter 1's last figure: one head from zero, under more and more noise."""

from collections.abc import Iterable

from livegrad.training import Path, train
from mhalib.data import tokenized_mixture
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent

CURVES = {
    "training accuracy": "accuracy",
    "test accuracy": "test_accuracy",
    "weight on relevant token": "attention_score",
}


def noisy(sigma: float) -> Path:
    """The first and the last of 1,000 steps on a ``tokenized_mixture`` of noise σ, tested on 2,000
    fresh samples."""
    data = tokenized_mixture(sigma=sigma)
    zero = MultiHeadAttention.zeros(H=1, T=10, d=8)
    return train(zero, data, GradientDescent(lr=0.5), 1000, test=data.fresh(2000), record=[0, 1000])


def ends(paths: Iterable[Path]) -> dict[str, list[float]]:
    """Where both accuracies and the weight on the relevant token end, of each path."""
    return {name: [path.curves[curve][-1] for path in paths] for name, curve in CURVES.items()}
