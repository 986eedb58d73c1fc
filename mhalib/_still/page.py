"""Where everything stands: plots, what is written around them, colorbar and legend."""

from collections import defaultdict
from dataclasses import dataclass, replace

from mhalib._still.axes import Axis, axis, ticks
from mhalib._still.elements import FONT, LETTER, LINE, WIDTH, px, tag, text, text_of, width_of
from mhalib._still.traces import DRAW, LEVELS, color_of, limits, shade, sketch, supported

ANCHORS = {"left": "start", "right": "end"}


def svg(figure):
    """Draw a figure, given as plotly's dict, as one ``<svg>`` element in the color of the text around it.

    It draws what the book draws: scatter traces of lines and markers, heatmaps, linear and log axes, subplots, their
    titles, a colorbar, and the legend below. A figure with a slider stands at its start. The title is left to the page.
    The label is ``layout.meta["alt"]``. Raises ValueError for a trace that it cannot draw.
    """
    layout = figure["layout"]
    panels = _panels(figure, layout)
    area, space = _area(panels, layout)
    panels = [panel.placed(area) for panel in panels]
    legend, rows = _legend(panels, layout, area.bottom + space)
    parts = [part for panel in panels for part in panel.parts()]
    parts += [*_colorbar(panels, area, bool(layout.get("annotations"))), *_words_on_paper(layout, area), *legend]
    height = area.bottom + space + rows
    return tag("svg", "".join(parts), role="img", aria_label=layout["meta"]["alt"], fill="currentColor", font_size=FONT,
               viewBox=f"0 0 {WIDTH} {px(height)}",
               style=f"display:block;width:100%;max-width:{WIDTH + 40}px;height:auto;margin:0 auto")


@dataclass(frozen=True)
class Area:
    """Where the plots are, in pixels from the top left; plotly's paper coordinates are shares from its bottom left."""

    left: float
    top: float
    right: float
    bottom: float

    def x(self, share):
        return self.left + share * (self.right - self.left)

    def y(self, share):
        return self.bottom + share * (self.top - self.bottom)


@dataclass(frozen=True)
class Panel:
    """A pair of axes and the traces drawn on it, each with its color."""

    x: Axis
    y: Axis
    traces: list

    @property
    def beside(self):
        """The pixels of what is written at the left."""
        return width_of(self.y.words) + LINE * bool(self.y.title)

    @property
    def column(self):
        """The pixels that the words at the left need, one beneath the other."""
        return (LINE - 4) * len(self.y.words)

    @property
    def below(self):
        return LINE * (bool(self.x.words) + bool(self.x.title))

    def placed(self, area):
        """Give the panel in its place; with plotly's ``scaleanchor`` a unit is as long across as it is up."""
        x = replace(self.x, start=area.x(self.x.domain[0]), end=area.x(self.x.domain[1]))
        y = replace(self.y, start=area.y(self.y.domain[0]), end=area.y(self.y.domain[1]))
        if "scaleanchor" in {**x.settings, **y.settings}:
            unit = min(abs((axis.end - axis.start) / (axis.high - axis.low)) for axis in (x, y))
            x, y = x.shrunk(unit), y.shrunk(unit)
        return Panel(x, y, self.traces)

    def parts(self):
        """Draw the grid, the traces, and what is written beside the axes."""
        yield tag("path", d=self.lines(), fill="none", stroke="currentColor", opacity=0.18)
        # Its own window cuts off what is out of range, but not half of a thick line at the edge.
        place = self.x.start - 3, self.y.end - 3, self.x.end - self.x.start + 6, self.y.start - self.y.end + 6
        window = dict(zip(("x", "y", "width", "height"), map(px, place), strict=True))
        traces = "".join(DRAW[trace["type"]](trace, color, self.x, self.y) for trace, color in self.traces)
        yield tag("svg", traces, **window, viewBox=" ".join(window.values()))
        yield from self.words()

    def lines(self):
        """Write the frame, and lines across at the ticks unless cells fill the frame."""
        left, right, bottom, top = map(px, (self.x.start, self.x.end, self.y.start, self.y.end))
        frame = f"M{left} {top}H{right}V{bottom}H{left}z"
        if any(trace["type"] == "heatmap" for trace, _ in self.traces):
            return frame
        up = [f"M{px(self.x(value))} {bottom}V{top}" for value, _ in self.x.ticks]
        return frame + "".join(up + [f"M{left} {px(self.y(value))}H{right}" for value, _ in self.y.ticks])

    def words(self):
        """Write the labels of the ticks and the titles of the axes."""
        x, y, line = self.x, self.y, self.y.start + LINE - 4
        labels = [text(at, line, words) for at, words in x.written(sum(width_of([tick]) for tick in x.words))]
        yield tag("g", "".join(labels), class_="xticks", text_anchor="middle")
        labels = [text(x.start - 6, at + FONT / 3, words) for at, words in y.written(self.column)]
        yield tag("g", "".join(labels), class_="yticks", text_anchor="end")
        yield text((x.start + x.end) / 2, line + LINE * bool(x.words), x.title, text_anchor="middle")
        side, middle = x.start - width_of(y.words) - 8, (y.start + y.end) / 2
        yield text(side, middle, y.title, text_anchor="middle", transform=f"rotate(-90 {px(side)} {px(middle)})")


def _panels(figure, layout):
    """Sort the traces by the axes they are drawn on."""
    traces = [supported(trace) for trace in figure.get("data") or [] if trace.get("visible", True) is True]
    groups = defaultdict(list)
    for k, trace in enumerate(traces):
        groups[trace.get("xaxis") or "x", trace.get("yaxis") or "y"].append((trace, color_of(trace, k, layout)))
    return [Panel(axis(x, traces, layout), axis(y, traces, layout), group) for (x, y), group in groups.items()]


def _area(panels, layout):
    """Give the place of the plots, inside of what is written around them, and the pixels of what is written below."""
    left = [panel.beside for panel in panels if panel.x.domain[0] == 0]
    below = [panel.below for panel in panels if panel.y.domain[0] == 0]
    bar = _bar(panels)
    margin = {"t": 100, "b": 80, **(layout.get("margin") or {})}
    rows = len({panel.y.domain[0] for panel in panels})
    column = max((panel.column / (panel.y.domain[1] - panel.y.domain[0]) for panel in panels), default=0)
    height = max(300 + 110 * (rows - 1), column)
    height = min(height, (layout.get("height") or 450) - margin["t"] - margin["b"])
    top = 10 + LINE * sum(map(bool, (layout.get("annotations"), layout.get("sliders"), bar and bar[2])))
    right = WIDTH - (34 + width_of(bar[1]) if bar else 18)
    return Area(max(left, default=0) + 6, top, right, top + height), max(below, default=0) + 16


def _bar(panels):
    """Give the first heatmap that shows its colorscale, the ticks beside it, and the title above it."""
    for trace in (trace for panel in panels for trace, _ in panel.traces):
        if trace["type"] == "heatmap" and trace.get("showscale") is not False:
            bar = trace.get("colorbar") or {}
            return trace, ticks(bar, *limits(trace), False), text_of(bar.get("title"))
    return None


def _colorbar(panels, area, above):
    """Draw the colorscale as a bar at the right; its title stands above those of subplots, if there are any."""
    found = _bar(panels)
    if found is None:
        return
    trace, marks, title = found
    left, height = area.right + 12, (area.bottom - area.top) / LEVELS
    steps = [tag("path", d=f"M{px(left)} {px(area.bottom - (k + 0.5) * height)}h14", stroke_width=px(height + 0.5),
                 stroke=shade(trace, k / (LEVELS - 1))) for k in range(LEVELS)]
    yield tag("g", "".join(steps), class_="colorbar")
    at = Axis({}, *limits(trace), marks, area.bottom, area.top)
    yield from (text(left + 20, at(value) + FONT / 3, words) for value, words in marks)
    yield text(WIDTH, area.top - 13 - LINE * above, title, text_anchor="end")


def _words_on_paper(layout, area):
    """Write the titles of subplots, and where a slider stands."""
    for slider in layout.get("sliders") or []:
        active = slider["steps"][slider.get("active") or 0]
        yield text(area.left, FONT, (slider.get("currentvalue") or {}).get("prefix", "") + str(active["label"]))
    for note in layout.get("annotations") or []:
        if note.get("xref") == note.get("yref") == "paper":
            yield text(area.x(note["x"]), area.y(note["y"]) - 7, note["text"],
                       text_anchor=ANCHORS.get(note.get("xanchor"), "middle"))


def _legend(panels, layout, top):
    """Give the names of the traces, in rows, and the height of these."""
    named = {trace["name"]: (trace, color) for panel in panels for trace, color in panel.traces
             if trace["type"] == "scatter" and trace.get("name") and trace.get("showlegend") is not False}
    asked = layout.get("showlegend")
    if not (len(named) > 1 if asked is None else asked and named):
        return [], 0
    parts, x, y = [], LETTER, top
    for name, (trace, color) in named.items():
        width = 48 + LETTER * len(name)
        if x > LETTER and x + width > WIDTH:
            x, y = LETTER, y + LINE
        parts += [sketch(trace, color, f"M{px(x)} {px(y)}h28", f"M{px(x + 14)} {px(y)}h0"),
                  text(x + 35, y + FONT / 3, name)]
        x += width
    return parts, y + LINE - top
