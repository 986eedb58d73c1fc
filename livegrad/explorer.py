"""Sliders over any Python function that returns a figure: ``explore``. The function runs in the
kernel.

From top to bottom: ``explore``; the ``Explorer``, which knows when the function is called and who
hears of its errors; and what a notebook shows of it. What a parameter may be is in ``controls``. The
file is not called ``explore``: a submodule of that name would hide the function ``explore``.
"""

import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, partial
from html import escape
from pathlib import Path
from typing import Any
from weakref import ref

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure
from plotly.offline import get_plotlyjs

from livegrad.arrays import shown
from livegrad.console import printed
from livegrad.controls import label, values_for
from livegrad.pages import alt_text, book_is_asked, require_alt_text


def explore(f: Callable[..., Any], /, **controls: Any) -> "Explorer":
    """Put sliders on a Python function that returns a plotly figure, and call it again when one of
    them moves.

    Each keyword names a parameter of ``f`` and says what it may be:

    - ``(min, max)`` or ``(min, max, step)`` of whole numbers is a slider. Without a step, from 1 on and over more than
      a factor of 16, it goes in doublings: ``H=(1, 64)`` is 1, 2, 4, …, 64, and ``H=(1, 64, 1)`` is
      every number.
    - ``(min, max)`` or ``(min, max, step)`` with a float is a slider. Without a step, with ``min > 0`` and over a
      factor of 100 or more, it is logarithmic: ``lr=(0.01, 10.0)``.
    - A list is a choice: a slider if it holds numbers, else a menu.
    - ``True`` or ``False`` is a checkbox, which starts there.
    - A widget of ipywidgets is used as it is. A slider with ``continuous_update=False`` calls a slow
      function only when it is let go.

    A range or a list starts at the default that ``f`` has for the parameter, up to rounding; a
    default between the steps of a range is one more of its values. Where
    it has none, or none inside, a slider starts in its middle, in the geometric middle if it is
    logarithmic or doubles, and a menu at its first entry; a warning says so of a default that is
    none of the values.

    What ``f`` raises at the start values is raised. What it raises later is raised in plain Python;
    a notebook shows it above the last figure.

    Raises TypeError if ``f`` is no function or returns no figure, or if a control is none of the
    above; ValueError if ``f`` has no such parameter or one without a control and a default, if a
    range is reversed, a list empty, or the figure has frames; ImportError if ipywidgets or
    anywidget is not installed.

    Returns an ``Explorer``. A notebook displays it. A page of the book has no kernel behind it:
    there the figure at the start values stands, and a note names the controls.

    Parameters
    ----------
    f : a function of which each parameter has a control or a default. It returns a
        ``plotly.graph_objects.Figure`` without frames. Its alt text, ``layout.meta["alt"]``, is
        shown below it and read out when it changes
    controls : what each parameter may be

    Examples
    --------
    >>> def wave(k, phase=0.0):
    ...     t = np.linspace(0, 7, 200)
    ...     return lg.plots.curves(t, {"wave": np.sin(k * t + phase)}, log_y=False)
    >>> lg.explore(wave, k=(1, 9), phase=(0.0, 3.1))
    Explorer of wave at k = 5, phase = 0
    """
    explorer = Explorer(f, controls)
    if os.environ.get("LIVEGRAD_EXPLORE") == "ends":  # who runs a notebook to test it asks for this
        explorer.check()
    return explorer


@printed
class Explorer:
    """A function, the controls of its parameters and its figure: what ``explore`` makes and a
    notebook displays.

    ``f`` is the function, ``controls`` are its widgets by name, ``figure`` is what it last
    returned, and ``error`` what it has raised since, or None.
    """

    def __init__(self, f: Callable[..., Any], controls: dict[str, Any]) -> None:
        defaults = _defaults(f, controls)
        if not book_is_asked():
            _require_widgets()
        self.f = f
        self._allowed = {
            name: values_for(name, given, defaults.get(name)) for name, given in controls.items()
        }
        for name, control in self._allowed.items():
            control.say_start(defaults.get(name))
        self.controls: dict[str, Any] = {
            name: control.widget() for name, control in self._allowed.items()
        }
        self._start = self._drawn_at = self.values
        self.figure: go.Figure = self._call(self._start)
        self.error: Exception | None = None
        # A widget of the reader's outlives its explorers, so it is not to keep them.
        self._hear = partial(_tell, ref(self))
        self._is_setting = False
        if not book_is_asked():
            self._listen(True)

    @property
    def values(self) -> dict[str, Any]:
        """Name → value, as the controls stand now."""
        return {name: self._allowed[name].read(one.value) for name, one in self.controls.items()}

    @cached_property
    def panel(self) -> "_Panel":
        """The widgets that a notebook displays, made when they are first asked for."""
        panel = _Panel(self.controls.values())
        panel.show(self.figure, self._words())
        if self.error:
            panel.complain(self.error, _in_words(self.values))
        # What is displayed goes on when nobody has the explorer by a name.
        panel.box.explorer = self
        return panel

    def set(self, **values: Any) -> None:
        """Set some controls, as in ``set(H=4, lr=0.1)``, and call the function once and at once.

        Raises what the function raises, and a ValueError where there is no such control or value.
        """
        for name, value in values.items():
            if name not in self._allowed:
                raise ValueError(
                    f"{name}: expected one of the controls {', '.join(self._allowed)}, got "
                    f"{shown(value)}"
                )
        values = {name: self._allowed[name].match(value) for name, value in values.items()}
        self._is_setting = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._is_setting = False
        self._redraw()

    def check(self) -> None:
        """Call the function at both ends of each control, with the others at their start, and raise
        what it raises.

        Of a menu every entry is tried. A note on the error says at which values it came.
        """
        ends = [{name: end} for name, control in self._allowed.items() for end in control.ends]
        for changed in [{}, *ends]:
            self._call(self._start | changed)

    def _call(self, values):
        try:
            return _checked(self.f(**values))
        except Exception as error:
            error.add_note(f"explore called {_name(self.f)} at {_in_words(values)}.")
            raise

    def _listen(self, on):
        for widget in self.controls.values():
            with suppress(ValueError):  # it did not listen
                (widget.observe if on else widget.unobserve)(self._hear, "value")

    def _moved(self):
        # At once: a page sends no other move of a widget until this one is done, and then the last.
        if self._is_setting:
            return
        try:
            self._redraw()
        except Exception:
            if "panel" not in vars(self):  # which shows it
                raise

    def _redraw(self):
        values, panel = self.values, vars(self).get("panel")
        try:
            figure = self._call(values)
        except Exception as error:
            if values == self.values:
                self.error = error
                if panel:
                    panel.complain(error, _in_words(values))
            raise
        # While f ran, another thread of the kernel may have brought the next change: then this run
        # has nothing to say.
        if values == self.values:
            self.figure, self._drawn_at, self.error = figure, values, None
            if panel:
                panel.show(figure, self._words())

    def _words(self):
        return alt_text(self.figure.layout.meta) or f"The figure at {_in_words(self._drawn_at)}."

    def _note(self):
        named = [f"{name} ({control.words})" for name, control in self._allowed.items()]
        return (
            f'<p class="mha-explore">Sliders for {escape(_joined(named))} need a running kernel: '
            "open this page in Colab or with <code>make lab</code>.</p>"
        )

    def _ipython_display_(self):
        from IPython.display import display

        if book_is_asked():
            drawn = self.figure._repr_mimebundle_()["text/html"]  # by the renderer of the pages
            bundle = {"text/html": drawn + self._note()}
        elif self.panel.box.comm is None:
            bundle = {
                "text/plain": "These controls were closed; run the cell that makes them again."
            }
        else:
            self._listen_until_its_cell_runs_again()
            view = {"version_major": 2, "version_minor": 0, "model_id": self.panel.box.model_id}
            bundle = {"text/plain": repr(self), "application/vnd.jupyter.widget-view+json": view}
        display(bundle, raw=True)

    def _listen_until_its_cell_runs_again(self):
        from IPython import get_ipython

        self._listen(True)
        shell = get_ipython()
        if not hasattr(shell, "get_parent"):  # no notebook
            return
        displayed_by = _cell(shell)

        def stop(_):
            if _cell(shell) == displayed_by:
                self._listen(False)
                shell.events.unregister("pre_run_cell", stop)

        shell.events.register("pre_run_cell", stop)

    def __repr__(self) -> str:
        return f"Explorer of {_name(self.f)} at {_in_words(self.values)}"


def _cell(shell):
    """The cell that runs: its id, or its text where the notebook's program does not send that."""
    sent = shell.get_parent()
    return sent.get("metadata", {}).get("cellId") or sent.get("content", {}).get("code")


def _tell(explorer, _):
    """Tell an explorer of a change, if it is still there."""
    if (listener := explorer()) is not None:
        listener._moved()


def _defaults(f, controls):
    """The defaults of f's parameters, {name: default}; an error where f and the controls do not
    fit."""
    if not callable(f):
        raise TypeError(f"f: expected a function that returns a plotly figure, got {shown(f)}")
    if not controls:
        raise ValueError("controls: expected at least one, such as lr=(0.01, 10.0), got none")
    signature = inspect.signature(f)
    parameters = signature.parameters
    try:
        signature.bind(**controls)
    except TypeError as error:
        raise ValueError(
            f"controls: expected parameters of {_name(f)}({', '.join(parameters)}); {error}"
        ) from None
    return {name: p.default for name, p in parameters.items() if p.default is not p.empty}


def _checked(figure):
    """The figure that f returned; an error where it is none, or one that cannot be shown."""
    if not isinstance(figure, BaseFigure):
        raise TypeError(
            f"f: expected a function that returns a plotly figure, got one that returns "
            f"{shown(figure)}"
        )
    if figure.frames:
        raise ValueError(f"f: expected a figure without frames, got one with {len(figure.frames)}")
    if book_is_asked():
        require_alt_text(figure.layout.meta)
    return figure


def _name(f):
    return getattr(f, "__name__", type(f).__name__)


def _joined(words):
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _require_widgets():
    try:
        import anywidget  # noqa: F401
        import ipywidgets  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "explore makes its controls with ipywidgets: pip install ipywidgets anywidget"
        ) from error


def _in_words(values):
    """``H = 8, lr = 0.1``."""
    return ", ".join(f"{name} = {label(value)}" for name, value in values.items())


class _Panel:
    """The widgets, from top to bottom in ``box``: the controls, ``error``, ``canvas`` and
    ``words``."""

    def __init__(self, controls):
        from ipywidgets import HTML, VBox

        self.error, self.canvas, self.words = HTML(), _canvas()(), HTML()
        self.box = VBox([*controls, self.error, self.canvas, self.words])

    def show(self, figure, words):
        """Draw a figure in the place of the one before, and say it in words."""
        self.error.value, self.error.layout.display = "", "none"
        self.canvas.figure = figure.to_json()
        self.words.value = f'<p role="status" aria-live="polite"><small>{escape(words)}</small></p>'

    def complain(self, error, at):
        """Show an error above the figure, which stays."""
        kind, at, message = escape(type(error).__name__), escape(at), escape(str(error))
        self.error.value = f'<p role="alert"><b>{kind}</b> at {at}: {message}</p>'
        self.error.layout.display = None


@cache
def _canvas():
    """The widget that has plotly.js draw a figure (canvas.js). The page asks for the 5 MB of
    plotly.js when it shows one: a saved notebook does not carry them."""
    from anywidget import AnyWidget
    from traitlets import Unicode

    class Canvas(AnyWidget):
        _esm = Path(__file__).with_name("canvas.js")
        figure = Unicode().tag(sync=True)

        def __init__(self):
            super().__init__()
            self.on_msg(_send_plotly)

    return Canvas


def _send_plotly(canvas, asked, _):
    if asked.get("want") == "plotly":
        canvas.send({"plotly": True}, [get_plotlyjs().encode()])
