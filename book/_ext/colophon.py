"""What a published book says of itself: how to cite it, what it was built with, how long that took,
what it carries.

``{citation}`` writes BibTeX from CITATION.cff, of the ``book`` or of the ``papers``; ``{colophon}``
writes tables of ``versions``, ``environments``, ``executions`` or ``licenses`` as they are when the
book is built; ``{trust}`` writes in a line what the first page says of them. Each page ends with
the version.
"""

import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import edition
import licenses
from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.addnodes import pending_xref
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from mhabook import ledger

ROOT = Path(__file__).parents[2]
# written by `make everywhere ARGS=--record`
ENVIRONMENTS = ROOT / "book" / "results" / "environments.json"
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "torch",
    "plotly",
    "ipywidgets",
    "anywidget",
    "jupyter-book",
    "sphinx",
    "myst-nb",
)


def citation():
    """What CITATION.cff says."""
    return edition.citation(ROOT)


def built_on():
    """The date of the build, or the one that SOURCE_DATE_EPOCH asks for."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    return (
        (datetime.fromtimestamp(int(seconds), UTC) if seconds else datetime.now(UTC))
        .date()
        .isoformat()
    )


def bibtex(kind, key, **fields):
    """Write one entry of BibTeX; fields without a value are left out."""
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"


def bibtex_of_the_book():
    """The entry of the book; once a release is archived, CITATION.cff has its DOI and its date."""
    about = citation()
    year = str(about.get("date-released") or built_on())[:4]
    return bibtex(
        "misc",
        f"how-attention-learns-{year}",
        title=f"{{{about['title']}}}",
        author=" and ".join(f"{{{author['name']}}}" for author in about["authors"]),
        year=year,
        note=f"Version {about['version']}",
        doi=about.get("doi"),
        url=published(about["repository-code"]),
    )


def published(address):
    """The address, or nothing while `make address` has not set it."""
    return "" if edition.is_placeholder(address) else address


def bibtex_of_the_papers():
    """The entries of the papers that the book explains."""
    return "\n\n".join(map(bibtex_of_a_paper, citation()["references"]))


def bibtex_of_a_paper(paper):
    """The entry of one paper: in proceedings, in a journal, or a preprint."""
    kind = {"conference-paper": "inproceedings"}.get(paper["type"], "article")
    preprint = f"arXiv preprint {paper['identifiers'][0]['value']}" if kind == "article" else ""
    return bibtex(
        kind,
        f"{paper['authors'][0]['family-names'].lower()}{paper['year']}",
        title=f"{{{paper['title']}}}",
        author=" and ".join(
            f"{one['family-names']}, {one['given-names']}" for one in paper["authors"]
        ),
        journal=paper.get("journal", preprint),
        booktitle=paper.get("collection-title"),
        volume=paper.get("volume"),
        pages=f"{paper['start']}--{paper['end']}" if "start" in paper else "",
        year=paper["year"],
        url=paper["url"],
    )


def of(directive, known):
    """What the argument of a directive names, which must be known."""
    (name,) = directive.arguments
    if name not in known:
        raise directive.error(f"{directive.name}: expected one of {', '.join(known)}, got {name}")
    return known[name]


class Citation(SphinxDirective):
    """BibTeX of the ``book`` or of the ``papers``."""

    required_arguments = 1

    def run(self):
        self.env.note_dependency(str(ROOT / "CITATION.cff"))
        words = of(self, {"book": bibtex_of_the_book, "papers": bibtex_of_the_papers})()
        return [nodes.literal_block(words, words, language="bibtex")]


class Unaddressed(SphinxPostTransform):
    """Links into the repository are words, until `make address` has said where it is."""

    default_priority = 9

    def run(self, **kwargs):
        for link in list(self.document.findall(nodes.reference)):
            if edition.is_placeholder(link.get("refuri", "")):
                link.replace_self(nodes.inline("", "", *link.children))


class colophon(nodes.General, nodes.Element):
    """The place of a table that is made when every page has been read."""


class Colophon(SphinxDirective):
    """A table of ``versions``, ``environments``, ``executions`` or ``licenses``."""

    required_arguments = 1

    def run(self):
        self.env.note_reread()
        known = {
            "versions": versions,
            "environments": environments,
            "executions": executions,
            "licenses": works_table,
        }
        return [colophon(make=of(self, known))]


class Trust(SphinxDirective):
    """What the first page says of the book: version, date, statements, and in how many environments
    all claims held."""

    def run(self):
        self.env.note_dependency(str(ENVIRONMENTS))
        words = nodes.paragraph(classes=["mha-trust"])
        nested, _ = self.state.inline_text(trust(), self.lineno)
        words += nested
        return [words]


def trust():
    """The line, as Markdown."""
    held = [each for each in held_in().values() if each["held"] == each["of"]]
    line = f"Version {citation()['version']}, built on {built_on()}. {len(ledger)} statements have a check that runs"
    if held:
        claims = max(each["of"] for each in held)
        places = "environment" if len(held) == 1 else "environments"
        line += f"; all {claims} checked claims of the pages held in {len(held)} {places}"
        line += " ({doc}`which </book/colophon>`)"
    return (
        line
        + ". {doc}`Errata and changes </book/changes>` · {doc}`Accessibility </book/accessibility>`"
    )


def held_in():
    """Environment → how many claims held there, of how many, and when."""
    return json.loads(ENVIRONMENTS.read_text("utf-8")) if ENVIRONMENTS.exists() else {}


def environments(env):
    """In which environments the claims of the pages were checked, and how many held."""
    rows = [
        (name, f"{each['held']} of {each['of']}", each["on"]) for name, each in held_in().items()
    ]
    return ("Environment", "Claims that held", "On"), rows or [
        ("none is recorded for this copy", "–", "–")
    ]


class Tables(SphinxPostTransform):
    """Put the tables in their places."""

    default_priority = 8  # before the links in them are resolved

    def run(self, **kwargs):
        for place in list(self.document.findall(colophon)):
            place.replace_self(table(*place["make"](self.env)))


def table(names, rows):
    """Make a table of cells that are words or nodes."""
    group = nodes.tgroup(cols=len(names))
    group += [nodes.colspec(colwidth=1) for _ in names]
    group += [nodes.thead("", line(names)), nodes.tbody("", *map(line, rows))]
    return nodes.table("", group, classes=["colwidths-auto"])


def line(cells):
    """Make one row of a table."""
    cells = [cell if isinstance(cell, nodes.Node) else nodes.Text(str(cell)) for cell in cells]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def versions(env):
    """What the book was built with, and when."""
    file = "how-attention-learns.pdf"
    address = published(edition.web_address(ROOT))
    edition_link = (
        nodes.reference("", file, refuri=address + file, internal=False)
        if address
        else "make pdf prints it"
    )
    rows = [
        ("this book as a PDF", edition_link),
        ("the day of the build", built_on()),
        ("mhalib", citation()["version"]),
        ("Python", platform.python_version()),
    ]
    return ("Part", "Version"), rows + [(name, metadata.version(name)) for name in PACKAGES]


def in_order(env, page):
    """Give a page and all below it in the order of the contents."""
    yield page
    for below in env.toctree_includes.get(page, ()):
        yield from in_order(env, below)


def executions(env):
    """How long each notebook took, in the order of the book; myst-nb's own table has it by path,
    without a sum."""
    found = {
        page: NbMetadataCollector.get_exec_data(env, page)
        for page in in_order(env, env.config.root_doc)
    }
    took = {
        page: data["runtime"]
        for page, data in found.items()
        if data and data["runtime"] is not None
    }
    rows = [(link(env, page), f"{time:.1f}") for page, time in took.items()]
    return ("Notebook", "Seconds"), [*rows, ("all together", f"{sum(took.values()):.1f}")]


def link(env, page):
    """Make a link to a page that shows its title."""
    return pending_xref(
        "",
        nodes.inline("", page),
        refdoc=env.docname,
        refdomain="std",
        reftype="doc",
        reftarget=f"/{page}",
        refexplicit=False,
        refwarn=True,
    )


def works_table(env):
    """Whose work the pages carry, and under which license, with a link to its text."""
    up = "../" * env.docname.count("/") + "_static/"
    rows = [
        (
            work.name,
            work.version,
            nodes.reference("", work.license, refuri=up + work.text, internal=False),
        )
        for work in licenses.works()
    ]
    return ("Work", "Version", "License"), rows


def finish(app, failed):
    """Copy the licenses' texts beside the pages."""
    if not failed and app.builder.format == "html":
        licenses.copy_texts(Path(app.outdir) / "_static")


def sign(app):
    """Every page ends with the version, and with the day of the build."""
    app.config.html_theme_options["extra_footer"] = (
        f"<p>How Attention Learns, version {citation()['version']}, built on {built_on()}.</p>"
    )


def setup(app):
    app.add_node(colophon)
    app.add_directive("trust", Trust)
    app.connect("builder-inited", sign)
    app.add_directive("citation", Citation)
    app.add_directive("colophon", Colophon)
    app.add_post_transform(Tables)
    app.add_post_transform(Unaddressed)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
