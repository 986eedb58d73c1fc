"""How often a query is trapped: the basins of one example, random problems on a line, and teachers
and students.

``python book/results/traps.py`` writes three tables (some ten minutes of one core).

traps.npz has a row for each kernel and each spread s of the starts: the share of 4,000 queries q₀ ~
N(0, s²) in example B2 whose loss is below 10⁻⁶ after 1,000, 5,000 and 20,000 steps of gradient
descent with η = 0.1, and the share of the normal distribution from which gradient flow ends at loss
zero.

traps_random.npz has a row for each ensemble (spread of the keys, number of keys n), and in it an
entry for softmax, the Gaussian kernel (c = ½), and the latter with its rows normalized: of 8,000
problems with keys N(0, spread²), values N(0, 1) and a target N(0, 1), those that softmax and the
Gaussian kernel both reach at a finite query are ``kept``. Of these: how many have a spurious
minimum at a finite query (``stuck``; ``only`` counts those of softmax and not of the Gaussian
kernel, and the reverse); how many have a valley that falls towards infinity (``outward``); from how
many of as many starts q₀ ~ N(0, spread²), one for each problem, gradient flow ends at loss zero
(``arrives``); and at how many the output rises at an end of the grid and falls at infinity, or the
reverse, so that a turn was ``missed``.

traps_teachers.npz has a row for each run of a student on the outputs of a teacher: N = 4 samples of
n = 4 tokens, D = 16, d = 4, m = 1, one head, scale 1, 2,000 steps of backtracking. The loss after
1,000 and 2,000 steps over the loss at the start. If W^Q alone trains, the teacher has the keys,
values and outputs of the student, else its own.
"""

from dataclasses import replace
from math import erf

import numpy as np

import mhalib as mha
from mhabook.c14_traps.lines import sides
from mhabook.c14_traps.statements import EXAMPLES
from mhabook.studies import write_tables

KINDS = ("softmax", "Gaussian", "Gaussian, rows normalized")
KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian}
ALL = ["WQ", "WQ WK WV"]
STEPS = np.array([1000, 5000, 20_000])
DRAWS, CHUNK = 8000, 500
# dense about 0, where keys and starts lie, and far enough out to see the limits
GRID = 400 * np.sinh(np.linspace(-7, 7, 3001)) / np.sinh(7)


def normal_share(left, right):
    """The share of N(0, 1) between two numbers."""
    return (erf(right / 2**0.5) - erf(left / 2**0.5)) / 2


def basins(*, kind, s, seed):
    """B2 from 4,000 starts."""
    one = EXAMPLES["B2"]
    line = sides(one["keys"], one["values"])[kind]
    q, arrived = s * np.random.default_rng(seed).standard_normal(4000), []
    for steps in np.diff(STEPS, prepend=0):
        for _ in range(steps):
            q = line.descend(q, one["y"], one["lr"], 1)[-1]
        arrived.append(float((line.loss(q, one["y"]) < 1e-6).mean()))
    limit = sum(
        normal_share(left / s, right / s)
        for left, right, lowest in line.basins(one["y"])
        if lowest and not lowest.spurious
    )
    return {"steps": STEPS, "arrived": np.array(arrived), "limit": limit}


def drawn(spread, n, seed):
    """Keys and values (DRAWS, n), targets and starts (DRAWS,)."""
    rng = np.random.default_rng([seed, n, spread])
    keys, values = rng.standard_normal((2, DRAWS, n))
    y, start = rng.standard_normal((2, DRAWS))
    return spread * keys, values, y, spread * start


def seen(line, y, start):
    """Of every problem: the range of outputs; a spurious minimum, a valley to infinity, an arrival,
    a missed turn."""
    parts = [
        _seen(line.rows(slice(at, at + CHUNK)), y[at : at + CHUNK], start[at : at + CHUNK])
        for at in range(0, len(y), CHUNK)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _seen(line, y, start):
    (row, q, top), limits = line.turns(GRID), line.limits()
    out = line.rows(row).output(q[:, None])[:, 0]
    low, high = limits.min(axis=1), limits.max(axis=1)
    # a problem has any number of turns: low[row] = … would keep its last one
    np.minimum.at(low, row, out)
    np.maximum.at(high, row, out)
    # a turn is a minimum of the loss if the output peaks below the target, or dips above it
    stuck = np.bincount(row, top == (out < y[row]), len(y)) > 0
    rising = line.trend(GRID[[0, -1]]) > 0
    outward = np.stack([rising[:, 0] == (limits[:, 0] > y), rising[:, 1] == (limits[:, 1] < y)], 1)
    return {
        "low": low,
        "high": high,
        "stuck": stuck,
        "outward": outward.any(axis=1),
        "arrives": _arrives(line, y, start, row, q, out, limits),
        "missed": (rising != _at_infinity(line)).any(axis=1),
    }


def _arrives(line, y, start, row, q, out, limits):
    """Whether gradient flow from the start meets the target before the next turn."""
    below, rising = line.output(start[:, None])[:, 0] < y, line.trend(start[:, None])[:, 0] > 0
    right, arrives = below == rising, np.empty(len(y), bool)
    for k in range(len(y)):
        turns = row == k
        at, outs = q[turns], [limits[k, 0], *out[turns], limits[k, 1]]
        arrives[k] = (outs[np.searchsorted(at, start[k]) + int(right[k])] < y[k]) != below[k]
    return arrives


def _at_infinity(line):
    """Whether the output rises at −∞ and at +∞, (P, 2)."""
    values = np.take_along_axis(line.values, np.argsort(line.keys, axis=1), axis=1)
    if line.means:
        return np.stack([values[:, 1] > values[:, 0], values[:, -1] > values[:, -2]], 1)
    return np.stack([values[:, 0] > 0, values[:, -1] < 0], 1)


def problems(*, spread, n, seed):
    """All kernels on the problems of an ensemble that softmax and the Gaussian kernel both
    solve."""
    keys, values, y, start = drawn(spread, n, seed)
    found = [seen(line, y, start) for line in sides(keys, values).values()]
    kept = np.all([(one["low"] < y) & (y < one["high"]) for one in found[:2]], axis=0)
    counts = {
        name: np.array([(one[name] & kept).sum() for one in found])
        for name in ("stuck", "outward", "arrives", "missed")
    }
    only = [
        int((kept & one["stuck"] & ~other["stuck"]).sum())
        for one, other in (found[:2], found[1::-1])
    ]
    return counts | {"kept": int(kept.sum()), "only": np.array(only)}


def lesson(*, teacher, student, only, seed):
    """One run of a student."""
    start = mha.AttentionLayer.random(16, 4, 1, kernel=KERNELS[student], seed=seed)
    # no student has this seed
    master = mha.AttentionLayer.random(16, 4, 1, kernel=KERNELS[teacher], seed=seed + 1000)
    master = replace(start, WQ=master.WQ, kernel=KERNELS[teacher]) if only == "WQ" else master
    data = mha.data.random_sequences(4, 4, 16, 1, seed=seed, teacher=master)
    path = mha.train(
        start, data, mha.Backtracking(), 2000, only=tuple(only.split()), record=[0, 1000, 2000]
    )
    return {"relative": path.loss[1:] / path.loss[0], "slope": path.grad_norm[-1]}


if __name__ == "__main__":
    write_tables(
        __file__,
        __doc__,
        traps_random=(problems, [{"spread": a, "n": n} for a, n in ((1, 4), (2, 4), (4, 8))], 1),
        traps=(basins, {"kind": KINDS, "s": [0.5, 1.0, 2.0, 4.0, 8.0]}, 1),
        traps_teachers=(lesson, {"teacher": [*KERNELS], "student": [*KERNELS], "only": ALL}, 20),
    )
