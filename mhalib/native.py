"""The compiled programs of ``train``: whether there are any, and how they are made ahead of the
first run."""

from livegrad.record import native
from livegrad.record.native import status
from mhalib.models.compiled_workspace import PROGRAMS

__all__ = ["status", "warm"]


def warm() -> str:
    """Compile every program of the package ahead, and return ``status()``.

    ``print(mha.native.warm())`` is called once for a machine, a version of the packages and a
    compiler; ``train`` finds the programs in the cache.
    """
    return native.warm(PROGRAMS)
