"""Formulas in NumPy become programs: recorded, differentiated, printed, compiled. It knows no
attention.

``array`` makes an input that records what a formula does with it, ``gradient`` derives,
``evaluate`` computes by numpy what was recorded, ``Program`` prints it for all sizes, in C++ and
JavaScript; ``primitive`` adds a function. README.md beside this file tells it on one screen.
"""

from livegrad.record.derivatives import gradient
from livegrad.record.numeric import Evaluator, evaluate
from livegrad.record.primitives import primitive
from livegrad.record.program import Program
from livegrad.record.sizes import Place
from livegrad.record.trace import Untraceable, array

__all__ = [
    "Evaluator",
    "Place",
    "Program",
    "Untraceable",
    "array",
    "evaluate",
    "gradient",
    "primitive",
]
