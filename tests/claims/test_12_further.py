"""What the page kernels/12_further says, held against what its cells leave."""


@page.after("figure-outputs")
def test_each_kernel_reaches_a_target_that_the_other_does_not(outputs):
    assert [round(float(output.max()), 2) for output in outputs.values()] == [1.03, 1.77, 1.25]
    assert [round(float(output[-1]), 2) for output in outputs.values()] == [-0.95, -0.01, -0.91]
    assert round(float(outputs["Gaussian"].min()), 2) == -0.34


# --- the statements, and the same rank -------------------------------------------------------------------------


@page.after("six")
def test_scores_of_rank_one_make_weights_of_rank_six(pair):
    assert [np.linalg.matrix_rank(S) for S in pair] == [6, 6]
    assert [f"{np.linalg.svd(S)[1][-1]:.1e}" for S in pair] == ["7.8e-06", "4.3e-05"]


@page.after("figure-stretch")
def test_on_a_stretched_line_the_distance_is_far_from_a_lower_rank(least, scales):
    at_4 = {name: round(float(np.interp(4, scales, row)), 3) for name, row in least.items()}
    assert at_4 == {"softmax": 0.003, "Gaussian": 0.507, "Gaussian, rows normalized": 0.329}
    assert least["softmax"][-1] < 1e-4
    assert min(least["Gaussian"][-1], least["Gaussian, rows normalized"][-1]) > 0.95


@page.after("jacobians")
def test_the_third_direction_is_lost_under_softmax_and_weak_under_the_gaussian_kernel(X, bound, free):
    thin, full = (np.linalg.svd(two_kernels.token_jacobians(layer, X))[1][0] for layer in (bound, free))
    assert (thin[:, 2] < 1e-12).all()
    assert thin[:, 1].min() > 0.07
    assert full[:, 0].min() > 0.5
    assert full[:, 0].max() < 1
    assert full[:, 2].min() > 0.016
    assert full[:, 2].max() < 0.043


# --- the sliders -----------------------------------------------------------------------------------------------

THREE = ("soft", "gauss", "between")


@page.after("live")
def test_the_gaussian_kernel_pushes_the_query_away_and_the_others_back(live):
    assert forces(live.drawn()) == [-0.32, 0.33, -0.48]


@page.after("live")
def test_with_equal_values_only_the_gaussian_kernel_feels_a_force(live):
    equal = live.drawn(values="equal", q=3.0)
    assert forces(equal)[1] == -0.41
    assert max(abs(equal["soft_here_force"]), abs(equal["between_here_force"])) < 1e-12


@page.after("live")
def test_the_hill_of_the_control_rises_with_the_distance_and_falls_with_c(live):
    drawn = [live.drawn(), live.drawn(k1=-5.0, k3=5.0), live.drawn(c=0.125)]
    assert np.round([hills(one)[1:] for one in drawn], 2).tolist() == [[1.0, 0.59], [1.0, 1.0], [1.0, 0.4]]
    assert max(hills(one)[0] for one in drawn) < 0.35


@page.after("live")
def test_the_outermost_key_is_selected_by_all(live):
    assert min(hills(live.drawn(k2=3.0))) > 0.99


# --- where it breaks, and solutions ----------------------------------------------------------------------------


@page.after("far-rank")
def test_far_from_all_keys_the_gaussian_head_is_silent(far):
    assert far[0].max() > 0.99
    assert 0 < far[1].max() < 1e-260
    assert np.linalg.matrix_rank(far[1], tol=1e-15) == 0


@page.after("solution-third")
def test_the_normalized_gaussian_has_no_third_direction(J12):
    assert np.linalg.svd(J12)[1][1] > 0.05
    assert np.linalg.svd(J12)[1][2] < 1e-8


@page.after("solution-back")
def test_from_4_all_but_the_gaussian_query_arrive(ends):
    arrives = {name: bool(loss < 1e-12) for name, (_, loss) in ends.items()}
    assert arrives == {"softmax": True, "Gaussian": False, "Gaussian, rows normalized": True}


@page.after("solution-back-between")
def test_from_between_the_keys_the_gaussian_query_arrives(keys, q, values):
    assert abs((mha.gaussian(mha.gaussian.scores(q, keys)) @ values)[0] - 0.5) < 1e-6


@page.after("solution-open")
def test_at_the_small_scale_the_gaussian_jacobian_is_larger_and_at_the_large_one_in_a_third(medians, ratio):
    assert ratio[0.5] > 0.95
    assert 0.28 < ratio[2.0] < 0.4
    assert round(medians[0.5][1] / medians[0.5][0], 1) == 4.4


@page.after("solution-open")
def test_the_least_directions_of_the_control_are_those_of_softmax(medians):
    softmax_and_control = [round(medians[scale][k], 4) for scale in (0.5, 2.0) for k in (0, 2)]
    assert softmax_and_control == [0.0134, 0.0140, 0.0015, 0.0021]
