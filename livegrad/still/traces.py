"""What is drawn in a panel: lines, points, bars and heat maps."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import plotly.colors

from livegrad.still.axes import Axis, Extent, numbers

INK = "#2a3f5f"  # plotly's white template, as the grid's color
DASHES = {
    "solid": (),
    "dot": (1, 1),
    "dash": (3, 3),
    "longdash": (5, 5),
    "dashdot": (3, 1, 1, 1),
    "longdashdot": (5, 2, 1, 2),
}
DASH = 3  # pixels at least, as plotly, of a unit of a dash; else as many as the line is wide
FINE = 0.15  # pixels by which a line may miss a point that its file leaves out
FAR = 9e3  # pixels: farther no line is followed
# The corners of a point of radius 1; any other is round.
SYMBOLS = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((-1.3, 0), (0, -1.3), (1.3, 0), (0, 1.3)),
    "triangle-up": ((0, -1), (1.155, 0.5), (-1.155, 0.5)),
    "x": (
        *((0, 0.57), (0.57, 1.13), (1.13, 0.57), (0.57, 0), (1.13, -0.57), (0.57, -1.13)),
        *((0, -0.57), (-0.57, -1.13), (-1.13, -0.57), (-0.57, 0), (-1.13, 0.57), (-0.57, 1.13)),
    ),
    "star": (
        *((0, -1.4), (0.315, -0.433), (1.331, -0.433), (0.508, 0.165), (0.823, 1.133)),
        *((0, 0.535), (-0.823, 1.133), (-0.508, 0.165), (-1.331, -0.433), (-0.315, -0.433)),
    ),
}


class Trace:
    """A trace in its panel: what it wants of its axes, and how it is drawn."""

    def __init__(self, said: Mapping[str, Any], x: Axis, y: Axis) -> None:
        self.said: Mapping[str, Any] = said
        self.x: Axis = x
        self.y: Axis = y
        self.along: np.ndarray = along(said, "x", x)
        self.up: np.ndarray = along(said, "y", y)

    def extents(self) -> tuple[Extent, Extent]:
        """What it wants to have on its two axes."""
        raise NotImplementedError

    def drawn(self) -> str:
        """Its picture."""
        raise NotImplementedError

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Where its points stand, in pixels; of two rows the shorter one ends both."""
        count = min(len(self.along), len(self.up))
        return self.x.stand(self.along[:count]), self.y.stand(self.up[:count])


class Scatter(Trace):
    """Lines and points."""

    @property
    def mode(self) -> str:
        """What of both it has."""
        return self.said.get("mode") or ("lines" if len(self.along) > 20 else "lines+markers")

    def extents(self) -> tuple[Extent, Extent]:
        marks = "markers" in self.mode
        size = np.max(self.said.get("marker", {}).get("size", 6), initial=0) if marks else 0
        count = min(len(self.along), len(self.up))
        return (
            Extent(self.along[:count], 0.6 * size, room=marks),
            Extent(self.up[:count], 0.6 * size, room=True),
        )

    def drawn(self) -> str:
        (x, y), parts = self.points(), []
        if "lines" in self.mode:
            inside = self.said.get("fill", "none")
            fill = self.said.get("fillcolor", "none") if inside == "toself" else "none"
            closed = "Z" if inside == "toself" else ""
            parts.append(f'<path d="{line(x, y)}{closed}" fill="{fill}"{stroke(self.said)}/>')
        if "markers" in self.mode:
            parts += dots(x, y, self.said.get("marker", {}))
        return faded("".join(parts), self.said.get("opacity", 1))


class Bar(Trace):
    """Bars from zero upward, side by side with those of other traces."""

    side: int = 0
    sides: int = 1
    GAP = 0.2  # of the room of a group, as plotly

    @property
    def wide(self) -> float:
        """How wide a group is: as far as the nearest two are apart."""
        apart = np.diff(np.unique(self.along))
        return float(apart.min()) if len(apart) else 1.0

    def extents(self) -> tuple[Extent, Extent]:
        half = self.wide / 2
        ends = np.concatenate([self.along - half, self.along + half])
        return Extent(ends), Extent(np.append(self.up, 0.0), room=True, zero=True)

    def drawn(self) -> str:
        wide = self.wide * (1 - self.GAP) / self.sides
        left = self.along - self.wide * (1 - self.GAP) / 2 + self.side * wide
        across = self.x.pixels(np.stack([left, left + wide]))
        up = self.y.pixels(self.up)
        foot = self.y.pixels(0.0) if not self.y.log else self.y.start
        boxes = "".join(
            f"M{a:.1f},{foot:.1f}V{top:.1f}H{b:.1f}V{foot:.1f}Z"
            for a, b, top in zip(*across, up, strict=True)
            if np.isfinite(top)
        )
        look = self.said.get("marker", {})
        path = f'<path d="{boxes}" fill="{look.get("color", INK)}"/>'
        return faded(path, self.said.get("opacity", 1))


class Heatmap(Trace):
    """A matrix, an entry a tile, or between their middles from number to number."""

    def __init__(self, said: Mapping[str, Any], x: Axis, y: Axis) -> None:
        super().__init__(said, x, y)
        z = np.array(
            [numbers(row) for row in said["z"]] if len(said["z"]) else [[np.nan]], dtype=float
        )
        self.z: np.ndarray = z.T if said.get("transpose") else z
        rows, columns = self.z.shape
        self.across: np.ndarray = edges(self.along if len(self.along) else np.arange(columns))
        self.upward: np.ndarray = edges(self.up if len(self.up) else np.arange(rows))

    def extents(self) -> tuple[Extent, Extent]:
        return Extent(self.across), Extent(self.upward)

    def span(self) -> tuple[float, float]:
        """Which numbers have the first color, and the last."""
        seen = self.z[np.isfinite(self.z)]
        low, high = (seen.min(), seen.max()) if seen.size else (0.0, 1.0)
        low, high = (
            found if self.said.get(end) is None else self.said[end]
            for end, found in (("zmin", low), ("zmax", high))
        )
        if (middle := self.said.get("zmid")) is not None:
            half = max(high - middle, middle - low)
            low, high = middle - half, middle + half
        # A constant matrix has no span of colors to divide by.
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    def drawn(self) -> str:
        low, high = self.span()
        share = (self.z - low) / (high - low)
        if self.said.get("zsmooth"):
            share = smoothed(smoothed(share, self.upward).T, self.across).T
        else:
            rows, columns = map(sampled, (self.upward, self.across), share.shape)
            share = share[rows][:, columns]
        tiles = colored(share, self.said.get("colorscale"))
        (left, right), (below, above) = (
            axis.pixels(ends[[0, -1]])
            for axis, ends in ((self.x, self.across), (self.y, self.upward))
        )
        # The first row of an image is the one on top.
        tiles = tiles[::-1] if above < below else tiles
        tiles = tiles[:, ::-1] if right < left else tiles
        return image(
            tiles,
            min(left, right),
            min(above, below),
            abs(right - left),
            abs(above - below),
            self.said.get("opacity", 1),
        )


KINDS = {"scatter": Scatter, "bar": Bar, "heatmap": Heatmap}


def along(said: Mapping[str, Any], name: str, axis: Axis) -> np.ndarray:
    """The coordinates of a trace; what it names by words is counted, and the axis learns the
    words."""
    given = said.get(name)
    if given is None:
        other = said.get("y" if name == "x" else "x")
        return np.arange(len(other if other is not None else ()), dtype=float)
    if any(isinstance(value, str) for value in given):
        axis.words += [value for value in dict.fromkeys(given) if value not in axis.words]
        return np.array([axis.words.index(value) for value in given], dtype=float)
    return numbers(given)


def sampled(ends: np.ndarray, count: int) -> np.ndarray:
    """Which tile each dot of an image belongs to: a dot for a tile, or, where tiles are not alike,
    as many more as show it."""
    if np.allclose(np.diff(ends), (ends[-1] - ends[0]) / count, rtol=1e-3):
        return np.arange(count)
    dots = np.linspace(ends[0], ends[-1], 8 * count, endpoint=False) + (ends[-1] - ends[0]) / (
        16 * count
    )
    return np.clip(np.searchsorted(ends, dots) - 1, 0, count - 1)


def smoothed(z: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The rows of a matrix, eight for each, which go straight from the middle of one tile to that of
    the next."""
    middles, half = (ends[1:] + ends[:-1]) / 2, (ends[-1] - ends[0]) / (16 * len(z))
    dots = np.linspace(ends[0] + half, ends[-1] - half, 8 * len(z))
    return np.stack([np.interp(dots, middles, column) for column in z.T], axis=1)


def colored(share: np.ndarray, scale: Any) -> np.ndarray:
    """Numbers from 0 to 1 as red, green, blue and how much covers what is behind: what is NaN is
    clear."""
    named = scale is None or isinstance(scale, str)
    pairs = plotly.colors.get_colorscale(scale or "Viridis") if named else scale
    at = [pair[0] for pair in pairs]
    ends = np.array([rgba(pair[1]) for pair in pairs])
    seen = np.clip(np.nan_to_num(share), 0, 1)
    channels = np.stack([np.interp(seen, at, ends[:, k]) for k in range(4)], axis=-1)
    channels[..., 3] *= 255 * np.isfinite(share)
    return channels.round().astype(np.uint8)


def rgba(color: str) -> tuple[float, ...]:
    """A color, "#00ff00", "rgb(0, 255, 0)" or "rgba(0, 255, 0, 0.5)", as three numbers and how much it
    covers."""
    if color.startswith("#"):
        return *plotly.colors.hex_to_rgb(color), 1.0
    numbers = tuple(float(number) for number in color.split("(")[1].rstrip(")").split(","))
    return numbers if len(numbers) == 4 else (*numbers, 1.0)


def image(
    dots: np.ndarray,
    x: float,
    y: float,
    wide: float,
    high: float,
    opacity: float = 1,
    smooth: bool = False,
) -> str:
    """Dots (rows, columns, 4) as an image in the picture."""
    rows, columns, _ = dots.shape

    def chunk(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    body = b"".join(b"\0" + row.tobytes() for row in dots)
    png = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(body, 9))
        + chunk(b"IEND", b"")
    )
    said = [] if smooth else ["image-rendering: pixelated"]
    said += [] if opacity == 1 else [f"opacity: {opacity:g}"]
    style = f' style="{"; ".join(said)}"' if said else ""
    return (
        f'<image x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" preserveAspectRatio="none"'
        f'{style} href="data:image/png;base64,{b64encode(png).decode()}"/>'
    )


def edges(centers: Any) -> np.ndarray:
    """Where the tiles end whose centers are given, one more than there are."""
    centers = np.asarray(centers, dtype=float)
    if len(centers) < 2:
        return np.concatenate([centers - 0.5, centers + 0.5])
    middles = (centers[1:] + centers[:-1]) / 2
    return np.concatenate([[2 * centers[0] - middles[0]], middles, [2 * centers[-1] - middles[-1]]])


def line(x: np.ndarray, y: np.ndarray) -> str:
    """The path through the points that have both coordinates; where one lacks them, it begins
    anew."""
    x, y = np.clip(x, -FAR, FAR), np.clip(y, -FAR, FAR)
    # The sum is finite only if both coordinates are.
    whole = np.isfinite(x + y)
    runs = np.split(np.arange(len(x)), np.flatnonzero(np.diff(whole)) + 1)
    return "".join(
        piece(thinned(np.stack([x[run], y[run]], axis=1)))
        for run in runs
        if len(run) and whole[run[0]]
    )


def piece(points: np.ndarray) -> str:
    """A line without gaps: its first point, and from each point to the next, in tenths of a
    pixel."""
    tenths = np.round(10 * points).astype(int)
    steps = np.diff(tenths, axis=0)
    first = f"M{tenths[0, 0] / 10:g},{tenths[0, 1] / 10:g}"
    return (
        first + ("l" if len(steps) else "") + " ".join(f"{a / 10:g},{b / 10:g}" for a, b in steps)
    )


def thinned(points: np.ndarray) -> np.ndarray:
    """The points without those that the line through the others nearly meets (Douglas and Peucker
    1973)."""
    kept, waiting = {0, len(points) - 1}, [(0, len(points) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        inner, chord = points[first + 1 : last] - points[first], points[last] - points[first]
        square = chord @ chord
        # The share of the chord at which it is nearest; a chord that ends where it began is a point.
        share = np.clip(inner @ chord / square, 0, 1) if square else np.zeros(len(inner))
        missed = ((inner - share[:, None] * chord) ** 2).sum(axis=1)
        if missed.max() > FINE**2:
            middle = first + 1 + int(missed.argmax())
            kept.add(middle)
            waiting += [(first, middle), (middle, last)]
    return points[sorted(kept)]


def faded(parts: str, opacity: float) -> str:
    """Parts through which what is behind them can be seen; each for itself, which draws faster than
    all together."""
    if opacity == 1:
        return parts
    return f'<g fill-opacity="{opacity:g}" stroke-opacity="{opacity:g}">{parts}</g>'


def stroke(said: Mapping[str, Any]) -> str:
    """How a line looks."""
    look = said.get("line", {})
    wide = look.get("width", 2)
    dashes = DASHES[look.get("dash") or "solid"]
    unit = max(wide, DASH)
    dashed = (
        f' stroke-dasharray="{" ".join(f"{unit * part:g}" for part in dashes)}"' if dashes else ""
    )
    return f' stroke="{look.get("color", INK)}" stroke-width="{wide:g}"{dashed}'


def dots(x: np.ndarray, y: np.ndarray, look: Mapping[str, Any]) -> Iterator[str]:
    """The points of a trace, in runs that look alike."""
    edge = look.get("line", {})
    color, sizes = look.get("color", INK), np.broadcast_to(look.get("size", 6), len(x))
    fills = [color] * len(x) if isinstance(color, str) else list(color)
    symbol = look.get("symbol") or "circle"
    corners, is_open = SYMBOLS.get(symbol.removesuffix("-open")), symbol.endswith("-open")
    border = (
        f' stroke="{edge.get("color", INK)}" stroke-width="{edge["width"]:g}"'
        if edge.get("width")
        else ""
    )
    faint = f' fill-opacity="{look["opacity"]:g}"' if look.get("opacity", 1) != 1 else ""
    for across, up, size, fill in zip(x, y, sizes, fills, strict=False):
        if not np.isfinite(across + up):
            continue
        paint = f'fill="{fill}"{border}{faint}'
        if is_open:
            paint = f'fill="none" stroke="{fill}" stroke-width="{edge.get("width") or 1:g}"'
        if symbol == "line-ns-open":
            way = f"M{across:.1f},{up - 0.7 * size:.1f}v{1.4 * size:.1f}"
            yield f'<path d="{way}" stroke="{fill}"{faint.replace("fill", "stroke")}/>'
        elif corners is None:
            yield f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{size / 2:g}" {paint}/>'
        else:
            way = "L".join(
                f"{across + size / 2 * a:.1f},{up + size / 2 * b:.1f}" for a, b in corners
            )
            yield f'<path d="M{way}Z" {paint}/>'
