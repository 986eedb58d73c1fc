"""Heads on handwritten digits from random starts: 1 to 64 heads, a map of step sizes, two pairs of
digits, eight seeds.

``python book/results/digits.py`` writes digits.npz (some nine minutes of one core), and
digits_long.npz, the map continued to step sizes from 16 to 256 (some thirteen minutes). A row is
one run of 300 steps on 200 images, in single precision. A seed fixes which images train, and the
start. For gradient descent the step size is 2^(power/2): power 0 is the constant step size 1, and
power log₂ H is √H. Adam has the step size 0.01.
"""

import warnings

import numpy as np

import mhalib as mha
from mhabook.c08_digits.random_start import gram
from mhabook.studies import write_tables

HEADS = (1, 2, 4, 8, 16, 32, 64)
CURVES = ("loss", "test_loss", "accuracy", "test_accuracy")
STEPS = sorted({0, *np.rint(np.geomspace(1, 300, 24)).astype(int).tolist()})


def run(*, pair, scale, rule, H, power, seed):
    """One run: its curves, how far a W_h and a U_h have moved on average, and the steepest
    curvature at the start."""
    data = mha.data.digits(tuple(map(int, pair)), n=200, seed=seed)
    start = mha.MultiHeadAttention.random(H, 8, 8, scale=scale, seed=seed)
    path = trained(
        start, data, mha.Adam(0.01) if rule == "adam" else mha.GradientDescent(2 ** (power / 2))
    )
    moved = path[-1] - path[0]
    rows = {
        f"moved_{name}": np.linalg.norm(part, axis=(1, 2)).mean()
        for name, part in moved.arrays().items()
    }
    curves = {name: path.curves[name].astype("float32") for name in CURVES}
    return curves | rows | {"steps": np.array(STEPS), "top": top(start, data)}


def trained(start, data, rule):
    """The ``Path`` of 300 steps in single precision."""

    def single(a):
        return a.astype("float32")

    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # none of these runs diverges
        return mha.train(
            start.map(single),
            data.map(single),
            rule,
            STEPS[-1],
            test=data.fresh().map(single),
            record=STEPS,
        )


def top(model, data):
    """The largest eigenvalue of (1/n) Σ ℓ″ ∇Φ ∇Φᵀ, the part of the loss's Hessian that is
    positive."""
    root = np.sqrt(mha.losses.logistic.curvature(model.margins(data.X, data.y)) / len(data))
    return np.linalg.eigvalsh(root[:, None] * gram(model, data.X) * root)[-1]


def grid():
    """All configurations: the map, the two lines of a second pair, and Adam."""
    common = [{"scale": scale, "H": H} for scale in (0.1, 1.0) for H in HEADS]
    for part in common:
        root = part["H"].bit_length() - 1  # 2^(root/2) = √H
        yield from ({"pair": "38", "rule": "gd", "power": power} | part for power in range(-2, 8))
        yield from (
            {"pair": "49", "rule": "gd", "power": power} | part for power in sorted({0, root})
        )
        yield from ({"pair": pair, "rule": "adam", "power": 0} | part for pair in ("38", "49"))


def long_steps():
    """The map of step sizes, continued in factors of two."""
    for scale in (0.1, 1.0):
        for H in HEADS:
            for power in range(8, 17, 2):
                yield {"pair": "38", "rule": "gd", "power": power, "scale": scale, "H": H}


if __name__ == "__main__":
    write_tables(__file__, __doc__, digits=(run, grid(), 8), digits_long=(run, long_steps(), 8))
