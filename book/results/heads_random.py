"""Figures 2 and 3 from random starts, where heads differ: 1 to 16 heads on the mixture of heads.py,
five trials.

``python book/results/heads_random.py`` writes heads_random.npz: a row for each scale of the start,
update rule, trial and number of heads. The start of a trial has the seed 100 + trial. It takes some
three minutes of one core.
"""

import numpy as np

import mhalib as mha
from mhabook.studies import write_tables

RULES = {
    "gd": lambda H: mha.GradientDescent(1.0),
    "gd-root": lambda H: mha.GradientDescent(0.3 * H**0.5),
    "adam": lambda H: mha.Adam(0.01),
}
HEADS = (1, 2, 4, 8, 16)
CURVES = ("loss", "test_loss", "norm_W", "norm_U", "attention_score")
STEPS = sorted({0, 50, 500, *np.rint(np.geomspace(1, 2000, 24)).astype(int).tolist()})


def run(*, scale, rule, seed):
    """One trial: a row of curves for each number of heads, and where each head looks in the end."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2, seed=seed)
    test, rows = data.fresh(n=300, seed=1), []
    for H in HEADS:
        start = mha.MultiHeadAttention.random(H, 10, 8, scale=scale, seed=100 + seed)
        path = mha.train(start, data, RULES[rule](H), 2000, test=test, record=STEPS)
        scores = np.full(HEADS[-1], np.nan)
        scores[:H] = (
            (path[-1].attention(data.X) * data.relevant[:, None, None])
            .sum(axis=3)
            .mean(axis=(0, 2))
        )
        rows.append(
            {"H": H, "steps": np.array(STEPS), "head_scores": scores}
            | {c: path.curves[c] for c in CURVES}
        )
    return rows


if __name__ == "__main__":
    write_tables(
        __file__, __doc__, heads_random=(run, {"scale": [0.1, 1.0], "rule": list(RULES)}, 5)
    )
