"""Instances on which statements are checked: random ones at all scales, and the extremal ones that
bounds meet."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from livegrad.arrays import Array, as_number, is_positive
from livegrad.training import Model
from mhabook.ledger import Instance
from mhalib.data import Dataset, from_arrays
from mhalib.models import MultiHeadAttention

TOKENS = "every token has norm at most R"
ZERO = "all parameters start at zero"


class Heads(Model, Protocol):
    """Heads with one decoder each: a ``MultiHeadAttention``, or one that stands for groups of equal
    heads."""

    @property
    def W(self) -> Array:
        """Key–query products."""
        ...

    @property
    def U(self) -> Array:
        """Decoders."""
        ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers (H, T, d)."""
        ...

    def __call__(self, X: Array, /) -> Any:
        """Logits (n,)."""


def token_radius(X: Array) -> float:
    """R = the largest token norm in X (n, T, d)."""
    return as_number(np.sqrt((X * X).sum(axis=-1).max()))


def radius_or_given(data: Dataset | None, R: float | None) -> float:
    """The R that a bound is told, or where it is told None that of the tokens of the data.

    Raises ValueError if the given R is no finite number ≥ 0: no token has such a norm.
    """
    if R is None:
        return token_radius(data.X)
    if not is_positive(R) and R != 0:
        raise ValueError(f"R: expected a finite number ≥ 0, the largest norm of a token, got {R!r}")
    return R


def tokens_fit(data: Dataset, R: float | None = None, **_: Any) -> dict[str, bool]:
    """The hypothesis of every bound that is told R: no token is longer."""
    # The norm of a token that was made with length R can come out an ulp above R.
    return {TOKENS: token_radius(data.X) <= (1 + 1e-9) * radius_or_given(data, R)}


def from_zero(start: Any = None, **_: Any) -> dict[str, bool]:
    """The hypothesis of every statement on runs from zero."""
    return {ZERO: start is None or start.norm() == 0}


def problem(seed: int, largest: int = 4) -> Instance:
    """A random model and dataset, sizes and scales drawn too: n, H ≤ largest, 2 ≤ T, d ≤
    largest."""
    rng = np.random.default_rng([seed, 11])
    n, H = rng.integers(1, largest + 1, size=2)
    # A single token has weight 1 whatever W is, so T starts at 2.
    T, d = rng.integers(2, largest + 1, size=2)
    scale_X, scale_W, scale_U = 10.0 ** rng.uniform([-1, -2, -2], [0.5, 1, 1])
    X = scale_X * rng.standard_normal((n, T, d))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    model = MultiHeadAttention(
        scale_W * rng.standard_normal((H, d, d)), scale_U * rng.standard_normal((H, T, d))
    )
    return {"model": model, "data": from_arrays(X, y)}


def equal_tokens(T: int = 4, R: float = 1.5, H: int = 3) -> Instance:
    """All tokens equal and U = 0: ∇_U Φ has its largest norm √T R and ∇_W Φ vanishes."""
    X = np.zeros((1, T, 2))
    X[..., 0] = R
    return {"model": MultiHeadAttention.zeros(H, T, 2), "data": from_arrays(X, np.ones(1))}


def opposite_tokens(
    u: float = 0.0, T: int = 4, R: float = 1.5, H: int = 3, mean: float = 0.0
) -> Instance:
    """Half of the tokens R e₁, half −R e₁, decoders of norm u along ±e₁; a query sees ``mean`` ·
    itself on average.

    At mean 0 attention is uniform, and the tokens' covariance R² e₁e₁ᵀ is the largest there is: the
    Hessian bound is attained at u = 0, and the gradient bound approached as u grows. At mean 1/√3
    the third moment is largest, and the sharper Hessian bound is approached as u grows.
    """
    sign = np.where(np.arange(T) < T // 2, 1.0, -1.0)
    X, W, U = np.zeros((1, T, 2)), np.zeros((H, 2, 2)), np.zeros((H, T, 2))
    X[0, :, 0] = R * sign
    # A query ±R e₁ scores its own kind arctanh(mean) and the other kind −arctanh(mean), so the
    # signs that it sees have the mean tanh(arctanh(mean)). T rows of length u/√T have norm u.
    W[:, 0, 0] = np.arctanh(mean) / R**2
    U[:, :, 0] = u * sign / T**0.5
    return {"model": MultiHeadAttention(W, U), "data": from_arrays(X, np.ones(1))}


def confident(z: float = 30.0, R: float = 1e-4, T: int = 4, H: int = 3) -> Instance:
    """Equal short tokens with margin z: for z → ±∞ slope over loss tends to its bound, and the
    gradient with it."""
    instance = equal_tokens(T=T, R=R, H=H)
    U = np.zeros((H, T, 2))
    # The logit is H^{−1/2} · H · T · R · U_00 = z.
    U[..., 0] = z / (T * R * H**0.5)
    return instance | {"model": MultiHeadAttention(np.zeros((H, 2, 2)), U)}


def leaning(
    z: float = 10.0, R: float = 1e-5, T: int = 4, H: int = 3, lean: float = 0.01
) -> Instance:
    """Opposite short tokens that lean a little to e₂, where the decoders read a margin z: −λ_min
    nears (B/√H) L."""
    X = opposite_tokens(T=T, H=H)["data"].X.copy()
    # One part along e₂ for all tokens: what the decoders read there does not depend on attention.
    X[..., 1] = lean * abs(X[..., 0])
    X *= R / np.linalg.norm(X[0, 0])
    U = np.zeros((H, T, 2))
    U[..., 1] = z / (T * X[0, 0, 1] * H**0.5)
    return {"model": MultiHeadAttention(np.zeros((H, 2, 2)), U), "data": from_arrays(X, np.ones(1))}


def one_reads(u: float, T: int = 4, R: float = 1.5, mean: float = 0.0, H: int = 2) -> Instance:
    """Heads of which the first has a decoder of norm u as in ``opposite_tokens``; the others are
    saturated and read nothing.

    So bounds in which the heads enter by their mean and by their largest are told apart.
    """
    instance = opposite_tokens(u, T, R, H, mean)
    W, U = instance["model"].W.copy(), instance["model"].U.copy()
    W[1:, 0, 0], U[1:] = 40 / R**2, 0
    return instance | {"model": MultiHeadAttention(W, U)}


def outvoted(R: float, margin: float, r: float = 50.0, H: int = 10) -> Instance:
    """Two heads as in ``opposite_tokens`` at the largest third moment, with long decoders, R²u = r,
    that read a negative margin; the others, saturated and with shorter decoders, make it ``margin``.

    The gradient does not tell the two heads from each other, so that −λ_min nears 4/(3√3) (B/√H) L
    where they part.
    """
    model, data = opposite_tokens(-r / R**2, R=R, H=H, mean=3**-0.5).values()
    W, U, T = model.W.copy(), model.U.copy(), model.sizes[1]
    # A saturated query sees itself: a head adds √(T/H) R u to the logit, one of the two −1/√3 of it.
    W[2:, 0, 0] = 40 / R**2
    U[2:] *= -(margin * R / r * (H / T) ** 0.5 + 2 * 3**-0.5) / (H - 2)
    return {"model": MultiHeadAttention(W, U), "data": data}


def crest(turn: float = 0.008) -> Instance:
    """Two models on either side of an ``outvoted`` one, to which its two heads part by ``turn``/R²."""
    (model, data), R = outvoted(0.02, 12.0).values(), 0.02
    W = np.zeros_like(model.W)
    W[:2, 0, 0] = turn / R**2 / 2**0.5, -turn / R**2 / 2**0.5
    step = MultiHeadAttention(W, 0 * model.U)
    return {"model": model + step, "other": model - step, "data": data}


def misread(R: float, T: int, r: float, H: int = 200) -> Instance:
    """Tokens ±R on a line, and saturated heads whose decoders, R²u = ``r``, read a wrong label. One
    more has R²u = 50 and the largest third moment, and the heads are so many that B/√H is most of ρ.
    """
    sign = np.where(np.arange(T) < T // 2, 1.0, -1.0)
    W, u = np.full((H, 1, 1), 40 / R**2), np.full((H, 1), -r / R**2)
    W[0], u[0] = np.arctanh(3**-0.5) / R**2, 50 / R**2
    model = MultiHeadAttention(W, (u * sign / T**0.5)[..., None])
    return {"model": model, "data": from_arrays(R * sign[None, :, None], np.ones(1))}


def with_both_labels(instance: Instance) -> Instance:
    """An instance of one sample, with the sample twice, once with either label."""
    X = np.repeat(instance["data"].X, 2, axis=0)
    return instance | {"data": from_arrays(X, np.array([1.0, -1.0]))}


def negative(instance: Instance, n: int = 2) -> Instance:
    """An instance of one sample with the label −1 and the decoders turned around, and n copies of
    the sample: every margin and every loss is the same."""
    X, model = np.repeat(instance["data"].X, n, axis=0), instance["model"]
    return instance | {
        "model": MultiHeadAttention(model.W, -model.U),
        "data": from_arrays(X, -np.ones(n)),
    }


def valley(distance: float = 1.0, T: int = 4, R: float = 1.0, H: int = 1) -> Instance:
    """Two models (W, U) and (−W, −U) with the same logit, so that the loss has a hump halfway
    between them."""
    instance = opposite_tokens(T=T, R=R, H=H)
    # The two models differ by 2(W, U), whose squared norm is 8H · reach²: ``distance``² as asked.
    sign, reach = instance["data"].X[0, :, 0] / R, distance / (8 * H) ** 0.5
    W, U = np.zeros((H, 2, 2)), np.zeros((H, T, 2))
    W[:, 0, 0], U[:, :, 0] = reach, reach * sign / T**0.5
    model = MultiHeadAttention(W, U)
    return {"model": model, "other": -model, "data": instance["data"]}


def ridge(curvature: float = 0.4, R: float = 1e-5) -> Instance:
    """Two models on either side of a ``leaning`` one, so far apart that κD² = ``curvature``: there
    L ~ e^{−Φ}."""
    (model, data), (H, T, _) = leaning(R=R).values(), leaning()["model"].sizes
    # Short decoders have κ ≈ √T R³/√H. The ends differ by twice the model of ``valley``, so D is
    # its distance.
    step = valley((curvature * (H / T) ** 0.5 / R**3) ** 0.5, H=H)["model"]
    return {"model": model + step, "other": model - step, "data": data}


def between(seed: int, low: float, high: float) -> float:
    """A number between the two that goes with the seed: what makes the instances of a twin
    different."""
    return float(np.random.default_rng([seed, 13]).uniform(low, high))


def short(seed: int, make: Callable[..., Instance], **sizes: Any) -> Instance:
    """An extremal instance whose tokens are twice as long as the R that the bound is told."""
    R = 1.0 + np.random.default_rng([seed, 12]).random()
    return make(R=R, **sizes) | {"R": R / 2}


def several_heads(seed: int) -> Instance:
    """A random problem with two heads or more, at scales where no derivative is lost in
    rounding."""
    rng = np.random.default_rng([seed, 18])
    n, H, T, d = rng.integers(2, 4, size=4)
    X, y = rng.standard_normal((n, T, d)), np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return {"model": MultiHeadAttention.random(H, T, d, seed=seed), "data": from_arrays(X, y)}
