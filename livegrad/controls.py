"""What a keyword of ``explore`` may be: where its control starts, which values it has, and the widget
of ipywidgets that shows it."""

import math
import warnings
from dataclasses import dataclass, field
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np

from livegrad.arrays import matching, shown
from livegrad.pages import book_is_asked


@dataclass(frozen=True)
class Values:
    """What one parameter may be: every value of a choice, the ends of a range; where it starts; and
    its widget, by class and traits.

    A reader's own widget is ``made`` before, and knows itself what is allowed.
    """

    name: str
    start: object
    known: tuple[Any, ...]
    words: str
    kind: str = ""
    traits: dict[str, Any] = field(default_factory=dict)
    made: Any = None

    @property
    def ends(self) -> tuple[Any, ...]:
        """What ``check`` tries: both ends of a slider, every entry of a menu."""
        return (self.known[0], self.known[-1]) if "Slider" in self.kind else self.known

    def match(self, value: Any) -> Any:
        """The allowed value that equals this one up to rounding; a ValueError where there is
        none."""
        lies_in = "min" in self.traits and _lies_in(*self.known, value)
        if self.made is not None or lies_in or matching(self.known, value):
            return self.read(value)
        choice = "options" in self.traits
        expected = f"one of {', '.join(map(label, self.known))}" if choice else self.words
        raise ValueError(f"{self.name}: expected {expected}, got {shown(value)}")

    def read(self, value: Any) -> Any:
        """The value of the widget: a logarithmic slider rounds, and may miss its ends by a
        rounding."""
        return next(iter(matching(self.known, value)), value)

    def say_start(self, default: object) -> None:
        """Warn where the function has a default at which the control does not start."""
        starts_itself = self.made is not None or self.kind == "Checkbox"
        if default is None or starts_itself or matching([self.start, *self.known], default):
            return
        warnings.warn(
            f"{self.name}: the function's default, {shown(default)}, is not among "
            f"{self.words}; the control starts at {label(self.start)}",
            stacklevel=4,
        )

    def widget(self) -> Any:
        """The reader's widget, or a new one; on a page of the book, what stands in for one."""
        if self.made is not None:
            return self.made
        if book_is_asked():
            return SimpleNamespace(value=self.start)
        import ipywidgets

        look = {"description": self.name, "style": {"description_width": "initial"}}
        return getattr(ipywidgets, self.kind)(value=self.start, **self.traits, **look)


def values_for(name: str, given: Any, default: object) -> Values:
    """The values, and the control, that a keyword of ``explore`` asks for, started at the function's default if that
    is allowed."""
    if isinstance(given, bool):
        return Values(name, given, (False, True), "on or off", "Checkbox", {"indent": False})
    if isinstance(given, tuple):
        return _range(name, given, default)
    if isinstance(given, list):
        return _list(name, given, default)
    if hasattr(given, "observe") and hasattr(given, "value"):
        return Values(name, given.value, _ends_of(given), "its own widget", made=given)
    raise TypeError(
        f"{name}: expected (min, max), a list, True or False, or a widget with a value, got "
        f"{shown(given)}"
    )


def _range(name, given, default):
    low, high, asked = _ordered(name, given)
    whole = isinstance(low, int)
    if whole and not asked and low >= 1 and high > 16 * low:
        # ⌊log₂(high/low)⌋ + 1 of them, in whole numbers: a logarithm could round to the wrong side.
        doublings = [low * 2**k for k in range((high // low).bit_length())]
        start = _start_in(low, high, default, doublings[len(doublings) // 2])
        return _choice(name, sorted({*doublings, high, start}), start)
    log = not whole and not asked and low > 0 and high >= 100 * low
    place = math.log10 if log else type(low)  # where a value stands on the slider
    step = asked or (1 if whole else 0.05 if log else (high - low) / 100)
    middle = math.sqrt(low * high) if log else low + step * round((high - low) / 2 / step)
    start = _start_in(low, high, default, middle)
    # A slider shows nothing that lies between its steps, and would say another value than the
    # function was called with.
    far = place(start) - place(low)
    steps = max(1, round(far / step))
    if far and start != high and not math.isclose(far, steps * step):
        if asked:
            # a rounding adds no value beside the end
            known = (low + k * step for k in range(math.ceil((high - low) / step - 1e-9)))
            return _choice(name, sorted({*known, high, start}), start)
        step = far / steps
    kind = "IntSlider" if whole else "FloatLogSlider" if log else "FloatSlider"
    traits = {"min": place(low), "max": place(high), "step": step}
    traits |= {} if whole else {"readout_format": ".3g"}
    words = f"{label(low)} to {label(high)}"
    return Values(name, start, (low, high), words, kind, traits)


def _start_in(low, high, default, middle):
    """The default if it lies in the range; one that misses an end by a rounding is that end, which
    the slider can take."""
    if at_an_end := matching((low, high), default):
        return at_an_end[0]
    return type(low)(default) if _lies_in(low, high, default) else middle


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
    return _choice(name, given, start)


def _choice(name, options, start):
    labels = [label(option) for option in options]
    traits = {"options": list(zip(labels, options, strict=True))}
    if all(map(_is_number, options)):
        words = f"{labels[0]} to {labels[-1]}"
        return Values(name, start, tuple(options), words, "SelectionSlider", traits)
    return Values(name, start, tuple(options), " or ".join(labels), "Dropdown", traits)


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


def label(value: object) -> str:
    """A number, a function or anything else in words."""
    return f"{value:.4g}" if isinstance(value, float) else str(getattr(value, "__name__", value))
