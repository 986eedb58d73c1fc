"""The wheel is what a reader on Colab gets: it holds every file of both packages, JavaScript included."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("mhalib", "book/mhabook")
CACHES = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", ".*")


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Give a copy of what a build reads: in place it would leave its files, and take up those of the last one."""
    source = tmp_path_factory.mktemp("source")
    for folder in PACKAGES:
        shutil.copytree(ROOT / folder, source / folder, ignore=CACHES)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return source


@pytest.fixture(scope="module")
def package(source, tmp_path_factory):
    """Give the names of the packages' files, those here and those in the wheel."""
    held = {f"{Path(folder).name}/{name}" for folder in PACKAGES for name in files(source / folder)}
    written = tmp_path_factory.mktemp("wheel")
    command = ["pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", written, source]
    subprocess.run([sys.executable, "-m", *command], check=True)
    with zipfile.ZipFile(next(written.glob("mhalib-*.whl"))) as wheel:
        wheel.extractall(written)
    return held, {name for name in files(written) if name.startswith(("mhalib/", "mhabook/"))}


def test_the_wheel_holds_every_file_of_the_package(package):
    held, packed = package
    assert sorted(held - packed) == [], "add their kind to [tool.setuptools.package-data] in pyproject.toml"


def test_the_wheel_holds_nothing_else(package):
    held, packed = package
    assert sorted(packed - held) == []


def test_the_wheel_has_more_than_python(package):
    _, packed = package
    assert {Path(name).suffix for name in packed} >= {".py", ".typed", ".js"}
