"""What a lecturer takes away: ``python book/_ext/kit.py`` writes, for each week of the course,
slides, their notes, the sheet, its solutions and the quiz into the built book,
``_build/html/kit/week-N``, and beside it ``week-N.zip``, which holds all that they need. With ``--pdf`` the pages are
in it as PDF, too, named by the week, and it stands in ``_build/kit`` as well; with ``--notes`` also
the slides with a page of notes behind each. ``--course my.yml`` makes the weeks of a course of one's
own, as own_course.py describes it, in ``_build/kit/my``.

A sheet ends with problems whose numbers a seed draws (problems.py). Their solutions are in
``_build/kit`` alone: what stands among the pages of the book has none.
"""

import argparse
import re
import shutil
import zipfile
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import built
import course
import deck
import edition
import marking
import mathematics
import own_course
import problems
import quiz
import yaml
from bs4 import BeautifulSoup

from livegrad.live.widget import SAVED

ROOT = Path(__file__).parents[2]
KIT = built.HTML.parent / "kit"
PUBLISHED = built.HTML / "kit"
HEAD = """<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}
</head>
"""
REVEAL = ["_static/vendor/reveal/reveal.css"]
STYLES = [
    "_static/pygments.css",
    "_static/mathematics.css",
    "_static/letters.css",
    "_static/kit.css",
]
SCRIPTS = ["_static/vendor/reveal/reveal.js", "_static/vendor/reveal/notes.js", "_static/deck.js"]


def head(title, styles, given):
    """The head of a page of a week."""
    links = "\n".join(f'<link rel="stylesheet" href="../../{style}">' for style in styles)
    return HEAD.format(title=escape(f"{title} · {given['course']}"), styles=links)


def slides(k, week, given):
    """The slides of week ``k`` as a page."""
    scripts = "\n".join(f'<script defer src="../../{script}"></script>' for script in SCRIPTS)
    shown = "\n".join(each.html for each in given["slides"][k])
    top = head(f"Week {k}: {week['title']}", REVEAL + STYLES, given)
    return (
        f'{top}<body class="deck">{SAVED}<div class="reveal">'
        f'<div class="slides">\n{shown}\n</div></div>\n{scripts}</body></html>\n'
    )


def notes(k, week, given):
    """The notes of the slides of week ``k``, one after the other, as a page that prints."""
    said = "".join(
        f'<div class="note"><h3>{each.title}</h3>{each.notes}</div>'
        for each in given["slides"][k]
        if each.notes and each.kind != "title"
    )
    title = f"Week {k}: {week['title']}"
    return paper(f"Notes of week {k}", f"<h2>{escape(title)}</h2><p>{NOTES}</p>{said}", given)


NOTES = (
    "What to say at each slide. Behind a line at the side stands what need not be said: what the book has "
    "there, proofs that no slide shows, and what is true of the guesses. What students often think is "
    "expected, not observed, and the minutes are planned, not measured."
)


def sheet(_, week, given):
    """The sheet of a week as a page that prints: a line for who hands it in, the problems with room
    to write, and below them the statements of the book that they use."""
    k = week["week"]
    stated = built.taken(built.sheet(k), course.SHEETS, deck.HERE)
    for each in stated.select(".solution, div.cell"):
        each.decompose()
    drawn = problems.drawn(k, given["seed"])
    (alone,) = (each for each in stated.find_all("p") if each.get_text().startswith(ALONE))
    for title, label in zip(
        stated.select(".exercise > .admonition-title"), week["own"], strict=True
    ):
        number, called = TITLE.fullmatch(title.get_text(" ", strip=True)).groups()
        title.replace_with(
            BeautifulSoup(titled(number, called, marking.parts(label)), "html.parser")
        )
    numbers = numbers_of_drawn(week, drawn)
    stated.p.append(f" {how_long(week, stated, drawn)} {software(week)}")
    alone.replace_with(
        BeautifulSoup(f"<p>{ALONE_TOO.format(in_words(numbers))}</p>", "html.parser")
    )
    asked = "".join(
        f'<div class="exercise">{titled(f"Exercise {number}", problem.title, problem.parts)}'
        f"{problems.html(problem.ask, given['setter'])}</div>"
        for number, problem in zip(numbers, drawn, strict=True)
    )
    page = BeautifulSoup(f"{stated}{asked}", "html.parser")
    counts = [*map(marking.parts, course.problems(week)), *(each.parts for each in drawn)]
    places = page.ol.find_all("li", recursive=False) + page.select(".exercise")
    for place, parts in zip(places, counts, strict=True):
        leave_room(place, parts, marking.said()["room"][k])
    used = BeautifulSoup(facts(k, given), "html.parser")
    lead_to(used, page, used)
    line = HANDED_IN.format(points=sum(map(marking.points, counts)), chosen=of_choice(week, drawn))
    return paper(f"Sheet {k}", f"{line}{page}{used}", given)


def how_long(week, stated, drawn):
    """The minutes of a sheet, and which of its problems a class with less time does."""
    links = stated.select("ol > li > p:first-child > strong > a")
    own = [f"S{week['week']}.{n}" for n, _ in enumerate(week["own"], len(links) + 1)]
    numbers = [*(link.get_text().split()[-1] for link in links), *own]
    labels, chosen = course.problems(week), marking.said()["choose"][week["week"]]
    picked = [number for number, label in zip(numbers, labels, strict=True) if label in chosen]
    every = sum(map(marking.points, [*map(marking.parts, labels), *(each.parts for each in drawn)]))
    every, some = (marking.MINUTES * points for points in (every, of_choice(week, drawn)))
    chosen = in_words([*picked, *numbers_of_drawn(week, drawn)])
    return HOW_LONG.format(every=every, some=some, chosen=chosen)


def in_words(numbers):
    """S1.7 and S1.8; S1.7, S1.8, and S1.9."""
    *first, last = numbers
    return f"{', '.join(first)}{',' * (len(first) > 1)} and {last}"


def of_choice(week, drawn):
    """The points of the problems that a class with less time does."""
    chosen = map(marking.parts, marking.said()["choose"][week["week"]])
    return sum(map(marking.points, [*chosen, *(each.parts for each in drawn)]))


def software(week):
    """What the parts with Python need, if a sheet has some."""
    of_chapters, own = (
        any(part.needs == "Python" for label in labels for part in marking.parts(label))
        for labels in (week["sheet"], week["own"])
    )
    return IN_A_NOTEBOOK * of_chapters + WITH_NUMPY * own


IN_A_NOTEBOOK = (
    "For a part with Python, open the notebook of its chapter in Colab or JupyterLab, run its cells, and "
    "add yours below them. The notebook says what to install. No part computes for more than a minute."
)
WITH_NUMPY = (
    "The part with Python can be done with NumPy alone, and computes for less than a second."
)
HOW_LONG = "All problems together take about {every} minutes. For {some} minutes, choose Exercises {chosen}."
HANDED_IN = (
    '<p class="handed-in"><span>Name</span><span>Date</span>'
    "<span>Points, of {points}, or of {chosen} for the choice</span></p>"
)


def titled(number, title, parts):
    """The title of a problem of the sheet alone, as course.sheet writes those of the book."""
    effort = marking.effort(parts)
    return (
        f'<p class="admonition-title"><strong>{number}</strong> · {escape(title)} · '
        f"<em>{effort}</em></p>"
    )


TITLE = re.compile(r"(Exercise \S+)\s+\((.+)\)")  # as Sphinx writes it
ALONE = "Of this sheet alone"  # as course.sheet begins the list
ALONE_TOO = (
    "<strong>Of this sheet alone</strong>. The numbers of Exercises {} are drawn for this class, and "
    "a calculator is enough."
)
PART = re.compile(r"\(([a-z])\) ")  # as a paragraph begins


def leave_room(place, parts, millimeters):
    """Say what each part of a problem counts, and leave room below one that is solved by hand: so
    many millimeters for each point, and half as many again where something is to be shown.

    Raises ValueError where the problem has other parts.
    """
    begun = [each for each in place.find_all("p") if PART.match(each.get_text())]
    names = [PART.match(each.get_text())[1] for each in begun]
    if names != [part.name for part in parts]:
        expected = ", ".join(part.name for part in parts)
        raise ValueError(f"{place.p.get_text()}: expected the parts {expected}, got {names}")
    all_shown = "Show the following" in place.get_text()
    for first, part in zip(begun, parts, strict=True):
        shown = all_shown or "Show" in first.get_text()
        box = first.wrap(BeautifulSoup().new_tag("div", attrs={"class": "asked"}))
        while box.next_sibling and not any(box.next_sibling is each for each in begun):
            box.append(box.next_sibling)
        needs = f", with {part.needs}" if part.needs else ""
        counted = f'<span class="earns">{marking.counted(part.points)}{needs} </span>'
        first.insert(0, BeautifulSoup(counted, "html.parser"))  # floats beside the first line
        room = part.points * millimeters * (1.5 if shown else 1)
        height = "" if part.needs else f' style="height: {room:g}mm"'
        box.append(BeautifulSoup(f'<div class="room"{height}></div>', "html.parser"))
    first = begun[0].parent
    while first.previous_sibling:  # what all parts have in common does not stand alone on a page
        first.insert(0, first.previous_sibling)


def facts(k, given):
    """The statements of the book that the problems of sheet ``k`` use, and what their letters
    mean."""
    return f'<div class="facts"><h3>What the problems use</h3>{"".join(each_fact(k, given))}</div>'


def each_fact(k, given):
    for said in marking.said()["facts"][k]:
        if " " in said:
            yield problems.html(said, given["setter"])
        else:
            name, label = said.split("/")
            yield str(built.taken(built.element(name, label), built.file_of(name), deck.HERE))


def lead_to(used, *pages):
    """Links to statements that stand on the sheet lead there, and not to the book."""
    here = {each["id"] for each in used.select("[id]")}
    for link in (link for page in pages for link in page.select("a[href*='#']")):
        label = link["href"].rpartition("#")[2]
        if label in here:
            link["href"] = f"#{label}"
            link.attrs.pop("target", None)


def solutions(_, week, given):
    """The solutions of the sheet of a week as a page that prints, each with what earns its
    points."""
    k = week["week"]
    pages = [*course.course()["pages"], course.SHEETS]
    solved = "".join(
        solution(label, file) + marks(marking.parts(label), marking.error(label), given)
        for label in course.problems(week)
        for file in pages
        if course.stated_in(file, label)
    )
    title = f"Solutions of sheet {k}"
    drawn = in_words(numbers_of_drawn(week, problems.drawn(k, given["seed"])))
    return paper(
        title, f"<h2>{title}</h2><p>{OTHER_WAYS} {NOT_HERE.format(drawn)}</p>{solved}", given
    )


def numbers_of_drawn(week, drawn):
    return [f"S{week['week']}.{n}" for n, _ in deck.numbered(week, drawn)]


OTHER_WAYS = "Another correct way earns the same points. What follows correctly from an earlier error loses none."
NOT_HERE = (
    "The numbers of Exercises {} are drawn: <code>make kit</code> writes their solutions, to "
    "<code>solutions-drawn.html</code>."
)


def solutions_drawn(_, week, given):
    """The solutions of the problems of a sheet whose numbers are drawn."""
    k = week["week"]
    drawn = problems.drawn(k, given["seed"])
    solved = "".join(
        f'<div class="solution">{titled(f"Exercise {number}", each.title, each.parts)}'
        f"{problems.html(each.solution, given['setter'])}</div>{marks(each.parts, each.error, given)}"
        for number, each in zip(numbers_of_drawn(week, drawn), drawn, strict=True)
    )
    body = f"<h2>Sheet {k}: solutions for the seed {given['seed']}</h2><p>{OTHER_WAYS}</p>{solved}"
    return paper(f"Solutions of sheet {k}, seed {given['seed']}", body, given)


def marks(parts, error, given):
    """What earns the points of a problem, as a table, and an error that many make."""
    rows = "".join(
        f"<tr><th>{f'({part.name})' if not k else ''}</th><td>{points}</td>"
        f"<td>{problems.html(earned, given['setter'])}</td></tr>"
        for part in parts
        for k, (points, earned) in enumerate(part.earns)
    )
    total = marking.counted(marking.points(parts))
    often = problems.html(f"Typical error. {error}", given["setter"])
    return (
        f'<table class="marks"><caption>{total}</caption>{rows}'
        f'<tr><td colspan="3">{often}</td></tr></table>'
    )


def solution(label, file):
    """The solution of an exercise, with its code and what it prints.

    Raises ValueError for an exercise without one.
    """
    for each in built.page(file).find_all("div", class_="solution"):
        if each.find("a", href=re.compile(f"#{label}$")):
            return str(built.taken(each, file, deck.HERE))
    raise ValueError(f"{label}: no solution on {file}")


def paper(title, body, given):
    top = f'<p class="book">{escape(deck.called(given))}</p>'
    return f'{head(title, STYLES, given)}<body class="paper">{top}{body}</body></html>\n'


def read_me(k, week, given):
    """What a packed week is about, and what each of its files is for; ``pack`` lists these."""
    pages = "".join(
        f'<li><a href="../../{file}.html" target="_blank">{escape(course.called(file))}</a>, '
        f"{course.minutes(file)} minutes{for_proofs(file)}</li>"
        for file in week["read"]
    )
    body = (
        f"<h2>Week {k}: {escape(week['title'])}</h2><p>{escape(week['aim'])}</p>"
        f"<h3>What students read before</h3><ul>{pages}</ul>{BEFORE}"
        f"<h3>What is in this folder</h3>{FILES}{OWN_NUMBERS.format(given['seed'])}"
        f"<h3>What is planned, and not observed</h3>{PLANNED}"
        f"<h3>The book, and what you may do</h3>{where()}{ABOUT}{at_a_glance(given)}"
    )
    return paper(f"Read me: week {k}", body, given)


def at_a_glance(given):
    """All weeks of a course on a page: what is read, shown and handed out, how long it takes, and what
    students can do afterward."""
    rows = "".join(row(k, week, given) for k, week in enumerate(given["weeks"], 1))
    return (
        f'<div class="glance"><h2>{escape(given["course"])}: all weeks at a glance</h2>'
        f"<table><thead>{HEADS}</thead><tbody>{rows}</tbody></table></div>"
    )


HEADS = (
    "<tr><th>Week</th><th>Read before</th><th>Slides</th><th>Sheet</th><th>What students can do "
    "afterward</th></tr>"
)


def row(k, week, given):
    """The row of a week in the table of all weeks."""
    read = "".join(
        f'<li><a href="../../{file}.html" target="_blank">{escape(course.called(file))}</a>, '
        f"{course.minutes(file)} min{for_proofs(file)}</li>"
        for file in week["read"]
    )
    drawn = problems.drawn(week["week"], given["seed"])
    parts = [*map(marking.parts, course.problems(week)), *(each.parts for each in drawn)]
    points = sum(map(marking.points, parts))
    spoken = sum(part["minutes"] for part in week["lecture"])
    return (
        f"<tr><th>{k}. {escape(week['title'])}</th><td><ul>{read}</ul></td>"
        f"<td>{len(given['slides'][k])} slides, {spoken} min</td>"
        f"<td>{len(parts)} problems, {points} points, {marking.MINUTES * points} min; the choice "
        f"{marking.MINUTES * of_choice(week, drawn)} min</td><td>{escape(week['aim'])}</td></tr>"
    )


def where():
    """Where the book and its source are, or that their address is not set."""
    addresses = edition.web_address(ROOT), edition.repository(ROOT)
    if any(map(edition.is_placeholder, addresses)):
        said = [f"<code>{address}</code>" for address in addresses]
        return f"<p>{BOOK.format(*said)} {NO_ADDRESS}</p>"
    said = [f'<a href="{address}" target="_blank">{address}</a>' for address in addresses]
    return f"<p>{BOOK.format(*said)}</p>"


BOOK = "The book, <em>How Attention Learns</em>, is at {}, and its source at {}."
NO_ADDRESS = (
    "In this copy, the address has not been set: OWNER stands for the account that hosts the book."
)
PLANNED = (
    "<p>The minutes are planned, not measured: those of reading are counted from words and formulas, those "
    "of slides are shares of their part, and a point of a sheet counts as five. The notes say what students "
    "often think, and the solutions name a typical error of each problem. These are expected, not observed: "
    "no class has worked with them yet.</p>"
)


def for_proofs(file):
    minutes = course.proofs(file)
    return f", and {minutes} for the proofs" if minutes else ""


BEFORE = (
    "<p>They need linear algebra, calculus in several variables, and a little probability. Where a "
    "chapter asks for a guess, they write theirs down before they read on. Collect these guesses in "
    "the lecture.</p>"
)
FILES = "<!-- files -->"
OWN_NUMBERS = (
    "<p>The solutions of the problems of the sheet stand in the book, for everyone, but for the last ones: "
    "their numbers are drawn from the seed {}, and no web page shows what they lead to. So grade "
    "these. Anyone who has the book and knows the seed can draw the same numbers. So choose a seed of "
    "your own, as a line <code>seed: 7</code> in a file that lists your weeks, run <code>make kit "
    "COURSE=my.yml</code>, and keep the seed to yourself. The page <em>Three routes</em> of the book has "
    "such a file, and shows how to leave out, reorder or change weeks and slides.</p>"
)
WITHOUT_DRAWN = (
    "<p>The solutions of the problems whose numbers are drawn are not here, because anyone can download "
    "this folder. Get the source of the book{}, and run <code>make kit</code>: it writes them for the "
    "numbers of this sheet.</p>"
)
ABOUT = (
    "<p>Open the pages in any browser. They need no network, but the folder <code>files</code> beside "
    "them. A browser prints the slides in landscape, one on a page, and all other pages upright.</p>"
    "<p>You may use and change slides, sheets and solutions, and hand them on, if you name the source: "
    '<a href="https://creativecommons.org/licenses/by/4.0/" target="_blank">CC BY 4.0</a>.</p>'
)
DRAWN = "solutions-drawn"  # not among the pages of the book
READ_ME = "read-me"
PAGES = {
    READ_ME: read_me,
    "slides": slides,
    "notes": notes,
    "sheet": sheet,
    "solutions": solutions,
    DRAWN: solutions_drawn,
}


def write(given, target):
    """Write the pages of all weeks of a course into a folder; returns the folders of the weeks."""
    folders = []
    with mathematics.Setter() as setter:
        with_setter = given | {"setter": setter}
        weeks = dict(enumerate(given["weeks"], 1))
        shown = {k: deck.slides(k, week, with_setter) for k, week in weeks.items()}
        with_slides = with_setter | {"slides": shown}
        for k, week in weeks.items():
            folder = target / f"week-{k}"
            folder.mkdir(parents=True, exist_ok=True)
            for name, make in PAGES.items():
                page = make(k, week, with_slides)
                (folder / f"{name}.html").write_text(page, "utf-8")
            (folder / "quiz.gift.txt").write_text(quiz.gift(week["week"]), "utf-8")
            (folder / "quiz-qti.zip").write_bytes(quiz.qti(week["week"]))
            folders.append(folder)
        mathematics.add_rules(built.HTML / "_static" / mathematics.SHEET, setter)
    return folders


def collect(source, target=KIT):
    """A copy of the folder of a week with all that its pages ask for, to be packed."""
    folder = target / source.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    for path in folder.glob("*.html"):
        text = path.read_text("utf-8")
        for needed in set(
            re.findall(r'(?:src|href)="\.\./\.\./((?:_static|figures)/[^"#?]+)', text)
        ):
            copied(needed, folder / "files")
        text = re.sub(r'(src|href)="\.\./\.\./((?:_static|figures)/)', r'\1="files/\2', text)
        path.write_text(online(text), "utf-8")
    return folder


USES = {
    "slides": "the slides; S opens their notes",
    "notes": "the notes alone, to print: what to say at each slide, and at which minute",
    "slides-with-notes": "the slides, and behind each a page with its notes",
    "sheet": "the exercise sheet, to hand out; it has room to write, and what its problems use",
    "solutions": "the solutions, with what earns each point and a typical error of each problem; the solutions "
    "themselves are in the book, for everyone",
    DRAWN: "the solutions of the problems whose numbers are drawn; the book does not have them",
    "quiz.gift": "the quiz for Moodle, to import as GIFT",
    "quiz-qti": "the quiz for other platforms, as QTI 2.1",
}


def listed(folder, without=None):
    """The files of a packed week, in the order in which they are used, each with its use, below a
    sentence that says whether PDFs are among them."""
    printed, rows = WITH_PDFS if any(folder.glob("*.pdf")) else WITHOUT_PDFS, ""
    for use, said in USES.items():
        paths = [path for path in sorted(folder.iterdir()) if used_as(path) == use != without]
        links = ", ".join(f'<a href="{path.name}">{path.name}</a>' for path in paths)
        rows += f"<li>{links}: {said}</li>" if links else ""
    return f"{printed}<ul>{rows}</ul>{WITHOUT_DRAWN.format(source()) if without == DRAWN else ''}"


WITH_PDFS = "<p>Slides, notes, sheet and solutions are here as pages and as PDFs.</p>"
WITHOUT_PDFS = (
    "<p>There are no PDFs here. Print the pages from a browser, or run <code>make kit</code> in the "
    "source of the book: it writes the PDFs if it finds Chromium.</p>"
)


def source():
    """Where the source of the book is, if that has an address."""
    address = edition.repository(ROOT)
    return "" if edition.is_placeholder(address) else f' from <a href="{address}">{address}</a>'


def used_as(path):
    """``sheet`` for ``sheet.html``, and for ``week-1-sheet.pdf`` in the folder of week 1."""
    return path.stem.removeprefix(f"{path.parent.name}-")


def copied(name, folder):
    """Copy a file of the built book into a folder, and with a style the fonts it names."""
    source = built.HTML / name
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder / name)
    if source.suffix == ".css":
        for font in set(re.findall(r"url\([\"']?([^\"')]+\.woff2?)", source.read_text("utf-8"))):
            copied((Path(name).parent / font).as_posix(), folder)


def online(text):
    """Links to pages of the book lead to where it is published; where it has no address yet, they
    are words."""
    address = edition.web_address(ROOT)
    if address and not edition.is_placeholder(address):
        return re.sub(r'href="\.\./\.\./(book/)', rf'href="{address}\1', text)
    return re.sub(r'<a\b[^>]* href="\.\./\.\./book/[^>]*>(.*?)</a>', r"\1", text, flags=re.DOTALL)


def print_all(folders, notes=False):
    """Print slides, notes, sheet and solutions of packed weeks as PDF beside them, where there is a
    browser: the rest of a week needs none."""
    import chromium
    from playwright.sync_api import sync_playwright

    if chromium.path() is None:
        print(f"== without PDFs: {chromium.ABSENT}")
        return
    with sync_playwright() as driver:
        browser = chromium.launch(driver)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(chromium.PATIENCE)
        for folder in folders:
            print_slides(page, folder, f"{folder.name}-slides")
            if notes:
                name = f"{folder.name}-slides-with-notes"
                print_slides(page, folder, name, "&showNotes=separate-page")
            for name in ("notes", "sheet", "solutions", DRAWN):
                print_page(page, folder, name)
        browser.close()


def print_slides(page, folder, name, asked=""):
    """Print the slides of a packed week as ``name.pdf``, as the address asks of reveal.js."""
    page.goto(f"{(folder / 'slides.html').as_uri()}?print-pdf{asked}")
    page.wait_for_function("document.body.dataset.printable === 'yes'")
    page.pdf(path=folder / f"{name}.pdf", prefer_css_page_size=True, print_background=True)


def print_page(page, folder, name):
    """Print notes, a sheet or solutions of a packed week on A4, with the name of the week in the file's."""
    page.goto((folder / f"{name}.html").as_uri())
    page.pdf(
        path=folder / f"{folder.name}-{name}.pdf",
        format="A4",
        margin=MARGINS,
        display_header_footer=True,
        header_template="<span></span>",  # else the date, and the path of the file
        footer_template=FOOT,
    )


MARGINS = {"top": "16mm", "right": "18mm", "bottom": "16mm", "left": "18mm"}
FOOT = (
    '<p style="font: 8pt sans-serif; margin: 0 18mm; text-align: right; width: 100%">'
    '<span class="title"></span> · page <span class="pageNumber"></span> of '
    '<span class="totalPages"></span></p>'
)


def pack(folder, where, without=None):
    """Pack the folder of a week as one zip, without the pages of that name."""
    target = where / f"{folder.name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and used_as(path) not in (without, READ_ME):
                archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
        archive.writestr(f"{folder.name}/{READ_ME}.html", about(folder, without))
    return target


def about(folder, without=None):
    """The read-me of a packed week, with the list of its files."""
    text = (folder / f"{READ_ME}.html").read_text("utf-8")
    return text.replace(FILES, listed(folder, without))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pdf",
        action="store_true",
        help="print them, too, and put the packed weeks into _build/kit",
    )
    parser.add_argument(
        "--notes", action="store_true", help="print the slides with their notes, too"
    )
    parser.add_argument("--course", help="a file that describes a course of your own")
    asked = parser.parse_args()
    printing = asked.pdf or asked.notes
    try:
        folders = of_a_lecturer(asked.course) if asked.course else of_the_book()
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SystemExit(f"kit: {error}") from None
    if printing:
        print_all(folders, asked.notes)
    for folder in folders:
        if not asked.course:
            pack(folder, PUBLISHED, without=DRAWN)
        (folder / f"{READ_ME}.html").write_text(about(folder), "utf-8")
        if printing or asked.course:
            made = pack(folder, folder.parent)
            print(f"== {made.relative_to(ROOT)}, {made.stat().st_size / 1e6:.1f} MB")
    print(f"   slides, sheets, solutions and quizzes of {len(folders)} weeks")


def of_the_book():
    """The weeks of the book's course, ready to be packed, and among its pages."""
    with TemporaryDirectory() as pages:
        folders = write(own_course.OF_THE_BOOK | course.course(), Path(pages))
        for folder in folders:
            left_out = shutil.ignore_patterns(f"{DRAWN}.html", f"{READ_ME}.html")
            shutil.copytree(folder, PUBLISHED / folder.name, ignore=left_out, dirs_exist_ok=True)
        return [collect(folder) for folder in folders]


def of_a_lecturer(file):
    """The weeks of a course of one's own (own_course.py), ready to be packed in a folder of its name;
    the pages of the book stay as they are."""
    given, target = own_course.read(file), KIT / Path(file).stem
    shutil.rmtree(target, ignore_errors=True)
    with TemporaryDirectory() as pages:
        return [collect(folder, target) for folder in write(given, Path(pages))]


if __name__ == "__main__":
    main()
