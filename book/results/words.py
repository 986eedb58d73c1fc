"""Two kernels on the words task: a Transformer of two layers, with its controls, step sizes, starts
and seeds.

``python book/results/words.py`` writes words.npz (twenty minutes of one core). A row is one run on
minibatches of 16 of 8,000 sentences, tested on 1,000 that do not occur among them, and on 500
others to choose the step size by. A seed fixes the sentences, the start and the order of the
minibatches: the runs of one seed differ in nothing but what their row says. Finished runs are kept
in the folder .cache beside the file, so the command can be interrupted.
"""

import numpy as np
import torch

import mhalib as mha
from mhabook.c08_digits import TextTransformer, text, train_network
from mhabook.c08_digits.network_training import summary
from mhabook.studies import write_tables

SIZES = {"d": 64, "H": 2, "layers": 2, "hidden": 128}
KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian, "normalized": mha.normalized_gaussian}
RULES = {"adam": mha.Adam, "momentum": mha.Momentum}
RATES = {"adam": [0.001, 0.002, 0.004, 0.008], "momentum": [0.025, 0.05, 0.1]}
TORCH = 3**-0.5
"""The gain at which linear maps start with the variance that they have in torch."""


def run(*, length, kernel, scale, rule, lr, embedding, gain, steps, seed):
    """One run: its curves on the training, test and validation sentences; after a loss that is not
    finite, nan."""
    torch.set_num_threads(1)  # runs go side by side, one to a core
    data = text.words(8000, length, seed)
    test, validation = data.fresh(1000, seed=1), data.fresh(500, seed=2)
    start = TextTransformer(
        len(data.vocabulary),
        length,
        **SIZES,
        kernel=KERNELS[kernel],
        scale=scale,
        gain=gain,
        embedding=embedding,
        seed=seed,
    )
    at = np.arange(0, steps + 1, steps // 8)
    path = train_network(
        start,
        data,
        RULES[rule](lr),
        steps,
        test=test,
        batch=16,
        seed=seed,
        record=at.tolist(),
        measured=500,
    )
    chosen_by = [summary(model, validation)["accuracy"] for model in path.models]
    curves = path.curves | {"validation_accuracy": np.array(chosen_by)}
    return {
        name: np.append(curve, np.full(len(at) - len(curve), np.nan)).astype("float32")
        for name, curve in curves.items()
    } | {"at": at, "torch": torch.__version__}


def settings(arms, rule, rates=None, *, embedding=1.0, gain=TORCH, length=8, steps=800):
    """The configurations of some (kernel, scale) in one setting, at all step sizes."""
    return [
        {
            "length": length,
            "kernel": kernel,
            "scale": scale,
            "rule": rule,
            "lr": lr,
            "embedding": embedding,
            "gain": gain,
            "steps": steps,
        }
        for lr in rates or RATES[rule]
        for kernel, scale in arms
    ]


ARMS = [("softmax", 1.0), ("gaussian", 1.0), ("normalized", 1.0), ("softmax", 4.0)]
LOUD = [("softmax", 1.0), ("gaussian", 1.0), ("normalized", 1.0), ("gaussian", 16.0)]
GRID = [
    *settings(ARMS, "adam"),
    *settings(ARMS, "momentum"),
    *settings(ARMS, "adam", [0.002], embedding=0.02),
    *settings(LOUD, "adam", [0.002], gain=1.0),
    *settings(ARMS, "adam", [0.002], length=16, steps=1000),
]

if __name__ == "__main__":
    write_tables(__file__, __doc__, words=(run, GRID, 4))
