"""Live figures: training in the reader's hand, with a kernel behind the page or without."""

from mhalib.live.convergence import theory_and_practice
from mhalib.live.data_and_compute import data_and_compute
from mhalib.live.descent import descent
from mhalib.live.description import Control, Description
from mhalib.live.digits import digits
from mhalib.live.exercises import Exercise, exercise
from mhalib.live.face import LiveFigure
from mhalib.live.generalization import generalization
from mhalib.live.kernels import kernels
from mhalib.live.lab import Laboratory, laboratory
from mhalib.live.layer import layer
from mhalib.live.linearized import linearized
from mhalib.live.multihead import curvature, heads, mixture
from mhalib.live.planted import planted
from mhalib.live.realizability import realizability
from mhalib.live.scores import scores
from mhalib.live.surface import surface
from mhalib.live.tilting import tilting
from mhalib.live.traps import traps
from mhalib.live.two_tokens import two_tokens
from mhalib.live.width import width

__all__ = ["Control", "Description", "Exercise", "Laboratory", "LiveFigure", "curvature", "data_and_compute", "descent",
           "digits", "exercise", "generalization", "heads", "kernels", "laboratory", "layer", "linearized", "mixture",
           "planted", "realizability", "scores", "surface", "theory_and_practice", "tilting", "traps", "two_tokens",
           "width"]
