"""The first live figure of chapter 14: all queries of an example on the loss of one, and where they
come to rest."""

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control
from livegrad.live.widget import LiveFigure
from mhabook.c12_two_kernels.formulas import LOOKS
from mhabook.c14_traps import figure_queries as queries
from mhabook.c14_traps.figure_queries import (
    KINDS,
    NAMES,
    kernels_of,
    loss_of_one,
    minima,
    of,
    reach,
    rounded,
)
from mhabook.c14_traps.statements import EXAMPLES
from mhabook.figure_parts import Measures
from mhalib.plots import HERE, INK, MINIMUM, SPURIOUS, START

SHIFTS = tuple(round(0.2 * k, 1) for k in range(-15, 16))


def traps(steps: int = 300) -> LiveFigure:
    """A live figure: the queries of B1, B2, B3 or B4 descend on the loss of one query, under three
    kernels.

    There is one sample, one head and one dimension, tokens are the unit vectors, and only W^Q is
    trained: each token has a query of its own on the line. A minimum is global if no other is lower
    under its kernel, and else spurious. The third kernel is the control: Gaussian weights divided
    by their sum.

    Parameters
    ----------
    steps : how many steps of gradient descent a run has

    Raises ValueError if steps is no whole number ≥ 1.

    Source: this book.
    """
    require_count(steps=steps)
    return queries.descent_figure(
        steps,
        _begin,
        (Control("shift", "shift of the starts", SHIFTS, 0.0),),
        MEASURES,
        model="traps",
        title="Where queries stop",
        alt="Three panels show the loss of one query in B2, and the fourth shows the losses "
        "against the steps. Softmax: four queries converge to a spurious minimum at 1.07, of loss "
        "0.34; the global minimum is at −1.39. Gaussian: there are four minima of loss zero, and "
        "every query converges to one of them. Gaussian with rows normalized: all queries "
        "converge to a spurious minimum at 1.42, of loss 0.17. In the fourth panel the Gaussian "
        "loss falls below 10⁻¹⁰, and the other two level off.",
        frame=_frame(steps),
        summary=_SUMMARY,
    )


def _begin(values):
    return tuple((np.array(EXAMPLES[values["trap"]]["start"]) + values["shift"]).tolist())


def _queries(name):
    return np.linspace(-reach(name), reach(name), 161)


def _landscape(name, kernel, visited):
    return rounded(loss_of_one(name, kernel, _queries(name)))


def _lowest(name, kernel, visited):
    """The least loss of all queries."""
    return rounded(visited.shape[1] * loss_of_one(name, kernel, minima(name, kernel)[0])[0], 9)


def _points(kind):
    """Two formulas: where the points of a kind are, and the loss there."""

    def at(name, kernel, visited):
        if kind in ("best", "other"):
            return np.array(
                [q for q in minima(name, kernel)[kind == "other"] if abs(q) <= reach(name)]
            )
        if kind == "path":  # one query after the other, with gaps between
            return np.column_stack([visited.T, np.full(visited.shape[1], np.nan)]).ravel()
        return visited[-1 if kind == "finish" else 0]

    return {
        "q": lambda *run: rounded(at(*run)),
        "loss": lambda *run: rounded(loss_of_one(*run[:2], at(*run))),
    }


def _loss_range(path, values):
    # One range for all kernels, so that their losses can be compared.
    top = max(
        max(_landscape(values["trap"], kernel, None)) for kernel in kernels_of(values["c"]).values()
    )
    return rounded([-0.05 * top, 1.08 * top])


MEASURES: Measures = queries.SHARED | {
    "queries": lambda path, values: _queries(values["trap"]).tolist(),
    "loss_range": _loss_range,
    "n": lambda path, values: len(EXAMPLES[values["trap"]]["start"]),
}
for _short in NAMES:
    MEASURES |= {
        f"{_short}_landscape": of(_short, _landscape),
        f"{_short}_lowest": of(_short, _lowest),
    }
    MEASURES |= queries.ends_of(_short)
    MEASURES |= {
        f"{_short}_{kind}_{part}": of(_short, formula)
        for kind in KINDS
        for part, formula in _points(kind).items()
    }

_SUMMARY = (
    "{trap}, shift of the starts {shift}, step size {rate}, c = {c}. Loss f after {steps} steps, and "
    "queries at minima: "
    + "; ".join(
        f"{words} {{{short}_end}} (lowest possible {{{short}_lowest}}), {{{short}_best}} of "
        f"{{n}} at a global and {{{short}_other}} at a spurious one"
        for short, words in NAMES.items()
    )
    + "."
)


def _frame(steps):
    frame = panels(
        "softmax: loss of a query",
        "Gaussian: loss of a query",
        "normalized: loss of a query",
        "loss f of all, over steps",
        height=680,
    )
    looks = (
        {"marker": MINIMUM | {"size": 13}},
        {"marker": SPURIOUS | {"size": 13, "color": INK}},
        {"mode": "lines", "line": {"color": INK, "width": 3}},
        {"marker": START | {"size": 12, "color": INK, "line": {"width": 2}}},
        {"marker": HERE | {"size": 7, "color": INK}},
    )
    for k, (short, words) in enumerate(NAMES.items()):
        line(
            frame,
            words,
            queries.panel(k)["col"],
            queries.panel(k)["row"],
            shows=f"{short}_landscape",
            over="queries",
            legend=False,
            **LOOKS[short],
        )
        frame.data[-1].meta |= {"xaxis": {"range": "range"}, "yaxis": {"range": "loss_range"}}
        queries.add_points(frame, looks, k, short, ("q", "loss"), {"x": "shift"})
    queries.losses_over_steps(frame, steps)
    return frame.update_xaxes(zeroline=False)
