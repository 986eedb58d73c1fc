"""Words of a picture: plotly's marks (``<sup>``, ``<sub>``, ``<b>``, ``<i>``, ``<br>``) in SVG, and
how wide they are."""

import re
from collections.abc import Iterator
from html import escape, unescape

SIZE = 12  # pixels, plotly's own
TITLE = 14  # of the letters of a title
LINE = 1.3  # from one line to the next, in sizes of a letter
SMALL = 0.7  # of a letter that is raised or lowered, in sizes of a letter
# By how much such a letter is moved down, in sizes of a letter.
MOVED = {"sup": -0.6, "sub": 0.3}
MARK = re.compile(r"<(/?)(\w+)[^>]*>")
# Hundredths of a letter's size, in DejaVu Sans, which is as wide as Verdana and wider than Arial:
# what fits there fits everywhere.
WIDTHS = {
    30: " ,.'IJijl\u202f",
    37: "-/:;|()[]ι",
    42: "!frt",
    50: "*_`sz",
    57: "?LcΓεζ",
    60: "FPTYaekovxyδθκλνπτχ",
    70: "ABCRVXZΔΛ",
    77: "DGHNUΠΩ‖",
    84: "#+<=>MOQΦω~−≤≥≈→←",
    98: "%@Wm",
}
WIDTH = {letter: width for width, letters in WIDTHS.items() for letter in letters}


def plain(words: str) -> str:
    """Words without plotly's marks."""
    return unescape(MARK.sub(" ", str(words))).strip()


def pieces(line: str) -> Iterator[tuple[str, str]]:
    """(mark, words) of a line: "sup", "sub", "b", "i", or "" for what has none."""
    mark, end = "", 0
    for found in MARK.finditer(line):
        yield mark, unescape(line[end : found.start()])
        mark, end = "" if found[1] else found[2], found.end()
    yield mark, unescape(line[end:])


def lines(words: str) -> list[str]:
    """The lines of words, where plotly breaks them."""
    return re.split(r"<br\s*/?>", str(words))


def width(words: str, size: float = SIZE) -> float:
    """How many pixels words take, about: nothing here measures letters."""
    longest = 0.0
    for line in lines(words):
        shares = (
            (SMALL if mark in MOVED else 1) * sum(WIDTH.get(letter, 63) for letter in said)
            for mark, said in pieces(line)
        )
        longest = max(longest, sum(shares) * size / 100)
    return longest


def written(
    words: str,
    x: float,
    y: float,
    anchor: str = "middle",
    size: float = SIZE,
    turned: bool = False,
    color: str = "",
) -> str:
    """Words at a place, the last of several lines at y; turned ones are read from below."""
    said = lines(words)
    if not plain(words):
        return ""
    look = "" if anchor == "start" else f' text-anchor="{anchor}"'
    look += "" if size == SIZE else f' font-size="{size:g}"'
    look += f' fill="{color}"' if color else ""
    look += f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    parts = []
    for k, line in enumerate(said):
        up = y - (len(said) - 1 - k) * LINE * size
        parts.append(f'<text x="{x:.1f}" y="{up:.1f}"{look}>{"".join(spans(line, size))}</text>')
    return "".join(parts)


def spans(line: str, size: float) -> Iterator[str]:
    """The pieces of a line, those that are raised or lowered smaller than the others."""
    back = 0.0
    for mark, said in pieces(line):
        if not said:
            continue
        if mark in MOVED:
            down = MOVED[mark] * size
            yield f'<tspan dy="{down + back:.1f}" font-size="{SMALL * size:.3g}">{escape(said)}</tspan>'
            back = -down
            continue
        style = {"b": ' font-weight="bold"', "i": ' font-style="italic"'}.get(mark, "")
        moved = f' dy="{back:.1f}"' if back else ""
        yield f"<tspan{moved}{style}>{escape(said)}</tspan>" if moved or style else escape(said)
        back = 0.0
