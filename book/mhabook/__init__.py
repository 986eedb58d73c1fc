"""mhabook: what the book *How Attention Learns* adds to ``mhalib``, filed by chapter.

A chapter's folder holds its numbered statements, its live figure and the experiments that it alone
needs; it imports from earlier chapters only. Every statement is in ``mhabook.ledger``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from livegrad.later import Getattr, later
from mhabook._render import use_book_renderer_if_asked
from mhabook.ledger import ledger

# The order of the book, which is the order of the ledger.
for _module in (
    "c01_model.selection",
    "c02_curvature.derivatives",
    "c02_curvature.bounds",
    "c02_curvature.loss_bounds",
    "c03_first_step.max_margin",
    "c03_first_step.first_phase",
    "c03_first_step.ntk",
    "c04_convergence.statements",
    "c05_heads.collapse",
    "c05_heads.early_steps",
    "c05_heads.late_steps",
    "c06_planted.statements",
    "c07_generalization.statements",
    "c08_digits.random_start",
    "c09_tilting.statements",
    "c09_tilting.finite_context",
    "c10_structure.factorization",
    "c10_structure.stationary",
    "c10_structure.contraction",
    "c11_data_and_compute.statements",
    "c11_data_and_compute.finite_data",
    "c11_data_and_compute.finite_descent",
    "c11_data_and_compute.scaling",
    "c12_two_kernels.statements",
    "c13_layer.statements",
    "c14_traps.reach",
    "c14_traps.statements",
    "c15_landscapes.statements",
    "c16_networks.statements",
):
    # The import alone registers a module's statements.
    import_module(f"mhabook.{_module}")

use_book_renderer_if_asked()

if TYPE_CHECKING:
    from mhabook import plots
    from mhabook.c17_laboratory import laboratory
    from mhabook.exercises import exercise, guesses
    from mhabook.saying import say
    from mhabook.studies import sweep
    from mhabook.tables import Table, stored

__all__ = [
    "Table",
    "exercise",
    "guesses",
    "laboratory",
    "ledger",
    "plots",
    "say",
    "stored",
    "sweep",
]

# Widgets and figures take longer to import than all statements together; sweeps need joblib.
__getattr__: Getattr = later(
    "mhabook",
    {
        "Table": "tables",
        "exercise": "exercises",
        "guesses": "exercises",
        "laboratory": "c17_laboratory",
        "plots": "plots",
        "say": "saying",
        "stored": "tables",
        "sweep": "studies",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
