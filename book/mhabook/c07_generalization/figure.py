"""The live figures of chapter 7: a run beside the run without one sample, and the gap of test and
training loss."""

from dataclasses import replace

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import gradient_constant
from mhabook.c07_generalization.leave_one_out import loss_gradient_norms, others, sample_losses
from mhabook.figure_parts import mixture_draws, mixture_of, plain_step, with_value, zero_heads
from mhalib.data import Dataset
from mhalib.data.mixture import tokenized_mixture
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent
from mhalib.plots import ORDERED

NOISES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5)
FAINT = ORDERED[4]
"""The color of what is there to compare with, in the same run."""
LEFT_OUT = (
    "loss",
    "held_out_loss",
    "traveled",
    "tenth",
    "distance",
    "pushed",
    "own_loss",
    "left_loss",
)
CURVES = (
    "loss",
    "held_out_loss",
    "gap",
    "gap_bound",
    "distance",
    "distance_bound",
    "pushed",
    "own_loss",
    "left_loss",
)
"""What the first figure shows, and what the second does."""


def leaving_out(
    data: Dataset, start: MultiHeadAttention, rule: GradientDescent, left: int = 0, steps: int = 500
) -> LiveFigure:
    """A live figure of the run that these arguments describe, beside the run without one sample.

    How far each goes and how far apart they are; and the loss of the sample that was left out, with
    and without it, beside training and test loss. Sliders change which sample it is, the noise, the
    step size, and the number n of samples, which are drawn anew: the first of them stay. The test
    loss is that of 1,000 fresh samples.

    Parameters
    ----------
    data : the samples of a ``tokenized_mixture``, as it draws them, 4 or more
    start : heads that are zero, ``MultiHeadAttention.zeros(H, T, d)``
    rule : ``GradientDescent`` with a number as its step size
    left : which sample is left out at first, one of the first half
    steps : how many steps a run has

    Raises TypeError or ValueError if data, start, rule or left are others, or steps is no whole
    number ≥ 1.

    Source: Definition "Leaving one out", Theorem "Stability" (this book).
    """
    require_count(steps=steps)
    mixture, n, (H, T, d) = mixture_of(data), len(data), zero_heads(start).sizes
    if n < 4:
        raise ValueError(
            f"data: expected 4 samples or more, to leave one out and to halve them, got {n}"
        )
    M, S, zeta = len(mixture.nu), float(np.linalg.norm(mixture.nu[0])), mixture.n_relevant / T
    # Step 0 has no place on a logarithmic axis, and the two runs have not parted there.
    lr, tests, record = plain_step(rule), 1000, [k for k in recorded_steps(steps, 40) if k]

    def run(values):
        seen = tokenized_mixture(values["samples"], T, d, M, zeta, S, values["sigma"], mixture.seed)
        return _with_and_without(
            start, seen, values["left"], values["lr"], steps, seen.fresh(tests, seed=1), record
        )

    tries = {
        "Initial settings": {},
        "Another sample": {"left": (left + 1) % (n // 2)},
        "Twice the samples": {"samples": 2 * n},
        "Large noise": {"sigma": 1.0},
    }
    return LiveFigure(
        FigureSpec(
            title="A run, and the run without one sample",
            alt=f"Left, over {steps} steps, a thick line, the distance between one head and the head "
            "that was trained without one sample, below a dotted line, the sum of the pushes of "
            "that sample, and above a faint line, a tenth of the distance from zero. Right, four losses "
            "that fall: that of the sample, thick and dashed when it is left out and thin when it "
            "is included, and fainter those of the training samples and, dashed, of test samples.",
            model="leave_one_out",
            # The streams of tokenized_mixture and of its fresh(seed=1): page and mhalib draw alike.
            data=mixture_draws(mixture, 4 * n, (mixture.seed, 1)) | {"kind": "sampled"},
            test=mixture_draws(mixture, tests, (mixture.seed, 2, 1)),
            start={"kind": "zeros"},
            record=tuple(record),
            curves=LEFT_OUT,
            final=(),
            fixed={"optimizer": "gd", "shortcut": True, "H": H, "zeta": zeta},
            controls=(
                Control("samples", "number of samples n", (n // 2, n, 2 * n, 4 * n), n),
                Control("sigma", "noise σ", with_value(NOISES, mixture.sigma), mixture.sigma),
                Control("lr", "step size η", with_value((0.1, 0.3, 1.0, 3.0), lr), lr),
                # One of the first half, which is there at every number of samples on the slider.
                Control("left", "sample left out", tuple(range(n // 2)), left),
            ),
            tries=tries,
            frame=_left_out_frame(steps),
            summary="With {samples} samples, noise {sigma}, and step size {lr}, after {steps} "
            "steps: the run is at distance {traveled} from its initialization and at distance "
            "{distance} from the run without sample {left}, whose pushes add up to {pushed}. The "
            "loss of that sample is {left_loss} when it is left out and {own_loss} when it is "
            "included. The training loss is {loss}, and the test loss is {held_out_loss}.",
            train=run,
        ),
        __file__,
    )


def _left_out_frame(steps):
    frame = panels("distance, step by step", "losses, step by step")
    line(frame, "between the two runs", 1, shows="distance")
    line(frame, "sum of its pushes", 1, shows="pushed", dash="dot")
    # On a scale of its own: the run goes about seven times as far as the two come apart.
    line(frame, "from zero, ÷ 10", 1, shows="tenth", color=FAINT)
    frame.data[-1].line.width = 1.5
    # Dashed is what the run has not seen: the sample where it is left out, and test samples.
    line(frame, "that sample, left out", 2, shows="left_loss", dash="dash")
    frame.data[-1].line.width = 3
    line(frame, "that sample, included", 2, shows="own_loss")
    line(frame, "training loss", 2, shows="loss", color=FAINT)
    line(frame, "test loss", 2, shows="held_out_loss", color=FAINT, dash="dash")
    for each in frame.data[-3:]:
        each.line.width = 1.5
    step_axis(frame, steps)
    frame.update_yaxes(title="distance of weights", range=[0, 4.6], dtick=1, col=1)
    return frame.update_yaxes(
        title="loss, log scale",
        type="log",
        dtick=1,
        exponentformat="power",
        range=[-4, 1.5],
        col=2,
    )


def generalization(
    n: int = 64,
    T: int = 8,
    d: int = 8,
    M: int = 4,
    S: float = 1.0,
    steps: int = 500,
    tests: int = 128,
    seed: int = 0,
) -> LiveFigure:
    """A live figure: training and test loss, their gap, and how far leaving out one sample moves
    the run.

    Training starts at zero, where the browser computes one head for any number of them. Beside the
    gap and the distance stand the formulas of Theorem 2, with what the run itself received in place
    of what the theorem allows it.

    Parameters
    ----------
    n : at most how many samples there are to train on, 16 or more
    T, d, M, S, seed : as in ``tokenized_mixture``, T ≥ 4
    steps : how many steps a run has
    tests : how many fresh samples the test set has

    Raises ValueError for what ``tokenized_mixture`` refuses, if n < 16 or T < 4, or if steps or
    tests is no whole number ≥ 1.

    Source: this book, Theorem 2, on data model DM1 [recalled].
    """
    require_count(n=n, steps=steps, tests=tests)
    if n < 16 or T < 4:
        raise ValueError(
            f"expected n ≥ 16 samples of T ≥ 4 tokens, to choose from, got n = {n} and T = {T}"
        )
    record = [k for k in recorded_steps(steps, 40) if k]

    def run(values):
        data = tokenized_mixture(
            values["samples"], T, d, M, values["zeta"], S, values["sigma"], seed
        )
        start = MultiHeadAttention.zeros(values["H"], T, d)
        return _with_and_without(
            start, data, values["left"], values["lr"], steps, data.fresh(tests, seed=1), record
        )

    source = tokenized_mixture(1, T, d, M, 1 / T, S, 0.0, seed).truth
    return LiveFigure(
        FigureSpec(
            title="Training loss, test loss, and the effect of one sample",
            alt="Four panels over 500 steps of one head on 16 samples. The training and test loss "
            "fall, with the test loss slightly above. Their gap falls from step 5 on, and the "
            "bound of the theorem rises far above it. The distance to the run without one sample "
            "levels off below its bound. That sample has the larger loss in the run without it.",
            model="leave_one_out",
            data=mixture_draws(source, n, (seed, 1)) | {"kind": "sampled"},
            test=mixture_draws(source, tests, (seed, 2, 1)),
            start={"kind": "zeros"},
            record=tuple(record),
            curves=CURVES,
            final=("test_accuracy",),
            fixed={"optimizer": "gd", "shortcut": True},
            controls=(
                Control(
                    "samples",
                    "training samples n",
                    tuple(k for k in (4, 8, 16, 32, 64, 128) if k <= n),
                    16,
                ),
                Control("sigma", "noise σ", NOISES, 0.2),
                Control(
                    "zeta", "relevant fraction ζ", tuple(k / T for k in range(1, T // 2 + 1)), 2 / T
                ),
                Control("lr", "step size η", (0.03, 0.1, 0.3, 1.0, 3.0), 1.0),
                Control("H", "heads H", (1, 4, 16, 64), 1),
                Control("left", "sample left out", (0, 1, 2, 3), 0),
            ),
            frame=_frame(steps),
            summary="After {steps} steps on n = {samples} samples with σ = {sigma}, ζ = {zeta}, η "
            "= {lr}, H = {H}: training loss {loss}, test loss {held_out_loss}, test accuracy "
            "{test_accuracy}; gap {gap}, bound {gap_bound}. The run without sample {left} ends at "
            "a distance of {distance}, with the bound {distance_bound}, and the loss of that "
            "sample is {left_loss} instead of {own_loss}.",
            train=run,
        ),
        __file__,
    )


def _with_and_without(start, data, left, lr, steps, test, record):
    """The ``Path`` of the run on all samples at the steps ``record``, with the curves of both
    figures."""
    n, rest, own = len(data), data[others(len(data), left)], data[[left]]
    path = train(start, data, GradientDescent(lr), steps, test=test, record=record)
    # L^{−i} keeps the factor 1/n, which the mean of n − 1 samples has not: a shorter step makes up.
    without = train(start, rest, GradientDescent(lr * (n - 1) / n), steps, record=record)
    # The sums over j < k need every step, the curves only those of ``record``.
    every = train(start, data, GradientDescent(lr), steps, record=range(steps + 1))
    R, at = token_radius(data.X), np.array(record)
    G = np.array([gradient_constant(model, R) for model in every.models])
    losses = np.array([sample_losses(model, own)[0] for model in every.models])
    pushes = [loss_gradient_norms(model, own)[0] for model in every.models]

    apart = [
        (model - other).norm() for model, other in zip(path.models, without.models, strict=True)
    ]
    traveled = np.array([(model - start).norm() for model in path.models])

    def before(values):
        return lr * np.concatenate([[0.0], np.cumsum(values)[:-1]])[at]

    return replace(
        path,
        curves=path.curves
        | {
            "held_out_loss": path.test_loss,
            "gap": path.test_loss - path.loss,
            "gap_bound": 3 / n * G[at] * before(G * every.loss),
            "traveled": traveled,
            "tenth": traveled / 10,
            "distance": np.array(apart),
            "distance_bound": 1.5 * before(G * losses) / n,
            "pushed": before(pushes) / n,
            "own_loss": losses[at],
            "left_loss": np.array([sample_losses(model, own)[0] for model in without.models]),
        },
    )


def _frame(steps):
    frame = panels(
        "loss",
        "test loss − training loss",
        "distance, one sample left out",
        "loss of that sample",
        height=640,
    )
    line(frame, "training loss", 1, 1, shows="loss")
    line(frame, "test loss", 1, 1, shows="held_out_loss", dash="dash")
    line(frame, "gap", 2, 1, shows="gap")
    line(frame, "bound of Theorem 2", 2, 1, shows="gap_bound", dash="dot")
    line(frame, "distance", 1, 2, shows="distance")
    line(frame, "(3/2)(η/n) Σ G ℓᵢ", 1, 2, shows="distance_bound", dash="dot")
    line(frame, "(η/n) Σ ‖∇ℓᵢ‖", 1, 2, shows="pushed", dash="longdash")
    line(frame, "trained on it", 2, 2, shows="own_loss", faint=True, legend=True)
    line(frame, "without it", 2, 2, shows="left_loss", dash="longdash")
    step_axis(frame, steps)
    frame.update_yaxes(type="log", dtick=2, exponentformat="power")
    frame.update_yaxes(range=[-5, 1.5], row=1, col=1)
    frame.update_yaxes(range=[-6, 7], row=1, col=2)
    frame.update_yaxes(range=[-4, 4], row=2, col=1)
    frame.update_yaxes(range=[-5, 1.5], row=2, col=2)
    return frame
