"""Chapter 4: gradient descent with enough heads cannot get lost. The links of the proof, and the
training theorem."""

from math import log
from typing import NamedTuple

import numpy as np

from mhabook.c01_model.instances import (
    TOKENS,
    Heads,
    between,
    problem,
    token_radius,
    tokens_fit,
)
from mhabook.c02_curvature.bounds import gradient_constant, hessian_constant, smoothness_constant
from mhabook.c02_curvature.loss_bounds import segment_curvature, short_segment
from mhabook.c03_first_step.ntk import mixture_margins
from mhabook.c04_convergence import starts
from mhabook.c04_convergence.chain import (
    CURVED,
    ROOM,
    STEP,
    conditions,
    constants_of,
    converges,
    decoder_sizes,
    fewer_heads_needed,
    follow,
    guarantee,
    head_distance,
    heads_needed,
    logit_slopes,
    reference_along,
    regret_link,
    require_step_size,
    stays_near,
)
from mhabook.c04_convergence.groups import CHAPTER, FURTHER
from mhabook.ledger import Check, Checks, ledger, statement
from mhalib.data import Dataset
from mhalib.losses import logistic
from mhalib.models import MultiHeadAttention

SOURCE = "this book, after Deora et al. 2023, Theorem 1"
HEADS = f"{TOKENS}; √H ≥ (64/7) D₀² B"


def _safe(model, data, lr):
    R, (_, grad) = token_radius(data.X), model.loss_and_grad(data.X, data.y)
    rho = max(smoothness_constant(end, R) for end in (model, model - lr * grad))
    return {"η ≤ 1/ρ": 0 < lr * rho <= ROOM}


@statement(
    id="lemma-descent",
    title="A step lowers the loss",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{TOKENS}; η ≤ 1/ρ; ρ is valid at both ends of the step",
    random=starts.one_step,
    extremal=(starts.balanced, starts.half_wrong),
    # ``balanced`` has the curvature G²/4, of which B/√H is 4R/√(TH) = 1.2e-4: so much of ρ is
    # unused.
    slack=(0.0002,),
    hypotheses=_safe,
    # Where the curvature is ρ, the loss falls by η(1 − ηρ/2)‖∇L‖²: less than claimed once η > 1/ρ.
    broken=lambda seed: starts.balanced(1.2 + 0.7 * np.random.default_rng([seed, 43]).random()),
    breaks="η ≤ 1/ρ",
)
def descent(model: MultiHeadAttention, data: Dataset, lr: float) -> Checks:
    """η‖∇L(θ)‖ ≤ 2√(ηL(θ)) and (η/2)‖∇L(θ)‖² ≤ L(θ) − L(θ − η∇L(θ)).

    The 2 is not the best constant: with 2 max_t (1 − e^{−t})/√t = 1.28 in its place the first one
    would be attained.

    Raises ValueError if ``lr`` is no finite number > 0.  Source: this book.
    """
    require_step_size(lr)
    loss, grad = model.loss_and_grad(data.X, data.y)
    before, after = (m.margins(data.X, data.y) for m in (model, model - lr * grad))
    # log(1 + e^{−z}) − log(1 + e^{−z₊}) without the difference of two close numbers.
    fall = np.log1p(-logistic.slope(after) * np.expm1(after - before)).mean()
    return (
        Check(lr * grad.norm(), float(2 * (lr * loss) ** 0.5), "η‖∇L‖ ≤ 2√(ηL)"),
        Check(lr / 2 * grad.dot(grad), float(fall), "(η/2)‖∇L‖² ≤ L(θ) − L(θ − η∇L)"),
    )


def share_lost(product: float) -> float:
    """ι = ½κD²/(1 − κD²/8): the share of the larger loss that negative curvature can cost; below ¼
    for κD² ≤ 7/16."""
    return product / 2 / (1 - product / 8)


def _near_enough(model, other, data, R=None):
    return {"κD² < 8": segment_curvature(model, other, data, R) < 8} | tokens_fit(data, R)


def _downhill():
    """A random model, and one that a short step along the negative gradient reaches."""
    model, data = problem(0).values()
    grad = model.loss_and_grad(data.X, data.y)[1]
    return {"model": model, "data": data, "other": model - 1e-4 / grad.norm() * grad}


@statement(
    id="lemma-one-point",
    title="The negative gradient points toward the reference",
    mark="ours",
    source=SOURCE,
    chapter=CHAPTER,
    assumptions=f"{TOKENS}; logistic loss; κD² < 8",
    random=lambda seed: ledger["cor-1-quasi-convexity"].random(seed),
    # At κD² = 7/16 the second claim would fail with 0.95 and 1.05 for ¾ and 5/4, at 3.9 as it is.
    extremal=(
        starts.hump,
        lambda: starts.hump(0.1),
        lambda: starts.hump(0.999 * 7 / 16),
        lambda: starts.hump(3.9),
        lambda: starts.hump(7.9),
        _downhill,
    ),
    # ``hump`` has R²u = zR/(0.01 √(TH)) = 0.005, of which B counts half and the instance uses
    # nothing.
    slack=(0.004,),
    hypotheses=_near_enough,
    broken=lambda seed: starts.hump(0.1, R=1e-5) | {"R": between(seed, 1e-6, 5e-6)},
    breaks=TOKENS,
    refused=(lambda: starts.hump(9.0),),
)
def one_point(
    model: MultiHeadAttention, other: MultiHeadAttention, data: Dataset, R: float | None = None
) -> Checks:
    """L(θ′) − L(θ) − ⟨∇L(θ′), θ′ − θ⟩ ≤ ι max{L(θ′), L(θ)} for θ′ = ``model``, θ = ``other``, D =
    ‖θ′ − θ‖.

    And where κD² ≤ 7/16: ¾L(θ′) ≤ ⟨∇L(θ′), θ′ − θ⟩ + (5/4)L(θ), which the same instances use up to
    a quarter.

    Raises ValueError if κD² ≥ 8: the statement says nothing about models so far apart.
    """
    product = short_segment(model, other, data, R)
    (L, grad), L_other = model.loss_and_grad(data.X, data.y), float(other.loss(data.X, data.y))
    along = float(grad.dot(model - other))
    checks = (
        Check(
            float(L - L_other - along),
            share_lost(product) * max(float(L), L_other),
            "L(θ′) − L(θ) − ⟨∇L(θ′), θ′ − θ⟩ ≤ ι max{L(θ′), L(θ)}",
        ),
        Check(0.75 * float(L), along + 1.25 * L_other, "¾L(θ′) ≤ ⟨∇L(θ′), θ′ − θ⟩ + (5/4)L(θ)"),
    )
    return checks if product <= 7 / 16 else checks[:1]


def _held_along(start, reference, data, lr, steps):
    """The constants that hold in the convex hull of the run and the reference: decoders are longest
    at its corners."""
    R, run = token_radius(data.X), [start]
    for _ in range(steps):
        run.append(run[-1] - lr * run[-1].loss_and_grad(data.X, data.y)[1])
    G, B = (
        max(constant(model, R) for model in [*run, reference])
        for constant in (gradient_constant, hessian_constant)
    )
    kappa = B / start.sizes[0] ** 0.5
    farthest = max((model - reference).norm() for model in run[:-1])
    return {
        "η ≤ 1/ρ": 0 < lr * (G**2 / 4 + kappa) <= ROOM,
        "κ‖θ_k − θ‖² ≤ 7/16 for k < K": kappa * farthest**2 <= ROOM * 7 / 16,
    }


@statement(
    id="lemma-regret",
    title="Regret",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{TOKENS}; logistic loss; η ≤ 1/ρ; κ‖θ_k − θ‖² ≤ 7/16 for k < K",
    random=starts.near,
    extremal=(lambda: starts.slope(-300.0, 298.63, 12, 0.0024),),
    slack=(0.252,),
    hypotheses=_held_along,
    broken=lambda seed: starts.saddle(1 + seed % 5, u=1.5, w=between(seed, 1.4, 1.6)),
    breaks="κ‖θ_k − θ‖² ≤ 7/16 for k < K",
    counterexamples=(starts.overshot,),
)
def regret(start: Heads, reference: Heads, data: Dataset, lr: float, steps: int) -> Check:
    """(3/2)ηΣ L(θ_k) ≤ D₀² − ‖θ_K − θ‖² + (5/2)ηK L(θ) + ½η(L(θ₀) − L(θ_K)), the sum over k = 1, …,
    K.

    The check is the worst over all K up to ``steps``.  Source: this book.
    """
    return regret_link(follow(start, reference, data, lr, steps)).worst


@statement(
    id="lemma-bounded-iterates",
    title="The iterates stay near",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{HEADS}; B is that at radius 5D₀; {STEP}",
    random=starts.near,
    # In the second, losses are above 1.
    extremal=(lambda: starts.slope(-2.194, -5.574, 1), lambda: starts.slope(-50.0, -80.0, 3)),
    slack=(0.178,),
    hypotheses=conditions,
    broken=lambda seed: starts.slope(-4.0, 1.0, 2, 30.0 + seed),
    breaks=STEP,
    counterexamples=(lambda: starts.saddle(1000, u=1.0, w=1.0, at=-0.1),),
)
def bounded_iterates(
    start: Heads, reference: Heads, data: Dataset, lr: float, steps: int
) -> Checks:
    """‖θ_k − θ‖ ≤ 2D₀, ‖θ_k − θ₀‖ ≤ 3D₀ and L(θ_k) ≤ L(θ_{k−1}) for k up to K = ``steps``. Source:
    this book."""
    return stays_near(follow(start, reference, data, lr, steps))


@statement(
    id="thm-1-training",
    title="Training",
    mark="ours",
    source=SOURCE,
    chapter=CHAPTER,
    assumptions=f"{HEADS}; B is that at radius 5D₀; {STEP}",
    random=starts.near,
    extremal=(lambda: starts.slope(-807.6, 806.2, 200, R=1e-7),),
    slack=(0.257,),
    hypotheses=conditions,
    broken=lambda seed: starts.saddle(220, u=0.37, w=between(seed, 0.345, 0.355), R=0.17),
    breaks="√H ≥ (64/7) D₀² B",
    counterexamples=(starts.overshot,),
)
def training(start: Heads, reference: Heads, data: Dataset, lr: float, steps: int) -> Checks:
    """L(θ_K) ≤ (1/K)Σ L(θ_k) ≤ (2/3) D₀²/(ηK) + (5/3) L(θ) + L(θ₀)/(3K), the sum over k = 1, …, K.

    Source: this book, after Deora et al. 2023, Theorem 1.
    """
    return converges(follow(start, reference, data, lr, steps))


@statement(
    id="thm-1-fewer-heads",
    title="Training with fewer heads",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{HEADS}; B is that at 1/(2R²) a head; ‖θ_h − θ_{{0,h}}‖ ≤ 1/(2R²); {STEP}",
    by_proof="a number of heads of order D₀⁴ suffices",
    random=lambda seed: starts.near(seed, per_head=True),
    extremal=(
        lambda: starts.slope(-53.47, -87.6, 17, per_head=True),
        lambda: starts.slope(-628.5, 626.73, 200, 0.975, R=1e-7, per_head=True),
    ),
    slack=(0.192,),
    hypotheses=lambda **instance: conditions(**instance, per_head=True),
    broken=lambda seed: starts.saddle(
        50, u=0.36, w=between(seed, 0.335, 0.345), R=0.155, per_head=True
    ),
    breaks="√H ≥ (64/7) D₀² B",
    counterexamples=(starts.overshot,),
)
def training_with_fewer_heads(
    start: Heads, reference: Heads, data: Dataset, lr: float, steps: int
) -> Checks:
    """What the two statements before it claim, with B for decoders of norm u₀ + 1/(2R²), u₀ =
    max_h‖U_{0,h}‖.

    In G, and so in ρ = G²/4 + B/√H, the root mean square of the ‖U_{0,h}‖ stands in the place of
    u₀. And no head moves further than (77/192)R⁻²; no instance that we know comes near this one.
    Source: this book.
    """
    run, R = follow(start, reference, data, lr, steps), token_radius(data.X)
    # Less than 1/(2R²) = (96/192)R⁻², the distance up to which the constants hold: so heads that
    # are within it stay there.
    moved = Check(
        float(run.head_distance.max()), 77 / 192 / R**2, "‖θ_{k,h} − θ_{0,h}‖ ≤ (77/192)R⁻²"
    )
    return *stays_near(run), *converges(run), moved


@statement(
    id="lemma-linearization",
    title="How far the linear model can be trusted",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=TOKENS,
    random=lambda seed: ledger["cor-1-quasi-convexity"].random(seed),
    extremal=(
        lambda: starts.bilinear(1e-3),
        lambda: starts.bilinear(0.1),
        lambda: starts.bilinear(1e-3, T=2),
        # A step so short that the linear part is far above the bound of what is left.
        _downhill,
    ),
    slack=(0.0006, None, 0.0006),
    hypotheses=tokens_fit,
    broken=lambda seed: (
        starts.bilinear(0.1) | {"R": 0.4 + 0.1 * np.random.default_rng([seed, 48]).random()}
    ),
    breaks=TOKENS,
)
def linearization(
    model: MultiHeadAttention, other: MultiHeadAttention, data: Dataset, R: float | None = None
) -> Check:
    """max_i |Φ(X_i; θ + v) − Φ(X_i; θ) − ⟨∇Φ(X_i; θ), v⟩| ≤ ½κ‖v‖², for θ = ``model`` and θ + v =
    ``other``.

    Source: this book.
    """
    error = other(data.X) - model(data.X) - logit_slopes(model, other - model, data.X)
    return Check(
        float(abs(error).max()),
        segment_curvature(model, other, data, R) / 2,
        "|Φ − linear part| ≤ ½κ‖v‖²",
    )


def _enough_heads(start, direction, data, steps, lr, per_head=False):
    """Whether √H ≥ (64/7) D₀² B, and whether η ≤ 1/ρ, with the constants of one of the two
    theorems."""
    toward, R = reference_along(start, direction, data, steps), token_radius(data.X)
    constants = constants_of(start, R, toward.distance, per_head)
    near = not per_head or head_distance(toward.model, start) <= 0.5 / R**2
    # The lemma on the reference takes no step: its instances may have lr = None.
    return near and constants.kappa * toward.distance**2 <= ROOM * CURVED, (
        lr or 0
    ) * constants.rho <= ROOM


@statement(
    id="lemma-reference",
    title="A reference with loss below 1/K",
    mark="ours",
    source=SOURCE,
    chapter=FURTHER,
    assumptions=f"{HEADS}; D₀ = (B_Φ + ½ + log K)/γ",
    random=starts.learnable,
    # In the second, samples differ in their logits and slopes, of which the worst ones count.
    extremal=(
        lambda: starts.parallel(1000),
        lambda: starts.unlike(1000),
        lambda: starts.bending(1000),
    ),
    # 1 − e^{−7/128} = 0.053: Φ is linear in the decoders, so curvature costs ``parallel`` nothing.
    # ``bending`` leaves the share e^{−z}/2 = 3e-4 of ℓ(z) < e^{−z}, and what the lean costs.
    slack=(0.054, None, 0.001),
    broken=starts.bent,
    breaks="√H ≥ (64/7) D₀² B",
    hypotheses=lambda **instance: {"√H ≥ (64/7) D₀² B": _enough_heads(**instance)[0]},
)
def reference_loss(
    start: Heads, direction: Heads, data: Dataset, steps: int, lr: float | None = None
) -> Check:
    """L(θ₀ + D₀θ*) ≤ e^{−½ + 7/128}/K < 1/K with D₀ = (B_Φ + ½ + log K)/γ, θ* the ``direction`` at
    norm 1.

    Nothing is trained: ``lr`` is not used. The factor e^{7/128} = 1.06 is what curvature costs.
    Source: this book.
    """
    reference = reference_along(start, direction, data, steps).model
    return Check(
        float(reference.loss(data.X, data.y)),
        float(np.exp(7 / 128 - 0.5) / steps),
        "L(θ₀ + D₀θ*) ≤ 0.641/K",
    )


@statement(
    id="cor-2-mixture",
    title="An initialization that separates",
    mark="ours",
    source="this book, after Deora et al. 2023, Corollary 2",
    chapter=FURTHER,
    assumptions=f"{HEADS} and η ≤ 1/ρ; D₀ = (B_Φ + ½ + log K)/γ; K ≥ 5",
    random=lambda seed: starts.learnable(seed, per_head=seed % 2 == 1),
    extremal=(
        lambda: starts.parallel(200, -1600.0, R=1e-8),
        lambda: starts.parallel(200, -1280.0, R=1e-8, per_head=True),
        # Samples that differ in their logits, or in their slopes, of which the worst ones count.
        lambda: starts.unlike(50, -200.0, R=1e-8),
        lambda: starts.unlike(200, 0.0, R=1e-10, length=0.03),
        lambda: starts.unlike(200, 0.0, R=1e-12, length=0.03, toward=0.1),
        # The direction hardly moves the second sample, whose loss stays; the first has the logit
        # log K − ½.
        lambda: starts.unlike(200, log(200) - 0.5, R=1e-12, length=0.03, toward=0.1),
        # One of four samples has a large logit.
        lambda: starts.unlike(100, -200.0, R=1e-10, toward=1.0, others=3),
    ),
    slack=(0.629,),
    broken=starts.lopsided,
    breaks="η ≤ 1/ρ",
    hypotheses=lambda **instance: {
        "K ≥ 5": instance["steps"] >= 5,
        "√H ≥ (64/7) D₀² B and η ≤ 1/ρ": any(
            all(_enough_heads(**instance, per_head=per_head)) for per_head in (False, True)
        ),
    },
)
def good_start(start: Heads, direction: Heads, data: Dataset, lr: float, steps: int) -> Check:
    """L(θ_K) ≤ (1/K)[(2/3)(B_Φ + ½ + log K)²/(γ²η) + 5/3 + (B_Φ + log 2)/3].

    Every other random instance has only the heads, and takes the step, of the theorem with fewer
    heads.

    Source: this book.
    """
    reference = reference_along(start, direction, data, steps)
    chain = follow(start, reference.model, data, lr, steps)
    # L(θ) < 1/K by the lemma on the reference, and L(θ₀) ≤ B_Φ + log 2, because ℓ(z) ≤ log 2 + |z|.
    rhs = guarantee(reference.distance, 1 / steps, reference.largest_logit + np.log(2), lr, steps)
    return Check(
        float(chain.loss[-1]),
        float(rhs),
        "L_K ≤ ((2/3)(B_Φ + ½ + log K)²/(γ²η) + 5/3 + (B_Φ + log 2)/3)/K",
    )


class Demand(NamedTuple):
    """What the training theorem asks for on a mixture without noise, after the first phase."""

    largest_logit: float  # B_Φ
    margin: float  # γ
    decoder: float  # max_h ‖U_{0,h}‖
    distance: float  # D₀
    heads: float
    fewer_heads: float


def mixture_demand(
    T: int = 10, zeta: float = 0.2, S: float = 1.0, M: int = 5, K: int = 100, delta: float = 0.05
) -> Demand:
    """The heads that Theorem 1 and the theorem with fewer heads ask for, and what they are made of:
    no sampling noise.

    D₀ = (B_Φ + ½ + log K)/γ with B_Φ = (Tζ²S²/2)√(2 log(2/δ)), which holds with probability 1 − δ,
    γ = √(γ_U² + γ_W²), ‖U_{0,h}‖ = ζS√(T/2) = γ_U and R = S. Source: this book, after Deora et al.
    2023, Corollary 2.
    """
    margins, largest = mixture_margins(T, zeta, S, M), T * (zeta * S) ** 2 / 2
    return _demand(largest, margins.both, margins.U, T, S, K, delta)


def sample_demand(data: Dataset, K: int = 100, delta: float = 0.05) -> Demand:
    """The same for given samples without noise on their tokens, whose sampling noise counts.

    B_Φ = T max_i|⟨ψ, x̄_i⟩| √(2 log(2/δ)), γ is the margin of the witness, ‖U_{0,h}‖ = √T‖ψ‖.

    Source: this book, Proposition "The logits that the first phase leaves" and Corollary "An
    initialization that separates".
    """
    pair = starts.first_phase_groups(data, (1, 1))
    toward = reference_along(pair, starts.mixture_witness(data, pair.copies), data, K)
    T, psi = data.X.shape[1], pair.U[0, 0]
    largest = T * float(abs(data.X.mean(axis=1) @ psi).max())
    return _demand(
        largest, toward.margin, decoder_sizes(pair)[0], T, token_radius(data.X), K, delta
    )


def _demand(logit, margin, decoder, T, R, K, delta):
    """``logit`` is the largest that equal signs would leave at one head: T max_i|⟨ψ, x̄_i⟩|."""
    largest = logit * (2 * log(2 / delta)) ** 0.5
    distance = (largest + 0.5 + log(K)) / margin
    return Demand(
        largest,
        margin,
        decoder,
        distance,
        heads_needed(distance, decoder, T, R),
        fewer_heads_needed(distance, decoder, T, R),
    )
