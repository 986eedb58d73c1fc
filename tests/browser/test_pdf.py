"""The PDF edition, made of two built pages; ``make pdf`` counts the pictures of all of them by the
same code."""

import sys
from pathlib import Path

import pytest

from checks import missing
from visits import BUILD, NO_BUILD

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))
import edition  # noqa: E402
import pdf  # noqa: E402

CHOSEN = ["book/how-to-read", "book/multihead/08_further"]
PAGES = {page.name: page for page in edition.pages(ROOT)}
PAGE = PAGES["book/how-to-read"]


def of(body):
    """The article of a page with this body."""
    html = f'<article class="bd-article"><h1>A<a class="headerlink">#</a></h1>{body}</article>'
    return edition.article(PAGE, html, PAGES)


@pytest.fixture(scope="module")
def printed(chromium, tmp_path_factory):
    """Two pages of the built book as a PDF: their articles and a reader of the file."""
    if not BUILD.is_dir():
        missing(NO_BUILD)
    target = tmp_path_factory.mktemp("pdf") / "two.pdf"
    articles = pdf.make([PAGES[name] for name in CHOSEN], target, chromium, folder=BUILD)
    return articles, target, pdf.PdfReader(target)


def test_every_figure_of_a_page_is_a_picture_of_the_pdf(printed):
    articles, target, _ = printed
    html = (BUILD / f"{CHOSEN[1]}.html").read_text("utf-8")
    figures = html.count('class="mha-figure"') + html.count('class="mha-fallback"')
    assert figures > 5
    assert len(articles[1].figures) == figures
    assert (
        sum(count for alt, count in pdf.pictures(target).items() if alt in articles[1].figures)
        == figures
    )


def test_the_pdf_has_names_numbers_bookmarks_and_typeset_mathematics(printed):
    articles, _, reader = printed
    assert reader.metadata.title == edition.citation(ROOT)["title"]
    assert [
        mark["/Title"] for mark in pdf.in_order(reader.root_object["/Outlines"])
    ] == edition.bookmarks(articles)
    contents = reader.pages[1].extract_text()
    text = "".join(page.extract_text() for page in reader.pages)
    assert "Contents" in contents
    places = [reader.named_destinations[f"/{PAGES[name].slug}"] for name in CHOSEN]
    assert contents.split()[-2:] == [
        f"{reader.get_destination_page_number(place) + 1}" for place in places
    ]
    assert r"\(" not in text and r"\[" not in text and "\\frac" not in text
    assert "Show code" not in text and "Click to" not in text
    assert "Move its controls on the web" in text


def test_links_lead_inside_or_to_the_web():
    made = of(
        '<a href="notation.html#model">a</a><a href="#b">b</a><a href="x.html">c</a><a href="https://d.org">d</a>'
        '<a href="#figure=1">e</a><p id="b"></p>'
    ).html
    web = edition.web_address(ROOT)
    assert (
        'href="#notation--model"' in made
        and 'href="#how-to-read--b"' in made
        and 'id="how-to-read--b"' in made
    )
    assert f'href="{web}book/x.html"' in made and 'href="https://d.org"' in made
    assert f'href="{web}book/how-to-read.html#figure=1"' in made


def test_a_picture_keeps_its_parts():
    made = of(
        '<svg role="img" aria-label="a"><clipPath id="c"></clipPath><g clip-path="url(#c)"></g>'
        "<path style=\"fill: url('#c')\"></path></svg>"
    ).html
    name = "how-to-read--c"
    assert (
        f'id="{name}"' in made and f'clip-path="url(#{name})"' in made and f"url('#{name}')" in made
    )


def test_a_drawing_keeps_its_style_and_other_style_is_gone():
    made = of(
        "<svg><style>rect { fill: none }</style><rect></rect></svg><style>p { color: red }</style>"
    )
    assert "<style>rect" in made.html and "red" not in made.html


def test_small_pictures_beside_links_are_gone():
    made = of('<p><img class="mha-thumbnail" src="a.svg" alt=""><a href="#b">B</a></p>')
    assert made.figures == () and "<img" not in made.html


def test_dropdowns_are_open_and_buttons_are_gone():
    made = of(
        '<div class="admonition dropdown toggle-hidden"><p>proof</p></div><details><p>more</p></details>'
        '<details class="hide above-input"><p>code</p></details><button>press</button>'
    ).html
    assert "proof" in made and "more" in made and "<details open" in made
    assert "code" not in made and "press" not in made and "#</a>" not in made


@pytest.mark.parametrize(
    "body",
    [
        '<figure class="mha-figure" aria-label="a"><div></div></figure>',
        '<div class="cell_output"><figure class="mha-fallback"></figure>'
        '<script type="application/vnd.jupyter.widget-view+json">{}</script></div>',
    ],
    ids=["plotly", "live"],
)
def test_a_figure_without_a_picture_is_no_edition(body):
    with pytest.raises(edition.Missing, match="has no picture"):
        of(body)


def test_a_picture_that_is_lost_is_no_edition(chromium, tmp_path, monkeypatch):
    html = (
        '<article class="bd-article"><h1>A</h1><svg role="img" aria-label="a line"></svg></article>'
    )
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "how-to-read.html").write_text(f"<html><body>{html}</body></html>")
    monkeypatch.setattr(edition, "STYLE", tmp_path / "style.css")
    (tmp_path / "style.css").write_text("svg { display: none }")
    with pytest.raises(edition.Missing, match="lost: a line"):
        pdf.make([PAGE], tmp_path / "a.pdf", chromium, folder=tmp_path)
