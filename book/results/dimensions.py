"""How large the tokens must be: the relative loss after 3,000 backtracking steps, by the dimension
D of a token.

``python book/results/dimensions.py`` writes dimensions.npz (some eight minutes of one core). N = 8
samples of n = 4 tokens, m = 1, one head of width d = 8, so that HD/(nN) = D/32. A row is one run
(weights that train, kernel, tied or not, scale, D, seed): the loss at the end over the loss at the
start, σ_min(B) and the rate α of the values at the start. Targets are standard normal. Where the
queries train alone they are the outputs of a Gaussian layer with the same keys, values and outputs
and with other queries (seed + 1000), so that the Gaussian kernel can reach them.
"""

from dataclasses import replace

import mhalib as mha
from mhabook.c13_layer.statements import least_singular, value_rate
from mhabook.studies import write_tables

STEPS, SEEDS = 3000, 8
KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian}
DIMENSIONS = [16, 24, 32, 40, 48, 64]
# scales at D = 48, besides those of the rows by D
TIED, UNTIED = [0.1, 0.3, 0.5, 4.0, 8.0], [1.0, 4.0]
ALL = "WQ WK WV"


def run(*, only, kernel, tied, scale, D, seed):
    """One run: losses at the start and at the end, and what the theorem sees at the start."""
    start = mha.AttentionLayer.random(
        D, 8, 1, scale=scale, tied=tied, kernel=KERNELS[kernel], seed=seed
    )
    teacher = None
    if only == "WQ":
        other = mha.AttentionLayer.random(D, 8, 1, scale=scale, seed=seed + 1000)
        teacher = replace(start, WQ=other.WQ, kernel=mha.gaussian)
    data = mha.data.random_sequences(8, 4, D, 1, seed=seed, teacher=teacher)
    path = mha.train(
        start, data, mha.Backtracking(), STEPS, only=tuple(only.split()), record=[0, STEPS]
    )
    return {
        "first": path.loss[0],
        "relative": path.loss[-1] / path.loss[0],
        "sigma": least_singular(start.mixed(data.X)),
        "alpha": value_rate(start, data.X),
    }


def grid():
    """Every configuration once."""
    rows = [
        ("WV", True, 1.0, DIMENSIONS),
        ("WV", False, 0.5, DIMENSIONS),
        (ALL, False, 0.5, DIMENSIONS),
        ("WQ", True, 1.0, DIMENSIONS[::2]),
        ("WQ", False, 1.0, DIMENSIONS[::2]),
    ]
    rows += [("WV", True, scale, [48]) for scale in TIED] + [
        ("WV", False, scale, [48]) for scale in UNTIED
    ]
    return [
        {"only": only, "kernel": kernel, "tied": tied, "scale": scale, "D": D}
        for only, tied, scale, dimensions in rows
        for D in dimensions
        for kernel in KERNELS
    ]


if __name__ == "__main__":
    write_tables(__file__, __doc__, dimensions=(run, grid(), SEEDS))
