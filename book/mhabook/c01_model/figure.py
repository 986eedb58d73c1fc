"""The live figure of chapter 1: a mixture in the reader's hands."""

from mhabook.frames import mixture_draws
from mhalib._array import require_count
from mhalib.data.mixture import tokenized_mixture
from mhalib.live.frames import STEP_SIZES, line, panels, step_axis
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent
from mhalib.plots import SEQUENTIAL
from mhalib.training import recorded_steps, train


def mixture(n: int = 64, T: int = 8, d: int = 8, M: int = 4, S: float = 2.0, steps: int = 500,
            seed: int = 0) -> LiveFigure:
    """A live figure: how many tokens carry the label, how noisy the others are, and the step size, for one head.

    The page carries the draws of a ``tokenized_mixture`` and of as many fresh samples, and assembles both anew for
    every share ζ and noise σ.

    Parameters
    ----------
    n, T, d, M, S, seed : as in ``tokenized_mixture``
    steps : how many steps a run has

    Raises ValueError for what ``tokenized_mixture`` refuses, or if steps is no whole number ≥ 1.

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
    line(frame, "training loss, default settings", 1, shows="loss", once=True)
    line(frame, "training loss", 1, shows="loss")
    line(frame, "test loss", 1, shows="test_loss", color=1)
    frame.add_heatmap(zmin=0, zmax=1, colorscale=SEQUENTIAL, colorbar={"title": "weight"}, row=1, col=2,
                      meta={"z": "attention", "xaxis": {"ticktext": "token_names"}})
    step_axis(frame, steps, col=1)
    frame.update_yaxes(type="log", range=[-8, 4], dtick=2, exponentformat="power", col=1)
    frame.update_xaxes(title="key token", tickvals=list(range(T)), constrain="domain", col=2)
    frame.update_yaxes(title="query token", autorange="reversed", tickvals=list(range(T)), constrain="domain", col=2)
    return LiveFigure(FigureSpec(
        title="Relevant tokens, noise, step size",
        alt="Left, training and test loss over 500 steps of one head from zero. Right, the attention weights of one "
            "sample after the last step: the column of the relevant token, which carries a star, stands out.",
        model="multihead", data=mixture_draws(source, n, (seed, 1)), start={"kind": "zeros"},
        test=mixture_draws(source, n, (seed, 2, 1)), record=tuple(record),
        fixed={"H": 1, "optimizer": "gd"},
        curves=("loss", "test_loss"), final=("attention", "attention_score", "test_accuracy", "token_names"),
        controls=(Control("zeta", "relevant share ζ", tuple(k / T for k in range(1, max(T // 2, 1) + 1)), 1 / T),
                  Control("sigma", "noise σ", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0), 0.2),
                  Control("lr", "step size η", STEP_SIZES, 1.0)),
        frame=frame,
        summary="After {steps} steps with ζ = {zeta}, σ = {sigma}, η = {lr}: training loss {loss}, "
                "test loss {test_loss}, test accuracy {test_accuracy}, "
                "attention score {attention_score}.",
        train=run, measure={"attention": attention, "token_names": token_names}))
