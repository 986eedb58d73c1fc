"""The live figure of chapter 13: a layer of attention in training, beside the rate that it cannot
fall short of."""

from typing import Any

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path, run
from mhabook.c13_layer.statements import least_singular, value_rate, value_smoothness
from mhabook.figure_parts import Measures
from mhalib.attention import gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models import AttentionLayer
from mhalib.optim import GradientDescent
from mhalib.plots import ATTENTION, GAUSSIAN

KERNELS = {"softmax": softmax, "gaussian": gaussian}
NAMES = {"softmax": "softmax", "gaussian": "Gaussian"}
HUES = {"softmax": ATTENTION, "gaussian": GAUSSIAN}
MOVES = {"WV": "values", "WQ WK WV": "queries, keys, values", "WQ": "queries"}
CURVES = tuple(f"{name}{part}" for part in ("", "_promised") for name in KERNELS)
WIDTH = 8
DIMENSIONS = (4, 8, 16, 24, 32, 40, 48, 64)
HEADS = (1, 2, 4)
SAMPLES = (1, 2, 4, 6, 8)
TOKENS = (1, 2, 3, 4)
EVERY = 4
"""Every how many steps a run is recorded."""
SMALLEST = 1e-9
"""A relative loss below is rounding in part, and drawn as this."""
ALT = (
    "Left, the loss divided by its initial value, on a logarithmic axis over 300 steps: the loss "
    "of the Gaussian layer falls to 4e-5, and that of the softmax layer to 0.005, each below its "
    "dotted guarantee, a straight line down to 0.013 and 0.20. Right, the 32 singular values of B "
    "in decreasing order, from 13 and 11 down: those of the Gaussian layer end at 1.1, those of "
    "the softmax layer at 0.56."
)
SUMMARY = (
    "Trained: {moves}. D = {D}, n = {n}, N = {N}, H = {H}, scale {scale}, keys {tied}, η·L = "
    "{lr}; HD = {unknowns}, nN = {equations}. Initial σ_min(B): softmax {softmax_least}, Gaussian "
    "{gaussian_least}. Loss over initial loss after {steps} steps: softmax {softmax}, guarantee "
    "{softmax_guarantee}; Gaussian {gaussian}, guarantee {gaussian_guarantee}."
)


def layer(steps: int = 300, seed: int = 0) -> LiveFigure:
    """A live figure: a softmax and a Gaussian layer train from one start, each beside its
    guaranteed rate.

    Both take gradient steps η = lr/L, each with the curvature L of its own values at the start;
    where other weights train, both take the smaller of these steps. The guarantee is that of
    Theorem "Training the values must succeed": it is there where the values alone train, HD ≥ nN
    and lr ≤ 1. Heads are eight wide, a token has one standard normal target.

    Parameters
    ----------
    steps : how many steps a run has, a multiple of 4
    seed : fixes tokens, targets and starts

    Raises ValueError if steps is no multiple of 4 that is ≥ 4, or seed no whole number ≥ 0.

    Source: Theorem "Training the values must succeed" (this book).
    """
    require_count(steps=steps)
    if steps % EVERY:
        raise ValueError(f"steps: expected a multiple of {EVERY}, got {steps}")
    return LiveFigure(
        FigureSpec(
            title="Training a layer, and what is guaranteed",
            alt=ALT,
            summary=SUMMARY,
            model="layers",
            data=_page_data(seed),
            start=_stream(seed),
            record=tuple(range(0, steps + 1, EVERY)),
            fixed={"d": WIDTH, "optimizer": "gd"},
            curves=CURVES,
            final=tuple(MEASURES),
            measure={name: _asked(measure, seed) for name, measure in MEASURES.items()},
            controls=(
                Control("moves", "trained", tuple(MOVES), "WV", tuple(MOVES.values()), "choice"),
                Control("D", "dimension D", DIMENSIONS, 48),
                Control("H", "heads H", HEADS, 1),
                Control("N", "samples N", SAMPLES, 8),
                Control("n", "tokens n", TOKENS, 4),
                Control("scale", "scale", (0.1, 0.3, 0.5, 1.0, 2.0, 4.0), 1.0),
                Control("tied", "keys", (True, False), True, ("= queries", "their own"), "choice"),
                Control("lr", "step size η·L", (0.1, 0.2, 0.5, 1.0, 1.5, 2.5), 1.0),
            ),
            frame=_frame(steps),
            train=lambda values: _both(values, steps, seed),
        ),
        __file__,
    )


def _page_data(seed):
    """The longest streams of tokens and targets; a smaller problem has the first numbers of
    each."""
    data = random_sequences(max(SAMPLES), max(TOKENS), max(DIMENSIONS), seed=seed)
    return {"kind": "layer", "tokens": data.X.ravel().tolist(), "targets": data.y.ravel().tolist()}


def _stream(seed):
    """The draws of ``AttentionLayer.random`` for the most heads and dimensions, and first numbers
    for fewer."""
    # W^Q, W^K and W^V have H D d entries each, W^O for one target has H d; [seed, 4] is the stream
    # of AttentionLayer.random.
    length = max(HEADS) * WIDTH * (3 * max(DIMENSIONS) + 1)
    return {
        "kind": "layer",
        "stream": np.random.default_rng([seed, 4]).standard_normal(length).tolist(),
    }


def problem(
    values: dict[str, Any], seed: int = 0
) -> tuple[SequenceDataset, dict[str, AttentionLayer]]:
    """Data, and the starts by kernel."""
    data = random_sequences(values["N"], values["n"], values["D"], seed=seed)
    sizes = {
        "D": values["D"],
        "d": WIDTH,
        "m": 1,
        "H": values["H"],
        "scale": values["scale"],
        "tied": values["tied"],
    }
    return data, {
        name: AttentionLayer.random(**sizes, kernel=kernel, seed=seed)
        for name, kernel in KERNELS.items()
    }


def _factor(values, start, data):
    """(1 − ηα)², or not-a-number where the theorem promises nothing."""
    rate = value_rate(start, data.X)
    promised = values["moves"] == "WV" and values["lr"] <= 1 and rate > 0
    return (1 - values["lr"] / value_smoothness(start, data.X) * rate) ** 2 if promised else np.nan


def _step_sizes(values, starts, data):
    """lr/L with the L of each kernel, or the smaller of the two for both where not the values alone
    train."""
    rates = {name: values["lr"] / value_smoothness(start, data.X) for name, start in starts.items()}
    return rates if values["moves"] == "WV" else dict.fromkeys(rates, min(rates.values()))


def _both(values, steps, seed):
    """Both runs as one path of pairs, which ends where the first of them does."""
    data, starts = problem(values, seed)
    rules = {name: GradientDescent(lr) for name, lr in _step_sizes(values, starts, data).items()}

    def paths(last, record):
        moves = tuple(values["moves"].split())
        return {
            name: run(start, data, rules[name], last, None, record, only=moves)
            for name, start in starts.items()
        }

    both = paths(steps, range(0, steps + 1, EVERY))
    stopped = min(
        (path for path in both.values() if path.stopped),
        key=lambda path: path.steps[-1],
        default=None,
    )
    if stopped:
        # Both run again up to the first end: curves of one path need the same recorded steps.
        last = stopped.steps[-1]
        both = paths(last, sorted({*range(0, last + 1, EVERY), last}))
    taken = both["softmax"].steps
    curves = {"loss": np.mean([path.loss for path in both.values()], axis=0)}
    for name, path in both.items():
        curves[name] = np.maximum(path.loss / path.loss[0], SMALLEST)
        factor = _factor(values, starts[name], data)
        # NaN⁰ is 1: without `where` a guarantee that is not there would begin with a point.
        curves[f"{name}_promised"] = np.where(np.isnan(factor), np.nan, factor**taken)
    models = tuple(zip(*(path.models for path in both.values()), strict=True))
    return Path(taken, models, curves, stopped and stopped.stopped)


def _spectrum(values, start, data):
    return np.linalg.svd(start.mixed(data.X), compute_uv=False).tolist()


def _of(name, measure):
    """A measure of the start with one kernel."""

    def one(path, values, seed):
        data, starts = problem(values, seed)
        return measure(values, starts[name], data)

    return one


def _guarantee(name):
    """The promise after the last step, or the word that there is none."""

    def one(path, values, seed):
        last = float(path.curves[f"{name}_promised"][-1])
        return "none" if np.isnan(last) else last

    return one


MEASURES: Measures = {f"{name}_spectrum": _of(name, _spectrum) for name in KERNELS}
MEASURES |= {
    f"{name}_least": _of(name, lambda values, start, data: least_singular(start.mixed(data.X)))
    for name in KERNELS
}
MEASURES |= {f"{name}_guarantee": _guarantee(name) for name in KERNELS}
MEASURES |= {
    "order": lambda path, values, seed: [*range(1, min(_sizes(values)) + 1)],
    "unknowns": lambda path, values, seed: _sizes(values)[0],
    "equations": lambda path, values, seed: _sizes(values)[1],
}


def _sizes(values):
    """(HD, nN): the columns and the rows of B."""
    return values["H"] * values["D"], values["n"] * values["N"]


def _asked(measure, seed):
    return lambda path, values: measure(path, values, seed)


def _frame(steps):
    frame = panels("loss / initial loss", "initial singular values of B")
    for kernel, name in NAMES.items():
        line(frame, name, 1, shows=kernel, color=HUES[kernel])
    for kernel, name in NAMES.items():
        guarantee = f"{kernel}_promised"
        line(frame, f"guaranteed, {name}", 1, shows=guarantee, color=HUES[kernel], dash="dot")
    for kernel, name in NAMES.items():
        line(
            frame,
            name,
            2,
            shows=f"{kernel}_spectrum",
            over="order",
            color=HUES[kernel],
        )
        frame.data[-1].mode = "lines+markers"
    frame.update_xaxes(range=[0, steps], title="step", col=1)
    frame.update_xaxes(
        title="in decreasing order", range=[0, 1 + max(SAMPLES) * max(TOKENS)], col=2
    )
    frame.update_yaxes(type="log", dtick=1, exponentformat="power")
    frame.update_yaxes(range=[-9.2, 0.7], dtick=2, col=1)
    return frame.update_yaxes(range=[-3.5, 2], col=2)
