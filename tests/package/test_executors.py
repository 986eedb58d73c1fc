"""Every way in which a model is computed gives its formula: executor × model × sizes, in one
table."""

import numpy as np
import pytest

import mhalib as mha
from checks import assert_close
from executors import EXECUTORS, Everything, TwoLayers, Words, formula
from livegrad.record import native
from strategies import REMAINDERS, SCALES, problem

LAYERS = [
    (3, 4, 5, 2, 1, 2),
    (1, 1, 1, 1, 1, 1),
    (9, 3, 4, 4, 3, 1),
    (8, 6, 7, 5, 2, 3),
    (17, 2, 9, 1, 4, 5),
]
KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian, "normalized": mha.normalized_gaussian}
REGRESSIONS = [(7, 3, 2), (1, 1, 1), (20, 4, 4), (33, 5, 1)]
SAMPLES = (1, 2, 7, 8, 9, 33)


def heads(sizes, scales):
    drawn = problem(3, **dict(zip("nTdH", sizes, strict=True)), **scales)
    return drawn.model, drawn.X, drawn.y


def layer(N, n, D, d, m, H, kernel):
    rng = np.random.default_rng([N, n, D])
    model = mha.AttentionLayer.random(D=D, d=d, m=m, H=H, kernel=kernel, seed=2)
    return model, rng.standard_normal((N, n, D)), rng.standard_normal((N, n, m))


def regression(n, d, p):
    data = mha.data.linear_regression(n=n, d=d, p=p, seed=4)
    return mha.AttentionRegression.random(d=d, p=p, scale=0.5, seed=3), data.X, data.y


def everything(n):
    rng = np.random.default_rng(n)
    model = Everything(0.5 * rng.standard_normal((4, 6)), rng.standard_normal(6), np.array(0.3))
    return model, rng.standard_normal((n, 4)), rng.integers(0, 2, n).astype(float)


def two_layers(n):
    rng = np.random.default_rng(n)
    model = TwoLayers(
        *(0.5 * rng.standard_normal(shape) for shape in ((5, 5), (5, 5), (5, 5), (3, 5)))
    )
    return model, rng.standard_normal((n, 3, 5)), np.where(rng.random(n) < 0.5, -1.0, 1.0)


def words(n, V=5):
    rng = np.random.default_rng(n)
    shapes = (V, 4), (3, 4), (4, 4), (3, 3), (4, V)
    model = Words(*(0.5 * rng.standard_normal(shape) for shape in shapes))
    return model, rng.integers(-V, V, (n, 3)), rng.integers(0, V, n)


def narrow():
    """Weights with axes of length 1: a loop of one round is none."""
    model, X, y = everything(7)
    return Everything(model.W[:, :1], model.b[:1], model.s), X, y


CASES = {
    **{
        f"heads {sizes} {name}": ("heads", lambda sizes=sizes, scales=scales: heads(sizes, scales))
        for sizes in REMAINDERS
        for name, scales in SCALES.items()
    },
    "copies of heads": (
        "heads",
        lambda: (
            heads(REMAINDERS[0], {})[0].map(lambda a: a[[0, 1, 0, 0]]),
            *heads(REMAINDERS[0], {})[1:],
        ),
    ),
    **{
        f"layer {name} {sizes}": ("layer", lambda sizes=sizes, kernel=kernel: layer(*sizes, kernel))
        for sizes in LAYERS
        for name, kernel in KERNELS.items()
    },
    **{
        f"regression {sizes}": ("regression", lambda sizes=sizes: regression(*sizes))
        for sizes in REGRESSIONS
    },
    **{f"own, every function, {n}": ("own", lambda n=n: everything(n)) for n in SAMPLES},
    "own, axes of length 1": ("own", narrow),
    **{f"own, two layers, {n}": ("own", lambda n=n: two_layers(n)) for n in SAMPLES},
    **{f"own, words, {n}": ("own", lambda n=n: words(n)) for n in SAMPLES},
}
"""Name → the kind of a model, and what makes one with its samples."""
KINDS = {
    "ordered": ("heads",),
    "compiled": ("heads", "layer", "own"),
    "webassembly": ("heads", "layer", "regression"),
    "javascript": ("heads", "layer", "regression"),
    "by_torch": ("heads", "layer", "regression"),
}
"""The kinds that an executor has, if not all: an own loss is written in numpy, which torch's
tensors do not take."""
WEEKLY = {
    f"heads {sizes} {name}"
    for sizes in set(REMAINDERS) - {(5, 4, 3, 2), (7, 6, 5, 4), (65, 9, 11, 3)}
    for name in SCALES
    if name != "plain"
}
"""Each scale is tried every time at three sizes, and each size at one scale."""
ROWS = [
    pytest.param(executor, case, marks=pytest.mark.weekly if case in WEEKLY else ())
    for case, (kind, _) in CASES.items()
    for executor in EXECUTORS
    if kind in KINDS.get(executor, (kind,))
]


@pytest.fixture(scope="module", autouse=True)
def patience(tmp_path_factory):
    """One cache of compiled programs for the table."""
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("cache")
        patch.setattr(native, "_folder", lambda: cache)
        patch.setattr(native, "_found", {})
        patch.delenv("LIVEGRAD_COMPILED", raising=False)
        yield


@pytest.mark.parametrize("executor, case", ROWS, ids=lambda part: part)
def test_every_executor_gives_the_formula(executor, case):
    model, X, y = CASES[case][1]()
    (loss, grad), (wanted, slopes) = EXECUTORS[executor](model, X, y), formula(model, X, y)
    assert grad.keys() == slopes.keys()
    assert_close(loss, wanted, 1e-12)
    # As one vector: where attention is uniform or saturated, a weight's own derivative may be
    # rounding alone.
    assert_close(
        *(np.concatenate([np.ravel(part[name]) for name in slopes]) for part in (grad, slopes)),
        1e-11,
    )


def test_every_executor_of_a_table_has_rows():
    assert {row.values[0] for row in ROWS} == set(EXECUTORS)


@pytest.mark.parametrize("case", [case for case, (kind, _) in CASES.items() if kind == "own"])
def test_the_derived_gradient_is_the_slope_of_the_loss(case):
    """What all executors of an own model share is the derivation: differences know nothing of it."""
    model, X, y = CASES[case][1]()
    _, grad = model.loss_and_grad(X, y)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        way = model.map(lambda a, rng=rng: rng.standard_normal(a.shape))
        above, below = ((model + by * way).loss(X, y) for by in (1e-5, -1e-5))
        assert grad.dot(way) == pytest.approx((above - below) / 2e-5, rel=1e-5, abs=1e-7)
