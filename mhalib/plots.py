"""Arrays to plotly figures with alt text. Nothing is computed here that is not drawn.

Every function returns a ``plotly.graph_objects.Figure`` whose ``layout.meta["alt"]`` says in words
what it shows; pass ``alt=`` to say it better. Colors are told apart by color-blind readers and in
both themes of the book.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from mhalib._array import require_flag, require_number, shown, to_numpy
from mhalib._book import book_is_asked
from mhalib.data.foreign import converted, marks
from mhalib.training import Path

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
GRAY = "#888888"  # what is there to compare with
# of what has a sign, white is zero; elsewhere dark is low
DIVERGING, SEQUENTIAL = "RdBu", "Cividis"
START = {"symbol": "circle", "color": COLORS[2]}
# where a run stands, or ends; its path has the color
HERE = {"symbol": "circle", "color": COLORS[1]}
# a global one: the loss is zero, or the least possible
MINIMUM = {"symbol": "diamond", "color": COLORS[4]}
SPURIOUS = {"symbol": "x", "color": COLORS[3]}  # a minimum that is not global
TRAINED = {
    "training loss": 0,
    "training accuracy": 0,
    "test loss": 1,
    "test accuracy": 1,
    "attention score": 2,
}
"""Name of a curve of training → the index of its color and dash."""


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
        margin={"l": 60, "r": 20, "t": 50, "b": 50},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "yanchor": "top", "y": -0.26},
    )
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
    >>> figure = mha.plots.curves([1, 2, 3], {"loss": [1.0, 0.5, 0.25]}, alt="A loss that halves at every step.")
    >>> figure.layout.meta["alt"]
    'A loss that halves at every step.'
    """
    require_flag(log_x=log_x, log_y=log_y)
    _require_texts(xlabel=xlabel, ylabel=ylabel, title=title, alt=alt)
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
    figure.update_yaxes(
        title=ylabel, type="log" if log_y else "linear", nticks=4 * log_y, exponentformat="power"
    )
    words = "; ".join(
        _in_words(name, line.y) for name, line in zip(named, figure.data, strict=True)
    )
    return finish(figure, alt or titled(title, f"over {xlabel}, {words}."), title)


def _line(x, name, values):
    """Where the points of one line stand: as many on either axis, for plotly draws the shorter of
    two in silence."""
    if (
        isinstance(values, tuple)
        and len(values) == 2
        and not any(isinstance(part, Real) for part in values)
    ):
        xs, ys = (_numbers("named", part, 1) for part in values)
    else:
        xs, ys = _numbers("x", x, 1), _numbers("named", values, 1)
    if len(xs) != len(ys):
        raise ValueError(
            f"named: expected for {name} as many values as there are x, {len(xs)}, got {len(ys)}"
        )
    return xs, ys


def _numbers(name, given, axes):
    """The numbers of an argument, in numpy; those that are not finite leave gaps."""
    array = to_numpy(converted(name, given)).astype(float)
    if array.ndim != axes or not array.size:
        words = "a row of numbers" if axes == 1 else "a matrix"
        raise ValueError(f"{name}: expected {words}, not empty, got shape {array.shape}")
    return array


def _require_texts(**texts):
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


def _in_words(name, values):
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


def training(path: Path, title: str | None = None, alt: str | None = None) -> go.Figure:
    """Losses of a ``Path``, and beside them whatever lies in [0, 1]: attention score, accuracies.

    Steps are on a log axis from step 1 on, so that the first ten take as much room as the last
    thousand.

    Raises TypeError if path is none; ValueError if nothing behind step 0 was recorded.
    """
    if not isinstance(path, Path):
        raise TypeError(f"path: expected a Path, which mhalib.train returns, got {shown(path)}")
    if not (path.steps > 0).any():
        raise ValueError(f"path: expected a recorded step after step 0, got {path!r}")
    _require_texts(title=title, alt=alt)
    figure = make_subplots(
        rows=1, cols=2, horizontal_spacing=0.12, subplot_titles=("loss", "share")
    )
    named = {
        "training loss": "loss",
        "test loss": "test_loss",
        "attention score": "attention_score",
        "training accuracy": "accuracy",
        "test accuracy": "test_accuracy",
    }
    lines = {name: path.curves[curve] for name, curve in named.items() if curve in path.curves}
    for name, values in lines.items():
        k, is_loss = TRAINED[name], name.endswith("loss")
        figure.add_scatter(
            x=drawable(path.steps, log=True),
            y=drawable(values, log=is_loss),
            name=name,
            mode="lines",
            line={"color": COLORS[k], "dash": DASHES[k]},
            row=1,
            col=1 if is_loss else 2,
        )
    figure.update_xaxes(title="step", type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(type="log", nticks=4, exponentformat="power", col=1)
    figure.update_yaxes(range=[0, 1.03], col=2)
    drawn = path.steps > 0  # step 0 has no place on a log axis
    words = "; ".join(_in_words(name, values[drawn]) for name, values in lines.items())
    return finish(
        figure, alt or f"{title or 'Training'}: from step 1 to {path.steps[-1]}, {words}.", title
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
    _require_texts(xlabel=xlabel, ylabel=ylabel, title=title, alt=alt, colorbar=colorbar)
    Z = _numbers("Z", Z, 2)
    # NaN is left blank; the logarithm of 0 would be −∞, with a warning of numpy.
    colored = np.log10(np.where(Z == 0, np.nan, abs(Z))) if log else Z
    figure = go.Figure(
        go.Heatmap(
            z=colored,
            colorscale=DIVERGING if diverging else SEQUENTIAL,
            zmid=0 if diverging else None,
            colorbar={"title": colorbar},
        )
    )
    figure.update_yaxes(autorange="reversed", title=ylabel, constrain="domain")
    figure.update_xaxes(title=xlabel, constrain="domain")
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


def attention(
    A: ArrayLike,
    relevant: ArrayLike | None = None,
    title: str | None = None,
    alt: str | None = None,
) -> go.Figure:
    """One attention matrix (T, T), queries down, keys across; columns of relevant tokens are named
    with a star.

    Raises TypeError or ValueError if A is no square matrix of numbers, or ``relevant`` has not a
    mark for each key.
    """
    A = _numbers("A", A, 2)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A: expected a square matrix, got shape {A.shape}")
    marked = _marked(relevant, len(A))
    figure = matrix(A, "key token", "query token", title, alt, colorbar="weight")
    figure.update_traces(zmin=0, zmax=1)
    figure.update_xaxes(
        tickvals=list(range(len(A))),
        ticktext=[f"{j}★" if m else str(j) for j, m in enumerate(marked)],
    )
    share = ""
    if marked.any():
        share = f" On average {A[:, marked].sum(axis=1).mean():.0%} of the weight is on {_in_order(marked)}."
    words = (
        f"Attention weights of {len(A)} queries on {len(A)} keys, the largest {A.max():.2f}.{share}"
    )
    return finish(figure, alt or words, title)


def tokens(
    X: ArrayLike,
    relevant: ArrayLike | None = None,
    title: str | None = None,
    alt: str | None = None,
) -> go.Figure:
    """One sample (T, d) as a heatmap, a row a token; relevant tokens are named with a star.

    Raises TypeError or ValueError if X is no matrix of numbers, or ``relevant`` has not a mark for
    each token.
    """
    _require_texts(title=title, alt=alt)
    X = _numbers("X", X, 2)
    marked = _marked(relevant, len(X))
    figure = matrix(X, "coordinate", "token", title, diverging=True, colorbar="value")
    figure.update_yaxes(
        tickvals=list(range(len(X))),
        ticktext=[f"{t}★" if m else str(t) for t, m in enumerate(marked)],
    )
    words = f"A sample of {len(X)} tokens in {len(X[0])} coordinates"
    if marked.any():
        words += f", with {_in_order(marked)}"
    return finish(figure, alt or words + ".", title)


def _marked(relevant, T):
    """Which of T tokens are relevant; none of them where nothing is said."""
    return (
        np.zeros(T, dtype=bool)
        if relevant is None
        else to_numpy(marks(relevant, (T,))).astype(bool)
    )


def _in_order(marked):
    numbers = [str(t) for t in np.flatnonzero(marked)]
    return (
        f"the relevant token {numbers[0]}"
        if len(numbers) == 1
        else f"the relevant tokens {', '.join(numbers)}"
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
    _require_texts(colorbar=colorbar, xlabel=xlabel, ylabel=ylabel, title=title, alt=alt)
    if not isinstance(panels, Mapping) or not panels:
        raise TypeError(
            f"panels: expected a dict of a panel's name and its matrix, got {shown(panels)}"
        )
    at, panels = (
        _numbers("at", at, 1),
        {name: _numbers("panels", Z, 2) for name, Z in panels.items()},
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
    figure.update_annotations(font_size=13)
    words = "; ".join(f"{name}: {colorbar} {_ends(Z)}" for name, Z in panels.items())
    high = 260 if columns == 3 else 320  # of three the squares are smaller
    return finish(figure, alt or titled(title, f"{words}."), title, height=high * rows + 60)
