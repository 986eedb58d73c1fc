"""What Proposition 1 says of a model, for the live figures of chapters 2 and 7 and of the
laboratory."""

from types import SimpleNamespace
from typing import Any

from livegrad.model.programs import places
from livegrad.record import Program
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import gradient_constant, smoothness_constant
from mhabook.c02_curvature.loss_bounds import curvature_constant
from mhalib.models import MultiHeadAttention


def program() -> Program:
    """G, ρ and κ, an entry each."""

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        model, R = MultiHeadAttention(a["W"], a["U"]), token_radius(a["X"])
        return {
            "gradient": {"G": gradient_constant(model, R)},
            "smoothness": {"rho": smoothness_constant(model, R)},
            # The constant reads nothing of the data but X, so the program needs no labels.
            "curvature": {"kappa": curvature_constant(model, SimpleNamespace(X=a["X"]))},
        }

    return Program(
        formulas,
        {"W": "H d d", "U": "H T d", "X": "n T d"},
        "n",
        places(MultiHeadAttention.axes, "theta"),
    )
