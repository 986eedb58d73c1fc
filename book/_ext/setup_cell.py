"""The cell on top of every runnable notebook: it installs the book's two packages where they are missing."""

# Colab has numpy, torch, plotly and anywidget, and must keep its own.
CELL = """\
#@title Set up: install mhalib and mhabook, where they are missing
from importlib.util import find_spec
if not find_spec("mhabook"):
    {install}"""
INSTALL = '%pip install --quiet --no-deps "git+{repository}"'
NO_ADDRESS = 'raise ImportError("this copy of the book names no repository to install from: run `pip install .` in it")'


def setup(repository: str) -> str:
    """The code of the cell, by the address of the repository, which may never have been set."""
    return CELL.format(install=NO_ADDRESS if "/OWNER/" in repository else INSTALL.format(repository=repository))
