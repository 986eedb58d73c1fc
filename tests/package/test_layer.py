"""The layer of Part III, by either kernel: against autograd, and the small problems on which it
gets stuck."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mhalib as mha
from checks import assert_close, assert_refused
from optional import torch
from oracles import tensors
from strategies import seeds

KERNELS = {
    "softmax": mha.softmax,
    "gaussian": mha.gaussian,
    "gaussian, c = 1": mha.attention.Gaussian(1.0),
    "normalized": mha.attention.NormalizedGaussian(0.7),
}
SIZES = st.permutations((1, 2, 3, 4)).map(lambda s: dict(zip(("n", "D", "m", "d"), s, strict=True)))
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def drawn(seed, kernel, N=2, n=3, D=5, m=2, H=2, d=4, scale=1.0):
    """A layer, and sequences for it."""
    return (
        mha.AttentionLayer.random(D, d, m, H, scale, kernel=kernel, seed=seed % 1000),
        mha.data.random_sequences(N, n, D, m, seed=seed % 1000),
    )


def oracle_loss(weights, X, y, kernel):
    """Sample by sample, head by head, token by token."""
    WQ, WK, WV, WO = weights
    total, root = 0.0, WQ.shape[2] ** 0.5
    for tokens, targets in zip(X, y, strict=True):
        for x, target in zip(tokens, targets, strict=True):
            output = 0.0
            for q, k, v, o in zip(WQ, WK, WV, WO, strict=True):
                if isinstance(kernel, mha.attention.Gaussian):
                    S = torch.stack(
                        [torch.exp(-kernel.c * ((x @ q - z @ k) ** 2).sum() / root) for z in tokens]
                    )
                    S = S / S.sum() if isinstance(kernel, mha.attention.NormalizedGaussian) else S
                else:
                    S = torch.softmax(torch.stack([(x @ q) @ (z @ k) / root for z in tokens]), 0)
                output = output + (S @ tokens) @ v @ o
            total = total + ((output - target) ** 2).sum() / 2
    return total / len(X)


def autograd(layer, data, V=None):
    """The gradient by autograd, or the Hessian times V."""
    weights = tensors(*layer.arrays().values())
    for weight in weights:
        weight.requires_grad_()
    loss = oracle_loss(weights, *tensors(data.X, data.y), layer.kernel)
    found = torch.autograd.grad(loss, weights, create_graph=True)
    if V is not None:
        along = sum(
            (g * torch.tensor(v)).sum() for g, v in zip(found, V.arrays().values(), strict=True)
        )
        found = torch.autograd.grad(along, weights)
    return [part.detach().numpy() for part in found]


@kernels
@given(seeds, SIZES, st.floats(0.1, 2))
def test_gradient_is_autograds(kernel, seed, sizes, scale):
    layer, data = drawn(seed, kernel, **sizes, scale=scale)
    loss, grad = layer.loss_and_grad(data.X, data.y)
    assert loss == pytest.approx(float(layer.loss(data.X, data.y)), rel=1e-13)
    oracle = oracle_loss(tensors(*layer.arrays().values()), *tensors(data.X, data.y), kernel)
    assert loss == pytest.approx(float(oracle), rel=1e-12)
    wanted = autograd(layer, data)
    size = max(abs(part).max() for part in wanted)
    for found, want in zip(grad.arrays().values(), wanted, strict=True):
        assert_close(found, want, 1e-12, size)


@kernels
@given(seeds, SIZES, st.floats(0.1, 2))
def test_hvp_is_autograds(kernel, seed, sizes, scale):
    layer, data = drawn(seed, kernel, **sizes, scale=scale)
    V = drawn(seed + 1, kernel, **sizes)[0]
    wanted = autograd(layer, data, V)
    size = max(abs(part).max() for part in wanted)
    for found, want in zip(layer.hvp(data.X, data.y, V).arrays().values(), wanted, strict=True):
        assert_close(found, want, 1e-11, size)


@kernels
def test_outputs_are_the_mixed_tokens_times_the_values(kernel):
    layer, data = drawn(3, kernel)
    values = np.concatenate([v @ o for v, o in zip(layer.WV, layer.WO, strict=True)])
    assert_close(layer.mixed(data.X) @ values, layer(data.X).reshape(-1, 2), 1e-12)


@kernels
def test_torch_computes_the_same(kernel):
    layer, data = drawn(4, kernel)
    there = layer.map(torch.tensor).loss_and_grad(*tensors(data.X, data.y))
    here = layer.loss_and_grad(data.X, data.y)
    assert float(there[0]) == pytest.approx(float(here[0]), rel=1e-13)
    assert_close(there[1].WQ.numpy(), here[1].WQ, 1e-12)


def test_a_layer_of_single_precision_trains_at_a_width_of_numpy():
    layer, data = drawn(4, mha.attention.Gaussian(np.float64(0.7)))
    layer, data = (part.map(lambda a: a.astype("float32")) for part in (layer, data))
    end = mha.train(layer, data, mha.GradientDescent(0.1), 3)[-1]
    assert {W.dtype.name for W in end.arrays().values()} == {"float32"}


@pytest.mark.parametrize("only", ["WV", ("WQ",), ("WQ", "WK")])
def test_only_the_chosen_weights_move(only):
    layer, data = drawn(5, mha.gaussian)
    for rule in (
        mha.GradientDescent(0.1),
        mha.Adam(0.01),
        mha.AdamW(0.01, weight_decay=0.5),
        mha.Backtracking(),
    ):
        end = mha.train(layer, data, rule, 3, only=only)[-1]
        moved = {
            name for name, W in layer.arrays().items() if abs(W - end.arrays()[name]).max() > 0
        }
        assert moved == ({only} if isinstance(only, str) else set(only))


def test_only_holds_for_the_fast_workspace_too():
    start = mha.MultiHeadAttention.random(2, 4, 3)
    for rule in (mha.GradientDescent(0.5), mha.AdamW(0.1, weight_decay=0.5)):
        end = mha.train(start, MIXTURE, rule, 3, only="U")[-1]
        assert abs(end.W - start.W).max() == 0 < abs(end.U - start.U).max()


@kernels
def test_backtracking_descends_at_every_step(kernel):
    layer, data = drawn(6, kernel, scale=2.0)
    path = mha.train(layer, data, mha.Backtracking(lr=100.0), 40, record=range(41))
    assert (np.diff(path.loss) <= -0.0).all() and path.loss[-1] < 0.5 * path.loss[0]


LAYER, DATA = drawn(0, mha.softmax)
MIXTURE = mha.data.tokenized_mixture(n=8, T=4, d=3, M=1, zeta=0.25)
BAD = {
    "keys of another width": (
        lambda: mha.AttentionLayer(LAYER.WQ, LAYER.WK[..., :2], LAYER.WV, LAYER.WO),
        ValueError,
        ["WK: expected shape (2, 5, 4)", "(2, 5, 2)"],
    ),
    "no kernel": (
        lambda: mha.AttentionLayer(*LAYER.arrays().values(), "softmax"),
        TypeError,
        ["kernel: expected", "'softmax'"],
    ),
    "targets of another m": (
        lambda: LAYER.loss(DATA.X, DATA.y[..., :1]),
        ValueError,
        ["y: expected shape (2, 3, 2)", "(2, 3, 1)"],
    ),
    "tokens of another D": (
        lambda: LAYER(DATA.X[..., :2]),
        ValueError,
        ["X: expected shape (N, n, 5)", "(2, 3, 2)"],
    ),
    "direction of another size": (
        lambda: LAYER.hvp(DATA.X, DATA.y, drawn(0, mha.softmax, d=2)[0]),
        ValueError,
        ["V: expected a direction like AttentionLayer(WQ (2, 5, 4)", "WQ (2, 5, 2)"],
    ),
    "only what is not there": (
        lambda: mha.train(LAYER, DATA, mha.GradientDescent(0.1), 1, only="W"),
        ValueError,
        ["only: expected some of ('WQ', 'WK', 'WV', 'WO')", "('W',)"],
    ),
    "backtracking without data": (
        lambda: mha.Backtracking().start(LAYER),
        ValueError,
        ["knows the data"],
    ),
    "backtracking on numbers": (
        lambda: mha.Backtracking().on(DATA).start(3.0),
        TypeError,
        ["model: expected one with loss(X, y), got float"],
    ),
    "no shrinking": (
        lambda: mha.Backtracking(shrink=1.0),
        ValueError,
        ["shrink: expected a number in (0, 1)"],
    ),
    "no rate": (lambda: mha.Backtracking(lr=-1), ValueError, ["lr: expected a positive number"]),
}


@pytest.mark.parametrize("call, error, words", BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
