"""numpy or torch: the arrays decide, and what is permitted means the same in both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import assert_close
from livegrad import arrays
from optional import torch

A = np.linspace(-2, 3, 24).reshape(2, 3, 4)
POSITIVE = abs(A) + 0.5
CALLS = {
    "abs": lambda xp, a: xp.abs(a),
    "amax": lambda xp, a: xp.amax(a, axis=1),
    "amax keeps dims": lambda xp, a: xp.amax(a, axis=-1, keepdims=True),
    "ascontiguousarray": lambda xp, a: xp.ascontiguousarray(a.mT),
    "concatenate": lambda xp, a: xp.concatenate([a, 2 * a], axis=1),
    "diagonal": lambda xp, a: xp.diagonal(a[0]),
    "divide": lambda xp, a: xp.divide(1 / a, a, out=xp.empty(a.shape, dtype=a.dtype)),
    "einsum": lambda xp, a: xp.einsum("nab,nac->nbc", a, a),
    "einsum of one": lambda xp, a: xp.einsum("nab->ban", a),
    "empty": lambda xp, a: xp.zeros_like(xp.empty((2, 3), dtype=a.dtype)),
    "exp": lambda xp, a: xp.exp(a),
    "isfinite": lambda xp, a: xp.isfinite(a) * 1.0,
    "log": lambda xp, a: xp.log(a),
    "matmul": lambda xp, a: xp.matmul(a, a.mT, out=xp.empty((2, 3, 3), dtype=a.dtype)),
    "maximum": lambda xp, a: xp.maximum(a, xp.zeros_like(a) + 1),
    "multiply": lambda xp, a: xp.multiply(a, a),
    "new_empty": lambda xp, a: xp.zeros_like(xp.new_empty((2, 5), a)),
    "new_ones": lambda xp, a: xp.new_ones((2, 5), a),
    "norm": lambda xp, a: xp.norm(a, axis=1),
    "softplus": lambda xp, a: xp.softplus(a),
    "sqrt": lambda xp, a: xp.sqrt(a),
    "stack": lambda xp, a: xp.stack([a, a], axis=1),
    "sum": lambda xp, a: xp.sum(a, axis=2),
    "where": lambda xp, a: xp.where(a > 1, a, -a),
    "zeros": lambda xp, a: xp.zeros((2, 3), dtype=a.dtype),
    "zeros_like": lambda xp, a: xp.zeros_like(a),
}
both = pytest.mark.parametrize("array", [POSITIVE, torch.tensor(POSITIVE)], ids=["numpy", "torch"])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_permitted_functions_agree(call):
    ours = call(arrays.namespace(POSITIVE), POSITIVE)
    theirs = call(arrays.namespace(torch.tensor(POSITIVE)), torch.tensor(POSITIVE))
    assert isinstance(theirs, torch.Tensor)
    assert_close(ours, theirs, 1e-15)


def test_every_permitted_function_is_compared():
    assert set(arrays.PERMITTED) <= set(CALLS)


@both
def test_namespace_offers_the_list_and_no_more(array):
    adapted = {
        "amax",
        "ascontiguousarray",
        "einsum",
        "new_empty",
        "new_ones",
        "norm",
        "softplus",
        "eps",
        "log_max",
    }
    assert set(vars(arrays.namespace(array))) == set(arrays.PERMITTED) | adapted


@both
def test_what_is_an_array(array):
    assert arrays.is_array(array)
    assert not arrays.is_array(array.tolist())
    assert arrays.is_array(np.float64(1))


def test_libraries_do_not_mix():
    with pytest.raises(
        TypeError, match=r"mixed: argument 1 is numpy, argument 2 is torch.*torch\.as_tensor"
    ):
        arrays.namespace(A, torch.tensor(A))
    with pytest.raises(TypeError, match="left is numpy, right is torch"):
        arrays.namespace(left=A, right=torch.tensor(A))


@given(st.floats(-1e4, 1e4))
def test_softplus_is_stable(x):
    for array in (np.array([x]), torch.tensor([x], dtype=torch.float64)):
        value = float(arrays.namespace(array).softplus(array)[0])
        assert value >= max(x, 0)
        assert value <= max(x, 0) + np.log(2) + 1e-12 * abs(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_log_max_is_where_exp_overflows(dtype):
    for x in (np.ones(1, dtype), torch.ones(1, dtype=getattr(torch, dtype))):
        xp = arrays.namespace(x)
        assert bool(xp.isfinite(xp.exp(x * (xp.log_max(x) * 0.999))).all())
        with np.errstate(over="ignore"):
            assert not bool(xp.isfinite(xp.exp(x * (xp.log_max(x) * 1.001))).all())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eps_is_what_one_can_be_told_from(dtype):
    for x in (np.ones(1, dtype), torch.ones(1, dtype=getattr(torch, dtype))):
        eps = arrays.namespace(x).eps(x)
        assert bool((x + x * eps != x).all()) and bool((x + x * (eps / 2) == x).all())


def test_to_numpy_and_back():
    tensor = torch.tensor(A, requires_grad=True)
    assert_close(arrays.to_numpy(tensor), A, 0)
    assert arrays.to_numpy(A) is A
    like = torch.ones(1, dtype=torch.float32)
    assert arrays.as_like(A, like).dtype == torch.float32
    assert arrays.as_like(A.astype("float32"), A).dtype == np.float64


@both
def test_require_accepts_what_fits(array):
    arrays.require("X", array, ("n", 3, "d"))
    arrays.require_same_dtype(a=array, b=array)
    arrays.require_count(n=1, T=np.int64(3))


def test_infinite_numbers_pass_only_where_allowed():
    X = np.array([1.0, np.inf])
    arrays.require("X", X, (2,), finite=False)
    with pytest.raises(ValueError, match=r"X: expected finite numbers.*\(2,\)"):
        arrays.require("X", X, (2,))
