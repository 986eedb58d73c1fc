"""Axes: what they show, and their ticks."""

from dataclasses import dataclass, replace
from math import ceil, floor, log10

import numpy as np

from mhalib._still.elements import text_of
from mhalib._still.traces import array, reach

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """One axis, from ``low`` at pixel ``start`` to ``high`` at pixel ``end``; both are logarithms on a log axis."""

    settings: dict
    low: float
    high: float
    ticks: list  # of pairs: a value and its words
    start: float = 0.0
    end: float = 1.0

    def __call__(self, values):
        """Give the pixels of values."""
        values = _logarithm(values) if self.settings.get("type") == "log" else np.asarray(values)
        return self.start + (values - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def title(self):
        return text_of(self.settings.get("title"))

    @property
    def domain(self):
        return self.settings.get("domain") or (0, 1)

    @property
    def words(self):
        return [] if self.settings.get("showticklabels") is False else self.ticks

    def written(self, room):
        """Give all words with their pixels, or every second, …, so that there is room: all together need ``room``."""
        words = self.words[:: ceil(room / abs(self.end - self.start)) or 1]
        return [(float(self(value)), text) for value, text in words]

    def shrunk(self, unit):
        """Give this axis with ``unit`` pixels for one unit, around the same middle."""
        half = unit * abs(self.high - self.low) / 2 * np.sign(self.end - self.start)
        middle = (self.start + self.end) / 2
        return replace(self, start=middle - half, end=middle + half)


def axis(name, traces, layout):
    """Read an axis, "x" or "y2", from the layout: its range, from the traces where the layout leaves it open."""
    settings, letter = _settings(name, layout), name[0]
    mine = [trace for trace in traces if _shared(trace.get(f"{letter}axis") or letter, layout) == _shared(name, layout)]
    span, asked = _span(mine, letter, settings.get("type") == "log"), settings.get("range") or (None, None)
    low, high = (end if given is None else given for given, end in zip(asked, span, strict=True))
    if settings.get("autorange") == "reversed":
        low, high = high, low
    return Axis(settings, low, high, ticks(settings, *sorted((low, high)), _counts(mine, letter)))


def _settings(name, layout):
    return layout.get(f"{name[0]}axis{name[1:]}") or {}


def _shared(name, layout):
    """Give the axis whose range an axis has: its own, or that of the one it ``matches``."""
    return _settings(name, layout).get("matches") or name


def _span(traces, letter, log):
    """Give the range of all that is drawn, with room at its ends unless heatmaps or lines across begin there."""
    values = np.concatenate([reach(trace, letter) for trace in traces])
    values = _logarithm(values) if log else values
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = values.min(), values.max()
    tight = all(trace["type"] == "heatmap" or (letter == "x" and trace.get("mode") == "lines") for trace in traces)
    room = 0.5 * (log or abs(low) or 1) if low == high else 0 if tight else 0.04 * (high - low)
    return low - room, high + room


def _counts(traces, letter):
    """Tell whether an axis counts rows or columns, so that a tick between two of them would mean nothing."""
    return all(trace["type"] == "heatmap" and trace.get(letter) is None for trace in traces)


def _logarithm(values):
    values = np.asarray(values, dtype=float)
    return np.log10(np.where(values > 0, values, np.nan))


def ticks(settings, low, high, counts):
    """Give pairs of a value and its words."""
    values, words = settings.get("tickvals"), settings.get("ticktext")
    if values is not None:
        values = array(values)
    elif settings.get("type") == "log":
        values = _powers(low, high)
    else:
        values = _even(low, high, least=1 if counts else 0)
    return list(zip(values, map(str, map(_number, values) if words is None else words), strict=True))


def _powers(low, high):
    """Give ticks between two decimal logarithms: powers of ten, or finer ones where these are fewer than three."""
    powers = np.arange(ceil(low - 1e-9), floor(high + 1e-9) + 1)
    if len(powers) >= 3:
        return 10.0 ** powers[:: ceil(len(powers) / 7)]
    fine = np.array([digit * 10.0**k for k in range(floor(low), ceil(high) + 1) for digit in (1, 2, 5)])
    fine = fine[(np.log10(fine) > low - 1e-9) & (np.log10(fine) < high + 1e-9)]
    return fine if len(fine) >= 3 else _even(10.0**low, 10.0**high)


def _even(low, high, least=0):
    """Give at most seven ticks, whose distance is 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 6
    power = 10.0 ** floor(log10(rough))
    step = max(least, next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough))
    return step * np.arange(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)


def _number(value):
    """Write a number: 0.01, 20, 10⁻³, 2×10⁴."""
    power = floor(log10(abs(value)) + 1e-9) if value else 0
    if -3 < power < 4:
        return f"{value:.6g}".replace("-", "−")
    digits = f"{value / 10.0**power:.4g}".replace("-", "−")
    return ("" if digits == "1" else f"{digits}×") + "10" + str(power).translate(RAISED)
