"""Arrays to plotly figures with alt text. Nothing is computed here that is not drawn.

Every function returns a ``plotly.graph_objects.Figure`` whose ``layout.meta["alt"]`` says in words what it shows;
pass ``alt=`` to say it better. Colors are told apart by color-blind readers and in both themes of the book.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from mhalib._render import use_book_renderer_if_asked
from mhalib.training import Path

use_book_renderer_if_asked()

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
ORDERED = ("#3475C4", "#6F6CC9", "#9864BC", "#B75FA1", "#CC5F7D", "#D46954", "#CF7B26")
"""Seven colors in an order, each with a contrast above 3 to white and to black."""
DIVERGING, SEQUENTIAL = "RdBu", "Blues"


def finish(figure: go.Figure, alt: str, title: str | None = None, height: int = 380) -> go.Figure:
    """Give a figure the book's look and its alt text."""
    figure.update_layout(meta={"alt": alt}, title=title, height=height, colorway=COLORS, template="plotly_white",
                         margin={"l": 60, "r": 20, "t": 50, "b": 50},
                         paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
                         legend={"orientation": "h", "yanchor": "top", "y": -0.26})
    return figure


def _titled(title, words):
    return f"{title}: {words}" if title else words


def curves(x: ArrayLike, named: Mapping[str, Any], xlabel: str = "step", ylabel: str = "", log_x: bool = False,
           log_y: bool = True, title: str | None = None, alt: str | None = None) -> go.Figure:
    """Lines over a common x: ``named`` is {name: values} or {name: (x, values)}; values ≤ 0 leave gaps on a log axis.

    Lines differ in color and in dash.

    Examples
    --------
    >>> figure = mha.plots.curves([1, 2, 3], {"loss": [1.0, 0.5, 0.25]}, alt="A loss that halves at every step.")
    >>> figure.layout.meta["alt"]
    'A loss that halves at every step.'
    """
    figure = go.Figure()
    for k, (name, values) in enumerate(named.items()):
        xs, ys = values if isinstance(values, tuple) else (x, values)
        figure.add_scatter(x=_drawable(xs, log_x), y=_drawable(ys, log_y), name=name, mode="lines",
                           line={"color": COLORS[k % 6], "dash": DASHES[k % 6]})
    figure.update_xaxes(title=xlabel, type="log" if log_x else "linear")
    figure.update_yaxes(title=ylabel, type="log" if log_y else "linear", exponentformat="power")
    words = "; ".join(_in_words(name, line.y) for name, line in zip(named, figure.data, strict=True))
    return finish(figure, alt or _titled(title, f"over {xlabel}, {words}."), title)


def _drawable(values, log):
    values = np.asarray(values, dtype=float)
    return np.where(values > 0, values, np.nan) if log else values


def _aloud(number, digits=3):
    """A number for who reads a text aloud: rounded to some digits, and then 89,000, not 8.9e+04."""
    rounded = float(f"{number:.{digits}g}")
    if 1e-4 <= abs(rounded) < 1e15 or rounded == 0 or not np.isfinite(rounded):
        return f"{rounded:,.15g}"
    factor, power = f"{rounded:.14e}".split("e")
    return f"{float(factor):g} times 10 to the power {'minus ' * (int(power) < 0)}{abs(int(power))}"


def _in_words(name, values):
    seen = np.asarray(values, dtype=float)
    seen = seen[np.isfinite(seen)]
    if not len(seen):
        return f"{name} has nothing to draw"
    verb = "stays at" if seen[0] == seen[-1] else "falls from" if seen[-1] < seen[0] else "rises from"
    return f"{name} {verb} {_aloud(seen[0])}" + ("" if seen[0] == seen[-1] else f" to {_aloud(seen[-1])}")


def training(path: Path, title: str | None = None, alt: str | None = None) -> go.Figure:
    """Losses of a ``Path``, and beside them whatever lies in [0, 1]: attention score, accuracies.

    Steps are on a log axis from step 1 on, so that the first ten take as much room as the last thousand.

    Examples
    --------
    >>> data = mha.data.tokenized_mixture(n=20, seed=0)
    >>> path = mha.train(mha.MultiHeadAttention.zeros(H=1, T=10, d=8), data, mha.GradientDescent(lr=1.0), steps=20)
    >>> figure = mha.plots.training(path)
    >>> [line.name for line in figure.data]
    ['training loss', 'attention score', 'training accuracy']
    """
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.12, subplot_titles=("loss", "share"))
    left = {"training loss": path.loss, **_present(path, {"test loss": "test_loss"})}
    right = _present(path, {"attention score": "attention_score", "training accuracy": "accuracy",
                            "test accuracy": "test_accuracy"})
    for column, lines in ((1, left), (2, right)):
        for name, values in lines.items():
            k = len(figure.data)
            figure.add_scatter(x=_drawable(path.steps, log=True), y=_drawable(values, column == 1), name=name,
                               mode="lines", line={"color": COLORS[k], "dash": DASHES[k]}, row=1, col=column)
    figure.update_xaxes(title="step", type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(type="log", exponentformat="power", col=1)
    figure.update_yaxes(range=[0, 1.03], col=2)
    drawn = path.steps > 0  # step 0 has no place on a log axis
    words = "; ".join(_in_words(name, values[drawn]) for name, values in (left | right).items())
    return finish(figure, alt or f"{title or 'Training'}: from step 1 to {path.steps[-1]}, {words}.", title)


def _present(path, names):
    return {label: path.curves[name] for label, name in names.items() if name in path.curves}


def matrix(Z: ArrayLike, xlabel: str = "", ylabel: str = "", title: str | None = None, alt: str | None = None,
           diverging: bool = False, colorbar: str = "", height: int = 380, log: bool = False) -> go.Figure:
    """A matrix as a heatmap, first row on top. ``log`` colors the decimal logarithm of |Z|, zeros left blank."""
    Z = np.asarray(Z, dtype=float)
    shown = np.log10(np.where(Z == 0, np.nan, abs(Z))) if log else Z
    figure = go.Figure(go.Heatmap(z=shown, colorscale=DIVERGING if diverging else SEQUENTIAL,
                                  zmid=0 if diverging else None, colorbar={"title": colorbar}))
    figure.update_yaxes(autorange="reversed", title=ylabel, constrain="domain")
    figure.update_xaxes(title=xlabel, constrain="domain")
    return finish(figure, alt or f"Heatmap of a {Z.shape[0]} by {Z.shape[1]} matrix with entries from "
                  f"{_aloud(Z.min())} to {_aloud(Z.max())}.", title, height)


def attention(A: ArrayLike, relevant: ArrayLike | None = None, title: str | None = None,
              alt: str | None = None) -> go.Figure:
    """One attention matrix (T, T), queries down, keys across; columns of relevant tokens are named with a star."""
    A = np.asarray(A)
    marked = np.zeros(len(A), dtype=bool) if relevant is None else np.asarray(relevant, dtype=bool)
    figure = matrix(A, "key token", "query token", title, alt, colorbar="weight")
    figure.update_traces(zmin=0, zmax=1)
    figure.update_xaxes(tickvals=list(range(len(A))), ticktext=[f"{j}★" if m else str(j) for j, m in enumerate(marked)])
    share = ""
    if marked.any():
        share = f" On average {A[:, marked].sum(axis=1).mean():.0%} of the weight is on {_marked(marked)}."
    words = f"Attention weights of {len(A)} queries on {len(A)} keys, the largest {A.max():.2f}.{share}"
    return finish(figure, alt or words, title)


def tokens(X: np.ndarray, relevant: ArrayLike | None = None, title: str | None = None,
           alt: str | None = None) -> go.Figure:
    """One sample (T, d) as a heatmap, a row a token; relevant tokens are named with a star."""
    marked = np.zeros(len(X), dtype=bool) if relevant is None else np.asarray(relevant, dtype=bool)
    figure = matrix(X, "coordinate", "token", title, diverging=True, colorbar="value")
    figure.update_yaxes(tickvals=list(range(len(X))), ticktext=[f"{t}★" if m else str(t) for t, m in enumerate(marked)])
    words = f"A sample of {len(X)} tokens in {len(X[0])} coordinates"
    if marked.any():
        words += f", with {_marked(marked)}"
    return finish(figure, alt or words + ".", title)


def _marked(marked):
    numbers = [str(t) for t in np.flatnonzero(marked)]
    return f"the relevant token {numbers[0]}" if len(numbers) == 1 else f"the relevant tokens {', '.join(numbers)}"


def multiples(x: ArrayLike, panels: Mapping[str, Any], guides: Iterable[tuple[str, str, ArrayLike, ArrayLike]] = (),
              span: Sequence[float] | None = None, xlabel: str = "step", title: str | None = None,
              alt: str | None = None, ordered: bool = True, log_x: bool = True) -> go.Figure:
    """Small multiples: ``panels`` is {panel: {name: values (trials, k)}}; one color and dash for a name in all panels.

    In the place of values may stand a pair (own x, values), for a line that was measured elsewhere. A line is the
    median over trials, its band reaches from the least to the largest. Both axes are logarithmic, x unless ``log_x`` is
    false; but y is linear where all of a panel lies in [0, 1] and starts above 0.01, and ``span`` = (least, largest)
    makes every y axis linear over that range. ``guides`` are (panel, name, xs, ys): gray dotted lines. Names are in an
    order, as numbers of heads are, and get shades; ``ordered=False`` gives them colors.
    """
    colors = ORDERED if ordered else COLORS
    rows = -(-len(panels) // 2)
    figure = make_subplots(rows=rows, cols=2, subplot_titles=list(panels), horizontal_spacing=0.16,
                           vertical_spacing=0.24 / rows)
    places = {panel: {"row": k // 2 + 1, "col": k % 2 + 1} for k, panel in enumerate(panels)}
    panels = {panel: {name: values if isinstance(values, tuple) else (x, values) for name, values in lines.items()}
              for panel, lines in panels.items()}
    first = {name: panel for panel in reversed(panels) for name in panels[panel]}  # the first panel with that name
    order = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    for panel, lines in panels.items():
        bounded = span or all(np.min(values) >= 0.01 and np.max(values) <= 1 for _, values in lines.values())
        linear = {"type": "linear", "range": span or [0, 1.03]}
        log = {"type": "log", "dtick": 1, "exponentformat": "power"}
        figure.update_yaxes(**(linear if bounded else log), **places[panel])
        for name, (at, values) in lines.items():
            k = order.index(name)
            color = colors[k % len(colors)]
            _band(figure, at, np.asarray(values, dtype=float), color, (log_x, not bounded), places[panel])
            figure.add_scatter(x=_single(at, log_x), y=_single(np.median(values, axis=0), not bounded), name=name,
                               mode="lines", line={"color": color, "dash": DASHES[k % 3]}, legendgroup=name,
                               showlegend=panel == first[name], **places[panel])
    beginning = {name: panel for panel, name, *_ in reversed(guides)}
    for panel, name, xs, ys in guides:
        figure.add_scatter(x=xs, y=ys, name=name, mode="lines", line={"color": "#888888", "dash": "dot"},
                           legendgroup=name, showlegend=panel == beginning[name], **places[panel])
    if log_x:
        figure.update_xaxes(type="log", dtick=1, exponentformat="power")
    for place in list(places.values())[-2:]:  # the lowest panel of each column
        figure.update_xaxes(title=xlabel, **place)
    words = "; ".join(f"{panel}: " + ", ".join(f"{name} ends at {_aloud(np.median(values, axis=0)[-1], 2)}"
                      for name, (_, values) in lines.items()) for panel, lines in panels.items())
    figure = finish(figure, alt or _titled(title, f"{words}."), title, height=300 * rows + 60)
    return figure.update_layout(legend={"y": -0.2 / rows})


def _band(figure, x, values, color, log, place):
    """The region between the least and the largest of several trials, as one closed line that is filled."""
    log_x, log_y = log
    x, low, high = np.asarray(x), values.min(axis=0), values.max(axis=0)
    drawn = ((x > 0) | (not log_x)) & ((low > 0) | (not log_y))
    x, low, high = x[drawn], low[drawn], high[drawn]
    figure.add_scatter(x=_single(np.concatenate([x, x[::-1]]), log_x),
                       y=_single(np.concatenate([high, low[::-1]]), log_y), mode="lines", fill="toself",
                       fillcolor=color, opacity=0.25, line={"color": color, "width": 0.5}, hoverinfo="skip",
                       showlegend=False, **place)


def _single(values, log):
    """As ``_drawable``, in single precision: a figure of many lines is carried by its page."""
    return _drawable(values, log).astype(np.float32)


def points(named: Mapping[str, tuple[ArrayLike, ArrayLike]],
           lines: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None, xlabel: str = "", ylabel: str = "",
           title: str | None = None, alt: str | None = None) -> go.Figure:
    """Markers on two logarithmic axes: ``named`` is {name: (x, y)}; ``lines`` {name: (x, y)} are gray, to compare."""
    figure = go.Figure()
    symbols = ("circle", "diamond", "square", "x")
    for k, (name, (xs, ys)) in enumerate(named.items()):
        figure.add_scatter(x=_drawable(xs, True), y=_drawable(ys, True), name=name, mode="markers",
                           marker={"color": COLORS[k % 6], "symbol": symbols[k % 4], "size": 8})
    for k, (name, (xs, ys)) in enumerate((lines or {}).items()):
        figure.add_scatter(x=_drawable(xs, True), y=_drawable(ys, True), name=name, mode="lines",
                           line={"color": "#888888", "dash": DASHES[k % 3]})
    for update, label in ((figure.update_xaxes, xlabel), (figure.update_yaxes, ylabel)):
        update(title=label, type="log", exponentformat="power", dtick=1)
    words = "; ".join(f"{name}: {len(np.ravel(xs))} points, {ylabel} from {_aloud(np.nanmin(ys))} to "
                      f"{_aloud(np.nanmax(ys))}" for name, (xs, ys) in named.items())
    return finish(figure, alt or _titled(title, f"{words}."), title)


def dots(named: Mapping[str, float], xlabel: str = "", start: float = 1.0, title: str | None = None,
         alt: str | None = None) -> go.Figure:
    """A point for each of {name: value}, from the top down, on a logarithmic axis; lines lead to it from ``start``."""
    names, values = list(named), np.array(list(named.values()), dtype=float)
    at = -np.arange(len(names))
    figure = go.Figure()
    pairs = [np.ravel([(a, b, np.nan) for a, b in zip(first, last, strict=True)])
             for first, last in ((np.full(len(at), start), values), (at, at))]
    figure.add_scatter(x=pairs[0], y=pairs[1], mode="lines", line={"color": "#888888"}, showlegend=False)
    figure.add_scatter(x=values, y=at, mode="markers", marker={"color": COLORS[0], "size": 9}, showlegend=False)
    figure.update_xaxes(title=xlabel, type="log", exponentformat="power")
    figure.update_yaxes(tickvals=at.tolist(), ticktext=names, automargin=True, zeroline=False)
    words = "; ".join(f"{name} {_aloud(value, 2)}" for name, value in named.items())
    return finish(figure, alt or _titled(title, f"{xlabel}: {words}."), title, 120 + 26 * len(names))


def plane(x: np.ndarray, y: np.ndarray, Z: ArrayLike, lines: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
          xlabel: str = "", ylabel: str = "", colorbar: str = "", title: str | None = None, alt: str | None = None,
          zrange: tuple[float, float] | None = None) -> go.Figure:
    """A heatmap Z (len(y), len(x)) over two axes of powers, x and y, with ``lines`` {name: (xs, ys)} on top.

    Cells without a number stay blank. ``zrange`` = (least, largest) fixes the colors.
    """
    Z, lines = np.asarray(Z, dtype=float), lines or {}
    low, high = zrange or (None, None)
    figure = go.Figure(go.Heatmap(x=np.log2(x), y=np.log2(y), z=Z, colorscale="Cividis_r", zmin=low, zmax=high,
                                  colorbar={"title": colorbar}))
    for k, (name, (xs, ys)) in enumerate(lines.items()):
        figure.add_scatter(x=np.log2(xs), y=np.log2(ys), name=name, mode="lines+markers",
                           line={"color": COLORS[k % 5 + 1], "dash": DASHES[k % 3], "width": 3}, marker={"size": 8})
    for update, values, label in ((figure.update_xaxes, x, xlabel), (figure.update_yaxes, y, ylabel)):
        at = np.log2(values)[::2]
        update(title=label, tickvals=at, ticktext=[_power_of_two(p) for p in at], constrain="domain",
               range=[np.log2(min(values)) - 0.5, np.log2(max(values)) + 0.5])
    figure.update_yaxes(scaleanchor="x")  # a diagonal is a diagonal
    seen = Z[np.isfinite(Z)]
    words = f"Heatmap over {xlabel} and {ylabel}; {colorbar} goes from {_aloud(seen.min())} to {_aloud(seen.max())}."
    return finish(figure, alt or words, title, height=540)


def _power_of_two(power):
    return f"{2 ** power:g}" if power >= 0 else f"1/{2 ** -power:g}"


def slices(panels: Mapping[str, Any], at: ArrayLike, colorbar: str = "loss", xlabel: str = "a", ylabel: str = "b",
           title: str | None = None, alt: str | None = None) -> go.Figure:
    """Heatmaps (k, k) over a square with the same k values ``at`` on both axes, two a row, in one scale of colors.

    ``panels`` is {name: matrix}, with matrix[i, j] at (at_j, at_i).
    """
    panels = {name: np.asarray(Z, dtype=float) for name, Z in panels.items()}
    low, high = (float(pick(list(panels.values()))) for pick in (np.min, np.max))
    rows = -(-len(panels) // 2)
    figure = make_subplots(rows=rows, cols=2, subplot_titles=list(panels), horizontal_spacing=0.14,
                           vertical_spacing=0.36 / rows)
    for k, Z in enumerate(panels.values()):
        figure.add_heatmap(x=at, y=at, z=Z, zmin=low, zmax=high, colorscale="Cividis", showscale=k == 0,
                           colorbar={"title": colorbar}, row=k // 2 + 1, col=k % 2 + 1)
        figure.update_xaxes(title=xlabel if k >= len(panels) - 2 else None, row=k // 2 + 1, col=k % 2 + 1)
        figure.update_yaxes(title=None if k % 2 else ylabel, row=k // 2 + 1, col=k % 2 + 1)
    figure.update_annotations(font_size=13)
    words = "; ".join(f"{name}: {colorbar} from {_aloud(Z.min())} to {_aloud(Z.max())}" for name, Z in panels.items())
    return finish(figure, alt or _titled(title, f"{words}."), title, height=320 * rows + 60)


def mark(figure: go.Figure, panel: int, points: Mapping[str, tuple[ArrayLike, ArrayLike]],
         lines: Iterable[tuple[ArrayLike, ArrayLike]] = ()) -> go.Figure:
    """Up to three kinds of points {name: (xs, ys)}, and lines [(xs, ys)], on a panel of ``slices``, counted from 0."""
    place, edge = {"row": panel // 2 + 1, "col": panel % 2 + 1}, {"color": "#ffffff", "width": 1}
    for xs, ys in lines:
        figure.add_scatter(x=xs, y=ys, mode="lines", line={"color": "#ffffff", "width": 3}, showlegend=False, **place)
    for k, (name, (xs, ys)) in enumerate(points.items()):
        look = {"symbol": ("diamond", "x", "circle")[k], "color": COLORS[4 - k], "size": 10, "line": edge}
        shown = {trace.name for trace in figure.data if trace.showlegend}
        figure.add_scatter(x=xs, y=ys, mode="markers", name=name, marker=look,
                           showlegend=len(xs) > 0 and name not in shown, **place)
    return figure


def images(X: Sequence[ArrayLike] | np.ndarray, names: Sequence[str], title: str | None = None,
           alt: str | None = None) -> go.Figure:
    """Small gray images (k, height, width) side by side, each under its name."""
    figure = make_subplots(rows=1, cols=len(X), subplot_titles=list(names), horizontal_spacing=0.02)
    for k, image in enumerate(X):
        figure.add_heatmap(z=np.asarray(image)[::-1], colorscale="Greys", showscale=False, row=1, col=k + 1)
    figure.update_xaxes(showticklabels=False, constrain="domain", showgrid=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False)
    for k in range(len(X)):
        figure.update_yaxes(scaleanchor=f"x{k + 1 if k else ''}", constrain="domain", row=1, col=k + 1)
    return finish(figure, alt or f"{len(X)} images: {', '.join(names)}.", title, height=160)


def slider(figures: Mapping[Any, go.Figure], label: str, start: Any = None) -> go.Figure:
    """One figure with plotly's own slider from {value: figure}, all with the same traces. It needs no kernel.

    Axes cover all frames, so that sliding moves the curves and not the paper under them.
    """
    values = list(figures)
    start = values[0] if start is None else start
    figure = go.Figure(figures[start])
    figure.frames = [go.Frame(name=str(value), data=figures[value].data) for value in values]
    animate = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    steps = [{"label": str(value), "method": "animate", "args": [[str(value)], animate]} for value in values]
    figure.update_layout(sliders=[{"active": values.index(start), "steps": steps, "pad": {"t": 60},
                                   "currentvalue": {"prefix": f"{label} = "}}], legend={"y": 1.12, "yanchor": "bottom"})
    _cover_all_frames(figure)
    ends = " ".join(f"At {label} = {value}: {figures[value].layout.meta['alt']}" for value in (values[0], values[-1]))
    alt = f"Slider over {label} with the values {', '.join(map(str, values))}. {ends}"
    return figure.update_layout(meta={"alt": alt}, height=figure.layout.height + 110)


def _cover_all_frames(figure):
    for axis in ("x", "y"):
        for name in {getattr(trace, f"{axis}axis") or axis for trace in figure.data if trace.type == "scatter"}:
            drawn = [getattr(trace, axis) for frame in figure.frames for trace in frame.data
                     if trace.type == "scatter" and (getattr(trace, f"{axis}axis") or axis) == name]
            layout_axis = figure.layout[f"{axis}axis{name[1:]}"]
            layout_axis.range = layout_axis.range or _range(np.concatenate(drawn), layout_axis.type == "log")


def _range(values, log):
    values = np.asarray(values, dtype=float)
    values = np.log10(values[values > 0]) if log else values
    low, high = np.nanmin(values), np.nanmax(values)
    return [low - 0.04 * (high - low), high + 0.04 * (high - low)]
