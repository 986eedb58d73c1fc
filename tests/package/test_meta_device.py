"""Every formula on torch's meta device, where numbers do not exist and a stray numpy call fails;
and numpy = torch."""

import numpy as np
import pytest

from checks import assert_close
from mhabook.c02_curvature.bounds import MarginSquared
from mhabook.c02_curvature.derivatives import logit_hessian
from mhabook.c02_curvature.loss_bounds import loss_hessian
from mhalib.attention import gaussian, softmax
from mhalib.data import Dataset
from mhalib.losses import logistic
from optional import torch
from strategies import direction, problem

DRAWN = problem(n=5, T=4, d=3, H=2)
SHIFT = direction(DRAWN.model)
FORMULAS = {
    f"{kernel!r} {name}": call
    for kernel in (softmax, gaussian)
    for name, call in {
        "scores": lambda m, X, y, V, k=kernel: k.scores(X, 2 * X),
        "weights": lambda m, X, y, V, k=kernel: k(k.scores(X, 2 * X)),
        "vjp": lambda m, X, y, V, k=kernel: k.vjp(k(k.scores(X, X)), k.scores(X, X)),
        "scores_vjp": lambda m, X, y, V, k=kernel: list(k.scores_vjp(X, 2 * X, k.scores(X, 2 * X))),
    }.items()
}
FORMULAS |= {
    f"{name} {part}": lambda m, X, y, V, f=f: f(X)
    for name, loss in (("logistic", logistic), ("squared", MarginSquared()))
    for part, f in (("value", loss), ("slope", loss.slope), ("curvature", loss.curvature))
}
FORMULAS |= {
    "logits": lambda m, X, y, V: m(X),
    "attention": lambda m, X, y, V: m.attention(X),
    "loss": lambda m, X, y, V: m.loss(X, y),
    "margins": lambda m, X, y, V: m.margins(X, y),
    "loss_and_grad": lambda m, X, y, V: list(m.loss_and_grad(X, y)),
    "features": lambda m, X, y, V: m.features(X),
    "hvp": lambda m, X, y, V: m.hvp(X, y, V),
    "logit_hessian": lambda m, X, y, V: logit_hessian(m, X),
    "loss_hessian": lambda m, X, y, V: list(loss_hessian(m, Dataset(X, y))),
    "ravel": lambda m, X, y, V: m.ravel(),
    "unravel": lambda m, X, y, V: m.unravel(V.ravel()),
    "arithmetic": lambda m, X, y, V: (m - 0.1 * V) * V / (V * V + 1) ** 0.5,
}
formulas = pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)


def arrays(result):
    """The arrays of a result: one, several, or those of models."""
    if isinstance(result, list):
        return [a for part in result for a in arrays(part)]
    return list(result.arrays().values()) if hasattr(result, "arrays") else [result]


def results(formula, to):
    """What a formula gives where ``to`` carries its arguments."""
    model, X, y = DRAWN.map(to)
    return arrays(formula(model, X, y, SHIFT.map(to)))


@formulas
def test_formulas_run_on_the_meta_device(formula):
    meta = results(formula, lambda a: torch.tensor(a, device="meta"))
    expected = results(formula, lambda a: a)
    assert {a.device.type for a in meta} == {"meta"}
    assert [tuple(a.shape) for a in meta] == [a.shape for a in expected]
    assert {a.dtype for a in meta} == {torch.float64}


@formulas
def test_torch_equals_numpy(formula):
    theirs, ours = results(formula, torch.tensor), results(formula, lambda a: a)
    assert all(isinstance(a, torch.Tensor) for a in theirs)
    for a, b in zip(theirs, ours, strict=True):
        assert_close(a, b, 1e-12)


@formulas
@pytest.mark.parametrize(
    "library",
    [lambda a: a.astype("float32"), lambda a: torch.tensor(a, dtype=torch.float32)],
    ids=["numpy", "torch"],
)
def test_single_precision_stays_single(formula, library):
    assert {str(a.dtype).removeprefix("torch.") for a in results(formula, library)} == {"float32"}


def test_a_stray_numpy_call_fails_on_the_meta_device():
    with pytest.raises((TypeError, RuntimeError, NotImplementedError)):
        results(lambda m, X, y, V: np.exp(X), lambda a: torch.tensor(a, device="meta"))


def test_torch_gradients_flow_through_the_formulas():
    model, X, y = DRAWN.map(torch.tensor)
    for a in model.arrays().values():
        a.requires_grad_()
    loss, grad = model.loss_and_grad(X, y)
    for ours, theirs in zip(
        grad.arrays().values(), torch.autograd.grad(loss, (model.W, model.U)), strict=True
    ):
        assert_close(ours, theirs, 1e-12)
