"""``make descent``: steps to the noise floor, and what ten thousand tokens cost.

Fixed before the first run: a run is near the floor σ²p/2 when its training loss is at most 1.25
times that. Plain descent gets every constant step size of the grid, and the best of them counts for
each instance.
"""

import time
import tracemalloc
import warnings

import numpy as np

import mhalib as mha

NEAR, RATES, STEPS = 1.25, (0.05, 0.1, 0.15, 0.2, 0.3), 500
BATCH, BATCH_RATES, BATCH_STEPS = 32, (0.05, 0.1, 0.15, 0.2, 0.3), 5000


def arrival(path, floor):
    """The first recorded step near the floor, or None."""
    near = np.flatnonzero(path.loss <= NEAR * floor)
    return int(path.steps[near[0]]) if len(near) else None


def best(start, data, rates, steps, batch=None):
    """The earliest arrival of plain descent over the rates, and the least loss it ends with."""
    record = np.unique(np.rint(np.geomspace(1, steps, 60)).astype(int))
    paths = [
        mha.train(start, data, mha.GradientDescent(lr), steps, batch=batch, record=record)
        for lr in rates
    ]
    floor = data.sigma**2 * data.y.shape[1] / 2
    arrivals = [
        k for k in (arrival(path, floor) for path in paths if not path.stopped) if k is not None
    ]
    return min(arrivals, default=None), min(path.loss[-1] for path in paths if not path.stopped)


def race(d, seed):
    """One instance: arrivals of the structure-aware rule, gradient descent and SGD from one random
    start."""
    data = mha.data.linear_regression(n=1000, d=d, p=d, seed=seed)
    start, floor = mha.AttentionRegression.random(d, d, seed=seed), data.sigma**2 * d / 2
    aware = mha.train(start, data, mha.StructureAware(), 30, record=range(31))
    found = {
        "aware/30": (arrival(aware, floor), aware.loss[-1]),
        f"GD/{STEPS}": best(start, data, RATES, STEPS),
        f"SGD/{BATCH_STEPS}": best(start, data, BATCH_RATES, BATCH_STEPS, BATCH),
    }
    words = (
        f"{name} {'never' if k is None else k:>5} ({loss:.4f})" for name, (k, loss) in found.items()
    )
    print(f"d = {d:2}, seed {seed}, floor {floor:.3f}: {'   '.join(words)}", flush=True)


def many_tokens(n=10_000, d=20):
    """Time and memory of one gradient, against the bytes of an n × n array."""
    data = mha.data.linear_regression(n=n, d=d, p=d)
    model = mha.AttentionRegression.random(d, d, scale=0.1)
    begun = time.process_time()
    model.loss_and_grad(data.x, data.y)
    seconds = time.process_time() - begun
    tracemalloc.start()
    model.loss_and_grad(data.x, data.y)
    peak = tracemalloc.get_traced_memory()[1]
    print(
        f"n = {n:,}, d = {d}: one gradient {seconds:.2f} s, peak {peak / 1e6:.1f} MB; n × n "
        f"would be {8 * n * n / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)
    print(
        f"steps until the training loss is at most {NEAR} times the noise floor (last loss; "
        f"plain descent: the best of {len(RATES)} step sizes)"
    )
    for d in (5, 10):
        for seed in range(3):
            race(d, seed)
    many_tokens()
