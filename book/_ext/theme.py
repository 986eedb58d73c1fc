"""Leave out of pages what their theme loads and no reader of them needs, so that their figures come
sooner.

Icons are set when the pages are made, as Font Awesome's script would set them in the reader's
browser: of its 1.5 MB a page shows a dozen shapes. The index of the search is for the page of the
search alone. Other scripts wait until the page has been read.
"""

import json
import re
from html import escape

from py_mini_racer import MiniRacer
from sphinx.errors import ExtensionError

SCRIPT = "_static/scripts/fontawesome.js"
LOADED = r'\s*<script[^>]* src="[^"]*(?:{})\.js[^"]*"></script>'
OF_ICONS, OF_SEARCH = (
    re.compile(LOADED.format(names))
    for names in ("fontawesome", "searchtools|language_data|searchindex")
)
ICON = re.compile(r'<(i|span) class="([^"]*\bfa-[^"]*)"([^>]*)></\1>')
TITLE = re.compile(r' title="([^"]*)"')
STYLES = {
    "fas": "fas",
    "fa-solid": "fas",
    "fab": "fab",
    "fa-brands": "fab",
    "far": "far",
    "fa-regular": "far",
}
# These alone run before the page has been read: what an inline script goes on with, and what shows
# figures meanwhile.
AT_ONCE = "documentation_options|figures|live|vendor/"
WAITING = re.compile(rf"""<script (?=[^>]*\bsrc=")(?![^>]*(?:\bdefer\b|\basync\b|{AT_ONCE}))""")


FOLD = '<summary><span class="toctree-toggle"'


class Icons:
    """The shapes of Font Awesome."""

    def __init__(self, script: str) -> None:
        context = MiniRacer()
        context.eval(f"globalThis.window = globalThis;\n{script}\n0")
        styles = json.loads(context.eval("JSON.stringify(___FONT_AWESOME___.styles)"))
        # The third entry of a shape lists other names of it, or their numbers.
        self.shapes = {
            style: shapes | {other: shape for shape in shapes.values() for other in shape[2]}
            for style, shapes in styles.items()
        }

    def set(self, icon: re.Match[str]) -> str:
        """An icon as its shape.

        Raises ExtensionError for one that Font Awesome does not have.
        """
        names, rest = icon[2].split(), icon[3]
        style = next((STYLES[name] for name in names if name in STYLES), None)
        name = next((name[3:] for name in names if name[3:] in self.shapes.get(style, ())), None)
        if name is None:
            raise ExtensionError(f"expected an icon of Font Awesome, got {icon[0]}")
        width, height, *_, path = self.shapes[style][name]
        title = TITLE.search(rest)
        words = f"<title>{title[1]}</title>" if title else ""
        kept = " ".join(["svg-inline--fa", *(each for each in names if each not in STYLES)])
        rest = TITLE.sub("", rest) + (
            "" if title or "aria-hidden" in rest else ' aria-hidden="true"'
        )
        return (
            f'<svg class="{kept}"{rest} role="img" viewBox="0 0 {width} {height}">{words}'
            f'<path fill="currentColor" d="{escape(path)}"/></svg>'
        )


def lightened(html, icons):
    """A page with its icons set and, unless it is that of the search, scripts that wait until it
    has been read.

    What unfolds the pages below a chapter, in the side bar, gets a name.
    """
    html = ICON.sub(icons.set, OF_ICONS.sub("", html))
    html = html.replace(FOLD, FOLD.replace("<summary>", '<summary aria-label="Further pages">'))
    return (
        html
        if 'id="search-results"' in html
        else WAITING.sub("<script defer ", OF_SEARCH.sub("", html))
    )


def lighten(app, fault):
    """Lighten all pages."""
    if fault is not None or app.builder.format != "html":
        return
    icons = Icons((app.outdir / SCRIPT).read_text("utf-8"))
    for path in app.outdir.rglob("*.html"):
        html = path.read_text("utf-8")
        if SCRIPT in html:
            path.write_text(lightened(html, icons), "utf-8")


def setup(app):
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
