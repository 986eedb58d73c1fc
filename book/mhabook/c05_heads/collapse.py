"""Chapter 5: heads that start at zero are one head with two step sizes, for ever."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mhabook.c01_model.instances import ZERO, from_zero, problem, token_radius
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.data import Dataset, from_arrays, tokenized_mixture
from mhalib.models import MultiHeadAttention
from mhalib.optim import Adam, GradientDescent, Momentum, Rule

CHAPTER, FURTHER = "multihead/05_more_heads_slower_or_faster", "multihead/05_further"
# The second Adam has an ε so large that its powers of H in ``one_head_rules`` matter.
RULES = (GradientDescent(0.3), Momentum(0.1), Adam(0.03), Adam(0.03, eps=1e-2))
CLAIMS = (
    "W_h = W",
    "√H U_h = Ũ",
    "the same loss",
    "the same logits",
    "the same attention weights",
    "(1/H) Σ‖W_h‖ = ‖W‖",
    "(1/√H) Σ‖U_h‖ = ‖Ũ‖",
)


def _equal_heads(seed):
    instance = problem(seed)
    model = instance["model"]
    heads = np.zeros(np.random.default_rng([seed, 22]).integers(1, 9), dtype=int)
    return instance | {"model": MultiHeadAttention(model.W[heads], model.U[heads])}


@statement(
    id="prop-equal-heads",
    title="Identical heads act as one head",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="all heads are equal",
    random=_equal_heads,
    broken=lambda seed: {
        "model": MultiHeadAttention.random(3, 10, 8, seed=seed),
        "data": tokenized_mixture(),
    },
    breaks="all heads are equal",
    hypotheses=lambda model, **_: {
        "all heads are equal": not any(np.ptp(part, axis=0).any() for part in (model.W, model.U))
    },
)
def equal_heads(model: MultiHeadAttention, data: Dataset) -> Checks:
    """H heads (W, U) have the logit of one head (W, √H U), and H ∇_{W_h} L, √H ∇_{U_h} L are its
    two gradients.

    So a step η leaves the heads equal, moves √H U by −η ∇_Ũ L and W by −(η/H) ∇_W L. In the checks
    lhs is the largest error relative to the bounds √T R ‖√H U‖, √T R³ ‖√H U‖ and √T R, and rhs
    1e-12. Source: this book.
    """
    (H, T, _), R = model.sizes, token_radius(data.X)
    one = MultiHeadAttention(model.W[:1], H**0.5 * model.U[:1])
    (_, grad), (_, grad_1) = (each.loss_and_grad(data.X, data.y) for each in (model, one))
    u, scale = np.linalg.norm(one.U), T**0.5 * R
    errors = {
        "Φ is that of one head": abs(model(data.X) - one(data.X)).max() / max(scale * u, TINY),
        "H ∇_{W_h} L = ∇_W L of one head": abs(H * grad.W - grad_1.W).max()
        / max(scale * R**2 * u, TINY),
        "√H ∇_{U_h} L = ∇_Ũ L of one head": abs(H**0.5 * grad.U - grad_1.U).max()
        / max(scale, TINY),
    }
    return tuple(Check(float(error), 1e-12, claim) for claim, error in errors.items())


def one_head_rules(rule: Rule, H: int) -> tuple[Rule, Rule]:
    """The rules for W = W_h and Ũ = √H U_h that ``rule`` on H equal heads amounts to.

    Gradient descent and momentum: step sizes η/H and η. Adam: η with H ε, and √H η with √H ε.
    """
    if isinstance(rule, Adam):
        # ∇_{W_h} L = ∇_W L/H and ∇_{U_h} L = ∇_Ũ L/√H: Adam divides such factors out, except beside
        # ε, and Ũ moves √H times as far as U_h.
        return replace(rule, eps=H * rule.eps), replace(
            rule, lr=H**0.5 * rule.lr, eps=H**0.5 * rule.eps
        )
    return replace(rule, lr=rule.lr / H), rule


def one_head_path(data: Dataset, rule: Rule, H: int, steps: int) -> Iterator[MultiHeadAttention]:
    """The one-head models (W, Ũ) after 0, 1, …, ``steps`` steps from zero, each array under its own
    rule."""
    one = MultiHeadAttention.zeros(1, *data.X.shape[1:])
    rules = dict(zip("WU", one_head_rules(rule, H), strict=True))
    states = {name: rules[name].start(array) for name, array in one.arrays().items()}
    yield one
    for k in range(steps):
        theta, grad = one.arrays(), one.loss_and_grad(data.X, data.y)[1].arrays()
        moved = {name: rules[name].step(theta[name], grad[name], states[name], k) for name in theta}
        states = {name: state for name, (_, state) in moved.items()}
        one = MultiHeadAttention(moved["W"][0], moved["U"][0])
        yield one


def one_head_run(data: Dataset, rule: Rule, H: int, steps: int) -> MultiHeadAttention:
    """The last model of ``one_head_path``."""
    *_, last = one_head_path(data, rule, H, steps)
    return last


def _run(seed):
    rng = np.random.default_rng([seed, 23])
    n, T, d = rng.integers(2, 6, size=3)
    X = rng.standard_normal((n, T, d)) * rng.choice([0.3, 1.0])
    data = from_arrays(X / token_radius(X), np.where(rng.random(n) < 0.5, -1.0, 1.0))
    return {"data": data, "rule": RULES[rng.integers(4)], "H": int(rng.integers(2, 17))}


@statement(
    id="thm-collapse",
    title="Zero-initialization collapse",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=ZERO,
    random=_run,
    broken=lambda seed: (
        (instance := _run(seed))
        | {
            "start": MultiHeadAttention.random(
                instance["H"], *instance["data"].X.shape[1:], seed=seed
            )
        }
    ),
    breaks=ZERO,
    hypotheses=from_zero,
)
def collapse(
    data: Dataset, rule: Rule, H: int, start: MultiHeadAttention | None = None, steps: int = 25
) -> Checks:
    """After every step W_h = W and √H U_h = Ũ for every head, where (W, Ũ) is the one-head run.

    And the two runs have the same losses, logits, attention weights, and norms (1/H) Σ‖W_h‖ and
    (1/√H) Σ‖U_h‖. In each check lhs is the largest difference in the run, relative to the largest
    value in it, and rhs 1e-11. Source: this book.

    Raises ValueError where a gradient is nothing but rounding, which no verdict could be built on.
    """
    _require_gradients(data, rule)
    model = MultiHeadAttention.zeros(H, *data.X.shape[1:]) if start is None else start
    state, errors, sizes = rule.start(model), [], []
    for k, one in enumerate(one_head_path(data, rule, H, steps)):
        pairs = [*zip(_measured(model, data), _measured(one, data), strict=True)]
        errors.append([abs(many - single).max() for many, single in pairs])
        sizes.append([abs(single).max() for _, single in pairs])
        model, state = rule.step(model, model.loss_and_grad(data.X, data.y)[1], state, k)
    # Relative to the largest in the run, because W, U and the logits start at 0.
    relative = (np.max(errors, axis=0) / np.maximum(np.max(sizes, axis=0), TINY)).tolist()
    return tuple(
        Check(error, 1e-11, f"{claim} after every step")
        for error, claim in zip(relative, CLAIMS, strict=True)
    )


def _require_gradients(data, rule):
    """Where all tokens of a sample are equal in a coordinate, ∇_W L is 0 up to rounding, and where
    the mean tokens of both labels are, ∇_U L; Adam makes steps of it."""
    (_, T, _), R = data.X.shape, token_radius(data.X)
    used = data.X[..., data.X.any(axis=(0, 1))]
    apart = abs(data.y @ used.mean(axis=1)) / len(data)
    balanced = apart <= 1e-12 * R
    if used.size and (balanced.any() if isinstance(rule, Adam) else balanced.all()):
        raise ValueError(
            "data: expected labels whose mean tokens differ, under Adam in each coordinate that is "
            "not 0, got equal ones, where the gradient in U is rounding"
        )
    shared = np.ptp(used, axis=1).max(axis=0) <= 1e-4 * R
    # One token has weight 1 exactly, and a zero coordinate the gradient 0.
    if T > 1 and shared.size and (shared.any() if isinstance(rule, Adam) else shared.all()):
        raise ValueError(
            "data: expected samples whose tokens differ, under Adam in each coordinate that is not "
            "0, got equal ones, where the gradient in W is rounding"
        )


def _measured(model, data):
    """What the claims compare, in their order."""
    values = (
        model.W,
        model.sizes[0] ** 0.5 * model.U,
        model.loss(data.X, data.y),
        model(data.X),
        model.attention(data.X),
        *model.norms().values(),
    )
    return [np.asarray(value) for value in values]
