"""Chapter 3: the features at uniform attention, the first randomized step from zero, and its
sampling noise."""

from dataclasses import replace
from itertools import product
from math import comb, exp, log
from typing import Any

import numpy as np

from livegrad.arrays import Array, namespace, require_count, require_seed
from mhabook.c01_model.instances import ZERO, from_zero, problem, token_radius
from mhabook.c03_first_step.max_margin import FURTHER
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.data import Dataset, tokenized_mixture
from mhalib.data.mixture import Mixture, MixtureDraws
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals

FIRST = "this book, after Deora et al. 2023"


def signs(H: int, seed: int) -> np.ndarray:
    """Independent fair signs ε_h (H,)."""
    require_count(H=H)
    require_seed(seed)
    return np.where(np.random.default_rng([seed, 4]).random(H) < 0.5, -1.0, 1.0)


def randomized_step(model: MultiHeadAttention, data: Dataset, epsilon: Array) -> MultiHeadAttention:
    """One gradient step from ``model`` in which head h has the step size 2√H ε_h, ε (H,)."""
    _, grad = model.loss_and_grad(data.X, data.y)
    # At zero ∇_{U_h} L = −1ψᵀ/(2√H): the factor 2√H makes U_h exactly ε_h 1ψᵀ.
    size = (2 * len(epsilon) ** 0.5 * epsilon)[:, None, None]
    return MultiHeadAttention(model.W - size * grad.W, model.U - size * grad.U)


def step_from_zero(data: Dataset, epsilon: Array) -> MultiHeadAttention:
    """``randomized_step`` from zero parameters."""
    # Shapes come from products of the arguments, which the compiler may be recording.
    like_U = epsilon[:, None, None] * data.X[0]
    W, U = map(namespace(like_U).zeros_like, (like_U.mT @ like_U, like_U))
    return randomized_step(MultiHeadAttention(W, U), data, epsilon)


def first_phase(data: Dataset, H: int, seed: int = 0) -> MultiHeadAttention:
    r"""The model after one randomized gradient step from zero: step size 2√H ε_h for head h, ε_h =
    ±1 by a fair coin.

    .. math:: W_h = 0,\qquad U_h = \varepsilon_h\,\mathbf 1\,\psi^\top,\qquad \psi = \frac1n\sum_i y_i\bar x_i

    Source: Deora et al. 2023 [recalled]; Lemma "The first phase" (this book).
    """
    return step_from_zero(data, signs(H, seed).astype(data.X.dtype))


def gaussian_of_equal_norm(data: Dataset, H: int, seed: int = 0) -> MultiHeadAttention:
    """W = 0 and independent Gaussian decoders, each scaled to the norm √T ‖ψ‖ that the first phase
    gives on ``data``.

    Besides its size the first phase has equal rows, and it knows where they should point; this
    start has neither.
    """
    _, T, d = data.X.shape
    # ``normals`` is the stream that the pages of the live figures carry for one head.
    return MultiHeadAttention(
        np.zeros((H, d, d)), of_equal_norm(data, normals(H * T * d, seed).reshape(H, T, d))
    )


def gaussian_row_of_equal_norm(data: Dataset, H: int, seed: int = 0) -> MultiHeadAttention:
    """``gaussian_of_equal_norm`` with one Gaussian row a head, the same at all positions: equal
    rows, no direction."""
    _, T, d = data.X.shape
    rows = np.random.default_rng([seed, 7]).standard_normal((H, 1, d))
    return MultiHeadAttention(np.zeros((H, d, d)), of_equal_norm(data, rows.repeat(T, axis=1)))


def of_equal_norm(data: Dataset, U: Array) -> Array:
    """Decoders U (H, T, d), each scaled to the norm √T ‖ψ‖."""
    length = U.shape[1] ** 0.5 * np.linalg.norm(data.y @ data.X.mean(axis=1)) / len(data)
    return length * U / np.linalg.norm(U, axis=(1, 2), keepdims=True)


def mixture_of(data: Dataset) -> Mixture:
    """The mixture that the samples are from.

    Raises ValueError if they are from none: then no hypothesis on its patterns holds.
    """
    if not hasattr(data.truth, "mu"):
        raise ValueError(
            "data: expected samples of tokenized_mixture, whose patterns are known: no hypothesis on "
            f"patterns holds for {data!r}"
        )
    return data.truth


def mirrored(data: Dataset) -> Dataset:
    """The samples of a mixture, and each again with the other label: μ_{−y} in the place of μ_y,
    all else equal.

    It has no sampling noise: ψ = (ζ/2)(μ₊ − μ₋) exactly, whatever the distracting tokens are.

    Raises ValueError if ``data`` are no samples of a mixture.
    """
    other = mixture_of(data).mu[(data.y < 0).astype(int)][:, None, :]
    X = np.concatenate([data.X, np.where(data.relevant[..., None], other, data.X)])
    relevant = np.concatenate([data.relevant, data.relevant])
    return replace(data, X=X, y=np.concatenate([data.y, -data.y]), relevant=relevant)


def signal(mixture: Mixture) -> np.ndarray:
    """(ζ/2)(μ₊ − μ₋) (d,): what the first phase writes into every row of a decoder if nothing is
    left to chance."""
    return mixture.n_relevant / mixture.T / 2 * (mixture.mu[1] - mixture.mu[0])


def sampling_noise(data: Dataset) -> np.ndarray:
    """ψ − (ζ/2)(μ₊ − μ₋) (d,), where ψ = (1/n) Σ y_i x̄_i is what a first phase on ``data``
    finds."""
    return data.y @ data.X.mean(axis=1) / len(data) - signal(data.truth)


def covariances(X: Array) -> np.ndarray:
    """C_i = (1/T) Σ_t x_t x_tᵀ − x̄ x̄ᵀ of the tokens of every sample, (n, d, d)."""
    away = X - X.mean(axis=1, keepdims=True)
    return away.mT @ away / X.shape[1]


def _uniform(seed):
    instance = problem(seed)
    model = instance["model"]
    return instance | {"model": MultiHeadAttention(0 * model.W, model.U)}


@statement(
    id="lemma-uniform-features",
    title="Features at uniform attention",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="all W_h are zero",
    random=_uniform,
    hypotheses=lambda model, **_: {"all W_h are zero": not model.W.any()},
    broken=lambda seed: (
        _uniform(seed) | {"model": MultiHeadAttention.random(*_uniform(seed)["model"].sizes)}
    ),
    breaks="all W_h are zero",
)
def uniform_features(model: MultiHeadAttention, data: Dataset) -> Check:
    """√H ∇_{U_h} Φ = 1 x̄ᵀ and √H ∇_{W_h} Φ = (Σ_t x_t u_tᵀ) C, C the covariance of the tokens.

    lhs is the larger error, relative to the bounds R and R³ Σ_t‖u_t‖ on an entry, rhs 1e-12.
    Source: this book.
    """
    (H, T, d), X, R = model.sizes, data.X, token_radius(data.X)
    found = H**0.5 * model.features(X).reshape(len(X), H, d * d + T * d)
    W = (X[:, None].mT @ model.U) @ covariances(X)[:, None]  # (n, H, d, d)
    U = np.repeat(X.mean(axis=1)[:, None, None], T, axis=2)  # (n, 1, T, d)
    errors = [
        abs(found[..., : d * d].reshape(W.shape) - W).max()
        / max(R**3 * abs(model.U).sum(axis=(1, 2)).max(), TINY),
        abs(found[..., d * d :].reshape(len(X), H, T, d) - U).max() / max(R, TINY),
    ]
    return Check(float(max(errors)), 1e-12, "√H ∇_U Φ = 1x̄ᵀ and √H ∇_W Φ = (Σ x_t u_tᵀ)C")


def small_mixture(seed: int, **given: Any) -> Dataset:
    """A random sample of a random small mixture, T ≤ 5, M ≤ 3; what is ``given`` replaces what is
    drawn."""
    rng = np.random.default_rng([seed, 34])
    T, M, n = (int(rng.integers(low, high)) for low, high in ((2, 6), (1, 4), (1, 6)))
    drawn = {
        "n": n,
        "T": T,
        "M": M,
        # M + 2 orthogonal patterns need as many dimensions; now and then one is left over.
        "d": M + 2 + int(rng.integers(2)),
        "zeta": int(rng.integers(1, T)) / T,
        "S": float(10 ** rng.uniform(-0.5, 0.5)),
        "sigma": float(rng.choice([0.0, rng.random()])),
        "seed": seed,
    }
    return tokenized_mixture(**drawn | given)


def _first_phase(seed):
    H = int(np.random.default_rng([seed, 35]).integers(1, 6))
    return {"data": small_mixture(seed), "epsilon": signs(H, seed)}


@statement(
    id="lemma-first-phase",
    title="The first phase",
    mark="ours",
    source=f"{FIRST}, Lemma 2",
    chapter=FURTHER,
    assumptions=ZERO,
    random=_first_phase,
    hypotheses=from_zero,
    broken=lambda seed: (
        (instance := _first_phase(seed))
        | {
            "start": MultiHeadAttention.random(
                len(instance["epsilon"]), *instance["data"].X.shape[1:], seed=seed
            )
        }
    ),
    breaks=ZERO,
)
def first_phase_exactly(
    data: Dataset, epsilon: Array, start: MultiHeadAttention | None = None
) -> Checks:
    """One step of size 2√H ε_h from zero: W_h = 0 and U_h = ε_h 1ψᵀ, ψ = (ζ/2)(μ₊ − μ₋) + sampling
    noise.

    The noise is (1/n) Σ_i y_i [(ζ/2)(μ₊ + μ₋) + (1/T) Σ_{t distracts} x_it]. lhs is the largest
    error of an entry, relative to R (in W: to R³), rhs 1e-12. And without the noise ‖U_h‖ =
    ζS√(T/2). Source: this book.
    """
    mixture, zeta = mixture_of(data), data.relevant.mean()
    (n, T, d), H = data.X.shape, len(epsilon)
    start = MultiHeadAttention.zeros(H, T, d) if start is None else start
    # The step alone, so that a twin with another start fails by its gradient and not by where it
    # stood.
    model = randomized_step(start, data, epsilon) - start
    distracting = (data.X * ~data.relevant[..., None]).sum(axis=1)
    noise = data.y @ (zeta / 2 * mixture.mu.sum(axis=0) + distracting / T) / n
    U = epsilon[:, None, None] * np.tile(signal(mixture) + noise, (T, 1))
    R = token_radius(data.X)
    error = max(abs(model.U - U).max() / R, abs(model.W).max() / R**3)
    length, S = T**0.5 * np.linalg.norm(signal(mixture)), np.linalg.norm(mixture.mu[1])
    return (
        Check(float(error), 1e-12, "W_h = 0 and U_h = ε_h 1ψᵀ after one step"),
        Check(abs(float(length / (zeta * S * (T / 2) ** 0.5)) - 1), 1e-12, "‖1ψ₀ᵀ‖ = ζS√(T/2)"),
    )


def all_samples(mixture: Mixture) -> Dataset:
    """Every sample of a mixture with the relevant tokens in front, all equally likely; noise is ±σ
    in each coordinate.

    Their number is 2 Mᴺ 2ᴺᵈ for N distracting tokens: tiny mixtures only.
    """
    (M, d), T = mixture.nu.shape, mixture.T
    N = T - mixture.n_relevant
    # Signs ±σ have the mean and the variance of the normal noise, and a mean square asks for no
    # more.
    cases = list(
        product((-1.0, 1.0), product(range(M), repeat=N), product((-1.0, 1.0), repeat=N * d))
    )
    n, (sign, pattern, noise) = len(cases), (np.array(part) for part in zip(*cases, strict=True))
    before = np.zeros((n, T - N))
    # Relevant tokens read neither pattern nor noise, and the mean token does not know the order of
    # the tokens.
    return mixture.assemble(
        MixtureDraws(
            sign=sign,
            rank=np.tile(np.arange(T), (n, 1)),
            pattern=np.concatenate([before, pattern], axis=1).astype(int),
            normal=np.concatenate([np.zeros((n, T - N, d)), noise.reshape(n, N, d)], axis=1),
        )
    )


def noise_size(mixture: Mixture, n: int) -> float:
    """E‖ψ − (ζ/2)(μ₊ − μ₋)‖² = (1/n)[ζ²S²/2 + (1−ζ)(1−1/M)S²/T + (1−ζ)²S²/M + (1−ζ)σ²d/T].

    Source: Lemma "The sampling noise of one step" (this book).
    """
    (M, d), T, S2 = mixture.nu.shape, mixture.T, float(mixture.mu[1] @ mixture.mu[1])
    zeta = mixture.n_relevant / T
    # E‖Σ ν_j‖² over N distracting tokens is N S² + N(N − 1) S²/M, here divided by T². In the last
    # line ζ²/2 is ‖(ζ/2)(μ₊ + μ₋)‖²/S².
    patterns = (1 - zeta) * (1 - 1 / M) / T + (1 - zeta) ** 2 / M
    return (S2 * (zeta**2 / 2 + patterns) + (1 - zeta) * mixture.sigma**2 * d / T) / n


def _tiny(seed):
    rng = np.random.default_rng([seed, 36])
    # At most 2 · 2² · 2⁸ = 2048 samples: two distracting tokens in four dimensions.
    T, M, N = int(rng.integers(2, 5)), int(rng.integers(1, 3)), int(rng.integers(1, 3))
    zeta = max(T - N, 1) / T
    return {
        "mixture": tokenized_mixture(
            n=1,
            T=T,
            d=M + 2,
            M=M,
            zeta=zeta,
            S=float(10 ** rng.uniform(-0.5, 0.5)),
            sigma=float(rng.random()),
            seed=seed,
        ).truth
    }


@statement(
    id="lemma-sampling-noise",
    title="The sampling noise of one step",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="samples are independent; labels are equally likely",
    random=_tiny,
    hypotheses=lambda share=0.5, **_: {"labels are equally likely": share == 0.5},
    broken=lambda seed: _tiny(seed) | {"share": 0.8},
    breaks="labels are equally likely",
)
def chance(mixture: Mixture, share: float = 0.5) -> Check:
    """For one sample the sampling noise has mean 0 and mean square ``noise_size``; ``share`` is the
    chance of y = +1.

    All samples are listed. Of n independent ones the mean has the mean square of one over n, and
    the square of its mean: n = 3 is computed so. lhs is the largest of the three errors relative to
    R and R², rhs 1e-12. Source: this book.
    """
    data, R2 = all_samples(mixture), noise_size(mixture, 1) + float(mixture.mu[1] @ mixture.mu[1])
    noise = data.y[:, None] * data.X.mean(axis=1) - signal(mixture)
    weight = np.where(data.y > 0, share, 1 - share)
    weight /= weight.sum()
    square, mean = weight @ (noise**2).sum(axis=1), weight @ noise
    of_three = (square + 2 * mean @ mean) / 3
    errors = [
        np.linalg.norm(mean) / R2**0.5,
        abs(square - noise_size(mixture, 1)) / R2,
        abs(of_three - noise_size(mixture, 3)) / R2,
    ]
    return Check(float(max(errors)), 1e-12, "sampling noise: mean 0, mean square its formula")


def _fair(seed):
    rng = np.random.default_rng([seed, 37])
    return {
        "data": small_mixture(seed),
        "H": int(rng.integers(1, 9)),
        "delta": float(rng.uniform(0.01, 1)),
    }


@statement(
    id="prop-start-logits",
    title="The logits that the first phase leaves",
    mark="ours",
    source=f"{FIRST}, Lemma 2",
    chapter=FURTHER,
    assumptions="the signs ε_h are independent and fair",
    random=_fair,
    # √(2 log(2/δ)) = √2 is the largest |Z| of two heads, met with chance ½: 1 − e/4 = 0.32 of δ
    # stays unused. With more heads the exponent counts: with 1.5 for 2 the chance would be 1.1 δ.
    extremal=(
        lambda: _fair(1) | {"H": 2, "delta": 2 / exp(1)},
        lambda: _fair(1) | {"H": 24, "delta": 10**-4.5},
        # So many that chances which do not add up to 1 show.
        lambda: _fair(1) | {"H": 200, "delta": 0.01},
    ),
    slack=(0.33,),
    # One coin for all heads leaves |Z| = √8 for certain, above √(2 log 20) = 2.45.
    broken=lambda seed: _fair(seed) | {"H": 8, "delta": 0.1},
    hypotheses=lambda **_: {},
    breaks="the signs ε_h are independent and fair: one coin for all heads",
    false_claim=lambda data, H, delta: _start_logits(data, H, delta, {0: 0.5, H: 0.5}),
)
def start_logits(data: Dataset, H: int, delta: float) -> Checks:
    """Φ(X) = Z T⟨ψ, x̄⟩, Z = Σ_h ε_h/√H, and P(max_i |Φ(X_i)| ≥ T max_i|⟨ψ, x̄_i⟩| √(2 log(2/δ))) ≤
    δ over the signs.

    The chance is exact: the models of all 2ᴴ signs, grouped by how many are +1; there is no n in
    it. And for ψ = ψ₀ and no noise T|⟨ψ, x̄⟩| is Tζ²S²/2. Source: this book.
    """
    return _start_logits(data, H, delta, {plus: comb(H, plus) / 2**H for plus in range(H + 1)})


def _start_logits(data, H, delta, chances):
    """With these ``chances`` of how many signs are +1."""
    mixture, (_, T, d) = mixture_of(data), data.X.shape
    psi = data.y @ data.X.mean(axis=1) / len(data)
    one = T * data.X.mean(axis=1) @ psi
    zeta = data.relevant.mean()
    S2 = float(mixture.mu[1] @ mixture.mu[1])
    bound = abs(one).max() * (2 * log(2 / delta)) ** 0.5
    zero = MultiHeadAttention.zeros(H, T, d)
    chance = 0
    errors = []
    for plus, share in chances.items():
        # Heads are exchangeable: how many signs are +1 decides the logits, and not which.
        logits = randomized_step(zero, data, np.where(np.arange(H) < plus, 1.0, -1.0))(data.X)
        errors.append(abs(logits - (2 * plus - H) / H**0.5 * one).max() / abs(one).max())
        # Where the bound is exactly the largest |Φ|, rounding must not turn ≥ into <.
        chance += share * (abs(logits).max() >= bound * (1 - 1e-12))
    quiet = T * zeta * float(signal(mixture) @ mixture.mu[1]) / (T * zeta**2 * S2 / 2)
    return (
        Check(float(chance), delta, "P(|Φ| ≥ T|⟨ψ, x̄⟩|√(2 log(2/δ))) ≤ δ"),
        Check(float(max(errors)), 1e-12, "Φ(X) = Z T⟨ψ, x̄⟩"),
        Check(abs(quiet - 1), 1e-12, "T⟨ψ₀, x̄⟩ = yTζ²S²/2"),
    )
