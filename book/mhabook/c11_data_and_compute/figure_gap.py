"""The live figure of chapter 11, further: the gap of gradients against n, inside the ball of the
theorem and beyond it."""

from functools import cache
from typing import Any

import numpy as np

from livegrad.live.frames import dot, line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.c10_structure.figure_regression import page_data
from mhabook.c11_data_and_compute.finite_data import gradient_gap
from mhabook.figure_parts import together
from mhalib.data.regression import linear_regression
from mhalib.models import AttentionRegression

SIZES = (40, 80, 160, 320, 640)
RADII = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
DIMENSIONS = (3, 5, 8)
DRAWS = 4
FAMILY = {"kappa": 16.0, "s_max": 0.1, "kappa_M": 4.0, "sigma": 0.1}
"""That of ``finite_data.gaps``."""
SLOPE = f"slope −1/2, through n = {SIZES[-1]}"


def gap() -> LiveFigure:
    """A live figure: ‖∇L_n − ∇L̂‖_F at U = V = r I in whitened coordinates against n, and the power
    of n with which it falls, for every r.

    Means over some draws of the samples from one truth; the fewer samples are the first ones of
    each draw. Sliders are r and d = p. The browser draws the samples itself.

    Source: ``lemma-gradient-gap`` and ``thm-finite-gradient`` (this book).
    """
    return LiveFigure(
        FigureSpec(
            title="How does the gap of gradients fall with the samples?",
            alt="Left, on logarithmic scales, the mean gap of gradients for 40 to 640 samples falls "
            "more steeply than a dotted line with the slope −1/2. Right, the measured power of n "
            "against r: near −1 for small r, it rises through −1/2 near r = 0.5 and is close to 0 "
            "at r = 1. It has no break at the limit of the theorem, 1/√2, a vertical dotted line.",
            model="gap",
            data={
                "kind": "gap",
                "streams": [[0, 1], *([0, 2, k] for k in range(1, DRAWS))],
                # of no tokens: the truth alone
                "rotations": page_data(0, DIMENSIONS, (0,))["instances"][0]["rotations"],
            },
            start={"kind": "point"},
            record=(0,),
            fixed=FAMILY | {"sizes": SIZES, "radii": RADII, "n": SIZES[-1], "optimizer": "gd"},
            curves=("loss", "first", "last", "power"),
            final=tuple(MEASURES),
            controls=(
                Control("r", "radius r of the ball", RADII, 0.3),
                Control("d", "dimensions d = p", DIMENSIONS, 5),
            ),
            tries={
                "A small ball": {"r": 0.1},
                "Near the limit": {"r": 0.7},
                "Beyond the limit": {"r": 1.0},
            },
            frame=_frame(),
            summary="With r = {r} and d = {d}, the mean gap is {first} with "
            f"{SIZES[0]} samples and {{last}} with {SIZES[-1]}. Over these sizes, it falls like n "
            "to the power {power}.",
            train=_path,
            measure=MEASURES,
        ),
        __file__,
    )


def _draws(d):
    whole = linear_regression(SIZES[-1], d, d, **FAMILY, seed=0)
    return [whole, *(whole.fresh(SIZES[-1], seed=k) for k in range(1, DRAWS))]


@cache
def _gaps(d):
    """The mean gaps, a row for every r and a column for every size."""
    eye, draws = np.eye(d), _draws(d)
    return np.mean(
        [
            [
                [gradient_gap(data.x[:n], data.y[:n], r * eye, r * eye).size for n in SIZES]
                for r in RADII
            ]
            for data in draws
        ],
        axis=0,
    )


def _everywhere(values: dict[str, Any]) -> dict[str, Any]:
    gaps = _gaps(values["d"])
    powers = np.polyfit(np.log(SIZES), np.log(gaps).T, 1)[0]
    here = RADII.index(values["r"])
    return {
        "gaps": gaps[here],
        "half": gaps[here, -1] * np.sqrt(SIZES[-1] / np.array(SIZES)),
        "powers": powers,
        "here": [values["r"]],
        "here_power": [powers[here]],
    }


MEASURES = together(("gaps", "half", "powers", "here", "here_power"), _everywhere)


def _path(values: dict[str, Any]) -> Path:
    d, found = values["d"], _everywhere(values)
    whole = _draws(d)[0]
    eye = values["r"] * np.eye(d)
    model = AttentionRegression(**whole.whitening().arrays(eye, eye, whole.x))
    numbers = {
        "loss": float(model.loss(whole.x, whole.y)),
        "first": found["gaps"][0],
        "last": found["gaps"][-1],
        "power": found["here_power"][0],
    }
    return Path(np.array([0]), (model,), {name: np.array([x]) for name, x in numbers.items()})


def _frame():
    frame = panels("mean gap of gradients", "measured power of n, for every r")
    line(frame, "measured", 1, shows="gaps", over=SIZES)
    line(frame, SLOPE, 1, shows="half", over=SIZES, faint=True, dash="dot")
    line(frame, "measured", 2, shows="powers", over=RADII)
    line(frame, "power −1/2", 2, shows=[-0.5, -0.5], over=[0, 1.1], faint=True, legend=True)
    limit = [0.5**0.5] * 2
    line(frame, "limit 1/√2", 2, shows=[-1.3, 0], over=limit, dash="dot")
    dot(frame, "here", 2, shows="here_power", over="here")
    frame.update_xaxes(
        type="log",
        range=np.log10([SIZES[0] / 1.2, SIZES[-1] * 1.2]).tolist(),
        tickvals=SIZES,
        title="samples n",
        col=1,
    )
    # one scale for every r, so that slopes can be compared
    frame.update_yaxes(type="log", dtick=1, exponentformat="power", range=[-3, 1], col=1)
    frame.update_xaxes(range=[0, 1.1], title="radius r", col=2)
    return frame.update_yaxes(range=[-1.3, 0], col=2)
