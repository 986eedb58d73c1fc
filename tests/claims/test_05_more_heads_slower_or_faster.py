"""What the page multihead/05_more_heads_slower_or_faster says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from claims.page import Page

page = Page("multihead/05_more_heads_slower_or_faster")


@page.after("figure-2-numbers")
def test_figure_2_numbers(HEADS, gd, medians, steps):
    every = {c: np.array([gd.where(H=H)[c] for H in HEADS]) for c in ("loss", "test_loss", "norm_W", "attention_score")}
    assert all((np.diff(every[c][..., steps >= 2], axis=0) > 0).all() for c in ("loss", "test_loss"))
    assert all((np.diff(every[c][..., steps >= 2], axis=0) < 0).all() for c in ("norm_W", "attention_score"))
    assert round(medians(gd)[-1] / medians(gd)[0], 1) == 7.8
    assert medians(gd, "attention_score")[[0, -1]].round(2).tolist() == [0.8, 0.27]
    spans = [(H, steps >= 1000) for H in HEADS] + [(64, (steps >= 250) & (steps <= 500))]
    slopes = [np.polyfit(np.log(steps[span]), np.log(np.median(gd.where(H=H)["loss"], axis=0)[span]), 1)[0] for H, span in spans]
    assert np.round(slopes, 2).tolist() == [-1.03, -1.05, -1.09, -1.13, -1.18, -1.23, -1.29, -1.49]
    for H, loss, score in ((1, 2.98e-5, 0.80), (4, 4.11e-5, 0.62), (16, 8.45e-5, 0.41), (64, 2.37e-4, 0.27)):
        runs = gd.where(H=H)
        assert runs["loss"][:, -1].min() <= loss <= runs["loss"][:, -1].max()
        assert score in runs["attention_score"][:, -1].round(2)


@page.after("figure-3-left")
def test_figure_3_left_numbers(HEADS, medians, root, steps):
    both = {c: np.array([root.where(H=H)[c] for H in HEADS]) for c in ("loss", "test_loss")}
    falling = {c: steps[(np.diff(values, axis=0) < 0).all(axis=(0, 1))].tolist() for c, values in both.items()}
    assert falling["loss"] == falling["test_loss"] == [11, 13, 14, 16, 18]
    best = {c: [HEADS[k] for k in values[..., -1].argmin(axis=0)] for c, values in both.items()}
    assert best == {"loss": [16, 8, 8, 8, 8], "test_loss": [8, 8, 8, 8, 4]}
    assert np.round(medians(root) / medians(root)[0], 2)[[3, 6]].tolist() == [0.64, 0.75]
    assert np.round(medians(root, "test_loss") / medians(root, "test_loss")[0], 2)[[3, 6]].tolist() == [0.73, 1.0]
    for H, loss in ((1, 1.04e-4), (4, 7.2e-5), (16, 6.8e-5), (64, 8.0e-5)):
        assert root.where(H=H)["loss"][:, -1].min() <= loss <= root.where(H=H)["loss"][:, -1].max()


@page.after("figure-3-right")
def test_figure_3_right_numbers(HEADS, adam, medians, steps):
    both = {c: np.array([adam.where(H=H)[c] for H in HEADS]) for c in ("loss", "test_loss")}
    falling = {c: steps[(np.diff(values, axis=0) < 0).all(axis=(0, 1))] for c, values in both.items()}
    assert falling["loss"][-1] == 2000 and (np.diff(both["loss"][..., steps >= 98], axis=0) < 0).all()
    assert falling["test_loss"][[0, -1]].tolist() == [5, 257] and 50 in falling["test_loss"]
    assert falling["test_loss"].tolist() == steps[(steps >= 5) & (steps <= 257)].tolist()
    assert ((np.diff(both["test_loss"][..., -1], axis=0) < 0).all(axis=0)).sum() == 2
    assert round(medians(adam)[0] / medians(adam)[-1], 1) == 7.2
    for H, loss in ((4, 5.2e-6), (16, 3.2e-6), (64, 1.7e-6)):
        assert both["loss"][HEADS.index(H), :, -1].min() <= loss <= both["loss"][HEADS.index(H), :, -1].max()
    assert both["loss"][0, :, -1].min().round(6) == 1.1e-5


@page.after("figure-momentum")
def test_momentum_numbers(HEADS, medians, steps, table):
    heavy, heavy_root = (table.where(rule=rule) for rule in ("momentum", "momentum-root"))
    assert round(medians(heavy)[-1] / medians(heavy)[0]) == 77
    assert (np.diff(np.array([heavy.where(H=H)["loss"] for H in HEADS])[..., steps >= 2], axis=0) > 0).all()
    assert np.round(medians(heavy_root) / medians(heavy_root)[0], 2)[[3, 6]].tolist() == [0.64, 0.82]


@page.after("figure-plane-adam")
def test_plane_numbers(HEADS, grid):
    def heads_at(rule, curve, powers):
        """(η_u, H, trials, steps): a stored curve for 1, 2, 4, …, 64 heads at constant step sizes."""
        rows = grid.where(rule=rule)
        return np.array([[rows.where(eta_U=2.0 ** p, H=H)[curve] for H in HEADS] for p in powers])
    for curve in ("loss", "test_loss"):
        slower = (np.diff(heads_at("gd", curve, range(-5, 7)), axis=1) > 0).all(axis=1)[..., 1:]  # (η, trials, steps)
        assert slower[:7].all() and not slower[7:].any()
        slower = (np.diff(heads_at("momentum", curve, range(-8, 4)), axis=1) > 0).all(axis=1)[..., 1:]
        assert slower[:7].all() and not slower[8:].any()


@page.after("figure-plane-adam")
def test_diagonal_numbers(HALF, grid):
    def diagonal(power, curve="loss"):
        """Medians over trials at step 2,000 for 1, 4, 16, 64 heads with the step size 2^power √H."""
        rows = grid.where(rule="gd")
        return [np.median(rows.where(eta_U=2.0 ** (power + k), H=4 ** k)[curve][:, -1]) for k in range(4)]
    assert [HALF[np.argmin(diagonal(power))] for power in range(-5, 4)] == [4, 4, 16, 16, 16, 64, 64, 64, 64]
    assert all((np.diff(diagonal(power, curve)) < 0).all() for power in (0, 1) for curve in ("loss", "test_loss"))
    sub = {c: np.array([[np.median(grid.where(rule="adam", eta_W=2.0 ** p, H=H)[c][:, -1]) for H in HALF] for p in range(-10, -2)])
           for c in ("loss", "test_loss")}
    assert (np.diff(sub["loss"], axis=1) < 0).all() and (np.diff(sub["test_loss"], axis=1) < 0).all(axis=1).sum() == 4


@page.after("check-again-numbers")
def test_check_again_numbers(data, rule):
    assert mha.theory.collapse.collapse(data, rule, 64, steps=200).lhs < 1e-12


@page.after("check-second")
def test_check_second_numbers(W, data, first_movement, trained):
    assert abs(W - trained).max() < 1e-14 * abs(W).max() * 100
    assert np.allclose(first_movement(data.X, data.y, 0.7, 0.3), mha.theory.early_steps.two_steps(data, 0.7, 0.3)[0],
                       rtol=1e-12, atol=1e-16)  # the lesson is the library's formula
    for name in ("prop-second-step", "prop-second-step-adam", "thm-slow-attention", "thm-many-heads", "prop-pull"):
        assert mha.ledger[name].check(0).holds and not mha.ledger[name].twin(0).holds


@page.after("waits")
def test_waits_numbers(data, trained, waits):
    assert list(waits.values()) == [[3, 5, 10, 25, 89], [7, 8, 9, 7, 7], [5, 5, 5, 5, 5]] and round(89 / 25, 1) == 3.6
    bound = mha.theory.early_steps.slow_attention_bound(data, 1.0, 1 / 64, 2, np.log(2))
    assert round(bound / np.linalg.norm(trained), -2) == 1700


@page.after("rates-numbers")
def test_rates_numbers(ends, rates):
    assert (ends[4] > 0.75 * ends[1]).all() and (ends[4] < ends[1]).all()
    assert ends[2, :3].round(2).tolist() == [0.29, 0.57, 0.65]
    kept = (ends[1] * (1 - ends[2]) / ends[3])[:3]
    assert kept.round(2).tolist() == [0.97, 0.88, 0.68]
    gain = 2 * (1 - ends[0, :3]) ** 2 * (np.log(9 * ends[0, :3] / (1 - ends[0, :3])) + ends[0, :3] / (1 - ends[0, :3]) - 1 / 9)
    assert (gain / (1 + gain)).round(2).tolist() == [0.38, 0.6, 0.61]
    assert round(rates["gradient descent, 1", 1][1] / rates["gradient descent, 1", 64][1], 1) == 5.9


@page.after("rates-promise")
def test_rates_promise(clean, gd, medians, rates):
    settled = mha.train(mha.MultiHeadAttention.zeros(64, 10, 8), clean, mha.GradientDescent(1.0), 2000, record=20)
    checks = [mha.theory.late_steps.pull(model, clean) for model in settled]
    assert all(check.holds for check in checks) and checks[-1].slack < 5e-4
    decoders = [(rates["gradient descent, 1", H][1] * (1 - rates["gradient descent, 1", H][2])) for H in (1, 64)]
    assert round(decoders[0] / decoders[1]) == 12
    assert round(rates["gradient descent, 1", 1][3] / rates["gradient descent, 1", 64][3], 1) == 8.3
    assert round((medians(gd, "attention_score")[0] / medians(gd, "attention_score")[-1]) ** 2, 1) == 8.9


@page.after("clock")
def test_clock_numbers(fast, slow):
    assert abs(fast.loss[0] / slow.loss[0] - 1) < 0.015 and abs(fast.attention_score[0] - slow.attention_score[0]) < 1e-3


@page.after("figure-reduced")
def test_reduced_numbers(HEADS, gd, medians, predicted, root):
    for rows, ends in ((gd, (0.27, 0.21)), (root, (0.29, 0.23))):
        ratio = np.array(predicted(rows)) / medians(rows, "attention_score")
        assert ratio.max() < 1.01 and 0.79 < ratio.min() < 0.82
        assert (round(medians(rows, "attention_score")[-1], 2), round(predicted(rows)[-1], 2)) == ends
    powers = [np.polyfit(np.log(HEADS), np.log(ends), 1)[0] for ends in (medians(gd, "attention_score"), predicted(gd))]
    assert np.round(powers, 2).tolist() == [-0.27, -0.32]


@page.after("live-width")
def test_live_width_numbers(live):
    def at_end(name, **values):
        return [live.path(H=H, **values).curves[name][-1] for H in (1, 8, 64)]
    assert np.round(at_end("norm_W"), 1).tolist() == [2.3, 1.2, 0.5] and np.round(at_end("norm_U"), 1).tolist() == [2.9, 4.3, 6.9]
    assert np.round(at_end("attention_score"), 2).tolist() == [0.79, 0.5, 0.26]
    assert at_end("loss") == sorted(at_end("loss")) and at_end("test_loss") == sorted(at_end("test_loss"))
    runs = [live.path(H=H, scaling="root", lr=0.3) for H in (1, 8, 64)]
    assert [int(run.steps[run.attention_score > 0.15][0]) for run in runs] == [8, 8, 8]
    assert np.round([run.attention_score[-1] for run in runs], 2).tolist() == [0.75, 0.49, 0.28]
    many = {name: at_end(name, scaling="root", lr=0.3, zeta=0.5) for name in ("loss", "test_loss")}
    assert all(ends == sorted(ends, reverse=True) for ends in many.values()) and round(many["loss"][0] / many["loss"][2]) == 3
    noisy = {name: at_end(name, scaling="root", lr=0.3, sigma=1.0) for name in ("loss", "test_loss")}
    assert noisy["loss"] == sorted(noisy["loss"], reverse=True) and noisy["test_loss"] == sorted(noisy["test_loss"])
    assert np.round(noisy["test_loss"], 2)[[0, 2]].tolist() == [1.16, 1.75]


@page.after("shares")
def test_shares_numbers(shares):
    assert shares[0, :, 0].argmin() == shares[1, :, 0].argmin() == 1  # eight heads, at ζ = 0.1 and 0.2
    assert (np.diff(shares[2:, :, :2], axis=1) < 0).all() and np.round(shares[3, 2, :2] / shares[3, 0, :2], 2).tolist() == [0.34, 0.31]


@page.after("random-five")
def test_random_numbers(few, random):
    def at_scale(scale, rule, name="loss"):
        return np.array([random.where(scale=scale, rule=rule, H=H)[name][:, -1] for H in few])
    for rule, sign in (("gd", 1), ("gd-root", -1), ("adam", -1)):
        assert (sign * np.diff(np.median(at_scale(0.1, rule), axis=1)) > 0).all()
        assert (sign * np.diff(at_scale(0.1, rule), axis=0) > 0).all(axis=0).sum() == {"gd": 5, "gd-root": 2, "adam": 3}[rule]
    assert round(np.median(at_scale(0.1, "gd"), axis=1)[-1] / np.median(at_scale(0.1, "gd"), axis=1)[0], 1) == 3.6
    assert np.round(np.median(at_scale(0.1, "gd-root"), axis=1)[[0, -1]] * 1e4, 2).tolist() == [1.10, 0.88]


@page.after("random-five")
def test_check_random_starts(at_scale, random):
    tests = {rule: np.median(at_scale(0.1, rule, "test_loss"), axis=1) for rule in ("gd", "gd-root", "adam")}
    assert (np.diff(tests["gd"]) > 0).all() and (np.sign(np.diff(tests["adam"])) == [-1, -1, -1, 1]).all()
    assert [round(pick(tests["gd-root"]) * 1e4, 1) for pick in (min, max)] == [1.2, 1.4]
    scores = random.where(scale=0.1, rule="gd", H=16)["head_scores"]
    assert (scores.min(axis=1) < 0.13).all() and (scores.max(axis=1) > 0.55).all()
    wide = np.median(at_scale(1.0, "gd", "test_loss"), axis=1), np.median(at_scale(1.0, "gd", "attention_score"), axis=1)
    assert (np.diff(wide[0]) > 0).all() and wide[0][0].round(4) == 0.0094 and wide[0][-1].round(3) == 0.035
    assert wide[1][[0, -1]].round(2).tolist() == [0.58, 0.19]
    assert (at_scale(1.0, "gd") < 3e-4).all()
    ratio = [np.median(at_scale(1.0, rule), axis=1)[-1] / np.median(at_scale(1.0, rule), axis=1)[0] for rule in ("gd", "gd-root", "adam")]
    assert np.round(ratio, 2).tolist() == [1.63, 0.34, 0.17]


@page.after("solution-decay")
def test_solution_decay(decays):
    assert (np.diff(decays, axis=0)[:, [0, 2]] < 0).all() and decays[:, 3].max() < 1e-3


@page.after("solution-momentum")
def test_solution_momentum(first, losses, overshoot, trained):
    assert np.allclose(first, trained, rtol=1e-12)
    assert overshoot[1, 0, 0, 0] > overshoot[0, 0, 1, 0] > overshoot[0, 0, 0, 0]
    assert abs(overshoot[1, 1, 1] / overshoot[0, 1, 1] - 1).max() < 0.06
    assert [f"{loss:.1e}" for loss in (*losses["momentum", 1], losses["gd", 1][0])] == ["4.3e-06", "3.0e-06", "1.5e-03"]
    assert round(losses["gd", 1][1] / losses["momentum", 1][1]) == 10
    assert [round(losses[rule, 64][0], 3) for rule in ("momentum", "gd")] == [0.073, 0.066]


@page.after("solution-short")
def test_solution_short(growth):
    assert abs(growth / [1, 3, 6, 45, 435] - 1).max() < 0.03


@page.after("solution-open")
def test_solution_open(guess, score):
    assert round(score, 3) == 0.239 and round(guess, 3) == 0.221
