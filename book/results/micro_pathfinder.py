"""Two kernels on micro-Pathfinder: a Transformer of two layers over nine patches, with its controls
and seeds.

``python book/results/micro_pathfinder.py`` writes micro_pathfinder.npz (ten minutes of one core). A
row is one run of Adam on minibatches of 32 of 12,000 images, tested on 1,000 others, and on 500
more for choices. The images are the same in all runs; a seed fixes the start and the order of the
minibatches. Images and finished runs are kept in the folder .cache beside the file, so the command
can be interrupted.
"""

from pathlib import Path

import numpy as np
import torch

import mhalib as mha
from mhabook.c08_digits import PatchTransformer, train_network
from mhabook.c08_digits.network_training import summary
from mhabook.studies import write_tables

SIZES = {"d": 64, "H": 2, "layers": 2, "hidden": 128}
KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian, "normalized": mha.normalized_gaussian}
CACHE = Path(__file__).parent / ".cache"
IMAGES = CACHE / "micro_pathfinder_images.npz"
STEPS = tuple(range(0, 1501, 125))


def draw():
    """Make the training, test and validation images, once, with pixels of mean 0 and deviation 1 in
    training."""
    if not IMAGES.exists():
        data = mha.data.pathfinder(12_000)
        parts = {
            "train": data,
            "test": data.fresh(1000, seed=1),
            "validation": data.fresh(500, seed=2),
        }
        mean, deviation = data.X.mean(), data.X.std()
        CACHE.mkdir(exist_ok=True)
        np.savez(
            IMAGES,
            **{f"{name}_X": (part.X - mean) / deviation for name, part in parts.items()},
            **{f"{name}_y": part.y for name, part in parts.items()},
        )


def images(part):
    """The images of a part as a ``Dataset``."""
    with np.load(IMAGES) as stored:
        return mha.data.from_arrays(stored[f"{part}_X"], stored[f"{part}_y"])


def run(*, kernel, scale, lr, seed):
    """One run: its curves on the training, test and validation images."""
    torch.set_num_threads(1)  # runs go side by side, one to a core
    data, test, validation = (images(part) for part in ("train", "test", "validation"))
    start = PatchTransformer(
        data.X.shape[2],
        data.X.shape[1],
        **SIZES,
        kernel=KERNELS[kernel],
        scale=scale,
        gain=3**-0.5,
        embedding=0.3,
        seed=seed,
    )
    path = train_network(
        start,
        data,
        mha.Adam(lr),
        STEPS[-1],
        test=test,
        batch=32,
        seed=seed,
        record=STEPS,
        measured=500,
    )
    chosen_by = [summary(model, validation)["accuracy"] for model in path.models]
    curves = path.curves | {"validation_accuracy": np.array(chosen_by)}
    return {name: curve.astype("float32") for name, curve in curves.items()} | {
        "at": np.array(STEPS),
        "torch": torch.__version__,
    }


def grid():
    """The configurations, once the images are there."""
    draw()
    for kernel, scale in (
        ("softmax", 1.0),
        ("gaussian", 1.0),
        ("normalized", 1.0),
        ("softmax", 4.0),
    ):
        yield {"kernel": kernel, "scale": scale, "lr": 0.002}


if __name__ == "__main__":
    write_tables(__file__, __doc__, micro_pathfinder=(run, grid(), 4))
