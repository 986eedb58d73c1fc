"""The names of lines stand above the panel that draws them, below its title."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from livegrad.plots import GRAY
from livegrad.still.legend import EDGE, ROW, SAMPLE
from livegrad.still.words import width

PAGE = 688  # pixels: how wide a figure is on a page
FACE = "'Source Sans 3', 'Open Sans', arial, sans-serif"
NARROW = 0.85  # of the letters that still/words.py measures, at most; those of verdana are as wide
BETWEEN = 5  # from the names in one column to the samples of the next
APART = 24  # from there to the title of the next panel
BAR = 90  # a bar of colors with its numbers


def legends_above(figure: go.Figure) -> go.Figure:
    """The figure with a legend above each panel that has names to show, and room for all of them.

    A legend is as wide as its panel. Where only one line is not gray, the title says what it is.
    """
    axes = [axis.plotly_name[5:] for axis in figure.select_xaxes()]
    panels = [_Panel(figure, number) for number in axes]
    tops = sorted({panel.top for panel in panels}, reverse=True)
    rows = [[panel for panel in panels if panel.top == top] for top in tops]
    bars = [trace for trace in figure.select_traces("heatmap") if trace.showscale is not False]
    wide = PAGE - figure.layout.margin.l - figure.layout.margin.r - BAR * bool(bars)
    for row in rows:
        lefts = [panel.left for panel in row]
        for panel in row:
            others = [wide * (left - panel.left) - APART for left in lefts if left > panel.left]
            panel.arrange(min(others, default=wide * (1 - panel.left)))
    figure.layout.font.family = FACE
    _make_room(figure, rows)
    for panel in panels:
        panel.write()
    return figure


class _Panel:
    """A pair of axes, what is drawn between them, and the names of its legend."""

    def __init__(self, figure: go.Figure, number: str) -> None:
        self.figure: go.Figure = figure
        self.number: str = number
        self.x, self.y = (figure.layout[f"{letter}axis{number}"] for letter in "xy")
        self.left: float = self.x.domain[0]
        self.top: float = self.y.domain[1]
        drawn = [line for line in figure.data if (line.xaxis or "x")[1:] == number]
        told = [line for line in drawn if line.name and line.showlegend is not False]
        now = [line for line in drawn if line.type != "scatter" or line.line.color != GRAY]
        alone = len(told) == len(now) == 1 and told[0] is now[0]
        self.told: list[Any] = [] if alone else told
        if alone:
            told[0].showlegend = False
        self.columns: list[list[Any]] = []
        titles = figure.layout.annotations
        self.titles: list[Any] = [title for title in titles if self._has(title)]

    def _has(self, title):
        return np.isclose(title.y, self.top) and self.left - 1e-6 < title.x < self.x.domain[1]

    def arrange(self, room):
        """As few rows of names as there is room for, filled column by column."""
        for rows in range(1, len(self.told) + 1):
            self.columns = [self.told[k : k + rows] for k in range(0, len(self.told), rows)]
            needs = 0
            for column in self.columns:
                needs += SAMPLE + BETWEEN + NARROW * max(width(line.name) for line in column)
            if needs <= room:
                return

    @property
    def high(self):
        """How many pixels the legend takes."""
        return ROW * max(map(len, self.columns)) + 2 * EDGE if self.columns else 0

    def write(self):
        """Let the legend stand on the panel, and the title on the legend."""
        if not self.columns:
            return
        for title in self.titles:
            title.yshift = self.high - EDGE
        legend = f"legend{self.number}"
        for k, column in enumerate(self.columns):
            for line in column:
                line.update(legend=legend, legendgroup=f"{legend} {k}")
        place = {"x": self.left, "y": self.top, "yanchor": "bottom"}
        self.figure.layout[legend] = place | {"orientation": "h", "groupclick": "toggleitem"}


def _make_room(figure, rows):
    """A figure with one row of panels grows by what the legends above them take. Of several rows
    the panels shrink: those on top by a margin, others by wider gaps."""
    highs = [max(panel.high for panel in row) for row in rows]
    top = max(highs[0] - EDGE, 0)
    figure.layout.margin.t += top
    if len(rows) == 1:
        figure.layout.height += top
    if not any(highs[1:]):
        return
    margin = figure.layout.margin
    within = figure.layout.height - margin.t - margin.b
    tall = [row[0].top - row[0].y.domain[0] for row in rows]
    shrunk = 1 - sum(highs[1:]) / within / sum(tall)
    place, below = 1.0, rows[0][0].top
    for row, high, size in zip(rows, highs, tall, strict=True):
        gap = below - row[0].top
        below = row[0].top - size
        place -= gap + (high / within if gap else 0)
        for panel in row:
            panel.y.domain, panel.top = (max(place - size * shrunk, 0.0), place), place
            for title in panel.titles:
                title.y = place
        place -= size * shrunk
