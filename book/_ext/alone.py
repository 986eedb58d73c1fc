"""Write a page for each live figure of the built book, of that figure alone: ``python
book/_ext/alone.py``.

They are for slides and for frames in other pages: ``_build/html/figures/NAME.html``, each with all
that it needs.
"""

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from livegrad.live.widget import alone

HTML = Path(__file__).parents[2] / "_build" / "html"
STATES = re.compile(
    r'<script[^>]* type="application/vnd\.jupyter\.widget-state\+json"[^>]*>(.*?)</script>',
    re.DOTALL,
)


def figures(html: str) -> Iterator[dict[str, Any]]:
    """The states of the live figures of a page, each with its whole code."""
    for states in map(json.loads, STATES.findall(html)):
        models = {key: model["state"] for key, model in states["state"].items()}
        for state in models.values():
            if "name" in state.get("spec", {}):
                code = state["_esm"]
                yield state | {
                    "_esm": code if isinstance(code, str) else models[code["as"]]["_esm"]
                }


def write(folder: Path) -> int:
    """Write the pages of a built book's live figures; returns how many.

    Raises ValueError if two figures that differ have one name.
    """
    (folder / "figures").mkdir(exist_ok=True)
    made = {}
    for page in sorted((folder / "book").rglob("*.html")):
        for state in figures(page.read_text("utf-8")):
            spec = state["spec"]
            text = alone(spec, state["values"], state["_esm"], without_scripts(spec))
            if made.setdefault(spec["name"], text) != text:
                raise ValueError(
                    f"{page.stem}: another live figure has the title {spec['title']!r}; choose a "
                    f"new one"
                )
            (folder / "figures" / f"{spec['name']}.html").write_text(text, "utf-8")
    return len(made)


def without_scripts(spec: dict[str, Any]) -> str:
    """The title and the alt text of a figure, for where no script runs."""
    title, words = map(escape, (spec["title"], spec["figure"]["layout"]["meta"]["alt"]))
    return f"<noscript><p>{title}</p><p>{words}</p></noscript>"


def main() -> None:
    print(f"   {write(HTML)} live figures, each on a page of its own")


if __name__ == "__main__":
    main()
