"""The slides of a week of the course, made from the built pages; kit.py writes them.

A lecture of course.yml names what each of its parts shows: ``2/guesses``, ``2/prop-1-hessian``. A
slide is

- ``question``: the title of a chapter, its first paragraph, and the picture that it opens with,
- ``guesses``: what a chapter asks to predict, with the answers in the notes,
- ``idea``: the drawn picture of its idea; ``picture-2``: the second drawn picture of the page,
- ``seen``: what the chapter has shown,
- the label of a statement, the number of a figure (``figure-2``), the id of a section, whose text
  takes as many slides as it needs,
- ``behind-`` and the label of a statement: what the page says behind it,
- or the name of a live figure, which trains on the slide.

A theorem is built up: first what it supposes, then each of its claims, and on slides of its own its
proof. The proof of another statement stands below it where there is room, and else on the next
slide, step by step. Of a part, ``proofs_in_notes`` lists statements whose proofs are for the notes
alone, and ``add`` has words for below what a slide shows, such as a proof. With ``/above`` behind its
name they stand above a statement, for what its symbols mean, and with ``/title`` they are the heading
of a slide. For ``4/thm-1-training/proof`` they say, above that proof, what is proved, and for
``4/thm-1-training/proof-2`` on its second slide; else the whole statement stands there, if it leaves
room, and if it is short on the slides behind. With ``/instead``, they stand in Markdown in place of
what a section or a question says, which is then in the notes; a question has its picture, too. There,
``{}`` is the next displayed formula or table of the page, and ``2/instead`` is for the second slide
of a section. ``4/thm-1-training/proof/instead`` is a numbered list, of the steps of that proof.
What stands behind a question waits for a key. ``if_late`` lists what can be skipped, a slide with
its proof or ``4/thm-1-training/proof`` alone; the notes say so.

The notes of a slide are its number, its minutes, and the minute of the lecture at which it begins,
what to ask (``show`` of a live figure, which with ``first`` has only its first panel), what
lecture_notes.yml says of it, and of a statement its proof, unless a slide shows it. What is said of
``2/prop-1-hessian/proof`` is for the first slide of that proof, of ``2/prop-1-hessian/proof-2`` for
the second, and of ``softmax/three-scores-three-weights/2`` for the second slide of a section.
"""

import re
from bisect import bisect
from copy import copy
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import takewhile
from math import ceil
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import built
import course
import guesses
import marking
import problems
import yaml
from bs4 import BeautifulSoup, NavigableString
from built import element, moved, section, taken
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

HERE = "kit/week-1"  # any folder of a week: all are as far from the pages


@dataclass
class Slide:
    """What a slide shows, of which kind it is, and what its page has for its notes; its name in
    course.yml, and that of its note; the part of the lecture and the link to its page that stand on
    it."""

    body: str
    kind: str
    notes: str = ""
    name: str = ""
    noted: str = ""
    part: str = ""
    foot: str = ""
    share: float = 0  # of the minutes of its part
    minutes: int = 0
    optional: bool = False  # one that is skipped if time is short

    @property
    def html(self):
        # to reveal.js each section is a slide
        body = str(self.body).replace("<section", "<div").replace("</section", "</div")
        return (
            f'<section class="{self.kind}" data-name="{self.name}"><p class="part">'
            f'{escape(self.part)}</p>{body}<p class="foot">{self.foot}</p>'
            f'<aside class="notes">{in_mathml(self.notes)}</aside></section>'
        )

    @property
    def title(self):
        """The heading of a slide, the name of its statement, or that of its live figure."""
        found = BeautifulSoup(str(self.body), "html.parser")
        title = found.select_one("h1, h2, .proof > .admonition-title")
        if title is None:
            return escape(found.iframe["title"])
        for each in title.select(".mha-known"):
            each.decompose()
        return said(title)


def slides(k, week, given):
    """The slides of week ``k`` of a course (course.py).

    Raises ValueError naming the part that no page has.
    """
    said = about(k, week, given)
    shown = [
        Slide(
            f"<h1>{escape(week['title'])}</h1><p>{escape(week['aim'])}</p>{said}{cover(week)}",
            "title",
            "<p>S opens these notes in a window of their own, F fills the screen, ? lists all "
            "keys.</p>",
        ),
        Slide("", "plan"),
    ]
    for part in week["lecture"]:
        shown += of_part(part, week, given.get("setter"))
    shown[1].body = plan(week) + key_to_marks(shown)
    late = [number for number, each in enumerate(shown, 1) if each.optional]
    shown[1].notes = skipped(late) if late else ""
    begins = 0
    for number, each in enumerate(shown, 1):
        if each.part:
            said = timed(number, each.minutes, begins)
            each.notes = f'<p class="timed">{said}</p>{each.notes}'
            begins += each.minutes
        if each.kind == "guesses":
            each.notes += answers(each.name.split("/")[0], shown)
    titles = [*titles_of_sheet(week), *titles_of_drawn(week, given)]
    rows = "".join(f"<li>{escape(title)}</li>" for title in titles)
    shown.append(Slide(f"<h2>Sheet {week['week']}</h2><ul>{rows}</ul>", "sheet"))
    return shown


def timed(number, minutes, begins):
    """Which slide it is, how long it takes, and at which minute of the lecture it begins."""
    return f"slide {number} · {minutes or 'less than 1'} min · minute {begins}"


def of_part(part, week, setter):
    """The slides of a part of the lecture, with their shares of its minutes.

    Raises ValueError for a proof, or a part of a section, in ``add`` or ``if_late`` that has no slide.
    """
    made = [each for name in part["slides"] for each in slide(name, part, setter)]
    words = part.get("add", {})
    for key in ("add", "if_late"):
        named = [name.removesuffix("/instead") for name in part.get(key, ())]
        parts = {name for name in named if re.search(r"/(proof(-\d+)?|\d+)$", name)}
        for name in parts - {each.noted for each in made}:
            raise ValueError(
                f"{key}, {name}: expected a proof or a part of a section with a slide of its own; "
                "leave this out"
            )
    names = [name for other in week["lecture"] for name in other["slides"]]
    for each in made:
        page = each.name.split("/")[0]
        if each.kind == "question":
            own, behind = own_slide(page, names), names[names.index(each.name) + 1 :]
            if f"{each.name}/instead" in words:
                each.body += opening(page)
            elif own or page == chapters(week)[0]:
                each.body += setting(page, own is not None and behind[:1] == [own])
            else:
                each.body += opening(page)
        if each.name:
            each.body = with_words(each.body, each.name, words, setter)
    shows = {item["figure"]: item for item in week["live"]}
    minutes = shared(part["minutes"], [each.share for each in made])
    let_wait(made)
    for each, takes in zip(made, minutes, strict=True):
        each.minutes = takes
        live = shows.get(each.name.split("/")[-1], {})
        if live.get("first"):
            each.body = each.body.replace("?slides", "?slides=first")
        each.notes = (
            ("<p><b>If you are late, skip this slide.</b></p>" if each.optional else "")
            + (f"<p><b>{escape(live['show'])}</b></p>" if live else "")
            + note(each.noted, setter)
            + each.notes
        )
    return made


def with_words(body, name, words, setter):
    """A slide with what ``add`` of its part says of it; words that lead to a statement give it room.

    Raises ValueError for a title, or words above, of a slide that has no heading or no statement.
    """
    below, above, title = (words.get(f"{name}{place}") for place in ("", "/above", "/title"))
    if not (below or above or title):
        return body
    found = BeautifulSoup(body, "html.parser")
    if below or above:
        for lead in found.select(".lead"):
            lead.decompose()
    if above and not found.select(".proof"):
        raise ValueError(f"add, {name}/above: expected a statement; say it of {name}, for below")
    if title and found.h2 is None:
        raise ValueError(f"add, {name}/title: expected a slide with a heading; leave this out")
    if title:
        found.h2.string = title
    above = f'<div class="add">{problems.html(above, setter)}</div>' if above else ""
    return f"{above}{found}{added(below, setter) if below else ''}"


def added(words, setter):
    """Words for below a slide; from a paragraph that begins with "Proof." on, they wait for a key,
    as the proof of a statement does."""
    before, proof, steps = problems.html(words, setter).partition("<p>Proof.")
    if proof:
        before += f'<div class="short fragment"><p><b>Proof.</b>{steps}</div>'
    return f'<div class="add">{before}</div>'


NOTES = course.COURSE.with_name("lecture_notes.yml")


@cache
def written():
    """Name of a slide → what a lecturer says there, in Markdown with TeX between dollars."""
    return yaml.safe_load(NOTES.read_text("utf-8"))


def rendered(words, setter):
    """Markdown with TeX between dollars, and tables, as HTML."""
    markdown = MarkdownIt().use(
        dollarmath_plugin, renderer=lambda tex, how: setter.set(tex, how["display_mode"])
    )
    return markdown.enable("table").render(words)


def note(name, setter):
    """The written note of a slide as HTML; "" where there is none."""
    found = BeautifulSoup(rendered(written().get(name, ""), setter), "html.parser")
    return "".join(f"<p>{said(each)}</p>" for each in found.find_all("p"))


# How the minutes of a part are shared, once each of its slides has LEAST.
SHARES = {
    "question": 1,
    "seen": 1,
    "figure": 1,
    "idea": 2,
    "definition": 2,
    "guesses": 3,
    "text": 2,
    "live": 4,
    "statement": 4,
    "theorem": 6,
}
STEP = 0.7  # of a proof
LEAST = 2


def shared(minutes, shares):
    """Whole minutes of the slides of a part, which sum to its own: each has LEAST where there are as
    many, and the rest in proportion to these shares."""
    least = min(LEAST, minutes / len(shares))
    rest = minutes - least * len(shares)
    exact = [least + rest * share / sum(shares) for share in shares]
    found = [int(each) for each in exact]
    up = sorted(range(len(exact)), key=lambda k: found[k] - exact[k])
    for k in up[: minutes - sum(found)]:
        found[k] += 1
    return found


def in_place(body, kind, name, said_of, setter):
    """A slide and its notes: with words of the course below its heading, if there are any, and its
    own in the notes.

    Raises ValueError for a slide that is neither a section nor a question, and for more {} than the
    page has formulas and tables there.
    """
    words = said_of.get(f"{name}/instead")
    if words is None:
        return body, ""
    if kind not in ("text", "question"):
        raise ValueError(f"add, {name}/instead: expected a section or a question")
    if kind == "question":
        body += setting(name.split("/")[0], False)
    found = BeautifulSoup(body, "html.parser")
    own = [each for each in found.find_all(is_text) if not each.find_parent(stays)]
    notes = apart("In the book", "".join(f"<p>{said(copy(each))}</p>" for each in own))
    of_page = found.find_all(lambda part: part.name == "table" or is_formula(part))
    shown = BeautifulSoup(rendered(words, setter), "html.parser")
    for place in [each for each in shown.find_all("p") if each.get_text() == OF_PAGE]:
        if not of_page:
            raise ValueError(
                f"add, {name}/instead: expected at most one {OF_PAGE} for each formula and table there"
            )
        place.replace_with(of_page.pop(0))
    return f"{found.find(['h1', 'h2'])}{shown}", notes


def stays(part):
    """Is it no text for notes: a statement, or a table?"""
    return part.name == "table" or "proof" in part.get("class", ())


OF_PAGE = "{}"  # the next displayed formula or table of what is replaced
ANSWER = ("text", "definition", "statement", "theorem")  # of the kinds of slides


def let_wait(made):
    """On slides what stands behind a question waits for a key, also where the slide before asks it."""
    asked = False
    for each in made:
        if each.kind in ANSWER:
            each.body, asked = waiting(each.body, asked and not each.name)


def waiting(body, asked):
    """A slide on which what stands behind a question waits for a key: a statement, or each paragraph,
    formula and row of a table; and whether the slide ends with a question. ``asked``: the one before
    did."""
    found = BeautifulSoup(body, "html.parser")
    stated, lead = found.select_one(".proof"), found.select_one(".lead")
    if stated is not None:
        parts, asked = [stated], lead is not None and asks(lead)
    else:
        parts = found.h2.find_next_siblings()
    for part in parts:
        for each in (part.select("tbody > tr") or [part]) if asked else []:
            each["class"] = [*each.get("class", ()), "fragment"]
        asked = asked or asks(part)
    return str(found), asks(parts[-1])


def asks(part):
    """Does it end with a question?"""
    return part.get_text().rstrip().endswith("?")


def about(k, week, given):
    """Which week of which course it is, who gives it, and when."""
    number = f"Week {k} of {len(given['weeks'])}"
    words = filter(None, (number, str(week.get("date", "")), called(given)))
    return f'<p class="about">{escape(" · ".join(words))}</p>'


def cover(week):
    """The picture that the first chapter of a lecture opens with."""
    return opening(chapters(week)[0]) if chapters(week) else ""


def chapters(week):
    """The chapters whose question a lecture has a slide of."""
    names = [name for part in week["lecture"] for name in part["slides"]]
    return [name.split("/")[0] for name in names if name.endswith("/question")]


def plan(week):
    """The parts of a lecture, each with a bar as long as it takes, and what was to be read."""
    whole = sum(part["minutes"] for part in week["lecture"])
    parts = "".join(
        f"<li><b>{part['minutes']}′</b> {escape(part['part'])}"
        f'<i style="width: {part["minutes"] / whole:.1%}"></i></li>'
        for part in week["lecture"]
    )
    pages = " · ".join(map(course.title, week["read"]))
    return f"<h2>{whole} minutes</h2><ol>{parts}</ol><p>Read before, except the live figures: {escape(pages)}</p>"


# What stands in gray behind the name of a statement, as the ledger of the book explains it.
MARKS = {
    "paper": "stated in the paper",
    "ours": "derived and proved in the book",
    "recalled": "as we remember the paper",
    "second-hand": "as another text reports the paper",
    "ledger": "tested in the ledger of the book",
}


def key_to_marks(shown):
    """What the marks of the statements on these slides mean."""
    marks = BeautifulSoup("".join(str(each.body) for each in shown), "html.parser").select(
        ".mha-known"
    )
    used = " ".join(each.get_text() for each in marks)
    rows = "; ".join(f"<em>{mark}</em>, {said}" for mark, said in MARKS.items() if mark in used)
    return f'<p class="known">Behind a statement: {rows}.</p>' if rows else ""


def skipped(numbers):
    """Which slides can be skipped, for the notes of the plan."""
    *others, last = map(str, numbers)
    named = f"slides {', '.join(others)} and {last}" if others else f"slide {last}"
    return f"<p>If you are late, skip {named}.</p>"


def called(given):
    """How a course is called, and who gives it."""
    return " · ".join(filter(None, (given["course"], given["by"])))


def slide(name, part, setter=None):
    """The slides of a name: one, and behind a statement those of its proof where it has no room
    below."""
    page, label = name.split("/")
    file = built.file_of(page)
    (body, kind), behind = shown(page, label), []
    body, *more = in_parts(body) if kind == "text" else [body]
    body, notes = in_place(body, kind, name, part.get("add", {}), setter)
    if kind in ("definition", "statement", "theorem"):
        notes = sources(page, label)
    if kind in ("statement", "theorem"):
        said = part.get("add", {})
        if name not in part.get("proofs_in_notes", ()):
            below, behind = proved(page, label, body, said, setter)
            body += below
        elif "Proof." not in said.get(name, ""):
            notes += apart("", words(filter(None, [proof_of(element(page, label))]), file))
    further = [
        later(each, f"{name}/{k}", part.get("add", {}), setter) for k, each in enumerate(more, 2)
    ]
    outlines = [
        Slide(each, "outline", noted=f"{name}/{of_proof(k)}") for k, each in enumerate(behind)
    ]
    made = [Slide(body, kind, notes, name, name), *further, *outlines]
    where = f"Chapter {page.replace('-', ', ')}" if page[0].isdigit() else course.title(file)
    link = moved(f"{Path(file).name}.html", file, HERE)
    late = part.get("if_late", ())
    for each in made:
        each.optional = name in late or (each.kind == "outline" and f"{name}/proof" in late)
        each.part, each.foot = part["part"], f'<a href="{link}" target="_blank">{escape(where)}</a>'
        each.share = SHARES.get(kind)
    for each in outlines:
        each.share = STEP * len(BeautifulSoup(each.body, "html.parser").select(".steps > li"))
    if setter:
        for each in made:
            each.body = joined(each.body, setter)
    return made


def later(body, noted, said_of, setter):
    """A slide of a section behind its first one."""
    body, notes = in_place(body, "text", noted, said_of, setter)
    return Slide(body, "text", notes, noted=noted)


def of_proof(k):
    """What a note calls slide ``k`` of a proof, counted from 0."""
    return f"proof-{k + 1}" if k else "proof"


BROKEN = re.compile(r"\\begin\{(gathered|aligned)\}(.*)\\end\{\1\}", re.DOTALL)
GOES_ON = re.compile(r"(?:[&\s{}]|\\q?quad)*([+-])")  # a sum, on the next line
IS_THAT = re.compile(r"\s*\\(ge|le)\b|\s*=")
WIDE = 76  # letters of a formula across a slide


def joined(body, setter):
    """A slide with its displayed formulas in longer lines: those of a page are for a phone."""
    found = BeautifulSoup(body, "html.parser")
    for each in found.select("div.math[data-tex]"):
        broken = BROKEN.search(each["data-tex"])
        if broken and len(rows(each)) < broken[2].count(r"\\") + 1:
            name, said = broken[1], r"\\".join(rows(each))
            tex = rf"\begin{{{name}}}{said}\end{{{name}}}"
            each.clear()
            each.append(BeautifulSoup(setter.set(tex, True), "html.parser"))
    return str(found)


def rows(formula):
    """The lines of a displayed formula on a slide, as TeX: one that goes on with a sum, or of a
    centered formula with a relation, stands behind the line before it, if there is room."""
    broken = BROKEN.search(formula.get("data-tex", ""))
    written = broken[2].split(r"\\") if broken else []
    shown = formula.select("math mtr mtr")  # Sphinx puts a formula of several lines into one
    if len(written) != len(shown) or not shown:
        return formula.select("math mtr") or [""]
    lines, wide = [], 0
    for row, line in zip(written, shown, strict=True):
        letters = len(line.get_text())
        relates = broken[1] == "gathered" and IS_THAT.match(row)
        belongs = relates or GOES_ON.match(row)
        if lines and belongs and wide + letters <= WIDE:
            before = r"\ " if relates else ""
            lines[-1] += before + re.sub(r"^(?:[&\s]|\\q?quad)*", "", row)
            wide += letters
        else:
            lines, wide = [*lines, row], letters
    return lines


def question(page):
    file, found = built.file_of(page), section(page, "")
    first = found.find("p", recursive=False)
    return f"<h1>{escape(course.title(file))}</h1>{taken(first, file, HERE)}"


def setting(page, is_next):
    """What a chapter says behind its question; of a picture only where the next slide has it."""
    file, found = built.file_of(page), section(page, "")
    second = found.find_all("p", recursive=False)[1]
    said = sentences([taken(second, file, HERE)])
    if is_next:
        words = re.sub(r"\bThe picture\b", "The next slide", " ".join(said))
        words = re.sub(r"\bIn the (picture|figure)\b", "On the next slide", words)
    else:
        words = " ".join(one for one in said if not PICTURE.search(one))
    return f"<p>{words}</p>"


PICTURE = re.compile(r"\b(picture|figure)s?\b")


def own_slide(page, names):
    """The slide of the picture that a chapter opens with, or None."""
    first = first_picture(page)
    if first is None:
        return None
    own = [f"{page}/{first.get('id')}"]
    if "mha-idea" in first["class"]:
        own = [f"{page}/picture-1"] + [f"{page}/idea"] * (first is picture_of_idea(page))
    return next((name for name in names if name in own), None)


def first_picture(page):
    return built.page(built.file_of(page)).find("figure", class_=["mha-idea", "mha-figure"])


def opening(page):
    """The first picture of a chapter. A still figure stands here without letters, which would be too
    small: a slide of its own has them."""
    file, first = built.file_of(page), first_picture(page)
    if first is None or "mha-idea" in first["class"]:
        return str(picture(file, first)) if first else ""
    svg = ElementTree.parse(built.HTML / "figures" / still(file, first)).getroot()
    for each in svg.findall(f"{SVG}g"):
        if not each.attrib:  # letters, legend and color bar: what is no panel
            svg.remove(each)
    shown = quote(ElementTree.tostring(svg, "unicode"))
    return f'<img class="opening" src="data:image/svg+xml,{shown}" alt="">'


SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG.strip("{}"))  # its elements are written without a prefix


def asked(page):
    """The guesses of a chapter: what is asked, and what one may choose."""
    rows = []
    for guess in guesses_of(page).values():
        choices = guess.get("choices", ["draw it"] if "curve" in guess else [])
        choices = "".join(f"<span>{escape(each)}</span>" for each in choices)
        rows.append(f'<li>{escape(guess["ask"])}<p class="choices">{choices}</p></li>')
    file = built.file_of(page)
    before = built.page(file).find(class_="mha-guesses").find_previous_siblings(is_text)
    led = "".join(str(taken(each, file, HERE)) for each in reversed(before))
    return (
        f'<h2>Guess first</h2><div class="lead">{led}</div><ol class="guesses">{"".join(rows)}</ol>'
    )


def guesses_of(page):
    """number → guess, for those of a chapter."""
    found = built.page(built.file_of(page)).find(class_="mha-guesses")
    if found is None:
        raise ValueError(f"{page}/guesses: the page {built.file_of(page)} asks for no guess")
    return guesses.groups()[found["id"].removeprefix("guesses-")]


def answers(page, shown):
    """What is true of each guess of a chapter, and which slide shows it: the last one before the
    place at which the page says what the reader guessed."""
    article, said = built.page(built.file_of(page)), []
    for number, guess in guesses_of(page).items():
        answer = f"<b>{escape(guess['answer'])}</b>: " if "answer" in guess else ""
        place = article.find(id=f"said-chapter-{page}-{number}")
        why = guess.get("why", "The chapter shows it.")
        titled = IN_SECTION.search(why)
        if titled:  # it is shown there, not where the page says what was guessed
            why = IN_SECTION.sub("", why)
            place = behind_section(article, titled[1]) or place
        before = {each.get("id") for each in place.find_all_previous(id=True)}
        before |= {each["data-name"] for each in place.find_all_previous(attrs={"data-name": True})}
        slides = [
            k
            for k, each in enumerate(shown, 1)
            if each.kind in ("figure", "live", "statement", "theorem")
            and each.name.split("/")[0] == page
            and each.name.split("/")[1] in before
        ]
        there = f" (slide {slides[-1]})" if slides else ""
        said.append(f"<p>{number}. {answer}{escape(why)}{there}</p>")
    return apart("What is true", "".join(said))


IN_SECTION = re.compile(r" \(“([^”]+)”\)")  # a heading of the page that an answer names


def behind_section(article, title):
    """What stands behind the section of a page with this title, or None."""
    for each in article.find_all(["h2", "h3"]):
        if each.get_text().startswith(title):
            return each.find_parent("section").find_next_sibling()
    return None


def idea(page):
    first = picture_of_idea(page)
    if first is None:
        raise ValueError(f"{page}/idea: the section the-idea… has no drawn picture")
    return drawn(page, str(len(first.find_all_previous("figure", class_="mha-idea")) + 1))


def picture_of_idea(page):
    return section(page, "the-idea").find("figure", class_="mha-idea")


def drawn(page, number):
    """A drawn picture of a page, counted from 1, below the heading of its section.

    Raises ValueError where the page has fewer.
    """
    file = built.file_of(page)
    drawings = built.page(file).find_all("figure", class_="mha-idea")
    if number not in map(str, range(1, len(drawings) + 1)):
        raise ValueError(f"{page}/picture-{number}: the page {file} has {len(drawings)} of them")
    drawing = drawings[int(number) - 1]
    stated = drawing.find_parent("div", class_="cell").find_previous_sibling(class_="proof")
    title = heading(drawing.find_parent("section"), file)
    if stated is not None:  # the section is about more
        title = f"<h2>{named(stated)}</h2>"
    return f"{title}{picture(file, drawing)}"


def named(found):
    """What a statement is called, without its mark."""
    title = copy(found.find(class_="admonition-title"))
    for mark in title.select(".mha-known"):
        mark.decompose()
    return escape(" ".join(title.get_text().split()))


def seen(page):
    rows = section(page, "what-we-have-seen").find("ul")
    return f"<h2>What we have seen</h2>{taken(rows, built.file_of(page), HERE)}"


KINDS = {"question": question, "guesses": asked, "idea": idea, "seen": seen}


def shown(page, label):
    """What the slide of a name shows, and of which kind it is."""
    if label in KINDS:
        return KINDS[label](page), label
    if label.startswith("picture-"):
        return drawn(page, label.removeprefix("picture-")), "idea"
    return labelled(page, label)


def labelled(page, label):
    """The slide of a statement, a figure, a section or a live figure, or of the words behind a
    statement: its body and its kind."""
    file, found = built.file_of(page), element(page, label.removeprefix("behind-"))
    if label.startswith("behind-"):
        parts = texts_behind(proof_of(found) or found)
        title = found.find(class_="admonition-title").get_text(" ", strip=True)
        shown = "".join(str(taken(each, file, HERE)) for each in parts)
        name = re.match(r"\w+ [0-9.]+", title)[0]
        return f"<h2>What follows from {name}</h2>{shown}", "text"
    if found.name == "figure":
        title = escape(found.find("figcaption").get_text(strip=True))
        return f"<h2>{title}</h2>{picture(file, found)}", "figure"
    if found.name == "section":
        return without_cells(taken(found, file, HERE)), "text"
    if "proof" in found.get("class", ()):
        return statement(found, file)
    live = found.find_next("figure", class_="mha-fallback")
    if not (built.HTML / "figures" / f"{label}.html").exists() or live is None:
        raise ValueError(
            f"{page}/{label}: expected a statement, a figure, a section or a live figure"
        )
    name = escape(live.find("figcaption").get_text(strip=True))
    # with names that no other slide has
    drawn = str(live.find("svg")).replace("mha-picture-", f"{label}-")
    frame = f'<iframe data-src="../../figures/{label}.html?slides" title="{name}"></iframe>'
    return f"{frame}<figure><figcaption>{name}</figcaption>{drawn}</figure>", "live"


def statement(found, file):
    """A statement below the sentence that leads to it, and of which kind it is."""
    lead = leading(found)
    led = "".join(str(taken(each, file, HERE)) for each in lead)
    if len(letters(lead)) > LONG:
        (*_, led) = sentences([taken(each, file, HERE) for each in lead])
        led = f"<p>{led}</p>"
    shown = taken(found, file, HERE)
    for each in shown.find_all("p"):
        if SOURCES.match(each.get_text()):
            each.decompose()
    beside_mark(shown)
    is_theorem = "theorem" in found["class"] and proof_of(found)
    if is_theorem:
        for each in shown.select(".theorem-content > *")[1:]:
            each["class"] = [*each.get("class", ()), "fragment"]
    kind = "theorem" if is_theorem else "statement"
    body = f'<div class="lead">{led}</div>{shown}' if led else str(shown)
    return body, "definition" if "definition" in found["class"] else kind


def sources(page, label):
    """The sentences of a statement that say where it comes from, for its notes."""
    found = element(page, label).find_all("p")
    said = [each for each in found if SOURCES.match(each.get_text())]
    return apart("In the book", words(said, built.file_of(page)))


LONG = 500  # letters of a lead, of which the last sentence is kept


def beside_mark(shown):
    """Put a sentence that says where a statement comes from, first in it, beside its mark."""
    first = shown.find("p", class_=lambda name: name != "admonition-title")
    said = next(sentences([copy(first)]), "").strip() if first else ""
    if not re.match(r"The (formula|statement|identity) itself is ", said):
        return
    _, *others = sentences([copy(first)])
    rest = " ".join(others)
    first.clear()
    first.append(BeautifulSoup(rest, "html.parser"))
    source = BeautifulSoup(f' <span class="mha-known">{said}</span>', "html.parser")
    shown.find(class_="admonition-title").append(source)


def proof_of(found):
    """The proof behind a statement, or None."""
    after = found.find_next_sibling()
    return after if after is not None and "dropdown" in after.get("class", ()) else None


def proved(page, label, body, said, setter):
    """What stands below a statement, its proof or nothing, and what on slides behind it: a proof
    that has no room there, in its own steps or in those that the course has, below what the course or
    the statement says is proved."""
    claims = [said.get(f"{page}/{label}/{of_proof(k)}") for k in range(3)]
    steps = written_steps(f"{page}/{label}", said.get(f"{page}/{label}/proof/instead"), setter)
    file, found = built.file_of(page), element(page, label)
    proof = proof_of(found)
    if proof is None:
        return "", []
    parts = paragraphs(taken(proof, file, HERE))[1:]
    statement = BeautifulSoup(body, "html.parser")
    high, is_theorem = lines(parts), "theorem" in found["class"]
    if (
        not steps
        and not is_theorem
        and lines(statement.find_all(is_text)) + high <= ROOM + 2 * (high < 3)
    ):
        parts[0].insert(0, BeautifulSoup("<b>Proof.</b> ", "html.parser"))
        return f'<div class="short fragment">{"".join(map(str, parts))}</div>', []
    above = []
    for claim in claims:
        if claim:
            above.append(BeautifulSoup(problems.html(claim, setter), "html.parser").contents)
        elif not above:
            above.append(claimed(found, file))
        else:
            above.append(above[-1] if lines(above[-1]) * SMALL <= BRIEF else [])
    return "", in_steps(named(found), steps or steps_of([*sentences(parts)]), above)


def written_steps(name, words, setter):
    """The steps of a proof as the course has them; None where it has none.

    Raises ValueError for words that are no numbered list.
    """
    if words is None:
        return None
    found = BeautifulSoup(rendered(words, setter), "html.parser").select("ol > li")
    if not found:
        raise ValueError(f"add, {name}/proof/instead: expected a numbered list, got {words!r}")
    return [each.decode_contents() for each in found]


def claimed(found, file):
    """What a statement says, without its name, to stand above its proof; nothing where that would
    leave less than half a slide."""
    shown = taken(found, file, HERE)
    said = shown.find(class_=re.compile("-content$")).find_all(True, recursive=False)
    parts = [each for each in said if not SOURCES.match(each.get_text())]
    for each in shown.find_all(id=True):
        del each["id"]  # it stands on the statement's own slide
    return parts if lines(parts) * SMALL <= FULL / 2 else []


def steps_of(said):
    """The sentences of a proof as steps: one that says what is given belongs to the next, and a short
    one to the step before it."""
    steps, leads = [], False
    for each in said:
        found = BeautifulSoup(each, "html.parser")
        high = len(letters([found]))
        is_short = high <= SHORT and not found.select("div.math, em")
        given = high <= LEADING and GIVEN.match(each.lstrip()) or is_short and not steps
        if leads or steps and is_short and not given:
            steps[-1] += f" {each}"
        else:
            steps.append(each)
        leads = given
    return steps


GIVEN = re.compile(r"(Let|Suppose|Write|First|In the)\b")
LEADING = 100  # letters of a sentence that says what is given
SHORT = 36  # of any other that needs no key of its own


def in_steps(title, steps, claims):
    """Steps of a proof on as many slides as they need, each as full as the others, below what it
    proves there; the first step of each is there at once."""
    high = [lines(BeautifulSoup(f"<p>{step}</p>", "html.parser").contents) for step in steps]
    rooms = [FULL - lines(claim) * SMALL for claim in claims]
    first, out = 1, []
    for k, each in enumerate(spread(steps, high, rooms)):
        claim = claims[min(k, len(claims) - 1)]
        led = f'<div class="claim">{"".join(map(str, claim))}</div>' if claim else ""
        called = re.match(r"\w+ [0-9.]+", title)[0] if claim else title
        rows = "".join(
            f'<li class="fragment">{step}</li>' if n else f"<li>{step}</li>"
            for n, step in enumerate(each)
        )
        also = ", continued" if k else ""
        out.append(
            f'<h2>Proof of {called}{also}</h2>{led}<ol class="steps" start="{first}">{rows}</ol>'
        )
        first += len(each)
    return out


def spread(parts, high, rooms):
    """Parts of these heights on as many slides as they need, each as full as the others; ``rooms``
    are those of the first slides, and the last of them of all others."""
    rooms = [*rooms]
    count = next(
        k
        for k in range(1, len(parts) + 1)
        if k == len(parts) or sum(high) <= sum((rooms + rooms[-1:] * k)[:k])
    )
    taken = (rooms + rooms[-1:] * count)[:count]
    ends = [sum(taken[: k + 1]) * sum(high) / sum(taken) for k in range(count)]
    slides = [[] for _ in range(count)]
    for k, part in enumerate(parts):
        slides[bisect(ends, sum(high[:k]) + high[k] / 2)].append(part)
    return [each for each in slides if each]


ROOM = 14.5  # lines of 28 pixels below a title
FULL = 16.5  # and with letters of 24
SMALL = 20 / 28  # a line of what is proved, above its proof, over a line
BRIEF = 2.6  # of what stands again on the next slide


def lines(parts):
    """About how many lines paragraphs, formulas and tables take on a slide."""
    found = 0
    for part in parts:
        if part.select("tr"):
            found += 2 * len(part.select("tr"))
            continue
        displayed = [part] if is_formula(part) else part.select("div.math")
        in_words = len(letters([part])) - len(letters(displayed))
        found += ceil(in_words / 88) + 0.3 * bool(in_words)
        found += sum(0.7 + 1.3 * len(rows(each)) for each in displayed)
    return found


def letters(parts):
    """The words of some parts, and their formulas as the letters in them."""
    return "".join(part.get_text() for part in parts)


def sentences(parts):
    """The sentences of paragraphs and displayed formulas, as HTML; a name with a period, such as
    "The decoder.", belongs to the sentence behind it."""
    said, opened = "", 0
    for part in parts:
        for each in [part] if is_formula(part) else part.contents:
            if isinstance(each, NavigableString):
                *ended, rest = ENDS.split(escape(each, quote=False))
            else:
                ended, rest = ([each], "") if closes(each) else ([], each)
            for sentence in ended:
                opened += brackets(sentence)
                said += str(sentence)
                if opened > 0:
                    said += " "
                    continue
                yield said
                said, opened = "", 0
            opened += brackets(rest)
            said += str(rest)
        opened = 0
        if part.get_text().rstrip().endswith((".", "?")) and said.strip():
            yield said
            said = ""
    if said.strip():
        yield said


ENDS = re.compile(r"(?<=[.?!])\s+(?=\(?[A-Z]|$)|(?<=[.?!]\))\s+(?=\(?[A-Z]|$)")


def brackets(part):
    """How many more brackets words open than they close; a formula has its own."""
    return part.count("(") - part.count(")") if isinstance(part, str) else 0


def closes(part):
    """Does a formula end a sentence, displayed or with a mark behind it?"""
    together = "mha-together" in part.get("class", ())
    return (is_formula(part) or together) and part.get_text().rstrip().endswith((".", "?"))


SOURCES = re.compile(
    r"\s*((It|The statement) has the shape of|This (theorem )?is the counterpart of)"
)


def is_text(part):
    """Is it a paragraph or a displayed formula?"""
    return part.name == "p" or is_formula(part)


def is_formula(part):
    return part.name == "div" and "math" in part.get("class", ())


def leading(found):
    """The sentence before a statement, with the displayed formulas in it."""
    parts = []
    for each in found.find_previous_siblings():
        inside = not parts or is_formula(parts[0])
        sentence = each.name == "p" and inside and not each.find("strong", recursive=False)
        if not (sentence or is_formula(each)):
            break
        parts.insert(0, each)
    return parts


def texts_behind(found):
    """The paragraphs and formulas behind a part of a page, up to the next heading, figure or
    statement."""
    behind = takewhile(is_text, found.find_next_siblings())
    return [each for each in behind if "mha-guessed" not in each.get("class", ())]


def words(parts, file):
    """Parts of a page for the notes, paragraph by paragraph."""
    return "".join(
        f"<p>{said(each)}</p>" for part in parts for each in paragraphs(taken(part, file, HERE))
    )


def apart(title, said):
    """What notes have of a page, set apart from what a lecturer says; "" for nothing."""
    title = f"<p><b>{title}</b></p>" if title else ""
    return f"<blockquote>{title}{said}</blockquote>" if said else ""


def paragraphs(part):
    """The paragraphs of a part, and its displayed formulas; a paragraph in a list is one."""
    return [part] if is_text(part) else part.find_all(is_text)


def said(paragraph):
    """A paragraph as notes have it: words, with what is emphasized, and formulas."""
    if is_formula(paragraph):
        return str(paragraph.find("mjx-container"))
    if "admonition-title" in paragraph.get("class", ()):
        title = BeautifulSoup().new_tag("b")
        title.extend([*paragraph.contents])
        paragraph.append(title)
    for each in paragraph.find_all(
        lambda tag: not (tag.name in KEPT or tag.find_parent("mjx-container"))
    ):
        each.unwrap()
    return " ".join(paragraph.decode_contents().split())


KEPT = ("mjx-container", "b", "em", "strong")


def in_mathml(notes):
    """Notes for reveal.js's window, which has no styles of the book: with formulas in MathML, which
    browsers set by themselves."""
    found = BeautifulSoup(notes, "html.parser")
    for formula in found.select("mjx-container"):
        formula.replace_with(formula.find("math"))
    return str(found)


def picture(file, figure):
    """A drawn picture, or a still figure as an image, from the folder of pictures."""
    if "mha-idea" in figure["class"]:
        return taken(figure, file, HERE)
    source = f"../../figures/{still(file, figure)}"
    return f'<img src="{source}" alt="{escape(figure["aria-label"])}">'


def still(file, figure):
    """The name of the image of a still figure in the folder of pictures."""
    return f"{Path(file).name}-{figure['id'].removeprefix('figure-')}.svg"


def heading(found, file):
    return raised(taken(found.find(["h2", "h3"]), file, HERE))


def raised(part):
    """A part of a page as HTML, its heading as high as any of a slide."""
    return str(part).replace("<h3", "<h2").replace("</h3", "</h2")


def without_cells(part):
    """A section without its code, its figures, its dropdowns and the sections inside it, and
    without the words that lead to what a cell prints."""
    for cell in part.select("div.cell"):
        before = cell.find_previous_sibling()
        if before is not None and before.get_text().rstrip().endswith(":"):
            before.decompose()
        cell.decompose()
    for each in part.select(".dropdown, section section"):
        each.decompose()
    return raised(part)


def in_parts(body):
    """The text of a section on as many slides as it needs, each below its heading."""
    found = BeautifulSoup(body, "html.parser")
    title = found.find("h2")
    parts = [each for each in title.find_next_siblings() if each.get_text(strip=True)]
    slides = spread(parts, [lines([each]) for each in parts], [ROOM])
    if len(slides) < 2:
        return [body]
    name = escape(title.get_text(" ", strip=True))
    return [
        f"<h2>{name}{', continued' if k else ''}</h2>{''.join(map(str, each))}"
        for k, each in enumerate(slides)
    ]


def titles_of_sheet(week):
    """The problems of the sheet of a week, as they are called there, with their minutes and
    points."""
    sheet = built.sheet(week["week"])
    from_the_book = [
        each.get_text(" ", strip=True) for each in sheet.select("ol > li > p:first-child")
    ]
    own = [each.get_text(" ", strip=True) for each in sheet.select(".exercise > .admonition-title")]
    efforts = [marking.effort(marking.parts(label)) for label in week["own"]]
    return from_the_book + [
        f"{title} · {effort}" for title, effort in zip(own, efforts, strict=True)
    ]


def titles_of_drawn(week, given):
    """The same of the problems whose numbers are drawn, which are the last of a sheet."""
    k = week["week"]
    return [
        f"Exercise S{k}.{n} ({each.title}) · {marking.effort(each.parts)}"
        for n, each in numbered(week, problems.drawn(k, given["seed"]))
    ]


def numbered(week, drawn):
    """(number, problem): those whose numbers are drawn come after all others of a sheet."""
    return enumerate(drawn, len(week["sheet"]) + len(week["own"]) + 1)
