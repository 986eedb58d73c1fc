"""Give each figure of the built book a picture that stands where no script runs: ``python
book/_ext/pictures.py``.

``livegrad.still`` draws it; what stands around a live figure, and how high a figure is on a phone,
its own JavaScript says (rooms.py). No browser is needed.
"""

import json
import re
import sys
from collections.abc import Sequence
from html import escape, unescape
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import alone
from rooms import Rooms

from livegrad import still

HTML = Path(__file__).parents[2] / "_build" / "html"
# What mhabook/_render.py and live/widget.py write.
FIGURE = re.compile(r'<figure\b[^>]* class="mha-(figure|fallback)".*?</figure>', re.DOTALL)
WORDS = re.compile(r'<p class="mha-alt"[^>]*>(.*?)</p>', re.DOTALL)
DRAWING = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
BOX = re.compile(r'(?<=<div class="mha-drawing" style=")([^"]*)">')
MARK = re.compile(r'data-fallback="(\w+)"')


def placed(html: str, rooms: Rooms) -> tuple[str, list[dict[str, Any]]]:
    """A page with a picture in each of its figures; and those that stand still, as plotly's dicts.

    Raises ValueError for a figure that cannot be drawn, or cannot train.
    """
    states = {state["spec"]["fallback"]: state for state in alone.figures(html)}
    numbers, quiet = count(), []

    def put(found: re.Match[str]) -> str:
        figure, drawing = found[0], json.loads(DRAWING.search(found[0])[1])
        svg = picture(drawing, next(numbers), unescape(WORDS.search(figure)[1]))
        if found[1] == "figure":
            quiet.append(drawing)
            return BOX.sub(rf'\1; --phone: {rooms.phone_height(drawing)}px">{svg}', figure)
        # A live figure has its words in the picture, and its drawing in its widget.
        state = states.get(MARK.search(figure)[1])
        shown = room(svg, **rooms.around(state)) if state else svg
        return DRAWING.sub("", figure).replace(WORDS.search(figure)[0], shown)

    return FIGURE.sub(put, html), quiet


def picture(drawing: dict[str, Any], number: int, alt: str) -> str:
    """A figure drawn as a part of a page: as wide as there is room, with alt text, and with names
    that no other has."""
    inside, high = still.contents(drawing, f"mha-picture-{number}")
    box = f'viewBox="0 0 {still.WIDTH} {high:g}"'
    return (
        f'<svg class="mha-picture" role="img" aria-label="{escape(alt)}" {box} {still.LOOK}>'
        f"{inside}</svg>"
    )


def room(picture: str, above: str, below: str, heights: Sequence[int]) -> str:
    """A picture with what stands around it in its live figure, for the eye alone and out of the
    keyboard's reach."""
    high = 'style="--desk: {}px; --phone: {}px" '.format(*heights)
    around = [
        f'<div class="mha-around" inert aria-hidden="true">{part}</div>' for part in (above, below)
    ]
    return picture.replace("<svg ", f"<svg {high}", 1).join(around)


def fill(folder: Path) -> int:
    """Give all pages of a built book their pictures; returns how many.

    Raises ValueError naming the page whose figure has none.
    """
    total = 0
    (folder / "figures").mkdir(exist_ok=True)
    with Rooms() as rooms:
        for path in sorted(folder.rglob("*.html")):
            html = path.read_text("utf-8")
            if not FIGURE.search(html) or 'class="mha-picture"' in html:
                continue
            try:
                made, quiet = placed(html, rooms)
            except ValueError as error:
                raise ValueError(f"{path.relative_to(folder)}: {error}") from error
            path.write_text(made, "utf-8")
            total += made.count('class="mha-picture"')
            # the page's menu of a figure says where it is (figure_menu.js)
            for number, drawing in enumerate(quiet, 1):
                file = folder / "figures" / f"{path.stem}-{number}.svg"
                file.write_text(still.picture(drawing), "utf-8")
    return total


def main() -> None:
    print(f"   {fill(HTML)} pictures")


if __name__ == "__main__":
    main()
