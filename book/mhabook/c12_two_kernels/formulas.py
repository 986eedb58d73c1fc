"""What queries on a line read of keys, in Python and in the live figures of chapters 12 and 14, and
how it looks there."""

from typing import Any

from livegrad.arrays import Array
from livegrad.record import Program
from mhabook.c12_two_kernels.statements import Kernel
from mhalib.attention import Gaussian, NormalizedGaussian, softmax
from mhalib.plots import ATTENTION, GAUSSIAN, INK

NAMES = {"soft": "softmax", "gauss": "Gaussian", "between": "Gaussian, rows normalized"}
LOOKS = {
    "soft": {"color": ATTENTION, "dash": "solid"},
    "gauss": {"color": GAUSSIAN, "dash": "solid"},
    "between": {"color": GAUSSIAN, "dash": "dash"},
}
"""The lines of the kernels."""
CHOSEN_KEY = {"symbol": "diamond", "size": 12, "color": INK}
KEY = CHOSEN_KEY | {"symbol": "diamond-open", "line": {"width": 1.5}}
"""A key is a diamond, filled if it is the one in question."""


def kernels_of(c: float) -> dict[str, Kernel]:
    """The kernels by the names that they have in the figures."""
    return {"soft": softmax, "gauss": Gaussian(c), "between": NormalizedGaussian(c)}


def read(
    kernel: Kernel, queries: Array, keys: Array, values: Array, y: float | Array
) -> dict[str, Any]:
    """Weights (q, m) and outputs (q,) of queries (q,), losses ½ (output − y)² (q,), their sum and
    its gradient (q,).

    Keys and values are (m,).
    """
    Q, K = queries[:, None], keys[:, None]
    S = kernel(kernel.scores(Q, K))
    outputs = S @ values
    away = outputs - y
    # ∂φ_k/∂S_kj = (o_k − y) u_j.
    losses, dS = away * away / 2, kernel.vjp(S, away[:, None] * values)
    return {
        "loss": losses.sum(),
        "losses": losses,
        "weights": S,
        "outputs": outputs,
        # Each query has a loss of its own: the gradient of the sum has one derivative for each.
        "grad": kernel.scores_vjp(Q, K, dS)[0][:, 0],
    }


def program() -> Program:
    """``read``, an entry a kernel."""
    given = {"queries": "q", "keys": "m", "values": "m", "y": ""}
    return Program(
        lambda a: {
            name: read(kernel, *(a[name] for name in given))
            for name, kernel in kernels_of(a["c"]).items()
        },
        given,
        "q",
        number="c",
    )
