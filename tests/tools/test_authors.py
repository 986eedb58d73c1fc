"""Who wrote the book stands in six files, and one command sets it in all of them."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copy

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECTS = ["pyproject.toml", "mhalib/pyproject.toml", "livegrad/pyproject.toml"]
FILES = [*PROJECTS, "_config.yml", "CITATION.cff", ".zenodo.json"]


@pytest.fixture
def root(tmp_path):
    for folder in (".ci", "mhalib", "livegrad"):
        (tmp_path / folder).mkdir()
    for name in [*FILES, ".ci/authors.py"]:
        copy(ROOT / name, tmp_path / name)
    return tmp_path


def set_authors(root, names):
    return subprocess.run(
        [sys.executable, root / ".ci/authors.py", names], capture_output=True, text=True
    )


def said(root):
    """The authors in each file, as who reads the file finds them."""
    projects = [tomllib.loads((root / name).read_text("utf-8"))["project"] for name in PROJECTS]
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    archive = json.loads((root / ".zenodo.json").read_text("utf-8"))
    return [
        *([author["name"] for author in project["authors"]] for project in projects),
        yaml.safe_load((root / "_config.yml").read_text("utf-8"))["author"].split(", "),
        [author["name"] for author in citation["authors"]],
        [author["name"] for author in archive["creators"]],
    ]


def test_command_sets_every_place_and_nothing_else(root):
    before = {name: (root / name).read_text("utf-8") for name in FILES}
    first = said(root)
    assert all(names == first[0] for names in first)
    assert set_authors(root, "Émilie du Châtelet; Sofja Kowalewskaja ").returncode == 0
    assert said(root) == [["Émilie du Châtelet", "Sofja Kowalewskaja"]] * 6
    set_authors(root, "; ".join(first[0]))
    assert {name: (root / name).read_text("utf-8") for name in FILES} == before


@pytest.mark.parametrize("wrong", ["", " ; ", 'A "B" C'])
def test_no_name_changes_nothing_and_says_how(root, wrong):
    before, run = said(root), set_authors(root, wrong)
    assert (
        run.returncode
        and "usage: make authors NAMES=" in run.stderr
        and "Traceback" not in run.stderr
    )
    assert said(root) == before


def test_a_file_that_names_no_author_is_named_and_nothing_changes(root):
    (root / "_config.yml").write_text("title: x\n")
    before = (root / "CITATION.cff").read_text("utf-8")
    run = set_authors(root, "A B")
    assert "nothing was changed: _config.yml says nowhere who wrote it" in run.stderr
    assert (root / "CITATION.cff").read_text("utf-8") == before
