"""What a notebook shows of an explorer: the controls, a line for an error, the figure, and its alt text."""

import contextlib
import sys
from html import escape

import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from mhalib.exploring.controls import ipywidgets


class Panel:
    """The widgets, from top to bottom in ``box``: the controls, ``error``, ``canvas`` and ``words``."""

    def __init__(self, controls, figure, words):
        widgets = ipywidgets()
        self.error, self.words = widgets.HTML(), widgets.HTML()
        self.canvas, self._drawn = _canvas(figure), _pieces(figure)
        self.box = widgets.VBox([*controls, self.error, self.canvas, self.words])
        self._say(words)

    def show(self, figure, words):
        """Draw a figure in the place of the one before, and say it in words."""
        before, after = self._drawn, _pieces(figure)
        if isinstance(self.canvas, ipywidgets().Output):
            self.canvas.outputs = _outputs(figure)
        elif _frame(before) != _frame(after):
            self._replace(figure)
        else:
            changed = [place for place in before | after if before.get(place) != after.get(place)]
            draw = self._update if _traces(before) == _traces(after) else self._refill
            draw(figure, changed)
        self._drawn = after
        self._say(words)

    def complain(self, error, at):
        """Show an error above the figure, which stays."""
        kind, at, message = escape(type(error).__name__), escape(at), escape(str(error))
        self.error.value = f'<p role="alert"><b>{kind}</b> at {at}: {message}</p>'
        self.error.layout.display = None

    def _say(self, words):
        self.error.value, self.error.layout.display = "", "none"
        self.words.value = f'<p role="status" aria-live="polite"><small>{escape(words)}</small></p>'

    def _update(self, figure, changed):
        # Only what changed from one of f's figures to the next is sent, so that a reader's zoom stays.
        with self.canvas.batch_update():
            for part, key in changed:
                _part(self.canvas, part)[key] = _part(figure, part)[key]

    def _refill(self, figure, changed):
        self.canvas.data = []
        self._update(figure, [(part, key) for part, key in changed if part == "layout"])
        self.canvas.add_traces(figure.data)

    def _replace(self, figure):
        # Only where it must be: each new FigureWidget brings the notebook the 5 MB of plotly.js once more.
        before, self.canvas = self.canvas, _canvas(figure)
        self.box.children = [self.canvas if child is before else child for child in self.box.children]
        before.close()


def _canvas(figure):
    """A FigureWidget with the figure; where there can be none, an Output that shows it."""
    with_anywidget = hasattr(go.FigureWidget, "_esm")
    if with_anywidget or "google.colab" not in sys.modules:  # Colab does not show the one of plotly 5
        with contextlib.suppress(ImportError):
            return go.FigureWidget(figure)
    return ipywidgets().Output(outputs=_outputs(figure))


def _outputs(figure):
    # Assigned, not displayed there: a call that was put off belongs to no cell whose outputs could be caught.
    return ({"output_type": "display_data", "data": go.Figure(figure)._repr_mimebundle_(), "metadata": {}},)


def _part(figure, part):
    return figure.layout if part == "layout" else figure.data[part]


def _pieces(figure):
    """Every property of the layout and of each trace, {("layout" or the trace's number, key): JSON}."""
    plain = figure.to_plotly_json()
    parts = {"layout": plain["layout"], **dict(enumerate(plain["data"]))}
    return {(part, key): to_json_plotly(value) for part, held in parts.items() for key, value in held.items()}


def _frame(pieces):
    """Which properties the layout has: axes, legend, size, which plotly.js does not take back, but not marks on it."""
    return {key for part, key in pieces if part == "layout"} - {"annotations", "images", "shapes", "title"}


def _traces(pieces):
    """Which properties the traces have, and their types."""
    return {place: value if place[1] == "type" else None for place, value in pieces.items() if place[0] != "layout"}
