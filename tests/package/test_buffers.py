"""What numpy computes of a record lies in memory that is used again, and gives what it gave in arrays
of its own."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import mhalib as mha
from executors import Everything, TwoLayers, Words
from livegrad.model import derived
from livegrad.record import array, buffers, primitive
from livegrad.record.numeric import Evaluator
from livegrad.record.primitives import _forget

rng = np.random.default_rng(0)


def two_layers():
    model = TwoLayers(*(0.3 * rng.standard_normal(s) for s in ((5, 5), (5, 5), (5, 5), (6, 5))))
    data = mha.data.tokenized_mixture(n=40, T=6, d=5, M=2, zeta=1 / 3, seed=1)
    return model, data.X, data.y


def everything():
    X = rng.standard_normal((400, 3))
    model = Everything(rng.standard_normal((3, 4)), rng.standard_normal(4), np.array(0.3))
    return model, X, np.sign(X[:, 0])


def words():
    shapes = (5, 4), (3, 4), (4, 4), (3, 3), (4, 5)
    model = Words(*(rng.standard_normal(shape) for shape in shapes))
    return model, rng.integers(0, 5, (400, 3)), rng.integers(0, 5, 400)


@dataclass(frozen=True, eq=False, repr=False)
class Shifted(mha.models.Vector):
    """Parts beyond the ends of others, numbers in another order, and sums over loops that nothing
    knows."""

    w: np.ndarray

    def loss(self, X, y):
        rows = np.concatenate([X[1:], self.w * X[:1]]) * self.w
        turned = (rows.T @ rows).T.reshape(-1)
        flat = np.where(rows.T.reshape(-1) > 0, rows.T.reshape(-1), 0.5)
        largest = np.maximum(rows, X).max(axis=1).mean()
        return (flat**2).mean() + (turned * turned).sum() + largest


def shifted():
    return Shifted(rng.standard_normal(50)), rng.standard_normal((40, 50)), np.ones(40)


PROBLEMS = {f.__name__: f for f in (two_layers, everything, words, shifted)}


def record(pair):
    """A gradient and a Hessian product, and numbers to evaluate them at."""
    model, X, y = pair()
    arrays = [
        *derived._record_gradient(model, X, y)[0],
        *derived._record_hessian(model, X, y)[0],
    ]
    directions = model.map(lambda a: rng.standard_normal(a.shape))
    numbers = derived._values("theta", model) | derived._values("along", directions)
    return arrays, numbers | {"X": X, "y": y}


@pytest.fixture(autouse=True)
def every_array(monkeypatch):
    """Also small ones have a buffer."""
    monkeypatch.setattr(buffers, "SMALL", 2)


@pytest.mark.parametrize("pair", PROBLEMS.values(), ids=PROBLEMS)
def test_memory_that_is_used_again_changes_no_bit(pair, monkeypatch):
    arrays, numbers = record(pair)
    again = Evaluator(arrays)
    monkeypatch.setattr(buffers, "SMALL", 1 << 60)
    for point in (numbers, {name: -1.0 * a for name, a in numbers.items()}):
        # Places and labels are what they were.
        point |= {name: numbers[name] for name in ("X", "y")}
        with np.errstate(all="ignore"):
            wanted, found = Evaluator(arrays)(point), again(point)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * abs(other).max())
    # The arrays of all steps, none in the memory of another: the same numbers to the last bit.
    with np.errstate(all="ignore"):
        apart, last = again.of_nodes(numbers), again(numbers)
    for x, found in zip(arrays, last, strict=True):
        order = [k for group in x.groups for k in group]
        assert np.array_equal(apart[x.node].transpose(order).reshape(x.shape), found)


def test_results_outlast_the_next_call():
    x = array("x", (40, 50))
    double = Evaluator([2.0 * x, (x * x).sum(axis=0), x])
    first = double({"x": np.ones((40, 50))})
    double({"x": np.full((40, 50), 7.0)})
    assert [a.max() for a in first] == [2.0, 40.0, 1.0]


@pytest.mark.parametrize("name", ["itself", "tanh"])
def test_another_view_of_an_array_keeps_its_memory(name):
    """A shape, or what a function from outside gives back of its argument, read after others of that
    size have been made."""
    itself = primitive("itself", lambda a: a, lambda v, a: [1.0], "({})")
    try:
        x, y = array("x", (40, 50)), array("y", (2000,))
        early = {"itself": lambda: itself(np.tanh(x) + 1.0), "tanh": lambda: np.tanh(x)}[name]()
        late = np.exp(-np.cos(np.sin(y)))
        numbers = {"x": rng.standard_normal((40, 50)), "y": rng.standard_normal(2000)}
        (found,) = Evaluator([early.reshape(-1) * late])(numbers)
    finally:
        _forget("itself")
    wanted = np.tanh(numbers["x"]) + (name == "itself")
    wanted = wanted.ravel() * np.exp(-np.cos(np.sin(numbers["y"])))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_two_threads_have_each_their_memory():
    arrays, numbers = record(two_layers)
    shared = Evaluator(arrays)
    points = [numbers | {"theta_W": k * numbers["theta_W"]} for k in range(8)]
    wanted = [Evaluator(arrays)(point) for point in points]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(shared, points * 5))
    for k, each in enumerate(found):
        for one, other in zip(each, wanted[k % 8], strict=True):
            assert np.array_equal(one, other)


def test_an_error_leaves_the_plan_as_it_was():
    x = array("x", (3, 4))
    total = Evaluator([(x * x).sum()])
    with pytest.raises(ValueError):
        total({"x": np.ones(5)})
    assert total({"x": np.ones((3, 4))}) == [12.0]


def test_memory_is_used_again_once_nothing_reads_it(monkeypatch):
    """A chain of any length needs two arrays, and a large plan keeps none."""
    x = array("x", (40, 50))
    value = x
    for _ in range(9):
        value = np.tanh(value)
    chain = Evaluator([value.sum()])
    numbers = {"x": np.ones((40, 50))}
    chain(numbers)
    (kept,) = chain._buffers._free
    assert len({a.ctypes.data for a in kept}) == 2
    monkeypatch.setattr(buffers, "KEPT", 0)
    large = Evaluator([value.sum()])
    large(numbers)
    assert not large._buffers._free
