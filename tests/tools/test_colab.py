"""What the set-up cell and a widget do when they find Colab: a stub of google.colab notes what they call.

A stub shows that nothing else is installed, and that Colab is asked to admit widgets that are not its own. It cannot
show what Colab's page then does: whether it fetches anywidget's code, runs the figure's, and lets it start a worker.
`make colab` runs this file on Colab's versions, too.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
setup = load("book/_ext/setup_cell.py").setup
MANAGER = "https://example.org/manager.min.js"
VIEW = "application/vnd.jupyter.widget-view+json"

# anywidget remembers for the whole process that it has asked, so each case has a process of its own. The modules are
# those that Colab's kernel has loaded before the first cell, reduced to what is called of them.
PROGRAM = f"""
import json, sys, types
import anywidget
from IPython.core.interactiveshell import InteractiveShell

setup, on_colab = json.load(sys.stdin)
installed, asked = [], []

def enable_custom_widget_manager():
    asked.append("custom widgets")
    output._widgets._installed_url = "{MANAGER}"

output = types.ModuleType("google.colab.output")
output._widgets = types.SimpleNamespace(_installed_url=None)
output.enable_custom_widget_manager = enable_custom_widget_manager
if on_colab:
    sys.modules |= {{"google.colab": types.ModuleType("google.colab"), "google.colab.output": output, "mhabook": None}}

shell = InteractiveShell()
shell.register_magic_function(installed.append, "line", "pip")
shell.run_cell(setup).raise_error()
_, metadata = anywidget.AnyWidget()._repr_mimebundle_()
print(json.dumps([installed, asked, metadata]))
"""


def run(on_colab):
    """Run the set-up cell and make a widget: the last line that the program prints is what it saw."""
    cell = setup("https://github.com/NAME/book")
    program = subprocess.run([sys.executable, "-c", PROGRAM], input=json.dumps([cell, on_colab]), cwd=ROOT,
                             stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(program.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def colab():
    return run(on_colab=True)


def test_on_colab_mhalib_alone_is_installed(colab):
    installed, *_ = colab
    assert [line.split()[:3] for line in installed] == [["install", "--quiet", "--no-deps"]]
    assert installed[0].split()[3:] == ['"git+https://github.com/NAME/book"']


def test_on_colab_a_widget_asks_for_colabs_manager_of_custom_widgets_once(colab):
    _, asked, metadata = colab
    assert asked == ["custom widgets"]
    assert metadata == {VIEW: {"colab": {"custom_widget_manager": {"url": MANAGER}}}}


def test_elsewhere_nothing_is_installed_and_nothing_asked():
    assert run(on_colab=False) == [[], [], {}]


def test_a_book_without_an_address_says_so_where_its_packages_are_missing(monkeypatch):
    cell = setup("https://github.com/OWNER/how-attention-learns")
    exec(cell)
    monkeypatch.setitem(sys.modules, "mhabook", None)
    with pytest.raises(ImportError, match="names no repository to install from: run `pip install"):
        exec(cell)
