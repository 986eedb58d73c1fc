"""Heads on text: a small Transformer on generated reviews, 1 to 16 heads of one total width, two
step sizes, 8 seeds.

``python book/results/text.py`` writes text.npz (some five minutes of one core) and text_kinds.npz
(some three minutes). A row is one run of 600 steps of AdamW on minibatches of 32 of 1,000 reviews,
tested on 500 that do not occur among them. A seed fixes the reviews, the start and the order of the
minibatches. In text_kinds.npz the step size is 0.01, and a row says which of the 500 the trained
network gets right, with softmax or the Gaussian kernel.

So many steps in single precision end elsewhere on another processor, as they do with another seed.
"""

import numpy as np
import torch

import mhalib as mha
from mhabook.c08_digits import TextTransformer, text, train_network
from mhabook.studies import write_tables

CURVES = ("loss", "test_loss", "accuracy", "test_accuracy")
STEPS = (0, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600)


def run(*, lr, H, seed):
    """One run: its curves, and the version of torch that computed them."""
    torch.set_num_threads(1)  # runs go side by side, one to a core
    data = text.reviews(1000, seed)
    start = TextTransformer(len(data.vocabulary), data.tokens.shape[1], H=H, seed=seed)
    path = train_network(
        start, data, mha.AdamW(lr), STEPS[-1], test=data.fresh(500), seed=seed, record=STEPS
    )
    curves = {name: path.curves[name].astype("float32") for name in CURVES}
    return curves | {"steps": np.array(STEPS), "torch": torch.__version__}


def kinds(*, kernel, H, seed):
    """One run: its accuracy in training, and its ``shares`` of 500 other reviews."""
    torch.set_num_threads(1)  # runs go side by side, one to a core
    data = text.reviews(1000, seed)
    start = TextTransformer(
        len(data.vocabulary), data.tokens.shape[1], H=H, kernel=getattr(mha, kernel), seed=seed
    )
    path = train_network(start, data, mha.AdamW(0.01), STEPS[-1], seed=seed, record=2)
    return shares(path[-1], data.fresh(500)) | {
        "accuracy": path.accuracy[-1],
        "torch": torch.__version__,
    }


def shares(network, data):
    """Shares of correct labels: of sentences with a negation, without one, of all, and of all with
    shuffled words."""
    negated = np.array(
        [bool({"not", "never"} & set(sentence.split())) for sentence in data.sentences]
    )
    right, mixed = (network.logits(tokens) * data.y > 0 for tokens in (data.tokens, shuffled(data)))
    return {
        "negated": right[negated].mean(),
        "plain": right[~negated].mean(),
        "all": right.mean(),
        "shuffled": mixed.mean(),
    }


def shuffled(data):
    """The tokens with the words of each sentence in random order, its padding at the end as
    before."""
    rng, tokens = np.random.default_rng(0), data.tokens.copy()
    for row, length in zip(tokens, data.lengths, strict=True):
        row[:length] = rng.permutation(row[:length])
    return tokens


if __name__ == "__main__":
    models = [
        {"kernel": "softmax", "H": 1},
        {"kernel": "softmax", "H": 4},
        {"kernel": "gaussian", "H": 4},
    ]
    write_tables(
        __file__,
        __doc__,
        text=(run, {"lr": [0.003, 0.01], "H": [1, 2, 4, 8, 16]}, 8),
        text_kinds=(kinds, models, 8),
    )
