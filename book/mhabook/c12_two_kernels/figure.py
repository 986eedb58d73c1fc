"""The live figure of chapter 12: one query, three keys on a line, and what three kernels make of them."""

from typing import Any

import numpy as np

from mhabook.frames import together
from mhalib._array import Array
from mhalib.attention import Gaussian, softmax
from mhalib.live.frames import line, panels
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models import AttentionLayer
from mhalib.plots import COLORS, GRAY
from mhalib.training import Path

QUERIES = np.arange(-50, 51) / 10
KEYS = {"k1": -2.0, "k2": 0.0, "k3": 1.0}
PLACES = tuple((np.arange(-10, 11) / 2).tolist())
VALUES = {"mixed": (1.0, 2.0, -1.0), "middle": (0.0, 1.0, 0.0), "equal": (1.0, 1.0, 1.0)}
KERNELS = ("soft", "gauss", "between")
NAMES = ("softmax", "Gaussian", "Gaussian, rows normalized")
PARTS = ("weight", "output", "force")


def kernels() -> LiveFigure:
    """A live figure: weights, outputs and forces of all queries on a line, under three kernels.

    It is a computation and no training. Keys are at −2, 0 and 1 until they are moved, as the query can be, by sliders
    or by hand; queries go from −5 to 5. The force on a query is minus the derivative of half its squared error. The
    third kernel is the control: Gaussian weights divided by their sum.

    Source: Propositions "What moves a query", "A key among the others is never selected by softmax" (this book).
    """
    frame = _frame()
    measures = together(_measured({"q": 3.0, **KEYS, "c": 0.5, "values": "mixed", "y": 1.5}), _measured)
    return LiveFigure(FigureSpec(
        title="Three kernels, one query",
        alt="Left, the weight of the second key over queries from −5 to 5: softmax a low hill up to 0.35, the Gaussian "
            "kernel a bell up to 1 at the key, normalized rows a hill up to 0.59; the three keys stand below. Middle, "
            "outputs for the values 1, 2 and −1 with the target 1.5, which only the Gaussian kernel reaches. Right, "
            "forces: all grow small at both ends, on the right the Gaussian one first.",
        model="kernels", data={"kind": "kernels", "queries": QUERIES.tolist(),
                               "sets": {name: list(u) for name, u in VALUES.items()}},
        start={"kind": "zeros"}, record=(0,), curves=("loss",), fixed={"optimizer": "gd"}, final=tuple(measures),
        controls=(Control("q", "query", PLACES, 3.0), Control("k1", "first key", PLACES, KEYS["k1"]),
                  Control("k2", "second key", PLACES, KEYS["k2"]), Control("k3", "third key", PLACES, KEYS["k3"]),
                  Control("c", "width c", (0.125, 0.25, 0.5, 1.0, 2.0), 0.5),
                  Control("values", "values", tuple(VALUES), "mixed", ("1, 2, −1", "0, 1, 0", "1, 1, 1"), "choice"),
                  Control("y", "target", (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0), 1.5)),
        frame=frame, **_places(frame),
        summary="With query = {q}, keys {k1}, {k2}, {k3}, c = {c}, values {values}, target {y}. Weight of the second "
                "key: softmax {soft_mid}, Gaussian {gauss_mid}, normalized {between_mid}. Force on the query: softmax "
                "{soft_here_force}, Gaussian {gauss_here_force}, normalized {between_here_force}. Gaussian weights "
                "sum to {sum}; softmax loss {loss}.",
        train=_path, measure=measures), __file__)


def read(values: dict[str, Any], queries: float | Array = QUERIES) -> dict[str, tuple[np.ndarray, ...]]:
    """{kernel: (weights (·, 3), outputs, forces)} of the queries, by mhalib."""
    Q, K = np.atleast_1d(queries)[:, None], np.array([[values[name]] for name in KEYS])
    u, wide = np.array(VALUES[values["values"]]), Gaussian(values["c"])
    found = {}
    for name, kernel, scores in zip(KERNELS, (softmax, wide, softmax), (softmax, wide, wide), strict=True):
        S = kernel(scores.scores(Q, K))
        dS = kernel.vjp(S, (S @ u - values["y"])[:, None] * u)
        found[name] = S, S @ u, -scores.scores_vjp(Q, K, dS)[0][:, 0]
    return found


def _measured(values):
    """All that is drawn and said: of all queries, and of the one query as numbers and as lists of one, for markers."""
    found = {"here": [values["q"]], "target": [values["y"]] * 2} | {f"{name}_here": [values[name]] for name in KEYS}
    lone = read(values, values["q"])
    for name, parts in read(values).items():
        # Of the weights it is that of the second key.
        over, (S, o, force) = ((S[:, 1], o, force) for S, o, force in (parts, lone[name]))
        found |= {f"{name}_{part}": a.tolist() for part, a in zip(PARTS, over, strict=True)}
        found |= {f"{name}_at_{part}": a.tolist() for part, a in zip(PARTS, (S, o, force), strict=True)}
        found |= {f"{name}_mid": float(S[0]), f"{name}_here_force": float(force[0])}
    return found | {"sum": float(lone["gauss"][0].sum())}


def _path(values):
    loss = (read(values, values["q"])["soft"][1] - values["y"]) ** 2 / 2
    return Path(np.array([0]), (AttentionLayer.random(1, 1, 1),), {"loss": loss})


def _frame():
    frame = panels("weight of the second key", "output", "force on the query", columns=3)
    for column, part in enumerate(PARTS, start=1):
        for k, (kernel, name) in enumerate(zip(KERNELS, NAMES, strict=True)):
            line(frame, k, name, column, legend=column == 1)
            frame.data[-1].update(x=QUERIES.tolist(), meta={"y": f"{kernel}_{part}"})
        for k, (kernel, name) in enumerate(zip(KERNELS, NAMES, strict=True)):
            frame.add_scatter(name=f"{name}, here", mode="markers", marker={"color": COLORS[k], "size": 10},
                              showlegend=False, row=1, col=column,
                              meta={"x": "here", "y": f"{kernel}_at_{part}", "drag": {"x": "q"}})
    line(frame, 3, "target", 2, faint=True, legend=True)
    frame.data[-1].update(x=[-5, 5], meta={"y": "target"})
    for j, key in enumerate(KEYS):
        name, color = ("second key", COLORS[4]) if j == 1 else ("other keys", GRAY)
        frame.add_scatter(y=[0], name=name, mode="markers", marker={"symbol": "diamond", "size": 12, "color": color},
                          showlegend=j < 2, row=1, col=1, meta={"x": f"{key}_here", "drag": {"x": key}})
    frame.update_xaxes(range=[-5.1, 5.1], dtick=2.5, zeroline=False, title="query")
    frame.update_yaxes(range=[-0.07, 1.05], col=1)
    frame.update_yaxes(range=[-1.6, 2.6], col=2)
    return frame.update_yaxes(range=[-3, 3], zeroline=True, col=3)


def _places(frame):
    """The ``draw`` and ``drag`` of a figure, from the ``meta`` that the traces of its frame have until now.

    There a trace says what it shows, part → name, and under "drag" which sliders move it.
    """
    shown = [dict(trace.meta or {}) for trace in frame.data]
    frame.update_traces(meta=None)
    drag = tuple({"trace": k} | one.pop("drag") for k, one in enumerate(shown) if "drag" in one)
    return {"draw": tuple({"trace": k} | one for k, one in enumerate(shown) if one), "drag": drag}
