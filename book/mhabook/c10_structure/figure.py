"""The live figures of chapter 10: descent that knows the structure beside descent that does not."""

from dataclasses import replace

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import run
from mhabook.c10_structure.figure_regression import (
    CONTROLS,
    FIXED,
    NO_RADIUS,
    fitted,
    page_data,
    path_of,
    recipe_of,
    sample,
    start_on,
    streams,
)
from mhabook.figure_parts import with_value
from mhalib.data.regression import RegressionDataset, linear_regression, rotation
from mhalib.models import AttentionRegression
from mhalib.optim import GradientDescent, Preconditioned, StructureAware
from mhalib.plots import INK, ORDERED
from mhalib.whitening import Whitening

KAPPAS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
STEP_SIZES = (0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
LENGTHS = (1, 2, 5, 10)
"""How many times as long a run can be made."""
FLAT = {"kappa": 256.0, "plain_lr": 0.1}
"""Tokens that are stretched as far as they can be here, and a step of plain descent that is short
enough for them."""
MOST = 10
"""Plain descent whose excess is above this is drawn no further: from there on it only enlarges its
rounding."""
HIGHEST = 0.7
"""Where the axis of the excess ends, as a power of ten."""
NAMES = {Preconditioned: "preconditioned", StructureAware: "structure_aware"}
"""The rules that whiten, under the names that the page knows."""

MEASURES = ("loss", "excess", "v", "effective_tokens")
PLAIN = {"optimizer": "gd", "lr": 0.1, "share": 1.0}
SIZES = (2, 3, 4, 5)
CURVES = (*(f"{name}_plain" for name in MEASURES), *MEASURES, "floor")
ALT = (
    "Four panels over 40 steps from a random initialization: SA2 solid, plain descent with "
    "step size 0.1 dashed. The training loss of SA2 falls to the noise floor within 10 steps, "
    "and that of plain descent stays at five times the floor. The population excess of SA2 falls "
    "below a hundredth. The norm of V falls to a half under SA2, below 1/√2, and stays above one "
    "under plain descent. The effective number of tokens of SA2 rises from 40 to 140 of 200."
)
SUMMARY = (
    "After {steps} steps of {optimizer}, with η = {lr}, initialization {start}, κ(Σ) = {kappa}, "
    "sₘₐₓ = {s_max}, d = {d}, n = {n}: training loss {loss}, noise floor {floor}, population "
    "excess {excess}, ‖V‖ = {v}, {effective_tokens} effective tokens. Plain descent with η = "
    "{plain_lr} from the same initialization: training loss {loss_plain}, population excess "
    "{excess_plain}."
)


def descent(n: int = 400, steps: int = 40, seed: int = 0) -> LiveFigure:
    """A live figure: a chosen rule, and plain descent with η = 0.1 from the same start on the same
    tokens.

    Training loss, population excess, ‖V‖ = ‖Σ^{1/2} B Σ^{1/2}‖ with the true Σ, and the mean of the
    effective tokens, on a ``linear_regression`` with as many targets as dimensions, σ = 0.1 and
    κ_M = 4.

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
        beside = {
            f"{name}_plain": fitted(curve, len(path))
            for name, curve in _curves(plain, data).items()
        }
        return replace(path, curves=_curves(path, data) | beside)

    return LiveFigure(
        FigureSpec(
            title="Descent that knows the structure, and descent that does not",
            alt=ALT,
            summary=SUMMARY,
            model="descent",
            data=page_data(n, SIZES, [seed]),
            start=streams(max(SIZES), [seed]),
            record=tuple(range(steps + 1)),
            fixed=FIXED | {"plain_lr": PLAIN["lr"]},
            curves=CURVES,
            controls=(
                *CONTROLS,
                Control("kappa", "κ(Σ)", KAPPAS, 16.0),
                Control("d", "dimensions d", SIZES, 3),
                Control(
                    "n",
                    "tokens n",
                    tuple(k for k in (60, 100, 200, 300, 400) if k <= n),
                    min(200, n),
                ),
            ),
            frame=_frame(steps),
            train=measured,
        ),
        __file__,
    )


def stretched(
    data: RegressionDataset,
    start: AttentionRegression,
    whitened: Preconditioned | StructureAware,
    plain: GradientDescent,
    steps: int = 60,
) -> LiveFigure:
    """A live figure of two runs from one layer: which of them sees how the tokens are stretched?

    A slider stretches the tokens x to C x. The layer goes along, as (A C⁻¹, C⁻ᵀ B C⁻¹): it gives
    the same outputs on the stretched tokens as before. The targets stay. Two more sliders are the
    step sizes of the two rules, and another one makes the run up to ten times as long.

    Parameters
    ----------
    data : a ``linear_regression``, as it draws the samples, with as many targets as dimensions, d ≥
        2
    start : an ``AttentionRegression`` for its tokens
    whitened : ``Preconditioned`` or ``StructureAware`` with a number as its step size, whitening by
        the tokens
    plain : ``GradientDescent`` with a number as its step size
    steps : how many steps a run has at first

    Raises TypeError or ValueError if an argument is another, or steps is no whole number ≥ 1.

    Source: this book (SA1, SA2).
    """
    require_count(steps=steps)
    recipe, n = recipe_of(data), len(data)
    d, seed = recipe.pop("d"), recipe.pop("seed")
    U, V = _whitened_start(start, data)
    _require_rules(whitened, plain)

    def sample(values):
        return linear_regression(n, d, d, **recipe | {"kappa": values["kappa"]}, seed=seed)

    def both(values):
        drawn = sample(values)
        begin = AttentionRegression(**Whitening.roots(drawn.Sigma).arrays(U, V, data.x))
        rules = replace(whitened, lr=values["lr"]), GradientDescent(values["plain_lr"])
        count = values["steps"]
        path, beside = (run(begin, drawn, rule, count, None, range(count + 1)) for rule in rules)
        curves = {
            "loss": path.loss,
            "excess": path.excess,
            "excess_plain": _until_gone(fitted(beside.excess, len(path))),
        }
        return replace(path, curves=curves)

    lengths = tuple(steps * times for times in LENGTHS)
    own = {"kappa": recipe["kappa"], "lr": float(whitened.lr), "plain_lr": float(plain.lr)}
    return LiveFigure(
        FigureSpec(
            title="Does stretching the tokens slow descent?",
            alt=_alt(n, steps),
            summary=STRETCHED,
            model="stretched",
            data=page_data(n, (d,), [seed]) | {"kind": "stretched"},
            start={"kind": "stretched", "U": U.ravel().tolist(), "V": V.ravel().tolist()},
            record={
                "by": "steps",
                "choices": {str(count): list(range(count + 1)) for count in lengths},
            },
            curves=("loss", "excess", "excess_plain"),
            final=("wide", "narrow", "plain_end", "span"),
            fixed={name: value for name, value in recipe.items() if name != "kappa"}
            | {
                "n": n,
                "d": d,
                "optimizer": NAMES[type(whitened)],
                "balance": float(whitened.balance),
                "radius": float(min(getattr(whitened, "radius", 1.0), NO_RADIUS)),
            },
            controls=(
                Control(
                    "kappa",
                    "variance ratio of the tokens, κ(Σ)",
                    with_value(KAPPAS, own["kappa"]),
                    own["kappa"],
                ),
                Control(
                    "plain_lr",
                    "step size of plain descent",
                    with_value(STEP_SIZES, own["plain_lr"]),
                    own["plain_lr"],
                ),
                Control(
                    "lr", "step size with whitening", with_value(STEP_SIZES, own["lr"]), own["lr"]
                ),
                Control("steps", "number of steps", lengths, steps),
            ),
            tries={
                "Initial settings": {},
                "Stretched a little": {"kappa": 16.0},
                "Stretched a lot": {"kappa": 256.0},
                "A lot, smaller plain step size": FLAT,
            },
            frame=_stretched_frame(steps),
            train=both,
            measure=_cloud(sample, d, seed) | {"plain_end": _plain_end, "span": _span},
        ),
        __file__,
    )


STRETCHED = (
    "With variance ratio {kappa}, after {steps} steps the excess is {excess} with whitening (step "
    "size {lr}) and {plain_end} with plain descent (step size {plain_lr})."
)


def _alt(n, steps):
    return (
        f"Left, the {n} tokens along the widest and the narrowest direction of their covariance. "
        f"Right, over {steps} steps from one initialization, the population excess of descent in "
        "whitened coordinates and of plain descent, on a logarithmic scale. When a slider "
        "stretches the tokens, the curve with whitening does not change. Where the excess of plain "
        f"descent rises above {MOST}, its curve ends above the panel."
    )


def _whitened_start(start, data):
    """(U, V) of the start, whitened by the true covariance."""
    d = len(data.Sigma)
    if type(start) is not AttentionRegression or start.sizes != (d, d):
        raise TypeError(
            f"start: expected an AttentionRegression with p = d = {d}, as the data has, got "
            f"{start!r}; mha.live.figure takes any model"
        )
    return Whitening.roots(data.Sigma).whiten(start)


def _require_rules(whitened, plain):
    if type(whitened) not in NAMES or callable(whitened.lr) or whitened.whitening is not None:
        raise TypeError(
            "whitened: expected Preconditioned or StructureAware with a number as its step size, "
            f"which whitens by the tokens, got {whitened!r}"
        )
    if type(plain) is not GradientDescent or callable(plain.lr):
        raise TypeError(
            f"plain: expected GradientDescent with a number as its step size, got {plain!r}"
        )


def _until_gone(excess):
    """The excess of plain descent up to the first above ``MOST``, for which ``MOST`` stands, where
    the line has left the panel; then NaN."""
    # Not ``> MOST``: what is not a number must count as gone, too.
    above = ~(excess <= MOST)
    count = np.cumsum(above)
    return np.where(above & (count == 1), MOST, np.where(count, np.nan, excess))


def _plain_end(path, values):
    """The last excess of plain descent, or words where it has diverged."""
    end = float(path.curves["excess_plain"][-1])
    return end if end < MOST else f"more than {MOST}"


def _span(path, values):
    return [0, values["steps"]]


def _cloud(sample, d, seed):
    """The tokens along the direction in which Σ is largest, and along that in which it is
    smallest."""
    # linear_regression draws its basis first in this stream, and the variances rise from the first
    # column to the last.
    basis = rotation(np.random.default_rng([seed, 0]), d)
    return {
        name: lambda path, values, k=k: (sample(values).x @ basis[:, k]).tolist()
        for name, k in (("wide", d - 1), ("narrow", 0))
    }


def _stretched_frame(steps):
    frame = panels("the tokens", "population excess, step by step", height=400)
    frame.add_scatter(
        name="tokens",
        mode="markers",
        marker={"color": INK, "size": 4, "opacity": 0.6},
        row=1,
        col=1,
        showlegend=False,
        meta={"x": "wide", "y": "narrow"},
    )
    line(frame, "plain descent, initial settings", 2, shows="excess_plain", once=True, legend=True)
    line(frame, "with whitening", 2, shows="excess")
    frame.data[-1].meta |= {"xaxis": {"range": "span"}}
    # A shade of ink, and on top: of isotropic tokens the two lines are nearly one.
    line(frame, "plain descent", 2, shows="excess_plain", color=ORDERED[-1], dash="dash")
    frame.data[-1].line.width = 3  # as broad as the other: it is the one that changes
    frame.update_xaxes(title="widest direction", range=[-6, 6], constrain="domain", col=1)
    frame.update_yaxes(
        title="narrowest direction", range=[-6, 6], scaleanchor="x", constrain="domain", col=1
    )
    frame.update_xaxes(title="step", range=[0, steps], col=2)
    frame.update_yaxes(type="log", range=[-3.3, HIGHEST], dtick=1, exponentformat="power", col=2)
    return frame


def _curves(path, data):
    """What is drawn of a run: name → one number for each recorded step."""
    root, floor = data.truth.root, data.sigma**2 * data.y.shape[1] / 2
    own = {
        "v": np.array([np.linalg.norm(root @ model.B @ root, 2) for model in path.models]),
        "floor": np.full(len(path), floor),
    }
    return {name: path.curves[name] for name in ("loss", "excess", "effective_tokens")} | own


def _frame(steps):
    frame = panels(
        "training loss", "population excess", "‖V‖", "effective tokens, mean", height=640
    )
    places = {"loss": (1, 1), "excess": (1, 2), "v": (2, 1), "effective_tokens": (2, 2)}
    for name, (row, column) in places.items():  # below the lines of the chosen run
        line(
            frame,
            "plain descent",
            column,
            row,
            shows=f"{name}_plain",
            dash="dash",
        )
    for name, (row, column) in places.items():
        line(frame, "chosen algorithm", column, row, shows=name)
    line(frame, "noise floor σ²p/2", 1, shows="floor", dash="dot")
    frame.add_scatter(
        x=[0, steps],
        y=[0.5**0.5] * 2,
        name="‖V‖ = 1/√2",
        mode="lines",
        line={"color": INK, "dash": "dot"},
        row=2,
        col=1,
    )
    frame.update_xaxes(range=[0, steps], title="step")
    frame.update_yaxes(type="log", dtick=1, exponentformat="power")
    for (row, column), ends in {
        (1, 1): (-2.3, 2.3),
        (1, 2): (-4.5, 3),
        (2, 1): (-1, 1.3),
        (2, 2): (0, 2.7),
    }.items():
        frame.update_yaxes(range=ends, row=row, col=column)
    frame.update_yaxes(dtick=2, row=1)
    return frame
