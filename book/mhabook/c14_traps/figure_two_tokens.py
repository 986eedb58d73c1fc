"""The second live figure of chapter 14: the loss over two free queries, every minimum of it, and a
descent."""

from functools import cache
from itertools import product

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import panels
from livegrad.live.spec import Control
from livegrad.live.widget import LiveFigure
from mhabook.c12_two_kernels.statements import Kernel
from mhabook.c14_traps import figure_queries as queries
from mhabook.c14_traps.figure_queries import (
    KINDS,
    NAMES,
    count,
    kernels_of,
    loss_of_one,
    minima,
    of,
    reach,
    rounded,
)
from mhabook.figure_parts import Measures
from mhalib.plots import HERE, MINIMUM, SEQUENTIAL, SPURIOUS, START

PLACES = tuple(0.25 * k for k in range(-16, 17))
SQUARE = 65
"""How many values of each query the map has."""


def two_tokens(steps: int = 300) -> LiveFigure:
    """A live figure: the loss over two free queries of B1, B2, B3 or B4, its minima, and descent
    from a chosen start.

    The other tokens have targets that they meet, so their queries stand still and add nothing to
    the loss. A minimum is global if no other is lower under its kernel, and else spurious. The
    square is [−4, 4]², and [−7, 7]² for B3.

    Parameters
    ----------
    steps : how many steps of gradient descent a run has

    Raises ValueError if steps is no whole number ≥ 1.

    Source: this book.
    """
    require_count(steps=steps)
    starts = Control("q1", "start of q₁", PLACES, 0.5), Control("q2", "start of q₂", PLACES, -1.0)
    return queries.descent_figure(
        steps,
        lambda values: (values["q1"], values["q2"]),
        starts,
        MEASURES,
        {"square": SQUARE},
        model="two_tokens",
        title="Two free queries",
        alt="Three maps show the loss over two queries from −4 to 4 in B2. Softmax has four "
        "minima, one of loss zero and three spurious; the Gaussian kernel has sixteen, all of "
        "loss zero; with rows normalized there are four again, three spurious. From the start "
        "(0.5, −1) descent ends at a spurious minimum under softmax and with rows normalized, "
        "and at a global one under the Gaussian kernel. The fourth panel shows the losses over "
        "the steps.",
        frame=_frame(steps),
        summary=_SUMMARY,
    )


def axis(name: str) -> np.ndarray:
    """The values of each query."""
    return np.linspace(-reach(name), reach(name), SQUARE)


@cache
def landscape(name: str, c: float) -> dict[str, np.ndarray]:
    """{kernel: (SQUARE, SQUARE)} losses of two queries, sums of two: entry i, j is at (q₁, q₂) =
    (axis_j, axis_i)."""
    alone = {
        short: loss_of_one(name, kernel, axis(name)) for short, kernel in kernels_of(c).items()
    }
    return {short: up[:, None] + up for short, up in alone.items()}


def pairs(name: str, kernel: Kernel) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The minima in the square: the global ones, and the spurious ones."""
    best, other = ([q for q in found if abs(q) <= reach(name)] for found in minima(name, kernel))
    every = list(product(best + other, repeat=2))
    # The loss is a sum over both queries: a pair is global only if each of them is.
    return [pair for pair in every if set(pair) <= set(best)], [
        pair for pair in every if set(pair) & set(other)
    ]


def _height(short):
    def measure(path, values):
        found = landscape(values["trap"], values["c"])
        # Over the largest loss of all kernels: one color is one loss on every map.
        return rounded(np.sqrt(found[short] / max(loss.max() for loss in found.values())), 3)

    return measure


def _points(kind, k):
    def formula(name, kernel, visited):
        if kind in ("best", "other"):
            return rounded([pair[k] for pair in pairs(name, kernel)[kind == "other"]])
        return rounded(
            visited[{"path": slice(None), "start": slice(1), "finish": slice(-1, None)}[kind], k]
        )

    return formula


def _verdict(*run):
    best, other = (count(kind)(*run) for kind in (0, 1))
    return (
        "a global minimum"
        if best == 2
        else "a spurious minimum"
        if best + other == 2
        else "no minimum yet"
    )


MEASURES: Measures = queries.SHARED | {"axis": lambda path, values: rounded(axis(values["trap"]))}
for _short in NAMES:
    MEASURES |= queries.ends_of(_short) | {
        f"{_short}_z": _height(_short),
        f"{_short}_verdict": of(_short, _verdict),
        f"{_short}_minima": of(
            _short, lambda name, kernel, visited: sum(map(len, pairs(name, kernel)))
        ),
        f"{_short}_spurious": of(_short, lambda name, kernel, visited: len(pairs(name, kernel)[1])),
    }
    MEASURES |= {
        f"{_short}_{kind}_q{k + 1}": of(_short, _points(kind, k)) for kind in KINDS for k in (0, 1)
    }

_SUMMARY = "{trap} from ({q1}, {q2}), step size {rate}, c = {c}, {steps} steps. " + " ".join(
    f"{words[0].upper()}{words[1:]}: {{{short}_minima}} minima in the square, "
    f"{{{short}_spurious}} of them spurious; descent ends at f = {{{short}_end}}, "
    f"{{{short}_verdict}}."
    for short, words in NAMES.items()
)


def _frame(steps):
    frame = panels(
        "softmax", "Gaussian", "Gaussian, rows normalized", "loss f over steps", height=760
    )
    white = {"line": {"color": SEQUENTIAL[-1][1], "width": 1}}
    looks = (
        {"marker": MINIMUM | white | {"size": 12}},
        {"marker": SPURIOUS | white | {"size": 12}},
        {"mode": "lines", "line": {"color": HERE["color"], "width": 3}},
        {"marker": START | white | {"size": 12}},
        {"marker": HERE | white | {"size": 8}},
    )
    for k, short in enumerate(NAMES):
        place = queries.panel(k)
        frame.add_heatmap(
            zmin=0,
            zmax=1,
            colorscale=SEQUENTIAL,
            showscale=k == 1,
            hoverinfo="skip",
            colorbar={"title": "√(f/max)", "y": 0.8, "len": 0.42},
            **place,
            meta={
                "x": "axis",
                "y": "axis",
                "z": f"{short}_z",
                "xaxis": {"range": "range"},
                "yaxis": {"range": "range"},
            },
        )
        queries.add_points(frame, looks, k, short, ("q1", "q2"), {"x": "q1", "y": "q2"})
        frame.update_xaxes(title="q₁", **place)
        frame.update_yaxes(title="q₂", **place)
    queries.losses_over_steps(frame, steps)
    return frame
