"""Chapter 14: which targets are out of reach, by the values alone, and with keys that are far
apart."""

from dataclasses import replace
from itertools import product

import numpy as np

from livegrad.arrays import Array, require, to_numpy
from mhabook.c03_first_step.max_margin import nearest_in_hull
from mhabook.c12_two_kernels.statements import KERNELS
from mhabook.ledger import Check, Checks, statement
from mhalib.attention import Gaussian, gaussian, normalized_gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models.layer import AttentionLayer

CHAPTER, FURTHER = "kernels/14_traps", "kernels/14_further"


def query_arrays(
    keys: Array, values: Array, q: Array | None = None, y: Array | None = None
) -> list[np.ndarray]:
    """keys (n, d), values (n, m), and of q (d,) and y (m,) what is given, with shapes checked, in
    double precision."""
    require("keys", keys, ("n", "d"))
    require("values", values, (len(keys), "m"))
    rest = {"q": (q, keys.shape[1]), "y": (y, values.shape[1])}
    rest = {name: one for name, one in rest.items() if one[0] is not None}
    for name, (a, size) in rest.items():
        require(name, a, (size,))
    return [to_numpy(a).astype(float) for a in (keys, values, *(a for a, _ in rest.values()))]


def distance_to_hull(points: Array, y: Array) -> float:
    """The distance of y (m,) from the convex hull of points (p, m)."""
    require("points", points, ("p", "m"))
    require("y", y, (points.shape[1],))
    away = points - y
    return float(np.linalg.norm(nearest_in_hull(away @ away.T) @ away))


def corners(layer: AttentionLayer, x: Array) -> np.ndarray:
    """Points whose convex hull holds every output of a sample x (n, D), whatever W^Q and W^K are,
    (p, m).

    softmax, normalized rows: all sums of one value from each head. The Gaussian kernel: all sums of
    some of the values of all heads.
    """
    require("x", x, ("n", layer.sizes[1]))
    U = x @ (layer.WV @ layer.WO)
    if layer.kernel.normalized:
        return np.array([sum(chosen) for chosen in product(*U)])
    return np.array(list(product((0, 1), repeat=U.shape[0] * U.shape[1]))) @ U.reshape(
        -1, U.shape[2]
    )


def _layer(seed, kernel=None):
    rng = np.random.default_rng([seed, 140])
    # Small, since the set of the Gaussian kernel has 2^{Hn} corners.
    N, n, H, m = (int(size) for size in rng.integers(1, 3, size=4))
    layer = AttentionLayer.random(
        3, 2, m, H, scale=rng.uniform(0.3, 3), kernel=kernel or KERNELS[seed % 2], seed=seed
    )
    return {"layer": layer, "data": random_sequences(N, n, 3, m, seed=seed)}


def _vertex(kernel, N=1):
    """Queries that look at one key, whose value is the corner nearest to the target, in N equal
    samples."""
    columns = (
        ([[10.0], [10.0]], [[1.0], [-1.0]], [[2.0], [1.0]])
        if kernel is softmax
        else ([[0.5]], [[0.5]], [[2.0]])
    )
    X = np.repeat(np.eye(len(columns[0]))[None], N, axis=0)
    layer = AttentionLayer(*(np.array([column]) for column in columns), np.ones((1, 1, 1)), kernel)
    return {"layer": layer, "data": SequenceDataset(X, np.full((N, len(X[0]), 1), 4.0))}


def _one_far_key(seed):
    """One token whose query is far from its key, with the target 0: the Gaussian kernel with the
    hull of softmax."""
    q = 3 + np.random.default_rng([seed, 141]).random((1, 1, 1))
    layer = AttentionLayer(q, *(np.ones((1, 1, 1)) for _ in range(3)), gaussian)
    data = SequenceDataset(np.ones((1, 1, 1)), np.zeros((1, 1, 1)))
    return {"layer": layer, "data": data}


@statement(
    id="prop-values-allow",
    title="What the values allow",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="any W^Q, W^K; W^V and W^O as they are",
    random=_layer,
    extremal=tuple(
        (lambda kernel=kernel, N=N: _vertex(kernel, N)) for N in (1, 3) for kernel in KERNELS
    ),
    # The scores ±10 of `_vertex` leave e⁻²⁰ ≈ 2e-9 of the weight to the other key.
    slack=(1e-8, 1e-9, 1e-8, 1e-9),
    broken=_one_far_key,
    breaks="softmax: the Gaussian kernel with the hull of the values",
    hypotheses=lambda **_: {},
    false_claim=lambda layer, data: _allowed(layer, data, replace(layer, kernel=softmax)),
)
def values_allow(layer: AttentionLayer, data: SequenceDataset) -> Checks:
    """o_k ∈ 𝒦_i, so Σ dist(y_k, 𝒦_i)²/2N ≤ f, 𝒦_i = Σ_h hull(U_h) for softmax, Σ_{h,j} [0, 1]
    u_{hj} for the Gaussian kernel; and the first set is a part of the second. Source: this book.
    """
    return _allowed(layer, data, layer)


def _allowed(layer, data, of):
    """With the sets ``of`` another layer."""
    sets = [corners(of, x) for x in data.X]
    boxes = [corners(replace(layer, kernel=gaussian), x) for x in data.X]
    least = sum(
        distance_to_hull(points, y) ** 2
        for points, targets in zip(sets, data.y, strict=True)
        for y in targets
    ) / (2 * len(data))
    return (
        Check(float(least), float(layer.loss(data.X, data.y)), "Σ dist(y_k, 𝒦_i)²/2N ≤ f"),
        # `nearest_in_hull` stops at 1e-14 of a square, which is 1e-7 of a distance.
        Check(_outside(sets, layer(data.X)), 1e-6, "every output lies in 𝒦_i"),
        Check(_outside(boxes, sets), 1e-6, "the set of softmax is a part of the other"),
    )


def _outside(sets, inside):
    """The largest distance of points from the sets that shall hold them, over the size of the
    set."""
    return max(
        distance_to_hull(points, one) / max(float(np.linalg.norm(points, axis=1).max()), 1e-300)
        for points, some in zip(sets, inside, strict=True)
        for one in some
    )


def _apart(seed):
    rng = np.random.default_rng([seed, 142])
    n, d, m = (int(size) for size in rng.integers(1, 5, size=3))
    return {
        "q": 3 * rng.standard_normal(d),
        "keys": 3 * rng.standard_normal((n, d)),
        "values": rng.standard_normal((n, m)),
        "kernel": Gaussian(rng.uniform(0.2, 2)),
    }


def _halfway(d=1):
    """A query in the middle of two keys, whose values are orthogonal."""
    return {
        # Both weights are e^{−cg²/4√d}, and since the values are orthogonal, the weight of the
        # second is all of the distance.
        "q": np.zeros(d),
        "keys": np.array([[-2.0], [2.0]]) * np.eye(1, d),
        "values": np.eye(2),
        "kernel": gaussian,
    }


def _center(n):
    """A query in the center of n near keys, all equally far from each other, with orthogonal
    values."""
    keys = 0.1 * np.eye(n)
    return {"q": keys.mean(axis=0), "keys": keys, "values": np.eye(n), "kernel": gaussian}


def _least_distance(keys):
    return np.linalg.norm(keys[:, None] - keys, axis=2)[~np.eye(len(keys), dtype=bool)].min(
        initial=np.inf
    )


@statement(
    id="prop-star",
    title="Keys that are far apart: one value at a time",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="Gaussian kernel; one head; pairwise distances are at least g",
    random=_apart,
    extremal=(_halfway, lambda: _halfway(4), lambda: _center(3)),
    slack=(1e-9, 1e-9),
    broken=lambda seed: _halfway() | {"g": 6 + 4 * np.random.default_rng([seed, 143]).random()},
    breaks="pairwise distances are at least g: a larger g",
    hypotheses=lambda keys, kernel, g=0.0, **_: {
        "Gaussian kernel": not kernel.normalized,
        "pairwise distances are at least g": g <= _least_distance(keys),
    },
    counterexamples=(lambda: _halfway() | {"kernel": normalized_gaussian},),
)
def star(q: Array, keys: Array, values: Array, kernel: Gaussian, g: float | None = None) -> Check:
    """dist(o(q), ∪_j [0, 1] u_j) ≤ e^{−cg²/4√d} Σ_{l≠j} ‖u_l‖, j the nearest key, g the least
    distance of two keys.

    Source: this book.
    """
    keys, values, q = query_arrays(keys, values, q)
    weights = kernel(kernel.scores(q[None], keys))[0]
    # The floor keeps out 0/0, for a key without a value.
    out, squares = weights @ values, np.maximum((values**2).sum(axis=1), 1e-300)
    share = np.clip(values @ out / squares, 0, 1)
    off = np.linalg.norm(share[:, None] * values - out, axis=1).min()
    w = np.exp(-kernel.c * (_least_distance(keys) if g is None else g) ** 2 / (4 * len(q) ** 0.5))
    sizes = np.linalg.norm(values, axis=1)
    # The nearest key has the largest weight, so that it is the one left out.
    most = w * np.delete(sizes, weights.argmax()).sum() + 1e-14 * sizes.sum()  # room for rounding
    return Check(float(off), float(most), "dist(o, ∪ [0, 1] u_j) ≤ e^{−cg²/4√d} Σ ‖u_l‖")
