"""What the set-up cell and a widget do when they find Colab: a stub of google.colab notes what they
call.

A stub shows that nothing else is installed, and that Colab is asked to admit widgets that are not
its own. It cannot show what Colab's page then does: whether it fetches anywidget's code, runs the
figure's, and lets it start a worker. `make colab` runs this file on Colab's versions, too.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell

from scripts import load

ROOT = Path(__file__).parents[2]
setup = load("book/_ext/setup_cell.py").setup
MANAGER = "https://example.org/manager.min.js"
VIEW = "application/vnd.jupyter.widget-view+json"

# anywidget remembers for the whole process that it has asked, so each case has a process of its
# own. The modules are those that Colab's kernel has loaded before the first cell, reduced to what
# is called of them.
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

shell = InteractiveShell.instance()
def pip(line):
    installed.append(line)
    sys.modules.pop("mhabook", None)

shell.register_magic_function(pip, "line", "pip")
shell.run_cell(setup).raise_error()
_, metadata = anywidget.AnyWidget()._repr_mimebundle_()
print(json.dumps([installed, asked, metadata]))
"""


def run(on_colab, folder):
    """Run the set-up cell in a folder and make a widget: the last line that the program prints is
    what it saw."""
    cell = setup("https://github.com/NAME/book")
    path = os.pathsep.join(map(str, (ROOT, ROOT / "book")))
    program = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([cell, on_colab]),
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    return json.loads(program.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    return run(True, tmp_path_factory.mktemp("colab"))


def test_on_colab_the_books_packages_alone_are_installed(colab):
    installed, *_ = colab
    assert [line.split()[:3] for line in installed] == [["install", "--quiet", "--no-deps"]]
    place = "git+https://github.com/NAME/book"
    parts = [f"{place}#subdirectory=livegrad", f"{place}#subdirectory=mhalib", place]
    assert installed[0].split()[3:] == [f'"{part}"' for part in parts]


def test_on_colab_a_widget_asks_for_colabs_manager_of_custom_widgets_once(colab):
    _, asked, metadata = colab
    assert asked == ["custom widgets"]
    assert metadata == {VIEW: {"colab": {"custom_widget_manager": {"url": MANAGER}}}}


def test_elsewhere_nothing_is_installed_and_nothing_asked(tmp_path):
    assert run(False, tmp_path) == [[], [], {}]


def test_wheels_or_a_clone_around_the_notebook_come_before_the_repository(tmp_path):
    def asked(*parts):
        return ["install --quiet --no-deps " + " ".join(f'"{part}"' for part in parts)]

    folder = tmp_path / "note books" / "start"
    folder.mkdir(parents=True)
    wheels = [
        folder.parent / f"{name}-0.3.0-py3-none-any.whl"
        for name in ("livegrad", "mhalib", "mhabook")
    ]
    for wheel in wheels[:2]:
        wheel.touch()
    assert "git+" in run(True, folder)[0][0]  # one is missing
    wheels[2].touch()
    assert run(True, folder)[0] == asked(*wheels)
    (folder / "book" / "mhabook").mkdir(parents=True)
    assert run(True, folder)[0] == asked(folder / "livegrad", folder / "mhalib", folder)


def test_a_book_without_an_address_says_what_to_do_where_its_packages_are_missing(
    monkeypatch, tmp_path
):
    cell = setup("https://github.com/OWNER/how-attention-learns")
    exec(cell, {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "mhabook", None)
    with pytest.raises(ImportError) as stopped:
        exec(cell, {})
    assert stopped.value._render_traceback_() == [
        "The book's package mhabook is not installed: put the three files ….whl of the book's "
        "notebooks, or the book's own folder, beside this notebook, and run this cell again."
    ]


def test_packages_that_pip_refuses_are_not_said_to_be_missing(monkeypatch, tmp_path):
    for name in ("livegrad", "mhalib", "mhabook"):
        (tmp_path / f"{name}-1.whl").touch()
    shell = SimpleNamespace(run_line_magic=print, set_custom_exc=print)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "mhabook", None)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    with pytest.raises(ImportError, match="pip could not install the book's packages from") as said:
        exec(setup("https://github.com/NAME/book"), {})
    assert str(tmp_path) in str(said.value) and "beside" not in str(said.value)


def test_what_the_book_stands_on_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError) as stopped:
        exec(setup("https://github.com/NAME/book"), {})
    assert stopped.value._render_traceback_() == [
        "This notebook needs anywidget, pyyaml: run `%pip install anywidget pyyaml` in a cell, "
        "restart the kernel, and run this cell again."
    ]


def test_a_set_up_that_has_failed_speaks_alone_until_it_succeeds(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell.instance(colors="nocolor")
    try:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "mhabook", None)
            assert not shell.run_cell(setup("https://github.com/OWNER/book")).success
            said = capsys.readouterr()
            assert said.out.startswith("The book's package mhabook is not installed")
            for cell in ("import mhabook", "mha.softmax([1.0])"):
                assert not shell.run_cell(cell).success
                said = capsys.readouterr()
                assert (said.out, said.err.count("\n")) == ("", 1) and "“Set up”" in said.err
            shell.run_cell("1 / 0")
            assert "division by zero" in capsys.readouterr().out
        assert shell.run_cell(setup("https://github.com/OWNER/book")).success
        shell.run_cell("mha.softmax([1.0])")
        assert "name 'mha' is not defined" in capsys.readouterr().out
    finally:
        InteractiveShell.clear_instance()
