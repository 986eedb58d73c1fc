"""What the section "Heads that separate in stages" says, held against what its cells leave."""

import functools

import numpy as np
import pytest

import mhalib as mha
from mhabook.neighbors import stages
from page import shared

page = shared("neighbors")
UNQUOTED = {
    "what we suppose": (
        "stages-3: A likely reason",
        "stages-3: This happens",
        "stages-3: The mean of the heads",
    ),
    "what the columns do not show": ("stages-3: columns use",),
}
SUM, MEAN = 3**-0.5, 1 / 3


def run(seed, c, lr, scale=0.001, steps=400):
    data = stages.single_location(n=1000, L=16, strengths=stages.STRENGTHS, seed=seed)
    start = stages.QueryHeads.random(H=3, d=4, c=c, scale=scale, seed=seed)
    return mha.train(start, data, mha.GradientDescent(lr), steps)


def spread_and_mean(path, step):
    found = stages.overlaps(path, 3)[np.searchsorted(path.steps, step)]
    return np.ptp(found, axis=0), found.mean(axis=0)


@page.after(
    "nb-stages-runs",
    says=(
        "For two ways of adding the heads, we compare the order in which they separate along three directions",
        "One of sixteen standard normal tokens carries a signal along one of three directions",
        "The signal has norm 6 along the first direction, 4 along the second, and 2.5 along the third",
        "We use gradient descent on 1,000 samples",
        "The three heads start close together",
    ),
)
def test_the_data_are_those_of_the_text(data, start, mean, said):
    ways, directions, tokens, again, *strengths, samples, heads = said
    assert len({start.c, mean.c}) == ways and len(start.Q) == heads
    assert data.X.shape == (samples, tokens, directions + 1) and directions == again
    assert [*stages.STRENGTHS] == strengths
    found = abs(data.X[..., -1] - data.y[:, None]).argmin(axis=1)
    assert (data.X[np.arange(1000), found, -1] == data.y).all()
    assert np.ptp(start.Q, axis=0).max() < 0.01


@page.after(
    "nb-stages-figure",
    says="Each head turns toward all three directions at once, and the three heads look like one",
)
def test_first_all_heads_move_together_toward_all_directions(added, averaged, said):
    for path in (added, averaged):
        spread, mean = spread_and_mean(path, 24)
        assert [len(mean), len(path[-1].Q)] == said
        # 0.034 and 0.23; in eight data sets 0.034 and 0.21
        assert spread.max() < 0.1 < 0.15 < mean.min()
        assert mean.max() > 10 * spread.max()


@page.after("nb-stages-figure")
def test_added_they_part_in_the_order_of_the_strengths(when):
    strongest, middle, weakest = when["sum / √3"]
    assert strongest + 12 < middle < weakest - 30 < 200  # 65, 93, 158


@page.after("nb-stages-figure", says="first along the two weaker directions")
def test_averaged_they_part_last_along_the_strongest(when, said):
    strongest, *weaker = when["mean"]
    middle, weakest = weaker
    assert [len(weaker)] == said
    assert 100 < max(middle, weakest) < strongest - 50  # 271, 149, 133


@page.after(
    "nb-stages-figure",
    says="Each has turned toward all three and gives up at most one, so in both columns, every head keeps at least two",
)
def test_every_head_keeps_two_directions_and_gives_up_at_most_one(found, said):
    all_of, least = said
    for each in found.values():
        assert each.shape[-1] == all_of == least + 1
        assert ((each[-1] > 0.4).sum(axis=1) >= least).all()  # the least that is kept: 0.63


@functools.cache
def partings_of(seed, c, lr):
    return stages.partings(run(seed, c, lr), 3)


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_the_strongest_parts_first_added_and_last_averaged_in_other_data(seed):
    """Fourteen data sets: always so; added, the other two in order in thirteen."""
    added, averaged = (partings_of(seed, c, lr) for c, lr in ((SUM, 0.25), (MEAN, 0.75)))
    assert added[0] < min(added[1:]) - 2
    assert averaged[0] > max(averaged[1:]) + 30


@page.after("nb-stages-figure", says="in most other data sets, to the end")
def test_averaged_they_stay_together_along_the_strongest_in_most_data_sets():
    """In ten of fourteen for 500 steps, in six of the first eight for 400."""
    partings = [partings_of(seed, MEAN, 0.75)[0] for seed in (1, 2, 3, 5)]
    assert sum(np.isinf(partings)) >= 3  # four


@page.after("nb-stages-figure", says="A tenfold larger initialization scale shortens this phase")
def test_a_larger_start_shortens_the_common_phase(when, said):
    larger = stages.partings(run(0, SUM, 0.25, scale=0.001 * said[0]), 3)
    assert larger[0] < when["sum / √3"][0] - 15  # 36 and 65
