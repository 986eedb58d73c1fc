"""The live figure of chapter 10: descent that knows the structure beside descent that does not."""

from dataclasses import replace

import numpy as np

from mhabook.c10_structure.figure_regression import (
    CONTROLS,
    FIXED,
    carried,
    fitted,
    path_of,
    sample,
    start_on,
    streams,
)
from mhalib._array import require_count
from mhalib.live.frames import line, panels
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.plots import GRAY

MEASURES = ("loss", "excess", "v", "effective_tokens")
PLAIN = {"optimizer": "gd", "lr": 0.1, "share": 1.0}
SIZES = (2, 3, 4, 5)
CURVES = (*(f"{name}_plain" for name in MEASURES), *MEASURES, "floor")
ALT = ("Four panels over 40 steps from a random start: SA2 in color, plain descent with step size 0.1 in gray. The "
       "training loss of SA2 falls to the noise floor within 10 steps, that of plain descent stays at five times the "
       "floor. The population excess of SA2 falls below a hundredth. The norm of V falls to a half, below one over the "
       "root of two, and stays above one in plain descent. The effective tokens of SA2 rise from 40 to 140 of 200.")
SUMMARY = ("After {steps} steps of {optimizer}, with η = {lr}, start {start}, κ(Σ) = {kappa}, s_max = {s_max}, "
           "d = {d}, n = {n}: training loss {loss}, noise floor {floor}, population excess {excess}, ‖V‖ = {v}, "
           "{effective_tokens} effective tokens. Plain descent with η = {plain_lr} from the same start: training loss "
           "{loss_plain}, population excess {excess_plain}.")


def descent(n: int = 400, steps: int = 40, seed: int = 0) -> LiveFigure:
    """A live figure: a chosen rule, and plain descent with η = 0.1 from the same start on the same tokens.

    Training loss, population excess, ‖V‖ = ‖Σ^{1/2} B Σ^{1/2}‖ with the true Σ, and the mean of the effective tokens,
    on a ``linear_regression`` with as many targets as dimensions, σ = 0.1 and κ_M = 4.

    Parameters
    ----------
    n : at most how many tokens there are, 60 or more
    steps : how many steps a run has
    seed : fixes the draws

    Raises ValueError if n < 60, steps is no whole number ≥ 1, or seed none ≥ 0.

    Source: this book (SA1, SA2), after Figure 2 of Goel et al. 2026 [paper].
    """
    require_count(n=n, steps=steps)
    if n < 60:
        raise ValueError(f"n: expected 60 tokens or more, to choose from, got {n}")

    def measured(values):
        data = sample(values, values["n"], values["d"], seed)
        start = start_on(data, values, seed)
        path, plain = (path_of(start, data, chosen, steps) for chosen in (values, PLAIN))
        beside = {f"{name}_plain": fitted(curve, len(path)) for name, curve in _curves(plain, data).items()}
        return replace(path, curves=_curves(path, data) | beside)

    return LiveFigure(FigureSpec(
        title="Descent that knows the structure, and descent that does not", alt=ALT, summary=SUMMARY,
        model="descent", data=carried(n, SIZES, [seed]), start=streams(max(SIZES), [seed]),
        record=tuple(range(steps + 1)), fixed=FIXED | {"plain_lr": PLAIN["lr"]}, curves=CURVES,
        controls=(*CONTROLS,
                  Control("kappa", "κ(Σ)", (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0), 16.0),
                  Control("d", "dimensions d", SIZES, 3),
                  Control("n", "tokens n", tuple(k for k in (60, 100, 200, 300, 400) if k <= n), min(200, n))),
        frame=_frame(steps), train=measured), __file__)


def _curves(path, data):
    """What is drawn of a run: name → one number for each recorded step."""
    root, floor = data.truth.root, data.sigma ** 2 * data.y.shape[1] / 2
    own = {"v": np.array([np.linalg.norm(root @ model.B @ root, 2) for model in path.models]),
           "floor": np.full(len(path), floor)}
    return {name: path.curves[name] for name in ("loss", "excess", "effective_tokens")} | own


def _frame(steps):
    frame = panels("training loss", "population excess", "‖V‖", "effective tokens, mean", height=640)
    places = {"loss": (1, 1), "excess": (1, 2), "v": (2, 1), "effective_tokens": (2, 2)}
    for name, (row, column) in places.items():  # below the lines of the chosen run
        line(frame, "plain descent", column, row, shows=f"{name}_plain", faint=True, legend=name == "loss")
    for name, (row, column) in places.items():
        line(frame, "chosen algorithm", column, row, shows=name, legend=name == "loss")
    line(frame, "noise floor σ²p/2", 1, shows="floor", color=1)
    frame.add_scatter(x=[0, steps], y=[0.5 ** 0.5] * 2, name="‖V‖ = 1/√2", mode="lines",
                      line={"color": GRAY, "dash": "dot"}, row=2, col=1)
    frame.update_xaxes(range=[0, steps], title="step")
    frame.update_yaxes(type="log", dtick=1, exponentformat="power")
    for (row, column), ends in {(1, 1): (-2.3, 2.3), (1, 2): (-4.5, 3), (2, 1): (-1, 1.3), (2, 2): (0, 2.7)}.items():
        frame.update_yaxes(range=ends, row=row, col=column)
    frame.update_yaxes(dtick=2, row=1)
    return frame
