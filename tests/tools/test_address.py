"""The repository's address stands in many files, and one command sets it in all of them."""

import subprocess
import sys
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest

ROOT = Path(__file__).parents[2]
NEW = "https://github.com/someone/a-new.home"
FILES = ["pyproject.toml", "_config.yml", "CITATION.cff", "README.md", ".ci/address.py"]
NEEDED = "book/mhabook/_address.py"
WRONG = [
    "",
    "http://github.com/a/b",
    "https://github.com/a",
    "https://github.com/a/b c",
    "git@github.com:a/b",
]
WRONG += [f"https://github.com/a/b{end}" for end in ("/", ".", ".git")]


@pytest.fixture
def root(tmp_path):
    copytree(
        ROOT / "book", tmp_path / "book", ignore=ignore_patterns("_*", ".*", "mhabook", "results")
    )
    (tmp_path / ".ci").mkdir()
    (tmp_path / NEEDED).parent.mkdir()
    for name in [*FILES, NEEDED]:
        copy(ROOT / name, tmp_path / name)
    return tmp_path


def contents(root):
    files = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(root): path.read_bytes() for path in files}


def set_address(root, url):
    return subprocess.run(
        [sys.executable, root / ".ci/address.py", url], capture_output=True, text=True
    )


def test_command_sets_every_place_and_nothing_else(root, address):
    before, old = contents(root), address.removeprefix("https://github.com").encode()
    holders = {path for path, text in before.items() if old in text}
    assert len(holders) > 10 and {Path(name) for name in FILES[:-1]} <= holders
    for _ in range(2):  # the second time changes nothing
        assert set_address(root, NEW).returncode == 0
        after = contents(root)
        assert {path for path in before if after[path] != before[path]} == holders
        assert not [path for path, text in after.items() if old in text]
    assert b"colab.research.google.com/github/someone/a-new.home" in after[Path("README.md")]
    assert b"https://someone.github.io/a-new.home/" in after[Path("README.md")]
    set_address(root, address)
    assert contents(root) == before


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_address_changes_nothing_and_says_why(root, wrong):
    before, run = contents(root), set_address(root, wrong)
    assert (
        run.returncode
        and "https://github.com/NAME/REPOSITORY" in run.stderr
        and "Traceback" not in run.stderr
    )
    assert contents(root) == before
