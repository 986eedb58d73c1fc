"""Live figures: training in the reader's hand, with a kernel behind the page or without."""

from livegrad.live import Control, FigureSpec, LiveFigure, figure
from mhalib.live.heads import heads

__all__ = ["Control", "FigureSpec", "LiveFigure", "figure", "heads"]
