"""Chapter 3: the maximum margin of features, exactly, and what it says of a model at
initialization."""

from typing import NamedTuple

import numpy as np

from livegrad.arrays import Array, require, require_labels, require_same_dtype, to_numpy
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.data import Dataset
from mhalib.models import MultiHeadAttention

CHAPTER = "multihead/03_what_one_random_step_knows"
FURTHER = "multihead/03_further"


class MaxMargin(NamedTuple):
    """The largest margin γ, the unit direction that has it (p,), and the convex weights of the
    samples (n,).

    The direction is Σ_i weights_i y_i φ_i, divided by its norm, which is γ. Where no direction
    separates, all is zero.
    """

    margin: float
    direction: np.ndarray
    weights: np.ndarray


def max_margin(features: Array, y: Array) -> MaxMargin:
    r"""The hard-margin direction through the origin, exactly: no bias, no tolerance to choose.

    .. math:: \gamma = \max_{\|\theta\|=1}\min_i\, y_i\langle\varphi_i,\theta\rangle
              = \min_{a\ge0,\ \sum a=1}\Bigl\|\sum_i a_iy_i\varphi_i\Bigr\|

    The second form is the distance of the convex hull of the signed features from the origin, found
    by non-negative least squares. The returned margin is the smallest of all samples in the
    returned direction. It is computed by numpy in double precision, whatever the features come in,
    in units of a power of two near the largest entry: so that its squares neither vanish nor
    overflow, and no bit of it changes.

    Parameters
    ----------
    features : (n, p), one row φ_i a sample
    y : labels (n,) in {−1, +1}

    Returns
    -------
    MaxMargin
        With margin 0, direction 0 and weights 0 if no direction separates: then no margin is
        positive.

    Raises TypeError or ValueError if features and labels differ in library or dtype, have other
    shapes, or are no finite numbers and labels.

    Source: Lemma "The margin is a distance" (this book).
    """
    _require_samples(features, y)
    signed = to_numpy(y[:, None] * features).astype(np.float64)
    unit = np.frexp(abs(signed).max())[1]
    signed = np.ldexp(signed, -unit)
    weights = nearest_in_hull(signed @ signed.T)
    normal = weights @ signed
    length = float(np.linalg.norm(normal))
    margin = float((signed @ normal).min()) / length if length else 0.0
    if margin <= 0:
        return MaxMargin(0.0, np.zeros(signed.shape[1]), np.zeros(len(y)))
    return MaxMargin(float(np.ldexp(margin, unit)), normal / length, weights)


def _require_samples(features, y):
    require("features", features, ("n", "p"))
    require("y", y, features.shape[:1])
    require_same_dtype(y=y, features=features)
    require_labels(y, features)


def _directions(seed):
    """Random features, now and then separable, with a random direction and random convex
    weights."""
    rng = np.random.default_rng([seed, 31])
    n, p = rng.integers(1, 6, size=2)
    features = rng.standard_normal((n, p)) + rng.choice([0, 3])
    theta = rng.standard_normal(p) + rng.choice([0, 3])
    return {
        "features": features,
        "y": np.where(rng.random(n) < rng.choice([0, 0.5]), -1.0, 1.0),
        "theta": theta / np.linalg.norm(theta),
        "weights": rng.dirichlet(np.ones(n)),
    }


def _best_direction(n=7, p=12):
    # In general position p > n features separate under any labels, so the margin is positive.
    features = np.random.default_rng(32).standard_normal((n, p))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    _, theta, weights = max_margin(features, y)
    return {"features": features, "y": y, "theta": theta, "weights": weights}


def _origin_on_an_edge():
    """The origin is on an edge of the hull, so that one weight has to be dropped."""
    return {
        "features": np.array([[3.0, 0.0], [-2.0, -2.0], [-2.0, 0.0]]),
        "y": np.ones(3),
        "theta": np.array([0.0, -1.0]),
        "weights": np.full(3, 1 / 3),
    }


def _beside_the_hull():
    """Two features on a line, and weights 2 and −1 that lead from them to the origin."""
    return {
        "features": np.array([[1.0], [2.0]]),
        "y": np.ones(2),
        "theta": np.ones(1),
        "weights": np.array([2.0, -1.0]),
    }


def _convex(theta, weights, **_):
    return {
        "‖θ‖ = 1": bool(abs(np.linalg.norm(theta) - 1) < 1e-9),
        "λ_i ≥ 0": bool((weights >= 0).all()),
        "Σ_i λ_i = 1": bool(abs(weights.sum() - 1) < 1e-9),
    }


@statement(
    id="lemma-margin-distance",
    title="The margin is a distance",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="‖θ‖ = 1; λ_i ≥ 0; Σ_i λ_i = 1",
    by_proof="no direction has a positive margin if the hull contains the origin",
    random=_directions,
    extremal=(_best_direction, _origin_on_an_edge),
    broken=lambda seed: (
        (best := _best_direction())
        # A sum below 1 shrinks the right side below the margin, which it equals at sum 1.
        | {"weights": best["weights"] * np.random.default_rng([seed, 33]).uniform(0.1, 0.9)}
    ),
    breaks="Σ_i λ_i = 1",
    hypotheses=_convex,
    counterexamples=(
        lambda: (best := _best_direction()) | {"theta": 2 * best["theta"]},
        _beside_the_hull,
    ),
)
def margin_is_a_distance(features: Array, y: Array, theta: Array, weights: Array) -> Checks:
    """min_i y_i ⟨φ_i, θ⟩ ≤ ‖Σ_i a_i y_i φ_i‖; equality for the maximum margin's direction and
    weights.

    And the maximum margin is the distance of the hull of the y_i φ_i from the origin, or 0 where
    the hull contains it: the error is relative to the size of the features, rhs 1e-11.

    features (n, p), y (n,), theta (p,), weights (n,).

    Raises TypeError, ValueError if shapes, libraries or dtypes do not fit, an entry is not finite,
    or a label is neither −1 nor +1. Source: this book; the duality behind every support vector
    machine.
    """
    _require_samples(features, y)
    require("theta", theta, features.shape[1:])
    require("weights", weights, features.shape[:1])
    require_same_dtype(theta=theta, weights=weights, features=features)
    signed = y[:, None] * features
    apart = (
        float(np.linalg.norm(nearest_in_hull(signed @ signed.T) @ signed))
        - max_margin(features, y).margin
    )
    return (
        Check(
            float((signed @ theta).min()),
            float(np.linalg.norm(weights @ signed)),
            "min_i y_i⟨φ_i, θ⟩ ≤ ‖Σ a_i y_i φ_i‖",
        ),
        Check(
            abs(apart) / max(np.linalg.norm(signed), TINY),
            1e-11,
            "maximum margin = distance of the hull from the origin",
        ),
    )


def nearest_in_hull(K: Array) -> np.ndarray:
    """Convex weights (n,) of the point nearest to the origin in the hull of vectors with Gram
    matrix K (n, n).

    Non-negative least squares of (vectors, 1)ᵀ a = (0, 1)ᵀ by Lawson and Hanson's active sets:
    vectors enter one by one, those whose weight turns negative leave, and the distance falls in
    every round, so that no set comes twice.
    """
    # The row of ones adds 1 to K. Another scale of K changes the solution by a factor alone, and in
    # units of its largest entry neither of the two drowns the other.
    size = K.diagonal().max()
    G = K / (size or 1.0) + 1
    weights, active, best = np.zeros(len(G)), [], np.inf
    while True:
        pull = 1 - G @ weights
        new = int(pull.argmax())
        # Entries of G are of order 1, so a pull of 1e-14 is rounding; so is that of a vector
        # already in the set, whose pull is 0 at the minimum.
        if pull[new] <= 1e-14 or new in active:
            return weights / weights.sum()
        trial, active = _solve(G, weights.copy(), [*active, new])
        value = trial @ G @ trial - 2 * trial.sum()
        if value >= best:  # the rest is rounding
            return weights / weights.sum()
        weights, best = trial, value


def _solve(G, weights, active):
    """Minimize aᵀ G a − 2 Σ a on the active set, dropping whatever turns negative on the way."""
    while True:
        # By least squares, because equal samples make G singular.
        wanted = np.linalg.lstsq(G[np.ix_(active, active)], np.ones(len(active)))[0]
        if wanted.min() > 0:
            weights[:] = 0
            weights[active] = wanted
            return weights, active
        held = weights[active]
        # How far each weight can go before it is 0. ``np.where`` divides in the masked entries,
        # too, where held − wanted need not be positive: hence 1e-300.
        share = np.where(wanted > 0, np.inf, held / np.maximum(held - wanted, 1e-300))
        moved = held + share.min() * (wanted - held)
        # Exactly 0, so that rounding does not keep the blocking vector: each round must drop one.
        moved[share.argmin()] = 0
        weights[active] = moved
        active = [i for i, weight in zip(active, moved, strict=True) if weight > 0]


def ntk_features(model: MultiHeadAttention, X: Array, only: str | None = None) -> np.ndarray:
    """Gradients ∇Φ(X_i) of the logits, (n, p); ``only`` = "U" or "W" keeps the derivatives in these
    alone."""
    if only not in (None, "U", "W"):
        raise ValueError(f"only: expected 'U', 'W' or None, got {only!r}")
    return (
        model.features(X)
        if only is None
        else model.logit_gradients(X)["WU".index(only)].reshape(len(X), -1)
    )


def ntk_margin(model: MultiHeadAttention, data: Dataset, only: str | None = None) -> MaxMargin:
    """The maximum margin of the logit's gradients at ``model`` on ``data``, with its direction and
    weights.

    ``only`` = "U" or "W": of the derivatives in the decoders, or in the key–query matrices, alone.

    Source: Deora et al. 2023, Definition 1 [recalled].
    """
    return max_margin(ntk_features(model, data.X, only), data.y)


class Initialization(NamedTuple):
    """What Definition 1 asks of a start: B2 ≥ ‖θ_h‖, B_Phi ≥ |Φ(X_i)|, and an NTK margin gamma >
    0."""

    B2: float
    B_Phi: float
    gamma: float


def good_initialization(model: MultiHeadAttention, data: Dataset) -> Initialization:
    """The three numbers of Definition 1 [recalled], measured on ``data``.

    B2 = max_h √(‖W_h‖² + ‖U_h‖²) in Frobenius norms: how we read ‖θ_h‖. B_Phi = max_i |Φ(X_i)|.
    gamma is the maximum margin of the features ∇Φ(X_i), 0 if none separates. Source: Deora et al.
    2023, Definition 1 [recalled].
    """
    heads = (model.W**2).sum(axis=(1, 2)) + (model.U**2).sum(axis=(1, 2))
    return Initialization(
        float(heads.max() ** 0.5), float(abs(model(data.X)).max()), ntk_margin(model, data).margin
    )
