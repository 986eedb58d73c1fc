"""What needs what: the statements that the proof of each statement refers to.

The directive ``needs`` draws them on the page of the ledger and lists them below. A statement of
ours without a proof, or proofs that need each other, end the build.
"""

from graphlib import CycleError, TopologicalSorter
from html import escape

import course
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

STEP, BASE, STEEP = 6, 240, 1.2
"""Of the drawing: statements stand so far apart on a line so far down, and an arc is so much steeper
than a circle."""


def read(statements, numbers):
    """id → the ids of the ``numbers`` that its proof refers to: none of a definition.

    Raises ValueError that names a statement marked [ours] without a proof, or proofs in a circle.
    """
    unproved = [each.id for each in statements if each.mark == "ours" and not each.proof]
    if unproved:
        raise ValueError(
            f"expected a proof below every statement [ours], found none of {', '.join(unproved)}"
        )
    needs = {label: set() for label in numbers}
    needs |= {each.id: {*each.needs} & {*numbers} for each in statements}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = " needs ".join(reversed(error.args[1]))
        raise ValueError(f"expected proofs that end somewhere, found a circle: {circle}") from error
    return needs


def beneath(needs, label):
    """All statements that a proof stands on, its own needs and theirs."""
    return needs[label].union(*(beneath(needs, other) for other in needs[label]))


def drawing(needs, numbers, places):
    """An arc from every statement to each that needs it, as SVG. ``numbers`` and ``places`` give
    the number of an id, in the order of the book, and the address of its page."""
    order = [label for label in numbers if label in needs]
    at = {label: STEP * (k + 1) for k, label in enumerate(order)}
    wide = STEP * (len(order) + 1)
    arcs, marks, names, chapters, parts = [], [], [], {}, {}
    for label in order:
        chapters.setdefault(numbers[label].split()[1].split(".")[0], []).append(at[label])
        parts.setdefault(course.PARTS[places[label].split("/")[0]], []).append(at[label])
        dot = "def" if label.startswith("def-") else "dot"
        marks.append(
            f'<a href="{escape(places[label])}#{label}" data-id="{label}"><title>{numbers[label]}</title>'
            f'<rect x="{at[label] - STEP / 2:g}" y="{BASE - 8}" width="{STEP}" height="16"/>'
            f'<circle class="{dot}" cx="{at[label]}" cy="{BASE}" r="2.5"/></a>'
        )
        for other in sorted(needs[label], key=order.index):
            half = (at[label] - at[other]) / 2
            arcs.append(
                f'<path data-from="{other}" data-to="{label}" d="M{at[other]} {BASE} '
                f'A{abs(half):g} {min(abs(half) * STEEP, BASE - 8):g} 0 0 {int(half > 0)} {at[label]} {BASE}"/>'
            )
    for chapter, along in chapters.items():
        names.append(
            f'<text x="{(along[0] + along[-1]) / 2:g}" y="{BASE + 30}">{chapter}</text>'
            f'<path class="chapter" d="M{along[0] - 2} {BASE + 12} H{along[-1] + 2}"/>'
        )
    for part, along in parts.items():
        number, name = part.split(" · ")
        names.append(
            f'<text class="part" x="{along[0] - 2}" y="{BASE + 62}">{number}<tspan> · {name}</tspan></text>'
            f'<path class="chapter" d="M{along[0] - 2} {BASE + 42} H{along[-1] + 2}"/>'
        )
    lit = "".join(
        f'.needs-map svg:has(a[data-id="{label}"]:is(:hover, :focus-visible)) '
        f'path:is([data-from="{label}"], [data-to="{label}"]) {{ opacity: 1; stroke-width: 2.2; }}'
        for label in order
    )
    return (
        f'<figure class="proof-map needs-map"><style>{lit}</style>'
        f'<svg viewBox="0 0 {wide} {BASE + 70}" role="group" fill="currentColor" '
        f'aria-labelledby="needs-title needs-desc" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="needs-title">What needs what</title><desc id="needs-desc">A dot for every '
        f"statement and a ring for every definition, from chapter 1 to 16, and an arc from each to "
        f"those whose proofs refer to it. The list below says the same.</desc><style>"
        f".needs-map path {{ fill: none; stroke: currentColor; opacity: 0.45; }}"
        f".needs-map .chapter {{ opacity: 1; }}"
        f".needs-map rect {{ fill: transparent; }} .needs-map a {{ color: inherit; }}"
        f".needs-map .def {{ fill: none; stroke: currentColor; }}"
        f".needs-map text {{ font-family: var(--mha-face, sans-serif); font-size: 14px; text-anchor: middle; }}"
        f".needs-map .part {{ font-weight: 600; text-anchor: start; }}"
        f"@media (max-width: 600px) {{ .needs-map text {{ font-size: 20px; }} "
        f".needs-map .part {{ font-size: 26px; }} .needs-map tspan {{ display: none; }} }}</style>"
        f"{''.join(arcs)}{''.join(marks)}{''.join(names)}</svg></figure>"
    )


def said(needs, numbers):
    """What the drawing shows, in words: on what every proof stands, if it stands on others."""
    order = [label for label in numbers if label in needs]
    lines = []
    for label in order:
        if needs[label]:
            own = ", ".join(f"{{prf:ref}}`{one}`" for one in sorted(needs[label], key=order.index))
            further = len(beneath(needs, label) - needs[label])
            more = f", and through them {further} more" if further else ""
            lines.append(f"- {{prf:ref}}`{label}` needs {own}{more}.")
    return lines


class Needs(SphinxDirective):
    """The drawing and, folded below it, the list."""

    def run(self):
        from mhabook import ledger
        from mhabook.pages.numbers import CHAPTERS, NUMBERS

        try:
            needs = read(ledger, NUMBERS)
        except ValueError as error:
            raise self.error(f"{self.name}: {error}") from error
        places = {label: f"{chapter}.html" for label, chapter in CHAPTERS.items()}
        lines = said(needs, NUMBERS)
        listed = nodes.Element()
        head = f"````{{admonition}} The {len(lines)} proofs that refer to others"
        folded = StringList([head, ":class: dropdown", "", *lines, "````"], __file__)
        self.state.nested_parse(folded, self.content_offset, listed)
        return [nodes.raw("", drawing(needs, NUMBERS, places), format="html"), *listed.children]


def setup(app):
    app.add_directive("needs", Needs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
