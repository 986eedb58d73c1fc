"""A guess that is drawn: its axes, a slider for each of its points, and beside the result both
curves.

In a ``questions.yml`` its ``curve`` says what stands along ``x`` and ``at`` which points it is
drawn, what stands along ``y``, ``from`` where ``to`` where, and which ``line`` of a figure above is
the result. ``mhabook/exercises/curve.js`` draws the reader's.
"""

import json
import re
from base64 import b64decode
from html import escape, unescape

import numpy as np
from bookext import FIGURE

LEVELS = 20  # between the least and the greatest value that can be drawn
HOW = "Draw across the plot, or move its points by Tab and the arrow keys. Beyond a first stroke the curve is level."
RESULT = re.compile(r'<path class="mha-result" data-line="([^"]+)" data-at="([^"]+)"/>')


def shown(words):
    return escape(words).replace("-", "−")


def sliders(curve, name):
    """Axes to draw in: below the drawing a hidden slider for each point, which the keyboard
    reaches."""
    step = (float(curve["to"]) - float(curve["from"])) / LEVELS
    return axes(
        curve,
        "".join(
            f'<label>{shown(x)}<input type="range" {name} min="{curve["from"]}" max="{curve["to"]}" step="{step:g}" '
            f'aria-label="{shown(curve["x"])} {shown(x)}" autocomplete="off"></label>'
            for x in curve["at"]
        ),
    )


def copy(curve, result=False):
    """The same axes to look at, the values in words, and the place where ``draw_results`` draws the
    result."""
    line = f'<path class="mha-result" data-line="{escape(curve["line"])}" data-at="{" ".join(curve["at"])}"/>'
    return (
        '<span class="mha-your-guess visually-hidden"></span>'
        f'<span aria-hidden="true">{empty(curve, line if result else "")}</span>'
    )


def empty(curve, result=""):
    """Axes to look at, with the values along them in words."""
    return axes(curve, "".join(f"<span>{shown(x)}</span>" for x in curve["at"]), result)


def axes(curve, columns, result=""):
    """A column of width 1 for each point; a value is drawn as its negative, for drawings count
    downward."""
    least, greatest = float(curve["from"]), float(curve["to"])
    box = f"0 {-greatest:g} {len(curve['at'])} {greatest - least:g}"
    scale = "".join(f"<span>{shown(curve[key])}</span>" for key in ("to", "y", "from"))
    return (
        f'<span class="mha-axes"><span class="mha-scale" aria-hidden="true">{scale}</span><span class="mha-plot">'
        f'<svg viewBox="{box}" preserveAspectRatio="none" aria-hidden="true">{result}<path class="mha-yours"/>'
        f'<path class="mha-points"/></svg>{columns}</span>'
        f'<span aria-hidden="true">{shown(curve["x"])}</span></span>'
    )


def draw_results(app, pagename, templatename, context, doctree):
    """Draw the line of the page's own figure that is the result into each copy beside it."""
    body = context.get("body", "")
    context["body"] = RESULT.sub(
        lambda found: drawn(*map(unescape, found.groups()), body[: found.start()]), body
    )


def drawn(name, at, above):
    """The last line of that name above, between the points, in its own color. Raises ValueError
    where there is none."""
    lines = [
        line
        for figure in FIGURE.finditer(above)
        for line in json.loads(figure[2])["data"]
        if line.get("name") == name
    ]
    if not lines:
        raise ValueError(
            f"a curve in questions.yml: expected the name of a line in a figure above, got {name!r}"
        )
    x, y = (
        np.frombuffer(b64decode(lines[-1][axis]["bdata"]), lines[-1][axis]["dtype"])
        for axis in "xy"
    )
    at = np.array(at.split(), dtype=float)
    if at[0] > 0:  # between two points as on a logarithmic axis
        at, x = np.log(at), np.log(x)
    columns = np.linspace(0.5, len(at) - 0.5, 6 * len(at) - 5)
    known = np.isfinite(x)
    values = np.interp(np.interp(columns, np.arange(len(at)) + 0.5, at), x[known], y[known])
    points = "L".join(
        f"{column:.4g} {-value:.3g}" for column, value in zip(columns, values, strict=True)
    )
    return f'<path class="mha-result" style="stroke: {lines[-1]["line"]["color"]}" d="M{points}"/>'
