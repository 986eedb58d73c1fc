"""Build the book from scratch: ``make book``, or ``python book/_ext/build.py``.

Whatever ends it, a signal, a full disk, a page that fails, it ends at once, leaves no process
behind, says in a line what happened and what to do, and the book that was built before stands as it
stood. ``_build/complete`` is written last.
"""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from ending import Unbuilt, end_children

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "_build"
BEFORE = BUILD / ".before"  # the book that stood there, until the new one stands
ROOM = 300  # megabytes that a built book takes
FULL = 5  # megabytes: with less left, whatever failed did so for want of them
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the signals that ask for the end
ANEW = "`make book` starts again from the beginning."

# What follows once the pages stand, and the modules beside this one that do it.
LATER = {
    "drawing its figures for where no script runs": "pictures",
    "its live figures for slides and frames": "alone",
    "slides, sheets, solutions and quizzes of the course": "kit",
    "writing its runnable notebooks": "runnable",
}


def say(words: str) -> None:
    print(f"== {words}", flush=True)


def build() -> None:
    """All steps, one after the other."""
    say("executing the notebooks (some minutes)")
    import_module("execute").main(BUILD / "executed")
    say("setting the pages (half a minute); a warning is an error")
    set_pages()
    for words, module in LATER.items():
        say(words)
        import_module(module).main()
    (BUILD / "complete").touch()
    say("the book: _build/html/index.html")


def alone() -> None:
    """Make the folder that is built into, and keep other builds out of it until this one ends."""
    try:
        BUILD.mkdir(exist_ok=True)
    except FileExistsError as error:
        raise Unbuilt(f"{BUILD} is a file, or a link that leads nowhere; remove it") from error
    try:
        fcntl.flock(os.open(BUILD, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Unbuilt("another build is running in this folder; wait for it") from error


@contextmanager
def unbroken() -> Iterator[None]:
    """A signal that asks for the end waits until the old book stands in one place."""
    asked = []
    old = {each: signal.signal(each, lambda number, _: asked.append(number)) for each in ENDS}
    try:
        yield
    finally:
        for each, handler in old.items():
            signal.signal(each, handler)
    for number in asked[:1]:
        signal.raise_signal(number)


@unbroken()
def set_aside() -> None:
    """Put the book that stands there aside; one that an earlier build was killed over stays so."""
    if kept():
        remove(*new())
        return
    if BEFORE.exists():
        remove(BEFORE)
    BEFORE.mkdir()
    try:
        move(new(), BEFORE)
    except OSError:
        move(BEFORE.iterdir(), BUILD)
        BEFORE.rmdir()
        raise


def put_back() -> None:
    """Give its place back to the book that stood there; what is half built goes, if there is one."""
    if kept():
        remove(*new())
        move(BEFORE.iterdir(), BUILD)
    shutil.rmtree(BEFORE, ignore_errors=True)  # the next build names what cannot be removed


def kept() -> bool:
    """Is a whole book put aside?"""
    return (BEFORE / "complete").exists()


def move(paths: Iterable[Path], folder: Path) -> None:
    """Move files and folders into a folder."""
    for path in [*paths]:
        path.rename(folder / path.name)


def new() -> list[Path]:
    """What is being built."""
    return [path for path in BUILD.iterdir() if path != BEFORE]


def remove(*paths: Path) -> None:
    """Remove files and folders; what cannot be removed is named in full."""

    def named(_: object, path: str, failed: tuple[type, OSError, object]) -> None:
        raise OSError(failed[1].errno, failed[1].strerror, path) from failed[1]

    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, onerror=named)
        else:
            path.unlink()


def set_pages() -> None:
    """The pages, by Jupyter Book, with what the notebooks showed."""
    program = "from jupyter_book.cli.main import main; main()"
    strict = ["-W", "--keep-going", "-n", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", program, "build", ".", *strict],
        cwd=ROOT,
        env=os.environ | {"BOOK_CACHE": str(BUILD / "executed")},
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C ends it from here, without its traceback
    )
    if done.returncode:
        raise Unbuilt("Sphinx failed; see its messages above")


def reason(error: Exception) -> str:
    """What made the build end, in a line; nothing for an error of which only its traceback says
    where it is."""
    for folder in (ROOT, Path(tempfile.gettempdir())):
        if shutil.disk_usage(folder).free < FULL * 2**20 or full(error):
            return f"the disk of {folder} is full; the book takes {ROOM} MB. Make room: {ANEW}"
    if isinstance(error, PermissionError) or getattr(error, "errno", None) == errno.EROFS:
        words = f"{error.filename} cannot be written ({error.strerror})"
        return f"{words}; does it belong to another user, such as root? Once it can, {ANEW}"
    return f"{error}. Once that is done, {ANEW}" if isinstance(error, Unbuilt) else ""


def full(error: BaseException | None) -> bool:
    """Is it, or what it came from, the error of a full disk?"""
    return error is not None and (
        getattr(error, "errno", None) == errno.ENOSPC or full(error.__cause__)
    )


def interrupt(number: int, _: object) -> None:
    """Any signal that asks for the end comes as Ctrl-C does."""
    raise KeyboardInterrupt(number)


def main() -> int:
    """Build; returns the status of the program."""
    for each in ENDS:
        signal.signal(each, interrupt)
    words, ours = "", False
    try:
        alone()
        ours = True
        set_aside()
        build()
        (BEFORE / "complete").unlink(missing_ok=True)  # the new book stands: the old one may go
    except KeyboardInterrupt:
        words = f"stopped. {ANEW}"
    except Exception as error:
        words = reason(error)
        if not words:
            raise
    finally:
        for each in ENDS:
            signal.signal(each, signal.SIG_IGN)  # the end is not interrupted
        end_children()
        if ours:
            put_back()
    if words:
        print(f"== The book was not built: {words}", file=sys.stderr)
    return bool(words)


if __name__ == "__main__":
    sys.exit(main())
