"""Text for a console that may not have every character: where a ``repr`` has an arrow or a Greek
letter, ``print`` of it is not to raise UnicodeEncodeError."""

import sys
import unicodedata
from functools import wraps
from typing import TypeVar

Kind = TypeVar("Kind", bound=type)

PLAIN = {
    **{"→": "->", "≤": "<=", "≥": ">=", "−": "-", "–": "-", "·": "*", "×": "x", "…": "..."},
    **{"√": "sqrt ", "∇": "grad ", "‖": "|", "²": "^2", "½": "1/2", "∞": "infinity"},
    # as Unicode does not spell it
    **{"λ": "lambda", "Λ": "Lambda"},
}
"""Character → what stands for it; other Greek letters are written out."""


def printable(text: str) -> str:
    """The text as standard output can print it: as it is, where that has all its characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        said = "".join(PLAIN.get(c) or _letter(c) for c in text)
        return said.encode(encoding, "backslashreplace").decode(encoding)


def _letter(c):
    script, _, named = unicodedata.name(c, "").partition(" ")
    size, _, letter = named.partition(" LETTER ")
    if script != "GREEK" or not letter:
        return c
    return letter.lower() if size == "SMALL" else letter.title()


def printed(kind: Kind) -> Kind:
    """Decorate a class whose objects are printed: the text of its ``repr`` is ``printable``."""
    text = kind.__repr__

    @wraps(text)
    def said(self):
        return printable(text(self))

    kind.__repr__ = said  # type: ignore[method-assign]
    return kind
