"""The parts of a picture in their places: panels with their axes, legends, bars of colors, words."""

from collections.abc import Iterator, Mapping
from typing import Any

from livegrad.still.axes import Axis
from livegrad.still.legend import ColorBar, Legend, legends
from livegrad.still.traces import KINDS, Bar, Heatmap, Trace
from livegrad.still.words import SIZE, TITLE, plain, written

HEIGHT = 450  # pixels, plotly's own, for a layout that names none
MARGIN = {"l": 80, "r": 80, "t": 100, "b": 80}  # plotly's own
GRID = "#EBF0F8"  # plotly's white template
STANDOFF = 15  # from the numbers of an axis to its title
TITLED = 38  # what the title takes with it
SUBTITLE = 16  # and of those above a panel, where nothing else is said
SLIDER = 142  # what a slider takes below the panels
BELOW = 12  # pixels between a legend and the edge of the picture


class Subplot:
    """A pair of axes, and the traces that are drawn on it."""

    def __init__(self, x: Axis, y: Axis) -> None:
        self.x: Axis = x
        self.y: Axis = y
        self.traces: list[Trace] = []

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height."""
        return self.x.start, self.y.end, self.x.length, self.y.length

    def grid(self) -> Iterator[str]:
        """The lines behind the traces, and those of the zeros, which are thicker."""
        left, top, wide, tall = self.box
        ways = []
        for axis in (self.x, self.y):
            if axis.said.get("showgrid", True):
                ways += [
                    f"M{left:.1f},{at:.1f}h{wide:.1f}"
                    if axis.vertical
                    else f"M{at:.1f},{top:.1f}v{tall:.1f}"
                    for at, _, _ in axis.ticks()
                ]
        yield (
            f'<g class="gridlayer"><path d="{"".join(ways)}" stroke="{GRID}"/></g>' if ways else ""
        )
        zeros = "".join(map(self._zero, (self.x, self.y)))
        if zeros:
            yield f'<g class="zerolinelayer"><path d="{zeros}" stroke="{GRID}" stroke-width="2"/></g>'

    def _zero(self, axis):
        low, high = sorted((axis.low, axis.high))
        if axis.log or not axis.said.get("zeroline", True) or not low <= 0 <= high:
            return ""
        left, top, wide, tall = self.box
        at = float(axis.pixels(0.0))
        return (
            f"M{left:.1f},{at:.1f}h{wide:.1f}"
            if axis.vertical
            else f"M{at:.1f},{top:.1f}v{tall:.1f}"
        )

    def words(self) -> Iterator[str]:
        """The numbers at the axes, and their titles."""
        left, top, wide, tall = self.box
        bottom = top + tall
        if self.x.said.get("showticklabels") is not False:
            for at, word, size in self.x.ticks():
                yield written(word, at, bottom + 1 + size, "middle", size)
        if self.y.said.get("showticklabels") is not False:
            for at, word, size in self.y.ticks():
                yield written(word, left - 1, at + 0.35 * size, "end", size)
        down = bottom + self.x.depth() + STANDOFF + 0.7 * TITLE
        yield written(self.x.title, left + wide / 2, down, "middle", TITLE, color=self.x.color)
        beside = left - self.y.depth() - STANDOFF - 0.3 * TITLE
        middle = top + tall / 2
        yield written(self.y.title, beside, middle, "middle", TITLE, True, self.y.color)

    def drawn(self, name: str) -> Iterator[str]:
        """The traces, none of which leaves the panel."""
        left, top, wide, tall = self.box
        box = f'x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
        yield f'<clipPath id="{name}"><rect {box}/></clipPath>'
        # plotly draws heat maps below lines, whatever their order.
        order = sorted(self.traces, key=lambda trace: not isinstance(trace, Heatmap))
        yield f'<g clip-path="url(#{name})">{"".join(trace.drawn() for trace in order)}</g>'


class Plot:
    """A figure whose parts have their places, in pixels."""

    def __init__(
        self, layout: Mapping[str, Any], traces: list[Mapping[str, Any]], wide: float
    ) -> None:
        self.layout: Mapping[str, Any] = layout
        self.wide: float = wide
        self.high: float = layout.get("height", HEIGHT)
        self.margin: dict[str, float] = MARGIN | dict(layout.get("margin", {}))
        self.axes: dict[str, Axis] = {}
        self.panels: list[Subplot] = panels(layout, traces, self.axes)
        self.bars: list[ColorBar] = [
            ColorBar(trace)
            for panel in self.panels
            for trace in panel.traces
            if isinstance(trace, Heatmap) and trace.said.get("showscale", True)
        ]
        self.legends: list[Legend] = legends(layout, traces)
        self._arrange()  # the room of the numbers beside an axis depends on its length
        self._widen()
        self._arrange()

    @property
    def inner(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of what is within the margins."""
        margin = self.margin
        return (
            margin["l"],
            margin["t"],
            self.wide - margin["l"] - margin["r"],
            self.high - margin["t"] - margin["b"],
        )

    def _arrange(self):
        left, top, wide, tall = self.inner
        bottom = top + tall
        for axis in self.axes.values():
            first, last = axis.said.get("domain", (0, 1))
            if axis.vertical:
                axis.place(bottom - first * tall, bottom - last * tall)
            else:
                axis.place(left + first * wide, left + last * wide)
        for axis in self.axes.values():
            axis.show(
                trace.extents()[axis.vertical]
                for panel in self.panels
                for trace in panel.traces
                if axis in (panel.x, panel.y)
            )
        for axis in self.axes.values():
            anchor = axis.said.get("scaleanchor")
            if anchor:
                alike(axis, self.axes[anchor])
        for bar in self.bars:
            bar.place(bottom, tall)

    def _widen(self):
        """Give the margins the room that numbers, titles, legends and bars of colors need."""
        margin = self.margin
        for panel in self.panels:
            titled = TITLED if plain(panel.y.title) else 0
            if panel.x.said.get("domain", (0, 1))[0] == 0:
                margin["l"] = max(margin["l"], panel.y.depth() + titled)
            titled = TITLED if plain(panel.x.title) else 0
            if panel.y.said.get("domain", (0, 1))[0] == 0:
                margin["b"] = max(margin["b"], panel.x.depth() + titled)
        margin["r"] = max(margin["r"], *(bar.wide() for bar in self.bars), 0)
        if self.layout.get("sliders"):
            margin["b"] = max(margin["b"], SLIDER)
        for legend in self.legends:
            self._widen_for(legend, legend.height(self.inner[2]) + BELOW)

    def _widen_for(self, legend, needs):
        """A legend's place is a share of the height of the panels, which shrink to make room for
        it."""
        margin, y = self.margin, legend.said.get("y", 1)
        if y < 0:
            room = (needs - y * (self.high - margin["t"])) / (1 - y)
            margin["b"] = max(margin["b"], room)
        if y > 1:
            room = (needs + (y - 1) * (self.high - margin["b"])) / y
            margin["t"] = max(margin["t"], room)

    def drawn(self, name: str) -> Iterator[str]:
        """The picture, from the grid upward."""
        for k, panel in enumerate(self.panels):
            yield from panel.grid()
            yield from panel.drawn(f"{name}-{k}")
        left, _, wide, _ = self.inner
        for bar in self.bars:
            yield f"<g>{''.join(bar.drawn(left + wide))}</g>"
        yield f"<g>{''.join(self._words())}</g>"

    def _words(self):
        left, top, wide, tall = self.inner
        bottom = top + tall
        for panel in self.panels:
            yield from panel.words()
        for said in self.layout.get("annotations", ()):
            size = said.get("font", {}).get("size", SIZE)
            anchor = {"left": "start", "right": "end"}.get(said.get("xanchor"), "middle")
            x, y = left + said.get("x", 0.5) * wide, bottom - said.get("y", 1) * tall
            y -= said.get("yshift", 0)
            yield written(said.get("text", ""), x, y - 0.45 * size, anchor, size)
        for slider in self.layout.get("sliders", ()):
            step = slider["steps"][slider.get("active", 0)]["label"]
            before = (slider.get("currentvalue") or {}).get("prefix", "")
            yield written(f"{before}{step}", left, bottom + 75, "start")
        for legend in self.legends:
            yield from legend.drawn(left, bottom, wide, tall)


def panels(
    layout: Mapping[str, Any], traces: list[Mapping[str, Any]], axes: dict[str, Axis]
) -> list[Subplot]:
    """The panels of a figure, in the order in which traces ask for them, on axes that are entered
    by their names."""
    made: dict[tuple[str, str], Subplot] = {}
    for said in traces:
        names = said.get("xaxis", "x"), said.get("yaxis", "y")
        for name in names:
            if name not in axes:
                axes[name] = Axis(layout.get(f"{name[0]}axis{name[1:]}", {}), name[0] == "y")
        x, y = (axes[name] for name in names)
        panel = made.setdefault(names, Subplot(x, y))
        panel.traces.append(KINDS[said.get("type", "scatter")](said, x, y))
    for panel in made.values():
        bars = [trace for trace in panel.traces if isinstance(trace, Bar)]
        for k, bar in enumerate(bars):
            bar.side, bar.sides = k, len(bars)
    return list(made.values())


def alike(axis: Axis, other: Axis) -> None:
    """A unit of one axis is as long as one of the other: the longer of them gives way."""
    scales = {each: each.length / abs(each.high - each.low) for each in (axis, other)}
    least = min(scales.values())
    for each, scale in scales.items():
        if each.said.get("constrain") == "domain":
            spare = (each.end - each.start) * (1 - least / scale) / 2
            each.place(each.start + spare, each.end - spare)
        else:
            spare = (each.high - each.low) * (scale / least - 1) / 2
            each.low, each.high = each.low - spare, each.high + spare
