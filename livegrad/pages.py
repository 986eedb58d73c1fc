"""What is different where the pages of the book are made, which have no kernel behind them."""

import os


def book_is_asked() -> bool:
    """Is this run for the pages of the book? The environment says LIVEGRAD_FIGURES=book."""
    return os.environ.get("LIVEGRAD_FIGURES") == "book"


def alt_text(meta: object) -> str:
    """What ``layout.meta["alt"]`` says of a figure, given as that meta; "" where it says
    nothing."""
    return str((meta.get("alt") if isinstance(meta, dict) else None) or "").strip()


def require_alt_text(meta: object) -> str:
    """The same; a ValueError where it says nothing."""
    if not alt_text(meta):
        raise ValueError(
            'a figure of the book needs alt text: say in layout.meta["alt"] what it shows'
        )
    return alt_text(meta)
