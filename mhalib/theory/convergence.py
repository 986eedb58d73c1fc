"""Chapter 4: gradient descent with enough heads cannot get lost. The links of the proof, and the training theorem."""

from math import log
from typing import NamedTuple

import numpy as np

from mhalib.losses import logistic
from mhalib.theory import starts
from mhalib.theory.chain import (
    bounded_link,
    fewer_heads_needed,
    follow,
    guarantee,
    heads_needed,
    logit_slopes,
    rate_link,
    reference_along,
    regret_link,
    require_step_size,
)
from mhalib.theory.groups import CHAPTER
from mhalib.theory.instances import TOKENS, between
from mhalib.theory.ledger import Check, ledger, statement
from mhalib.theory.loss_bounds import segment_curvature, short_segment
from mhalib.theory.ntk import mixture_margins

SOURCE = "this book, after Deora et al. 2023, Theorem 1"
STEP = "η ≤ min{1/ρ, D₀²/(K L(θ)), D₀²/L(θ₀)}"
HEADS = f"{TOKENS}; √H ≥ (64/7) D₀² B"


@statement(id="lemma-descent", title="A step goes down", mark="ours", source=SOURCE, chapter=CHAPTER,
           assumptions=f"{TOKENS}; η ≤ 1/ρ, with ρ valid at both ends of the step", random=starts.one_step,
           extremal=(starts.balanced,),
           broken=lambda seed: starts.balanced(1.2 + 0.7 * np.random.default_rng([seed, 43]).random()),
           breaks="η ≤ 1/ρ")
def descent(model, data, lr):
    """(η/2)‖∇L(θ)‖² ≤ L(θ) − L(θ − η∇L(θ)).

    Raises
    ------
    ValueError
        if ``lr`` is no finite number > 0.

    Source: this book.
    """
    require_step_size(lr)
    _, grad = model.loss_and_grad(data.X, data.y)
    before, after = (m.margins(data.X, data.y) for m in (model, model - lr * grad))
    # log(1 + e^{−z}) − log(1 + e^{−z₊}) without the difference of two close numbers.
    fall = np.log1p(-logistic.slope(after) * np.expm1(after - before)).mean()
    return Check(lr / 2 * grad.dot(grad), float(fall), "(η/2)‖∇L‖² ≤ L(θ) − L(θ − η∇L)")


def share_lost(product):
    """ι = ½κD²/(1 − κD²/8): the share of the larger loss that negative curvature can cost; below ¼ for κD² ≤ 7/16."""
    return product / 2 / (1 - product / 8)


@statement(id="lemma-one-point", title="The gradient knows where the reference is", mark="ours", source=SOURCE,
           chapter=CHAPTER, assumptions=f"{TOKENS}; logistic loss; κD² < 8",
           random=lambda seed: ledger["cor-1-quasi-convexity"].random(seed),
           extremal=(starts.hump, lambda: starts.hump(0.1)),
           broken=lambda seed: starts.hump(0.1, R=1e-5) | {"R": between(seed, 1e-6, 5e-6)}, breaks=TOKENS)
def one_point(model, other, data, R=None):
    """L(θ′) − L(θ) − ⟨∇L(θ′), θ′ − θ⟩ ≤ ι max{L(θ′), L(θ)} for θ′ = ``model``, θ = ``other``, D = ‖θ′ − θ‖.

    Raises
    ------
    ValueError
        if κD² ≥ 8: the statement says nothing about models so far apart.
    """
    product = short_segment(model, other, data, R)
    (L, grad), L_other = model.loss_and_grad(data.X, data.y), other.loss(data.X, data.y)
    return Check(float(L - L_other - grad.dot(model - other)), float(share_lost(product) * max(L, L_other)),
                 "L(θ′) − L(θ) − ⟨∇L(θ′), θ′ − θ⟩ ≤ ι max{L(θ′), L(θ)}")


@statement(id="lemma-regret", title="Regret", mark="ours", source=SOURCE, chapter=CHAPTER,
           assumptions=f"{TOKENS}; logistic loss; η ≤ 1/ρ; κ‖θ_k − θ‖² ≤ 7/16 for k < K", random=starts.near,
           extremal=(lambda: starts.slope(-186.0, 181.0, 7, 0.012),),
           broken=lambda seed: starts.saddle(1 + seed % 5, u=1.5, w=between(seed, 1.4, 1.6)),
           breaks="κ‖θ_k − θ‖² ≤ 7/16 for k < K")
def regret(start, reference, data, lr, steps):
    """(3/2)ηΣ L(θ_k) ≤ D₀² − ‖θ_K − θ‖² + (5/2)ηK L(θ) + ½η(L(θ₀) − L(θ_K)), the sum over k = 1, …, K.

    The check is the worst over all K up to ``steps``.  Source: this book.
    """
    return regret_link(follow(start, reference, data, lr, steps)).worst


@statement(id="lemma-bounded-iterates", title="The iterates stay near", mark="ours", source=SOURCE, chapter=CHAPTER,
           assumptions=f"{HEADS} at radius 5D₀; {STEP}", random=starts.near,
           extremal=(lambda: starts.slope(-0.695, 2.1, 5),),
           broken=lambda seed: starts.slope(-4.0, 1.0, 2, 30.0 + seed), breaks=STEP)
def bounded_iterates(start, reference, data, lr, steps):
    """‖θ_k − θ‖ ≤ 2D₀ and ‖θ_k − θ₀‖ ≤ 3D₀ for k = 0, …, K = ``steps``.  Source: this book."""
    return bounded_link(follow(start, reference, data, lr, steps)).worst


@statement(id="thm-1-training", title="Training", mark="ours", source=SOURCE, chapter=CHAPTER,
           assumptions=f"{HEADS} at radius 5D₀; {STEP}", random=starts.near,
           extremal=(lambda: starts.slope(-63.0, 57.0, 12),),
           broken=lambda seed: starts.saddle(220, u=0.37, w=between(seed, 0.345, 0.355), R=0.17),
           breaks="√H ≥ (64/7) D₀² B")
def training(start, reference, data, lr, steps):
    """L(θ_K) ≤ (1/K)Σ L(θ_k) ≤ (2/3) D₀²/(ηK) + (5/3) L(θ) + L(θ₀)/(3K), the sum over k = 1, …, K.

    Source: this book, after Deora et al. 2023, Theorem 1.
    """
    return rate_link(follow(start, reference, data, lr, steps)).worst


@statement(id="thm-1-fewer-heads", title="Training with fewer heads", mark="ours", source="this book", chapter=CHAPTER,
           assumptions=f"{HEADS} at 1/(2R²) a head; no head of θ further than that from its start; {STEP}",
           random=lambda seed: starts.near(seed, per_head=True), extremal=(lambda: starts.slope(-63.0, 57.0, 12),),
           broken=lambda seed: starts.saddle(50, u=0.36, w=between(seed, 0.335, 0.345), R=0.155, per_head=True),
           breaks="√H ≥ (64/7) D₀² B")
def training_with_fewer_heads(start, reference, data, lr, steps):
    """The inequalities of the training theorem, with B for decoders of norm u₀ + 1/(2R²), u₀ = max_h‖U_{0,h}‖.

    In G, and so in ρ = G²/4 + B/√H, the root mean square of the ‖U_{0,h}‖ stands in the place of u₀.

    Source: this book.
    """
    return rate_link(follow(start, reference, data, lr, steps)).worst


@statement(id="lemma-linearization", title="How far the linear model can be trusted", mark="ours", source="this book",
           chapter=CHAPTER, assumptions=TOKENS, random=lambda seed: ledger["cor-1-quasi-convexity"].random(seed),
           extremal=(lambda: starts.bilinear(1e-3), lambda: starts.bilinear(0.1)),
           broken=lambda seed: starts.bilinear(0.1) | {"R": 0.4 + 0.1 * np.random.default_rng([seed, 48]).random()},
           breaks=TOKENS)
def linearization(model, other, data, R=None):
    """max_i |Φ(X_i; θ + v) − Φ(X_i; θ) − ⟨∇Φ(X_i; θ), v⟩| ≤ ½κ‖v‖², for θ = ``model`` and θ + v = ``other``.

    Source: this book.
    """
    error = other(data.X) - model(data.X) - logit_slopes(model, other - model, data.X)
    return Check(float(abs(error).max()), segment_curvature(model, other, data, R) / 2, "|Φ − linear part| ≤ ½κ‖v‖²")


@statement(id="lemma-reference", title="A reference with loss below 1/K", mark="ours", source=SOURCE, chapter=CHAPTER,
           assumptions=f"{HEADS} for D₀ = (B_Φ + ½ + log K)/γ", random=starts.learnable,
           extremal=(lambda: starts.parallel(1000),), broken=starts.bent, breaks="√H ≥ (64/7) D₀² B")
def reference_loss(start, direction, data, steps, lr=None):
    """L(θ₀ + D₀θ*) ≤ e^{−½ + 7/128}/K < 1/K with D₀ = (B_Φ + ½ + log K)/γ, θ* the ``direction`` at norm 1.

    Nothing is trained: ``lr`` is not used.  Source: this book.
    """
    reference = reference_along(start, direction, data, steps).model
    return Check(float(reference.loss(data.X, data.y)), float(np.exp(7 / 128 - 0.5) / steps), "L(θ₀ + D₀θ*) ≤ 0.641/K")


@statement(id="cor-2-mixture", title="A start that separates", mark="ours",
           source="this book, after Deora et al. 2023, Corollary 2", chapter=CHAPTER,
           assumptions=f"{HEADS} for D₀ = (B_Φ + ½ + log K)/γ; η ≤ 1/ρ; K ≥ 5", random=starts.learnable,
           extremal=(lambda: starts.parallel(12, -100.0),), broken=starts.lopsided, breaks="η ≤ 1/ρ")
def good_start(start, direction, data, lr, steps):
    """L(θ_K) ≤ (1/K)[(2/3)(B_Φ + ½ + log K)²/(γ²η) + 5/3 + (B_Φ + log 2)/3].  Source: this book."""
    reference = reference_along(start, direction, data, steps)
    chain = follow(start, reference.model, data, lr, steps)
    rhs = guarantee(reference.distance, 1 / steps, reference.largest_logit + np.log(2), lr, steps)
    return Check(float(chain.loss[-1]), float(rhs), "L_K ≤ ((2/3)(B_Φ + ½ + log K)²/(γ²η) + 5/3 + (B_Φ + log 2)/3)/K")


class Demand(NamedTuple):
    """What the training theorem asks for on a mixture without noise, after the first phase."""

    largest_logit: float  # B_Φ
    margin: float  # γ
    decoder: float  # max_h ‖U_{0,h}‖
    distance: float  # D₀
    heads: float
    fewer_heads: float


def mixture_demand(T=10, zeta=0.2, S=1.0, M=5, K=100, n=100, delta=0.05):
    """The heads that Theorem 1 and the theorem with fewer heads ask for, and what they are made of.

    D₀ = (B_Φ + ½ + log K)/γ with B_Φ = (Tζ²S²/2)√(2 log(2n/δ)), which holds with probability 1 − δ, γ = √(γ_U² + γ_W²),
    ‖U_{0,h}‖ = ζS√(T/2) = γ_U and R = S. With n = 1, B_Φ is that of chapter 3, which no number of samples enlarges.

    Source: this book, after Deora et al. 2023, Corollary 2.
    """
    margins, largest = mixture_margins(T, zeta, S, M), T * (zeta * S) ** 2 / 2 * (2 * log(2 * n / delta)) ** 0.5
    distance = (largest + 0.5 + log(K)) / margins.both
    return Demand(largest, margins.both, margins.U, distance, heads_needed(distance, margins.U, T, S),
                  fewer_heads_needed(distance, margins.U, T, S))
