"""What the laboratory draws of each kind of data: six panels, and the sentence below them."""

import json
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from livegrad.live.drawing import FLOOR, places
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

# Data → the panels of curves: (title, (curve, name) pairs, vertical axis).
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


def alt(kind: str) -> str:
    """What the figure shows, in words."""
    return f"Six panels: {', '.join(_titles(kind))}, and step size."


def _titles(kind):
    """The titles of all panels but the last, row by row."""
    first, *rest = (title for title, _, _ in PANELS[kind])
    return [first, "attention weights", *rest]


def frame(kind: str) -> go.Figure:
    """The figure without numbers; each trace says in its ``meta`` what it shows."""
    panels = (*PANELS[kind][:4], ("step size", RATE, LOG | {"dtick": 1}))
    figure = make_subplots(
        rows=3,
        cols=2,
        row_heights=[1.4, 1, 1],
        horizontal_spacing=0.14,
        vertical_spacing=0.125,
        subplot_titles=[*_titles(kind), "step size"],
    )
    transparent(figure, alt="", height=640).update_layout(margin={"t": 30, "b": 40})
    at_the_left(figure)
    for (_, traces, axis), (row, col) in zip(panels, CURVES_AT, strict=True):
        place = {"row": row, "col": col}
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
    figure.update_xaxes(title=_title("step"), row=3)
    _with_attention(figure)
    legends_above(figure)
    low, high = figure.layout.yaxis2.domain
    figure.data[-1].colorbar.update(y=(low + high) / 2, len=high - low)
    return _unmeasured(figure)


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
    """What the browser reads: for each kind of data its curves, its frame and its sentence."""
    described = {}
    for kind in PANELS:
        figure = frame(kind)
        # Read off the meta before it is taken away.
        draw = list(places(figure))
        plain = json.loads(figure.update_traces(meta=None).to_json())
        described[kind] = {
            "curves": curves(kind),
            "figure": {"data": plain["data"], "layout": plain["layout"]},
            "draw": draw,
            "alt": alt(kind),
            "says": f"After {{steps}} steps of {{optimizer}}: {SAYS[kind]}.",
        }
    return described
