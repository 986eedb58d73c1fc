"""What the page multihead/05_further says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c05_heads import collapse, early_steps, late_steps
from mhabook.c05_heads.pictures import MARKED, PANELS
from mhabook.c05_heads.runs import predicted
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
def test_at_a_constant_step_more_heads_are_slower_in_every_trial_from_step_2(HEADS, gd, medians, steps):
    assert rises(by_trials(gd, HEADS, "loss")[..., steps >= 2])
    assert rises(by_trials(gd, HEADS, "test_loss")[..., steps >= 2])
    assert round(medians(gd)[-1] / medians(gd)[0], 1) == 7.8


@page.after("runs-by-rule")
def test_at_a_constant_step_more_heads_have_a_shorter_W_a_longer_U_and_attend_less(HEADS, gd, medians, steps):
    assert falls(by_trials(gd, HEADS, "norm_W")[..., steps >= 2])
    assert rises(by_trials(gd, HEADS, "norm_U")[..., -1])
    assert falls(by_trials(gd, HEADS, "attention_score")[..., steps >= 2])
    assert np.round(medians(gd, "attention_score")[[0, -1]], 2).tolist() == [0.8, 0.27]


@page.after("runs-by-rule")
def test_the_loss_falls_like_one_over_t_with_one_head_and_steeper_with_more(HEADS, gd, steps):
    def slope(H, span):
        return np.polyfit(np.log(steps[span]), np.log(np.median(gd.where(H=H)["loss"], axis=0)[span]), 1)[0]
    late = [slope(H, steps >= 1000) for H in HEADS]
    assert np.round(late, 2).tolist() == [-1.03, -1.05, -1.09, -1.13, -1.18, -1.23, -1.29]
    assert round(slope(64, (steps >= 250) & (steps <= 500)), 2) == -1.49


@page.after("figure-3-left")
def test_with_the_root_all_heads_are_in_order_only_between_steps_11_and_18(HEADS, root, steps):
    for curve in ("loss", "test_loss"):
        in_order = (np.diff(by_trials(root, HEADS, curve), axis=0) < 0).all(axis=(0, 1))
        assert steps[in_order].tolist() == [11, 13, 14, 16, 18]


@page.after("figure-3-left")
def test_with_the_root_about_eight_heads_end_lowest(HEADS, root):
    def best(curve):
        return [HEADS[k] for k in by_trials(root, HEADS, curve)[..., -1].argmin(axis=0)]
    assert best("loss") == [16, 8, 8, 8, 8]
    assert best("test_loss") == [8, 8, 8, 8, 4]


@page.after("figure-3-left")
def test_with_the_root_it_turns_at_eight_heads(medians, root):
    train, test = medians(root), medians(root, "test_loss")
    assert falls(train[:4])
    assert np.round(train[[3, 6]] / train[0], 2).tolist() == [0.64, 0.75]
    assert np.round(test[[3, 6]] / test[0], 2).tolist() == [0.73, 1.0]


@page.after("figure-3-right")
def test_under_adam_more_heads_train_faster_in_every_trial_from_step_98(HEADS, adam, medians, steps):
    assert steps[-1] == 2000
    assert falls(by_trials(adam, HEADS, "loss")[..., steps >= 98])
    assert round(medians(adam)[0] / medians(adam)[-1], 1) == 7.2


@page.after("figure-3-right")
def test_under_adam_the_test_loss_is_in_order_between_steps_5_and_257(HEADS, adam, steps):
    in_order = (np.diff(by_trials(adam, HEADS, "test_loss"), axis=0) < 0).all(axis=0)  # (trials, steps)
    always = steps[in_order.all(axis=0)]
    assert always[[0, -1]].tolist() == [5, 257]
    assert 50 in always
    assert always.tolist() == steps[(steps >= 5) & (steps <= 257)].tolist()
    assert in_order[:, -1].sum() == 2


@page.after("figure-3-right")
def test_the_trials_end_around_the_losses_and_scores_of_an_earlier_run(table):
    for rule, earlier in (("gd", {1: 2.98e-5, 4: 4.11e-5, 16: 8.45e-5, 64: 2.37e-4}),
                          ("gd-root", {1: 1.04e-4, 4: 7.2e-5, 16: 6.8e-5, 64: 8.0e-5}),
                          ("adam", {4: 5.2e-6, 16: 3.2e-6, 64: 1.7e-6})):
        for H, loss in earlier.items():
            ends = table.where(rule=rule, H=H)["loss"][:, -1]
            assert ends.min() <= loss <= ends.max()
    assert np.round(table.where(rule="adam", H=1)["loss"][:, -1].min(), 6) == 1.1e-5
    for H, score in ((1, 0.80), (4, 0.62), (16, 0.41), (64, 0.27)):
        assert score in np.round(table.where(rule="gd", H=H)["attention_score"][:, -1], 2)


@page.after("figure-momentum")
def test_momentum_is_slower_by_77_and_with_the_root_turns_at_eight_heads(HEADS, medians, steps, table):
    momentum = table.where(rule="momentum")
    assert rises(by_trials(momentum, HEADS, "loss")[..., steps >= 2])
    assert round(medians(momentum)[-1] / medians(momentum)[0]) == 77
    ends = medians(table.where(rule="momentum-root"))
    assert falls(ends[:4])
    assert np.round(ends[[3, 6]] / ends[0], 2).tolist() == [0.64, 0.82]


# Prove: one head, two step sizes


def slower_heads(HEADS, grid, rule, curve, powers):
    """(η, trials, steps): do all heads rise in order, at the step sizes 2^power, at steps 500 and 2,000?"""
    rows = grid.where(rule=rule)
    ends = np.array([by_trials(rows.where(eta_U=2.0 ** p), HEADS, curve) for p in powers])
    return (np.diff(ends, axis=1) > 0).all(axis=1)[..., 1:]


@page.after("figure-plane-adam")
def test_every_constant_step_up_to_2_is_slower_with_more_heads_and_none_from_4(HEADS, grid):
    for curve in ("loss", "test_loss"):
        slower = slower_heads(HEADS, grid, "gd", curve, range(-5, 7))
        assert slower[:7].all()
        assert not slower[7:].any()


@page.after("figure-plane-adam")
def test_momentum_is_slower_with_more_heads_up_to_a_quarter_and_not_from_1(HEADS, grid):
    for curve in ("loss", "test_loss"):
        slower = slower_heads(HEADS, grid, "momentum", curve, range(-8, 4))
        assert slower[:7].all()
        assert not slower[8:].any()


def diagonal(grid, power, curve="loss"):
    """Medians over trials at step 2,000 for 1, 4, 16, 64 heads with the step size 2^power √H."""
    rows = grid.where(rule="gd")
    return [np.median(rows.where(eta_U=2.0 ** (power + k), H=4 ** k)[curve][:, -1]) for k in range(4)]


@page.after("figure-plane-adam")
def test_down_the_diagonal_longer_steps_are_best_with_more_heads(grid):
    best = [MARKED[np.argmin(diagonal(grid, power))] for power in range(-5, 4)]
    assert best == [4, 4, 16, 16, 16, 64, 64, 64, 64]


@page.after("figure-plane-adam")
def test_with_1_and_2_times_the_root_both_losses_fall_all_the_way(grid):
    for power in (0, 1):
        assert falls(diagonal(grid, power))
        assert falls(diagonal(grid, power, "test_loss"))


@page.after("figure-plane-adam")
def test_adam_trains_faster_at_eight_step_sizes_and_tests_better_at_four(grid):
    def ends(curve):
        return np.array([[np.median(grid.where(rule="adam", eta_W=2.0 ** p, H=H)[curve][:, -1]) for H in MARKED]
                         for p in range(-10, -2)])
    assert falls(ends("loss"), axis=1)
    assert (np.diff(ends("test_loss"), axis=1) < 0).all(axis=1).sum() == 4


# Check it by number


@page.after("check-again")
def test_the_stored_runs_are_the_librarys_with_one_head_and_with_64(again, data, steps, table):
    start = mha.MultiHeadAttention.zeros(1, 10, 8)
    one = mha.train(start, data, mha.GradientDescent(1.0), 2000, test=data.fresh(n=300, seed=1), record=steps)
    for name in PANELS.values():
        for path, H in ((again, 64), (one, 1)):
            stored = table.where(rule="gd", seed=0, H=H)[name][0]
            np.testing.assert_allclose(path.curves[name], stored, rtol=1e-9, atol=1e-12)


@page.after("check-again")
def test_64_heads_are_one_head_after_200_steps(data, rule):
    assert all(check.lhs < 1e-12 for check in collapse.collapse(data, rule, 64, steps=200))


@page.after("check-second")
def test_the_closed_form_is_what_two_steps_of_training_give(W, trained):
    assert abs(W - trained).max() < 1e-12 * abs(W).max()


@page.after("check-second")
def test_the_function_of_the_lesson_is_the_librarys_formula(data, first_movement):
    library = early_steps.two_steps(data, 0.7, 0.3)[0]
    assert np.allclose(first_movement(data.X, data.y, 0.7, 0.3), library, rtol=1e-12, atol=1e-16)


@page.after("check-second")
def test_the_statements_of_the_page_hold_and_fail_without_their_hypothesis():
    for name in ("prop-second-step", "prop-second-step-adam", "thm-slow-attention", "thm-many-heads", "prop-pull",
                 "prop-lever"):
        assert mhabook.ledger[name].check(0).holds
        assert not mhabook.ledger[name].twin(0).holds


@page.after("waits")
def test_attention_waits_longer_with_more_heads_only_at_a_constant_step(waits):
    assert waits["gradient descent, 1"] == [3, 5, 10, 25, 89]
    assert waits["gradient descent, 0.3 √H"] == [7, 8, 9, 7, 7]
    assert waits["Adam, 0.01"] == [5, 5, 5, 5, 5]
    assert round(89 / 25, 1) == 3.6


@page.after("waits")
def test_the_bound_after_two_steps_is_1700_times_the_norm_of_W(data, trained):
    bound = early_steps.slow_attention_bound(data, 1.0, 1 / 64, 2, np.log(2))
    assert round(bound / np.linalg.norm(trained), -2) == 1700


@page.after("rates")
def test_the_rate_explains_the_loss_up_to_a_quarter(rates):
    for _, rate, _, _, said in rates.values():
        assert 0.75 * rate < said < rate


@page.after("rates")
def test_the_share_of_W_in_the_rate_grows_with_the_heads(rates):
    alpha, _, share, _, _ = np.array([rates["gradient descent, 1", H] for H in (1, 8, 64)]).T
    odds = alpha / (1 - alpha)
    gain = 2 * (1 - alpha) ** 2 * (np.log(9 * odds) + odds - 1 / 9)  # that of the gap over that of the decoder
    assert np.round(share, 2).tolist() == [0.29, 0.57, 0.65]
    assert np.round(gain / (1 + gain), 2).tolist() == [0.38, 0.6, 0.61]


@page.after("rates")
def test_64_heads_lose_5_9_in_the_rate_12_in_the_decoders_part_and_8_3_in_the_promise(gd, medians, rates):
    (_, one, share, promise, _), (_, many, less, promised, _) = (rates["gradient descent, 1", H] for H in (1, 64))
    assert round(one / many, 1) == 5.9
    assert round(one * (1 - share) / (many * (1 - less))) == 12
    assert round(promise / promised, 1) == 8.3
    scores = medians(gd, "attention_score")
    assert round((scores[0] / scores[-1]) ** 2, 1) == 8.9


@page.after("rates")
def test_noise_breaks_the_promise(rates):
    _, rate, share, promise, _ = np.array([rates["gradient descent, 1", H] for H in (1, 8, 64)]).T
    assert np.round(rate * (1 - share) / promise, 2).tolist() == [0.97, 0.88, 0.68]


@page.after("without-noise")
def test_without_noise_the_bound_ends_within_one_part_in_2000(clean):
    start = mha.MultiHeadAttention.zeros(64, 10, 8)
    path = mha.train(start, clean, mha.GradientDescent(1.0), 2000, record=20)
    checks = [late_steps.pull(model, clean) for model in path]
    assert all(check.holds for check in checks)
    assert checks[-1].slack < 5e-4


@page.after("clock")
def test_the_root_is_a_faster_clock(fast, slow):
    assert abs(fast.loss[0] / slow.loss[0] - 1) < 0.015
    assert abs(fast.attention_score[0] - slow.attention_score[0]) < 1e-3


@page.after("figure-reduced")
def test_two_numbers_predict_the_score_up_to_a_fifth(gd, medians, root):
    for rows, measured, reduced in ((gd, 0.27, 0.21), (root, 0.29, 0.23)):
        scores, said = medians(rows, "attention_score"), np.array(predicted(rows))
        assert (said / scores).max() < 1.01
        assert 0.79 < (said / scores).min() < 0.82
        assert (round(scores[-1], 2), round(said[-1], 2)) == (measured, reduced)


@page.after("figure-reduced")
def test_the_score_falls_like_the_fourth_root_of_the_heads(HEADS, gd, medians):
    for scores, power in ((medians(gd, "attention_score"), -0.27), (predicted(gd), -0.32)):
        assert np.round(np.polyfit(np.log(HEADS), np.log(scores), 1)[0], 2) == power


# Move the sliders


def ends_of(live, **values):
    """curve → where it ends with 1, 8 and 64 heads."""
    ends = [{name: curve[-1] for name, curve in live.path(H=H, **values).curves.items()} for H in (1, 8, 64)]
    return {name: [end[name] for end in ends] for name in ends[0]}


@page.after("live-width")
def test_sliders_more_heads_at_a_constant_step_are_slower_and_attend_less(live):
    ends = ends_of(live)
    assert np.round(ends["norm_W"], 1).tolist() == [2.3, 1.2, 0.5]
    assert np.round(ends["norm_U"], 1).tolist() == [2.9, 4.3, 6.9]
    assert np.round(ends["attention_score"], 2).tolist() == [0.79, 0.5, 0.26]
    assert rises(ends["loss"])
    assert rises(ends["test_loss"])


@page.after("live-width")
def test_sliders_with_the_root_the_scores_start_together_and_part_later(live):
    runs = [live.path(H=H, scaling="root", lr=0.3) for H in (1, 8, 64)]
    assert [int(run.steps[run.attention_score > 0.15][0]) for run in runs] == [8, 8, 8]
    assert np.round([run.attention_score[-1] for run in runs], 2).tolist() == [0.75, 0.49, 0.28]


@page.after("live-width")
def test_sliders_with_half_of_the_tokens_relevant_more_heads_are_faster(live):
    ends = ends_of(live, scaling="root", lr=0.3, zeta=0.5)
    assert falls(ends["loss"])
    assert falls(ends["test_loss"])
    assert round(ends["loss"][0] / ends["loss"][2]) == 3


@page.after("live-width")
def test_sliders_with_noise_more_heads_fit_faster_and_generalize_worse(live):
    ends = ends_of(live, scaling="root", lr=0.3, sigma=1.0)
    assert falls(ends["loss"])
    assert rises(ends["test_loss"])
    assert np.round([ends["test_loss"][0], ends["test_loss"][2]], 2).tolist() == [1.16, 1.75]


# Where it breaks


@page.after("shares")
def test_with_one_or_two_relevant_tokens_eight_heads_train_best_of_three(shares):
    assert shares[:2, :, 0].argmin(axis=1).tolist() == [1, 1]


@page.after("shares")
def test_with_three_or_five_relevant_tokens_both_losses_fall_all_the_way(shares):
    assert falls(shares[2:, :, :2], axis=1)
    assert np.round(shares[3, 2, :2] / shares[3, 0, :2], 2).tolist() == [0.34, 0.31]


def ends_at(random, few, scale, rule, name="loss"):
    """(heads, trials): the end of a stored curve from random starts."""
    return by_trials(random.where(scale=scale, rule=rule), few, name)[..., -1]


def medians_at(*arguments):
    return np.median(ends_at(*arguments), axis=1)


@page.after("random-five")
def test_from_small_random_starts_the_medians_of_the_training_loss_keep_their_directions(few, random):
    assert rises(medians_at(random, few, 0.1, "gd"))
    assert falls(medians_at(random, few, 0.1, "gd-root"))
    assert falls(medians_at(random, few, 0.1, "adam"))


@page.after("random-five")
def test_from_small_random_starts_the_whole_order_holds_in_5_and_2_and_3_trials(few, random):
    for rule, sign, trials in (("gd", 1, 5), ("gd-root", -1, 2), ("adam", -1, 3)):
        assert (sign * np.diff(ends_at(random, few, 0.1, rule), axis=0) > 0).all(axis=0).sum() == trials


@page.after("random-five")
def test_from_small_random_starts_16_heads_are_slower_by_3_6_and_with_the_root_a_little_faster(few, random):
    constant, root = (medians_at(random, few, 0.1, rule)[[0, -1]] for rule in ("gd", "gd-root"))
    assert round(constant[1] / constant[0], 1) == 3.6
    assert np.round(root * 1e4, 2).tolist() == [1.10, 0.88]


@page.after("random-five")
def test_from_small_random_starts_the_test_loss_follows_at_the_constant_step_only(few, random):
    constant, root, adam = (medians_at(random, few, 0.1, rule, "test_loss") for rule in ("gd", "gd-root", "adam"))
    assert rises(constant)
    assert np.sign(np.diff(adam)).tolist() == [-1, -1, -1, 1]
    assert [round(pick(root) * 1e4, 1) for pick in (min, max)] == [1.2, 1.4]


@page.after("random-five")
def test_from_small_random_starts_heads_specialize(random):
    scores = random.where(scale=0.1, rule="gd", H=16)["head_scores"]
    assert (scores.min(axis=1) < 0.13).all()
    assert (scores.max(axis=1) > 0.55).all()


@page.after("random-five")
def test_from_wide_starts_more_heads_test_worse_and_attend_less(few, random):
    test, score = (medians_at(random, few, 1.0, "gd", name) for name in ("test_loss", "attention_score"))
    assert rises(test)
    assert np.round(test[0], 4) == 0.0094
    assert np.round(test[-1], 3) == 0.035
    assert np.round(score[[0, -1]], 2).tolist() == [0.58, 0.19]


@page.after("random-five")
def test_from_wide_starts_every_trial_is_fitted(few, random):
    assert (ends_at(random, few, 1.0, "gd") < 3e-4).all()
    for rule, ratio in (("gd", 1.63), ("gd-root", 0.34), ("adam", 0.17)):
        assert round(medians_at(random, few, 1.0, rule)[-1] / medians_at(random, few, 1.0, rule)[0], 2) == ratio


# Exercises


@page.after("solution-momentum")
def test_momentum_has_the_same_W_after_two_steps(first, trained):
    assert np.allclose(first, trained, rtol=1e-12)


@page.after("solution-momentum")
def test_momentum_with_one_head_overshoots_at_step_50(overshoot):
    (gd_score, _, gd_end, _), _, (score, _, end, _), _ = overshoot
    assert score > gd_end > gd_score
    assert (round(end, 2), round(gd_end, 2)) == (0.84, 0.8)


@page.after("solution-momentum")
def test_momentum_with_64_heads_ends_within_six_percent(overshoot):
    assert abs(overshoot[3, 2:] / overshoot[1, 2:] - 1).max() < 0.06


@page.after("solution-momentum")
def test_the_lead_of_momentum_was_won_in_the_overshoot(steps, table):
    def losses(rule, H):
        return np.median(table.where(rule=rule, H=H)["loss"], axis=0)[[np.flatnonzero(steps == 50)[0], -1]]
    assert [f"{loss:.1e}" for loss in losses("momentum", 1)] == ["4.3e-06", "3.0e-06"]
    assert f"{losses('gd', 1)[0]:.1e}" == "1.5e-03"
    assert round(losses("gd", 1)[1] / losses("momentum", 1)[1]) == 10
    assert round(losses("momentum", 64)[0], 3) == 0.073
    assert round(losses("gd", 64)[0], 3) == 0.066


@page.after("solution-open")
def test_without_noise_the_reduced_model_is_7_percent_too_low(guess, score):
    assert round(score, 3) == 0.239
    assert round(guess, 3) == 0.221
    assert round(100 * (1 - guess / score)) == 7
