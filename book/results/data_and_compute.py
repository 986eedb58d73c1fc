"""What chapter 11 measures: the population excess along runs of SA1 and SA2, for many n, and where
the law breaks.

``python book/results/data_and_compute.py`` writes data_and_compute.npz (twelve minutes of one
core), data_and_compute_limits.npz (six minutes), data_and_compute_starts.npz (ten seconds) and
data_and_compute_draws.npz (two minutes). In the first two a row is one run, and a seed fixes Σ, M,
the samples and the random start. The excess is that of the population loss, recorded at the start
and after every step; it is NaN after the last step of a run, and from where a run diverges.
"""

from dataclasses import replace

import numpy as np

import mhalib as mha
from mhabook.c10_structure.factorization import gradient
from mhabook.studies import write_tables

SIZES = [250, 500, 1000, 2000, 4000]
LIMITS = {
    "plain": {},
    "kappa 256": {"kappa": 256.0},
    "kappa_M 16": {"kappa_M": 16.0},
    "p 2": {"p": 2},
    "p 8": {"p": 8},
    "d 10": {"d": 10, "p": 10},
    "sigma 1": {"sigma": 1.0},
    "s_max 2": {"s_max": 2.0},
    "s_max 2, radius inf": {"s_max": 2.0},
}


def curve(rule, model, data, steps):
    """The excess at steps 0, …, ``steps``, and the last model; NaN from where a run diverges."""
    rule, excess, state = rule.on(data), np.full(steps + 1, np.nan), None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for k in range(steps + 1):
            excess[k] = model.against(data)["excess"]
            if k < steps:
                loss, grad = model.loss_and_grad(data.x, data.y)
                if not np.isfinite(loss):
                    break
                model, state = rule.step(model, grad, state, k)
    return excess, model


def ended(model, data):
    """Where a run ends: ‖V‖, and what the predictions for fresh queries lack, ½ mean ‖f(x) − M
    x‖²."""
    fresh = data.fresh(1000, seed=1)
    V = data.truth.root @ model.B @ data.truth.root
    off = model(fresh.x, data.x) - fresh.x @ data.M.T
    return {"norm_V": np.linalg.norm(V, 2), "attention_excess": (off**2).sum() / (2 * len(off))}


def run(*, rule, s_max, n, seed):
    """SA2 from N(0, 1) entries with η = 0.5, or SA1 from the spectral start with η = 0.2/s_max, 50
    steps or 40."""
    data = mha.data.linear_regression(n=n, s_max=s_max, seed=seed)
    if rule == "SA2":
        excess, last = curve(
            mha.StructureAware(), mha.AttentionRegression.random(5, 5, seed=seed), data, 50
        )
    else:
        excess, last = curve(
            mha.Preconditioned(0.2 / s_max), mha.AttentionRegression.spectral(data), data, 40
        )
        # a column of the table has one length, and SA2 takes ten steps more
        excess = np.concatenate([excess, np.full(10, np.nan)])
    return {"excess": excess} | ended(last, data)


def limit(*, case, n, seed):
    """SA2 from N(0, 1) entries on another instance, 60 steps; 200 where κ = 16."""
    data = mha.data.linear_regression(n=n, seed=seed, **LIMITS[case])
    p, d = data.M.shape
    rule = mha.StructureAware(radius=np.inf if "inf" in case else 0.5)
    steps = 200 if case == "kappa_M 16" else 60
    excess, last = curve(rule, mha.AttentionRegression.random(d, p, seed=seed), data, steps)
    # a run that diverged ends in no model to measure
    if not np.isfinite(excess[steps]):
        return {
            "excess": np.concatenate([excess, np.full(200 - steps, np.nan)]),
            "norm_V": np.nan,
            "attention_excess": np.nan,
        }
    return {"excess": np.concatenate([excess, np.full(200 - steps, np.nan)])} | ended(last, data)


def starts(*, kappa, seed, count=500, steps=60, lr=0.5):
    """SA2 on infinitely many samples, d = p = 5, from ``count`` starts together: mean and median of
    the excess."""
    U, V = np.random.default_rng([seed, 119]).standard_normal((2, count, 5, 5))
    N, excess = np.diag(0.4 * np.geomspace(1, 1 / kappa, 5)), []
    for _ in range(steps + 1):
        excess.append(((U @ V.mT - N) ** 2).sum(axis=(1, 2)) / 2)
        u, v = (np.linalg.norm(part, 2, axis=(1, 2), keepdims=True) for part in (U, V))
        # SA2's renormalization; from here ‖U‖² = ‖V‖² = u v, by which its step is divided
        U, V = np.sqrt(v / u) * U, np.sqrt(u / v) * V
        dU, dV = gradient(U, V, N)
        U, V = U - lr / (u * v) * dU, V - lr / (u * v) * dV
    return {"mean": np.mean(excess, axis=1), "median": np.median(excess, axis=1)}


def draws(*, n, seed, count=10, steps=30):
    """The run of the first live figure with n of 320 samples: the mean excess over ``count`` draws
    of the samples."""
    data = mha.data.linear_regression(n=320, d=3, p=3, kappa=1)
    start = mha.AttentionRegression.random(d=3, p=3, scale=0.5, seed=1)
    excess = []
    for k in range(count):
        drawn = data.fresh(320, seed=1 + count * seed + k)
        drawn = replace(drawn, x=drawn.x[:n], y=drawn.y[:n])
        excess.append(curve(mha.Preconditioned(0.5), start, drawn, steps)[0])
    return {"excess": np.mean(excess, axis=0)}


MAIN = {"rule": ["SA2", "SA1"], "s_max": [0.2, 0.4, 2.0], "n": SIZES}
OTHER = [{"case": case, "n": n} for case in LIMITS for n in (12, 16, 32, 64, 125, 250, 500, 1000)]
STARTS = {"kappa": [2.0, 4.0, 8.0]}
DRAWS = {"n": [40, 80, 160, 320]}

if __name__ == "__main__":
    write_tables(
        __file__,
        __doc__,
        data_and_compute=(run, MAIN, 8),
        data_and_compute_limits=(limit, OTHER, 8),
        data_and_compute_starts=(starts, STARTS, 8),
        data_and_compute_draws=(draws, DRAWS, 20),
    )
