# @title Set up: install the packages of the book, where they are missing
import sys
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path

from IPython import get_ipython


class NotReady(ImportError):
    def _render_traceback_(self):  # a notebook shows the sentence alone
        return [str(self)]


def found(repository):
    """Where the book's packages are: a clone or wheels in this folder or in one above it, else its
    repository; and what pip is to install of that."""
    names = ("livegrad", "mhalib", "mhabook")
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "book" / "mhabook").is_dir():
            return folder, [folder / "livegrad", folder / "mhalib", folder]
        wheels = [sorted(folder.glob(f"{name}-*.whl"))[-1:] for name in names]
        if all(wheels):
            return folder, [wheel for (wheel,) in wheels]
    place = repository and f"git+{repository}"
    return place, [f"{place}#subdirectory={name}" for name in names[:2]] + [place]


def set_up(repository):
    place, parts = found(repository)
    if not find_spec("mhabook") and place:
        parts = " ".join(f'"{part}"' for part in parts)
        get_ipython().run_line_magic("pip", f"install --quiet --no-deps {parts}")
        invalidate_caches()
    if not find_spec("mhabook") and place:
        raise NotReady(
            f"pip could not install the book's packages from {place}: its lines above say why. If "
            "this kernel's Python is the system's, make an environment (python3 -m venv), choose "
            "it as the kernel, and run this cell again."
        )
    if not find_spec("mhabook"):
        raise NotReady(
            "The book's package mhabook is not installed: put the three files ….whl of the book's "
            "notebooks, or the book's own folder, beside this notebook, and run this cell again."
        )
    needed = {
        "numpy": "numpy",
        "scipy": "scipy",
        "sklearn": "scikit-learn",
        "plotly": "plotly",
        "ipywidgets": "ipywidgets",
        "anywidget": "anywidget",
        "yaml": "pyyaml",
    }
    if missing := [name for module, name in needed.items() if not find_spec(module)]:
        raise NotReady(
            f"This notebook needs {', '.join(missing)}: run `%pip install {' '.join(missing)}` in "
            "a cell, restart the kernel, and run this cell again."
        )


def quiet(*kinds):
    """Let errors of these kinds say no more than a line: a set-up that has failed speaks alone."""

    def said(shell, kind, error, trace, tb_offset=None):
        print("Not run: see what the cell “Set up” says, at the top.", file=sys.stderr)

    if shell := get_ipython():  # a script has none
        shell.set_custom_exc(kinds, said)


try:
    set_up("REPOSITORY")
except NotReady:
    quiet(NameError, ModuleNotFoundError)
    raise
quiet()
