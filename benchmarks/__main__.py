"""``python -m benchmarks``: microseconds a gradient-descent step, and ratios, in one run on one
thread."""

import os

for library in ("OPENBLAS", "OMP", "MKL"):  # before numpy is imported
    os.environ[f"{library}_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import platform
from functools import partial

import numpy as np

from benchmarks import SIZES, cpu, installed, medians, training
from benchmarks.competitors import COMPETITORS


def problem(size, H, dtype):
    """W, U, X, y of a benchmark: random, small scores, labels ±1."""
    n, T, d = SIZES[size]
    rng = np.random.default_rng(0)
    W, U, X = (rng.standard_normal(shape) for shape in ((H, d, d), (H, T, d), (n, T, d)))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return tuple(a.astype(dtype) for a in (0.1 * W, 0.1 * U, X, y))


def processor():
    """The name of the processor, as the system has it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(
                line.partition(": ")[2].strip() for line in lines if line.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def agree(makers, size, H, dtype):
    """Every competitor, three steps from one start, must reach the same parameters; stops the
    benchmark if not."""

    def after(steps, make):
        step, parameters = make(*problem(size, H, dtype), 0.1)
        step(steps)
        return np.concatenate([np.asarray(a).ravel() for a in parameters()])

    ours, tolerance = after(3, makers["mhalib"]), {"float32": 1e-3, "float64": 1e-10}[dtype]
    moved = np.linalg.norm(ours - after(0, makers["mhalib"]))
    for name, make in makers.items():
        error = np.linalg.norm(after(3, make) - ours) / moved
        if not error < tolerance:
            raise SystemExit(
                f"{name} disagrees with mhalib at {size}, H={H}, {dtype}: relative error "
                f"{error:.2g}"
            )


def enough(step, seconds):
    """How many steps take so long."""
    step(5)
    for steps in (5, 50):  # twice, because the first call of a length may compile
        cost = cpu(step, steps) / steps
    steps = max(3, int(seconds / cost))
    step(steps)
    return steps


def row(makers, size, dtype, H, options):
    """Measure and print one row."""
    agree(makers, size, H, dtype)
    steppers = {name: make(*problem(size, H, dtype), 1e-3)[0] for name, make in makers.items()}
    steps = {
        name: enough(step, options.seconds / options.rounds) for name, step in steppers.items()
    }
    found = medians(
        {name: partial(step, steps[name]) for name, step in steppers.items()}, options.rounds
    )
    cost = {name: 1e6 * seconds / steps[name] for name, seconds in found.items()}
    cells = "".join(f"{value:13,.0f} ({value / cost['mhalib']:4.1f}×)" for value in cost.values())
    print(f"{size:8}{dtype:9}{H:3}{cells}", flush=True)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=1.5, help="CPU time a competitor and row (default 1.5)"
    )
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default 9)")
    options = parser.parse_args()
    makers = installed(
        COMPETITORS, {name: name.split()[0] for name in COMPETITORS if "mhalib" not in name}
    )
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, {processor()}, one thread.\n"
        "CPU microseconds a full-batch step, medians; (×) = times slower than mhalib.\n"
    )
    print(f"{'size':8}{'dtype':9}{'H':>3}" + "".join(f"{name:>22}" for name in makers))
    if "torch eager" in makers:
        # it holds torch to one thread; all of its competitors are torch's
        from benchmarks import curvature, own
    for size in SIZES:
        for dtype in ("float32", "float64"):
            for H in (1, 4, 16, 64):
                row(makers, size, dtype, H, options)
    if "torch eager" in makers:
        others = [name for name in ("torch eager", "jax scan") if name in makers]
        training.table(problem, others, max(3, options.rounds // 3))
        curvature.table(options.rounds)
        own.table(max(3, options.rounds // 3))


if __name__ == "__main__":
    main()
