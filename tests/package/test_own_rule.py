"""A rule of a reader's own sees models, and goes where the plain loop goes, whatever computes the
gradient."""

import os
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mhalib as mha
from checks import assert_close
from optional import torch
from rules import ByNorm, Noisy, Stateless, drawn, to_torch, walked

own = dataclass(frozen=True, eq=False, repr=False)
CASES = int(os.environ.get("MHALIB_RULES", "50"))
"""How many rules are drawn."""
STEPS = 6
MIXTURE = mha.data.tokenized_mixture(n=40, T=6, d=5, M=2, zeta=1 / 3, seed=0)
EIGHT = mha.MultiHeadAttention.zeros(H=8, T=6, d=5)
COMPUTING = {"numpy": "0", "compiled": "1", "torch": "0"}


@pytest.mark.parametrize("computing", COMPUTING)
@pytest.mark.parametrize("seed", range(CASES))
def test_a_run_is_the_plain_loop(seed, computing, monkeypatch):
    monkeypatch.setenv("LIVEGRAD_COMPILED", COMPUTING[computing])
    model, data, rule = drawn(seed)
    if computing == "torch":
        model, data = to_torch(model, data)
    only = list(model.arrays())[0] if seed % 5 == 0 else None
    path = mha.train(model, data, rule, STEPS, only=only)
    right = walked(model, data, rule, STEPS, only)
    if path.stopped:
        assert not np.isfinite(float(right.loss(data.X, data.y)))
        return
    for name, a in right.arrays().items():
        found = path[-1].arrays()[name]
        assert type(found) is type(a) and found.dtype == a.dtype
        assert_close(np.asarray(found), np.asarray(a), 1e-9, 1e-3 + np.abs(np.asarray(a)).max())
    assert path.loss[-1] == pytest.approx(float(right.loss(data.X, data.y)), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("compiled", "01")
@pytest.mark.parametrize("rule", [ByNorm(0.1), mha.clip(norm=0.1) | mha.Momentum(0.5)])
def test_equal_heads_count_each_in_a_norm(rule, compiled, monkeypatch):
    """Normalized and clipped descent from zero with eight heads, as on models by hand."""
    monkeypatch.setenv("LIVEGRAD_COMPILED", compiled)
    path = mha.train(EIGHT, MIXTURE, rule, 20)
    assert path.loss[-1] == pytest.approx(
        walked(EIGHT, MIXTURE, rule, 20).loss(MIXTURE.X, MIXTURE.y), rel=1e-9
    )


@pytest.mark.parametrize("compiled", "01")
def test_noise_tells_equal_heads_apart(compiled, monkeypatch):
    monkeypatch.setenv("LIVEGRAD_COMPILED", compiled)
    last = mha.train(EIGHT, MIXTURE, Noisy(0.1), 5)[-1]
    assert len({head.tobytes() for head in last.U}) == 8


class Asking(Stateless):
    """A rule that keeps what it was given."""

    def __init__(self):
        super().__init__(0.1)
        self.seen = []

    def step(self, theta, grad, state, k):
        self.seen += [theta, grad]
        return theta - 0.1 * grad, state


@pytest.mark.parametrize(
    "make",
    [
        lambda: (EIGHT, MIXTURE),
        lambda: to_torch(EIGHT, MIXTURE),
        lambda: (
            mha.AttentionRegression.random(d=3, p=2),
            mha.data.linear_regression(n=9, d=3, p=2),
        ),
    ],
    ids=["numpy", "torch", "regression"],
)
def test_a_rule_is_given_models(make):
    model, data = make()
    rule = Asking()
    path = mha.train(model, data, rule, 3)
    for point in rule.seen:
        assert type(point) is type(model)
        assert {n: a.shape for n, a in point.arrays().items()} == {
            n: a.shape for n, a in model.arrays().items()
        }
    kept = {id(a) for point in rule.seen for a in point.arrays().values()}
    assert len(kept) == 2 * 3 * len(model.arrays()) and not kept & {
        id(a) for p in path for a in p.arrays().values()
    }


class Returning(Stateless):
    """A rule that returns something else."""

    def __init__(self, answer):
        super().__init__(0.1)
        self.answer = answer

    def step(self, theta, grad, state, k):
        return self.answer(theta)


class Reusing(Stateless):
    """A rule that returns the same object at every step, and writes into it."""

    def __init__(self):
        super().__init__(0.1)
        self.mine = None

    def step(self, theta, grad, state, k):
        self.mine = theta if self.mine is None else self.mine
        for name, a in self.mine.arrays().items():
            a -= 0.1 * grad.arrays()[name]
        return self.mine, state


def test_a_rule_may_return_the_same_object_at_every_step():
    path = mha.train(Penalized(np.ones(3)), LINE, Reusing(), 4)
    right = mha.train(Penalized(np.ones(3)), LINE, mha.GradientDescent(0.1), 4)
    for one, two in zip(path, right, strict=True):
        np.testing.assert_allclose(one.w, two.w, rtol=1e-12)


REFUSED = {
    "no pair": (
        lambda theta: theta,
        "the pair of a MultiHeadAttention and a state, got MultiHeadAttention",
    ),
    "three": (lambda theta: (theta, None, None), "got tuple"),
    "an array": (
        lambda theta: (theta.W, None),
        r"got an array of numpy, float64, shape \(8, 5, 5\) in place",
    ),
    "one head": (
        lambda theta: (theta.map(lambda a: a[:1]), None),
        r"W as .* \(8, 5, 5\), got .* shape \(1, 5, 5\)",
    ),
    "single": (
        lambda theta: (theta.map(lambda a: a.astype("f4")), None),
        "W as .*float64.*, got .*float32",
    ),
    "torch": (
        lambda theta: (theta.map(torch.as_tensor), None),
        "W as an array of numpy.*, got an array of torch",
    ),
    "nothing": (lambda theta: None, "got NoneType"),
}


@pytest.mark.parametrize("answer, said", REFUSED.values(), ids=REFUSED)
def test_another_answer_of_a_rule_is_refused(answer, said):
    with pytest.raises(TypeError, match=f"^optimizer: expected Returning.step to return .*{said}"):
        mha.train(EIGHT, MIXTURE, Returning(answer), 3)


def test_a_rule_behind_clip_is_asked_as_well():
    expected = r"^optimizer: expected clip \| Returning.step to return .* got NoneType"
    with pytest.raises(TypeError, match=expected):
        mha.train(EIGHT, MIXTURE, mha.clip(norm=1.0) | Returning(lambda theta: None), 3)


@pytest.mark.parametrize(
    "rule, said",
    [
        (3, "an object with start.* got int"),
        (ByNorm, r"got the class ByNorm; write ByNorm\(…\)"),
        (SimpleNamespace(start=1, step=2), "got SimpleNamespace"),
    ],
    ids=str,
)
def test_what_is_no_rule_is_refused(rule, said):
    with pytest.raises(TypeError, match=f"^optimizer: expected an update rule such as .*{said}"):
        mha.train(EIGHT, MIXTURE, rule, 3)


def test_a_rule_that_does_not_come_back_from_the_data_is_refused():
    forgetful = type("Forgetful", (ByNorm,), {"on": lambda self, data: None})
    with pytest.raises(
        TypeError, match=r"^optimizer: expected Forgetful.on\(data\) to return an update.*NoneType"
    ):
        mha.train(EIGHT, MIXTURE, forgetful(0.1), 3)


class ZeroByZero(Stateless):
    """A rule that divides by the length of a gradient that is 0 in W."""

    def step(self, theta, grad, state, k):
        return theta - 0.1 * grad.map(lambda a: a / (a * a).sum() ** 0.5), state


@pytest.mark.parametrize("compiled", "01")
def test_nan_of_a_rule_is_said_to_be_its_own(compiled, monkeypatch):
    monkeypatch.setenv("LIVEGRAD_COMPILED", compiled)
    with pytest.warns(
        RuntimeWarning,
        match="^ZeroByZero.step returned NaN in W at step 0, .* does it divide 0 by 0",
    ):
        path = mha.train(EIGHT, MIXTURE, ZeroByZero(0.1), 5)
    assert path.steps.tolist() == [0] and "smaller lr" not in path.stopped


def test_functions_of_numpy_act_on_every_array():
    signs = np.sign(EIGHT - 2.0)
    assert type(signs) is type(EIGHT) and (signs.U == -1).all()
    assert (np.maximum(EIGHT, 0.5).W == 0.5).all() and (np.float64(2) * (EIGHT + 1.0)).U.max() == 2
    assert isinstance((np.float64(2) * EIGHT.map(torch.as_tensor)).U, torch.Tensor)
    for function in (
        lambda: np.add.reduce(EIGHT),
        lambda: np.ones(3) * EIGHT,
        lambda: np.exp(EIGHT, out=EIGHT),
    ):
        with pytest.raises(TypeError, match="^np.*MultiHeadAttention"):
            function()


@own
class Penalized(mha.models.Vector):
    """A line with a penalty that a rule may change: a number, an array that is fixed, a
    dictionary."""

    w: np.ndarray
    decay: float = 1.0
    mask: Any = None
    settings: Any = None
    fixed = ("mask",)

    def loss(self, X, y):
        mask = 1.0 if self.mask is None else self.mask
        factor = 1.0 if self.settings is None else self.settings["factor"]
        return ((X @ (mask * self.w) - y) ** 2).mean() + factor * self.decay * (self.w**2).sum()


class Changing(Stateless):
    """A rule that changes more than weights."""

    def __init__(self, change):
        super().__init__(0.1)
        self.change = change

    def step(self, theta, grad, state, k):
        return self.change(theta - 0.1 * grad), state


def in_place(change):
    def changed(theta):
        change(theta)
        return theta

    return changed


def pruned(theta):
    theta.mask[0] = 0.0


def halved(theta):
    theta.settings["factor"] /= 2


LINE = SimpleNamespace(X=np.arange(12.0).reshape(4, 3) / 10, y=np.ones(4))
MORE = {
    "a number": (
        lambda theta: replace(theta, decay=theta.decay / 2),
        TypeError,
        "^optimizer: .* another decay",
    ),
    "a fixed array": (
        lambda theta: replace(theta, mask=0 * theta.mask),
        TypeError,
        "^optimizer: .* another mask",
    ),
    "a fixed array, in place": (
        in_place(pruned),
        ArithmeticError,
        "an array that it reads .* has changed",
    ),
    "a dictionary": (
        in_place(halved),
        ArithmeticError,
        "a dictionary or an array that it reads .* has changed",
    ),
}


@pytest.mark.parametrize("change, kind, said", MORE.values(), ids=MORE)
def test_a_rule_that_changes_more_than_weights_is_refused(change, kind, said):
    start = Penalized(np.ones(3), mask=np.ones(3), settings={"factor": 1.0})
    with pytest.raises(kind, match=said):
        mha.train(start, LINE, Changing(change), 4)


def test_a_kernel_stays():
    layer = mha.AttentionLayer.random(3, 2, 1, kernel=mha.gaussian)
    data = mha.data.random_sequences(3, 4, 3, 1)
    with pytest.raises(TypeError, match="^optimizer: .* got one with another kernel"):
        mha.train(layer, data, Changing(lambda theta: replace(theta, kernel=mha.softmax)), 3)


class Decayed(mha.MultiHeadAttention):
    """Heads with a penalty, whose gradient is that of heads without."""

    def loss(self, X, y):
        return super().loss(X, y) + 0.5 * (self.W**2).sum()


class Derived(Decayed):
    """The same with the gradient of its own loss."""

    loss_and_grad = mha.models.Vector.loss_and_grad


def test_a_loss_that_is_written_anew_needs_its_own_gradient():
    start = mha.MultiHeadAttention.random(2, 6, 5)
    with pytest.raises(
        TypeError, match="^loss: expected a Decayed whose loss_and_grad is of its own loss"
    ):
        mha.train(Decayed(start.W, start.U), MIXTURE, mha.GradientDescent(0.1), 3)
    heir = Derived(start.W, start.U)
    path = mha.train(heir, MIXTURE, mha.GradientDescent(0.1), 5)
    right = walked(heir, MIXTURE, mha.GradientDescent(0.1), 5)
    assert path.loss[0] == pytest.approx(heir.loss(MIXTURE.X, MIXTURE.y), rel=1e-12)
    assert (
        path.loss[-1] == pytest.approx(right.loss(MIXTURE.X, MIXTURE.y), rel=1e-9)
        and "accuracy" in path.curves
    )
