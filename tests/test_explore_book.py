"""What the chapters hand to ``mha.explore`` works at both ends of every slider."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.usefixtures("no_running_loop")

ROOT = Path(__file__).parent.parent
CHAPTERS = [path for path in sorted(ROOT.glob("book/*/*.ipynb")) if "mha.explore(" in path.read_text("utf-8")]
CHECK = """
from mhalib.exploring import EXPLORERS

assert len(EXPLORERS) == {count}
for explorer in EXPLORERS:
    explorer.check()
"""


def run(notebook, monkeypatch):
    """Execute a notebook as a reader's, on this tree's mhalib."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delenv("MHALIB_FIGURES", raising=False)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()


def with_check(path):
    """A chapter with a last cell that checks its explorers."""
    notebook = nbformat.read(path, as_version=4)
    count = sum(cell.source.count("mha.explore(") for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells.append(nbformat.v4.new_code_cell(CHECK.format(count=count)))
    return notebook


def test_there_are_chapters_to_check():
    assert len(CHAPTERS) >= 2


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_explored_functions_hold_at_the_ends_of_their_sliders(path, monkeypatch):
    run(with_check(path), monkeypatch)


def test_a_function_that_fails_at_an_end_is_found(monkeypatch):
    cell = nbformat.v4.new_code_cell("""
import mhalib as mha

def f(k=1):
    assert k < 3
    return mha.plots.curves([1, 2], {"k": [k, k]})

mha.explore(f, k=(1, 3))
""")
    notebook = nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_code_cell(CHECK.format(count=1))])
    with pytest.raises(Exception, match="AssertionError"):
        run(notebook, monkeypatch)
