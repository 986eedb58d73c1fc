"""The linearization of a multi-head classifier at its start, for the live figure of the page on the
tangent kernel."""

from typing import Any

from livegrad.model.programs import places
from livegrad.model.weights import with_attributes
from livegrad.record import Place, Program
from mhabook.start.figure_linearized import distance
from mhabook.start.linearized import Linearized, LinearizedWorkspace
from mhalib.models import MultiHeadAttention


def program() -> Program:
    """Logits and features of a start; loss and gradient of its ``Linearized``; outputs, and how far
    others are."""

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        start = MultiHeadAttention(a["W"], a["U"])
        tangent, space = (
            with_attributes(object.__new__(kind), a) for kind in (Linearized, LinearizedWorkspace)
        )
        (dW, dU), (loss, grad) = start.logit_gradients(a["X"]), space.loss_and_grad(tangent)
        outputs = space.logits(tangent)
        return {
            "start": {"first": start(a["X"]), "dW": dW, "dU": dU},
            "gradient": {"loss": loss, "slope": grad.V},
            "compare": {"distance": distance(a["others"], outputs), "outputs": outputs},
        }

    lie = places(MultiHeadAttention.axes, "theta") | {
        name: Place("features", "n * P", begin, ("P", "(d * d + T * d)", "d", "1"))
        for name, begin in (("dW", "0"), ("dU", "d * d"))
    }
    shapes = {
        "X": "n T d",
        "y": "n",
        "W": "H d d",
        "U": "H T d",
        "first": "n",
        "features": "n P",
        "V": "P",
        "others": "n",
    }
    return Program(formulas, shapes, "n", lie)
