"""The cell on top of every runnable notebook: the code of set_up.py.

It finds or installs the book's two packages, and names what else is missing. Colab has numpy,
torch, plotly and anywidget, and must keep its own: so the book's packages come without what they
stand on.
"""

from pathlib import Path

from edition import is_placeholder

CELL = Path(__file__).with_name("set_up.py")


def setup(repository: str) -> str:
    """The code of the cell, by the address of the repository, which may never have been set."""
    address = "" if is_placeholder(repository) else repository
    return CELL.read_text("utf-8").rstrip().replace("REPOSITORY", address)
