"""What the live figures of chapter 14 share: queries on a line, one target for all, descent under
three kernels."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from livegrad.live.frames import line, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path, recorded_steps, train
from mhabook.c12_two_kernels.formulas import LOOKS, NAMES, kernels_of, read
from mhabook.c12_two_kernels.statements import Kernel
from mhabook.c14_traps.lines import Line
from mhabook.c14_traps.statements import EXAMPLES, example
from mhabook.figure_parts import Measures
from mhalib.optim import GradientDescent

WIDTHS = (0.125, 0.25, 0.5, 0.75, 1.0)
FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0)
SMALLEST = 1e-10
"""What a curve shows of anything smaller, which is rounding."""
RECORDED = 60
NEAR = 0.05
"""A query so near to a minimum is counted as at it."""
CURVES = ("loss", "gauss", "between")
KINDS = ("best", "other", "path", "start", "finish")
"""What is drawn on a landscape, from below to above: minima, descent, its start and end."""
LABELS = ("global minimum", "spurious minimum", "descent", "start", "end")
"""What the legend calls them."""


def reach(name: str) -> float:
    """How far to both sides an example is drawn."""
    return max(4.0, 2 + max(map(abs, EXAMPLES[name]["keys"])))


def loss_of_one(name: str, kernel: Kernel, q: ArrayLike) -> np.ndarray:
    """The loss of one query, for each of ``q`` (·,)."""
    one = EXAMPLES[name]
    return read(
        kernel, np.asarray(q, float), np.array(one["keys"]), np.array(one["values"]), one["y"]
    )["losses"]


# Kernels are frozen and equal if their c is: a new one for the same width finds what is kept.
@cache
def minima(name: str, kernel: Kernel) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The minima of the loss of one query: (those with the lowest loss under this kernel, the
    spurious ones)."""
    one = EXAMPLES[name]
    found = Line(np.array(one["keys"]), np.array(one["values"]), kernel).minima(one["y"])
    # Minima that are equally low may differ by rounding.
    lowest = min(minimum.loss for minimum in found) + 1e-9
    return (
        tuple(minimum.q for minimum in found if minimum.loss < lowest),
        tuple(minimum.q for minimum in found if minimum.loss >= lowest),
    )


@cache
def descended(
    name: str, kernel: Kernel, begin: tuple[float, ...], lr: float, steps: int
) -> tuple[Path, np.ndarray]:
    """The run that trains W^Q alone, and where it has the queries that count, (recorded steps,
    queries)."""
    path = train(
        *example(name, kernel, begin), GradientDescent(lr), steps, only=("WQ",), record=RECORDED
    )
    return path, np.array([model.WQ.ravel()[: len(begin)] for model in path.models])


def path_of(values: dict[str, Any], steps: int, begin: tuple[float, ...]) -> Path:
    """The three runs as one ``Path``: that under softmax, with the losses and queries of all,
    ``soft_queries`` …"""
    name, curves, paths = values["trap"], {}, []
    for short, kernel in kernels_of(values["c"]).items():
        path, queries = descended(name, kernel, begin, EXAMPLES[name]["lr"] * values["lr"], steps)
        curves |= {
            short: np.maximum(path.loss, SMALLEST),
            f"{short}_queries": queries,
            f"{short}_loss": path.loss,
        }
        paths.append(path)
    return replace(paths[0], curves=curves | {"loss": curves["soft"]})


def rounded(numbers: Any, digits: int = 6) -> Any:
    """Numbers to draw: what is smaller than a picture shows would differ between Python and the
    browser."""
    return np.round(numbers, digits).tolist()


def of(short: str, formula: Callable[..., Any]) -> Callable[..., Any]:
    """A measure: ``formula`` of the example's name, the kernel, and where its queries were, (steps,
    queries)."""
    return lambda path, values: formula(
        values["trap"], kernels_of(values["c"])[short], path.curves[f"{short}_queries"]
    )


def count(kind: int) -> Callable[..., int]:
    """How many queries are at the end at a global minimum (0), or at a spurious one (1)."""

    def formula(name, kernel, queries):
        points = np.array(minima(name, kernel)[kind])
        return int((abs(queries[-1][:, None] - points) < NEAR).any(axis=1).sum())

    return formula


def ends_of(short: str) -> dict[str, Callable[..., Any]]:
    """Loss at the end, and how many queries are at which minima."""
    return {
        f"{short}_end": lambda path, values: float(path.curves[f"{short}_loss"][-1]),
        f"{short}_best": of(short, count(0)),
        f"{short}_other": of(short, count(1)),
    }


def page_data() -> dict[str, Any]:
    """The examples as the browser reads them, with the minima of the loss of one query for every
    width."""
    found = {}
    for name, one in EXAMPLES.items():
        both = {
            short: [
                dict(zip(("best", "other"), minima(name, kernels_of(c)[short]), strict=True))
                for c in WIDTHS
            ]
            for short in NAMES
        }
        found[name] = one | {"reach": reach(name), "minima": both}
    return {"kind": "traps", "traps": found, "widths": WIDTHS}


def descent_figure(
    steps: int,
    begin: Callable[[dict[str, Any]], tuple[float, ...]],
    starts: tuple[Control, ...],
    measures: dict[str, Callable[..., Any]],
    fixed: Iterable[tuple[str, Any]] | dict[str, Any] = (),
    **more: Any,
) -> LiveFigure:
    """The live figure of the descent from ``begin(values)``, whose controls are ``starts``, along
    x, or along x and y.

    ``more`` goes to the ``FigureSpec``.
    """
    # each has a step size of its own
    texts = tuple(f"{name} (η = {one['lr']:g})" for name, one in EXAMPLES.items())
    return LiveFigure(
        FigureSpec(
            data=page_data(),
            start={"kind": "traps"},
            record=tuple(recorded_steps(steps, RECORDED)),
            curves=CURVES,
            fixed={"steps": steps} | dict(fixed),
            final=tuple(measures),
            measure=measures,
            controls=(
                Control("trap", "construction", tuple(EXAMPLES), "B2", texts, "choice"),
                *starts,
                Control("lr", "step size, × η", FACTORS, 1.0),
                Control("c", "width c", WIDTHS, 0.5),
            ),
            train=lambda values: path_of(values, steps, begin(values)),
            **more,
        ),
        __file__,
    )


def add_points(
    frame: go.Figure,
    looks: Iterable[dict[str, Any]],
    k: int,
    short: str,
    parts: tuple[str, str],
    drag: dict[str, str],
) -> None:
    """Add to panel k the points of KINDS of a kernel, in these looks; the legend has those of the
    first.

    What is along x and along y is measured under the names of ``parts``; ``drag`` says which
    sliders a start moves.
    """
    for kind, label, look in zip(KINDS, LABELS, looks, strict=True):
        shown = {axis: f"{short}_{kind}_{part}" for axis, part in zip("xy", parts, strict=True)}
        if kind == "start":
            shown["drag"] = drag
        frame.add_scatter(
            **{"mode": "markers"} | look, name=label, showlegend=not k, meta=shown, **panel(k)
        )


def panel(k: int) -> dict[str, int]:
    """Where kernel k is drawn."""
    return {"row": k // 2 + 1, "col": k % 2 + 1}


def losses_over_steps(frame: go.Figure, steps: int) -> None:
    """The fourth panel."""
    for curve, (short, words) in zip(CURVES, NAMES.items(), strict=True):
        line(frame, words, 2, 2, shows=curve, **LOOKS[short])
    step_axis(frame, steps, row=2, col=2)
    frame.update_yaxes(type="log", range=[-10.5, 1], dtick=2, exponentformat="power", row=2, col=2)


SHARED: Measures = {
    "rate": lambda path, values: EXAMPLES[values["trap"]]["lr"] * values["lr"],
    "range": lambda path, values: [-reach(values["trap"]), reach(values["trap"])],
}
"""Measures of the values alone."""
