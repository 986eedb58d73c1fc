"""Update rules against torch.optim on one quadratic, for a number, an array and a model."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from checks import assert_close
from optional import torch
from strategies import direction, problem

STEPS = 25


def clipped(make, norm):
    """A torch optimizer that cuts the gradient to this length before each step."""

    def clipping(parameters):
        (p,), optimizer = parameters, make(parameters)

        def cut(*_):
            p.grad *= min(1.0, norm / p.grad.norm().item())

        optimizer.register_step_pre_hook(cut)
        return optimizer

    return clipping


RULES = {
    "gradient descent": (mha.GradientDescent(lr=0.05), lambda p: torch.optim.SGD(p, lr=0.05)),
    "momentum": (mha.Momentum(lr=0.02), lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9)),
    "light momentum": (
        mha.Momentum(lr=0.02, beta=0.3),
        lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.3),
    ),
    "no momentum": (mha.Momentum(lr=0.02, beta=0), lambda p: torch.optim.SGD(p, lr=0.02)),
    "Adam": (mha.Adam(lr=0.1), lambda p: torch.optim.Adam(p, lr=0.1)),
    "Adam, other constants": (
        mha.Adam(lr=0.1, beta1=0.5, beta2=0.8, eps=0.3),
        lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.5, 0.8), eps=0.3),
    ),
    "clipped momentum": (
        mha.clip(norm=0.6) | mha.Momentum(lr=0.1),
        clipped(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), 0.6),
    ),
}
rules = pytest.mark.parametrize("rule, theirs", RULES.values(), ids=RULES)
STARTS = {
    "a number": 1.5,
    "an array": np.random.default_rng(0).standard_normal((3, 2)),
    "a model": problem().model,
    "a model in torch": problem().model.map(torch.tensor),
}
starts = pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)


def flat(theta):
    return theta.ravel() if hasattr(theta, "ravel") else np.array([theta])


def curvature(size):
    """Curvatures of a quadratic ½ Σ c_i (x_i − 1)², between 0.5 and 3."""
    return np.linspace(0.5, 3, size)


def gradient(theta):
    """The gradient c (θ − 1) in the form of θ."""
    if isinstance(theta, float):
        return 0.5 * (theta - 1)
    if isinstance(theta, np.ndarray):
        return curvature(theta.size).reshape(theta.shape) * (theta - 1)
    c = torch.tensor(curvature(theta.ravel().shape[0]))
    return theta.unravel(c if isinstance(theta.W, torch.Tensor) else c.numpy()) * (theta - 1)


def run(rule, theta, steps=STEPS):
    """All points of a run, as vectors."""
    state, points = rule.start(theta), []
    for k in range(steps):
        theta, state = rule.step(theta, gradient(theta), state, k)
        points.append(np.asarray(flat(theta)))
    return points


def run_torch(make, theta):
    """All points of the run of a torch optimizer on the same quadratic."""
    x = torch.tensor(np.asarray(flat(theta)), requires_grad=True)
    optimizer, points = make([x]), []
    for _ in range(STEPS):
        x.grad = torch.tensor(curvature(len(x))) * (x.detach() - 1)
        optimizer.step()
        points.append(x.detach().numpy().copy())
    return points


@rules
@starts
def test_rules_are_those_of_torch(rule, theirs, start):
    assert_close(np.stack(run(rule, start)), np.stack(run_torch(theirs, start)), 1e-13)


@rules
def test_a_step_changes_neither_the_point_nor_the_gradient(rule, theirs):
    theta, grad = problem().model.W.copy(), direction(problem().model).W.copy()
    state = rule.start(theta)
    for k in range(3):
        rule.step(theta, grad, state, k)
    assert_close(theta, problem().model.W, 0)
    assert_close(grad, direction(problem().model).W, 0)


@pytest.mark.parametrize(
    "lr", [0.1, np.float64(0.1), lambda k: np.float64(0.1)], ids=["float", "np.float64", "rule"]
)
@pytest.mark.parametrize("kind", ["GradientDescent", "Momentum", "Adam"])
def test_single_precision_stays_single(kind, lr):
    rule, theta = getattr(mha, kind)(lr=lr), problem().model.map(lambda a: a.astype("float32"))
    for point in (theta, theta.W):
        state = rule.start(point)
        for k in range(2):
            point, state = rule.step(point, point, state, k)
        assert flat(point).dtype == np.float32


def test_a_length_that_overflows_is_not_clipped_to_nothing():
    huge = np.array([3e200, -4e200])
    with np.errstate(over="ignore"):
        assert (mha.clip(norm=1.0)(huge) == huge).all()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (mha.Adam, "got the class Adam"),
        (mha.clip(2.0), "behind |"),
        (mha.Backtracking(), "got Backtracking, which compares losses"),
    ],
)
def test_what_clip_cannot_stand_before_is_refused(rule, words):
    with pytest.raises((TypeError, ValueError)) as raised:
        mha.clip(norm=1.0) | rule
    assert words in str(raised.value)


@dataclass(frozen=True, eq=False, repr=False)
class Line(mha.models.Vector):
    w: np.ndarray

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() / 2


@pytest.mark.parametrize("shrink, tries", [(0.5, 1), (0.9, 1), (0.5, 3)])
def test_backtracking_takes_the_first_step_up_to_one_over_the_curvature(shrink, tries):
    """On λ w²/2 a step of gradient descent descends by half of lr λ² w² or more where lr ≤ 1/λ."""
    data = SimpleNamespace(X=np.full((4, 1), 3.0), y=np.zeros(4))  # λ = 9
    start = Line(np.array([2.0]))
    grad = start.loss_and_grad(data.X, data.y)[1]
    rule = mha.Backtracking(lr=0.99 / 9 / shrink**tries, shrink=shrink).on(data)
    theta, lr = rule.step(start, grad, rule.start(start), 0)
    assert lr == pytest.approx(2 * 0.99 / 9, rel=1e-14)
    assert_close(theta.w, 0.01 * start.w, 1e-12)
    shorter = mha.Backtracking(lr=1.01 / 9, shrink=shrink).on(data)
    assert shorter.step(start, grad, 1.01 / 9, 0)[1] == pytest.approx(2 * shrink * 1.01 / 9)
