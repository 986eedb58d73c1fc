"""Sweeps: one function over a grid and seeds, on all cores or a cluster; and all that is kept on disk.

Nothing else in mhalib writes to disk: ``train_network`` keeps the state of a long run in a ``Checkpoint``.
"""

from mhabook.studies.checkpoint import Checkpoint
from mhabook.studies.running import sweep
from mhabook.studies.stored import stored
from mhabook.studies.table import Table

__all__ = ["Checkpoint", "Table", "stored", "sweep"]
