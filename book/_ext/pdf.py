"""Print the built book as one PDF, and count its pictures: ``make pdf``."""

import mimetypes
import sys
from collections import Counter
from contextlib import closing
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, TextStringObject

sys.path.insert(0, str(Path(__file__).parent))
import chromium
import edition
from chromium import PATIENCE, SITE

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "pdf" / "how-attention-learns.pdf"
ON_SCREEN = {"book/start/guesses", "book/start/class"}  # have only what a browser brings
WIDTH = 642  # pixels of CSS between the margins of edition.css on A4

# Formulas and tables that are wider than the paper shrink to it.
FIT = """() => {
  for (const box of document.querySelectorAll("mjx-container[display=true], table, .cell_output svg, pre")) {
    const room = box.parentElement.getBoundingClientRect().width;
    const needs = Math.max(box.scrollWidth, box.firstElementChild?.getBoundingClientRect().width ?? 0);
    if (needs > room + 1 && room > 0) box.style.zoom = Math.max(room / needs, 0.45);
  }
}"""
# Leave of the document its first pages, and of these only the numbers in the contents.
NUMBER = """(numbers) => {
  document.querySelectorAll(".bd-article, .part-title").forEach((box) => box.remove());
  document.body.classList.add("numbers-only");
  document.head.insertAdjacentHTML("beforeend", "<style>@page { @bottom-center { content: none } }</style>");
  document.querySelectorAll("[data-to]").forEach((span) => { span.textContent = numbers[span.dataset.to]; });
}"""


def answer(route, folder, page):
    """Answer a request from the folder of the built book, or with the document itself."""
    path = unquote(urlsplit(route.request.url).path).lstrip("/")
    if path == "edition.html":
        return route.fulfill(body=page, content_type="text/html; charset=utf-8")
    file = folder / path
    if not (route.request.url.startswith(SITE) and file.is_file()):
        return route.abort()
    return route.fulfill(
        body=file.read_bytes(), content_type=mimetypes.guess_type(file)[0] or "font/woff2"
    )


def printed(browser, document, folder, target):
    """Print the document, and the numbers in its contents, which are known only then, as a sheet to
    lay over it."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 1000}, color_scheme="light")
    page.set_default_timeout(PATIENCE)
    page.route("**/*", lambda route: answer(route, folder, document))
    page.emulate_media(media="print")
    page.goto(f"{SITE}edition.html", wait_until="load")
    page.evaluate("() => document.fonts.ready.then(() => null)")
    page.evaluate(FIT)
    page.pdf(
        path=target, prefer_css_page_size=True, print_background=True, tagged=True, outline=True
    )
    page.evaluate(NUMBER, page_numbers(target))
    sheet = page.pdf(prefer_css_page_size=True)
    page.close()
    return PdfReader(BytesIO(sheet))


def page_numbers(path):
    """On which page each named place stands, counted from one."""
    reader = PdfReader(path)
    return {
        name.lstrip("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
        if "--" not in name
    }


def pictures(path):
    """Count the pictures of a PDF by their alt text, as a screen reader would find them."""
    found, waiting = Counter(), [PdfReader(path).trailer["/Root"]["/StructTreeRoot"]]
    while waiting:
        element = waiting.pop().get_object()
        if isinstance(element, list):
            waiting += element
        elif isinstance(element, dict):
            if element.get("/S") == "/Figure":
                found[element.get("/Alt", "")] += 1
            waiting += [element["/K"]] if "/K" in element else []
    return found


def finish(path, numbers, articles, root):
    """Write the numbers of the contents, the properties, and the bookmarks, which Chromium may
    write twice."""
    about = edition.citation(root)
    writer = PdfWriter(path, incremental=True)
    for page, sheet in zip(writer.pages, numbers.pages, strict=False):
        page.merge_page(sheet)
    writer.add_metadata(
        {
            "/Title": about["title"],
            "/Author": ", ".join(a["name"] for a in about["authors"]),
            "/Subject": about["abstract"],
            "/Keywords": ", ".join(about["keywords"]),
        }
    )
    marks = list(in_order(writer.root_object["/Outlines"]))
    for mark, name in zip(marks, edition.bookmarks(articles), strict=True):
        mark[NameObject("/Title")] = TextStringObject(name)
    writer.write(path)


def in_order(mark):
    """Give the bookmarks below one, each before those below it."""
    below = mark.get("/First")
    while below is not None:
        yield below.get_object()
        yield from in_order(below.get_object())
        below = below.get_object().get("/Next")


def make(chosen, target, browser, root=ROOT, folder=HTML):
    """Print the chosen pages to ``target``; returns their articles. Raises edition.Missing for a
    lost picture."""
    sources = {page: (folder / f"{page.name}.html").read_text("utf-8") for page in chosen}
    known = {page.name: page for page in chosen}
    articles = [edition.article(page, html, known) for page, html in sources.items()]
    head = edition.head_of(sources.values())
    target.parent.mkdir(parents=True, exist_ok=True)
    numbers = printed(browser, edition.document(root, articles, head), folder, target)
    finish(target, numbers, articles, root)
    lost = Counter(alt for each in articles for alt in each.figures) - pictures(target)
    if lost:
        raise edition.Missing("pictures that the PDF has lost: " + "; ".join(lost.elements()))
    return articles


def main():
    if not HTML.is_dir():
        raise SystemExit("no built book at _build/html: run `make book` first")
    with sync_playwright() as playwright, closing(chromium.launch(playwright)) as browser:
        try:
            articles = make(
                [page for page in edition.pages(ROOT) if page.name not in ON_SCREEN],
                TARGET,
                browser,
            )
        except edition.Missing as lost:
            raise SystemExit(f"no PDF: {lost}") from lost
    count, figures = len(PdfReader(TARGET).pages), sum(len(each.figures) for each in articles)
    print(
        f"{TARGET.relative_to(ROOT)}: {count} pages, {len(articles)} chapters, all of their "
        f"{figures} pictures"
    )


if __name__ == "__main__":
    main()
