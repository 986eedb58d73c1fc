"""Who looks at a run on its way: a function that may stop it, and a file that it is kept in."""

from collections.abc import Callable
from inspect import signature
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import require_count, shown
from livegrad.path import Path
from livegrad.stopping import by_callback

EVERY = 1000
"""So many steps lie between two writings of a file, unless one chooses."""


class Watch(NamedTuple):
    """``callback`` is called at recorded steps; ``file`` is written every so many steps."""

    callback: Callable[[Path], Any] | None
    file: str | PathLike[str] | None
    every: int

    def at(self, k: int, recorded: bool, path: Callable[[], Path]) -> str | None:
        """Look at step k; if the run is to end here, why.

        Raises TypeError if the callback returns anything but True, False or None.
        """
        if self.file is not None and k % self.every == 0:
            path().save(self.file)
        if self.callback is None or not recorded:
            return None
        answer = self.callback(path())
        if answer is not None and not isinstance(answer, (bool, np.bool_)):
            raise TypeError(
                "callback: expected a function that returns True to stop the run, and False or "
                f"None to go on, got {shown(answer)} at step {k}"
            )
        return by_callback(k) if answer else None


def _require_one_argument(callback):
    """Check that a function can be called with the path alone."""
    try:
        takes = signature(callback)
    except (TypeError, ValueError):  # of some that are written in C nobody knows
        return
    try:
        takes.bind(None)
    except TypeError:
        raise TypeError(
            "callback: expected a function of one argument, callback(path), the path so far, got "
            f"one of {takes}"
        ) from None


NOBODY = Watch(None, None, EVERY)


def watch(callback: Any, checkpoint: Any, every: Any) -> Watch:
    """The watch of these arguments of ``train``.

    Raises TypeError, ValueError or FileNotFoundError if one does not fit.
    """
    if callback is not None and not callable(callback):
        raise TypeError(
            f"callback: expected a function of the path so far, or None, got {shown(callback)}"
        )
    if callback is not None:
        _require_one_argument(callback)
    if checkpoint is None and every is not None:
        raise ValueError(
            f"every: expected a checkpoint=file that is written every {shown(every)} steps, got none"
        )
    if checkpoint is not None:
        from livegrad.model.stored import writable

        writable("checkpoint", checkpoint)
    require_count(every=EVERY if every is None else every)
    return Watch(callback, checkpoint, EVERY if every is None else int(every))
