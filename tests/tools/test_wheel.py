"""The wheels are what a reader on Colab gets: they hold every file of the packages, and the tables
of the book."""

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
def wheels(tmp_path_factory):
    found = maker.build(tmp_path_factory.mktemp("wheels"))
    return {wheel.name.partition("-")[0]: wheel for wheel in found}


TABLES = {f"mhabook/results/{path.name}" for path in (ROOT / "book" / "results").glob("*.npz")}


@pytest.mark.parametrize(
    "project, folder, tables",
    [("livegrad", "livegrad", set()), ("mhalib", "mhalib", set()), (".", "book/mhabook", TABLES)],
    ids=["livegrad", "mhalib", "mhabook"],
)
def test_a_wheel_holds_every_file_of_its_package_and_the_tables_and_nothing_else(
    wheels, tmp_path, project, folder, tables
):
    maker.copy_source(project, tmp_path / "source")
    package = tmp_path / "source" / folder
    held = {
        path.relative_to(package.parent).as_posix() for path in package.rglob("*") if path.is_file()
    } - {f"{project}/{name}" for name in ("LICENSE", "pyproject.toml")}
    with zipfile.ZipFile(wheels[package.name]) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    assert sorted(held - names) == [], (
        "add their kind or their folder to [tool.setuptools] in pyproject.toml"
    )
    assert sorted(names - held) == sorted(tables)
    assert {Path(name).suffix for name in names} >= {".py", ".typed", ".js"}


def test_there_are_tables():
    assert len(TABLES) > 20


def test_the_packages_find_their_files_where_only_the_wheels_are(wheels, tmp_path):
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(tmp_path / "site")
    program = (
        "import mhabook, mhalib.live; print(mhabook.__file__); print(len(mhabook.stored('heads.npz')))"
        "; data = mhalib.data.tokenized_mixture(n=5); mhalib.live.heads(data, steps=2)"
    )
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
    maker.copy_source(".", tmp_path / "source")
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
