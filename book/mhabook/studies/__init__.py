"""Sweeps: one function over a grid and seeds, on all cores or a cluster; and all that is kept on disk.

Nothing else in mhalib writes to disk: ``train_network`` keeps the state of a long run in a ``Checkpoint``.
"""

from mhalib.sweeps.checkpoint import Checkpoint
from mhalib.sweeps.running import sweep
from mhalib.sweeps.stored import stored
from mhalib.sweeps.table import Table

__all__ = ["Checkpoint", "Table", "stored", "sweep"]
