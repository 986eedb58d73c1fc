"""The live figures of chapter 4: a run and a good model nearby, and what the training theorem asks
for and promises."""

from dataclasses import replace

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import STEP_SIZES, dot, line, panels, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhabook.c04_convergence import chain
from mhabook.c04_convergence.formulas import theorem_curves
from mhabook.c04_convergence.starts import first_phase_groups, mixture_witness
from mhabook.figure_parts import mixture_of, plain_step, together, with_value
from mhalib.data import Dataset
from mhalib.data.mixture import draw, tokenized_mixture
from mhalib.models import HeadGroups
from mhalib.optim import GradientDescent
from mhalib.plots import ATTENTION, FOUND

CURVES = ("loss", "guarantee", "from_start", "from_reference", "limit", "attention_score")
FINAL = (
    "distance",
    "margin",
    "largest_step",
    "heads_needed",
    "fewer_heads_needed",
    "grid",
    "heads_line",
    "fewer_line",
    "asked_at",
    "asked",
    "run_line",
)
NUMBERS = ("distance", "heads_needed", "largest_step")
ALT = (
    "Four panels for a trillion heads. The loss falls below the bound of the training theorem. "
    "The distance from the initialization stays at a fifth of its bound. The attention score does "
    "not change. The numbers of heads that two theorems require grow with the sixth and the "
    "fourth power of the distance to the reference."
)
SUMMARY = (
    "After {steps} steps with {H} heads and η = {lr}, the loss is {loss}, and the bound of the "
    "training theorem is {guarantee}. The distance from the initialization is {from_start}, with "
    "the bound {limit}. The attention score is {attention_score}. The training theorem requires "
    "{heads_needed} heads, the theorem with fewer heads {fewer_heads_needed}. At this H the "
    "training theorem allows η up to {largest_step}."
)
# From 1 to 100, the axis of the panel.
GRID = 10 ** (np.arange(31) / 15)
# All even: half of the heads have either sign.
HEADS = (2, *(10**k for k in range(2, 13)))
HEADS_IN_WORDS = (
    "2",
    "100",
    "1000",
    "10⁴",
    "10⁵",
    "10⁶",
    "10⁷",
    "10⁸",
    "10⁹",
    "10¹⁰",
    "10¹¹",
    "10¹²",
)
CONTROLS = (
    Control("H", "heads H of the run", HEADS, 10**12, HEADS_IN_WORDS),
    Control("lr", "step size η", (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), 0.3),
    Control("zeta", "relevant fraction ζ", (0.2, 0.4, 0.6, 0.8), 0.2),
    Control("S", "norm S of the patterns", (0.5, 1.0, 2.0), 1.0),
    Control("T", "tokens T", (5, 10, 20), 10),
)


def nearer(
    data: Dataset, start: HeadGroups, rule: GradientDescent, steps: int = 1000
) -> LiveFigure:
    """A live figure of the run that these arguments describe: does it come nearer to a good model,
    and how fast?

    The good model is the reference of Corollary 2 for ``steps`` steps. Sliders change the number of
    heads, half of which have either sign, the step size, and how many tokens carry the label.

    Parameters
    ----------
    data : the samples of a ``tokenized_mixture`` without noise, as it draws them
    start : two groups of equally many heads, ``first_phase_groups(data, (H // 2, H // 2))``
    rule : ``GradientDescent`` with a number as its step size
    steps : how many steps a run has, K

    Raises TypeError or ValueError if data, start or rule are others, or steps is no whole number
    ≥ 1.

    Source: this book, Theorem "Training" and Corollary "An initialization that separates".
    """
    require_count(steps=steps)
    mixture, H, lr = mixture_of(data), _two_halves(start, data), plain_step(rule)
    if mixture.sigma:
        raise ValueError(f"data: expected a mixture without noise, got σ = {mixture.sigma:g}")
    (n, T, d) = data.X.shape
    (M, _) = mixture.nu.shape
    S = float(round(np.linalg.norm(mixture.nu[0]), 12))
    own, seed = mixture.n_relevant / T, mixture.seed
    heads = tuple(sorted({*HEADS, H}))
    # The guarantee divides by k, so step 0 has none.
    record = [k for k in recorded_steps(steps, 80) if k]
    shares = with_value([k / T for k in range(1, T)], own)

    def problem(values):
        return _problem(
            tokenized_mixture(n, T, d, M, values["zeta"], S, 0.0, seed), values["H"], steps
        )

    def numbers(values):
        # This figure draws no line over the distance, and one point of the grid is the least.
        known = theorem_curves(*problem(values), steps, np.ones(1))
        return {name: float(known[name]) for name in NUMBERS}

    tries = {"Initial settings": {}}
    if H != 2:
        tries["Two heads"] = {"H": 2}
    if lr != 30.0:
        tries["Large step size"] = {"lr": 30.0}
    triple = [share for share in shares if abs(share - 3 * own) < 1e-9]
    if triple:
        tries["Three times as many tokens"] = {"zeta": triple[0]}
    return LiveFigure(
        FigureSpec(
            title="Does the run come nearer to a good model?",
            alt=f"Over {steps} steps of one run. Left, the loss falls below the bound of the "
            "training theorem at every step and toward the loss of the good model. Right, the "
            "distance to the good model falls all the time, and the distance to the "
            "initialization grows.",
            model="groups",
            data=_page_data(n, T, d, M, seed),
            start={"kind": "first_phase"},
            record=tuple(record),
            fixed={"optimizer": "gd", "steps": steps, "grid": [1.0], "S": S},
            curves=("loss", "guarantee", "reference_loss", "from_start", "from_reference"),
            final=NUMBERS,
            controls=(
                Control("H", "heads H", heads, H, tuple(map(_in_words, heads))),
                Control("lr", "step size η", with_value(STEP_SIZES, lr), lr),
                Control("zeta", "fraction ζ of relevant tokens", shares, own),
            ),
            tries=tries,
            frame=_nearer_frame(steps),
            summary="With {H} heads, step size {lr}, and a fraction {zeta} of relevant tokens, "
            "the loss after {steps} steps is {loss}, and the bound of the theorem is {guarantee}. "
            "The distance to the good model goes from {distance} to {from_reference}. The theorem "
            "requires {heads_needed} heads, and at this H a step size of at most {largest_step}.",
            train=lambda values: _measured_run(*problem(values), values["lr"], record),
            measure=together(NUMBERS, numbers),
        ),
        __file__,
    )


def _two_halves(start, data):
    """H, of a start that is the first phase with half of its heads of either sign."""
    if isinstance(start, HeadGroups) and len(set(start.copies)) == 1 and len(start.copies) == 2:
        first = first_phase_groups(data, start.copies)
        if first.U.shape == start.U.shape and (start - first).norm() <= 1e-12 * first.norm():
            return sum(start.copies)
    raise TypeError(
        "start: expected first_phase_groups(data, (H // 2, H // 2)), got another model; "
        "mha.live.figure takes any"
    )


def _in_words(H):
    """100, 10⁴, 1,234,567."""
    power = len(str(H)) - 1
    digits = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}" if 10**power == H and power > 3 else f"{H:,}" if H > 9999 else str(H)


def _nearer_frame(steps):
    frame = panels("loss", "distance")
    line(frame, "loss", 1, shows="loss")
    line(frame, "bound of the theorem", 1, shows="guarantee", dash="dot")
    line(frame, "loss of the good model", 1, shows="reference_loss", color=FOUND)
    frame.data[-1].line.width = 1.5
    line(
        frame,
        "to the good model, initial settings",
        2,
        shows="from_reference",
        once=True,
        legend=True,
    )
    line(frame, "to the good model", 2, shows="from_reference", color=FOUND)
    line(frame, "to the initialization", 2, shows="from_start")
    step_axis(frame, steps)
    frame.update_yaxes(type="log", range=[-5, 3], dtick=2, exponentformat="power", col=1)
    return frame.update_yaxes(rangemode="tozero", col=2)


def _problem(data, H, steps):
    """The start with H heads, the reference for that many steps, and the data."""
    start = first_phase_groups(data, (H // 2,) * 2)
    return (
        start,
        chain.reference_along(start, mixture_witness(data, start.copies), data, steps),
        data,
    )


def _measured_run(start, reference, data, lr, record):
    path = train(start, data, GradientDescent(lr), record[-1], record=record)
    losses = [float(model.loss(data.X, data.y)) for model in (reference.model, start)]
    return replace(
        path,
        curves=path.curves
        | {
            "guarantee": chain.guarantee(reference.distance, *losses, lr, path.steps),
            "reference_loss": np.full(len(path), losses[0]),
            "from_start": np.array([(model - start).norm() for model in path.models]),
            "from_reference": np.array([(model - reference.model).norm() for model in path.models]),
            "limit": np.full(len(path), 3 * reference.distance),
        },
    )


def theory_and_practice(
    n: int = 16, d: int = 7, M: int = 5, steps: int = 1000, seed: int = 0
) -> LiveFigure:
    """A live figure: the heads, the distance and the loss that the training theorem speaks of,
    beside those of a run.

    The run starts from the first phase on a mixture without noise, with half of its H heads of
    either sign: so its H heads are two. The reference is that of Corollary 2 for ``steps`` steps.

    Parameters
    ----------
    n, d, M, seed : as in ``tokenized_mixture``
    steps : how many steps a run has, K

    Raises ValueError for what ``tokenized_mixture`` refuses, or if steps is no whole number ≥ 1.

    Source: this book, Theorem 1, the theorem with fewer heads, and Corollary 2.
    """
    require_count(steps=steps)
    record = [k for k in recorded_steps(steps, 80) if k]

    def problem(values):
        data = tokenized_mixture(n, values["T"], d, M, values["zeta"], values["S"], 0.0, seed)
        return _problem(data, values["H"], steps)

    def numbers(values):
        found = theorem_curves(*problem(values), steps, GRID) | {"grid": GRID}
        return {name: np.asarray(found[name]).tolist() for name in FINAL}

    return LiveFigure(
        FigureSpec(
            title="Theory against practice",
            alt=ALT,
            model="groups",
            data={"by": "T", "choices": {T: _page_data(n, T, d, M, seed) for T in (5, 10, 20)}},
            start={"kind": "first_phase"},
            record=tuple(record),
            fixed={"optimizer": "gd", "steps": steps, "grid": GRID.tolist()},
            curves=CURVES,
            final=FINAL,
            controls=CONTROLS,
            frame=_frame(steps),
            summary=SUMMARY,
            train=lambda values: _measured_run(*problem(values), values["lr"], record),
            measure=together(FINAL, numbers),
        ),
        __file__,
    )


def _page_data(n, T, d, M, seed):
    draws = draw(n, T, d, M, (seed, 1))
    # Patterns of norm 1, which the page scales by S: their directions depend on M, d and the seed
    # alone.
    clean = tokenized_mixture(1, T, d, M, 1.0, 1.0, 0.0, seed).truth
    parts = {name: getattr(draws, name) for name in ("sign", "rank", "pattern")} | {
        "mu": clean.mu,
        "nu": clean.nu,
    }
    return {"kind": "clean", "n": n, "T": T, "d": d} | {
        name: part.ravel().tolist() for name, part in parts.items()
    }


def _frame(steps):
    # What lies along the x axis stands in the titles: under an axis it would meet the panel below
    # it on a phone.
    frame = panels(
        "loss over steps",
        "distance over steps",
        "attention score over steps",
        "required heads against D₀",
        height=640,
    )
    line(frame, "loss", 1, 1, shows="loss")
    line(frame, "bound of the theorem", 1, 1, shows="guarantee", dash="dot")
    line(frame, "distance ‖θₖ − θ₀‖", 2, 1, shows="from_start", dash="dash")
    line(frame, "distance ‖θₖ − θ‖", 2, 1, shows="from_reference")
    line(frame, "3D₀", 2, 1, shows="limit", dash="dot")
    line(frame, "attention score", 1, 2, shows="attention_score", color=ATTENTION)
    line(frame, "heads: training theorem", 2, 2, shows="heads_line", over="grid")
    line(frame, "heads: with fewer", 2, 2, shows="fewer_line", over="grid", dash="dash")
    line(frame, "heads: the run", 2, 2, shows="run_line", over="grid", faint=True, legend=True)
    dot(frame, "heads at D₀", 2, 2, shows="asked", over="asked_at")
    for column, row in ((1, 1), (2, 1), (1, 2)):
        frame.update_xaxes(
            type="log",
            range=[0, np.log10(steps)],
            dtick=1,
            exponentformat="power",
            row=row,
            col=column,
        )
    frame.update_yaxes(type="log", range=[-5, 5], dtick=2, exponentformat="power", row=1, col=1)
    frame.update_yaxes(type="log", range=[-3, 3], dtick=1, exponentformat="power", row=1, col=2)
    frame.update_yaxes(range=[0, 1.03], row=2, col=1)
    frame.update_xaxes(type="log", range=[0, 2], dtick=1, exponentformat="power", row=2, col=2)
    frame.update_yaxes(type="log", range=[0, 24], dtick=4, exponentformat="power", row=2, col=2)
    return frame
