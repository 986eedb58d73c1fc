"""What the book says of itself agrees: version, citation, archive, licenses of what it carries."""

import json
import re
import sys
import tomllib
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

import livegrad
import mhalib as mha
from checks import missing
from notebooks import code, paths, read
from visits import BUILD, NO_BUILD

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))
import colophon  # noqa: E402
import licenses  # noqa: E402

CITATION = colophon.citation()
ARCHIVE = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
# A sentence that only this license has.
WORDS = {
    "MIT": "Permission is hereby granted, free of charge",
    "BSD": "Redistribution and use in source and binary",
    "Apache": "Apache License",
    "OFL": "SIL O",
    "icons": "Icons: CC BY 4.0",
}
# their texts list the licenses of all their parts
BUNDLED = {"@jupyter-widgets/html-manager", "fontawesome-free"}


def test_the_citation_has_what_the_format_asks_for():
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    assert re.fullmatch(r"\d+\.\d+\.\d+", CITATION["version"])
    for paper in CITATION["references"]:
        assert {"type", "title", "authors", "url"} <= paper.keys()
        assert all(author.keys() == {"family-names", "given-names"} for author in paper["authors"])


def test_the_archive_says_what_the_citation_says():
    project, *others = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
        for folder in (".", "mhalib", "livegrad")
    )
    assert all(other["version"] == project["version"] for other in others)
    version, date = re.search(
        r"(?m)^## \[(\S+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8")
    ).groups()
    assert (
        ARCHIVE["version"]
        == CITATION["version"]
        == project["version"]
        == mha.__version__
        == livegrad.__version__
        == version
    )
    assert ARCHIVE["publication_date"] == str(CITATION["date-released"]) == date
    assert ARCHIVE["title"] == CITATION["title"]
    assert ARCHIVE["description"] == CITATION["abstract"]
    assert ARCHIVE["keywords"] == CITATION["keywords"]
    assert (
        ARCHIVE["creators"]
        == [{"name": author["name"]} for author in CITATION["authors"]]
        == project["authors"]
    )
    assert ARCHIVE["license"] == project["license"] == CITATION["license"]
    papers = [paper["identifiers"][0]["value"] for paper in CITATION["references"]]
    assert [related["identifier"] for related in ARCHIVE["related_identifiers"]] == papers


def test_bibtex_of_the_book_is_made_from_the_citation(monkeypatch):
    entry, year = colophon.bibtex_of_the_book(), str(CITATION["date-released"])[:4]
    assert entry.startswith(
        f"@misc{{how-attention-learns-{year},\n  title = {{{{How Attention Learns}}}},\n"
    )
    assert f"note = {{Version {CITATION['version']}}}" in entry
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    monkeypatch.setattr(colophon, "citation", lambda: CITATION | {"date-released": None})
    assert "year = {2027}" in colophon.bibtex_of_the_book()
    released = CITATION | {"doi": "10.5281/zenodo.1", "date-released": "2028-01-02"}
    monkeypatch.setattr(colophon, "citation", lambda: released)
    entry = colophon.bibtex_of_the_book()
    assert "year = {2028}" in entry and "doi = {10.5281/zenodo.1}" in entry


def test_bibtex_has_every_paper():
    entries = colophon.bibtex_of_the_papers()
    assert re.findall(r"@(\w+)\{(\w+),", entries) == [
        ("article", "deora2024"),
        ("article", "goel2026"),
        ("inproceedings", "song2024"),
    ]
    assert (
        "pages = {92317--92351}" in entries
        and "journal = {arXiv preprint arXiv:2603.01514}" in entries
    )
    assert entries.count("{") == entries.count("}")


@pytest.mark.parametrize(
    "directive, known",
    [("Citation", "book, papers"), ("Colophon", "versions, environments, executions, licenses")],
)
def test_a_directive_names_what_it_knows(directive, known):
    here = SimpleNamespace(name="name", arguments=["buk"], env=MagicMock(), error=ValueError)
    with pytest.raises(ValueError, match=f"^name: expected one of {known}, got buk$"):
        getattr(colophon, directive).run(here)


def test_every_license_is_that_of_its_text(tmp_path):
    licenses.copy_texts(tmp_path)
    for work in licenses.works():
        folders = tmp_path, licenses.STATIC, licenses.FIGURES.parent
        text = next(folder / work.text for folder in folders if (folder / work.text).exists())
        words = " ".join(text.read_text("utf-8").split())
        for name in re.findall(r"MIT|BSD|Apache|OFL|icons", work.license.split("; ")[0]):
            assert WORDS[name] in words or work.name in BUNDLED, f"{work.name} is not under {name}"


@pytest.fixture
def page():
    if not BUILD.is_dir():
        missing(NO_BUILD)
    return unescape((BUILD / "book" / "colophon.html").read_text("utf-8"))


def test_the_built_book_carries_only_what_its_colophon_names(page):
    assert licenses.unknown(BUILD / "_static") == []
    assert all(work.name in page for work in licenses.works())
    links = set(re.findall(r'href="\.\./(_static/[^"]*(?:licenses)[^"]*)"', page))
    assert len(links) >= 20 and all((BUILD / link).is_file() for link in links)


def test_the_built_book_says_how_long_each_notebook_took(page):
    took = re.search(r"<p>all together</p></td>\s*<td><p>([\d.]+)</p>", page)
    assert took and float(took[1]) > 0
    table = page[page.index("<p>Notebook</p>") : took.start()]
    pages = {path.stem for path in BUILD.rglob("*.html")}
    with_code = [path for path in paths() if path.stem in pages and code(read(path))]
    assert len(with_code) > 15
    assert not [path.name for path in with_code if f'{path.stem}.html"' not in table]
