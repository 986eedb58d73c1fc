"""Elements of an SVG, and words in it."""

from html import escape

# The drawing is narrow and its letters are large, in pixels: on a phone it shrinks by a third and must stay readable.
WIDTH, FONT, LETTER, LINE = 540, 16, 9, 23


def text(x, y, words, **attributes):
    """Write words at a place; without words nothing."""
    return tag("text", escape(words), x=px(x), y=px(y), **attributes) if words else ""


def tag(name, content="", **attributes):
    """Write an element; ``stroke_width`` becomes stroke-width, and ``class_`` class."""
    words = (f' {key.strip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items())
    opening = f"<{name}{''.join(words)}"
    return f"{opening}>{content}</{name}>" if content else f"{opening}/>"


def px(value):
    """Write pixels with one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def width_of(ticks):
    """Estimate the pixels of the longest label, with a gap."""
    return LETTER * (1 + max((len(words) for _, words in ticks), default=0))


def text_of(title):
    """Give the words of a title, which plotly holds as a string or as {text}."""
    return str((title.get("text") if isinstance(title, dict) else title) or "")
