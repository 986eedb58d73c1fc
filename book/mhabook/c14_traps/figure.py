"""The live figure of chapter 14: one query under two kernels, what it reads, its loss, and where
descent leaves it."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path, recorded_steps, train
from mhabook.c12_two_kernels.formulas import KEY, LOOKS, NAMES, kernels_of
from mhabook.c14_traps.lines import Line
from mhabook.c14_traps.statements import on_line
from mhabook.figure_parts import QUERY, Measures
from mhalib.data.sequences import SequenceDataset
from mhalib.optim import GradientDescent
from mhalib.plots import DECODER, FOUND, HERE, INK, MINIMUM, SPURIOUS

Task: TypeAlias = tuple[ArrayLike, ArrayLike, float]
"""Keys, values and a target on a line."""
# Rounded, since 0.1 · 3 is 0.30000000000000004.
STARTS = tuple(round(0.1 * k, 1) for k in range(-30, 31))
WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)
BOTH = ("soft", "gauss")
SMALLEST = 1e-10
"""The loss of a run is at least that: what is smaller is rounding."""
MET, NEAR = 1e-4, 0.05
"""A loss below MET counts as none; a query that is so near to a trap is counted as in it."""
RECORDED = 60
PLACES = 161
"""At how many queries the lines are drawn."""


@dataclass(frozen=True)
class _OnLine:
    """A task whose numbers are checked."""

    keys: tuple[float, ...]
    values: tuple[float, ...]
    y: float

    @property
    def reach(self) -> float:
        """How far to both sides it is drawn."""
        return max(4.0, 2 + max(map(abs, self.keys)))

    def places(self) -> np.ndarray:
        """The queries at which its lines are drawn."""
        return np.linspace(-self.reach, self.reach, PLACES)


def held(
    cases: Mapping[str, Task], start: float, rule: GradientDescent, steps: int = 300
) -> LiveFigure:
    """A live figure: a query on a line of keys descends on its loss, under softmax and under the
    Gaussian kernel.

    On the left is what a query reads at every place, with the values over their keys, and the
    target; on the right its loss. Controls choose the case, the start of the query, which can be
    dragged too, and the width of the Gaussian kernel. The first case is the one that it starts
    with.

    Parameters
    ----------
    cases : words → (keys, values, target): as many values as keys, all on a line
    start : where the query begins, between −3 and 3
    rule : ``GradientDescent`` with a number as its step size
    steps : how many steps a run has

    Raises TypeError or ValueError for other arguments.

    Source: this book.
    """
    require_count(steps=steps)
    tasks = {words: _task(words, *case) for words, case in cases.items()}
    if not tasks:
        raise ValueError("cases: expected one case or more, got none")
    if not (isinstance(start, Real) and STARTS[0] <= start <= STARTS[-1]):
        raise ValueError(
            f"start: expected a number from −3 to 3, as the slider has them, got {start!r}"
        )
    if type(rule) is not GradientDescent or callable(rule.lr):
        raise TypeError(
            f"rule: expected GradientDescent with a number as its step size, got {rule!r}; "
            "mha.live.figure takes other rules"
        )
    record, lr = tuple(recorded_steps(steps, RECORDED)), float(rule.lr)
    measure = _measures(tasks)
    return LiveFigure(
        FigureSpec(
            title="Where does the query stop?",
            alt=_ALT.format(next(iter(tasks)), steps),
            summary=_SUMMARY,
            model="held",
            data={
                "kind": "cases",
                "cases": {words: _page_data(task) for words, task in tasks.items()},
            },
            start={"kind": "query"},
            record=record,
            curves=("loss",),
            final=tuple(measure),
            measure=measure,
            fixed={"optimizer": "gd", "lr": lr},
            controls=(
                Control(
                    "case", "values along the keys", tuple(tasks), next(iter(tasks)), kind="choice"
                ),
                Control("q", "initial query", tuple(sorted({*STARTS, float(start)})), float(start)),
                Control("c", "width c (small c: wide kernel)", WIDTHS, 0.5),
            ),
            tries=_tries(tasks),
            frame=_frame(),
            train=lambda values: _run(
                tasks[values["case"]], values["q"], values["c"], rule, steps, record
            ),
        ),
        __file__,
    )


def _task(words, keys, values, y):
    keys, values = (np.asarray(column, float) for column in (keys, values))
    if keys.ndim != 1 or keys.shape != values.shape or not keys.size:
        raise ValueError(
            f"cases: {words}: expected as many values as keys, one or more, each on a line, got "
            f"shapes {keys.shape} and {values.shape}"
        )
    if np.ndim(y) or not np.isfinite([*keys, *values, y]).all():
        raise ValueError(
            f"cases: {words}: expected finite keys and values, and a finite number as the target"
        )
    return _OnLine(tuple(keys.tolist()), tuple(values.tolist()), float(y))


def _page_data(task):
    return {
        "keys": list(task.keys),
        "values": list(task.values),
        "y": task.y,
        "reach": task.reach,
        "places": PLACES,
    }


def _tries(tasks):
    tries: dict[str, dict[str, Any]] = {"Initial settings": {}, "From left of zero": {"q": -0.4}}
    # The second case, if there is one.
    for words in list(tasks)[1:2]:
        tries[f"Values {words}"] = {"case": words, "q": -1.0}
        tries[f"Values {words}, wide kernel"] = {"case": words, "q": -1.0, "c": WIDTHS[0]}
    return tries


def _run(task, q, c, rule, steps, record):
    """The softmax run, with the loss of both kernels together and where both have the query,
    (recorded steps,)."""
    n, paths = len(task.keys), {}
    X, y = np.eye(n)[None], np.full((1, n, 1), task.y)
    for short in BOTH:  # every token of the layer has the same query, so it counts n times
        layer = on_line(np.full(n, q), task.keys, task.values, kernels_of(c)[short])
        paths[short] = train(layer, SequenceDataset(X, y), rule, steps, only=("WQ",), record=record)
    curves = {"loss": np.maximum(sum(path.loss for path in paths.values()) / n, SMALLEST)}
    curves |= {
        f"{short}_q": np.array([model.WQ[0, 0, 0] for model in path.models])
        for short, path in paths.items()
    }
    return Path(paths["soft"].steps, paths["soft"].models, curves)


def _measures(tasks) -> Measures:
    """Name → function of (path, values), for what is drawn and said of a run."""

    def shown(path, values):
        task = tasks[values["case"]]
        found, ends = _of_task(task, values["q"]), {}
        for short in BOTH:
            seen = Line(task.keys, task.values, kernels_of(values["c"])[short])
            found |= {
                f"{short}_{name}": numbers
                for name, numbers in _of_run(seen, task, path[short]).items()
            }
            ends[short] = _kind(seen, task, path[short][-1])
        for kind in ("met", "trap", "end"):
            there = [short for short in BOTH if ends[short] == kind]
            for part in ("", "_read", "_loss"):
                found[kind + part] = [found[f"{short}_end{part}"][0] for short in there]
        return found

    # The names are the same for all values, so any values tell them.
    names = shown(
        {short: np.zeros(1) for short in BOTH}, {"case": next(iter(tasks)), "q": 0.0, "c": 0.5}
    )
    return {
        name: lambda path, values, name=name: shown(_visited(path), values)[name] for name in names
    }


def _visited(path):
    return {short: path.curves[f"{short}_q"] for short in BOTH}


def _of_task(task, q):
    # NaN lifts the pen between two pins.
    stems = (
        [(key, key, np.nan) for key in task.keys],
        [(0.0, value, np.nan) for value in task.values],
    )
    return {
        "places": _rounded(task.places()),
        "range": [-task.reach, task.reach],
        "begin": [q],
        "keys": list(task.keys),
        "values": list(task.values),
        "floor": [0.0] * len(task.keys),
        "y": task.y,
        "target": [task.y] * 2,
        "stem_x": np.ravel(stems[0]).tolist(),
        "stem_y": np.ravel(stems[1]).tolist(),
    }


def _of_run(seen, task, visited):
    """What a query reads under one kernel, and its loss: everywhere, on its way, at the start and
    at the end."""
    found = {"way": _rounded(visited), "end": _rounded(visited[-1:])}
    for name, q in {
        "all": task.places(),
        "way": visited,
        "begin": visited[:1],
        "end": visited[-1:],
    }.items():
        found |= {
            f"{name}_read": _rounded(seen.output(q)),
            f"{name}_loss": _rounded(seen.loss(q, task.y)),
        }
    last = {"last": "end", "last_read": "end_read", "last_loss": "end_loss"}
    return found | {name: found[of][0] for name, of in last.items()}


def _kind(seen, task, q):
    """Whether the target is met at a query, "met", or it is in a "trap", or has its "end" elsewhere."""
    here, *around = (seen.loss(q + away, task.y) for away in (0, -NEAR, NEAR))
    if here < MET:
        return "met"
    return "trap" if min(around) > here else "end"


def _rounded(numbers):
    """Numbers to draw: what is smaller than a picture shows would differ between Python and the
    browser."""
    return (np.round(numbers, 6) + 0.0).tolist()  # and no −0


_SUMMARY = (
    "Values {case}, target {y}, c = {c}, initial query {q}. After {steps} steps the softmax query "
    "is at {soft_last}, its output is {soft_last_read}, and its loss is {soft_last_loss}. The "
    "Gaussian query is at {gauss_last}, its output is {gauss_last_read}, and its loss is "
    "{gauss_last_loss}."
)
_ALT = (
    "Left, the output at every query on the line, with values {}: under softmax a curve from the "
    "value of the smallest key to that of the largest, under the Gaussian kernel peaks and dips "
    "at the keys that fall to zero outside. Keys are diamonds on the axis, with pins as long as "
    "their values, and a green line shows the target. Right, the loss of the query. Both "
    "queries start at the same point, and are drawn there and where they are after {} steps, "
    "with a star where the target is met and a cross where the query is trapped. Between the two, "
    "the curve of each kernel is broader."
)


def _frame():
    """Each name stands once: those of the curves on the left, those of the query's places on the
    right. The foot of a pin is a key, and a path goes from the start."""
    frame = panels("output at the query", "loss", height=450)
    frame.add_scatter(
        name="stems",
        mode="lines",
        line={"color": DECODER, "width": 2},
        row=1,
        col=1,
        showlegend=False,
        meta={"x": "stem_x", "y": "stem_y"},
    )
    line(frame, "target", 1, shows="target", over="range", color=FOUND)
    frame.data[-1].line.width = 1.5
    for column, part in enumerate(("read", "loss"), start=1):
        for short in BOTH:
            line(
                frame,
                NAMES[short],
                column,
                shows=f"{short}_all_{part}",
                over="places",
                legend=column == 1,
                **LOOKS[short],
            )
            frame.data[-1].meta |= {"xaxis": {"range": "range"}}
    for name, height, look in (
        ("keys", "floor", KEY),
        ("values at their keys", "values", {"size": 8, "color": DECODER}),
    ):
        frame.add_scatter(
            name=name,
            mode="markers",
            row=1,
            col=1,
            marker=look,
            showlegend=name != "keys",
            meta={"x": "keys", "y": height},
        )
    for column, part in enumerate(("read", "loss"), start=1):
        _queries(frame, column, part)
        for name, kind, look in (
            ("end", "end", HERE | {"size": 7, "color": INK}),
            ("target met", "met", MINIMUM | {"size": 14}),
            ("trap", "trap", SPURIOUS | {"size": 12, "color": INK}),
        ):
            frame.add_scatter(
                name=name,
                mode="markers",
                row=1,
                col=column,
                marker=look,
                showlegend=column == 2,
                meta={"x": kind, "y": f"{kind}_{part}"},
            )
    return frame.update_xaxes(title="query", zeroline=False)


def _queries(frame, column, part):
    """The path of each query, broad on its line, and their starts, which can be dragged."""
    place = {"row": 1, "col": column}
    for short in BOTH:
        frame.add_scatter(
            name=f"{NAMES[short]} path",
            mode="lines",
            line=LOOKS[short] | {"width": 8},
            meta={"x": f"{short}_way", "y": f"{short}_way_{part}"},
            showlegend=False,
            **place,
        )
    for short in BOTH:
        frame.add_scatter(
            name="start",
            mode="markers",
            marker=QUERY,
            meta={"x": "begin", "y": f"{short}_begin_{part}", "drag": {"x": "q"}},
            showlegend=column == 2 and short == BOTH[0],
            **place,
        )
