"""The default frame of a live figure as a picture that needs no script: lines, points and heat
maps, as SVG.

plotly draws a figure only where its JavaScript runs. A notebook is also read where nothing runs:
reopened, printed, on a page of a repository. There this picture stands. It has what frames of live
figures have, and no more.
"""

import math
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from html import escape, unescape
from typing import Any

import numpy as np
import plotly.colors

WIDTH, HEIGHT = 700, 450  # pixels; the height is plotly's own, for a layout that names none
MARGIN = {"l": 80, "r": 80, "t": 100, "b": 80}  # plotly's own
INK, GRID = "#444", "#e3e3e3"
DASHES = {
    "dash": "9 5",
    "dot": "2 4",
    "dashdot": "9 4 2 4",
    "longdash": "15 6",
    "longdashdot": "15 5 2 5",
}
ROW = 18  # pixels: a line of the legend
TILES, LEVELS = 48, 24  # of a heat map: at most so many in a row, of so many colors
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def picture(figure: Mapping[str, Any]) -> str:
    """A figure, given as plotly's dict, as the text of an SVG file."""
    layout = figure["layout"]
    traces = [{name: unpacked(value) for name, value in trace.items()} for trace in figure["data"]]
    high = layout.get("height", HEIGHT)
    parts, panels = [], Panel.of(layout, traces)
    for number, panel in enumerate(panels):
        parts += panel.drawn(f"panel-{number}")
    parts += [annotation(each, layout, high) for each in layout.get("annotations", ())]
    rows = list(legend(traces, high + ROW))
    total = high + ROW * (2 + max((row for row, _ in rows), default=-1))
    parts += [entry for _, entry in rows]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" width="{WIDTH}" height="{total}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">'
        f'<rect width="{WIDTH}" height="{total}" fill="white"/>{"".join(parts)}</svg>'
    )


def image(figure: Mapping[str, Any], alt: str) -> str:
    """The picture as an element of HTML, with words that say what it shows."""
    # A title may hold a lone surrogate, which UTF-8 cannot encode.
    data = b64encode(picture(figure).encode("utf-8", "replace")).decode()
    return (
        f'<img alt="{escape(alt)}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}">'
    )


def unpacked(value: Any) -> Any:
    """The array that plotly has packed into text, or the value as it is."""
    if not isinstance(value, Mapping) or "bdata" not in value:
        return value
    flat = np.frombuffer(b64decode(value["bdata"]), value["dtype"])
    shape = str(value.get("shape", len(flat))).split(",")
    return flat.reshape([int(size) for size in shape])


class Axis:
    """Where the numbers of an axis stand: from ``start`` to ``end``, in pixels."""

    def __init__(
        self, said: Mapping[str, Any], values: np.ndarray, start: float, end: float
    ) -> None:
        self.said: Mapping[str, Any] = said
        self.log: bool = said.get("type") == "log"
        self.start: float = start
        self.end: float = end
        low, high = self._range(self.scaled(values))
        self.low: float = low
        self.high: float = high

    def _range(self, values: np.ndarray) -> tuple[float, float]:
        given = self.said.get("range")
        # plotly says the range of a logarithmic axis in decades, as ``scaled`` has the numbers. A
        # range of which only one end is set has None for the other, and is found from the numbers
        # instead.
        if given is not None and None not in given:
            low, high = given
            return low, high
        finite = values[np.isfinite(values)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        low = min(low, 0.0) if self.said.get("rangemode") == "tozero" else low
        # Equal numbers span nothing, and ``pixels`` divides by the span.
        room = (high - low) / 20 or 0.5
        return (
            (high + room, low - room)
            if self.said.get("autorange") == "reversed"
            else (low - room, high + room)
        )

    def scaled(self, values: Any) -> np.ndarray:
        """The numbers as the axis counts them: their decades, where it is logarithmic; NaN where
        they have none."""
        numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
        if not self.log:
            return numbers
        positive = np.where(numbers > 0, numbers, np.nan)
        return np.log10(positive)

    def pixels(self, scaled: Any) -> np.ndarray:
        """Where numbers stand that the axis has scaled."""
        share = (np.asarray(scaled) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """(pixel, words) of each number that is written at the axis."""
        low, high = sorted((self.low, self.high))
        if "tickvals" in self.said:
            values = self.said["tickvals"]
            at = self.scaled(values)
            words = [
                plain(each)
                for each in self.said.get("ticktext", [f"{value:g}" for value in values])
            ]
        else:
            step = max(1, math.ceil((high - low) / 6)) if self.log else even_step(high - low)
            # The tolerance keeps a tick at an end of the range that division rounds to the outside.
            at = step * np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
            words = [
                f"10{str(int(each)).translate(SUPERSCRIPTS)}" if self.log else f"{each:.6g}"
                for each in at
            ]
        kept = [
            (place, word)
            for place, word in zip(at, words, strict=True)
            if low - 1e-9 <= place <= high + 1e-9
        ]
        return [(float(self.pixels(place)), word.replace("-", "−")) for place, word in kept]


def even_step(span: float) -> float:
    """1, 2 or 5 times a power of ten: at most six of it make up a span."""
    power = 10.0 ** math.floor(math.log10(span / 6))
    return next(
        factor * power for factor in (1, 2, 5, 10) if span <= 6 * factor * power * (1 + 1e-9)
    )


class Panel:
    """A pair of axes, and the traces that are drawn on it."""

    def __init__(self, x: Axis, y: Axis, traces: list[Mapping[str, Any]]) -> None:
        self.x: Axis = x
        self.y: Axis = y
        self.traces: list[Mapping[str, Any]] = traces

    @classmethod
    def of(cls, layout: Mapping[str, Any], traces: list[Mapping[str, Any]]) -> "list[Panel]":
        """The panels of a figure, in the order in which traces ask for them."""
        high, margin = layout.get("height", HEIGHT), MARGIN | dict(layout.get("margin", {}))
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for trace in traces:
            groups.setdefault((trace.get("xaxis", "x"), trace.get("yaxis", "y")), []).append(trace)
        made = []
        for names, group in groups.items():
            said = [layout.get(f"{name[0]}axis{name[1:]}", {}) for name in names]
            (left, right), (below, above) = (each.get("domain", (0, 1)) for each in said)
            wide, tall = WIDTH - margin["l"] - margin["r"], high - margin["t"] - margin["b"]
            xs, ys = zip(*map(extent, group), strict=True)
            x = Axis(
                said[0], np.concatenate(xs), margin["l"] + left * wide, margin["l"] + right * wide
            )
            bottom = high - margin["b"]
            # SVG counts y downward: this axis starts at the larger number of pixels.
            y = Axis(said[1], np.concatenate(ys), bottom - below * tall, bottom - above * tall)
            made.append(cls(x, y, group))
        return made

    def drawn(self, name: str) -> Iterator[str]:
        """The grid with its numbers and words, and the traces, none of which leaves its panel."""
        x, y = self.x, self.y
        box = f'x="{x.start:.1f}" y="{y.end:.1f}" width="{x.end - x.start:.1f}" height="{y.start - y.end:.1f}"'
        yield f'<clipPath id="{name}"><rect {box}/></clipPath>'
        for at, word in x.ticks():
            yield f'<path d="M{at:.1f},{y.start:.1f}V{y.end:.1f}" stroke="{GRID}"/>'
            yield written(word, at, y.start + 15)
        for at, word in y.ticks():
            yield f'<path d="M{x.start:.1f},{at:.1f}H{x.end:.1f}" stroke="{GRID}"/>'
            yield written(word, x.start - 5, at + 4, "end")
        middle = (x.start + x.end) / 2, (y.start + y.end) / 2
        yield written(title(x.said), middle[0], y.start + 32)
        turned = f'transform="rotate(-90 {x.start - 42:.1f} {middle[1]:.1f})"'
        yield written(title(y.said), x.start - 42, middle[1], more=turned)
        yield f'<g clip-path="url(#{name})">{"".join(map(self.trace, self.traces))}</g>'

    def trace(self, trace: Mapping[str, Any]) -> str:
        """A trace as it is drawn."""
        if trace.get("type", "scatter") == "heatmap":
            # Antialiasing would let the background through between tiles that touch.
            return f'<g shape-rendering="crispEdges">{"".join(self.tiles(trace))}</g>'
        x = np.array(self.x.pixels(self.x.scaled(values(trace, "x"))))
        y = np.array(self.y.pixels(self.y.scaled(values(trace, "y"))))
        mode, parts = trace.get("mode", "lines"), []
        if "lines" in mode:
            parts.append(f'<path d="{line(x, y)}" fill="none" {stroke(trace)}/>')
        if "markers" in mode:
            parts += dots(x, y, trace.get("marker", {}))
        return f'<g opacity="{trace.get("opacity", 1)}">{"".join(parts)}</g>'

    def tiles(self, trace: Mapping[str, Any]) -> Iterator[str]:
        """A heat map, color by color: a rectangle for each run of tiles that have it."""
        z = np.array(trace["z"], dtype=float)
        z = z.T if trace.get("transpose") else z
        every = 1 + max(z.shape) // TILES
        low, high = trace.get("zmin", np.nanmin(z)), trace.get("zmax", np.nanmax(z))
        # A constant matrix has no span of colors to divide by.
        share = np.clip((z[::every, ::every] - low) / ((high - low) or 1), 0, 1)
        level = np.round((LEVELS - 1) * np.nan_to_num(share)).astype(int)
        across = self.x.pixels(edges(values(trace, "x", z.shape[1])[::every]))
        up = self.y.pixels(edges(values(trace, "y", z.shape[0])[::every]))
        boxes: dict[int, list[str]] = {}
        for row, levels in enumerate(level):
            # Runs end where the color changes: fewer rectangles than tiles keep the file small.
            ends = [*(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
            # no gap between rows
            top, tall = min(up[row : row + 2]), abs(up[row + 1] - up[row]) + 0.5
            for first, last in zip([0, *ends[:-1]], ends, strict=True):
                left = min(across[first], across[last])
                wide = abs(across[last] - across[first]) + 0.5
                boxes.setdefault(levels[first], []).append(
                    f"M{left:.1f},{top:.1f}h{wide:.1f}v{tall:.1f}h-{wide:.1f}z"
                )
        scale = trace.get("colorscale", "Viridis")
        for number, runs in boxes.items():
            color = plotly.colors.sample_colorscale(scale, [number / (LEVELS - 1)])[0]
            yield f'<path fill="{color}" d="{"".join(runs)}"/>'


def values(trace: Mapping[str, Any], name: str, count: int = 0) -> Any:
    """The coordinates of a trace; those that it does not name, or names by words, are counted."""
    given = trace.get(name)
    if given is None or any(isinstance(value, str) for value in given):
        other = trace.get("y" if name == "x" else "x")
        return np.arange(
            count or len(given if given is not None else other if other is not None else ())
        )
    return given


def extent(trace: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers that a trace wants to have on its two axes."""
    if trace.get("type") == "heatmap":
        z = np.array(trace["z"], dtype=float)
        rows, columns = reversed(z.shape) if trace.get("transpose") else z.shape
        return edges(values(trace, "x", columns)), edges(values(trace, "y", rows))
    return tuple(
        np.array([np.nan if value is None else value for value in values(trace, name)], dtype=float)
        for name in ("x", "y")
    )


def edges(centers: Any) -> np.ndarray:
    """Where the tiles end whose centers are given, one more than there are."""
    centers = np.asarray(centers, dtype=float)
    if len(centers) < 2:
        return np.concatenate([centers - 0.5, centers + 0.5])
    middles = (centers[1:] + centers[:-1]) / 2
    return np.concatenate([[2 * centers[0] - middles[0]], middles, [2 * centers[-1] - middles[-1]]])


def line(x: np.ndarray, y: np.ndarray) -> str:
    """The path through the points that have both coordinates; where one lacks them, it begins
    anew."""
    steps, pen = [], "M"
    for across, up in zip(x, y, strict=False):
        # The sum is finite only if both coordinates are.
        if not np.isfinite(across + up):
            pen = "M"
            continue
        steps.append(f"{pen}{across:.1f},{np.clip(up, -9e3, 9e3):.1f}")
        pen = "L"
    return "".join(steps)


def stroke(trace: Mapping[str, Any]) -> str:
    """How a line looks."""
    look = trace.get("line", {})
    dash = DASHES.get(look.get("dash"))
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{look.get("color", INK)}" stroke-width="{look.get("width", 2)}"{dashed}'


def dots(x: np.ndarray, y: np.ndarray, look: Mapping[str, Any]) -> Iterator[str]:
    """The points of a trace; where their colors are numbers, all have the ink's."""
    color = look.get("color", INK)
    radii = np.broadcast_to(np.asarray(look.get("size", 6), float) / 2, len(x)).tolist()
    for k, (across, up, radius) in enumerate(zip(x, y, radii, strict=False)):
        if np.isfinite(across + up):
            own = color if isinstance(color, str) else color[k]
            fill = own if isinstance(own, str) else INK
            yield f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{radius:.1f}" fill="{fill}"/>'


def legend(traces: list[Mapping[str, Any]], top: float) -> Iterator[tuple[int, str]]:
    """(row, entry) for every trace that the legend names, in rows below the panels."""
    at, row, named = 20.0, 0, set()
    for trace in traces:
        name = plain(trace.get("name") or "")
        if (
            not name
            or trace.get("showlegend") is False
            or trace.get("type") == "heatmap"
            or name in named
        ):
            continue
        named.add(name)
        # An estimate, since nothing here measures text: 7 pixels a letter, and 40 for the mark.
        wide = 40 + 7 * len(name)
        if at + wide > WIDTH and at > 20:
            at, row = 20.0, row + 1
        y = top + ROW * row
        mark = f'<path d="M{at:.0f},{y - 4:.0f}h22" {stroke(trace)}/>'
        if "lines" not in trace.get("mode", "lines"):
            mark = next(
                iter(dots(np.array([at + 11]), np.array([y - 4.0]), trace.get("marker", {})))
            )
        yield row, mark + written(name, at + 28, y, "start")
        at += wide


def annotation(said: Mapping[str, Any], layout: Mapping[str, Any], high: float) -> str:
    """Words that stand in the figure by themselves, such as the title of a panel."""
    margin = MARGIN | dict(layout.get("margin", {}))
    if said.get("xref", "paper") != "paper" or said.get("yref", "paper") != "paper":
        return ""
    x = margin["l"] + said.get("x", 0.5) * (WIDTH - margin["l"] - margin["r"])
    y = high - margin["b"] - said.get("y", 0.5) * (high - margin["t"] - margin["b"])
    anchor = {"left": "start", "right": "end"}.get(said.get("xanchor"), "middle")
    return written(plain(said.get("text", "")), x, y - 4, anchor, 'font-size="14"')


def written(words: str, x: float, y: float, anchor: str = "middle", more: str = "") -> str:
    """Words at a place."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(words)}</text>'
        if words
        else ""
    )


def title(said: Mapping[str, Any]) -> str:
    """The words at an axis."""
    given = said.get("title") or ""
    return plain(given if isinstance(given, str) else given.get("text") or "")


def plain(words: str) -> str:
    """Words without the marks that plotly reads."""
    return unescape(re.sub(r"<[^>]*>", " ", str(words))).strip()
