"""Build the wheels of the three packages: ``python book/_ext/make_wheel.py FOLDER``. It needs no
network."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECTS = {
    "livegrad": ["livegrad"],
    "mhalib": ["mhalib"],
    ".": ["pyproject.toml", "setup.py", "README.md", "LICENSE", "book/mhabook"],
}
"""The folder of each project → what its wheel is made of."""
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", ".*", "*.egg-info", "build")


def copy_source(project: str, source: Path) -> Path:
    """Copy what the wheel of a project is made of, and return its folder: a build in place would
    leave files there, and take up old ones."""
    for name in PROJECTS[project]:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=LEFT_OUT)
        else:
            source.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    if project == ".":
        (source / "book" / "results").mkdir()
        for path in (ROOT / "book" / "results").glob("*.npz"):
            shutil.copy(path, source / path.relative_to(ROOT))
    return source / project


def build(folder: Path) -> list[Path]:
    """Build the wheels into a folder; returns their paths."""
    with tempfile.TemporaryDirectory() as place:
        sources = [copy_source(project, Path(place, str(k))) for k, project in enumerate(PROJECTS)]
        options = [
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--wheel-dir",
            folder,
        ]
        subprocess.run([sys.executable, "-m", "pip", "wheel", *options, *sources], check=True)
    return sorted(folder.glob("*.whl"))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
