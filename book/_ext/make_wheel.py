"""Build the wheel of both packages: ``python book/_ext/make_wheel.py FOLDER``. It needs no
network."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
FOLDERS = ("mhalib", "book/mhabook")
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", ".*")


def copy_source(source: Path) -> None:
    """Copy what the wheel is made of: a build in place would leave files there, and take up old
    ones."""
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=LEFT_OUT)
    (source / "book" / "results").mkdir()
    for path in (*(ROOT / name for name in FILES), *(ROOT / "book" / "results").glob("*.npz")):
        shutil.copy(path, source / path.relative_to(ROOT))


def build(folder: Path) -> Path:
    """Build the wheel into a folder; returns its path."""
    with tempfile.TemporaryDirectory() as source:
        copy_source(Path(source))
        options = [
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--wheel-dir",
            folder,
        ]
        subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], check=True)
    return next(folder.glob("mhalib-*.whl"))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
