"""Sweeps: one function over a grid and seeds, on all cores or a cluster. Nothing else in mhalib writes to disk."""

from mhalib.sweeps.running import sweep
from mhalib.sweeps.stored import stored
from mhalib.sweeps.table import Table

__all__ = ["Table", "stored", "sweep"]
