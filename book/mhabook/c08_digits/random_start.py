"""Chapter 8: what a random start knows of the number of heads, and how far training takes a head
from it."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from livegrad.arrays import Array
from livegrad.training import train
from mhabook.c01_model.instances import (
    TOKENS,
    between,
    confident,
    one_reads,
    opposite_tokens,
    problem,
    radius_or_given,
    short,
    tokens_fit,
)
from mhabook.c02_curvature.bounds import decoder_norms, hessian_constant
from mhabook.ledger import Check, Checks, statement
from mhalib.data import Dataset, from_arrays
from mhalib.losses import logistic
from mhalib.models import MultiHeadAttention
from mhalib.optim import GradientDescent

if TYPE_CHECKING:
    import plotly.graph_objects as go

CHAPTER, FURTHER = "multihead/08_heads_on_real_data", "multihead/08_further"


def gram(model: MultiHeadAttention, X: Array) -> np.ndarray:
    """The NTK Gram matrix Θ_ij = ⟨∇Φ(X_i), ∇Φ(X_j)⟩ of a batch X (n, T, d), (n, n)."""
    features = model.features(X)
    return features @ features.T


def frozen_losses(model: MultiHeadAttention, data: Dataset, lr: float, steps: int) -> np.ndarray:
    """Losses of gradient descent on the logit's first-order expansion at ``model``, at steps 0, 1,
    …, ``steps``.

    Φ ← Φ − (η/n) Θ (y ∘ ℓ′(y ∘ Φ)) with the Gram matrix Θ of the start: the same recursion as
    gradient descent on the model whose features never change.
    """
    theta, logits, losses = gram(model, data.X), model(data.X), []
    for _ in range(steps + 1):
        z = data.y * logits
        losses.append(float(logistic(z).mean()))
        logits = logits - lr / len(data) * (theta @ (data.y * logistic.slope(z)))
    return np.array(losses)


def beside_frozen(H: int, scale: float, data: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Recorded steps of 300, the losses of gradient descent from a random start with η = ½, and the
    frozen ones."""
    start = MultiHeadAttention.random(H, 8, 8, scale)
    path = train(start, data, GradientDescent(0.5), 300, record=60)
    return path.steps, path.loss, frozen_losses(start, data, 0.5, 300)[path.steps]


def frozen_figure(compared: Mapping[int, tuple[np.ndarray, np.ndarray, np.ndarray]]) -> "go.Figure":
    """Training losses by the number of heads 1, 8, 64, from what ``beside_frozen`` gives for each.

    The frozen ones of the fewest and of the most heads are dotted.
    """
    # Imported only where it is needed: plotly takes long to import.
    from mhalib.plots import HEADS, curves

    ends = min(compared), max(compared)
    frozen = {f"frozen, H = {H}": compared[H][::2] for H in ends}
    figure = curves(
        None,
        {f"H = {H}": compared[H][:2] for H in compared} | frozen,
        ylabel="training loss",
        log_x=True,
        title="Small initialization: more heads follow their first order longer",
        alt="Training loss over 300 steps from the small initialization. The two frozen runs, "
        "dotted, nearly coincide and end highest; 64 heads end somewhat below them, 8 heads "
        "lower, one head lowest.",
    )
    shades = [HEADS[k] for k in (0, 3, 6)]
    for trace, shade in zip(figure.data, (*shades, shades[0], shades[-1]), strict=True):
        trace.line.update(color=shade, dash="dot" if "frozen" in trace.name else "solid")
    return figure


def gram_distances(counts: Sequence[int], scale: float, X: Array) -> list[float]:
    """The root mean square of ‖Θ − E Θ‖/‖E Θ‖ over 640/H + 10 random starts, for each number of
    heads H.

    E Θ is the mean over 16 other starts, with 64 heads.
    """
    # Seeds from 1000 on: no start that is measured is part of the center.
    center = _random_grams(64, scale, X, range(1000, 1016)).mean(axis=0)
    return [
        np.sqrt(
            ((_random_grams(H, scale, X, range(640 // H + 10)) - center) ** 2)
            .sum(axis=(1, 2))
            .mean()
        )
        / np.linalg.norm(center)
        for H in counts
    ]


def _random_grams(H, scale, X, seeds):
    return np.array([gram(MultiHeadAttention.random(H, 8, 8, scale, seed), X) for seed in seeds])


def _few_heads(seed):
    rng = np.random.default_rng([seed, 81])
    n, T, d = rng.integers(2, 4, size=3)
    scales = 10.0 ** rng.uniform(-1.5, 0.5, size=2)
    heads = MultiHeadAttention(
        scales[0] * rng.standard_normal((3, d, d)), scales[1] * rng.standard_normal((3, T, d))
    )
    return {
        "heads": heads,
        "chances": rng.dirichlet(np.ones(3)),
        "H": int(rng.integers(2, 4)),
        "X": rng.standard_normal((n, T, d)),
    }


@statement(
    id="prop-random-gram",
    title="At a random initialization, the mean Gram matrix does not depend on H",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="the heads are independent and identically distributed",
    random=_few_heads,
    broken=_few_heads,
    breaks="the heads are independent: all are copies of one",
    hypotheses=lambda **_: {},
    false_claim=lambda heads, chances, H, X: copied_gram(heads, chances, H, X),
)
def random_gram(heads: MultiHeadAttention, chances: Array, H: int, X: Array) -> Checks:
    """E Θ = E Θ₁ and E‖Θ − E Θ‖² = E‖Θ₁ − E Θ₁‖²/H, Θ₁ the Gram matrix of one head.

    A head is one of the m given ``heads`` with the given ``chances``; all m^H models are listed, so
    the means are exact. lhs is the error relative to the size of Θ₁, or its square, rhs 1e-12.
    Source: this book.
    """
    choices = list(product(range(len(chances)), repeat=H))
    return _gram_checks(
        heads, chances, H, X, choices, np.array([np.prod(chances[list(c)]) for c in choices])
    )


def copied_gram(heads: MultiHeadAttention, chances: Array, H: int, X: Array) -> Checks:
    """The same claims of H heads that are all copies of one: the twin."""
    return _gram_checks(heads, chances, H, X, [(k,) * H for k in range(len(chances))], chances)


def _gram_checks(heads, chances, H, X, choices, weights):
    grams = np.array(
        [gram(MultiHeadAttention(heads.W[list(c)], heads.U[list(c)]), X) for c in choices]
    )
    ones = np.array(
        [
            gram(MultiHeadAttention(heads.W[k : k + 1], heads.U[k : k + 1]), X)
            for k in range(len(chances))
        ]
    )
    (mean, spread), (mean_1, spread_1) = _moments(weights, grams), _moments(chances, ones)
    # Rounding is that of the Gram matrices, and not of their spread, which may be nearly 0.
    size = np.sqrt((ones**2).sum(axis=(1, 2))).max()
    return (
        Check(float(np.linalg.norm(mean - mean_1) / size), 1e-12, "E Θ = E Θ₁"),
        Check(float(abs(spread - spread_1 / H) / size**2), 1e-12, "E‖Θ − E Θ‖² = E‖Θ₁ − E Θ₁‖²/H"),
    )


def _moments(weights, grams):
    """The mean of matrices, and their mean squared distance from it."""
    mean = np.einsum("k,kij->ij", weights, grams)
    return mean, float(weights @ ((grams - mean) ** 2).sum(axis=(1, 2)))


def _displaced(seed):
    instance = problem(seed)
    rng = np.random.default_rng([seed, 82])
    step = instance["model"].unravel(rng.standard_normal(len(instance["model"].ravel())))
    return instance | {"step": 10.0 ** rng.uniform(-1, 1) / step.norm() * step}


def _along_the_top(size=1e-4, **sizes):
    """Opposite tokens, U = 0, and a step along the eigenvector of the logit's Hessian with the
    largest eigenvalue."""
    instance = opposite_tokens(**sizes)
    model, X = instance["model"], instance["data"].X
    W, U = np.zeros_like(model.W), np.zeros_like(model.U)
    W[:, 0, 0], U[:, :, 0] = 1, np.sign(X[0, :, 0]) / model.sizes[1] ** 0.5
    step = MultiHeadAttention(W, U)
    # Short, because at its end B has grown by the share R²u/2 of itself; not so short that ‖V‖²
    # would be lost in the rounding of the logits.
    return instance | {"step": size / step.norm() * step}


def _along_the_long_decoder():
    """One decoder of eight is so long that the direction of its head's W is nearly the eigenvector."""
    instance = one_reads(1e4, H=8, mean=3**-0.5)
    W = np.zeros_like(instance["model"].W)
    W[0, 0, 0] = 1e-4
    return instance | {"step": MultiHeadAttention(W, np.zeros_like(instance["model"].U))}


@statement(
    id="prop-first-order",
    title="With many heads the first order is enough",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=TOKENS,
    random=_displaced,
    extremal=(
        _along_the_top,
        lambda: _along_the_top(T=2, H=8),
        # A step longer than 1 for short tokens, and a gradient that moves by more than 1.
        lambda: _along_the_top(100.0, R=1e-3),
        lambda: _along_the_top(1e-14, R=1e5),
        # The third moment is 4/(3√3) of what B allows.
        _along_the_long_decoder,
    ),
    slack=(0.0001, 0.0001, 0.0001, 0.0001),
    broken=lambda seed: short(seed, _along_the_top),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def first_order(
    model: MultiHeadAttention, data: Dataset, step: MultiHeadAttention, R: float | None = None
) -> Checks:
    """|Φ(θ + V) − Φ(θ) − ⟨∇Φ(θ), V⟩| ≤ B‖V‖²/(2√H) and ‖∇Φ(θ + V) − ∇Φ(θ)‖ ≤ B‖V‖/√H, for all
    samples.

    V is ``step``, and B is taken at the longest decoder of the two ends. Each check gives the worst
    ratio. Source: this book, from Proposition 1.
    """
    remainder, change = first_order_ratios(model, data, step, radius_or_given(data, R))
    return (
        Check(remainder, 1.0, "|Φ(θ + V) − Φ(θ) − ⟨∇Φ(θ), V⟩| √H/(½B‖V‖²) ≤ 1"),
        Check(change, 1.0, "‖∇Φ(θ + V) − ∇Φ(θ)‖ √H/(B‖V‖) ≤ 1"),
    )


def first_order_ratios(
    model: MultiHeadAttention, data: Dataset, step: MultiHeadAttention, R: float
) -> tuple[float, float]:
    """The two left sides of ``first_order``, at their largest over the samples, as shares of the
    right sides."""
    end, before = model + step, model.features(data.X)
    # Norms are convex: no decoder on the segment is longer than at one of its ends.
    kappa = max(hessian_constant(m, R) for m in (model, end)) / model.sizes[0] ** 0.5
    remainder = abs(end(data.X) - model(data.X) - before @ step.ravel()).max()
    change = np.sqrt(((end.features(data.X) - before) ** 2).sum(axis=1)).max()
    return float(remainder / (kappa * step.norm() ** 2 / 2)), float(change / (kappa * step.norm()))


def _shortened():
    """A step that halves the one decoder that is not 0."""
    W, U = np.zeros((2, 1, 1)), np.zeros((2, 4, 1))
    W[0], U[0, :, 0] = -0.3, [-1, 4, -7, 3]
    data = from_arrays(np.array([[[-1.0], [1], [-1], [1]]]), np.ones(1))
    return {"model": MultiHeadAttention(W, U), "data": data, "lr": 16.0, "steps": 1}


def _lengthened(H=2500):
    """Decoders that are 0. The one head that looks gets a long one in the first step, with which it
    moves in the second; no other moves."""
    W = np.zeros((H, 1, 1))
    W[0] = 0.5
    data = from_arrays(np.array([[[1.0], [-1]]]), np.ones(1))
    model = MultiHeadAttention(W, np.zeros((H, 2, 1)))
    return {"model": model, "data": data, "lr": 5000.0, "steps": 2}


@statement(
    id="prop-head-moves",
    title="At a constant step size each of many heads moves little",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=TOKENS,
    random=lambda seed: (
        problem(seed) | {"lr": 10.0 ** np.random.default_rng([seed, 83]).uniform(-2, 1)}
    ),
    # At margin −30 |ℓ′| is 1 up to e^{−30}, so that every step is as long as a step can be.
    # Long decoders on opposite tokens, and a step too short to change them, use R²u.
    extremal=(
        lambda: confident(-30.0) | {"lr": 0.1},
        lambda: confident(-30.0, T=2) | {"lr": 0.1},
        lambda: confident(-30.0, H=12) | {"lr": 0.1},
        lambda: opposite_tokens(u=50.0) | {"lr": 1e-6},
        # One decoder of eight is long: its head moves as the longest one says, not the mean.
        lambda: one_reads(50.0, H=8) | {"lr": 1e-6},
        # The longest decoder is that of the start, and one of two; or of the end, and one of many.
        _shortened,
        _lengthened,
    ),
    slack=(4e-7, 4e-7, 4e-7, None),
    broken=lambda seed: confident(-30.0, R=0.1) | {"lr": 0.1, "R": between(seed, 0.01, 0.05)},
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def head_moves(
    model: MultiHeadAttention, data: Dataset, lr: float, steps: int = 5, R: float | None = None
) -> Check:
    """max_h ‖θ_{h,k} − θ_{h,0}‖ ≤ (ηk/√H) √T R max(1, R²u) after k steps, u the longest decoder on
    the way.

    Source: this book, from the sharper gradient bound.
    """
    R = radius_or_given(data, R)
    H, T, _ = model.sizes
    end, longest = model, decoder_norms(model).max()
    for _ in range(steps):
        end = end - lr * end.loss_and_grad(data.X, data.y)[1]
        longest = max(longest, decoder_norms(end).max())
    moved = (end - model).ravel().reshape(H, -1)
    rhs = lr * steps * (T / H) ** 0.5 * R * max(1.0, R**2 * longest)
    return Check(
        float(np.sqrt((moved**2).sum(axis=1)).max()),
        float(rhs),
        "‖θ_h,k − θ_h,0‖ ≤ ηk√(T/H) R max(1, R²u)",
    )
