"""The runs that chapter 4 holds against the theorem: by numbers of heads, six of practice, and one
beside a saddle."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from livegrad.training import Path, train
from mhabook.c01_model.instances import Heads, token_radius
from mhabook.c04_convergence.chain import (
    Chain,
    Reference,
    ball_constants,
    follow,
    links,
    reference_along,
)
from mhabook.c04_convergence.starts import first_phase_groups, mixture_witness
from mhalib.data import Dataset, digits, from_arrays, tokenized_mixture
from mhalib.models import HeadGroups, MultiHeadAttention
from mhalib.optim import GradientDescent

Case: TypeAlias = tuple[Any, Dataset, float]
"""A start, data and a step size."""
Outcome: TypeAlias = tuple[Chain, float, dict[str, int]]
"""A run, its κ(2D₀)², and at how many steps each link of the chain fails."""


def by_heads(runs: Mapping[int, Path], curve: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The steps and the values of a curve for each number of heads, by its name: "20 heads"."""
    return {f"{H:,} heads": (run.steps, run.curves[curve]) for H, run in runs.items()}


def follow_witness(
    start: HeadGroups, data: Dataset, lr: float, steps: int
) -> tuple[Reference, Chain]:
    """The reference along ``mixture_witness``, and ``steps`` steps of gradient descent measured
    against it."""
    toward = reference_along(start, mixture_witness(data, start.copies), data, steps)
    return toward, follow(start, toward.model, data, lr, steps)


def crossed_signs() -> Dataset:
    """Two samples of tokens ±1 on a line in the plane, half of each kind in both: attention alone
    can tell them."""
    signs = np.array([[1, 1, -1, -1], [1, -1, 1, -1.0]])
    return from_arrays(np.stack([signs, 0 * signs], axis=2), np.array([1.0, -1.0]))


def of_practice(data: Dataset) -> dict[str, Case]:
    """Six cases, of which one starts two heads with the first phase on a mixture ``data``."""

    def small(H, T, d, scale):
        return MultiHeadAttention.random(H, T, d, scale=scale, seed=0)

    zero, mixture = MultiHeadAttention.zeros(1, 10, 8), tokenized_mixture()
    return {
        "one head from zero, mixture": (zero, mixture, 1.0),
        "one head from zero, noise 1.5": (zero, tokenized_mixture(sigma=1.5), 0.5),
        "4 random heads, mixture": (small(4, 10, 8, 0.5), mixture, 1.0),
        "4 random heads, digits": (small(4, 8, 8, 0.1), digits(classes=(3, 8), n=200, seed=0), 1.0),
        "2 heads, first phase": (first_phase_groups(data, (1, 1)), data, 0.33),
        "1 small random head, signs": (small(1, 4, 2, 0.01), crossed_signs(), 1.0),
    }


def outcome(start: Heads, data: Dataset, lr: float, steps: int = 300) -> Outcome:
    """Gradient descent measured against the model that it reaches after twice as many steps."""
    reference: Any = train(start, data, GradientDescent(lr), 2 * steps, record=2)[-1]
    run = follow(start, reference, data, lr, steps)
    kappa = ball_constants(start, token_radius(data.X), run.distance).kappa
    fails = {name: int((link.lhs > link.rhs).sum()) for name, link in links(run).items()}
    return run, 4 * kappa * run.distance**2, fails


def print_outcomes(outcomes: Mapping[str, Outcome]) -> None:
    """κ(2D₀)² and the numbers of failing steps, a line a case."""
    print(f"{'':30} κ(2D₀)²  descent  one point  regret  near  rate")
    for name, (_, product, fails) in outcomes.items():
        print(f"{name:30} {product:7.0e} {'{:8} {:10} {:7} {:5} {:5}'.format(*fails.values())}")


def beside_saddle(scale: float) -> Path:
    """60 steps of one random head of this scale on ``crossed_signs``, where zero is a saddle."""
    start = MultiHeadAttention.random(1, 4, 2, scale=scale, seed=0)
    return train(start, crossed_signs(), GradientDescent(1.0), 60, record=61)
