"""The register of the papers' figures: what each shows, what came out here, and the file that says
so.

``FIGURES`` holds them in the order of the papers; the book's page Reproduction is made from it.
"""

from mhabook.reproduction import descent, heads, kernels
from mhabook.reproduction.figures import STATUSES, Figure, Outcome

FIGURES = (*heads.FIGURES, *descent.FIGURES, *kernels.FIGURES)

__all__ = ["FIGURES", "STATUSES", "Figure", "Outcome"]
