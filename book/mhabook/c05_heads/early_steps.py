"""Chapter 5: the first steps from zero in closed form, and how long heads wait before they
attend."""

from math import exp

import numpy as np

from livegrad.arrays import Array
from mhabook.c01_model.instances import ZERO, from_zero, opposite_tokens, token_radius
from mhabook.c05_heads.collapse import CHAPTER, FURTHER, one_head_run
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.data import Dataset, from_arrays
from mhalib.losses import logistic
from mhalib.models import MultiHeadAttention
from mhalib.optim import Adam, GradientDescent

SAME = "the step size is the same for every H"


def equal_rows_gradient(data: Dataset, row: Array) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of one head at W = 0 and Ũ = 1 ũᵀ, where all rows of Ũ are ``row`` = ũ (d,).

    ∇_W L = −T (1/n) Σ σ(−z_i) y_i x̄_i (C_i ũ)ᵀ (d, d), and every row of ∇_Ũ L is −(1/n) Σ σ(−z_i)
    y_i x̄_i (d,), with z_i = T y_i x̄_iᵀ ũ and C_i the covariance of the tokens of sample i.
    Source: this book.
    """
    n, T, _ = data.X.shape
    mean = data.X.mean(axis=1)  # (n, d)
    away = data.X - mean[:, None]
    # Two products with ũ instead of n covariances (d, d).
    seen = (away.mT @ (away @ row)[..., None])[..., 0] / T  # C_i ũ, (n, d)
    # ℓ′(z) = −σ(−z), so the minus signs of both formulas are in g.
    g = data.y * logistic.slope(data.y * T * (mean @ row)) / n
    return T * (g[:, None] * mean).T @ seen, g @ mean


def two_steps(data: Dataset, eta_U: float, eta_W: float) -> tuple[np.ndarray, np.ndarray]:
    """One head (W, Ũ) after two steps of gradient descent from zero with step sizes η_u for Ũ and
    η_w for W."""
    row = -eta_U * equal_rows_gradient(data, np.zeros(data.X.shape[2]))[1]
    dW, drow = equal_rows_gradient(data, row)
    return -eta_W * dW, np.tile(row - eta_U * drow, (data.X.shape[1], 1))


def _run(seed):
    rng = np.random.default_rng([seed, 51])
    n, T, d = rng.integers(2, 7, size=3)
    X = rng.standard_normal((n, T, d))
    data = from_arrays(10.0 ** rng.uniform(-1, 0.5) * X, np.where(rng.random(n) < 0.5, -1.0, 1.0))
    return {"data": data, "H": int(rng.integers(1, 17)), "lr": 10.0 ** rng.uniform(-2, 1)}


def _elsewhere(seed):
    instance = _run(seed)
    shape = instance["H"], *instance["data"].X.shape[1:]
    return instance | {"start": MultiHeadAttention.random(*shape, scale=0.1, seed=seed)}


@statement(
    id="prop-second-step",
    title="The second step, in closed form",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=ZERO,
    random=_run,
    broken=_elsewhere,
    breaks=ZERO,
    hypotheses=from_zero,
)
def second_step(
    data: Dataset, H: int, lr: float, start: MultiHeadAttention | None = None
) -> Checks:
    """After two steps of gradient descent from zero: W_h = η_u η_w T (1/n) Σ σ(−z_i) y_i x̄_i (C_i
    χ)ᵀ for every head.

    η_u = η, η_w = η/H, χ = (1/2n) Σ y_i x̄_i, z_i = η_u T y_i x̄_iᵀ χ the margins after one step;
    and every row of √H U_h is η_u χ + η_u (1/n) Σ σ(−z_i) y_i x̄_i. In each check lhs is the
    largest error, relative to η_u η_w T R⁴, η_u T R² and η_u R, and rhs 1e-13. Source: this book.
    """
    model = MultiHeadAttention.zeros(H, *data.X.shape[1:]) if start is None else start
    path = []
    T = data.X.shape[1]
    for _ in range(2):
        model = model - lr * model.loss_and_grad(data.X, data.y)[1]
        path.append(model)
    (W, U), R, mean = two_steps(data, lr, lr / H), token_radius(data.X), data.X.mean(axis=1)
    z = lr * T * data.y * (mean @ (data.y @ mean)) / (2 * len(data))
    return (
        Check(
            float(abs(model.W - W).max() / (lr * lr / H * T * R**4)), 1e-13, "W_h after two steps"
        ),
        Check(
            float(abs(path[0].margins(data.X, data.y) - z).max() / (lr * T * R**2)),
            1e-13,
            "z_i after one step",
        ),
        Check(float(abs(H**0.5 * model.U - U).max() / (lr * R)), 1e-13, "√H U_h after two steps"),
    )


@statement(
    id="prop-second-step-adam",
    title="Adam's first two steps, in closed form",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=ZERO,
    random=_run,
    broken=_elsewhere,
    breaks=ZERO,
    hypotheses=from_zero,
)
def second_step_adam(
    data: Dataset, H: int, lr: float, start: MultiHeadAttention | None = None
) -> Checks:
    """Two steps of Adam from zero move W_h by ±η √(1+b₂)/(1+b₁) · |g|/(|g| + ε √(1+b₂)) entry by
    entry, g = ∇_{W_h} L.

    g is the gradient after one step, where W = 0 and every row of U_h is η χ/(|χ| + √H ε), with χ =
    (1/2n) Σ y_i x̄_i and b₁, b₂ for beta1, beta2. In each check lhs is the largest error relative
    to η, and rhs 1e-9. Source: this book.
    """
    rule, (n, T, d), path = Adam(lr), data.X.shape, []
    model = MultiHeadAttention.zeros(H, T, d) if start is None else start
    state = rule.start(model)
    for k in range(2):
        model, state = rule.step(model, model.loss_and_grad(data.X, data.y)[1], state, k)
        path.append(model)
    chi, more = data.y @ data.X.mean(axis=1) / (2 * n), (1 + rule.beta2) ** 0.5
    row = lr * chi / (abs(chi) + H**0.5 * rule.eps)
    g = equal_rows_gradient(data, H**0.5 * row)[0] / H
    # The first gradient in W is 0: the corrected moments of the second are g/(1 + b₁), g²/(1 + b₂).
    W = -lr * more / (1 + rule.beta1) * g / (abs(g) + rule.eps * more)
    return (
        # g/(|g| + ε) magnifies rounding by up to 1/ε where an entry of g is small: hence 1e-9.
        Check(float(abs(path[0].U - row).max() / lr), 1e-9, "U_h after one step of Adam"),
        Check(float(abs(model.W - W).max() / lr), 1e-9, "W_h after two steps of Adam"),
    )


def slow_attention_bound(
    data: Dataset, eta_U: float, eta_W: float, steps: int, loss: float
) -> float:
    """½ (1 − e^{−Λ})² η_u η_w T R⁴ k (k−1), Λ = ``loss``, the largest loss before step k: a bound
    on ‖W‖ after it."""
    T, R = data.X.shape[1], token_radius(data.X)
    return (1 - exp(-loss)) ** 2 * eta_U * eta_W * T * R**4 * steps * (steps - 1) / 2


def _short_opposite(eighths=7, R=1e-3, lr=1.0):
    """One sample of eight short tokens along one line, ``eighths`` of them one way: the nearest to
    the bound known."""
    X = np.zeros((1, 8, 2))
    X[0, :, 0] = R * np.where(np.arange(8) < eighths, 1.0, -1.0)
    return {"data": from_arrays(X, np.ones(1)), "H": 3, "lr": lr, "steps": 20}


def _long_decoder(seed):
    u = 10 * (1 + np.random.default_rng([seed, 52]).random())
    instance = opposite_tokens(u=u, R=1.0, H=2)
    return {"data": instance["data"], "H": 2, "lr": 0.1, "steps": 2, "start": instance["model"]}


@statement(
    id="thm-slow-attention",
    title="How far attention can have moved",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=f"{ZERO}; no loss before step k exceeds Λ",
    random=lambda seed: (
        _run(seed) | {"steps": int(np.random.default_rng([seed, 53]).integers(2, 30))}
    ),
    # As many short steps of a larger size: the step sizes are pinned, beyond the factor of four.
    # In the last the loss has fallen to nearly 0, and Λ is still that of the start.
    extremal=(
        _short_opposite,
        lambda: _short_opposite(lr=30.0),
        lambda: _short_opposite(lr=1e6) | {"steps": 3},
    ),
    slack=(0.76, 0.76),
    broken=_long_decoder,
    breaks=ZERO,
    hypotheses=from_zero,
)
def slow_attention(
    data: Dataset, H: int, lr: float, steps: int, start: MultiHeadAttention | None = None
) -> Check:
    """After k steps of gradient descent from zero ‖W_h‖ ≤ ½ (1 − e^{−Λ})² η_u η_w T R⁴ k (k−1), η_u
    η_w = η²/H.

    Λ is the largest loss before step k. The constant ½ is not pinned: no instance that we know uses
    more than a quarter of the bound, and for a short second step none can (ex-5-largest). Source:
    this book.
    """
    model, losses = MultiHeadAttention.zeros(H, *data.X.shape[1:]) if start is None else start, []
    for _ in range(steps):
        loss, grad = model.loss_and_grad(data.X, data.y)
        losses.append(loss)
        model = model - lr * grad
    bound = slow_attention_bound(data, lr, lr / H, steps, max(losses))
    return Check(
        float(np.linalg.norm(model.W, axis=(1, 2)).max()),
        float(bound),
        "‖W_h‖ ≤ ½ (1 − e^{−Λ})² η_u η_w T R⁴ k (k−1)",
    )


def many_heads_run(data: Dataset, lr: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The limit of infinitely many heads: the row ũ (d,) of Ũ and W̃ = lim H W_h (d, d) after
    ``steps`` steps.

    ũ ← ũ + η (1/n) Σ σ(−z_i) y_i x̄_i and W̃ ← W̃ + η T (1/n) Σ σ(−z_i) y_i x̄_i (C_i ũ)ᵀ, from
    zero.
    """
    d = data.X.shape[2]
    row, W = np.zeros(d), np.zeros((d, d))
    for _ in range(steps):
        dW, drow = equal_rows_gradient(data, row)
        row, W = row - lr * drow, W - lr * dW
    return row, W


def _steps(seed):
    rng, data = np.random.default_rng([seed, 54]), _run(seed)["data"]
    lr = rng.uniform(0.1, 1) / (data.X.shape[1] * token_radius(data.X) ** 2)
    return {"data": data, "lr": float(lr), "steps": int(rng.integers(2, 12))}


@statement(
    id="thm-many-heads",
    title="Infinitely many heads from zero do not attend",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{ZERO}; {SAME}",
    by_proof="the model becomes logistic regression on the mean token",
    random=_steps,
    # With the step size η√H the product of both step sizes is η² for every H, and W keeps moving.
    broken=lambda seed: _steps(seed) | {"growth": 0.5},
    breaks=SAME,
    hypotheses=lambda growth=0.0, **_: {SAME: growth == 0},
)
def many_heads(data: Dataset, lr: float, steps: int, H: int = 10**9, growth: float = 0.0) -> Checks:
    """With constant η, as H → ∞: √H U_h → 1 ũ_kᵀ and H W_h → W̃_k, the iterates of
    ``many_heads_run``.

    Run with H = 10⁹ heads and the step size η H^growth, growth 0. In each check lhs is the largest
    distance from the limit, relative to η k R and ½ η² T R⁴ k (k−1), and rhs 10/H. Source: this
    book.
    """
    (_, T, _), R = data.X.shape, token_radius(data.X)
    # One head with two step sizes stands for all H, so 10⁹ of them cost no more than one.
    one = one_head_run(data, GradientDescent(lr * H**growth), H, steps)
    (row, W) = many_heads_run(data, lr, steps)
    # W does not move in the first step, from zero.
    size = max(lr**2 * T * R**4 * steps * (steps - 1) / 2, TINY)
    return (
        Check(
            float(abs(one.U[0] - row).max() / max(lr * steps * R, TINY)),
            10 / H,
            "√H U_h → 1ũ_kᵀ as H → ∞",
        ),
        Check(float(abs(H * one.W[0] - W).max() / size), 10 / H, "H W_h → W̃_k as H → ∞"),
        Check(float(abs(one.W).max() / size), 10 / H, "W_h → 0 as H → ∞"),
    )
