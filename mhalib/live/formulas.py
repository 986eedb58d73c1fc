"""The program of the live figures of heads: formulas of mhalib, as ``make kernel`` prints and compiles
them."""

from collections.abc import Callable
from typing import Any

from livegrad.model.programs import parts, program
from livegrad.record import Program
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead_hessian import MultiHeadHessian

VECTORS = {"theta": "", "direction": "V"}, {"slope": "d", "along": "H"}
"""The vectors of weights that a figure's program reads and writes, and what the names of their
parts begin with."""


def heads(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a figure asks of the multi-head classifier: gradient, Hessian–vector product, and what
    it records.

    What a product asks of the weights, the entry ``point`` keeps for many of them.
    """
    model, X, y = MultiHeadAttention(a["W"], a["U"]), a["X"], a["y"]
    loss, grad = model.loss_and_grad(X, y)
    here, (n, T, H, _) = model.hessian_operator(X, y), a["kept_A"].shape
    point = {
        "kept_A": here.A.reshape(n, T, H, T),
        "kept_away": here.away.reshape(n, T, H, T),
        "kept_g": here.g.reshape(n),
        "kept_curvature": here.curvature,
    }
    hessian = MultiHeadHessian(
        model,
        X,
        a["kept_A"].reshape(n, T * H, T),
        a["kept_away"].reshape(n, T * H, T),
        a["kept_g"][:, None, None],
        a["kept_curvature"],
    )
    A = model.attention(X)
    score = (A * a["relevant"][:, None, None, :]).sum(axis=-1).mean()
    return {
        "gradient": {"loss": loss} | parts("d", grad),
        "point": point,
        "product": parts("H", hessian(MultiHeadAttention(a["VW"], a["VU"]))),
        "forward": {
            "loss": loss,
            "score": score,
            "accuracy": (model.margins(X, y) > 0).mean(),
            "logits": model(X),
        },
        "attention": {"A": A},
        "norms": model.norms(),
    }


def multihead() -> Program:
    """The program of ``heads``."""
    kept = {"kept_A": "n T H T", "kept_away": "n T H T", "kept_g": "n", "kept_curvature": "n"}
    return program(MultiHeadAttention.axes, heads, *VECTORS, more={"relevant": "n T"} | kept)


PROGRAMS: dict[str, Callable[[], Program]] = {"heads": multihead}
"""Name of the files of a program → what makes it."""
