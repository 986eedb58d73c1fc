"""Chapter 5: how fast the loss falls once attention has settled."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from livegrad.arrays import Array
from livegrad.training import Path
from mhabook.c01_model.selection import selected_mass
from mhabook.c03_first_step.first_phase import mixture_of
from mhabook.c05_heads.collapse import FURTHER
from mhabook.ledger import Check, Checks, statement
from mhalib.data import Dataset, tokenized_mixture
from mhalib.losses import logistic
from mhalib.models import MultiHeadAttention

NO_NOISE = "a tokenized mixture in which no distracting token has a part along μ₊ − μ₋"


def loss_rate(path: Path, lr: float) -> np.ndarray:
    """η (‖∇L‖/L)² at the recorded steps of a ``Path``: by how much a small step of gradient descent
    raises 1/L."""
    return lr * (path.grad_norm / path.loss) ** 2


def decoder_pull(model: MultiHeadAttention, data: Dataset, S: float) -> float:
    """S √(T/2) (1/n) Σ |ℓ′(z_i)| α_i, with α_i the attention score of sample i: a lower bound on
    ‖∇_U L‖."""
    # (n,)
    scores = (model.attention(data.X) * data.relevant[:, None, None]).sum(axis=-1).mean(axis=(1, 2))
    slopes = abs(logistic.slope(model.margins(data.X, data.y)))
    return S * (data.X.shape[1] / 2) ** 0.5 * float((slopes * scores).mean())


def _noise_free(seed):
    rng = np.random.default_rng([seed, 55])
    T, M, H = rng.integers(2, 6, size=3)
    S, scale = 10.0 ** rng.uniform([-1, -2], [0.5, 1])
    data = tokenized_mixture(
        n=int(rng.integers(1, 6)),
        T=int(T),
        d=int(M) + 2,
        M=int(M),
        S=S,
        sigma=0.0,
        zeta=int(rng.integers(1, T + 1)) / T,
        seed=seed,
    )
    return {
        "model": MultiHeadAttention.random(int(H), int(T), int(M) + 2, scale=scale, seed=seed),
        "data": data,
    }


def _pairs(S=2.0, gap=3.0, zeta=0.1, fewer=0):
    """Each sample twice, once with either label; the heads select, and the decoders read the
    labels. In the first ``fewer`` pairs only the first of the relevant tokens is left."""
    half = tokenized_mixture(n=4, S=S, sigma=0.0, zeta=zeta)
    for X, relevant in zip(half.X[:fewer], half.relevant[:fewer], strict=True):
        others = np.flatnonzero(relevant)[1:]
        X[others], relevant[others] = half.truth.nu[0], False
    # Both labels occur beside the same distracting tokens and with the same slope, so in ∇_U L
    # these tokens cancel and the direction of the labels alone is left: equality.
    (mu, nu), y = (half.truth.mu, half.truth.nu), np.repeat([1.0, -1.0], 4)
    relevant = np.concatenate([half.relevant, half.relevant])
    X = np.where(
        relevant[..., None], mu[(y > 0).astype(int)][:, None], np.concatenate([half.X, half.X])
    )
    # The sum of all patterns and μ₊ + μ₋ have the product S² with every query and every relevant
    # key: those scores are ``gap``, all others 0.
    W = gap / S**4 * np.outer(mu.sum(axis=0) + nu.sum(axis=0), mu.sum(axis=0))
    U = np.tile(mu[1] - mu[0], (10, 1)) / (10 * S**2)
    model = MultiHeadAttention(np.stack([W, W]), np.stack([U, U]))
    return {"model": model, "data": Dataset(X, y, relevant, half.truth)}


def _by_turns(gap=3.0):
    """Each of four samples twice, once with either label, of one relevant token and another one.
    Only the query that is relevant attends, and of the two heads only the one that knows the other
    token's pattern: no head, query or sample is like the mean of all."""
    mixture = tokenized_mixture(n=4, T=2, d=4, M=2, S=1.0, sigma=0.0, zeta=0.5).truth
    (mu, nu), y = (mixture.mu, mixture.nu), np.repeat([1.0, -1.0], 4)
    relevant = np.tile([[True, False], [False, True]], (4, 1))
    others, labels = np.tile(nu.repeat(2, axis=0), (2, 1)), mu[(y > 0).astype(int)]
    X = np.where(relevant[..., None], labels[:, None], others[:, None])
    # In a sample with ``blind`` as its other token both keys have the same score.
    W = [gap * np.outer(mu.sum(axis=0), mu.sum(axis=0) + blind) for blind in nu[::-1]]
    U = np.tile(mu[1] - mu[0], (2, 2, 1)) / 4
    return {"model": MultiHeadAttention(np.stack(W), U), "data": Dataset(X, y, relevant, mixture)}


def _against(seed):
    """Distracting tokens that show the pattern of the other label, as many as there are relevant
    ones."""
    data = tokenized_mixture(n=60, zeta=0.5, sigma=0.0, seed=seed)
    mu = data.truth.mu[::-1][(data.y > 0).astype(int)][:, None]
    data = replace(data, X=np.where(data.relevant[..., None], data.X, mu))
    return {"model": MultiHeadAttention.zeros(2, 10, 8), "data": data}


def _short():
    """Relevant tokens μ_y/2."""
    instance = _pairs()
    data = instance["data"]
    X = np.where(data.relevant[..., None], data.X / 2, data.X)
    return instance | {"data": replace(data, X=X)}


def _no_noise(data, **_):
    if not hasattr(data.truth, "mu"):
        return {NO_NOISE: False, "relevant tokens are μ_y": False}
    mu = data.truth.mu[(data.y > 0).astype(int)][:, None]
    between = data.truth.mu[1] - data.truth.mu[0]
    away = np.where(data.relevant[..., None], data.X - mu, 0.0)
    along = np.where(data.relevant, 0.0, data.X @ between)
    return {
        NO_NOISE: abs(along).max() <= 1e-12 * (between @ between),
        # Exactly: relevant tokens are copies of μ_y, on which no arithmetic is done.
        "relevant tokens are μ_y": not away.any(),
    }


@statement(
    id="prop-pull",
    title="How much attention helps the decoders",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{NO_NOISE}; relevant tokens are μ_y",
    random=_noise_free,
    # In the second, samples differ in how much of their attention is relevant; in the third, so do
    # heads and queries.
    extremal=(_pairs, lambda: _pairs(zeta=0.3, fewer=2), _by_turns),
    slack=(1e-9, 1e-9, 1e-9),
    broken=_against,
    breaks=NO_NOISE,
    hypotheses=_no_noise,
    counterexamples=(_short,),
)
def pull(model: MultiHeadAttention, data: Dataset) -> Check:
    """‖∇_U L‖ ≥ S √(T/2) (1/n) Σ |ℓ′(z_i)| α_i for every number of heads, α_i the attention score
    of sample i.

    In the check lhs is the right-hand side, and rhs the norm of the gradient in all decoders.
    Source: this book.
    """
    _, grad = model.loss_and_grad(data.X, data.y)
    S = float(np.linalg.norm(mixture_of(data).mu[0]))
    return Check(
        decoder_pull(model, data, S),
        float(np.linalg.norm(grad.U)),
        "S √(T/2) mean(|ℓ′| α) ≤ ‖∇_U L‖",
    )


def conserved(zeta: float, eta_U: float, eta_W: float, tau: float, gap: float) -> float:
    """τ²/(2 η_u) − (g + ζ/(1−ζ) e^g)/η_w, which the gradient flow of ℓ(τ α(g)) leaves as it is."""
    return tau * tau / (2 * eta_U) - (gap + zeta / (1 - zeta) * np.exp(gap)) / eta_W


def reduced_flow(
    zeta: float,
    eta_U: float,
    eta_W: float,
    start: tuple[float, float] | Array,
    time: float,
    steps: int = 60,
    key_gain: float = 1.0,
    slope: Callable[[Any], Any] = logistic.slope,
) -> np.ndarray:
    """(τ, g) after ``time`` of τ′ = −η_u ∂_τ ℓ(τ α(g)), g′ = −η_w ∂_g ℓ(τ α(g)), by the method of
    Runge and Kutta.

    α(g) = ζ e^g/(ζ e^g + 1 − ζ) is the weight on a share ζ of the tokens whose scores are g above
    the others', and ``slope`` is ℓ′. With a ``key_gain`` other than 1 the second equation is not
    that of a gradient: its factor 1 − α has this power. ``start`` is (τ, g), or arrays of both.
    """

    def velocity(at):
        alpha = selected_mass(zeta, at[1])
        # ∂_g α = α(1 − α), so −ℓ′ · α is a factor of both velocities.
        return (
            -slope(at[0] * alpha)
            * alpha
            * np.array([eta_U + 0 * alpha, eta_W * at[0] * (1 - alpha) ** key_gain])
        )

    at, dt = np.array(start, dtype=float), time / steps
    for _ in range(steps):
        k1 = velocity(at)
        k2 = velocity(at + dt / 2 * k1)
        k3 = velocity(at + dt / 2 * k2)
        at = at + dt / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(at + dt * k3))
    return at


def reduced_share(zeta: float, H: int, margin: float) -> float:
    """The weight α at which τ α(g) = ``margin`` on the path from τ = g = 0 with η_u = H η_w, by
    bisection.

    There H α² (log(o/o₀) + o − o₀) = margin²/2, with odds o = α/(1−α) and o₀ = ζ/(1−ζ).
    """
    low, high, first = 0.0, 60.0, zeta / (1 - zeta)
    # 200 halvings leave an interval of [0, 60] below the last bit. o − o₀ = o₀(e^g − 1): ``expm1``
    # has no cancellation near g = 0.
    for _ in range(200):
        gap = (low + high) / 2
        tau = (2 * H * (gap + first * np.expm1(gap))) ** 0.5
        low, high = (gap, high) if tau * selected_mass(zeta, gap) < margin else (low, gap)
    return float(selected_mass(zeta, gap))


SLOPES: dict[str, Callable[[Any], Any]] = {
    "logistic": logistic.slope,
    "exponential": lambda z: -np.exp(-z),
    "squared": lambda z: z - 1,
    "rising": lambda z: logistic.slope(z) + 1,
}
"""ℓ′ of the losses on which the check of ``lever`` runs; the last one pushes the margin down."""
GRADIENT = "g follows the gradient of ℓ(τ α(g)), α the softmax weight"


def _flow(seed):
    rng = np.random.default_rng([seed, 56])
    zeta, eta_U = rng.uniform(0.05, 0.9), rng.uniform(0.1, 1)
    return {
        "zeta": zeta,
        "eta_U": eta_U,
        "H": 2 ** int(rng.integers(0, 7)),
        "start": tuple(rng.uniform(-1, 1, 2)),
        "time": 10.0 ** rng.uniform(-1, 1.3),
        # By the seed, so that every loss comes up.
        "loss": list(SLOPES)[seed % len(SLOPES)],
    }


@statement(
    id="prop-lever",
    title="The trade-off between decoder and attention",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"0 < ζ < 1; {GRADIENT}",
    random=_flow,
    broken=lambda seed: _flow(seed) | {"time": 20.0, "key_gain": 2.0},
    breaks=GRADIENT,
    hypotheses=lambda zeta, key_gain=1.0, **_: {"0 < ζ < 1": 0 < zeta < 1, GRADIENT: key_gain == 1},
    refused=(lambda: _flow(0) | {"zeta": 1.0},),
)
def lever(
    zeta: float,
    eta_U: float,
    H: int,
    start: tuple[float, float],
    time: float,
    loss: str = "logistic",
    key_gain: float = 1.0,
) -> Checks:
    """Gradient flow of ℓ(τ α(g)), α(g) = ζ e^g/(ζ e^g + 1 − ζ), leaves τ²/(2η_u) − (g + ζ/(1−ζ)
    e^g)/η_w as it is.

    η_w = η_u/H, and from τ = g = 0 the path is τ² = 2H (g + o − o₀) with the odds o = α/(1−α). In
    each check lhs is the error along a numerical solution, relative to the largest of the terms,
    and rhs 1e-7. Source: this book.
    """
    starts, origin = np.array([start, (0.0, 0.0)]).T, zeta / (1 - zeta)
    end, (tau, gap) = reduced_flow(
        zeta, eta_U, eta_U / H, starts, time, 400, key_gain, SLOPES[loss]
    ).T
    before, after = (conserved(zeta, eta_U, eta_U / H, *at) for at in (start, end))
    size = max(
        max(u * u / (2 * eta_U), H / eta_U * (abs(g) + origin * np.exp(g))) for u, g in (start, end)
    )
    along = 2 * H * (gap + origin * np.expm1(gap))
    return (
        Check(
            float(abs(after - before) / size), 1e-7, "τ²/(2η_u) − (g + ζ/(1−ζ) e^g)/η_w is constant"
        ),
        Check(
            float(abs(tau**2 - along) / max(tau**2, along)),
            1e-7,
            "τ² = 2H (g + o − o₀) from τ = g = 0",
        ),
    )
