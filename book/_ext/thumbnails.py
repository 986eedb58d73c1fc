"""Small pictures of the pages of the course, for the map and the first page.

Each is a panel of a drawing that a chapter has (``mhabook.*.idea``), without its words: an SVG file
for light pages and one for dark ones, which a browser fetches when they come near.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

STATIC = Path(__file__).parents[1] / "_static"
WIDTH, HEIGHT = 90, 60
INK = {
    "light": {"text": "#222832", "background": "#fff"},
    "dark": {"text": "#ced6dd", "background": "#121212"},
}
"""Theme → the colors of the theme, beside the book's own."""
PANEL = re.compile(r'<svg viewBox="[^"]*"[^>]*>(.*?)</svg>', re.DOTALL)
# Words, which cannot be read at this size, and what changes nothing.
LEFT_OUT = re.compile(
    r'<text.*?</text>|(?<=\d)\.0(?!\d)| fill="none"| stroke-dasharray=""| opacity="1"', re.DOTALL
)
COLOR = re.compile(r"var\(--(?:mha|pst-color)-(\w+), (?:[^()]|\([^()]*\))*\)|(currentColor)")
PATH = re.compile(r'(?<= d="M)[^"MZ]{400,}(?=")')


class Idea(NamedTuple):
    """A panel of a drawing, and the part of it that is shown: left, top, width and height."""

    chapter: str
    drawing: str
    panel: int
    view: tuple[int, int, int, int] = (0, 18, 260, 173)


LOOK_EVERYWHERE = Idea("c01_model", "first_the_decoder", 0)
LOOK_AT_ONE = Idea("c01_model", "first_the_decoder", 2)
SHIFTED = Idea("c09_tilting", "bell_times_exponential", 2)
NEAREST = Idea("c12_two_kernels", "product_and_distance", 1)
IDEAS = {
    "softmax": (Idea("c12_two_kernels", "three_keys", 0),),
    "descent": (Idea("c10_structure", "landscape", 0), Idea("c10_structure", "landscape", 1)),
    "tangent": (Idea("c02_curvature", "slope_times_bend", 0),),
    "1": (LOOK_EVERYWHERE, LOOK_AT_ONE),
    "2": (Idea("c02_curvature", "slope_times_bend", 2),),
    "3": (Idea("c03_first_step", "margin_by_pythagoras", 2, (42, 36, 210, 140)),),
    "4": (Idea("c04_convergence", "downhill_leads_there", 2),),
    "5": (Idea("c05_heads", "equal_heads", 2),),
    "6": (Idea("c06_planted", "hidden_head", 0, (0, 27, 212, 141)),),
    "7": (Idea("c07_generalization", "leave_one_out", 0, (40, 22, 230, 153)),),
    "8": (Idea("c08_digits", "many_short_moves", 0), Idea("c08_digits", "many_short_moves", 1)),
    "9": (Idea("c09_tilting", "bell_times_exponential", 0), SHIFTED),
    "10": (Idea("c10_structure", "stretched_tokens", 1),),
    "11": (Idea("c11_data_and_compute", "two_budgets", 0),),
    "12": (
        Idea("c12_two_kernels", "product_and_distance", 2),
        Idea("c12_two_kernels", "product_and_distance", 0),
        NEAREST,
    ),
    "13": (Idea("c13_layer", "lines_of_targets", 1),),
    "14": (Idea("c14_traps", "between", 1, (-8, 11, 276, 184)),),
    "15": (Idea("c15_landscapes", "one_saddle", 0),),
    "16": (Idea("c16_networks", "pairs", 1, (27, 27, 210, 140)),),
    "17": (LOOK_AT_ONE, SHIFTED, NEAREST),
}
"""Name of a page → its pictures; where there is room for one, the last is shown. The opening pages and
the laboratory have no drawings: theirs are of chapters that they lead to, or build on."""


def file_of(idea, theme):
    """The name of the file of a picture."""
    return f"{idea.drawing}-{idea.panel}-{theme}.svg"


def svg(idea, theme):
    """A picture as a file of its own, with the colors that pages of this theme have."""
    drawn = getattr(import_module(f"mhabook.{idea.chapter}.idea"), idea.drawing)().data
    inside = LEFT_OUT.sub("", PANEL.findall(drawn)[idea.panel])
    sheet = (STATIC / "book.css").read_text("utf-8")
    own = re.search(rf'html\[data-theme="{theme}"\] {{ --mha-.*', sheet)[0]
    colors = INK[theme] | dict(re.findall(r"--mha-(\w+): (#\w+)", own))
    inside = COLOR.sub(lambda color: colors[color[1] or "text"], PATH.sub(thinned, inside))
    view = " ".join(map(str, idea.view))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" fill="none">{inside}</svg>'


def thinned(path):
    """Every fourth point of a long line, and its last."""
    points = path[0].split("L")
    return "L".join([*points[:-1:4], points[-1]])


def images(ideas, up):
    """Pictures for a page from which ``up`` leads to the first folder. They have no alt text, because
    a title stands beside them."""
    return "".join(
        f'<img class="mha-thumbnail only-{theme}" src="{up}_static/ideas/{file_of(idea, theme)}" alt="" '
        f'width="{WIDTH}" height="{HEIGHT}" loading="lazy">'
        for idea in ideas
        for theme in INK
    )


def write(app):
    """Write all files."""
    folder = Path(app.outdir) / "_static" / "ideas"
    folder.mkdir(parents=True, exist_ok=True)
    for idea in {idea for ideas in IDEAS.values() for idea in ideas}:
        for theme in INK:
            (folder / file_of(idea, theme)).write_text(svg(idea, theme), "utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
