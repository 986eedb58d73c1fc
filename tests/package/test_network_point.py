"""A torch module of anyone's, as a point: its steps are those of torch's optimizers, its Hessian
products those of finite differences, and what would not be so is refused."""

from copy import deepcopy

import numpy as np
import pytest

import livegrad as lg
import mhalib as mha
from checks import assert_close, assert_refused
from optional import torch

functional = torch.nn.functional
RNG = np.random.default_rng(0)
DATA = lg.Samples(RNG.standard_normal((12, 5, 4)), RNG.integers(0, 3, 12))


def cross_entropy(output, y):
    return functional.cross_entropy(output, y.long())


def transformer():
    """Attention, normalization, a map that two places share, and one that is frozen."""

    class Transformer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
            self.norm = torch.nn.LayerNorm(4)
            self.shared = torch.nn.Linear(4, 4)
            self.again = self.shared
            self.read = torch.nn.Linear(4, 3)
            self.frozen = torch.nn.Linear(4, 4).requires_grad_(False)

        def forward(self, X):
            X = self.norm(X + self.attention(X, X, X, need_weights=False)[0])
            return self.read(torch.tanh(self.again(self.shared(self.frozen(X)))).mean(dim=1))

    torch.manual_seed(0)
    return Transformer().double()


def by_torch(net, optimizer, steps):
    """The losses and the network of a loop as one writes it."""
    net, losses = deepcopy(net), []
    X, y = torch.as_tensor(DATA.X), torch.as_tensor(DATA.y)
    optimizer = optimizer([p for p in net.parameters() if p.requires_grad])
    for _ in range(steps):
        optimizer.zero_grad()
        loss = cross_entropy(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, net


RULES = {
    "SGD": (lambda: lg.GradientDescent(0.3), lambda ps: torch.optim.SGD(ps, lr=0.3)),
    "momentum": (
        lambda: lg.Momentum(0.1, 0.9),
        lambda ps: torch.optim.SGD(ps, lr=0.1, momentum=0.9),
    ),
    "AdamW": (
        lambda: lg.AdamW(0.01, weight_decay=0.1),
        lambda ps: torch.optim.AdamW(ps, lr=0.01, weight_decay=0.1),
    ),
}


@pytest.mark.parametrize(("rule", "optimizer"), RULES.values(), ids=RULES)
def test_the_steps_are_those_of_torch(rule, optimizer):
    net = transformer()
    losses, trained = by_torch(net, optimizer, 20)
    path = mha.train(mha.NetworkPoint.of(net, cross_entropy), DATA, rule(), 20, record=range(21))
    assert_close(path.loss[:20], np.array(losses), 1e-10)
    found, there = path[-1].network(), trained.state_dict()
    for name, a in found.state_dict().items():
        assert_close(a.numpy(), there[name].numpy(), 1e-9)
    assert [p.requires_grad for p in found.parameters()] == [
        p.requires_grad for p in net.parameters()
    ]


def test_its_hessian_product_is_the_slope_of_its_gradient():
    point = lg.NetworkPoint.of(transformer(), cross_entropy)
    V = lg.landscape.random_direction(point)
    there, back = ((point + h * V).loss_and_grad(DATA.X, DATA.y)[1] for h in (1e-5, -1e-5))
    exact = point.hvp(DATA.X, DATA.y, V)
    assert ((there - back) / 2e-5 - exact).norm() < 1e-6 * exact.norm()
    ends = lg.landscape.spectrum(point, DATA)
    top = ends.directions[-1]
    assert (point.hvp(DATA.X, DATA.y, top) - ends.values[-1] * top).norm() < 1e-8


def test_a_network_in_single_precision_reads_data_in_double():
    net = transformer().float()
    path = mha.train(mha.NetworkPoint.of(net, cross_entropy), DATA, lg.Adam(0.01), 5, batch=4)
    assert path[-1].network().read.weight.dtype == torch.float32 and np.isfinite(path.loss).all()


def test_a_run_of_a_network_goes_on_from_its_file(tmp_path):
    start = mha.NetworkPoint.of(transformer(), cross_entropy)
    whole = mha.train(start, DATA, lg.Adam(0.01), 6, batch=5)
    mha.train(start, DATA, lg.Adam(0.01), 3, batch=5).save(tmp_path / "run.npz")
    first = mha.load(tmp_path / "run.npz", like=start)
    rest = mha.train(start, DATA, lg.Adam(0.01), 6, batch=5, resume=first)
    assert (rest[-1] - whole[-1]).norm() == 0


def drawing(training):
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5)).double()
    return mha.NetworkPoint.of(net.train(training), cross_entropy)


def two_networks_with_other_buffers():
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).double().eval()
    other = deepcopy(net)
    other[1].running_mean += 1
    one, two = (mha.NetworkPoint.of(each, cross_entropy) for each in (net, other))
    return one - two


BAD = {
    "a module for a model": (
        lambda: mha.train(torch.nn.Linear(4, 3), DATA, lg.Adam(0.1), 1),
        TypeError,
        ["model: ", "got Linear", "livegrad.NetworkPoint.of(network, loss)"],
    ),
    "a module in a landscape": (
        lambda: lg.landscape.spectrum(torch.nn.Linear(4, 3), DATA),
        TypeError,
        ["model: ", "got a Linear", "livegrad.NetworkPoint.of(network, loss)"],
    ),
    "no module": (
        lambda: mha.NetworkPoint.of(torch.nn.Linear, cross_entropy),
        TypeError,
        ["network: ", "got type"],
    ),
    "no loss": (
        lambda: mha.NetworkPoint.of(torch.nn.Linear(4, 3)),
        TypeError,
        ["loss: expected a function of output and y", "Linear"],
    ),
    "a loss that is none": (
        lambda: mha.NetworkPoint.of(torch.nn.Linear(4, 3), "mse"),
        TypeError,
        ["loss: ", "got str"],
    ),
    "a loss of each sample": (
        lambda: mha.NetworkPoint.of(torch.nn.Linear(4, 3).double(), lambda output, y: y).loss(
            DATA.X, DATA.y
        ),
        TypeError,
        ["loss: expected a tensor of shape ()", "shape (12,)"],
    ),
    "targets that would be broadcast": (
        lambda: mha.NetworkPoint.of(
            torch.nn.Linear(4, 1).double(), torch.nn.functional.mse_loss
        ).loss(DATA.X[:, 0], np.zeros(12)),
        ValueError,
        ["y: expected the shape of the network's output, (12, 1)", "got (12,)", "y[:, None]"],
    ),
    "nothing that moves": (
        lambda: mha.NetworkPoint.of(torch.nn.Linear(4, 3).requires_grad_(False), cross_entropy),
        ValueError,
        ["network: expected a parameter that requires a gradient"],
    ),
    "what is frozen, chosen": (
        lambda: mha.NetworkPoint.of(transformer(), cross_entropy).only("frozen"),
        ValueError,
        ["only: ", "frozen"],
    ),
    "a network that draws": (
        lambda: drawing(True),
        ValueError,
        ["network: ", "Dropout in training mode (module '1')", "network.eval()"],
    ),
    "other buffers": (
        two_networks_with_other_buffers,
        ValueError,
        ["network.1.running_mean: expected two NetworkPoint"],
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD.values(), ids=BAD)
def test_what_is_no_point_is_refused(call, error, words):
    assert_refused(call, error, words)


def test_a_network_that_draws_no_more_is_taken():
    assert drawing(False).arrays().keys() == {"0.weight", "0.bias"}
