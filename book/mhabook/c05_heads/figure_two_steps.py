"""The second live figure of chapter 5: a point in the plane of two step sizes, and the run of one
head there."""

from dataclasses import dataclass

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhabook.c05_heads.pictures import MARKED, descent
from mhabook.figure_parts import plain_step, zero_heads
from mhalib.data import Dataset
from mhalib.live.samples import arrays, in_doubles
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent
from mhalib.plots import INK, ORDERED

OF_DECODER, OF_ATTENTION = "step size of the decoder", "step size of attention"
MOST = int(MARKED[-1])


@dataclass(frozen=True)
class TwoSteps:
    """W ← W − η_w ∇_W L and U ← U − η_u ∇_U L."""

    eta_u: float
    eta_w: float

    def start(self, theta: MultiHeadAttention) -> None:
        """There is no state."""

    def step(
        self, theta: MultiHeadAttention, grad: MultiHeadAttention, state: None, k: int
    ) -> tuple[MultiHeadAttention, None]:
        """The model after the step."""
        return theta - MultiHeadAttention(self.eta_w * grad.W, self.eta_u * grad.U), None


def two_steps(
    data: Dataset, start: MultiHeadAttention, rule: GradientDescent, steps: int = 2000
) -> LiveFigure:
    """A live figure: the training loss of one head whose decoder and attention have two step sizes.

    Both are on sliders, and a point in their plane can be dragged. It begins where 64 heads under
    ``rule`` stand. The plane shows where 1, 4, 16 and 64 heads stand, with the step size η of
    ``rule`` and with η√H.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it
    start : one head that is zero, ``MultiHeadAttention.zeros(1, T, d)``
    rule : ``GradientDescent`` with a number as its step size, that of one head
    steps : how many steps a run has

    Raises TypeError or ValueError if data, start or rule are others, or steps is no whole number
    ≥ 1.

    Source: Zero-initialization collapse (ours).
    """
    require_count(steps=steps)
    data, lr = in_doubles(data), plain_step(rule)
    if zero_heads(start).sizes[0] != 1:
        raise TypeError(f"start: expected one head, got {start.sizes[0]}")
    record, root = recorded_steps(steps, 60), MOST**0.5

    def run(values):
        pair = TwoSteps(values["eta_u"], values["eta_w"])
        return train(start, data, pair, steps, record=record)

    return LiveFigure(
        FigureSpec(
            title="One head with two step sizes",
            alt="Left, the plane of two step sizes, that of the decoder to the right and that of "
            "attention upward, both on logarithmic scales. Two paths lead through 1, 4, 16 and 64 "
            "heads: straight down with the same step, and down a diagonal where the step grows "
            "with the square root of the number of heads. A point is at 64 heads with the same step. "
            f"Right, over {steps} steps, the training loss of one head with these two step sizes, "
            "which falls later than the gray one of one head with a single step size.",
            model="two_steps",
            data=arrays(data),
            start={"kind": "zeros"},
            record=tuple(record),
            curves=("loss",),
            final=("here_u", "here_w"),
            fixed={"H": 1, "shortcut": True},
            controls=(
                Control("eta_u", OF_DECODER, tuple(lr * 2.0**k for k in range(-3, 5)), lr),
                Control("eta_w", OF_ATTENTION, tuple(lr * 2.0**k for k in range(-7, 2)), lr / MOST),
            ),
            tries={
                "1 head": {"eta_u": lr, "eta_w": lr},
                "64 heads, the same step": {"eta_u": lr, "eta_w": lr / MOST},
                "64 heads, step × √64": {"eta_u": lr * root, "eta_w": lr / root},
            },
            frame=_frame(lr, steps, train(start, data, rule, steps, record=record)),
            summary="One head whose decoder has the step size {eta_u}, and its attention {eta_w}: "
            "after {steps} steps the training loss is {loss}.",
            train=run,
            measure={
                "here_u": lambda path, values: [values["eta_u"]],
                "here_w": lambda path, values: [values["eta_w"]],
            },
        ),
        __file__,
    )


def _frame(lr, steps, one):
    frame = panels("the plane of two step sizes", "training loss, step by step")
    heads = ", ".join(map(str, MARKED)) + " heads"
    paths = {"the same step": lr, "step × √H": lr * np.sqrt(MARKED)}
    for k, (name, step) in enumerate(paths.items()):
        frame.add_scatter(
            name=f"{heads}, {name}",
            mode="lines+markers",
            line={"color": (INK, ORDERED[-1])[k]},
            marker={"size": 7},
            row=1,
            col=1,
            **{letter: part.tolist() for letter, part in zip("xy", descent(step), strict=True)},
        )
    frame.add_scatter(
        name="this head",
        mode="markers",
        marker={"color": INK, "size": 14},
        row=1,
        col=1,
        meta={"x": "here_u", "y": "here_w", "drag": {"x": "eta_u", "y": "eta_w"}},
    )
    line(
        frame,
        f"one head, both step sizes {lr:g}",
        2,
        shows=one.loss,
        over=list(one.steps),
        faint=True,
        legend=True,
    )
    line(frame, "one head, these step sizes", 2, shows="loss")
    ends = np.log10([[lr / 12, lr * 24], [lr / 400, lr * 3]]).tolist()
    decades = {"type": "log", "dtick": 1, "exponentformat": "power"}
    frame.update_xaxes(title=OF_DECODER, range=ends[0], **decades, col=1)
    frame.update_yaxes(title=OF_ATTENTION, range=ends[1], **decades, col=1)
    step_axis(frame, steps, col=2)
    return frame.update_yaxes(range=[-5, 1], **decades, col=2)
