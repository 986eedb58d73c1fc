"""Where in a figure what is measured goes, and putting it there: what ``drawing.js`` does in the
browser."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

FLOOR = 1e-12
"""A logarithmic axis without a range ends at this part of the largest number that its lines have at
the start."""


def floored(figure: go.Figure) -> go.Figure:
    """The figure, whose logarithmic axes end at ``FLOOR`` where they have no range."""
    for axis in figure.select_yaxes(lambda axis: axis.type == "log" and axis.range is None):
        lines = [
            np.asarray(line.y, dtype=float)
            for line in figure.data
            if axis.plotly_name == f"yaxis{(line.yaxis or 'y')[1:]}"
            and line.y is not None
            and len(line.y)
        ]
        tops = [max(line[np.isfinite(line)], default=0.0) for line in lines]
        axis.autorangeoptions.clipmin = FLOOR * (max(tops, default=0.0) or 1.0)
    return figure


def placed(figure: go.Figure) -> go.Figure:
    """The figure without what a logarithmic axis has no place for, such as step 0, where it would
    widen the other axis: one without a range."""
    for line in figure.select_traces({"type": "scatter"}):
        across, up = (
            figure.layout[f"{letter}axis{(line[f'{letter}axis'] or letter)[1:]}"] for letter in "xy"
        )
        if across.type == "log" and up.range is None and line.x is not None and line.y is not None:
            x, y = (np.asarray(a, dtype=float) for a in (line.x, line.y))
            line.y = np.where(x > 0, y, np.nan).tolist()  # an array would be written as bytes
    return figure


def places(frame: go.Figure) -> tuple[dict[str, Any], ...]:
    """Where numbers go, by what the traces of a frame say in their ``meta``.

    An entry is ``{"trace": 0, "x": "steps", "y": "loss"}``, or ``{"layout": "xaxis.ticktext",
    "from": name}``.
    """
    found = []
    for k, trace in enumerate(frame.data):
        shown = dict(trace.meta or {})
        shown.pop("drag", None)
        shown.pop("guess", None)
        axes = {letter: shown.pop(f"{letter}axis", {}) for letter in "xy"}
        if shown:
            found.append({"trace": k} | shown)
        for letter, parts in axes.items():
            # plotly calls the first axis "x", the next "x2"; in the layout "xaxis", "xaxis2".
            number = (trace[f"{letter}axis"] or letter)[1:]
            found += [
                {"layout": f"{letter}axis{number}.{part}", "from": name}
                for part, name in parts.items()
            ]
    return tuple(found)


def put(figure: go.Figure, place: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Put results, by name, where an entry of ``places`` says."""
    if "layout" in place:
        figure.update_layout({place["layout"].replace(".", "_"): results[place["from"]]})
        return
    parts = {part: results[name] for part, name in place.items() if part not in ("trace", "once")}
    figure.data[place["trace"]].update(parts)
