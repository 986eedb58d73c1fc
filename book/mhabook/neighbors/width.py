"""Neighbor "Width against log n": how many heads let a run fit while it stays near its start."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mhabook.c01_model.instances import token_radius
from mhabook.c03_first_step.max_margin import MaxMargin, ntk_margin
from mhabook.c04_convergence.chain import heads_needed, reference_along
from mhabook.c04_convergence.starts import first_phase_groups
from mhalib.data import Dataset, tokenized_mixture
from mhalib.models import HeadGroups

LOSS, ROOM, LR = 0.1, 0.1, 1.0
"""A small loss, how far attention weights may leave 1/T relative to it, and the step size."""
TRIED = 2**14
"""The number of heads of the run from which the others follow."""
MOST = 1000
"""A run has no more steps than this."""


class Sighting(NamedTuple):
    """Where a run stands after some steps.

    ``departure`` is the largest relative change of an attention weight, max |T A − 1|.
    """

    steps: int
    loss: float
    departure: float


class WidthRow(NamedTuple):
    """What is measured for n samples, in the order of the table."""

    n: int
    margin: float
    two_heads: int
    until_loss: float
    for_n_steps: float
    theorem: float


def halves(data: Dataset, H: float) -> HeadGroups:
    """About H heads after the random step, forward in one half and backward in the other."""
    half = max(1, round(H / 2))
    return first_phase_groups(data, (half, half))


def sightings(start: HeadGroups, data: Dataset, steps: int) -> tuple[Sighting, Sighting]:
    """Gradient descent, seen at its first step with a loss ≤ ``LOSS``, and after ``steps``.

    Raises ValueError if after ``MOST`` steps the loss is still larger.
    """
    workspace = start.workspace(data.X, data.y)
    theta, small, last = workspace.pack(start), None, None

    def seen():
        attention = workspace.unpack(theta).attention(data.X)
        return Sighting(k, float(loss), float(abs(data.X.shape[1] * attention - 1).max()))

    for k in range(MOST + 1):
        loss, grad = workspace.loss_and_grad(theta)
        if small is None and loss <= LOSS:
            small = seen()
        if k == steps:
            last = seen()
        if small and last:
            return small, last
        theta = theta - LR * grad
    raise ValueError(f"start: expected a run to a loss of {LOSS} in {MOST} steps, got {loss:.3g}")


def near_heads(found: Sighting) -> float:
    r"""The number of heads with which no attention weight departs by more than ``ROOM``.

    It follows from a run with ``TRIED`` heads: with so many, departures fall like :math:`H^{-1/2}`.
    """
    return TRIED * (found.departure / ROOM) ** 2


def theorem_heads(data: Dataset, best: MaxMargin) -> float:
    """The heads that chapter 4's theorem asks for, for as many steps as samples.

    Its reference lies along the direction of the largest tangent margin of two heads.
    """
    start = halves(data, 2).expand()
    toward = reference_along(start, start.unravel(best.direction), data, steps=len(data))
    decoder = float(np.linalg.norm(start.U[0]))
    return heads_needed(toward.distance, decoder, data.X.shape[1], token_radius(data.X))


def width_row(n: int, seed: int = 0) -> WidthRow:
    """All measures for chapter 1's data with n samples."""
    data = tokenized_mixture(n=n, seed=seed)
    pair = halves(data, 2)
    best = ntk_margin(pair.expand(), data)
    few, _ = sightings(pair, data, steps=1)
    until_loss, for_n_steps = map(near_heads, sightings(halves(data, TRIED), data, steps=n))
    theorem = theorem_heads(data, best)
    return WidthRow(n, best.margin, few.steps, until_loss, for_n_steps, theorem)


def print_widths(rows: Iterable[WidthRow]) -> None:
    """A line for each number of samples."""
    print(f"{'':20}{'steps of':>12}{'heads that stay near':>26}{'heads of':>13}")
    print(
        f"{'n':>4}{'log n':>7}{'margin':>9}{'two heads':>12}{'until loss 0.1':>15}"
        f"{'n steps':>11}{'the theorem':>13}"
    )
    for row in rows:
        near, longer = (float(f"{heads:.1e}") for heads in (row.until_loss, row.for_n_steps))
        print(
            f"{row.n:4}{np.log(row.n):7.1f}{row.margin:9.2f}{row.two_heads:12}"
            f"{near:15,.0f}{longer:11,.0f}{row.theorem:13.0e}"
        )


def over_samples(counts: Iterable[int], seed: int = 0) -> list[WidthRow]:
    """A ``width_row`` for each number of samples."""
    return [width_row(n, seed) for n in counts]
