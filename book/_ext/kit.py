"""What a lecturer takes away: ``python book/_ext/kit.py`` writes, for each week of the course,
slides, the sheet, its solutions and the quiz into the built book, ``_build/html/kit/week-N``, and
beside it ``week-N.zip``, which holds all that they need. With ``--pdf`` slides, sheet and solutions
are in it as PDF, too, and it stands in ``_build/kit`` as well; with ``--notes`` also the slides
with a page of notes behind each. ``--course my.yml`` makes the weeks of a course of one's own, as
own_course.py describes it, in ``_build/kit/my``.

A sheet ends with two problems whose numbers a seed draws (problems.py). Their solutions are in
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
    shown = "\n".join(deck.slides(k, week, given))
    top = head(f"Week {k}: {week['title']}", REVEAL + STYLES, given)
    return (
        f'{top}<body class="deck">{SAVED}<div class="reveal">'
        f'<div class="slides">\n{shown}\n</div></div>\n{scripts}</body></html>\n'
    )


def sheet(_, week, given):
    """The sheet of a week as a page that prints, with a line for who hands it in."""
    k = week["week"]
    stated = built.taken(built.sheet(k), course.SHEETS, deck.HERE)
    for each in stated.select(".solution, div.cell"):
        each.decompose()
    drawn = problems.drawn(k, given["seed"])
    (alone,) = (each for each in stated.find_all("p") if each.get_text().startswith(ALONE))
    listed = ", ".join(
        f"Exercise S{k}.{n} <em>{course.effort(problem.minutes).strip('*')}</em>"
        for n, problem in deck.numbered(week, drawn)
    )
    alone.contents[-1].replace_with(BeautifulSoup(f", {listed}. {OF_DRAWN}", "html.parser"))
    points = course.points(week) + sum(problem.minutes // 5 for problem in drawn)
    asked = "".join(
        f'<div class="exercise"><p class="admonition-title">{escape(title)}</p>'
        f"{problems.html(problem.ask, given['setter'])}</div>"
        for title, problem in zip(deck.titles_of_drawn(week, given), drawn, strict=True)
    )
    return paper(f"Sheet {k}", f"{HANDED_IN.format(points=points)}{stated}{asked}", given)


HANDED_IN = (
    '<p class="handed-in"><span>Name</span><span>Date</span><span>Points, of {points}</span></p>'
)
ALONE = "Of this sheet alone"  # as course.sheet begins the list
OF_DRAWN = "The last two can be done with a calculator."


def solutions(_, week, given):
    """The solutions of the sheet of a week as a page that prints."""
    k = week["week"]
    found = course.course()
    solved = "".join(
        solution(label, file)
        for label in week["sheet"]
        for file in found["pages"]
        if course.stated_in(file, label)
    )
    own = "".join(solution(label, course.SHEETS) for label in week["own"])
    title = built.sheet(k).find("h2").find(string=True)
    body = f"<h2>{escape(title)}: solutions</h2>{solved}{own}"
    return paper(f"Solutions of sheet {k}", body, given)


def solutions_drawn(_, week, given):
    """The solutions of the problems of a sheet whose numbers are drawn."""
    k = week["week"]
    solved = "".join(
        f'<div class="solution"><p class="admonition-title">{escape(title)}</p>'
        f"{problems.html(problem.solution, given['setter'])}</div>"
        for title, problem in zip(
            deck.titles_of_drawn(week, given), problems.drawn(k, given["seed"]), strict=True
        )
    )
    body = f"<h2>Sheet {k}: solutions for the seed {given['seed']}</h2>{solved}"
    return paper(f"Solutions of sheet {k}, seed {given['seed']}", body, given)


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


DRAWN = "solutions-drawn"  # not among the pages of the book
PAGES = {
    "slides": slides,
    "sheet": sheet,
    "solutions": solutions,
    DRAWN: solutions_drawn,
}


def write(given, target):
    """Write the pages of all weeks of a course into a folder; returns the folders of the weeks."""
    folders = []
    with mathematics.Setter() as setter:
        for k, week in enumerate(given["weeks"], 1):
            folder = target / f"week-{k}"
            folder.mkdir(parents=True, exist_ok=True)
            for name, make in PAGES.items():
                page = make(k, week, given | {"setter": setter})
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


READ_ME = {
    "slides": "the slides; S opens notes with minutes, answers and proofs",
    "sheet": "the exercise sheet, to hand out",
    "solutions": "the solutions of the problems from the book and of this sheet",
    DRAWN: "the solutions of the two problems whose numbers are drawn; keep them",
    "quiz.gift": "the quiz for Moodle, to import as GIFT",
    "quiz-qti": "the quiz for other platforms, as QTI 2.1",
}


def read_me(folder, without=None):
    """A page that says what each file of a packed week is; a PDF is its page, printed."""
    rows = "".join(
        f'<li><a href="{path.name}">{path.name}</a>: {READ_ME[path.stem.removesuffix(NOTES)]}'
        f"{', with their notes' if path.stem.endswith(NOTES) else ''}</li>"
        for path in sorted(folder.iterdir())
        if path.stem.removesuffix(NOTES) in READ_ME and path.stem != without
    )
    title = f"What is in {folder.name}"
    about = "<p>Open the pages in any browser; they need no network, but the folder files.</p>"
    head = HEAD.format(title=title, styles='<link rel="stylesheet" href="files/_static/kit.css">')
    return f'{head}<body class="paper"><h2>{title}</h2><ul>{rows}</ul>{about}</body></html>\n'


NOTES = "-with-notes"


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
    """Print slides, sheet and solutions of packed weeks as PDF beside them, where there is a
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
            print_slides(page, folder)
            if notes:
                print_slides(page, folder, "slides-with-notes", "&showNotes=separate-page")
            for name in ("sheet", "solutions", DRAWN):
                page.goto((folder / f"{name}.html").as_uri())
                page.pdf(
                    path=folder / f"{name}.pdf", format="A4", margin=dict.fromkeys(SIDES, "18mm")
                )
        browser.close()


def print_slides(page, folder, name="slides", asked=""):
    """Print the slides of a packed week as ``name.pdf``, as the address asks of reveal.js."""
    page.goto(f"{(folder / 'slides.html').as_uri()}?print-pdf{asked}")
    page.wait_for_function("document.body.dataset.printable === 'yes'")
    page.pdf(path=folder / f"{name}.pdf", prefer_css_page_size=True, print_background=True)


SIDES = ("top", "right", "bottom", "left")


def pack(folder, where, without=None):
    """Pack the folder of a week as one zip, without the pages of that name."""
    target = where / f"{folder.name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.stem != without:
                archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
        archive.writestr(f"{folder.name}/read-me.html", read_me(folder, without))
    return target


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
        if printing or asked.course:
            made = pack(folder, folder.parent)
            print(f"== {made.relative_to(ROOT)}, {made.stat().st_size / 1e6:.1f} MB")
    print(f"   slides, sheets, solutions and quizzes of {len(folders)} weeks")


def of_the_book():
    """The weeks of the book's course, ready to be packed, and among its pages."""
    with TemporaryDirectory() as pages:
        folders = write(own_course.OF_THE_BOOK | course.course(), Path(pages))
        for folder in folders:
            kept = shutil.ignore_patterns(f"{DRAWN}.html")
            shutil.copytree(folder, PUBLISHED / folder.name, ignore=kept, dirs_exist_ok=True)
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
