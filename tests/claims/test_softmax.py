"""What the page start/softmax says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from page import Page

page = Page("start/softmax")
UNQUOTED = {
    "what is proved, or defined": (
        "title",
        "see-differences: The ratio of",
        "see-differences: With two tokens",
        "see-temperature: This mean never",
        "prove",
        "below-slope: This is at most",
    ),
    "what the figure does, or asks": (
        "sliders: Keep",
        "sliders: Is the first",
        "sliders: Lower",
        "sliders: Can you",
        "live-scores-seen: The slider adds",
        "live-scores-seen: Now set",
    ),
    "which question is answered": ("see-differences: This answers",),
}


def jacobian(pi):
    """The derivative of softmax at the weights pi."""
    return np.diag(pi) - np.outer(pi, pi)


@page.after("shifted")
def test_a_common_shift_changes_no_weight(a):
    assert np.allclose(mha.softmax(a + 1000), mha.softmax(a), rtol=1e-12)


@page.after(
    "shifted",
    says=(
        "Three tokens have the scores $1$, $0$, and $-1$",
        "When the first score rises, all three weights change, but the other two keep their ratio",
    ),
)
def test_a_higher_first_score_leaves_the_ratio_of_the_others(a, said):
    count, *scores, changed, kept = said
    assert a.tolist() == scores and len(a) == count == changed == kept + 1
    pi, raised = mha.softmax(a), mha.softmax(a + [1, 0, 0])
    assert (abs(raised - pi) > 0.01).all()
    assert abs(raised[1] / raised[2] - pi[1] / pi[2]) < 1e-12


@page.after("shifted")
def test_one_unit_of_score_is_a_factor_e(a):
    pi = mha.softmax(a)
    assert abs(pi[0] / pi[1] - np.e) < 1e-12


@page.after("shifted")
def test_two_tokens_have_the_logistic_function(a):
    assert abs(mha.softmax(np.array([0.7, -0.4]))[0] - 1 / (1 + np.exp(-1.1))) < 1e-14


@page.after(
    "attention-mean",
    says=(
        "the three weights are nearly equal",
        "the first weight exceeds $0.9999$",
        "dividing the scores makes the weights more equal, and multiplying them moves weight to the token with",
    ),
)
def test_hot_weights_are_nearly_equal_and_cold_ones_nearly_one_hot(a, said):
    count, most = said
    hot, usual, cold = (mha.softmax(a / tau) for tau in (10, 1, 1 / 10))
    assert len(hot) == count and np.ptp(hot) < 0.07
    assert most < cold[0] < 1 - (1 - most) / 10
    assert np.ptp(hot) < np.ptp(usual) < np.ptp(cold) and cold.argmax() == a.argmax()


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


@page.after(
    "live-scores",
    says=(
        "The values of the tokens are $2$, $1$, and $-1$",
        "The weight is exactly $\\frac12$ at a score between",
        "which lies between $0$ and $0.5$",
    ),
)
def test_of_the_slider_the_slope_is_largest_at_one_half(live, said, v):
    *values, half, left, right = said
    assert v.tolist() == values
    slopes = {a1: live.drawn(a1=a1)["tilt"] for a1 in live.controls["a1"].values}
    assert max(slopes, key=slopes.get) == right
    ends = [live.drawn(a1=a1)["weight_1"] for a1 in (left, right)]
    assert ends[0] < half < ends[1]


@page.after(
    "live-scores",
    says="softmax is flat nearly everywhere and very steep where",
)
def test_a_cold_softmax_is_flat_and_steep_where_two_leaders_are_level(live):
    cold, level = live.drawn(tau=0.1), live.drawn(tau=0.1, a1=0.0)
    assert cold["tilt"] < 1e-3
    assert abs(np.array(cold["jacobian"])).max() < 1e-4
    assert abs(level["weight_1"] - level["weight_2"]) < 1e-12
    assert level["tilt"] > 5 * live.drawn()["tilt"]


@page.after("live-scores", says="the value of either token is below the mean")
def test_a_higher_second_or_third_score_lowers_the_mean(live, v):
    assert v[1:].max() < live.drawn()["mean"]
    assert live.drawn(a2=1.0)["mean"] < live.drawn()["mean"]
    assert live.drawn(a3=0.0)["mean"] < live.drawn()["mean"]


@page.after("live-scores")
def test_the_common_shift_moves_nothing(live):
    assert np.allclose(live.drawn(shift=1000.0)["over"], live.drawn()["over"], rtol=1e-12)
