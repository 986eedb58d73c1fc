"""How far one machine goes: gradient descent with up to 4,096 heads, on up to 100,000 sequences.

    python book/results/scale.py --largest 5e7                    # this CPU, by numpy, in double precision
    python book/results/scale.py --device cuda --dtype float32    # a GPU, by torch: the same code on other arrays
    python book/results/scale.py --toy --device cpu:0             # small sizes, by torch on this CPU, in seconds

Every row is one call of ``mha.train`` on the mixture of chapter 1 (T = 10 tokens of d = 8 numbers), from a random
start, so that all heads differ. A row says how long a step took (the median of those after the first; on the CPU that
is CPU time, which other work on the machine does not lengthen much), the most memory held beside data and parameters
while it ran (numpy's allocations; on a GPU, torch's), and the loss before and after.
Rows with more than ``--largest`` pairs of a sequence and a head are left out, and named.

It writes ``scale_<device>.npz`` beside this file, or what ``--out`` names; with ``--toy`` only the latter. ``--cache``
names a folder for finished rows: the same command goes on where it was interrupted. The rows that come
with the book are those of one core of a CPU and of one NVIDIA H200.
"""

import argparse
import platform
import time
import tracemalloc
from functools import partial
from pathlib import Path

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

import mhabook
import mhalib as mha
from mhabook.studies import add_overwrite, refuse_overwriting, refuse_unwritable

FULL = {"n": (100, 1_000, 10_000, 100_000), "H": (1, 16, 256, 4096)}
TOY = {"n": (20, 60), "H": (1, 4)}
STEPS, RATE = 3, 0.1


class Timed:
    """Gradient descent that notes when its steps begin."""

    def __init__(self, clock):
        self.rule, self.clock, self.begun = mha.GradientDescent(lr=RATE), clock, []

    def start(self, theta):
        """As gradient descent."""
        return self.rule.start(theta)

    def step(self, theta, grad, state, k):
        """One step, after everything before it is done."""
        self.begun.append(self.clock())
        return self.rule.step(theta, grad, state, k)

    def seconds(self):
        """The median time from one step to the next."""
        return float(np.median(np.diff(self.begun)))


def on_device(device, dtype):
    """How an array gets there, and a clock for it: numpy on the CPU, torch elsewhere."""
    if device == "cpu":
        return lambda a: np.asarray(a, dtype), time.process_time
    import torch

    def clock():
        if not device.startswith("cuda"):
            return time.process_time()
        torch.cuda.synchronize(device)  # everything before is done
        return time.perf_counter()

    torch.set_num_threads(1)
    return lambda a: torch.as_tensor(a, dtype=getattr(torch, dtype), device=device), clock


def peak(device, call):
    """The most bytes that the call held beside what was there before; None where nobody counts
    them."""
    if device == "cpu":
        tracemalloc.start()
        call()
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return held
    if not device.startswith("cuda"):
        return None
    import torch

    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    call()
    return torch.cuda.max_memory_allocated(device) - before


def gradient(model, data):
    """What a step computes, buffers and all."""
    space = model.workspace(data.X, data.y)
    space.loss_and_grad(space.pack(model))


def run(*, n, H, seed, device="cpu", dtype="float64"):
    """One row: data, start, three steps that are timed, and one whose memory is counted."""
    move, clock = on_device(device, dtype)
    data = mha.data.tokenized_mixture(
        n=n, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2, seed=seed
    ).map(move)
    start = mha.MultiHeadAttention.random(H, 10, 8, scale=0.1, seed=seed).map(move)
    rule = Timed(clock)
    with threadpool_limits(1):
        path = mha.train(start, data, rule, STEPS, record=[0, STEPS])
        held = peak(device, lambda: gradient(start, data))
    return {
        "seconds": rule.seconds(),
        "megabytes": np.nan if held is None else held / 1e6,
        "first_loss": float(path.loss[0]),
        "last_loss": float(path.loss[-1]),
        "hardware": hardware(device),
    }


def hardware(device):
    """What did the work."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.get_device_name(device)
    return platform.machine()


def main(argv=None):
    """Read the command, fill the table, write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--device", default="cpu", help="cpu (numpy), or one of torch's: cuda, cpu:0"
    )
    parser.add_argument("--dtype", default="float64", choices=("float32", "float64"))
    parser.add_argument("--largest", type=float, default=1e9, help="the largest n H (all rows)")
    parser.add_argument(
        "--cache", default=".cache/scale", help="folder of finished rows (.cache/scale)"
    )
    parser.add_argument("--toy", action="store_true", help="small sizes")
    parser.add_argument(
        "--out",
        type=Path,
        help="the file to write (scale_<device>.npz beside this script; none for --toy)",
    )
    add_overwrite(parser)
    options = parser.parse_args(argv)
    beside = (
        None
        if options.toy
        else Path(__file__).with_name(f"scale_{options.device.split(':')[0]}.npz")
    )
    out = options.out or beside
    files = [] if out is None else [out]
    refuse_overwriting(parser, files, options.overwrite)
    refuse_unwritable(parser, files)
    sizes = TOY if options.toy else FULL
    every = [{"n": n, "H": H} for H in sizes["H"] for n in sizes["n"]]
    chosen = [row for row in every if row["n"] * row["H"] <= options.largest]
    for row in every:
        if row not in chosen:
            print(f"left out: {row}")
    with joblib.parallel_config(n_jobs=1):
        table = mhabook.sweep(
            partial(run, device=options.device, dtype=options.dtype),
            chosen,
            seeds=1,
            cache=f"{options.cache}/{options.device}-{options.dtype}",
        )
    for H, n, seconds, held in zip(
        *(table[name] for name in ("H", "n", "seconds", "megabytes")), strict=True
    ):
        print(f"H = {H:5}, n = {n:7,}: {1e3 * seconds:12,.2f} ms a step, {held:8,.1f} MB")
    if out is None:
        return
    table.save(
        out,
        command=f"python book/results/scale.py --device {options.device} --dtype {options.dtype} "
        f"--largest {options.largest:g}" + " --toy" * options.toy,
    )


if __name__ == "__main__":
    main()
