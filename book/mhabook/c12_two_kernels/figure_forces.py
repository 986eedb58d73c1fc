"""The live figure of chapter 12: one query, three keys on a line, and what three kernels make of
them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from livegrad.arrays import Array
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.c12_two_kernels.formulas import (
    CHOSEN_KEY,
    KEY,
    LOOKS,
    NAMES,
    kernels_of,
    read,
)
from mhabook.figure_parts import QUERY, together
from mhalib.models import AttentionLayer
from mhalib.plots import FOUND

# A quotient of integers: arange with the step 0.1 would gather rounding.
QUERIES = np.arange(-50, 51) / 10
KEYS = {"k1": -2.0, "k2": 0.0, "k3": 1.0}
PLACES = tuple((np.arange(-10, 11) / 2).tolist())
VALUES = {"mixed": (1.0, 2.0, -1.0), "middle": (0.0, 1.0, 0.0), "equal": (1.0, 1.0, 1.0)}
PARTS: dict[str, Callable[[dict[str, Any]], np.ndarray]] = {
    "weight": lambda found: found["weights"][:, 1],
    "output": lambda found: found["outputs"],
    "force": lambda found: -found["grad"],
}
"""What is drawn of what queries read; the weight is that of the second key."""


def kernels() -> LiveFigure:
    """A live figure: weights, outputs and forces of all queries on a line, under three kernels.

    It is a computation and no training. Keys are at −2, 0 and 1 until they are moved, as the query
    can be, by sliders or by hand; queries go from −5 to 5. The force on a query is minus the
    derivative of half its squared error. The third kernel is the control: Gaussian weights divided
    by their sum.

    Source: Propositions "What moves a query", "Softmax never selects a key that is an average
    of the others" (this book).
    """
    measures = together(
        _measured({"q": 3.0, **KEYS, "c": 0.5, "values": "mixed", "y": 1.5}), _measured
    )
    return LiveFigure(
        FigureSpec(
            title="Three kernels, one query",
            alt="Left, the weight of the second key for queries from −5 to 5: a low peak of 0.35 "
            "under softmax, a peak of 1 at the key under the Gaussian kernel, and a peak of 0.59 "
            "with normalized rows. The three keys are marked below. Middle, outputs for the "
            "values 1, 2 and −1 with the target 1.5, which only the Gaussian kernel reaches. "
            "Right, forces: all become small at both ends, and on the right the Gaussian force "
            "does so first.",
            model="kernels",
            data={
                "kind": "kernels",
                "queries": QUERIES.tolist(),
                "sets": {name: list(u) for name, u in VALUES.items()},
            },
            start={"kind": "zeros"},
            record=(0,),
            curves=("loss",),
            fixed={"optimizer": "gd"},
            final=tuple(measures),
            controls=(
                Control("q", "query", PLACES, 3.0),
                Control("k1", "first key", PLACES, KEYS["k1"]),
                Control("k2", "second key", PLACES, KEYS["k2"]),
                Control("k3", "third key", PLACES, KEYS["k3"]),
                Control("c", "width c", (0.125, 0.25, 0.5, 1.0, 2.0), 0.5),
                Control(
                    "values",
                    "values",
                    tuple(VALUES),
                    "mixed",
                    ("1, 2, −1", "0, 1, 0", "1, 1, 1"),
                    "choice",
                ),
                Control("y", "target", (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0), 1.5),
            ),
            frame=_frame(),
            summary="With query = {q}, keys {k1}, {k2}, {k3}, c = {c}, values {values}, target "
            "{y}. Weight of the second key: softmax {soft_mid}, Gaussian {gauss_mid}, normalized "
            "{between_mid}. Force on the query: softmax {soft_here_force}, Gaussian "
            "{gauss_here_force}, normalized {between_here_force}. Gaussian weights sum to {sum}; "
            "softmax loss {loss}.",
            train=_path,
            measure=measures,
        ),
        __file__,
    )


def read_by_all(
    values: dict[str, Any], queries: float | Array = QUERIES
) -> dict[str, dict[str, Any]]:
    """{kernel: what the queries ``read``}."""
    keys, u = np.array([values[name] for name in KEYS]), np.array(VALUES[values["values"]])
    return {
        name: read(kernel, np.atleast_1d(queries), keys, u, values["y"])
        for name, kernel in kernels_of(values["c"]).items()
    }


def _measured(values):
    """All that is drawn and said: of all queries, and of the one query as numbers and as lists of
    one, for markers."""
    found = {"here": [values["q"]], "target": [values["y"]] * 2} | {
        f"{name}_here": [values[name]] for name in KEYS
    }
    lone = read_by_all(values, values["q"])
    for name, many in read_by_all(values).items():
        for part, of in PARTS.items():
            found |= {
                f"{name}_{part}": of(many).tolist(),
                f"{name}_at_{part}": of(lone[name]).tolist(),
            }
        found |= {
            f"{name}_mid": found[f"{name}_at_weight"][0],
            f"{name}_here_force": found[f"{name}_at_force"][0],
        }
    return found | {"sum": float(lone["gauss"]["weights"].sum())}


def _path(values):
    # A path has one loss, and softmax gives it; nothing trains, so any layer will do.
    loss = read_by_all(values, values["q"])["soft"]["losses"]
    return Path(np.array([0]), (AttentionLayer.random(1, 1, 1),), {"loss": loss})


def _frame():
    frame = panels("weight of the second key", "output", "force on the query", columns=3)
    for column, part in enumerate(PARTS, start=1):
        for kernel, name in NAMES.items():
            line(
                frame,
                name,
                column,
                shows=f"{kernel}_{part}",
                over=QUERIES.tolist(),
                **LOOKS[kernel],
            )
        for kernel, name in NAMES.items():
            frame.add_scatter(
                name=f"{name}, here",
                mode="markers",
                marker=QUERY | {"color": LOOKS[kernel]["color"]},
                showlegend=False,
                row=1,
                col=column,
                meta={"x": "here", "y": f"{kernel}_at_{part}", "drag": {"x": "q"}},
            )
    line(frame, "target", 2, shows="target", over=[-5, 5], color=FOUND, dash="dash")
    for j, key in enumerate(KEYS):
        name, look = ("second key", CHOSEN_KEY) if j == 1 else ("other keys", KEY)
        frame.add_scatter(
            y=[0],
            name=name,
            mode="markers",
            marker=look,
            showlegend=j < 2,
            row=1,
            col=1,
            meta={"x": f"{key}_here", "drag": {"x": key}},
        )
    frame.update_xaxes(range=[-5.1, 5.1], dtick=2.5, zeroline=False, title="query")
    frame.update_yaxes(range=[-0.07, 1.05], col=1)
    frame.update_yaxes(range=[-1.6, 2.6], col=2)
    return frame.update_yaxes(range=[-3, 3], zeroline=True, col=3)
