"""Formulas in NumPy become programs: recorded, differentiated, printed, compiled. It knows no
attention.

``array`` makes an input that records what a formula does with it, ``gradient`` derives,
``evaluate`` computes by numpy what was recorded, ``Program`` prints it for all sizes, in C++ and
JavaScript; ``primitive`` adds a function. README.md beside this file tells it on one screen.
"""

from mhalib.compiler.derivatives import gradient
from mhalib.compiler.numeric import Evaluator, evaluate
from mhalib.compiler.primitives import primitive
from mhalib.compiler.program import Program
from mhalib.compiler.sizes import Place
from mhalib.compiler.trace import Untraceable, array

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
