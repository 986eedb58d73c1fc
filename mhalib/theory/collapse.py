"""Zero-initialization collapse: heads that start equal are one head with other step sizes, for ever."""

from dataclasses import replace

import numpy as np

from mhalib.data import from_arrays
from mhalib.models import MultiHeadAttention
from mhalib.optim import Adam, GradientDescent, Momentum
from mhalib.theory.instances import token_radius
from mhalib.theory.ledger import Check, statement
from mhalib.theory.selection import CHAPTER

RULES = (GradientDescent(0.3), Momentum(0.1), Adam(0.03))


def one_head_rules(rule, H):
    """The rules for W = W_h and Ũ = √H U_h that ``rule`` on H equal heads amounts to.

    Gradient descent and momentum: step sizes η/H and η. Adam: η with H ε, and √H η with √H ε.
    """
    if isinstance(rule, Adam):
        return replace(rule, eps=H * rule.eps), replace(rule, lr=H ** 0.5 * rule.lr, eps=H ** 0.5 * rule.eps)
    return replace(rule, lr=rule.lr / H), rule


def one_head_run(data, rule, H, steps):
    """The one-head model (W, Ũ) after ``steps`` steps from zero, each array under its own rule."""
    one = MultiHeadAttention.zeros(1, *data.X.shape[1:])
    rules = dict(zip("WU", one_head_rules(rule, H), strict=True))
    states = {name: rules[name].start(array) for name, array in one.arrays().items()}
    for k in range(steps):
        theta, grad = one.arrays(), one.loss_and_grad(data.X, data.y)[1].arrays()
        moved = {name: rules[name].step(theta[name], grad[name], states[name], k) for name in theta}
        states = {name: state for name, (_, state) in moved.items()}
        one = MultiHeadAttention(moved["W"][0], moved["U"][0])
    return one


def _run(seed):
    rng = np.random.default_rng([seed, 23])
    n, T, d = rng.integers(2, 6, size=3)
    X = rng.standard_normal((n, T, d)) * rng.choice([0.3, 1.0])
    data = from_arrays(X / token_radius(X), np.where(rng.random(n) < 0.5, -1.0, 1.0))
    return {"data": data, "rule": RULES[rng.integers(3)], "H": int(rng.integers(2, 17))}


@statement(id="thm-collapse", title="Zero-initialization collapse", mark="ours", source="this book", chapter=CHAPTER,
           assumptions="all parameters start at zero", random=_run,
           broken=lambda seed: (instance := _run(seed)) | {
               "start": MultiHeadAttention.random(instance["H"], *instance["data"].X.shape[1:], seed=seed)},
           breaks="all parameters start at zero")
def collapse(data, rule, H, start=None, steps=25):
    """After any number of steps W_h = W and √H U_h = Ũ for every head, where (W, Ũ) is the one-head run.

    lhs is the larger of the two distances, relative to the norms of W and Ũ, rhs 1e-11.  Source: this book.
    """
    model = MultiHeadAttention.zeros(H, *data.X.shape[1:]) if start is None else start
    state = rule.start(model)
    for k in range(steps):
        model, state = rule.step(model, model.loss_and_grad(data.X, data.y)[1], state, k)
    one = one_head_run(data, rule, H, steps)
    errors = [np.linalg.norm(model.W - one.W, axis=(1, 2)).max() / np.linalg.norm(one.W),
              np.linalg.norm(H ** 0.5 * model.U - one.U, axis=(1, 2)).max() / np.linalg.norm(one.U)]
    return Check(float(max(errors)), 1e-11, "W_h = W and √H U_h = Ũ after every step")
