"""Leave-one-out gradient descent: what a run would have been without one of its samples.

L = (1/n) Σ_j ℓ_j is the training loss of all n samples, and L^{−i} = (1/n) Σ_{j≠i} ℓ_j that of all
but sample i, with the same factor 1/n. θ_k and θ_k^{−i} are gradient descent on L and on L^{−i},
from the same start with the same η. Models are ``MultiHeadAttention`` or ``HeadGroups``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import Array, require_count
from livegrad.training import Path, recorded_steps, train
from mhabook.c01_model.instances import Heads, token_radius
from mhabook.c04_convergence.chain import curvature, decoder_sizes, steepness
from mhalib.data import Dataset
from mhalib.losses import logistic
from mhalib.models import HeadGroups
from mhalib.optim import GradientDescent


def others(n: int, i: int) -> np.ndarray:
    """The indices of all n samples but i."""
    return np.flatnonzero(np.arange(n) != i)


def partial_loss_and_grad(model: Heads, data: Dataset, kept: Array) -> tuple[float, Any]:
    """(1/n) Σ_{j in kept} ℓ_j and its gradient; n counts all samples of ``data``."""
    # The loss of a model is a mean, which is 0/0 over no samples; the sum over none is 0.
    if not len(kept):
        return 0.0, 0 * model
    loss, grad = model.loss_and_grad(data.X[kept], data.y[kept])
    share = len(kept) / len(data)
    return share * float(loss), share * grad


def descend(start: Heads, data: Dataset, lr: float, steps: int, kept: Array) -> list[Any]:
    """The ``steps`` + 1 models of gradient descent on (1/n) Σ_{j in kept} ℓ_j."""
    models = [start]
    for _ in range(steps):
        models.append(models[-1] - lr * partial_loss_and_grad(models[-1], data, kept)[1])
    return models


def sample_losses(model: Heads, data: Dataset) -> np.ndarray:
    """ℓ_i(θ) for every sample (n,)."""
    return logistic(model.margins(data.X, data.y))


def run_constants(models: Sequence[Heads], R: float) -> tuple[float, float]:
    """The largest G, and the largest κ = B/√H, of several models; valid on their convex hull
    too."""
    H, T, _ = models[0].sizes
    sizes = np.array([decoder_sizes(model) for model in models])
    # Both decoder sizes are norms, so convex, and G and B increase with them: between two models
    # neither constant is larger than at one of them.
    return steepness(T, R, sizes[:, 1].max()), curvature(T, R, sizes[:, 0].max()) / H**0.5


def logit_gradient_norms(model: Heads, X: Array) -> np.ndarray:
    """‖∇Φ(X_i)‖ in the space of all H heads, for every sample (n,)."""
    few = model.few() if isinstance(model, HeadGroups) else model
    (F, _, d) = few.sizes
    copies = np.array(getattr(model, "copies", None) or np.ones(few.sizes[0]), dtype=float)
    squared = (few.features(X) ** 2).reshape(len(X), F, -1)
    on_W, on_U = squared[..., : d * d].sum(axis=2), squared[..., d * d :].sum(axis=2)  # (n, F)
    # Each of the N_f heads gets 1/N_f of the gradient on W_f and √(F/H) of that on U_f, as in
    # HeadGroups.share; the squares are summed over all N_f.
    return np.sqrt(on_W @ (1 / copies) + on_U @ (copies * F / copies.sum()))


def loss_gradient_norms(model: Heads, data: Dataset) -> np.ndarray:
    """‖∇ℓ_i(θ)‖ in the space of all H heads, for every sample (n,)."""
    return abs(logistic.slope(model.margins(data.X, data.y))) * logit_gradient_norms(model, data.X)


class LeaveOneOut(NamedTuple):
    """A run and its leave-one-out runs, at the recorded steps k; a column of an array is a sample
    that was left out."""

    steps: np.ndarray
    distance: np.ndarray  # ‖θ_k − θ_k^{−i}‖
    received: np.ndarray  # (η/n) Σ_{j<k} ℓ_i(θ_j)
    pushed: np.ndarray  # (η/n) Σ_{j<k} ‖∇ℓ_i(θ_j)‖
    loss: np.ndarray  # ℓ_i(θ_k)
    left_loss: np.ndarray  # ℓ_i(θ_k^{−i})
    left_test_loss: np.ndarray | None  # L_test(θ_k^{−i})
    total: np.ndarray  # η Σ_{j<k} L(θ_j), (recorded,)
    G: float  # the largest bound √T R √(1 + R⁴ mean‖U_h‖²) along the run
    path: Path  # the run on all samples, at the recorded steps

    @property
    def bound(self) -> np.ndarray:
        """(ηG/n) Σ_{j<k} ℓ_i(θ_j), of which the distance is at most 3/2 under the hypotheses of
        Theorem 2."""
        return self.G * self.received

    @property
    def expansion(self) -> np.ndarray:
        """‖θ_k − θ_k^{−i}‖ over (η/n) Σ_{j<k} ‖∇ℓ_i(θ_j)‖, at most 1 where no step drives two
        models apart."""
        # At step 0 the ratio is 0/0.
        return self.distance[self.steps > 0] / self.pushed[self.steps > 0]


def leave_one_out(
    start: Heads,
    data: Dataset,
    lr: float,
    steps: int,
    *,
    test: Dataset | None = None,
    left: Iterable[int] | None = None,
    record: int | Iterable[int] = 50,
) -> LeaveOneOut:
    """Train on all of ``data``, and once more for each sample, without it; and measure how far the
    runs part.

    Parameters
    ----------
    start, data, lr, steps, test, record : as in ``train``, with gradient descent; n ≥ 2
    left : the indices of the samples to leave out, one at a time; all by default

    Raises ValueError if data has fewer than two samples, lr is not positive, or a run stops being
    finite.

    Source: this book, Theorem 2.
    """
    require_count(steps=steps)
    n, recorded = len(data), recorded_steps(steps, record)
    if n < 2:
        raise ValueError(f"data: expected two samples or more, to leave one out, got {n}")
    left, rule = np.arange(n) if left is None else np.asarray(left), GradientDescent(lr)
    path = _finite(train(start, data, rule, steps, test=test, record=recorded))
    # The sums over j < k need every step, of which the path keeps only the recorded ones.
    losses, slopes, G = _along_the_run(start, data, rule, steps)
    runs = [_without(i, start, data, lr, steps, test, recorded) for i in left]
    away = [
        [(model - other).norm() for model, other in zip(path.models, run.models, strict=True)]
        for run in runs
    ]
    own = [
        [sample_losses(model, data[[i]])[0] for model in run.models]
        for i, run in zip(left, runs, strict=True)
    ]
    return LeaveOneOut(
        path.steps,
        np.array(away).T,
        lr / n * _before(losses)[recorded][:, left],
        lr / n * _before(slopes)[recorded][:, left],
        losses[recorded][:, left],
        np.array(own).T,
        None if test is None else np.array([run.test_loss for run in runs]).T,
        lr * _before(losses)[recorded].mean(axis=1),
        G,
        path,
    )


def _along_the_run(start, data, rule, steps):
    """ℓ_i(θ_k) and ‖∇ℓ_i(θ_k)‖ for every k and i (steps + 1, n), and the largest G."""
    space = start.workspace(data.X, data.y)
    theta, models = space.pack(start), []
    for k in range(steps + 1):
        models.append(space.unpack(theta))
        theta, _ = rule.step(theta, space.loss_and_grad(theta)[1], None, k)
    losses = np.array([sample_losses(model, data) for model in models])
    slopes = np.array([loss_gradient_norms(model, data) for model in models])
    return losses, slopes, float(run_constants(models, token_radius(data.X))[0])


def _without(i, start, data, lr, steps, test, recorded):
    """The run on all samples but i."""
    # Descent on L^{−i} with η is descent on the mean loss of n − 1 samples with η (n − 1)/n.
    n, rest = len(data), data[others(len(data), i)]
    return _finite(
        train(start, rest, GradientDescent(lr * (n - 1) / n), steps, test=test, record=recorded)
    )


def _before(values):
    """Σ_{j<k} of the rows of ``values``, for every k."""
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)[:-1]])


def _finite(path):
    if path.stopped:
        raise ValueError(f"lr: {path.stopped}")
    return path


class AllTrainingSets:
    """Finitely many equally likely samples: means over all possible training sets of n of them are
    exact.

    ``start``, ``lr`` and ``steps`` say how one learns from a training set. Training sets that
    differ in order only are one, with their chance together.
    """

    data: Dataset
    n: int

    def __init__(self, start: Heads, data: Dataset, lr: float, steps: int, n: int) -> None:
        require_count(n=n, steps=steps)
        self.data, self.n, self._start, self._lr, self._steps = data, n, start, lr, steps
        # Training sets that differ may be equal without one sample: each run is computed once.
        self.run: Callable[..., list[Any]] = cache(self._run)

    def training_sets(self, repeats: bool = True) -> Iterator[tuple[float, tuple[int, ...]]]:
        """(chance, indices) of every training set: independent draws, or with ``repeats`` = False
        all different."""
        m, n = len(self.data), self.n
        if not repeats:
            yield from ((1 / comb(m, n), drawn) for drawn in combinations(range(m), n))
            return
        for drawn in combinations_with_replacement(range(m), n):
            orders = factorial(n) // prod(factorial(drawn.count(index)) for index in set(drawn))
            yield orders / m**n, drawn

    def losses(self, kept: Sequence[int]) -> np.ndarray:
        """ℓ of every sample of the population, (m,), at the model trained on ``kept``."""
        return sample_losses(self.run(kept)[-1], self.data)

    def _run(self, kept):
        """The models of gradient descent on (1/n) Σ of the losses of the samples ``kept``, at most
        n of them."""
        # ``descend`` divides by the m samples of the population: the longer step makes 1/n of 1/m.
        lr = self._lr * len(self.data) / self.n
        return descend(self._start, self.data, lr, self._steps, np.array(kept, dtype=int))
