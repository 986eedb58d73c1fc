"""The live figures of chapter 2: how much the loss curves downward, and curvature along training
with its bounds."""

from dataclasses import replace

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import smoothness_constant
from mhabook.c02_curvature.loss_bounds import curvature_constant, loss_hessian
from mhabook.figure_parts import drawn_heads, plain_step, with_value
from mhalib.data import Dataset
from mhalib.live.samples import arrays, in_doubles
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import GradientDescent
from mhalib.plots import INK

HEADS = (1, 2, 4, 8)
STEP_SIZES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
SCALES = (0.03, 0.1, 0.3, 1.0, 3.0)


def downward(
    data: Dataset, start: MultiHeadAttention, rule: GradientDescent, steps: int = 400, seed: int = 0
) -> LiveFigure:
    """A live figure of the run that these arguments describe: how much does the loss curve downward
    as it falls?

    Sliders change the number of heads, the step size and the size of the start. The page computes
    the smallest eigenvalue of ∇²L from Hessian-vector products (Lanczos' method); Python from the
    dense Hessian, whose size grows like H (d² + T d): small problems only.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it
    start : random heads, ``MultiHeadAttention.random(H, T, d, scale, seed)``
    rule : ``GradientDescent`` with a number as its step size
    steps : how many steps a run has
    seed : that of the start

    Raises TypeError or ValueError if data, start or rule are others, or steps is no whole number
    ≥ 1.

    Source: Corollary 1 (ours).
    """
    require_count(steps=steps)
    data, scale, (H, T, d) = in_doubles(data), drawn_heads(start, seed), start.sizes
    own = {"H": H, "lr": plain_step(rule), "scale": scale}
    heads = tuple(sorted({*HEADS, H}))
    record = recorded_steps(steps, 12)
    tries = {"Initial settings": {}, "Large step size": {"lr": 10.0}}
    if own["H"] != HEADS[-1]:
        tries["Eight heads"] = {"H": HEADS[-1]}
    if own["scale"] != SCALES[-1]:
        tries["Large initialization"] = {"scale": SCALES[-1]}
    return LiveFigure(
        FigureSpec(
            title="How negative is the curvature?",
            alt=f"On logarithmic axes, against the loss, {steps} steps of one run from a random "
            "initialization. Points, joined by a nearly level line at about 0.1, show the negative "
            f"curvature divided by the loss at {len(record)} steps, while the loss falls by more than "
            "two orders of magnitude. On the same axis, about two orders of magnitude higher, a nearly "
            "level dotted line between 10 and 30 shows the bound on this ratio.",
            model="multihead",
            data=arrays(data),
            record=tuple(record),
            fixed={"optimizer": "gd"},
            curves=("loss", "negative_curvature", "curvature_share", "weak_convexity_constant"),
            # As long as the most heads of the slider need: fewer take the beginning of the stream.
            start={"kind": "normal", "stream": normals(heads[-1] * (d * d + T * d), seed).tolist()},
            controls=(
                Control("H", "heads H", heads, H),
                Control("lr", "step size η", with_value(STEP_SIZES[:-1], own["lr"]), own["lr"]),
                Control("scale", "initialization scale", with_value(SCALES, scale), scale),
            ),
            tries=tries,
            frame=_downward_frame(),
            summary="Heads: {H}. With step size {lr} and initialization scale {scale}, the loss "
            "goes from {first_loss} to {loss} in {steps} steps, and its negative curvature from "
            "{first_negative_curvature} to {negative_curvature}. At the end it is "
            "{curvature_share} times the loss, and its bound {weak_convexity_constant} times the "
            "loss.",
            train=lambda values: _random_run(data, values, record, seed),
        ),
        __file__,
    )


def _downward_frame():
    frame = panels("negative curvature / loss", height=400)
    measures = {
        "its bound B/√H": ("weak_convexity_constant", "dot"),
        "measured": ("curvature_share", "solid"),
    }
    for name, (shown, dash) in measures.items():
        usual = {"over": "loss", "shows": shown, "dash": dash, "once": True}
        line(frame, "initial settings", 1, **usual, legend=name == "measured")
    for name, (shown, dash) in measures.items():
        line(frame, name, 1, shows=shown, over="loss", dash=dash)
    frame.data[-1].update(mode="lines+markers", marker={"color": INK, "size": 8})
    frame.update_xaxes(
        title="loss, log scale: training goes to the left",
        type="log",
        range=[-4, 1],
        dtick=1,
        exponentformat="power",
    )
    # One axis for both, so that the gap is the factor between them.
    return frame.update_yaxes(
        title="times the loss, log scale",
        type="log",
        dtick=1,
        exponentformat="power",
        range=[-1.75, 2.35],
    )


def _random_run(data, values, record, seed):
    start = MultiHeadAttention.random(
        values["H"], *data.X.shape[1:], scale=values["scale"], seed=seed
    )
    path = train(start, data, GradientDescent(values["lr"]), record[-1], record=record)
    return replace(path, curves=path.curves | _spectrum_ends(path, data, values["lr"]))


def curvature(data: Dataset, steps: int = 400, scale: float = 0.3, seed: int = 0) -> LiveFigure:
    """A live figure: the ends of the spectrum of ∇²L along training, with their bounds, from a
    random start.

    The page computes both ends from Hessian-vector products (Lanczos' method); Python from the
    dense Hessian, whose size grows like H (d² + T d): small problems only.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it
    steps : how many steps a run has
    scale, seed : the random start, as in ``MultiHeadAttention.random``; scale is one of 0.03, 0.1,
        0.3, 1, 3

    Raises TypeError or ValueError if data is no ``Dataset``, steps no whole number ≥ 1, or scale
    none of those.

    Source: Corollary 1 (ours).
    """
    require_count(steps=steps)
    data = in_doubles(data)
    _, T, d = data.X.shape
    record = recorded_steps(steps, 12)

    frame = panels("upward", "downward")
    line(frame, "largest eigenvalue", 1, shows="sharpness", color=INK, dash="longdash")
    line(frame, "its bound ρ", 1, shows="smoothness_bound", color=INK, dash="dot")
    line(frame, "2/η", 1, shows="edge", color=INK, dash="dashdot")
    line(frame, "− smallest eigenvalue", 2, shows="negative_curvature", color=INK, dash="dash")
    line(frame, "its bound (B/√H) L", 2, shows="weak_convexity_bound", color=INK, dash="dot")
    line(frame, "loss L", 2, shows="loss", color=INK)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", exponentformat="power", dtick=2)
    frame.update_yaxes(range=[-5, 4], col=1)
    frame.update_yaxes(range=[-6, 4], col=2)
    curves = (
        "sharpness",
        "smoothness_bound",
        "edge",
        "negative_curvature",
        "weak_convexity_bound",
        "loss",
    )
    return LiveFigure(
        FigureSpec(
            title="Curvature along training, against its bounds",
            alt="Curves over training steps on logarithmic axes. Left, the largest eigenvalue of "
            "the loss's Hessian, the bound rho two to nearly five orders of magnitude above it, "
            "and the line 2 over eta. Right, the negative curvature, its bound two orders of "
            "magnitude above it, and the loss: all three fall together.",
            model="multihead",
            data=arrays(data),
            record=tuple(record),
            curves=curves,
            fixed={"optimizer": "gd"},
            start={"kind": "normal", "stream": normals(HEADS[-1] * (d * d + T * d), seed).tolist()},
            controls=(
                Control("H", "heads H", HEADS, 2),
                Control("lr", "step size η", STEP_SIZES, 1.0),
                Control("scale", "initialization scale", SCALES, scale),
            ),
            frame=frame,
            summary="In {steps} steps with H = {H}, η = {lr}, and initialization scale {scale}, "
            "the loss goes from {first_loss} to {loss}, the largest eigenvalue from "
            "{first_sharpness} to {sharpness}, and the negative curvature from "
            "{first_negative_curvature} to {negative_curvature}.",
            train=lambda values: _random_run(data, values, record, seed),
        ),
        __file__,
    )


def _spectrum_ends(path, data, lr):
    """The curves of both figures at the recorded models, from the dense Hessian."""
    R = token_radius(data.X)
    ends = [np.linalg.eigvalsh(sum(loss_hessian(model, data)))[[0, -1]] for model in path.models]
    ends = np.array(ends).reshape(-1, 2)  # a run that stopped at its start has none
    kappa = np.array([curvature_constant(model, data, R) for model in path.models])
    return {
        "sharpness": ends[:, 1],
        "negative_curvature": -ends[:, 0],
        "curvature_share": -ends[:, 0] / path.loss,
        "edge": np.full(len(path), 2 / lr),
        "smoothness_bound": np.array([smoothness_constant(model, R) for model in path.models]),
        "weak_convexity_constant": kappa,
        "weak_convexity_bound": kappa * path.loss,
    }
