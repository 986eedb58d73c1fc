"""A function, its controls and its figure; when the function is called, and who hears of its errors."""

import asyncio
import contextlib
import inspect
from functools import cached_property, partial
from html import escape

from plotly.basedatatypes import BaseFigure

from mhalib._render import alt_text, book_is_asked, figure_html, require_alt_text
from mhalib.exploring.controls import control_for, in_words
from mhalib.exploring.panel import Panel

DELAY = 0.15  # the function is called when its controls have rested for so many seconds


class Explorer:
    """A function, the controls of its parameters and its figure: what ``mha.explore`` makes and a notebook displays.

    ``f`` is the function, ``figure`` what it last returned, and ``error`` what it has raised since, or None.
    """

    def __init__(self, f, controls):
        defaults = _defaults(f, controls)
        self.f, self.error = f, None
        self._allowed = {name: control_for(name, given, defaults.get(name)) for name, given in controls.items()}
        self._values = self._start = {name: control.start for name, control in self._allowed.items()}
        self._asked, self._listening = 0, True
        if not book_is_asked():
            _ = self.controls
        self.figure = self._call(self._start)

    @property
    def values(self):
        """Name → value, as the controls stand now."""
        return dict(self._values)

    @cached_property
    def controls(self):
        """Name → widget. For a page of the book they are made only when they are asked for."""
        widgets = {name: control.widget(self._values[name]) for name, control in self._allowed.items()}
        for name, widget in widgets.items():
            widget.observe(partial(self._changed, name), "value")
        return widgets

    @cached_property
    def panel(self):
        """The widgets that a notebook displays, made when they are first asked for."""
        panel = Panel(self.controls.values(), self.figure, self._words())
        if self.error:
            panel.complain(self.error, in_words(self._values))
        return panel

    def set(self, **values):
        """Set some controls, as in ``set(H=4, lr=0.1)``, and call the function once and at once.

        Raises what the function raises, and a ValueError where there is no such control or value.
        """
        for name, value in values.items():
            if name not in self._allowed:
                raise ValueError(f"{name}: expected one of the controls {', '.join(self._allowed)}, got {value!r}")
            self._allowed[name].require(value)
        self._values = self._values | values
        self._asked += 1
        self._move_widgets(values)
        self._redraw()

    def check(self):
        """Call the function at both ends of each control, with the others at their start, and raise what it raises.

        Of a menu every entry is tried. A note on the error says at which values it came.
        """
        ends = [{name: end} for name, control in self._allowed.items() for end in control.ends]
        for changed in [{}, *ends]:
            self._call(self._start | changed)

    def _call(self, values):
        try:
            return _checked(self.f(**values))
        except Exception as error:
            error.add_note(f"mha.explore called {_name(self.f)} at {in_words(values)}.")
            raise

    def _move_widgets(self, values):
        self._listening = False
        try:
            for name in values.keys() & vars(self).get("controls", {}).keys():
                self.controls[name].value = values[name]
                self._values = self._values | {name: self._allowed[name].read(self.controls[name].value)}
        finally:
            self._listening = True

    def _changed(self, name, change):
        if not self._listening:
            return
        self._values = self._values | {name: self._allowed[name].read(change["new"])}
        self._asked += 1
        loop = _running_loop()
        if loop is None:
            self._redraw()
        else:
            loop.call_later(DELAY, self._redraw_if_last, self._asked)

    def _redraw_if_last(self, asked):
        if asked == self._asked:
            with contextlib.suppress(Exception):  # nobody is there to catch it, so it is shown in place
                self._redraw()

    def _redraw(self):
        # While f runs, another thread of the kernel may bring the next change: then this run has nothing to say.
        asked, values = self._asked, self._values
        try:
            figure = self._call(values)
            if asked == self._asked:
                self._show(figure)
        except Exception as error:
            if asked == self._asked:
                self._complain(error)
            raise

    def _show(self, figure):
        self.figure, self.error = figure, None
        if "panel" in vars(self):
            self.panel.show(figure, self._words())

    def _complain(self, error):
        self.error = error
        if "panel" in vars(self):
            self.panel.complain(error, in_words(self._values))

    def _words(self):
        return alt_text(_layout_of(self.figure)) or f"The figure at {in_words(self._values)}."

    def _note(self):
        named = [f"{name} ({control.words})" for name, control in self._allowed.items()]
        return (f'<p class="mha-explore">Sliders for {escape(_joined(named))} need a running kernel: '
                "open this page in Colab or with <code>make lab</code>.</p>")

    def _ipython_display_(self):
        from IPython.display import display

        display(self._bundle(), raw=True)

    def _bundle(self):
        if book_is_asked():
            return {"text/html": figure_html(self.figure.to_dict()) + self._note()}
        view = {"version_major": 2, "version_minor": 0, "model_id": self.panel.box.model_id}
        return {"text/plain": repr(self), "application/vnd.jupyter.widget-view+json": view}

    def __repr__(self):
        return f"Explorer of {_name(self.f)} at {in_words(self._values)}"


def _defaults(f, controls):
    """The defaults of f's parameters, {name: default}; an error where f and the controls do not fit."""
    if not callable(f):
        raise TypeError(f"f: expected a function that returns a plotly figure, got {f!r}")
    if not controls:
        raise ValueError("controls: expected at least one, such as lr=(0.01, 10.0), got none")
    parameters = inspect.signature(f).parameters.values()
    taken = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    unknown = [name for name in controls if name not in taken]
    if unknown and not any(one.kind == one.VAR_KEYWORD for one in parameters):
        raise ValueError(f"{unknown[0]}: expected a parameter of {_name(f)}, which has {_joined(taken) or 'none'}")
    single = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    bare = [one.name for one in single if one.default is one.empty and one.name not in controls]
    if bare:
        raise ValueError(f"{bare[0]}: expected a control or a default for this parameter of {_name(f)}, got neither")
    return {one.name: one.default for one in single}


def _checked(figure):
    """The figure that f returned; an error where it is none, or one that cannot be shown."""
    if not isinstance(figure, BaseFigure):
        raise TypeError(f"f: expected a function that returns a plotly figure, got one that returns {figure!r:.80}")
    if figure.frames:
        raise ValueError(f"f: expected a figure without frames, got one with {len(figure.frames)}")
    if book_is_asked():
        require_alt_text(_layout_of(figure))
    return figure


def _layout_of(figure):
    return {"layout": figure.layout.to_plotly_json()}


def _running_loop():
    """The event loop of a kernel, or None in plain Python."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _name(f):
    return getattr(f, "__name__", type(f).__name__)


def _joined(words):
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
