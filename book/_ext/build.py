"""Build the book from scratch: ``make book``, or ``python book/_ext/build.py``.

Whatever ends it, a signal, a full disk, a page that fails, it ends at once, leaves no process
behind, and says in a line what happened and what to do. ``_build/complete`` is written last.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from ending import Unbuilt, end_children

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "_build"
ROOM = 300  # megabytes that a built book takes
FULL = 5  # megabytes: with less left, whatever failed did so for want of them
ANEW = "`make book` begins anew."


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
    execute()
    say("setting the pages (half a minute); a warning is an error")
    set_pages()
    for words, module in LATER.items():
        say(words)
        import_module(module).main()
    (BUILD / "complete").touch()
    say("the book: _build/html/index.html")


def execute() -> None:
    """Every notebook, in a fresh folder."""
    if BUILD.exists():
        shutil.rmtree(BUILD)
    import_module("execute").main(BUILD / "executed")


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
        raise Unbuilt("Sphinx failed, as is said above")


def reason(error: Exception) -> str:
    """What made the build end, in a line; nothing for an error of which only its traceback says
    where it is."""
    for folder in (ROOT, Path(tempfile.gettempdir())):
        if shutil.disk_usage(folder).free < FULL * 2**20 or full(error):
            return f"the disk of {folder} is full; the book takes {ROOM} MB. Make room: {ANEW}"
    if isinstance(error, PermissionError) or getattr(error, "errno", None) == errno.EROFS:
        return f"{error.filename} cannot be written ({error.strerror}). Once it can, {ANEW}"
    return f"{error}. Once that is mended, {ANEW}" if isinstance(error, Unbuilt) else ""


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
    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), interrupt)
    words = ""
    try:
        build()
    except KeyboardInterrupt:
        words = f"stopped; {ANEW}"
    except Exception as error:
        words = reason(error)
        if not words:
            raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end is not interrupted
        end_children()
    if words:
        print(f"== The book is not built: {words}", file=sys.stderr)
    return bool(words)


if __name__ == "__main__":
    sys.exit(main())
