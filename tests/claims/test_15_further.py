"""What the page kernels/15_further says, held against what its cells leave."""


@page.after("figure-planes")
def test_the_hessian_has_33_negative_eigenvalues_of_114(values):
    assert len(values) == 114
    assert (values < -1e-9).sum() == 33
    assert values[[0, 1, -1]].round(2).tolist() == [-0.7, -0.41, 35.13]


@page.after("figure-planes")
def test_the_random_plane_curves_up_and_the_chosen_one_down_in_the_middle(bowl, saddle):
    assert np.linalg.eigvalsh(bowl.derivatives(0, 0)[2])[0] > 0
    assert np.linalg.eigvalsh(saddle.derivatives(0, 0)[2])[1] < 0


@page.after("figure-planes")
def test_the_network_stands_near_the_bottom_of_one_slice_and_on_the_slope_of_the_other(bowl, saddle):
    assert bowl.loss[7, 7].round(3) == 0.334 == saddle.loss[7, 7].round(3)
    assert bowl.loss.min().round(3) == 0.333
    assert saddle.loss.min().round(3) == 0.237


@page.after("figure-planes")
def test_the_random_plane_curves_down_nowhere_and_the_chosen_one_at_80_percent(bowl, saddle):
    assert smoothness.by_formula(bowl).negative_curvature == 0
    assert round(smoothness.by_formula(saddle).negative_curvature, 2) == 0.8


@page.after("figure-stages")
def test_the_four_slices_are_in_this_order(shown):
    assert shown["kernel"].tolist() == ["softmax", "softmax, scaled", "Gaussian", "Gaussian, normalized"]


@page.after("figure-stages")
def test_the_hills_of_softmax_and_of_the_normalized_gaussian_are_higher_than_the_gaussian_plain(shown):
    assert shown["loss"].max(axis=(1, 2)).round(2).tolist() == [0.77, 0.64, 0.69, 0.8]
    assert shown["off"][2].round(2) == 0.69


@page.after("figure-stages")
def test_their_hollows_are_deeper_and_the_scaled_softmax_has_little_relief(shown):
    assert shown["loss"].min(axis=(1, 2)).argsort().tolist() == [0, 3, 2, 1]
    assert shown["loss"][1].min().round(2) == 0.58


@page.after("verdicts")
def test_after_the_short_stage_on_words_the_gaussian_slice_is_the_rougher_one():
    counts = [wins("Gaussian", "softmax", ALONE, task="words", scaled=scaled) for scaled in SCALINGS]
    assert counts == [[1, 0, 0], [2, 0, 0]]


@page.after("verdicts")
def test_elsewhere_it_is_lower_and_flatter_and_curves_down_in_more_places():
    for task in TASKS[1:]:
        for scaled in SCALINGS:
            assert wins("Gaussian", "softmax", ALONE, task=task, scaled=scaled) == [9, 9, 0]


@page.after("verdicts")
def test_it_curves_down_in_more_places_in_every_slice():
    counts = [wins("softmax", "Gaussian", ALONE, task=task, scaled=scaled) for task in TASKS for scaled in SCALINGS]
    assert all(count[2] == 9 for count in counts)


@page.after("verdicts")
def test_the_scaled_softmax_is_smoother_than_the_gaussian_kernel():
    for task in TASKS:
        for scaled in SCALINGS:
            count = wins("Gaussian", "softmax, scaled", ALONE, task=task, scaled=scaled)
            assert count[0] <= 1
            assert count[1:] == [0, 0]


@page.after("verdicts")
def test_the_normalized_gaussian_wins_and_loses_against_softmax():
    counts = [wins("Gaussian, normalized", "softmax", ALONE, task=task, scaled=scaled)
              for task in TASKS for scaled in SCALINGS]
    assert {n for count in counts for n in count} <= set(range(1, 7))
    assert (np.min(counts), np.max(counts)) == (1, 6)


@page.after("verdicts")
def test_a_smaller_output_flattens_the_slice_everywhere_and_lowers_it_but_for_the_short_stage():
    counts = [wins("softmax, scaled", "softmax", ALONE, task=task, scaled="filter")[:2] for task in TASKS]
    assert counts == [[6, 9], [9, 9], [9, 9]]


@page.after("verdicts")
def test_the_scaled_softmax_has_learned_the_least(table):
    kernels = "softmax", "Gaussian", "softmax, scaled"
    middles = [[round(median_in_the_middle(table, task, kernel), 2) for kernel in kernels] for task in TASKS[1:]]
    assert middles == [[0.4, 0.45, 0.48], [0.59, 0.63, 0.65]]
    assert len(table) == 432


@page.after("verdicts")
def test_where_everything_moves_there_is_no_verdict():
    counts = [wins("Gaussian", "softmax", ALL, task=task, scaled=scaled) for task in TASKS for scaled in SCALINGS]
    assert (np.min(counts), np.max(counts)) == (3, 7)
    assert [wins("Gaussian", "softmax", ALL, task=task, scaled="filter")[2] for task in TASKS] == [3, 7, 3]


@page.after("verdicts")
def test_against_the_scaled_softmax_the_counts_go_from_two_to_nine_and_nine_is_one_maximum():
    counts = [wins("Gaussian", "softmax, scaled", ALL, task=task, scaled=scaled)
              for task in TASKS for scaled in SCALINGS]
    assert (np.min(counts), np.max(counts), np.sum(np.equal(counts, 9))) == (2, 9, 1)
    nine = [wins("Gaussian", "softmax, scaled", ALL, task=TASKS[1], scaled=scaled)[0] for scaled in SCALINGS]
    assert nine == [9, 6]


@page.after("verdicts")
def test_the_scaling_of_directions_changes_counts_by_one_or_two():
    for trains, most in ((ALONE, 1), (ALL, 2)):
        filtered, raw = ([wins("Gaussian", "softmax", trains, task=task, scaled=scaled) for task in TASKS]
                         for scaled in SCALINGS)
        assert np.abs(np.subtract(filtered, raw)).max() == most


# Prove, and check it by number


@page.after("rescaled-print")
def test_filter_normalized_slices_agree_and_raw_ones_differ_by_a_factor_of_742(filtered, raw):
    assert np.allclose(filtered[0].loss, filtered[1].loss, rtol=1e-9)
    assert round(raw[1].loss.max() / raw[0].loss.max()) == 742
    assert [round(float(cut.loss.max()), digits) for cut, digits in zip(raw, (1, 0), strict=True)] == [8.2, 6123]


@page.after("figure-far")
def test_the_gaussian_curve_settles_on_the_loss_without_attention(data, far):
    assert ((data.y ** 2).sum() / 12).round(2) == 2.16
    assert abs(far["Gaussian"][-1] - 2.1564) < 1e-4


@page.after("figure-far")
def test_it_rises_above_its_plateau_first(data, far):
    assert [round(max(losses), 1) for losses in far.values()] == [11.7, 3.2, 6.5]
    assert [round(losses[-1], 1) for losses in far.values()] == [10.1, 2.2, 5.8]
    assert max(far["Gaussian"]) > 1.4 * (data.y ** 2).sum() / 12
    assert 2 * max(far["Gaussian"]) < max(far["Gaussian, normalized"])


@page.after("off")
def test_the_stored_gaussian_maxima_are_the_loss_without_attention(table):
    rows = gaussian_rows(table)
    assert len(rows) == 27
    assert abs(rows["loss"].max(axis=(1, 2)) - rows["off"]).max() < 0.011
    off = {task: float(np.median(gaussian_rows(table, task=task)["off"]).round(2)) for task in TASKS}
    assert off == {"words": 0.65, "words, longer": 0.62, "micro-Pathfinder": 0.69}


@page.after("off")
def test_the_softmax_maximum_is_below_it_after_the_short_stage_and_above_it_elsewhere():
    medians = {task: [round(float(np.median(measures_of(kernel, ALONE, task=task)[:, 0])), 2)
                      for kernel in ("softmax", "Gaussian")] for task in TASKS}
    assert medians == {"words": [0.57, 0.65], "words, longer": [0.7, 0.62], "micro-Pathfinder": [0.76, 0.69]}


@page.after("off")
def test_on_eight_slices_of_nine_the_worst_attention_is_better_than_none(table):
    short = table.where(task="words", kernel="softmax", trains=ALONE, scaled="filter")
    assert len(short) == 9
    assert (short["loss"].max(axis=(1, 2)) < short["off"]).sum() == 8


@page.after("off")
def test_more_was_learned_through_attention_on_words_than_on_micro_pathfinder(table):
    falls = [float(np.median(gaussian_rows(table, task=task)["off"])) - median_in_the_middle(table, task, "softmax")
             for task in ("words", "micro-Pathfinder")]
    assert [round(fall, 2) for fall in falls] == [0.18, 0.10]


# Your turn, and where it breaks


@page.after("turn-slices")
def test_near_slices_are_bowls_and_far_ones_curve_down(cut_of, data, ends):
    near, far = ({name: measured(cut_of(end, radius, 0, "filter")) for name, end in ends.items()}
                 for radius in (0.1, 4.0))
    assert all(cut.negative_curvature == 0 for cut in near.values())
    assert all(cut.negative_curvature > 0.7 for cut in far.values())
    assert [round(cut.maximum, 1) for cut in far.values()] == [10.8, 3.0, 11.0]
    assert far["Gaussian"].maximum > 1.3 * (data.y ** 2).sum() / 12


@page.after("radius")
def test_a_larger_radius_shows_more_negative_curvature(growing):
    assert [round(measured(cut).negative_curvature, 2) for cut in growing.values()] == [0.02, 0.11, 0.21, 0.23]


@page.after("radius")
def test_no_network_has_mastered_its_task(table):
    assert table["accuracy"].min().round(2) == 0.56
    assert table["accuracy"].max().round(2) == 0.75


# Exercises


@page.after("solution-grid")
def test_the_mean_gradient_by_differences_leaves_out_the_rim(bowl):
    assert measured(bowl).maximum == smoothness.by_formula(bowl).maximum
    assert measured(bowl).mean_gradient < smoothness.by_formula(bowl).mean_gradient


@page.after("solution-line")
def test_the_loss_only_grows_away_from_the_end_of_its_own_kernel(with_other, with_softmax):
    assert (np.diff(with_softmax) > 0).all()
    assert (np.diff(with_other) < 0).all()
