"""Chapter 14: what stops a query under either kernel: targets out of reach, flat ground, and wrong minima."""

from itertools import product

import numpy as np

from mhalib._array import is_positive, require, to_numpy
from mhalib.attention import Gaussian, gaussian, softmax
from mhalib.data.sequences import SequenceDataset, random_sequences
from mhalib.models.layer import AttentionLayer
from mhalib.theory.ledger import Check, statement
from mhalib.theory.lines import GRID, Line
from mhalib.theory.max_margin import nearest_in_hull
from mhalib.theory.two_kernels import KERNELS, GaussianQuery

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


def _head(keys, values, q=None, y=None):
    """keys (n, d), values (n, m), and of q (d,) and y (m,) what is given, with shapes checked, in double precision."""
    require("keys", keys, ("n", "d"))
    require("values", values, (len(keys), "m"))
    rest = {"q": (q, keys.shape[1]), "y": (y, values.shape[1])}
    rest = {name: one for name, one in rest.items() if one[0] is not None}
    for name, (a, size) in rest.items():
        require(name, a, (size,))
    return [to_numpy(a).astype(float) for a in (keys, values, *(a for a, _ in rest.values()))]


def _positive(**numbers):
    """Named numbers as floats, an array of no axis too.  Raises ValueError for one that is not finite and > 0."""
    numbers = {name: a.item() if np.ndim(a) == 0 and hasattr(a, "item") else a for name, a in numbers.items()}
    for name, number in numbers.items():
        if not is_positive(number):
            raise ValueError(f"{name}: expected a finite number > 0, got {number!r}")
    return [float(number) for number in numbers.values()]


def query_directions(layer):
    """For each token of an ``example`` the direction in which its query alone moves, with speed 1."""
    units = np.eye(layer.sizes[1])[:, None, :, None]
    return [layer.with_arrays(WQ=unit).only(("WQ",)) for unit in units]


def distance_to_hull(points, y):
    """The distance of y (m,) from the convex hull of points (p, m)."""
    require("points", points, ("p", "m"))
    require("y", y, (points.shape[1],))
    away = points - y
    return float(np.linalg.norm(nearest_in_hull(away @ away.T) @ away))


def corners(layer, x):
    """Points whose convex hull holds every output of a sample x (n, D), whatever W^Q and W^K are, (p, m).

    softmax, normalized rows: all sums of one value from each head. The Gaussian kernel: all sums of some of the values
    of all heads.
    """
    require("x", x, ("n", layer.sizes[1]))
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
    keys, values = _head(keys, values)
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
    keys, values, q = _head(keys, values, q)
    weights = kernel(kernel.scores(q[None], keys))[0]
    out, squares = weights @ values, np.maximum((values ** 2).sum(axis=1), 1e-300)
    share = np.clip(values @ out / squares, 0, 1)
    off = np.linalg.norm(share[:, None] * values - out, axis=1).min()
    apart = np.linalg.norm(keys[:, None] - keys, axis=2)[~np.eye(len(keys), dtype=bool)].min(initial=np.inf)
    w = np.exp(-kernel.c * (stretch * apart) ** 2 / (4 * len(q) ** 0.5))
    sizes = np.linalg.norm(values, axis=1)
    most = w * np.delete(sizes, weights.argmax()).sum() + 1e-14 * sizes.sum()  # room for rounding
    return Check(float(off), float(most), "dist(o, ∪ [0, 1] u_j) ≤ e^{−cg²/4√d} Σ ‖u_l‖")


LONGEST = 100_000
"""As many steps ``waits`` walks at most."""


def waiting_time(q, keys, values, y, lr, kernel, near):
    """t* such that a query far from every key that has a value keeps the distance ``near`` for all steps t ≤ t*.

    t* = (e^{c̄ℓ₀²} − e^{c̄ℓ²}) / (4 c̄² η ℓ₀² V (‖y‖ + V e^{−c̄ℓ²})), c̄ = c/√d, V = Σ‖u_j‖, ℓ = near, ℓ₀ the distance now.
    By logarithms: inf only if t* is too large a number.

    Raises
    ------
    ValueError
        for wrong shapes, no key with a value, a step size or a distance that is not positive, ℓ < (2c̄)^{−1/2}, ℓ ≥ ℓ₀.

    Source: this book.
    """
    keys, values, q, y = _head(keys, values, q, y)
    (lr, near), b = _positive(lr=lr, near=near), kernel.c / len(q) ** 0.5
    far, V = _distance(q, keys, values), np.linalg.norm(values, axis=1).sum()
    if not (2 * b) ** -0.5 * (1 - 1e-12) <= near < far:
        raise ValueError(f"near: expected a distance from {(2 * b) ** -0.5:g} = (√d/2c)^½ to below {far:g}, where the "
                         f"nearest key with a value is, got {near:g}")
    with np.errstate(divide="ignore", over="ignore"):  # log 0 of a target 0, and a time beyond all numbers
        pull = np.log(V) + np.logaddexp(np.log(np.linalg.norm(y)), np.log(V) - b * near ** 2)
        rise = b * far ** 2 + np.log(-np.expm1(b * (near - far) * (near + far)))
        return float(np.exp(rise - pull - np.log(4) - 2 * np.log(b * far) - np.log(lr)))


def _distance(q, keys, values):
    """The distance of q (d,) to the nearest of the keys (n, d) whose value (m,) is not zero."""
    alive = (values != 0).any(axis=1)
    if not alive.any():
        raise ValueError("values: expected a key with a value that is not zero, got none")
    return float(np.linalg.norm(keys[alive] - q, axis=1).min())


def _far(seed):
    rng = np.random.default_rng([seed, 144])
    n, d, m = (int(size) for size in rng.integers(1, 4, size=3))
    kernel, away = Gaussian(rng.uniform(0.3, 1.5)), rng.standard_normal(d)
    near = (2 * kernel.c / d ** 0.5) ** -0.5 * rng.uniform(1, 1.5)
    keys = rng.standard_normal((n, d))
    away /= np.linalg.norm(away)
    q = away * ((keys @ away).max() + near + rng.uniform(1, 4))  # no key is nearer than that
    y = 10 ** rng.uniform(0, 2) * rng.standard_normal(m)
    return _timed({"q": q, "keys": keys, "values": rng.standard_normal((n, m)), "y": y, "near": near}, kernel,
                  int(rng.integers(1, 20)))


def _timed(instance, kernel, steps):
    """With the step size for which the theorem says t* = ``steps``."""
    return instance | {"kernel": kernel, "lr": waiting_time(**instance, lr=1.0, kernel=kernel) / steps}


def _coming(others=(), y=1e3):
    """A key with the value 1, and a target so large that the residual stays the same; a second key at −4."""
    values = np.array([1.0, *others])[:, None]
    return _timed({"q": np.zeros(1), "keys": np.array([[4.0], [-4.0]])[:len(values)], "values": values,
                   "y": np.array([y]), "near": 3.9}, gaussian, 40)


@statement(id="thm-waiting", title="Far from every key: how long a query waits", mark="ours", source="this book",
           chapter=CHAPTER, random=_far, extremal=(_coming,),
           assumptions="Gaussian kernel, one query by itself, ℓ₀ > ℓ ≥ (√d/2c)^½",
           broken=lambda seed: _coming((0.0,), 1e3 + seed) | {"mover": softmax}, breaks="the Gaussian kernel: softmax")
def waits(q, keys, values, y, lr, kernel, near, mover=None):
    """No query is within ℓ of a key with a value at a step t ≤ t* = ``waiting_time``, and its loss until then is at
    least ½(‖y‖ − V e^{−c̄ℓ²})², if V e^{−c̄ℓ²} ≤ ‖y‖.

    lhs is the larger of t* over the first step within ℓ, and of the bound of the loss over the least loss; rhs 1.

    Raises
    ------
    ValueError
        as ``waiting_time``, and if t* is more than ``LONGEST`` steps.

    Source: this book.
    """
    T = waiting_time(q, keys, values, y, lr, kernel, near)
    if not T <= LONGEST:
        raise ValueError(f"lr: expected a step size for which t* is at most {LONGEST:,} steps, got {float(lr):g} "
                         f"with t* = {T:g}")
    keys, values, q, y = _head(keys, values, q, y)
    reach = np.linalg.norm(values, axis=1).sum() * np.exp(-kernel.c / len(q) ** 0.5 * near ** 2)
    arrived, least = first_within(q, keys, values, y, float(lr), mover or kernel, near, int(T) + 2)
    bound = max(np.linalg.norm(y) - reach, 0.0) ** 2 / 2
    return Check(float(np.max([T / arrived, bound / max(least, 1e-300)])), 1.0,
                 "t* / first step within ℓ of a key, and bound / loss, are ≤ 1")


def first_within(q, keys, values, y, lr, kernel, near, steps):
    """The first step of gradient descent with the query within ``near`` of a key with a value, or the last of
    ``steps``, and its least loss before that.
    """
    t, least = 0, np.inf
    while t < steps and _distance(q, keys, values) >= near:
        S = kernel(kernel.scores(q[None], keys))
        off = S @ values - y
        q, t = q - lr * kernel.scores_vjp(q[None], keys, kernel.vjp(S, off @ values.T))[0][0], t + 1
        least = min(least, float((off ** 2).sum()) / 2)
    return t, least


def _wells(seed):
    """A value on the way to its target, and other keys just so far away that all that the theorem asks for holds."""
    rng = np.random.default_rng([seed, 145])
    n, d, m = (int(size) for size in rng.integers(1, 5, size=3))
    values = rng.standard_normal((n, m))
    y = (1 + rng.uniform(0, 2)) * values[0] + 0.2 * rng.standard_normal(m)
    y = y if y @ values[0] >= values[0] @ values[0] else 2 * values[0]
    kernel, keys, w = Gaussian(10 ** rng.uniform(-1, 1)), rng.standard_normal((n, d)), rng.uniform(0.1, 0.9)
    while not _is_well(w, _spill(w, values), values[0], y):
        w *= 0.8
    if n > 1:
        keys *= well_radius(w, kernel, d) / np.linalg.norm(keys[1:] - keys[0], axis=1).min() * 2
    size = 10 ** rng.uniform(-2, 2)
    return {"keys": keys, "values": size * values, "y": size * y, "kernel": kernel,
            "toward": rng.standard_normal((20, d))}


def well_radius(w, kernel, d):
    """g/2 for which w = e^{−c̄g²/4}."""
    return (-np.log(w) * d ** 0.5 / kernel.c) ** 0.5


def _spill(w, values):
    """ε = w Σ_{l≠1} ‖u_l‖."""
    return w * np.linalg.norm(values[1:], axis=1).sum()


def _is_well(w, eps, u, y):
    """u·y ≥ ‖u‖², z > ε, and ‖wu − y‖ − ε > z + ε, with z = ‖u − y‖."""
    z = np.linalg.norm(u - y)
    return u @ y >= u @ u * (1 - 1e-12) and z > eps and np.linalg.norm(w * u - y) - eps > z + eps


def _lonely():
    """Another key that has no value: ε = 0."""
    return {"keys": np.array([[0.0], [4.0]]), "values": np.array([[1.0], [0.0]]), "y": np.array([2.0]),
            "kernel": gaussian, "toward": np.array([[1.0], [-1.0]])}


def _crowded(seed):
    """A key with a larger value, nearer than the distance that the theorem is told."""
    y = 3 + np.random.default_rng([seed, 146]).random(1)
    return _lonely() | {"keys": np.array([[0.0], [2.0]]), "values": np.array([[1.0], [2.0]]), "y": y, "stretch": 3.0}


@statement(id="thm-wells", title="A key that is not enough is a trap", mark="ours", source="this book",
           chapter=CHAPTER, random=_wells, extremal=(_lonely,), broken=_crowded, breaks="other keys g away: a larger g",
           assumptions="Gaussian kernel, u_j·y ≥ ‖u_j‖², z > ε, ‖w u_j − y‖ − ε > z + ε, other keys g away")
def wells(keys, values, y, kernel, toward, stretch=1.0):
    """Around the first key is a local minimum q* with z − ε ≤ ‖o − y‖ ≤ z + ε, z = ‖u − y‖, at a distance below g/2.

    Also ‖o − y‖ ≤ z + ε at the key, ≥ z − ε within g/2, ≥ ‖w u − y‖ − ε at g/2. w, ε are those of ``spare``; a key
    alone has every g, here that with w = e⁻⁴. lhs is the largest of left over right sides (each + ε), the way to q*
    over g/2, and what is left of the slope at q* over what rounding may leave; rhs 1. ``toward`` (r, d) are the
    directions that are tried.

    Raises
    ------
    ValueError
        if a shape is wrong, or the theorem asks for more than y has.

    Source: this book.
    """
    keys, values, y = _head(keys, values, y=y)
    require("toward", toward, ("r", keys.shape[1]))
    radius = stretch * np.linalg.norm(keys[1:] - keys[0], axis=1).min(initial=np.inf) / 2
    radius = radius if len(keys) > 1 else well_radius(np.exp(-4), kernel, keys.shape[1])
    w = np.exp(-kernel.c * radius ** 2 / keys.shape[1] ** 0.5)
    eps, z, edge = _spill(w, values), np.linalg.norm(values[0] - y), np.linalg.norm(w * values[0] - y)
    if not _is_well(w, eps, values[0], y):
        raise ValueError(f"y: expected u·y ≥ ‖u‖², ‖u − y‖ > ε, and ‖wu − y‖ − ε > ‖u − y‖ + ε for the first value u, "
                         f"got u·y = {values[0] @ y:g}, ‖u‖ = {np.linalg.norm(values[0]):g}, ‖u − y‖ = {z:g}, "
                         f"‖wu − y‖ = {edge:g}, ε = {eps:g}")
    one = GaussianQuery(keys, values, y, kernel)
    sphere = [keys[0] + radius * way / np.linalg.norm(way) for way in to_numpy(toward)]
    inside = min(one.off(keys[0] + share * (q - keys[0])) for share in (0.3, 0.6, 0.9, 1.0) for q in sphere)
    q, slope = one.bottom(radius)
    parts = [one.off(keys[0]) / (z + eps), z / (inside + eps), edge / (min(map(one.off, sphere)) + eps),
             one.off(q) / (z + eps), z / (one.off(q) + eps), np.linalg.norm(q - keys[0]) / radius, slope]
    return Check(float(np.max(parts)), 1.0, "a minimum within g/2 of the key, z − ε ≤ ‖o − y‖ ≤ z + ε there")


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
    keys, values = _on_line(keys, values)
    order = np.argsort(keys)
    beta = (np.diff(values[order]) / np.diff(keys[order])).min()
    weights = softmax(q * keys)
    spread = weights @ (keys - weights @ keys) ** 2
    return Check(float(beta * spread), float(Line(keys, values, kernel).slope([q])[0]), "χ Var_S(k) ≤ o′(q)")


def _on_line(keys, values):
    """Keys and values (n,) in double precision.  Raises ValueError for other shapes and for keys that are equal."""
    keys, values = (np.asarray(a, float) for a in (keys, values))
    require("keys", keys, ("n",))
    require("values", values, keys.shape)
    if len(np.unique(keys)) < len(keys):
        raise ValueError(f"keys: expected distinct numbers, got {len(keys)} with {len(np.unique(keys))} different ones")
    return keys, values


def top_means(keys, values):
    """A_i, the mean of the values of the i largest keys, (n,)."""
    keys, values = _on_line(keys, values)
    return np.cumsum(values[np.argsort(-keys)]) / np.arange(1, len(keys) + 1)


def _one_side(seed):
    """Every second time the second largest key has a larger value than the largest, which has a large one."""
    rng = np.random.default_rng([seed, 148])
    n, (wide, high) = int(rng.integers(1, 7)), 10 ** rng.uniform([-1, -2], [1, 2])
    keys, values = np.cumsum(rng.uniform(0.2, 1.5, size=n)) - 3, rng.standard_normal(n)
    if seed % 2:
        values.sort()
        values[-2:] = values[-2:][::-1]
    y = top_means(keys, values).max() + rng.exponential()
    order = rng.permutation(n)
    return {"q": float(rng.exponential(2)) / wide, "keys": wide * keys[order],
            "values": high * (values[order] + 2), "y": float(high * (y + 2))}


def _largest_key(q=40.0):
    return {"q": q, "keys": np.array([-1.0, 0.0, 1.0]), "values": np.array([1.0, 1.5, 3.0]), "y": 4.0}


def _other_side(seed):
    """Values that fall with the keys, and a query that looks at the least key."""
    rng = np.random.default_rng([seed, 149])
    values = np.array([3.0, 1.5, 1.0]) + [rng.uniform(0, 4), 0, 0]
    return {"q": -rng.uniform(3, 6), "keys": np.array([-1.0, 0.0, 1.0]), "values": values,
            "y": float(values.mean() + rng.uniform(0.1, 1))}


@statement(id="thm-barrier", title="The barrier at zero", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="softmax on a line, distinct keys, q ≥ 0, max_i A_i < y", random=_one_side,
           extremal=(_largest_key,), broken=_other_side, breaks="q ≥ 0: a query on the other side")
def barrier(q, keys, values, y):
    """min_i A_i ≤ o(q) ≤ max_i A_i for q ≥ 0, A_i the mean of the values of the i largest keys, (n,); and for
    max_i A_i < y: φ ≥ ½(y − max_i A_i)² there; gradient flow from q > 0 with o(q) > A_n stays on q > 0; if A_n ≤ A_1,
    and the second largest key has a larger value than the largest, φ has a minimum at some q > 0.

    lhs is the largest of (y − o)/(y − min A), (y − min A − (max A − o))/(y − min A), the bound of φ over φ, the share
    of the way to 0 that flow goes, and φ at its minimum over its limits at 0 and ∞; rhs 1.

    Raises
    ------
    ValueError
        for wrong shapes, equal keys, or a target that is not above max_i A_i.

    Source: this book.
    """
    keys, values = _on_line(keys, values)
    A, line = top_means(keys, values), Line(keys, values)
    low, high = float(A.min()), float(A.max())
    if np.ndim(q) or not np.isfinite(q):
        raise ValueError(f"q: expected a finite number, got {q!r}")
    if np.ndim(y) or not high < y < np.inf:
        raise ValueError(f"y: expected a number above max A_i = {high:g}, got {y!r}")
    o = float(line.output([q])[0])
    parts = [(y - o) / (y - low), (y - low - (high - o)) / (y - low), (y - high) ** 2 / max((y - o) ** 2, 1e-300)]
    hills = tops(line)
    if q > 0 and o > A[-1] + 1e-14 * abs(values).max():
        parts.append(1 - resting_place(line, q, hills) / q)
    if len(keys) > 1 and A[-1] <= A[0] and A[1] > A[0]:  # A₂ > A₁: u₍₂₎ > u₍₁₎
        outputs = line.output(hills[hills > 0])
        parts.append((y - outputs.max(initial=-np.inf)) ** 2 / (y - A[0]) ** 2)
    return Check(float(np.max(parts)), 1.0, "min_i A_i ≤ o(q) ≤ max_i A_i for q ≥ 0, and what follows for φ")


def tops(line):
    """The queries (t,) at which the output of a ``Line`` of softmax has its maxima, looked for at two scales."""
    gaps = np.diff(np.sort(line.keys))
    if not gaps.size:
        return np.zeros(0)
    _, q, top = line.turns(np.unique(np.concatenate([GRID / gaps.min(), 4 * GRID / gaps.sum()])))
    return q[top]


def resting_place(line, q, hills):
    """Where flow from q ends that raises the output of a ``Line``, whose maxima are the ``hills``: q if that is to the
    right, −∞ if no maximum is on the left.
    """
    return q if line.trend(np.array([q]))[0] >= 0 else float(hills[hills < q].max(initial=-np.inf))
