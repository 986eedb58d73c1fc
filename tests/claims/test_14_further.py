"""What the page kernels/14_further says, held against what its cells leave."""


@page.after("table-examples")
def test_softmax_misses_the_targets_of_b1_and_b2_and_reaches_that_of_b3(runs):
    assert [round(float(runs[name, "softmax"].loss[-1]), 7) for name in ("B1", "B2")] == [0.0416667, 1.3491885]
    assert runs["B3", "softmax"].loss[-1] < ZERO


@page.after("table-examples")
def test_the_gaussian_kernel_reaches_the_targets_of_b1_and_b2_and_stays_where_it_was_in_b3(runs):
    assert runs["B1", "Gaussian"].loss[-1] < ZERO
    assert runs["B2", "Gaussian"].loss[-1] < ZERO
    assert [round(float(loss), 3) for loss in runs["B3", "Gaussian"].loss] == [0.405, 0.405]
    assert round(float(runs["B3", "Gaussian"].loss[-1]), 6) == 0.405


@page.after("table-examples")
def test_b2_starts_from_these_losses(runs):
    assert round(float(runs["B2", "softmax"].loss[0]), 6) == 1.501927
    assert round(float(runs["B2", "Gaussian"].loss[0]), 6) == 0.642318


@page.after("table-examples")
def test_the_control_fails_in_b1_and_b2_as_softmax_does(KINDS, runs):
    assert [round(float(runs[name, KINDS[2]].loss[-1]), 4) for name in ("B1", "B2")] == [0.0035, 0.6758]
    assert runs["B3", KINDS[2]].loss[-1] < ZERO


@page.after("table-examples")
def test_from_minus_one_softmax_reaches_the_target_of_b2():
    layer, data = traps.example("B2", mha.softmax, start=(-1.0,) * 4)
    assert mha.train(layer, data, mha.GradientDescent(0.1), 1000, only=("WQ",), record=[0, 1000]).loss[-1] < ZERO


@page.after("table-examples")
def test_softmax_ends_in_b2_at_a_minimum(runs):
    last, data = runs["B2", "softmax"][-1], traps.example("B2", mha.softmax)[1]
    queries = traps.query_directions(last)
    hessian = np.array([[last.hvp(data.X, data.y, e).dot(f) for e in queries] for f in queries])
    assert runs["B2", "softmax"].grad_norm[-1] < 1e-12
    assert np.linalg.eigvalsh(hessian).round(3).tolist() == [0.272] * 4


@page.after("table-examples")
def test_the_gaussian_slope_of_b3_is_1e_7(runs):
    assert 0.5e-7 < runs["B3", "Gaussian"].grad_norm[-1] < 2e-7


# See: the loss of one query


@page.after("figure-one-query")
def test_in_b2_softmax_and_the_control_have_a_spurious_minimum_and_the_gaussian_kernel_has_none(KINDS, seen_by):
    softmax, gaussian, control = (rounded_minima(seen_by[kind], 2, 3) for kind in KINDS)
    assert softmax == [(-1.39, 0.0), (1.07, 0.337)]
    assert gaussian == [(-2.51, 0.0), (-2.24, 0.0), (0.73, 0.0), (2.16, 0.0)]
    assert control == [(-2.89, 0.0), (1.42, 0.169)]


@page.after("figure-one-query")
def test_the_hills_of_b2_are_at_zero_for_softmax_and_at_minus_0_63_for_the_control(B2, KINDS, seen_by):
    hills = {kind: line.basins(B2["y"])[0][1] for kind, line in seen_by.items()}
    assert abs(hills["softmax"]) < 1e-12
    assert round(float(hills[KINDS[2]]), 2) == -0.63
    assert round(float(seen_by["Gaussian"].loss(hills["Gaussian"], 2)), 2) < 0.3


@page.after("figure-other-way")
def test_in_b4_the_control_is_softmax(KINDS, shown):
    assert np.allclose(shown["softmax"], shown[KINDS[2]])


@page.after("figure-other-way")
def test_in_b4_softmax_arrives_and_the_gaussian_kernel_does_not(KINDS, runs):
    assert [round(float(runs["B4", kind].loss[-1]), 6) for kind in KINDS] == [0.0, 0.124663, 0.0]
    assert runs["B4", "softmax"].loss[-1] < ZERO


@page.after("figure-other-way")
def test_in_b4_the_gaussian_kernel_has_a_spurious_minimum_at_the_left_key(turned):
    assert rounded_minima(turned["Gaussian"], 1.5, 4) == [(-2.0, 0.1247), (1.24, 0.0), (2.76, 0.0)]
    assert [(round(abs(one.q), 6), one.loss) for one in turned["softmax"].minima(1.5)] == [(0.0, 0.0)]
    hill = turned["Gaussian"].basins(1.5)[0][1]
    assert round(float(turned["Gaussian"].loss(hill, 1.5)), 2) == 0.63


@page.after("figure-other-way")
def test_the_softmax_output_of_b4_rises_from_one_to_two(turned):
    assert turned["softmax"].limits().tolist() == [1, 2]
    assert (turned["softmax"].trend(np.linspace(-50, 50, 101)) > 0).all()


# See: two free queries


@page.after("figure-two-free")
def test_with_two_queries_b2_has_these_minima(square):
    assert [[len(sort) for sort in sorts] for _, sorts, _ in square.values()] == [[1, 3], [16, 0], [1, 3]]


@page.after("figure-two-free")
def test_the_spurious_minima_of_two_queries_have_these_losses(seen_by, square):
    losses = sorted(float(sum(seen_by["softmax"].loss(q, 2) for q in pair)) for pair in square["softmax"][1][1])
    assert np.round(losses, 3).tolist() == [0.337, 0.337, 0.675]


@page.after("figure-two-free")
def test_of_four_descents_in_b2_one_four_and_none_arrive(seen_by, square):
    ends = [seen_by[kind].loss(drawn[2][-1], 2).sum(axis=0) for kind, drawn in square.items()]
    assert [int((end < 1e-9).sum()) for end in ends] == [1, 4, 0]


@page.after("figure-two-free-turned")
def test_with_two_queries_b4_has_these_minima(KINDS, square4):
    assert [[len(sort) for sort in square4[kind][1]] for kind in KINDS] == [[1, 0], [4, 5], [1, 0]]


@page.after("figure-two-free-turned")
def test_of_four_descents_in_b4_four_one_and_four_arrive(square4, turned):
    ends = [turned[kind].loss(drawn[2][-1], 1.5).sum(axis=0) for kind, drawn in square4.items()]
    assert [int((end < 1e-9).sum()) for end in ends] == [4, 1, 4]


# Prove


@page.after("figure-two-free-turned")
def test_the_query_of_b3_waits_for_two_million_steps():
    assert round(waiting_in_b3(-1.0)) == 2_001_830
    assert (0.9 - np.exp(-4.5)) ** 2 / 2 > 0.395


@page.after("figure-two-free-turned")
def test_b4_satisfies_the_conditions_of_a_trap():
    w, eps = (one[0] for one in traps.spare(mha.gaussian, column("B4", "keys"), column("B4", "values")))
    assert (round(w, 3), round(eps, 3)) == (0.135, 0.271)
    assert eps < 0.5
    assert 2 * eps < 1 - w


@page.after("figure-two-free-turned")
def test_two_values_at_one_key_keep_the_output_below_their_mean():
    line = lines.Line(np.array([0.0, 1, 1]), np.array([0.0, 1, 3]))
    assert line.output(np.linspace(-50, 30, 161)).max() < 2
    assert (line.trend(np.linspace(-50, 50, 101)) > 0).all()


@page.after("figure-two-free-turned")
def test_b2_satisfies_the_conditions_of_the_barrier(B2, seen_by):
    means = traps.top_means(B2["keys"], B2["values"])
    assert np.allclose(means, [1, 1.5, 1 / 3, 1])
    assert seen_by["softmax"].output(np.array(B2["start"])).min() > 1
    assert (2 - means.max()) ** 2 / 2 == 1 / 8


# Check by number


@page.after("slices-two-free-table")
def test_slices_find_the_minima_that_pairs_have(cuts, square):
    for kind, cut in cuts.items():
        pairs, minima = [pair for sort in square[kind][1] for pair in sort], minima_of(cut)
        assert all(one.strict for one in minima)
        assert len(minima) == len(pairs)
        assert all(min(np.abs(np.subtract(one.at, pair)).max() for one in minima) < 1e-5 for pair in pairs)


@page.after("wait")
def test_the_query_of_b3_needs_8_percent_more_steps_than_the_theorem_says(steps):
    assert steps == 2_154_384
    assert round(100 * (steps / waiting_in_b3(-1.0) - 1)) == 8


@page.after("wait")
def test_from_minus_two_the_theorem_says_nearly_a_billion():
    assert 9e8 < waiting_in_b3(-2.0) < 1e9


@page.after("basins-table")
def test_these_shares_of_starts_arrive_in_b2(KINDS, basins):
    share = {kind: [round(float(basins.where(kind=kind, s=s)["arrived"][0][1]), 3) for s in (1.0, 2.0, 4.0, 8.0)]
             for kind in KINDS}
    assert share["softmax"] == [0.513, 0.513, 0.489, 0.341]
    assert share["Gaussian"] == [1.0, 0.999, 0.898, 0.588]
    assert share[KINDS[2]][0] == 0.273


@page.after("random-table")
def test_the_gaussian_kernel_has_spurious_minima_more_often(random):
    stuck = 100 * random["stuck"] / random["kept"][:, None]
    assert stuck.round(1).tolist() == [[7.2, 14.4, 9.0], [6.4, 31.0, 13.4], [18.5, 70.7, 56.4]]
    assert random["kept"].tolist() == [2533, 2825, 3338]
    assert random["missed"].max() <= 4
    assert ((stuck * (100 - stuck) / random["kept"][:, None]) ** 0.5).max() < 0.9
    assert (stuck[:, 1] / stuck[:, 0]).min() > 1.95
    assert (stuck[:, 1] / stuck[:, 0]).max() < 5


@page.after("random-table")
def test_z_is_above_8_in_every_row(random):
    only = random["only"].astype(float)
    assert ((only[:, 1] - only[:, 0]) / only.sum(axis=1) ** 0.5).min() > 8


@page.after("random-table")
def test_softmax_arrives_most_often(random):
    arrives = random["arrives"] / random["kept"][:, None]
    assert arrives.round(2).tolist() == [[0.94, 0.9, 0.92], [0.87, 0.74, 0.82], [0.74, 0.64, 0.64]]


@page.after("random-table")
def test_valleys_to_infinity_are_common(random):
    away = 100 * random["outward"] / random["kept"][:, None]
    assert (abs(away[:, 0] - 41) < 2.5).all()
    assert (abs(away[:, 1] - 66.5) < 3).all()


@page.after("teachers-table")
def test_a_student_learns_best_from_a_teacher_of_its_kernel_if_queries_alone_train(teachers):
    done = {only: [int((teachers.where(teacher=a, student=b, only=only)["relative"][:, 1] < 1e-6).sum())
                   for a in ("softmax", "gaussian") for b in ("softmax", "gaussian")] for only in ("WQ", "WQ WK WV")}
    assert done == {"WQ": [16, 9, 4, 12], "WQ WK WV": [19, 18, 19, 18]}
    assert len(teachers) == 160


# Move the sliders


@page.after("live-traps")
def test_starts_moved_by_minus_one_let_two_four_and_one_query_away(B2, seen_by):
    moved = {kind: line.descend(np.array(B2["start"]) - 1, 2.0, 0.1, 300)[-1] for kind, line in seen_by.items()}
    assert [int((seen_by[kind].loss(q, 2.0) < 1e-6).sum()) for kind, q in moved.items()] == [2, 4, 1]


@page.after("live-traps")
def test_a_narrower_kernel_holds_all_queries_of_b1_at_zero():
    minima = [[round(one.loss, 3) for one in line_of("B1", Gaussian(c)).minima(0.5)] for c in (0.5, 0.75, 1.0)]
    assert minima == [[0, 0], [0, 0.099, 0], [0, 0.028, 0]]


@page.after("live-traps")
def test_b3_arrives_from_1_or_with_a_wider_kernel():
    narrow, wide = (line_of("B3", Gaussian(c)) for c in (0.5, 0.125))
    ends = narrow.descend([0.0, 0.8, 1.0], 0.9, 1.0, 300)[-1]
    assert (narrow.loss(ends, 0.9) < 1e-6).tolist() == [False, False, True]
    assert wide.loss(wide.descend([-1.0], 0.9, 1.0, 300)[-1], 0.9)[0] < 1e-6


# Where it breaks


@page.after("width-b1")
def test_a_narrower_kernel_is_trapped_in_b1_and_the_control_arrives(by_width):
    assert [(a < 1e-9, b < 1e-9) for a, b in by_width.values()] == [(True, False), (False, True), (False, True)]
    assert round(by_width[1.0][0], 4) == 0.0834
    assert round(by_width[0.75][0], 3) == 0.297


@page.after("width-b1")
def test_the_outputs_of_b1_at_zero_are_these_formulas():
    for c in (0.5, 0.75, 1.0):
        assert line_of("B1", Gaussian(c)).output([0.0])[0] == pytest.approx(2 * np.exp(-c))
        h, line = 1e-3, line_of("B1", Gaussian(c))
        bend = (line.output([h])[0] - 2 * line.output([0.0])[0] + line.output([-h])[0]) / h ** 2
        assert bend == pytest.approx(4 * c * np.exp(-c) * (2 * c - 1), abs=1e-5)
        control = line_of("B1", mha.attention.NormalizedGaussian(c)).output(np.linspace(-5, 5, 1001))
        assert control.min() == pytest.approx(1 / (1 + np.exp(c) / 2))


@page.after("all-weights-runs")
def test_where_the_keys_move_too_b2_holds_no_query(escaped):
    assert max(loss for (only, _), loss in escaped.items() if only != ("WQ",)) < 0.002


@page.after("lifted")
def test_on_the_line_softmax_and_the_control_are_trapped_and_the_gaussian_kernel_is_not(KINDS, lifted_ends):
    still = [lifted_ends[0.0, kind].grad_norm[-1] < 1e-6 and lifted_ends[0.0, kind].loss[-1] > 0.8 for kind in KINDS]
    assert still == [True, False, True]
    assert all(lifted_ends[lift, "Gaussian"].loss[-1] < ZERO for lift in (0.0, 0.1))
    assert round(float(lifted_ends[0.0, KINDS[2]].loss[-1]), 2) == 0.88


@page.after("lifted")
def test_off_the_line_their_losses_keep_falling(lifted_ends):
    falling = [path for (lift, kind), path in lifted_ends.items() if lift and kind != "Gaussian"]
    assert all(path.loss[-1] < 0.98 * path.loss[1] for path in falling)
    assert (lifted_ends[0.1, "softmax"][-1].WQ[0, :, 0] > 0).all()


@page.after("lifted")
def test_far_off_the_line_the_gaussian_kernel_is_trapped(lifted_ends):
    assert lifted_ends[1.0, "Gaussian"].grad_norm[-1] < 1e-9
    assert round(float(lifted_ends[1.0, "Gaussian"].loss[-1]), 3) == 0.214


# Exercises


@page.after("solution-rounding")
def test_neighbors_count_more_than_three_times_as_many_minima_as_there_are(dip, true):
    assert len(true) == 34
    assert dip.any(axis=1).sum() > 3 * len(true)
