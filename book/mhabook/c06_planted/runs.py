"""The runs behind the last figure of chapter 6: five hidden heads, and three ways to look for
each."""

from livegrad.training import train
from mhabook.c06_planted.statements import alignment
from mhalib.data import planted
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent

WAYS = {"8 equal heads": (8, 0.0), "8 different heads": (8, 0.3), "1 head, random start": (1, 0.3)}
"""Name → the number of heads, and the scale of their start."""


def found(H: int, scale: float, seed: int, n: int = 400) -> tuple[float, float]:
    """The alignment of W after 600 steps on n samples of a hidden head, and the share of 1,000
    fresh labels right."""
    data = planted(n=n, T=6, d=4, seed=seed)
    start = (
        MultiHeadAttention.random(H, 6, 4, scale=scale, seed=seed)
        if scale
        else MultiHeadAttention.zeros(H, 6, 4)
    )
    path = train(start, data, GradientDescent(1.0), 600, test=data.fresh(n=1000), record=[0, 600])
    return alignment(path[-1], data.truth)["W"], path.test_accuracy[-1]


def teachers(count: int = 5) -> dict[str, tuple[list[float], list[float]]]:
    """Way → its alignments and its shares of fresh labels right, a hidden head each."""
    ends = {name: [found(*way, seed) for seed in range(count)] for name, way in WAYS.items()}
    return {name: tuple(map(list, zip(*pairs, strict=True))) for name, pairs in ends.items()}
