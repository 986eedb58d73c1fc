"""A course of a lecturer's own, made of the book's weeks: ``make kit COURSE=my.yml``.

The file says how the course is called, who gives it, and its weeks::

    course: Attention in theory, spring 2027
    by: Ada Example
    weeks:
      - week: 1
      - week: 5
        title: Tilting
        lecture:
          - {minutes: 90, part: The whole, slides: [9/question, 9/idea]}

A week is one of the book, with its sheet and its quiz. What else it says, ``title``, ``aim``,
``lecture`` or ``live``, is written as in course.yml, and stands in place of what is there.
"""

from pathlib import Path

import course
import yaml

OF_THE_BOOK = {"course": "How Attention Learns", "by": ""}


def read(file):
    """The course that a file describes.

    Raises ValueError for what is missing or not known.
    """
    said, book = yaml.safe_load(Path(file).read_text("utf-8")), course.course()["weeks"]
    expect(said, file, {"weeks": list}, {"course": str, "by": str})
    weeks = []
    for k, week in enumerate(said["weeks"], 1):
        where = f"{file}, week {k}"
        expect(
            week, where, {"week": int}, {"title": str, "aim": str, "lecture": list, "live": list}
        )
        if not 1 <= week["week"] <= len(book):
            raise ValueError(f"{where}: expected week: 1 to {len(book)}, got {week['week']}")
        for part in week.get("lecture", ()):
            expect(part, f"{where}, lecture", {"minutes": int, "part": str, "slides": list}, {})
        for item in week.get("live", ()):
            expect(item, f"{where}, live", {"page": str, "figure": str, "show": str}, {})
        weeks.append(book[week["week"] - 1] | week)
    return OF_THE_BOOK | said | {"weeks": weeks}


def expect(said, where, needed, optional):
    """Raise ValueError where an entry is no mapping, lacks a key, or has one that is not known."""
    names = ", ".join([*needed, *optional])
    if not isinstance(said, dict) or not said.keys() <= needed.keys() | optional.keys():
        found = ", ".join(map(str, said)) if isinstance(said, dict) else repr(said)
        raise ValueError(f"{where}: expected {names}, got {found}")
    for key, kind in needed.items() | optional.items():
        if key in needed and key not in said:
            raise ValueError(f"{where}: expected {key}, which is missing")
        if key in said and not isinstance(said[key], kind):
            raise ValueError(f"{where}: expected {key} to be a {kind.__name__}, got {said[key]!r}")
