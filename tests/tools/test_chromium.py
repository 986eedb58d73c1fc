"""The tools of the pages find their browser in one way (book/_ext/chromium.py)."""

import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
chromium = load("book/_ext/chromium.py")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put browsers of these names on an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)

    def put(*names):
        for name in names:
            (tmp_path / name).touch(0o755)

    return put


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["google-chrome", "chromium-browser", "chromium"], "chromium"),
        (["google-chrome"], "google-chrome"),
        (["google-chrome", "chromium-browser"], "chromium-browser"),
        (["firefox"], None),
        (["chromium", "chromium-headless-shell"], "chromium-headless-shell"),
    ],
)
def test_the_first_browser_on_the_path_is_taken(installed, tmp_path, names, found):
    installed(*names)
    assert chromium.path() == (found and str(tmp_path / found))


def test_the_named_browser_is_taken_or_none(installed, tmp_path, monkeypatch):
    installed("chromium", "my chrome")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "my chrome"))
    assert chromium.path() == str(tmp_path / "my chrome")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "gone"))
    assert chromium.path() is None


def test_without_a_browser_the_program_ends_with_a_line(installed):
    with pytest.raises(SystemExit, match=r"^no Chromium: `make chromium` says how to get it$"):
        chromium.launch(SimpleNamespace())


def test_no_tool_looks_for_a_browser_by_itself():
    tools = [
        path for folder in ("book/_ext", "benchmarks") for path in (ROOT / folder).glob("*.py")
    ]
    looking = [
        path.name
        for path in tools
        if re.search("executable_path|google-chrome", path.read_text("utf-8"))
    ]
    assert looking == ["chromium.py"]


def test_the_command_looks_for_the_same_browsers():
    command = (ROOT / ".ci" / "chromium").read_text("utf-8")
    names = re.search(r"for name in (.*?); do", command, re.DOTALL)[1].replace("\\\n", " ")
    assert tuple(shlex.split(names)) == chromium.NAMES
