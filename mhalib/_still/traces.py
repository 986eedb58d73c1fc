"""What a trace of plotly's holds, and how it is drawn: scatter and heatmap."""

from base64 import b64decode
from collections import defaultdict
from itertools import groupby

import numpy as np

from mhalib._still.elements import px, tag

POINTS, CELLS, LEVELS = 200, 72, 64  # at most: points of a curve, rows and columns of a heatmap, colors
DASHES = {"dot": "2 4", "dash": "8 5", "longdash": "14 5", "dashdot": "8 4 2 4", "longdashdot": "14 4 2 4"}


def supported(trace):
    """Give a trace with its type written out; ValueError for one that a still cannot draw."""
    kind, mode = trace.get("type", "scatter"), trace.get("mode") or "lines"
    if kind not in DRAW:
        raise ValueError(f"a still cannot draw a trace of type {kind!r}; it draws {' and '.join(DRAW)}")
    if not set(mode.split("+")) <= {"lines", "markers"}:
        raise ValueError(f"a still cannot draw a trace of mode {mode!r}; it draws lines, markers, and lines+markers")
    marker = trace.get("marker") or {}
    if not all(isinstance(marker.get(key), str | int | float | None) for key in ("color", "size")):
        raise ValueError(f"a still draws all markers of a trace alike, not as {marker}")
    if kind == "heatmap" and not isinstance(trace.get("colorscale"), list | tuple):
        raise ValueError(f"a still needs colorscale as pairs of a share and a color, got {trace.get('colorscale')!r}")
    return {**trace, "type": kind}


def color_of(trace, k, layout):
    """Give the color of trace k: its own, or its turn in the colorway."""
    colorway = layout.get("colorway") or ["currentColor"]
    asked = (trace.get("line") or {}).get("color") or (trace.get("marker") or {}).get("color")
    return asked or colorway[k % len(colorway)]


def values_of(trace, letter):
    """Give the coordinates "x" or "y"; where there are none they count."""
    if trace.get(letter) is not None:
        return array(trace[letter])
    if trace["type"] == "heatmap":
        return np.arange(array(trace["z"]).shape[letter == "x"])
    return np.arange(len(array(trace.get("xy".replace(letter, "")) or [])))


def reach(trace, letter):
    """Give the coordinates of a scatter trace, or the two outer edges of a heatmap, which must have even cells."""
    values = values_of(trace, letter)
    if trace["type"] == "scatter":
        return values
    steps = np.diff(values) if len(values) > 1 else np.ones(1)
    if not np.allclose(steps, steps[0]):
        raise ValueError(f"a still draws heatmaps with evenly spaced {letter}, not {letter} = {values}")
    return np.array([values[0] - steps[0] / 2, values[-1] + steps[0] / 2])


def array(values):
    """Give floats, from a list, from an array, or from plotly's packed {dtype, bdata, shape}."""
    if isinstance(values, dict):
        flat = np.frombuffer(b64decode(values["bdata"]), np.dtype(values["dtype"]).newbyteorder("<"))
        values = flat.reshape([int(n) for n in str(values.get("shape", len(flat))).split(",")])
    return np.asarray(values, dtype=float)


def _draw_scatter(trace, color, x, y):
    """Draw the line, broken where a number is missing, and the points."""
    across, up = x(values_of(trace, "x")), y(values_of(trace, "y"))
    points = [f"M{px(a)} {px(b)}h0" for a, b in zip(across, up, strict=True) if np.isfinite(a + b)]
    return sketch(trace, color, _path(*_thinned(across, up)), "".join(points))


def sketch(trace, color, line, points):
    """Draw a path in the way of a trace's line, and another in the way of its points; a point is a short thick line."""
    mode = trace.get("mode") or ("lines+markers" if len(values_of(trace, "x")) < 20 else "lines")
    style, marker = trace.get("line") or {}, trace.get("marker") or {}
    dash = {"stroke_dasharray": DASHES[style["dash"]]} if style.get("dash") in DASHES else {}
    parts = []
    if "lines" in mode:
        parts.append(tag("path", d=line, fill="none", stroke=color, stroke_width=style.get("width") or 2, **dash))
    if "markers" in mode:
        size = marker.get("size") or 6
        parts.append(tag("path", d=points, stroke=color, stroke_width=size, stroke_linecap="round"))
    return "".join(parts)


def _path(x, y):
    """Write a line through points; where one of them is no number there is a gap."""
    seen = np.isfinite(x) & np.isfinite(y)
    starts = seen & ~np.append(False, seen[:-1])
    return "".join(f"{'M' if start else 'L'}{px(a)} {px(b)}"
                   for a, b, start in zip(x[seen], y[seen], starts[seen], strict=True))


def _thinned(x, y):
    """Keep of a long curve the lowest and the highest point of each short stretch."""
    if len(x) <= POINTS:
        return x, y
    stretches = np.array_split(np.arange(len(x)), POINTS // 2 - 1)
    ends = {int(pick(y[part])) + part[0] for part in stretches for pick in (np.argmin, np.argmax)}
    kept = sorted(ends | {0, len(x) - 1})
    return x[kept], y[kept]


def _draw_heatmap(trace, color, x, y):
    """Draw the cells, counted in rows and columns and scaled to their place; a cell without a number stays blank."""
    z = array(trace["z"])
    z = z[np.ix_(*(np.linspace(0, n - 1, min(n, CELLS)).round().astype(int) for n in z.shape))]
    (left, right), (first, last) = x(reach(trace, "x")), y(reach(trace, "y"))
    across, down = (right - left) / z.shape[1], (last - first) / z.shape[0]
    place = f"translate({px(left)} {px(first + down / 2)}) scale({across:.4f} {down:.4f})"
    low, high = limits(trace)
    levels = np.round((LEVELS - 1) * np.clip((z - low) / (high - low), 0, 1))
    cells = [tag("path", d=path, stroke=shade(trace, level / (LEVELS - 1))) for level, path in _rows(levels).items()]
    return tag("g", "".join(cells), transform=place, fill="none", shape_rendering="crispEdges")


def _rows(levels):
    """Give level → path, one stroke across for each run of equal cells in a row."""
    paths = defaultdict(str)
    for i, row in enumerate(np.nan_to_num(levels, nan=-1)):
        j = 0
        for level, run in groupby(row):
            width = len(list(run))
            paths[level] += f"M{j} {i}h{width}"
            j += width
    paths.pop(-1, None)
    return paths


def limits(trace):
    """Give the numbers at the two ends of the colorscale."""
    z, middle = array(trace["z"]), trace.get("zmid")
    z = z[np.isfinite(z)] if np.isfinite(z).any() else np.array([0.0, 1.0])
    low, high = z.min(), z.max()
    if middle is not None:
        far = abs(z - middle).max()
        low, high = middle - far, middle + far
    low, high = (end if trace.get(key) is None else trace[key] for key, end in (("zmin", low), ("zmax", high)))
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def shade(trace, share):
    """Give the color at a share of the colorscale, which plotly holds as pairs of a share and a color."""
    shares, colors = zip(*trace["colorscale"], strict=True)
    channels = zip(*map(_channels, colors), strict=True)
    return "#" + "".join(f"{round(np.interp(share, shares, channel)):02x}" for channel in channels)


def _channels(color):
    """Read "rgb(1,2,3)" or "#010203"."""
    return bytes.fromhex(color[1:]) if color[0] == "#" else [float(part) for part in color[4:-1].split(",")]


DRAW = {"scatter": _draw_scatter, "heatmap": _draw_heatmap}
