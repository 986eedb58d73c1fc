"""The axes of a guess that is drawn: a slider for each of its points, and a copy to look at.

In a ``questions.yml`` its ``curve`` says what stands along ``x`` and ``at`` which points it is
drawn, what stands along ``y``, ``from`` where ``to`` where, and which ``line`` of a figure above is
the result. ``curve.js`` draws the reader's, and ``book/_ext/curves.py`` the result.
"""

from html import escape
from typing import Any

LEVELS = 20  # between the least and the greatest value that can be drawn
HOW = "Draw across the plot, or move its points by Tab and the arrow keys. Beyond a first stroke the curve is level."


def shown(words: str) -> str:
    """Words with a minus sign in place of a hyphen."""
    return escape(words).replace("-", "−")


def sliders(curve: dict[str, Any], name: str) -> str:
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


def copy(curve: dict[str, Any], result: bool = False) -> str:
    """The same axes to look at, the values in words, and the place where ``draw_results`` draws the
    result."""
    line = f'<path class="mha-result" data-line="{escape(curve["line"])}" data-at="{" ".join(curve["at"])}"/>'
    return (
        '<span class="mha-your-guess visually-hidden"></span>'
        f'<span aria-hidden="true">{empty(curve, line if result else "")}</span>'
    )


def empty(curve: dict[str, Any], result: str = "") -> str:
    """Axes to look at, with the values along them in words."""
    return axes(curve, "".join(f"<span>{shown(x)}</span>" for x in curve["at"]), result)


def axes(curve: dict[str, Any], columns: str, result: str = "") -> str:
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
