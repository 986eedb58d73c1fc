"""Sliders over any Python function that returns a figure: ``explore``. The function runs in the
kernel.

From top to bottom: ``explore``; the ``Explorer``, which knows when the function is called and who
hears of its errors; what a notebook shows of it; and what a parameter may be. The file is not
called ``explore``: a submodule of that name would hide the function ``explore``.
"""

import asyncio
import contextlib
import inspect
import math
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from html import escape
from numbers import Integral, Real
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure
from plotly.io.json import to_json_plotly

from livegrad.arrays import matching, shown
from livegrad.console import printed
from livegrad.pages import alt_text, book_is_asked, require_alt_text

DELAY = 0.15  # the function is called when its controls have rested for so many seconds


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
    - A widget of ipywidgets is used as it is.

    A range or a list starts at the default that ``f`` has for the parameter, up to rounding; a
    default between the steps of a range is one more of its values. Where
    it has none, or none inside, a slider starts in its middle, in the geometric middle if it is
    logarithmic or doubles, and a menu at its first entry; a warning says so of a default that is
    none of the values.

    What ``f`` raises at the start values is raised. What it raises later is raised in plain Python;
    a notebook shows it above the last figure.

    Raises TypeError if ``f`` is no function or returns no figure, or if a control is none of the
    above; ValueError if ``f`` has no such parameter or one without a control and a default, if a
    range is reversed, a list empty, or the figure has frames; ImportError if ipywidgets is not
    installed.

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

    ``f`` is the function, ``figure`` what it last returned, and ``error`` what it has raised since,
    or None.
    """

    def __init__(self, f: Callable[..., Any], controls: dict[str, Any]) -> None:
        defaults = _defaults(f, controls)
        self.f = f
        self.error: Exception | None = None
        self._allowed = {
            name: _control_for(name, given, defaults.get(name)) for name, given in controls.items()
        }
        # Both may be one dictionary, because ``_values`` is replaced and never changed in place.
        self._values = self._start = {
            name: control.start for name, control in self._allowed.items()
        }
        for name, control in self._allowed.items():
            control.say_start(defaults.get(name, inspect.Parameter.empty))
        self._asked, self._listening = 0, True
        if not book_is_asked():
            # Ahead of the first call: a missing ipywidgets is reported before f has run.
            _ = self.controls
        self.figure: go.Figure = self._call(self._start)

    @property
    def values(self) -> dict[str, Any]:
        """Name → value, as the controls stand now."""
        return dict(self._values)

    @cached_property
    def controls(self) -> dict[str, Any]:
        """Name → widget. For a page of the book they are made only when they are asked for."""
        widgets = {
            name: control.widget(self._values[name]) for name, control in self._allowed.items()
        }
        # A widget of the reader's outlives its explorers, so it is not to keep them.
        self._heard = [
            (widget, partial(_tell, ref(self), name)) for name, widget in widgets.items()
        ]
        self._listen(True)
        return widgets

    def _listen(self, on):
        for widget, heard in self._heard:
            (widget.observe if on else widget.unobserve)(heard, "value")

    @cached_property
    def panel(self) -> "_Panel":
        """The widgets that a notebook displays, made when they are first asked for."""
        panel = _Panel(self.controls.values(), self.figure, self._words())
        if self.error:
            panel.complain(self.error, _in_words(self._values))
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
        self._values = self._values | values
        # A redraw that still waits for its delay is no longer the last, and does nothing.
        self._asked += 1
        self._move_widgets(values)
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

    def _move_widgets(self, values):
        self._listening = False
        try:
            # Not ``self.controls``, which would make the widgets on a page of the book.
            for name in values.keys() & vars(self).get("controls", {}).keys():
                self.controls[name].value = values[name]
                # Read back, because a widget may round what it is set to.
                self._values = self._values | {
                    name: self._allowed[name].read(self.controls[name].value)
                }
        finally:
            self._listening = True

    def _changed(self, name, change):
        if not self._listening:
            return
        self._values = self._values | {name: self._allowed[name].read(change["new"])}
        self._asked += 1
        with contextlib.suppress(RuntimeError):  # in plain Python no loop of events runs
            asyncio.get_running_loop().call_later(DELAY, self._redraw_if_last, self._asked)
            return
        self._redraw()

    def _redraw_if_last(self, asked):
        if asked == self._asked:
            # nobody is there to catch it, so it is shown in place
            with contextlib.suppress(Exception):
                self._redraw()

    def _redraw(self):
        # While f runs, another thread of the kernel may bring the next change: then this run has
        # nothing to say.
        asked = self._asked
        try:
            figure = self._call(self._values)
            if asked == self._asked:
                self.figure, self.error = figure, None
                if panel := vars(self).get("panel"):
                    panel.show(figure, self._words())
        except Exception as error:
            if asked == self._asked:
                self.error = error
                if panel := vars(self).get("panel"):
                    panel.complain(error, _in_words(self._values))
            raise

    def _words(self):
        return alt_text(self.figure.layout.meta) or f"The figure at {_in_words(self._values)}."

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
            self._replace_earlier()
            view = {"version_major": 2, "version_minor": 0, "model_id": self.panel.box.model_id}
            bundle = {"text/plain": repr(self), "application/vnd.jupyter.widget-view+json": view}
        display(bundle, raw=True)

    def _replace_earlier(self):
        """Be what the running cell displays, in place of what it displayed when it ran before: that
        is no longer seen, and listens no more."""
        cell, count = _running_cell()
        counted, displayed = _displayed.get(cell, (count, []))
        if counted != count:
            for earlier in displayed:
                earlier._listen(False)
            displayed = []
        self._listen(True)
        if cell is not None:
            _displayed[cell] = count, [*displayed, self]

    def __repr__(self) -> str:
        return f"Explorer of {_name(self.f)} at {_in_words(self._values)}"


_displayed: dict[Any, tuple[int, list[Explorer]]] = {}
"""Cell of the notebook → the number of its last run, and what that displayed."""


def _running_cell():
    """The cell of a notebook that runs, and the number of this run; None and 0 in plain Python.

    The cell is known by its id, or by its text where the notebook's program does not send that.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return None, 0
    sent = getattr(shell, "get_parent", dict)()
    cell = sent.get("metadata", {}).get("cellId") or shell.history_manager.input_hist_raw[-1]
    return cell, shell.execution_count


def _tell(explorer, name, change):
    """Tell an explorer of a change, if it is still there."""
    if (listener := explorer()) is not None:
        listener._changed(name, change)


def _defaults(f, controls):
    """The defaults of f's parameters, {name: default}; an error where f and the controls do not
    fit."""
    if not callable(f):
        raise TypeError(f"f: expected a function that returns a plotly figure, got {shown(f)}")
    if not controls:
        raise ValueError("controls: expected at least one, such as lr=(0.01, 10.0), got none")
    parameters = inspect.signature(f).parameters.values()
    taken = [
        one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    unknown = [name for name in controls if name not in taken]
    if unknown and not any(one.kind == one.VAR_KEYWORD for one in parameters):
        raise ValueError(
            f"{unknown[0]}: expected a parameter of {_name(f)}, which has "
            f"{_joined(taken) or 'none'}"
        )
    single = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    bare = [one.name for one in single if one.default is one.empty and one.name not in controls]
    if bare:
        raise ValueError(
            f"{bare[0]}: expected a control or a default for this parameter of {_name(f)}, got "
            f"neither"
        )
    return {one.name: one.default for one in single}


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


class _Panel:
    """The widgets, from top to bottom in ``box``: the controls, ``error``, ``canvas`` and
    ``words``."""

    def __init__(self, controls, figure, words):
        widgets = _ipywidgets()
        self.error, self.words = widgets.HTML(), widgets.HTML()
        # Texts and not the figure itself, because f may return one figure that it changes in place.
        self.canvas, self._drawn = _canvas(figure), _pieces(figure)
        self.box = widgets.VBox([*controls, self.error, self.canvas, self.words])
        self._say(words)

    def show(self, figure, words):
        """Draw a figure in the place of the one before, and say it in words."""
        before, after = self._drawn, _pieces(figure)
        if isinstance(self.canvas, _ipywidgets().Output):
            self.canvas.outputs = _outputs(figure)
        elif _frame(before) != _frame(after):
            self._replace(figure)
        else:
            changed = [place for place in before | after if before.get(place) != after.get(place)]
            self._update(figure, changed, _traces(before) != _traces(after))
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

    def _update(self, figure, changed, with_new_traces):
        # Only what changed from one of f's figures to the next is sent, so that a reader's zoom
        # stays.
        if with_new_traces:
            self.canvas.data = []
        with self.canvas.batch_update():
            for part, key in changed:
                if part == "layout":
                    self.canvas.layout[key] = figure.layout[key]
                elif not with_new_traces:
                    self.canvas.data[part][key] = figure.data[part][key]
        if with_new_traces:
            self.canvas.add_traces(figure.data)

    def _replace(self, figure):
        # Only where it must be: each new FigureWidget asks for the 5 MB of plotly.js once more.
        before, self.canvas = self.canvas, _canvas(figure)
        self.box.children = [
            self.canvas if child is before else child for child in self.box.children
        ]
        before.close()


def _canvas(figure):
    """A FigureWidget with the figure; where there can be none, an Output that shows it."""
    with_anywidget = hasattr(go.FigureWidget, "_esm")
    # Colab does not show the one of plotly 5
    if with_anywidget or "google.colab" not in sys.modules:
        with contextlib.suppress(ImportError):
            return (_late() if with_anywidget else go.FigureWidget)(figure)
    return _ipywidgets().Output(outputs=_outputs(figure))


@cache
def _late():
    """The FigureWidget, whose 5 MB of JavaScript the page asks for when it shows one (late.js): a
    saved notebook does not carry them, and anywidget hears Python no more after two seconds of
    waiting for them."""

    class FigureWidget(go.FigureWidget):
        _esm = Path(__file__).with_name("late.js")

        def __init__(self, figure):
            super().__init__(figure)
            self.on_msg(_send_plotly)

    return FigureWidget


def _send_plotly(canvas, asked, _):
    if asked.get("want") == "plotly":
        canvas.send({"plotly": True}, [str(go.FigureWidget._esm).encode()])


def _outputs(figure):
    # Assigned, not displayed there: a call that was put off belongs to no cell whose outputs could
    # be caught.
    return (
        {
            "output_type": "display_data",
            "data": go.Figure(figure)._repr_mimebundle_(),
            "metadata": {},
        },
    )


def _pieces(figure):
    """Every property of the layout and of each trace, {("layout" or the trace's number, key):
    JSON}."""
    plain = figure.to_plotly_json()
    parts = {"layout": plain["layout"], **dict(enumerate(plain["data"]))}
    return {
        # A text is equal or not as a whole; arrays would be compared entry by entry.
        (part, key): to_json_plotly(value)
        for part, held in parts.items()
        for key, value in held.items()
    }


def _frame(pieces):
    """Which properties the layout has: axes, legend, size, which plotly.js does not take back, but
    not marks on it."""
    return {key for part, key in pieces if part == "layout"} - {
        "annotations",
        "images",
        "shapes",
        "title",
    }


def _traces(pieces):
    """Which properties the traces have, and their types."""
    return {
        place: value if place[1] == "type" else None
        for place, value in pieces.items()
        if place[0] != "layout"
    }


def _ipywidgets():
    """The library of widgets, which is imported only when there is something to show."""
    try:
        import ipywidgets
    except ImportError as error:
        raise ImportError(
            "explore makes its controls with ipywidgets: pip install ipywidgets anywidget"
        ) from error
    return ipywidgets


@dataclass(frozen=True)
class _Values:
    """The values of one parameter: where it starts, what ``check`` tries, what is allowed, and the
    widget's traits.

    A reader's own widget is ``made`` before, and knows itself what is allowed.
    """

    name: str
    start: object
    ends: tuple
    words: str
    holds: Callable
    kind: str = ""
    traits: dict = field(default_factory=dict)
    made: Any = None

    def match(self, value):
        """The allowed value that equals this one up to rounding; a ValueError where there is
        none."""
        options = self.traits.get("options", ())
        same = matching([option for _, option in options] or self.ends, value)
        if same or self.holds(value):
            return same[0] if same else value
        labels = ", ".join(label for label, _ in options)
        raise ValueError(
            f"{self.name}: expected {'one of ' + labels if labels else self.words}, got "
            f"{shown(value)}"
        )

    def say_start(self, default):
        """Warn where the function has a default at which the control does not start."""
        has_default = not (default is None or default is inspect.Parameter.empty)
        starts_itself = self.made is not None or self.kind == "Checkbox"
        if has_default and not starts_itself and not matching([self.start, *self.ends], default):
            warnings.warn(
                f"{self.name}: the function's default, {shown(default)}, is not among "
                f"{self.words}; the control starts at {_label(self.start)}",
                stacklevel=4,
            )

    def read(self, value):
        """The value of the widget: a logarithmic slider rounds, and may miss its ends by a
        rounding."""
        return value if self.holds(value) else min(self.ends, key=lambda end: abs(end - value))

    def widget(self, value):
        """A new widget at this value, or the reader's, set to it."""
        if self.made is not None:
            self.made.value = value
            return self.made
        look = {"description": self.name, "style": {"description_width": "initial"}}
        return getattr(_ipywidgets(), self.kind)(value=value, **self.traits, **look)


def _control_for(name, given, default):
    """The control that a keyword of ``explore`` asks for, started at the function's default if that
    is allowed."""
    if isinstance(given, bool):
        return _Values(
            name,
            given,
            (False, True),
            "on or off",
            lambda value: isinstance(value, bool),
            "Checkbox",
            {"indent": False},
        )
    if isinstance(given, tuple):
        return _range(name, given, default)
    if isinstance(given, list):
        return _list(name, given, default)
    if hasattr(given, "observe") and hasattr(given, "value"):
        return _Values(
            name, given.value, _ends_of(given), "its own widget", lambda value: True, made=given
        )
    raise TypeError(
        f"{name}: expected (min, max), a list, True or False, or a widget with a value, got "
        f"{shown(given)}"
    )


def _range(name, given, default):
    low, high, asked = _ordered(name, given)
    whole = isinstance(low, int)
    if whole and not asked and low >= 1 and high > 16 * low:
        return _doublings(name, low, high, default)
    log = not whole and not asked and low > 0 and high >= 100 * low
    # in decades, where it is logarithmic
    step = asked or (1 if whole else 0.05 if log else (high - low) / 100)
    middle = math.sqrt(low * high) if log else low + step * round((high - low) / 2 / step)
    start = _start_in(low, high, default, middle)
    ends = (math.log10(low), math.log10(high)) if log else (low, high)
    if start != high and (stretched := _step_to(start, low, step, log)) != step:
        if asked:
            return _choice(name, _steps_and(low, high, step, start), start, "SelectionSlider")
        step = stretched
    kind = "IntSlider" if whole else "FloatLogSlider" if log else "FloatSlider"
    traits = {"min": ends[0], "max": ends[1], "step": step} | (
        {} if whole else {"readout_format": ".3g"}
    )
    words = f"{_label(low)} to {_label(high)}"
    return _Values(name, start, (low, high), words, partial(_lies_in, low, high), kind, traits)


def _start_in(low, high, default, middle):
    """The default if it lies in the range; one that misses an end by a rounding is that end, which
    the slider can take."""
    if at_an_end := matching((low, high), default):
        return at_an_end[0]
    return type(low)(default) if _lies_in(low, high, default) else middle


def _step_to(start, low, step, log):
    """The step next to this one that leads from ``low`` to ``start``: a slider shows nothing that
    lies between its steps, and would say another value than the function was called with."""
    far = math.log10(start / low) if log else start - low
    steps = max(1, round(far / step))
    return step if not far or math.isclose(far, steps * step) else far / steps


def _steps_and(low, high, step, start):
    """The values that a reader asked for, and the default between them."""
    # a rounding adds no value beside the end
    steps = (low + k * step for k in range(math.ceil((high - low) / step - 1e-9)))
    return sorted({*steps, high, start})


def _ordered(name, given):
    """Give min, max, and the step or 0: all of them int, or all float."""
    if len(given) not in (2, 3) or not all(map(_is_number, given)):
        raise TypeError(
            f"{name}: expected (min, max) or (min, max, step), all numbers, got {shown(given)}"
        )
    if not all(map(math.isfinite, given)) or given[0] >= given[1] or min(given[2:], default=1) <= 0:
        raise ValueError(
            f"{name}: expected finite numbers with min < max and step > 0, got {shown(given)}"
        )
    kind = int if all(isinstance(number, Integral) for number in given) else float
    return tuple(map(kind, (*given, 0)[:3]))


def _is_number(value):
    # bool is a subclass of int, but asks for a checkbox here.
    return isinstance(value, Real) and not isinstance(value, bool)


def _lies_in(low, high, value):
    """Is value a number from low to high, and whole if these are?"""
    return _is_number(value) and low <= value <= high and (isinstance(low, float) or value % 1 == 0)


def _doublings(name, low, high, default):
    """The slider over low, 2 low, 4 low, … and high; and over the default, where that lies
    between."""
    # ⌊log₂(high/low)⌋ + 1 of them, in whole numbers: a logarithm could round to the wrong side.
    steps = [low * 2**k for k in range((high // low).bit_length())]
    start = int(default) if _lies_in(low, high, default) else steps[len(steps) // 2]
    return _choice(name, sorted({*steps, high, start}), start, "SelectionSlider")


def _list(name, given, default):
    """The slider over a list of numbers, the menu of any other list."""
    if not given:
        raise ValueError(f"{name}: expected a list with at least one entry, got []")
    for each in given:
        if not isinstance(same := each == each, (bool, np.bool_)) or not same:
            raise TypeError(
                f"{name}: expected a list of numbers, words or functions, got one with "
                f"{shown(each)}; list names, and look them up in the function"
            )
    numbers = all(map(_is_number, given))
    start = next(iter(matching(given, default)), given[len(given) // 2 if numbers else 0])
    return _choice(name, given, start, "SelectionSlider" if numbers else "Dropdown")


def _choice(name, options, start, kind):
    labels, slides = [_label(option) for option in options], kind == "SelectionSlider"
    ends = (options[0], options[-1]) if slides else tuple(options)
    words = f"{labels[0]} to {labels[-1]}" if slides else " or ".join(labels)
    traits = {"options": list(zip(labels, options, strict=True))}
    return _Values(
        name, start, ends, words, lambda value: bool(matching(options, value)), kind, traits
    )


def _ends_of(widget):
    """The values of a reader's widget that ``check`` tries: both ends, or all options, or none but
    its value."""
    if isinstance(widget.value, bool):
        return False, True
    if _is_number(widget.value) and hasattr(widget, "min"):
        ends = widget.min, widget.max
        # A logarithmic slider of ipywidgets has exponents as min and max, but the number as value.
        return tuple(widget.base**end for end in ends) if hasattr(widget, "base") else ends
    return () if isinstance(widget.value, tuple) else tuple(getattr(widget, "_options_values", ()))


def _label(value):
    """A number, a function or anything else in words."""
    return f"{value:.4g}" if isinstance(value, float) else str(getattr(value, "__name__", value))


def _in_words(values):
    """``H = 8, lr = 0.1``."""
    return ", ".join(f"{name} = {_label(value)}" for name, value in values.items())
