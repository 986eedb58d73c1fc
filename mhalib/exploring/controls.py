"""What a parameter may be, as the keywords of ``mha.explore`` say it, and the widgets for it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real


def ipywidgets():
    """The library of widgets, which is imported only when there is something to show."""
    try:
        import ipywidgets
    except ImportError as error:
        raise ImportError("mha.explore makes its controls with ipywidgets: pip install ipywidgets anywidget") from error
    return ipywidgets


@dataclass(frozen=True)
class Control:
    """The values of one parameter: where it starts, what ``check`` tries, what is allowed, and the widget's traits."""

    name: str
    start: object
    ends: tuple
    words: str
    holds: Callable
    kind: str
    traits: dict = field(default_factory=dict)

    def require(self, value):
        """Raise a ValueError where the value is not allowed."""
        if not self.holds(value):
            options = ", ".join(label for label, _ in self.traits.get("options", ()))
            raise ValueError(f"{self.name}: expected {'one of ' + options if options else self.words}, got {value!r}")

    def read(self, value):
        """The value of the widget: a logarithmic slider rounds, and may miss its ends by a rounding."""
        return value if self.holds(value) else min(self.ends, key=lambda end: abs(end - value))

    def widget(self, value):
        """A new widget at this value."""
        look = {"description": self.name, "style": {"description_width": "initial"}}
        return getattr(ipywidgets(), self.kind)(value=value, **self.traits, **look)


@dataclass(frozen=True)
class Ready:
    """A reader's own widget, which knows itself what is allowed."""

    made: object
    start: object
    ends: tuple
    words: str = "its own widget"

    def require(self, value):
        """Leave it to the widget."""

    def read(self, value):
        """The value of the widget, as it is."""
        return value

    def widget(self, value):
        """The reader's widget, set to this value."""
        self.made.value = value
        return self.made


def control_for(name, given, default):
    """The control that a keyword of ``explore`` asks for, started at the function's default if that is allowed."""
    if isinstance(given, bool):
        return Control(name, given, (False, True), "on or off", _is_bool, "Checkbox", {"indent": False})
    if isinstance(given, tuple):
        return _range(name, given, default)
    if isinstance(given, list):
        return _list(name, given, default)
    if hasattr(given, "observe") and hasattr(given, "value"):
        return Ready(given, given.value, _ends_of(given))
    raise TypeError(f"{name}: expected (min, max), a list, True or False, or a widget with a value, got {given!r}")


def _range(name, given, default):
    low, high, step = _ordered(name, given)
    whole = isinstance(low, int)
    if whole and not step and low >= 1 and high > 16 * low:
        return _doublings(name, low, high, default)
    log = not whole and not step and low > 0 and high >= 100 * low
    step = step or (1 if whole else 0.05 if log else (high - low) / 100)  # in decades, where it is logarithmic
    middle = math.sqrt(low * high) if log else low + step * round((high - low) / 2 / step)
    start = type(low)(default) if _lies_in(low, high, default) else middle
    ends = (math.log10(low), math.log10(high)) if log else (low, high)
    kind = "IntSlider" if whole else "FloatLogSlider" if log else "FloatSlider"
    traits = {"min": ends[0], "max": ends[1], "step": step} | ({} if whole else {"readout_format": ".3g"})
    words = f"{label(low)} to {label(high)}"
    return Control(name, start, (low, high), words, partial(_lies_in, low, high), kind, traits)


def _ordered(name, given):
    """Give min, max, and the step or 0: all of them int, or all float."""
    if len(given) not in (2, 3) or not all(map(_is_number, given)):
        raise TypeError(f"{name}: expected (min, max) or (min, max, step), all numbers, got {given!r}")
    if not all(map(math.isfinite, given)) or given[0] >= given[1] or min(given[2:], default=1) <= 0:
        raise ValueError(f"{name}: expected finite numbers with min < max and step > 0, got {given!r}")
    kind = int if all(isinstance(number, Integral) for number in given) else float
    return tuple(map(kind, (*given, 0)[:3]))


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_bool(value):
    return isinstance(value, bool)


def _lies_in(low, high, value):
    """Is value a number from low to high, and whole if these are?"""
    return _is_number(value) and low <= value <= high and (isinstance(low, float) or value % 1 == 0)


def _doublings(name, low, high, default):
    """The slider over low, 2 low, 4 low, … and high; and over the default, where that lies between."""
    steps = [low * 2**k for k in range((high // low).bit_length())]
    start = int(default) if _lies_in(low, high, default) else steps[len(steps) // 2]
    return _choice(name, sorted({*steps, high, start}), start, "SelectionSlider")


def _list(name, given, default):
    """The slider over a list of numbers, the menu of any other list."""
    if not given:
        raise ValueError(f"{name}: expected a list with at least one entry, got []")
    numbers = all(map(_is_number, given))
    start = default if default in given else given[len(given) // 2 if numbers else 0]
    return _choice(name, given, start, "SelectionSlider" if numbers else "Dropdown")


def _choice(name, options, start, kind):
    labels, slides = [label(option) for option in options], kind == "SelectionSlider"
    ends = (options[0], options[-1]) if slides else tuple(options)
    words = f"{labels[0]} to {labels[-1]}" if slides else " or ".join(labels)
    traits = {"options": list(zip(labels, options, strict=True))}
    return Control(name, start, ends, words, options.__contains__, kind, traits)


def _ends_of(widget):
    """The values of a reader's widget that ``check`` tries: both ends, or all options, or none but its value."""
    if _is_bool(widget.value):
        return False, True
    if _is_number(widget.value) and hasattr(widget, "min"):
        ends = widget.min, widget.max
        return tuple(widget.base**end for end in ends) if hasattr(widget, "base") else ends
    return () if isinstance(widget.value, tuple) else tuple(getattr(widget, "_options_values", ()))


def label(value):
    """A number, a function or anything else in words."""
    return f"{value:.4g}" if isinstance(value, float) else str(getattr(value, "__name__", value))


def in_words(values):
    """``H = 8, lr = 0.1``."""
    return ", ".join(f"{name} = {label(value)}" for name, value in values.items())
