"""The live figure of chapter 2: curvature along training, against its bounds."""

from dataclasses import replace

import numpy as np

from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import smoothness_constant
from mhabook.c02_curvature.loss_bounds import curvature_constant, loss_hessian
from mhalib._array import require_count
from mhalib.data import Dataset
from mhalib.live.frames import line, panels, step_axis
from mhalib.live.payload import arrays, in_doubles
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import GradientDescent
from mhalib.training import recorded_steps, train


def curvature(data: Dataset, steps: int = 400, scale: float = 0.3, seed: int = 0) -> LiveFigure:
    """A live figure: the ends of the spectrum of ∇²L along training, with their bounds, from a random start.

    The page computes both ends from Hessian-vector products (Lanczos' method); Python from the dense Hessian, whose
    size grows like H (d² + T d): small problems only.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it
    steps : how many steps a run has
    scale, seed : the random start, as in ``MultiHeadAttention.random``; scale is one of 0.03, 0.1, 0.3, 1, 3

    Raises TypeError or ValueError if data is no ``Dataset``, steps no whole number ≥ 1, or scale none of those.

    Source: Corollary 1 (ours).
    """
    require_count(steps=steps)
    data = in_doubles(data)
    _, T, d = data.X.shape
    record = recorded_steps(steps, 12)
    H_values = (1, 2, 4, 8)

    def run(values):
        start = MultiHeadAttention.random(values["H"], T, d, scale=values["scale"], seed=seed)
        path = train(start, data, GradientDescent(values["lr"]), steps, record=record)
        return replace(path, curves=path.curves | _spectrum_ends(path, data, values["lr"]))

    frame = panels("upward", "downward")
    line(frame, "largest eigenvalue", 1, shows="sharpness", color=0)
    line(frame, "its bound ρ", 1, shows="smoothness_bound", color=1)
    line(frame, "2/η", 1, shows="edge", color=2)
    line(frame, "− smallest eigenvalue", 2, shows="negative_curvature", color=3)
    line(frame, "its bound (B/√H) L", 2, shows="weak_convexity_bound", color=4)
    line(frame, "loss L", 2, shows="loss", color=5)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", exponentformat="power", dtick=2)
    frame.update_yaxes(range=[-5, 4], col=1)
    frame.update_yaxes(range=[-6, 4], col=2)
    curves = ("sharpness", "smoothness_bound", "edge", "negative_curvature", "weak_convexity_bound", "loss")
    return LiveFigure(FigureSpec(
        title="Curvature along training, against its bounds",
        alt="Curves over training steps on logarithmic axes. Left, the largest eigenvalue of the loss's Hessian, the "
            "bound rho two to nearly five orders of magnitude above it, and the line 2 over eta. Right, the negative "
            "curvature, its bound two orders of magnitude above it, and the loss: all three fall together.",
        model="multihead", data=arrays(data), record=tuple(record), curves=curves, fixed={"optimizer": "gd"},
        start={"kind": "normal", "stream": normals(H_values[-1] * (d * d + T * d), seed).tolist()},
        controls=(Control("H", "heads H", H_values, 2),
                  Control("lr", "step size η", (0.1, 0.3, 1.0, 3.0, 10.0, 30.0), 1.0),
                  Control("scale", "start scale", (0.03, 0.1, 0.3, 1.0, 3.0), scale)),
        frame=frame,
        summary="In {steps} steps with H = {H}, η = {lr}, start scale {scale} the loss goes from {first_loss} to "
                "{loss}, the largest eigenvalue from {first_sharpness} to {sharpness}, the negative curvature from "
                "{first_negative_curvature} to {negative_curvature}.",
        train=run), __file__)


def _spectrum_ends(path, data, lr):
    """The curves of ``curvature`` at the recorded models, from the dense Hessian."""
    R = token_radius(data.X)
    ends = [np.linalg.eigvalsh(sum(loss_hessian(model, data)))[[0, -1]] for model in path.models]
    ends = np.array(ends).reshape(-1, 2)  # a run that stopped at its start has none
    kappa = np.array([curvature_constant(model, data, R) for model in path.models])
    return {"sharpness": ends[:, 1], "negative_curvature": -ends[:, 0], "edge": np.full(len(path), 2 / lr),
            "smoothness_bound": np.array([smoothness_constant(model, R) for model in path.models]),
            "weak_convexity_bound": kappa * path.loss}
