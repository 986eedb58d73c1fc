"""The live figure of the first page: ten words, one that decides, and a head that learns to look at
it."""

from dataclasses import replace
from itertools import product

import numpy as np

from livegrad.live.frames import STEP_SIZES, line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import train
from mhalib.data import Dataset
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent
from mhalib.plots import SEQUENTIAL

SIGN = {"great": 1.0, "dull": -1.0}
ORDERS = (
    "{time} {seen} {company}",
    "{time} {company} {seen}",
    "{seen} {company} {time}",
    "{company} {seen} {time}",
)
CHOICES = (
    ORDERS,
    ("on sunday", "last night"),
    ("with my sister", "in our cinema"),
    ("we", "they"),
    ("film", "play"),
    SIGN,
)
SENTENCES = [
    order.format(time=time, company=company, seen=f"{who} saw a {word} {thing}").split()
    for order, time, company, who, thing, word in product(*CHOICES)
]
"""All 128 of a small grammar. Each stands there as "great" and as "dull", so no other word tells of
the label."""
VOCABULARY = sorted({word for sentence in SENTENCES for word in sentence})
TOKENS = np.array([[VOCABULARY.index(word) for word in sentence] for sentence in SENTENCES])
LENGTH, STEPS = 4.0, 100


def sentences() -> Dataset:
    """The sentences as a ``Dataset``: each word is a coordinate vector, LENGTH long; y is 1 for
    "great", else −1.

    X (128, 10, 18), y (128,), relevant (128, 10).
    """
    decides = np.array([[word in SIGN for word in sentence] for sentence in SENTENCES])
    y = np.array([SIGN[word] for sentence in SENTENCES for word in sentence if word in SIGN])
    return Dataset(LENGTH * np.eye(len(VOCABULARY))[TOKENS], y, decides)


def words() -> LiveFigure:
    """A live figure: where a head looks in a sentence while gradient descent trains it, under a
    step size of yours.

    The weights are those of the first sentence, averaged over its ten queries, at every step.
    """
    data = sentences()
    n, T, d = data.X.shape

    def run(values):
        path = train(
            MultiHeadAttention.zeros(1, T, d),
            data,
            GradientDescent(values["lr"]),
            STEPS,
            record=range(STEPS + 1),
        )
        weights = np.array([model.attention(data.X[:1])[0, 0].mean(axis=0) for model in path])
        return replace(path, curves=path.curves | {"weights": weights})

    return LiveFigure(
        FigureSpec(
            title="A head learns where to look",
            alt="Above, the ten words “on sunday we saw a great film with my sister”, one row "
            "each, colored by their attention weights over 100 steps of gradient descent at step "
            "size 0.1: at first all are equal, then the weight on “great” grows. Below, over the "
            "same steps, the loss falls from 0.69 to nearly zero.",
            model="multihead",
            start={"kind": "zeros"},
            record=tuple(range(STEPS + 1)),
            fixed={"H": 1, "optimizer": "gd"},
            data={
                "kind": "sentences",
                "n": n,
                "T": T,
                "d": d,
                "length": LENGTH,
                "tokens": TOKENS.ravel().tolist(),
                "y": data.y.tolist(),
                "relevant": data.relevant.astype(int).ravel().tolist(),
            },
            curves=("loss", "weights", "attention_score"),
            controls=(Control("lr", "step size η", STEP_SIZES, 0.1),),
            frame=_frame(),
            summary="After {steps} steps with η = {lr}, the weight on “great” is "
            "{attention_score}, and the loss is {loss}.",
            train=run,
            watched=2.5,
        ),
        __file__,
    )


def _frame():
    frame = panels("attention on each word", "loss", columns=1)
    named = [f"<b>{word} ★</b>" if word in SIGN else word for word in SENTENCES[0]]
    bar = {
        "title": {"text": "attention", "side": "right"},
        "thickness": 14,
        "y": 0.725,
        "len": 0.6,
        "dtick": 0.5,
    }
    frame.add_heatmap(
        y=list(range(len(named))),
        zmin=0,
        zmax=1,
        transpose=True,
        colorscale=SEQUENTIAL,
        colorbar=bar,
        row=1,
        col=1,
        meta={"x": "steps", "z": "weights"},
    )
    line(frame, "loss", 1, 2, shows="loss", legend=False)
    frame.update_xaxes(range=[-0.5, STEPS + 0.5], showgrid=False, zeroline=False)
    frame.update_xaxes(showticklabels=False, row=1)
    frame.update_xaxes(title="step", row=2)
    frame.update_yaxes(
        autorange="reversed",
        tickvals=list(range(len(named))),
        ticktext=named,
        showgrid=False,
        zeroline=False,
        domain=[0.45, 1],
        row=1,
    )
    frame.update_yaxes(range=[0, 0.75], domain=[0, 0.3], row=2)
    frame.layout.annotations[1].y = 0.3
    return frame.update_layout(margin={"l": 70, "t": 30, "b": 40})
