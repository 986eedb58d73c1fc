"""Arrays to plotly figures with alt text. Nothing is computed here that is not drawn.

Every function returns a ``plotly.graph_objects.Figure`` whose ``layout.meta["alt"]`` says in words
what it shows; pass ``alt=`` to say it better. A color says what a line is: ``ATTENTION`` (softmax too,
where kernels are compared), ``DECODER`` and values, ``FOUND`` what is to be found, ``GAUSSIAN``,
``HEADS`` an order of numbers of heads; all else that is measured has ink, and what it is compared with
is gray.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from livegrad import plots
from livegrad.arrays import shown, to_numpy
from livegrad.foreign import marks
from livegrad.plots import (
    COLORS,
    DASHES,
    DIVERGING,
    GRAY,
    HERE,
    INK,
    LEVELS,
    MINIMUM,
    ORDERED,
    SEQUENTIAL,
    SPURIOUS,
    START,
    aloud,
    decades,
    drawable,
    finish,
    grid,
    in_words,
    matrix,
    numbers,
    require_texts,
    save,
    slices,
    titled,
    transparent,
)
from livegrad.training import Path

__all__ = [
    "ATTENTION",
    "COLORS",
    "DASHES",
    "DECODER",
    "DIVERGING",
    "FOUND",
    "GAUSSIAN",
    "GRAY",
    "HEADS",
    "HERE",
    "INK",
    "LEVELS",
    "MINIMUM",
    "ORDERED",
    "SEQUENTIAL",
    "SPURIOUS",
    "START",
    "TRAINED",
    "WEIGHTS",
    "aloud",
    "attention",
    "bands",
    "curves",
    "drawable",
    "finish",
    "grid",
    "looks",
    "matrix",
    "save",
    "slices",
    "titled",
    "tokens",
    "training",
    "transparent",
]
DECODER, ATTENTION, FOUND, GAUSSIAN = COLORS[:4]
HEADS = ("#C47A18", "#B16A13", "#9D5A0E", "#8A4A09", "#753D06", "#5F2F03", "#4A2200")
"""Seven colors from few heads to many, which grow darker, and brighter on a dark page."""
WEIGHTS: dict[str, Any] = {
    "zmin": 0,
    "zmax": 1,
    "colorscale": [
        [0.0, "rgba(179, 89, 0, 0)"],
        [0.5, "rgba(179, 89, 0, 0.7)"],
        [1.0, "rgba(179, 89, 0, 1)"],
    ],
    "opacity": 0.99,  # by which livegrad/live/colors.css knows it, to give it the twin of its color
}
"""The look of a heat map of attention weights. The larger a weight, the more of ``ATTENTION`` lies on
the page, which shows through where there is none."""
TRAINED = {
    "training loss": (INK, "solid"),
    "training accuracy": (INK, "solid"),
    "test loss": (INK, "dash"),
    "test accuracy": (INK, "dash"),
    "weight on relevant token": (ATTENTION, "solid"),
}
"""Name of a curve of training → its color and dash."""
ROLES = {
    "softmax": ATTENTION,
    "attention": ATTENTION,
    "weight on": ATTENTION,
    "Gaussian": GAUSSIAN,
    "decoder": DECODER,
}
"""A word in the name of a line → its color."""
BOUNDS = re.compile(r"bound|promise|guarante|formula|law\b|slope|derived|limit|^1/")
"""What the name of a line has that is no measurement: a bound, or what a formula says."""
NUMBER = r"[\d.,⁻⁰¹²³⁴-⁹]+"
OTHERS = ("solid", "dash", "longdash", "dashdot", "longdashdot")
"""The dashes of lines beside which dotted bounds may stand."""


def looks(names: Iterable[str]) -> list[dict[str, Any]]:
    """The color and the dash of each of these lines, by what its name says; no two are alike.

    Names that differ in a number alone are an order, of heads ("H = 4") or of something else. Of all
    others, what names one of a kernel, attention, and the decoder has its color, and a bound has dots.
    """
    names = list(names)
    if len(names) > 1 and len({re.sub(NUMBER, "", name) for name in names}) == 1:
        shades = HEADS if re.search("H =|heads?", names[0]) else ORDERED[::-1]
        at = np.linspace(0, 6, len(names)).round().astype(int)
        return [{"color": shades[k], "dash": DASHES[i % 2]} for i, k in enumerate(at)]
    found, seen = [], Counter()
    for name in names:
        roles = {color for word, color in ROLES.items() if word in name}
        color = roles.pop() if len(roles) == 1 else INK
        is_bound = bool(BOUNDS.search(name))
        k = seen[color, is_bound]
        seen[color, is_bound] += 1
        shade = ORDERED[2 * k % 7] if color == INK or (is_bound and k) else color
        found.append({"color": shade, "dash": "dot" if is_bound else OTHERS[k % 5]})
    return found


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
    """Lines over a common x, as ``livegrad.plots.curves`` draws them, with the colors and dashes of
    ``looks``.

    Lines of your own, whose names ``looks`` does not know, are shades of ink with other dashes;
    ``livegrad.plots.curves`` gives each of six a color of its own.

    Raises TypeError or ValueError if values are no numbers, or not as many as x has.
    """
    figure = plots.curves(x, named, xlabel, ylabel, log_x, log_y, title, alt)
    for line, look in zip(figure.data, looks(named), strict=True):
        line.update(line=look)
    return figure


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
    """Medians over runs between two quantiles, as ``livegrad.plots.bands`` draws them, with the
    colors and dashes of ``looks``.

    Raises TypeError or ValueError if values are no matrices of numbers with as many columns as x
    has numbers, a row for each run; if ``between`` is no pair of shares.
    """
    figure = plots.bands(x, named, between, xlabel, ylabel, log_x, log_y, title, alt)
    filled, lines = figure.data[: len(named)], figure.data[len(named) :]
    for band, line, look in zip(filled, lines, looks(named), strict=True):
        line.update(line=look)
        band.update(fillcolor=look["color"], line={"color": look["color"]})
    return figure


def training(path: Path, title: str | None = None, alt: str | None = None) -> go.Figure:
    """Losses of a ``Path``, and beside them whatever lies in [0, 1], if anything does: the weight on
    the relevant token, accuracies.

    Steps are on a log axis from step 1 on, so that the first ten take as much room as the last
    thousand.

    Raises TypeError if path is none; ValueError if nothing behind step 0 was recorded.
    """
    if not isinstance(path, Path):
        raise TypeError(f"path: expected a Path, which mhalib.train returns, got {shown(path)}")
    if not (path.steps > 0).any():
        raise ValueError(f"path: expected a recorded step after step 0, got {path!r}")
    require_texts(title=title, alt=alt)
    named = {
        "training loss": "loss",
        "test loss": "test_loss",
        "weight on relevant token": "attention_score",
        "training accuracy": "accuracy",
        "test accuracy": "test_accuracy",
    }
    lines = {name: path.curves[curve] for name, curve in named.items() if curve in path.curves}
    titles = ("loss",) if all(name.endswith("loss") for name in lines) else ("loss", "share")
    figure = make_subplots(rows=1, cols=len(titles), horizontal_spacing=0.12, subplot_titles=titles)
    for name, values in lines.items():
        (color, dash), is_loss = TRAINED[name], name.endswith("loss")
        figure.add_scatter(
            x=drawable(path.steps, log=True),
            y=drawable(values, log=is_loss),
            name=name,
            mode="lines",
            line={"color": color, "dash": dash},
            row=1,
            col=1 if is_loss else 2,
        )
    figure.update_xaxes(title="step", type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(type="log", col=1)
    decades(figure)
    if len(titles) == 2:
        figure.update_yaxes(range=[0, 1.03], col=2)
    drawn = path.steps > 0  # step 0 has no place on a log axis
    words = "; ".join(in_words(name, values[drawn]) for name, values in lines.items())
    return finish(
        figure, alt or f"{title or 'Training'}: from step 1 to {path.steps[-1]}, {words}.", title
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
    A = numbers("A", A, 2)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A: expected a square matrix, got shape {A.shape}")
    marked = _marked(relevant, len(A))
    figure = matrix(A, "key token", "query token", title, alt, colorbar="weight")
    figure.update_traces(WEIGHTS)
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
    require_texts(title=title, alt=alt)
    X = numbers("X", X, 2)
    marked = _marked(relevant, len(X))
    figure = matrix(X, "coordinate", "token", title, diverging=True, colorbar="value")
    figure.update_yaxes(
        tickvals=list(range(len(X))),
        ticktext=[f"{t}★" if m else str(t) for t, m in enumerate(marked)],
    )
    words = f"A sample of {len(X)} tokens in {len(X[0])} coordinates"
    if marked.any():
        words += f", with a star at {_in_order(marked)}"
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
