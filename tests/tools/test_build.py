"""`make book` ends at once where it cannot go on, says why in a line, and leaves no process."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 300  # seconds after which a build that hangs is given up
# A cell that says it has begun, to whoever opened the pipe, and never ends.
WAITS = """import threading
open("begun", "w").close()
threading.Event().wait()"""
FILLS = "x = 20_000_000 * 'x'\nx"


@pytest.fixture
def book(tmp_path):
    """The build's own files, for a book of one page with one cell."""
    shutil.copytree(ROOT / "book/_ext", tmp_path / "book/_ext")
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for name in ("Makefile", "pyproject.toml", "_config.yml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "_toc.yml").write_text("{format: jb-book, root: page, parts: []}")
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / ".venv/.ready").touch()

    def write(cell):
        kernel = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
        page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)], metadata=kernel)
        nbformat.write(page, tmp_path / "page.ipynb")
        return tmp_path

    return write


def begin(folder, *before, command=("make", "book")):
    """Begin a build as a shell does, in a group of its own, which has a name by which what it began
    is found."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.Popen(
        [*before, *command],
        cwd=folder,
        env=environment | {"BUILD_IN": str(folder), "TMPDIR": str(folder.parent)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def ended(build):
    """What a build said that ends by itself."""
    try:
        said, _ = build.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(build.pid, signal.SIGKILL)
        raise
    assert build.returncode
    return [line for line in said.splitlines() if line.startswith("== The book")]


def left(folder):
    """The processes of a build that are still there."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("BUILD_IN") == str(folder):
                yield process.cmdline()
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            pass


@pytest.mark.parametrize(
    ("number", "to"),
    [
        (signal.SIGINT, os.killpg),  # Ctrl-C goes to all that the terminal has in front
        (signal.SIGTERM, os.kill),
        (signal.SIGHUP, os.killpg),
    ],
)
def test_a_signal_ends_a_build_and_all_that_it_began(book, number, to):
    folder = book(WAITS)
    os.mkfifo(folder / "begun")
    build = begin(folder)
    (folder / "begun").open().close()  # waits until the cell opens it, too
    to(build.pid, number)
    assert ended(build) == ["== The book is not built: stopped; `make book` begins anew."]
    assert not [*left(folder)]
    assert not (folder / "_build/complete").exists()


def test_a_full_disk_ends_a_build(book, tmp_path_factory):
    folder = book(FILLS)
    place = tmp_path_factory.mktemp("small")
    mount = f'mount -t tmpfs -o size=16m small "{place}" && cp -r . "{place}" && cd "{place}" && make book'
    small = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]
    if subprocess.run([*small[:3], "mount", "-t", "tmpfs", "none", place]).returncode:
        pytest.skip("this system lets no one make a file system")
    (said,) = ended(begin(folder, command=small))
    assert said.startswith(f"== The book is not built: the disk of {place} is full")
    assert "the book takes 300 MB. Make room: `make book` begins anew." in said
    assert not [*left(folder)]


def test_a_folder_that_cannot_be_written_ends_a_build(book, tmp_path_factory):
    folder = book("1")
    (folder / "_build").mkdir()
    (folder / "_build/kept").touch()
    here = f'"{folder}/_build"'
    bound = f"mount --bind {here} {here} && mount -o remount,ro,bind {here} && make book"
    locked = ["unshare", "--map-root-user", "--mount", "sh", "-c", bound]
    if subprocess.run([*locked[:3], "true"]).returncode:
        pytest.skip("this system lets no one mount")
    (said,) = ended(begin(folder, command=locked))
    assert "cannot be written (Read-only file system). Once it can, `make book` begins" in said
