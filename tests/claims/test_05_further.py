"""What the page multihead/05_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c05_heads import late_steps
from mhabook.c05_heads.pictures import MARKED
from mhabook.c05_heads.runs import in_order, predicted, tail_slopes
from page import Page

page = Page("multihead/05_further")


def by_trials(rows, heads, curve):
    """(heads, trials, steps): a stored curve."""
    return np.array([rows.where(H=H)[curve] for H in heads])


def rises(values, axis=0):
    return (np.diff(values, axis=axis) > 0).all()


def falls(values, axis=0):
    return (np.diff(values, axis=axis) < 0).all()


@page.after("runs-by-rule")
def test_at_a_constant_step_more_heads_are_slower_and_attend_less_in_every_trial_from_step_2(
    HEADS, gd, steps, table
):
    for rows in (gd, table.where(rule="momentum")):
        for curve in ("loss", "test_loss"):
            assert rises(by_trials(rows, HEADS, curve)[..., steps >= 2])
    for curve in ("norm_W", "attention_score"):
        assert falls(by_trials(gd, HEADS, curve)[..., steps >= 2])
    assert rises(by_trials(gd, HEADS, "norm_U")[..., -1])


@page.after("runs-by-rule")
def test_the_loss_falls_nearly_like_one_over_t_and_many_heads_catch_up(gd):
    late = tail_slopes(gd)
    assert abs(late[0] + 1) < 0.1
    assert falls(late)


@page.after("figure-3-left")
def test_with_the_root_it_turns_at_eight_heads_and_64_test_like_one(HEADS, medians, root, table):
    for rule in ("gd-root", "momentum-root"):
        ends = medians(table.where(rule=rule))
        assert falls(ends[:4])
        assert ends[HEADS.index(8)] < 0.9 * ends[-1]
    test = medians(root, "test_loss")
    assert abs(test[-1] / test[0] - 1) < 0.1


@page.after("figure-3-right")
def test_under_adam_more_heads_train_faster_in_every_trial_and_test_better_only_early(adam, steps):
    assert in_order(adam)[:, steps > 100].all()
    early = (steps >= 5) & (steps <= 200)
    tested = in_order(adam, "test_loss")
    assert tested[:, early].all()
    assert not tested[:, -1].all()


def slower(grid, heads, rule, eta):
    """Of every trial, in training and test, at steps 500 and 2,000: do the losses rise with the
    number of heads?"""
    rows = grid.where(rule=rule, eta_U=eta)
    losses = np.array([by_trials(rows, heads, curve)[..., 1:] for curve in ("loss", "test_loss")])
    return (np.diff(losses, axis=1) > 0).all(axis=1)


@page.after("figure-plane-adam")
def test_straight_down_more_heads_are_slower_up_to_a_step_size_and_in_no_trial_beyond(HEADS, grid):
    for rule, last, first in (("gd", 1, 2), ("momentum", -2, 0)):
        assert all(
            slower(grid, HEADS, rule, 2.0**power).all() for power in range(last - 6, last + 1)
        )
        assert not any(
            slower(grid, HEADS, rule, 2.0**power).any() for power in range(first, first + 4)
        )


def diagonal(grid, power, curve="loss"):
    """Medians over trials at step 2,000 for 1, 4, 16, 64 heads with the step size 2^power √H."""
    rows = grid.where(rule="gd")
    return [np.median(rows.where(eta_U=2.0 ** (power + k), H=4**k)[curve][:, -1]) for k in range(4)]


@page.after("figure-plane-adam")
def test_down_the_diagonal_longer_steps_are_best_with_more_heads(grid):
    best = [MARKED[np.argmin(diagonal(grid, power))] for power in range(-5, 4)]
    assert best == sorted(best)
    assert (best[0], set(best[5:])) == (4, {64})
    for power in (0, 1):
        assert falls(diagonal(grid, power))
        assert falls(diagonal(grid, power, "test_loss"))


@page.after("figure-plane-adam")
def test_adam_trains_faster_at_eight_step_sizes_and_tests_better_at_half_of_them(grid):
    def faster(curve):
        return [
            falls(
                [
                    np.median(grid.where(rule="adam", eta_W=2.0**power, H=H)[curve][:, -1])
                    for H in MARKED
                ]
            )
            for power in range(-10, -2)
        ]

    assert all(faster("loss"))
    assert sum(faster("test_loss")) == 4


@page.after("check-second")
def test_the_closed_form_is_what_two_steps_of_training_give(again, data, first_movement):
    W = first_movement(data.X, data.y, eta_u=1.0, eta_w=1 / 64)
    assert abs(W - again[list(again.steps).index(2)].W[0]).max() < 1e-12 * abs(W).max()


@page.after("check-adam")
def test_under_adam_the_two_losses_agree(by_adam, data, pair):
    assert abs(by_adam.loss[-1] / pair.loss(data.X, data.y) - 1) < 1e-9


@page.after("waits")
def test_attention_waits_longer_with_more_heads_only_at_a_constant_step(waits):
    constant, *others = waits.values()
    assert rises(constant)
    assert constant[-1] > 3 * constant[-2]
    assert all(max(other) < 1.5 * min(other) for other in others)


@page.after("rates")
def test_the_rate_explains_the_loss_and_the_model_of_two_numbers_the_share_of_W(rates):
    assert all(0.75 * rate < said < rate for _, rate, _, _, said in rates.values())
    alpha, _, share, _, _ = np.array([rates["gradient descent, 1", H] for H in (1, 8, 64)]).T
    odds = alpha / (1 - alpha)
    # that of the gap over that of the decoder
    gain = 2 * (1 - alpha) ** 2 * (np.log(9 * odds) + odds - 1 / 9)
    assert rises(share)
    assert share[0] < 1 / 3 < 0.6 < share[-1]
    assert abs(gain / (1 + gain) - share).max() < 0.12


@page.after("rates")
def test_noise_breaks_the_promise_and_the_rate_falls_less_than_it(rates):
    _, rate, share, promise, _ = np.array([rates["gradient descent, 1", H] for H in (1, 64)]).T
    part = rate * (1 - share)
    assert (part < promise).all()
    assert rate[0] / rate[1] < promise[0] / promise[1] < part[0] / part[1]


@page.after("without-noise")
def test_without_noise_the_bound_ends_within_a_thousandth(clean):
    start = mha.MultiHeadAttention.zeros(64, 10, 8)
    path = mha.train(start, clean, mha.GradientDescent(1.0), 2000, record=2)
    check = late_steps.pull(path[-1], clean)
    assert check.holds
    assert check.slack < 1e-3


@page.after("clock")
def test_the_root_is_a_faster_clock(fast, slow):
    assert abs(fast.loss[0] / slow.loss[0] - 1) < 0.02
    assert abs(fast.attention_score[0] - slow.attention_score[0]) < 2e-3


@page.after("figure-reduced")
def test_two_numbers_predict_the_score_up_to_a_fifth_and_that_it_falls_like_a_fourth_root(
    HEADS, gd, medians, root
):
    for rows in (gd, root):
        ratios = predicted(rows) / medians(rows, "attention_score")
        assert 0.75 < ratios.min() < ratios.max() < 1.02
    for scores in (medians(gd, "attention_score"), predicted(gd)):
        assert -0.35 < np.polyfit(np.log(HEADS), np.log(scores), 1)[0] < -0.2


def ends_of(live, **values):
    """curve → where it ends with 1, 8 and 64 heads."""
    ends = [
        {name: curve[-1] for name, curve in live.path(H=H, **values).curves.items()}
        for H in (1, 8, 64)
    ]
    return {name: [end[name] for end in ends] for name in ends[0]}


@page.after("live-width")
def test_sliders_more_heads_are_slower_and_with_the_root_the_scores_start_together(live):
    ends = ends_of(live)
    assert all(rises(ends[name]) for name in ("loss", "test_loss", "norm_U"))
    assert all(falls(ends[name]) for name in ("norm_W", "attention_score"))
    runs = [live.path(H=H, scaling="root", lr=0.3) for H in (1, 8, 64)]
    assert len({run.steps[run.attention_score > 0.15][0] for run in runs}) == 1
    assert falls([run.attention_score[-1] for run in runs])


@page.after("live-width")
def test_sliders_more_heads_are_faster_with_half_of_the_tokens_relevant_and_fit_noise(live):
    relevant, noisy = (
        ends_of(live, scaling="root", lr=0.3, **moved) for moved in ({"zeta": 0.5}, {"sigma": 1.0})
    )
    assert falls(relevant["loss"])
    assert relevant["loss"][2] < 0.4 * relevant["loss"][0]
    assert falls(relevant["test_loss"])
    assert falls(noisy["loss"])
    assert rises(noisy["test_loss"])


@page.after("shares")
def test_eight_heads_train_best_of_three_with_few_relevant_tokens_and_64_with_many(shares):
    assert shares[:2, :, 0].argmin(axis=1).tolist() == [1, 1]
    assert falls(shares[2:, :, :2], axis=1)
    assert (shares[3, 2, :2] < 0.4 * shares[3, 0, :2]).all()


def ends_at(random, few, scale, rule, name="loss"):
    """(heads, trials): the end of a stored curve from random starts."""
    return by_trials(random.where(scale=scale, rule=rule), few, name)[..., -1]


@page.after("random-five")
def test_from_small_random_starts_medians_keep_their_directions_and_single_trials_not_all(
    few, random
):
    assert rises(ends_at(random, few, 0.1, "gd"))
    for rule in ("gd-root", "adam"):
        ends = ends_at(random, few, 0.1, rule)
        assert falls(np.median(ends, axis=1))
        assert not falls(ends)


@page.after("random-five")
def test_from_small_random_starts_the_test_loss_follows_at_the_constant_step_only(few, random):
    constant, root, adam = (
        np.median(ends_at(random, few, 0.1, rule, "test_loss"), axis=1)
        for rule in ("gd", "gd-root", "adam")
    )
    assert rises(constant)
    assert root.max() < 1.2 * root.min()
    assert falls(adam[:4])
    assert adam[4] > adam[3]


@page.after("random-five")
def test_from_small_random_starts_heads_specialize(random):
    scores = random.where(scale=0.1, rule="gd", H=16)["head_scores"]
    assert (scores.min(axis=1) < 0.13).all()
    assert (scores.max(axis=1) > 0.5).all()


@page.after("random-five")
def test_from_wide_starts_all_is_fitted_and_more_heads_test_worse_and_attend_less(few, random):
    assert (ends_at(random, few, 1.0, "gd") < 3e-4).all()
    test, score = (
        np.median(ends_at(random, few, 1.0, "gd", curve), axis=1)
        for curve in ("test_loss", "attention_score")
    )
    assert rises(test)
    assert 3 < test[-1] / test[0] < 4
    assert 0.25 < score[-1] / score[0] < 0.4


@page.after("solution-momentum")
def test_momentum_overshoots_with_one_head_only(overshoot):
    (gd_score, _, gd_end, _), _, (score, _, end, _), _ = overshoot
    assert score > gd_end > gd_score
    assert end > gd_end
    assert abs(overshoot[3, 2:] / overshoot[1, 2:] - 1).max() < 0.06


@page.after("solution-open")
def test_without_noise_the_reduced_model_is_less_than_half_as_far_off(guess, score):
    assert 0.9 < guess / score < 1
