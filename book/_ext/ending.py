"""How a build ends that cannot go on: for a reason, and with all that it began."""

from contextlib import suppress

import psutil


class Unbuilt(Exception):
    """The book cannot be built, for a reason that is said in a line."""


def end_children() -> None:
    """End all processes that this one began, and those that these began."""
    end(psutil.Process().children())


def end(own: list[psutil.Process]) -> None:
    """End these children of this process, and what they began: what is stopped first begins no
    other."""
    found = set()
    while new := {process for child in own for process in family(child)} - found:
        for process in new:
            with suppress(psutil.NoSuchProcess):  # it ended by itself
                process.suspend()
        found |= new
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(own)  # the others are for the system to clear away, which may take its time


def family(child: psutil.Process) -> list[psutil.Process]:
    """A process and what it began, as far as they are there."""
    with suppress(psutil.NoSuchProcess):
        return [child, *child.children(recursive=True)]
    return []
