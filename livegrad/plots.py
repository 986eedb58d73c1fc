"""Arrays to plotly figures with alt text. Nothing is computed here that is not drawn.

Every function returns a ``plotly.graph_objects.Figure`` whose ``layout.meta["alt"]`` says in words
what it shows; pass ``alt=`` to say it better. Colors are told apart by color-blind readers, and each
has a twin for dark pages (livegrad/live/colors.css).
"""

import math
from collections.abc import Mapping
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from livegrad import still
from livegrad.arrays import require_flag, require_number, shown, to_numpy
from livegrad.foreign import converted
from livegrad.pages import book_is_asked

__all__ = [
    "COLORS",
    "DASHES",
    "DIVERGING",
    "GRAY",
    "HERE",
    "INK",
    "LEVELS",
    "MINIMUM",
    "ORDERED",
    "SEQUENTIAL",
    "SPURIOUS",
    "START",
    "aloud",
    "bands",
    "curves",
    "drawable",
    "finish",
    "grid",
    "matrix",
    "save",
    "slices",
    "titled",
    "transparent",
]

INK = "#222832"  # what is measured
GRAY = "#848D9A"  # what was, and what is there to compare with
COLORS = ("#0B57B5", "#B35900", "#147D57", "#92157A", INK, GRAY)
"""Blue, amber, green, violet, ink, and gray: of lines that nothing else tells apart."""
ORDERED = ("#222832", "#2F3640", "#3B434E", "#48505C", "#555E6B", "#616C79", "#6E7987")
"""Seven colors in an order, from dark to light; on a dark page from light to dark."""
SAMPLE = 45  # pixels of a line in a legend: two long dashes
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
DIVERGING: dict[str, Any] = {
    "zmid": 0,
    "colorscale": [
        [0.0, "rgba(34, 40, 50, 0)"],
        [0.5, "rgba(34, 40, 50, 0.35)"],
        [1.0, "rgba(34, 40, 50, 1)"],
    ],
    "opacity": 0.98,  # by which livegrad/live/colors.css knows it, to give it the twin of its color
}
"""The look of a heat map of what has a sign: from the page, at the least, over gray, at zero, to ink."""
SEQUENTIAL = [[0.0, "#6F7885"], [1.0, "#FFFFFF"]]  # dark is low
LEVELS: dict[str, Any] = {
    "colorscale": [
        [(k + side) / 8, f"rgb({111 + 18 * k}, {120 + 17 * k}, {133 + 16 * k})"]
        for k in range(8)
        for side in (0, 1)
    ],
    "zsmooth": "best",
}
"""The look of a heat map of a landscape: these grays in eight steps, whose edges are level lines."""
BLACK = "#111111"  # of a path and its ends on a heat map, which is the same on dark pages
START = {"symbol": "circle-open", "color": BLACK}
# where a run stands, or ends; its path has the color
HERE = {"symbol": "circle", "color": BLACK}
# a global one: the loss is zero, or the least possible
MINIMUM = {"symbol": "star", "color": COLORS[2]}
SPURIOUS = {"symbol": "x", "color": BLACK}  # a minimum that is not global


def finish(figure: go.Figure, alt: str, title: str | None = None, height: int = 380) -> go.Figure:
    """Give a figure the book's look and its alt text, and in notebooks, which may be dark, white
    paper."""
    transparent(figure, alt, title, height)
    return (
        figure
        if book_is_asked()
        else figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")
    )


def transparent(
    figure: go.Figure, alt: str, title: str | None = None, height: int = 380
) -> go.Figure:
    """The same look on clear paper, for figures whose words a script colors as the theme asks."""
    figure.update_layout(
        meta={"alt": alt},
        title=title,
        height=height,
        colorway=COLORS,
        template="plotly_white",
        margin={"l": 52, "r": 12, "t": 50 if title else 30, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "yanchor": "top", "y": -0.2, "itemwidth": SAMPLE},
    )
    return figure


def save(figure: go.Figure, file: str | PathLike[str]) -> None:
    """Write a figure as a picture, for which no browser is needed: SVG, or PNG where ``resvg-py`` is
    installed, as its name ends.

    Of a live figure, ``save(live.figure(lr=0.3), "run.svg")`` writes the run with these values.

    Raises TypeError if it is no figure of plotly; ValueError if the name of the file ends otherwise,
    or the figure has what this drawing does not know, which the message names; FileNotFoundError if
    there is no such folder; ImportError or RuntimeError that says what to install, if a PNG needs it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     lg.plots.save(lg.plots.curves([1, 2], {"loss": [1.0, 0.5]}), Path(folder) / "run.svg")
    ...     (Path(folder) / "run.svg").read_text()[:4]
    '<svg'
    """
    from livegrad.record._files import whole_file  # loads what a bare import leaves out

    if not isinstance(figure, go.Figure):
        raise TypeError(
            f"figure: expected a figure of plotly, got {shown(figure)}; of a live figure take "
            "live.figure()"
        )
    if not isinstance(file, (str, PathLike)):
        raise TypeError(f"file: expected the name of a file, got {shown(file)}")
    path = Path(file).expanduser()
    if path.suffix not in (".svg", ".png"):
        raise ValueError(f"file: expected a name that ends in .svg or .png, got {path.name!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"file: expected a folder that is there, got {str(path.parent)!r}; make it first"
        )
    text = still.picture(figure.to_plotly_json())
    picture = _dots(text) if path.suffix == ".png" else text.encode("utf-8", "replace")
    with whole_file(path) as out:
        out.write(picture)


def _dots(svg):
    """The picture as a PNG, three dots for a pixel of a page."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise ImportError(
            "livegrad.plots.save needs resvg-py for a PNG: pip install resvg-py; a file that ends in "
            ".svg needs nothing"
        ) from error
    # Where there is no font, letters would be left out without a word.
    word = svg[: svg.index(">") + 1] + '<text y="50">{}</text></svg>'
    if svg_to_bytes(svg_string=word.format("a")) == svg_to_bytes(svg_string=word.format("")):
        raise RuntimeError(
            "livegrad.plots.save needs a font for a PNG, such as DejaVu Sans: on Debian, "
            "apt install fonts-dejavu-core; a file that ends in .svg needs nothing"
        )
    return bytes(svg_to_bytes(svg_string=svg, zoom=3))


def decades(figure: go.Figure) -> go.Figure:
    """The figure, whose logarithmic axes without a range name decades, at most ``nticks`` or 5.

    An axis of less than two decades names 1, 2 and 5 of each as well, all written in full; one of
    less than a single decade has numbers evenly apart, as plotly chooses them. drawing.js does the
    same with what is drawn later.
    """
    for letter in "xy":
        for axis in figure.select_xaxes() if letter == "x" else figure.select_yaxes():
            if axis.type == "log" and axis.range is None and axis.dtick is None:
                named = f"{letter}{axis.plotly_name[5:]}"
                lines = [
                    np.asarray(line[letter], dtype=float)
                    for line in figure.data
                    if (line[f"{letter}axis"] or letter) == named and line[letter] is not None
                ]
                axis.nticks = axis.nticks or 5  # which tells drawing.js that it is such an axis
                axis.update(_ticks(np.concatenate(lines) if lines else np.empty(0), axis.nticks))
    return figure


def _ticks(values, most):
    logs = np.log10(values[np.isfinite(values) & (values > 0)])
    if not len(logs):
        return {"exponentformat": "power"}
    span = np.ptp(logs)
    # plotly adds some room to a span, and shows two decades around a single number.
    if 0 < span < 0.9:
        return {"exponentformat": "power"}
    if span == 0 or span >= 2 or logs.min() < -4 or logs.max() > 4:
        return {"dtick": max(math.ceil(span / most), 1), "exponentformat": "power"}
    powers = range(math.floor(logs.min()), math.ceil(logs.max()) + 1)
    at = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return {"tickvals": at, "tickformat": "~g"}


def at_the_left(figure: go.Figure) -> go.Figure:
    """A figure of panels with the title of each where its axis begins."""
    for k, title in enumerate(figure.layout.annotations):
        axis = figure.layout[f"xaxis{k + 1 if k else ''}"]
        title.update(x=axis.domain[0], xanchor="left", font_size=14)
    return figure


def titled(title: str | None, words: str) -> str:
    """Words with the title of their figure before them, if it has one."""
    return f"{title}: {words}" if title else words


def curves(
    x: ArrayLike,
    named: Mapping[str, Any],
    xlabel: str = "step",
    ylabel: str = "",
    log_x: bool = False,
    log_y: bool = True,
    title: str | None = None,
    alt: str | None = None,
) -> go.Figure:
    """Lines over a common x: ``named`` is {name: values} or {name: (x, values)}; values ≤ 0 leave
    gaps on a log axis.

    Lines differ in color and in dash.

    Raises TypeError or ValueError if values are no numbers, or not as many as x has.

    Examples
    --------
    >>> figure = lg.plots.curves([1, 2, 3], {"loss": [1.0, 0.5, 0.25]}, alt="A loss that halves at every step.")
    >>> figure.layout.meta["alt"]
    'A loss that halves at every step.'
    """
    require_flag(log_x=log_x, log_y=log_y)
    require_texts(xlabel=xlabel, ylabel=ylabel, title=title, alt=alt)
    if not isinstance(named, Mapping):
        raise TypeError(
            f"named: expected a dict of a curve's name and its values, got {shown(named)}"
        )
    figure = go.Figure()
    for k, (name, values) in enumerate(named.items()):
        xs, ys = _line(x, name, values)
        figure.add_scatter(
            x=drawable(xs, log_x),
            y=drawable(ys, log_y),
            name=name,
            mode="lines",
            line={"color": COLORS[k % 6], "dash": DASHES[k % 6]},
        )
    figure.update_xaxes(title=xlabel, type="log" if log_x else "linear")
    figure.update_yaxes(title=ylabel, type="log" if log_y else "linear")
    decades(figure)
    words = "; ".join(in_words(name, line.y) for name, line in zip(named, figure.data, strict=True))
    return finish(figure, alt or titled(title, f"over {xlabel}, {words}."), title)


def bands(
    x: ArrayLike,
    named: Mapping[str, Any],
    between: tuple[float, float] = (0.25, 0.75),
    xlabel: str = "step",
    ylabel: str = "",
    log_x: bool = False,
    log_y: bool = True,
    title: str | None = None,
    alt: str | None = None,
) -> go.Figure:
    """Medians over runs, and the band between two quantiles: ``named`` is {name: values}, a row of
    values for each run.

    With ``between=(0, 1)`` a band goes from the least run to the largest. On a log axis, what is not
    above 0 is left out.

    Raises TypeError or ValueError if values are no matrix of numbers, or have not as many columns as
    x has numbers; if ``between`` is no pair of shares, the lesser first.

    Examples
    --------
    >>> losses = [[1.0, 0.5, 0.2], [1.0, 0.7, 0.4], [1.0, 0.6, 0.3]]
    >>> lg.plots.bands([0, 1, 2], {"loss": losses}).layout.meta["alt"]
    'over step, loss falls from 1 to 0.3, the median of 3 runs.'
    """
    if not isinstance(named, Mapping):
        raise TypeError(f"named: expected a dict of a name and its runs, got {shown(named)}")
    low, high = _shares(between)
    x = numbers("x", x, 1)
    runs = {}
    for name, rows in named.items():
        lengths = {np.shape(row) for row in rows} if isinstance(rows, (list, tuple)) else set()
        values = numbers("named", rows, 2) if len(lengths) < 2 else None
        if values is None or values.shape[1] != len(x):
            raise ValueError(
                f"named: expected for {name} a row of {len(x)} values for each run, as many as x "
                f"has, got {sorted(lengths) if values is None else f'shape {values.shape}'}; a run "
                "that stopped early has fewer"
            )
        runs[name] = values
    medians = {name: np.median(values, axis=0) for name, values in runs.items()}
    figure = curves(x, medians, xlabel, ylabel, log_x, log_y, title)
    lines = figure.data
    for line, values in zip(lines, runs.values(), strict=True):
        ends = np.quantile(values, (low, high), axis=0)
        _band(figure, x, ends, line.line.color, log_x, log_y)
    figure.data = figure.data[len(lines) :] + lines  # lines are drawn on all bands
    words = "; ".join(
        f"{in_words(line.name, line.y)}, the median of {len(runs[line.name])} runs"
        for line in lines
    )
    return finish(figure, alt or titled(title, f"over {xlabel}, {words}."), title)


def _shares(between):
    try:
        low, high = between
        require_number("between", low, least=0, below=1)
        require_number("between", high, above=low, below=1 + 1e-12)
    except (TypeError, ValueError):
        raise ValueError(
            "between: expected a pair of shares such as (0.25, 0.75), the lesser first, got "
            f"{shown(between)}"
        ) from None
    return low, min(high, 1.0)


def _band(figure, x, ends, color, log_x, log_y):
    """The region between two curves over x, as one closed line that is filled."""
    # A gap would cut the closed line in two.
    kept = np.isfinite(ends).all(axis=0) & ((x > 0) | (not log_x)) & ((ends[0] > 0) | (not log_y))
    x, (low, high) = x[kept], ends[:, kept]
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        mode="lines",
        fill="toself",
        fillcolor=color,
        opacity=0.25,
        line={"color": color, "width": 0.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _line(x, name, values):
    """Where the points of one line stand: as many on either axis, for plotly draws the shorter of
    two in silence."""
    if (
        isinstance(values, tuple)
        and len(values) == 2
        and not any(isinstance(part, Real) for part in values)
    ):
        xs, ys = (numbers("named", part, 1) for part in values)
    else:
        xs, ys = numbers("x", x, 1), numbers("named", values, 1)
    if len(xs) != len(ys):
        raise ValueError(
            f"named: expected for {name} as many values as there are x, {len(xs)}, got {len(ys)}"
        )
    return xs, ys


def numbers(name: str, given: Any, axes: int) -> np.ndarray:
    """The numbers of an argument, in numpy; those that are not finite leave gaps."""
    array = to_numpy(converted(name, given)).astype(float)
    if array.ndim != axes or not array.size:
        words = "a row of numbers" if axes == 1 else "a matrix"
        raise ValueError(f"{name}: expected {words}, not empty, got shape {array.shape}")
    return array


def require_texts(**texts: Any) -> None:
    """Check that these arguments are texts or None; a TypeError names the one that is not."""
    for name, text in texts.items():
        if not (text is None or isinstance(text, str)):
            raise TypeError(f"{name}: expected a text, got {shown(text)}")


def drawable(values: ArrayLike, log: bool) -> np.ndarray:
    """The values as floats; on a logarithmic axis what is not above 0 leaves a gap."""
    values = np.asarray(values, dtype=float)
    return np.where(values > 0, values, np.nan) if log else values


def aloud(number: float, digits: int = 3) -> str:
    """A number for who reads a text aloud: rounded to some digits, and then 89,000, not 8.9e+04."""
    rounded = float(f"{number:.{digits}g}")
    # Outside of these bounds the format g with 15 digits writes an exponent, and inside of them 15
    # digits never show that a decimal fraction is rounded in binary.
    if 1e-4 <= abs(rounded) < 1e15 or rounded == 0 or not np.isfinite(rounded):
        return f"{rounded:,.15g}"
    factor, power = f"{rounded:.14e}".split("e")
    return f"{float(factor):g} times 10 to the power {'minus ' * (int(power) < 0)}{abs(int(power))}"


def in_words(name: str, values: ArrayLike) -> str:
    """What a curve does from its first number to its last, for who cannot see it."""
    seen = np.asarray(values, dtype=float)
    seen = seen[np.isfinite(seen)]
    if not len(seen):
        return f"{name} has nothing to draw"
    verb = (
        "stays at" if seen[0] == seen[-1] else "falls from" if seen[-1] < seen[0] else "rises from"
    )
    return f"{name} {verb} {aloud(seen[0])}" + (
        "" if seen[0] == seen[-1] else f" to {aloud(seen[-1])}"
    )


def matrix(
    Z: ArrayLike,
    xlabel: str = "",
    ylabel: str = "",
    title: str | None = None,
    alt: str | None = None,
    diverging: bool = False,
    colorbar: str = "",
    height: int = 380,
    log: bool = False,
) -> go.Figure:
    """A matrix as a heatmap, first row on top. ``log`` colors the decimal logarithm of |Z|, zeros
    left blank.

    Raises TypeError or ValueError if Z is no matrix of numbers.
    """
    require_flag(diverging=diverging, log=log)
    require_number("height", height, least=10, below=1e5)
    require_texts(xlabel=xlabel, ylabel=ylabel, title=title, alt=alt, colorbar=colorbar)
    Z = numbers("Z", Z, 2)
    # NaN is left blank; the logarithm of 0 would be −∞, with a warning of numpy.
    colored = np.log10(np.where(Z == 0, np.nan, abs(Z))) if log else Z
    figure = go.Figure(
        go.Heatmap(
            z=colored,
            **(DIVERGING if diverging else {"colorscale": SEQUENTIAL}),
            colorbar={"title": colorbar},
        )
    )
    clear = {"constrain": "domain", "showgrid": False, "zeroline": False}
    figure.update_yaxes(autorange="reversed", title=ylabel, **clear)
    figure.update_xaxes(title=xlabel, **clear)
    words = f"Heatmap of a {Z.shape[0]} by {Z.shape[1]} matrix with entries {_ends(Z)}."
    return finish(figure, alt or words, title, height)


def _ends(Z):
    """The least and the largest entry that is drawn, in words."""
    seen = Z[np.isfinite(Z)]
    return (
        f"from {aloud(seen.min())} to {aloud(seen.max())}"
        if seen.size
        else "of which none can be drawn"
    )


def grid(titles: list[str], across: float, down: float) -> tuple[go.Figure, list[dict[str, int]]]:
    """An empty figure with a panel for each title, and their places: up to three side by side, more
    in rows of two.

    ``across`` and ``down`` are the shares of the width and of the height that all gaps between
    panels take, and those at the edges as much as half of one.
    """
    columns = len(titles) if len(titles) <= 3 else 2
    rows = -(-len(titles) // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=titles,
        horizontal_spacing=across / columns,
        vertical_spacing=down / rows,
    )
    at_the_left(figure)
    return figure, [{"row": k // columns + 1, "col": k % columns + 1} for k in range(len(titles))]


def slices(
    panels: Mapping[str, Any],
    at: ArrayLike,
    colorbar: str = "loss",
    xlabel: str = "a",
    ylabel: str = "b",
    title: str | None = None,
    alt: str | None = None,
) -> go.Figure:
    """Heatmaps (k, k) over a square with the same k values ``at`` on both axes, in one scale of
    colors.

    ``panels`` is {name: matrix}, with matrix[i, j] at (at_j, at_i).

    Raises TypeError or ValueError if there is no panel, or one is no matrix of these sizes.
    """
    require_texts(colorbar=colorbar, xlabel=xlabel, ylabel=ylabel, title=title, alt=alt)
    if not isinstance(panels, Mapping) or not panels:
        raise TypeError(
            f"panels: expected a dict of a panel's name and its matrix, got {shown(panels)}"
        )
    at, panels = (
        numbers("at", at, 1),
        {name: numbers("panels", Z, 2) for name, Z in panels.items()},
    )
    for name, Z in panels.items():
        if Z.shape != (len(at), len(at)):
            raise ValueError(
                f"panels: expected for {name} a matrix {(len(at), len(at))}, got {Z.shape}"
            )
    drawn = np.array(list(panels.values()))
    # One infinite entry would leave all panels without a usable scale.
    drawn = drawn[np.isfinite(drawn)]
    low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (None, None)
    figure, places = grid(list(panels), across=0.28, down=0.36)
    rows, columns = places[-1]["row"], max(place["col"] for place in places)
    for k, (Z, place) in enumerate(zip(panels.values(), places, strict=True)):
        figure.add_heatmap(
            x=at,
            y=at,
            z=Z,
            zmin=low,
            zmax=high,
            colorscale=SEQUENTIAL,
            showscale=k == 0,
            colorbar={"title": colorbar},
            **place,
        )
        # The lowest panel of each column, also where the last row is not full.
        figure.update_xaxes(title=xlabel if k >= len(panels) - columns else None, **place)
        figure.update_yaxes(title=ylabel if place["col"] == 1 else None, **place)
    words = "; ".join(f"{name}: {colorbar} {_ends(Z)}" for name, Z in panels.items())
    high = 260 if columns == 3 else 320  # of three the squares are smaller
    return finish(figure, alt or titled(title, f"{words}."), title, height=high * rows + 60)
