"""The map of the course: a box for every page, and a line from each to those that build on it.

The directive ``course-map`` draws it twice: for a desk, and with fewer columns for a phone. Boxes
have their seats in a grid. Lines run in the lanes between them: through no box, and along no line
from another box. A page is joined to the last pages that lead to it, so that a line stands for all
that comes before. What cannot be drawn so is said in the box.
"""

import heapq
import random
import re
import textwrap
from collections import namedtuple
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

import course
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

WIDE, HIGH, LETTERS, LINE = 106, 78, 16, 14.5
"""Of a box: its size, the letters in a line of its title, and how far its lines stand apart."""
ACROSS, DOWN, EDGE, CORNER = 12, 22, 8, 6
"""How far boxes stand apart, how far the ground of a part reaches beyond them, and the radius of a bend."""
BEND, CROSSING, SHARED, UP, LOST = 2, 8, 0.3, 1, 100
"""What a bend costs, a crossing, a step along a line from the same box, what a step up costs more, and
a line that finds no way; another step costs 1."""
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
Line = namedtuple("Line", "start end nodes")


@dataclass(frozen=True)
class Layout:
    """The rows of each part, with the names of its pages and None where no box stands. The names of
    parts stand beside their rows, in a column ``names`` wide, or above them."""

    rows: dict
    names: int = 0

    @property
    def seats(self):
        """Name → (row, column)."""
        rows = [row for part in self.rows.values() for row in part]
        return {name: (j, i) for j, row in enumerate(rows) for i, name in enumerate(row) if name}

    @property
    def columns(self):
        return max(len(row) for part in self.rows.values() for row in part)

    @property
    def tops(self):
        """Where each row begins."""
        tops, y = [], 4
        for part in self.rows.values():
            y += 2 * EDGE + (0 if self.names else 18)
            for _ in part:
                tops.append(y)
                y += HIGH + DOWN
            y += 2 * EDGE - DOWN
        return tops

    def leads(self, start, end):
        """Tell whether a line may lead from one page to another: none leads to the laboratory, which
        needs the first chapter of each part, and with names above the parts none passes one."""
        before, part = (
            next(k for k, rows in enumerate(self.rows.values()) if any(name in row for row in rows))
            for name in (start, end)
        )
        return part < len(self.rows) - 1 and (self.names > 0 or part - before < 1 + (part == 1))

    def left(self, column):
        return self.names + 12 + column * (WIDE + ACROSS)

    @property
    def size(self):
        return self.left(self.columns) - ACROSS + EDGE + 2, self.tops[-1] + HIGH + EDGE + 2

    def point(self, node):
        """Where a node of the lanes is: odd ones are middles of boxes, even ones lie between them."""
        j, i = node
        column, row = i // 2, j // 2
        x = self.left(column) + (WIDE / 2 if i % 2 else -ACROSS / 2)
        if j % 2:
            return x, self.tops[row] + HIGH / 2
        if row == len(self.tops):
            return x, self.tops[-1] + HIGH + EDGE / 2
        if row == 0:
            return x, 4
        above = self.tops[row - 1] + HIGH
        return x, above + (DOWN / 2 if self.tops[row] - above == DOWN else 2 * EDGE)


DESK = Layout(
    {
        "start": (("softmax", "descent", "tangent"),),
        "multihead": (("1", "2", "3", "4", None), (None, "5", "6", "7", "8")),
        "preconditioning": (("9", "10", "11"),),
        "kernels": (("12", "13", "14", "15", "16"),),
        "laboratory": (("17",),),
    },
    names=89,
)
PHONE = Layout(
    {
        "start": (("softmax", "descent", "tangent"),),
        "multihead": (("1", "2", "3"), ("4", "5", "6"), ("7", "8", None)),
        "preconditioning": (("9", "10", "11"),),
        "kernels": (("12", "13", "14"), ("15", "16", None)),
        "laboratory": (("17",),),
    }
)


def name_of(file):
    """The name of a page on the map: its number, or the first word of its file."""
    return course.number(file) or Path(file).name.split("_")[0]


def needs_of(pages):
    """Name → the names of the pages that its page needs."""
    return {name_of(file): [*map(name_of, page["needs"])] for file, page in pages.items()}


def in_order(names):
    """Opening pages, then chapters by their numbers."""
    return sorted(names, key=lambda name: (name.isdigit(), name.zfill(2)))


def beneath(needs, name):
    """All pages that lead to a page."""
    return {*needs[name]}.union(*(beneath(needs, other) for other in needs[name]))


def joined(needs):
    """(one of the last pages that lead to a page, the page): it leads to none of the others."""
    for name, own in needs.items():
        for one in own:
            if not any(one in beneath(needs, other) for other in own):
                yield one, name


def routes(layout, needs, tries=60):
    """(the lines, the pairs of names without one): such as find no way or lead from part to part where
    there is no room for it. The order in which lines are drawn is changed while that makes them
    cheaper."""
    seats = {name: (2 * j + 1, 2 * i + 1) for name, (j, i) in layout.seats.items()}
    pairs = [*joined(needs)]
    order = [pair for pair in pairs if layout.leads(*pair)]
    draw, best = random.Random(4), None
    for _ in range(tries):
        lines, cost = [], 0
        for start, end in order:
            price, path = route(layout, seats, lines, start, end)
            lines += [Line(start, end, path)] if path else []
            cost += price
        if best is None or cost <= best[0]:
            best = cost, order, lines
        order = [*best[1]]
        order.insert(draw.randrange(len(order)), order.pop(draw.randrange(len(order))))
    drawn = {(line.start, line.end) for line in best[2]}
    return best[2], [pair for pair in pairs if pair not in drawn]


def route(layout, seats, drawn, start, end):
    """(its price, the cheapest way along the lanes, as nodes), or (LOST, None). It bends at no line from
    another box."""
    first, last = seats[start], seats[end]
    closed = {*seats.values()} - {last}
    own, taken, passed = set(), set(), set()
    for line in drawn:
        steps = {frozenset(pair) for pair in pairwise(line.nodes)}
        (own if line.start == start else taken).update(steps)
        if line.start != start:
            passed.update(line.nodes[1:-1])
    high, wide = 2 * len(layout.tops), 2 * layout.columns
    queue, done = [(0, first, None, (first,))], set()
    while queue:
        cost, node, before, path = heapq.heappop(queue)
        if node == last:
            return cost, path
        if (node, before) in done:
            continue
        done.add((node, before))
        for step in STEPS:
            there = (node[0] + step[0], node[1] + step[1])
            if not (0 <= there[0] <= high and 0 <= there[1] <= wide) or there in closed:
                continue
            edge, bends = frozenset((node, there)), before not in (None, step)
            if edge in taken or (node in passed and bends) or there in path:
                continue
            price = (SHARED if edge in own else 1) + BEND * bends + CROSSING * (node in passed)
            price += UP * (step == (-1, 0))
            heapq.heappush(queue, (cost + price, there, step, (*path, there)))
    return LOST, None


def in_lines(text):
    """A text in as few lines of so many letters as it needs, as even as they can be."""
    broken = [
        textwrap.wrap(text, wide, break_long_words=False, break_on_hyphens=False)
        for wide in range(10, LETTERS + 1)
    ]
    return next(lines for lines in broken if len(lines) == len(broken[-1]))


def box(layout, file, needs, address):
    """A link with the number and the title of a page, what it ``needs`` if no line says so, and how
    long a first reading takes."""
    row, column = layout.seats[name_of(file)]
    x, y = layout.left(column), layout.tops[row]
    lines = [
        escape(line) for line in in_lines(f"{course.number(file)} {course.title(file)}".strip())
    ]
    below = [f"needs {', '.join(needs)}"] * bool(needs) + [f"{course.minutes(file)} min"]
    if course.number(file):
        lines[0] = re.sub(r"^\d+", r'<tspan class="number">\g<0></tspan>', lines[0])
    first, middle = y + HIGH / 2 + 11 - LINE / 2 * len(lines + below), f"{x + WIDE / 2:g}"
    kinds = [""] * len(lines) + [' class="minutes"'] * len(below)
    words = "".join(
        f'<text{kind} x="{middle}" y="{first + LINE * k:g}">{line}</text>'
        for k, (kind, line) in enumerate(zip(kinds, lines + below, strict=True))
    )
    return (
        f'<a href="{escape(address)}" data-page="{name_of(file)}">'
        f'<rect x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="5"/>{words}</a>'
    )


def bent(layout, line):
    """A line as SVG, from the edge of its first box to that of its last, where it has a head."""
    points = [layout.point(node) for node in line.nodes]
    turns = [points[0]]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        if (before[0] == here[0]) != (here[0] == after[0]):
            turns.append(here)
    turns.append(points[-1])
    turns[0], turns[-1] = at_edge(turns[0], turns[1], 0), at_edge(turns[-1], turns[-2], 5)
    path = f"M{turns[0][0]:g} {turns[0][1]:g}"
    for before, here, after in zip(turns, turns[1:], turns[2:], strict=False):
        near, off = toward(here, before), toward(here, after)
        path += f"L{near[0]:g} {near[1]:g}Q{here[0]:g} {here[1]:g} {off[0]:g} {off[1]:g}"
    (x, y), (up, down) = turns[-1], direction(turns[-2], turns[-1])
    head = f"M{x + 5 * up:g} {y + 5 * down:g}L{x - 3 * down:g} {y - 3 * up:g}L{x + 3 * down:g} {y + 3 * up:g}Z"
    return (
        f'<g data-from="{line.start}" data-to="{line.end}"><path d="{path}L{x:g} {y:g}"/>'
        f'<path class="head" d="{head}"/></g>'
    )


def direction(start, end):
    """One step from a point to one beside or below it."""
    across, down = end[0] - start[0], end[1] - start[1]
    return (across > 0) - (across < 0), (down > 0) - (down < 0)


def toward(here, there):
    """A point before a bend, on the way to another point."""
    across, down = direction(here, there)
    length = min(CORNER, (abs(here[0] - there[0]) + abs(here[1] - there[1])) / 2)
    return here[0] + across * length, here[1] + down * length


def at_edge(middle, there, room):
    """Where a line leaves a box with this middle, with ``room`` for a head."""
    across, down = direction(middle, there)
    return middle[0] + across * (WIDE / 2 + room), middle[1] + down * (HIGH / 2 + room)


def grounds(layout):
    """(the ground of each part, its name)."""
    wide, row = layout.size[0], 0
    for folder, rows in layout.rows.items():
        top, foot = layout.tops[row], layout.tops[row + len(rows) - 1] + HIGH
        row += len(rows)
        y = top - EDGE - (0 if layout.names else 18)
        lines = course.PARTS[folder].split(" · ") if layout.names else [course.PARTS[folder]]
        lines = [
            part for line in lines for part in (textwrap.wrap(line, 15) if layout.names else [line])
        ]
        first = (top + foot) / 2 + 11 - LINE / 2 * len(lines) if layout.names else y + 16
        words = "".join(
            f'<text class="part" x="6" y="{first + LINE * k:g}">{escape(line)}</text>'
            for k, line in enumerate(lines)
        )
        yield (
            f'<rect class="band" x="1" y="{y:g}" width="{wide - 2:g}" height="{foot + EDGE - y:g}" rx="8"/>',
            words,
        )


def drawing(layout, pages, address, kind):
    """The map as an SVG of links; ``address`` gives the link to a file.

    Raises ValueError that names pages without a seat, or seats without a page.
    """
    needs = needs_of(pages)
    if other := needs.keys() ^ layout.seats.keys():
        raise ValueError(
            f"expected a seat for each page of course.yml in course_map.py, and no other: {sorted(other)}"
        )
    lines, left = routes(layout, needs)
    said = {end for _, end in left}
    bands, names = ("".join(parts) for parts in zip(*grounds(layout), strict=True))
    order = sorted(pages, key=lambda file: layout.seats[name_of(file)])
    words = {name: in_order(own) if name in said else [] for name, own in needs.items()}
    boxes = "".join(box(layout, file, words[name_of(file)], address(file)) for file in order)
    lit = "".join(
        f'.course-map svg:has(a[data-page="{name}"]:is(:hover, :focus-visible)) '
        f":is({', '.join([f'a[data-page={one!r}] rect' for one in own] + [f'g[data-to={name!r}] path'])}) "
        f"{{ stroke: var(--pst-color-primary); stroke-width: 2.4; }}"
        for name, own in needs.items()
        if own
    )
    wide, high = layout.size
    return (
        f'<div class="course-map {kind}"><style>{lit}</style><svg viewBox="0 0 {wide:g} {high:g}" '
        f'role="group" aria-label="Map of the book: lines lead from each page to those that build on it. '
        f'The list below says the same.">{bands}{"".join(bent(layout, line) for line in lines)}'
        f"{names}{boxes}</svg></div>"
    )


class Map(SphinxDirective):
    """The map: for browsers two drawings of links, of which the style sheet shows one."""

    def run(self):
        self.env.note_dependency(str(course.COURSE))
        up, pages = "../" * self.env.docname.count("/"), course.course()["pages"]
        drawn = [
            drawing(layout, pages, lambda file: f"{up}{file}.html", kind)
            for layout, kind in ((DESK, "desk"), (PHONE, "phone"))
        ]
        return [nodes.raw("", "".join(drawn), format="html")]


def setup(app):
    app.add_directive("course-map", Map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
