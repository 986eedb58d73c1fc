"""The text that a page's code writes is MyST, as that of all pages; ``shown`` displays it wherever
the page is open."""

import re
from collections.abc import Iterable

from IPython.display import Markdown

from livegrad.pages import book_is_asked
from mhabook._address import repository, web_address
from mhabook.pages.numbers import CHAPTERS, NUMBERS, chapter_number

SORTABLE = re.compile(r"```\{container\} sortable\n(.*?)\n```", re.DOTALL)
BOX = re.compile(r"````\{admonition\} ([^\n]*)\n(?::[^\n]*\n)*\n(.*?)\n````", re.DOTALL)
LINK = re.compile(
    r'(?P<lead>\]\(|href=")(?P<page>[\w/.-]*?)(\.ipynb|\.html)?(?P<anchor>#[\w-]+)?(?=[)"])'
)
NUMBER = re.compile(r"\{prf:ref\}`([\w-]+)`")
MYST = re.compile(r"\{[a-z:]+\}`|^[`:]{3,}\{.*", re.MULTILINE)


def shown(text: str, page: str = "") -> Markdown:
    """Display a text in MyST: as it is for the built book, and ``plain`` where a reader runs the
    page."""
    return Markdown(text if book_is_asked() else plain(text, page))


def plain(text: str, page: str = "") -> str:
    """The same text in Markdown alone; links lead to the book on the web, those within the text to
    its ``page``.

    Raises ValueError for a role or a directive that no page has used so far.
    """
    web = f"{web_address(repository())}book/"
    text = SORTABLE.sub(r"\1", text).replace("<span data-filter>", "").replace("</span>", "")
    text = BOX.sub(lambda box: f"> **{box[1]}.** {box[2]}".replace("\n", "\n> "), text)
    text = LINK.sub(
        lambda link: f"{link['lead']}{web}{link['page'] or page}.html{link['anchor'] or ''}", text
    )
    text = NUMBER.sub(
        lambda role: f"[{NUMBERS[role[1]]}]({web}{CHAPTERS[role[1]]}.html#{role[1]})", text
    )
    if left := MYST.search(text):
        raise ValueError(
            f"text: expected roles and directives that mhabook.pages.text knows, got {left[0]!r}"
        )
    return text


def table(head: str, rows: Iterable[Iterable[str]]) -> str:
    """A table with these rows of cells; ``head`` is its first two lines."""
    lines = ("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |" for cells in rows)
    return "\n".join((head, *lines))


def sortable(text: str) -> str:
    """A table that the built page can sort, and filter by the columns whose head is a ``<span
    data-filter>``."""
    return f"```{{container}} sortable\n{text}\n```"


def to_section(chapter: str, section: str) -> str:
    """A link to a section of a chapter."""
    return f'<a href="{chapter}.html#{section}">chapter {chapter_number(chapter)}</a>'
