"""`make lab` works on copies of the runnable notebooks that are the reader's own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATH = "multihead/01_a_model.ipynb"


@pytest.fixture
def clone(tmp_path):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "working_copy", tmp_path / ".ci")
    build(tmp_path, "first")
    copy(tmp_path)
    return tmp_path


def build(clone, text):
    built = clone / "_build" / "notebooks" / PATH
    built.parent.mkdir(parents=True, exist_ok=True)
    built.write_text(text)
    os.utime(built, (2e9, 2e9))  # later than any copy


def copy(clone, *new):
    return subprocess.run(
        [clone / ".ci" / "working_copy", *new], check=True, text=True, capture_output=True
    ).stdout


def notebooks(clone):
    return {path.name: path.read_text() for path in (clone / "notebooks").rglob("*.ipynb")}


def test_a_notebook_that_is_missing_comes_from_the_build(clone):
    assert notebooks(clone) == {"01_a_model.ipynb": "first"}


def test_a_notebook_that_is_there_stays_and_the_reader_hears_of_the_newer_one(clone):
    (clone / "notebooks" / PATH).write_text("mine")
    assert "1 of your notebooks are older" in copy(clone)
    assert notebooks(clone) == {"01_a_model.ipynb": "mine"}


def test_renewed_it_stays_beside_the_new_one_every_time(clone):
    (clone / "notebooks" / PATH).write_text("mine")
    build(clone, "second")
    copy(clone, "1")
    assert notebooks(clone) == {"01_a_model.ipynb": "second", "01_a_model.mine-1.ipynb": "mine"}
    (clone / "notebooks" / PATH).write_text("mine again")
    copy(clone, "1")
    assert notebooks(clone) == {
        "01_a_model.ipynb": "second",
        "01_a_model.mine-1.ipynb": "mine",
        "01_a_model.mine-2.ipynb": "mine again",
    }
