"""``python -m benchmarks``: microseconds a gradient-descent step, and ratios, in one run on one thread."""

import os

for library in ("OPENBLAS", "OMP", "MKL"):  # before numpy is imported
    os.environ[f"{library}_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import platform
import time

import numpy as np

from benchmarks import SIZES, installed
from benchmarks.competitors import COMPETITORS

GOALS = {("slider", "float32", 1): 12, ("slider", "float32", 4): 9, ("slider", "float32", 16): 7,
         ("paper", "float32", 1): 6, ("paper", "float32", 16): 4.5, ("paper", "float32", 64): 4.5,
         ("slider", "float64", 1): 5, ("slider", "float64", 4): 5, ("slider", "float64", 16): 5,
         ("paper", "float64", 1): 3.5, ("paper", "float64", 4): 3.5, ("paper", "float64", 16): 3.5,
         ("paper", "float64", 64): 3.5}


def problem(size, H, dtype, seed=0):
    """W, U, X, y of a benchmark: random, small scores, labels ±1."""
    n, T, d = SIZES[size]
    rng = np.random.default_rng(seed)
    W, U, X = (rng.standard_normal(shape) for shape in ((H, d, d), (H, T, d), (n, T, d)))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return tuple(a.astype(dtype) for a in (0.1 * W, 0.1 * U, X, y))


def available():
    """The competitors whose library is there; torch is held to one thread."""
    libraries = {name: name.split()[0] for name in COMPETITORS}
    found = installed(COMPETITORS, {name: library for name, library in libraries.items() if library != "mhalib"})
    if "torch eager" in found:
        import torch
        torch.set_num_threads(1)
    return found


def agree(makers, size, H, dtype):
    """Every competitor, three steps from one start, must reach the same parameters; stops the benchmark if not."""
    arrays = problem(size, H, dtype)
    reached = {}
    for name, make in makers.items():
        stepper = make(*(a.copy() for a in arrays), 0.1)
        stepper(3)
        reached[name] = np.concatenate([a.ravel() for a in stepper.parameters()])
    start = np.concatenate([a.ravel() for a in arrays[:2]])
    for name, parameters in reached.items():
        moved = reached["mhalib"] - start
        error = np.linalg.norm(parameters - reached["mhalib"]) / np.linalg.norm(moved)
        tolerance = {"float32": 1e-3, "float64": 1e-10}[dtype]
        if not error < tolerance:
            raise SystemExit(f"{name} disagrees with mhalib at {size}, H={H}, {dtype}: relative error {error:.2g}")


def medians(makers, size, H, dtype, seconds, rounds):
    """Median CPU microseconds a step over interleaved rounds, so that a noisy moment hits all alike."""
    steppers = {name: make(*problem(size, H, dtype), 1e-3) for name, make in makers.items()}
    steps = {name: _steps(stepper, seconds / rounds) for name, stepper in steppers.items()}
    times = {name: [] for name in steppers}
    for _ in range(rounds):
        for name, stepper in steppers.items():
            times[name].append(_cpu(stepper, steps[name]))
    return {name: float(np.median(values)) * 1e6 for name, values in times.items()}


def _cpu(stepper, steps):
    start = time.process_time()
    stepper(steps)
    return (time.process_time() - start) / steps


def _steps(stepper, seconds):
    stepper(5)
    for steps in (5, 50):  # twice, because the first call of a length may compile
        cost = _cpu(stepper, steps)
    steps = max(3, int(seconds / cost))
    stepper(steps)
    return steps


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.5, help="CPU time a competitor and row (default 1.5)")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default 9)")
    options = parser.parse_args()
    makers = available()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, one thread.\n"
          "CPU microseconds a full-batch step, medians; (×) = times slower than mhalib; goal = torch eager / mhalib.\n")
    print(f"{'size':8}{'dtype':9}{'H':>3}" + "".join(f"{name:>22}" for name in makers) + f"{'goal':>8}")
    for size in SIZES:
        for dtype in ("float32", "float64"):
            for H in (1, 4, 16, 64):
                agree(makers, size, H, dtype)
                row(makers, size, dtype, H, options)
    if "torch eager" in makers:  # all of its competitors are torch's
        from benchmarks import curvature
        curvature.table(options.rounds)


def row(makers, size, dtype, H, options):
    """Measure and print one row."""
    cost = medians(makers, size, H, dtype, options.seconds, options.rounds)
    cells = "".join(f"{value:13,.0f} ({value / cost['mhalib']:4.1f}×)" for value in cost.values())
    goal = GOALS.get((size, dtype, H))
    ratio = cost.get("torch eager", np.nan) / cost["mhalib"]
    verdict = "" if goal is None else f"{goal:6}× {'met' if ratio >= goal else 'missed'}"
    print(f"{size:8}{dtype:9}{H:3}{cells}{verdict:>16}", flush=True)


if __name__ == "__main__":
    main()
