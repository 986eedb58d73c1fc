"""Whose files the built book carries in _static, and under which license: every file belongs to a
work of this list."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import metadata
from importlib.resources import files
from pathlib import Path

from vendor import FIGURES, VENDOR, manifest

STATIC = Path(__file__).parents[1] / "_static"


@dataclass(frozen=True)
class Work:
    """A work of others: patterns of its files below _static, and where the text of its license
    stands there."""

    name: str
    version: str
    license: str
    files: tuple
    text: str


# Distribution, license, files. The text of each license comes from the installed package.
FROM_PACKAGES = [
    ("sphinx", "BSD-2-Clause; its stemmer, from Snowball, BSD-3-Clause",
     ["basic.css", "doctools.js", "documentation_options.js", "searchtools.js", "language_data.js",
      "sphinx_highlight.js", "file.png", "minus.png", "plus.png"]),
    ("pygments", "BSD-2-Clause", ["pygments.css"]),
    ("accessible-pygments", "BSD-3-Clause", ["pygments.css"]),
    ("pydata-sphinx-theme", "BSD-3-Clause",
     ["scripts/pydata-sphinx-theme.js*", "styles/pydata-sphinx-theme.css*", "styles/theme.css", "webpack-macros.html"]),
    ("sphinx-book-theme", "BSD-3-Clause; the logos in images belong to their owners",
     ["scripts/sphinx-book-theme.js*", "styles/sphinx-book-theme.css*", "images/*", "locales/*",
      "sbt-webpack-macros.html"]),
    ("sphinx-copybutton", "MIT", ["copybutton*", "copy-button.svg", "check-solid.svg"]),
    ("sphinx-togglebutton", "MIT", ["togglebutton.*"]),
    ("sphinx-design", "MIT", ["design-tabs.js", "sphinx-design.min.css"]),
    ("sphinx-thebe", "MIT", ["sphinx-thebe.*", "play-solid.svg"]),
    ("sphinx-proof", "MIT", ["proof.css"]),
    ("sphinx-exercise", "MIT", ["exercise.css"]),
    ("myst-nb", "BSD-3-Clause", ["mystnb.*.css"]),
]  # fmt: skip
# What the themes brought along: name, license, files, and the file of an installed package that
# opens with its notice.
PYDATA = "theme/pydata_sphinx_theme/static/scripts/"
IN_THEMES = [
    ("bootstrap", "MIT", ["scripts/bootstrap.js*"], "pydata_sphinx_theme", f"{PYDATA}bootstrap.js.LICENSE.txt"),
    ("fontawesome-free", "icons CC-BY-4.0, fonts OFL-1.1, code MIT",
     ["scripts/fontawesome.js*", "vendor/fontawesome/*"], "pydata_sphinx_theme", f"{PYDATA}fontawesome.js.LICENSE.txt"),
    ("clipboard.js", "MIT", ["clipboard.min.js"], "sphinx_copybutton", "_static/clipboard.min.js"),
]  # fmt: skip


def works():
    """List all works of others that the pages carry, by name."""
    found = [*map(vendored, manifest(VENDOR) + manifest(FIGURES))]
    for name, license, patterns in FROM_PACKAGES:
        found.append(
            Work(name, metadata.version(name), license, (*patterns,), f"licenses/{name}.txt")
        )
    for name, license, patterns, package, file in IN_THEMES:  # the notice names the version
        version = re.search(r"\d+\.\d+\.\d+", notice(package, file))[0]
        found.append(Work(name, version, license, (*patterns,), f"licenses/{name}.txt"))
    return sorted(found, key=lambda work: work.name.lower())


def vendored(entry):
    """A work that the repository carries, as its manifest has it."""
    names = [f"vendor/{name}" for name in entry["files"]]
    text = next(
        (name for name in names if name.endswith(".txt")), f"vendor/licenses/{entry['name']}.txt"
    )
    return Work(entry["name"], entry["version"], entry["license"], tuple(names), text)


def notice(package, file):
    """The comment with which a file of an installed package begins."""
    return re.search(r"/\*!?.*?\*/", (files(package) / file).read_text("utf-8"), re.DOTALL)[0]


def license_text(name):
    """The license in an installed package: each of its license files, one after the other."""
    package = metadata.distribution(name)
    found = [
        path
        for path in package.files
        if re.search(r"(?i)\.dist-info/.*(licen[sc]e|copying)[^/]*$", str(path))
    ]
    return "\n\n".join(
        path.locate().read_text("utf-8") for path in found if path.locate().is_file()
    )


def copy_texts(static):
    """Write the text of each license into the folder ``licenses`` of the built book."""
    folder = static / "licenses"
    folder.mkdir(parents=True, exist_ok=True)
    for name, *_ in FROM_PACKAGES:
        (folder / f"{name}.txt").write_text(license_text(name), "utf-8")
    mit = (STATIC.parents[1] / "LICENSE").read_text("utf-8")
    for name, _, _, package, file in IN_THEMES:
        # The notice has the names, and the terms of MIT are the same for everyone.
        text = f"{notice(package, file)}\n\nThe MIT License:\n\n{mit[mit.index('Permission') :]}"
        (folder / f"{name}.txt").write_text(text, "utf-8")


def unknown(static):
    """List the files of a built _static that are neither this book's nor of a listed work."""
    patterns = [pattern for work in works() for pattern in (*work.files, work.text)]
    patterns.append("ideas/*.svg")  # the book's own drawings, by thumbnails.py
    ours = {
        path.relative_to(STATIC).as_posix()
        for path in STATIC.rglob("*")
        if "vendor" not in path.parts
    }
    ours |= {"vendor/manifest.json", "vendor/paths.js", "mathematics.css", "page.js"}
    ours |= {"colors.css", "letters.css"}  # the letters are those of a listed work
    carried = sorted(
        path.relative_to(static).as_posix() for path in static.rglob("*") if path.is_file()
    )
    return [
        name
        for name in carried
        if name not in ours and not any(fnmatchcase(name, p) for p in patterns)
    ]
