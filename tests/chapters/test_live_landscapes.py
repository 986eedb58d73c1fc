"""The live figure of chapter 15: its slice in JavaScript, under every kernel, and what it
refuses."""

from functools import cache

import numpy as np
import pytest

import mhalib as mha
from engines import assert_follows, plain
from figures import figure as of_the_book
from mhabook.c15_landscapes import figure

DATA = mha.data.random_sequences(N=2, n=3, D=4, m=2, seed=1)


def layer(kernel=mha.softmax):
    return mha.AttentionLayer.random(D=4, d=2, m=2, H=1, kernel=kernel, seed=2)


@cache
def three():
    """Layers whose sizes all differ, one of each kernel."""
    kernels = {
        "softmax": mha.softmax,
        "Gaussian": mha.attention.Gaussian(0.8),
        "normalized": mha.attention.NormalizedGaussian(0.3),
    }
    return figure.turned({words: layer(kernel) for words, kernel in kernels.items()}, DATA)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"network": "Gaussian", "turn": 35, "pair": 3},
        {"network": "normalized", "turn": 90, "radius": 0.5},
    ],
)
def test_the_slice_follows_under_every_kernel(values):
    assert_follows(plain(three()), three(), values)


def test_the_slice_of_the_page_follows_half_turned():
    made = of_the_book("book/kernels/15_landscapes.html", 0)
    assert_follows(plain(made), made, {"turn": 45})


def test_the_way_down_goes_downhill_and_is_as_long_as_the_network():
    for words, kernel in {"softmax": mha.softmax, "Gaussian": mha.gaussian}.items():
        one = figure._curved(words, layer(kernel), DATA)
        slope = one.layer.loss_and_grad(DATA.X, DATA.y)[1].dot(one.way)
        assert slope < 0 and one.way.norm() == pytest.approx(one.layer.norm(), rel=1e-12)


@pytest.mark.parametrize(
    ("networks", "data", "kind", "words"),
    [
        ({}, DATA, ValueError, "networks: expected one network or more"),
        (
            {"one": mha.MultiHeadAttention.zeros(1, 3, 4)},
            DATA,
            TypeError,
            "networks: one: expected an AttentionLayer",
        ),
        ({"one": layer()}, np.eye(3), TypeError, "data: expected a SequenceDataset"),
        ([layer()], DATA, TypeError, "networks: expected a dict"),
        (
            {"one": layer().map(np.float32)},
            DATA,
            TypeError,
            "networks: one: expected NumPy arrays in double precision",
        ),
        (
            {"one": layer()},
            DATA.map(np.float32),
            TypeError,
            "data: expected NumPy arrays in double precision",
        ),
    ],
)
def test_what_the_figure_cannot_turn_is_refused(networks, data, kind, words):
    with pytest.raises(kind, match=words):
        figure.turned(networks, data)
