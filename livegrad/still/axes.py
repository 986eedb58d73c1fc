"""The axes of a picture: where numbers stand, and which of them are written, as plotly chooses
both."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from livegrad.still.words import SIZE, width

ROOM = 0.05  # of its length that an axis leaves beyond a line
SHORT = 0.75  # and a digit between two of them smaller
PREFIXES = {-12: "p", -9: "n", -6: "μ", -3: "m", 3: "k", 6: "M", 9: "B", 12: "T"}
NEAR = 1e-9  # what rounding may move a tick over the end of its axis


class Extent:
    """What a trace wants to have on an axis: numbers, the pixels beside them, whether a line is to
    have room, and whether zero belongs to it."""

    def __init__(
        self, values: Any, pixels: float = 0.0, room: bool = False, zero: bool = False
    ) -> None:
        self.values: np.ndarray = numbers(values)
        self.pixels: float = pixels
        self.room: bool = room
        self.zero: bool = zero


class Axis:
    """An axis of a panel: the range that it shows, and from which pixel to which."""

    def __init__(self, said: Mapping[str, Any], vertical: bool) -> None:
        self.said: Mapping[str, Any] = said
        self.vertical: bool = vertical
        self.log: bool = said.get("type") == "log"
        self.words: list[str] = []  # of an axis that names what stands along it
        self.start: float = 0.0
        self.end: float = 1.0
        self.low: float = 0.0
        self.high: float = 1.0

    @property
    def length(self) -> float:
        """How many pixels it has."""
        return abs(self.end - self.start)

    @property
    def title(self) -> str:
        """The words at it."""
        given = self.said.get("title") or ""
        return given if isinstance(given, str) else given.get("text") or ""

    @property
    def color(self) -> str:
        """The color of these words, if they have one of their own."""
        given = self.said.get("title") or ""
        return "" if isinstance(given, str) else (given.get("font") or {}).get("color", "")

    def place(self, start: float, end: float) -> None:
        """Let it reach from one pixel to another; of an axis that counts upward ``start`` is the
        larger."""
        self.start, self.end = start, end

    def show(self, extents: Iterable[Extent]) -> None:
        """Choose what it shows, by its own range or by what the traces want."""
        given = self.said.get("range")
        # plotly says the range of a logarithmic axis in decades, as ``scaled`` has the numbers. A
        # range of which only one end is set has None for the other, which is then found.
        if given is not None and None not in given:
            self.low, self.high = given
            return
        low, high = self._found(list(extents))
        if given is not None:
            low, high = (
                found if end is None else end for end, found in zip(given, (low, high), strict=True)
            )
        reversed_ = self.said.get("autorange") == "reversed"
        self.low, self.high = (high, low) if reversed_ else (low, high)

    def _found(self, extents):
        ends = [
            (self.scaled(each.values), each.pixels / self.length + ROOM * each.room)
            for each in extents
        ]
        ends = [(one[np.isfinite(one)], share) for one, share in ends]
        ends = [(one.min(), one.max(), min(share, 0.4)) for one, share in ends if one.size]
        if not ends:
            return (0.0, 6.0) if self.log else (-1.0, 4.0)
        clip = (self.said.get("autorangeoptions") or {}).get("clipmin")
        floor = -math.inf if clip is None else math.log10(clip) if self.log else clip
        zero = self.said.get("rangemode") == "tozero" or any(each.zero for each in extents)
        least, most = min(low for low, _, _ in ends), max(high for _, high, _ in ends)
        if least == most:
            return (0.0, max(most, 1.0)) if zero else (least - 1, most + 1)
        # Of all pairs of a lowest and a highest end the one that needs the most of a number per
        # pixel decides.
        scale, low, high = max(
            ((b - a) / (1 - below - above), (a, below), (b, above))
            for a, _, below in ends
            for _, b, above in ends
        )
        if zero and not self.log and least >= 0:
            return 0.0, high[0] + high[1] * high[0] / (1 - high[1])
        return max(low[0] - scale * low[1], floor), high[0] + scale * high[1]

    def scaled(self, values: Any) -> np.ndarray:
        """The numbers as the axis counts them: their decades, where it is logarithmic; NaN where
        they have none."""
        found = numbers(values)
        if not self.log:
            return found
        return np.log10(np.where(found > 0, found, np.nan))

    def pixels(self, scaled: Any) -> np.ndarray:
        """Where numbers stand that the axis has scaled."""
        share = (np.asarray(scaled) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def stand(self, values: np.ndarray) -> np.ndarray:
        """Where numbers stand; on a logarithmic axis those that are not above 0 lie far below it,
        so that a line comes from there."""
        scaled = self.scaled(values)
        if self.log:
            below = min(self.low, self.high) - 10 * abs(self.high - self.low)
            scaled = np.where(values <= 0, below, scaled)
        return self.pixels(scaled)

    def ticks(self) -> list[tuple[float, str, float]]:
        """(pixel, words, size of their letters) of each number that is written at the axis."""
        low, high = sorted((self.low, self.high))
        if self.said.get("tickvals") is not None:
            values = self.said["tickvals"]
            words = self.said.get("ticktext") or [negative(f"{value:.6g}") for value in values]
            found = [
                (at, str(word), SIZE) for at, word in zip(self.scaled(values), words, strict=True)
            ]
        elif self.words:
            found = [(float(k), word, SIZE) for k, word in enumerate(self.words)]
        else:
            found = self._decades(low, high) if self.log else self._even(low, high)
        slack = NEAR * (high - low)
        return [
            (float(self.pixels(at)), word, size)
            for at, word, size in found
            if low - slack <= at <= high + slack
        ]

    def rough(self, low: float, high: float) -> float:
        """About how far apart ticks stand: as many as are wished for, or as have room."""
        count = self.said.get("nticks")
        return (high - low) / (
            count or min(max(self.length / (40 if self.vertical else 80), 4), 9) + 1
        )

    def _even(self, low, high):
        step = self.said.get("dtick") or nice(self.rough(low, high))
        at = step * np.arange(math.ceil(low / step - NEAR), math.floor(high / step + NEAR) + 1)
        return [(each, word, SIZE) for each, word in zip(at, self.counted(at, step), strict=True)]

    def counted(self, at: np.ndarray, step: float) -> list[str]:
        """Numbers in words, all with as many digits as the step needs."""
        if not len(at):
            return []
        # The small addend keeps 1000 from counting as 999.9….
        largest = math.floor(math.log10(max(np.abs(at).max(), step)) + 0.01)
        form, power = self.said.get("exponentformat"), 0
        if abs(largest) > 3 and form != "none":
            power = largest if form == "power" else 3 * round((largest - 1) / 3)
        times = f"×10<sup>{power}</sup>" if form == "power" and power else PREFIXES.get(power, "")
        # One digit more than the step's power asks for: 0.25 needs two, and zeros at the end go.
        digits = max(0, power - math.floor(math.log10(step) + 0.01) + 1)
        return [
            negative(trimmed(f"{each / 10**power:.{digits}f}") + times)
            if abs(each) > step / 100
            else "0"
            for each in at
        ]

    def _decades(self, low, high):
        step = self.said.get("dtick")
        rough = self.rough(low, high)
        if not step and rough <= 0.7:
            return self._between(low, high, rough)
        step = step or math.ceil(rough)
        at = range(math.ceil(low / step - NEAR) * step, math.floor(high + NEAR) + 1, step)
        return [(float(each), *power_of_ten(each, self.said.get("exponentformat"))) for each in at]

    def _between(self, low, high, rough):
        """Ticks of less than a decade: the digits 2 and 5, or all, or numbers evenly apart."""
        if high - low < 1:
            first, last = 10**low, 10**high
            step = nice((last - first) * rough / (high - low) / 1.5)
            at = step * np.arange(math.ceil(first / step), math.floor(last / step) + 1)
            words = self.counted(at, step)
            return [(math.log10(value), word, SIZE) for value, word in zip(at, words, strict=True)]
        digits = (1, 2, 5) if rough > 0.3 else range(1, 10)
        form = self.said.get("exponentformat")
        found = []
        for decade in range(math.floor(low), math.ceil(high) + 1):
            for digit in digits:
                word = power_of_ten(decade, form) if digit == 1 else (str(digit), SHORT * SIZE)
                found.append((decade + math.log10(digit), *word))
        return found

    def depth(self) -> float:
        """How many pixels the numbers take beside the axis."""
        if self.said.get("showticklabels") is False:
            return 0.0
        sizes = [(width(word, size), size) for _, word, size in self.ticks()]
        if self.vertical:
            return max((wide for wide, _ in sizes), default=0.0) + 1
        return max((size for _, size in sizes), default=0.0) + 3


def power_of_ten(power: int, form: str | None) -> tuple[str, float]:
    """A power of ten in words, and the size of their letters."""
    if power == 0 or (power == 1 and form == "power"):
        return str(10**power), SIZE
    if form == "power" or abs(power) > 14:
        return negative(f"10<sup>{power}</sup>"), SIZE
    if -3 <= power <= 3:
        return f"{10.0**power:g}", SIZE
    kept = 3 * math.floor(power / 3)
    return f"{10 ** (power - kept)}{PREFIXES.get(kept, '')}", SIZE


def negative(number: str) -> str:
    """A number whose sign is a minus, and no hyphen."""
    return number.replace("-", "−")


def trimmed(number: str) -> str:
    """A number without zeros at its end."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def nice(rough: float) -> float:
    """2, 5 or 10 times a power of ten, the least that is above ``rough``."""
    power = 10.0 ** math.floor(math.log10(rough) + NEAR)
    return next(factor * power for factor in (2, 5, 10) if rough < factor * power * (1 - NEAR))


def numbers(values: Any) -> np.ndarray:
    """Values as floats; None is NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)
