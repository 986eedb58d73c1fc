"""The repository's address stands in many files, and one command sets it in all of them."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from notebooks import paths, read, source

ROOT = Path(__file__).parents[2]
NEW = "https://github.com/someone/a-new.home"
SOURCES = ["pyproject.toml", "_config.yml", "CITATION.cff", "README.md"]
LEFT_OUT = shutil.ignore_patterns("vendor", ".ipynb_checkpoints", "results")


@pytest.fixture
def copy(tmp_path):
    for name in SOURCES:
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci", ignore=LEFT_OUT)
    shutil.copytree(ROOT / "book", tmp_path / "book", ignore=LEFT_OUT)
    return tmp_path


def set_address(root, url):
    command = [sys.executable, root / ".ci" / "address.py", url]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def contents(root):
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def addresses(root):
    """Where the address is written → what is written there."""
    found = {
        "pyproject.toml": tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["urls"][
            "Repository"
        ],
        "_config.yml": yaml.safe_load((root / "_config.yml").read_text("utf-8"))["repository"]["url"],
        "CITATION.cff": yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))["repository-code"],
    }
    for path in paths(root / "book"):
        setup = next((source(cell) for cell in read(path)["cells"] if cell.get("id") == "colab-setup"), "")
        found[path.relative_to(root).as_posix()] = "".join(re.findall(r"git\+([^\"]*)", setup))
    return found


def test_all_places_agree(address):
    assert {place: found for place, found in addresses(ROOT).items() if found != address} == {}


def test_readme_leads_to_the_repository_and_to_colab(address):
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"git clone {address}" in readme
    assert address.replace("https://github.com", "https://colab.research.google.com/github") in readme


def test_command_sets_every_place(copy):
    run = set_address(copy, NEW)
    assert run.returncode == 0, run.stderr
    assert set(addresses(copy).values()) == {NEW}
    assert "github/someone/a-new.home" in (copy / "README.md").read_text("utf-8")


def test_command_leaves_no_trace_of_the_old_address(copy, address):
    set_address(copy, NEW)
    old = address.removeprefix("https://").encode()
    assert [path for path, text in contents(copy).items() if old in text] == []


def test_command_changes_nothing_but_the_address(copy, address):
    before = contents(copy)
    set_address(copy, NEW)
    assert contents(copy) != before
    set_address(copy, address)
    assert contents(copy) == before


def test_command_twice_is_command_once(copy):
    set_address(copy, NEW)
    once = contents(copy)
    assert set_address(copy, NEW).returncode == 0
    assert contents(copy) == once


@pytest.mark.parametrize(
    "wrong",
    ["", "how-attention-learns", "http://github.com/a/b", "https://github.com/a", "https://github.com/a/b/"]
    + [
        "https://github.com/a/b.git",
        "https://example.org/a/b",
        "https://github.com/a/b c",
        "git@github.com:a/b",
    ],
)
def test_wrong_address_changes_nothing_and_says_why(copy, wrong):
    before = contents(copy)
    run = set_address(copy, wrong)
    assert run.returncode != 0
    assert "https://github.com/NAME/REPOSITORY" in run.stderr
    assert contents(copy) == before
    assert "Traceback" not in run.stderr


def test_versions_agree():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == version
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
