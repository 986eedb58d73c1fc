"""The live figures of chapter 8: heads on handwritten digits, from random starts."""

from dataclasses import replace

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import chosen_rule, line, panels, rule_control, step_axis
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path, recorded_steps, train
from mhabook.figure_parts import drawn_heads, plain_step, scaling_control, with_value
from mhalib.data import Dataset
from mhalib.data import digits as digit_images
from mhalib.live.heads import ENTRY
from mhalib.live.samples import arrays, in_doubles
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import GradientDescent
from mhalib.plots import ATTENTION

HEADS = (1, 2, 4, 8, 16)
SEEDS = (0, 1, 2, 3)
SCALES = (0.03, 0.1, 0.3, 1.0)
STEP_SIZES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
LONG_STEPS = (0.3, 1.0, 3.0, 10.0, 30.0)


def many_heads(
    data: Dataset, start: MultiHeadAttention, rule: GradientDescent, steps: int = 200
) -> LiveFigure:
    """A live figure of the run that these arguments describe: what do more heads do from a random
    start?

    Sliders change the number of heads, the step size, the size of the start, and its draw. The
    second curve is (1/H) Σ_h ‖W_h − W_h(0)‖_F.

    Parameters
    ----------
    data : a ``Dataset``; the page carries it
    start : random heads, ``MultiHeadAttention.random(H, T, d, scale)``, of the draw 0
    rule : ``GradientDescent`` with a number as its step size
    steps : how many steps a run has

    Raises TypeError or ValueError if data, start or rule are others, or steps is no whole number
    ≥ 1.

    Source: Proposition "At a constant step size each of many heads moves little" (this book).
    """
    require_count(steps=steps)
    data, scale, (H, T, d) = in_doubles(data), drawn_heads(start), start.sizes
    own = {"H": H, "lr": plain_step(rule), "scale": scale}
    heads, most, large, longest = tuple(sorted({*HEADS, H})), HEADS[-1], SCALES[-1], LONG_STEPS[-1]
    record = recorded_steps(steps, 26)

    def run(values):
        drawn = MultiHeadAttention.random(
            values["H"], T, d, scale=values["scale"], seed=values["seed"]
        )
        return _with_moved(train(drawn, data, GradientDescent(values["lr"]), steps, record=record))

    return LiveFigure(
        FigureSpec(
            title="What do more heads do?",
            alt=f"Over {steps} steps from a random initialization: left the training loss, which "
            "falls, and right the distance that the attention matrix of a head has moved, which "
            "rises, both on logarithmic scales. Thin gray lines show the run of the page, and "
            "thick lines the run that the sliders describe.",
            model="multihead",
            data=arrays(data),
            record=tuple(record),
            curves=("loss", "moved"),
            fixed={"optimizer": "gd"},
            start={
                "by": "seed",
                "choices": {
                    # H heads take the first H(d² + Td) numbers of a seed: the stream of the most
                    # heads serves all.
                    seed: {
                        "kind": "normal",
                        "stream": normals(heads[-1] * (d * d + T * d), seed).tolist(),
                    }
                    for seed in SEEDS
                },
            },
            controls=(
                Control("H", "heads H", heads, H),
                Control("lr", "step size η", with_value(LONG_STEPS, own["lr"]), own["lr"]),
                Control("scale", "initialization scale", with_value(SCALES, scale), scale),
                Control("seed", "random seed", SEEDS, 0),
            ),
            tries={
                f"{most} heads": {"H": most},
                f"{most} heads, large initialization": {"H": most, "scale": large},
                "One head, very large steps": {"H": 1, "lr": longest},
                f"{most} heads, very large steps": {"H": most, "lr": longest},
            },
            frame=_two_curves(steps),
            summary="Heads: {H}. With step size {lr}, initialization scale {scale}, and random "
            "seed {seed}, after {steps} steps: the training loss is {loss}, and the attention "
            "matrix of a head has moved by {moved}.",
            train=run,
        ),
        __file__,
    )


def _with_moved(path: Path) -> Path:
    """The run, and how far the mean W_h is from its start."""
    ways = [np.linalg.norm(model.W - path[0].W, axis=(1, 2)).mean() for model in path.models]
    return replace(path, curves=path.curves | {"moved": np.array(ways)})


def _two_curves(steps):
    frame = panels("training loss, step by step", "how far a head's attention has moved")
    line(frame, "initial settings", 1, shows="loss", once=True)
    line(frame, "these heads", 1, shows="loss")
    line(frame, "initial settings", 2, shows="moved", once=True)
    line(frame, "their attention", 2, shows="moved", color=ATTENTION)
    step_axis(frame, steps)
    frame.update_yaxes(type="log", range=[-4.5, 2], dtick=1, exponentformat="power", col=1)
    return frame.update_yaxes(type="log", range=[-2.5, 2.5], dtick=1, exponentformat="power", col=2)


def digits(
    classes: tuple[int, int] = (3, 8),
    n: int = 60,
    held_out: int = 80,
    steps: int = 200,
    seed: int = 0,
) -> LiveFigure:
    """A live figure: heads, step size, its scaling, update rule and random start, on images of two
    digits.

    Parameters
    ----------
    classes, n, seed : as in ``mhalib.data.digits``; the page carries the images
    held_out : how many held-out images are tested on
    steps : how many steps a run has

    Raises ValueError for what ``mhalib.data.digits`` refuses, if there are not so many held-out
    images, or steps is no whole number ≥ 1.
    """
    require_count(steps=steps, held_out=held_out)
    data = in_doubles(digit_images(classes, n, seed))
    test, (_, T, d) = data.fresh(held_out), data.X.shape
    record = recorded_steps(steps, 26)

    def run(values):
        start = MultiHeadAttention.random(
            values["H"], T, d, scale=values["scale"], seed=values["seed"]
        )
        return train(start, data, chosen_rule(values), steps, test=test, record=record)

    names = ("loss", "test_loss", "accuracy", "test_accuracy")
    count = HEADS[-1] * (d * d + T * d)
    return LiveFigure(
        FigureSpec(
            title=f"Heads on digits, {classes[0]} against {classes[1]}, from a random "
            "initialization",
            alt=f"Left, training and test loss over {steps} steps of one head from a small random "
            "initialization: both fall, the test loss less far. Right, the training accuracy and "
            "the test accuracy, which rise above nine tenths.",
            model="multihead",
            data=arrays(data),
            test=arrays(test),
            record=tuple(record),
            curves=names,
            fixed={},
            start={
                "by": "seed",
                "choices": {
                    seed: {"kind": "normal", "stream": normals(count, seed).tolist()}
                    for seed in SEEDS
                },
            },
            controls=(
                Control("H", "heads H", HEADS, 1),
                Control("lr", "step size η", STEP_SIZES, 1.0),
                scaling_control("scaling"),
                rule_control(),
                Control("scale", "initialization scale", SCALES, 0.1),
                Control("seed", "random seed", SEEDS, 0),
            ),
            frame=_frame(steps),
            summary="After {steps} steps with H = {H}, step size {scaling} with η = {lr}, "
            "{optimizer}, initialization scale {scale}, random seed {seed}: training loss {loss}, "
            "test loss {test_loss}, training accuracy {accuracy}, test accuracy {test_accuracy}.",
            train=run,
        ),
        ENTRY,
    )


def _frame(steps):
    """Two panels without numbers: losses, and accuracies."""
    frame = panels("loss", "accuracy")
    line(frame, "training loss, default settings", 1, shows="loss", once=True)
    line(frame, "training", 1, shows="loss")
    line(frame, "test", 1, shows="test_loss", dash="dash")
    line(frame, "test accuracy, default settings", 2, shows="test_accuracy", once=True)
    line(frame, "training accuracy", 2, shows="accuracy")
    line(frame, "test accuracy", 2, shows="test_accuracy", dash="dash")
    step_axis(frame, steps)
    frame.update_yaxes(type="log", range=[-4, 2], dtick=1, exponentformat="power", col=1)
    frame.update_yaxes(range=[0.4, 1.02], col=2)
    return frame
