"""Frames of live figures: panels and lines without numbers, in the look of the book; and the values
controls offer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from livegrad.live.spec import Control
from livegrad.optim import Adam, GradientDescent, Momentum
from livegrad.plots import GRAY, INK, at_the_left, transparent

RULES = {"gd": GradientDescent, "momentum": Momentum, "adam": Adam}
RULE_NAMES = ("gradient descent", "momentum 0.9", "Adam")
STEP_SIZES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def panels(*titles: str, columns: int = 2, height: int = 440) -> go.Figure:
    """An empty figure with a panel for each title, ``columns`` side by side, row by row; the last
    fills its row."""
    rows, (row, column) = -(-len(titles) // columns), divmod(len(titles) - 1, columns)
    cells: list[list[dict[str, int] | None]] = [[{} for _ in range(columns)] for _ in range(rows)]
    # plotly wants None for the cells that a wide one covers.
    cells[row][column:] = [{"colspan": columns - column}, *[None] * (columns - column - 1)]
    frame = make_subplots(
        rows=rows,
        cols=columns,
        specs=cells,
        horizontal_spacing=0.24 / columns,
        vertical_spacing=0.14 / max(rows - 1, 1),
        subplot_titles=titles,
    )
    return transparent(at_the_left(frame), alt="", height=height)


def line(
    frame: go.Figure,
    name: str,
    column: int,
    row: int = 1,
    *,
    shows: str | Sequence[float],
    over: str | Sequence[float] = "steps",
    color: str = INK,
    dash: str = "solid",
    once: bool = False,
    faint: bool = False,
    legend: bool | None = None,
) -> None:
    """Add a line that ``shows`` what is measured under that name, over what is measured under
    another.

    Where numbers stand in place of a name, the line has these for good. A solid line is broad, one
    with dashes less so, and what is there to compare with is thin and gray: a ``faint`` line, and
    one that shows the default settings (``once``). A panel names its lines above itself; of gray
    ones only the first column does. ``legend`` decides otherwise.
    """
    parts: dict[str, Any] = {"x": over, "y": shows}
    meta = {part: what for part, what in parts.items() if isinstance(what, str)}
    numbers = {part: np.asarray(what).tolist() for part, what in parts.items() if part not in meta}
    if once:
        meta["once"] = True
    gray = faint or once
    look = (
        {"color": GRAY, "dash": dash, "width": 1.5}
        if gray
        else {"color": color, "dash": dash, "width": 3 if dash == "solid" else 2}
    )
    frame.add_scatter(
        name=name,
        mode="lines",
        line=look,
        row=row,
        col=column,
        **numbers,
        showlegend=(column == 1 or not gray) if legend is None else legend,
        meta=meta or None,
    )


def dot(frame: go.Figure, name: str, column: int, row: int = 1, *, shows: str, over: str) -> None:
    """Add the point where the controls stand on a curve: it ``shows`` what is measured under that
    name, over what is measured under another."""
    frame.add_scatter(
        name=name,
        mode="markers",
        marker={"color": INK, "size": 10},
        row=row,
        col=column,
        meta={"x": over, "y": shows},
    )


def guess(frame: go.Figure, name: str, column: int, row: int = 1) -> None:
    """Add the line that the reader has drawn on the page as the guess of this name, if there is
    one."""
    frame.add_scatter(
        name="your guess",
        mode="lines+markers",
        x=[],
        y=[],
        row=row,
        col=column,
        visible=False,
        line={"color": INK, "dash": "dot", "width": 1.5},
        marker={"symbol": "circle-open", "size": 7},
        meta={"guess": name},
    )


def step_axis(frame: go.Figure, steps: float, **place: Any) -> None:
    """The horizontal axes of ``frame``, or those at a place (``row``, ``col``), count steps, on a
    logarithmic scale."""
    frame.update_xaxes(
        title="step",
        type="log",
        range=[0, np.log10(steps)],
        dtick=1,
        exponentformat="power",
        **place,
    )


def rule_control(default: str = "gd") -> Control:
    """The menu of update rules."""
    return Control("optimizer", "update rule", tuple(RULES), default, RULE_NAMES, "choice")


def chosen_rule(values: Mapping[str, Any]) -> GradientDescent | Momentum | Adam:
    """The update rule of the controls "optimizer", "lr" and, if there is one, "scaling", which may
    ask for lr √H."""
    factor = values["H"] ** 0.5 if values.get("scaling") == "root" else 1
    return RULES[values["optimizer"]](values["lr"] * factor)
