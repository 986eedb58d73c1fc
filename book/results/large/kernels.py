"""The two tasks of chapter 16 at full size, in plain torch: text as bytes, and Pathfinder pixel by pixel; for a GPU.

    python book/results/large/kernels.py text --data aclImdb --kernel gaussian --device cuda --out text-0.npz
    python book/results/large/kernels.py pathfinder --kernel softmax --device cuda --seed 1 --out pathfinder-1.npz
    python book/results/large/kernels.py text --toy --out toy.npz

The network has 2 layers, width 64, hidden width 128 and 2 heads, as reported of Song et al. 2024, who trained on text
by SGD and on Pathfinder by Adam. Their step sizes, numbers of steps and batches we do not know: those here are ours.
Compare kernels at several step sizes, seeds and with the controls ``--kernel normalized`` and ``--scale``.

It was run from end to end at toy size on a CPU, and on an NVIDIA H200 with ``pathfinder --kernel gaussian --images 4000
--steps 800``, where it still guesses; not yet at full size. ``cost.py`` beside it says what a step takes.

Data: for text, the folder aclImdb that the "Large Movie Review Dataset", version 1.0, unpacks to; its page at Stanford,
https://ai.stanford.edu/~amaas/data/sentiment/, has the archive. For Pathfinder, 200,000 images of the book's own
generator, made on all cores, once, into the folder pathfinder-images; 80 % are trained on, 10 % tested on.

Memory: the weights of one layer and sample are heads × tokens² numbers, and a step holds eleven such arrays or more:
1.5 GB for a review of 4,096 bytes, 0.1 GB for an image. ``--at-once`` says how many samples go through the network
together; the minibatch stays as it is. Numbers are in single precision throughout.

Every ``--every`` steps the run is measured, and what it needs to go on is saved beside ``--out``: the same command goes
on where it was killed, to the same numbers on a CPU.
"""

import argparse
import platform
from pathlib import Path

import joblib
import numpy as np
import resumable  # beside this file
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

import mhabook
import mhalib as mha
from mhabook.c08_digits import PatchTransformer, TextTransformer
from mhabook.c08_digits import text as sentences
from mhalib.data.pathfinder import KINDS, PathfinderTruth

KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian, "normalized": mha.normalized_gaussian}
SIZES = {"d": 64, "H": 2, "layers": 2, "hidden": 128}
LENGTH, BLOCK = 4096, 500
RATES, BATCHES = {"text": 0.05, "pathfinder": 2e-4}, {"text": (32, 8), "pathfinder": (128, 64)}
RULES = {"text": torch.optim.SGD, "pathfinder": torch.optim.Adam}


def arguments(argv=None):
    """The parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=RATES)
    parser.add_argument("--data", type=Path, help="the folder aclImdb")
    parser.add_argument(
        "--out", type=Path, required=True, help="the .npz file to write; it must not exist yet"
    )
    parser.add_argument("--kernel", choices=KERNELS, default="softmax")
    for name, start, words in (
        ("scale", 1.0, "factor on all attention weights"),
        ("gain", 1.0, "factor on all linear maps at the start; 0.577 is torch's"),
        ("lr", None, "the step size"),
        ("steps", 50_000, "updates"),
        ("images", 200_000, "of Pathfinder, to make; a multiple of 500"),
        ("batch", None, "samples of an update"),
        ("at-once", None, "samples in memory together"),
        ("every", 2000, "steps between two evaluations"),
        ("seed", 0, "of start and batches"),
    ):
        kind = float if name in ("scale", "gain", "lr") else int
        parser.add_argument(f"--{name}", type=kind, default=start, help=words)
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, …")
    parser.add_argument(
        "--toy", action="store_true", help="all sizes small, data made up: seconds on a CPU"
    )
    args = parser.parse_args(argv)
    batch, at_once = (4, 3) if args.toy else BATCHES[args.task]
    args.lr, args.batch, args.at_once = (
        args.lr or RATES[args.task],
        args.batch or batch,
        args.at_once or at_once,
    )
    if args.out.suffix != ".npz" or args.out.exists():
        parser.error(f"--out: expected a new file that ends in .npz, got {args.out}")
    if args.images < BLOCK or args.images % BLOCK:
        parser.error(f"--images: expected a multiple of {BLOCK}, got {args.images}")
    if args.task == "text" and not args.toy and not Path(args.data or "", "train", "pos").is_dir():
        parser.error("--data: expected the folder aclImdb, which holds train/pos/; see --help")
    return args


def text(args):
    """Rows of tokens, byte + 1, and labels, to train on and to test on; and the network."""
    if args.toy:
        made = sentences.reviews(60, args.seed)
        parts = [
            ([sentence.encode() for sentence in part.sentences], part.y)
            for part in (made, made.fresh(20))
        ]
    else:
        parts = [reviews(args.data / part) for part in ("train", "test")]
    parts = [([torch.tensor(list(row[:LENGTH])) + 1 for row in rows], y) for rows, y in parts]
    return parts, TextTransformer(257, LENGTH, **SIZES, **start(args))


def reviews(folder):
    """The bytes and labels of one half of IMDb."""
    files = [file for label in ("neg", "pos") for file in sorted((folder / label).iterdir())]
    return [file.read_bytes() for file in files], np.where(
        [file.parent.name == "pos" for file in files], 1.0, -1.0
    )


def pathfinder(args):
    """Images in patches and labels, to train on and to test on; and the network."""
    n, size, kind, patch = (40, 40, "micro", 3) if args.toy else (args.images, BLOCK, "hard", 1)
    blocks = {"kind": [kind], "patch": [patch], "size": [size], "block": range(n // size)}
    with joblib.parallel_config(n_jobs=1 if args.toy else -1):
        table = mhabook.sweep(block, blocks, seeds=1, cache="pathfinder-images")
    X = torch.as_tensor(table["X"].reshape(n, *table["X"].shape[2:]))
    order = np.random.default_rng([0, 11]).permutation(n)
    parts = [
        (X[rows], table["y"].ravel()[rows]) for rows in (order[: n * 8 // 10], order[n * 9 // 10 :])
    ]
    return parts, PatchTransformer(X.shape[2], X.shape[1], **SIZES, **start(args))


def block(*, kind, patch, size, block, seed):
    """A part of the images that ``mha.data.pathfinder(n, kind, patch, seed)`` makes, as bytes."""
    data = PathfinderTruth(KINDS[kind], patch, seed).draw(size, (seed, 9), first=block * size)
    return {"X": np.rint(255 * data.X).astype(np.uint8), "y": data.y}


def start(args):
    """The rest of what fixes the network."""
    return {
        "kernel": KERNELS[args.kernel],
        "scale": args.scale,
        "gain": args.gain,
        "seed": args.seed,
    }


def logits(model, X, rows):
    """Logits of some samples, where the model is."""
    if isinstance(X, list):
        return model(pad_sequence([X[k] for k in rows], batch_first=True).to(model.device))
    return model(X[rows].to(model.device) / 255)


@torch.no_grad()
def measured(model, X, y, rows, at_once):
    """Mean logistic loss and accuracy of some samples."""
    pieces = [
        logits(model, X, rows[k : k + at_once]).cpu().double() for k in range(0, len(rows), at_once)
    ]
    z = torch.as_tensor(y[rows]) * torch.cat(pieces)
    return {
        "loss": functional.softplus(-z).mean().item(),
        "accuracy": (z > 0).double().mean().item(),
    }


def train(args, parts, model):
    """The rows of the table: curves at the steps that are measured."""
    (X, y), (test_X, test_y) = parts
    some, rest = (
        np.unique(np.linspace(0, len(of) - 1, n).astype(int))
        for of, n in ((y, 2000), (test_y, len(test_y)))
    )
    rule = RULES[args.task](model.parameters(), lr=args.lr)

    def measure():
        found, test = (
            measured(model, *part, args.at_once) for part in ((X, y, some), (test_X, test_y, rest))
        )
        return found | {f"test_{name}": value for name, value in test.items()}

    def update(k):
        step(model, rule, X, y, resumable.minibatch(args, k, len(y)), args)

    return resumable.train(args, settings(args), model, rule, measure, update)


def step(model, rule, X, y, rows, args):
    """One update along the gradient of a minibatch, which goes through the network in pieces."""
    rule.zero_grad()
    for piece in (rows[at : at + args.at_once] for at in range(0, len(rows), args.at_once)):
        signs = torch.as_tensor(y[piece], dtype=torch.float32, device=model.device)
        (functional.softplus(-signs * logits(model, X, piece)).sum() / len(rows)).backward()
    rule.step()


def settings(args):
    """What the numbers depend on."""
    left_out = ("out", "data", "device", "at_once")
    return {name: value for name, value in vars(args).items() if name not in left_out}


def table_of(rows, configuration):
    """Rows of one command as a table that says with what they were made."""
    versions = {
        "mhalib": mha.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    return mhabook.Table(
        {name: np.array([row[name] for row in rows]) for name in rows[0]},
        {"configurations": [configuration], "versions": [versions]},
    )


def main(argv=None):
    """Train, and write what came out."""
    args = arguments(argv)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    parts, model = {"text": text, "pathfinder": pathfinder}[args.task](args)
    rows = train(args, parts, model.to(args.device))
    table = table_of(rows, settings(args))
    table.save(args.out, command=f"python book/results/large/kernels.py {args.task}")


if __name__ == "__main__":
    main()
