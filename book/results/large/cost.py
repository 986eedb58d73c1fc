"""What a step of ``kernels.py`` costs at full size: the time, and the memory of the device.

    python book/results/large/cost.py --device cuda --out book/results/large_cost_cuda.npz
    python book/results/large/cost.py --toy --out cost.npz

Every row is the network of one task with one kernel, on made-up samples of full length, since
neither time nor memory asks what is in them: reviews of 4,096 bytes, where most are shorter and
cost less, and images of 1,024 pixels. ``seconds`` is the median of ten updates after three, each
waited for; ``megabytes`` the most that was held during one.
"""

import argparse
import platform
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

import kernels  # beside this file
from mhabook.c08_digits import PatchTransformer, TextTransformer
from mhabook.studies import add_overwrite, refuse_overwriting, refuse_unwritable

PIXELS = 32 * 32
WARM, STEPS = 3, 10


def samples(task, n, toy):
    """Made-up samples of one task, labels, and the class and the arguments of its network."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], n)
    length = 32 if toy else {"text": kernels.LENGTH, "pathfinder": PIXELS}[task]
    if task == "text":
        X = list(torch.as_tensor(rng.integers(1, 257, (n, length))))
        return X, y, (TextTransformer, 257, length)
    X = torch.as_tensor(rng.integers(0, 256, (n, length, 1)).astype(np.uint8))
    return X, y, (PatchTransformer, 1, length)


def row(task, kernel, device, toy):
    """The time and the memory of an update."""
    batch, at_once = (4, 3) if toy else kernels.BATCHES[task]
    args = SimpleNamespace(kernel=kernel, scale=1.0, gain=1.0, seed=0, at_once=at_once)
    X, y, (network, *sizes) = samples(task, batch, toy)
    model = network(*sizes, **kernels.SIZES, **kernels.start(args)).to(device)
    rule = kernels.RULES[task](model.parameters(), lr=kernels.RATES[task])
    seconds = []
    for k in range(WARM + STEPS):
        if k == WARM and model.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        begun = waited(model.device)
        kernels.step(model, rule, X, y, np.arange(batch), args)
        seconds.append(waited(model.device) - begun)
    on_gpu = model.device.type == "cuda"
    return {
        "task": task,
        "kernel": kernel,
        "tokens": sizes[1],
        "batch": batch,
        "seconds": float(np.median(seconds[WARM:])),
        "megabytes": torch.cuda.max_memory_allocated(device) / 1e6 if on_gpu else np.nan,
        "hardware": torch.cuda.get_device_name(device) if on_gpu else platform.machine(),
    }


def waited(device):
    """The time, after everything before is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def main(argv=None):
    """Measure each task with each kernel, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, …")
    parser.add_argument("--toy", action="store_true", help="32 tokens a sample")
    parser.add_argument("--out", type=Path, required=True, help="the .npz file to write")
    add_overwrite(parser)
    args = parser.parse_args(argv)
    refuse_overwriting(parser, [args.out], args.overwrite)
    refuse_unwritable(parser, [args.out])
    rows = []
    for task in kernels.RATES:
        for kernel in kernels.KERNELS:
            rows.append(row(task, kernel, args.device, args.toy))
            print(rows[-1], flush=True)
    table = kernels.table_of(rows, {"toy": args.toy})
    table.save(args.out, command=f"python book/results/large/cost.py --device {args.device}")


if __name__ == "__main__":
    main()
