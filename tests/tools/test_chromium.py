"""The tools of the pages find their browser in one way (book/_ext/chromium.py): the first one that
starts."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
chromium = load("book/_ext/chromium.py")
STARTS = "#!/bin/sh\necho '<html></html>'\n"
STUB = "#!/bin/sh\necho 'Command requires the chromium snap to be installed.' >&2\nexit 1\n"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put browsers of these names on an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "OWN", tmp_path / "browsers")
    chromium.refusal.cache_clear()

    def put(*names, program=STARTS):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(program)
            path.chmod(0o755)

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


def test_a_browser_that_does_not_start_counts_as_none(installed, tmp_path):
    installed("chromium-browser", program=STUB)
    assert chromium.path() is None
    said = chromium.refusal(str(tmp_path / "chromium-browser"))
    assert said == "Command requires the chromium snap to be installed."
    installed("google-chrome")
    assert chromium.path() == str(tmp_path / "google-chrome")


def test_the_environments_own_is_taken_last(installed, tmp_path):
    own = "browsers/chromium_headless_shell-1/chrome-linux/headless_shell"
    installed(own)
    assert chromium.path() == str(tmp_path / own)
    installed("chromium")
    assert chromium.path() == str(tmp_path / "chromium")


def test_without_a_browser_the_program_ends_with_a_line(installed):
    with pytest.raises(SystemExit, match=f"^{re.escape(chromium.ABSENT)}$"):
        chromium.launch(SimpleNamespace())


@pytest.mark.parametrize(("hosted", "status"), [("", 0), ("true", 1)])
def test_where_none_can_be_had_a_desk_goes_on_and_a_hosted_run_fails(
    installed, monkeypatch, capsys, hosted, status
):
    installed("chromium", program=STUB)
    monkeypatch.setenv("CI", hosted)
    monkeypatch.setattr(chromium, "install", lambda: None)
    assert chromium.main() == status
    said = capsys.readouterr().err
    assert "chromium does not start: Command requires the chromium snap" in said
    assert "the tests of pages are skipped" in said


def test_a_named_browser_that_is_not_there_is_said_to_be_missing(installed, monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "/usr/bin/nochrome")
    chromium.main()
    assert "CHROMIUM names /usr/bin/nochrome, which is not there" in capsys.readouterr().err


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
