"""Chapter 14, what is out of reach: both statements on many instances, hulls, and the sets of
outputs."""

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c14_traps import reach


@pytest.mark.parametrize(
    ("kernel", "claim"),
    [
        (mha.softmax, "every output lies in 𝒦_i"),
        (mha.gaussian, "the set of softmax is a part of the other"),
    ],
)
def test_a_set_that_is_too_small_is_seen(kernel, claim, monkeypatch):
    corners = reach.corners
    monkeypatch.setattr(
        reach,
        "corners",
        lambda layer, x: (0.5 if layer.kernel == kernel else 1) * corners(layer, x),
    )
    found = reach.values_allow(**mhabook.ledger["prop-values-allow"].extremal[0]())
    assert claim in {check.statement for check in found if not check}


def test_distance_to_a_hull():
    square = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    assert [
        reach.distance_to_hull(square, np.array(y)) for y in ((0.3, 0.6), (2.0, 0.5), (2.0, 3.0))
    ] == pytest.approx([0, 1, 5**0.5], abs=1e-9)


def test_corners_hold_every_output():
    for kernel in (mha.softmax, mha.gaussian, mha.normalized_gaussian):
        layer = mha.AttentionLayer.random(3, 2, 2, H=2, kernel=kernel, seed=1)
        data = mha.data.random_sequences(2, 2, 3, 2)
        away = [
            reach.distance_to_hull(reach.corners(layer, x), out)
            for x, outputs in zip(data.X, layer(data.X), strict=True)
            for out in outputs
        ]
        assert max(away) < 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: reach.star(np.ones(1), np.eye(2), np.eye(2), mha.gaussian),
            r"q: expected shape \(2,\)",
        ),
        (
            lambda: reach.star(np.ones((1, 2)), np.eye(2), np.eye(2), mha.gaussian),
            r"q: expected shape \(2,\)",
        ),
        (
            lambda: reach.star(np.ones(2), np.eye(2), np.ones((1, 2)), mha.gaussian),
            r"values: expected shape \(2, m\)",
        ),
        (lambda: reach.distance_to_hull(np.eye(3), np.ones(1)), r"y: expected shape \(3,\)"),
        (
            lambda: reach.corners(mha.AttentionLayer.random(3, 2, 2), np.ones((2, 2))),
            r"x: expected shape \(n, 3\)",
        ),
    ],
)
def test_wrong_shapes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
