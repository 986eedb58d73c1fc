"""500 steps of ``mha.train`` as a user calls it, compiled and not, beside the loop in torch: a part
of `make bench`."""

import os
from functools import partial

import numpy as np

import mhalib as mha
from benchmarks import medians
from benchmarks.competitors import COMPETITORS

STEPS = 500
GOALS = {
    ("slider", 1): (12, 5),
    ("slider", 4): (9, 3.5),
    ("slider", 16): (5, 2.3),
    ("paper", 1): (2, 1.5),
    ("paper", 4): (2, 1.5),
    ("paper", 16): (2, 1.5),
    ("paper", 64): (2, 1.5),
}
"""Torch eager / mhalib, with a compiler and without."""


def ours(W, U, X, y, compiled, **options):
    """A run by mhalib, recorded by default as often as a user has it."""
    os.environ["LIVEGRAD_COMPILED"] = str(int(compiled))
    return mha.train(
        mha.MultiHeadAttention(W, U),
        mha.data.from_arrays(X, y),
        mha.GradientDescent(1e-3),
        STEPS,
        **options,
    )


def loop(name, problem):
    """The run of a competitor, from where it was."""
    step, _ = COMPETITORS[name](*problem, 1e-3)
    step(STEPS)  # the first call may compile
    return partial(step, STEPS)


def table(problem, others, rounds):
    """Print it: milliseconds, ratios, and what the recording costs."""
    print(
        f"\nmilliseconds of {STEPS} steps of mha.train in float64, 200 of them recorded; (×) = "
        f"times slower than compiled; goals = {others[0]} / mhalib\n"
    )
    names = ("compiled", "numpy", *others)
    print(
        f"{'size':8}{'H':>3}"
        + "".join(f"{name:>20}" for name in names)
        + f"{'goals':>22}{'recording':>18}"
    )
    for (size, H), goals in GOALS.items():
        arrays = problem(size, H, "float64")
        runs = {
            name: partial(ours, *arrays, compiled)
            for name, compiled in zip(names, (True, False), strict=False)
        }
        silent = {f"{name}, silent": partial(run, record=2) for name, run in runs.items()}
        one, two = (run()[-1].ravel() for run in runs.values())
        if not np.linalg.norm(one - two) < 1e-10 * np.linalg.norm(two):
            raise SystemExit(f"compiled and not, the runs differ at {size}, H={H}")
        found = medians(runs | silent | {name: loop(name, arrays) for name in others}, rounds)
        cells = "".join(
            f"{1e3 * found[name]:12,.1f} ({found[name] / found['compiled']:4.1f}×)"
            for name in names
        )
        said = [
            f"{goal:g} {'met' if found[others[0]] / found[name] >= goal else 'missed'}"
            for goal, name in zip(goals, names, strict=False)
        ]
        more = [f"+{found[name] / found[f'{name}, silent'] - 1:.0%}" for name in runs]
        print(f"{size:8}{H:3}{cells}{', '.join(said):>22}{', '.join(more):>18}", flush=True)
    os.environ.pop("LIVEGRAD_COMPILED")
    print(mha.native.status())
