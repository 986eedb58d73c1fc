"""The two tasks of Part III at full size: text as bytes, and Pathfinder pixel by pixel; for a GPU.

    python book/results/full_size.py text --data aclImdb_v1.tar.gz --kernel gaussian --device cuda --out text-0.npz
    python book/results/full_size.py pathfinder --kernel softmax --device cuda --seed 1 --out pathfinder-1.npz
    python book/results/full_size.py text --toy --out toy.npz

The network has 2 layers, width 64, hidden width 128 and 2 heads, as reported of Song et al. 2024, who trained on text
by SGD and on Pathfinder by Adam. Their step sizes, numbers of steps and batches we do not know: those here are ours.
``--settings arena`` takes those of Skyformer's code for the Long Range Arena instead: AdamW(0.9, 0.999, 1e-6), a step
size that rises once and falls once, 50,000 steps; without its dropout. Compare kernels at several step sizes, seeds and
with the controls ``--kernel normalized`` and ``--scale``.

We had no GPU: this was run from end to end at toy size on a CPU, and not yet at full size.

Data: for text, IMDb's archive or folder. For Pathfinder the folder pathfinder32 of the Long Range Arena; without
``--data``, 200,000 images of the book's own generator are made on all cores, once, into the folder ``--images``.
Of the images, 80 % are trained on, 10 % tested on, and 10 % left for whoever tunes something.

Memory: the weights of one layer and sample are heads × tokens² numbers, 134 MB for 4,096 bytes. A step holds eleven
such arrays for each sample (fifteen with ``--kernel normalized``; measured on a CPU at 2,048 bytes): 1.5 GB for a
review, 0.1 GB for an image. ``--at-once`` says how many samples go through the network together, 8 reviews or 64 images
unless you choose; the minibatch stays as it is. Numbers are in single precision throughout, without TF32 and without
mixed precision. The images take less than 0.1 s of one core each, some twenty minutes on 16 cores; whoever interrupts
their making loses little.

Beside ``--out`` stand a log, a line of JSON for every recorded step and every 50th, and a checkpoint, written every 500
steps: the same command goes on where it was killed, and refuses the checkpoint of another configuration. On a CPU it
ends with the same bits; on a GPU sums may be taken in another order.
"""

import argparse
import json
import os
import platform
import shlex
import time
from pathlib import Path

import joblib
import numpy as np
import torch

import mhabook
import mhalib as mha
from mhalib.data.pathfinder import KINDS, PathfinderTruth
from mhalib.data.text import from_bytes
from mhalib.data.text.imdb import INSTRUCTIONS
from mhalib.models import PatchTransformer, TextTransformer
from mhalib.networks.steps import require_device

KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian, "normalized": mha.normalized_gaussian}
RULES = {"sgd": mha.Momentum, "adam": mha.Adam, "adamw": mha.AdamW}
FULL = {"steps": 50_000, "record": 26, "measured": 2000, "length": 4096, "images_number": 200_000, "every": 500,
        "kind": "hard", "patch": 1, "log": 50}
TOY = {"steps": 40, "record": 5, "measured": 10, "length": 60, "images_number": 40, "every": 5, "kind": "micro",
       "patch": 3, "log": 1, "batch": 4, "at_once": 3}
TASKS = {"text": {"batch": 32, "at_once": 8}, "pathfinder": {"batch": 128, "at_once": 64}}
# The reported optimizers with step sizes of ours; and what Skyformer's code says, rise in steps.
SETTINGS = {"paper": {"text": {"optimizer": "sgd", "lr": 0.05, "rise": 0},
                      "pathfinder": {"optimizer": "adam", "lr": 2e-4, "rise": 0}},
            "arena": {"text": {"optimizer": "adamw", "lr": 1e-4, "rise": 80},
                      "pathfinder": {"optimizer": "adamw", "lr": 2e-4, "rise": 312}}}
BLOCK = 500
"""Images that are made together."""


def arguments(argv=None):
    """The parsed command line, with what depends on task and settings filled in."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, help="IMDb's archive or folder; the folder pathfinder32")
    parser.add_argument("--out", type=Path, required=True, help="the .npz file to write; it must not exist yet")
    parser.add_argument("--kernel", choices=KERNELS, default="softmax")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on all attention weights")
    parser.add_argument("--gain", type=float, default=1.0, help="factor on all linear maps at the start")
    parser.add_argument("--embedding", type=float, default=1.0, help="standard deviation of embeddings at the start")
    parser.add_argument("--settings", choices=SETTINGS, default="paper")
    parser.add_argument("--optimizer", choices=RULES)
    parser.add_argument("--momentum", type=float, default=0.0, help="of sgd")
    parser.add_argument("--lr", type=float, help="the step size, or its peak")
    parser.add_argument("--rise", type=int, help="steps until the peak, after which it falls; 0: a constant step size")
    for name, words in {"steps": "updates", "batch": "samples of an update", "at-once": "samples in memory together",
                        "record": "evaluations, both ends included", "measured": "training samples evaluated",
                        "length": "bytes at which a review is cut", "images-number": "Pathfinder images in all",
                        "every": "steps between two checkpoints", "log": "steps between two lines of the log"}.items():
        parser.add_argument(f"--{name}", type=int, help=words)
    parser.add_argument("--kind", choices=KINDS, help="of Pathfinder images")
    parser.add_argument("--patch", type=int, help="pixels a side of a token")
    parser.add_argument("--images", type=Path, default=Path("pathfinder-images"), help="folder for made images")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, …")
    parser.add_argument("--toy", action="store_true", help="all sizes small, data made up: seconds on a CPU")
    args = parser.parse_args(argv)
    args.out = args.out.expanduser()
    fill(args)
    refuse(parser, args)
    return args


def fill(args):
    """Put in what was not chosen."""
    chosen = FULL | TASKS[args.task] | SETTINGS[args.settings][args.task] | (TOY if args.toy else {})
    for name, value in chosen.items():
        if getattr(args, name) is None:
            setattr(args, name, min(value, args.steps // 2) if name == "rise" else value)


def refuse(parser, args):
    """End with a message if the arguments do not fit."""
    for name in ("steps", "batch", "at_once", "measured", "length", "images_number", "every", "patch", "log"):
        if getattr(args, name) < 1:
            parser.error(f"--{name.replace('_', '-')}: expected a whole number ≥ 1, got {getattr(args, name)}")
    if not args.lr > 0 or args.record < 2 or args.seed < 0 or not 0 <= args.momentum < 1:
        parser.error("expected --lr > 0, --record ≥ 2, --seed ≥ 0 and 0 ≤ --momentum < 1")
    if args.rise and not 1 < args.rise < args.steps:
        parser.error(f"--rise: expected 0, or more than 1 and less than --steps {args.steps}, got {args.rise}")
    if args.out.suffix != ".npz" or args.out.exists():
        parser.error(f"--out: expected a new file that ends in .npz, got {args.out}"
                     + (", which exists" if args.out.exists() else ""))
    if args.task == "text" and args.data is None and not args.toy:
        parser.error("--data: expected IMDb's archive or folder\n\n" + INSTRUCTIONS)
    if args.task == "pathfinder" and args.data is None:
        refuse_images(parser, args)
    try:
        require_device(args.device)
    except ValueError as error:
        parser.error(f"--{error}")


def refuse_images(parser, args):
    """End with a message if no images can be made."""
    side = KINDS[args.kind].size
    if side % args.patch:
        parser.error(f"--patch: expected a divisor of the {side} pixels of a side, got {args.patch}")
    if args.images_number < 2:
        parser.error(f"--images-number: expected one to train on and one to test on, got {args.images_number}")


def text(args):
    """Training set, test set, and the network, for text."""
    if args.data is None:
        halves = mha.data.reviews(60, args.seed), mha.data.reviews(60, args.seed).fresh(20)
        data, test = (from_bytes([s.encode() for s in half.sentences], half.y, args.length) for half in halves)
    else:
        data, test = (mha.data.imdb(args.data, half, args.length) for half in ("train", "test"))
    return data, test, TextTransformer(data.words, args.length, **network(args))


def pathfinder(args):
    """Training set, test set, and the network, for Pathfinder."""
    if args.data is None:
        X, y = images(args)
    else:
        found = mha.data.pathfinder_files(args.data, args.kind, args.patch, args.images_number)
        X, y = found.X, found.y
    order = np.random.default_rng([0, 11]).permutation(len(y))
    rows = order[:len(y) * 8 // 10], order[len(y) * 9 // 10:]
    data, test = (mha.data.Dataset(X[part], y[part]) for part in rows)
    return data, test, PatchTransformer(X.shape[2], X.shape[1], **network(args))


def images(args):
    """Made images in single precision, rounded to 8 bits as in a file, and their labels; kept in ``--images``."""
    size = min(BLOCK, args.images_number)
    blocks = list(range(-(-args.images_number // size)))
    with joblib.parallel_config(n_jobs=min(len(blocks), os.cpu_count())):
        table = mhabook.sweep(block, {"kind": [args.kind], "patch": [args.patch], "size": [size], "block": blocks},
                          seeds=[0], cache=args.images)
    X = table["X"].reshape(-1, *table["X"].shape[2:])[:args.images_number]
    return X.astype(np.float32) / 255, table["y"].ravel()[:args.images_number]


def block(*, kind, patch, size, block, seed):
    """A part of the images that ``mha.data.pathfinder(n, kind, patch, seed)`` makes, as bytes."""
    data = PathfinderTruth(KINDS[kind], patch, seed).draw(size, (seed, 9), first=block * size)
    return {"X": np.rint(255 * data.X).astype(np.uint8), "y": data.y.astype(np.float32)}


def network(args):
    """The sizes of the network."""
    return {"d": 64, "H": 2, "layers": 2, "hidden": 128, "kernel": KERNELS[args.kernel], "scale": args.scale,
            "gain": args.gain, "embedding": args.embedding, "seed": args.seed}


def rule(args):
    """The update rule."""
    lr = mha.OneCycle(args.lr, args.steps, rise=args.rise / args.steps) if args.rise else args.lr
    special = {"sgd": {"beta": args.momentum}, "adam": {}, "adamw": {"eps": 1e-6, "weight_decay": 0.0}}
    return RULES[args.optimizer](lr, **special[args.optimizer])


class Report:
    """A line in the log, and one on the terminal, for recorded steps and every few others."""

    def __init__(self, args):
        self.args, self.path = args, args.out.with_suffix(".log.jsonl")
        self.first, self.began = None, time.monotonic()

    def __call__(self, k, row):
        if self.first is None:
            self.first, self.began = k, time.monotonic()
        if len(row) == 1 and k % self.args.log:
            return
        seconds = time.monotonic() - self.began
        with self.path.open("a", encoding="utf-8") as log:
            log.write(json.dumps({"step": k, "seconds": round(seconds, 3), "from": self.first} | row) + "\n")
        left = (self.args.steps - k) * seconds / max(k - self.first, 1)
        values = ", ".join(f"{name} {value:.4f}" for name, value in row.items())
        print(f"step {k} of {self.args.steps}: {values}" + (f"; about {left / 60:.0f} min to go" if seconds else ""),
              flush=True)


def save(args, path):
    """Write the curves, with what they come from."""
    config = {name: value for name, value in vars(args).items()
              if name not in ("out", "data", "images", "device", "every", "log", "at_once", "toy")}
    columns = {name: np.array([value]) for name, value in config.items()}
    columns |= {name: curve[None] for name, curve in path.curves.items()} | {"recorded": path.steps[None]}
    versions = {"mhalib": mha.__version__, "numpy": np.__version__, "python": platform.python_version(),
                "torch": torch.__version__}
    about = {"configuration": config, "versions": versions, "device": device(args), "stopped": path.stopped}
    about["data"] = "made up" if args.data is None else args.data.name
    options = [f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in config.items()
               if name != "task"]
    command = " ".join(["python book/results/full_size.py", args.task, *options])
    mhabook.Table(columns, about).save(args.out, command=command)


def device(args):
    """What computed."""
    return torch.cuda.get_device_name(args.device) if args.device.startswith("cuda") else "cpu"


def main(argv=None):
    """Train, and write what came out."""
    args = arguments(argv)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    try:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        data, test, model = {"text": text, "pathfinder": pathfinder}[args.task](args)
        print(f"{len(data)} samples to train on, {len(test)} to test on; {device(args)}", flush=True)
        record = np.rint(np.linspace(0, args.steps, args.record)).astype(int)
        path = mha.train_network(model.to(args.device), data, rule(args), args.steps, test=test, record=record,
                                 batch=args.batch, seed=args.seed, measured=args.measured, at_once=args.at_once,
                                 checkpoint=mhabook.Checkpoint(args.out.with_suffix(".checkpoint"), args.every),
                                 report=Report(args))
    except (OSError, ValueError, ImportError) as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from error
    save(args, path)
    print(f"{args.out}; the networks of all recorded steps are in {args.out.with_suffix('.checkpoint')}")


if __name__ == "__main__":
    main()
