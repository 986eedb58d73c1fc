"""What the training theorem is about: a run, a reference, the constants between them, and the chain
along the run.

θ₀ is the start, θ the reference, D₀ = ‖θ − θ₀‖, R the longest token, η the step size. Models are
``HeadGroups`` or ``MultiHeadAttention``.
"""

from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import Array, as_number, is_positive, require_count
from mhabook.c01_model.instances import Heads, token_radius
from mhabook.c02_curvature.bounds import curvature, decoder_sizes, steepness
from mhabook.ledger import Along, Check, Checks
from mhalib.data import Dataset
from mhalib.models import HeadGroups

# 4 · 7/64 = 7/16: at distance 2D₀ from the reference κD² is what the one-point lemma allows.
CURVED = 7 / 64
"""The training theorem asks for (B/√H) D₀² ≤ 7/64, that is √H ≥ (64/7) D₀² B."""
ROOM = 1 + 1e-9
"""Relative room for rounding where an instance is at the edge of what is allowed."""
STEP = "η ≤ min{1/ρ, D₀²/(K L(θ)), D₀²/L(θ₀)}"


class Constants(NamedTuple):
    """Valid in a whole neighborhood of the start: ‖∇Φ‖ ≤ G, κ = B/√H ≥ ‖∇²Φ‖, ρ = G²/4 + κ ≥
    ‖∇²L‖."""

    G: float
    B: float
    kappa: float
    rho: float


def _constants(H, T, R, largest, mean):
    G, B = steepness(T, R, mean), curvature(T, R, largest)
    return Constants(G, B, B / H**0.5, G**2 / 4 + B / H**0.5)


def ball_constants(start: Heads, R: float, distance: float) -> Constants:
    """The constants on the ball of radius 5 ``distance`` around the start (Theorem 1)."""
    (H, T, _), (largest, mean) = start.sizes, decoder_sizes(start)
    # Within 5D₀ of the start one decoder can have moved by all of it, but then the root mean square
    # has moved by 5D₀/√H only.
    return _constants(H, T, R, largest + 5 * distance, mean + 5 * distance / H**0.5)


def head_constants(start: Heads, R: float) -> Constants:
    """The constants where no head is further than 1/(2R²) from where it started (the theorem with
    fewer heads)."""
    (H, T, _), (largest, mean) = start.sizes, decoder_sizes(start)
    # Here every head may have moved by 1/(2R²), so the root mean square may have, too.
    return _constants(H, T, R, largest + 0.5 / R**2, mean + 0.5 / R**2)


def constants_of(start: Heads, R: float, distance: float, per_head: bool = False) -> Constants:
    """Those of Theorem 1, or ``per_head`` those of the theorem with fewer heads."""
    return head_constants(start, R) if per_head else ball_constants(start, R, distance)


def head_distance(model: Heads, start: Heads) -> float:
    """max_h ‖θ_h − θ_{0,h}‖: how far the head that moved most has moved."""
    step = model - start
    return float(np.sqrt(((step.W**2).sum(axis=(1, 2)) + (step.U**2).sum(axis=(1, 2))).max()))


def largest_step(
    constants: Constants, distance: float, reference_loss: float, start_loss: float, steps: int
) -> float:
    """η = min{1/ρ, D₀²/(K L(θ)), D₀²/L(θ₀)}: the largest step size of the training theorem."""
    # Stacked, because Python's min() would compare records of the compiler, which have no values.
    return as_number(
        np.stack(
            [1 / constants.rho, distance**2 / (steps * reference_loss), distance**2 / start_loss]
        ).min()
    )


def conditions(
    start: Heads, reference: Heads, data: Dataset, lr: float, steps: int, per_head: bool = False
) -> dict[str, bool]:
    """What Theorem 1, or the theorem with fewer heads, asks of an instance: condition → whether it
    holds."""
    R, distance = token_radius(data.X), (reference - start).norm()
    constants = constants_of(start, R, distance, per_head)
    losses = (float(model.loss(data.X, data.y)) for model in (reference, start))
    found = {
        "√H ≥ (64/7) D₀² B": constants.kappa * distance**2 <= ROOM * CURVED,
        STEP: 0 < lr <= ROOM * largest_step(constants, distance, *losses, steps),
    }
    near = head_distance(reference, start) <= 0.5 / R**2
    return found | ({"‖θ_h − θ_{0,h}‖ ≤ 1/(2R²)": near} if per_head else {})


def heads_needed(distance: float | Array, decoder: float, T: int, R: float) -> Any:
    """((64/7) D₀² B)², B for decoders of norm max_h‖U_{0,h}‖ + 5D₀: the H that Theorem 1 asks for,
    ~ D₀⁶.

    ``decoder`` is max_h‖U_{0,h}‖.  Source: this book, after Deora et al. 2023, Theorem 1.
    """
    return (distance**2 * curvature(T, R, decoder + 5 * distance) / CURVED) ** 2


def fewer_heads_needed(distance: float | Array, decoder: float, T: int, R: float) -> Any:
    """((64/7) D₀² B)², B for decoders of norm max_h‖U_{0,h}‖ + 1/(2R²): H for the theorem with
    fewer heads, ~ D₀⁴.

    Source: this book.
    """
    return (distance**2 * curvature(T, R, decoder + 0.5 / R**2) / CURVED) ** 2


def logit_slopes(model: Heads, direction: Heads, X: Array) -> np.ndarray:
    """⟨∇Φ(X_i; θ), v⟩ for every example (n,): how fast the logits change along a direction v."""
    # ``few`` is linear and keeps the logits, so Φ changes along v as its F heads do along few(v).
    few, along = (
        part.few() if isinstance(part, HeadGroups) else part for part in (model, direction)
    )
    dW, dU = few.logit_gradients(X)
    return (dW * along.W).sum(axis=(1, 2, 3)) + (dU * along.U).sum(axis=(1, 2, 3))


class Reference(NamedTuple):
    """θ = θ₀ + D₀θ* of the corollary, with the three numbers that D₀ = (B_Φ + ½ + log K)/γ is made
    of."""

    model: Any
    distance: float
    largest_logit: float
    margin: float


def reference_along(start: Heads, direction: Heads, data: Dataset, steps: int) -> Reference:
    """The ``Reference`` along a direction θ* (its length does not matter) that separates the data
    at the start.

    Raises ValueError if the direction does not separate: some y ⟨∇Φ, θ*⟩ ≤ 0. Source: this book,
    Corollary 2.
    """
    unit = 1 / direction.norm() * direction
    margin = as_number((data.y * logit_slopes(start, unit, data.X)).min())
    # What the compiler records has no values to compare.
    if not getattr(margin, "is_meta", False) and not margin > 0:
        raise ValueError(
            f"direction: expected y ⟨∇Φ, θ*⟩ > 0 on every example, got a least value of "
            f"{margin:.4g}"
        )
    largest = as_number(abs(start(data.X)).max())
    distance = (largest + 0.5 + as_number(np.log(steps))) / margin
    return Reference(start + distance * unit, distance, largest, margin)


class Chain(NamedTuple):
    """Gradient descent θ₀, …, θ_K as the theorem sees it; every array has one entry for each of the
    K + 1 models."""

    loss: np.ndarray
    squared_gradient: np.ndarray
    product: np.ndarray  # ⟨∇L(θ_k), θ_k − θ⟩
    from_start: np.ndarray  # ‖θ_k − θ₀‖
    from_reference: np.ndarray  # ‖θ_k − θ‖
    head_distance: np.ndarray  # max_h ‖θ_{k,h} − θ_{0,h}‖
    reference_loss: float
    lr: float

    @property
    def distance(self) -> float:
        """D₀ = ‖θ − θ₀‖."""
        return float(self.from_reference[0])


def require_step_size(lr: float) -> None:
    """Check that a step size η is a finite number > 0.

    Raises ValueError if it is not.
    """
    if not is_positive(lr):
        raise ValueError(f"lr: expected a finite number > 0, got {lr!r}")


def follow(start: Heads, reference: Heads, data: Dataset, lr: float, steps: int) -> Chain:
    """Run ``steps`` steps of gradient descent from ``start`` and measure, at every step, what the
    theorem speaks of.

    Raises ValueError if ``lr`` is no finite number > 0, or ``steps`` no whole number ≥ 1.
    """
    require_count(steps=steps)
    require_step_size(lr)
    model, rows, workspace = start, [], start.workspace(data.X, data.y)
    for _ in range(steps + 1):
        loss, grad = workspace.loss_and_grad(workspace.pack(model))
        grad, away = workspace.unpack(grad), model - reference
        rows.append(
            (
                float(loss),
                grad.dot(grad),
                grad.dot(away),
                (model - start).norm(),
                away.norm(),
                head_distance(model, start),
            )
        )
        model = model - lr * grad
    return Chain(*np.array(rows).T, float(reference.loss(data.X, data.y)), float(lr))


def guarantee(
    distance: float, reference_loss: float, start_loss: float, lr: float, k: int | Array
) -> Any:
    """(2/3) D₀²/(ηk) + (5/3) L(θ) + L(θ₀)/(3k): what the theorem promises for the mean loss of k
    steps, and the last.

    Source: this book, after Deora et al. 2023, Theorem 1.
    """
    return 2 * distance**2 / (3 * lr * k) + 5 * reference_loss / 3 + start_loss / (3 * k)


def descent_link(chain: Chain) -> Along:
    """(η/2)‖∇L(θ_k)‖² ≤ L(θ_k) − L(θ_{k+1})."""
    return Along(
        np.arange(len(chain.loss) - 1),
        chain.lr / 2 * chain.squared_gradient[:-1],
        -np.diff(chain.loss),
        "(η/2)‖∇L‖² ≤ L_k − L_{k+1}",
    )


def one_point_link(chain: Chain) -> Along:
    """¾ L(θ_k) ≤ ⟨∇L(θ_k), θ_k − θ⟩ + (5/4) L(θ)."""
    return Along(
        np.arange(len(chain.loss)),
        0.75 * chain.loss,
        chain.product + 1.25 * chain.reference_loss,
        "¾ L_k ≤ ⟨∇L, θ_k − θ⟩ + (5/4) L(θ)",
    )


def regret_link(chain: Chain) -> Along:
    """(3/2) η Σ_{j≤k} L(θ_j) ≤ D₀² − ‖θ_k − θ‖² + (5/2) η k L(θ) + ½ η (L(θ₀) − L(θ_k)), the sum
    from j = 1."""
    k, eta, loss = np.arange(1, len(chain.loss)), chain.lr, chain.loss
    nearer = chain.distance**2 - chain.from_reference[1:] ** 2
    return Along(
        k,
        1.5 * eta * np.cumsum(loss[1:]),
        nearer + 2.5 * eta * k * chain.reference_loss + 0.5 * eta * (loss[0] - loss[1:]),
        "(3/2) η Σ L_j ≤ D₀² − ‖θ_k − θ‖² + …",
    )


def bounded_link(chain: Chain) -> Along:
    """max(‖θ_k − θ‖/2, ‖θ_k − θ₀‖/3) ≤ D₀."""
    lhs = np.maximum(chain.from_reference / 2, chain.from_start / 3)
    return Along(
        np.arange(len(lhs)),
        lhs,
        np.full(len(lhs), chain.distance),
        "‖θ_k − θ‖ ≤ 2D₀ and ‖θ_k − θ₀‖ ≤ 3D₀",
    )


def stays_near(chain: Chain) -> Checks:
    """‖θ_k − θ‖ ≤ 2D₀, ‖θ_k − θ₀‖ ≤ 3D₀, and no loss above the one before it: the worst of each
    along the run."""
    return (
        Check(float(chain.from_reference.max()), 2 * chain.distance, "‖θ_k − θ‖ ≤ 2D₀"),
        Check(float(chain.from_start.max()), 3 * chain.distance, "‖θ_k − θ₀‖ ≤ 3D₀"),
        Check(_excess(chain.loss[1:], chain.loss[:-1]), 1e-12, "L_{k+1} ≤ L_k"),
    )


def converges(chain: Chain) -> Checks:
    """L_k ≤ the mean of L_1, …, L_k, and that mean ≤ the ``guarantee``, for every k: the worst of
    each."""
    mean = np.cumsum(chain.loss[1:]) / np.arange(1, len(chain.loss))
    return Check(_excess(chain.loss[1:], mean), 1e-12, "L_k ≤ mean of L_1, …, L_k"), rate_link(
        chain
    ).worst


def _excess(values, bounds):
    """By what share of its bound the worst value is above it, or 0."""
    return max(0.0, float((values / bounds).max()) - 1)


def rate_link(chain: Chain) -> Along:
    """max{L(θ_k), mean of L(θ_1), …, L(θ_k)} ≤ the ``guarantee`` after k steps."""
    k = np.arange(1, len(chain.loss))
    mean = np.cumsum(chain.loss[1:]) / k
    return Along(
        k,
        np.maximum(mean, chain.loss[1:]),
        guarantee(chain.distance, chain.reference_loss, chain.loss[0], chain.lr, k),
        "mean L ≤ (2/3)D₀²/(ηk) + (5/3)L(θ) + L₀/(3k)",
    )


def links(chain: Chain) -> dict[str, Along]:
    """The five links of the chain along a run, by name."""
    return {
        "descent": descent_link(chain),
        "one point": one_point_link(chain),
        "regret": regret_link(chain),
        "bounded iterates": bounded_link(chain),
        "rate": rate_link(chain),
    }
