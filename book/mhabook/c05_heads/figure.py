"""The live figures of chapter 5: how the step size goes with the number of heads, in two curves and
in five."""

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import (
    RULE_NAMES,
    RULES,
    STEP_SIZES,
    chosen_rule,
    line,
    panels,
    rule_control,
    step_axis,
)
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhabook.figure_parts import mixture_draws, rule_name, scaling_control, zero_heads
from mhalib.data import Dataset
from mhalib.data.mixture import tokenized_mixture
from mhalib.live.heads import ENTRY
from mhalib.live.samples import arrays, in_doubles
from mhalib.models import MultiHeadAttention
from mhalib.optim import Adam, Rule
from mhalib.plots import ATTENTION, DECODER, GRAY

HEADS = (1, 2, 4, 8, 16, 32, 64)
CURVES = ("loss", "test_loss", "norm_W", "norm_U", "attention_score")


def step_sizes(
    data: Dataset, start: MultiHeadAttention, rule: Rule, steps: int = 2000
) -> LiveFigure:
    """A live figure of the run that these arguments describe: are more heads slower, or faster?

    Controls change the number of heads, the step size, how it goes with the number of heads, and
    the rule. Two gray lines stay as they are: one head under ``rule``, and one head under Adam
    with the step size 0.01. Training starts at zero, where the browser computes one head for any
    number of them.

    Parameters
    ----------
    data : a ``Dataset`` that says which tokens are relevant; the page carries it
    start : heads that are zero, ``MultiHeadAttention.zeros(H, T, d)``
    rule : ``GradientDescent``, ``Momentum`` or ``Adam`` with a number as its step size, all else as
        it is by itself
    steps : how many steps a run has

    Raises TypeError or ValueError if data, start or rule are others, or steps is no whole number
    ≥ 1.

    Source: Zero-initialization collapse (ours).
    """
    require_count(steps=steps)
    data, optimizer, H = (
        _with_relevant(in_doubles(data)),
        rule_name(rule),
        zero_heads(start).sizes[0],
    )
    record = recorded_steps(steps, 60)

    def run(values):
        return _from_zero(data, values["H"], chosen_rule(values), record)

    of_adam = rule if isinstance(rule, Adam) else Adam(0.01)
    names = dict(zip(RULES, RULE_NAMES, strict=True))
    # Keys of a dict: where ``rule`` is Adam, ``of_adam`` is the same rule and has no second line.
    one_head = {
        f"1 head, {names[rule_name(each)]}, {each.lr:g}": _from_zero(data, 1, each, record)
        for each in dict.fromkeys((rule, of_adam))
    }
    return LiveFigure(
        FigureSpec(
            title="Are more heads slower, or faster?",
            alt=f"Over {steps} steps from zero initialization: left the training loss, right the "
            "attention score, that is, the weight on the relevant token. Thin gray lines show one "
            "head with the optimizer of the page and, dashed, one head with Adam. A thick line "
            "shows the run that the controls describe.",
            model="multihead",
            data=arrays(data),
            start={"kind": "zeros"},
            record=tuple(record),
            curves=("loss", "attention_score"),
            fixed={"shortcut": True},
            controls=(
                Control("H", "heads H", tuple(sorted({*HEADS, H})), H),
                Control(
                    "lr",
                    "step size η",
                    tuple(sorted({*STEP_SIZES, float(rule.lr)})),
                    float(rule.lr),
                ),
                scaling_control("step size of H heads"),
                rule_control(optimizer),
            ),
            tries={
                "64 heads, same step size": {"H": 64},
                "64 heads, step size × √64": {"H": 64, "scaling": "root"},
                "64 heads, Adam": {"H": 64, "optimizer": "adam", "lr": float(of_adam.lr)},
                "1 head": {"H": 1},
            },
            frame=_two_panels(steps, record, one_head),
            summary="Heads: {H}. Optimizer: {optimizer}. Step size: {scaling} with η = {lr}. "
            "After {steps} steps the training loss is {loss}, and the attention score is "
            "{attention_score}.",
            train=run,
        ),
        ENTRY,
    )


def _from_zero(data, H, rule, record):
    return train(
        MultiHeadAttention.zeros(H, *data.X.shape[1:]), data, rule, record[-1], record=record
    )


def _with_relevant(data):
    if data.relevant is None:
        raise TypeError(
            "data: expected samples that say which of their tokens are relevant, such as those of "
            "tokenized_mixture; mha.live.heads(data) takes any Dataset"
        )
    return data


def _two_panels(steps, record, one_head):
    frame = panels("training loss, step by step", "attention score, step by step")
    for column, curve in enumerate(("loss", "attention_score"), 1):
        for k, (name, path) in enumerate(one_head.items()):
            line(
                frame,
                name,
                column,
                shows=path.curves[curve],
                over=list(record),
                faint=True,
                legend=True,
            )
            frame.data[-1].line.dash = ("solid", "dash")[k]
    line(frame, "loss of H heads", 1, shows="loss")
    name = "attention of H heads"
    line(frame, name, 2, shows="attention_score", color=ATTENTION, legend=False)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", range=[-6.9, 1], dtick=1, exponentformat="power", col=1)
    return frame.update_yaxes(range=[0, 1.03], col=2)


def width(
    n: int = 64, T: int = 8, d: int = 8, M: int = 4, S: float = 2.0, steps: int = 500, seed: int = 0
) -> LiveFigure:
    """A live figure: how many heads, whether the step size grows with them, and what both do to
    five curves.

    Training starts at zero, where the browser computes one head for any number of them.

    Parameters
    ----------
    n, T, d, M, S, seed : as in ``tokenized_mixture``; as many fresh samples are the test set
    steps : how many steps a run has

    Raises ValueError for what ``tokenized_mixture`` refuses, or if steps is no whole number ≥ 1.

    Source: Deora et al. 2023, the curves of Figures 2 and 3 [paper], on data model DM1 [recalled].
    """
    require_count(steps=steps)
    record = recorded_steps(steps, 50)

    def sample(zeta=1 / T, sigma=0.2, **_):
        return tokenized_mixture(n=n, T=T, d=d, M=M, S=S, zeta=zeta, sigma=sigma, seed=seed)

    def run(values):
        data, zero = sample(**values), MultiHeadAttention.zeros(values["H"], T, d)
        return train(zero, data, chosen_rule(values), steps, test=data.fresh(seed=1), record=record)

    source = sample().truth
    return LiveFigure(
        FigureSpec(
            title="Number of heads and step size, from zero initialization",
            alt="Four panels over 500 steps of gradient descent from zero, one head, step size "
            "1. Training and test loss fall together and end parallel to 1/t. The norm of W "
            "rises to 2.3 and that of U to 2.9. The attention score rises from 0.125 to 0.79.",
            model="multihead",
            # The streams of ``tokenized_mixture`` and of ``fresh(seed=1)``: the page sees the
            # samples of ``run``.
            data=mixture_draws(source, n, (seed, 1)),
            start={"kind": "zeros"},
            test=mixture_draws(source, n, (seed, 2, 1)),
            record=tuple(record),
            curves=CURVES,
            fixed={"shortcut": True},
            controls=(
                Control("H", "heads H", HEADS, 1),
                Control("lr", "η", STEP_SIZES, 1.0),
                scaling_control(),
                rule_control(),
                Control(
                    "zeta",
                    "relevant fraction ζ",
                    tuple(k / T for k in range(1, max(T // 2, 1) + 1)),
                    1 / T,
                ),
                Control("sigma", "noise σ", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0), 0.2),
            ),
            frame=_frame(steps),
            summary="After {steps} steps with H = {H}, {optimizer}, step size {scaling} at η = "
            "{lr}, ζ = {zeta}, σ = {sigma}: training loss {loss}, test loss {test_loss}, ‖W‖ = "
            "{norm_W}, ‖U‖ = {norm_U}, attention score {attention_score}.",
            train=run,
        ),
        ENTRY,
    )


def _frame(steps):
    titles = ("loss", "average ‖W‖", "average ‖U‖", "attention score")
    frame = panels(*(f"{title}, by step" for title in titles), height=600)
    # Below the moving lines, those of the default settings.
    line(frame, "default settings", 1, 1, shows="loss", once=True)
    line(frame, "norm W", 2, 1, shows="norm_W", once=True)
    line(frame, "norm U", 1, 2, shows="norm_U", once=True, legend=False)
    line(frame, "attention score", 2, 2, shows="attention_score", once=True)
    line(frame, "training", 1, 1, shows="loss")
    line(frame, "test", 1, 1, shows="test_loss", dash="dash")
    line(frame, "norm W", 2, 1, shows="norm_W", color=ATTENTION, legend=False)
    line(frame, "norm U", 1, 2, shows="norm_U", color=DECODER, legend=False)
    line(
        frame,
        "attention score",
        2,
        2,
        shows="attention_score",
        color=ATTENTION,
        legend=False,
    )
    frame.add_scatter(
        x=[1, steps],
        y=[0.3, 0.3 / steps],
        name="the slope of 1/t",
        mode="lines",
        line={"color": GRAY, "dash": "dot"},
        row=1,
        col=1,
    )
    frame.update_xaxes(type="log", range=[0, np.log10(steps)], dtick=1, exponentformat="power")
    frame.update_yaxes(type="log", dtick=1, exponentformat="power")
    frame.update_yaxes(range=[-8, 4], dtick=2, row=1, col=1)
    frame.update_yaxes(range=[-2, 2], row=1, col=2)
    frame.update_yaxes(range=[-1, 2], row=2, col=1)
    return frame.update_yaxes(
        type="linear", range=[0, 1.03], dtick=0.2, exponentformat="none", row=2, col=2
    )
