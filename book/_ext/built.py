"""Parts of the built book for what is made from it: slides and sheets (kit.py).

A part is named by its page and by what stands there: ``3/def-ntk``,
``softmax/three-scores-three-weights``.
"""

import re
from copy import copy
from functools import cache
from pathlib import Path
from posixpath import normpath, relpath
from urllib.parse import urlsplit

import course
from bs4 import BeautifulSoup

HTML = Path(__file__).parents[2] / "_build" / "html"
# What a page has for its readers alone: fields, code bars, menus, links to the place itself, what
# scripts fill.
OF_THE_PAGE = (
    ".headerlink, .mha-guessed, .mha-guesses, .mha-exercise, .mha-idea figcaption, "
    ".mha-to-figure, script, noscript, summary, .tag_remove-input > .cell_input, .tag_hide-input details, "
    ".tag_hide-cell"
)


@cache
def page(file):
    """The article of a built page, such as ``book/start/softmax``."""
    return article_of((HTML / f"{file}.html").read_text("utf-8"))


def article_of(text):
    """The article in the HTML of a page; what surrounds it holds megabytes of figures."""
    article = text[text.index("<article") : text.index("</article>")]
    return BeautifulSoup(article, "html.parser").find("article")


@cache
def file_of(name):
    """The page that a number of a chapter, or the name of an opening page, stands for, and the
    further page of a chapter: ``4-further``.

    Raises ValueError where there is no such page.
    """
    chapter = name.removesuffix("-further")
    for file in course.course()["pages"]:
        if name in (course.number(file), Path(file).name):
            return file
        further = f"{Path(file).parent.as_posix()}/{chapter:0>2}_further"
        if chapter == course.number(file) != name and (HTML / f"{further}.html").exists():
            return further
    raise ValueError(
        f"expected the number of a chapter or the name of an opening page, got {name!r}"
    )


def element(name, label):
    """The element of a page with this id.

    Raises ValueError where the page has none.
    """
    found = page(file_of(name)).find(id=label)
    if found is None:
        raise ValueError(f"{name}/{label}: the page {file_of(name)} has no such part")
    return found


def section(name, beginning):
    """The first section of a page whose id begins so."""
    found = page(file_of(name)).find("section", id=re.compile(f"^{beginning}"))
    if found is None:
        raise ValueError(f"{name}/{beginning}: the page {file_of(name)} has no such section")
    return found


def taken(part, file, start):
    """A copy of a part of the page ``file`` for a page in the folder ``start``, without what is for
    readers of the page alone; its links lead to where they led."""
    part = copy(part)
    for each in part.select(OF_THE_PAGE):
        each.decompose()
    for key in ("href", "src"):
        for each in part.find_all(attrs={key: True}):
            each[key] = moved(each[key], file, start)
            if key == "href":
                each["target"] = "_blank"
    return part


def moved(address, file, start):
    """A link of the page ``file``, as it reads in the folder ``start``."""
    if urlsplit(address).scheme:
        return address
    there = (
        f"{file}.html{address}"
        if address.startswith("#")
        else normpath(f"{Path(file).parent}/{address}")
    )
    return relpath(there, start)


def sheet(k):
    """The section of sheet ``k`` on the page of sheets."""
    return page(course.SHEETS).find(id=f"sheet-{k}").find_parent("section")
