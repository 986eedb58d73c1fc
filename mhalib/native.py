"""The compiled programs of ``train``: whether there are any, and how they are made ahead of the
first run."""

from livegrad.record import native
from livegrad.record.native import status
from mhalib.models.compiled_workspace import PROGRAMS

__all__ = ["status", "warm"]


def warm(*, seconds: float = 60.0) -> str:
    """Compile every program of the package ahead, each in at most so many seconds, and return
    ``status()``.

    ``print(mha.native.warm())`` is called once for a machine, a version of mhalib and a compiler;
    ``train`` finds the programs in the cache. It also helps where the compiler takes longer than
    ``train`` waits. A process in which numpy has begun to run a program keeps to numpy, so that the
    same call gives the same bits; the next process takes the compiled one.

    Raises ValueError if seconds is no finite number > 0.
    """
    return native.warm(PROGRAMS, seconds)
