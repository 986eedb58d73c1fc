"""Arrays to plotly figures with alt text. Nothing is computed here that is not drawn.

Every function returns a ``plotly.graph_objects.Figure`` whose ``layout.meta["alt"]`` says in words what it shows;
pass ``alt=`` to say it better. Colors are told apart by color-blind readers and in both themes of the book.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from mhalib._book import book_is_asked
from mhalib.training import Path

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
GRAY = "#888888"  # what is there to compare with
DIVERGING, SEQUENTIAL = "RdBu", "Cividis"  # of what has a sign, white is zero; elsewhere dark is low
START = {"symbol": "circle", "color": COLORS[2]}
HERE = {"symbol": "circle", "color": COLORS[1]}  # where a run stands, or ends; its path has the color
MINIMUM = {"symbol": "diamond", "color": COLORS[4]}  # a global one: the loss is zero, or the least possible
SPURIOUS = {"symbol": "x", "color": COLORS[3]}  # a minimum that is not global
TRAINED = {"training loss": 0, "training accuracy": 0, "test loss": 1, "test accuracy": 1, "attention score": 2}
"""Name of a curve of training → the index of its color and dash."""


def finish(figure: go.Figure, alt: str, title: str | None = None, height: int = 380) -> go.Figure:
    """Give a figure the book's look and its alt text, and in notebooks, which may be dark, white paper."""
    transparent(figure, alt, title, height)
    return figure if book_is_asked() else figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")


def transparent(figure: go.Figure, alt: str, title: str | None = None, height: int = 380) -> go.Figure:
    """The same look on clear paper, for figures whose words a script colors as the theme asks."""
    figure.update_layout(meta={"alt": alt}, title=title, height=height, colorway=COLORS, template="plotly_white",
                         margin={"l": 60, "r": 20, "t": 50, "b": 50},
                         paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
                         legend={"orientation": "h", "yanchor": "top", "y": -0.26})
    return figure


def titled(title: str | None, words: str) -> str:
    """Words with the title of their figure before them, if it has one."""
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
        figure.add_scatter(x=drawable(xs, log_x), y=drawable(ys, log_y), name=name, mode="lines",
                           line={"color": COLORS[k % 6], "dash": DASHES[k % 6]})
    figure.update_xaxes(title=xlabel, type="log" if log_x else "linear")
    figure.update_yaxes(title=ylabel, type="log" if log_y else "linear", nticks=4 * log_y, exponentformat="power")
    words = "; ".join(_in_words(name, line.y) for name, line in zip(named, figure.data, strict=True))
    return finish(figure, alt or titled(title, f"over {xlabel}, {words}."), title)


def drawable(values: ArrayLike, log: bool) -> np.ndarray:
    """The values as floats; on a logarithmic axis what is not above 0 leaves a gap."""
    values = np.asarray(values, dtype=float)
    return np.where(values > 0, values, np.nan) if log else values


def aloud(number: float, digits: int = 3) -> str:
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
    return f"{name} {verb} {aloud(seen[0])}" + ("" if seen[0] == seen[-1] else f" to {aloud(seen[-1])}")


def training(path: Path, title: str | None = None, alt: str | None = None) -> go.Figure:
    """Losses of a ``Path``, and beside them whatever lies in [0, 1]: attention score, accuracies.

    Steps are on a log axis from step 1 on, so that the first ten take as much room as the last thousand.
    """
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.12, subplot_titles=("loss", "share"))
    named = {"training loss": "loss", "test loss": "test_loss", "attention score": "attention_score",
             "training accuracy": "accuracy", "test accuracy": "test_accuracy"}
    lines = {name: path.curves[curve] for name, curve in named.items() if curve in path.curves}
    for name, values in lines.items():
        k, is_loss = TRAINED[name], name.endswith("loss")
        figure.add_scatter(x=drawable(path.steps, log=True), y=drawable(values, log=is_loss), name=name, mode="lines",
                           line={"color": COLORS[k], "dash": DASHES[k]}, row=1, col=1 if is_loss else 2)
    figure.update_xaxes(title="step", type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(type="log", nticks=4, exponentformat="power", col=1)
    figure.update_yaxes(range=[0, 1.03], col=2)
    drawn = path.steps > 0  # step 0 has no place on a log axis
    words = "; ".join(_in_words(name, values[drawn]) for name, values in lines.items())
    return finish(figure, alt or f"{title or 'Training'}: from step 1 to {path.steps[-1]}, {words}.", title)


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
                  f"{aloud(Z.min())} to {aloud(Z.max())}.", title, height)


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
        figure.add_heatmap(x=at, y=at, z=Z, zmin=low, zmax=high, colorscale=SEQUENTIAL, showscale=k == 0,
                           colorbar={"title": colorbar}, row=k // 2 + 1, col=k % 2 + 1)
        figure.update_xaxes(title=xlabel if k >= len(panels) - 2 else None, row=k // 2 + 1, col=k % 2 + 1)
        figure.update_yaxes(title=None if k % 2 else ylabel, row=k // 2 + 1, col=k % 2 + 1)
    figure.update_annotations(font_size=13)
    words = "; ".join(f"{name}: {colorbar} from {aloud(Z.min())} to {aloud(Z.max())}" for name, Z in panels.items())
    return finish(figure, alt or titled(title, f"{words}."), title, height=320 * rows + 60)
