"""Two kernels: weights that are what they are called, and pullbacks that are derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import checks
import oracles
from checks import assert_close
from mhalib.attention import Gaussian, NormalizedGaussian, Softmax, gaussian, softmax
from optional import torch
from strategies import seeds

# Queries and keys differ in number and in dimension.
QUERIES, KEYS, D = 4, 3, 5
kernels = pytest.mark.parametrize("kernel", [softmax, gaussian, Gaussian(c=2.0)], ids=repr)
spreads = st.floats(-2, 4).map(lambda power: 10.0**power)


def normal(seed, *shape, scale=1.0):
    return scale * np.random.default_rng([seed, 102]).standard_normal(shape)


def queries_and_keys(seed=0, scale=1.0):
    return normal(seed, 2, QUERIES, D, scale=scale), normal(seed + 1, 2, KEYS, D, scale=scale)


@given(seeds, spreads)
def test_rows_are_probabilities(seed, spread):
    A = softmax(normal(seed, 2, 3, 4, 5, scale=spread))
    assert (A >= 0).all()
    assert_close(A.sum(axis=-1), np.ones((2, 3, 4)), 1e-14)


@given(seeds, spreads)
def test_softmax_is_the_written_one(seed, spread):
    S = normal(seed, 2, 3, 4, scale=spread)
    assert_close(softmax(S), oracles.softmax_rows(torch.tensor(S)), 1e-13)


@given(seeds, st.floats(-1e6, 1e6))
def test_softmax_ignores_a_shift(seed, shift):
    S = np.round(normal(seed, 3, 4), 3)
    # The shifted scores are rounded to a multiple of ε|shift|, which is all that may change.
    assert_close(softmax(S + shift), softmax(S), 1e-15 * (10 + abs(shift)))


def test_softmax_of_huge_scores_picks_the_largest():
    assert softmax(np.array([[8e307, -8e307, 0.0]])).tolist() == [[1, 0, 0]]


def test_gaussian_has_no_such_invariance():
    S = -abs(normal(0, 3, 4))
    assert abs(gaussian(S - 1) - gaussian(S)).max() > 0.1


@given(seeds, spreads, st.floats(0.01, 10))
def test_gaussian_weights_never_exceed_one(seed, scale, c):
    kernel, (Q, K) = Gaussian(c), queries_and_keys(seed, scale)
    for keys in (K, Q, Q * (1 + 1e-9)):  # equal and nearly equal rows cancel
        A = kernel(kernel.scores(Q, keys))
        assert A.min() >= 0
        assert A.max() <= 1


@pytest.mark.parametrize("c", [0.5, 2.0])
def test_gaussian_weights_are_the_written_ones(c):
    kernel, (Q, K) = Gaussian(c), queries_and_keys()
    written = [
        oracles.gaussian_weights(*oracles.tensors(q, k), c) for q, k in zip(Q, K, strict=True)
    ]
    assert_close(kernel(kernel.scores(Q, K)), torch.stack(written), 1e-13)


@pytest.mark.parametrize(
    "library", [lambda a: a, lambda a: torch.tensor(a)], ids=["numpy", "torch"]
)
@pytest.mark.parametrize("dtype, rel", [("float32", 2e-6), ("float64", 1e-8)])
def test_a_common_offset_of_tokens_does_not_blur_distances(dtype, rel, library):
    offset = 1000 + normal(7, D)
    (Q, K), (Q_, K_) = (
        [(part + offset).astype(dtype) for part in queries_and_keys(seed)] for seed in (0, 5)
    )
    apart, moving = (
        [q.astype(float)[:, :, None] - k.astype(float)[:, None]] for q, k in ((Q, K), (Q_, K_))
    )
    written = -gaussian.c / D**0.5 * (apart[0] ** 2).sum(axis=-1)
    along = -2 * gaussian.c / D**0.5 * (apart[0] * moving[0]).sum(axis=-1)
    Q, K, Q_, K_ = map(library, (Q, K, Q_, K_))
    assert_close(gaussian.scores(Q, K), written, rel, abs(written).max())
    assert_close(gaussian.scores_along(Q, K, Q_, K_), along, rel, abs(along).max())


@pytest.mark.parametrize("kind", [Gaussian, NormalizedGaussian])
@pytest.mark.parametrize("c", [0.0, np.nan, np.inf, "1", True], ids=repr)
def test_a_width_that_is_none_is_refused(kind, c):
    checks.assert_refused(
        lambda: kind(c), ValueError, ["c: expected a finite number > 0, got", repr(c)]
    )


def test_two_widths_are_refused_by_their_shape():
    checks.assert_refused(
        lambda: Gaussian(np.ones(2)), ValueError, ["c: expected", "got an ndarray of shape (2,)"]
    )


@pytest.mark.parametrize("kind", [Gaussian, NormalizedGaussian])
@pytest.mark.parametrize("c", [np.float64(2), np.float32(2), np.int64(2), 2], ids=repr)
def test_a_width_of_numpy_does_not_change_the_dtype(kind, c):
    kernel, (Q, K) = kind(c), (part.astype("float32") for part in queries_and_keys())
    S = kernel.scores(Q, K)
    found = (S, kernel(S), *kernel.scores_vjp(Q, K, S), kernel.scores_along(Q, K, K[:, :1] + Q, K))
    assert {a.dtype.name for a in found} == {"float32"}
    assert type(kernel.c) is float and kernel == kind(2.0)


def test_a_gaussian_query_sees_itself_fully():
    Q, _ = queries_and_keys()
    A = gaussian(gaussian.scores(Q, Q))
    assert_close(np.diagonal(A, axis1=1, axis2=2), np.ones((2, QUERIES)), 1e-14)


def test_normalized_weights_are_gaussian_ones_over_their_sum():
    Q, K = queries_and_keys()
    plain = Gaussian(2.0)(Gaussian(2.0).scores(Q, K))
    kernel = NormalizedGaussian(2.0)
    assert_close(kernel(kernel.scores(Q, K)), plain / plain.sum(axis=-1, keepdims=True), 1e-13)
    far = kernel(kernel.scores(Q + 100, K))  # where every plain weight is zero
    assert_close(far.sum(axis=-1), np.ones(far.shape[:-1]), 1e-14)


def test_softmax_scores_are_scaled_products():
    Q, K = queries_and_keys()
    written = [
        [[q @ k / D**0.5 for k in keys] for q in queries]
        for queries, keys in zip(Q, K, strict=True)
    ]
    assert_close(softmax.scores(Q, K), written, 1e-14)


@kernels
def test_vjp_is_the_pullback_by_autograd(kernel):
    S, dA = -abs(normal(3, 2, 4, 5)), normal(4, 2, 4, 5)
    written = oracles.softmax_rows if isinstance(kernel, Softmax) else torch.exp
    scores = torch.tensor(S, requires_grad=True)
    (pulled,) = torch.autograd.grad(written(scores), scores, torch.tensor(dA))
    assert_close(kernel.vjp(kernel(S), dA), pulled, 1e-13)


@kernels
def test_vjp_is_the_pullback_by_central_differences(kernel):
    S, dA, V, step = -1 - abs(normal(3, 2, 4, 5)), normal(4, 2, 4, 5), normal(5, 2, 4, 5), 1e-5
    along = ((kernel(S + step * V) - kernel(S - step * V)) * dA).sum() / (2 * step)
    pulled = kernel.vjp(kernel(S), dA)
    assert_close((pulled * V).sum(), along, 1e-8, size=np.linalg.norm(pulled) * np.linalg.norm(V))


@kernels
def test_scores_vjp_is_the_pullback_by_autograd(kernel):
    (Q, K), dS = queries_and_keys(), normal(6, 2, QUERIES, KEYS)
    queries, keys = (torch.tensor(a, requires_grad=True) for a in (Q, K))
    if isinstance(kernel, Softmax):
        written = torch.einsum("nid,njd->nij", queries, keys) / D**0.5
    else:
        written = torch.stack(
            [
                torch.log(oracles.gaussian_weights(q, k, kernel.c))
                for q, k in zip(queries, keys, strict=True)
            ]
        )
    pulled = torch.autograd.grad(written, (queries, keys), torch.tensor(dS))
    for ours, theirs in zip(kernel.scores_vjp(Q, K, dS), pulled, strict=True):
        assert_close(ours, theirs, 1e-12)


@kernels
def test_scores_vjp_is_the_pullback_by_central_differences(kernel):
    (Q, K) = queries_and_keys()
    (VQ, VK) = queries_and_keys(9)
    dS = normal(6, 2, QUERIES, KEYS)
    step = 1e-5
    ahead, behind = (kernel.scores(Q + shift * VQ, K + shift * VK) for shift in (step, -step))
    dQ, dK = kernel.scores_vjp(Q, K, dS)
    assert_close(
        (dQ * VQ).sum() + (dK * VK).sum(),
        ((ahead - behind) * dS).sum() / (2 * step),
        1e-8,
        size=np.linalg.norm(dQ) * np.linalg.norm(VQ),
    )


@kernels
def test_single_precision_stays_single(kernel):
    Q, K = (a.astype("float32") for a in queries_and_keys())
    S = kernel.scores(Q, K)
    A = kernel(S)
    assert {a.dtype.name for a in (S, A, kernel.vjp(A, A), *kernel.scores_vjp(Q, K, S))} == {
        "float32"
    }
    assert_close(A, kernel(kernel.scores(*queries_and_keys())), 1e-6)
