"""The live figure of chapter 5: the number of heads, how the step size goes with it, and five curves at once."""

import numpy as np

from mhabook.frames import mixture_draws, scaling_control
from mhalib._array import require_count
from mhalib.data.mixture import tokenized_mixture
from mhalib.live.frames import STEP_SIZES, chosen_rule, line, panels, rule_control
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models import MultiHeadAttention
from mhalib.plots import GRAY
from mhalib.training import recorded_steps, train

CURVES = ("loss", "test_loss", "norm_W", "norm_U", "attention_score")


def width(n: int = 64, T: int = 8, d: int = 8, M: int = 4, S: float = 2.0, steps: int = 500,
          seed: int = 0) -> LiveFigure:
    """A live figure: how many heads, whether the step size grows with them, and what both do to five curves.

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
    return LiveFigure(FigureSpec(
        title="Heads and how the step size goes with them, from zero",
        alt="Four panels over 500 steps of gradient descent from zero, one head, step size 1. Training and test loss "
            "fall together and end parallel to 1/t. The norm of W rises to 2.3 and that of U to 2.9. The attention "
            "score rises from 0.125 to 0.79.",
        model="multihead", data=mixture_draws(source, n, (seed, 1)), start={"kind": "zeros"},
        test=mixture_draws(source, n, (seed, 2, 1)), record=tuple(record), curves=CURVES,
        fixed={"shortcut": True},
        controls=(Control("H", "heads H", (1, 2, 4, 8, 16, 32, 64), 1),
                  Control("lr", "η", STEP_SIZES, 1.0),
                  scaling_control(),
                  rule_control(),
                  Control("zeta", "relevant share ζ", tuple(k / T for k in range(1, max(T // 2, 1) + 1)), 1 / T),
                  Control("sigma", "noise σ", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0), 0.2)),
        frame=_frame(steps),
        summary="After {steps} steps with H = {H}, {optimizer}, step size {scaling} at η = {lr}, ζ = {zeta}, "
                "σ = {sigma}: training loss {loss}, test loss {test_loss}, ‖W‖ = {norm_W}, ‖U‖ = {norm_U}, "
                "attention score {attention_score}.", train=run))


def _frame(steps):
    titles = ("loss", "average ‖W‖", "average ‖U‖", "attention score")
    frame = panels(*(f"{title}, by step" for title in titles), height=600)
    # Below the moving lines, those of the default settings.
    line(frame, "default settings", 1, 1, shows="loss", once=True)
    line(frame, "norm W", 2, 1, shows="norm_W", once=True)
    line(frame, "norm U", 1, 2, shows="norm_U", once=True, legend=False)
    line(frame, "attention score", 2, 2, shows="attention_score", once=True)
    line(frame, "training", 1, 1, shows="loss")
    line(frame, "test", 1, 1, shows="test_loss", color=1)
    line(frame, "norm W", 2, 1, shows="norm_W", legend=False)
    line(frame, "norm U", 1, 2, shows="norm_U", legend=False)
    line(frame, "attention score", 2, 2, shows="attention_score", legend=False)
    frame.add_scatter(x=[1, steps], y=[0.3, 0.3 / steps], name="the slope of 1/t", mode="lines",
                      line={"color": GRAY, "dash": "dot"}, row=1, col=1)
    frame.update_xaxes(type="log", range=[0, np.log10(steps)], dtick=1, exponentformat="power")
    frame.update_yaxes(type="log", dtick=1, exponentformat="power")
    frame.update_yaxes(range=[-8, 4], dtick=2, row=1, col=1)
    frame.update_yaxes(range=[-2, 2], row=1, col=2)
    frame.update_yaxes(range=[-1, 2], row=2, col=1)
    return frame.update_yaxes(type="linear", range=[0, 1.03], dtick=0.2, exponentformat="none", row=2, col=2)
