"""What stands around the panels of a picture: the legend, and the bar of a heat map's colors."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from livegrad.still.axes import Axis
from livegrad.still.traces import Heatmap, colored, dots, faded, image, stroke
from livegrad.still.words import LINE, SIZE, TITLE, lines, width, written

ROW = 19  # pixels: a line of the legend
EDGE = 5  # within its border, above and below
BETWEEN = 2.5  # from a name to the next sample
DRAWN = 30  # how long the line before a name is, where a legend does not say it
SAMPLE = DRAWN + 10  # before each name, with the line as it is drawn
BAR = 30  # the width of a bar of colors
APART = 10
GROUP = 10  # pixels between two rows of a legend in groups


class Legend:
    """The names of traces, each behind what its trace looks like: all in one row where they fit, else
    in columns. Those of a group stand one below the other, and groups side by side."""

    def __init__(self, said: Mapping[str, Any], traces: list[Mapping[str, Any]]) -> None:
        self.said: Mapping[str, Any] = said
        self.traces: list[Mapping[str, Any]] = traces
        self.size: float = (said.get("font") or {}).get("size", SIZE)
        groups: dict[Any, list[int]] = {}
        for k, trace in enumerate(traces):
            groups.setdefault(trace.get("legendgroup") or k, []).append(k)
        self.groups: list[list[int]] = list(groups.values())
        grouped = any(trace.get("legendgroup") for trace in traces)
        self.apart: float | None = GROUP if grouped else None
        self.long: float = said.get("itemwidth", DRAWN)
        self.sample: float = self.long + SAMPLE - DRAWN

    def places(self, room: float) -> list[tuple[float, float]]:
        """(left end, upper end) of each name, in pixels."""
        names = [width(trace["name"], self.size) for trace in self.traces]
        wide = [self.sample + max(names[k] for k in group) + BETWEEN for group in self.groups]
        if self.apart is None and sum(wide) > room:
            wide = [max(wide)] * len(wide)
        found, at, top, below = {}, 0.0, 0.0, 0.0
        for group, each in zip(self.groups, wide, strict=True):
            if at and at + each > room:
                at, top = 0.0, below + (self.apart or 0)
            found |= {k: (at, top + ROW * row) for row, k in enumerate(group)}
            at, below = at + each, max(below, top + ROW * len(group))
        return [found[k] for k in range(len(self.traces))]

    def height(self, room: float) -> float:
        """How many pixels it takes."""
        return max(top for _, top in self.places(room)) + ROW + 2 * EDGE

    def drawn(self, left: float, bottom: float, wide: float, tall: float) -> Iterator[str]:
        """The legend of panels that have such a left end and bottom, and are so wide and tall."""
        x = self.said.get("x", 0)
        left += x * wide
        top = bottom - self.said.get("y", 1) * tall
        top -= self.height(wide) if self.said.get("yanchor") == "bottom" else 0
        for trace, (at, down) in zip(self.traces, self.places(wide), strict=True):
            y = top + EDGE + down + ROW / 2
            shown = sample(trace, left + at + 5, y, self.long)
            yield faded("".join(shown), trace.get("opacity", 1))
            x = left + at + self.sample
            yield written(trace["name"], x, y + 0.35 * self.size, "start", self.size)


def legends(layout: Mapping[str, Any], traces: list[Mapping[str, Any]]) -> list[Legend]:
    """The legends of a figure, of those that have a name to show."""
    drawn = [trace for trace in traces if trace.get("type", "scatter") != "heatmap"]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for trace in drawn:
        # A trace that is alone needs no name beside it.
        if trace.get("name") and trace.get("showlegend", len(drawn) > 1):
            groups.setdefault(trace.get("legend", "legend"), []).append(trace)
    return [Legend(layout.get(name) or {}, group) for name, group in groups.items()]


def sample(trace: Mapping[str, Any], x: float, y: float, wide: float) -> Iterator[str]:
    """What a trace looks like, at the left end and in the middle of its place, which is so wide."""
    if trace.get("type") == "bar":
        color = trace.get("marker", {}).get("color", "#444")
        yield f'<rect x="{x + wide / 2 - 6:.1f}" y="{y - 6:.1f}" width="12" height="12" fill="{color}"/>'
        return
    mode = trace.get("mode", "lines")
    if trace.get("fill", "none") != "none":
        color = trace.get("fillcolor", "none")
        yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:g}" height="6" fill="{color}"/>'
    if "lines" in mode:
        look = trace.get("line", {})
        thin = {"line": {**look, "width": min(look.get("width", 2), 10)}}
        yield f'<path d="M{x:.1f},{y:.1f}h{wide:g}" fill="none"{stroke(thin)}/>'
    if "markers" in mode:
        look = trace.get("marker", {})
        size = float(np.clip(np.max(look.get("size", 6), initial=2), 2, 16))
        color = look.get("color")
        first = color if color is None or isinstance(color, str) else color[0]
        shown = {key: value for key, value in look.items() if key != "color"}
        shown |= {"size": size} | ({"color": first} if first else {})
        yield from dots(np.array([x + wide / 2]), np.array([y]), shown)


class ColorBar:
    """The bar beside a panel that says which color a number has."""

    def __init__(self, heatmap: Heatmap) -> None:
        self.heatmap: Heatmap = heatmap
        self.said: Mapping[str, Any] = heatmap.said.get("colorbar") or {}
        self.axis: Axis = Axis({key: self.said[key] for key in TICKS & self.said.keys()}, True)
        self.axis.low, self.axis.high = heatmap.span()

    @property
    def title(self) -> str:
        """The words above it, or at its right."""
        given = self.said.get("title") or ""
        return given if isinstance(given, str) else given.get("text") or ""

    @property
    def beside(self) -> bool:
        """Whether they stand at its right."""
        given = self.said.get("title")
        return isinstance(given, Mapping) and given.get("side") == "right"

    @property
    def thick(self) -> float:
        """The width of its colors."""
        return self.said.get("thickness", BAR)

    def place(self, bottom: float, tall: float) -> None:
        """Let it stand where the layout has so much height from ``bottom`` upward."""
        share = self.said.get("len", 1)
        middle = bottom - tall * self.said.get("y", 0.5)
        above = bool(self.title) and not self.beside
        head = above * (LINE * TITLE * len(lines(self.title)) + 3)
        half = share * tall / 2
        self.axis.place(middle + half - APART, middle - half + APART + head)

    def wide(self) -> float:
        """How many pixels it takes at the right of the panels."""
        numbers = self.thick + self.axis.depth() + 2 * APART
        if self.beside:
            return 2 * APART + numbers + LINE * TITLE
        return 2 * APART + max(numbers, width(self.title, TITLE))

    def drawn(self, x: float) -> Iterator[str]:
        """The bar, its numbers, and its title, from x on."""
        low, high = self.axis.end, self.axis.start
        scale = colored(np.linspace(1, 0, 64)[:, None], self.heatmap.said.get("colorscale"))
        x += 2 * APART
        seen = self.heatmap.said.get("opacity", 1)
        yield image(scale, x, low, self.thick, high - low, seen, smooth=True)
        for at, word, size in self.axis.ticks():
            yield written(word, x + self.thick + 3, at + 0.35 * size, "start", size)
        if self.beside:
            right = x + self.thick + self.axis.depth() + APART + TITLE
            yield written(self.title, right, (low + high) / 2, size=TITLE, turned=True)
        else:
            yield written(self.title, x, low - 7, "start", TITLE)


TICKS = {"tickvals", "ticktext", "nticks", "dtick", "exponentformat", "tick0"}
