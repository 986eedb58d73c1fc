"""Drawn pictures of one idea: panels of dots, lines, arrows and words, as SVG in the book's colors,
and what the book draws again and again: tokens, queries, keys, heads, targets, each with one sign.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from IPython.display import HTML

from mhalib.plots import ATTENTION, DECODER, FOUND, GAUSSIAN

GROUND = "var(--pst-color-background, var(--jp-layout-color0, #fff))"
"""The page's, inside of hollow signs, so that no line shows through them."""
Point: TypeAlias = tuple[float, float]
WIDTH, HEIGHT = 260, 190
"""The units of a panel; x counts to the right, y downward."""
DASHES = "6 4"
DOTS = "0.1 4.5"
"""With round ends these are dots."""
STAR = "0,-9 2.4,-3.2 8.6,-2.8 3.8,1.2 5.3,7.3 0,4 -5.3,7.3 -3.8,1.2 -8.6,-2.8 -2.4,-3.2"
FONT = "font-family: 'Source Sans 3', 'Open Sans', verdana, arial, sans-serif"
ON_WHITE = "color: #222832; background: #fff"
# With the picture itself, because a notebook has no style sheet of the book's: three panels stand
# side by side where there is room for them, and on a phone one below the other.
ROW = "display: flex; flex-wrap: wrap; gap: 1.2rem 1rem; justify-content: center"
IN_ROW = "flex: 1 1 12rem; min-width: 0; height: auto"
SIZES = {1: ("9.5px", "28rem"), 2: ("10.5px", "24rem"), 3: ("16px", "16rem")}
"""Number of panels → the size of words in units of a panel, 13 pixels or a little more at a desk and on
a phone, and how wide a panel becomes."""
VARIABLE = re.compile(r"var\((?:--[\w-]+, )+(?:var\(--[\w-]+, )?(#\w+)\)+")
"""A color that a page may set, as it stands in a picture; its last part is what it is without one."""
TWINS = {ATTENTION: "attention", DECODER: "decoder", FOUND: "found", GAUSSIAN: "gaussian"}
"""Color → the name of the property that has its twin on dark pages (book.css)."""


class Panel:
    """One panel, with a title above. A color is one of ``mhalib.plots``, or None for that of the
    text.

    Every method adds something and gives the panel back, so that they can be chained. A sign means
    the same in every picture:

    - disc: a token, a sample, or where a run is and ends; ``label``: a disc for +, a ring for −;
      ``left_out``: a dashed outline
    - triangle: a query; diamond: a key, filled if it is the one in question
    - amber line: a weight of attention; amber square: the W of a head; blue bar: its U
    - small square: an entry of a matrix, filled above zero and hollow below
    - star: what is to be found; thick green line: where it is, and thin: the level of a target
    - tick across a path: where a run starts; cross: a trap, where it is held
    - dotted line with one side shaded: a bound, and where nothing can be
    - dashed line: the other one of two, such as what was, or the run without a sample
    - thin line, faint or in the color of its kernel: an axis, a level, or what joins two places
    """

    def __init__(self, title: str) -> None:
        self.parts: list[str] = [
            f'<text x="{WIDTH / 2}" y="14" text-anchor="middle" font-weight="600" '
            f'fill="currentColor">{escape(title)}</text>'
        ]

    def _add(self, text: str) -> "Panel":
        self.parts.append(text)
        return self

    def line(
        self,
        start: Point,
        end: Point,
        *,
        color: str | None = None,
        width: float = 1.5,
        dash: str = "",
        opacity: float = 1.0,
    ) -> "Panel":
        """A straight line."""
        return self.curve([start, end], color=color, width=width, dash=dash, opacity=opacity)

    def curve(
        self,
        points: Iterable[Point],
        *,
        color: str | None = None,
        width: float = 1.5,
        dash: str = "",
        opacity: float = 1.0,
        fill: bool = False,
    ) -> "Panel":
        """A line through points; with ``fill`` the area that it encloses, faintly."""
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        inside = f'fill="{_ink(color)}" fill-opacity="0.15"' if fill else 'fill="none"'
        return self._add(
            f'<path d="{path}" {inside} stroke="{_ink(color)}" stroke-width="{width:g}" '
            f'stroke-dasharray="{dash}" stroke-linecap="round" opacity="{opacity:g}"/>'
        )

    def bar(
        self, start: Point, end: Point, *, color: str | None = None, width: float = 9
    ) -> "Panel":
        """A thick line with square ends: round ones would make it longer by its width."""
        (x, y), (far, down) = start, end
        return self._add(
            f'<path d="M{x:.1f} {y:.1f}L{far:.1f} {down:.1f}" fill="none" '
            f'stroke="{_ink(color)}" stroke-width="{width:g}"/>'
        )

    def arrow(
        self, start: Point, end: Point, *, color: str | None = None, width: float = 2.5
    ) -> "Panel":
        """A line with a head at its end."""
        (x, y), (far, down) = start, end
        length = ((far - x) ** 2 + (down - y) ** 2) ** 0.5
        along = ((far - x) / length, (down - y) / length)
        across = (-(down - y) / length, (far - x) / length)
        # The head grows with the line, so that it stays wider than a thick one.
        size = 4 + 2 * width
        neck = (far - size * along[0], down - size * along[1])
        wings = [
            (neck[0] + side * size * across[0] / 2, neck[1] + side * size * across[1] / 2)
            for side in (1, -1)
        ]
        head = " ".join(f"{a:.1f},{b:.1f}" for a, b in (end, *wings))
        # Only as far as the neck: the round end of the line would stick out of the tip.
        self.line(start, neck, color=color, width=width)
        return self._add(f'<polygon points="{head}" fill="{_ink(color)}"/>')

    def dot(
        self, at: Point, *, color: str | None = None, size: float = 5.5, apart: bool = False
    ) -> "Panel":
        """A disc of this radius, without an outline, which would make it larger; with ``apart`` a
        little of the ground lies around it, on what was drawn before."""
        around = f'style="stroke: {GROUND}; stroke-width: 2; paint-order: stroke" ' if apart else ""
        return self._add(
            f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{size:g}" {around}fill="{_ink(color)}"/>'
        )

    def circle(
        self, at: Point, radius: float, *, color: str | None = None, fill: float = 0.0
    ) -> "Panel":
        """A circle around a point, with so much of its color inside."""
        return self._add(
            f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:g}" fill="{_ink(color)}" '
            f'fill-opacity="{fill:g}" stroke="{_ink(color)}" stroke-width="1.5"/>'
        )

    def label(self, at: Point, positive: bool, *, size: float = 5.5) -> "Panel":
        """A sample by its label: a disc for +, a ring for −."""
        return self.dot(at, size=size) if positive else self._ring(at, size)

    def left_out(self, at: Point, *, size: float = 5.5) -> "Panel":
        """A sample that a run does not see: its outline, dashed."""
        return self._ring(at, size, dash="2 2.5")

    def _ring(self, at, size, dash=""):
        return self._add(
            f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{size - 0.75:g}" fill="{GROUND}" '
            f'stroke="currentColor" stroke-width="1.5" stroke-dasharray="{dash}"/>'
        )

    def entry(self, at: Point, value: float) -> "Panel":
        """An entry of a matrix: a square whose area goes with its size, hollow below zero."""
        half, fill = 8 * abs(value) ** 0.5, GROUND if value < 0 else "currentColor"
        return self._add(
            f'<rect x="{at[0] - half:.2f}" y="{at[1] - half:.2f}" width="{2 * half:.2f}" '
            f'height="{2 * half:.2f}" fill="{fill}" stroke="currentColor" stroke-width="1.5"/>'
        )

    def star(self, at: Point) -> "Panel":
        """What is to be found: the token with the label, a hidden head, where a target is met."""
        return self._add(
            f'<polygon transform="translate({at[0]:.1f} {at[1]:.1f})" points="{STAR}" '
            f'fill="{_ink(FOUND)}"/>'
        )

    def token(self, at: Point) -> "Panel":
        """A token of a sample."""
        return self.dot(at)

    def query(self, at: Point, *, towards: Point | None = None) -> "Panel":
        """A query: a triangle, and a thin arrow in the direction in which it looks."""
        (x, y) = at
        if towards is not None:
            self.arrow(at, towards, width=1.5)
        return self._add(
            f'<path d="M{x:.1f} {y - 8:.1f}L{x + 9:.1f} {y + 4:.1f}L{x - 9:.1f} {y + 4:.1f}Z" '
            f'fill="{GROUND}" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/>'
        )

    def key(self, at: Point, *, chosen: bool = False) -> "Panel":
        """A key: a diamond, filled if it is the one in question."""
        (x, y), fill = at, "currentColor" if chosen else GROUND
        return self._add(
            f'<path d="M{x:.1f} {y - 7:.1f}L{x + 7:.1f} {y:.1f}L{x:.1f} {y + 7:.1f}L{x - 7:.1f} {y:.1f}Z" '
            f'fill="{fill}" stroke="currentColor" stroke-width="1.5"/>'
        )

    def weight(self, start: Point, end: Point, weight: float) -> "Panel":
        """A weight of attention, from a query to a token: the larger, the broader."""
        return self.line(start, end, color=ATTENTION, width=0.5 + 9 * weight)

    def head(self, at: Point, *, size: float = 24, reach: float = 42) -> "Panel":
        """A head, by the middle of its left side: a square, its attention, and a bar, its decoder."""
        (x, y), half = at, size / 2
        corners = [(x, y - half), (x + size, y - half), (x + size, y + half), (x, y + half)]
        self.curve([*corners, corners[0]], color=ATTENTION, fill=True)
        return self.line((x + 1.6 * size, y), (x + 1.6 * size + reach, y), color=DECODER, width=6)

    def target(self, start: Point, end: Point) -> "Panel":
        """The level of a target."""
        return self.line(start, end, color=FOUND, width=2)

    def start(self, at: Point, towards: Point) -> "Panel":
        """Where a run starts: a tick across its way."""
        (x, y), (far, down) = at, towards
        length = ((far - x) ** 2 + (down - y) ** 2) ** 0.5
        across, up = -6 * (down - y) / length, 6 * (far - x) / length
        return self.bar((x - across, y - up), (x + across, y + up), width=2.5)

    def run(self, points: Iterable[Point]) -> "Panel":
        """A run of training: from a tick, where it starts, to a dot, where it ends."""
        points = list(points)
        return self.start(*points[:2]).curve(points, width=2.5).dot(points[-1])

    def trap(self, at: Point) -> "Panel":
        """Where a run is held: a cross."""
        (x, y), arm = at, 5
        return self._add(
            f'<path d="M{x - arm:.1f} {y - arm:.1f}L{x + arm:.1f} {y + arm:.1f}'
            f'M{x - arm:.1f} {y + arm:.1f}L{x + arm:.1f} {y - arm:.1f}" fill="none" '
            f'stroke="currentColor" stroke-width="2.6" stroke-linecap="round"/>'
        )

    def wall(self, points: Iterable[Point], beyond: Iterable[Point] = ()) -> "Panel":
        """A bound: a dotted line, and beyond it, as far as the points ``beyond`` and back, a shade
        where nothing can be."""
        points = list(points)
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (*points, *beyond))
        self._add(f'<path d="{path}" fill="currentColor" fill-opacity="0.09" stroke="none"/>')
        return self.curve(points, width=2, dash=DOTS)

    def words(
        self,
        at: Point,
        text: str,
        *,
        color: str | None = None,
        anchor: str = "middle",
        size: float | None = None,
    ) -> "Panel":
        """Words, where nothing else is drawn; ``anchor`` says what stands at the place: their
        "start", "middle" or "end". Without a ``size`` they are as large as others of the panel."""
        large = "" if size is None else f'font-size="{size:g}" '
        return self._add(
            f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" fill="{_ink(color)}" '
            f"{large}>{escape(text)}</text>"
        )

    def svg(self) -> str:
        """All of it."""
        return "".join(self.parts)


def picture(name: str, alt: str, panels: list[Panel]) -> HTML:
    """Panels side by side, one below the other on a phone, with a link to the whole as one SVG file
    for a slide.

    Parameters
    ----------
    name : of the file, without its ending
    alt : the picture in words
    panels : from left to right
    """
    size, widest = SIZES[len(panels)]
    drawn = "".join(
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" style="{FONT}; font-size: {size}; {IN_ROW}; '
        f'max-width: {widest}" aria-hidden="true">{panel.svg()}</svg>'
        for panel in panels
    )
    together = "".join(
        f'<g transform="translate({k * WIDTH})">{panel.svg()}</g>' for k, panel in enumerate(panels)
    )
    # A file on its own has no page from which colors could come: it brings its own.
    alone = VARIABLE.sub(r"\1", together)
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {len(panels) * WIDTH} {HEIGHT}" '
        f'style="{FONT}; font-size: {size}; {ON_WHITE}"><title>{escape(alt)}</title>'
        f"{alone}</svg>"
    )
    link = f"data:image/svg+xml;base64,{b64encode(whole.encode()).decode()}"
    return HTML(
        f'<figure class="mha-idea"><div role="img" aria-label="{escape(alt)}" style="{ROW}">'
        f"{drawn}</div>"
        f'<figcaption><a href="{link}" download="{escape(name)}.svg">This picture as SVG</a></figcaption>'
        "</figure>"
    )


def _ink(color):
    if color is None:
        return "currentColor"
    return f"var(--mha-{TWINS[color]}, {color})" if color in TWINS else color
