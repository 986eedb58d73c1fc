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
from mhalib.plots import ATTENTION, WEIGHTS

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
FOOT, LONGEST = 107, 36
"""Where the bars begin, and how long that of the weight 1 is, in steps of the axis beside them."""


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
            "each. Strips show their attention weights over 100 steps of gradient descent at step "
            "size 0.1: at first all are equally pale, then “great” turns amber, and the others "
            "fade. A bar at the end of each strip is the final weight: long for “great”, 0.63, "
            "and short for all others. Below, over the same steps, the loss falls from 0.69 to "
            "nearly zero.",
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
            final=("bars",),
            controls=(Control("lr", "step size η", STEP_SIZES, 0.1),),
            frame=_frame(),
            summary="After {steps} steps with η = {lr}, the weight on “great” is "
            "{attention_score}, and the loss is {loss}.",
            train=run,
            measure={"bars": _bars},
            watched=2.5,
        ),
        __file__,
    )


def _bars(path, values):
    """Where the bars of the final weights go along the steps; None ends a bar."""
    ends = [[FOOT, FOOT + LONGEST * weight, None] for weight in path.curves["weights"][-1]]
    return [end for bar in ends for end in bar]


def _frame():
    frame = panels("attention, step by step", "loss", columns=1, height=350)
    named = [f"{word}★" if word in SIGN else word for word in SENTENCES[0]]
    rows, end = list(range(len(named))), FOOT + LONGEST
    frame.add_heatmap(
        y=rows,
        **WEIGHTS,
        transpose=True,
        showscale=False,
        row=1,
        col=1,
        meta={"x": "steps", "z": "weights"},
    )
    frame.add_scatter(
        name="final weight",
        y=[at for row in rows for at in (row, row, None)],
        mode="lines",
        line={"color": ATTENTION, "width": 11},
        showlegend=False,
        row=1,
        col=1,
        meta={"x": "bars"},
    )
    line(frame, "loss", 1, 2, shows="loss", legend=False)
    # The loss ends where the strips do, so that a step stands below itself.
    before_bars = (STEPS + 1) / (end + 0.5)
    frame.update_xaxes(showgrid=False, zeroline=False)
    frame.update_xaxes(
        range=[-0.5, end],
        tickvals=[FOOT, FOOT + LONGEST / 2, end],
        ticktext=["0", "0.5", "1"],
        row=1,
    )
    frame.update_xaxes(title="step", range=[-0.5, STEPS + 0.5], domain=[0, before_bars], row=2)
    frame.update_yaxes(
        autorange="reversed",
        tickvals=rows,
        ticktext=named,
        showgrid=False,
        zeroline=False,
        domain=[0.45, 1],
        row=1,
    )
    frame.update_yaxes(range=[0, 0.75], domain=[0, 0.28], row=2)
    _, below = frame.layout.annotations
    below.update(x=0, y=0.28)
    frame.add_annotation(
        text="weight",
        x=(FOOT + LONGEST / 2 + 0.5) / (end + 0.5),
        y=1,
        xref="paper",
        yref="paper",
        xanchor="center",
        yanchor="bottom",
        showarrow=False,
        font={"size": 14},
    )
    return frame.update_layout(margin={"l": 70, "t": 30, "b": 40})
