"""What the laboratory draws of each kind of data: its panels, and the sentence below them."""

import json
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from livegrad.live.drawing import FLOOR, places
from livegrad.live.frames import line
from livegrad.live.legends import legends_above
from livegrad.plots import at_the_left
from mhalib.plots import ATTENTION, DECODER, INK, WEIGHTS, transparent

LOSSES = (("loss", "training"), ("test_loss", "test"))
SHARES = (("accuracy", "training"), ("test_accuracy", "test"))
NORMS = (("norm_W", "W"), ("norm_U", "U"))
EDGE = ("stability_edge", "2/η")
CURVATURES = (("sharpness", "eigenvalue"), ("smoothness_bound", "bound ρ"), EDGE)
MATRICES = tuple((f"norm_{name}", name) for name in ("WQ", "WK", "WV", "WO"))
RATE = (("rate", "step size η"),)
LOOKS = {
    "stability_edge": {"name": "edge", "visible": "has_edge"},
    "sharpness": {"visible": "has_curvature"},
    "value_smoothness": {"visible": "has_value_bound"},
}
"""What the controls decide of a line: its name, and whether it is there, by ``measures.edge_label``
and ``told``."""
LOG = {"type": "log", "exponentformat": "power", "nticks": 3, "autorangeoptions_clipmin": FLOOR}
SHARE = {"range": [-0.02, 1.03]}
CURVES_AT = ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2))
"""Row and column of each panel of curves; the attention weights stand at the right of the first."""
ROW_HEIGHTS, HEIGHT, GAP, MARGIN = [1.4, 1, 1], 640, 0.125, {"t": 30, "b": 40}
"""Of three rows: what they share, pixels, the part of them between two rows, and around them."""

# Data → the panels of curves: (title, (curve, name) pairs, vertical axis). The last is of the curvature.
_HEADS = (("loss", LOSSES, LOG), ("accuracy", SHARES, SHARE))
_OWN = (("loss", LOSSES[:1], LOG), ("accuracy", SHARES[:1], SHARE))
_BOUNDED = ("largest eigenvalue", CURVATURES, LOG)
_SECOND = ("largest eigenvalue", (("sharpness", "eigenvalue"), EDGE), LOG)
_NORMS = ("norms of the weights", NORMS, {})
_TOKENS = ("effective tokens", (("effective_tokens", "effective tokens"),), {"rangemode": "tozero"})
_LAYER = (
    ("loss", LOSSES[:1], LOG),
    ("norms of the weights", MATRICES, {}),
    ("smallest singular value of B", (("least_singular", "σ_min(B)"),), {}),
    (
        "largest eigenvalue",
        (("sharpness", "eigenvalue"), ("value_smoothness", "bound"), EDGE),
        LOG,
    ),
)
PANELS: dict[str, tuple[Any, ...]] = {
    "mixture": (
        *_HEADS,
        ("attention score", (("attention_score", "attention score"),), SHARE),
        _BOUNDED,
    ),
    "planted": (
        *_HEADS,
        (
            "alignment with the planted head",
            (("planted_W", "W"), ("planted_U", "U")),
            {"range": [-1.03, 1.03]},
        ),
        _BOUNDED,
    ),
    "digits": (*_HEADS, _NORMS, _BOUNDED),
    "pathfinder": (*_HEADS, _NORMS, _BOUNDED),
    "linear": (
        ("loss", (("loss", "training"), ("floor", "noise floor")), LOG),
        ("excess", (("excess", "population excess"),), LOG),
        _TOKENS,
        _SECOND,
    ),
    "sequences": _LAYER,
    "own_heads": (*_OWN, _NORMS, _BOUNDED),
    "own_regression": (
        ("loss", LOSSES[:1], LOG),
        _TOKENS,
        ("norms of the weights", (("norm_A", "A"), ("norm_B", "B")), {}),
        _SECOND,
    ),
    "own_layer": _LAYER,
}


ROLES = {
    "attention_score": (ATTENTION, "solid"),
    "test_loss": (INK, "dash"),
    "test_accuracy": (INK, "dash"),
    "floor": (INK, "dot"),
    "stability_edge": (INK, "dot"),
    "smoothness_bound": (INK, "dot"),
    "value_smoothness": (INK, "dot"),
    "planted_W": (ATTENTION, "solid"),
    "planted_U": (DECODER, "solid"),
    "norm_W": (ATTENTION, "solid"),
    "norm_U": (DECODER, "solid"),
    "norm_WQ": (ATTENTION, "solid"),
    "norm_WK": (ATTENTION, "dash"),
    "norm_WV": (DECODER, "solid"),
    "norm_WO": (DECODER, "dash"),
    "norm_A": (DECODER, "solid"),
    "norm_B": (ATTENTION, "solid"),
}
"""Curve → its color and dash; all others have a solid line of ink."""


def look(curve: str) -> dict[str, Any]:
    """The line of a curve: a solid one is broad, one with dashes less so."""
    color, dash = ROLES.get(curve, (INK, "solid"))
    return {"color": color, "dash": dash, "width": 3 if dash == "solid" else 2}


def curves(kind: str) -> list[str]:
    """The names of what is measured at every recorded step."""
    return [name for _, traces, _ in PANELS[kind] for name, _ in traces] + ["rate"]


BELOW = {"": 0, "curvature": 1, "schedule": 2}
"""What the last row shows → of how many panels it is: neither a constant step size nor a curvature
that is not measured has one."""


def below(values: Mapping[str, Any]) -> str:
    """What the last row shows of a run: beside a schedule of the step size stands the edge."""
    if values["schedule"] != "constant":
        return "schedule"
    return "curvature" if values["curvature"] else ""


BASELINE = "opening run"
BASELINE_ALT = f"A thin gray line shows the {BASELINE}."
COMPARED = ("loss", "accuracy", "attention_score", "sharpness")


def compared(kind: str) -> list[str]:
    """The curves beside which the run stands that the laboratory opens with: that run is of the
    classifier, whose loss is another one than those of a regression and a layer."""
    known = curves(kind)
    return [name for name in COMPARED if name in known] if "accuracy" in known else []


def alt(kind: str, below: str) -> str:
    """What the figure shows, in words."""
    *first, last = _titles(kind, below)
    return f"{NUMBERS[len(first) + 1]} panels: {', '.join(first)}, and {last}."


NUMBERS = {4: "Four", 5: "Five", 6: "Six"}


def _titles(kind, below):
    """The titles of all panels, row by row."""
    first, *rest = (title for title, _, _ in _panels(kind, below))
    return [first, "attention weights", *rest]


def _panels(kind, below):
    """The panels of curves that are drawn."""
    return (*PANELS[kind], ("step size", RATE, LOG | {"dtick": 1}))[: 3 + BELOW[below]]


def frame(kind: str, below: str) -> go.Figure:
    """The figure without numbers; each trace says in its ``meta`` what it shows."""
    panels, beside = _panels(kind, below), compared(kind)
    rows = 3 if BELOW[below] else 2
    figure = _grid(rows, BELOW[below] == 1, _titles(kind, below))
    for (_, traces, axis), (row, col) in zip(panels, CURVES_AT, strict=False):
        place = {"row": row, "col": col}
        for curve in [name for name, _ in traces if name in beside]:
            line(figure, BASELINE, col, row, shows=curve, once=True, legend=False)
        span = {"xaxis": {"range": "span"}}  # once for each axis
        for curve, name in traces:
            figure.add_scatter(
                name=name,
                mode="lines",
                line=look(curve),
                showlegend=len(traces) > 1,
                **place,
                meta={"x": "steps", "y": curve} | LOOKS.get(curve, {}) | span,
            )
            span = {}
        figure.update_yaxes(**axis, **place)
        figure.update_xaxes(type="log", exponentformat="power", dtick=1, **place)
    figure.update_xaxes(title=_title("step"), row=rows)
    _with_attention(figure)
    legends_above(figure)
    low, high = figure.layout.yaxis2.domain
    figure.data[-1].colorbar.update(y=(low + high) / 2, len=high - low)
    return _unmeasured(figure)


def _grid(rows, is_single, titles):
    """Panels without curves, as high in two rows as in three; a single one has its row alone."""
    inner = HEIGHT - MARGIN["t"] - MARGIN["b"]
    gap = GAP * inner
    unit = (inner - gap * (len(ROW_HEIGHTS) - 1)) / sum(ROW_HEIGHTS)
    high = unit * sum(ROW_HEIGHTS[:rows]) + gap * (rows - 1)
    specs = [[{}, {}] for _ in range(rows)]
    if is_single:
        specs[-1] = [{"colspan": 2}, None]
    figure = make_subplots(
        rows=rows,
        cols=2,
        specs=specs,
        row_heights=ROW_HEIGHTS[:rows],
        horizontal_spacing=0.14,
        vertical_spacing=gap / high,
        subplot_titles=titles,
    )
    height = round(high + MARGIN["t"] + MARGIN["b"])
    return at_the_left(transparent(figure, alt="", height=height).update_layout(margin=MARGIN))


def _title(text):
    return {"text": text, "standoff": 15}


def _unmeasured(figure):
    """Labels of axes without a title are not measured; measuring takes half of the time that plotly
    draws."""
    for axis in (figure.layout.template.layout.xaxis, figure.layout.template.layout.yaxis):
        axis.update(automargin=False, ticklabeloverflow="allow").title = None
    return figure


def _with_attention(figure):
    names = {"ticktext": "tokens", "tickvals": "places"}
    figure.add_heatmap(
        **WEIGHTS,
        colorbar_title="weight",
        row=1,
        col=2,
        meta={"z": "weights", "xaxis": names, "yaxis": names},
    )
    clear = {"constrain": "domain", "showgrid": False, "zeroline": False}
    figure.update_xaxes(title=_title("key token"), **clear, row=1, col=2)
    figure.update_yaxes(title=_title("query token"), autorange="reversed", **clear, row=1, col=2)


SAYS = {
    "mixture": "training loss {loss}, test loss {test_loss}, test accuracy {test_accuracy}, "
    "attention score {attention_score}",
    "planted": "training loss {loss}, test loss {test_loss}, test accuracy {test_accuracy}, "
    "alignment {planted_W} in W and {planted_U} in U",
    "digits": "training loss {loss}, test loss {test_loss}, test accuracy {test_accuracy}",
    "pathfinder": "training loss {loss}, test loss {test_loss}, test accuracy {test_accuracy}",
    "linear": "training loss {loss}, noise floor {floor}, population excess {excess}, "
    "{effective_tokens} effective tokens",
    "sequences": "loss {loss}, initially {first_loss}; σ_min(B) = {least_singular}",
    "own_heads": "training loss {loss}, accuracy {accuracy}",
    "own_regression": "training loss {loss}, {effective_tokens} effective tokens",
    "own_layer": "loss {loss}, initially {first_loss}; σ_min(B) = {least_singular}",
}


def to_json() -> dict[str, Any]:
    """What the browser reads: for each kind of data its curves, its frames and its sentence."""
    return {
        kind: {
            "curves": curves(kind),
            "frames": {below: _frame_json(kind, below) for below in BELOW},
            "says": f"After {{steps}} steps of {{optimizer}}: {SAYS[kind]}.",
        }
        for kind in PANELS
    }


def template() -> dict[str, Any]:
    """The template of all frames, which the browser reads once."""
    return json.loads(frame("mixture", "").to_json())["layout"]["template"]


def _frame_json(kind, below):
    figure = frame(kind, below)
    # Read off the meta before it is taken away.
    draw = list(places(figure))
    plain = json.loads(figure.update_traces(meta=None).to_json())
    del plain["layout"]["template"]
    return {
        "figure": {"data": plain["data"], "layout": plain["layout"]},
        "draw": draw,
        "alt": alt(kind, below),
        "initial": BASELINE,
    }
