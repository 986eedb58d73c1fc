"""Proposition 1: how steep and how curved the logit of the multi-head classifier can be.

Throughout, tokens have norm at most R, u = max_h ‖U_h‖_F and r = R² u. ``R`` defaults to the
longest token; what is no finite number ≥ 0 is refused with a ValueError.
"""

from typing import TypeAlias

import numpy as np

from livegrad.arrays import Array, as_number
from mhabook.c01_model.instances import (
    TOKENS,
    Heads,
    between,
    equal_tokens,
    one_reads,
    opposite_tokens,
    problem,
    radius_or_given,
    short,
    tokens_fit,
)
from mhabook.c02_curvature.derivatives import logit_hessian
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.data import Dataset
from mhalib.losses import Logistic, logistic
from mhalib.models import MultiHeadAttention

CHAPTER, FURTHER = "multihead/02_how_steep_how_curved", "multihead/02_further"
Loss: TypeAlias = "Logistic | MarginSquared"


def decoder_norms(model: Heads) -> np.ndarray:
    """The Frobenius norms ‖U_h‖ of the H decoders, (H,), or of one decoder a group (F,)."""
    return np.sqrt((model.U**2).sum(axis=(1, 2)))


def decoder_sizes(model: Heads) -> tuple[float, float]:
    """The largest of the H decoder norms, and their root mean square."""
    # By ``norm``, which counts every head of a group; the mean of ``decoder_norms`` would not.
    return as_number(decoder_norms(model).max()), model.only("U").norm() / model.sizes[0] ** 0.5


def steepness(T: int, R: float, u: float) -> float:
    """√T R √(1 + R⁴u²): the bound G where the root mean square of the decoders' norms is u."""
    return T**0.5 * R * (1 + R**4 * u**2) ** 0.5


def curvature(T: int, R: float, u: float) -> float:
    """B = √T R³ (r + √(r² + 4))/2 with r = R²u: the bound where no decoder is longer than u."""
    # The larger eigenvalue of [[r, 1], [1, 0]]: in units of √T R³ the block of W is at most r, the
    # mixed one at most 1, and that of U is 0.
    r = R**2 * u
    return T**0.5 * R**3 * (r + (r * r + 4) ** 0.5) / 2


def gradient_constant(model: Heads, R: float) -> float:
    """G = √T R √(1 + R⁴ (1/H) Σ_h ‖U_h‖²), the bound on ‖∇Φ‖. Source: Proposition 1 (ours, attained
    at U = 0)."""
    return as_number(steepness(model.sizes[1], R, decoder_sizes(model)[1]))


def hessian_constant(model: Heads, R: float, deviation: float = 1.0) -> float:
    """B = √T R³ (r + √(r² + 4))/2, where ‖∇²Φ‖ ≤ B/√H. Source: Proposition 1 (ours, attained at U =
    0, T even).

    r = c R² u for any c with E|Y − EY| ≤ c max q²: ``deviation`` = 1 is the easy one, 4/(3√3) the
    best.
    """
    return as_number(curvature(model.sizes[1], R, deviation * decoder_sizes(model)[0]))


def smoothness_constant(model: Heads, R: float) -> float:
    """ρ = G²/4 + B/√H, the bound on the largest eigenvalue of ∇²L.  Source: Corollary 1 (ours)."""
    return gradient_constant(model, R) ** 2 / 4 + hessian_constant(model, R) / model.sizes[0] ** 0.5


def deviation(q: Array, s: Array) -> float:
    """E|Y − EY| for Y = (q − Eq)², under the probabilities s."""
    Y = (q - s @ q) ** 2
    return float(s @ abs(Y - s @ Y))


def _bounded_variable(seed):
    rng = np.random.default_rng([seed, 15])
    k = rng.integers(2, 6)
    return {
        "q": rng.uniform(-1, 1, k) ** rng.choice([1, 3]),
        "s": rng.dirichlet(np.full(k, rng.choice([0.3, 1, 3]))),
    }


@statement(
    id="lemma-logistic",
    title="The logistic loss bounds its own slope",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions="logistic loss",
    random=lambda seed: {"z": np.random.default_rng([seed, 16]).standard_normal(50) * 10},
    # 0 attains 4ℓ″ ≤ 1, 30 the two ratios, and −500 |ℓ′| ≤ 1 and ℓ″ ≥ 0.
    extremal=(lambda: {"z": np.array([0.0, 30.0, -500.0])},),
    broken=lambda seed: {"z": np.array([between(seed, 0.1, 0.9)]), "loss": MarginSquared()},
    breaks="the loss is logistic: (1 − z)²/2 instead",
    hypotheses=lambda loss=logistic, **_: {"logistic loss": loss is logistic},
)
def self_bounded_slope(z: Array, loss: Loss = logistic) -> Checks:
    """|ℓ′(z)| ≤ min(1, ℓ(z)) and 0 ≤ ℓ″(z) ≤ min(¼, |ℓ′(z)|), for all margins z; each check has the
    worst margin."""
    slope, curvature = abs(loss.slope(z)), loss.curvature(z)
    worst = {
        "|ℓ′| ≤ 1": slope,
        # From a margin of 746 on, ℓ, ℓ′ and ℓ″ are 0 in double precision.
        "|ℓ′|/ℓ ≤ 1": slope / np.maximum(loss(z), TINY),
        # ℓ″ ≥ 0 in this form, because a right side of 0 leaves a check no room for rounding.
        "1 − ℓ″ ≤ 1": 1 - curvature,
        "4ℓ″ ≤ 1": 4 * curvature,
        "ℓ″/|ℓ′| ≤ 1": curvature / np.maximum(slope, TINY),
    }
    return tuple(Check(float(np.max(ratio)), 1.0, claim) for claim, ratio in worst.items())


class MarginSquared:
    """(1 − z)²/2 of a margin z: a loss that does not bound its own slope. For twins."""

    def __call__(self, z: Array) -> np.ndarray:
        """(1 − z)²/2."""
        return (1 - z) * (1 - z) / 2

    def slope(self, z: Array) -> np.ndarray:
        """z − 1."""
        return z - 1

    def curvature(self, z: Array) -> np.ndarray:
        """1."""
        return 0 * z + 1


DEVIATION = 4 / 27**0.5
"""The largest E|Y − EY| for Y = (q − Eq)² and |q| ≤ 1: 4/(3√3) = 0.7698…"""


@statement(
    id="lemma-deviation",
    title="A squared deviation deviates little",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="s is a probability vector",
    random=_bounded_variable,
    # ±1 with mean m has E|Y − EY| = 2m(1 − m²), which is largest at m = 1/√3. A variable that is
    # mostly 0 has more than E q² in the place of max q² allows.
    extremal=(
        lambda: {"q": np.array([-1.0, 1.0]), "s": np.array([1 - 3**-0.5, 1 + 3**-0.5]) / 2},
        lambda: {"q": np.array([0.0, 1.0]), "s": np.array([0.9, 0.1])},
        lambda: {"q": np.array([0.0, 1.0]), "s": np.array([0.4, 0.6])},
        # A third value of chance 0 leaves the maximum as it is.
        lambda: {"q": np.array([-1.0, 0, 1]), "s": np.array([1 - 3**-0.5, 0, 1 + 3**-0.5]) / 2},
    ),
    broken=lambda seed: {"q": np.array([-1.0, 1.0]), "s": np.array([1.0, between(seed, 1, 2)])},
    breaks="the weights sum to 1",
    hypotheses=lambda q, s: {
        "s is a probability vector": s.min() >= 0 and abs(s.sum() - 1) < 1e-12
    },
)
def deviation_bound(q: Array, s: Array) -> Check:
    """E|Y − EY| ≤ 4/(3√3) max q², for Y = (q − Eq)²; attained by q = ±1 with mean 1/√3. Source:
    this book."""
    return Check(deviation(q, s), float(DEVIATION * (q * q).max()), "E|Y − EY| ≤ 4/(3√3) max q²")


def gradient_bound(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Check:
    """max_i ‖∇Φ(X_i)‖ ≤ G.  Source: Proposition 1 (ours, attained at U = 0).

    Examples
    --------
    >>> data = mha.data.tokenized_mixture(n=5, seed=0)
    >>> gradient_bound(mha.MultiHeadAttention.random(H=2, T=10, d=8), data).holds
    True
    """
    R = radius_or_given(data, R)
    lhs = np.sqrt((model.features(data.X) ** 2).sum(axis=1).max())
    return Check(float(lhs), gradient_constant(model, R), "‖∇Φ‖ ≤ G")


@statement(
    id="prop-1-gradient",
    title="Gradient bound",
    mark="ours",
    source="this book, after Deora et al. 2023, Proposition 1",
    chapter=FURTHER,
    assumptions=TOKENS,
    random=problem,
    extremal=(
        equal_tokens,
        lambda: opposite_tokens(u=1e3),
        lambda: equal_tokens(T=2, H=8),
        lambda: one_reads(1e3),
        lambda: opposite_tokens(u=0.5, R=100.0),
    ),
    # Opposite tokens have ‖∇Φ‖ = √T R r; the factor √(1 + r²) leaves 1/(2r²) = 9.9e-8 at r = 2250.
    slack=(1e-9, 1e-7, 1e-9, 1e-7, 1e-7),
    broken=lambda seed: short(seed, equal_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def gradient_bounds(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Checks:
    """‖∇Φ‖ ≤ G ≤ √T R (1 + r).  Source: Proposition 1 (ours, attained at U = 0)."""
    R = radius_or_given(data, R)
    return (
        gradient_bound(model, data, R),
        Check(gradient_constant(model, R), _simple(model, R, 1), "G ≤ √T R (1 + r)"),
    )


def _simple(model, R, power):
    """√T R^power (1 + r)."""
    return float(model.sizes[1] ** 0.5 * R**power * (1 + R**2 * decoder_sizes(model)[0]))


@statement(
    id="prop-1-gradient-sharp",
    title="The sharper gradient bound",
    mark="ours",
    source="this book, after Deora et al. 2023, Proposition 1",
    chapter=FURTHER,
    assumptions=TOKENS,
    random=problem,
    # R = 1.5, so the second instance has R²u = 1: the kink of max(1, R⁴‖U_h‖²).
    extremal=(
        equal_tokens,
        lambda: opposite_tokens(u=1 / 1.5**2),
        lambda: opposite_tokens(u=1e3),
        lambda: one_reads(2**0.5 / 1.5**2),
        lambda: one_reads(1e3, T=2),
    ),
    slack=(1e-9, 1e-9, 1e-9, 1e-9, 1e-9),
    broken=lambda seed: short(seed, equal_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def sharp_gradient_bound(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Check:
    """max_i ‖∇Φ(X_i)‖ ≤ √T R √((1/H) Σ_h max(1, R⁴‖U_h‖²)): attained for every R²u where T is
    even, by equal or opposite tokens.

    Source: this book.
    """
    R = radius_or_given(data, R)
    mean = np.maximum(1, R**4 * decoder_norms(model) ** 2).mean()
    rhs = (model.sizes[1] * R**2 * mean) ** 0.5
    return Check(
        gradient_bound(model, data, R).lhs, float(rhs), "‖∇Φ‖ ≤ √T R √(mean_h max(1, R⁴‖U_h‖²))"
    )


def hessian_bound(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Check:
    """max_i ‖∇²Φ(X_i)‖₂ ≤ B/√H.  Source: Proposition 1 (ours, attained at U = 0, T even).

    Examples
    --------
    >>> data = mha.data.tokenized_mixture(n=5, seed=0)
    >>> check = hessian_bound(mha.MultiHeadAttention.random(H=2, T=10, d=8, scale=0.1), data)
    >>> check.holds, bool(0 <= check.slack < 1)
    (True, True)
    """
    R = radius_or_given(data, R)
    root_H = model.sizes[0] ** 0.5
    lhs = abs(np.linalg.eigvalsh(logit_hessian(model, data.X))).max() / root_H
    return Check(float(lhs), hessian_constant(model, R) / root_H, "‖∇²Φ‖ ≤ B/√H")


@statement(
    id="prop-1-hessian",
    title="Hessian bound",
    mark="ours",
    source="this book, after Deora et al. 2023, Proposition 1",
    chapter=CHAPTER,
    assumptions=TOKENS,
    random=problem,
    # The last three use 4/(3√3) of the first bound, at two heads with unequal decoders, too, and all
    # but 1/r = 4.4e-5 of the second.
    extremal=(
        opposite_tokens,
        lambda: opposite_tokens(u=0.01),
        lambda: opposite_tokens(T=2),
        lambda: opposite_tokens(H=8),
        lambda: opposite_tokens(u=1e4, mean=3**-0.5),
        lambda: one_reads(1e4, mean=3**-0.5),
        lambda: opposite_tokens(u=0.25, R=300.0, mean=3**-0.5),
    ),
    slack=(1e-9, None, 1e-9, 1e-9, 5e-5, 5e-5, 5e-5),
    broken=lambda seed: short(seed, opposite_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def hessian_bounds(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Checks:
    """‖∇²Φ‖₂ ≤ B/√H and B ≤ √T R³ (1 + r).  Source: Proposition 1 (ours, attained at U = 0, T even).

    Short decoders pin √T R³. The factor of r is not the best: the sharper bound has 4/(3√3) there.
    """
    R = radius_or_given(data, R)
    return (
        hessian_bound(model, data, R),
        Check(hessian_constant(model, R), _simple(model, R, 3), "B ≤ √T R³ (1 + r)"),
    )


@statement(
    id="prop-1-hessian-sharp",
    title="The sharper Hessian bound",
    mark="ours",
    source="this book, after Deora et al. 2023, Proposition 1",
    chapter=FURTHER,
    assumptions=TOKENS,
    random=problem,
    extremal=(
        opposite_tokens,
        lambda: opposite_tokens(u=1e4, mean=3**-0.5),
        lambda: one_reads(1e4, mean=3**-0.5),
    ),
    # At mean 1/√3 the mixed block has 1 − 1/3 = 2/3 of its bound, so (1 − 4/9)/r′² = 1.9e-9 stays
    # unused at r′ = 17,320.
    slack=(1e-9, 2e-9, 2e-9),
    broken=lambda seed: short(seed, opposite_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def sharp_hessian_bound(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Check:
    """max_i ‖∇²Φ(X_i)‖₂ ≤ √T R³ (r′ + √(r′² + 4))/(2√H), r′ = 4/(3√3) R² u: tight at r → 0 and at r
    → ∞.

    Source: this book; it replaces E|Y − EY| ≤ max q² in the proof of Proposition 1 by the best
    constant.
    """
    R = radius_or_given(data, R)
    rhs = hessian_constant(model, R, DEVIATION) / model.sizes[0] ** 0.5
    return Check(hessian_bound(model, data, R).lhs, rhs, "‖∇²Φ‖ ≤ √T R³ (r′ + √(r′² + 4))/(2√H)")


def _long(R, u):
    """Nine heads as in ``opposite_tokens`` at the largest third moment, with decoders of norm u; and
    a large negative weight that nothing reads."""
    model, data = opposite_tokens(u, R=R, H=9, mean=3**-0.5).values()
    W = model.W.copy()
    W[:, 1, 1] = -u
    return {"model": MultiHeadAttention(W, model.U), "data": data}


@statement(
    id="prop-1-recalled",
    title="The constants as recalled",
    mark="recalled",
    source="Deora et al. 2023, Proposition 1, not a quotation",
    chapter=FURTHER,
    assumptions=TOKENS,
    random=problem,
    # One head of 256 reads: the mean norm of a head is far below the largest. Long and short tokens
    # tell the powers of R from each other, many tokens that of T.
    extremal=(
        equal_tokens,
        opposite_tokens,
        lambda: one_reads(1e4, mean=3**-0.5, H=256),
        lambda: opposite_tokens(T=100, R=0.1),
        lambda: _long(100.0, 0.01),
        lambda: _long(100.0, 1e-6),
        lambda: _long(0.01, 1e6),
    ),
    broken=lambda seed: short(seed, opposite_tokens),
    breaks=TOKENS,
    hypotheses=tokens_fit,
)
def recalled_bounds(model: MultiHeadAttention, data: Dataset, R: float | None = None) -> Checks:
    """‖∇Φ‖ ≤ G ≤ β₁ = √T R (2R²‖θ‖ + 1) and √H ‖∇²Φ‖ ≤ B ≤ β₃ = 2√T R³ (3√d R²‖θ‖ + 1), ‖θ‖ = max_h
    ‖(W_h, U_h)‖.

    Looser than G and B, which are attained: the factors of ‖θ‖ in β₁ and β₃ are pinned by nothing.
    Source: Proposition 1 [recalled].
    """
    R = radius_or_given(data, R)
    _, T, d = model.sizes
    theta = np.sqrt(((model.W**2).sum(axis=(1, 2)) + decoder_norms(model) ** 2).max())
    beta_1 = float(T**0.5 * R * (2 * R**2 * theta + 1))
    beta_3 = float(2 * T**0.5 * R**3 * (3 * d**0.5 * R**2 * theta + 1))
    G, B = gradient_constant(model, R), hessian_constant(model, R)
    return (
        Check(gradient_bound(model, data, R).lhs, G, "‖∇Φ‖ ≤ G"),
        Check(G, beta_1, "G ≤ β₁"),
        Check(hessian_bound(model, data, R).lhs * model.sizes[0] ** 0.5, B, "√H ‖∇²Φ‖ ≤ B"),
        Check(B, beta_3, "B ≤ β₃"),
    )
