"""What the pictures know of plotly: all else is refused, so that no figure is drawn wrong in
silence."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

# For whom it is that has nothing to see: pointers, readers' fingers, JavaScript.
UNSEEN = {"hoverinfo", "hovertemplate", "meta", "type", "uid"}
TRACE = UNSEEN | {"name", "opacity", "showlegend", "legendgroup", "legend", "visible"}
ON_AXES = TRACE | {"x", "y", "xaxis", "yaxis"}
KNOWN: dict[str, set[str]] = {
    "scatter": ON_AXES | {"mode", "line", "marker", "fill", "fillcolor"},
    "bar": ON_AXES | {"marker"},
    "heatmap": ON_AXES
    | {"z", "zmin", "zmax", "zmid", "transpose", "colorscale", "showscale", "colorbar"}
    | {"zsmooth"},
    "line": {"color", "dash", "width"},
    "marker": {"color", "size", "symbol", "opacity", "line"},
    "colorbar": {"title", "len", "y", "dtick", "thickness", "tickvals", "ticktext"},
    "layout": {"annotations", "font", "height", "margin", "sliders", "title"}
    | {"colorway", "dragmode", "meta", "paper_bgcolor", "plot_bgcolor", "template", "uirevision"},
    "axis": {"title", "type", "range", "rangemode", "autorange", "autorangeoptions", "domain"}
    | {"dtick", "nticks", "tickvals", "ticktext", "showticklabels", "exponentformat", "automargin"}
    | {"tickformat"}
    | {"showgrid", "zeroline", "zerolinecolor", "zerolinewidth", "anchor", "scaleanchor"}
    | {"constrain", "fixedrange"},
    "legend": {"orientation", "x", "y", "yanchor", "font", "groupclick", "itemwidth"},
    "annotation": {"text", "x", "y", "xanchor", "yanchor", "xref", "yref", "yshift", "font"}
    | {"showarrow"},
}
# Of what can be chosen the choices that are drawn.
CHOICES: dict[str, set[Any]] = {
    "axis.type": {"linear", "log", "-", "category"},
    "axis.rangemode": {"normal", "tozero"},
    "axis.autorange": {True, False, "reversed"},
    "axis.exponentformat": {"power", "none", "B"},
    "axis.tickformat": {"~g"},
    "annotation.showarrow": {False},
    "annotation.xref": {"paper"},
    "annotation.yref": {"paper"},
    "legend.orientation": {"h"},
    "heatmap.zsmooth": {"best"},
    "scatter.fill": {"none", "toself"},
    "scatter.mode": {"lines", "markers", "lines+markers", "none"},
    "marker.symbol": {
        "circle",
        "circle-open",
        "diamond-open",
        "triangle-up-open",
        "square",
        "diamond",
        "star",
        "x",
        "line-ns-open",
    },
    "line.dash": {"solid", "dot", "dash", "longdash", "dashdot", "longdashdot"},
}


def require_known(figure: Mapping[str, Any]) -> None:
    """Refuse a figure that would be drawn in another way than plotly draws it.

    Raises ValueError naming the trace or the part of the layout, and the figure by its alt text.
    """
    found = [*unknown(figure)]
    if found:
        alt = (figure["layout"].get("meta") or {}).get("alt") or "a figure without alt text"
        raise ValueError(
            f"no picture can be drawn with {', '.join(dict.fromkeys(found))}, in the figure: {alt} "
            "(livegrad/still/known.py lists what can be)"
        )


def unknown(figure: Mapping[str, Any]) -> Iterator[str]:
    """What of a figure is not known, by its path."""
    for trace in figure["data"]:
        kind = trace.get("type", "scatter")
        if kind not in ("scatter", "bar", "heatmap"):
            yield f"a trace of the type {kind}"
            continue
        yield from strange(kind, trace)
        marker = trace.get("marker") or {}
        for part in (trace, marker):
            yield from strange("line", part.get("line") or {})
        yield from strange("marker", marker)
        yield from strange("colorbar", trace.get("colorbar") or {})
    layout = figure["layout"]
    parts = {name: re.sub(r"^[xy](?=axis)|\d+$", "", name) for name in layout}
    parts = {name: re.sub(r"\d+$", "", part) for name, part in parts.items()}
    for name, part in parts.items():
        if part in ("axis", "legend"):
            yield from strange(part, layout[name])
        elif name not in KNOWN["layout"]:
            yield name
    for words in layout.get("annotations", ()):
        yield from strange("annotation", words)


def strange(part: str, said: Mapping[str, Any]) -> Iterator[str]:
    """What a part says that is not known, or chooses that is not drawn."""
    for name, value in said.items():
        if value is None:
            continue
        path = f"{part}.{name}"
        if name not in KNOWN[part]:
            yield path
        elif path in CHOICES and not (isinstance(value, str | bool) and value in CHOICES[path]):
            yield f"{path} = {value!r}"
