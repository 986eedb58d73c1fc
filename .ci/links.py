"""Follow every link of the built book: inside it to a page and a place there, outside it to an answer.

A server that answers 403 or 429 refuses programs, not readers; such links are listed, and do not fail.
"""

import sys
import tomllib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "_build" / "html"
REFUSES = {401, 403, 405, 418, 429, 503, 999}
AGENT = {"User-Agent": "Mozilla/5.0 (link check of the book How Attention Learns)"}


class Page(HTMLParser):
    """The links and the names of places of one page."""

    def __init__(self, html):
        super().__init__()
        self.links, self.names = set(), set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names |= {attributes.get("id"), attributes.get("name") if tag == "a" else None} - {None}
        if tag == "a" and attributes.get("href"):
            self.links.add(attributes["href"])


def read(build):
    """Read all pages: {path: Page}."""
    found = (path for path in sorted(build.rglob("*.html")) if "_static" not in path.parts)
    return {path: Page(path.read_text("utf-8")) for path in found}


def inner_faults(pages):
    """List the links to pages, files or places of the book that are not there."""
    faults = []
    for path, page in pages.items():
        for link in sorted(link for link in page.links if not is_outside(link)):
            target, anchor = urldefrag(unquote(link))
            to = (path.parent / target).resolve() if target else path
            known = pages.get(to)
            state = "=" in anchor  # of a live figure, which reads it
            if not to.is_file() or (anchor and not state and known and anchor not in known.names):
                faults.append(f"{path.name}: {link}")
    return faults


def is_outside(link):
    return link.startswith(("http:", "https:", "mailto:", "javascript:", "data:"))


def outer_links(pages, own):
    """All addresses of other hosts, each once; the book's own repository only when it has an address."""
    links = {urldefrag(link)[0] for page in pages.values() for link in page.links if link.startswith("http")}
    return sorted(link for link in links if not ("/OWNER/" in own and ("OWNER" in link or "colab.research" in link)))


def state(address, tries=3):
    """What an address answers: "" when all is well, "refuses …", or what is wrong."""
    for left in reversed(range(tries)):
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=AGENT), timeout=30):
                return ""
        except urllib.error.HTTPError as error:
            if error.code in REFUSES:
                return f"refuses programs ({error.code})"
            found = f"answers {error.code}"
            if error.code in {404, 410}:
                return found
        except (OSError, ValueError, HTTPException) as error:
            found = f"cannot be reached ({error!r})"
        if not left:
            return found


def main():
    if not BUILD.is_dir():
        raise SystemExit("no built book at _build/html: run `make book` first")
    pages = read(BUILD)
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
    inner, outer = inner_faults(pages), outer_links(pages, own)
    with ThreadPoolExecutor(8) as pool:
        states = dict(zip(outer, pool.map(state, outer), strict=True))
    broken = [f"{link}: {found}" for link, found in states.items() if found and not found.startswith("refuses")]
    print(*(f"{link}: {found}" for link, found in states.items() if found.startswith("refuses")), sep="\n")
    print(*inner, *broken, sep="\n", file=sys.stderr)
    print(f"{len(pages)} pages, {len(outer)} links to other hosts: {len(inner) + len(broken)} broken")
    raise SystemExit(bool(inner or broken))


if __name__ == "__main__":
    main()
