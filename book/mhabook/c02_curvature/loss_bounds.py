"""Corollary 1: what the bounds on the logit say about the loss, and how the heads enter its
Hessian."""

from collections.abc import Callable
from typing import Any

import numpy as np

from livegrad.arrays import Array, namespace, require_count
from mhabook.c01_model.instances import (
    TOKENS,
    Heads,
    between,
    confident,
    crest,
    equal_tokens,
    leaning,
    misread,
    negative,
    one_reads,
    opposite_tokens,
    outvoted,
    problem,
    radius_or_given,
    ridge,
    several_heads,
    short,
    token_radius,
    tokens_fit,
    valley,
    with_both_labels,
)
from mhabook.c02_curvature.bounds import (
    CHAPTER,
    FURTHER,
    Loss,
    MarginSquared,
    gradient_constant,
    hessian_constant,
    smoothness_constant,
)
from mhabook.c02_curvature.derivatives import logit_hessian
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.data import Dataset
from mhalib.losses import logistic
from mhalib.models import MultiHeadAttention

SOURCE = "this book, after Deora et al. 2023, Corollary 1"


def _fit_and_logistic(data, R=None, loss=logistic, **_):
    return tokens_fit(data, R) | {"logistic loss": loss is logistic}


def loss_gradient(model: MultiHeadAttention, data: Dataset, loss: Loss = logistic) -> np.ndarray:
    """∇L (p,) = (1/n) Σ ℓ′(z_i) y_i ∇Φ(X_i), in the order of ``model.ravel``, for any loss of the
    margin."""
    slope = loss.slope(model.margins(data.X, data.y))
    return (slope * data.y) @ model.features(data.X) / len(data)


def loss_hessian(
    model: MultiHeadAttention, data: Dataset, loss: Loss = logistic
) -> tuple[Array, Array]:
    """The two parts of ∇²L (H p, H p), p = d² + T d, in the order of ``model.ravel``, for any loss
    of the margin.

    (1/n) Σ ℓ″ ∇Φ ∇Φᵀ, positive, of rank ≤ n, couples the heads; (1/n) Σ ℓ′ y ∇²Φ is block-diagonal
    over heads.
    """
    X, y = data.X, data.y
    z, n, H = model.margins(X, y), len(y), model.sizes[0]
    features = model.features(X)
    positive = (features.mT * (loss.curvature(z) / n)) @ features
    # ``logit_hessian`` leaves out the H^{−1/2} of the blocks.
    weight = y * loss.slope(z) / (n * H**0.5)
    signed = namespace(X).zeros_like(positive)
    for h, block in enumerate(namespace(X).einsum("n,nhpq->hpq", weight, logit_hessian(model, X))):
        at = slice(h * len(block), (h + 1) * len(block))
        signed[at, at] = block
    return positive, signed


@statement(
    id="cor-1-gradient",
    title="The loss is steep only where it is large",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{TOKENS}; logistic loss",
    random=problem,
    extremal=(
        equal_tokens,
        confident,
        lambda: confident(-30.0),
        lambda: with_both_labels(confident()),
        lambda: negative(confident()),
        # Two heads with long decoders: G is 16 times √T R.
        lambda: opposite_tokens(u=10.0, H=2),
    ),
    # ``confident`` has R²u = zR/√(TH) = 8.7e-4, and G the factor √(1 + R⁴u²) = 1 + 3.7e-7, of which
    # equal tokens use nothing.
    slack=(None, 4e-7, 4e-7, None),
    # At margin 0 the loss (1 − z)²/2 is ½ and its slope −1: the gradient is G, and the bound G/2.
    broken=lambda seed: equal_tokens(R=between(seed, 0.5, 3)) | {"loss": MarginSquared()},
    breaks="the loss is logistic: (1 − z)²/2 instead",
    hypotheses=_fit_and_logistic,
    counterexamples=(lambda: confident() | {"R": 1e-5},),
)
def self_bounded_gradient(
    model: MultiHeadAttention, data: Dataset, R: float | None = None, loss: Loss = logistic
) -> Check:
    """‖∇L‖ ≤ G min(1, L): a small loss has a small gradient.  Source: Corollary 1 (ours)."""
    G = gradient_constant(model, radius_or_given(data, R))
    L = float(loss(model.margins(data.X, data.y)).mean())
    return Check(
        float(np.linalg.norm(loss_gradient(model, data, loss))), G * min(1, L), "‖∇L‖ ≤ G min(1, L)"
    )


@statement(
    id="cor-1-smoothness",
    title="Smoothness",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{TOKENS}; logistic loss",
    random=problem,
    extremal=(
        equal_tokens,
        opposite_tokens,
        lambda: equal_tokens(R=1e-6),
        lambda: opposite_tokens(R=3.0),
        lambda: negative(equal_tokens(R=1e-6)),
        # Long tokens use half of B/√H, here of four samples and sixteen heads.
        lambda: negative(opposite_tokens(R=30.0, H=16), 4),
        # So many short tokens that G = 1.5 is above 1, and so below its square.
        lambda: equal_tokens(T=36, R=0.25, H=1),
        # Two heads with long decoders, one of nine heads that reads, and many long tokens.
        lambda: opposite_tokens(u=10.0, H=2),
        lambda: one_reads(0.01, R=30.0, H=9, mean=3**-0.5),
        lambda: opposite_tokens(T=36, R=10.0, H=1),
        # B/√H is most of ρ, and three fifths of it are used: a decoder counts by R²u, all its rows.
        lambda: misread(38.0, T=4, r=4.0),
        lambda: misread(3.5, T=2, r=0.5),
    ),
    # For R = 1e-6 the term B/√H is 4R/√(TH) = 1.2e-6 of G²/4, and equal tokens do not use it.
    slack=(None, None, 2e-6),
    broken=lambda seed: short(seed, equal_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def smoothness(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Check:
    """‖∇²L‖₂ ≤ ρ = G²/4 + B/√H, in particular λ_max(∇²L) ≤ ρ.  Source: Corollary 1 (ours).

    Short tokens pin the ¼; the factor of B/√H could be ⅔ on all instances that we know.
    """
    rho = smoothness_constant(model, radius_or_given(data, R))
    return Check(max(map(abs, _eigenvalues(model, data))), rho, "‖∇²L‖ ≤ ρ")


@statement(
    id="cor-1-weak-convexity",
    title="Weak convexity",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{TOKENS}; logistic loss",
    random=problem,
    extremal=(
        opposite_tokens,
        lambda: with_both_labels(leaning()),
        lambda: negative(leaning()),
        lambda: negative(opposite_tokens(T=2, H=8)),
        # One of two heads reads, and its decoder is the longest.
        lambda: with_both_labels(one_reads(0.3, R=30.0, mean=3**-0.5)),
    ),
    slack=(1e-9, 0.002),
    broken=lambda seed: short(seed, opposite_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def weak_convexity(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Check:
    """−λ_min(∇²L) ≤ (B/√H) mean|ℓ′|: the negative curvature dies with the loss's slope. Source:
    Corollary 1 (ours)."""
    kappa = curvature_constant(model, data, R)
    slope = float(abs(logistic.slope(model.margins(data.X, data.y))).mean())
    return Check(-_eigenvalues(model, data)[0], kappa * slope, "−λ_min(∇²L) ≤ (B/√H) mean|ℓ′|")


@statement(
    id="cor-1-self-bounded",
    title="Negative curvature is at most B/√H times the loss",
    mark="ours",
    source=SOURCE,
    chapter=CHAPTER,
    assumptions=f"{TOKENS}; logistic loss",
    random=problem,
    extremal=(
        opposite_tokens,
        leaning,
        lambda: with_both_labels(leaning()),
        lambda: negative(leaning()),
        lambda: negative(leaning(T=2, H=8)),
        # Decoders are long, and those of two of ten heads the longest.
        lambda: outvoted(2.0, 20.0),
    ),
    # ``leaning`` has R²u = zR/(0.01 √(TH)) = 0.003; B counts half of it, and its decoders, the same
    # on all tokens, use nothing.
    slack=(None, 0.002),
    # At margin 0 the slope is −1 and the loss ½, so −λ_min is twice the bound.
    broken=lambda seed: opposite_tokens(R=between(seed, 0.5, 3)) | {"loss": MarginSquared()},
    breaks="the loss is logistic: (1 − z)²/2 instead",
    hypotheses=_fit_and_logistic,
    counterexamples=(lambda: opposite_tokens() | {"R": 0.75},),
)
def self_bounded_weak_convexity(
    model: MultiHeadAttention, data: Dataset, R: float | None = None, loss: Loss = logistic
) -> Check:
    """−λ_min(∇²L) ≤ (B/√H) L.  Source: Corollary 1 (ours)."""
    L = float(loss(model.margins(data.X, data.y)).mean())
    lhs = -_eigenvalues(model, data, loss)[0]
    return Check(lhs, curvature_constant(model, data, R) * L, "−λ_min(∇²L) ≤ (B/√H) L")


def numerical_hessian(
    gradient: Callable[[Any], Array], model: Any, step: float = 1e-4
) -> np.ndarray:
    """Hessian (p, p) by central differences of ``gradient``: model → (p,), in the order of
    ``model.ravel``."""
    theta = model.ravel()
    shifts = step * np.eye(len(theta))
    rows = [gradient(model.unravel(theta + e)) - gradient(model.unravel(theta - e)) for e in shifts]
    return np.stack(rows) / (2 * step)


def curvature_constant(model: Heads, data: Dataset | None, R: float | None = None) -> float:
    """κ = B/√H."""
    return hessian_constant(model, radius_or_given(data, R)) / model.sizes[0] ** 0.5


def _eigenvalues(model, data, loss=logistic):
    return np.linalg.eigvalsh(sum(loss_hessian(model, data, loss))).tolist()


def _segment(seed):
    """A random model and a second one at a random distance, often near the largest that κD² < 8
    allows."""
    instance, rng = problem(seed), np.random.default_rng([seed, 17])
    model = instance["model"]
    step = model.random(*model.sizes, seed=seed)
    kappa = curvature_constant(model, instance["data"])
    distance = rng.random() * (8 / kappa) ** 0.5
    other = model + (distance / step.norm()) * step
    # B grows with the far end's decoders
    while segment_curvature(model, other, instance["data"]) >= 7.9:
        other = (other + model) / 2
    return instance | {"other": other}


def segment_curvature(
    model: MultiHeadAttention, other: MultiHeadAttention, data: Dataset, R: float | None = None
) -> float:
    """κD² of the segment between two models: κ = B/√H with the larger decoders of the ends, D their
    distance."""
    # ‖U_h‖ is convex, so on a segment it is largest at an end.
    kappa = max(curvature_constant(end, data, R) for end in (model, other))
    return kappa * (other - model).norm() ** 2


def short_segment(
    model: MultiHeadAttention, other: MultiHeadAttention, data: Dataset, R: float | None = None
) -> float:
    """κD² of a segment as short as Corollary 1 asks for.

    Raises ValueError if κD² ≥ 8: nothing is known of models so far apart.
    """
    curvature = segment_curvature(model, other, data, R)
    if not curvature < 8:
        raise ValueError(
            f"model, other: expected models so close that κD² < 8, got κD² = {curvature:.4g}"
        )
    return curvature


def _uphill():
    """Short equal tokens, of margin 1 at the first model and −1 at the second."""
    (model, data) = confident(1.0).values()
    return {"model": model, "other": -model, "data": data}


@statement(
    id="cor-1-quasi-convexity",
    title="Local quasi-convexity",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{TOKENS}; logistic loss; κD² < 8",
    random=_segment,
    # On ``_uphill``, the second end has the larger loss, and that is the largest of all. The second
    # ``ridge`` is so low that 1 % of κ shows, and ``crest`` has long decoders in two of ten heads.
    extremal=(
        lambda: valley(0.05),
        lambda: valley(1.0),
        ridge,
        _uphill,
        lambda: ridge(0.06),
        crest,
    ),
    # At margin 0 |ℓ′| is 0.72 of ℓ, which leaves 0.28 of κD²/8 = 6e-4 on the first valley. On
    # ``ridge`` e^x stands against 1/(1 − x), x = κD²/8 = 0.05: x²/2 = 0.00125.
    slack=(0.0003, None, 0.002, 1e-4, 5e-5),
    broken=lambda seed: short(seed, valley, distance=0.5),
    breaks=TOKENS,
    hypotheses=lambda model, other, data, R=None: (
        tokens_fit(data, R) | {"κD² < 8": segment_curvature(model, other, data, R) < 8}
    ),
    refused=(lambda: (far := valley(1.0)) | {"other": 1e3 * far["other"]},),
)
def quasi_convexity(
    model: MultiHeadAttention,
    other: MultiHeadAttention,
    data: Dataset,
    R: float | None = None,
    # Odd, so that the middle of the segment is a point, where the extremal instances have their
    # hump.
    points: int = 201,
) -> Check:
    """max over the segment of L ≤ max(L at its ends)/(1 − κD²/8), evaluated at ``points`` points of
    it.

    Raises ValueError if κD² ≥ 8: the statement says nothing about so long a segment; if ``points``
    is no whole number ≥ 2, or R no finite number ≥ 0.
    """
    require_count(points=points)
    if points == 1:
        raise ValueError("points: expected a whole number ≥ 2, for both ends are among them, got 1")
    curvature = short_segment(model, other, data, R)
    losses = [
        float((model + share * (other - model)).loss(data.X, data.y))
        for share in np.linspace(0, 1, points)
    ]
    return Check(
        max(losses),
        max(losses[0], losses[-1]) / (1 - curvature / 8),
        "max_segment L ≤ max_ends L / (1 − κD²/8)",
    )


@statement(
    id="lemma-1-blocks",
    title="The logit's Hessian is block-diagonal over heads",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="each head has parameters of its own",
    random=several_heads,
    broken=several_heads,
    breaks="it is the logit that is differentiated: the loss instead",
    false_claim=lambda model, data: _blocks(model, data, lambda m: loss_gradient(m, data)),
    hypotheses=lambda **_: {},
)
def block_diagonal(model: MultiHeadAttention, data: Dataset) -> Checks:
    """∇²Φ has the blocks H^{−1/2} ∇²Φ_h on its diagonal and zeros elsewhere, so ‖∇²Φ‖₂ = H^{−1/2}
    max_h ‖∇²Φ_h‖₂.

    Hessians are central differences of the gradient, those of Φ_h of one head alone. In each check
    lhs is the largest error relative to the largest entry of ∇²Φ, or to its norm; rhs is 1e-12 for
    the zeros, and 1e-9 for the blocks and the norm. The twin differentiates the loss, which couples
    the heads.
    """
    if model.sizes[0] < 2:
        raise ValueError(
            "model: expected two heads or more, got one, which has no mixed derivatives"
        )
    return _blocks(model, data, lambda m: m.features(data.X)[0])


def _blocks(model, data, gradient):
    # Short tokens need a longer step, or the change of a score xᵀWx is lost in rounding.
    step = 1e-4 / max(min(token_radius(data.X), 1) ** 2, TINY)
    hessian, H = numerical_hessian(gradient, model, step), model.sizes[0]
    # The same differences as in ``hessian``, so the truncation error is on both sides: what is left
    # is rounding over the step, about 1e-12.
    alone = [
        numerical_hessian(gradient, MultiHeadAttention(W[None], U[None]), step) / H**0.5
        for W, U in zip(model.W, model.U, strict=True)
    ]
    head = np.repeat(np.arange(H), len(hessian) // H)
    own, largest = head[:, None] == head, max(abs(hessian).max(), TINY)
    norm, norms = np.linalg.norm(hessian, 2), [np.linalg.norm(block, 2) for block in alone]
    return (
        Check(
            float(abs(hessian[~own]).max() / largest), 1e-12, "mixed derivatives of two heads = 0"
        ),
        Check(
            float(abs(hessian[own] - np.ravel(alone)).max() / largest),
            1e-9,
            "block h = H^{−1/2} ∇²Φ_h",
        ),
        Check(
            float(abs(norm - max(norms)) / max(norm, TINY)),
            1e-9,
            "‖∇²Φ‖₂ = H^{−1/2} max_h ‖∇²Φ_h‖₂",
        ),
    )
