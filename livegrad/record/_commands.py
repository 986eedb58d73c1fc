"""Commands of the system, which may hang, crash, or say what is no text."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import NamedTuple

LONGEST = 10_000
"""Bytes of what a command says that are read."""


class Ended(NamedTuple):
    """How a command ended: its exit status, below zero the signal that killed it, and what it
    said."""

    code: int
    output: str
    errors: str


class Failed(RuntimeError):
    """A command that cannot be run."""


class Late(RuntimeError):
    """A command that did not end in time."""


def run(
    command: Sequence[str],
    seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command, for at most so many seconds if they are given; what is no UTF-8 of its output
    is replaced.

    Raises Failed if it cannot be run, and Late if it does not end in time: then it is killed, with
    what it started, and so it is by an interrupt.
    """
    # Into files, not pipes: a daemon that a compiler starts holds a pipe open, and it would never
    # end.
    with TemporaryFile() as output, TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                # A group of its own, which `_kill` ends as a whole.
                start_new_session=os.name == "posix",
            )
        except (OSError, ValueError) as error:
            raise Failed(f"{command[0]} cannot be run: {error}") from error
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Late(f"{command[0]} did not end in time") from None
        finally:
            if process.returncode is None:  # too late, or interrupted
                _kill(process)
        return Ended(code, _text(output), _text(errors))


def _kill(process):
    """End a process, and on POSIX all that it started."""
    with suppress(OSError):  # it may have ended meanwhile
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _text(file):
    file.seek(0)
    return file.read(LONGEST).decode("utf-8", "replace").strip()
