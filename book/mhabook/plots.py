"""What the book's pages draw beside ``mhalib.plots``: bands over trials, points, planes of step
sizes, small images.

As there, every figure says in ``layout.meta["alt"]`` what it shows, and ``alt=`` says it better.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from livegrad.plots import decades
from mhalib.plots import (
    DASHES,
    GRAY,
    HERE,
    INK,
    MINIMUM,
    SEQUENTIAL,
    SPURIOUS,
    START,
    aloud,
    drawable,
    finish,
    grid,
    looks,
    titled,
)


def multiples(
    x: ArrayLike,
    panels: Mapping[str, Any],
    guides: Iterable[tuple[str, str, ArrayLike, ArrayLike]] = (),
    span: Sequence[float] | None = None,
    xlabel: str = "step",
    title: str | None = None,
    alt: str | None = None,
    log_x: bool = True,
) -> go.Figure:
    """Small multiples: ``panels`` is {panel: {name: values (trials, k)}}; one color and dash for a
    name in all panels.

    In the place of values may stand a pair (own x, values), for a line that was measured elsewhere.
    A line is the median over trials, its band reaches from the least to the largest. Both axes are
    logarithmic, x unless ``log_x`` is false; but y is linear where all of a panel lies in [0, 1]
    and starts above 0.01, and ``span`` = (least, largest) makes every y axis linear over that
    range. ``guides`` are (panel, name, xs, ys): gray dotted lines.
    """
    figure, in_order = grid(list(panels), across=0.32, down=0.24)
    rows, columns = in_order[-1]["row"], max(place["col"] for place in in_order)
    places = dict(zip(panels, in_order, strict=True))
    panels = {
        panel: {
            name: values if isinstance(values, tuple) else (x, values)
            for name, values in lines.items()
        }
        for panel, lines in panels.items()
    }
    # the first panel with that name
    first = {name: panel for panel in reversed(panels) for name in panels[panel]}
    order = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    drawn = dict(zip(order, looks(order), strict=True))
    for panel, lines in panels.items():
        bounded = span or all(
            np.min(values) >= 0.01 and np.max(values) <= 1 for _, values in lines.values()
        )
        linear = {"type": "linear", "range": span or [0, 1.03]}
        log = {"type": "log", "dtick": 1, "exponentformat": "power"}
        figure.update_yaxes(**(linear if bounded else log), **places[panel])
        for name, (at, values) in lines.items():
            _band(
                figure,
                at,
                np.asarray(values, dtype=float),
                drawn[name]["color"],
                (log_x, not bounded),
                places[panel],
            )
            figure.add_scatter(
                x=_single(at, log_x),
                y=_single(np.median(values, axis=0), not bounded),
                name=name,
                mode="lines",
                line=drawn[name],
                legendgroup=name,
                showlegend=panel == first[name],
                **places[panel],
            )
    beginning = {name: panel for panel, name, *_ in reversed(guides)}
    for panel, name, xs, ys in guides:
        figure.add_scatter(
            x=xs,
            y=ys,
            name=name,
            mode="lines",
            line={"color": GRAY, "dash": "dot"},
            legendgroup=name,
            showlegend=panel == beginning[name],
            **places[panel],
        )
    if log_x:
        figure.update_xaxes(type="log", dtick=1, exponentformat="power")
    for place in in_order[-columns:]:  # the lowest panel of each column
        figure.update_xaxes(title=xlabel, **place)
    words = "; ".join(
        f"{panel}: "
        + ", ".join(
            f"{name} ends at {aloud(np.median(values, axis=0)[-1], 2)}"
            for name, (_, values) in lines.items()
        )
        for panel, lines in panels.items()
    )
    figure = finish(figure, alt or titled(title, f"{words}."), title, height=300 * rows + 60)
    return figure.update_layout(legend={"y": -0.2 / rows})


def _band(figure, x, values, color, log, place):
    """The region between the least and the largest of several trials, as one closed line that is
    filled."""
    log_x, log_y = log
    x, low, high = np.asarray(x), values.min(axis=0), values.max(axis=0)
    # A gap would cut the closed line in two, so what a log axis cannot show is left out.
    drawn = ((x > 0) | (not log_x)) & ((low > 0) | (not log_y))
    x, low, high = x[drawn], low[drawn], high[drawn]
    figure.add_scatter(
        x=_single(np.concatenate([x, x[::-1]]), log_x),
        y=_coarse(_single(np.concatenate([high, low[::-1]]), log_y)),
        mode="lines",
        fill="toself",
        fillcolor=color,
        opacity=0.25,
        line={"color": color, "width": 0.5},
        hoverinfo="skip",
        showlegend=False,
        **place,
    )


def _single(values, log):
    """As ``drawable``, in single precision: a figure of many lines is carried by its page."""
    return drawable(values, log).astype(np.float32)


def _coarse(values):
    """Single precision to one part in 512, a fraction of a pixel: nobody reads a number off the
    edge of a band."""
    # 8 of the 23 bits of the fraction stay; half of the last one is added, so that it rounds.
    return ((values.view(np.uint32) + 0x4000) & 0xFFFF8000).view(np.float32)


def points(
    named: Mapping[str, tuple[ArrayLike, ArrayLike]],
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    title: str | None = None,
    alt: str | None = None,
    log: bool = True,
) -> go.Figure:
    """Markers: ``named`` is {name: (x, y)}; ``lines`` {name: (x, y)} are gray, to compare. Axes are
    logarithmic.

    With ``log=False`` they are linear.
    """
    figure = go.Figure()
    symbols = ("circle", "diamond", "square", "x")
    colors = [look["color"] for look in looks(named)]
    for k, (name, (xs, ys)) in enumerate(named.items()):
        figure.add_scatter(
            x=drawable(xs, log),
            y=drawable(ys, log),
            name=name,
            mode="markers",
            marker={"color": colors[k], "symbol": symbols[k % 4], "size": 8},
        )
    for k, (name, (xs, ys)) in enumerate((lines or {}).items()):
        figure.add_scatter(
            x=drawable(xs, log),
            y=drawable(ys, log),
            name=name,
            mode="lines",
            line={"color": GRAY, "dash": DASHES[k % 3]},
        )
    for update, label in ((figure.update_xaxes, xlabel), (figure.update_yaxes, ylabel)):
        update(
            title=label, **({"type": "log", "exponentformat": "power", "dtick": 1} if log else {})
        )
    words = "; ".join(
        f"{name}: {len(np.ravel(xs))} points, {ylabel} from {aloud(np.nanmin(ys))} to "
        f"{aloud(np.nanmax(ys))}"
        for name, (xs, ys) in named.items()
    )
    return finish(figure, alt or titled(title, f"{words}."), title)


def dots(
    named: Mapping[str, float],
    xlabel: str = "",
    start: float = 1.0,
    title: str | None = None,
    alt: str | None = None,
) -> go.Figure:
    """A point for each of {name: value}, from the top down, on a logarithmic axis; lines lead to it
    from ``start``."""
    names, values = list(named), np.array(list(named.values()), dtype=float)
    at = -np.arange(len(names))
    figure = go.Figure()
    # NaN lifts the pen, so that one trace draws all the lines.
    pairs = [
        np.ravel([(a, b, np.nan) for a, b in zip(first, last, strict=True)])
        for first, last in ((np.full(len(at), start), values), (at, at))
    ]
    figure.add_scatter(x=pairs[0], y=pairs[1], mode="lines", line={"color": GRAY}, showlegend=False)
    figure.add_scatter(
        x=values, y=at, mode="markers", marker={"color": INK, "size": 7}, showlegend=False
    )
    figure.update_xaxes(title=xlabel, type="log")
    decades(figure)
    figure.update_yaxes(tickvals=at.tolist(), ticktext=names, automargin=True, zeroline=False)
    words = "; ".join(f"{name} {aloud(value, 2)}" for name, value in named.items())
    return finish(figure, alt or titled(title, f"{xlabel}: {words}."), title, 120 + 26 * len(names))


def plane(
    x: np.ndarray,
    y: np.ndarray,
    Z: ArrayLike,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    colorbar: str = "",
    title: str | None = None,
    alt: str | None = None,
    zrange: tuple[float, float] | None = None,
) -> go.Figure:
    """A heatmap Z (len(y), len(x)) over two axes of powers, x and y, with ``lines`` {name: (xs,
    ys)} on top.

    Cells without a number stay blank. ``zrange`` = (least, largest) fixes the colors.
    """
    Z, lines = np.asarray(Z, dtype=float), lines or {}
    low, high = zrange or (None, None)
    figure = go.Figure(
        go.Heatmap(
            x=np.log2(x),
            y=np.log2(y),
            z=Z,
            colorscale=SEQUENTIAL,
            zmin=low,
            zmax=high,
            colorbar={"title": colorbar},
        )
    )
    for k, (name, (xs, ys)) in enumerate(lines.items()):
        figure.add_scatter(
            x=np.log2(xs),
            y=np.log2(ys),
            name=name,
            mode="lines+markers",
            line={"color": HERE["color"], "dash": DASHES[k % 3], "width": 3},
            marker={"size": 8},
        )
    for update, values, label in (
        (figure.update_xaxes, x, xlabel),
        (figure.update_yaxes, y, ylabel),
    ):
        at = np.log2(values)[::2]
        update(
            title=label,
            tickvals=at,
            ticktext=[_power_of_two(p) for p in at],
            constrain="domain",
            range=[np.log2(min(values)) - 0.5, np.log2(max(values)) + 0.5],
        )
    figure.update_yaxes(scaleanchor="x")  # a diagonal is a diagonal
    seen = Z[np.isfinite(Z)]
    words = f"Heatmap over {xlabel} and {ylabel}; {colorbar} goes from {aloud(seen.min())} to {aloud(seen.max())}."
    return finish(figure, alt or words, title, height=540)


def _power_of_two(power):
    return f"{2**power:g}" if power >= 0 else f"1/{2**-power:g}"


def mark(
    figure: go.Figure,
    panel: int,
    points: Mapping[str, tuple[ArrayLike, ArrayLike]],
    lines: Iterable[tuple[ArrayLike, ArrayLike]] = (),
) -> go.Figure:
    """Minima, spurious minima and starts {name: (xs, ys)}, and paths [(xs, ys)], on a panel of
    ``slices`` from 0 on."""
    heatmap, edge = figure.data[panel], {"color": "#ffffff", "width": 1}
    place = {"xaxis": heatmap.xaxis, "yaxis": heatmap.yaxis}
    for xs, ys in lines:
        look = {"color": HERE["color"], "width": 3}
        figure.add_scatter(x=xs, y=ys, mode="lines", line=look, showlegend=False, **place)
    for look, (name, (xs, ys)) in zip((MINIMUM, SPURIOUS, START), points.items(), strict=False):
        look = look | {"size": 10, "line": edge}
        shown = {trace.name for trace in figure.data if trace.showlegend}
        figure.add_scatter(
            x=xs,
            y=ys,
            mode="markers",
            name=name,
            marker=look,
            showlegend=len(xs) > 0 and name not in shown,
            **place,
        )
    return figure


def low(figure: go.Figure, height: int) -> go.Figure:
    """A figure of one panel with the height given, in pixels, so that a chapter's first screen has
    room for it: names stand above the panel, and its axes end where their numbers do."""
    legend = {"y": 1, "yanchor": "bottom"}
    return figure.update_layout(height=height, margin={"t": 30, "b": 40}, legend=legend)


def named(
    figure: go.Figure, *, x: float | None = None, y: float | None = None, without: str = ""
) -> go.Figure:
    """A figure of one panel, from zero upward, whose lines have their names beside them, ``without``
    what all begin with, and no legend: above a dot on the line at x, or right of the line where it
    falls to y. So no line needs dashes."""
    xs = np.concatenate([line.x for line in figure.data])
    least, most = xs.min(), xs.max()
    top = 1.12 * max(np.max(line.y) for line in figure.data)
    figure.update_layout(xaxis={"range": [least, most]}, yaxis={"range": [0, top]})
    figure.update_traces(showlegend=False, line_dash="solid")
    for line in figure.data:
        place = x if y is None else np.interp(-y, -np.asarray(line.y), line.x)
        level = np.interp(place, line.x, line.y)
        # Of the panel, since it is the paper; the drawing without scripts knows no other places.
        figure.add_annotation(
            x=(place - least) / (most - least),
            y=level / top,
            xref="paper",
            yref="paper",
            text=line.name.removeprefix(without),
            xanchor="center" if y is None else "left",
            yanchor="bottom",
            yshift=2 if y is None else 0,
            font={"size": 12},
            showarrow=False,
        )
    if y is None:
        levels = [float(np.interp(x, line.x, line.y)) for line in figure.data]
        for line, height in zip(figure.data, levels, strict=True):
            marker = {"color": line.line.color, "size": 7}
            figure.add_scatter(x=[x], y=[height], mode="markers", marker=marker, showlegend=False)
        figure.layout.meta["alt"] += f" On each line is a dot at {x:g}."
    return figure


def level(figure: go.Figure, y: float, name: str) -> go.Figure:
    """A figure of ``named`` with a dotted line at the height y, and its name above the right end."""
    (least, most), (_, top) = figure.layout.xaxis.range, figure.layout.yaxis.range
    look = {"color": GRAY, "dash": "dot", "width": 1.5}
    figure.add_scatter(x=[least, most], y=[y, y], mode="lines", line=look, showlegend=False)
    figure.add_annotation(
        x=1,
        y=y / top,
        xref="paper",
        yref="paper",
        text=name,
        xanchor="right",
        yanchor="bottom",
        font={"size": 12},
        showarrow=False,
    )
    figure.layout.meta["alt"] += f" A dotted line at {y:.2f}: {name}."
    return figure


GAP = 0.18
"""The share of a row of an image that separates it from the next, where rows are apart."""


def images(
    X: Sequence[ArrayLike] | np.ndarray,
    names: Sequence[str],
    title: str | None = None,
    alt: str | None = None,
    *,
    apart: bool = False,
) -> go.Figure:
    """Small gray images (k, height, width) side by side, each under its name; ``apart`` leaves room
    between their rows."""
    figure = make_subplots(rows=1, cols=len(X), subplot_titles=list(names), horizontal_spacing=0.02)
    # A heatmap counts its rows upward, an image downward.
    for k, image in enumerate(X):
        rows = np.asarray(image, float)[::-1]
        places = np.arange(len(rows), dtype=float)
        if apart:  # a tile ends in the middle between two centers: none, and two for each row
            blank = np.full_like(rows, np.nan)
            tiles = np.stack([blank, rows, rows], axis=1).reshape(-1, rows.shape[1])
            rows = np.concatenate([tiles, blank[:1]])
            centers = np.add.outer(places, [GAP / 2, 1.5 * GAP, 1 - GAP / 2])
            places = np.append(centers, len(places) + GAP / 2)
        figure.add_heatmap(
            x=list(range(rows.shape[1])),
            y=places.tolist(),
            z=rows,
            colorscale="Greys",
            showscale=False,
            row=1,
            col=k + 1,
        )
    figure.update_xaxes(showticklabels=False, constrain="domain", showgrid=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False)
    # plotly's first axis has no number.
    for k in range(len(X)):
        figure.update_yaxes(
            scaleanchor=f"x{k + 1 if k else ''}", constrain="domain", row=1, col=k + 1
        )
    finish(figure, alt or f"{len(X)} images: {', '.join(names)}.", title, height=160)
    return figure.update_layout(margin={"l": 12, "b": 8})  # no axis has numbers


def slider(figures: Mapping[Any, go.Figure], label: str, start: Any = None) -> go.Figure:
    """One figure with plotly's own slider from {value: figure}, all with the same traces. It needs
    no kernel.

    Axes cover all frames, so that sliding moves the curves and not the paper under them.
    """
    values = list(figures)
    start = values[0] if start is None else start
    figure = go.Figure(figures[start])
    figure.frames = [go.Frame(name=str(value), data=figures[value].data) for value in values]
    animate = {
        "mode": "immediate",
        "frame": {"duration": 0, "redraw": True},
        "transition": {"duration": 0},
    }
    steps = [
        {"label": str(value), "method": "animate", "args": [[str(value)], animate]}
        for value in values
    ]
    figure.update_layout(
        sliders=[
            {
                "active": values.index(start),
                "steps": steps,
                "pad": {"t": 60, "r": 25},
                "currentvalue": {"prefix": f"{label} = "},
            }
        ],
        legend={"y": 1.12, "yanchor": "bottom"},
    )
    _cover_all_frames(figure)
    ends = " ".join(
        f"At {label} = {value}: {figures[value].layout.meta['alt']}"
        for value in (values[0], values[-1])
    )
    alt = f"Slider over {label} with the values {', '.join(map(str, values))}. {ends}"
    return figure.update_layout(meta={"alt": alt}, height=figure.layout.height + 110)


def _cover_all_frames(figure):
    for axis in ("x", "y"):
        for name in {
            getattr(trace, f"{axis}axis") or axis
            for trace in figure.data
            if trace.type == "scatter"
        }:
            drawn = [
                getattr(trace, axis)
                for frame in figure.frames
                for trace in frame.data
                if trace.type == "scatter" and (getattr(trace, f"{axis}axis") or axis) == name
            ]
            layout_axis = figure.layout[f"{axis}axis{name[1:]}"]
            layout_axis.range = layout_axis.range or _range(
                np.concatenate(drawn), layout_axis.type == "log"
            )


def _range(values, log):
    values = np.asarray(values, dtype=float)
    # plotly takes the range of a logarithmic axis in powers of ten.
    values = np.log10(values[values > 0]) if log else values
    low, high = np.nanmin(values), np.nanmax(values)
    return [low - 0.04 * (high - low), high + 0.04 * (high - low)]
