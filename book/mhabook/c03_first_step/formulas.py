"""The program of chapter 3's live figure: starts of one head, their features, and the closed forms
beside them."""

from typing import Any

import numpy as np

from livegrad.record import Place, Program
from mhabook.c03_first_step.first_phase import of_equal_norm, step_from_zero
from mhabook.c03_first_step.ntk import margins_of_shares, mixture_margins
from mhalib.data import Dataset
from mhalib.models import MultiHeadAttention


def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Decoders of a first phase and of the same norm; loss and signed features at W = 0; margins of
    mixtures."""
    data, model = Dataset(a["X"], a["y"]), MultiHeadAttention(a["W"][None], a["U"][None])
    W, U = (part[:, 0] * a["y"][:, None, None] for part in model.logit_gradients(data.X))
    sizes = U.shape[1], a["zeta"], a["S"], a["patterns"]
    return {
        "first": {"U": step_from_zero(data, a["sign"][None]).U[0]},
        "gaussian": {"U": of_equal_norm(data, a["U"][None])[0]},
        # both_W and both_U lie in one buffer, in the order of ``ravel``; the parts alone are
        # outputs of their own.
        "features": {
            "loss": model.loss(data.X, data.y),
            "only_W": W,
            "only_U": U,
            "both_W": W,
            "both_U": U,
        },
        "closed": {
            "closed": np.stack(mixture_margins(*sizes)),
            "exact": np.stack(margins_of_shares(*sizes, a["square"])),
        },
    }


def program() -> Program:
    """One head, with U (T, d), and W (d, d) that nobody writes; features in the order of
    ``ravel``."""
    places = {
        name: Place("both", "n * (d * d + T * d)", begin, ("(d * d + T * d)", "d", "1"))
        for name, begin in (("both_W", "0"), ("both_U", "d * d"))
    }
    shapes = {"X": "n T d", "y": "n", "W": "d d", "U": "T d"}
    return Program(
        formulas,
        shapes | dict.fromkeys(("sign", "zeta", "S", "patterns", "square"), ""),
        "n",
        places,
    )
