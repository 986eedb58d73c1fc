"""Beside a guess that was drawn stands the result: the line of the page's own figure that
``curve`` names in its ``questions.yml``."""

import json
import re
from base64 import b64decode
from html import unescape

import numpy as np
from bookext import FIGURE

RESULT = re.compile(r'<path class="mha-result" data-line="([^"]+)" data-at="([^"]+)"/>')


def draw_results(app, pagename, templatename, context, doctree):
    """Draw the line of the page's own figure that is the result into each copy beside it."""
    body = context.get("body", "")
    context["body"] = RESULT.sub(
        lambda found: drawn(*map(unescape, found.groups()), body[: found.start()]), body
    )


def drawn(name, at, above):
    """The last line of that name above, between the points, in its own color. Raises ValueError
    where there is none."""
    lines = [
        line
        for figure in FIGURE.finditer(above)
        for line in json.loads(figure[2])["data"]
        if line.get("name") == name
    ]
    if not lines:
        raise ValueError(
            f"a curve in questions.yml: expected the name of a line in a figure above, got {name!r}"
        )
    x, y = (
        np.frombuffer(b64decode(lines[-1][axis]["bdata"]), lines[-1][axis]["dtype"])
        for axis in "xy"
    )
    at = np.array(at.split(), dtype=float)
    if at[0] > 0:  # between two points as on a logarithmic axis
        at, x = np.log(at), np.log(x)
    columns = np.linspace(0.5, len(at) - 0.5, 6 * len(at) - 5)
    known = np.isfinite(x)
    values = np.interp(np.interp(columns, np.arange(len(at)) + 0.5, at), x[known], y[known])
    points = "L".join(
        f"{column:.4g} {-value:.3g}" for column, value in zip(columns, values, strict=True)
    )
    return f'<path class="mha-result" style="stroke: {lines[-1]["line"]["color"]}" d="M{points}"/>'


# On the page of a class the result of a guess, before and after it is drawn.
OF_A_CLASS = re.compile(r'<path class="mha-result" data-of="([\w-]+)"[^>]*/>')


def place_of(name):
    """Where the result of a guess is drawn on the page of a class."""
    return f'<path class="mha-result" data-of="{name}"/>'


def draw_for_a_class(folder, file, homes):
    """Draw each result into the page of a class as it stands on the page of its guess, in a folder
    of built pages; ``homes``: group of guesses → its page.

    Raises ValueError where a page has no result.
    """

    def result(found):
        name = found[1]
        page = (folder / f"{homes[name.rpartition('-')[0]]}.html").read_text("utf-8")
        _, there, after = page.partition(f'id="said-{name}"')
        line = re.search(r'<path class="mha-result" (style="[^"]*" d="[^"]*")/>', after)
        if not (there and line):
            raise ValueError(f"the page of {name}: expected the result of this guess, found none")
        return f'<path class="mha-result" data-of="{name}" {line[1]}/>'

    path = folder / f"{file}.html"
    path.write_text(OF_A_CLASS.sub(result, path.read_text("utf-8")), "utf-8")
