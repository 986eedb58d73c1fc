"""The live figure of the page on descent: a loss of two numbers, the path on it, and the largest
step size."""

from typing import Any

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.figure_parts import Measures
from mhabook.start.surface import Surface
from mhalib.plots import HERE, INK, SEQUENTIAL, START

DIRECTIONS = {0: (1.0, 0.0), 16: (0.96, 0.28), 37: (0.8, 0.6), 53: (0.6, 0.8), 90: (0.0, 1.0)}
"""Degrees, rounded, and the direction of λ₁ in numbers that Python and the browser write alike."""
AT = np.arange(-20, 21) / 10
ALONG = np.arange(-40, 41) / 20
RATES = np.arange(0, 53) / 20
PLACES = tuple((np.arange(-8, 9) / 4).tolist())
STEP_SIZES = (0.05, 0.1, 0.2, 0.5, 1.0, 1.5, 1.8, 1.9, 1.95, 2.0, 2.05, 2.1, 2.5)
CURVATURES = (-0.5, -0.2, -0.05, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
LEAST = 1e-12
"""What the curve of the loss shows of anything smaller."""


def surface(steps: int = 60) -> LiveFigure:
    """A live figure: gradient descent on a ``Surface`` with λ₁ = 1, its loss, and the factor of a
    step.

    Parameters
    ----------
    steps : how many steps a run has

    Raises ValueError if steps is no whole number ≥ 1.
    """
    require_count(steps=steps)
    return LiveFigure(
        FigureSpec(
            title="A step size and two curvatures",
            alt="Four panels. A map of a long valley, with the path of descent from (0.25, 1.75): "
            "it jumps from side to side and moves slowly along the valley. Next to it f along the "
            "steep and the flat direction, two parabolas of curvature 1 and 0.05. Below, the loss "
            "falls over 60 steps from 0.82 to 5 · 10⁻⁷. The last panel shows the factors |1 − ηλ| "
            "of a step: for λ = 1 the factor falls to 0 at η = 1, and is 1 again at the threshold "
            "η = 2.",
            model="surface",
            start={"kind": "surface"},
            record=tuple(range(steps + 1)),
            curves=("loss",),
            data={
                "kind": "surface",
                "at": AT.tolist(),
                "along": ALONG.tolist(),
                "rates": RATES.tolist(),
                "directions": {str(angle): pair for angle, pair in DIRECTIONS.items()},
            },
            fixed={"first": 1.0, "optimizer": "gd"},
            final=tuple(MEASURES),
            controls=(
                Control("lr", "step size η", STEP_SIZES, 1.8),
                Control("low", "curvature λ₂", CURVATURES, 0.05),
                Control(
                    "angle",
                    "angle of λ₁, φ",
                    tuple(DIRECTIONS),
                    37,
                    tuple(f"{angle}°" for angle in DIRECTIONS),
                ),
                Control("q1", "start θ₁", PLACES, 0.25),
                Control("q2", "start θ₂", PLACES, 1.75),
            ),
            frame=_frame(steps),
            summary="With η = {lr}, λ₁ = 1, λ₂ = {low}, φ = {angle}, from θ₁ = {q1}, θ₂ = {q2}: "
            "in {steps} steps f goes from {first_loss} to {loss}. The condition number is "
            "{kappa}. Near the center a step multiplies the magnitudes of the two coordinates by "
            "{factor_steep} and {factor_flat}.",
            train=lambda values: _path(values, steps),
            measure=MEASURES,
        ),
        __file__,
    )


def chosen(values: dict[str, Any]) -> Surface:
    """The ``Surface`` of the controls."""
    return Surface((1.0, values["low"]), DIRECTIONS[values["angle"]])


def _path(values, steps):
    of = chosen(values)
    points = of.descend((values["q1"], values["q2"]), values["lr"], steps)
    return Path(np.arange(steps + 1), tuple(points), {"loss": np.maximum(of.loss(points), LEAST)})


def _seen(path, k):
    """A coordinate of the path up to the first point outside of the square."""
    points = np.array(path.models)
    outside = np.flatnonzero((abs(points) > 3).any(axis=1))
    return points[: outside[0] + 1 if len(outside) else None, k].tolist()


def _of(formula):
    """A measure of the values alone."""
    return lambda path, values: formula(values)


def _map(values):
    theta = np.stack(np.meshgrid(AT, AT), axis=-1)
    return np.sqrt(chosen(values).loss(theta)).tolist()


def _across(column):
    """f along an eigenvector."""

    def measure(values):
        of = chosen(values)
        return of.loss(ALONG[:, None] * of.eigenvectors[:, column]).tolist()

    return measure


def _axis(row, column):
    return lambda values: [float(end * chosen(values).eigenvectors[row, column]) for end in (-2, 2)]


def _factors(values):
    return [abs(1 - values["lr"] * curvature) for curvature in (1.0, values["low"])]


MEASURES: Measures = {
    "surface": _of(_map),
    "path_1": lambda path, values: _seen(path, 0),
    "path_2": lambda path, values: _seen(path, 1),
    "start_1": _of(lambda values: [values["q1"]]),
    "start_2": _of(lambda values: [values["q2"]]),
    "steep_1": _of(_axis(0, 0)),
    "steep_2": _of(_axis(1, 0)),
    "flat_1": _of(_axis(0, 1)),
    "flat_2": _of(_axis(1, 1)),
    "along_steep": _of(_across(0)),
    "along_flat": _of(_across(1)),
    "factors_flat": _of(lambda values: abs(1 - RATES * values["low"]).tolist()),
    "here": _of(lambda values: [values["lr"]] * 2),
    "factors": _of(_factors),
    "factor_steep": _of(lambda values: _factors(values)[0]),
    "factor_flat": _of(lambda values: _factors(values)[1]),
    "kappa": _of(lambda values: 1 / values["low"] if values["low"] > 0 else "none, at a saddle"),
}


def _frame(steps):
    frame = panels(
        "path on f, θ₂ against θ₁",
        "f along the two directions",
        "loss f over steps",
        "factor of a step against η",
        height=720,
    )
    frame.add_heatmap(
        x=AT.tolist(),
        y=AT.tolist(),
        zmin=0,
        zmax=2,
        colorscale=SEQUENTIAL,
        hoverinfo="skip",
        showscale=False,
        row=1,
        col=1,
        meta={"z": "surface"},
    )
    black = HERE["color"]
    for short, name, dash in (
        ("steep", "direction of λ₁", "dash"),
        ("flat", "direction of λ₂", "dashdot"),
    ):
        across, up = f"{short}_1", f"{short}_2"
        line(frame, name, 1, shows=up, over=across, color=black, dash=dash)
    line(frame, "descent", 1, shows="path_2", over="path_1", color=black, legend=False)
    frame.data[-1].mode, frame.data[-1].marker = "lines+markers", {"size": 6}
    frame.add_scatter(
        name="start",
        mode="markers",
        showlegend=False,
        marker=START | {"size": 14, "line": {"width": 3}},
        row=1,
        col=1,
        meta={"x": "start_1", "y": "start_2", "drag": {"x": "q1", "y": "q2"}},
    )
    along = ALONG.tolist()
    line(frame, "steep, λ₁", 2, shows="along_steep", over=along, dash="dash")
    line(frame, "flat, λ₂", 2, shows="along_flat", over=along, dash="dashdot")
    line(frame, "default settings", 1, 2, shows="loss", once=True)
    line(frame, "loss", 1, 2, shows="loss", legend=False)
    rates, steep = RATES.tolist(), abs(1 - RATES).tolist()
    line(frame, "|1 − ηλ₁|", 2, 2, shows=steep, over=rates, dash="dash")
    line(frame, "|1 − ηλ₂|", 2, 2, shows="factors_flat", over=rates, dash="dashdot")
    frame.add_scatter(
        x=[0, 2, 2],
        y=[1, 1, 0],
        name="threshold η = 2/λ₁",
        mode="lines",
        row=2,
        col=2,
        line={"color": INK, "dash": "dot", "width": 2},
    )
    frame.add_scatter(
        name="here",
        mode="markers",
        marker=HERE | {"color": INK, "size": 10},
        row=2,
        col=2,
        meta={"x": "here", "y": "factors"},
    )
    frame.update_xaxes(range=[-2.05, 2.05], row=1)
    frame.update_yaxes(range=[-2.05, 2.05], row=1, col=1)
    frame.update_yaxes(range=[-0.05, 2.1], row=1, col=2)
    frame.update_xaxes(title="step", range=[0, steps], row=2, col=1)
    frame.update_yaxes(type="log", range=[-12.3, 3], dtick=3, exponentformat="power", row=2, col=1)
    frame.update_xaxes(title="step size η", range=[0, 2.65], row=2, col=2)
    return frame.update_yaxes(range=[0, 2.4], row=2, col=2)
