"""The live figures of Part I: heads, a mixture in the reader's hands, curvature along training."""

from dataclasses import replace

import numpy as np

from mhalib._array import require_count
from mhalib.data.mixture import draw, tokenized_mixture
from mhalib.live.carried import arrays, in_doubles, mixture_draws
from mhalib.live.description import Control, Description
from mhalib.live.face import LiveFigure
from mhalib.live.frames import STEP_SIZES, chosen_rule, line, panels, rule_control, step_axis
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import GradientDescent
from mhalib.plots import SEQUENTIAL
from mhalib.theory.bounds import smoothness_constant
from mhalib.theory.instances import token_radius
from mhalib.theory.loss_bounds import curvature_constant
from mhalib.training import recorded_steps, train


def heads(data, steps=500):
    """A live figure: the number of heads, the step size and the update rule, from zero, on ``data``.

    Heads that start at zero stay equal, so the browser trains one and counts it H times; the reader can switch this
    off.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it. Where it says which tokens are relevant the attention score is drawn,
        else the accuracy
    steps : how many steps a run has

    Returns
    -------
    LiveFigure

    Raises
    ------
    TypeError, ValueError
        if data is no ``Dataset``, or steps no whole number ≥ 1.

    Source: Zero-initialization collapse (ours).
    """
    require_count(steps=steps)
    data = in_doubles(data)
    measured = "accuracy" if data.relevant is None else "attention_score"
    _, T, d = data.X.shape
    record = recorded_steps(steps, 50)

    def run(values):
        start = MultiHeadAttention.zeros(values["H"], T, d)
        return train(start, data, chosen_rule(values), steps, record=record)

    words = measured.replace("_", " ")
    frame = panels("loss", words)
    line(frame, 0, "default settings", 1, faint=True)
    line(frame, 0, "training loss", 1)
    line(frame, 1, "default settings", 2, faint=True)
    line(frame, 1, words, 2)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", range=[-8, 4], dtick=2, exponentformat="power", col=1)
    frame.update_yaxes(range=[0, 1.03], col=2)
    return LiveFigure(Description(
        title="Heads and step size, from zero",
        alt=f"Two curves over training steps, from zero, one head, step size 1: the training loss and the {words}. "
            "Sliders change the number of heads and the step size, a menu the update rule.",
        model="multihead", data=arrays(data), start={"kind": "zeros"}, record=tuple(record),
        curves=("loss", measured), fixed={},
        controls=(Control("H", "heads H", (1, 2, 4, 8, 16, 32, 64), 1),
                  Control("lr", "step size η", STEP_SIZES, 1.0),
                  rule_control(),
                  Control("shortcut", "train one head, count it H times", (False, True), True, kind="switch")),
        frame=frame, draw=({"trace": 0, "x": "steps", "y": "loss", "once": True},
                           {"trace": 1, "x": "steps", "y": "loss"},
                           {"trace": 2, "x": "steps", "y": measured, "once": True},
                           {"trace": 3, "x": "steps", "y": measured}),
        summary=f"After {{steps}} steps with H = {{H}}, η = {{lr}}, {{optimizer}}: training loss {{loss}}, "
                f"{words} {{{measured}}}.", train=run))


def mixture(n=64, T=8, d=8, M=4, S=2.0, steps=500, seed=0):
    """A live figure: how many tokens carry the label, how noisy the others are, and the step size, for one head.

    The page carries the draws of a ``tokenized_mixture`` and of as many fresh samples, and assembles both anew for
    every share ζ and noise σ.

    Parameters
    ----------
    n, T, d, M, S, seed : as in ``tokenized_mixture``
    steps : how many steps a run has

    Returns
    -------
    LiveFigure

    Raises
    ------
    ValueError
        for what ``tokenized_mixture`` refuses, or if steps is no whole number ≥ 1.

    Source: Deora et al. 2023, data model DM1 [recalled].
    """
    require_count(steps=steps)
    record = recorded_steps(steps, 60)

    def sample(zeta=1 / T, sigma=0.2, **_):
        return tokenized_mixture(n=n, T=T, d=d, M=M, S=S, zeta=zeta, sigma=sigma, seed=seed)

    def run(values):
        data, rule = sample(**values), GradientDescent(values["lr"])
        return train(MultiHeadAttention.zeros(1, T, d), data, rule, steps, test=data.fresh(seed=1), record=record)

    def attention(path, values):
        return path[-1].attention(sample(**values).X[:1]).mean(axis=1)[0].tolist()

    def token_names(path, values):
        return [f"{t}★" if star else f"{t}" for t, star in enumerate(sample(**values).relevant[0])]

    source = sample().truth

    frame = panels("loss", "attention of sample 0 at the end")
    line(frame, 0, "training loss, default settings", 1, faint=True)
    line(frame, 0, "training loss", 1)
    line(frame, 1, "test loss", 1)
    frame.add_heatmap(zmin=0, zmax=1, colorscale=SEQUENTIAL, colorbar={"title": "weight"}, row=1, col=2)
    step_axis(frame, steps, col=1)
    frame.update_yaxes(type="log", range=[-8, 4], dtick=2, exponentformat="power", col=1)
    frame.update_xaxes(title="key token", tickvals=list(range(T)), constrain="domain", col=2)
    frame.update_yaxes(title="query token", autorange="reversed", tickvals=list(range(T)), constrain="domain", col=2)
    return LiveFigure(Description(
        title="Relevant tokens, noise, step size",
        alt="Left, training and test loss over 500 steps of one head from zero. Right, the attention weights of one "
            "sample after the last step: the column of the relevant token, which carries a star, stands out.",
        model="multihead", data=mixture_draws(source, draw(n, T, d, M, (seed, 1))), start={"kind": "zeros"},
        test=mixture_draws(source, draw(n, T, d, M, (seed, 2, 1))), record=tuple(record),
        fixed={"H": 1, "optimizer": "gd"},
        curves=("loss", "test_loss"), lasts=("attention", "attention_score", "test_accuracy", "token_names"),
        controls=(Control("zeta", "relevant share ζ", tuple(k / T for k in range(1, max(T // 2, 1) + 1)), 1 / T),
                  Control("sigma", "noise σ", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0), 0.2),
                  Control("lr", "step size η", STEP_SIZES, 1.0)),
        frame=frame, draw=({"trace": 0, "x": "steps", "y": "loss", "once": True},
                           {"trace": 1, "x": "steps", "y": "loss"}, {"trace": 2, "x": "steps", "y": "test_loss"},
                           {"trace": 3, "z": "attention"}, {"layout": "xaxis2.ticktext", "from": "token_names"}),
        summary="After {steps} steps with ζ = {zeta}, σ = {sigma}, η = {lr}: training loss {loss}, "
                "test loss {test_loss}, test accuracy {test_accuracy}, "
                "attention score {attention_score}.",
        train=run, measure={"attention": attention, "token_names": token_names}))


def curvature(data, steps=400, scale=0.3, seed=0):
    """A live figure: the ends of the spectrum of ∇²L along training, with their bounds, from a random start.

    The page computes both ends from Hessian-vector products (Lanczos' method); Python from the dense Hessian, whose
    size grows like H (d² + T d): small problems only.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it
    steps : how many steps a run has
    scale, seed : the random start, as in ``MultiHeadAttention.random``; scale is one of 0.03, 0.1, 0.3, 1, 3

    Returns
    -------
    LiveFigure

    Raises
    ------
    TypeError, ValueError
        if data is no ``Dataset``, steps no whole number ≥ 1, or scale none of those.

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
    for column, names in ((1, ("largest eigenvalue", "its bound ρ", "2/η")),
                          (2, ("− smallest eigenvalue", "its bound (B/√H) L", "loss L"))):
        for k, name in enumerate(names):
            line(frame, k + 3 * (column - 1), name, column)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", exponentformat="power", dtick=2)
    frame.update_yaxes(range=[-5, 4], col=1)
    frame.update_yaxes(range=[-6, 4], col=2)
    curves = ("sharpness", "smoothness_bound", "edge", "negative_curvature", "weak_convexity_bound", "loss")
    return LiveFigure(Description(
        title="Curvature along training, against its bounds",
        alt="Curves over training steps on logarithmic axes. Left, the largest eigenvalue of the loss's Hessian, the "
            "bound rho two to nearly five orders of magnitude above it, and the line 2 over eta. Right, the negative "
            "curvature, its bound two orders of magnitude above it, and the loss: all three fall together.",
        model="multihead", data=arrays(data), record=tuple(record), curves=curves, fixed={"optimizer": "gd"},
        start={"kind": "normal", "stream": normals(H_values[-1] * (d * d + T * d), seed).tolist()},
        controls=(Control("H", "heads H", H_values, 2),
                  Control("lr", "step size η", (0.1, 0.3, 1.0, 3.0, 10.0, 30.0), 1.0),
                  Control("scale", "start scale", (0.03, 0.1, 0.3, 1.0, 3.0), scale)),
        frame=frame, draw=tuple({"trace": k, "x": "steps", "y": name} for k, name in enumerate(curves)),
        summary="In {steps} steps with H = {H}, η = {lr}, start scale {scale} the loss goes from {first_loss} to "
                "{loss}, the largest eigenvalue from {first_sharpness} to {sharpness}, the negative curvature from "
                "{first_negative_curvature} to {negative_curvature}.",
        train=run))


def _spectrum_ends(path, data, lr):
    """The curves of ``curvature`` at the recorded models, from the dense Hessian."""
    R = token_radius(data.X)
    ends = [np.linalg.eigvalsh(model.hessian(data.X, data.y))[[0, -1]] for model in path.models]
    ends = np.array(ends).reshape(-1, 2)  # a run that stopped at its start has none
    kappa = np.array([curvature_constant(model, data, R) for model in path.models])
    return {"sharpness": ends[:, 1], "negative_curvature": -ends[:, 0], "edge": np.full(len(path), 2 / lr),
            "smoothness_bound": np.array([smoothness_constant(model, R) for model in path.models]),
            "weak_convexity_bound": kappa * path.loss}
