"""The live figure of chapter 6: heads, start, update rule and step size on labels of a planted head."""

from dataclasses import replace

from mhabook.c06_planted.statements import alignments
from mhabook.frames import scaling_control
from mhalib._array import require_count
from mhalib.data import planted as planted_data
from mhalib.live.frames import chosen_rule, line, panels, rule_control, step_axis
from mhalib.live.payload import arrays
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.training import recorded_steps, train

HEADS = (1, 2, 4, 8)
CURVES = ("loss", "test_loss", "align_W", "align_U")


def planted(n: int = 200, T: int = 6, d: int = 4, steps: int = 400, scale: float = 0.3, seed: int = 0) -> LiveFigure:
    """A live figure: does a layer find the head that made the labels, and do more heads help it?

    Parameters
    ----------
    n, T, d, seed : as in ``mhalib.data.planted``; as many fresh samples are the test set, and the reader may train on
        half, a quarter or an eighth of the n
    steps : how many steps a run has
    scale : standard deviation of the entries of the random start

    Raises ValueError for what ``planted`` refuses, or if steps is no whole number ≥ 1.

    Source: Deora et al. 2023, the curves of Figures 4 and 5 [paper], on data model DM2 [recalled].
    """
    require_count(steps=steps)
    record = recorded_steps(steps, 40)
    data = planted_data(n=n, T=T, d=d, seed=seed)
    test = data.fresh(n=n, seed=1)
    teacher = {name: getattr(data.truth, name).ravel().tolist() for name in "WU"}

    def run(values):
        H = values["H"]
        start = MultiHeadAttention.zeros(H, T, d)
        if values["start"] == "random":
            start = MultiHeadAttention.random(H, T, d, scale=scale, seed=seed)
        path = train(start, data.subset(slice(values["n"])), chosen_rule(values), steps, test=test, record=record)
        aligned = alignments(path, data.truth)
        return replace(path, curves=path.curves | {f"align_{name}": curve for name, curve in aligned.items()})

    stream = normals(HEADS[-1] * (d * d + T * d), seed).tolist()
    return LiveFigure(FigureSpec(
        title="Looking for a planted head",
        alt="Left, training and test loss over 400 steps of momentum from zero, one head, step size 0.03: the training "
            "loss falls, the test loss levels off. Right, the alignment of W and of U with those of the planted head: "
            "both rise from 0 towards 1.",
        model="multihead", data=arrays(data) | {"teacher": teacher}, test=arrays(test), record=tuple(record),
        start={"by": "start", "choices": {"zero": {"kind": "zeros"}, "random": {"kind": "normal", "stream": stream}}},
        curves=CURVES, fixed={"shortcut": True, "scale": scale},
        controls=(Control("H", "heads H", HEADS, 1),
                  Control("n", "samples n", tuple(n // k for k in (8, 4, 2, 1)), n),
                  Control("lr", "η", (0.003, 0.01, 0.03, 0.1), 0.03),
                  scaling_control(),
                  rule_control("momentum"),
                  Control("start", "start", ("zero", "random"), "zero", ("zero", f"random, {scale:g}"), "choice")),
        frame=_frame(steps),
        summary="After {steps} steps with H = {H}, n = {n}, {optimizer}, step size {scaling} at η = {lr}, start "
                "{start}: training loss {loss}, test loss {test_loss}, alignment {align_W} in W and {align_U} in U.",
        train=run), __file__)


def _frame(steps):
    frame = panels("loss", "alignment with the planted head")
    line(frame, "training loss, default settings", 1, shows="loss", once=True)
    line(frame, "training loss", 1, shows="loss", color=0)
    line(frame, "test loss", 1, shows="test_loss", color=1)
    line(frame, "W", 2, shows="align_W", color=2)
    line(frame, "U", 2, shows="align_U", color=3)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", range=[-4, 1], dtick=1, exponentformat="power", col=1)
    frame.update_yaxes(range=[-0.3, 1.03], col=2)
    return frame
