"""The wheel is what a reader on Colab gets: it holds every file of both packages, JavaScript included."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("mhalib", "book/mhabook")
CACHES = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", ".*")


def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(tmp_path):
    source, written = tmp_path / "source", tmp_path / "wheel"  # in place it would leave files, and take up old ones
    for folder in PACKAGES:
        shutil.copytree(ROOT / folder, source / folder, ignore=CACHES)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    held = {path.relative_to((source / folder).parent).as_posix() for folder in PACKAGES
            for path in (source / folder).rglob("*") if path.is_file()}
    command = ["pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", written, source]
    subprocess.run([sys.executable, "-m", *command], check=True)
    with zipfile.ZipFile(next(written.glob("mhalib-*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith(("mhalib/", "mhabook/"))}
    assert sorted(held - packed) == [], "add their kind to [tool.setuptools.package-data] in pyproject.toml"
    assert sorted(packed - held) == []
    assert {Path(name).suffix for name in packed} >= {".py", ".typed", ".js"}
