"""The loss over the plane of two step sizes: what any number of heads from zero can do, on the
mixture of heads.py.

``python book/results/heads_plane.py`` writes heads_plane.npz: a row for each update rule, trial and
pair of powers of two (η_u, η_w) with η_w ≤ η_u. By the zero-initialization collapse the pair is a
number of heads H and a step size η: η_u/η_w = H and η = η_u for gradient descent and momentum,
(η_u/η_w)² = H and η = η_w for Adam. A loss that is no number is that of a run which diverged. It
takes some four minutes of one core.
"""

import warnings

import numpy as np

import mhalib as mha
from mhabook.studies import write_tables

STEPS = (50, 500, 2000)
CURVES = ("loss", "test_loss", "attention_score")
LARGEST = {"gd": 2.0**6, "momentum": 2.0**3, "adam": 2.0**1}
"""The largest η_u; momentum with beta = 0.9 moves ten times as far as its step size says, in the
long run."""
HALVINGS = {"gd": 10, "momentum": 10, "adam": 6}
"""How many times η_w is halved from η_u: to 1024 heads, and under Adam to 4096."""


def heads_and_rule(rule, eta_U, eta_W):
    """H and the update rule that move the one head with these step sizes."""
    if rule == "adam":
        return round((eta_U / eta_W) ** 2), mha.Adam(eta_W)
    return round(eta_U / eta_W), (mha.GradientDescent if rule == "gd" else mha.Momentum)(eta_U)


def run(*, rule, down, seed):
    """One trial at one η_u: a row for each η_w."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2, seed=seed)
    test, eta_U = data.fresh(n=300, seed=1), LARGEST[rule] / 2.0**down
    pairs = [(eta_U, eta_U / 2.0**k) for k in range(HALVINGS[rule] + 1)]
    return [
        {"eta_U": eta_U, "eta_W": eta_W} | ends(data, test, *heads_and_rule(rule, eta_U, eta_W))
        for eta_U, eta_W in pairs
    ]


def ends(data, test, H, rule):
    """The curves of one run at the chosen steps, NaN from where it diverged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        path = mha.train(
            mha.MultiHeadAttention.zeros(H, 10, 8), data, rule, STEPS[-1], test=test, record=STEPS
        )
    at = np.searchsorted(STEPS, path.steps)
    found = {name: np.full(len(STEPS), np.nan) for name in CURVES}
    for name, curve in found.items():
        curve[at[np.isin(path.steps, STEPS)]] = path.curves[name][np.isin(path.steps, STEPS)]
    return found | {"H": H, "steps": np.array(STEPS)}


if __name__ == "__main__":
    write_tables(
        __file__, __doc__, heads_plane=(run, {"rule": list(LARGEST), "down": list(range(12))}, 3)
    )
