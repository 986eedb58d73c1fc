"""The pictures of chapter 7: one run for each sample that is left out, and the pushes of a sample,
which fade."""

import numpy as np
from IPython.display import HTML

from mhabook.drawing import DASHES, Panel, picture

SAMPLES = 5
"""How many the first picture shows."""
PUSHES = 30 * 0.62 ** np.arange(8)
"""How far the sample of the second picture pushes in each step."""


def leave_one_out() -> HTML:
    """Samples as dots: a run on all of them, and runs without one, which is an outline."""
    panel = Panel("One more run for each sample")
    for row in range(SAMPLES + 1):
        height = 38 + 24 * row
        panel.words(
            (10, height + 4), "all samples" if row == 0 else f"without {row}", anchor="start"
        )
        for sample in range(1, SAMPLES + 1):
            at = (60 + 20 * sample, height)
            panel.left_out(at, size=6) if sample == row else panel.dot(at, size=6)
        panel.arrow((176, height), (238, height), width=1.5)
    panel.words((130, 182), "the run in a row does not see the dashed sample")
    return picture(
        "leave-one-out",
        "Six rows of five dots, each with an arrow to the right, a training run. In the first row "
        "all dots are full: the run trains on all samples. In each of the other rows another dot "
        "is a dashed outline: the sample that is left out. The run in that row has not seen this sample.",
        [panel],
    )


def pushes_fade() -> HTML:
    """Left, two runs that part early and then no more; right, the pushes that part them, which fade
    with the loss."""
    return picture(
        "pushes-fade",
        "Left, two paths from one point. The upper path is the run with the sample. At each of "
        "its steps a bar shows the push of the sample: the first bars are long and the last ones "
        "tiny, so the paths separate early and then run side by side. Right, the pushes as "
        "columns, which shrink from step to step; stacked, they form one column, the distance "
        "between the two runs.",
        [_two_runs(), _columns()],
    )


def _two_runs():
    panel = Panel("Two runs, one sample apart")
    across = 25 + 27 * np.arange(len(PUSHES) + 1)
    without = 165 - 70 * (1 - np.exp(-np.arange(len(PUSHES) + 1) / 3))
    apart = np.concatenate([[0], np.cumsum(PUSHES)])
    whole = without - 0.8 * apart
    panel.curve(list(zip(across, without, strict=True)), dash=DASHES)
    panel.curve(list(zip(across, whole, strict=True)))
    for x, y, push in zip(across[1:], whole[1:], 0.8 * PUSHES, strict=True):
        panel.bar((float(x), float(y + push)), (float(x), float(y)), width=5)
    panel.dot((float(across[0]), float(without[0])), size=4)
    panel.words((206, 66), "with the sample").words((190, 125), "without it")
    return panel.words((130, 184), "each bar is a push of the sample")


def _columns():
    panel, floor = Panel("Small losses, small pushes"), 158
    for k, push in enumerate(PUSHES):
        _box(panel, 24 + 18 * k, floor, push)
    for top, push in zip(np.cumsum(PUSHES), PUSHES, strict=True):
        _box(panel, 224, floor - 1.5 * (top - push), push)
    panel.line((10, floor), (250, floor), width=1, opacity=0.5)
    panel.words((82, 184), "step by step").words((218, 184), "added up")
    return panel.words((108, 70), "loss falls, push shrinks")


def _box(panel, x, foot, push):
    """The column of a push, on its foot."""
    top = foot - 1.5 * push
    corners = [(x - 6, foot), (x - 6, top), (x + 6, top), (x + 6, foot), (x - 6, foot)]
    return panel.curve(corners, width=1, fill=True)
