"""Recorded arrays: every function alone against numpy and torch, in Python and as JavaScript; and
what is refused."""

import json

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

import mhalib as mha
from livegrad.record import trace
from livegrad.record.derivatives import gradient
from livegrad.record.javascript import ERF, LOGADDEXP, printed
from livegrad.record.numeric import evaluate
from livegrad.record.trace import Untraceable, array
from optional import torch

rng = np.random.default_rng(0)
A, B, ROW, COLUMN, ONE = (
    rng.standard_normal(shape) for shape in ((3, 4), (3, 4), (4,), (3, 1), ())
)
CUBE, POSITIVE = rng.standard_normal((2, 3, 4)), np.exp(rng.standard_normal((3, 4)))
V8 = MiniRacer()

# What a formula may say: its name → the formula, for numpy as xp or for recorded arrays alike, and
# arrays to try it on.
FORMULAS = {
    "sum": (lambda xp, a, b: a + b, A, ROW),
    "difference": (lambda xp, a, b: a - b, COLUMN, ROW),
    "product": (lambda xp, a, b: a * b, A, COLUMN),
    "quotient": (lambda xp, a, b: a / b, A, POSITIVE),
    "numbers from the left": (lambda xp, a: 2 - 3 / (1 + a * a), A),
    "negative": (lambda xp, a: -a, A),
    "powers": (lambda xp, a: a**2 + a**0.5 + a**-1 + a**3 + a**1.7 + a**0, POSITIVE),
    "a number": (lambda xp, a, b: a * b, ONE, A),
    "exp": (lambda xp, a: xp.exp(a), A),
    "log": (lambda xp, a: xp.log(a), POSITIVE),
    "sqrt": (lambda xp, a: xp.sqrt(a), POSITIVE),
    "tanh": (lambda xp, a: xp.tanh(a), A),
    "sin": (lambda xp, a: xp.sin(a), A),
    "cos": (lambda xp, a: xp.cos(a), A),
    "abs": (lambda xp, a: abs(a), A),
    "square": (lambda xp, a: xp.square(a), A),
    "logaddexp": (lambda xp, a, b: xp.logaddexp(a, b), A, B),
    "maximum": (lambda xp, a, b: xp.maximum(a, b), A, B),
    "maximum of some that are tied": (
        lambda xp, a, b: xp.maximum(a, b),
        A,
        np.where(A > 0, A, B),
    ),
    "minimum": (lambda xp, a, b: xp.minimum(a, b), A, ROW),
    "where": (lambda xp, a, b: xp.where(a > b, a, 2 * b), A, B),
    "comparisons": (lambda xp, a, b: a * (a >= b) + b * (a < b) + a * (b <= a) + b * (b > a), A, B),
    "equal": (
        lambda xp, a, b: a * (xp.sign(a) == xp.sign(b)) + b * (xp.sign(a) != xp.sign(b)),
        A,
        B,
    ),
    "powers of numbers below zero": (lambda xp, a: a**9 + a**-2 + xp.exp(a) ** a, A),
    "a number to a power": (lambda xp, a: 2.0**a, A),
    "clip": (lambda xp, a: a * xp.clip(a, -0.5, 0.5), A),
    "where on numbers": (
        lambda xp, a, b: xp.where(a > 0, 3 * a, b) * xp.where((a > 0) * 2.0 != 0, b, a),
        A,
        B,
    ),
    "numbers as truth values": (
        lambda xp, a, b: xp.where(xp.logical_and(a, b), a, 2 * b),
        1.0 * (A > 0),
        B,
    ),
    "smallest": (lambda xp, a: a.min() * xp.amin(a, 0), A),
    "an axis of one": (lambda xp, a: a[:, 0] * a[0, -1:] * a[..., 0:1].T, COLUMN),
    "a merged axis, whole": (
        lambda xp, a, b: (a.reshape(6, 4)[:, None] * b[None]).sum(axis=(1, 2)),
        CUBE,
        A,
    ),
    "slices of one": (lambda xp, a, b: a * a[1:2] + a[:, -1:] * b.reshape(-1)[2:3], A, B),
    "pieces of one vector": (
        lambda xp, a: a[:6].reshape(2, 3) * a[6:7].reshape((1,)) + a[7:8].sum(),
        rng.standard_normal(8),
    ),
    "rows of a merged axis": (lambda xp, a: a.reshape(6, 4)[2:5, 1] * a.reshape(6, 4)[1, :3], CUBE),
    "sum over all": (lambda xp, a: a.sum(), CUBE),
    "sum over one": (lambda xp, a: a.sum(axis=1), CUBE),
    "sum over two, kept": (lambda xp, a: a.sum(axis=(0, 2), keepdims=True) * a, CUBE),
    "mean": (lambda xp, a: a.mean(axis=-1), CUBE),
    "mean of all": (lambda xp, a: xp.mean(a), CUBE),
    "largest": (lambda xp, a: xp.amax(a, -1), CUBE),
    "matrices": (lambda xp, a, b: a @ b.T, A, B),
    "dot of matrices": (
        lambda xp, a, b: xp.dot(a, b.T) if xp is np else a @ b.T,
        A,
        B,
    ),
    "batches": (lambda xp, a, b: a @ b.T, CUBE, A),
    "a batch with itself": (lambda xp, a: a @ a.mT, CUBE),
    "matrix and vector": (lambda xp, a, b: a @ b, CUBE, ROW),
    "vectors": (lambda xp, a, b: a @ b, ROW, A[0]),
    "batches that broadcast": (lambda xp, a, b: a[:, None] @ b[None].mT, CUBE, CUBE),
    "einsum": (lambda xp, a, b: xp.einsum("ijk,lk->jil", a, b), CUBE, A),
    "einsum of three": (lambda xp, a, b, c: xp.einsum("ijk,lk,jk->il", a, b, c), CUBE, A, B),
    "log1p, expm1, arctan": (lambda xp, a: xp.log1p(a) + xp.expm1(a) * xp.arctan(a), POSITIVE),
    "far apart": (lambda xp, a, b: xp.logaddexp(40 * a, b), A, B),
    "to the power 0": (lambda xp, a: a**0 + a, 0 * A),
    "zero to a power": (lambda xp, a, b: a**b, np.zeros(3), np.array([0.0, 1.0, 2.5])),
    "norms": (lambda xp, a: xp.linalg.norm(a, axis=-1) * xp.linalg.norm(a), CUBE),
    "transposed by axes": (lambda xp, a: 1.0 * a.swapaxes(0, 1).ravel() @ a.ravel(), CUBE),
    "ties": (lambda xp, a: xp.amax(a * 0 + 1.0 * (a > 0), -1), CUBE),
    "tied weights": (lambda xp, a: xp.amax(a, 0) + xp.amax(a), np.ones((3, 4))),
    "einsum of one": (lambda xp, a: xp.einsum("ijk->kj", a), CUBE),
    "transposed": (lambda xp, a, b: a.T * b.T, A, B),
    "swapped": (lambda xp, a: xp.swapaxes(a, 0, 2) * 1.0, CUBE),
    "merged": (lambda xp, a, b: a.reshape(3, -1) @ b, CUBE.swapaxes(0, 1), rng.standard_normal(8)),
    "merged and parted": (lambda xp, a: (2 * a.reshape(-1, 4)).reshape(2, 3, 4), CUBE),
    "cut": (lambda xp, a, b: a.reshape(2, 6).T * b, A, CUBE[0, 0, :2]),
    "a point from one axis": (
        lambda xp, a, b: b @ a[:12].reshape(4, 3) + a[12:],
        rng.standard_normal(15),
        A,
    ),
    "merged, transposed, concatenated": (
        lambda xp, a, b: xp.concatenate([a.swapaxes(0, 1).reshape(3, -1), b], 1),
        CUBE,
        A,
    ),
    "new axes": (lambda xp, a: a[:, None, :] - a[None], A),
    "slices": (lambda xp, a: a[1:, :-1] * a[:2, 1:], A),
    "an entry": (lambda xp, a: a[0] * a[-1, 2], A),
    "the last axis": (lambda xp, a: a[..., 1], CUBE),
    "concatenate": (lambda xp, a, b: xp.concatenate([a, 2 * b, a[:, :1]], 1), A, B),
    "a product with what is concatenated": (
        lambda xp, a, b: xp.concatenate([a, b], 0) @ xp.concatenate([b, 2 * a], 0),
        ROW,
        A[0],
    ),
    "more products than one expression has": (
        lambda xp, a: a.reshape(2, 18) @ a.reshape(2, 18).T,
        rng.standard_normal(36),
    ),
    "broadcast": (lambda xp, a: xp.broadcast_to(a, (2, *a.shape)) * 1.0, A),
    "stack": (lambda xp, a, b: xp.stack([a, b], 1), A, B),
    "rows, one by one": (lambda xp, a: sum(a[k] * k for k in range(len(a))), A),
    "numbers of its own": (lambda xp, a: a @ xp.arange(4.0) + 2.0, A),
}
FORMULAS |= {
    "variance": (lambda xp, a: xp.var(a, axis=-1, keepdims=True) * a + xp.var(a), CUBE),
    "spread": (lambda xp, a: xp.std(a, axis=(0, 2)) * xp.std(a), CUBE),
    "erf": (lambda xp, a: special(xp).erf(a) * special(xp).erf(9 * a), CUBE),
    "triangles": (lambda xp, a: xp.tril(a, -1) - 2 * xp.triu(a), CUBE),
}
each = pytest.mark.parametrize(
    "formula, arrays", [(f, arrays) for f, *arrays in FORMULAS.values()], ids=FORMULAS
)


def special(xp):
    return scipy.special if xp is np else torch.special


def recorded(formula, arrays):
    """What a formula gives on recorded arrays, and those."""
    inputs = [array(f"a{k}", a.shape) for k, a in enumerate(arrays)]
    return formula(np, *inputs), inputs


def named(arrays):
    return {f"a{k}": a for k, a in enumerate(arrays)}


def in_v8(outputs, inputs):
    """The numbers that the printed program gives."""
    printer = printed({str(k): x.reshape(-1) for k, x in enumerate(outputs)}, "b")
    given = "".join(
        f"const {name} = {json.dumps(np.ravel(a).tolist())};" for name, a in inputs.items()
    )
    found = ", ".join(f"Array.from({place}, String)" for place in printer.at.values())
    text = "\n".join(
        [LOGADDEXP, ERF, given, *printer.made, *printer.lines, f"return JSON.stringify([{found}]);"]
    )
    return [
        np.array([float(x) for x in part])
        for part in json.loads(V8.eval(f"(() => {{ {text} }})()"))
    ]


@each
def test_a_formula_gives_what_numpy_gives(formula, arrays):
    value, _ = recorded(formula, arrays)
    right = np.asarray(formula(np, *arrays))
    assert value.shape == right.shape
    np.testing.assert_allclose(evaluate([value], named(arrays))[0], right, rtol=1e-14, atol=1e-14)
    (found,) = in_v8([value], named(arrays))
    np.testing.assert_allclose(found, right.ravel(), rtol=1e-13, atol=1e-13)


@each
def test_its_gradient_is_that_of_torch(formula, arrays):
    weights = np.cos(np.arange(np.size(formula(np, *arrays))) + 1.0).reshape(
        np.shape(formula(np, *arrays))
    )
    value, inputs = recorded(formula, arrays)
    found = evaluate(gradient((value * weights).sum(), inputs), named(arrays))
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    (formula(torch_as_numpy(), *tensors) * torch.tensor(weights)).sum().backward()
    for slope, tensor in zip(found, tensors, strict=True):
        np.testing.assert_allclose(slope, tensor.grad, rtol=1e-12, atol=1e-12)


def torch_as_numpy():
    """Torch's functions by numpy's names."""

    class Names:
        var = staticmethod(lambda a, **options: a.var(correction=0, **options))
        std = staticmethod(lambda a, **options: a.std(correction=0, **options))

        @staticmethod
        def arange(stop):
            return torch.arange(stop, dtype=torch.float64)

        def __getattr__(self, name):
            return getattr(torch, name)

    return Names()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.floats(-300, 300), st.booleans())
def test_a_softmax_of_any_size_and_scale_is_numpys(n, T, d, scale, with_nan):
    X, W = np.random.default_rng(n + 10 * T).standard_normal((n, T, d)), scale * np.eye(d)
    X[0, 0, 0] = np.nan if with_nan else X[0, 0, 0]

    def formula(xp, X, W):
        S = X @ W @ X.mT
        E = np.exp(S - np.max(S, axis=-1, keepdims=True))
        return E / E.sum(axis=-1, keepdims=True) + 0.0

    value, _ = recorded(formula, [X, W])
    right = formula(np, X, W)
    np.testing.assert_allclose(evaluate([value], named([X, W]))[0], right, rtol=1e-12, atol=1e-15)
    (found,) = in_v8([value], named([X, W]))
    np.testing.assert_allclose(found, right.ravel(), rtol=1e-11, atol=1e-15)


# Entries at places that the data say: (formula of a and the places, a, the places). The syntax is torch's, too.
PLACES = {
    "rows": (lambda a, i: a[i], A, [[0, 2], [2, 2], [1, -3]]),
    "rows of one column": (lambda a, i: a[i], COLUMN, [2, -1, 2, 2]),
    "one row": (lambda a, i: a[i], A, 1),
    "entries of a vector": (lambda a, i: a[i], ROW, [3, 3, 0]),
    "a place in an axis of length 1": (lambda a, i: a[i] * a[:, i], A[:1, :1], [0, -1, 0]),
    "columns": (lambda a, i: a[:, i], A, [[3, 0], [0, 0]]),
    "the last axis": (lambda a, i: a[..., i, None], CUBE, [1, 3]),
    "one of each row": (lambda a, i: a[np.arange(3), i], A, [3, 0, 3]),
    "one of each row of each": (
        lambda a, i: a[np.arange(2)[:, None], np.arange(3), i],
        CUBE,
        [[1, 2, 3], [0, 0, -1]],
    ),
    "an axis in step after the places": (lambda a, i: a[i, np.arange(4)], A, [0, 0, 2, 1]),
    "two of them": (lambda a, i: a[i, i], A, [2, 0, 0]),
    "two that broadcast": (lambda a, i: a[i[:, None], :, i[:2] + 1], CUBE, [1, 0, 1]),
    "with a whole number": (
        lambda a, i: a[1][:, i].T if torch.is_tensor(a) else a[1, :, i],
        CUBE,
        [3, 2],
    ),
    "with a slice": (lambda a, i: a[:, 1:][:, i - 1, 2], CUBE, [1, 0]),
    "two apart": (lambda a, i: a[:, i, None, i + 1], CUBE, [1, 0, 2]),
    "in the middle, with a number behind": (lambda a, i: a[:, i, 2], CUBE, [1, 1, 0]),
    "a list": (lambda a, i: a[:, [2, 0, 2]] * i[0], A, [2]),
    "of a merged axis": (lambda a, i: a.reshape(6, 4)[i], CUBE, [5, 0, 5]),
    "of a transposed one": (lambda a, i: (2 * a.T)[i], A, [3, 3]),
    "of what is made of it": (lambda a, i: (a[i] @ a.T)[:, i], A, [1, 2]),
    "the last that is marked": (
        lambda a, i: a[np.arange(3), (i > 0).sum(1) - 1],
        A,
        [[1, 1, 0], [1, 0, 0], [1, 1, 1]],
    ),
    "more dimensions than the array": (
        lambda a, i: a[i].sum((1, 2)) * a[0],
        A,
        [[[0, 1]], [[2, 2]]],
    ),
    "floats as whole numbers": (lambda a, i: a[whole(1.0 * i + 0.7)], A, [0, 2, 1]),
}


def whole(x):
    return x.long() if torch.is_tensor(x) else x.astype(int)


def along(a, i, axis):
    return (
        torch.take_along_dim(a, i, axis) if torch.is_tensor(a) else np.take_along_axis(a, i, axis)
    )


PLACES |= {
    f"along axis {axis} of {a.ndim}": (lambda a, i, axis=axis: along(a, i, axis), a, i)
    for axis, a, i in (
        (0, ROW, [3, 3]),
        (-1, A, [[0], [3], [-1]]),
        (0, A, [[2, 2, 0, 1]]),
        (1, CUBE, np.ones((2, 1, 4), int).tolist()),
        (1, A[:1, :1], [[0, 0]]),
    )
}


@pytest.mark.parametrize("formula, a, places", PLACES.values(), ids=PLACES)
def test_entries_at_places_have_the_value_the_slope_and_the_second_one_of_torch(formula, a, places):
    places = np.array(places)
    recorded = array("a", a.shape)
    value = formula(recorded, array("places", places.shape, int))
    right = formula(a, places)
    assert value.shape == right.shape
    numbers = {"a": a, "places": places, "way": np.sin(np.arange(a.size) + 1.0).reshape(a.shape)}
    weights = np.cos(np.arange(right.size) + 1.0).reshape(right.shape)
    (slope,) = gradient((value**3 * weights).sum(), [recorded])
    (second,) = gradient((slope * array("way", a.shape)).sum(), [recorded])
    leaf = torch.tensor(a, requires_grad=True)
    loss = (formula(leaf, torch.tensor(places)) ** 3 * torch.tensor(weights)).sum()
    (first,) = torch.autograd.grad(loss, leaf, create_graph=True)
    (product,) = torch.autograd.grad(first, leaf, torch.tensor(numbers["way"]))
    wanted = right, first.detach().numpy(), product.numpy()
    for found in evaluate([value, slope, second], numbers), in_v8([value, slope, second], numbers):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one.ravel(), other.ravel(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("beyond", [3, -4])
def test_a_place_beyond_the_axis_is_said_with_its_line_and_nan_in_a_page(beyond):
    value = array("a", (3,))[array("places", (2,), int)]
    numbers = {"a": np.ones(3), "places": np.array([0, beyond])}
    said = rf"^test_trace.py, line \d+: expected places from -3 to 2 of an axis of 3, got {beyond}$"
    with pytest.raises(IndexError, match=said):
        evaluate([value], numbers)
    assert np.isnan(in_v8([value], numbers)[0]).tolist() == [False, True]


def test_a_number_that_is_none_is_the_largest():
    X = np.array([np.nan, 1.0, 2.0])
    value = np.max(array("a0", (3,))).reshape(-1)
    assert np.isnan(in_v8([value], {"a0": X})[0]) and np.isnan(evaluate([value], {"a0": X})[0])


def of_family(name):
    """A model and its data."""
    if name == "heads":
        return mha.MultiHeadAttention.random(2, 4, 6, 0.5), mha.data.tokenized_mixture(
            5, T=4, d=6, M=2, zeta=0.25
        )
    if name == "regression":
        return mha.AttentionRegression.random(3, 2), mha.data.linear_regression(n=11, d=3, p=2)
    kernel = getattr(mha, name)
    return mha.AttentionLayer.random(D=5, d=3, m=2, H=2, kernel=kernel), mha.data.random_sequences(
        4, 3, 5, 2
    )


@pytest.mark.parametrize(
    "name", ["heads", "regression", "softmax", "gaussian", "normalized_gaussian"]
)
def test_the_formulas_of_every_model_are_recorded_and_the_gradient_of_the_loss_is_their_closed_form(
    name,
):
    model, data = of_family(name)
    inputs = model.arrays() | {"X": data.X, "y": data.y}
    theta = {key: array(key, a.shape) for key, a in model.arrays().items()}
    X, y = array("X", data.X.shape), array("y", data.y.shape)
    loss, grad = model.with_arrays(**theta).loss_and_grad(X, y)
    derived = gradient(model.with_arrays(**theta).loss(X, y), list(theta.values()))
    right_loss, right = model.loss_and_grad(data.X, data.y)
    assert float(evaluate([loss], inputs)[0]) == pytest.approx(float(right_loss), rel=1e-14)
    for found in (evaluate(list(grad.arrays().values()), inputs), evaluate(derived, inputs)):
        for part, wanted in zip(found, right.arrays().values(), strict=True):
            np.testing.assert_allclose(part, wanted, rtol=0, atol=1e-12 * abs(wanted).max())


def written(X):
    S = X + 0
    S[:, 0] = 0
    return S


REFUSED = {
    "a branch on values": (
        lambda X: X if X.sum() > 0 else -X,
        "a branch on the values of an array",
    ),
    "a loop over rows": (lambda X: sum(row for row in X), "a loop over the rows of an array"),
    "a write": (written, "a write into an array"),
    "float": (lambda X: float(X.sum()), r"leave float\(\) out"),
    "text": (lambda X: f"{X.sum():.3f}", "the text of"),
    "rest": (lambda X: X % 2, "//, % or round"),
    "round": (lambda X: round(X.sum(), 2), "//, % or round"),
    "in": (lambda X: 0.0 in X, "in: a branch"),
    "reduce": (lambda X: np.add.reduce(X), "np.add.reduce is not"),
    "array": (lambda X: np.array([X, X]), "np.stack"),
    "where=": (
        lambda X: np.sum(X, where=True),
        "np.sum with these arguments: it got an unexpected",
    ),
    "a mask": (lambda X: X[X > 0], "masks"),
    "a step": (lambda X: X[::2], "steps"),
    "places that are floats": (
        lambda X: X[X[:, 0]],
        "an index of floating-point numbers; write .ast",
    ),
    "a place beyond the end": (lambda X: X[[0, 3]], "the index 3 of an axis of 3$"),
    "a place before the beginning": (lambda X: X[:, [-5]], "the index -5 of an axis of 4$"),
    "places that do not fit": (
        lambda X: X[np.arange(3), X[:2, 0].astype(int)],
        r"indices of shapes \(3,\) and \(2,\)",
    ),
    "places along an axis": (
        lambda X: np.take_along_axis(X, X[:2].astype(int), 1),
        r"places of shape \(2, 4\) in an array of shape \(3, 4\)",
    ),
    "take": (lambda X: np.take(X, [9], mode="clip"), "mode='clip'; np.clip the indices"),
    "rows of a table": (lambda X: np.eye(3)[X[:, 0].astype(int)], r"np.eye\(C\)\[y\] is y"),
    "var of one": (lambda X: X[:1].var(0, ddof=1), "a variance of 1 with ddof=1"),
    "near": (lambda X: np.logspace(X, 2), "near it: [a-z0-9_, ]*;"),
    "true": (lambda X: X[True], "the index True"),
    "nothing": (lambda X: X[2:2], "the index slice"),
    "beyond the end": (lambda X: X[7], "the index 7 of an axis of 3$"),
    "sort": (lambda X: np.sort(X), "np.sort"),
    "cumsum": (lambda X: np.cumsum(X, axis=0), "np.cumsum"),
    "sinh": (lambda X: np.sinh(X), "np.sinh"),
    "svd": (lambda X: np.linalg.svd(X), "np.linalg.svd"),
    "norm": (lambda X: np.linalg.norm(X, 1), "np.linalg.norm of order 1; only the Euclidean"),
    "dot": (lambda X: np.dot(X[None], X.T), "np.dot of more than two axes"),
    "a list": (lambda X: np.einsum("ij->i", X, X), "of 2"),
    "complex numbers": (lambda X: X * np.array([1j, 1, 1, 1]), "complex128"),
    "out=": (lambda X: np.exp(X, out=X), "out="),
    "shapes": (lambda X: X + np.ones(3), r"\(3, 4\) and \(3,\)"),
    "matrices": (lambda X: X @ X, r"\(3, 4\) and \(3, 4\)"),
    "reshape": (lambda X: X.reshape(5, -1), "reshape"),
    "a method": (lambda X: X.cumsum(), "no .cumsum"),
    "einsum": (lambda X: np.einsum("ii->i", X), "einsum"),
    "an axis": (lambda X: X.sum(axis=2), "axis 2"),
    "a word": (lambda X: X + "1", "str"),
}


@pytest.mark.parametrize("formula, said", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_recorded_is_refused_with_its_line(formula, said):
    with pytest.raises(Untraceable, match=rf"^test_trace\.py, line \d+: .*{said}"):
        formula(array("X", (3, 4)))


def test_a_loop_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(trace, "LONGEST", 50)
    X = array("X", (100, 2))
    with pytest.raises(Untraceable, match="more than 50 steps"):
        evaluate([sum(X[k] for k in range(len(X)))], {"X": np.ones((100, 2))})


def test_a_long_sum_is_printed():
    a = array("a0", (400,))
    assert in_v8([sum(a[k] * k for k in range(400))], {"a0": np.ones(400)}) == [sum(range(400))]


def test_a_gradient_is_of_one_number():
    with pytest.raises(TypeError, match=r"one number .*, got a recorded array of shape \(3, 4\)"):
        gradient(array("X", (3, 4)), [])


def test_the_gradient_of_a_number_is_printed():
    a = array("a0", ())
    assert in_v8(gradient(a, [a]) + gradient(a + 2, [a]), {"a0": ONE}) == [1, 1]


def test_what_a_loss_does_not_see_has_the_gradient_zero():
    X, Y = array("X", (3, 4)), array("Y", (2,))
    (zero,) = evaluate(gradient((X * X).sum(), [Y]), {"X": A, "Y": np.ones(2)})
    assert zero.shape == (2,) and not zero.any()
