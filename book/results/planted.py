"""Figures 4 and 5 at full size: planted heads, n = 1000, test 3000, five trials, from zero and from
random starts.

``python book/results/planted.py`` writes planted.npz: a row for each size, start, update rule,
trial and number of heads. A trial is the seed of teacher, samples and start. It takes some three
minutes of one core.
"""

import numpy as np

import mhalib as mha
from mhabook.c06_planted.statements import alignments
from mhabook.studies import write_tables

RULES = {
    "gd-root": lambda H: mha.GradientDescent(0.3 * H**0.5),
    "momentum-root": lambda H: mha.Momentum(0.03 * H**0.5),
    "adam": lambda H: mha.Adam(0.01),
}
HEADS = (1, 4, 16)
CURVES = ("loss", "test_loss", "test_accuracy", "norm_W", "norm_U")
STEPS = sorted({0, 30, 100, 300, *np.rint(np.geomspace(1, 600, 24)).astype(int).tolist()})


def train(H, data, test, rule, start, seed):
    """The curves of one run, with both alignments."""
    n, T, d = data.X.shape
    model = mha.MultiHeadAttention.zeros(H, T, d, data.X.dtype)
    if start:
        model = mha.MultiHeadAttention.random(
            H, T, d, scale=start, seed=100 + seed, dtype=data.X.dtype
        )
    path = mha.train(model, data, RULES[rule](H), STEPS[-1], test=test, record=STEPS)
    aligned = alignments(path, data.truth)
    return {"steps": path.steps, "align_W": aligned["W"], "align_U": aligned["U"]} | {
        c: path.curves[c] for c in CURVES
    }


def run(*, T, d, start, rule, seed):
    """One trial: a row of curves for each number of heads."""
    data = mha.data.planted(n=1000, T=T, d=d, seed=seed)
    test = data.fresh(n=3000, seed=1)
    if start:  # heads differ, and each costs: single precision halves that
        data, test = (part.map(lambda a: a.astype(np.float32)) for part in (data, test))
    return [{"H": H} | train(H, data, test, rule, start, seed) for H in HEADS]


if __name__ == "__main__":
    grid = [
        {"T": T, "d": d, "start": start, "rule": rule}
        for T, d, start in ((10, 5, 0.0), (5, 5, 0.0), (10, 10, 0.0), (10, 5, 0.3))
        for rule in RULES
    ]
    write_tables(__file__, __doc__, planted=(run, grid, 5))
