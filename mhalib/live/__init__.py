"""Live figures: training in the reader's hand, with a kernel behind the page or without."""

from mhalib.live.heads import heads
from mhalib.live.own import figure
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure

__all__ = ["Control", "FigureSpec", "LiveFigure", "figure", "heads"]
