"""The live figure of chapter 13's walk: the values of one head in training, and what is known
before the first step."""

from dataclasses import replace
from typing import Any

import numpy as np

from livegrad.arrays import Array, require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import recorded_steps, run
from mhabook.c13_layer.figure import KERNELS, NAMES, SMALLEST
from mhabook.c13_layer.statements import least_singular, value_rate, value_smoothness
from mhabook.figure_parts import plain_step
from mhalib.attention import Gaussian, Softmax, gaussian
from mhalib.data.sequences import SequenceDataset
from mhalib.models import AttentionLayer
from mhalib.optim import GradientDescent
from mhalib.plots import FOUND

SCALES = (0.1, 0.3, 1.0, 2.0, 4.0)
ROUNDING = 1e-9
"""A step of 1/L may be longer by this share, because its L was computed on another way."""
SUMMARY = (
    "With {D} dimensions, {kernel} weights, queries and keys of size {scale}, and keys {tied}: "
    "after {steps} steps, loss / initial loss is {end}. The bound that is guaranteed before the "
    "first step is {guaranteed}. The minimum over all values is {floor}."
)


def promised(
    data: SequenceDataset, start: AttentionLayer, rule: GradientDescent, steps: int = 2000
) -> LiveFigure:
    """A live figure of the run that these arguments describe: how far must descent on the values
    alone come?

    Sliders change how many coordinates of the tokens the layer is given, how large its queries and
    keys are, whether its keys equal its queries, and its kernel. With D of all coordinates the
    layer has the first D rows of W^Q, W^K and W^V, larger by the root of what is left out. Every
    start takes steps of as many times 1/L as the rule does, with its own L. If keys equal queries
    in ``start``, keys of their own are those of ``AttentionLayer.random``, as large as the queries.

    Parameters
    ----------
    data : tokens with one target each
    start : a layer of one head for them, with ``mha.softmax`` or ``mha.gaussian``
    rule : ``GradientDescent`` with a number as its step size, at most 1/L
    steps : how many steps a run has

    Raises TypeError or ValueError if an argument is another.

    Source: Theorem "Training the values must succeed" (this book).
    """
    require_count(steps=steps)
    own = _kernel(_require_run(data, start))
    share = _share(rule, value_smoothness(start, data.X))
    tied = bool((start.WK == start.WQ).all())
    keys = _keys_of_their_own(start) if tied else start.WK
    (N, n, D), d = data.X.shape, start.WQ.shape[2]
    record = tuple(recorded_steps(steps, 60))

    def begin(values):
        """Data and layer of some values of the controls."""
        # Entries of variance 1/D for all coordinates get the variance 1/few of a smaller random
        # layer.
        few, larger = values["D"], (D / values["D"]) ** 0.5
        WQ, WK, WV = (
            larger * W[:, :few] for W in (start.WQ, start.WQ if values["tied"] else keys, start.WV)
        )
        layer = AttentionLayer(
            values["scale"] * WQ, values["scale"] * WK, WV, start.WO, KERNELS[values["kernel"]]
        )
        return SequenceDataset(data.X[:, :, :few], data.y), layer

    def trained(values):
        given, layer = begin(values)
        lr = share / value_smoothness(layer, given.X)
        path = run(layer, given, GradientDescent(lr), steps, None, record, only=("WV",))
        curves = {
            "loss": path.loss,
            "left": np.maximum(path.loss / path.loss[0], SMALLEST),
            "guaranteed": _factor(layer, given, share) ** path.steps,
            "least_loss": np.full(len(path), max(_least_loss(layer, given), SMALLEST)),
        }
        return replace(path, curves=curves)

    def of_start(measure):
        return lambda path, values: measure(*begin(values))

    sizes = _sizes(N * n, D)
    tries: dict[str, dict[str, Any]] = {"Initial settings": {}}
    if N * n <= D:
        tries |= {
            "Too few dimensions": {"D": 3 * N * n // 4},
            "Just enough dimensions": {"D": N * n},
        }
    return LiveFigure(
        FigureSpec(
            title="What must descent reach?",
            alt=_alt(N * n, steps),
            summary=SUMMARY,
            model="promised",
            data={
                "kind": "coordinates",
                "tokens": data.X.ravel().tolist(),
                "targets": data.y.ravel().tolist(),
                "N": N,
                "n": n,
                "all": D,
            },
            start={"kind": "values", "all": D}
            | {
                name: W.ravel().tolist()
                for name, W in (("WQ", start.WQ), ("WK", keys), ("WV", start.WV), ("WO", start.WO))
            },
            record=record,
            fixed={"H": 1, "d": d, "share": share, "optimizer": "gd"},
            curves=("left", "guaranteed", "least_loss"),
            final=("order", "spectrum", "end", "floor"),
            measure={
                "order": of_start(
                    lambda given, layer: [*range(1, min(N * n, given.X.shape[2]) + 1)]
                ),
                "spectrum": of_start(
                    lambda given, layer: np.linalg.svd(layer.mixed(given.X))[1].tolist()
                ),
                "end": _end,
                "floor": of_start(lambda given, layer: _least_loss(layer, given)),
            },
            controls=(
                Control("D", "dimensions of a token", sizes, D),
                Control("scale", "size of queries and keys", SCALES, 1.0),
                Control(
                    "tied",
                    "keys",
                    (True, False),
                    tied,
                    ("equal to the queries", "their own"),
                    "choice",
                ),
                Control("kernel", "weights", tuple(KERNELS), own, tuple(NAMES.values()), "choice"),
            ),
            tries=tries | {"Small queries and keys": {"scale": 0.1}},
            frame=_frame(N * n, steps),
            train=trained,
        ),
        __file__,
    )


def _require_run(data, start):
    """The start, if both are what the figure can move."""
    if not isinstance(data, SequenceDataset) or data.y.shape[2] != 1:
        raise TypeError(
            "data: expected a SequenceDataset with one target for each token, such as "
            "mha.data.random_sequences(m=1)"
        )
    if not isinstance(start, AttentionLayer) or start.sizes[0] != 1:
        raise TypeError("start: expected an AttentionLayer of one head")
    start.require_batch(data.X, data.y)
    return start


def _share(rule, L):
    """The step size as a share of 1/L: exactly 1 where it is 1 but for rounding, on every
    machine."""
    lr = plain_step(rule)
    if lr * L > 1 + ROUNDING:
        raise ValueError(
            f"rule: expected a step size of at most 1/L = {1 / L:.4g}, for which there is a "
            f"guarantee, got {lr:.4g}"
        )
    return 1.0 if abs(lr * L - 1) <= ROUNDING else lr * L


def _kernel(start):
    """The name of its kernel."""
    if type(start.kernel) is Softmax:
        return "softmax"
    if type(start.kernel) is Gaussian and start.kernel.c == gaussian.c:
        return "gaussian"
    raise ValueError(
        f"start: expected mha.softmax or mha.gaussian as its kernel, got {start.kernel!r}"
    )


def _keys_of_their_own(start: AttentionLayer) -> Array:
    """Random keys (1, D, d), as large as the queries."""
    _, D, d, _ = start.sizes
    drawn = AttentionLayer.random(D, d, 1)
    return drawn.WK * (np.linalg.norm(start.WQ) / np.linalg.norm(drawn.WQ))


def _sizes(targets, D):
    """Dimensions below and above as many as there are targets."""
    # Beside the quarters, one dimension to each side of where full row rank begins.
    quarters = {k * targets // 4 for k in range(1, 8)}
    return tuple(sorted({k for k in quarters | {targets - 1, targets + 1} if 1 <= k < D} | {D}))


def _factor(layer, data, share):
    """(1 − ηα)² for η = share/L: 1 where the theorem promises nothing."""
    return (1 - share * value_rate(layer, data.X) / value_smoothness(layer, data.X)) ** 2


def _least_loss(layer, data):
    """The least loss over the values as a share of the first: zero where the rows of B are
    independent."""
    B, y = layer.mixed(data.X), data.y.reshape(-1, 1)
    # Zero itself, not the rounding that a least-squares fit would leave.
    if least_singular(B) > 0:
        return 0.0
    rest = y - B @ np.linalg.lstsq(B, y)[0]
    return float((rest**2).sum() / (2 * len(data)) / layer.loss(data.X, data.y))


def _end(path, values):
    """What is left of the loss, or the word that it is too little to draw."""
    last = float(path.curves["left"][-1])
    return last if last > SMALLEST else f"less than {SMALLEST:.0e}".replace("e-0", "e-")


def _alt(targets, steps):
    return (
        f"Left, over {steps} steps on the values, the loss divided by the initial loss, on a "
        "logarithmic axis. It stays below a dotted line, which is guaranteed before the first "
        "step, and above a green line, the minimum over all values. With enough dimensions the "
        "green line is at the bottom, which means zero, and the dotted line falls. Right, the "
        f"initial singular values of B, at most {targets}, in decreasing order. A slider changes "
        "how many there are, and how small the last one is."
    )


def _frame(targets, steps):
    frame = panels("loss / initial loss", "initial singular values of B")
    line(frame, "the run", 1, shows="left")
    line(frame, "guaranteed bound", 1, shows="guaranteed", dash="dot")
    line(frame, "minimum over all values", 1, shows="least_loss", color=FOUND)
    frame.data[-1].line.width = 1.5
    line(frame, "B, initial settings", 2, shows="spectrum", over="order", once=True, legend=True)
    line(frame, "B now", 2, shows="spectrum", over="order")
    frame.data[-1].mode = "lines+markers"
    frame.update_xaxes(range=[0, steps], title="step", col=1)
    frame.update_xaxes(range=[0, targets + 1], title="in decreasing order", col=2)
    frame.update_yaxes(type="log", exponentformat="power")
    frame.update_yaxes(range=[-9.2, 0.5], dtick=3, col=1)
    return frame.update_yaxes(range=[-3.5, 1.7], dtick=1, col=2)
