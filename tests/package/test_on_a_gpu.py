"""What a reader moves to a GPU gives the numbers of NumPy, and stays there.

On a machine without one the same lines run on torch's CPU tensors, and the rows of the GPU are skipped.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import mhalib as mha
from checks import as_numpy, assert_close
from livegrad import landscape
from optional import torch

KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian, "normalized": mha.normalized_gaussian}


@dataclass(frozen=True, eq=False, repr=False)
class Squares(mha.models.Vector):
    """A reader's model, of a loss alone that numpy's arrays and torch's both take."""

    w: np.ndarray

    def loss(self, X, y):
        return (((X @ self.w).sum(1) - y) ** 2).mean()


def heads():
    data = mha.data.tokenized_mixture(n=30, T=5, d=6, M=2, zeta=0.2)
    return mha.MultiHeadAttention.random(3, 5, 6, scale=0.5), data


def layer(kernel):
    rng = np.random.default_rng(1)
    data = mha.data.Dataset(rng.standard_normal((9, 4, 5)), rng.standard_normal((9, 4, 2)))
    return mha.AttentionLayer.random(D=5, d=4, m=2, H=2, kernel=KERNELS[kernel]), data


def regression():
    return mha.AttentionRegression.random(3, 3, scale=0.5), mha.data.linear_regression(20, 3, 3)


MODELS = {
    "heads": heads,
    "regression": regression,
    **{name: lambda name=name: layer(name) for name in KERNELS},
}
RULES = {
    "gradient descent": (mha.GradientDescent(0.3), "heads"),
    "momentum": (mha.Momentum(0.1), "heads"),
    "Adam": (mha.Adam(0.02), "heads"),
    "AdamW, by a cosine": (mha.AdamW(mha.Cosine(0.05, 20)), "heads"),
    "backtracking": (mha.Backtracking(1.0), "heads"),
    "a layer": (mha.GradientDescent(0.1), "gaussian"),
    "preconditioned": (mha.Preconditioned(0.1), "regression"),
    "structure-aware": (mha.StructureAware(0.1), "regression"),
}


@pytest.fixture(params=["cpu", "cuda"])
def move(request):
    """What carries an array to the device."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch finds no GPU on this machine")
    return lambda a: torch.as_tensor(a, device=request.param)


def there(move):
    """The kind of device that ``move`` carries to."""
    return move(np.ones(1)).device.type


@pytest.mark.parametrize("name", MODELS)
def test_loss_gradient_and_hessian_products(name, move):
    model, data = MODELS[name]()
    V = landscape.random_direction(model, seed=3)
    far, moved = model.map(move), data.map(move)
    (loss, grad), (wanted, slopes) = (
        far.loss_and_grad(moved.X, moved.y),
        model.loss_and_grad(data.X, data.y),
    )
    assert_close(loss, wanted, 1e-12)
    images = far.hvp(moved.X, moved.y, V.map(move)), model.hvp(data.X, data.y, V)
    for found, ours in ((grad, slopes), images):
        for weight, expected in ours.arrays().items():
            assert found.arrays()[weight].device.type == there(move)
            assert_close(found.arrays()[weight], expected, 1e-11)


@pytest.mark.parametrize("rule, name", RULES.values(), ids=RULES)
def test_training(rule, name, move):
    model, data = MODELS[name]()
    ours = mha.train(model, data, rule, 20, test=data)
    theirs = mha.train(model.map(move), data.map(move), rule, 20, test=data.map(move))
    assert {a.device.type for a in theirs[-1].arrays().values()} == {there(move)}
    assert list(theirs.curves) == list(ours.curves)
    for curve, values in ours.curves.items():
        assert_close(theirs.curves[curve], values, 1e-9)


def test_minibatches(move):
    model, data = heads()
    ours, theirs = (
        mha.train(start, samples, mha.GradientDescent(0.3), 20, batch=7, seed=1)
        for start, samples in ((model, data), (model.map(move), data.map(move)))
    )
    assert_close(theirs.loss, ours.loss, 1e-9)


def test_batches_that_go_through_in_parts(move):
    """The arrays of a pass would exceed 256 megabytes, and a step takes its samples in parts."""
    data = mha.data.tokenized_mixture(n=3000, T=10, d=8)
    model = mha.MultiHeadAttention.random(128, 10, 8, scale=0.1)
    (loss, grad), (wanted, slopes) = (
        start.loss_and_grad(samples.X, samples.y)
        for start, samples in ((model.map(move), data.map(move)), (model, data))
    )
    assert_close(loss, wanted, 1e-12)
    assert_close(grad.W, slopes.W, 1e-11)


def test_a_model_of_a_loss_alone(move):
    data = mha.data.tokenized_mixture(n=30, T=5, d=6, M=2, zeta=0.2)
    model = Squares(np.linspace(-1, 1, 6))
    ours = mha.train(model, data, mha.GradientDescent(0.01), 20)
    theirs = mha.train(model.map(move), data.map(move), mha.GradientDescent(0.01), 20)
    assert theirs[-1].w.device.type == there(move)
    assert_close(theirs.loss, ours.loss, 1e-10)


@pytest.mark.parametrize("name", ["heads", "gaussian"])
def test_landscapes(name, move):
    model, data = MODELS[name]()
    u, v = (landscape.random_direction(model, seed) for seed in (1, 2))
    far, moved = model.map(move), data.map(move)
    ours = landscape.slice(model, data, u, v, 0.5, 5)
    theirs = landscape.slice(far, moved, u.map(move), v.map(move), 0.5, 5)
    assert_close(theirs.loss, ours.loss, 1e-11)
    assert_close(
        landscape.spectrum(far, moved, 2).values, landscape.spectrum(model, data, 2).values, 1e-9
    )


def test_single_precision(move):
    """Losses and slopes in single precision, to its rounding."""
    for name, make in MODELS.items():
        model, data = make()
        small = [part.map(lambda a: move(a.astype("float32"))) for part in (model, data)]
        loss, grad = small[0].loss_and_grad(small[1].X, small[1].y)
        wanted, slopes = model.loss_and_grad(data.X, data.y)
        assert_close(loss, wanted, 1e-5)
        for weight, expected in slopes.arrays().items():
            found = grad.arrays()[weight]
            assert found.dtype == torch.float32, name
            assert_close(as_numpy(found), expected, 1e-4)
