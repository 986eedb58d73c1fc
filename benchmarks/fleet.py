"""``mha.fleet`` against one ``mha.train`` after another: 28 runs of one head from zero, each with its own lr."""

import time

import numpy as np

import mhalib as mha
from benchmarks import SIZES as LARGER

SIZES = {"smallest": (50, 8, 8), "small": (100, 10, 8)} | LARGER
RUNS, STEPS, RECORD = 28, 100, 40


def runs(size, dtype):
    """Models, data and rules."""
    n, T, d = SIZES[size]
    data = mha.data.tokenized_mixture(n=n, T=T, d=d, M=4, zeta=2 / T, sigma=0.2)
    models = [mha.MultiHeadAttention.zeros(1, T, d, dtype=dtype)] * RUNS
    return models, data.map(lambda a: a.astype(dtype)), [mha.GradientDescent(0.05 * (k + 1)) for k in range(RUNS)]


def one_after_another(models, data, rules):
    """What a fleet replaces."""
    return [mha.train(model, data, rule, STEPS, record=RECORD) for model, rule in zip(models, rules, strict=True)]


def side_by_side(models, data, rules):
    """The fleet."""
    return mha.fleet(models, data, rules, STEPS, record=RECORD)


def agree(size, dtype):
    """Both must end at the same parameters; stops the benchmark if not."""
    ends = [np.stack([path[-1].ravel() for path in make(*runs(size, dtype))])
            for make in (side_by_side, one_after_another)]
    error = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1])
    if not error < {"float32": 1e-4, "float64": 1e-12}[dtype]:
        raise SystemExit(f"fleet and train disagree at {size}, {dtype}: relative error {error:.2g}")


def table(rounds):
    """Print one row a size and dtype: microseconds a run and step, medians of interleaved rounds."""
    print(f"\n{RUNS} runs of {STEPS} steps, {RECORD} of them recorded; CPU microseconds a run and step.\n\n"
          f"{'size':10}{'n, T, d':>12}  {'dtype':9}{'train':>8}{'fleet':>8}{'ratio':>8}")
    for size in SIZES:
        for dtype in ("float32", "float64"):
            agree(size, dtype)
            given, times = runs(size, dtype), {one_after_another: [], side_by_side: []}
            for _ in range(rounds):
                for make, values in times.items():
                    start = time.process_time()
                    make(*given)
                    values.append((time.process_time() - start) / RUNS / STEPS)
            alone, together = (float(np.median(values)) * 1e6 for values in times.values())
            sizes = ", ".join(map(str, SIZES[size]))
            print(f"{size:10}{sizes:>12}  {dtype:9}{alone:8,.0f}{together:8,.0f}{alone / together:7.1f}×", flush=True)
