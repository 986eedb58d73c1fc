"""Part III: what the theorems of chapters 13 and 14 ask for or promise, and what runs need."""

from math import log

import numpy as np

import mhalib as mha
from mhabook.c13_layer import statements as one_layer
from mhabook.c14_traps import statements as traps
from mhabook.c14_traps.lines import Line
from mhabook.pages.theory_and_practice.row import Row, Rows, power
from mhabook.tables import stored
from mhalib.data import SequenceDataset

WIDTHS = [k / 200 for k in range(20, 201)]
"""The c of Gaussian kernels for which a trap of B4 is looked for."""
THRESHOLD = 8 * 4
"""The dimension that the theorems of chapter 13 ask for: eight samples of four tokens."""


def layer_and_data(D: int = 48) -> tuple[mha.AttentionLayer, SequenceDataset]:
    """The start of the chapter's live figure: eight samples of four tokens, one head, the Gaussian
    kernel."""
    layer = mha.AttentionLayer.random(D=D, d=8, m=1, tied=True, kernel=mha.gaussian)
    return layer, mha.data.random_sequences(N=8, n=4, D=D)


def values_alone() -> Rows:
    """Stored softmax runs of 3,000 steps for six dimensions, and a run at D = 48."""
    kept = left_over("WV", "softmax", True, 1.0)
    sharp = min(D for D in range(16, 41) if unexplained(D) < 1e-12)
    layer, data = layer_and_data()
    smooth, rate = one_layer.value_smoothness(layer, data.X), one_layer.value_rate(layer, data.X)
    path = mha.train(
        layer, data, mha.GradientDescent(1 / smooth), 700, record=range(701), only="WV"
    )
    told = log(1e-6) / log(1 - rate / smooth) / 2
    taken = int(np.argmax(path.loss <= 1e-6 * path.loss[0]))
    return [
        Row(
            "thm-values",
            "dimension, values alone",
            f"D ≥ {THRESHOLD}",
            f"descent can end at 0 from D = {sharp} on; "
            f"stored runs keep {np.median(kept[24]):.0%} at 24",
            THRESHOLD / sharp,
        ),
        Row(
            "thm-values",
            "steps, values alone",
            f"{told:.0f} to a millionth of the loss",
            f"{taken}",
            told / taken,
        ),
    ]


def left_over(only: str, kernel: str, tied: bool, scale: float) -> dict[int, np.ndarray]:
    """D → what eight stored runs left of the loss."""
    runs = stored("dimensions.npz").where(only=only, kernel=kernel, tied=tied, scale=scale)
    return {D: runs.where(D=D)["relative"] for D in np.unique(runs["D"]).tolist()}


def unexplained(D: int) -> float:
    """The share of the squared targets that the best values leave."""
    layer, data = layer_and_data(D)
    B, Y = layer.mixed(data.X), data.y.reshape(-1, 1)
    return ((B @ np.linalg.lstsq(B, Y, rcond=None)[0] - Y) ** 2).sum() / (Y**2).sum()


def queries_alone() -> Rows:
    """The slope at each of 100 steps at D = 48."""
    layer, data = layer_and_data()
    seek = mha.train(
        layer, data, mha.GradientDescent(1.0), 100, record=range(101), only="WQ"
    ).models
    steep = [
        (model.loss_and_grad(data.X, data.y), one_layer.query_rate(model, data.X)) for model in seek
    ]
    least = min((grad.WQ**2).sum() / (2 * rate * loss) for (loss, grad), rate in steep)
    return [
        Row(
            "thm-queries",
            "slope, queries alone",
            "‖∇f‖² ≥ 2α_Q f",
            f"at least {power(least)} times as much at each of 100 steps",
            least,
        )
    ]


def all_weights() -> Rows:
    """Stored softmax runs of 3,000 steps for six dimensions, and the theorem's constants at D =
    48."""
    layer, data = layer_and_data()
    radius, rate = one_layer.neighborhood(layer, data.X), one_layer.value_rate(layer, data.X)
    close, begin = radius**2 * rate / 32, float(layer.loss(data.X, data.y))
    shorter = one_layer.smoothness(
        layer, one_layer.near(layer, data.X), radius
    ) / one_layer.value_smoothness(layer, data.X)
    kept = left_over("WQ WK WV", "softmax", False, 0.5)
    whole = min(D for D, left in kept.items() if np.median(left) < 1e-6)
    return [
        Row(
            "thm-neighborhood",
            "first loss, all weights",
            f"at most {power(close)}",
            f"a run that succeeds starts at {begin:.1f}",
            begin / close,
        ),
        Row(
            "thm-neighborhood",
            "dimension, all weights",
            f"D ≥ {THRESHOLD}",
            f"8 stored softmax runs at {whole}, the "
            f"least tried, keep {power(kept[whole].max())} or less",
            THRESHOLD / whole,
        ),
        Row(
            "thm-neighborhood",
            "step size, all weights",
            f"{shorter:.0f} times below 1/L",
            "η = 1/L leaves less than a millionth of the loss after 100 steps",
            shorter,
        ),
    ]


def waiting() -> Rows:
    """Example B3; the query starts two to the right of its place in the live figure's default."""
    keys, numbers, y, lr = (
        np.array(traps.EXAMPLES["B3"][name]) for name in ("keys", "values", "y", "lr")
    )
    waits = traps.waiting_time(
        np.array([1.0]), keys[:, None], numbers[:, None], y[None], lr, mha.gaussian, 1.0
    )
    path = Line(keys, numbers, mha.gaussian).descend(np.array([1.0]), y, lr, 1000)[:, 0]
    arrived = int(np.argmax(abs(5 - path) < 1))
    return [
        Row(
            "thm-waiting",
            "steps of waiting",
            f"B3 from 1: at least {waits:.0f} until the key is 1 away",
            f"{arrived}",
            arrived / waits,
        )
    ]


def barrier() -> Rows:
    """Example B2."""
    B2 = Line(*(np.array(traps.EXAMPLES["B2"][name]) for name in ("keys", "values")))
    top = traps.top_means(B2.keys, B2.values).max()
    reach = B2.output(np.linspace(0, 20, 20_001)).max()
    return [
        Row(
            "thm-barrier",
            "target beyond a barrier",
            f"B2: y > {top:.2f}",
            f"no query q ≥ 0 gives more than {reach:.2f}",
            top / reach,
        )
    ]


def wells() -> Rows:
    """Example B4, by the width of its kernel."""
    asked, needed = (next(c for c in WIDTHS if holds(c)) for holds in (promised_well, has_well))
    return [
        Row(
            "thm-wells",
            "keys far apart",
            f"B4: c ≥ {asked:.3g}",
            f"the trap is there from c = {needed:.3g} on",
            asked / needed,
        )
    ]


def promised_well(c: float) -> bool:
    """Whether the theorem promises a trap at the first key of B4, whose value is not enough."""
    keys, values, y = _B4()
    w, eps = (
        one[0] for one in traps.spare(mha.attention.Gaussian(c), keys[:, None], values[:, None])
    )
    z = abs(values[0] - y)
    return z > eps and abs(w * values[0] - y) - eps > z + eps


def has_well(c: float) -> bool:
    """Whether there is a spurious minimum on the side of that key."""
    keys, values, y = _B4()
    return any(
        one.spurious and one.q < 0
        for one in Line(keys, values, mha.attention.Gaussian(c)).minima(y)
    )


def _B4():
    return (np.array(traps.EXAMPLES["B4"][name]) for name in ("keys", "values", "y"))
