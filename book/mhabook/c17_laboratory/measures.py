"""What the laboratory draws, computed by mhalib: name → function of (a path, its data and rule, the
values)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from livegrad.arrays import to_numpy
from livegrad.landscape import spectrum
from livegrad.training import Path
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import smoothness_constant
from mhabook.c06_planted.statements import alignments
from mhabook.c13_layer.statements import least_singular, value_smoothness
from mhalib.optim import rate

# 2 (1 + β) is 3.8 for the momentum β = 0.9.
EDGES = {"gd": 2.0, "momentum": 3.8}
SHOWN = 16
"""A regression shows the attention of so many tokens."""


def rates(path: Path, run: Mapping[str, Any], values: Mapping[str, Any]) -> np.ndarray:
    """The step size of every recorded step."""
    return np.array([rate(run["rule"].lr, int(k)) for k in path.steps])


def edge_label(rule: str) -> dict[str, Any]:
    """How the edge of an update rule is called, and whether it has one."""
    return {"edge": f"{EDGES.get(rule, 2.0):g}/η", "has_edge": rule in EDGES}


def told(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the values tell before a run: whether the curvature is measured, whether the values alone
    move, so that their bound is one of it, and the range of the axis of steps."""
    return {
        "has_curvature": values["curvature"],
        "has_value_bound": values["moves"] == "WV",
        "span": [0, np.log10(values["steps"])],
    }


def edges(path: Path, run: Mapping[str, Any], values: Mapping[str, Any]) -> np.ndarray:
    """2/η for gradient descent, 2(1 + β)/η with momentum: where steps on a quadratic begin to
    grow."""
    sizes = rates(path, run, values)
    # A schedule may pass through the step size 0, which has no edge.
    known = np.where(sizes > 0, EDGES.get(values["optimizer"], np.nan), np.nan)
    return known / np.where(sizes > 0, sizes, 1)


def sharpness(path: Path, run: Mapping[str, Any], values: Mapping[str, Any]) -> np.ndarray:
    """The largest eigenvalue of the Hessian in the weights that move, or 0 where none is
    positive."""
    moves = values["moves"].split() if values["model"] == "layer" else None
    return np.array(
        [max(spectrum(model, run["data"], only=moves).values[-1], 0.0) for model in path.models]
    )


def _of(measure):
    """A measure of each recorded model."""
    return lambda path, run, values: np.array(
        [measure(model, run["data"]) for model in path.models]
    )


def _floor(path, run, values):
    # ½ E‖ε‖² of noise of variance σ² in each of the p = d outputs.
    return np.full(len(path), values["noise"] ** 2 * values["dimension"] / 2)


CURVES: dict[str, Callable[..., np.ndarray]] = {
    "rate": rates,
    "stability_edge": edges,
    "sharpness": sharpness,
    "floor": _floor,
    "smoothness_bound": _of(lambda model, data: smoothness_constant(model, token_radius(data.X))),
    "planted_W": lambda path, run, values: alignments(path, run["data"].truth)["W"],
    "planted_U": lambda path, run, values: alignments(path, run["data"].truth)["U"],
    "least_singular": _of(lambda model, data: least_singular(model.mixed(data.X))),
    "value_smoothness": _of(lambda model, data: value_smoothness(model, data.X)),
}


def weights(model: Any, data: Any, values: Mapping[str, Any]) -> np.ndarray:
    """The attention weights that are shown, a row for each query."""
    if values["model"] == "regression":
        scores = data.x[:SHOWN] @ model.B @ data.x.T
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        # Cut after the division: weights are shares of all tokens, shown or not.
        return (shares / shares.sum(axis=1, keepdims=True))[:, :SHOWN]
    # The controls offer more than small data and few heads have: the last one stands in.
    sample, head = min(values["sample"], len(data) - 1), min(values["head"], values["H"] - 1)
    X = data.X[sample : sample + 1]
    return to_numpy(model.attention(X) if values["model"] == "heads" else model.weights(X))[0, head]


def tokens(data: Any, values: Mapping[str, Any]) -> list[str]:
    """The names of the tokens that are shown; a star marks a relevant one."""
    relevant = getattr(data, "relevant", None)
    marks = () if relevant is None else relevant[min(values["sample"], len(data) - 1)]
    count = min(len(data), SHOWN) if values["model"] == "regression" else data.X.shape[1]
    return [f"{t}{'★' if t < len(marks) and marks[t] else ''}" for t in range(count)]
