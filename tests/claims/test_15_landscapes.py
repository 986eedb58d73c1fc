"""What the page kernels/15_landscapes says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c15_landscapes import runs
from mhabook.c15_landscapes import statements as landscapes
from mhabook.c15_landscapes.figure import DEGREES, PAIRS
from mhabook.c15_landscapes.idea import OPENING
from mhalib import landscape
from page import Page

page = Page("kernels/15_landscapes")
UNQUOTED = {
    "what is proved, or defined": (
        "title: A picture",
        "predict: Then",
        "planes-read: Reminder",
        "idea-text: With two weights",
        "idea-text: So it often",
        "idea-text: With 114 weights",
        "idea-text: The sector",
        "prove-slice",
        "prove-missed: In words",
        "prove-missed: The probability",
        "prove-missed: The last bound",
        "prove-missed: No statement",
    ),
    "what a cell or a figure does": (
        "title: Below",
        "see",
        "planes-read: The right panel",
        "planes-read: Where",
        "check-scale: The next cell",
        "breaks: Multiply",
    ),
    "another page's": ("breaks: That page", "seen"),
}


@page.after(
    "one-layer",
    says=(
        "The loss is higher all around, and the network is near the bottom of a bowl",
        "A region of lower loss appears. It is no farther from the network than the edge of the picture",
        "Let the picture reach as far as possible, with the plane turned all the way: the region "
        "of lower loss is still there, but it becomes a faint spot in a wide bowl",
    ),
)
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


@page.after(
    "one-layer",
    says=(
        "A layer with 114 weights has been trained for 30 steps",
        "You cut its loss along two random directions and see a bowl",
        "Every plane that is not turned shows a bowl, and the second direction usually has to turn about halfway "
        "or farther before the slice has negative curvature",
        "the curve begins near zero and falls early",
        "random planes do not always miss negative curvature",
    ),
)
def test_every_random_plane_takes_a_turn_of_about_half_way_or_more_and_before_training_a_small_one_or_none(
    live, network, data, said, start
):
    weights, steps, directions = said
    assert len(landscape.hessian(network, data)) == weights
    again = mha.train(start, data, mha.Backtracking(), int(steps))[-1]
    assert float(again.loss(data.X, data.y)) == pytest.approx(
        float(network.loss(data.X, data.y)), rel=1e-9
    )
    assert np.ndim(live.drawn()["above"]) == directions
    after, before = (
        [live.drawn(network=network, pair=pair)["curvature"] for pair in PAIRS]
        for network in ("after 30 steps", "before training")
    )
    down = np.array(DEGREES)[np.argmax(np.array(after) < 0, axis=1)]
    assert down.min() >= 40 and np.median(down) > 45 and down[0] > 45
    down = np.array(DEGREES)[np.argmax(np.array(before) < 0, axis=1)]
    assert down.max() <= 30 and (down == 0).sum() > 5


@page.after(
    "say-15",
    says=(
        "this mean is near zero before training and well above zero after 30 steps",
        "After 30 steps, {glue:text}`many_down` of the 114 eigenvalues are negative",
        "the sum of the positive ones is more than thirty times that of the negative ones in absolute value",
        "So zero is two standard deviations from the mean, on the side where the curvatures vary less (large",
    ),
)
def test_positive_eigenvalues_add_up_to_more_than_thirty_times_the_negative_ones(
    after, before, said, turn
):
    trained, steps, weights, times, deviations = said
    assert trained == steps == 30 and len(after) == weights
    assert times < after[after > 0].sum() / -after[after < 0].sum() < 2 * times
    spreads = [(2 * (of**2).sum()) ** 0.5 / 114 for of in (after, before)]
    assert (
        after.mean() / spreads[0] == pytest.approx(deviations, abs=0.05)
        and before.mean() < spreads[1]
    )
    assert pytest.approx(90 - turn, abs=0.5) == OPENING


@page.after("check-same")
def test_the_slice_is_that_of_the_library_and_of_the_figure(cut, loss, live):
    np.testing.assert_allclose(loss, cut.loss, rtol=1e-12)
    above = loss - loss[12, 12]
    np.testing.assert_allclose(live.drawn()["above"], above / abs(above).max(), atol=1e-12)


@page.after(
    "check-turned",
    says="The curvature ends at the lowest eigenvalue, and it falls below zero only after the direction has "
    "turned more than halfway",
)
def test_the_curvature_along_the_turned_direction_falls_to_the_lowest(along, ends):
    seen = [along(degrees) for degrees in (0, 30, 45, 60, 90)]
    assert seen == sorted(seen, reverse=True) and seen[2] > 0 > seen[3]
    assert seen[-1] == pytest.approx(ends.values[0], rel=1e-9)


@page.after(
    "seen-often",
    says=(
        "We cut the loss of the layer along 2,000 random planes",
        "Training has removed only a quarter of the negative eigenvalues, and yet none of the planes now shows",
        "Before training, about half of all random planes show negative curvature",
        "Our layer has many negative eigenvalues and many others near zero, so the bound does not apply to it, "
        "and the probability can be much larger, as it is before training",
    ),
)
def test_training_takes_a_quarter_of_the_negative_eigenvalues_and_all_planes_that_show_one(
    after, before, early, late, said, data, start
):
    planes, part, half = said
    assert runs.bending_down(landscape.hessian(start, data), planes=int(planes)) == early
    assert (after < -1e-9).sum() > 20 and (abs(after) < 0.01 * after.max()).sum() > 50
    gone = 1 - (after < -1e-9).sum() / (before < -1e-9).sum()
    assert 0.8 * part < gone < 1.2 * part
    assert late == 0 and abs(early - half) < 5 * half / planes**0.5


@page.after(
    "check-missed",
    says="For 114 weights, one eigenvalue −1, and 113 eigenvalues +1, the probability is",
)
def test_the_chance_to_see_one_way_down_is_that_of_the_formula(said, share):
    p, below, rest, above = said
    assert rest == p - 1
    assert landscapes.missed(int(p), -below, above) == 2.0**-56
    chance = landscapes.missed(6, 1, 1)
    assert abs(share - chance) < 5 * (chance * (1 - chance) / 20_000) ** 0.5
    assert 1e9 * 2.0**-56 < 1e-7


@page.after(
    "solution-chance",
    says="In absolute value, the single negative eigenvalue must be nearly three-quarters of the sum of all positive",
)
def test_a_plane_shows_one_negative_eigenvalue_half_of_the_time_if_it_is_this_large(said):
    (part,) = said
    size = 1 / (2 ** (1 / 5000) - 1)
    assert landscapes.missed(10_002, size, 1) == pytest.approx(0.5)
    assert 0.95 * part < size / 10_001 < part


@page.after(
    "solution-chosen",
    says="The plane of the two lowest eigenvectors shows two directions of negative curvature",
)
def test_the_plane_of_both_extremes_shows_them(both, said, spectrum):
    assert all((spectrum < 0).sum() >= directions for directions in said)
    basis = np.linalg.eigvalsh(both.derivatives(0, 0)[2])
    assert np.allclose(basis, spectrum[[0, -1]], rtol=1e-9) and spectrum[0] < 0 < spectrum[-1]
    assert both.loss.min() < both.loss[7, 7]
