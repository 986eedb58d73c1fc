"""The live figure of heads: their number, the step size and the update rule, on anyone's data."""

from pathlib import Path

from livegrad.arrays import require_count
from livegrad.live.frames import STEP_SIZES, chosen_rule, line, panels, rule_control, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, train
from mhalib.data import Dataset
from mhalib.live.samples import arrays, in_doubles
from mhalib.models import MultiHeadAttention
from mhalib.plots import ATTENTION

ENTRY = Path(__file__).with_suffix(".js")
"""The JavaScript of a figure of the multi-head classifier."""


def heads(data: Dataset, steps: int = 500) -> LiveFigure[MultiHeadAttention]:
    """A live figure: the number of heads, the step size and the update rule, from zero, on
    ``data``.

    Heads that start at zero stay equal, so the browser trains one and counts it H times; the reader
    can switch this off.

    Raises TypeError or ValueError if data is no ``Dataset``, or steps no whole number ≥ 1.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it. Where it says which tokens are relevant the attention
        score is drawn, else the accuracy
    steps : how many steps a run has

    Source: Zero-initialization collapse (ours).
    """
    require_count(steps=steps)
    data = in_doubles(data)
    measured = "accuracy" if data.relevant is None else "attention_score"
    _, T, d = data.X.shape
    record = recorded_steps(steps, 50)

    def run(values):
        start = MultiHeadAttention.zeros(values["H"], T, d)
        return train(start, data, chosen_rule(values), steps, record=record)

    words = measured.replace("_", " ")
    frame = panels("loss", words)
    line(frame, "default settings", 1, shows="loss", once=True)
    line(frame, "training loss", 1, shows="loss")
    line(frame, "default settings", 2, shows=measured, once=True)
    line(frame, words, 2, shows=measured, color=ATTENTION)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", range=[-8, 4], dtick=2, exponentformat="power", col=1)
    frame.update_yaxes(range=[0, 1.03], col=2)
    return LiveFigure(
        FigureSpec(
            title="Heads and step size, from zero",
            alt=f"Two curves over training steps, from zero, one head, step size 1: the training "
            f"loss and the {words}. "
            "Sliders change the number of heads and the step size, a menu the update rule.",
            model="multihead",
            data=arrays(data),
            start={"kind": "zeros"},
            record=tuple(record),
            curves=("loss", measured),
            fixed={},
            controls=(
                Control("H", "heads H", (1, 2, 4, 8, 16, 32, 64), 1),
                Control("lr", "step size η", STEP_SIZES, 1.0),
                rule_control(),
                Control(
                    "shortcut",
                    "train one head, count it H times",
                    (False, True),
                    True,
                    kind="switch",
                ),
            ),
            frame=frame,
            summary=f"After {{steps}} steps with H = {{H}}, η = {{lr}}, {{optimizer}}: training "
            f"loss {{loss}}, {words} {{{measured}}}.",
            train=run,
        ),
        ENTRY,
    )
