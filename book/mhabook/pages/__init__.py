"""What the book's reference pages print: a file for each page, and ``shown``, which displays its
text."""

from mhabook.pages.text import shown

__all__ = ["shown"]
