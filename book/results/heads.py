"""Figures 2 and 3 of Deora et al. 2023 at full size: 1 to 64 heads from zero, five curves, five
trials.

``python book/results/heads.py`` writes heads.npz: a row for each update rule, trial and number of
heads. The data and base step sizes are ours; the paper's are not known to us. A trial is a seed of
the tokenized mixture. It takes 47 seconds of one core, and half as long on two.
"""

import numpy as np

import mhalib as mha
from mhabook.studies import write_tables

RULES = {
    "gd": lambda H: mha.GradientDescent(1.0),
    "gd-root": lambda H: mha.GradientDescent(0.3 * H**0.5),
    "adam": lambda H: mha.Adam(0.01),
    "momentum": lambda H: mha.Momentum(0.1),
    "momentum-root": lambda H: mha.Momentum(0.03 * H**0.5),
}
HEADS = (1, 2, 4, 8, 16, 32, 64)
CURVES = ("loss", "test_loss", "norm_W", "norm_U", "attention_score")
STEPS = sorted({0, 50, 500, *np.rint(np.geomspace(1, 2000, 64)).astype(int).tolist()})


def run(*, rule, seed):
    """One trial of one rule: a row of curves for each number of heads."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2, seed=seed)
    test = data.fresh(n=300, seed=1)
    return [
        {"H": H, "steps": np.array(STEPS)} | curves(data, test, RULES[rule](H), H) for H in HEADS
    ]


def curves(data, test, rule, H):
    """The five curves of one run."""
    path = mha.train(
        mha.MultiHeadAttention.zeros(H, 10, 8), data, rule, 2000, test=test, record=STEPS
    )
    return {name: path.curves[name] for name in CURVES}


if __name__ == "__main__":
    write_tables(__file__, __doc__, heads=(run, {"rule": list(RULES)}, 5))
