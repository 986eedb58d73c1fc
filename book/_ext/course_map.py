"""The map of the course: a box with a picture for every page, in rows by part.

The directive ``course-map`` writes a grid of links, in a single column on a phone. A box says in words
what its page needs. Arrows lead to it from the boxes that it touches and builds on.
"""

from html import escape
from typing import NamedTuple

import course
import thumbnails
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

DESK = {
    "start": (("softmax", "descent", "descent", "tangent"),),
    "multihead": (("1", "2", "3", "4"), ("1", "5", "6", "7"), ("8", "8", "8", "8")),
    "preconditioning": (("9", "9", "10", "11"),),
    "kernels": (("12", "12", "12", "12"), ("13", "14", "15", "16")),
    "laboratory": (("17", "17", "17", "17"),),
}
PHONE = {
    part: tuple((name,) for name in dict.fromkeys(sum(rows, ()))) for part, rows in DESK.items()
}
LAYOUTS = {"desk": DESK, "phone": PHONE}
"""The rows of each part, with the names of its pages. A box is as large as its name stands there."""


class Seat(NamedTuple):
    """The part, the lines and the columns where a box stands, the last ones left out."""

    part: str
    lines: range
    columns: range

    def area(self):
        """As CSS has it, from 1 on."""
        ends = (self.lines.start, self.columns.start, self.lines.stop, self.columns.stop)
        return " / ".join(str(end + 1) for end in ends)


def needs_of(pages):
    """Name → the names of the pages that its page needs."""
    return {
        course.name_of(file): [*map(course.name_of, page["needs"])] for file, page in pages.items()
    }


def beneath(needs, name):
    """All pages that lead to a page."""
    return {*needs[name]}.union(*(beneath(needs, other) for other in needs[name]))


def seats(layout):
    """Name → its seat, in the order of the book."""
    found = {}
    for part, rows in layout.items():
        for line, row in enumerate(rows):
            for column, name in enumerate(row):
                first = found.get(name, Seat(part, range(line, line), range(column, column)))
                lines, columns = (
                    range(first.lines.start, line + 1),
                    range(first.columns.start, column + 1),
                )
                found[name] = Seat(part, lines, columns)
    return found


def arrows(layout, needs, name):
    """The arrows that lead to a box from those that it touches and builds on: their side, "beside"
    it, to the left, or "above", and how far along this side they stand, as a share of it."""
    places, found = seats(layout), []
    part, lines, columns = places[name]
    for there in (places[one] for one in needs[name] if places[one].part == part):
        if there.columns.stop == columns.start and meet(lines, there.lines):
            found.append(("beside", middle(lines, there.lines)))
        if there.lines.stop == lines.start and meet(columns, there.columns):
            found.append(("above", middle(columns, there.columns)))
    return found


def meet(here, there):
    """What two ranges have in common."""
    return range(max(here.start, there.start), min(here.stop, there.stop))


def middle(here, there):
    """The middle of what two ranges have in common, as a share of the first."""
    common = meet(here, there)
    return ((common.start + common.stop) / 2 - here.start) / len(here)


def box(file, needs, address, up):
    """A link with the pictures, the name and the title of a page, how long a first reading takes and
    what it needs; where it stands on a desk and on a phone, with the arrows that lead to it."""
    name, areas, drawn = course.name_of(file), "", ""
    for kind, layout in LAYOUTS.items():
        areas += f"--{kind}: {seats(layout)[name].area()}; "
        drawn += "".join(
            f'<i class="{kind} {side}" style="--along: {share:.1%}"></i>'
            for side, share in arrows(layout, needs, name)
        )
    words = [("title", course.title(file)), ("minutes", f"{course.minutes(file)} min")]
    if needs[name]:
        words.insert(1, ("needs", f"needs {', '.join(sorted(needs[name], key=[*needs].index))}"))
    said = " ".join(f'<span class="{kind}">{escape(text)}</span>' for kind, text in words)
    here = seats(DESK)[name]
    shape = "wide" if len(here.columns) > 2 else "tall" if len(here.lines) > 1 else "card"
    return (
        f'<a href="{escape(address)}" class="{shape}" data-page="{name}" style="{areas}">'
        f'<span class="pictures">{thumbnails.images(thumbnails.IDEAS[name], up)}</span><b>{name}</b> {said}{drawn}</a>'
    )


def drawing(pages, address, up=""):
    """The map as a grid of links for each part; ``address`` gives the link to a file, and ``up``
    leads to the first folder.

    Raises ValueError that names pages without a seat or pictures, and the other way round.
    """
    needs = needs_of(pages)
    for words, given in (
        ("a seat in course_map.py", seats(DESK)),
        ("pictures in thumbnails.py", thumbnails.IDEAS),
    ):
        if other := needs.keys() ^ given.keys():
            raise ValueError(
                f"expected {words} for each page of course.yml, and no other: {sorted(other)}"
            )
    boxes = dict.fromkeys(DESK, "")
    for file in pages:
        boxes[seats(DESK)[course.name_of(file)].part] += box(file, needs, address(file), up)
    parts = "".join(
        f'<div class="part {part}"><p>{escape(course.PARTS[part])}</p><div class="boxes">{own}</div></div>'
        for part, own in boxes.items()
    )
    lit = "".join(
        f'.course-map:has(a[data-page="{name}"]:is(:hover, :focus-visible)) '
        f":is({', '.join(f'a[data-page={one!r}]' for one in sorted(beneath(needs, name)))}) "
        "{ border-color: var(--pst-color-primary); background: var(--lit); }"
        for name in needs
        if needs[name]
    )
    return (
        f'<div class="course-map" role="group" aria-label="Map of the book: each box names the pages that '
        f'its own page needs. The list below says the same."><style>{lit}</style>{parts}</div>'
    )


class Map(SphinxDirective):
    """The map, for browsers."""

    def run(self):
        self.env.note_dependency(str(course.COURSE))
        up, pages = "../" * self.env.docname.count("/"), course.course()["pages"]
        return [nodes.raw("", drawing(pages, lambda file: f"{up}{file}.html", up), format="html")]


def setup(app):
    app.add_directive("course-map", Map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
