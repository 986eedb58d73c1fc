"""Heads on text: a small Transformer on generated reviews, 1 to 16 heads of one total width, two step sizes, 8 seeds.

``python book/results/text.py`` writes text.npz (some five minutes of one core). A row is one run of 600 steps of AdamW
on minibatches of 32 of 1,000 reviews, tested on 500 that do not occur among them. A seed fixes the reviews, the start
and the order of the minibatches.
"""

import time
from pathlib import Path

import numpy as np
import torch

import mhalib as mha
from mhalib.models import TextTransformer

CURVES = ("loss", "test_loss", "accuracy", "test_accuracy")
STEPS = (0, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600)


def run(*, lr, H, seed):
    """One run: its curves, and the version of torch that computed them."""
    torch.set_num_threads(1)
    data = mha.data.reviews(1000, seed)
    start = TextTransformer(len(data.vocabulary), data.tokens.shape[1], H=H, seed=seed)
    path = mha.train_text(start, data, STEPS[-1], lr=lr, test=data.fresh(500), seed=seed, record=STEPS)
    curves = {name: path.curves[name].astype("float32") for name in CURVES}
    return curves | {"steps": np.array(STEPS), "torch": torch.__version__}


if __name__ == "__main__":
    began = time.perf_counter()
    table = mha.sweep(run, {"lr": [0.003, 0.01], "H": [1, 2, 4, 8, 16]}, seeds=8, cache=".cache/text")
    table.save(Path(__file__).with_suffix(".npz"), command="python book/results/text.py")
    print(f"{table!r} in {time.perf_counter() - began:.1f} s")
