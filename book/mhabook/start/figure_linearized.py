"""The live figure of the page on the tangent kernel: a model and its linearization, trained side by
side."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from livegrad.arrays import Array, require_count
from livegrad.live.frames import line, panels, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path, recorded_steps, train
from mhabook.start.linearized import Linearized
from mhalib.data import Dataset, tokenized_mixture
from mhalib.live.samples import arrays
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import GradientDescent, Rule
from mhalib.plots import GRAY, INK

HEADS = (1, 2, 4, 8, 16, 32, 64)
LEAST = 1e-4
"""What the curve of the distance shows of anything smaller."""


def linearized(n: int = 16, steps: int = 200, seed: int = 0) -> LiveFigure:
    """A live figure: heads from a random start, and their linearization there, trained by the same
    steps.

    The data are a ``tokenized_mixture`` of four tokens in four dimensions with noise 0.5.

    Parameters
    ----------
    n, seed : as in ``tokenized_mixture``; the seed also draws the start
    steps : how many steps both runs have

    Raises ValueError if n or steps is no whole number ≥ 1.

    Source: Jacot et al. 2018, on the model of this book.
    """
    require_count(n=n, steps=steps)
    data = tokenized_mixture(n, T=4, d=4, M=2, zeta=0.25, sigma=0.5, seed=seed)
    record = recorded_steps(steps, 40)

    def run(values):
        start = MultiHeadAttention.random(values["H"], 4, 4, values["scale"], seed)
        rule = GradientDescent(values["lr"])
        path, linear = (
            train(model, data, rule, steps, record=record)
            for model in (start, Linearized.at(start))
        )
        return replace(
            path,
            curves=path.curves
            | {
                "linear_loss": linear.loss,
                "distance": np.maximum(distances(path, linear, data.X), LEAST),
                "moved": np.array([(model - start).norm() for model in path.models]),
                "linear_logits": linear[-1](data.X),
                "logits": path[-1](data.X),
            },
        )

    return LiveFigure(
        FigureSpec(
            title="A model and its linearization",
            alt="Left, two losses over 200 steps, of four heads and of their linearization at a "
            "random initialization: they separate after the first steps, with the model below, "
            "and meet again near 0.004. Middle, the distance of their logits grows from 0.04 "
            "after one step to 0.9. Right, the final logits of the sixteen samples, model against "
            "linearization: they are close to the diagonal, except for one at a distance of 2.5.",
            model="linearized",
            data=arrays(data),
            record=tuple(record),
            fixed={"optimizer": "gd"},
            start={"kind": "linearized", "stream": normals(HEADS[-1] * 32, seed).tolist()},
            curves=("loss", "linear_loss", "distance", "moved"),
            final=("linear_logits", "logits"),
            controls=(
                Control("H", "heads H", HEADS, 4),
                Control("lr", "step size η", (0.03, 0.1, 0.3, 1.0, 3.0), 0.3),
                Control("scale", "initialization scale s", (0.1, 0.3, 1.0, 2.0), 1.0),
            ),
            frame=_frame(steps),
            summary="After {steps} steps with H = {H}, η = {lr}, s = {scale}: the loss is {loss}, "
            "and that of the linearization is {linear_loss}. The root mean square difference of "
            "their logits is {distance}, and the parameters have moved by {moved}.",
            train=run,
            measure={
                name: lambda path, values, name=name: path.curves[name].tolist()
                for name in ("linear_logits", "logits")
            },
        ),
        __file__,
    )


def distances(path: Path, linear: Path, X: Array) -> np.ndarray:
    """The root mean square over the samples of the difference of the two models' logits, at each
    recorded step."""
    pairs = zip(path.models, linear.models, strict=True)
    return np.array([distance(model(X), tangent(X)) for model, tangent in pairs])


def distance(logits: Array, others: Array) -> float:
    """The root mean square of their difference."""
    return np.sqrt(np.mean((logits - others) ** 2))


def by_width(
    heads: Sequence[int], data: Dataset, rule: Rule, steps: int = 200
) -> dict[str, np.ndarray]:
    """What ``steps`` steps do to random starts with so many heads, means over five seeds: name →
    (numbers of heads,).

    The distance of the logits is that from the linearization, the way that from the start; the
    change of the attention weights is a root mean square.
    """
    shape = data.X.shape[1:]
    names = ("distance of the logits", "distance of the parameters", "change of attention weights")
    means = [
        np.mean(
            [
                _moved(MultiHeadAttention.random(H, *shape, seed=seed), data, rule, steps)
                for seed in range(5)
            ],
            axis=0,
        )
        for H in heads
    ]
    return dict(zip(names, np.array(means).T, strict=True))


def _moved(start, data, rule, steps):
    path, linear = (
        train(one, data, rule, steps, record=2) for one in (start, Linearized.at(start))
    )
    turned = path[-1].attention(data.X) - start.attention(data.X)
    return (
        distances(path, linear, data.X)[-1],
        (path[-1] - start).norm(),
        np.sqrt(np.mean(turned**2)),
    )


def _frame(steps):
    frame = panels("loss", "distance of the logits", "the model's logits", columns=3)
    line(frame, "model", 1, shows="loss")
    line(frame, "linearization", 1, shows="linear_loss", dash="dash")
    line(frame, "distance, default settings", 2, shows="distance", once=True, legend=True)
    line(frame, "distance", 2, shows="distance")
    frame.add_scatter(
        x=[-26, 26],
        y=[-26, 26],
        name="equal",
        mode="lines",
        row=1,
        col=3,
        line={"color": GRAY, "dash": "dot"},
    )
    frame.add_scatter(
        name="sample",
        mode="markers",
        marker={"color": INK, "size": 8},
        row=1,
        col=3,
        meta={"x": "linear_logits", "y": "logits"},
    )
    step_axis(frame, steps, col=1)
    step_axis(frame, steps, col=2)
    frame.update_yaxes(type="log", range=[-5, 1], dtick=1, exponentformat="power", col=1)
    frame.update_yaxes(type="log", range=[-4, 1.5], dtick=1, exponentformat="power", col=2)
    frame.update_xaxes(title="its linearization's", range=[-26, 26], dtick=10, col=3)
    return frame.update_yaxes(range=[-26, 26], dtick=10, col=3)
