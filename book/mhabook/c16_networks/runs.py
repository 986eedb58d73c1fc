"""The stored runs of chapter 16: kernels compared by seed and step size, as its figures and tables
show them."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from livegrad.arrays import Array
from mhabook.c08_digits import TextTransformer
from mhabook.c08_digits.text import TextDataset
from mhabook.c08_digits.text.words import SIGN
from mhabook.plots import multiples
from mhabook.tables import Table, stored
from mhalib.attention import Gaussian, Softmax, gaussian

ARMS = {
    "softmax": ("softmax", 1.0),
    "Gaussian": ("gaussian", 1.0),
    "Gaussian, rows normalized": ("normalized", 1.0),
    "softmax × 4": ("softmax", 4.0),
    "Gaussian × 16": ("gaussian", 16.0),
}
"""The kernels, each with its factor."""
NAMES = list(ARMS)[:4]
LOUD = [*NAMES[:3], "Gaussian × 16"]
ADAM: dict[str, Any] = {"rule": "adam", "embedding": 1.0, "gain": 3**-0.5, "length": 8}
"""Sentences of eight words, embeddings N(0, 1), and matrices that start as PyTorch's do."""
MOMENTUM = ADAM | {"rule": "momentum"}
SMALL = ADAM | {"embedding": 0.02}
GAIN = ADAM | {"gain": 1.0}
SIXTEEN = ADAM | {"length": 16}
QUANTILE = {4: 3.182}
"""Seeds → the 0.975 quantile of Student's t with one degree of freedom less."""


@cache
def _words():
    return stored("words.npz")


def rates(rows: Table | None = None, **setting: Any) -> list[float]:
    """The step sizes that were tried in a setting; rows are those on words by default, here and
    below."""
    return np.unique((rows or _words()).where(**setting)["lr"]).tolist()


def of_all(
    names: Iterable[str], rows: Table | None = None, **setting: Any
) -> list[tuple[str, Table]]:
    """(name, runs) for each kernel with its factor; a row for each seed."""
    return [
        (name, (rows or _words()).where(kernel=ARMS[name][0], scale=ARMS[name][1], **setting))
        for name in names
    ]


def chosen(name: str, rows: Table | None = None, **setting: Any) -> Table:
    """The runs at the step size whose mean accuracy at the end is highest on the validation
    samples."""
    tried = [of_all([name], rows, lr=lr, **setting)[0][1] for lr in rates(rows, **setting)]
    # NaN counts as 0: comparisons with it would make the choice depend on the order.
    return max(tried, key=lambda runs: np.nan_to_num(runs["validation_accuracy"][:, -1]).mean())


def final_accuracy(name: str, rows: Table | None = None, **setting: Any) -> np.ndarray:
    """Test accuracies at the end, a number for each seed."""
    return chosen(name, rows, **setting)["test_accuracy"][:, -1].astype(float)


def mean_at(name: str, lr: float, setting: dict[str, Any]) -> float:
    """The mean test accuracy at the end of the runs on words with one step size."""
    return of_all([name], lr=lr, **setting)[0][1]["test_accuracy"][:, -1].mean()


def moved_by_gain(name: str) -> float:
    """By how much gain 1 raises the mean accuracy of a kernel on eight words, over that with
    torch's gain."""
    return final_accuracy(name, **GAIN).mean() - final_accuracy(name, **ADAM).mean()


def without_not(data: TextDataset) -> float:
    """The share of sentences on which a reader is right who counts opinions, overlooks "not" and
    guesses at ties."""
    counted = np.array(
        [sum(SIGN.get(word, 0) for word in sentence.split()) for sentence in data.sentences]
    )
    return (np.sign(counted) == data.y).mean() + (counted == 0).mean() / 2


def gap(
    name: str, rows: Table | None = None, against: str = "softmax", **setting: Any
) -> tuple[float, float]:
    """Mean difference of two kernels over the seeds, and the half-width of its 95 % interval."""
    # Seed by seed: what a seed does to both kernels cancels.
    apart = final_accuracy(name, rows, **setting) - final_accuracy(against, rows, **setting)
    return apart.mean(), QUANTILE[len(apart)] * apart.std(ddof=1) / len(apart) ** 0.5


def compare(names: Iterable[str], rows: Table | None = None, **setting: Any) -> None:
    """Print step size, accuracies and the difference from softmax for each kernel."""
    print(f"{'':26} step size  tried   last    best   against softmax")
    for name in names:
        runs, (apart, half) = chosen(name, rows, **setting), gap(name, rows, **setting)
        best = runs["test_accuracy"].max(axis=1).mean()
        tried, last = len(rates(rows, **setting)), final_accuracy(name, rows, **setting).mean()
        print(
            f"{name:26}{runs['lr'][0]:10g}{tried:7}{last:8.3f}{best:8.3f}"
            + ("" if name == "softmax" else f"{apart:+9.3f} ± {half:.3f}")
        )


def accuracy_figure(rows: Table | None = None, *, title: str, **setting: Any) -> go.Figure:
    """Test accuracies along the runs under Adam, a panel for each step size."""
    panels = {
        f"Adam, η = {lr:g}": {
            name: (runs["at"][0], runs["test_accuracy"])
            for name, runs in of_all(NAMES, rows, lr=lr, **setting)
        }
        for lr in rates(rows, **setting)
    }
    return multiples((), panels, span=(0.45, 1), log_x=False, title=title)


def side_by_side(X: Array) -> np.ndarray:
    """Images of nine patches of 4 × 4 pixels (n, 9, 16), with an empty column between them: (12,
    14n − 2)."""
    # (n, patch row, patch column, row, column): rows of pixels go beside the rows of patches.
    whole = X.reshape(len(X), 3, 3, 4, 4).swapaxes(2, 3).reshape(len(X), 12, 12)
    return np.hstack([part for image in whole for part in (image, np.full((12, 2), np.nan))][:-1])


def row_sums(
    data: TextDataset,
    gain: float,
    kernel: Softmax | Gaussian = gaussian,
    starts: int = 24,
    layer: int = 0,
) -> np.ndarray:
    """Row sums of the attention weights of a layer, averaged over sentences, heads and queries: one
    number a start."""
    size = {"d": 64, "H": 2, "layers": 2, "hidden": 128, "kernel": kernel, "gain": gain}
    models = (
        TextTransformer(len(data.vocabulary), data.tokens.shape[1], **size, seed=seed)
        for seed in range(starts)
    )
    return np.array(
        [model.attention(data.tokens[:64])[layer].sum(axis=-1).mean() for model in models]
    )
