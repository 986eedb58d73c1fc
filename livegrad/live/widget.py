"""The anywidget that carries a live figure: the same JavaScript in the built book, JupyterLab,
Voilà and Colab."""

import gzip
import json
import os
import re
import shutil
from base64 import b64encode
from copy import deepcopy
from errno import EACCES
from functools import cache
from hashlib import sha256
from html import escape
from mimetypes import guess_type
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Generic

import plotly.graph_objects as go
import traitlets
from IPython.display import HTML, display
from plotly.io.json import to_json_plotly

from livegrad import still, training
from livegrad.console import printed
from livegrad.live.modules import widget_module
from livegrad.live.spec import Control, FigureSpec
from livegrad.pages import book_is_asked
from livegrad.path import M

if TYPE_CHECKING:

    class AnyWidget:
        """anywidget's, whose own base has no types."""

        def __init__(self, **traits: Any) -> None: ...
else:
    from anywidget import AnyWidget

HERE = Path(__file__).parent
PLOTLY = HERE / "vendor" / "plotly-cartesian.min.js"
"""What live figures need of plotly.js, a third of the file that Python's plotly carries."""
SAVED = f"<script>\n{(HERE / 'saved.js').read_text('utf-8')}</script>\n"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{saved}<script>
const dark = matchMedia("(prefers-color-scheme: dark)"), page = document.documentElement.dataset;
const choose = () => (page.theme = dark.matches && page.slide === undefined ? "dark" : "light");
dark.addEventListener("change", choose);
choose();
</script>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 60rem; margin: 0 auto; padding: 0 0.6rem; font: 15px/1.4 system-ui, sans-serif; }}
{css}
</style>
</head>
<body>
{fallback}
<div id="figure"></div>
<script type="text/plain" id="plotly">{plotly}</script>
<script type="application/json" id="state">{state}</script>
<script>
{on_slide}</script>
<script type="module">
{module}
// plotly.js (MIT License) is compressed, to a third
const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
(0, eval)(await new Response(unpacked).text());
const state = JSON.parse(document.getElementById("state").textContent);
await window.mhaStyled;
made.render({{ model: {{ get: (name) => state[name] }}, el: document.getElementById("figure") }});
</script>
"""


def mark(title: str, alt: str) -> str:
    """By what JavaScript finds a title and an alt text again: nothing but them, so equal figures
    are equal text."""
    # A lone surrogate in a title or an alt text must not fail here.
    return sha256(f"{title}\n{alt}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def name_of(title: str) -> str:
    """What a live figure is called in an address: its title in small letters and hyphens.

    Examples
    --------
    >>> name_of("Two networks, seed by seed")
    'two-networks-seed-by-seed'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


# JupyterLab says "model not found" below what a notebook showed when it was saved. What stands
# above says more.
NO_COMPLAINT = (
    "<style>.jp-OutputArea-child:has([data-fallback]) + .jp-OutputArea-child"
    " > .jp-OutputArea-output.jupyter-widgets { display: none; }</style>"
)


CLOSED = "This figure was closed; run the cell that makes it again."


class Shown(AnyWidget):
    """A widget that a notebook shows below ``fallback()``: HTML for where no script runs and no
    kernel has the widget.

    Its JavaScript hides that. A notebook that was run, saved and opened again has nothing else to
    show.
    """

    def fallback(self) -> str:
        """What stands there without the widget, as HTML; it is hidden by its attribute
        ``data-fallback``."""
        raise NotImplementedError

    def _ipython_display_(self, **_):
        if self._repr_mimebundle_ is None:  # ipywidgets takes it away
            return display({"text/plain": CLOSED}, raw=True)
        bundle, metadata = self._repr_mimebundle_()
        fallback = self.fallback()
        if not book_is_asked():
            fallback += NO_COMPLAINT
            # else a program without widgets shows the repr, below the fallback
            bundle["text/html"] = ""
        if fallback:
            display(HTML(fallback))
        display(bundle, metadata=metadata, raw=True)


class Widget(Shown):
    """What a live figure and the laboratory share: the words that stand until JavaScript runs, and
    plotly.js.

    A subclass says in ``_captions`` its title, its alt text, and their ``mark`` as ``fallback``, by
    which JavaScript finds them, and in ``_frame`` what it draws at the start.
    """

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._answer)

    def fallback(self) -> str:
        """Title, picture and alt text as HTML, until the live figure takes their place; a page of
        the book has the figure itself, and gets the picture when it is built."""
        said = self._captions()
        if book_is_asked():
            drawing = to_json_plotly(self._frame())
            shown = (
                f'<p class="mha-alt">{escape(said["alt"])}</p>'
                f'<script type="application/json">{drawing}</script>'
            )
        else:
            shown = still.image(self._frame(), said["alt"])
        return (
            f'<figure class="mha-fallback" data-fallback="{said["fallback"]}"><figcaption>{escape(said["title"])}'
            f"</figcaption>{shown}</figure>"
        )

    def _answer(self, _, content, __):
        # The built book has plotly.js on its pages; a notebook asks for it.
        if content.get("want") == "plotly":
            self.send({"plotly": True}, [PLOTLY.read_bytes()])


@printed
class LiveFigure(Widget, Generic[M]):
    """A figure that trains where it is read. Made by ``live.figure`` and its siblings.

    ``controls`` names what can be moved; ``values`` is where the controls stand, in Python as in
    the browser, and can be set; ``path()`` is the ``Path`` that Python computes for them. ``entry``
    is the figure's JavaScript, or the file of Python beside it that has the same name.
    """

    _css = (HERE / "widget.css").read_text("utf-8") + (HERE / "colors.css").read_text("utf-8")
    spec: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)
    values: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        description: FigureSpec,
        entry: str | Path,
        program: str | None = None,
    ) -> None:
        self._description = description
        self._esm = widget_module(Path(entry).with_suffix(".js"), program)
        spec = description.to_json()
        spec |= {"fallback": mark(spec["title"], description.alt), "name": name_of(spec["title"])}
        super().__init__(spec=spec, values=description.defaults)

    @property
    def controls(self) -> dict[str, Control]:
        """Name → ``Control``: its label, its values, and the one at the start."""
        return {control.name: control for control in self._description.controls}

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"LiveFigure({self._description.title}: {values})"

    def path(self, /, **values: Any) -> training.Path[M]:
        """The ``Path`` of the figure's run by Python, for the controls as they stand, or for other
        values.

        Raises ValueError for a name that no control has, or a value that it cannot take.
        """
        path = self._description.path(self._description.values(self.values | values))
        return deepcopy(path)  # what is written into it changes no figure

    def drawn(self, /, **values: Any) -> dict[str, Any]:
        """What is drawn, by name: ``steps``, the curves, and what is measured of the last model; by
        Python."""
        return self._description.results(self._description.values(self.values | values))

    def figure(self, /, **values: Any) -> go.Figure:
        """The figure as a plotly figure that stands still, drawn from the run in Python."""
        return self._description.figure(self._description.values(self.values | values))

    def save(self, file: str | Path) -> None:
        """Write the figure as one HTML file (about 0.8 MB, of which plotly.js is most, and 20 bytes
        for each number of the data) that needs nothing else.

        It opens from a disk and trains there, without a kernel and without the network, from where
        the controls stand. If it cannot be written, what was there stays as it was.

        Raises TypeError or ValueError if ``file`` is the name of no file, or does not end as that
        of a page, in .html; OSError if it cannot be written.
        """
        text = alone(self.spec, self.values, self._esm, self.fallback())
        _write(file, text.encode())

    def _captions(self):
        return self.spec | {"alt": self.spec["figure"]["layout"]["meta"]["alt"]}

    def _frame(self):
        return self.spec["figure"]

    @traitlets.validate("values")
    def _known_values(self, proposal):
        return self._description.values(self.values | proposal["value"])


def alone(spec: dict[str, Any], values: dict[str, Any], module: str, fallback: str = "") -> str:
    """A page of one live figure that needs nothing else, as high as the window: its text in HTML.

    ``fallback`` stands there where no script runs. ``#?lr=0.3`` at the end of its address sets its
    controls.
    """
    # ``JSON.parse`` refuses the NaN and Infinity that Python would write.
    state = json.dumps({"spec": spec | {"alone": True}, "values": values}, allow_nan=False)
    return PAGE.format(
        title=escape(spec["title"]),
        saved=SAVED,
        on_slide=(HERE / "on_slide.js").read_text("utf-8"),
        css=LiveFigure._css,
        fallback=fallback,
        plotly=_compressed(PLOTLY),
        # no word of it ends the script, or opens a comment
        state=state.replace("<", r"\u003c"),
        module=module.replace("export default", "const made ="),
    )


@cache
def _compressed(file):
    """A file for a page, which unpacks it."""
    return b64encode(gzip.compress(file.read_bytes(), mtime=0)).decode()


def _write(file, content):
    """Write beside a file and rename, so that it is there as a whole or as it was."""
    if not isinstance(file, (str, os.PathLike)):
        raise TypeError(f"file: expected the name of a file, got {type(file).__name__}")
    # Resolved, because a rename onto a symbolic link would replace the link and not its file.
    there = Path(file).resolve()
    if there.exists() and not there.is_file():
        raise ValueError(f"file: expected the name of a file, got {str(file)!r}, which is none")
    if guess_type(there.name)[0] != "text/html":
        raise ValueError(
            f"file: expected a name in .html, for save writes a page; got {str(file)!r}; "
            "livegrad.plots.save(figure.figure(), …) writes a picture"
        )
    if not there.parent.is_dir():
        raise FileNotFoundError(f"file: expected a folder that is there, got {str(there.parent)!r}")
    if there.exists() and not os.access(there, os.W_OK):
        raise PermissionError(EACCES, "a file that cannot be written", str(file))
    beside = there.with_name(f".{token_hex(8)}")
    try:
        with beside.open("xb") as unfinished:
            unfinished.write(content)
        if there.exists():
            # The rename would also replace the permissions of the old file by those of the new.
            shutil.copymode(there, beside)
        os.replace(beside, there)
    except OSError as error:  # of a name that nobody gave
        raise type(error)(error.errno, error.strerror, str(file)) from None
    finally:
        beside.unlink(missing_ok=True)
