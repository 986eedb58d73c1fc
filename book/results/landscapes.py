"""Slices where the second of two stages of training ends: two tasks, four kernels, what trains, how
slices are scaled.

``python book/results/landscapes.py`` writes landscapes.npz. The first stage trains a network of two
layers with one kernel. The second goes on from the same weights with each of four, and moves
queries and keys alone, or everything. A slice lies around the end, in two random directions of the
weights that moved, over 64 training samples. It takes ten minutes of one core.
"""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import torch

import mhalib as mha
from livegrad.network import NetworkPoint
from mhabook.c08_digits import PatchTransformer, TextTransformer, text, train_network
from mhabook.c08_digits.network_training import read, summary
from mhabook.studies import write_tables

KERNELS = {
    "softmax": mha.softmax,
    "softmax, scaled": mha.softmax,
    "Gaussian": mha.gaussian,
    "Gaussian, normalized": mha.normalized_gaussian,
}
TRAINS = {"queries and keys": ("WQ", "WK"), "everything": None}
STEPS = {"words": (150, 200), "words, longer": (800, 200), "micro-Pathfinder": (400, 300)}
LR, PAIRS, RADIUS, RESOLUTION, SAMPLES = 0.002, 3, 1.0, 11, 64


def run(*, first, task, seed):
    """All slices after one first stage."""
    torch.set_num_threads(1)  # runs go side by side, one to a core
    data, test, start = problem(task, seed)
    before, after = STEPS[task]
    start = trained(put(start, KERNELS[first]), data, before, seed, None)
    common = NetworkPoint.of(start)
    rows = mean_row(put(start, mha.gaussian), data)
    found = []
    for kernel, scale in {
        name: rows if name == "softmax, scaled" else 1.0 for name in KERNELS
    }.items():
        for trains, only in TRAINS.items():
            end = trained(put(start, KERNELS[kernel], scale), data, after, seed + 100, only)
            facts = {"kernel": kernel, "trains": trains, "row": rows} | ends(end, data, test)
            found += [facts | cut for cut in slices(NetworkPoint.of(end), common, few(data), only)]
    return found


def problem(task, seed):
    """Training set, test set and an untrained network."""
    sizes = {"d": 32, "H": 2, "layers": 2, "hidden": 64, "seed": seed}
    if task.startswith("words"):
        data = text.words(4000, seed=seed)
        return (
            data,
            data.fresh(500),
            TextTransformer(len(data.vocabulary), data.tokens.shape[1], **sizes),
        )
    data = mha.data.pathfinder(2000, seed=seed)
    return data, data.fresh(500), PatchTransformer(data.X.shape[2], data.X.shape[1], **sizes)


def put(network, kernel, scale=1.0):
    """The same weights with another kernel."""
    network = deepcopy(network)
    for layer in network.layers:
        layer.attention.kernel, layer.attention.scale = kernel, scale
    return network


def trained(network, data, steps, seed, only):
    """Where a stage ends."""
    return train_network(
        network, data, mha.Adam(LR), steps, seed=seed, only=only, record=[steps], measured=SAMPLES
    )[-1]


def few(data):
    """The samples that slices are computed on."""
    X = read(data)[:SAMPLES]
    return SimpleNamespace(tokens=X, X=X, y=data.y[:SAMPLES])


def mean_row(network, data):
    """The mean sum of a row of attention weights, over layers, heads and queries."""
    return float(np.mean([A.sum(axis=-1).mean() for A in network.attention(few(data).X)]))


def ends(network, data, test):
    """Test accuracy, and the loss with all attention weights set to zero."""
    part = few(data)
    return {
        "accuracy": summary(network, test)["accuracy"],
        "off": NetworkPoint.of(put(network, network.layers[0].attention.kernel, 0.0)).loss(
            part.X, part.y
        ),
    }


def slices(point, common, part, only):
    """Slices in several pairs of directions: scaled by this network's rows, or the same directions
    for all kernels."""
    for pair in range(PAIRS):
        for scaled, at, normalize in (("filter", point, "filter"), ("raw", common, "whole")):
            u, v = (
                mha.landscape.random_direction(at, 2 * pair + k, only, normalize) for k in range(2)
            )
            found = mha.landscape.slice(point, part, u, v, RADIUS, RESOLUTION)
            yield {"scaled": scaled, "pair": pair, "loss": found.loss, "a": found.a}


if __name__ == "__main__":
    write_tables(
        __file__, __doc__, landscapes=(run, {"first": ["softmax"], "task": list(STEPS)}, 3)
    )
