"""The whole book as one HTML document for paper, made of its built pages: what ``make pdf``
prints."""

import posixpath
import re
import tomllib
from copy import copy
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import urldefrag

import yaml
from bs4 import BeautifulSoup

from mhabook import _address
from mhabook._address import is_placeholder as is_placeholder

STYLE = Path(__file__).with_name("edition.css")
# What asks for a hand, what only a screen can show, and code that the web page hides.
LEFT_OUT = (
    "script:not([type*=widget]), style:not(svg *), button, input, select, .headerlink, .mha-keys, "
    ".cell.tag_hide-cell, details.hide, .mha-to-figure, .mha-guesses, .mha-guessed, .mha-all-guesses, "
    ".mha-thumbnail, noscript"
)
PICTURE = "svg[role=img]"
WIDGET = "script[type='application/vnd.jupyter.widget-view+json']"
ON_THE_WEB = "Move its controls on the web: "
SCREEN_ONLY = "An interactive part of the page stands here on the web: "


@dataclass(frozen=True)
class Page:
    """One page of the book: its name without ending, the part it belongs to, the address of its web
    version."""

    name: str
    part: str
    web: str

    def on_the_web(self, file, anchor=""):
        """The address of a file of the book on the web, and of a place in it."""
        return self.web.removesuffix(f"{self.name}.html") + file + (f"#{anchor}" if anchor else "")

    @property
    def notebook(self):
        """Where its notebook stands among those that readers run."""
        return f"{self.name.removeprefix('book/')}.ipynb"

    @property
    def slug(self):
        return self.name.removeprefix("book/").replace("/", "-")


def pages(root):
    """List the pages in the order of _toc.yml; a chapter's further page follows it."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    named = [(toc["root"], "")]
    named += [
        (page["file"], part["caption"])
        for part in toc["parts"]
        for chapter in part["chapters"]
        for page in (chapter, *chapter.get("sections", ()))
    ]
    return [Page(name, part, f"{web_address(root)}{name}.html") for name, part in named]


def list_guesses(article):
    """Put a list of what is asked in place of fields for guesses."""
    new_tag = BeautifulSoup("", "html.parser").new_tag
    for fields in article.select(".mha-guesses"):
        asked = new_tag("ol")
        for guess in fields.select(".mha-guess"):
            words = re.sub(r"^\w+\. ", "", (guess.legend or guess).get_text().strip())
            choices = [
                label.get_text().strip() for label in guess.select("label:has(> input[type=radio])")
            ]
            row = new_tag("li")
            row.string = " ".join([words, " · ".join(choices)]).strip()
            asked.append(row)
        fields.replace_with(asked)


def citation(root):
    """What CITATION.cff says."""
    return yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))


def repository(root):
    """The address of the repository, which pyproject.toml names."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["urls"][
        "Repository"
    ]


def web_address(root):
    """The address of the book on the web."""
    return _address.web_address(repository(root))


class Missing(Exception):
    """A figure of a built page that has no picture to print."""


@dataclass(frozen=True)
class Article:
    """A page made ready for paper: its HTML, its headings, the title first, and the alt texts of
    its pictures."""

    page: Page
    html: str
    headings: tuple
    figures: tuple

    @property
    def title(self):
        return self.headings[0]


def article(page, html, known):
    """Make the article of a built page ready for paper.

    Every figure becomes its picture; a live one says where it lives. Dropdowns stand open, code
    that the page hides is left out. Links to the pages ``known`` lead inside the document, those to
    other pages of the book to the web. Raises Missing for a figure without a picture.
    """
    box = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
    for figure in box.select(".mha-figure, .mha-fallback"):
        picture_alone(figure, page)
    for view in box.select(WIDGET):
        address_of_widget(view, page)
    list_guesses(box)
    for thing in box.select(LEFT_OUT):
        thing.decompose()
    for thing in box.select("details"):
        thing["open"] = ""
    for link in box.select("a[href]"):
        link["href"] = target(link["href"], page, known)
    for image in box.select("img[src]"):
        image["src"] = resolved(image["src"], page)
    own_names(box, page)
    headings = box.find_all(re.compile("^h[1-6]$"))
    for heading in headings if page.part else ():  # the part stands above
        heading.name = f"h{min(int(heading.name[1]) + 1, 6)}"
    pictures = [picture["aria-label"] for picture in box.select(PICTURE)]
    pictures += [picture["alt"] for picture in box.select("img[alt]")]
    titles = tuple(map(plain, headings))
    return Article(page, box.decode_contents(formatter="html"), titles, tuple(pictures))


def plain(heading):
    """The words of a heading, for places that set no formulas: bookmarks and the heads of pages."""
    heading = copy(heading)
    for formula in heading.select("[data-tex]"):
        formula.string = formula["data-tex"].replace(r"\sqrt ", "√").replace("\\", "")
    return " ".join(heading.get_text().split())


def picture_alone(figure, page):
    """Leave of a figure its caption and the picture that stands where no script runs."""
    picture, caption = figure.select_one(PICTURE), figure.find("figcaption")
    if picture is None:
        raise Missing(f"{page.name}: the figure “{figure.get_text().strip()}” has no picture")
    figure.clear()
    figure.extend([piece for piece in (caption, picture) if piece])
    del figure["role"], figure["aria-label"]  # the picture says it


def address_of_widget(view, page):
    """Put a link to the living page under the picture of a live figure; a widget without one is
    only a link."""
    cell = view.find_parent(class_="cell_output")
    words = ON_THE_WEB if cell and cell.select_one(".mha-fallback") else SCREEN_ONLY
    link = f'<p class="on-the-web">{words}<a href="{page.web}">{page.web.split("//")[1]}</a></p>'
    view.replace_with(BeautifulSoup(link, "html.parser"))


def resolved(address, page):
    """An address as seen from the root of the site."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page.name), address))


def target(href, page, known):
    """Where a link leads on paper: another place of this document, or the web."""
    if re.match(r"[a-z]+:", href):
        return href
    path, anchor = urldefrag(href)
    file = resolved(path, page) if path else f"{page.name}.html"
    name = file.removesuffix(".html")
    if name in known and "=" not in anchor:  # a state of a live figure lives on the web alone
        return f"#{name_of(known[name].slug, anchor)}"
    return page.on_the_web(file, anchor)


def name_of(slug, anchor=""):
    """The name of a place: that of its page before its own, for two pages may use the same."""
    return f"{slug}--{anchor}" if anchor else slug


def own_names(box, page):
    """Put the name of the page before each name of the article, and where a picture uses one of its
    parts."""
    for thing in box.select("[id]"):
        thing["id"] = name_of(page.slug, thing["id"])
    for part in box.select(f"{PICTURE} :is([clip-path], [style])"):
        for attribute in {"clip-path", "style"} & part.attrs.keys():
            part[attribute] = re.sub(r"(url\('?#)", rf"\1{page.slug}--", part[attribute])
    for attribute in ("aria-labelledby", "aria-describedby", "for"):
        for thing in box.select(f"[{attribute}]"):
            del thing[attribute]


def contents(articles):
    """The table of contents; the numbers of the pages come when they are known."""
    lines, part = [], ""
    for each in articles:
        if each.page.part != part:
            part = each.page.part
            lines.append(f'<p class="part">{escape(part)}</p>')
        lines.append(
            f'<p><a href="#{each.page.slug}">{escape(each.title)}</a><span class="dots"></span>'
            f'<span class="number" data-to="{each.page.slug}"></span></p>'
        )
    return f'<nav class="table-of-contents"><h1 id="contents">Contents</h1>{"".join(lines)}</nav>'


def title_page(root):
    """The first page: what this is, which version, and under which licenses."""
    about = citation(root)
    web, authors = web_address(root), ", ".join(author["name"] for author in about["authors"])
    return (
        f'<section class="title-page"><img src="_static/logo.svg" alt=""><p class="book-title">{about["title"]}</p>'
        f"<p>{escape(about['abstract'])}</p><p>{escape(authors)}</p><p>Version "
        f"{about['version']}</p>"
        f'<p class="small">The living book, where figures train as you move their controls, is at '
        f'<a href="{web}">{web}</a>. Each live figure stands here as its first frame. Proofs and solutions are '
        f"open; the code that draws figures and checks numbers is on the web alone. "
        f"Text and figures: CC BY 4.0. Code: MIT.</p></section>"
    )


def document(root, articles, head):
    """The whole document: title page, contents, and every article, each part under a heading of its
    own."""
    body, part = [], ""
    for number, each in enumerate(articles):
        if each.page.part != part:
            part = each.page.part
            body.append(f'<h1 class="part-title">{escape(part)}</h1>')
        body.append(
            f'<article class="bd-article" id="{each.page.slug}" style="page: p{number}">{each.html}</article>'
        )
    heads = [each.title.replace('"', "'") for each in articles]
    names = "".join(
        f'@page p{number} {{ @top-center {{ content: "{title}" }} }}'
        for number, title in enumerate(heads)
    )
    about = citation(root)
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
        f"<title>{about['title']}</title>{head}<style>{STYLE.read_text('utf-8')}{names}</style></head>"
        f'<body><main class="bd-content">{title_page(root)}{contents(articles)}{"".join(body)}</main></body>'
        "</html>"
    )


def bookmarks(articles):
    """The headings of the document in their order."""
    names, part = ["Contents"], ""
    for each in articles:
        names += [each.page.part] * (each.page.part != part) + list(each.headings)
        part = each.page.part
    return names


def head_of(sources):
    """The style sheets of the built pages, each once, as seen from the root of the site."""
    found = {}
    for html in sources:
        soup = BeautifulSoup(html.split("<body", 1)[0], "html.parser")
        for sheet in soup.select("link[rel=stylesheet]"):
            sheet["href"] = re.sub(r"^(\.\./)+", "", sheet["href"])
            found[str(sheet)] = None
    return "".join(found)
