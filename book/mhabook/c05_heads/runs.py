"""Runs by the number of heads: what chapter 5 reads from stored tables, and the runs that its
tables make anew."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from livegrad.training import train
from mhabook.c05_heads.late_steps import loss_rate, reduced_share
from mhabook.tables import Table
from mhalib.data import Dataset, tokenized_mixture
from mhalib.models import MultiHeadAttention
from mhalib.optim import Adam, GradientDescent, Rule

HEADS = [1, 2, 4, 8, 16, 32, 64]
LABELS = {
    "gd": "gradient descent, 1",
    "gd-root": "gradient descent, 0.3 √H",
    "momentum": "momentum, 0.1",
    "momentum-root": "momentum, 0.03 √H",
    "adam": "Adam, 0.01",
}
"""The rules of the table heads.npz, with their step sizes."""
DESCENTS: dict[str, Callable[[int], GradientDescent]] = {
    "gradient descent, 1": lambda H: GradientDescent(1.0),
    "gradient descent, 0.3 √H": lambda H: GradientDescent(0.3 * H**0.5),
}
RULES: dict[str, Callable[[int], Rule]] = {**DESCENTS, "Adam, 0.01": lambda H: Adam(0.01)}
THREE_WAYS: dict[str, Callable[[int], Rule]] = {
    "the same step, 0.3": lambda H: GradientDescent(0.3),
    "step × √H, 0.3 √H": RULES["gradient descent, 0.3 √H"],
    "Adam, 0.01": RULES["Adam, 0.01"],
}
"""The rules of the chapter's picture, each from the number of heads."""
Rates: TypeAlias = tuple[float, float, float, float, float]


def medians(rows: Table, curve: str = "loss", step: int = 2000) -> np.ndarray:
    """The median over trials of a stored curve at one step, for each number of heads in its
    order."""
    at = rows["steps"][0] == step
    return np.array([np.median(rows.where(H=H)[curve][:, at]) for H in np.unique(rows["H"])])


def in_order(rows: Table, curve: str = "loss") -> np.ndarray:
    """(trials, steps): is a stored curve lower with every further number of heads?"""
    drawn = np.array([rows.where(H=H)[curve] for H in np.unique(rows["H"])])
    return (np.diff(drawn, axis=0) < 0).all(axis=0)


def tail_slopes(rows: Table, first: int = 1000, last: int = 2000) -> list[float]:
    """The slope on logarithmic axes of the median loss between two steps, for each number of heads
    in its order."""
    steps = rows["steps"][0]
    tail = (steps >= first) & (steps <= last)
    losses = [np.median(rows.where(H=H)["loss"], axis=0)[tail] for H in np.unique(rows["H"])]
    return [float(np.polyfit(np.log(steps[tail]), np.log(loss), 1)[0]) for loss in losses]


def predicted(rows: Table) -> list[float]:
    """The attention scores that ``reduced_share`` finds for the stored margins, in units that fit
    one head."""
    # Late in a run L ≈ e^{−z}, so −log L stands for the margin.
    margin, score = -np.log(medians(rows)), medians(rows, "attention_score")
    units = np.linspace(0.1, 2, 2000)
    first = np.array([reduced_share(0.1, 1, unit * margin[0]) for unit in units])
    unit = units[abs(first - score[0]).argmin()]
    return [reduced_share(0.1, H, unit * z) for H, z in zip(HEADS, margin, strict=True)]


def waits(
    data: Dataset,
    heads: Iterable[int],
    score: float = 0.12,
    most: int = 120,
    rules: Mapping[str, Callable[[int], Rule]] = RULES,
) -> dict[str, list[int]]:
    """Of each rule: the step after which the attention score of so many heads from zero exceeds
    ``score``."""

    def wait(rule, H):
        path = train(
            MultiHeadAttention.zeros(H, *data.X.shape[1:]), data, rule, most, record=range(most + 1)
        )
        return int(path.steps[path.attention_score > score][0])

    return {name: [wait(rule(H), H) for H in heads] for name, rule in rules.items()}


def print_waits(found: Mapping[str, Iterable[int]], heads: Iterable[int]) -> None:
    """The ``waits`` of these numbers of heads, a line a rule."""
    print(f"{'heads':26}", *(f"{H:4}" for H in heads))
    print(
        *(f"{name:26} " + " ".join(f"{k:4}" for k in row) for name, row in found.items()), sep="\n"
    )


def end_rates(data: Dataset, rule: GradientDescent, H: int) -> Rates:
    """After 2,000 steps from zero: attention score α, ``loss_rate``, the share of W in it, 20 η α²,
    and 1/(kL)."""
    path = train(MultiHeadAttention.zeros(H, *data.X.shape[1:]), data, rule, 2000, record=2)
    alpha, rate = path.attention_score[-1], loss_rate(path, rule.lr)[-1]
    grad = path[-1].loss_and_grad(data.X, data.y)[1]
    return (
        alpha,
        rate,
        (grad.W**2).sum() / grad.norm() ** 2,
        # 20 = S²T/2 for the chapter's mixture, the square of the factor in ``decoder_pull``, and
        # |ℓ′| ≈ ℓ.
        rule.lr * 20 * alpha**2,
        1 / (2000 * path.loss[-1]),
    )


def print_rates(rates: Mapping[tuple[str, int], Rates]) -> None:
    """The ``end_rates`` of a rule with H heads, a line each."""
    print(
        f"{'':25} {'heads':>5} {'score':>6} {'rate':>6} {'of W':>6} {'promised':>9} {'1/(kL)':>7}"
    )
    print(
        *(
            f"{name:25} {H:5} {a:6.2f} {r:6.2f} {w:6.2f} {p:9.2f} {k:7.2f}"
            for (name, H), (a, r, w, p, k) in rates.items()
        ),
        sep="\n",
    )


def share_end(zeta: float, H: int) -> tuple[float, float, float]:
    """Training loss, test loss and attention score after 2,000 steps of 0.3 √H from zero, with a
    share ζ relevant."""
    sample = tokenized_mixture(zeta=zeta, seed=0)
    start, rule = MultiHeadAttention.zeros(H, 10, 8), DESCENTS["gradient descent, 0.3 √H"](H)
    path = train(start, sample, rule, 2000, test=sample.fresh(n=300, seed=1), record=2)
    return path.loss[-1], path.test_loss[-1], path.attention_score[-1]


def print_shares(shares: np.ndarray, zetas: Sequence[float]) -> None:
    """The losses of ``share_end`` for 1, 8 and 64 heads: (ζ, H, what), a line each ζ."""
    print(
        "loss times 100,000     training             test\n{:17}".format("heads"),
        "     1      8     64" * 2,
    )
    print(
        *(
            f"zeta = {zeta:<10}" + " ".join(f"{x:6.2f}" for x in 1e5 * ends[:, :2].T.ravel())
            for zeta, ends in zip(zetas, shares, strict=True)
        ),
        sep="\n",
    )
