"""How a build ends that cannot go on: for a reason, and with all that it began."""

from collections.abc import Callable

import psutil


class Unbuilt(Exception):
    """The book cannot be built, for a reason that is said in a line."""


def end_children() -> None:
    """End all processes that this one began, and those that these began: what is stopped first
    begins no other."""
    here, found = psutil.Process(), set()
    while new := set(here.children(recursive=True)) - found:
        for process in new:
            send(process.suspend)
        found |= new
    for process in found:
        send(process.kill)
    psutil.wait_procs(found)


def send(signal_it: Callable[[], None]) -> None:
    """Send a signal to a process, which may have ended by itself."""
    try:
        signal_it()
    except psutil.NoSuchProcess:
        pass
