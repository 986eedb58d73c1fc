"""What the page kernels/15_landscapes says, held against what its cells leave."""

import numpy as np
import pytest

from mhabook.c15_landscapes import statements as landscapes
from mhabook.c15_landscapes.figure import DEGREES, PAIRS
from mhabook.c15_landscapes.idea import OPENING
from page import Page

page = Page("kernels/15_landscapes")


@page.after("one-layer")
def test_a_random_plane_is_a_bowl_half_way_too_and_turned_all_the_way_it_shows_a_hollow(live):
    depths = []
    for turn in (0, 45, 90):
        drawn = live.drawn(turn=turn)
        above = np.array(drawn["above"])
        rim = np.concatenate([above[0], above[-1], above[:, 0], above[:, -1]])
        bowl = turn < 90
        assert (drawn["seen"] > 0, rim.min() > 0) == (bowl, bowl)
        assert abs(drawn["low_a"][0]) < 0.05 and abs(drawn["low_b"][0]) < (0.05 if bowl else 0.1)
        depths.append(drawn["middle"] - drawn["bottom"])
    assert depths[0] < depths[1] < depths[2] / 5
    wide = np.array(live.drawn(turn=90, radius=1.0)["above"])
    assert -0.1 < wide.min() < 0 < np.percentile(wide, 5)


@page.after("one-layer")
def test_every_random_plane_takes_a_turn_of_about_half_way_or_more_and_before_training_a_small_one_or_none(
    live,
):
    after, before = (
        [live.drawn(network=network, pair=pair)["curvature"] for pair in PAIRS]
        for network in ("after 30 steps", "before training")
    )
    down = np.array(DEGREES)[np.argmax(np.array(after) < 0, axis=1)]
    assert down.min() >= 40 and np.median(down) > 45 and down[0] > 45
    down = np.array(DEGREES)[np.argmax(np.array(before) < 0, axis=1)]
    assert down.max() <= 30 and (down == 0).sum() > 5


@page.after("say-15")
def test_positive_eigenvalues_add_up_to_more_than_thirty_times_the_negative_ones(
    after, before, turn
):
    assert after[after > 0].sum() > -30 * after[after < 0].sum()
    spreads = [(2 * (of**2).sum()) ** 0.5 / 114 for of in (after, before)]
    assert after.mean() / spreads[0] == pytest.approx(2, abs=0.05) and before.mean() < spreads[1]
    assert pytest.approx(90 - turn, abs=0.5) == OPENING


@page.after("check-same")
def test_the_slice_is_that_of_the_library_and_of_the_figure(cut, loss, live):
    np.testing.assert_allclose(loss, cut.loss, rtol=1e-12)
    above = loss - loss[12, 12]
    np.testing.assert_allclose(live.drawn()["above"], above / abs(above).max(), atol=1e-12)


@page.after("check-turned")
def test_the_curvature_along_the_turned_direction_falls_to_the_lowest(along, ends):
    seen = [along(degrees) for degrees in (0, 30, 45, 60, 90)]
    assert seen == sorted(seen, reverse=True) and seen[2] > 0 > seen[3]
    assert seen[-1] == pytest.approx(ends.values[0], rel=1e-9)


@page.after("seen-often")
def test_training_takes_a_quarter_of_the_negative_eigenvalues_and_all_planes_that_show_one(
    after, before, early, late
):
    assert 0.2 < 1 - (after < -1e-9).sum() / (before < -1e-9).sum() < 0.3
    assert late == 0 and abs(early - 0.5) < 5 * 0.5 / 2000**0.5


@page.after("check-missed")
def test_the_chance_to_see_one_way_down_is_that_of_the_formula(share):
    chance = landscapes.missed(6, 1, 1)
    assert abs(share - chance) < 5 * (chance * (1 - chance) / 20_000) ** 0.5
    assert landscapes.missed(114, 1, 1) == 2.0**-56 and 1e9 * 2.0**-56 < 1e-7


@page.after("solution-chosen")
def test_the_plane_of_both_extremes_shows_them(both, spectrum):
    basis = np.linalg.eigvalsh(both.derivatives(0, 0)[2])
    assert np.allclose(basis, spectrum[[0, -1]], rtol=1e-9) and spectrum[0] < 0 < spectrum[-1]
    assert both.loss.min() < both.loss[7, 7]
