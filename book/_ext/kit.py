"""What a lecturer takes away: ``python book/_ext/kit.py`` writes, for each week of the course,
slides, the sheet, its solutions and the quiz into the built book, ``_build/html/kit/week-N``, and
beside it ``week-N.zip``, which holds all that they need. With ``--pdf`` slides, sheet and solutions
are in it as PDF, too, and it stands in ``_build/kit`` as well; with ``--notes`` also the slides
with a page of notes behind each.
"""

import argparse
import re
import shutil
import zipfile
from html import escape
from pathlib import Path

import built
import course
import deck
import edition
import quiz

from livegrad.live.widget import SAVED

ROOT = Path(__file__).parents[2]
KIT = built.HTML.parent / "kit"
HEAD = """<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}
</head>
"""
REVEAL = ["_static/vendor/reveal/reveal.css"]
STYLES = ["_static/pygments.css", "_static/mathematics.css", "_static/kit.css"]
SCRIPTS = ["_static/vendor/reveal/reveal.js", "_static/vendor/reveal/notes.js", "_static/deck.js"]


def head(title, styles):
    """The head of a page of a week."""
    links = "\n".join(f'<link rel="stylesheet" href="../../{style}">' for style in styles)
    return HEAD.format(title=escape(f"{title} · How Attention Learns"), styles=links)


def slides(k, week):
    """The slides of week ``k`` as a page."""
    scripts = "\n".join(f'<script defer src="../../{script}"></script>' for script in SCRIPTS)
    shown = "\n".join(deck.slides(k, week))
    top = head(f"Week {k}: {week['title']}", REVEAL + STYLES)
    return (
        f'{top}<body class="deck">{SAVED}<div class="reveal">'
        f'<div class="slides">\n{shown}\n</div></div>\n{scripts}</body></html>\n'
    )


def sheet(k, week):
    """The sheet of week ``k`` as a page that prints, with a line for who hands it in."""
    problems = built.taken(built.sheet(k), course.SHEETS, deck.HERE)
    for each in problems.select(".solution, div.cell"):
        each.decompose()
    return paper(f"Sheet {k}", HANDED_IN.format(points=course.points(week)) + str(problems))


HANDED_IN = (
    '<p class="handed-in"><span>Name</span><span>Date</span><span>Points, of {points}</span></p>'
)


def solutions(k, week):
    """The solutions of sheet ``k`` as a page that prints."""
    found = course.course()
    solved = "".join(
        solution(label, file)
        for label in week["sheet"]
        for file in found["pages"]
        if course.stated_in(file, label)
    )
    own = "".join(solution(label, course.SHEETS) for label in week["own"])
    title = built.sheet(k).find("h2").find(string=True)
    return paper(f"Solutions of sheet {k}", f"<h2>{escape(title)}: solutions</h2>{solved}{own}")


def solution(label, file):
    """The solution of an exercise, with its code and what it prints.

    Raises ValueError for an exercise without one.
    """
    for each in built.page(file).find_all("div", class_="solution"):
        if each.find("a", href=re.compile(f"#{label}$")):
            return str(built.taken(each, file, deck.HERE))
    raise ValueError(f"{label}: no solution on {file}")


def paper(title, body):
    return f'{head(title, STYLES)}<body class="paper"><p class="book">How Attention Learns</p>{body}</body></html>\n'


PAGES = {"slides.html": slides, "sheet.html": sheet, "solutions.html": solutions}


def write():
    """Write the pages of all weeks into the built book; returns how many weeks."""
    weeks = course.course()["weeks"]
    for k, week in enumerate(weeks, 1):
        folder = built.HTML / "kit" / f"week-{k}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, make in PAGES.items():
            (folder / name).write_text(make(k, week), "utf-8")
        (folder / "quiz.gift.txt").write_text(quiz.gift(k), "utf-8")
        (folder / "quiz-qti.zip").write_bytes(quiz.qti(k))
    return len(weeks)


def collect(k):
    """The folder of week ``k`` with all that its pages ask for, to be packed:
    ``_build/kit/week-k``."""
    folder = KIT / f"week-{k}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built.HTML / "kit" / f"week-{k}", folder)
    for path in folder.glob("*.html"):
        text = path.read_text("utf-8")
        for needed in set(
            re.findall(r'(?:src|href)="\.\./\.\./((?:_static|figures)/[^"#?]+)', text)
        ):
            copied(needed, folder / "files")
        text = re.sub(r'(src|href)="\.\./\.\./((?:_static|figures)/)', r'\1="files/\2', text)
        path.write_text(online(text), "utf-8")
    return folder


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
            for name in ("sheet", "solutions"):
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


def pack(folder):
    """Pack the folder of a week as one zip in the built book."""
    target = built.HTML / "kit" / f"{folder.name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
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
    given = parser.parse_args()
    printing = given.pdf or given.notes
    folders = [collect(k) for k in range(1, write() + 1)]
    if printing:
        print_all(folders, given.notes)
    for folder in folders:
        target = pack(folder)
        if printing:
            shutil.copy(target, KIT)
            print(
                f"== {(KIT / target.name).relative_to(ROOT)}, {target.stat().st_size / 1e6:.1f} MB"
            )
    print(f"   slides, sheets, solutions and quizzes of {len(folders)} weeks")


if __name__ == "__main__":
    main()
