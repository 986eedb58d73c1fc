"""The anywidget that carries a live figure: the same JavaScript in the built book, JupyterLab, Voilà and Colab."""

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import plotly.graph_objects as go
import plotly.offline
import traitlets
from IPython.display import HTML, display

from mhalib import training
from mhalib.live.modules import widget_module
from mhalib.live.spec import Control, FigureSpec

if TYPE_CHECKING:
    class AnyWidget:
        """anywidget's, whose own base has no types."""

        def __init__(self, **traits: Any) -> None: ...
else:
    from anywidget import AnyWidget

HERE = Path(__file__).parent
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 60rem; margin: 1rem auto; padding: 0 1rem; font-family: system-ui, sans-serif; }}
{css}
</style>
</head>
<body>
{fallback}
<div id="figure"></div>
<script>{plotly}</script>
<script type="module">
{module}
const state = {state};
made.render({{ model: {{ get: (name) => state[name] }}, el: document.getElementById("figure") }});
</script>
"""


class Widget(AnyWidget):
    """What a live figure and the laboratory share: the words that stand until JavaScript runs, and plotly.js.

    A subclass says in ``_said`` its title, its alt text, and the mark ``fallback``, by which JavaScript finds them.
    """

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._answer)

    def fallback(self) -> str:
        """Title and alt text as HTML, until the live figure takes their place; the book puts a picture there too."""
        said = self._said()
        return (f'<figure class="mha-fallback" data-fallback="{said["fallback"]}"><figcaption>{escape(said["title"])}'
                f'</figcaption><p class="mha-alt">{escape(said["alt"])}</p></figure>')

    def _ipython_display_(self, **_):
        display(HTML(self.fallback()))
        bundle, metadata = self._repr_mimebundle_()
        display(bundle, metadata=metadata, raw=True)

    def _answer(self, _, content, __):
        # The built book has plotly.js on its pages; a notebook asks for the one that the plotly wheel carries.
        if content.get("want") == "plotly":
            self.send({"plotly": True}, [plotly.offline.get_plotlyjs().encode()])


class LiveFigure(Widget):
    """A figure that trains where it is read. Made by ``mha.live.heads`` and its siblings.

    ``controls`` names what can be moved; ``values`` is where the controls stand, in Python as in the browser, and can
    be set; ``path()`` is the ``Path`` that mhalib computes for them. ``entry`` is the figure's JavaScript, or the
    file of Python beside it that has the same name.
    """

    _css = (HERE / "widget.css").read_text("utf-8")
    spec: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)
    values: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)

    def __init__(self, description: FigureSpec, entry: str | Path = HERE / "heads.js",
                 program: str | None = None) -> None:
        self._description = description
        self._esm = widget_module(Path(entry).with_suffix(".js"), program)
        # Not the model's id, which this widget does not have yet; as unlikely to be another's.
        super().__init__(spec=description.to_json() | {"fallback": uuid4().hex}, values=description.defaults)

    @property
    def controls(self) -> dict[str, Control]:
        """Name → ``Control``: its label, its values, and the one at the start."""
        return {control.name: control for control in self._description.controls}

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"LiveFigure({self._description.title}: {values})"

    def path(self, **values: Any) -> training.Path:
        """The ``Path`` of the figure's run by mhalib, for the controls as they stand, or for other values.

        Raises ValueError for a name that no control has, or a value that it cannot take.
        """
        return self._description.path(self._description.values(self.values | values))

    def drawn(self, **values: Any) -> dict[str, Any]:
        """What is drawn, by name: ``steps``, the curves, and what is measured of the last model; by mhalib."""
        return self._description.results(self._description.values(self.values | values))

    def figure(self, **values: Any) -> go.Figure:
        """The figure as a plotly figure that stands still, drawn from mhalib's own run."""
        return self._description.figure(self._description.values(self.values | values))

    def save(self, file: str | Path) -> None:
        """Write the figure as one HTML file (some 5 MB, plotly's own library among them) that needs nothing else.

        It opens from a disk and trains there, without a kernel and without the network, from where the controls stand.
        """
        state = json.dumps({"spec": self.spec, "values": self.values}).replace("</", "<\\/")
        Path(file).write_text(PAGE.format(title=escape(self.spec["title"]), css=self._css, fallback=self.fallback(),
                                          plotly=plotly.offline.get_plotlyjs(), state=state,
                                          module=self._esm.replace("export default", "const made =")), "utf-8")

    def _said(self):
        return self.spec | {"alt": self.spec["figure"]["layout"]["meta"]["alt"]}

    @traitlets.validate("values")
    def _known_values(self, proposal):
        return self._description.values(self.values | proposal["value"])
