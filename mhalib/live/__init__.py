"""Live figures: training in the reader's hand, with a kernel behind the page or without."""

from mhalib.live.description import Control, Description
from mhalib.live.face import LiveFigure
from mhalib.live.heads import heads

__all__ = ["Control", "Description", "LiveFigure", "heads"]
