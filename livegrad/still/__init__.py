"""A figure as a picture that needs no script, as SVG.

plotly draws a figure only where its JavaScript runs. A page and a notebook are also read where
nothing runs: reopened, printed, before the scripts have come, on a page of a repository. There this
picture stands. It has what the figures of the book have, and looks as plotly draws them; what it
does not know it refuses.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from html import escape
from itertools import cycle
from typing import Any

import numpy as np
import plotly.colors

from livegrad.still.known import require_known
from livegrad.still.plot import Plot
from livegrad.still.traces import INK
from livegrad.still.words import SIZE, written

FONTS = "Open Sans, verdana, arial, DejaVu Sans, sans-serif"  # plotly's own, and what Linux has
# Those of a figure that names none.
COLORS = plotly.colors.DEFAULT_PLOTLY_COLORS
LOOK = f'font-size="{SIZE}" fill="{INK}"'
LARGE = 17  # of the letters of a figure's title
WIDTH = 700  # pixels, as wide as the text of a page at a desk


def picture(figure: Mapping[str, Any]) -> str:
    """A figure, given as plotly's dict, as the text of an SVG file; raises as ``contents``."""
    inside, high = contents(figure, "panel")
    inside += _title(figure["layout"])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high:g}" width="{WIDTH}" '
        f'height="{high:g}" font-family="{FONTS}" {LOOK}>'
        f'<rect width="100%" height="100%" fill="white"/>{inside}</svg>'
    )


def _title(layout):
    """The title of a figure where plotly writes it: in the middle of the margin at the top."""
    title = layout.get("title") or ""
    words = title if isinstance(title, str) else title.get("text") or ""
    margin = (layout.get("margin") or {}).get("t", 100)
    return written(words, 0.05 * WIDTH, margin / 2 + 0.35 * LARGE, "start", LARGE)


def contents(figure: Mapping[str, Any], name: str) -> tuple[str, float]:
    """What is drawn of a figure in an ``<svg>`` that is ``WIDTH`` wide and has the ``LOOK``; and
    its height.

    The names of its parts begin with ``name``, so that a page can have many.

    Raises ValueError naming what it cannot draw.
    """
    require_known(figure)
    colors = cycle(figure["layout"].get("colorway") or COLORS)
    traces = [
        inked({part: unpacked(value) for part, value in trace.items()}, color)
        for trace, color in zip(figure["data"], colors, strict=False)
        if trace.get("visible", True) is True
    ]
    layout = {
        part: {name: unpacked(one) for name, one in value.items()}
        if isinstance(value, Mapping)
        else value
        for part, value in figure["layout"].items()
    }
    plot = Plot(layout, traces, WIDTH)
    return "".join(plot.drawn(name)), plot.high


def image(figure: Mapping[str, Any], alt: str) -> str:
    """The picture as an element of HTML, with words that say what it shows."""
    # A title may hold a lone surrogate, which UTF-8 cannot encode.
    data = b64encode(picture(figure).encode("utf-8", "replace")).decode()
    return (
        f'<img alt="{escape(alt)}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}">'
    )


def inked(trace: dict[str, Any], color: str) -> dict[str, Any]:
    """A trace that says its colors: a line has its points' and they have the line's; where neither
    is said, both have their own in the row of colors."""
    line, marker = trace.get("line") or {}, trace.get("marker") or {}
    said = marker.get("color")
    both = line.get("color") or (said if isinstance(said, str) else color)
    return trace | {"line": {"color": both} | line, "marker": {"color": both} | marker}


def unpacked(value: Any) -> Any:
    """The array that plotly has packed into text, or the value as it is."""
    if not isinstance(value, Mapping) or "bdata" not in value:
        return value
    flat = np.frombuffer(b64decode(value["bdata"]), value["dtype"])
    shape = str(value.get("shape", len(flat))).split(",")
    return flat.reshape([int(size) for size in shape])
