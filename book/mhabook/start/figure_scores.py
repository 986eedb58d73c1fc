"""The live figure of the page on softmax: three scores, their weights, and how these move."""

import numpy as np

from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.figure_parts import together
from mhabook.start import formulas_scores
from mhalib.plots import ATTENTION, DECODER, DIVERGING, GRAY, HERE, INK

FIRST = np.arange(-30, 31) / 5
SCORES = tuple((np.arange(-6, 7) / 2).tolist())


def scores() -> LiveFigure:
    """A live figure: three scores, their softmax weights, the covariance matrix of these, and an
    attention mean.

    It is a computation and no training. The tokens read 2, 1 and −1. The matrix diag(π) − ππᵀ,
    divided by the temperature, is the derivative of the weights; the slope of the mean is the
    covariance of what is read with the first token, divided by the temperature.
    """
    return LiveFigure(
        FigureSpec(
            title="Three scores, three weights",
            alt="Left, bars of three weights for the scores 1, 0 and −1 at temperature 1: 0.67, "
            "0.24 and 0.09. Middle, the attention mean against the first score rises from 0.5 to "
            "2 as an S-shaped curve; its tangent at the score 1 has the slope 0.34. Right, the "
            "matrix diag(π) − ππᵀ: positive on the diagonal, negative off the diagonal, largest "
            "for the first token.",
            model="scores",
            data={"kind": "scores", "first": FIRST.tolist()},
            start={"kind": "zeros"},
            record=(0,),
            curves=("loss",),
            fixed={"optimizer": "gd"},
            final=tuple(MEASURES),
            controls=(
                Control("a1", "first score a₁", SCORES, 1.0),
                Control("a2", "second score a₂", SCORES, 0.0),
                Control("a3", "third score a₃", SCORES, -1.0),
                Control("shift", "added to all, c", (-1000.0, -10.0, 0.0, 10.0, 1000.0), 0.0),
                Control("tau", "temperature τ", (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0), 1.0),
            ),
            frame=_frame(),
            summary="a₁ = {a1}, a₂ = {a2}, a₃ = {a3}, c = {shift}, τ = {tau}: weights {weight_1}, "
            "{weight_2}, {weight_3}; attention mean {mean}, slope along a₁ {tilt}, variance of "
            "the values {variance}; −log π₁ = {loss}.",
            train=_path,
            measure=MEASURES,
        ),
        __file__,
    )


def of_three(values: dict[str, float]) -> dict[str, np.ndarray]:
    """The ``scores`` of the sliders' values."""
    given = (np.float64(values[name]) for name in ("a1", "a2", "a3", "shift", "tau"))
    return formulas_scores.scores(*given, FIRST)


def _measured(values):
    found = {name: np.asarray(a).tolist() for name, a in of_three(values).items()}
    for j, weight in enumerate(found["weights"], start=1):
        found |= {f"bar_{j}": [0.0, weight], f"weight_{j}": weight}
    return found | {"here": [values["a1"]], "here_mean": [found["mean"]]}


MEASURES = together(
    [f"{what}_{j}" for what in ("bar", "weight") for j in (1, 2, 3)]
    + [
        "jacobian",
        "over",
        "here",
        "here_mean",
        "tangent",
        "tangent_mean",
        "mean",
        "tilt",
        "variance",
    ],
    _measured,
)


def _path(values):
    found = of_three(values)
    return Path(np.array([0]), (found["weights"],), {"loss": found["loss"][None]})


def _frame():
    frame = panels("weights", "mean against a₁", "diag(π) − ππᵀ", columns=3)
    for token in (1, 2, 3):
        frame.add_scatter(
            x=[token, token],
            mode="lines",
            line={"color": ATTENTION, "width": 30},
            showlegend=False,
            row=1,
            col=1,
            meta={"y": f"bar_{token}"},
        )
    frame.add_scatter(
        x=[0.5, 3.5],
        y=[1 / 3, 1 / 3],
        name="equal weights",
        mode="lines",
        row=1,
        col=1,
        line={"color": GRAY, "dash": "dot"},
    )
    line(frame, "attention mean", 2, shows="over", over=FIRST.tolist(), color=DECODER)
    line(frame, "tangent", 2, shows="tangent_mean", over="tangent")
    frame.add_scatter(
        name="here",
        mode="markers",
        marker=HERE | {"color": INK, "size": 10},
        row=1,
        col=2,
        meta={"x": "here", "y": "here_mean"},
    )
    frame.add_heatmap(
        x=[1, 2, 3],
        y=[1, 2, 3],
        zmin=-0.25,
        zmax=0.25,
        **DIVERGING,
        row=1,
        col=3,
        colorbar={"len": 0.9},
        meta={"z": "jacobian"},
    )
    frame.update_xaxes(
        tickvals=[1, 2, 3], range=[0.4, 3.6], title="token", zeroline=False, showgrid=False, col=1
    )
    frame.update_yaxes(range=[0, 1.03], col=1)
    frame.update_xaxes(range=[-6.2, 6.2], dtick=3, zeroline=False, title="a₁", col=2)
    frame.update_yaxes(range=[-1.6, 2.8], zeroline=False, col=2)
    tokens = {"tickvals": [1, 2, 3], "showgrid": False, "zeroline": False, "constrain": "domain"}
    frame.update_xaxes(title="token", **tokens, col=3)
    return frame.update_yaxes(autorange="reversed", **tokens, col=3)
