"""Where are more heads faster on planted data? One thing changed at a time: from zero at two step
sizes, and at random.

``python book/results/planted_map.py`` writes planted_map.npz: a row for each setting, start, update
rule, step size, trial and number of heads, with losses at 30, 100 and 300 steps. It takes some
three minutes of one core.

Fixed before the first run: a claim "faster with H" holds at a step if the loss falls along H = 1,
4, 16, without equality, in at least 4 of the 5 trials; it holds for training and test loss apart.
It fails the other way if the loss rises along H in at least 4. Everything else is called mixed.
"""

import numpy as np

import mhalib as mha
from mhabook.c06_planted import statements as c06_statements
from mhabook.studies import write_tables

RULES = {
    "gd-root": lambda lr, H: mha.GradientDescent(0.3 * lr * H**0.5),
    "momentum-root": lambda lr, H: mha.Momentum(0.03 * lr * H**0.5),
    "adam": lambda lr, H: mha.Adam(0.01 * lr),
}
HEADS = (1, 4, 16)
STEPS = (30, 100, 300)
BASE = {"n": 200, "T": 10, "d": 5, "strength": 1.0, "margin": 0.0, "flip": 0.0}
CHANGES = [
    {},
    {"T": 4},
    {"T": 20},
    {"d": 3},
    {"d": 10},
    {"n": 100},
    {"n": 400},
    {"strength": 0.2},
    {"strength": 3.0},
    {"margin": 0.5},
    {"margin": 1.0},
    {"flip": 0.1},
    {"flip": 0.2},
]
AT_RANDOM = [
    {},
    {"T": 4},
    {"d": 3},
    {"d": 10},
    {"n": 100},
    {"strength": 0.2},
    {"margin": 1.0},
    {"flip": 0.2},
]


def run(*, start, rule, lr, seed, **setting):
    """One trial: a row for each number of heads."""
    data = mha.data.planted(**setting, seed=seed)
    data, test = (
        part.map(lambda a: a.astype(np.float32)) for part in (data, data.fresh(n=1000, seed=1))
    )
    rows, (_, T, d) = [], data.X.shape
    for H in HEADS:
        model = mha.MultiHeadAttention.zeros(H, T, d, np.float32)
        if start:
            model = mha.MultiHeadAttention.random(
                H, T, d, scale=start, seed=100 + seed, dtype=np.float32
            )
        path = mha.train(model, data, RULES[rule](lr, H), STEPS[-1], test=test, record=STEPS)
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
        BASE | change | {"start": 0.0, "rule": rule, "lr": lr}
        for change in CHANGES
        for rule in RULES
        for lr in (1.0, 3.0)
    ]
    grid += [
        BASE | change | {"start": 0.3, "rule": rule, "lr": 1.0}
        for change in AT_RANDOM
        for rule in RULES
    ]
    grid += [
        BASE | {"start": start, "rule": rule, "lr": 1.0}
        for start in (0.03, 0.1, 1.0)
        for rule in RULES
    ]
    write_tables(__file__, __doc__, planted_map=(run, grid, 5))
