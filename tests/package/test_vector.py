"""A model is a point of a vector space: the axioms, the inner product, and what does not mix."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mhalib as mha
from checks import assert_close
from optional import torch
from strategies import direction, problem, problems

numbers = st.floats(-1e3, 1e3)


def assert_same(a, b, rel=0.0, size=0.0):
    """Two models with equal parameters."""
    assert type(a) is type(b)
    assert_close(a.W, b.W, rel, size)
    assert_close(a.U, b.U, rel, size)


@given(problems, numbers, numbers)
def test_vector_space_axioms(drawn, a, b):
    u = drawn.model
    v, w = direction(u, 1), direction(u, 2)
    size = (1 + abs(a)) * (1 + abs(b)) * (u.norm() + v.norm() + w.norm())
    assert_same(u + v, v + u)
    assert_same((u + v) + w, u + (v + w), 1e-15, size)
    assert_same(a * (u + v), a * u + a * v, 1e-15, size)
    assert_same((a + b) * u, a * u + b * u, 1e-15, size)
    assert_same((a * b) * u, a * (b * u), 1e-15, size)
    assert_same(u - u, 0 * u)
    assert_same(u + 0 * u, u)
    assert_same(1 * u, u)
    assert_same(u - v, u + -v)


@given(problems, numbers)
def test_dot_is_an_inner_product(drawn, a):
    u = drawn.model
    v, w = direction(u, 1), direction(u, 2)
    size = (1 + abs(a)) * (u.norm() + v.norm()) * w.norm()
    assert_close(u.dot(v), u.ravel() @ v.ravel(), 1e-14, u.norm() * v.norm())
    assert_close(u.dot(v), v.dot(u), 1e-14, u.norm() * v.norm())
    assert_close((a * u + v).dot(w), a * u.dot(w) + v.dot(w), 1e-14, size)
    assert abs(u.dot(v)) <= u.norm() * v.norm() * (1 + 1e-14)
    assert u.norm() == pytest.approx(np.linalg.norm(u.ravel()), rel=1e-14)


@pytest.mark.parametrize(
    "number", [0.5, 3, np.float64(0.5), np.float32(0.5), np.int64(3)], ids=repr
)
def test_numbers_multiply_from_both_sides(number):
    model = problem().model
    assert_same(number * model, model.map(lambda a: a * float(number)))
    assert_same(model * number, number * model)
    assert_same(model / number, (1 / float(number)) * model, 1e-15)


def test_arithmetic_is_elementwise():
    u, v = problem().model, direction(problem().model)
    assert_same(u * v, type(u)(u.W * v.W, u.U * v.U))
    assert_same(u / v, type(u)(u.W / v.W, u.U / v.U))
    assert_same((u * u) ** 0.5, u.map(abs), 1e-15)
    assert_same(u + 2, u.map(lambda a: a + 2))
    assert_same(2 + u, u + 2)
    assert_same(u - 2, u + -2)


@pytest.mark.parametrize("number", [np.float64(0.1), 0.1, np.int64(2)], ids=repr)
def test_a_number_does_not_change_the_dtype(number):
    single = problem().model.map(lambda a: a.astype("float32"))
    assert {
        a.dtype.name
        for model in (
            number * single,
            single - number,
            single / number,
            (single * single) ** number,
        )
        for a in model.arrays().values()
    } == {"float32"}


def test_a_step_leaves_the_model_alone():
    model, X, y = problem()
    before = copy.deepcopy(model)
    model.loss_and_grad(X, y)
    model - 0.1 * model
    assert_same(model, before)
    with pytest.raises(AttributeError):
        model.W = model.W + 1


def test_a_diverging_step_may_reach_infinity():
    with np.errstate(over="ignore"):
        assert np.isinf((1e308 * (100 * problem().model)).W).any()


def test_map_goes_to_torch_and_back():
    model, X, y = problem().map(torch.tensor)
    loss, grad = model.loss_and_grad(X, y)
    assert isinstance(grad.W, torch.Tensor)
    assert_same(
        (model - 0.5 * grad).map(lambda a: a.numpy()),
        problem().model - 0.5 * problem().model.loss_and_grad(*problem()[1:])[1],
        1e-14,
    )


def test_models_are_pickled():
    model = problem().model
    assert_same(pickle.loads(pickle.dumps(model)), model)


@pytest.mark.parametrize("other", [[1.0], "0.1", None, 1j], ids=repr)
def test_what_is_no_number_is_refused(other):
    with pytest.raises(TypeError):
        problem().model + other


def test_shapes_do_not_mix():
    with pytest.raises(
        ValueError,
        match=r"W: expected two MultiHeadAttention of one shape.*\(2, 3, 3\).*\(1, 3, 3\)",
    ):
        problem().model + problem(H=1).model
    with pytest.raises(ValueError, match=r"U: .*\(2, 4, 3\).*\(2, 5, 3\)"):
        problem().model.dot(problem(T=5).model)


def test_layers_of_two_kernels_have_no_sum():
    soft, sharp = (
        mha.AttentionLayer.random(4, 3, 2, kernel=kernel)
        for kernel in (mha.softmax, mha.attention.Gaussian(2))
    )
    for mix in (
        lambda: soft + sharp,
        lambda: sharp - soft,
        lambda: soft.dot(sharp),
        lambda: mha.landscape.interpolation(soft, sharp, mha.data.random_sequences(2, 3, 4, 2), 3),
    ):
        with pytest.raises(
            ValueError,
            match=r"kernel: expected two AttentionLayer with the same kernel, got .*Gaussian"
            r".*dataclasses\.replace\(second, kernel=first\.kernel\)",
        ):
            mix()
    assert (soft - replace(sharp, kernel=soft.kernel)).norm() == 0
    # equal, and not the same object
    assert (sharp - replace(sharp, kernel=mha.attention.Gaussian(2.0))).norm() == 0
    with pytest.raises(ValueError, match="kernel"):
        replace(sharp, kernel=mha.attention.NormalizedGaussian(2)) + sharp


def test_libraries_do_not_mix():
    with pytest.raises(TypeError, match="left W is numpy, right W is torch"):
        problem().model + problem().model.map(torch.tensor)


def test_an_array_is_not_a_model():
    with pytest.raises(TypeError):
        problem().model + problem().model.W
    with pytest.raises(TypeError):
        problem().model.W + problem().model


def test_arrays_are_named_in_order():
    model = mha.MultiHeadAttention.zeros(1, 2, 3)
    assert list(model.arrays()) == ["W", "U"]
    assert model.sizes == (1, 2, 3)


def test_a_model_shows_its_shapes_not_its_numbers():
    assert (
        repr(mha.MultiHeadAttention.zeros(2, 4, 3))
        == "MultiHeadAttention(W (2, 3, 3), U (2, 4, 3), float64)"
    )


def test_inner_products_are_numbers_in_either_library():
    u, v = problem(seed=1).model, problem(seed=2).model
    w = u.map(torch.tensor)
    assert isinstance(u.dot(v), float)
    assert isinstance(w.dot(w), float)
    assert_close(w.dot(v.map(torch.tensor)), u.dot(v), 1e-14, u.norm() * v.norm())
    assert_close((w.dot(w) * w).W.numpy(), u.dot(u) * u.W, 1e-14)


def test_a_model_scales_by_a_0d_array():
    u = problem(seed=1).model
    assert_close((u * np.array(0.5)).W, 0.5 * u.W, 1e-15)
    assert_close((np.array(0.5) * u).W, 0.5 * u.W, 1e-15)
    assert_close((u.map(torch.tensor) * torch.tensor(0.5)).W.numpy(), 0.5 * u.W, 1e-15)


def test_a_vector_gives_a_model_its_own_arrays():
    model = problem(H=1).model
    vector = model.ravel()
    same = model.unravel(vector)
    vector[:] = 9
    assert_close(same.W, model.W, 1e-15)


def test_only_leaves_zeros_in_place_of_numbers_that_are_not_finite():
    zero = mha.MultiHeadAttention.zeros(H=2, T=4, d=3)
    diverged = zero.with_arrays(W=zero.W + np.inf, U=zero.U + 1)
    assert diverged.only("U").norm() == 24**0.5
