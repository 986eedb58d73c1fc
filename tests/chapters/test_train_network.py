"""Training torch networks: its steps are those of the rules, which parameters move, what is
measured."""

import numpy as np
import pytest
import torch

import mhalib as mha
from checks import assert_close, assert_refused
from livegrad.training import minibatches
from mhabook.c08_digits import PatchTransformer, TextTransformer, text, train_network

DATA = text.reviews(21)
TEST = DATA.fresh(7)
START = TextTransformer(len(DATA.vocabulary), DATA.tokens.shape[1], d=8, H=2, layers=2, hidden=5)
STEPS = 11
RULES = {
    "gradient descent": mha.GradientDescent(0.1),
    "momentum": mha.Momentum(0.1),
    "Adam": mha.Adam(0.01),
    "AdamW, one cycle": mha.AdamW(mha.OneCycle(0.02, STEPS, rise=0.3), weight_decay=0.2),
}
rules = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def run(rule=RULES["Adam"], model=START, data=DATA, **options):
    """A short run."""
    options = {"test": TEST, "batch": 4, "record": [0, 2, 7, STEPS], "seed": 3} | options
    return train_network(model, data, rule, STEPS, **options)


def moved(path):
    """The parameters that differ between the ends of a path."""
    ends = zip(path[0].named_parameters(), path[-1].parameters(), strict=True)
    return {name for (name, before), after in ends if not torch.equal(before, after)}


@rules
def test_steps_are_those_of_the_rule(rule):
    model = TextTransformer(len(DATA.vocabulary), DATA.tokens.shape[1], d=4, H=2, hidden=3).double()
    path = run(rule, model, record=STEPS + 1)
    theta = {name: p.detach().clone() for name, p in model.named_parameters()}
    states = {name: rule.start(p) for name, p in theta.items()}
    for k, rows in zip(range(STEPS), minibatches(len(DATA), 4, 3), strict=False):
        model.load_state_dict(theta)
        loss = model.loss(*model.batch(DATA.tokens[rows], DATA.y[rows]))
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        for (name, p), g in zip(theta.items(), gradients, strict=True):
            theta[name], states[name] = rule.step(p, g, states[name], k)
    flat = [
        torch.cat([p.detach().ravel() for p in parameters])
        for parameters in (path[-1].parameters(), theta.values())
    ]
    # Where a gradient is zero but for rounding (the keys' biases), Adam divides rounding by
    # rounding.
    assert_close(*flat, 1e-4 if hasattr(rule, "beta1") else 1e-12)


def test_images_are_trained_on_as_sentences_are():
    data = mha.data.pathfinder(12)
    path = run(
        model=PatchTransformer(16, 9, d=8, H=2, hidden=5),
        data=data,
        test=mha.data.pathfinder(5, seed=1),
    )
    z = data.y * path[-1].logits(data.X)
    assert path.loss[-1] == pytest.approx(np.log1p(np.exp(-z)).mean(), rel=1e-12)
    assert len(moved(path)) == len(list(path[0].parameters()))


def test_only_the_chosen_parameters_move():
    attention = {
        f"layers.{k}.attention.{part}.{kind}"
        for k in (0, 1)
        for part in "QKV"
        for kind in ("weight", "bias")
    }
    for only, expected in (
        ({"WK", "WQ"}, {name for name in attention if ".V." not in name}),
        ("WV", {name for name in attention if ".V." in name}),
        (
            ["layers.1.norm_2", "positions"],
            {"layers.1.norm_2.weight", "layers.1.norm_2.bias", "positions.weight"},
        ),
    ):
        path = run(mha.AdamW(0.01, weight_decay=0.5), only=only)
        assert moved(path) == expected
        assert all(p.requires_grad for p in path[-1].parameters())


def test_curves_may_be_of_some_samples():
    path = run(measured=5)
    rows = [0, 5, 10, 15, 20]
    z = DATA.y[rows] * path[-1].logits(DATA.tokens[rows])
    assert path.loss[-1] == pytest.approx(np.log1p(np.exp(-z)).mean(), rel=1e-12)
    assert path.test_loss.tolist() == run().test_loss.tolist()
    assert run(measured=50).loss.tolist() == run().loss.tolist()


def test_training_leaves_the_start_and_the_global_stream_alone():
    before = [p.clone() for p in START.parameters()]
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    run()
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(p, q) for p, q in zip(before, START.parameters(), strict=True))


def test_one_cycle_is_that_of_torch():
    for peak, steps, rise in ((0.3, 50, 0.3), (2e-4, 1000, 0.08)):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        theirs = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, peak, steps, pct_start=rise, anneal_strategy="linear", cycle_momentum=False
        )
        ours = mha.OneCycle(peak, steps, rise)
        for k in range(steps):
            assert ours(k) == pytest.approx(theirs.get_last_lr()[0], rel=1e-9)
            optimizer.step()
            if k < steps - 1:
                theirs.step()


class Noisy(TextTransformer):
    """A network that draws while it trains."""

    def loss(self, tokens, y):
        return super().loss(tokens, y) * (1 + 0.3 * torch.rand((), device=self.device))


def test_what_a_network_draws_is_seeded():
    model = Noisy(len(DATA.vocabulary), 23, d=8, H=2, hidden=5)
    first, again, other = (run(model=model, seed=seed).loss.tolist() for seed in (1, 1, 2))
    assert first == again != other


BAD = {
    "no network": (
        {"model": mha.MultiHeadAttention.zeros(1, 2, 2)},
        TypeError,
        ["model: expected a torch network"],
    ),
    "no data": (
        {"data": None},
        TypeError,
        ["data: expected a TextDataset or a Dataset", "NoneType"],
    ),
    "images for a network of words": (
        {"data": mha.data.pathfinder(3)},
        TypeError,
        ["data: expected a dataset with tokens, which a TextTransformer reads"],
    ),
    "another test": ({"test": 3}, TypeError, ["test: expected a TextDataset or a Dataset", "int"]),
    "a rule of numbers": (
        {"rule": mha.Backtracking()},
        TypeError,
        ["optimizer: expected GradientDescent, Momentum"],
    ),
    "no rule": ({"rule": 0.1}, TypeError, ["optimizer: expected GradientDescent", "0.1"]),
    "nothing moves": (
        {"only": ()},
        ValueError,
        ["only: expected the name of a parameter, got none"],
    ),
    "no such parameter": (
        {"only": ("WX",)},
        ValueError,
        ["only: expected names among WQ, WK", "got 'WX'"],
    ),
    "a number moves": ({"only": 3}, TypeError, ["only: expected names of parameters, got [3]"]),
    "no batch": ({"batch": 0}, ValueError, ["batch: expected"]),
    "nothing measured": ({"measured": 0}, ValueError, ["measured: expected"]),
    "no seed": ({"seed": -1}, ValueError, ["seed: expected"]),
}


@pytest.mark.parametrize(("change", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(change, error, words):
    assert_refused(lambda: run(**change), error, words)


RATES = {
    "a peak that is a function": (
        lambda: mha.OneCycle(lambda k: 1.0, 10),
        ["peak: expected a positive number"],
    ),
    "no peak": (lambda: mha.OneCycle(0.0, 10), ["peak: expected a positive number"]),
    "one step": (lambda: mha.OneCycle(0.1, 1), ["steps: expected a whole number ≥ 2"]),
    "no rise": (
        lambda: mha.OneCycle(0.1, 10),
        [
            "rise: expected a share of the steps between one step and all",
            "got 0.1 of 10 steps, which is 1",
        ],
    ),
    "no fall": (lambda: mha.OneCycle(0.1, 10, rise=1.0), ["rise: expected"]),
    "weights that grow": (
        lambda: mha.AdamW(0.1, weight_decay=-0.1),
        ["weight_decay: expected a finite number ≥ 0"],
    ),
}


@pytest.mark.parametrize(("call", "words"), RATES.values(), ids=RATES)
def test_bad_constants_are_named(call, words):
    assert_refused(call, ValueError, words)
