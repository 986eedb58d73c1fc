"""Live figures: training in the reader's hand, with a kernel behind the page or without."""

from importlib.util import find_spec

if find_spec("anywidget") is None:
    raise ImportError(
        "live figures and fields for answers are widgets: pip install anywidget, and restart the "
        "kernel"
    )

from livegrad.live.own import figure
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure

__all__ = ["Control", "FigureSpec", "LiveFigure", "figure"]
