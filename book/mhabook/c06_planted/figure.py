"""The live figure of chapter 6: heads that start equal or different look for the head that made the
labels."""

from dataclasses import replace

from livegrad.arrays import require_count
from livegrad.live.frames import STEP_SIZES, chosen_rule, line, panels, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhabook.c06_planted.statements import alignments, cosine
from mhabook.figure_parts import rule_name, with_value, zero_heads
from mhalib.data import Dataset
from mhalib.data.planted import Planted
from mhalib.live.samples import arrays, in_doubles
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import Rule
from mhalib.plots import ATTENTION, FOUND

HEADS = (1, 2, 4, 8)
BY = {"gd": "", "momentum": ", with momentum", "adam": ", by Adam"}
"""Update rule → how the title ends."""
SCALES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
DIFFERENT = 0.3


def planted(data: Dataset, start: MultiHeadAttention, rule: Rule, steps: int = 600) -> LiveFigure:
    """A live figure of the run that these arguments describe: do heads find the one that made the
    labels?

    Controls change the number of heads, the scale of the random numbers at which they start, how
    many of the samples they see, and the step size. Random starts are those of
    ``MultiHeadAttention.random`` with the seed of the data. As many fresh samples are the test set.

    Parameters
    ----------
    data : samples of ``mhalib.data.planted``, which know their teacher; the page carries them
    start : heads that are zero, ``MultiHeadAttention.zeros(H, T, d)``
    rule : ``GradientDescent``, ``Momentum`` or ``Adam`` with a number as its step size, all else as
        it is by itself
    steps : how many steps a run has

    Raises TypeError or ValueError if data, start or rule are others, or steps is no whole number
    ≥ 1.

    Source: Deora et al. 2023, data model DM2 [recalled]; the alignments of Figure 4 [paper].
    """
    require_count(steps=steps)
    data, optimizer, zero = in_doubles(data), rule_name(rule), zero_heads(start)
    teacher = _teacher_of(data)
    zero(data.X)  # refuses tokens of another number or length
    n, (H, T, d) = len(data), zero.sizes
    record, test = recorded_steps(steps, 40), data.fresh(n=n, seed=1)
    heads = with_value(HEADS, H)

    def run(values):
        own = MultiHeadAttention.random(values["H"], T, d, scale=values["scale"], seed=teacher.seed)
        path = train(
            own,
            data[: values["n"]],
            chosen_rule({"optimizer": optimizer} | values),
            steps,
            test=test,
            record=record,
        )
        aligned = alignments(path, teacher)
        return replace(
            path, curves=path.curves | {f"align_{name}": curve for name, curve in aligned.items()}
        )

    def cosines(path, values):
        return [cosine(W, teacher.W) for W in path[-1].W]

    def head_numbers(path, values):
        return list(range(1, values["H"] + 1))

    stream = normals(heads[-1] * (d * d + T * d), teacher.seed).tolist()
    random = {"kind": "normal", "stream": stream}
    # as JavaScript writes numbers
    starts = {f"{scale:g}": random if scale else {"kind": "zeros"} for scale in SCALES}
    hidden = {name: getattr(teacher, name).ravel().tolist() for name in "WU"}
    return LiveFigure(
        FigureSpec(
            title=f"Do the heads find the hidden one{BY[optimizer]}?",
            alt=f"Left, over {steps} steps: the training accuracy, the test accuracy, and the "
            "alignment of all heads with the hidden head. Right, after the last step, a bar for "
            "each head, between −1 and 1: the cosine between its W and that of the hidden head, "
            "whose own is 1, a thin green line.",
            model="multihead",
            data=arrays(data) | {"teacher": hidden},
            test=arrays(test),
            record=tuple(record),
            start={"by": "scale", "choices": starts},
            fixed={"shortcut": True, "optimizer": optimizer},
            curves=("loss", "accuracy", "test_accuracy", "align_W", "align_U"),
            final=("cosines", "head_numbers"),
            controls=(
                Control("H", "heads H", heads, H),
                Control("scale", "initialization scale s", SCALES, 0.0),
                Control("n", "samples n", tuple(sorted({max(n // k, 1) for k in (8, 4, 2, 1)})), n),
                Control(
                    "lr", "step size η", with_value(STEP_SIZES, float(rule.lr)), float(rule.lr)
                ),
            ),
            tries={
                "Initial settings": {},
                "Different heads": {"scale": DIFFERENT},
                "One head, random initialization": {"H": 1, "scale": DIFFERENT},
                "An eighth of the samples": {"n": max(n // 8, 1)},
            },
            frame=_frame(steps, heads[-1]),
            summary="Heads: {H}. With initialization scale {scale}, {n} samples, and step size "
            "{lr}, after {steps} steps: the training accuracy is {accuracy}, the test accuracy "
            "{test_accuracy}, and the alignment with the hidden head {align_W} in W and {align_U} "
            "in U.",
            train=run,
            measure={"cosines": cosines, "head_numbers": head_numbers},
        ),
        __file__,
    )


def _teacher_of(data):
    if isinstance(data.truth, Planted):
        return data.truth
    raise TypeError(
        "data: expected samples of mhalib.data.planted, which know the head that made their "
        "labels; mha.live.heads(data) takes any Dataset"
    )


def _frame(steps, heads):
    frame = panels("step by step", "cosine of each head")
    line(frame, "alignment of W, initial settings", 1, shows="align_W", once=True)
    line(frame, "training accuracy", 1, shows="accuracy")
    line(frame, "test accuracy", 1, shows="test_accuracy", dash="dash")
    line(frame, "alignment of W", 1, shows="align_W", color=ATTENTION)
    frame.add_bar(
        name="head",
        marker={"color": ATTENTION},
        showlegend=False,
        row=1,
        col=2,
        meta={"x": "head_numbers", "y": "cosines"},
    )
    ends = [0.4, heads + 0.6]
    line(frame, "the hidden head", 2, shows=[1, 1], over=ends, color=FOUND)
    frame.data[-1].line.width = 1.5
    step_axis(frame, steps, col=1)
    # Down to 0, or to what is negative.
    frame.update_yaxes(range=[None, 1.03], rangemode="tozero", col=1)
    frame.update_yaxes(range=[-1.12, 1.12], dtick=0.5, col=2)
    return frame.update_xaxes(title="head", range=ends, dtick=1, col=2)
