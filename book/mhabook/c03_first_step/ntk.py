"""Chapter 3: the NTK margins of a tokenized mixture: at zero, after the first phase, and with
saturated attention."""

from dataclasses import replace
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from livegrad.arrays import Array, namespace
from mhabook.c01_model.selection import selected_mass
from mhabook.c03_first_step.first_phase import (
    FIRST,
    first_phase,
    gaussian_of_equal_norm,
    mirrored,
    mixture_of,
    randomized_step,
    signal,
    signs,
    small_mixture,
)
from mhabook.c03_first_step.max_margin import CHAPTER, FURTHER, ntk_margin
from mhabook.ledger import Check, Checks, statement
from mhalib.data import Dataset, tokenized_mixture
from mhalib.data.mixture import Mixture
from mhalib.models import MultiHeadAttention

__all__ = [
    "Margins",
    "exact_margins",
    "first_phase",
    "gaussian_of_equal_norm",
    "mirrored",
    "mixture_margins",
    "randomized_step",
    "saturated",
    "saturation",
    "signs",
    "witness",
]
ORTHOGONAL = "orthogonal patterns, all of norm S"
PATTERNS = f"{ORTHOGONAL}; no noise on the tokens"
PHASE = "the model is that of the first phase"
PAIR = "the data hold a pair of opposite labels with the same distracting tokens"


class Margins(NamedTuple):
    """NTK margins of the decoders' features, of the key–query features, and of both together."""

    U: float
    W: float
    both: float


def mixture_margins(T: int, zeta: float, S: float, M: int) -> Margins:
    r"""The margins of one explicit direction on noise-free samples, after the first phase without
    sampling noise.

    .. math:: \gamma_U = \zeta S\sqrt{T/2},\qquad
              \gamma_W = \frac{\zeta^2(1-\zeta)\,T S^4}{2\sqrt{2(M+2)}},\qquad \gamma = \sqrt{\gamma_U^2+\gamma_W^2}

    Source: Proposition "Margins after the first phase" (this book, after Deora et al. 2023).
    """
    U = zeta * S * (T / 2) ** 0.5
    W = zeta**2 * (1 - zeta) * T * S**4 / (2 * (2 * (M + 2)) ** 0.5)
    return Margins(U, W, (U * U + W * W) ** 0.5)


def exact_margins(T: int, zeta: float, S: float, M: int) -> Margins:
    r"""The largest margins that hold for every noise-free sample, after the first phase without
    sampling noise.

    .. math:: \gamma_W^{*2} = \Bigl(\frac{T\zeta^2S^4}{2}\Bigr)^2\Bigl[\frac{\zeta^2(1-\zeta)^2}{2}\Bigl(1+\frac1M\Bigr)
              + \frac{(1-\zeta)^4}{2M} + \frac{\|\pi_*\|^4}{M} + \frac{((1-\zeta)^2-\|\pi_*\|^2)^2}{M(M-1)}\Bigr]

    where π_* are the shares of the M patterns among T tokens if they are as even as they can be;
    the last term is 0 for M = 1. γ_U is as in ``mixture_margins``, and γ* = √(γ_U² + γ_W*²).

    Source: Theorem "The exact margin" (this book).
    """
    return margins_of_shares(T, zeta, S, M, even_square(T, zeta, M))


def margins_of_shares(T: int, zeta: float, S: float, M: int, square: float) -> Margins:
    """``exact_margins``, given ``square`` = ‖π_*‖²."""
    U, rest = zeta * S * (T / 2) ** 0.5, 1 - zeta
    # For M = 1 the one pattern has the share 1 − ζ and the numerator is 0; the maximum spares 0/0.
    mixed = (rest**2 - square) ** 2 / np.maximum(M * (M - 1), 1)
    squared = (zeta * rest) ** 2 * (1 + 1 / M) / 2 + rest**4 / (2 * M) + square**2 / M + mixed
    W = T * zeta**2 * S**4 / 2 * squared**0.5
    return Margins(U, W, (U * U + W * W) ** 0.5)


def even_counts(tokens: int, M: int) -> np.ndarray:
    """How often each of M patterns occurs among so many tokens if they share as evenly as they can,
    (M,)."""
    return np.array([(tokens + j) // M for j in range(M)])


def even_square(T: int, zeta: float, M: int) -> float:
    """‖π_*‖² for the shares of M patterns among T tokens, ζT of them relevant, if they are as even
    as they can be."""
    # (1 − ζ)T is whole up to rounding.
    counts = even_counts(round((1 - zeta) * T), M)
    return float(counts @ counts) / T**2


def witness(model: MultiHeadAttention, mixture: Mixture) -> MultiHeadAttention:
    """The unit direction of Proposition "Margins after the first phase", for a ``first_phase``
    model on a ``Mixture``.

    Head h has (γ_U/γ) Û/√H and (γ_W/γ) ε_h Ŵ/√H, with Û = 1(μ₊ − μ₋)ᵀ/(S√(2T)), Ŵ = ξωᵀ/(‖ξ‖‖ω‖), ξ
    the sum of all patterns and ω = μ₊ + μ₋; ε_h is read off from U_h.
    """
    minus, plus = mixture.mu
    S, T = float(np.linalg.norm(plus)), mixture.T
    margins = mixture_margins(T, mixture.n_relevant / T, S, len(mixture.nu))
    return witness_of(margins, np.sign(model.U.sum(axis=1) @ (plus - minus)), mixture)


def witness_of(margins: Margins, epsilon: Array, mixture: Mixture) -> MultiHeadAttention:
    """``witness``, given its ``mixture_margins`` and the signs ε_h (H,)."""
    W, U = unit_keys(mixture), np.stack([unit_decoder(mixture)] * len(epsilon))
    share = 1 / margins.both / len(epsilon) ** 0.5
    return MultiHeadAttention(margins.W * share * epsilon[:, None, None] * W, margins.U * share * U)


def unit_decoder(mixture: Mixture) -> np.ndarray:
    """Û = 1(μ₊ − μ₋)ᵀ/(S√(2T)), (T, d): reads the label, of norm 1."""
    row = mixture.mu[1] - mixture.mu[0]
    # A product repeats the row in every library; np.tile would not.
    U = namespace(row).new_ones((mixture.T, 1), row) * row
    return U / np.linalg.norm(U)


def unit_keys(mixture: Mixture) -> np.ndarray:
    """Ŵ = ξωᵀ/(‖ξ‖‖ω‖), (d, d), ξ the sum of all patterns, ω = μ₊ + μ₋: every query asks for
    relevant tokens."""
    omega = mixture.mu.sum(axis=0)
    W = np.outer(omega + mixture.nu.sum(axis=0), omega)
    return W / np.linalg.norm(W)


def saturated(mixture: Mixture, strength: float) -> MultiHeadAttention:
    """One head with decoder Û and key–query matrix ``strength`` · Ŵ: attention moved to the
    relevant tokens."""
    return MultiHeadAttention(strength * unit_keys(mixture)[None], unit_decoder(mixture)[None])


def saturation(mixture: Mixture, strength: float) -> tuple[float, float]:
    """The mass on relevant tokens and the margin of ``saturated`` on noise-free samples: (mass,
    mass · S√(T/2)).

    mass = ζe^g/(ζe^g + 1 − ζ) with g = ΓS²/√(2(M+2)), Γ = ``strength``.  Source: this book.
    """
    S = float(np.linalg.norm(mixture.mu[1]))
    # ξ has the product S² with every token, ω with every relevant one, and ‖ξ‖‖ω‖ = S²√(2(M + 2)).
    gap = strength * S**2 / (2 * (len(mixture.nu) + 2)) ** 0.5
    mass = float(selected_mass(mixture.n_relevant / mixture.T, gap))
    return mass, mass * S * (mixture.T / 2) ** 0.5


def with_patterns(data: Dataset, longer: float) -> Dataset:
    """The same samples with distracting patterns ``longer`` times as long: what a twin does to the
    norms."""
    X = np.where(data.relevant[..., None], data.X, longer * data.X)
    return replace(data, X=X, truth=replace(data.truth, nu=longer * data.truth.nu))


def _is_mixture(data):
    return hasattr(data.truth, "mu")


def _patterned(data, quiet=True):
    """Whether patterns are orthogonal and of one norm, and, if asked, whether every token is one of
    them; data without known patterns have none."""
    if not _is_mixture(data):
        return dict.fromkeys(PATTERNS.split("; ") if quiet else [ORTHOGONAL], False)
    patterns = np.concatenate([data.truth.mu, data.truth.nu])
    S2 = float(data.truth.mu[1] @ data.truth.mu[1])
    shown = np.sqrt(((data.X[:, :, None] - patterns) ** 2).sum(axis=-1)).min(axis=2)
    off = abs(patterns @ patterns.T / S2 - np.eye(len(patterns))).max()
    found = {"orthogonal patterns, all of norm S": bool(off < 1e-9)}
    return found | ({"no noise on the tokens": bool(shown.max() < 1e-9 * S2**0.5)} if quiet else {})


def _is_first_phase(model):
    """Whether W_h = 0 and U_h = ±1ψᵀ."""
    row = model.U[0, 0]
    alike = np.sign(model.U[:, :1] @ row)[..., None] * row
    return bool(not model.W.any() and abs(model.U - alike).max() < 1e-9 * abs(row).max())


def _has_no_sampling_noise(model, data):
    """Whether ψ = ±ψ₀."""
    if not _is_mixture(data):
        return False
    row, psi_0 = model.U[0, 0], signal(data.truth)
    return bool(
        # The first head may have drawn the sign −1.
        min(np.linalg.norm(row - sign * psi_0) for sign in (1, -1)) < 1e-9 * np.linalg.norm(psi_0)
    )


def _after(data, seed, strict=True):
    """A model after the first phase on the sample; ``strict``: on its mirrored form, without
    sampling noise."""
    H = int(np.random.default_rng([seed, 38]).integers(1, 5))
    return {"model": first_phase(mirrored(data) if strict else data, H, seed), "data": data}


@statement(
    id="prop-ntk-margins",
    title="Margins after the first phase",
    mark="ours",
    source=f"{FIRST}, Proposition 2",
    chapter=CHAPTER,
    assumptions=f"{PATTERNS}; {PHASE}",
    # Every other instance is free of sampling noise, so that the check of γ runs, too.
    random=lambda seed: _after(small_mixture(seed, sigma=0.0), seed, strict=seed % 2 == 0),
    broken=lambda seed: _after(small_mixture(seed, sigma=0.5), seed),
    breaks="no noise on the tokens",
    hypotheses=lambda model, data: _patterned(data) | {PHASE: _is_first_phase(model)},
    counterexamples=(
        lambda: _after(with_patterns(small_mixture(0, sigma=0.0), 0.5), 0),
        lambda: _attending(small_mixture(0, sigma=0.0)),
    ),
)
def witness_margins(model: MultiHeadAttention, data: Dataset) -> Check | Checks:
    """On every sample y⟨∇_U Φ, U-part⟩ = γ_U and y⟨∇_W Φ, W-part⟩ = γ_W · 2y⟨ψ, μ_y − m̂⟩/(ζS²).

    m̂ is the mean distracting token; parts are those of the witness, each of norm 1. lhs is the
    largest error relative to γ_U or γ_W, rhs 1e-11. Without sampling noise both parts together give
    γ: that error is relative to γ.

    Source: this book, after Deora et al. 2023, Proposition 2.
    """
    mixture, T, y = mixture_of(data), data.X.shape[1], data.y
    S, zeta = float(np.linalg.norm(mixture.mu[1])), mixture.n_relevant / T
    margins, direction = mixture_margins(T, zeta, S, len(mixture.nu)), witness(model, mixture)
    parts = {
        name: MultiHeadAttention(direction.W * (name == "W"), direction.U * (name == "U"))
        for name in "UW"
    }
    found = {
        name: y * (model.features(data.X) @ part.ravel()) / part.norm()
        for name, part in parts.items()
    }
    # U_0 = ε_0 1ψᵀ: the sign along μ₊ − μ₋ takes ε_0 out, as ``witness`` reads it.
    psi = model.U[0, 0] * np.sign(model.U[0, 0] @ (mixture.mu[1] - mixture.mu[0]))
    mean = (data.X * ~data.relevant[..., None]).sum(axis=1) / (T - mixture.n_relevant)
    own = mixture.mu[(y > 0).astype(int)]
    expected = margins.W * 2 * y * ((own - mean) @ psi) / (zeta * S**2)
    errors = abs(found["U"] / margins.U - 1).max(), abs(found["W"] - expected).max() / margins.W
    apart = Check(
        float(max(errors)), 1e-11, "y⟨∇_U Φ, Û⟩ = γ_U and y⟨∇_W Φ, Ŵ⟩ = γ_W · 2y⟨ψ, μ_y − m̂⟩/(ζS²)"
    )
    if not _has_no_sampling_noise(model, data):
        return apart
    both = y * (model.features(data.X) @ direction.ravel())
    return apart, Check(
        float(abs(both / margins.both - 1).max()), 1e-11, "y⟨∇Φ, witness⟩ = γ where ψ = ψ₀"
    )


def even_sample(
    T: int = 5, zeta: float = 0.2, S: float = 1.0, M: int = 3, seed: int = 0
) -> Dataset:
    """Noise-free samples of both labels in which the patterns share the distracting tokens as
    evenly as they can.

    All choices of which patterns get one token more occur once with each label: 2 · binomial(M, b)
    samples.
    """
    mixture = tokenized_mixture(n=1, T=T, d=M + 2, M=M, zeta=zeta, S=S, sigma=0.0, seed=seed).truth
    N = T - mixture.n_relevant
    rows = [sorted([*range(M)] * (N // M) + [*more]) for more in combinations(range(M), N % M)]
    y = np.repeat([-1.0, 1.0], len(rows))
    own = np.repeat(mixture.mu[:, None], mixture.n_relevant, axis=1)  # (2, ζT, d)
    X = np.concatenate(
        [np.concatenate([own[i], mixture.nu[row]])[None] for i in range(2) for row in rows]
    )
    return Dataset(X, y, np.tile(np.arange(T) < mixture.n_relevant, (len(y), 1)), mixture)


def _attending(data):
    """A model after the first phase whose W_h are 1 in every entry, and not 0."""
    instance = _after(data, 0)
    model = instance["model"]
    return instance | {"model": MultiHeadAttention(1 + model.W, model.U)}


def _noisy(data):
    noise = np.random.default_rng(39).standard_normal(data.X.shape)
    return replace(data, X=data.X + 0.1 * noise)


def _half_a_step():
    """Decoders ±1ψᵀ with ψ = ψ₀/2."""
    instance = _after(even_sample(), 0)
    return instance | {"model": 0.5 * instance["model"]}


def has_every_even_sample(data: Dataset) -> bool:
    """Whether for both labels and every way to share the tokens as evenly as can be the data hold
    such a sample."""
    mixture, S2 = data.truth, float(data.truth.mu[1] @ data.truth.mu[1])
    # Without noise a token has the product S² with its own pattern and 0 with the others.
    counts = (data.X @ mixture.nu.T > S2 / 2).sum(axis=1)  # (n, M)
    held = {(float(y), *map(int, row)) for y, row in zip(data.y, counts, strict=True)}
    shares = set(
        permutations(even_counts(mixture.T - mixture.n_relevant, len(mixture.nu)).tolist())
    )
    return all((y, *share) in held for y in (-1.0, 1.0) for share in shares)


def _mirrored_or_even(seed):
    """Mirrored random samples, or for odd seeds all the most even ones of such a mixture."""
    data = mirrored(small_mixture(seed, sigma=0.0))
    (M, _), mixture = data.truth.nu.shape, data.truth
    even = even_sample(
        mixture.T, mixture.n_relevant / mixture.T, float(np.linalg.norm(mixture.mu[1])), M, seed
    )
    return _after(data if seed % 2 == 0 else even, seed)


@statement(
    id="thm-exact-margin",
    title="The exact margin",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{PATTERNS}; {PHASE}; ψ = ψ₀, no sampling noise",
    random=_mirrored_or_even,
    hypotheses=lambda model, data: (
        _patterned(data)
        | {
            PHASE: _is_first_phase(model),
            "ψ = ψ₀, no sampling noise": _has_no_sampling_noise(model, data),
        }
    ),
    extremal=(
        # 4 tokens for 3 patterns and 8 for 5 leave a remainder, 2 for 2 do not.
        lambda: _after(even_sample(), 0),
        lambda: _after(even_sample(T=4, zeta=0.5, S=3.0, M=2), 0),
        lambda: _after(even_sample(T=10, zeta=0.2, S=2.0, M=5), 0),
        # So many tokens that 2 % of them are more than half a token.
        lambda: _after(even_sample(T=52, zeta=0.5, S=0.5, M=1), 0),
    ),
    broken=lambda seed: _after(with_patterns(even_sample(S=1.0 + seed), 0.5), seed),
    breaks="all of norm S",
    counterexamples=(
        lambda: _after(even_sample(), 0) | {"data": _noisy(even_sample())},
        lambda: _attending(even_sample()),
        _half_a_step,
    ),
)
def exact_margin(model: MultiHeadAttention, data: Dataset) -> Checks:
    """γ* ≤ the maximum NTK margin, with equality as soon as all most even samples of both labels
    occur.

    Source: this book.
    """
    mixture, T = mixture_of(data), data.X.shape[1]
    S = float(np.linalg.norm(mixture.mu[1]))
    least = exact_margins(T, mixture.n_relevant / T, S, len(mixture.nu)).both
    found = ntk_margin(model, data).margin
    checks = (
        Check(least, found, "γ* ≤ maximum NTK margin"),
        Check(found, least, "maximum NTK margin ≤ γ*"),
    )
    return checks if has_every_even_sample(data) else checks[:1]


def has_a_pair(data: Dataset) -> bool:
    """Whether a positive and a negative sample have the same distracting tokens, in any order, so
    that what is left of the sums of their tokens is equal."""
    X, mu = data.X, data.truth.mu
    k = data.truth.n_relevant
    plus, minus = (X[data.y == y].sum(axis=1) - k * mu[(y + 1) // 2] for y in (1, -1))
    apart = np.linalg.norm(plus[:, None] - minus, axis=2)
    return bool((apart < 1e-9 * np.linalg.norm(mu[1])).any())


def _at_zero(seed, **given):
    data = mirrored(small_mixture(seed, **given))
    return {"model": MultiHeadAttention.zeros(1 + seed % 3, *data.X.shape[1:]), "data": data}


def _opposite_labels():
    """μ₋ = −μ₊: the patterns of the two labels are 2S apart, and not √2 S."""
    instance = _at_zero(3, sigma=0.0)
    data, plus = instance["data"], instance["data"].truth.mu[1]
    X = np.where((data.relevant & (data.y < 0)[:, None])[..., None], -plus, data.X)
    truth = replace(data.truth, mu=np.stack([-plus, plus]))
    return instance | {"data": replace(data, X=X, truth=truth)}


def _long(model):
    return 10 * MultiHeadAttention.random(*model.sizes)


@statement(
    id="prop-zero-margin",
    title="The largest margin at zero initialization",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=f"{ORTHOGONAL}; θ = 0; {PAIR}",
    random=_at_zero,
    extremal=(lambda: _at_zero(3, sigma=0.0),),
    broken=lambda seed: _at_zero(seed) | {"data": small_mixture(seed, n=1)},
    breaks="the data hold a pair of opposite labels with the same distracting tokens",
    hypotheses=lambda model, data: (
        _patterned(data, quiet=False)
        | {"θ = 0": not model.norm(), PAIR: _is_mixture(data) and has_a_pair(data)}
    ),
    counterexamples=(
        _opposite_labels,
        lambda: (zero := _at_zero(3, sigma=0.0)) | {"model": _long(zero["model"])},
    ),
)
def zero_margin(model: MultiHeadAttention, data: Dataset) -> Checks:
    """At θ = 0 the maximum NTK margin is at most γ_U = ζ · S√(T/2), for every H and any noise;
    equality without noise.

    Source: this book.
    """
    mixture, T = mixture_of(data), data.X.shape[1]
    limit = mixture.n_relevant / T * float(np.linalg.norm(mixture.mu[1])) * (T / 2) ** 0.5
    found = ntk_margin(model, data).margin
    checks = (
        Check(found, limit, "NTK margin at zero ≤ ζS√(T/2)"),
        Check(limit, found, "ζS√(T/2) ≤ NTK margin at zero"),
    )
    return checks if all(_patterned(data).values()) else checks[:1]


def _saturated(seed, sigma=0.0):
    strength = float(10 ** np.random.default_rng([seed, 39]).uniform(-1, 1.5))
    return {"data": small_mixture(seed, sigma=sigma), "strength": strength}


@statement(
    id="prop-saturated",
    title="Saturated attention",
    mark="ours",
    source=FIRST,
    chapter=FURTHER,
    assumptions=f"{PATTERNS}; Γ ≥ 0",
    random=_saturated,
    broken=lambda seed: _saturated(seed, sigma=0.5) | {"strength": 1.0},
    breaks="no noise on the tokens",
    hypotheses=lambda data, strength: _patterned(data) | {"Γ ≥ 0": strength >= 0},
    counterexamples=(lambda: _saturated(0) | {"data": with_patterns(_saturated(0)["data"], 0.5)},),
)
def saturated_attention(data: Dataset, strength: float) -> Checks:
    """Decoder Û, key–query ΓŴ: every query puts ζe^g/(ζe^g + 1 − ζ) on relevant tokens; margin =
    mass · S√(T/2).

    And where the gap of the scores is g = 60, the margin is the limit S√(T/2). lhs is the larger
    error relative to 1 and to S√(T/2), rhs 1e-12. Source: this book.
    """
    mixture = mixture_of(data)
    model = saturated(mixture, strength)
    mass, margin = saturation(mixture, strength)
    found = (model.attention(data.X)[:, 0] * data.relevant[:, None]).sum(axis=-1)
    limit = float(np.linalg.norm(mixture.mu[1])) * (mixture.T / 2) ** 0.5
    errors = abs(found - mass).max(), abs(model.margins(data.X, data.y) - margin).max() / limit
    # The formula of ``saturation`` solved for Γ at g = 60: e^{−60} is far below rounding.
    strong = saturated(
        mixture, 60 * (2 * (len(mixture.nu) + 2)) ** 0.5 / float(mixture.mu[1] @ mixture.mu[1])
    )
    off = abs(strong.margins(data.X, data.y) / limit - 1).max()
    return (
        Check(float(max(errors)), 1e-12, "mass = ζe^g/(ζe^g + 1 − ζ) and margin = mass · S√(T/2)"),
        Check(float(off), 1e-12, "margin → S√(T/2)"),
    )
