"""How a plotly figure becomes a part of a page of the book."""

import os
from html import escape
from itertools import count

_numbers = count(1)


def figure_html(figure):
    """Write a figure, given as plotly's dict, as HTML that draws with the page's own plotly.js.

    Its alt text is `layout.meta["alt"]`. Its title becomes the caption above it: a caption wraps on a narrow screen,
    and plotly's title does not.
    Its id counts the displays of the notebook, so that the same notebook always gives the same page.
    Raises ValueError where the alt text is missing.
    """
    import plotly.io

    alt, caption = _words(figure)
    layout = {key: value for key, value in figure["layout"].items() if key != "title"}
    drawing = plotly.io.to_html(
        {**figure, "layout": layout},
        config={"displayModeBar": False, "responsive": True},  # its buttons cover legends, and one uploads the data
        auto_play=False,  # frames wait for the reader's hand
        include_plotlyjs=False,
        include_mathjax=False,
        full_html=False,
        div_id=f"mha-figure-{next(_numbers)}",
    )
    return (
        f'<figure class="mha-figure" role="group" aria-label="{escape(alt)}">{caption}{drawing}'
        f"<noscript><p>{escape(alt)}</p></noscript></figure>"
    )


def _words(figure):
    """Take the alt text, which must be there, and the title as a caption element, which may be empty."""
    layout = figure.get("layout", {})
    meta = layout.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    alt = str(meta.get("alt") or "").strip()
    if not alt:
        raise ValueError('a figure of the book needs alt text: say in layout.meta["alt"] what it shows')
    title = layout.get("title")
    title = title.get("text") if isinstance(title, dict) else title
    return alt, f"<figcaption>{escape(title)}</figcaption>" if title else ""


def use_book_renderer_if_asked():
    """Make figures display as the book needs them, where the environment says MHALIB_FIGURES=book."""
    if os.environ.get("MHALIB_FIGURES") != "book":
        return
    import plotly.io
    from plotly.io.base_renderers import MimetypeRenderer

    class BookRenderer(MimetypeRenderer):
        """Display a figure as one piece of HTML."""

        def to_mimebundle(self, fig_dict):
            return {"text/html": figure_html(fig_dict)}

    plotly.io.renderers["book"] = BookRenderer()
    plotly.io.renderers.default = "book"
