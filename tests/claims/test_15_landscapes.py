"""What the page kernels/15_landscapes says, held against what its cells leave."""

import numpy as np

from mhabook.c15_landscapes import smoothness
from mhabook.c15_landscapes import statements as landscapes
from mhabook.c15_landscapes.runs import TASKS, measures_of, wins
from mhalib import landscape
from page import Page

page = Page("kernels/15_landscapes")
ALONE, ALL = "queries and keys", "everything"
SCALINGS = ("filter", "raw")


def measured(cut):
    """The three measures of a slice, by differences."""
    return smoothness.by_differences(cut.loss, cut.a, cut.b)


def median_in_the_middle(table, task, kernel):
    rows = table.where(task=task, trains=ALONE, kernel=kernel, scaled="filter")
    return float(np.median(rows["loss"][:, 5, 5]))


def gaussian_rows(table, **wanted):
    return table.where(kernel="Gaussian", trains=ALONE, scaled="filter", **wanted)


# See: a bowl that is none


@page.after("seen-often")
def test_the_curvature_of_random_directions_has_these_means_and_spreads(data, first, start):
    spectra = [np.linalg.eigvalsh(landscape.hessian(network, data)) for network in (start, first)]
    assert [spectrum.mean().round(2) for spectrum in spectra] == [0.23, 1.32]
    assert [((2 * (spectrum ** 2).sum()) ** 0.5 / 114).round(2) for spectrum in spectra] == [0.27, 0.66]


@page.after("seen-often")
def test_one_way_down_of_114_is_seen_with_the_chance_1_4e_17():
    assert abs(landscapes.missed(114, 1, 1) / 1.4e-17 - 1) < 0.01
    assert landscapes.missed(114, 1, 1) * 1e9 < 1e-7


@page.after("seen-often")
def test_no_plane_of_2000_curves_down_after_30_steps_and_half_do_at_the_start(data, lowest, start):
    assert (lowest < 0).sum() == 0
    assert (np.linalg.eigvalsh(landscape.hessian(start, data)) < -1e-9).sum() == 45
    planes = np.random.default_rng(0).standard_normal((2000, 114, 2))
    seen = (np.linalg.eigvalsh(planes.mT @ landscape.hessian(start, data) @ planes)[:, 0] < 0).mean()
    assert 0.4 < seen < 0.6


@page.after("solution-chance")
def test_a_way_down_seen_half_of_the_time_is_7213_times_as_steep():
    assert round(1 / (2 ** (1 / 5000) - 1)) == 7213
    assert abs(landscapes.missed(10002, 7213, 1) - 0.5) < 1e-4


@page.after("solution-chosen")
def test_the_end_of_training_still_has_a_way_down(cut, spectrum):
    assert spectrum[0] < 0
    assert round(smoothness.by_formula(cut).negative_curvature, 2) == 0.8


@page.after("solution-chosen")
def test_the_plane_of_both_extremes_shows_them(cut, spectrum):
    basis = np.linalg.eigvalsh(cut.derivatives(0, 0)[2])
    assert np.allclose(basis, spectrum[[0, -1]], rtol=1e-9)
