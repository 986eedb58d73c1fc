"""A course of a lecturer's own, made of the book's weeks: ``make kit COURSE=my.yml``.

The file says how the course is called, who gives it, and its weeks::

    course: Attention in theory, spring 2027
    by: Ada Example
    seed: 7
    weeks:
      - week: 1
        date: 12 April
      - week: 5
        title: Tilting
        lecture:
          - {minutes: 90, part: The whole, slides: [9/question, 9/idea]}

A week is one of the book, with its sheet and its quiz. What else it says, ``title``, ``aim``,
``lecture`` or ``live``, is written as in course.yml, and stands in place of what is there; its
``date`` stands on title slides. A part of a lecture may have ``proofs_in_notes``, ``add`` and
``if_late`` (deck.py). The ``seed`` draws the numbers of the last problems of each sheet.
"""

import re
from datetime import date
from pathlib import Path

import built
import course
import yaml

OF_THE_BOOK = {"course": "How Attention Learns", "by": "", "seed": 0}
CALLED = {
    str: "text",
    int: "a whole number",
    list: "a list",
    dict: "a mapping",
    bool: "true or false",
    (str, date): "a date or text",
}


def read(file):
    """The course that a file describes.

    Raises ValueError naming what the file has wrong, or has not.
    """
    said = loaded(file)
    expect(said, file, {"weeks": list}, {"course": str, "by": str, "seed": int})
    if said.get("seed", 0) < 0:
        raise ValueError(f"{file}: expected seed to be 0 or more, got {said['seed']}")
    require_some(said["weeks"], f"{file}: expected at least one entry below weeks, as - week: 1")
    weeks = [week_of(week, f"{file}, week {k}") for k, week in enumerate(said["weeks"], 1)]
    return OF_THE_BOOK | said | {"weeks": weeks}


def loaded(file):
    """What a file of YAML says."""
    try:
        return yaml.safe_load(Path(file).read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"{file}: cannot be read ({error.strerror}); give its path") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: expected text in UTF-8; save it as such") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "it"
        raise ValueError(
            f"{file}: {where} is no YAML ({getattr(error, 'problem', None) or error}); mind "
            "indentation, and quote a text that has a colon"
        ) from error


def week_of(week, where):
    """A week of the book with what a lecturer says of it in place of what is there."""
    book = course.course()["weeks"]
    own = {"title": str, "aim": str, "date": (str, date), "lecture": list, "live": list}
    expect(week, where, {"week": int}, own)
    if not 1 <= week["week"] <= len(book):
        raise ValueError(f"{where}: expected week: 1 to {len(book)}, got {week['week']}")
    found = book[week["week"] - 1] | week
    if "lecture" in week:
        some = f"{where}: expected at least one part below lecture"
        for k, part in enumerate(require_some(week["lecture"], some), 1):
            require_part(part, f"{where}, part {k} of lecture")
    shown = {name.split("/")[1] for part in found["lecture"] for name in part["slides"]}
    for item in week.get("live", ()):
        expect(item, f"{where}, live", {"page": str, "figure": str, "show": str}, {"first": bool})
        if item["figure"] not in shown:
            raise ValueError(
                f"{where}, live: no slide shows {item['figure']!r}; name it among the slides, as "
                "chapter/figure"
            )
    return found


# What may stand behind the name of a slide (deck.py).
BEHIND = {
    "add": re.compile(r"/(above|title|([2-9]/)?instead|proof(-[2-9]|/instead)?)$"),
    "if_late": re.compile("/proof$"),
}


def require_part(part, where):
    """Raise ValueError for a part of a lecture without minutes or slides, or with a slide of no
    page; deck.py names one that its page does not have."""
    more = {"proofs_in_notes": list, "add": dict, "if_late": list}
    expect(part, where, {"minutes": int, "part": str, "slides": list}, more)
    if part["minutes"] < 1:
        raise ValueError(f"{where}: expected minutes: 1 or more, got {part['minutes']}")
    for name in require_some(part["slides"], f"{where}: expected at least one of slides"):
        if not isinstance(name, str) or name.count("/") != 1:
            raise ValueError(f"{where}: expected slides such as 9/idea, got {name!r}")
        try:
            built.file_of(name.split("/")[0])
        except ValueError as error:
            raise ValueError(f"{where}, slide {name}: {error}") from error
    for key in more:
        for name in part.get(key, ()):
            slide = BEHIND[key].sub("", name) if key in BEHIND else name
            if slide not in part["slides"]:
                raise ValueError(f"{where}, {key}: expected one of its slides, got {name!r}")
    for name, said in part.get("add", {}).items():
        if not isinstance(said, str) or said.count("$") % 2:
            raise ValueError(
                f"{where}, add, {name}: expected text, with each formula between two $, got {said!r}"
            )


def require_some(entries, refusal):
    """The entries of a list, which has some."""
    if not entries:
        raise ValueError(refusal)
    return entries


def expect(said, where, needed, optional):
    """Raise ValueError where an entry is no mapping, lacks a key, or has one that is not known."""
    names, kinds = ", ".join([*needed, *optional]), needed | optional
    if not isinstance(said, dict):
        raise ValueError(f"{where}: expected {names}, got {said!r}")
    for key, value in said.items():
        if key not in kinds:
            raise ValueError(f"{where}: expected {names}, got {key!r}")
        # True and False are numbers to Python
        if isinstance(value, bool) != (kinds[key] is bool) or not isinstance(value, kinds[key]):
            raise ValueError(f"{where}: expected {key} to be {CALLED[kinds[key]]}, got {value!r}")
    for key in needed:
        if key not in said:
            raise ValueError(f"{where}: expected {key}, which is missing")
