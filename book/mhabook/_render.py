"""How a plotly figure becomes a part of a page of the book."""

import re
from html import escape

from livegrad.pages import book_is_asked, require_alt_text

HEIGHT = 450  # pixels, plotly's own


def figure_html(figure):
    """Write a figure, given as plotly's dict, as HTML from which the page draws it
    (book/_static/figures.js).

    Its alt text is `layout.meta["alt"]`. Its title becomes the caption above it: a caption wraps on
    a narrow screen, and plotly's title does not. Its box is as high as its drawing. Where no script
    runs, its alt text stands there; book/_ext/pictures.py puts its picture above that, which stands
    in a browser until plotly draws. Raises ValueError where the alt text is missing.
    """
    from plotly.io.json import to_json_plotly

    layout = figure.get("layout", {})
    alt, title = require_alt_text(layout.get("meta")), layout.get("title")
    title = title.get("text") if isinstance(title, dict) else title
    caption = f"<figcaption>{escape(title)}</figcaption>" if title else ""
    layout = _held({key: value for key, value in layout.items() if key != "title"})
    if title:
        layout["margin"] = layout.get("margin", {}) | {"t": 30}
    # to_json_plotly escapes <, > and /, so that no text of a figure can close the script element.
    drawing = to_json_plotly({**figure, "layout": layout})
    return (
        f'<figure class="mha-figure" role="group" aria-label="{escape(alt)}">{caption}'
        f'<div class="mha-drawing" style="height: {layout.get("height", HEIGHT)}px">'
        # The figure says the words to a reader who cannot see it, and the paragraph to one who can.
        f'<noscript><p class="mha-alt" aria-hidden="true">{escape(alt)}</p></noscript></div>'
        f'<script type="application/json">{drawing}</script></figure>'
    )


def _held(layout):
    """A layout whose figure does not zoom under a pointer that is pulled over it; a finger scrolls
    the page."""
    axes = {
        name: {**axis, "fixedrange": True}
        for name, axis in layout.items()
        if re.fullmatch(r"[xy]axis\d*", name)
    }
    return {**layout, **axes, "dragmode": False}


def use_book_renderer_if_asked():
    """Make figures display as the book needs them, where the book is what is asked for."""
    if not book_is_asked():
        return
    # Imported only where it is needed: plotly takes long to import.
    import plotly.io
    from plotly.io.base_renderers import MimetypeRenderer

    class BookRenderer(MimetypeRenderer):
        """Display a figure as one piece of HTML."""

        def to_mimebundle(self, fig_dict):
            return {"text/html": figure_html(fig_dict)}

    plotly.io.renderers["book"] = BookRenderer()
    plotly.io.renderers.default = "book"
