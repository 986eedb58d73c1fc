"""The wheel is what a reader on Colab gets: it holds every file of both packages, and the tables of
the book."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
maker = load("book/_ext/make_wheel.py")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return maker.build(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_every_file_of_the_packages_and_the_tables_and_nothing_else(
    wheel, tmp_path
):
    maker.copy_source(tmp_path)
    held = {
        path.relative_to((tmp_path / folder).parent).as_posix()
        for folder in maker.FOLDERS
        for path in (tmp_path / folder).rglob("*")
        if path.is_file()
    }
    tables = {f"mhabook/results/{path.name}" for path in (ROOT / "book" / "results").glob("*.npz")}
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    assert sorted(held - names) == [], (
        "add their kind to [tool.setuptools.package-data] in pyproject.toml"
    )
    assert sorted(names - held) == sorted(tables)
    assert len(tables) > 20 and {Path(name).suffix for name in names} >= {".py", ".typed", ".js"}


def test_a_table_is_found_where_only_the_wheel_is(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    program = "import mhabook; print(mhabook.__file__); print(len(mhabook.stored('heads.npz')))"
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
    )
    home, rows = found.stdout.split()
    assert Path(home).is_relative_to(tmp_path / "site") and int(rows) > 100


def test_a_source_distribution_has_the_tables_too(tmp_path):
    maker.copy_source(tmp_path / "source")
    make = [
        sys.executable,
        "setup.py",
        "--quiet",
        "sdist",
        "--formats=zip",
        f"--dist-dir={tmp_path}",
    ]
    subprocess.run(make, cwd=tmp_path / "source", check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.zip"))) as packed:
        assert any(name.endswith("/book/results/heads.npz") for name in packed.namelist())
