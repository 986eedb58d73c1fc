"""What the page start/softmax says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from page import Page

page = Page("start/softmax")


def jacobian(pi):
    """The derivative of softmax at the weights pi."""
    return np.diag(pi) - np.outer(pi, pi)


@page.after("shifted")
def test_the_three_weights(a):
    assert mha.softmax(a).round(3).tolist() == [0.665, 0.245, 0.09]


@page.after("shifted")
def test_a_common_shift_changes_no_weight(a):
    assert np.allclose(mha.softmax(a + 1000), mha.softmax(a), rtol=1e-12)


@page.after("shifted")
def test_a_higher_first_score_leaves_the_ratio_of_the_others(a):
    pi, raised = mha.softmax(a), mha.softmax(a + [1, 0, 0])
    assert abs(raised[1] / raised[2] - pi[1] / pi[2]) < 1e-12
    assert raised.round(3).tolist() == [0.844, 0.114, 0.042]


@page.after("shifted")
def test_one_unit_of_score_is_a_factor_e(a):
    pi = mha.softmax(a)
    assert abs(pi[0] / pi[1] - np.e) < 1e-12
    assert round(np.e, 2) == 2.72


@page.after("shifted")
def test_two_tokens_have_the_logistic_function(a):
    assert abs(mha.softmax(np.array([0.7, -0.4]))[0] - 1 / (1 + np.exp(-1.1))) < 1e-14


@page.after("attention-mean")
def test_hot_weights_are_nearly_equal_and_cold_ones_nearly_one_hot(a):
    assert mha.softmax(a / 10).round(3).tolist() == [0.367, 0.332, 0.301]
    assert 1 - mha.softmax(10 * a)[0] < 5e-5


@page.after("attention-mean")
def test_the_mean_is_1_485(a, v):
    assert round(mha.softmax(a) @ v, 3) == 1.485


@page.after("check-derivative")
def test_the_matrix_is_the_derivative(R, a, h, moved, pi):
    assert np.allclose(R, jacobian(pi), atol=1e-15)
    assert abs(moved / (2 * h) - R).max() < 1e-9
    assert abs(R.sum(axis=1)).max() < 1e-14


@page.after("check-derivative")
def test_a_score_moves_the_mean_by_its_weight_times_its_offer_over_the_mean(a, h, pi, v):
    slope = (mha.softmax(a + h * np.eye(3)) - mha.softmax(a - h * np.eye(3))) @ v / (2 * h)
    assert np.allclose(slope, pi * (v - pi @ v), atol=1e-9)


@page.after("check-derivative")
def test_the_norm_of_the_matrix_is_at_most_one_half_and_one_half_for_two_equal_tokens(pi):
    drawn = [mha.softmax(row) for row in 9 * np.random.default_rng(0).standard_normal((500, 4))]
    assert max(np.linalg.norm(jacobian(p), 2) for p in drawn) <= 0.5
    assert abs(np.linalg.norm(jacobian(np.array([0.5, 0.5])), 2) - 0.5) < 1e-14


@page.after("live-scores")
def test_the_default_frame_shows_the_weights_and_the_mean_of_the_page(live):
    assert [round(live.drawn()[name], 3) for name in ("weight_1", "mean", "tilt")] == [0.665, 1.485, 0.342]


@page.after("live-scores")
def test_of_the_slider_the_slope_is_largest_at_one_half(live):
    slopes = {a1: live.drawn(a1=a1)["tilt"] for a1 in live.controls["a1"].values}
    assert max(slopes, key=slopes.get) == 0.5
    assert [round(live.drawn(a1=0.5)[name], 3) for name in ("weight_1", "mean", "tilt")] == [0.547, 1.303, 0.381]


@page.after("live-scores")
def test_a_cold_softmax_is_flat(live):
    cold = live.drawn(tau=0.1)
    assert cold["tilt"] < 1e-3
    assert abs(np.array(cold["jacobian"])).max() < 1e-4


@page.after("live-scores")
def test_a_cold_softmax_is_steep_where_two_leaders_are_level(live):
    level = live.drawn(tau=0.1, a1=0.0)
    assert round(level["tilt"], 1) == 2.5
    assert abs(level["weight_1"] - level["weight_2"]) < 1e-12


@page.after("live-scores")
def test_a_higher_second_or_third_score_lowers_the_mean(live):
    assert live.drawn(a2=1.0)["mean"] < live.drawn()["mean"]
    assert live.drawn(a3=0.0)["mean"] < live.drawn()["mean"]


@page.after("live-scores")
def test_the_common_shift_moves_nothing(live):
    assert np.allclose(live.drawn(shift=1000.0)["over"], live.drawn()["over"], rtol=1e-12)


@page.after("solution-slope")
def test_solution_of_the_gap():
    assert round(float(np.log(81)), 2) == 4.39
    gap = np.r_[np.log(81), np.zeros(9)]
    assert abs(mha.softmax(gap)[0] - 0.9) < 1e-12


@page.after("solution-slope")
def test_solution_of_cooling(a, pi):
    assert round(pi @ a ** 2 - (pi @ a) ** 2, 3) == 0.424


@page.after("solution-slope")
def test_solution_of_the_fastest_score():
    assert round(0.25 / 0.0099, 1) == 25.3
    assert abs(0.99 * (1 - 0.99) - 0.0099) < 1e-12


@page.after("solution-slope")
def test_solution_of_the_largest_slope(at, largest, mean):
    assert round((2 - mean) / 4, 3) == round(largest, 3) == 0.384
    assert round(float(np.log(1 + np.exp(-1))), 3) == round(float(at), 3) == 0.313


@page.after("solution-slope")
def test_the_lemma_on_selection_that_chapter_1_proves_holds():
    assert mhabook.ledger["lemma-selection"].check(0).holds
