"""Links: `make links` asks other hosts (Sphinx's linkcheck), and these tests follow those inside
the built book."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
import yaml

from checks import missing
from scripts import load
from visits import BUILD, NO_BUILD

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "_config.yml").read_text("utf-8"))["sphinx"][
    "config"
]


class Page(HTMLParser):
    """What one page asks for, its links and its pictures, scripts and frames, and the names of its
    places."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = set(), set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names |= {attributes.get("id"), attributes.get("name") if tag == "a" else None}
        self.links |= {attributes.get("href", "")} if tag == "a" else set()
        asks = ("src", "data-src", "data-background-iframe", "poster") + ("href",) * (tag == "link")
        self.links |= {attributes[name] for name in asks if attributes.get(name)}


def faults(build):
    """Links to pages or places of the book, and pictures, scripts and frames, that are not there."""
    pages = {
        path: Page(path) for path in sorted(build.rglob("*.html")) if "_static" not in path.parts
    }
    for path, page in pages.items():
        for link in sorted(
            link for link in page.links if not re.match("(https?|mailto|javascript|data):", link)
        ):
            target, anchor = urldefrag(unquote(link))
            to = (path.parent / target.split("?")[0]).resolve() if target else path
            state = not anchor or "=" in anchor  # of a live figure, which reads it
            if not to.is_file() or not (state or to not in pages or anchor in pages[to].names):
                yield f"{path.name}: {link}"


def test_links_and_pictures_of_the_built_book_lead_somewhere(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">x</a><a href="b.html#gone">x</a><a href="c.html">x</a>'
        '<img src="d.svg"><iframe data-src="b.html?slides"></iframe><iframe data-src="e.html?x">'
    )
    (tmp_path / "b.html").write_text(
        '<p id="here"><a href="#here">x</a><a href="#x=1">x</a><a href="https://x.y">x</a>'
    )
    gone = ["b.html#gone", "c.html", "d.svg", "e.html?x"]
    assert list(faults(tmp_path)) == [f"a.html: {link}" for link in gone]
    if not BUILD.is_dir():
        missing(NO_BUILD)
    assert list(faults(BUILD)) == []


def test_every_link_to_another_host_is_followed_but_to_the_books_own_place_before_it_has_one():
    others = [
        "https://doi.org/10.1/x",
        "https://github.com/someone/how-attention-learns",
        "https://someone.github.io/x",
    ]
    own = [
        "https://github.com/OWNER/how-attention-learns/blob/main/x.py",
        "https://OWNER.github.io/x.pdf",
    ]
    ignored = [
        uri
        for uri in own + others
        if any(re.match(line, uri) for line in CONFIG["linkcheck_ignore"])
    ]
    assert ignored == own
    asked = [load("book/_ext/bookext.py").ask_the_register(None, uri) for uri in others]
    assert asked == ["https://doi.org/api/handles/10.1/x", *others[1:]]


@pytest.mark.parametrize("first", ["01_a_small_attention_model", "01_further"])
def test_next_leads_from_chapter_to_chapter_past_the_further_pages(first):
    if not BUILD.is_dir():
        missing(NO_BUILD)
    path, visited = BUILD / f"book/multihead/{first}.html", []
    while after := re.search(r'class="right-next"\s+href="([^"]+)"', path.read_text("utf-8")):
        path = (path.parent / after[1]).resolve()
        visited.append(path)
    assert [path.stem[:2] for path in visited[:16]] == [f"{k:02}" for k in range(2, 18)]
    assert not [path for path in visited if path.stem.endswith("_further")]
