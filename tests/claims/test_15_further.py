"""What the page kernels/15_further says, held against what its cells leave."""

import numpy as np

from mhabook.c15_landscapes import smoothness
from mhabook.c15_landscapes.runs import TASKS, measures_of, wins
from page import Page

page = Page("kernels/15_further")
ALONE, ALL = "queries and keys", "everything"
EACH = [(task, scaled) for task in TASKS for scaled in ("filter", "raw")]


def measured(cut):
    """The three measures of a slice, by differences."""
    return smoothness.by_differences(cut.loss, cut.a, cut.b)


def counts(kernel, other, trains=ALONE):
    """Three numbers of slices in which a kernel has less than another, for each task and scaling:
    (3, 2, 3)."""
    found = [wins(kernel, other, trains, task=task, scaled=scaled) for task, scaled in EACH]
    return np.reshape(found, (3, 2, 3))


def filtered(table, kernel, task):
    return table.where(task=task, trains=ALONE, kernel=kernel, scaled="filter")


@page.after("figure-planes")
def test_the_random_plane_is_a_bowl_and_the_chosen_one_bends_down(bowl, saddle):
    shares = [smoothness.by_formula(cut).negative_curvature for cut in (bowl, saddle)]
    assert shares[0] == 0 and shares[1] > 0.5
    assert np.linalg.eigvalsh(saddle.derivatives(0, 0)[2])[1] < 0
    assert bowl.loss[7, 7] - bowl.loss.min() < 0.05 * (saddle.loss[7, 7] - saddle.loss.min())


@page.after("figure-stages")
def test_two_slices_have_hills_above_the_gaussian_plain_and_deeper_hollows(shown):
    assert shown["kernel"].tolist() == [
        "softmax",
        "softmax, scaled",
        "Gaussian",
        "Gaussian, normalized",
    ]
    high, low = (ends(shown["loss"], axis=(1, 2)) for ends in (np.max, np.min))
    assert high.argsort().tolist() == [1, 2, 0, 3] and low.argsort().tolist() == [0, 3, 2, 1]
    assert abs(high[2] / shown["off"][2] - 1) < 0.02


@page.after("verdicts")
def test_the_gaussian_slice_is_rougher_after_the_short_stage_elsewhere_lower_and_flatter_but_curved_down():
    short, *elsewhere = counts("Gaussian", "softmax")
    assert short[:, 0].max() <= 2 and (short[:, 1:] == 0).all()
    assert (np.array(elsewhere) == [9, 9, 0]).all()
    assert (counts("softmax", "Gaussian")[..., 2] == 9).all()


@page.after("verdicts")
def test_a_smaller_output_is_enough_and_the_distance_is_not(table):
    against_scaled = counts("Gaussian", "softmax, scaled")
    normalized = counts("Gaussian, normalized", "softmax")
    assert against_scaled[..., 0].max() <= 1 and (against_scaled[..., 1:] == 0).all()
    assert (normalized.min(), normalized.max()) == (1, 6)
    assert counts("softmax, scaled", "softmax")[:, 0, :2].tolist() == [[6, 9], [9, 9], [9, 9]]
    for task in TASKS[1:]:
        middles = [
            np.median(filtered(table, kernel, task)["loss"][:, 5, 5])
            for kernel in ("softmax", "Gaussian", "softmax, scaled")
        ]
        assert middles == sorted(middles)


@page.after("verdicts")
def test_where_everything_moves_there_is_no_verdict():
    found, scaled = counts("Gaussian", "softmax", ALL), counts("Gaussian", "softmax, scaled", ALL)
    assert (found.min(), found.max()) == (3, 7) and found[:, 0, 2].tolist() == [3, 7, 3]
    assert (scaled.min(), scaled.max(), (scaled == 9).sum()) == (2, 9, 1) and scaled[
        1, :, 0
    ].tolist() == [9, 6]


@page.after("verdicts")
def test_the_scaling_of_directions_changes_counts_by_one_or_two():
    changes = [
        np.ptp(counts("Gaussian", "softmax", trains), axis=1).max() for trains in (ALONE, ALL)
    ]
    assert changes == [1, 2]


@page.after("rescaled-print")
def test_filter_normalized_slices_agree_and_raw_ones_differ_by_a_factor_of_hundreds(filtered, raw):
    assert np.allclose(filtered[0].loss, filtered[1].loss, rtol=1e-9)
    assert 200 < raw[1].loss.max() / raw[0].loss.max() < 1000


@page.after("figure-far")
def test_the_gaussian_curve_rises_above_its_plateau_and_settles_on_it_and_the_others_do_not(
    data, far
):
    plateau = (data.y**2).sum() / 12
    assert abs(far["Gaussian"][-1] / plateau - 1) < 1e-3 and max(far["Gaussian"]) > 1.4 * plateau
    for name in ("softmax", "Gaussian, normalized"):
        assert max(far[name]) > 2 * max(far["Gaussian"]) and far[name][-1] > 2 * plateau


@page.after("off")
def test_the_stored_gaussian_maxima_are_the_loss_without_attention_and_softmax_is_on_either_side(
    table,
):
    falls = {}
    for k, task in enumerate(TASKS):
        gauss, soft = (filtered(table, kernel, task) for kernel in ("Gaussian", "softmax"))
        assert (
            len(gauss) == 9 and abs(gauss["loss"].max(axis=(1, 2)) / gauss["off"] - 1).max() < 0.02
        )
        wrong = np.median(measures_of("softmax", ALONE, task=task)[:, 0])
        none = np.median(gauss["off"])
        assert (wrong < none) == (k == 0)
        falls[task] = none - np.median(soft["loss"][:, 5, 5])
        assert k or (soft["loss"].max(axis=(1, 2)) < soft["off"]).sum() == 8
    assert falls["words"] > 1.5 * falls["micro-Pathfinder"]


@page.after("turn-slices")
def test_near_slices_are_bowls_and_far_ones_curve_down(cut_of, data, ends):
    near, far = (
        {name: measured(cut_of(end, radius, 0, "filter")) for name, end in ends.items()}
        for radius in (0.1, 4.0)
    )
    assert all(cut.negative_curvature == 0 for cut in near.values())
    assert all(cut.negative_curvature > 0.7 for cut in far.values())
    assert all(
        3 * far["Gaussian"].maximum < far[name].maximum for name in ("softmax", "normalized")
    )


@page.after("radius")
def test_a_larger_radius_shows_more_negative_curvature_and_no_network_has_mastered_its_task(
    growing, table
):
    shares = [measured(cut).negative_curvature for cut in growing.values()]
    assert shares == sorted(shares) and shares[-1] > 2 * shares[0]
    assert table["accuracy"].min() > 0.55 and table["accuracy"].max() < 0.755


@page.after("solution-grid")
def test_the_mean_gradient_by_differences_leaves_out_the_rim(bowl):
    assert measured(bowl).maximum == smoothness.by_formula(bowl).maximum
    assert measured(bowl).mean_gradient < smoothness.by_formula(bowl).mean_gradient


@page.after("solution-line")
def test_the_loss_only_grows_away_from_the_end_of_its_own_kernel(with_other, with_softmax):
    assert (np.diff(with_softmax) > 0).all()
    assert (np.diff(with_other) < 0).all()
