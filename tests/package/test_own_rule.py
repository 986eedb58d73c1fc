"""A rule of a reader's own sees models, and goes where the plain loop goes, whatever computes the gradient."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import mhalib as mha
from oracles import assert_close
from rules import ByNorm, Noisy, Stateless, drawn, to_torch, walked

CASES = int(os.environ.get("MHALIB_RULES", "50"))
"""How many rules are drawn."""
STEPS = 6
MIXTURE = mha.data.tokenized_mixture(n=40, T=6, d=5, M=2, zeta=1 / 3, seed=0)
EIGHT = mha.MultiHeadAttention.zeros(H=8, T=6, d=5)
COMPUTING = {"numpy": "0", "compiled": "1", "torch": "0"}


@pytest.mark.parametrize("computing", COMPUTING)
@pytest.mark.parametrize("seed", range(CASES))
def test_a_run_is_the_plain_loop(seed, computing, monkeypatch):
    monkeypatch.setenv("MHALIB_COMPILED", COMPUTING[computing])
    model, data, rule = drawn(seed)
    if computing == "torch":
        model, data = to_torch(model, data)
    only = list(model.arrays())[0] if seed % 5 == 0 else None
    path = mha.train(model, data, rule, STEPS, only=only)
    right = walked(model, data, rule, STEPS, only)
    for name, a in right.arrays().items():
        found = path[-1].arrays()[name]
        assert type(found) is type(a) and found.dtype == a.dtype
        assert_close(np.asarray(found), np.asarray(a), 1e-9, 1e-3 + np.abs(np.asarray(a)).max())
    assert path.loss[-1] == pytest.approx(float(right.loss(data.X, data.y)), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("compiled", "01")
def test_equal_heads_count_each_in_a_norm(compiled, monkeypatch):
    """Normalized descent from zero with eight heads, as on models by hand."""
    monkeypatch.setenv("MHALIB_COMPILED", compiled)
    path = mha.train(EIGHT, MIXTURE, ByNorm(0.1), 20)
    assert path.loss[-1] == pytest.approx(walked(EIGHT, MIXTURE, ByNorm(0.1), 20).loss(MIXTURE.X, MIXTURE.y), rel=1e-9)


@pytest.mark.parametrize("compiled", "01")
def test_noise_tells_equal_heads_apart(compiled, monkeypatch):
    monkeypatch.setenv("MHALIB_COMPILED", compiled)
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


@pytest.mark.parametrize("make", [
    lambda: (EIGHT, MIXTURE), lambda: to_torch(EIGHT, MIXTURE),
    lambda: (mha.AttentionRegression.random(d=3, p=2), mha.data.linear_regression(n=9, d=3, p=2))],
    ids=["numpy", "torch", "regression"])
def test_a_rule_is_given_models(make):
    model, data = make()
    rule = Asking()
    path = mha.train(model, data, rule, 3)
    for point in rule.seen:
        assert type(point) is type(model)
        assert {n: a.shape for n, a in point.arrays().items()} == {n: a.shape for n, a in model.arrays().items()}
    kept = {id(a) for point in rule.seen for a in point.arrays().values()}
    assert len(kept) == 2 * 3 * len(model.arrays()) and not kept & {id(a) for p in path for a in p.arrays().values()}


class Returning(Stateless):
    """A rule that returns something else."""

    def __init__(self, answer):
        super().__init__(0.1)
        self.answer = answer

    def step(self, theta, grad, state, k):
        return self.answer(theta)


REFUSED = {
    "no pair": (lambda theta: theta, "the pair of a MultiHeadAttention and a state, got MultiHeadAttention"),
    "three": (lambda theta: (theta, None, None), "got tuple"),
    "an array": (lambda theta: (theta.W, None), r"got an array of numpy, float64, shape \(8, 5, 5\) in place"),
    "one head": (lambda theta: (theta.map(lambda a: a[:1]), None), r"W as .* \(8, 5, 5\), got .* shape \(1, 5, 5\)"),
    "single": (lambda theta: (theta.map(lambda a: a.astype("f4")), None), "W as .*float64.*, got .*float32"),
    "torch": (lambda theta: (theta.map(torch.as_tensor), None), "W as an array of numpy.*, got an array of torch"),
    "nothing": (lambda theta: None, "got NoneType"),
}


@pytest.mark.parametrize("answer, said", REFUSED.values(), ids=REFUSED)
def test_another_answer_of_a_rule_is_refused(answer, said):
    with pytest.raises(TypeError, match=f"^optimizer: expected Returning.step to return .*{said}"):
        mha.train(EIGHT, MIXTURE, Returning(answer), 3)


@pytest.mark.parametrize("rule, said", [
    (3, "an object with start.* got int"), (ByNorm, r"got the class ByNorm; write ByNorm\(…\)"),
    (SimpleNamespace(start=1, step=2), "got SimpleNamespace")], ids=str)
def test_what_is_no_rule_is_refused(rule, said):
    with pytest.raises(TypeError, match=f"^optimizer: expected an update rule such as .*{said}"):
        mha.train(EIGHT, MIXTURE, rule, 3)


def test_a_rule_that_does_not_come_back_from_the_data_is_refused():
    forgetful = type("Forgetful", (ByNorm,), {"on": lambda self, data: None})
    with pytest.raises(TypeError, match=r"^optimizer: expected Forgetful.on\(data\) to return an update.*NoneType"):
        mha.train(EIGHT, MIXTURE, forgetful(0.1), 3)


class ZeroByZero(Stateless):
    """A rule that divides by the length of a gradient that is 0 in W."""

    def step(self, theta, grad, state, k):
        return theta - 0.1 * grad.map(lambda a: a / (a * a).sum() ** 0.5), state


@pytest.mark.parametrize("compiled", "01")
def test_nan_of_a_rule_is_said_to_be_its_own(compiled, monkeypatch):
    monkeypatch.setenv("MHALIB_COMPILED", compiled)
    with pytest.warns(RuntimeWarning, match="^ZeroByZero.step returned NaN in W at step 0, .* does it divide 0 by 0"):
        path = mha.train(EIGHT, MIXTURE, ZeroByZero(0.1), 5)
    assert path.steps.tolist() == [0] and "smaller lr" not in path.stopped


def test_functions_of_numpy_act_on_every_array():
    signs = np.sign(EIGHT - 2.0)
    assert type(signs) is type(EIGHT) and (signs.U == -1).all()
    assert (np.maximum(EIGHT, 0.5).W == 0.5).all() and (np.float64(2) * (EIGHT + 1.0)).U.max() == 2
    assert isinstance((np.float64(2) * EIGHT.map(torch.as_tensor)).U, torch.Tensor)
    for function in (lambda: np.add.reduce(EIGHT), lambda: np.ones(3) * EIGHT, lambda: np.exp(EIGHT, out=EIGHT)):
        with pytest.raises(TypeError, match="^np.*MultiHeadAttention"):
            function()
