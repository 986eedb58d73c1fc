"""The live figure of chapter 1: a head that finds a token, in the reader's hands."""

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import STEP_SIZES, guess, line, panels, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhabook.figure_parts import mixture_draws, mixture_of, plain_step, with_value, zero_heads
from mhalib.data import Dataset
from mhalib.data.mixture import tokenized_mixture
from mhalib.live.heads import ENTRY
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent
from mhalib.plots import ATTENTION, INK, WEIGHTS

NOISES = (0.0, 0.2, 0.5, 0.75, 1.0, 1.5, 2.0)


def finding(
    data: Dataset, start: MultiHeadAttention, rule: GradientDescent, steps: int = 500
) -> LiveFigure:
    """A live figure of the run that these arguments describe: does a head find the token that
    carries the label?

    Sliders change the step size, the noise on the other tokens and how many tokens carry the label;
    a fourth one chooses the sample whose attention is shown.
    The page carries the draws of ``data`` and of as many fresh samples, and assembles both anew for
    every share ζ and noise σ.

    Parameters
    ----------
    data : the samples of a ``tokenized_mixture``, as it draws them
    start : heads that are zero, ``MultiHeadAttention.zeros(H, T, d)``
    rule : ``GradientDescent`` with a number as its step size
    steps : how many steps a run has

    Raises TypeError or ValueError if data, start or rule are others, or steps is no whole number
    ≥ 1.

    Source: Deora et al. 2023, data model DM1 [recalled].
    """
    require_count(steps=steps)
    mixture, n, (H, T, d) = mixture_of(data), len(data), zero_heads(start).sizes
    M, S = len(mixture.nu), float(np.linalg.norm(mixture.nu[0]))
    own = {"zeta": mixture.n_relevant / T, "sigma": mixture.sigma, "lr": plain_step(rule)}
    record = recorded_steps(steps, 60)

    def sample(zeta, sigma, **_):
        return tokenized_mixture(n, T, d, M, zeta, S, sigma, mixture.seed)

    def run(values):
        seen = sample(**values)
        return train(
            start,
            seen,
            GradientDescent(values["lr"]),
            steps,
            test=seen.truth.sample(n, 1),
            record=record,
        )

    def shown(path, values):
        """The attention of the sample that is shown, and which of its tokens are relevant."""
        seen, k = sample(**values), values["sample"]
        return path[-1].attention(seen.X[k : k + 1]).mean(axis=1)[0], seen.relevant[k]

    def attention(path, values):
        return shown(path, values)[0].tolist()

    def token_names(path, values):
        return [f"{t}★" if star else f"{t}" for t, star in enumerate(shown(path, values)[1])]

    def sample_score(path, values):
        weights, relevant = shown(path, values)
        return float(weights[:, relevant].sum(axis=1).mean())

    # k / T rounds as ζ = n_relevant / T does, so the set in ``with_value`` does not hold it twice.
    shares = with_value([k / T for k in range(1, max(T // 2, 1) + 1)], own["zeta"])
    labels = tuple(f"{k}, label {'+' if y > 0 else '−'}1" for k, y in enumerate(data.y[:8]))
    tries = {"Initial settings": {}, "Large noise": {"sigma": 2.0}, "Large step size": {"lr": 30.0}}
    # k / T and 2ζ can differ in the last bit, and a try must name a value of its slider.
    double = [share for share in shares if abs(share - 2 * own["zeta"]) < 1e-9]
    if double:
        tries["Twice as many tokens carry the label"] = {"zeta": double[0]}
    return LiveFigure(
        FigureSpec(
            title="Does the head find the token?",
            alt=f"Left, over {steps} steps of one run from zero initialization: the training "
            "accuracy, the test accuracy, and the weight on the relevant token, which rises "
            "later. Right, the attention weights in the first sample after the last step: the "
            "column of the relevant token, which carries a star, stands out.",
            model="multihead",
            # The streams of ``tokenized_mixture`` and of ``sample(n, 1)``: the page trains and
            # tests on the samples that ``run`` sees.
            data=mixture_draws(mixture, n, (mixture.seed, 1)),
            start={"kind": "zeros"},
            test=mixture_draws(mixture, n, (mixture.seed, 2, 1)),
            record=tuple(record),
            fixed={"H": H, "shortcut": True, "optimizer": "gd"},
            curves=("loss", "accuracy", "test_accuracy", "attention_score"),
            final=("attention", "token_names", "sample_score"),
            controls=(
                Control("lr", "step size η", with_value(STEP_SIZES, own["lr"]), own["lr"]),
                Control("sigma", "noise σ", with_value(NOISES, own["sigma"]), own["sigma"]),
                Control("zeta", "fraction ζ of relevant tokens", shares, own["zeta"]),
                # Its label does not depend on ζ and σ.
                Control(
                    "sample", "sample shown", tuple(range(len(labels))), 0, labels, measures=True
                ),
            ),
            tries=tries,
            frame=_frame(T, steps),
            summary="With step size {lr}, noise {sigma}, and a fraction {zeta} of relevant "
            "tokens, after {steps} steps: the training loss is {loss}, the test accuracy "
            "{test_accuracy}, and the weight on the relevant token {attention_score}. In sample "
            "{sample}, this weight is {sample_score}.",
            train=run,
            measure={
                "attention": attention,
                "token_names": token_names,
                "sample_score": sample_score,
            },
        ),
        ENTRY,
    )


def _frame(T, steps):
    frame = panels("fractions, step by step", "attention weights")
    line(frame, "training accuracy", 1, shows="accuracy", color=INK)
    line(frame, "test accuracy", 1, shows="test_accuracy", color=INK, dash="dash")
    line(frame, "weight, initial settings", 1, shows="attention_score", once=True)
    line(frame, "weight on relevant token", 1, shows="attention_score", color=ATTENTION)
    guess(frame, "chapter-1-1b", 1)
    frame.add_heatmap(
        **WEIGHTS,
        colorbar={"title": "weight"},
        row=1,
        col=2,
        meta={"z": "attention", "xaxis": {"ticktext": "token_names"}},
    )
    step_axis(frame, steps, col=1)
    frame.update_yaxes(range=[0, 1.03], col=1)
    tokens = {"tickvals": list(range(T)), "showgrid": False, "zeroline": False}
    frame.update_xaxes(title="key token", constrain="domain", **tokens, col=2)
    frame.update_yaxes(
        title="query token", autorange="reversed", constrain="domain", **tokens, col=2
    )
    return frame
