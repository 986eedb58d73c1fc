"""The map of the course: a box for every page, in rows by part.

The directive ``course-map`` writes a grid of links, with fewer columns on a phone. A box says in words
what its page needs. An arrow leads to it from the box beside it, or above it, that its page builds on.
"""

from html import escape
from pathlib import Path

import course
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

DESK = {
    "start": (("softmax", "descent", "tangent"),),
    "multihead": (("1", "2", "3", "4"), (None, "5", "6", "7", "8")),
    "preconditioning": (("9", "10", "11"),),
    "kernels": (("12", "13", "14", "15", "16"),),
    "laboratory": (("17",),),
}
PHONE = {
    "start": (("softmax", "descent", "tangent"),),
    "multihead": (("1", "2", "3"), ("4", "5", "6"), ("7", "8")),
    "preconditioning": (("9", "10", "11"),),
    "kernels": (("12", "13"), ("14", "15", "16")),
    "laboratory": (("17",),),
}
LAYOUTS = {"desk": DESK, "phone": PHONE}
"""The rows of each part, with the names of its pages and None where no box stands."""


def name_of(file):
    """The name of a page on the map: its number, or the first word of its file."""
    return course.number(file) or Path(file).name.split("_")[0]


def needs_of(pages):
    """Name → the names of the pages that its page needs."""
    return {name_of(file): [*map(name_of, page["needs"])] for file, page in pages.items()}


def beneath(needs, name):
    """All pages that lead to a page."""
    return {*needs[name]}.union(*(beneath(needs, other) for other in needs[name]))


def seats(layout):
    """Name → (part, row, column), from 1 on."""
    return {
        name: (part, j, i)
        for part, rows in layout.items()
        for j, row in enumerate(rows, 1)
        for i, name in enumerate(row, 1)
        if name
    }


def sides(layout, needs, name):
    """Where a page has a neighbor in its part that it builds on: "beside" it, to the left, or "above"."""
    places = seats(layout)
    part, row, column = places[name]
    neighbors = {"beside": (part, row, column - 1), "above": (part, row - 1, column)}
    needed = {places[one] for one in needs[name]}
    return [side for side, place in neighbors.items() if place in needed]


def box(file, needs, address):
    """A link with the name and the title of a page, how long a first reading takes and what it needs;
    where it stands on a desk and on a phone, with the arrows that lead to it."""
    name, seat, arrows = name_of(file), "", ""
    for kind, layout in LAYOUTS.items():
        _, row, column = seats(layout)[name]
        seat += f"--{kind}: {row} / {column}; "
        arrows += "".join(f'<i class="{kind} {side}"></i>' for side in sides(layout, needs, name))
    words = [("title", course.title(file)), ("minutes", f"{course.minutes(file)} min")]
    if needs[name]:
        words.insert(1, ("needs", f"needs {', '.join(sorted(needs[name], key=[*needs].index))}"))
    said = " ".join(f'<span class="{kind}">{escape(text)}</span>' for kind, text in words)
    return f'<a href="{escape(address)}" data-page="{name}" style="{seat}"><b>{name}</b> {said}{arrows}</a>'


def drawing(pages, address):
    """The map as a grid of links for each part; ``address`` gives the link to a file.

    Raises ValueError that names pages without a seat, or seats without a page.
    """
    needs = needs_of(pages)
    for layout in LAYOUTS.values():
        if other := needs.keys() ^ seats(layout).keys():
            raise ValueError(
                "expected a seat for each page of course.yml in course_map.py, and no other: "
                f"{sorted(other)}"
            )
    boxes = dict.fromkeys(DESK, "")
    for file in pages:
        part, _, _ = seats(DESK)[name_of(file)]
        boxes[part] += box(file, needs, address(file))
    parts = "".join(
        f'<div class="part"><p>{escape(course.PARTS[part])}</p><div class="boxes">{own}</div></div>'
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
        return [nodes.raw("", drawing(pages, lambda file: f"{up}{file}.html"), format="html")]


def setup(app):
    app.add_directive("course-map", Map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
