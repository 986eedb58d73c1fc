"""What the page multihead/02_how_steep_how_curved says, held against what its cells leave."""

import numpy as np
import pytest

from mhabook.c02_curvature import loss_bounds
from page import Page

page = Page("multihead/02_how_steep_how_curved")
UNQUOTED = {
    "what is proved, or defined": (
        "predict",
        "idea-text",
        "model-text",
        "logistic",
        "self-bounded: Its Hessian has",
        "self-bounded: So the negative curvature cannot stay",
        "check-attained-text: Set all decoders",
        "breaks-squared",
        "breaks-end",
        "run-seen: The vertical axis is logarithmic",
        "exercise-flat",
        "seen: - So the curvature",
        "seen: - The slope",
        "seen: - Therefore",
        "seen: - A loss that",
    ),
    "what a cell does": ("title", "see", "solution-flat-end: The printed"),
    "what the chapter does": ("run-seen: The chapter explains", "run-seen: Where a line is level"),
}


def at_loss(run, losses):
    """The downward curvature of a run at these losses, between its points on logarithmic axes."""
    x, y = np.log(run.loss[::-1]), np.log(run.negative_curvature[::-1])
    return np.exp(np.interp(np.log(losses), x, y))


@page.after("hills", says="its hills get flatter as the loss falls")
def test_every_model_stands_on_a_hill_and_a_lower_one_than_before(distances, hills):
    tops = [max(heights) for heights in hills.values()]
    assert tops == sorted(tops, reverse=True)
    for heights in hills.values():
        assert abs(distances[np.argmax(heights)]) < 1
        assert max(heights[0], heights[-1]) < 0.6 * max(heights)


@page.after(
    "run",
    says=(
        "computes the negative curvature at eleven steps",
        "when the loss has fallen by a factor of more than a hundred, so has the negative curvature",
        "the ratio stays close to a tenth",
    ),
)
def test_downward_curvature_falls_a_hundredfold_as_the_loss_does_nearly_in_proportion(live, said):
    points, factor, share = said
    run = live.path()
    assert len(run.steps) == points
    loss, curvature = np.log(run.loss), np.log(run.negative_curvature)
    assert np.log(factor) < min(np.ptp(loss), np.ptp(curvature)) < np.log(4 * factor)
    assert np.corrcoef(loss, curvature)[0, 1] > 0.99
    assert 0.85 < np.polyfit(loss, curvature, 1)[0] < 1.1
    assert (abs(run.curvature_share - share) < 0.03).all()
    assert run.curvature_share.max() < 2 * run.curvature_share.min()


@page.after("run", says="In all four cases, the bound exceeds the ratio at least a hundredfold")
def test_in_each_case_the_bound_is_at_least_a_hundred_times_the_curvature(live, said):
    cases, factor = said
    runs = [live.path(**case["values"]) for case in live.spec["tries"]]
    assert len(runs) == cases
    least = min((run.weak_convexity_constant / run.curvature_share).min() for run in runs)
    assert factor < least < 2 * factor


@page.after(
    "run",
    says=(
        "The loss falls much faster than before",
        "In the first steps, only the loss falls, so the ratio rises",
        "The run ends at a much lower loss, and there the ratio is that of the lower gray line's end",
    ),
)
def test_long_steps_lower_the_loss_first_and_end_where_the_gray_line_goes_on_to(live):
    usual, long = live.path(), live.path(lr=10.0)
    assert long.loss[2] < 0.6 * long.loss[0]
    assert (abs(long.negative_curvature[:3] / long.negative_curvature[0] - 1) < 0.1).all()
    assert (np.diff(long.curvature_share[:3]) > 0).all()
    assert long.loss[-1] < usual.loss[-1] / 10
    assert np.isclose(long.curvature_share[-1], usual.curvature_share[-1], rtol=0.05)


@page.after(
    "run",
    says=(
        "Both lines lie below the gray ones: at the same loss, the negative curvature is smaller with "
        "eight heads than with four, and so is the bound"
    ),
)
def test_at_the_same_loss_eight_heads_curve_downward_less_than_four_and_so_does_their_bound(
    live, said
):
    eight, four = (live.path(H=int(heads)) for heads in said)
    np.testing.assert_array_equal(four.loss, live.path().loss)
    shared = eight.loss[eight.loss < four.loss[0]]
    assert (at_loss(eight, shared) < at_loss(four, shared)).all()
    assert (eight.weak_convexity_constant < four.weak_convexity_constant).all()


@page.after(
    "run",
    says=(
        "The loss begins about four times as high as before",
        "The bound on the ratio rises by a larger factor, but the ratio does not follow: it begins "
        "lower than before, and ends close to the lower gray line",
    ),
)
def test_a_large_start_raises_the_bound_more_than_the_loss_but_not_the_ratio(live, said):
    usual, large = live.path(), live.path(scale=3.0)
    bound, loss, share = (
        large.curves[name][0] / usual.curves[name][0]
        for name in ("weak_convexity_constant", "loss", "curvature_share")
    )
    assert bound > 2 * loss
    assert [loss] == pytest.approx(said, rel=0.1)
    assert share < 0.8
    assert 0.75 < large.negative_curvature[-1] / at_loss(usual, large.loss[-1:])[0] < 1


@page.after(
    "run",
    says="grows by less than a factor of two while the loss falls more than a hundredfold, so the bound "
    "falls almost as fast as the loss",
)
def test_the_constant_grows_by_less_than_a_factor_of_two(data, path, said):
    most, fall = said
    first, *_, last = (loss_bounds.curvature_constant(model, data) for model in path.models)
    assert 0.8 * most < last / first < most
    assert fall < path.loss[0] / path.loss[-1] < 4 * fall


@page.after("gradient")
def test_the_gradient_by_hand_is_that_of_the_library(data, start, gradient):
    W, U = gradient(data.X[3], start.W[1], start.U[1])
    features = start.features(data.X[3:4])[0].reshape(4, -1)[1] * 2
    assert np.allclose(np.concatenate([W, U], axis=None), features, rtol=1e-12, atol=1e-14)


@page.after("check-bound", says="Here the bound is more than a hundred times too large")
def test_at_the_end_the_bound_is_more_than_a_hundred_times_the_curvature(H, kappa, loss, said):
    (factor,) = said
    assert factor < kappa * loss / -np.linalg.eigvalsh(H)[0] < 4 * factor


@page.after(
    "check-attained",
    says="most pairs of these tokens are nearly orthogonal, so the covariances are small",
)
def test_opposite_tokens_attain_the_bound_and_those_of_the_run_are_far_from_it(data, extreme):
    assert np.isclose(extreme.lhs, extreme.rhs, rtol=1e-12)
    units = data.X / np.linalg.norm(data.X, axis=-1, keepdims=True)
    cosines = abs(units @ units.mT)[:, *np.triu_indices(8, 1)]
    assert (cosines < 0.3).mean() > 0.7


@page.after(
    "figure-squared",
    says=(
        "For the logistic loss, this ratio changes by less than a factor of two",
        "it grows far more, because that loss falls faster than its negative curvature",
        "the negative curvature of the squared loss nevertheless stays below the bound of the chapter",
    ),
)
def test_the_share_stays_within_a_factor_of_two_for_the_logistic_loss_alone(both, said):
    (most,) = said
    assert 0.6 * most < np.exp(np.ptp(np.log(both["logistic"][1]))) < most
    assert both["squared"][1][-1] > 5 * both["squared"][1][0]
    assert max(both["squared"][1]) < 1


@page.after("solution-flat", says="rises from 0.5 and levels off near 2.")
def test_all_curvature_is_bounded_by_a_multiple_of_the_loss(constant, path, said, top):
    assert (top.lhs <= constant * path.loss).all()
    ratio = top.lhs / path.loss
    assert ratio.argmin() < 3 and np.ptp(np.log(ratio[-8:])) < 0.1
    assert [ratio[0], ratio[-1]] == pytest.approx(said, rel=0.1)


@page.after(
    "solution-step",
    says=(
        "is within a factor of two of the step size found by trial",
        "is too small by a factor of more than 400",
        "the measured largest eigenvalue is by far the better guide",
    ),
)
def test_what_is_proved_is_400_times_shorter_than_the_longest_step_on_which_the_loss_falls(
    check, largest, said
):
    within, small = said
    assert small < largest * check.rhs < 1.5 * small
    assert 1 < largest * check.lhs / 2 < within < 1.5 * largest * check.lhs / 2


@page.after("solution-open", says="This explains most of the factor of more than a hundred")
def test_the_estimate_of_the_moments_loses_most(factors, said):
    (every,) = said
    assert factors.min() > 1
    assert factors.argmax() == 1
    assert np.log(factors[1]) > 0.5 * np.log(every)
    assert every < factors.prod() < 4 * every
