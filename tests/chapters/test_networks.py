"""Chapter 16: the statements, the mean weight at the start of a network, and accuracies against
simulation."""

import numpy as np
import pytest
import torch
from scipy.stats import ttest_1samp

import mhabook
import mhalib as mha
from mhabook.c08_digits import TextTransformer
from mhabook.c16_networks import figure
from mhabook.c16_networks import statements as networks


def test_every_claim_sees_a_wrong_constant(monkeypatch):
    """Five percent in a mean weight, in a sum over outcomes, or in a square."""
    weight, loud, tests = (
        mhabook.ledger[name] for name in ("prop-mean-weight", "prop-loudness", "prop-same-test")
    )
    right, apart = networks.summed_weight, networks.differences
    with monkeypatch.context() as patch:
        patch.setattr(networks, "summed_weight", lambda *arguments: 1.05 * right(*arguments))
        assert [bool(check) for check in weight.function(**weight.random(0))] == [False, False]
        assert [bool(check) for check in loud.function(**loud.random(0))] == [
            True,
            True,
            True,
            False,
        ]
    for wrong, seen in (
        (lambda *a: (apart(*a)[0], 1.05 * apart(*a)[1]), [False, False, True, False]),
        (lambda *a: (1.05 * apart(*a)[0], apart(*a)[1]), [True, True, False, True]),
        (lambda *a: (apart(*a)[0], 0.95 * apart(*a)[1]), [True, False, True, False]),
    ):
        monkeypatch.setattr(networks, "differences", wrong)
        found = tests.function(first=0.2, second=0.19, M=7, same=True)
        assert [bool(check) for check in found] == seen


def test_weights_that_are_no_mean_fail_one_side_or_the_other():
    """Gaussian weights at one place are too loud, and far away too low."""
    place, q = np.ones((4, 2)), np.ones((1, 2))
    for K, seen in ((place, [False, True]), (place + 3, [True, False])):
        found = networks.loudness(q, K, mha.gaussian, 1.0, 0.5)
        assert [bool(check) for check in found[:2]] == seen


@pytest.mark.parametrize("gain", [1.0, 3**-0.5])
@pytest.mark.parametrize("c", [0.5, 1.0])
def test_the_mean_weight_is_that_of_starts_of_a_network(gain, c):
    """Over 60 starts, for a fixed query and key of the first layer; within four standard errors."""
    generator, d = torch.Generator().manual_seed(0), 32
    X = torch.nn.functional.layer_norm(torch.randn(1, 3, 64, generator=generator), (64,))
    found = []
    for seed in range(60):
        model = TextTransformer(
            5, 3, d=64, H=2, kernel=mha.attention.Gaussian(c), gain=gain, seed=seed
        )
        attention = model.layers[0].attention
        with torch.no_grad():
            Q, K, _ = attention.split(X)
            found.append(attention.kernel(attention.kernel.scores(Q, K))[0, :, 0, 1].mean().item())
    error = np.std(found, ddof=1) / len(found) ** 0.5
    assert abs(np.mean(found) - networks.mean_weight(gain, d, c)) < 4 * error
    assert error < 0.25 * np.mean(found)


def test_the_mean_of_the_best_is_that_of_draws():
    rng = np.random.default_rng(1)
    draws = rng.binomial(40, 0.6, size=(20_000, 7)).max(axis=1) / 40
    assert networks.best_of(40, 0.6, 7) == pytest.approx(
        draws.mean(), abs=4 * draws.std() / 20_000**0.5
    )
    assert networks.best_of(40, 0.6, 1) == pytest.approx(0.6, rel=1e-12)


@pytest.mark.parametrize(
    "given, said",
    [
        ({"seeds": 4.0}, "seeds: expected a whole number"),
        ({"seeds": 1}, "seeds: expected a whole number from 2 to 12"),
        ({"steps": 0}, "steps: expected a whole number"),
        ({"lr": -1.0}, "lr: "),
        ({"first": mha.gaussian}, "first, second: expected mha.softmax"),
    ],
)
def test_what_cannot_be_compared_is_refused(given, said):
    right = {"first": mha.softmax, "second": mha.gaussian, "lr": 0.02, "steps": 3, "seeds": 4}
    with pytest.raises((TypeError, ValueError), match=said):
        figure.compared(**right | given)


@pytest.mark.parametrize(
    "apart, says, room",
    [
        ([-0.01, 0.02, 0.0], "contains 0", 0.1),
        ([0.05, 0.06, 0.06], "0 is outside", 0.1),
        ([-0.3, -0.22, -0.25], "0 is outside", 0.4),
    ],
)
def test_the_axis_has_room_for_the_last_interval_whose_name_says_whether_zero_is_in_it(
    apart, says, room
):
    shown = figure.outcome([0.5] * 3, (0.5 + np.array(apart)).tolist())
    ends = ttest_1samp(apart, 0).confidence_interval(0.95)
    assert shown["interval"] == f"95 % interval: {says}"
    assert (ends.low < 0 < ends.high) == (says == "contains 0")
    assert shown["room"] == [-room, room] and max(-ends.low, ends.high) < room
