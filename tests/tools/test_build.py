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

from scripts import load

ROOT = Path(__file__).parents[2]
PATIENCE = 300  # seconds after which a build that hangs is given up
# A cell that says it has begun, to whoever opened the pipe, and never ends.
WAITS = """import threading
open("begun", "w").close()
threading.Event().wait()"""
ANEW = "`make book` starts again from the beginning."
FILLS = "x = 20_000_000 * 'x'\nx"


@pytest.fixture
def book(tmp_path):
    """The build's own files, for a book of one page with one cell."""
    shutil.copytree(ROOT / "book/_ext", tmp_path / "book/_ext")
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci", ignore=shutil.ignore_patterns("node_modules"))
    for name in ("Makefile", "_config.yml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in (".", "mhalib", "livegrad"):
        (tmp_path / folder).mkdir(exist_ok=True)
        shutil.copy(ROOT / folder / "pyproject.toml", tmp_path / folder)
    (tmp_path / "_toc.yml").write_text("{format: jb-book, root: page, parts: []}")
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / ".venv/.ready").write_text(str(tmp_path))

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
    assert ended(build) == [f"== The book was not built: stopped. {ANEW}"]
    assert not [*left(folder)]
    assert not (folder / "_build/complete").exists()


def test_a_full_disk_ends_a_build(book, tmp_path_factory):
    folder = book(FILLS)
    place = tmp_path_factory.mktemp("small")
    there = f'cp -r . "{place}" && cd "{place}" && pwd >.venv/.ready && make book'
    mount = f'mount -t tmpfs -o size=16m small "{place}" && {there}'
    small = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]
    if (
        not shutil.which("unshare")
        or subprocess.run([*small[:3], "mount", "-t", "tmpfs", "none", place]).returncode
    ):
        pytest.skip("this system lets no one make a file system")
    (said,) = ended(begin(folder, command=small))
    assert said.startswith(f"== The book was not built: the disk of {place} is full")
    assert f"the book takes 300 MB. Make room: {ANEW}" in said
    assert not [*left(folder)]


def test_a_folder_that_cannot_be_written_ends_a_build(book, tmp_path_factory):
    folder = book("1")
    (folder / "_build").mkdir()
    (folder / "_build/kept").touch()
    here = f'"{folder}/_build"'
    bound = f"mount --bind {here} {here} && mount -o remount,ro,bind {here} && make book"
    locked = ["unshare", "--map-root-user", "--mount", "sh", "-c", bound]
    if not shutil.which("unshare") or subprocess.run([*locked[:3], "true"]).returncode:
        pytest.skip("this system lets no one mount")
    (said,) = ended(begin(folder, command=locked))
    assert f"{folder}/_build" in said and "cannot be written (Read-only file system)" in said


def test_what_stands_in_the_way_is_named(book):
    folder = book("1")
    for put in (Path.touch, lambda path: path.symlink_to(folder / "gone")):
        put(folder / "_build")
        (said,) = ended(begin(folder))
        assert f"{folder}/_build is a file, or a link that leads nowhere; remove it" in said
        (folder / "_build").unlink()


def test_the_book_that_stood_there_stands_until_another_is_built(book):
    folder, kept = book("1 / 0"), "_build/html/index.html"
    (folder / kept).parent.mkdir(parents=True)
    (folder / kept).write_text("the old one")
    (folder / "_build/complete").touch()
    (said,) = ended(begin(folder))
    assert "page failed, as said above" in said
    assert (folder / kept).read_text() == "the old one"
    assert not (folder / "_build/.before").exists()


def test_a_second_build_in_the_same_folder_is_refused(book):
    folder = book(WAITS)
    os.mkfifo(folder / "begun")
    first = begin(folder)
    (folder / "begun").open().close()
    (said,) = ended(begin(folder))
    assert "another build is running in this folder; wait for it" in said
    os.killpg(first.pid, signal.SIGINT)
    assert ended(first)


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """The build's module, over a whole book that was built before."""
    module = load("book/_ext/build.py")
    monkeypatch.setattr(module, "BUILD", tmp_path)
    monkeypatch.setattr(module, "BEFORE", tmp_path / ".before")
    for name in BOOK:
        (tmp_path / name).write_text("the old one")
    monkeypatch.setattr(module, "end_children", lambda: None)  # those of this process are others'
    handlers = {each: signal.getsignal(each) for each in module.ENDS}
    yield module
    for each, handler in handlers.items():
        signal.signal(each, handler)


BOOK = ["complete", "executed", "html"]


def interrupted(step):
    """A step at whose end a signal comes."""

    def both():
        step()
        signal.raise_signal(signal.SIGTERM)

    return both


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_signal_waits_while_the_old_book_is_moved(driver, tmp_path, monkeypatch):
    def move(paths, folder):
        os.kill(os.getpid(), signal.SIGTERM)
        really(paths, folder)

    really = driver.move
    monkeypatch.setattr(driver, "move", move)
    signal.signal(signal.SIGTERM, driver.interrupt)
    with pytest.raises(KeyboardInterrupt):
        driver.set_aside()
    assert names(tmp_path / ".before") == BOOK
    # and the build that ends there puts it back
    monkeypatch.setattr(driver, "move", really)
    driver.put_back()
    monkeypatch.setattr(driver, "set_aside", interrupted(driver.set_aside))
    assert driver.main() == 1
    assert names(tmp_path) == BOOK


def test_a_book_that_cannot_be_set_aside_stays_where_it_is(driver, tmp_path, monkeypatch):
    def rename(path, target):
        if len(names(tmp_path)) == len(BOOK) and target.parent != tmp_path:
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, target)

    really = Path.rename
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(PermissionError):
        driver.set_aside()
    assert names(tmp_path) == BOOK


def test_what_is_left_of_an_older_book_never_takes_the_place_of_the_new_one(
    driver, tmp_path, monkeypatch
):
    def build():
        for name in BOOK:
            (tmp_path / name).write_text("the new one")

    with monkeypatch.context() as of_another_user:
        of_another_user.setattr(driver, "build", build)
        of_another_user.setattr(driver.shutil, "rmtree", lambda *_, **__: None)
        assert driver.main() == 0
    assert (tmp_path / ".before/html").read_text() == "the old one"
    driver.put_back()
    assert (tmp_path / "html").read_text() == "the new one"
