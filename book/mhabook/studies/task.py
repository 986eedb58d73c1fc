"""One run, in whatever process it happens."""

import platform
import traceback
from collections.abc import Mapping

import numpy as np
from threadpoolctl import threadpool_limits

import mhalib
from mhabook.studies.files import RESERVED


def attempt(run, k, config, seed):
    """k, and what the run returned and the versions it ran on, or why it failed.

    A failure is brought home as text, since not every exception can travel.
    """
    try:
        with threadpool_limits(1):
            returned = run(seed=seed, **config)
        return k, (parts(returned, config), versions()), None
    except Exception as error:
        return k, None, f"{type(error).__name__}: {error}\n\n{traceback.format_exc().rstrip()}"


def parts(returned, config):
    """What a run returned, as a list of dicts name → array.

    Raises
    ------
    TypeError, ValueError
        if it is something else than dicts of numbers, words and arrays, or a name is one of the configuration or
        reserved.
    """
    found = [returned] if isinstance(returned, Mapping) else returned
    if not isinstance(found, list) or not found or not all(isinstance(part, Mapping) and part for part in found):
        raise TypeError("run: expected it to return a dict of numbers and arrays, or a list of such dicts, "
                        f"got {returned if found == [] else type(returned).__name__}")
    for name in {name for part in found for name in part}:
        if not isinstance(name, str) or name in config or name in ("seed", *RESERVED):
            raise ValueError(f"run: expected results named otherwise than the configuration, and than seed, "
                             f"{', '.join(RESERVED)}, which are reserved, got {name!r}")
    return [{name: _array(name, value) for name, value in part.items()} for part in found]


def versions():
    """The versions that compute here."""
    return {"mhalib": mhalib.__version__, "numpy": np.__version__, "python": platform.python_version()}


def _array(name, value):
    if isinstance(value, (list, tuple)) or (array := np.array(value)).dtype.kind not in "biufU":
        raise TypeError(f"run: expected {name} to be a number, a word or an array of numbers, "
                        f"got {type(value).__name__}")
    return array
