"""Chapter 14: what stops a query under either kernel: targets out of reach, flat ground, and wrong minima."""

from itertools import product

import numpy as np

from mhalib.attention import Gaussian, gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models.layer import AttentionLayer
from mhalib.theory.ledger import Check, statement
from mhalib.theory.lines import Line
from mhalib.theory.max_margin import nearest_in_hull
from mhalib.theory.two_kernels import KERNELS

CHAPTER = "kernels/14_traps"
EXAMPLES = {
    "B1": {"keys": (1.0, -1.0, 0.0), "values": (1.0, 1.0, 0.0), "y": 0.5, "start": (0.8, -0.3, 0.1), "lr": 1.0},
    "B2": {"keys": (-2.0, -1.0, 1.0, 2.0), "values": (3.0, -2.0, 2.0, 1.0), "y": 2.0, "start": (0.3, 0.8, 1.2, 1.6),
           "lr": 0.1},
    "B3": {"keys": (-5.0, 5.0), "values": (0.0, 1.0), "y": 0.9, "start": (-1.0,), "lr": 1.0},
    "B4": {"keys": (-2.0, 2.0), "values": (1.0, 2.0), "y": 1.5, "start": (-1.0,), "lr": 0.5},
}
"""Keys and values on a line, a target for every query, where the queries start, and the step size."""


def example(name, kernel, start=None, tokens=None):
    """An example as a layer and its data: tokens X = I, so that W^Q, W^K and U = W^V W^O are the queries, keys, values.

    The layer has as many queries as keys: a shorter start is repeated. ``tokens`` targets count, the others are the
    outputs at the start, so that their queries stand still.
    """
    one = EXAMPLES[name]
    n = len(one["keys"])
    queries = np.resize(np.asarray(one["start"] if start is None else start, float), n)
    columns = (np.asarray(column, float).reshape(1, n, 1) for column in (queries, one["keys"], one["values"]))
    layer, X = AttentionLayer(*columns, np.ones((1, 1, 1)), kernel), np.eye(n)[None]
    y = np.full((1, n, 1), one["y"])
    counted = min(n, len(one["start"]) if start is None else np.size(start)) if tokens is None else tokens
    y[:, counted:] = layer(X)[:, counted:]
    return layer, SequenceDataset(X, y)


def lifted(name, kernel, lift):
    """An ``example`` in two dimensions: keys (k, lift k²), queries (q, 0), and one more value column that is zero.

    Scores are divided by √2 there, so at lift 0 a Gaussian kernel is that of the line with c/√2.
    """
    layer, data = example(name, kernel)
    zero = np.zeros_like(layer.WK)
    WQ, WV = (np.concatenate([W, zero], axis=2) for W in (layer.WQ, layer.WV))
    WK = np.concatenate([layer.WK, lift * layer.WK ** 2], axis=2)
    return AttentionLayer(WQ, WK, WV, np.array([[[1.0], [0.0]]]), kernel), data


def query_directions(layer):
    """For each token of an ``example`` the direction in which its query alone moves, with speed 1."""
    units = np.eye(layer.sizes[1])[:, None, :, None]
    return [layer.with_arrays(WQ=unit).only(("WQ",)) for unit in units]


def distance_to_hull(points, y):
    """The distance of y (m,) from the convex hull of points (p, m)."""
    away = points - y
    return float(np.linalg.norm(nearest_in_hull(away @ away.T) @ away))


def corners(layer, x):
    """Points whose convex hull holds every output of a sample x (n, D), whatever W^Q and W^K are, (p, m).

    softmax, normalized rows: all sums of one value from each head. The Gaussian kernel: all sums of some of the values
    of all heads.
    """
    U = x @ (layer.WV @ layer.WO)
    if layer.kernel.normalized:
        return np.array([sum(chosen) for chosen in product(*U)])
    return np.array(list(product((0, 1), repeat=U.shape[0] * U.shape[1]))) @ U.reshape(-1, U.shape[2])


def _layer(seed, kernel=None):
    rng = np.random.default_rng([seed, 140])
    N, n, H, m = (int(size) for size in rng.integers(1, 3, size=4))
    layer = AttentionLayer.random(3, 2, m, H, scale=rng.uniform(0.3, 3), kernel=kernel or KERNELS[seed % 2], seed=seed)
    return {"layer": layer, "data": random_sequences(N, n, 3, m, seed=seed)}


def _vertex(kernel):
    """Queries that look at one key, whose value is the corner nearest to the target."""
    columns = ([[10.0], [10.0]], [[1.0], [-1.0]], [[2.0], [1.0]]) if kernel is softmax else ([[0.5]], [[0.5]], [[2.0]])
    X = np.eye(len(columns[0]))[None]
    layer = AttentionLayer(*(np.array([column]) for column in columns), np.ones((1, 1, 1)), kernel)
    return {"layer": layer, "data": SequenceDataset(X, np.full((1, len(X[0]), 1), 4.0))}


def _one_far_key(seed):
    """One token whose query is far from its key, with the target 0: the Gaussian kernel with the hull of softmax."""
    q = 3 + np.random.default_rng([seed, 141]).random((1, 1, 1))
    layer = AttentionLayer(q, *(np.ones((1, 1, 1)) for _ in range(3)), gaussian)
    data = SequenceDataset(np.ones((1, 1, 1)), np.zeros((1, 1, 1)))
    return {"layer": layer, "data": data, "allowed": np.ones((1, 1))}


@statement(id="prop-values-allow", title="What the values allow", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="any W^Q, W^K; W^V and W^O as they are", random=_layer,
           extremal=tuple((lambda kernel=kernel: _vertex(kernel)) for kernel in KERNELS), broken=_one_far_key,
           breaks="softmax: the Gaussian kernel with the hull of the values")
def values_allow(layer, data, allowed=None):
    """Σ dist(y_k, 𝒦_i)²/2N ≤ f, 𝒦_i = Σ_h hull(U_h) for softmax, Σ_{h,j} [0, 1] u_{hj} for the Gaussian kernel.

    Source: this book.
    """
    least = sum(distance_to_hull(corners(layer, x) if allowed is None else allowed, y) ** 2
                for x, targets in zip(data.X, data.y, strict=True) for y in targets) / (2 * len(data))
    return Check(float(least), float(layer.loss(data.X, data.y)), "Σ dist(y_k, 𝒦_i)²/2N ≤ f")


def spare(kernel, keys, values):
    """Per key: (w, ε) (n,), w = e^{−cg²/4√d} with the distance g to the nearest other key, ε = w Σ_{l≠j} ‖u_l‖."""
    apart = np.linalg.norm(keys[:, None] - keys, axis=2) + np.diag(np.full(len(keys), np.inf))
    w = np.exp(-kernel.c * apart.min(axis=1) ** 2 / (4 * keys.shape[1] ** 0.5))
    sizes = np.linalg.norm(values, axis=1)
    return w, w * (sizes.sum() - sizes)


def _apart(seed):
    rng = np.random.default_rng([seed, 142])
    n, d, m = (int(size) for size in rng.integers(1, 5, size=3))
    return {"q": 3 * rng.standard_normal(d), "keys": 3 * rng.standard_normal((n, d)),
            "values": rng.standard_normal((n, m)), "kernel": Gaussian(rng.uniform(0.2, 2))}


def _halfway():
    """A query in the middle of two keys, whose values are orthogonal."""
    return {"q": np.zeros(1), "keys": np.array([[-2.0], [2.0]]), "values": np.eye(2), "kernel": gaussian}


@statement(id="prop-star", title="Keys that are far apart: one value at a time", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="Gaussian kernel, one head, keys g apart", random=_apart, extremal=(_halfway,),
           broken=lambda seed: _halfway() | {"stretch": 1.5 + np.random.default_rng([seed, 143]).random()},
           breaks="keys g apart: a larger g")
def star(q, keys, values, kernel, stretch=1.0):
    """dist(o(q), ∪_j [0, 1] u_j) ≤ e^{−cg²/4√d} Σ_{l≠j} ‖u_l‖, j the nearest key.  Source: this book."""
    weights = kernel(kernel.scores(q[None], keys))[0]
    out, squares = weights @ values, np.maximum((values ** 2).sum(axis=1), 1e-300)
    share = np.clip(values @ out / squares, 0, 1)
    off = np.linalg.norm(share[:, None] * values - out, axis=1).min()
    apart = np.linalg.norm(keys[:, None] - keys, axis=2)[~np.eye(len(keys), dtype=bool)].min(initial=np.inf)
    w = np.exp(-kernel.c * (stretch * apart) ** 2 / (4 * len(q) ** 0.5))
    sizes = np.linalg.norm(values, axis=1)
    most = w * np.delete(sizes, weights.argmax()).sum() + 1e-14 * sizes.sum()  # room for rounding
    return Check(float(off), float(most), "dist(o, ∪ [0, 1] u_j) ≤ e^{−cg²/4√d} Σ ‖u_l‖")


def waiting_time(q, keys, values, y, lr, kernel, near):
    """t* such that a query far from every key that has a value keeps the distance ``near`` for all steps t ≤ t*.

    t* = (e^{c̄ℓ₀²} − e^{c̄ℓ²}) / (4 c̄² η ℓ₀² V (‖y‖ + V e^{−c̄ℓ²})), c̄ = c/√d, V = Σ‖u_j‖, ℓ = near, ℓ₀ the distance now.
    """
    sizes, b = np.linalg.norm(values, axis=1), kernel.c / len(q) ** 0.5
    far = np.linalg.norm(keys[sizes > 0] - q, axis=1).min()
    pull = sizes.sum() * (np.linalg.norm(y) + sizes.sum() * np.exp(-b * near ** 2))
    return float((np.exp(b * far ** 2) - np.exp(b * near ** 2)) / (4 * b ** 2 * lr * far ** 2 * pull))


def _far(seed):
    rng = np.random.default_rng([seed, 144])
    n, d, m = (int(size) for size in rng.integers(1, 4, size=3))
    kernel, away = Gaussian(rng.uniform(0.3, 1.5)), rng.standard_normal(d)
    near = (2 * kernel.c / d ** 0.5) ** -0.5 * rng.uniform(1, 1.5)
    keys = rng.standard_normal((n, d))
    q = keys[0] + away / np.linalg.norm(away) * (near + 4)
    return _timed({"q": q, "keys": keys, "values": rng.standard_normal((n, m)), "y": 2 * rng.standard_normal(m),
                   "near": near}, kernel, int(rng.integers(1, 20)))


def _timed(instance, kernel, steps):
    """With the step size for which the theorem says t* = ``steps``."""
    return instance | {"kernel": kernel, "lr": waiting_time(**instance, lr=1.0, kernel=kernel) / steps}


def _coming(others=(), y=1e3):
    """A key with the value 1, and a target so large that the residual stays the same; a second key at −4."""
    values = np.array([1.0, *others])[:, None]
    return _timed({"q": np.zeros(1), "keys": np.array([[4.0], [-4.0]])[:len(values)], "values": values,
                   "y": np.array([y]), "near": 3.9}, gaussian, 40)


@statement(id="thm-waiting", title="Far from every key: how long a query waits", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="Gaussian kernel, one query by itself, ℓ ≥ (√d/2c)^½", random=_far,
           extremal=(_coming,),
           broken=lambda seed: _coming((0.0,), 1e3 + seed) | {"mover": softmax}, breaks="the Gaussian kernel: softmax")
def waits(q, keys, values, y, lr, kernel, near, mover=None):
    """No query is within ℓ of a key with a value before step t* = ``waiting_time``: lhs t*, rhs the first such step.

    Source: this book.
    """
    T, alive, mover = waiting_time(q, keys, values, y, lr, kernel, near), (values ** 2).sum(axis=1) > 0, mover or kernel
    t = 0
    while np.linalg.norm(keys[alive] - q, axis=1).min() >= near and t <= T + 1:
        S = mover(mover.scores(q[None], keys))
        dS = mover.vjp(S, (S @ values - y) @ values.T)
        q, t = q - lr * mover.scores_vjp(q[None], keys, dS)[0][0], t + 1
    return Check(T, float(t), "t* ≤ the first step within ℓ of a key")


def _wells(seed):
    rng = np.random.default_rng([seed, 145])
    n, d, m = (int(size) for size in rng.integers((2, 1, 1), 4))
    values = rng.standard_normal((n, m))
    y = (1 + rng.uniform(0, 2)) * values[0] + 0.2 * rng.standard_normal(m)
    y = y if y @ values[0] >= values[0] @ values[0] else 2 * values[0]
    return {"keys": rng.uniform(1, 5) * rng.standard_normal((n, d)), "values": values, "y": y,
            "kernel": Gaussian(rng.uniform(0.3, 2)), "toward": rng.standard_normal((20, d))}


def _lonely():
    """Another key that has no value: ε = 0."""
    return {"keys": np.array([[0.0], [4.0]]), "values": np.array([[1.0], [0.0]]), "y": np.array([2.0]),
            "kernel": gaussian, "toward": np.array([[1.0], [-1.0]])}


def _crowded(seed):
    """A key with a larger value, nearer than the distance that the theorem is told."""
    y = 3 + np.random.default_rng([seed, 146]).random(1)
    return _lonely() | {"keys": np.array([[0.0], [2.0]]), "values": np.array([[1.0], [2.0]]), "y": y, "stretch": 3.0}


@statement(id="thm-wells", title="A key that is not enough is a trap", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="Gaussian kernel, u_j·y ≥ ‖u_j‖², other keys g away", random=_wells,
           extremal=(_lonely,), broken=_crowded, breaks="other keys g away: a larger g")
def wells(keys, values, y, kernel, toward, stretch=1.0):
    """Around the first key: ‖o − y‖ ≤ z + ε on it, ≥ z − ε within g/2, ≥ ‖w u − y‖ − ε at g/2, where z = ‖u − y‖.

    w and ε are those of ``spare``. lhs is the largest of the three left over right sides (each + ε), rhs 1.
    ``toward`` are the directions (r, d) that are tried.  Source: this book.
    """
    w, eps = (one[0] for one in spare(kernel, stretch * keys, values))
    apart = np.linalg.norm(keys[1:] - keys[0], axis=1).min()
    directions = toward / np.linalg.norm(toward, axis=1, keepdims=True)

    def off(share):
        q = keys[0] + share * stretch * apart / 2 * directions
        return np.linalg.norm(kernel(kernel.scores(q, keys)) @ values - y, axis=1)

    a, edge = np.linalg.norm(values[0] - y), np.linalg.norm(w * values[0] - y)
    inside = min(off(share).min() for share in (0.0, 0.3, 0.6, 0.9, 1.0))
    return Check(float(max(off(0.0)[0] / (a + eps), a / (inside + eps), edge / (off(1.0).min() + eps))), 1.0,
                 "‖o − y‖ ≤ z + ε at the key, ≥ z − ε around it, ≥ ‖wu − y‖ − ε at g/2")


def _rising(seed):
    rng = np.random.default_rng([seed, 147])
    n = int(rng.integers(2, 7))
    keys, values = (np.cumsum(rng.uniform(0.05, 1.5, size=n)) for _ in range(2))
    return {"q": float(rng.uniform(-3, 3)), "keys": keys, "values": values}


@statement(id="prop-rising", title="Values that rise with the keys: no trap for softmax", mark="ours",
           source="this book", chapter=CHAPTER, assumptions="softmax on a line, (u_j − u_i)/(k_j − k_i) ≥ χ",
           random=_rising,
           extremal=(lambda: {"q": 0.5, "keys": np.array([-1.0, 0.0, 2.0]), "values": np.array([-2.0, 0.0, 4.0])},),
           broken=lambda seed: _rising(seed) | {"kernel": gaussian, "q": 20.0},
           breaks="softmax: the Gaussian kernel, right of the keys")
def rising(q, keys, values, kernel=softmax):
    """χ Var_S(k) ≤ o′(q), χ the least slope between neighbors.  Source: this book."""
    order = np.argsort(keys)
    beta = (np.diff(values[order]) / np.diff(keys[order])).min()
    weights = softmax(q * keys)
    spread = weights @ (keys - weights @ keys) ** 2
    return Check(float(beta * spread), float(Line(keys, values, kernel).slope([q])[0]), "χ Var_S(k) ≤ o′(q)")


def top_means(keys, values):
    """A_i, the mean of the values of the i largest keys, (n,)."""
    ordered = np.asarray(values, float)[np.argsort(-np.asarray(keys, float))]
    return np.cumsum(ordered) / np.arange(1, len(ordered) + 1)


def _one_side(seed):
    rng = np.random.default_rng([seed, 148])
    n = int(rng.integers(1, 7))
    return {"q": float(rng.exponential(2)), "keys": rng.uniform(0.3, 3) * rng.standard_normal(n),
            "values": 5 + rng.standard_normal(n)}


def _largest_key(seed=0, q=40.0):
    return {"q": q, "keys": np.array([-1.0, 0.0, 1.0]),
            "values": np.array([1.0, 1.5, 3.0]) + 0.1 * np.random.default_rng([seed, 149]).random(3)}


@statement(id="thm-barrier", title="The barrier at zero", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="softmax on a line, q ≥ 0", random=_one_side, extremal=(_largest_key,),
           broken=lambda seed: {"q": -4.0, "keys": np.array([-1.0, 0.0, 1.0]),
                                "values": np.array([3.0 + seed % 5, 1.5, 1.0])},
           breaks="q ≥ 0: a query on the other side")
def barrier(q, keys, values):
    """o(q) ≤ max_i A_i for q ≥ 0, A_i the mean of the values of the i largest keys.  Source: this book."""
    return Check(float(Line(keys, values).output([q])[0]), float(top_means(keys, values).max()), "o(q) ≤ max_i A_i")
