"""Chapter 1: how far softmax selects, why the sum of the heads carries 1/√H, and where training
starts."""

from typing import Any

import numpy as np

from livegrad.arrays import Array
from mhabook.c01_model.instances import (
    TOKENS,
    between,
    equal_tokens,
    problem,
    radius_or_given,
    short,
    token_radius,
    tokens_fit,
)
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.attention import softmax
from mhalib.data import Dataset, tokenized_mixture
from mhalib.models import MultiHeadAttention

CHAPTER, FURTHER = "multihead/01_a_small_attention_model", "multihead/01_further"


def selected_mass(zeta: float, gap: float | Array) -> Any:
    """ζ e^g / (ζ e^g + 1 − ζ): the weight on a share ζ of the tokens whose scores are g above all
    others."""
    # Divided through by e^g: e^{−g} vanishes at the large gaps where e^g would overflow.
    return zeta / (zeta + (1 - zeta) * np.exp(-gap))


def _scores(seed):
    rng = np.random.default_rng([seed, 21])
    T = rng.integers(2, 12)
    return {
        "scores": 10.0 ** rng.uniform(-1, 1.3) * rng.standard_normal(T),
        "relevant": np.arange(T) < rng.integers(1, T),
    }


def _two_others(seed):
    """Relevant scores 2, the others a and −a with an a > 2: their average is 2 below."""
    a = between(seed, 3, 20)
    return {"scores": np.array([2.0, 2.0, a, -a]), "relevant": np.arange(4) < 2, "gap": 2.0}


@statement(
    id="lemma-selection",
    title="Softmax selects exponentially",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="every relevant score is at least g above every other score",
    by_proof="equality in no other case",
    random=_scores,
    # In the second, the other scores are far from their mean.
    extremal=(
        lambda: {"scores": np.array([3.0, 3.0, 0, 0, 0]), "relevant": np.arange(5) < 2},
        lambda: {"scores": np.array([3.0, 3.0, 0, 0, -50]), "relevant": np.arange(5) < 2},
    ),
    broken=_two_others,
    breaks="the gap is to every other score, not only to their average",
    hypotheses=lambda scores, relevant, gap=None: {
        "every relevant score is at least g above every other score": gap is None
        or scores[relevant].min() - scores[~relevant].max() >= gap
    },
)
def selection(scores: Array, relevant: Array, gap: float | None = None) -> Checks:
    """Weight on the relevant tokens ≥ ζ e^g/(ζ e^g + 1 − ζ), g = lowest relevant − highest other
    score.

    With equality where the relevant scores are equal and so are the others. In the first check lhs
    is the bound and rhs the weight; the second one lets every score be one of these two. Source:
    this book.
    """
    if relevant.all() or not relevant.any():
        raise ValueError("relevant: expected some tokens marked and some not, got all or none")
    gap = scores[relevant].min() - scores[~relevant].max() if gap is None else gap
    bound, two_levels = float(selected_mass(relevant.mean(), gap)), np.where(relevant, gap, 0.0)
    return (
        Check(
            bound,
            float(softmax(scores)[relevant].sum()),
            "ζe^g/(ζe^g + 1 − ζ) ≤ weight on relevant tokens",
        ),
        Check(
            abs(float(softmax(two_levels)[relevant].sum()) - bound),
            1e-12,
            "equality where all relevant scores are equal and all others are, g below",
        ),
    )


@statement(
    id="prop-head-scale",
    title="At a random initialization, the bound on the logit does not depend on H",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{TOKENS}; decoder entries independent with mean 0 and variance 1",
    random=problem,
    # In the last, no token is along an axis.
    extremal=(equal_tokens, lambda: equal_tokens(T=2, H=8), lambda: problem(8)),
    broken=lambda seed: short(seed, equal_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def head_scale(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Checks:
    """The standard deviation of Φ(X) over random decoders is √((1/H) Σ‖A_h X‖²) ≤ √T R, for every
    H; the mean is 0.

    Both follow from Φ = Σ_k U_k Φ(e_k), the sum over the entries of the decoders, with e_k one
    entry 1 and all others 0: the mean is Σ E[U_k] Φ(e_k) = 0 and the variance Σ Φ(e_k)². The
    tolerances are 1e-12 of the sizes.

    Raises ValueError if R is no finite number ≥ 0.  Source: this book.
    """
    H, T, _ = model.sizes
    R = radius_or_given(data, R)
    means = model.attention(data.X) @ data.X[:, None]  # (n, H, T, d)
    deviation = np.sqrt((means**2).sum(axis=(1, 2, 3)) / H)
    entries = np.eye(model.U.size).reshape(-1, *model.U.shape)
    ones = np.array([MultiHeadAttention(model.W, entry)(data.X) for entry in entries])  # (H T d, n)
    size = T**0.5 * token_radius(data.X)
    linear = model.U.ravel() @ ones - model(data.X)
    spread = np.sqrt((ones**2).sum(axis=0)) - deviation
    return (
        Check(float(deviation.max()), T**0.5 * R, "sd of Φ ≤ √T R"),
        Check(
            float(abs(linear).max()),
            1e-12 * size * (1 + float(np.linalg.norm(model.U))),
            "mean of Φ = 0",
        ),
        Check(float(abs(spread).max()), 1e-12 * size, "variance of Φ = (1/H) Σ‖A_h X‖²"),
    )


def _at_zero(seed):
    instance = problem(seed)
    return instance | {"model": 0.0 * instance["model"]}


@statement(
    id="prop-first-step",
    title="The first step moves only the decoders",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="all parameters are zero",
    random=_at_zero,
    extremal=(lambda: {"model": MultiHeadAttention.zeros(3, 10, 8), "data": tokenized_mixture()},),
    # Equalities whose rhs is a tolerance leave nearly all of it unused: there is no slack to
    # record.
    slack=(),
    broken=lambda seed: {
        "model": MultiHeadAttention.random(3, 10, 8, seed=seed),
        "data": tokenized_mixture(),
    },
    breaks="all parameters are zero",
    hypotheses=lambda model, **_: {"all parameters are zero": model.norm() == 0},
)
def first_step(model: MultiHeadAttention, data: Dataset) -> Checks:
    """At θ = 0: ∇_W L = 0 and every row of every ∇_{U_h} L is −(1/(2√H)) (1/n) Σ y_i x̄_i, x̄_i the
    mean token.

    And attention is uniform there, and Φ = 0. In each check lhs is the relative distance between
    the two sides, and rhs 1e-12. Source: this book.
    """
    _, grad = model.loss_and_grad(data.X, data.y)
    row = -(data.y @ data.X.mean(axis=1)) / (2 * model.sizes[0] ** 0.5 * len(data))
    size = token_radius(data.X)
    # Powers of R as in the gradients: one token in Φ and ∇_U Φ, three in ∇_W Φ; at θ = 0 nothing
    # else sets a scale.
    errors = {
        "attention is uniform": abs(model.attention(data.X) - 1 / model.sizes[1]).max(),
        "Φ = 0": abs(model(data.X)).max() / max(size, TINY),
        "∇_W L = 0": abs(grad.W).max() / max(size**3, TINY),
        "∇_U L = −mean(y x̄)/(2√H)": abs(grad.U - row).max() / max(size, TINY),
    }
    return tuple(Check(float(error), 1e-12, f"{claim} at θ = 0") for claim, error in errors.items())
