"""Instances for the training theorem: starts, references and step sizes, random ones and those that
tell most."""

from math import ceil, log

import numpy as np

from livegrad.arrays import require_count
from mhabook.c01_model.instances import (
    equal_tokens,
    leaning,
    opposite_tokens,
    problem,
    token_radius,
)
from mhabook.c02_curvature.bounds import smoothness_constant
from mhabook.c02_curvature.loss_bounds import curvature_constant
from mhabook.c03_first_step.first_phase import step_from_zero
from mhabook.c03_first_step.ntk import witness
from mhabook.c04_convergence.chain import (
    CURVED,
    constants_of,
    curvature,
    decoder_sizes,
    fewer_heads_needed,
    heads_needed,
    largest_step,
    logit_slopes,
)
from mhabook.ledger import Instance
from mhalib.data import Dataset, from_arrays, tokenized_mixture
from mhalib.models import HeadGroups, MultiHeadAttention


def safe_step(model: MultiHeadAttention, data: Dataset) -> float:
    """1/ρ with the larger ρ of the two ends of the step: a step for which the descent lemma
    holds."""
    R = token_radius(data.X)
    rho = smoothness_constant(model, R)
    _, grad = model.loss_and_grad(data.X, data.y)
    # The shorter step ends between the two points, where no decoder is longer than at one of them,
    # so the larger ρ holds there, too.
    return 1 / max(rho, smoothness_constant(model - 1 / rho * grad, R))


def one_step(seed: int) -> Instance:
    """A random problem and a step size at or below the largest that the descent lemma allows."""
    (model, data), rng = problem(seed).values(), np.random.default_rng([seed, 42])
    # beyond a margin of 10 a step of 1/ρ is lost in rounding
    longest = abs(model(data.X)).max() / 10
    model = MultiHeadAttention(model.W, model.U / max(1, longest))
    return {
        "model": model,
        "data": data,
        "lr": float(rng.choice([1.0, rng.random()])) * safe_step(model, data),
    }


def reading(margin: float, T: int = 4, R: float = 1e-4, H: int = 3) -> MultiHeadAttention:
    """Decoders that read the given margin from equal tokens R e₁."""
    U = np.zeros((H, T, 2))
    U[..., 0] = margin / (T * R * H**0.5)
    return MultiHeadAttention(np.zeros((H, 2, 2)), U)


def balanced(share: float = 1.0, R: float = 1e-4) -> Instance:
    """Two samples with the same tokens and opposite labels: near margin 0 the loss is a parabola of
    curvature G²/4."""
    X = np.repeat(equal_tokens(R=R)["data"].X, 2, axis=0)
    model, data = reading(1e-3, R=R), from_arrays(X, np.array([1.0, -1.0]))
    return {"model": model, "data": data, "lr": share * safe_step(model, data)}


def half_wrong(R: float = 1e-4) -> Instance:
    """One sample with margin −0.92, whose loss is 1.26: there the slope of the loss over its root
    is largest."""
    # |ℓ′| = 1 − e^{−ℓ}, and (1 − e^{−ℓ})/√ℓ is largest at ℓ = 1.256, the loss at margin −0.922.
    model, data = reading(-0.922, R=R), equal_tokens(R=R)["data"]
    return {"model": model, "data": data, "lr": safe_step(model, data)}


def hump(product: float = 1e-3, R: float = 1e-5, T: int = 4) -> Instance:
    """A model at the top of a hump, as sharp as can be, and a second one beside it: κD² is
    ``product``."""
    instance = leaning(R=R, T=T, H=1)
    # D² = ‖W‖² + ‖U‖² = 2 side².
    side = (product / curvature_constant(**instance) / 2) ** 0.5
    W, U = np.zeros((1, 2, 2)), np.zeros((1, T, 2))
    W[:, 0, 0], U[:, :, 0] = side, side * np.where(np.arange(T) < T // 2, 1.0, -1.0) / T**0.5
    return instance | {"other": instance["model"] + MultiHeadAttention(W, U)}


def slope(
    margin: float,
    gain: float,
    steps: int,
    share: float = 1.0,
    R: float = 1e-6,
    per_head: bool = False,
) -> Instance:
    """One sample of equal short tokens, where the loss is convex: from ``margin`` toward a
    reference ``gain`` above.

    The step size is a ``share`` of the largest that Theorem 1, or ``per_head`` the theorem with
    fewer heads, allows.
    """
    data = equal_tokens(R=R)["data"]
    start = reading(margin, R=R)
    reference = reading(margin + gain, R=R)
    distance = (reference - start).norm()
    return _run(start, reference, data, constants_of(start, R, distance, per_head), steps, share)


def saddle(
    steps: int, u: float, w: float, R: float = 1.0, per_head: bool = False, at: float = 0.0
) -> Instance:
    """One head with zero parameters, and tokens that cancel: the gradient is zero, and a better
    reference too far away.

    The reference has a decoder of norm ``u``/R² along the tokens, and keys ``w``/R² that tell the
    two kinds apart. The start is ``at`` times the reference: below 0 a run leads away from it.
    """
    data = opposite_tokens(R=R, H=1)["data"]
    sign = data.X[0, :, 0] / R
    W, U = np.zeros((1, 2, 2)), np.zeros((1, 4, 2))
    # Four rows of length u/(2R²): the decoder has norm u/R².
    W[:, 0, 0], U[:, :, 0] = w / R**2, u / R**2 * sign / 2
    reference = MultiHeadAttention(W, U)
    start = at * reference
    distance = (reference - start).norm()
    return _run(start, reference, data, constants_of(start, R, distance, per_head), steps, 1.0)


def overshot() -> Instance:
    """``balanced`` from margin 1 with a step of 50/ρ, which ends far beyond the reference at margin
    0."""
    data, lr = balanced()["data"], balanced(50.0)["lr"]
    return {
        "start": reading(1.0),
        "reference": reading(0.0),
        "data": data,
        "lr": lr,
        "steps": 1,
    }


def near(seed: int, per_head: bool = False) -> Instance:
    """A random start in groups of equal heads, a reference, and as many heads as the theorem needs.

    Half of the groups have decoders opposite to the others', up to order 1/√H: else logits would be
    of order √H. ``per_head``: as the theorem with fewer heads needs.
    """
    rng = np.random.default_rng([seed, 44])
    (few, data), R = problem(seed, largest=3).values(), 10 ** rng.uniform(-0.7, 0.2)
    data = from_arrays(data.X * (R / token_radius(data.X)), data.y)
    size = decoder_sizes(few)[0]
    uneven = rng.standard_normal((2, *few.U.shape)) / few.U[0].size ** 0.5
    # R²‖U_h‖ < 1 before ``uneven``, whatever the scale of the random problem.
    U = few.U / (1 + size) / R**2
    # An upper bound on max_h‖U_{0,h}‖: the number of heads, whose root divides ``uneven`` below,
    # depends on it.
    longest = size / (1 + size) / R**2 + np.linalg.norm(uneven, axis=(2, 3)).max()
    distance = 10 ** rng.uniform(-1, 0.7) / R**2
    B = curvature(few.sizes[1], R, longest + (0.5 / R**2 if per_head else 5 * distance))
    # From just enough heads to some three times as many.
    heads = (distance**2 * B / CURVED) ** 2 / rng.uniform(0.3, 1)
    copies = (ceil(heads / 2 / len(U)),) * 2 * len(U)
    start = HeadGroups(
        np.concatenate([few.W, few.W]),
        np.concatenate([U, -U]) + uneven.reshape(-1, *U.shape[1:]) / sum(copies) ** 0.5,
        copies,
    )
    _, grad = start.loss_and_grad(data.X, data.y)
    noise = start.map(lambda a: rng.standard_normal(a.shape))
    away = noise / noise.norm() - rng.choice([0, 3]) / (grad.norm() or 1) * grad
    return _run(
        start,
        start + distance / away.norm() * away,
        data,
        constants_of(start, R, distance, per_head),
        int(rng.integers(1, 9)),
        float(rng.choice([1, rng.random()])),
    )


def first_phase_groups(data: Dataset, copies: tuple[int, ...]) -> HeadGroups:
    """The first phase of H = n₊ + n₋ heads, in two groups: U_h = ±1 (mean of y x̄)ᵀ, W_h = 0.

    ``copies`` = (n₊, n₋).  Source: this book, chapter 3.
    """
    pair = step_from_zero(data, np.array([1.0, -1.0]))
    return HeadGroups(pair.W, pair.U, copies)


def coin_tosses(H: int, seed: int) -> tuple[int, int]:
    """(n₊, n₋): how many of H heads got ε_h = +1 and −1 from a fair coin."""
    require_count(H=H)
    plus = int(np.random.default_rng([seed, 49]).binomial(H, 0.5))
    return plus, H - plus


def decoder_witness(data: Dataset, copies: tuple[int, ...]) -> HeadGroups:
    """The direction in which all decoders move along 1(μ₊ − μ₋)ᵀ; its margin on a mixture is
    ζS√(T/2)."""
    (_, T, d), mu = data.X.shape, data.truth.mu
    return HeadGroups(np.zeros((2, d, d)), np.tile(mu[1] - mu[0], (2, T, 1)), copies)


def mixture_witness(data: Dataset, copies: tuple[int, ...]) -> HeadGroups:
    """``ntk.witness`` for the two groups of the first phase on a mixture: it separates where there
    is no noise.

    Source: this book, chapter 3.
    """
    pair = first_phase_groups(data, (1, 1))
    direction = witness(MultiHeadAttention(pair.W, pair.U), data.truth)
    return HeadGroups(direction.W, direction.U, copies)


def learnable(seed: int, per_head: bool = False) -> Instance:
    """A small mixture after the first phase, a direction that separates it, and the heads that
    Theorem 1 asks for.

    ``per_head``: as many as the theorem with fewer heads asks for.
    """
    rng = np.random.default_rng([seed, 45])
    T, M, steps = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(5, 9))
    data = tokenized_mixture(
        n=int(rng.integers(2, 6)),
        T=T,
        d=M + 2,
        M=M,
        zeta=int(rng.integers(1, T + 1)) / T,
        S=10 ** rng.uniform(-0.5, 0.3),
        sigma=0.0,
        seed=seed,
    )
    imbalance = rng.uniform(-1, 1)  # (n₊ − n₋)/√H
    R, start = token_radius(data.X), first_phase_groups(data, (1, 1))
    decoder = decoder_sizes(start)[0]
    margin = float(
        (
            data.y * logit_slopes(start, direction := _unit(decoder_witness(data, (1, 1))), data.X)
        ).min()
    )
    # |Φ| = |Z| T|⟨ψ, x̄⟩| ≤ |Z| √T R ‖U_h‖; 0.2 is room for what whole numbers of heads add to |Z|.
    distance = ((abs(imbalance) + 0.2) * T**0.5 * R * decoder + 0.5 + log(steps)) / margin
    heads = (fewer_heads_needed if per_head else heads_needed)(distance, decoder, T, R) + 10
    copies = tuple(ceil(heads / 2 + sign * imbalance * heads**0.5 / 2) for sign in (1, -1))
    start, direction = first_phase_groups(data, copies), decoder_witness(data, copies)
    lr = 1 / constants_of(start, R, distance, per_head).rho
    return {"start": start, "direction": direction, "data": data, "steps": steps, "lr": lr}


def _unit(model):
    return 1 / model.norm() * model


def lopsided(seed: int) -> Instance:
    """Three examples against one that a first step gets wrong, and a step size far too large."""
    share = 1 + np.random.default_rng([seed, 46]).random()
    tokens = np.array([[1.0, 0.0], [1, 0], [1, 0], [0.99, 0.14]])
    data = from_arrays(np.repeat(tokens[:, None], 4, axis=1), np.array([1.0, 1, 1, -1]))
    # Enough for the theorem with fewer heads, so that η ≤ 1/ρ alone fails.
    copies = (10**12,)
    start = HeadGroups(np.zeros((1, 2, 2)), np.zeros((1, 4, 2)), copies)
    direction = HeadGroups(np.zeros((1, 2, 2)), np.tile([0.13, -1.0], (1, 4, 1)), copies)
    return {"start": start, "direction": direction, "data": data, "steps": 5, "lr": 60.0 * share}


def parallel(steps: int, margin: float = -1.0, R: float = 1e-6, per_head: bool = False) -> Instance:
    """One sample of equal short tokens with a wrong logit; the direction is the gradient of the
    logit."""
    start, data = reading(margin, R=R), equal_tokens(R=R)["data"]
    distance = reading(0.5 + log(steps) - margin, R=R).norm()
    lr = 1 / constants_of(start, R, distance, per_head).rho
    return {"start": start, "direction": reading(1.0, R=R), "data": data, "steps": steps, "lr": lr}


def unlike(
    steps: int,
    margin: float = -10.0,
    R: float = 1e-6,
    length: float = 1.0,
    toward: float = 2.0,
    others: int = 1,
) -> Instance:
    """``parallel`` with ``others``, equal samples of logit 0 and of tokens ``length`` times as long,
    on which the direction has ``toward`` · ``length`` times the slope."""
    instance = parallel(steps, margin, R)
    X, direction = instance["data"].X, instance["direction"]
    U = direction.U + toward * direction.U[..., ::-1]
    return instance | {
        "data": from_arrays(
            np.concatenate([X, *[length * X[..., ::-1]] * others]), np.ones(1 + others)
        ),
        "direction": MultiHeadAttention(direction.W, U),
    }


def bilinear(size: float, R: float = 1.5, T: int = 4) -> Instance:
    """Zero parameters, and a second model from which the logit's quadratic part at zero is seen at
    its largest."""
    instance = opposite_tokens(R=R, H=1, T=T)
    sign, side = instance["data"].X[0, :, 0] / R, size / R**2
    W, U = np.zeros((1, 2, 2)), np.zeros((1, T, 2))
    W[:, 0, 0], U[:, :, 0] = side, side * sign / T**0.5
    return instance | {"other": MultiHeadAttention(W, U)}


def bending(steps: int, lean: float = 0.05) -> Instance:
    """One head from zero, and a direction along which the logit rises by ``lean`` alone, and
    bends back by nearly all that (B/√H) D₀² = 7/64 allows."""

    def with_tokens(R):
        sign, data = np.where(np.arange(4) < 2, 1.0, -1.0), leaning(R=R, H=1, lean=lean)["data"]
        W = np.array([[[-1.0, 0], [0, 0]]])
        U = np.stack([sign / 2, np.full(4, lean / 2**0.5)], axis=1)[None]
        start, direction = MultiHeadAttention.zeros(1, 4, 2), MultiHeadAttention(W, U)
        return {"start": start, "direction": direction, "data": data, "steps": steps, "lr": None}

    # The slope is 2R lean²/(1 + lean²) along a unit step, and B = 2R³, but for R²u = 0.0003: D₀ is of
    # order 1/R, and so (B/√H) D₀² of order R.
    one = with_tokens(1e-8)
    margin = float(logit_slopes(one["start"], _unit(one["direction"]), one["data"].X)[0]) / 1e-8
    return with_tokens(0.9998 * CURVED / 2 * (margin / (0.5 + log(steps))) ** 2)


def bent(seed: int) -> Instance:
    """One head, one example: along a direction that separates at the start, curvature takes the
    margin back."""
    instance, lean = leaning(R=1.0, H=1, lean=0.1), 1 + np.random.default_rng([seed, 47]).random()
    sign, start = np.where(np.arange(4) < 2, 1.0, -1.0), MultiHeadAttention.zeros(1, 4, 2)
    W, U = np.array([[[-1.0, 0], [0, 0]]]), np.stack([sign / 2, np.full(4, lean / 2)], axis=1)[None]
    return {
        "start": start,
        "direction": MultiHeadAttention(W, U),
        "data": instance["data"],
        "steps": 5,
        "lr": None,
    }


def _run(start, reference, data, constants, steps, share):
    losses = (float(model.loss(data.X, data.y)) for model in (reference, start))
    lr = share * largest_step(constants, (reference - start).norm(), *losses, steps)
    return {"start": start, "reference": reference, "data": data, "lr": lr, "steps": steps}
