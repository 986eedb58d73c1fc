"""A torch network as a point of a vector space: its derivatives, its names, and that it is its
own."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import mhalib as mha
from checks import assert_close, assert_refused
from livegrad import landscape
from livegrad.landscape import random_direction
from livegrad.network import NetworkPoint
from mhabook.c08_digits import PatchTransformer, TextTransformer
from mhabook.c15_landscapes.smoothness import differences
from points import layer, network


@pytest.mark.parametrize("kernel", [mha.softmax, mha.gaussian, mha.normalized_gaussian], ids=str)
def test_a_networks_derivatives_are_those_of_its_losses(kernel):
    model, data = network(kernel)
    point = NetworkPoint.of(model)
    u, v = (0.1 * random_direction(point, seed, normalize=None) for seed in (1, 2))
    near = landscape.slice(point, data, u, v, 3e-5, 3)
    gradient, hessian = (part[0, 0] for part in differences(near.loss, near.a, near.b))
    loss, by_formula, curved = near.derivatives(0, 0)
    assert loss == pytest.approx(model.loss(*model.batch(data.tokens, data.y)).item(), rel=1e-14)
    assert_close(by_formula, gradient, 1e-6)
    assert_close(curved, hessian, 1e-4)


def test_a_point_is_the_network_and_not_its_later_changes():
    model, data = network()
    point, before = NetworkPoint.of(model), model.logits(data.tokens)
    with torch.no_grad():
        model.read.weight.add_(1)
    assert_close(point.network().logits(data.tokens), before, 0)
    moved = point + 0.1 * random_direction(point)
    assert moved.loss(data.tokens, data.y) != point.loss(data.tokens, data.y)
    there = moved.network()
    assert there.loss(*there.batch(data.tokens, data.y)).item() == moved.loss(data.tokens, data.y)
    assert all(p.requires_grad for p in there.parameters())
    assert not np.array_equal(moved.network().logits(data.tokens), before)
    assert_close(point.network().logits(data.tokens), before, 0)


def test_networks_of_two_kernels_have_no_sum():
    (model, data), (other, _) = network(), network(mha.gaussian)
    point, there = NetworkPoint.of(model), NetworkPoint.of(other)
    words = [
        "layers.0.attention.kernel: expected two NetworkPoint",
        "got Softmax() and Gaussian(c=0.5)",
        "replace(second, module=first.module)",
    ]
    for mix in (
        lambda: point - there,
        lambda: point.dot(there),
        lambda: landscape.interpolation(there, point, data, 3),
    ):
        assert_refused(mix, ValueError, words)
    assert (point - replace(there, module=point.module)).norm() == 0
    assert (point - NetworkPoint.of(network()[0])).norm() == 0  # equal, and not the same object
    wider = TextTransformer(len(data.vocabulary), 5, d=4, H=2, layers=3, hidden=3).double()
    with pytest.raises(ValueError, match=r"layers\.2\.attention\.K\.bias, .* and one without"):
        point + NetworkPoint.of(wider)


class Bent(type(mha.softmax)):
    """A kernel of one's own, which says nothing of when two are equal."""

    __hash__ = object.__hash__

    def __init__(self, factor):
        object.__setattr__(self, "factor", factor)

    def __eq__(self, other):
        return self is other


def test_kernels_of_ones_own_agree_if_they_hold_the_same():
    one, same, other = (
        NetworkPoint.of(network(Bent(np.array([1.0, a])))[0]) for a in (2.0, 2.0, 3.0)
    )
    assert (one - same).norm() == 0
    assert_refused(
        lambda: one - other, ValueError, ["layers.0.attention.kernel: expected two NetworkPoint"]
    )


def test_queries_and_keys_of_all_layers_move_by_one_name():
    model, _ = network()
    point = NetworkPoint.of(model)
    some = point.only(("WQ", "WK"))
    moving = {name for name, weights in some.arrays().items() if (weights != 0).any()}
    assert moving == {
        f"layers.{k}.attention.{part}.{kind}"
        for k in range(2)
        for part in "QK"
        for kind in ("weight", "bias")
    }
    assert point.chosen("layers.0.attention.Q.weight") == ["layers.0.attention.Q.weight"]
    assert point.chosen("layers.1.norm_2") == ["layers.1.norm_2.weight", "layers.1.norm_2.bias"]


def test_a_point_is_trained_by_the_rules_of_models():
    data = mha.data.pathfinder(6)
    start = NetworkPoint.of(PatchTransformer(16, 9, d=4, H=2, hidden=4).double())
    path = mha.train(start, data, mha.AdamW(0.01), 4, test=data, only=("WQ", "WK"))
    assert set(path.curves) == {"loss", "grad_norm", "test_loss"}
    assert path.loss[-1] == path.test_loss[-1] == path[-1].loss(data.X, data.y) < path.loss[0]
    moved = {name for name, weights in (path[-1] - start).arrays().items() if (weights != 0).any()}
    assert moved <= set(start.chosen(("WQ", "WK"))) and "layers.0.attention.Q.weight" in moved


def test_a_patch_network_reads_its_own_array():
    data = mha.data.pathfinder(4)
    point = NetworkPoint.of(PatchTransformer(16, 9, d=4, H=2, hidden=4).double())
    assert (point.field, NetworkPoint.of(network()[0]).field) == ("X", "tokens")
    share, loss = landscape.interpolation(point, 0.5 * point, data, 3)
    assert loss[0] == point.loss(data.X, data.y)
    assert np.isfinite(loss).all()
    assert (
        repr(point)
        == f"NetworkPoint(PatchTransformer, {sum(a.numel() for a in point.arrays().values())} "
        "parameters, torch.float64)"
    )


BAD = {
    "a network without a loss": (
        lambda: NetworkPoint.of(torch.nn.Linear(2, 2)),
        TypeError,
        ["loss:", "Linear"],
    ),
    "a direction that is none": (
        lambda: NetworkPoint.of(network()[0]).hvp(None, None, layer()[0]),
        TypeError,
        ["V: expected a direction like NetworkPoint(TextTransformer", "AttentionLayer"],
    ),
    "an unknown weight of a network": (
        lambda: NetworkPoint.of(network()[0]).only("WX"),
        ValueError,
        ["WX"],
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
