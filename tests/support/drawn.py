"""What stands in the panels of a drawn picture, read back from its SVG. Places count upward, as in
mathematics."""

import re
from dataclasses import dataclass

import numpy as np
from bs4 import BeautifulSoup
from PIL import ImageFont

from scripts import ROOT

ROUNDED = 0.1
"""Places are written to a tenth, so this is twice as far as one can be off."""
FONT = ImageFont.truetype(str(ROOT / "book/_static/vendor/dejavu/DejaVuSans.ttf"), 100)
"""That of drawings in a notebook that was not run; its letters are wider than those of a page."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A "line", "bar", "arrow", "dot", "ring", "query", "key", "entry", "trap", "star", "shade" or "words",
    with the places (n, 2) that it goes through."""

    kind: str
    places: np.ndarray
    color: str | None
    width: float = 0.0
    dashed: bool = False
    filled: bool = False
    text: str = ""
    box: np.ndarray | None = None
    """The lower left and the upper right corner of words, in the widest letters that they may have."""

    @property
    def start(self):
        return self.places[0]

    @property
    def end(self):
        return self.places[-1]

    @property
    def way(self):
        return self.end - self.start


@dataclass(frozen=True)
class DrawnPanel:
    """The shapes of one panel, in the order in which they were drawn."""

    title: str
    shapes: list[Shape]

    def all(self, *kinds, **having):
        """Those of these kinds that have what is asked for, such as ``color=FOUND``."""
        return [
            shape
            for shape in self.shapes
            if shape.kind in kinds and all(getattr(shape, k) == v for k, v in having.items())
        ]

    def one(self, *kinds, **having):
        """The only one."""
        (found,) = self.all(*kinds, **having)
        return found

    def places(self, *kinds, **having):
        """Where they begin, (n, 2)."""
        return np.array([shape.start for shape in self.all(*kinds, **having)])


@dataclass(frozen=True)
class Frame:
    """Where zero is drawn, and how long one is across and up."""

    zero: np.ndarray
    unit: np.ndarray

    def read(self, places):
        """Places in the numbers that they stand for."""
        return (np.asarray(places) - self.zero) / self.unit


def frame(places, true, *, alike=True):
    """The frame in which places (n, 2) are the true ones, which must exist; ``alike``: with one
    unit across and up, so that angles are true."""
    places, true = np.asarray(places, float), np.asarray(true, float)
    assert places.shape == true.shape, f"{len(places)} places instead of {len(true)}"
    middles = places.mean(axis=0), true.mean(axis=0)
    drawn, meant = places - middles[0], true - middles[1]
    axis = None if alike else 0
    unit = np.broadcast_to((drawn * meant).sum(axis) / (meant**2).sum(axis), 2)
    assert (unit > 0).all(), f"turned over: {unit}"
    off = abs(drawn - unit * meant).max()
    assert off < ROUNDED, f"{off:.2f} away from its true place"
    return Frame(middles[0] - unit * middles[1], unit)


def panels(html):
    """Those of a picture, from left to right."""
    figure = BeautifulSoup(html.data, "html.parser")
    return [_panel(svg) for svg in figure.select("svg")]


def _panel(svg):
    title, *rest = svg.find_all(True, recursive=False)
    shapes, size = [], float(re.search(r"font-size: ([\d.]+)px", svg["style"])[1])
    for tag in rest:
        if tag.name == "polygon" and not tag.get("transform"):
            shapes.append(_arrow(shapes.pop(), _pairs(tag["points"])))
        elif tag.name == "text":
            shapes.append(_words(tag, float(tag.get("font-size", size))))
        else:
            shapes.append(_shape(tag))
    return DrawnPanel(title.get_text(), shapes)


def _pairs(text):
    """Places in a text of numbers."""
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
    return np.reshape(numbers, (-1, 2)) * (1, -1)


def _color(name):
    """That of a mark, one of ``mhalib.plots``; None for that of the text."""
    return None if name == "currentColor" else re.search("#[0-9A-F]{6}", name)[0]


def _shape(tag):
    if tag.name == "path" and tag["d"].endswith("Z"):
        corners = _pairs(tag["d"])
        kind = "query" if len(corners) == 3 else "key"
        return Shape(kind, corners.mean(axis=0)[None], None, filled=tag["fill"] == "currentColor")
    if tag.name == "path" and tag["stroke"] == "none":
        return Shape("shade", _pairs(tag["d"]), None, filled=True)
    if tag.name == "path" and tag["d"].count("M") == 2:
        return Shape("trap", _pairs(tag["d"]).mean(axis=0)[None], _color(tag["stroke"]))
    if tag.name == "rect":
        x, y, side = (float(tag[name]) for name in ("x", "y", "width"))
        middle = np.array([[x + side / 2, -(y + side / 2)]])
        return Shape("entry", middle, None, side, filled=tag["fill"] == "currentColor")
    if tag.name == "path":
        return Shape(
            "line" if tag.get("stroke-linecap") == "round" else "bar",
            _pairs(tag["d"]),
            _color(tag["stroke"]),
            float(tag["stroke-width"]),
            bool(tag.get("stroke-dasharray")),
            tag["fill"] != "none",
        )
    if tag.name == "circle":
        place, radius = _pairs(f"{tag['cx']} {tag['cy']}"), float(tag["r"])
        if "stroke" not in tag.attrs:
            return Shape("dot", place, _color(tag["fill"]), radius, filled=True)
        dashed, filled = bool(tag.get("stroke-dasharray")), tag.get("fill-opacity", "0") != "0"
        return Shape("ring", place, _color(tag["stroke"]), radius, dashed, filled)
    return Shape("star", _pairs(tag["transform"]), _color(tag["fill"]))


def _words(tag, size):
    place, text = _pairs(f"{tag['x']} {tag['y']}"), tag.get_text()
    wide = FONT.getlength(text) * size / FONT.size
    left = place[0, 0] - wide * {"start": 0, "middle": 0.5, "end": 1}[tag["text-anchor"]]
    box = np.array([[left, place[0, 1]], [left + wide, place[0, 1] + 0.7 * size]])
    return Shape("words", place, _color(tag["fill"]), text=text, box=box)


def _arrow(shaft, head):
    """A line and the triangle at its end, whose first corner is the tip."""
    neck = head[1:].mean(axis=0)
    assert shaft.kind == "line" and abs(shaft.end - neck).max() < 2 * ROUNDED
    return Shape("arrow", np.array([shaft.start, head[0]]), shaft.color, shaft.width)
