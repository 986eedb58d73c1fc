"""Chapter 14: what stops a query under either kernel: flat ground, and wrong minima."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from livegrad.arrays import Array, is_positive, require, to_numpy
from mhabook.c01_model.instances import between
from mhabook.c12_two_kernels.statements import GaussianQuery, Kernel
from mhabook.c14_traps.lines import GRID, Line
from mhabook.c14_traps.reach import CHAPTER, FURTHER, query_arrays
from mhabook.ledger import Check, Checks, statement
from mhalib.attention import Gaussian, gaussian, normalized_gaussian, softmax
from mhalib.data.sequences import SequenceDataset
from mhalib.models.layer import AttentionLayer

EXAMPLES = {
    "B1": {
        "keys": (1.0, -1.0, 0.0),
        "values": (1.0, 1.0, 0.0),
        "y": 0.5,
        "start": (0.8, -0.3, 0.1),
        "lr": 1.0,
    },
    "B2": {
        "keys": (-2.0, -1.0, 1.0, 2.0),
        "values": (3.0, -2.0, 2.0, 1.0),
        "y": 2.0,
        "start": (0.3, 0.8, 1.2, 1.6),
        "lr": 0.1,
    },
    "B3": {"keys": (-5.0, 5.0), "values": (0.0, 1.0), "y": 0.9, "start": (-1.0,), "lr": 1.0},
    "B4": {"keys": (-2.0, 2.0), "values": (1.0, 2.0), "y": 1.5, "start": (-1.0,), "lr": 0.5},
}
"""Keys and values on a line, a target for every query, where the queries start, and the step
size."""


def example(
    name: str, kernel: Kernel, start: Sequence[float] | None = None, tokens: int | None = None
) -> tuple[AttentionLayer, SequenceDataset]:
    """An example as a layer and its data: tokens X = I, so that W^Q, W^K and U = W^V W^O are the
    queries, keys, values.

    The layer has as many queries as keys: a shorter start is repeated. ``tokens`` targets count,
    the others are the outputs at the start, so that their queries stand still.
    """
    one = EXAMPLES[name]
    n = len(one["keys"])
    queries = np.resize(np.asarray(one["start"] if start is None else start, float), n)
    layer, X = on_line(queries, one["keys"], one["values"], kernel), np.eye(n)[None]
    y = np.full((1, n, 1), one["y"])
    counted = (
        min(n, len(one["start"]) if start is None else np.size(start)) if tokens is None else tokens
    )
    y[:, counted:] = layer(X)[:, counted:]
    return layer, SequenceDataset(X, y)


def on_line(
    queries: ArrayLike, keys: ArrayLike, values: ArrayLike, kernel: Kernel
) -> AttentionLayer:
    """The layer whose tokens X = I have these queries, keys and values, (n,) each, on a line."""
    columns = (np.asarray(column, float).reshape(1, -1, 1) for column in (queries, keys, values))
    return AttentionLayer(*columns, np.ones((1, 1, 1)), kernel)


def lifted(name: str, kernel: Kernel, lift: float) -> tuple[AttentionLayer, SequenceDataset]:
    """An ``example`` in two dimensions: keys (k, lift k²), queries (q, 0), and one more value
    column that is zero.

    Scores are divided by √2 there, so at lift 0 a Gaussian kernel is that of the line with c/√2.
    """
    layer, data = example(name, kernel)
    zero = np.zeros_like(layer.WK)
    WQ, WV = (np.concatenate([W, zero], axis=2) for W in (layer.WQ, layer.WV))
    WK = np.concatenate([layer.WK, lift * layer.WK**2], axis=2)
    return AttentionLayer(WQ, WK, WV, np.array([[[1.0], [0.0]]]), kernel), data


def _positive(**numbers):
    """Named numbers as floats, an array of no axis too. Raises ValueError for one that is not
    finite and > 0."""
    numbers = {
        name: a.item() if np.ndim(a) == 0 and hasattr(a, "item") else a
        for name, a in numbers.items()
    }
    for name, number in numbers.items():
        if not is_positive(number):
            raise ValueError(f"{name}: expected a finite number > 0, got {number!r}")
    return [float(number) for number in numbers.values()]


def query_directions(layer: AttentionLayer) -> list[AttentionLayer]:
    """For each token of an ``example`` the direction in which its query alone moves, with speed
    1."""
    units = np.eye(layer.sizes[1])[:, None, :, None]
    return [layer.with_arrays(WQ=unit).only(("WQ",)) for unit in units]


def spare(kernel: Gaussian, keys: Array, values: Array) -> tuple[np.ndarray, np.ndarray]:
    """Per key: (w, ε) (n,), w = e^{−cg²/4√d} with the distance g to the nearest other key, ε = w
    Σ_{l≠j} ‖u_l‖."""
    keys, values = query_arrays(keys, values)
    apart = np.linalg.norm(keys[:, None] - keys, axis=2) + np.diag(np.full(len(keys), np.inf))
    w = np.exp(-kernel.c * apart.min(axis=1) ** 2 / (4 * keys.shape[1] ** 0.5))
    sizes = np.linalg.norm(values, axis=1)
    return w, w * (sizes.sum() - sizes)


LONGEST = 100_000
"""As many steps ``waits`` walks at most."""


def waiting_time(
    q: Array, keys: Array, values: Array, y: Array, lr: float, kernel: Gaussian, near: float
) -> float:
    """t* such that a query far from every key that has a value keeps the distance ``near`` for all
    steps t ≤ t*.

    t* = (e^{c̄ℓ₀²} − e^{c̄ℓ²}) / (4 c̄² η ℓ₀² Ω (‖y‖ + Ω e^{−c̄ℓ²})), c̄ = c/√d, Ω = Σ‖u_j‖, ℓ =
    near, ℓ₀ the distance now. By logarithms: inf only if t* is too large a number.

    Raises ValueError for wrong shapes, no key with a value, a step size or a distance that is not
    positive, ℓ < (2c̄)^{−1/2}, ℓ ≥ ℓ₀. Source: this book.
    """
    keys, values, q, y = query_arrays(keys, values, q, y)
    (lr, near), b = _positive(lr=lr, near=near), kernel.c / len(q) ** 0.5
    far, V = _distance(q, keys, values), np.linalg.norm(values, axis=1).sum()
    # From (2c̄)^{−1/2} on xe^{−c̄x²} falls, so that the pull at ℓ bounds that from farther away.
    if not (2 * b) ** -0.5 * (1 - 1e-12) <= near < far:
        raise ValueError(
            f"near: expected a distance from {(2 * b) ** -0.5:g} = (√d/2c)^½ to below {far:g}, "
            f"where the nearest key with a value is, got {near:g}"
        )
    # log 0 of a target 0, and a time beyond all numbers
    with np.errstate(divide="ignore", over="ignore"):
        pull = np.log(V) + np.logaddexp(np.log(np.linalg.norm(y)), np.log(V) - b * near**2)
        # ln(e^{c̄ℓ₀²} − e^{c̄ℓ²}), with the first power taken out so that none overflows, and ℓ² −
        # ℓ₀² as a product so that it does not cancel.
        rise = b * far**2 + np.log(-np.expm1(b * (near - far) * (near + far)))
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
    near = (2 * kernel.c / d**0.5) ** -0.5 * rng.uniform(1, 1.5)
    keys = rng.standard_normal((n, d))
    away /= np.linalg.norm(away)
    q = away * ((keys @ away).max() + near + rng.uniform(1, 4))  # no key is nearer than that
    y = 10 ** rng.uniform(0, 2) * rng.standard_normal(m)
    return _timed(
        {"q": q, "keys": keys, "values": rng.standard_normal((n, m)), "y": y, "near": near},
        kernel,
        int(rng.integers(1, 20)),
    )


def _timed(instance, kernel, steps):
    """With the step size for which the theorem says t* = ``steps``."""
    return instance | {
        "kernel": kernel,
        # t* goes as 1/η.
        "lr": waiting_time(**instance, lr=1.0, kernel=kernel) / steps,
    }


def _coming(others=(), y=1e3, d=1, steps=400, c=gaussian.c, at=4.0):
    """A key with the value 1 at 4, and a target so large that the residual stays the same; a second
    key at −4."""
    values = np.array([1.0, *others])[:, None]
    return _timed(
        {
            "q": np.zeros(d),
            "keys": np.array([[at], [-at]])[: len(values)] * np.eye(1, d),
            "values": values,
            "y": np.array([y]),
            "near": 0.9975 * at,
        },
        Gaussian(c),
        steps,
    )


def _shared():
    """``_coming`` with the value divided among five keys, and a thousandth of it far away."""
    one = _coming()
    keys, values = np.append(np.full(5, 4.0), 40.0), np.append(np.full(5, 0.2), 0.001)
    return _timed(
        {name: one[name] for name in ("q", "y", "near")}
        | {"keys": keys[:, None], "values": values[:, None]},
        gaussian,
        400,
    )


def _may_wait(q, keys, values, kernel, near, **_):
    return {
        "Gaussian kernel": not kernel.normalized,
        "ℓ ≥ (2c̄)^{−1/2}": near >= (len(q) ** 0.5 / (2 * kernel.c)) ** 0.5 * (1 - 1e-12),
        "ℓ₀ > ℓ": _distance(q, keys, values) > near,
    }


@statement(
    id="thm-waiting",
    title="Far from every key: how long a query waits",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    random=_far,
    # With the target 0 the output is all of the loss, and it is shorter than Ω e^{−c̄ℓ²}.
    # Several keys may carry the value, one far away hardly any; and a sharp kernel has short distances.
    extremal=(
        _coming,
        lambda: _coming(d=4, steps=100),
        lambda: _coming(y=0.0, steps=10),
        _shared,
        lambda: _coming(y=0.0, steps=10, c=50.0, at=0.4),
        lambda: _coming(c=0.01, at=8.0),
        # A key with a larger value of the other sign drives the query on, and y hardly does.
        lambda: _coming(others=(-5.0,), y=1e-9),
        # As near as the theorem allows.
        lambda: _coming(c=50.0, at=0.1 / 0.9975),
    ),
    assumptions="Gaussian kernel; one query; ℓ₀ > ℓ; ℓ ≥ (2c̄)^{−1/2}",
    broken=lambda seed: _coming((0.0,), 1e3 + seed),
    breaks="the Gaussian kernel: softmax",
    false_claim=lambda **instance: _waited(**instance, mover=softmax),
    hypotheses=_may_wait,
    counterexamples=(lambda: _coming((0.0,)) | {"kernel": normalized_gaussian},),
    refused=(
        lambda: _coming() | {"near": 0.1},
        lambda: _coming(c=50.0, at=0.4) | {"near": 0.0995},
        lambda: _coming() | {"near": 5.0},
    ),
)
def waits(
    q: Array, keys: Array, values: Array, y: Array, lr: float, kernel: Gaussian, near: float
) -> Checks:
    """No query is within ℓ of a key with a value at a step t ≤ t* = ``waiting_time``, and its loss
    until then is at least ½(‖y‖ − Ω e^{−c̄ℓ²})², if Ω e^{−c̄ℓ²} ≤ ‖y‖.

    Raises ValueError as ``waiting_time``, and if t* is more than ``LONGEST`` steps. Source: this
    book.
    """
    return _waited(q, keys, values, y, lr, kernel, near, kernel)


def _waited(q, keys, values, y, lr, kernel, near, mover):
    """For a query that moves under the kernel ``mover``."""
    T = waiting_time(q, keys, values, y, lr, kernel, near)
    if not T <= LONGEST:
        raise ValueError(
            f"lr: expected a step size for which t* is at most {LONGEST:,} steps, got "
            f"{float(lr):g} with t* = {T:g}"
        )
    keys, values, q, y = query_arrays(keys, values, q, y)
    reach = np.linalg.norm(values, axis=1).sum() * np.exp(-kernel.c / len(q) ** 0.5 * near**2)
    arrived, least = first_within(q, keys, values, y, float(lr), mover, near, int(T) + 2)
    bound = max(np.linalg.norm(y) - reach, 0.0) ** 2 / 2
    return (
        Check(float(T), float(arrived), "t* ≤ the first step within ℓ of a key"),
        Check(float(bound), float(least), "½(‖y‖ − V e^{−c̄ℓ²})² ≤ the loss until then"),
    )


def first_within(
    q: Array,
    keys: Array,
    values: Array,
    y: Array,
    lr: float,
    kernel: Kernel,
    near: float,
    steps: int,
) -> tuple[int, float]:
    """The first step of gradient descent with the query within ``near`` of a key with a value, or
    the last of ``steps``, and its least loss before that.
    """
    t, least = 0, np.inf
    while t < steps and _distance(q, keys, values) >= near:
        S = kernel(kernel.scores(q[None], keys))
        off = S @ values - y
        q, t = q - lr * kernel.scores_vjp(q[None], keys, kernel.vjp(S, off @ values.T))[0][0], t + 1
        least = min(least, float((off**2).sum()) / 2)
    return t, least


def _wells(seed):
    """A value on the way to its target, and other keys just so far away that all that the theorem
    asks for holds."""
    rng = np.random.default_rng([seed, 145])
    n, d, m = (int(size) for size in rng.integers(1, 5, size=3))
    values = rng.standard_normal((n, m))
    y = (1 + rng.uniform(0, 2)) * values[0] + 0.2 * rng.standard_normal(m)
    y = y if y @ values[0] >= values[0] @ values[0] else 2 * values[0]
    kernel = Gaussian(10 ** rng.uniform(-1, 1))
    keys = rng.standard_normal((n, d))
    w = rng.uniform(0.1, 0.9)
    while not all(_is_well(w, _spill(w, values), values[0], y).values()):
        w *= 0.8
    if n > 1:
        # Stretched until the nearest other key is at the distance g for which w = e^{−c̄g²/4}.
        keys *= well_radius(w, kernel, d) / np.linalg.norm(keys[1:] - keys[0], axis=1).min() * 2
    size = 10 ** rng.uniform(-2, 2)
    return {
        "keys": keys,
        "values": size * values,
        "y": size * y,
        "kernel": kernel,
        "toward": rng.standard_normal((20, d)),
    }


def well_radius(w: float, kernel: Gaussian, d: int) -> float:
    """g/2 for which w = e^{−c̄g²/4}."""
    return (-np.log(w) * d**0.5 / kernel.c) ** 0.5


def _spill(w, values):
    """ε = w Σ_{l≠1} ‖u_l‖."""
    return w * np.linalg.norm(values[1:], axis=1).sum()


def _is_well(w, eps, u, y):
    """Condition → bool: u·y ≥ ‖u‖², z > ε, and ‖wu − y‖ − ε > z + ε, with z = ‖u − y‖."""
    z = np.linalg.norm(u - y)
    return {
        "u_j·y ≥ ‖u_j‖²": u @ y >= u @ u * (1 - 1e-12),
        "z > ε": z > eps,
        "‖w u_j − y‖ − ε > z + ε": np.linalg.norm(w * u - y) - eps > z + eps,
    }


def _gap(keys):
    """The distance of the first key to the nearest other one."""
    return np.linalg.norm(keys[1:] - keys[0], axis=1).min(initial=np.inf)


def _ball(keys, values, kernel, g=None):
    """Around the first key: g/2, or for a key alone the one with w = e⁻⁴, and w and ε."""
    radius = (
        (_gap(keys) if g is None else g) / 2
        if len(keys) > 1
        else well_radius(np.exp(-4), kernel, keys.shape[1])
    )
    w = np.exp(-kernel.c * radius**2 / keys.shape[1] ** 0.5)
    return radius, w, _spill(w, values)


def _holds_a_key(keys, values, y, kernel, g=None, **_):
    one = {
        "Gaussian kernel": not kernel.normalized,
        "every other key is at distance at least g": g is None or g <= _gap(keys),
    }
    return one | _is_well(*_ball(keys, values, kernel, g)[1:], values[0], y)


def _lonely():
    """Another key that has no value: ε = 0."""
    return {
        "keys": np.array([[0.0], [4.0]]),
        "values": np.array([[1.0], [0.0]]),
        "y": np.array([2.0]),
        "kernel": gaussian,
        "toward": np.array([[1.0], [-1.0]]),
    }


def _helped():
    """Another key whose value adds to the first: o is nearer to y than u is, within ε."""
    radius = well_radius(0.7, gaussian, 1)
    return {
        "keys": np.array([[0.0], [2 * radius]]),
        "values": np.array([[1.0], [0.2]]),
        "y": np.array([1.5]),
        "kernel": gaussian,
        "toward": np.array([[1.0], [-1.0]]),
    }


def _beside(radius=0.03):
    """A small ball, not around 0; and a key with the value y where the ball would reach if it was
    not moved to the first key."""
    return {
        "keys": radius * np.array([[1.0], [3.0]]),
        "values": np.array([[1.0], [2.0]]),
        "y": np.array([2.0]),
        "kernel": Gaussian(3 / radius**2),
        "toward": np.array([[1.0], [-1.0], [1.0]]),
    }


def _crowded(seed):
    """A key with a larger value, nearer than the distance that the theorem is told."""
    y = 3 + np.random.default_rng([seed, 146]).random(1)
    return _lonely() | {
        "keys": np.array([[0.0], [2.0]]),
        "values": np.array([[1.0], [2.0]]),
        "y": y,
        "g": 6.0,
    }


@statement(
    id="thm-wells",
    title="A key whose value is too small is a trap",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    random=_wells,
    # In the two that are drawn, flow from where the theorem does not begin leaves the ball.
    extremal=(_lonely, _helped, lambda: _wells(15), lambda: _wells(30), _beside),
    slack=(1e-9, 1e-9),
    broken=_crowded,
    breaks="every other key is at distance at least g: a larger g",
    assumptions="Gaussian kernel; every other key is at distance at least g; u_j·y ≥ ‖u_j‖²; z "
    "> ε; ‖w u_j − y‖ − ε > z + ε",
    hypotheses=_holds_a_key,
    refused=(
        lambda: _lonely() | {"y": np.array([0.9])},
        lambda: _lonely() | {"y": np.array([1.0])},
        lambda: _lonely() | {"y": np.array([11.0]), "values": np.array([[1.0], [20.0]])},
    ),
)
def wells(
    keys: Array, values: Array, y: Array, kernel: Gaussian, toward: Array, g: float | None = None
) -> Checks:
    """Around the first key, at a distance below g/2, is a local minimum q* with z − ε ≤ ‖o − y‖ ≤
    z + ε, z = ‖u − y‖; and flow that starts there with ‖o − y‖ < ‖w u − y‖ − ε stays there.

    Its proof: ‖o − y‖ ≤ z + ε at the key, ≥ z − ε within g/2, ≥ ‖w u − y‖ − ε at g/2. w, ε are
    those of ``spare``; a key alone has every g, here that with w = e⁻⁴. The slope at q* is in units
    of its rounding. ``toward`` (r, d) are the directions that are tried.

    Raises ValueError if a shape is wrong, or the theorem asks for more than y has. Source: this
    book.
    """
    keys, values, y = query_arrays(keys, values, y=y)
    require("toward", toward, ("r", keys.shape[1]))
    radius, w, eps = _ball(keys, values, kernel, g)
    z, edge = np.linalg.norm(values[0] - y), np.linalg.norm(w * values[0] - y)
    if not all(_is_well(w, eps, values[0], y).values()):
        raise ValueError(
            f"y: expected u·y ≥ ‖u‖², ‖u − y‖ > ε, and ‖wu − y‖ − ε > ‖u − y‖ + ε for the first "
            f"value u, got u·y = {values[0] @ y:g}, ‖u‖ = {np.linalg.norm(values[0]):g}, ‖u − y‖ "
            f"= {z:g}, ‖wu − y‖ = {edge:g}, ε = {eps:g}"
        )
    one = GaussianQuery(keys, values, y, kernel)
    sphere = [keys[0] + radius * way / np.linalg.norm(way) for way in to_numpy(toward)]
    ball = [keys[0] + share * (q - keys[0]) for share in (0.3, 0.6, 0.9, 1.0) for q in sphere]
    q, slope = one.bottom(radius)
    starts = [keys[0] + share * (at - keys[0]) for share in (0.0, 0.6, 0.9) for at in sphere[:3]]
    # At the share 0 the three directions give one point, the key: once is enough.
    starts = [at for at in starts[2:] if one.off(at) < edge - eps]
    claims = {
        "‖o − y‖ ≤ z + ε at the key": (one.off(keys[0]), z + eps),
        "z − ε ≤ ‖o − y‖ within g/2": (z, min(map(one.off, ball)) + eps),
        "‖w u − y‖ − ε ≤ ‖o − y‖ at g/2": (edge, min(map(one.off, sphere)) + eps),
        "‖o − y‖ ≤ z + ε at the minimum": (one.off(q), z + eps),
        "z − ε ≤ ‖o − y‖ at the minimum": (z, one.off(q) + eps),
        "the minimum is within g/2": (np.linalg.norm(q - keys[0]), radius),
        "its slope is rounding": (slope, 1.0),
        # A step is 5 % of the radius, which is as far as it may overshoot.
        "flow stays within g/2": (_farthest(one, starts, radius), 1.05 * radius),
    }
    return tuple(Check(float(lhs), float(rhs), claim) for claim, (lhs, rhs) in claims.items())


def _farthest(one, starts, radius, steps=30):
    """How far from the first key flow of φ from the ``starts`` gets: steps along −∇φ of 5 % of the
    radius each."""
    far = 0.0
    for q in starts:
        for _ in range(steps):
            slope = one.derivatives(q)[0]
            q = q - 0.05 * radius * slope / (np.linalg.norm(slope) + 1e-300)
            far = max(far, np.linalg.norm(q - one.keys[0]))
    return far


def _rising(seed):
    rng = np.random.default_rng([seed, 147])
    n = int(rng.integers(2, 7))
    keys, values = (np.cumsum(rng.uniform(0.05, 1.5, size=n)) for _ in range(2))
    y = values[0] + rng.uniform(0.02, 0.98) * (values[-1] - values[0])
    return {"q": float(rng.uniform(-3, 3)), "keys": keys, "values": values, "y": float(y)}


def _equal_slopes():
    return {
        "q": 0.5,
        "keys": np.array([-1.0, 0.0, 2.0]),
        # u = 2k: all slopes are χ = 2, and o′ = 2 Var_S(k).
        "values": np.array([-2.0, 0.0, 4.0]),
        "y": 1.0,
    }


def _far_right():
    # Of the least key is e⁻²⁴ left, and of the slopes the least, between the other two.
    return {"q": 12.0, "keys": np.arange(3.0), "values": np.array([0.0, 10.0, 11.0]), "y": 5.0}


def _not_rising(seed):
    """In turn a Gaussian query right of the keys, and a target above the mean of two values at the
    largest key."""
    if seed % 2:
        return _rising(seed) | {"kernel": gaussian, "q": 20.0}
    y = between(seed, 2.05, 2.95)
    return {
        "q": 0.5,
        "keys": np.array([0.0, 1.0, 1.0]),
        "values": np.array([0.0, 1.0, 3.0]),
        "y": y,
    }


def _falling():
    """Values of B2, which do not increase with the keys."""
    keys, values = (np.array(EXAMPLES["B2"][name]) for name in ("keys", "values"))
    return {"q": 1.0, "keys": keys, "values": values, "y": 2.0}


def _slopes(keys, values):
    """(u_j − u_i)/(k_j − k_i) for all i, j with k_i < k_j, (pairs,)."""
    rise, run = (a - a[:, None] for a in (values, keys))
    return rise[run > 0] / run[run > 0]


def _may_rise(keys, values, y, kernel=softmax, **_):
    slopes = _slopes(keys, values)
    return {
        "softmax": kernel is softmax,
        "n ≥ 2": len(keys) > 1,
        "the keys are distinct": len(set(keys)) == len(keys),
        "(u_j − u_i)/(k_j − k_i) ≥ χ > 0": len(slopes) == 0 or slopes.min() > 0,
        "y lies strictly between the smallest and the largest value": values.min()
        < y
        < values.max(),
    }


@statement(
    id="prop-rising",
    title="Softmax has no trap if the values increase with the keys",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="softmax; d = m = 1; n ≥ 2; the keys are distinct; (u_j − u_i)/(k_j − k_i) ≥ χ > "
    "0; y lies strictly between the smallest and the largest value",
    by_proof="the flow tends to the one query with o = y",
    random=_rising,
    extremal=(_equal_slopes, _far_right),
    broken=_not_rising,
    hypotheses=_may_rise,
    breaks="softmax: the Gaussian kernel, right of the keys; the keys are distinct: two at one "
    "place",
    counterexamples=(
        _falling,
        lambda: _equal_slopes() | {"y": 5.0},
    ),
)
def rising(q: float, keys: Array, values: Array, y: float, kernel: Kernel = softmax) -> Checks:
    """χ Var_S(k) ≤ o′(q), χ the least slope between two keys, and > 0; and −φ′ points to the one
    place where o = y.

    The second is asked on ``GRID``, in units of one over the least distance of two keys, where o is
    not y up to rounding: φ has no other stationary point, and flow from every start tends to that
    place.

    Raises ValueError for wrong shapes, or keys that are all equal.  Source: this book.
    """
    keys, values = _columns(keys, values)
    slopes, line = _slopes(keys, values), Line(keys, values, kernel)
    if not len(slopes):
        raise ValueError(f"keys: expected two different ones or more, got {keys}")
    weights = softmax(q * keys)
    spread = weights @ (keys - weights @ keys) ** 2
    return (
        Check(float(slopes.min() * spread), float(line.slope([q])[0]), "χ Var_S(k) ≤ o′(q)"),
        Check(
            # Softmax sees the keys through q k alone, so the grid shrinks as they grow.
            _astray(line, y, GRID / np.diff(np.unique(keys)).min()),
            0.5,
            "from no start does −φ′ point away from the one q with o = y",
        ),
    )


def _astray(line, y, grid):
    """At how many queries of ``grid`` −φ′ does not point to the one place where o = y; all, if
    there is not one."""
    met = [one.q for one in line.minima(y, grid) if not one.spurious]
    if len(met) != 1:
        return float(len(grid))
    away = y - line.output(grid)
    wrong = np.sign(away * line.trend(grid)) != np.sign(met[0] - grid)
    return float((wrong & (abs(away) > 1e-14 * abs(line.values).max())).sum())


def _columns(keys, values):
    """Keys and values (n,) in double precision.  Raises ValueError for other shapes."""
    keys, values = (np.asarray(a, float) for a in (keys, values))
    require("keys", keys, ("n",))
    require("values", values, keys.shape)
    return keys, values


def _on_line(keys, values):
    """``_columns``, and a ValueError for keys that are equal."""
    keys, values = _columns(keys, values)
    if len(np.unique(keys)) < len(keys):
        raise ValueError(
            f"keys: expected distinct numbers, got {len(keys)} with {len(np.unique(keys))} "
            f"different ones"
        )
    return keys, values


def top_means(keys: Array, values: Array) -> np.ndarray:
    """A_i, the mean of the values of the i largest keys, (n,)."""
    keys, values = _on_line(keys, values)
    return np.cumsum(values[np.argsort(-keys)]) / np.arange(1, len(keys) + 1)


def _one_side(seed):
    """Every second time the second largest key has a larger value than the largest, which has a
    large one."""
    rng = np.random.default_rng([seed, 148])
    n, (wide, high) = int(rng.integers(1, 7)), 10 ** rng.uniform([-1, -2], [1, 2])
    keys, values = np.cumsum(rng.uniform(0.2, 1.5, size=n)) - 3, rng.standard_normal(n)
    if seed % 2:
        values.sort()
        values[-2:] = values[-2:][::-1]
    y = top_means(keys, values).max() + rng.exponential()
    # In any order: the means go by the size of the keys and not by their numbers.
    order = rng.permutation(n)
    return {
        "q": float(rng.exponential(2)) / wide,
        "keys": wide * keys[order],
        "values": high * (values[order] + 2),
        "y": float(high * (y + 2)),
    }


# At q = 40 the other keys have some e⁻⁴⁰ of the weight, which is below rounding: o = A_1.
def _largest_key(q=40.0, last=3.0):
    return {
        "q": q,
        "keys": np.array([-1.0, 0.0, 1.0]),
        "values": np.array([1.0, 1.5, last]),
        "y": 4.0,
    }


def _two_large_keys(q=1.0, second=3.0):
    """o = A₂, the largest mean, up to e⁻⁴⁰ and what the two keys differ by."""
    return {
        "q": q,
        "keys": np.array([-40.0, 0.0, 1e-3]),
        "values": np.array([1.0, second, 2.0]),
        "y": 4.0,
    }


def _late_rise():
    """A third value, and no second one, that lifts a mean above A₁: no minimum is promised."""
    return {"q": 1.0, "keys": np.arange(4.0), "values": np.array([-10.0, 2.01, 0.0, 1.0]), "y": 6.0}


def _can_be_barred(q, keys, values, y):
    distinct = len(set(keys)) == len(keys)
    return {
        "q ≥ 0": q >= 0,
        "the keys are distinct": distinct,
        # Equal keys have no order, and so no A_i.
        "max_i A_i < y": not distinct or top_means(keys, values).max() < y,
    }


def _other_side(seed):
    """Values that fall with the keys, and a query that looks at the least key."""
    rng = np.random.default_rng([seed, 149])
    values = np.array([3.0, 1.5, 1.0]) + [rng.uniform(0, 4), 0, 0]
    return {
        "q": -rng.uniform(3, 6),
        "keys": np.array([-1.0, 0.0, 1.0]),
        "values": values,
        "y": float(values.mean() + rng.uniform(0.1, 1)),
    }


@statement(
    id="thm-barrier",
    title="The barrier at zero",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="d = m = 1; softmax; the keys are distinct; q ≥ 0; max_i A_i < y",
    by_proof="the minimum is strict",
    random=_one_side,
    # at the end q = 0, o = A_n
    extremal=(
        _largest_key,
        lambda: _largest_key(0.0),
        _two_large_keys,
        _late_rise,
        # o = A₁, the least mean, and below 0
        lambda: _largest_key(last=-3.0),
        # A maximum near 0 that is hardly above A₁, and a query far to the right of it.
        lambda: _two_large_keys(100.0, 2.01),
        # A₂ = A₁, and o rises to the right of 0: there is no minimum.
        lambda: _late_rise() | {"values": np.array([-1.0, 1.0, 1.0, 1.0])},
    ),
    broken=_other_side,
    breaks="q ≥ 0: a query on the other side",
    hypotheses=_can_be_barred,
    refused=(lambda: _largest_key() | {"y": -10.0}, lambda: _largest_key() | {"keys": np.ones(3)}),
)
def barrier(q: float, keys: Array, values: Array, y: float) -> Checks:
    """min_i A_i ≤ o(q) ≤ max_i A_i for q ≥ 0, A_i the mean of the values of the i largest keys,
    (n,); and for max_i A_i < y: φ ≥ ½(y − max_i A_i)² there; gradient flow from q > 0 with o(q) >
    A_n stays on q > 0; if A_n ≤ A_1, and the second largest key has a larger value than the
    largest, φ has a minimum at some q > 0.

    Raises ValueError for wrong shapes, equal keys, or a target that is not above max_i A_i. Source:
    this book.
    """
    keys, values = _on_line(keys, values)
    A, line = top_means(keys, values), Line(keys, values)
    low, high = float(A.min()), float(A.max())
    if np.ndim(q) or not np.isfinite(q):
        raise ValueError(f"q: expected a finite number, got {q!r}")
    if np.ndim(y) or not high < y < np.inf:
        raise ValueError(f"y: expected a number above max A_i = {high:g}, got {y!r}")
    o = float(line.output([q])[0])
    checks = [
        # Measured from y, which lies above all A_i, so that every right side is positive.
        Check(y - o, y - low, "min_i A_i ≤ o(q)"),
        Check(y - high, y - o, "o(q) ≤ max_i A_i"),
        Check((y - high) ** 2 / 2, (y - o) ** 2 / 2, "½(y − max_i A_i)² ≤ φ(q)"),
    ]
    hills = tops(line)
    # o(0) = A_n is where the hypothesis ends: closer to it rounding would decide.
    if q > 0 and o > A[-1] + 1e-14 * abs(values).max():
        checks.append(
            # Where no maximum holds the query the left side is infinite, and the check fails.
            Check(1 - resting_place(line, q, hills) / q, 1.0, "flow from q stays on q > 0")
        )
    if len(keys) > 1 and A[-1] <= A[0] and A[1] > A[0]:  # A₂ > A₁: u₍₂₎ > u₍₁₎
        best = line.output(hills[hills > 0]).max(initial=-np.inf)
        checks.append(
            Check(
                float(y - best) ** 2 / 2, float(y - A[0]) ** 2 / 2, "φ has a minimum at some q > 0"
            )
        )
    return tuple(checks)


def tops(line: Line) -> np.ndarray:
    """The queries (t,) at which the output of a ``Line`` of softmax has its maxima, looked for at
    two scales."""
    gaps = np.diff(np.sort(line.keys))
    if not gaps.size:
        return np.zeros(0)
    _, q, top = line.turns(np.unique(np.concatenate([GRID / gaps.min(), 4 * GRID / gaps.sum()])))
    return q[top]


def resting_place(line: Line, q: float, hills: Array) -> float:
    """Where flow from q ends that raises the output of a ``Line``, whose maxima are the ``hills``:
    q if that is to the right, −∞ if no maximum is on the left.
    """
    return q if line.trend(np.array([q]))[0] >= 0 else float(hills[hills < q].max(initial=-np.inf))
