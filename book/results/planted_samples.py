"""Is there a region where more heads are faster, in training and test? The axis that decides: n,
from zero.

``python book/results/planted_samples.py`` writes planted_samples.npz: a row for each number of
samples, size (T, d), update rule, trial and number of heads, with losses at 30, 100, 300 and 600
steps. What counts as faster is fixed in planted_map.py. It takes some four minutes of one core.
"""

import numpy as np

import mhalib as mha
from mhabook.c06_planted import statements as c06_statements
from mhabook.studies import write_tables

RULES = {
    "gd-root": lambda H: mha.GradientDescent(0.3 * H**0.5),
    "momentum-root": lambda H: mha.Momentum(0.03 * H**0.5),
    "adam": lambda H: mha.Adam(0.01),
}
HEADS = (1, 4, 16)
STEPS = (30, 100, 300, 600)


def run(*, n, T, d, rule, seed):
    """One trial: a row for each number of heads; the smaller n are the first samples of the
    larger."""
    data = mha.data.planted(n=n, T=T, d=d, seed=seed)
    data, test = (
        part.map(lambda a: a.astype(np.float32)) for part in (data, data.fresh(n=2000, seed=1))
    )
    rows = []
    for H in HEADS:
        zero = mha.MultiHeadAttention.zeros(H, T, d, np.float32)
        path = mha.train(zero, data, RULES[rule](H), STEPS[-1], test=test, record=STEPS)
        aligned = c06_statements.alignment(path[-1], data.truth)
        rows.append(
            {
                "H": H,
                "loss": path.loss,
                "test_loss": path.test_loss,
                "test_accuracy": path.test_accuracy,
                "align_W": aligned["W"],
                "align_U": aligned["U"],
            }
        )
    return rows


if __name__ == "__main__":
    grid = [
        {"n": n, "T": T, "d": d, "rule": rule}
        for T, d in ((5, 5), (10, 5), (10, 10))
        for n in (250, 500, 1000, 2000)
        for rule in RULES
    ]
    write_tables(__file__, __doc__, planted_samples=(run, grid, 5))
