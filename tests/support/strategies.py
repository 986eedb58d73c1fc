"""What hypothesis draws: sizes that all differ, a seed, and scales, of which the largest break
careless formulas."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import mhalib as mha
from mhalib.models import HeadGroups

SEEDS = 200
"""How many random instances each statement of the ledger is checked on."""

SIZES = {"n": 5, "T": 4, "d": 3, "H": 2}
"""Generic sizes: n, T, d and H all differ, so that no wrong axis fits."""

REMAINDERS = [
    (5, 4, 3, 2),
    (1, 2, 3, 4),
    (2, 3, 4, 1),
    (4, 1, 2, 3),
    (3, 2, 1, 5),
    (1, 1, 1, 1),
    (7, 6, 5, 4),
    (8, 7, 6, 5),
    (9, 5, 7, 1),
    (64, 8, 8, 1),
    (65, 9, 11, 3),
    (100, 10, 8, 2),
    (31, 8, 8, 16),
]
"""n, T, d, H. Programs work on samples side by side and on tiles of four by two: every remainder of
both occurs."""

SCALES = {
    "plain": {},
    "uniform attention": {"W": 0.0},
    "saturated attention": {"W": 30.0},
    "long tokens": {"X": 3.0},
    "tiny decoders": {"U": 1e-8},
    "long decoders": {"U": 1e4},
    "large parameters": {"W": 30.0, "U": 1e4},
}
"""Scales of tokens and weights at which a careless formula breaks."""

seeds = st.integers(0, 2**32 - 1)
small_sizes = st.permutations((1, 2, 3, 4)).map(lambda sizes: dict(zip("nTdH", sizes, strict=True)))
"""n, T, d and H are 1, 2, 3 and 4 in some order."""

scales = st.fixed_dictionaries(
    {
        "X": st.floats(0.1, 3),
        "W": st.one_of(st.just(0.0), st.floats(0.01, 1), st.floats(1, 30)),
        "U": st.floats(-2, 4).map(lambda power: 10.0**power),
    }
)


class Problem(NamedTuple):
    """A model and labelled tokens that fit it."""

    model: mha.MultiHeadAttention
    X: np.ndarray
    y: np.ndarray

    def map(self, function):
        """The same problem in another library or dtype."""
        return Problem(self.model.map(function), function(self.X), function(self.y))


def problem(seed=0, n=5, T=4, d=3, H=2, X=1.0, W=0.5, U=1.0):
    """Normal tokens and parameters of the given scales, both labels where n ≥ 2."""
    rng = np.random.default_rng([seed, 100])
    tokens, key_query, decoder = (
        scale * rng.standard_normal(shape)
        for scale, shape in zip((X, W, U), ((n, T, d), (H, d, d), (H, T, d)), strict=True)
    )
    y = rng.permutation(np.where(np.arange(n) % 2, 1.0, -1.0))
    return Problem(mha.MultiHeadAttention(key_query, decoder), tokens, y)


def grouped(seed=0, copies=(3, 1, 2)):
    """Groups of identical heads of unequal size, and data that fit them."""
    drawn = problem(seed, H=len(copies))
    return HeadGroups(drawn.model.W, drawn.model.U, copies), mha.data.from_arrays(drawn.X, drawn.y)


problems = st.builds(
    lambda seed, sizes, scales: problem(seed, **sizes, **scales), seeds, small_sizes, scales
)


def direction(model, seed=0):
    """A random direction in the space of a model's parameters."""
    rng = np.random.default_rng([seed, 101])
    return model.map(lambda a: rng.standard_normal(a.shape))


def rounding(model, X):
    """How much one relative rounding error can grow: by the largest score, then by the largest
    logit.

    A score S is off by ε|S| and then a weight by as much; a logit is a sum of readings U Xᵀ, and is
    off by their size times that; a slope ℓ′ ~ e^{−z} is off by as much as z.
    """
    tokens = X[:, None]
    scores = abs(tokens @ model.W @ tokens.mT).max()
    readings = abs(model.U @ tokens.mT).max(axis=3).sum(axis=(1, 2)).max()
    return (1 + scores) * (1 + readings)


def steepness(model, X):
    """√T R √(1 + R⁴ mean‖U_h‖²): the size of a logit's gradient before anything cancels."""
    R = np.sqrt((X * X).sum(axis=2).max())
    return (X.shape[1] * R**2 * (1 + R**4 * (model.U**2).sum(axis=(1, 2)).mean())) ** 0.5
