"""Data: what the mixture promises exactly, what it promises in distribution, and the digits."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import livegrad
import mhalib as mha
from checks import assert_close
from mhalib.data.mixture import draw
from mhalib.data.regression import rotation
from optional import torch

# Each claim about a distribution is one two-sided z-test that a right generator fails for one seed
# in a million.
ALARM = 1e-6
Z = NormalDist().inv_cdf(1 - ALARM / 2)
BIG = {"n": 4000, "T": 10, "d": 12, "M": 5, "zeta": 0.3, "S": 2.0, "sigma": 0.7, "seed": 11}


@st.composite
def mixtures(draw):
    """Keyword arguments of small mixtures, all sizes that fit among them."""
    T, M = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    relevant = draw(st.integers(1, T))
    return {
        "n": draw(st.integers(1, 5)),
        "T": T,
        "d": M + 2 + draw(st.integers(0, 3)),
        "M": M,
        "zeta": relevant / T,
        "S": draw(st.floats(0.1, 10)),
        "sigma": draw(st.floats(0, 2)),
        "seed": draw(st.integers(0, 2**32 - 1)),
    }


def assert_z(mean, expected, deviation, n):
    """The mean of n independent numbers of this standard deviation is as expected."""
    z = (mean - expected) / (deviation / n**0.5)
    assert abs(z) < Z, f"z = {z:.2f}"


@given(mixtures())
def test_patterns_are_orthogonal_and_of_norm_S(sizes):
    truth = mha.data.tokenized_mixture(**sizes).truth
    assert truth.mu.shape == (2, sizes["d"])
    assert truth.nu.shape == (sizes["M"], sizes["d"])
    patterns = np.vstack([truth.mu, truth.nu])
    assert_close(patterns @ patterns.T, sizes["S"] ** 2 * np.eye(sizes["M"] + 2), 1e-13)


@given(mixtures())
def test_a_share_zeta_of_the_tokens_carries_the_label(sizes):
    data = mha.data.tokenized_mixture(**sizes)
    n, T = sizes["n"], sizes["T"]
    assert data.X.shape == (n, T, sizes["d"])
    assert data.X.dtype == data.y.dtype == np.float64
    assert data.relevant.shape == (n, T)
    assert data.relevant.sum(axis=1).tolist() == [round(sizes["zeta"] * T)] * n
    assert set(data.y.tolist()) <= {-1.0, 1.0}
    for tokens, label, marks in zip(data.X, data.y, data.relevant, strict=True):
        assert (tokens[marks] == data.truth.mu[int(label > 0)]).all()


@given(mixtures())
def test_without_noise_the_other_tokens_are_patterns(sizes):
    data = mha.data.tokenized_mixture(**sizes | {"sigma": 0.0})
    for token in data.X[~data.relevant]:
        assert (token == data.truth.nu).all(axis=1).any()


@given(mixtures(), st.integers(1, 5))
def test_the_first_samples_do_not_depend_on_how_many_are_drawn(sizes, more):
    few, many = (
        mha.data.tokenized_mixture(**sizes | {"n": n}) for n in (sizes["n"], sizes["n"] + more)
    )
    assert_close(many.X[: sizes["n"]], few.X, 0)
    assert_close(many.y[: sizes["n"]], few.y, 0)
    assert (many.relevant[: sizes["n"]] == few.relevant).all()
    assert_close(many.fresh(9).X[:3], few.fresh(3).X, 0)


@pytest.mark.parametrize("change", [{"sigma": 1.3}, {"S": 5.0}, {"zeta": 0.6}], ids=str)
def test_the_same_draws_serve_every_noise_length_and_share(change):
    sizes = {"n": 50, "T": 5, "d": 6, "M": 3, "zeta": 0.4, "S": 2.0, "sigma": 0.5, "seed": 3}
    one, other = (mha.data.tokenized_mixture(**args) for args in (sizes, sizes | change))
    S, sigma = (change.get(name, sizes[name]) for name in ("S", "sigma"))
    both = ~one.relevant & ~other.relevant
    draws = draw(50, 5, 6, 3, (3, 1))
    assert_close(other.y, one.y, 0)
    assert (one.relevant <= other.relevant).all()
    assert_close(other.truth.nu, one.truth.nu * S / 2, 1e-14)
    assert_close(
        other.X[both], other.truth.nu[draws.pattern][both] + sigma * draws.normal[both], 1e-15
    )


def test_mixtures_are_seeded():
    sizes = {"n": 5, "T": 5, "d": 6, "zeta": 0.2}
    first, again, other = (mha.data.tokenized_mixture(**sizes, seed=seed) for seed in (1, 1, 2))
    assert_close(first.X, again.X, 0)
    assert abs(first.truth.mu - other.truth.mu).max() > 0.1
    assert abs(first.fresh(5, seed=1).X - first.fresh(5, seed=2).X).max() > 0.1
    assert_close(first.fresh(5, seed=1).X, again.fresh(5, seed=1).X, 0)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_fresh_samples_are_new_and_of_the_same_patterns(seed, fresh_seed):
    data = mha.data.tokenized_mixture(n=6, T=4, d=5, M=2, zeta=0.25, seed=seed)
    for other in (fresh_seed, seed):
        fresh = data.fresh(n=6, seed=other)
        assert fresh.truth is data.truth
        noise = {tuple(token) for token in data.X[~data.relevant]}
        assert not noise & {tuple(token) for token in fresh.X[~fresh.relevant]}
    assert len(data.fresh(n=17)) == 17


def test_labels_are_balanced():
    y = mha.data.tokenized_mixture(**BIG).y
    assert_z(y.mean(), 0, 1, len(y))


def test_relevant_tokens_stand_anywhere():
    relevant = mha.data.tokenized_mixture(**BIG).relevant
    for position in relevant.T:
        assert_z(position.mean(), 0.3, (0.3 * 0.7) ** 0.5, len(position))


def test_relevant_positions_do_not_tell_the_label():
    data = mha.data.tokenized_mixture(**BIG)
    for position in data.relevant.T:
        assert_z(((position - 0.3) * data.y).mean(), 0, (0.3 * 0.7) ** 0.5, len(data))


def test_labels_and_positions_come_from_streams_of_their_own():
    draws = draw(4000, 10, 3, 1, (11, 1))
    # If one stream served both, label i and the i-th number that orders the tokens would be the
    # same number.
    assert_z((draws.sign * (draws.rank.ravel()[:4000] - 4.5)).mean(), 0, (99 / 12) ** 0.5, 4000)


def test_distracting_patterns_are_equally_likely_and_do_not_tell_the_label():
    data = mha.data.tokenized_mixture(**BIG)
    pattern = draw(BIG["n"], BIG["T"], BIG["d"], BIG["M"], (BIG["seed"], 1)).pattern
    labels = np.broadcast_to(data.y[:, None], pattern.shape)
    for j in range(BIG["M"]):
        hit = (pattern == j).ravel()
        assert_z(hit.mean(), 0.2, (0.2 * 0.8) ** 0.5, hit.size)
        assert_z(((hit - 0.2) * labels.ravel()).mean(), 0, (0.2 * 0.8) ** 0.5, hit.size)


def test_noise_is_normal_of_deviation_sigma_and_on_distracting_tokens_only():
    data = mha.data.tokenized_mixture(**BIG)
    pattern = draw(BIG["n"], BIG["T"], BIG["d"], BIG["M"], (BIG["seed"], 1)).pattern
    noise = (data.X - data.truth.nu[pattern])[~data.relevant] / BIG["sigma"]
    assert noise.shape == (BIG["n"] * 7, BIG["d"])
    moments = {1: (0, 1), 2: (1, 2**0.5), 3: (0, 15**0.5), 4: (3, 96**0.5)}
    for power, (expected, deviation) in moments.items():
        assert_z((noise**power).mean(), expected, deviation, noise.size)
    assert_z((noise[:, 0] * noise[:, 1]).mean(), 0, 1, len(noise))


def test_patterns_point_anywhere():
    # Each coordinate of a uniform unit vector in R^d has mean 0 and mean square 1/d.
    mu = np.array(
        [
            mha.data.tokenized_mixture(n=1, d=6, M=4, S=1.0, seed=seed).truth.mu[0]
            for seed in range(2000)
        ]
    )
    for coordinate in mu.T:
        assert_z(coordinate.mean(), 0, 6**-0.5, len(mu))
        assert_z((coordinate**2).mean(), 1 / 6, (3 / (6 * 8) - 1 / 36) ** 0.5, len(mu))


def test_a_rotation_is_that_of_a_triangular_factor_with_a_positive_diagonal():
    normal = np.random.default_rng(0).standard_normal((6, 6))
    R = rotation(np.random.default_rng(0), 6).T @ normal
    np.testing.assert_allclose(np.tril(R, -1), 0, atol=1e-12)
    assert (np.diag(R) > 0).all()


@pytest.mark.parametrize(
    "zeta, T, relevant", [(0.1, 10, 1), (0.3, 10, 3), (1.0, 4, 4), (1 / 3, 9, 3), (0.7, 10, 7)]
)
def test_rounding_does_not_refuse_a_whole_product(zeta, T, relevant):
    assert mha.data.tokenized_mixture(n=1, T=T, zeta=zeta).relevant.sum() == relevant


def test_map_goes_to_torch_and_fresh_follows():
    data = mha.data.tokenized_mixture(n=4).map(lambda a: torch.tensor(a, dtype=torch.float32))
    fresh = data.fresh(n=3)
    assert fresh.X.dtype == fresh.y.dtype == torch.float32
    assert_close(fresh.X, mha.data.tokenized_mixture(n=4).fresh(n=3).X.astype("float32"), 0)
    single = mha.data.tokenized_mixture(n=4).map(lambda a: a.astype("float32")).fresh(n=3)
    assert single.X.dtype == single.y.dtype == np.float32


SETS = {
    "sequences with labels": lambda: mha.data.tokenized_mixture(n=7, T=3, d=4, M=1, zeta=1 / 3),
    "in torch": lambda: mha.data.planted(n=7, T=3, d=4).map(torch.as_tensor),
    "a regression": lambda: mha.data.linear_regression(n=7, d=3, p=2),
    "sequences with targets": lambda: mha.data.random_sequences(N=7),
    "of the engine": lambda: livegrad.Samples(np.arange(14.0).reshape(7, 2), np.arange(7.0)),
}
each_set = pytest.mark.parametrize("make", SETS.values(), ids=SETS)


def rows(data):
    """Each sample as bytes: its inputs, its target, and its marks."""
    marks = getattr(data, "relevant", None)
    parts = [data.X, data.y] + ([] if marks is None else [marks])
    return [tuple(np.asarray(a[i]).tobytes() for a in parts) for i in range(len(data))]


@each_set
@pytest.mark.parametrize(
    "kept",
    [slice(3), slice(None, None, -2), [2, 0, 0, -1], np.arange(7) % 2 == 0],
    ids=["a slice", "backward", "indices", "marks"],
)
def test_some_samples_are_a_dataset(make, kept):
    data = make()
    chosen, whole = data[kept], rows(data)
    assert type(chosen) is type(data)
    assert type(chosen.X) is type(data.X)
    assert getattr(chosen, "truth", None) is getattr(data, "truth", None)
    assert rows(chosen) == [whole[i] for i in np.arange(7)[kept]]


@each_set
def test_a_split_has_every_sample_once(make):
    data = make()
    train, test = data.split(test=0.3, seed=4)
    assert (len(train), len(test)) == (5, 2)
    assert sorted(rows(train) + rows(test)) == sorted(rows(data))
    again, other = (data.split(test=0.3, seed=seed)[0] for seed in (4, 5))
    assert rows(train) == rows(again) != rows(other)


def test_a_split_knows_no_label():
    y = np.repeat([1.0, -1.0], 2000)
    _, test = livegrad.Samples(y[:, None], y).split(test=0.5, seed=1)
    assert_z(test.y.mean(), 0, 1 / 2**0.5, len(test))


def test_from_arrays_keeps_the_arrays():
    X, y, relevant = np.ones((3, 2, 4)), np.array([1.0, -1.0, 1.0]), np.zeros((3, 2), bool)
    data = mha.data.from_arrays(X, y, relevant)
    assert data.X is X
    assert data.y is y
    assert data.relevant is relevant
    assert len(data) == 3
    assert len(mha.data.from_arrays(torch.tensor(X), torch.tensor(y))) == 3


@pytest.mark.parametrize("classes", [(3, 8), (8, 3), (0, 1), (9, 4)])
def test_digits_are_images_of_two_classes(classes):
    from sklearn.datasets import load_digits

    bunch = load_digits()
    digits = mha.data.digits(classes=classes, n=100, seed=2)
    assert digits.X.shape == (100, 8, 8)
    assert digits.y.shape == (100,)
    assert digits.X.min() == 0
    assert digits.X.max() == 1
    images = {
        image.tobytes(): label for image, label in zip(bunch.images / 16, bunch.target, strict=True)
    }
    assert [images[x.tobytes()] for x in digits.X] == [
        classes[int(label > 0)] for label in digits.y
    ]


def test_training_and_held_out_digits_are_all_digits_once():
    digits = mha.data.digits(classes=(3, 8), n=200, seed=0)
    held_out = digits.fresh()
    train, test = ([x.tobytes() for x in part.X] for part in (digits, held_out))
    assert len(train) + len(test) == 183 + 174
    assert len(set(train + test)) == len(train) + len(test)
    assert set(digits.y.tolist()) == set(held_out.y.tolist()) == {-1.0, 1.0}


def test_fresh_digits_are_held_out_digits():
    digits = mha.data.digits(n=200, seed=0)
    held_out = {x.tobytes() for x in digits.fresh().X}
    some = digits.fresh(n=50, seed=7)
    assert len({x.tobytes() for x in some.X}) == 50
    assert {x.tobytes() for x in some.X} <= held_out
    assert_close(digits.fresh(n=50, seed=7).X, some.X, 0)
    assert abs(digits.fresh(n=50, seed=8).X - some.X).max() > 0


def test_digits_are_seeded():
    first, again, other = (mha.data.digits(n=20, seed=seed) for seed in (1, 1, 2))
    assert_close(first.X, again.X, 0)
    assert abs(first.X - other.X).max() > 0


def test_a_dataset_shows_sizes_and_source():
    data = mha.data.tokenized_mixture(n=7, seed=3)
    ones = int((data.y == 1).sum())
    assert repr(data) == f"Dataset(n=7, T=10, d=8, {ones} labeled +1, from Mixture, float64)"
    assert "from arrays" in repr(mha.data.from_arrays(data.X, data.y))


def test_fresh_draws_as_many_as_there_are():
    assert len(mha.data.tokenized_mixture(n=7).fresh()) == 7


def test_two_mixtures_share_no_fresh_draw():
    first, second = (mha.data.tokenized_mixture(n=50, seed=seed).fresh(50) for seed in (0, 7))
    assert (first.y != second.y).any()
    assert (first.relevant != second.relevant).any()
